/* Views: building, addresses, guards; see view.h. Source: the coordinate transforms of MIOpen's MLIR
 * notes. */
#include "index/view.h"

#include <string.h>

void view_init(View *v) { memset(v, 0, sizeof *v); }

static int add_dim(View *v, const char *name, const char *size, const char *stride)
{
    if (v->n_dims == VIEW_MAX_DIMS) return -1;
    v->dim[v->n_dims] = (ViewDim){name, size, stride, false};
    return v->n_dims++;
}

int view_memory_dim(View *v, const char *name, const char *size, const char *stride)
{
    if (v->n_steps) return -1;
    int d = add_dim(v, name, size, stride);
    if (d >= 0) v->n_memory = v->n_dims;
    return d;
}

static ViewStep *add_step(View *v, ViewKind kind, const int *lower, int n)
{
    if (v->n_steps == VIEW_MAX_STEPS || n < 1 || n > VIEW_MAX_SIDE) return NULL;
    for (int i = 0; i < n; i++)
        if (lower[i] < 0 || lower[i] >= v->n_dims) return NULL;
    ViewStep *s = &v->step[v->n_steps];
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->n_lower = n;
    memcpy(s->lower, lower, (size_t)n * sizeof lower[0]);
    return s;
}

/* One upper dimension; the step counts only when there is room for it. */
static int finish_step(View *v, ViewStep *s, const char *name, const char *size)
{
    int upper = s ? add_dim(v, name, size, "") : -1;
    if (upper < 0) return -1;
    s->n_upper = 1;
    s->upper[0] = upper;
    v->n_steps++;
    return upper;
}

int view_pass(View *v, int lower, const char *name)
{
    ViewStep *s = add_step(v, VIEW_PASSTHROUGH, &lower, 1);
    return finish_step(v, s, name, s ? v->dim[lower].size : "");
}

int view_pad(View *v, int lower, int64_t left, int64_t right, const char *name, const char *size)
{
    ViewStep *s = add_step(v, VIEW_PAD, &lower, 1);
    if (s) s->param[0] = left, s->param[1] = right;
    return finish_step(v, s, name, size);
}

int view_merge(View *v, const int *lower, int n, const char *name, const char *size)
{
    return finish_step(v, add_step(v, VIEW_MERGE, lower, n), name, size);
}

int view_unfold(View *v, const int *lower, int n, const char *name, const char *size)
{
    return finish_step(v, add_step(v, VIEW_UNFOLD, lower, n), name, size);
}

bool view_embed(View *v, int lower, const char *const *names, const char *const *sizes, const int64_t *coef,
                int n, int64_t constant, int *upper)
{
    ViewStep *s = add_step(v, VIEW_EMBED, &lower, 1);
    if (!s || n < 1 || n > VIEW_MAX_SIDE || v->n_dims + n > VIEW_MAX_DIMS) return false;
    s->n_upper = n;
    for (int i = 0; i < n; i++) {
        s->upper[i] = upper[i] = add_dim(v, names[i], sizes[i], "");
        s->param[i] = coef[i];
    }
    s->param[n] = constant;
    v->n_steps++;
    return true;
}

void view_matrix(View *v, const char *rows, const char *row_size, const char *cols, const char *col_size,
                 const char *ld, bool trans)
{
    view_init(v);
    int r = view_memory_dim(v, rows, row_size, trans ? ld : "1");
    int c = view_memory_dim(v, cols, col_size, trans ? "1" : ld);
    view_pass(v, r, rows);
    view_pass(v, c, cols);
}

/* ---- queries ---- */

int view_top(const View *v, int top[VIEW_MAX_DIMS])
{
    bool used[VIEW_MAX_DIMS] = {false};
    int n = 0;
    for (int i = 0; i < v->n_steps; i++)
        for (int k = 0; k < v->step[i].n_lower; k++) used[v->step[i].lower[k]] = true;
    for (int d = 0; d < v->n_dims; d++)
        if (!used[d]) top[n++] = d;
    return n;
}

static bool number(const char *text, int64_t *value) { return str_to_i64(str_from(text), value); }

static const Expr *size_of(ExprPool *p, const View *v, int d)
{
    int64_t n;
    if (number(v->dim[d].size, &n)) return expr_const(p, n);
    return expr_var(p, v->dim[d].size, VIEW_SIZE + d, 1, UINT32_MAX);
}

static const Expr *stride_of(ExprPool *p, const View *v, int d)
{
    int64_t n;
    if (number(v->dim[d].stride, &n)) return expr_const(p, n);
    return expr_var(p, v->dim[d].stride, VIEW_STRIDE + d, 0, INT64_C(1) << 40);
}

const Expr *view_coord(ExprPool *p, const View *v, int i, const char *name)
{
    int top[VIEW_MAX_DIMS];
    if (i >= view_top(v, top)) return expr_const(p, 0);
    return expr_var(p, name, VIEW_COORD + i, 0, size_of(p, v, top[i])->hi - 1);
}

/* The coordinates of the lower dimensions of a merge: the digits of the upper one, the last the fastest. */
static void merge_coords(ExprPool *p, const View *v, const ViewStep *s, const Expr **at)
{
    for (int k = 0; k < s->n_lower; k++) {
        const Expr *e = at[s->upper[0]];
        for (int behind = k + 1; behind < s->n_lower; behind++)
            e = expr_div(p, e, size_of(p, v, s->lower[behind]));
        at[s->lower[k]] = k > 0 ? expr_mod(p, e, size_of(p, v, s->lower[k])) : e;
    }
}

static void step_coords(ExprPool *p, const View *v, const ViewStep *s, const Expr **at)
{
    const Expr *e = at[s->upper[0]];
    switch (s->kind) {
    case VIEW_MERGE:
    case VIEW_UNFOLD:
        merge_coords(p, v, s, at);
        return;
    case VIEW_PAD:
        e = expr_add_i(p, e, -s->param[0]);
        break;
    case VIEW_EMBED:
        e = expr_mul_i(p, e, s->param[0]);
        for (int i = 1; i < s->n_upper; i++) e = expr_add(p, e, expr_mul_i(p, at[s->upper[i]], s->param[i]));
        e = expr_add_i(p, e, s->param[s->n_upper]);
        break;
    case VIEW_PASSTHROUGH:
        break;
    }
    at[s->lower[0]] = e;
}

/* Coordinates of all dimensions, from the top ones downwards. */
static void all_coords(ExprPool *p, const View *v, const Expr *const *coord, const Expr **at)
{
    int top[VIEW_MAX_DIMS], n = view_top(v, top);
    for (int d = 0; d < VIEW_MAX_DIMS; d++) at[d] = NULL;
    for (int i = 0; i < n; i++) at[top[i]] = coord[i];
    for (int i = v->n_steps - 1; i >= 0; i--) step_coords(p, v, &v->step[i], at);
}

/* The address of an unfolded dimension is its coordinate times the stride of the last lower dimension. */
static const ViewStep *unfolded(const View *v, int d)
{
    for (int i = 0; i < v->n_steps; i++)
        if (v->step[i].kind == VIEW_UNFOLD)
            for (int k = 0; k < v->step[i].n_lower; k++)
                if (v->step[i].lower[k] == d) return &v->step[i];
    return NULL;
}

const Expr *view_address(ExprPool *p, const View *v, const Expr *const *coord)
{
    return view_address_by(p, v, coord, NULL);
}

const Expr *view_address_by(ExprPool *p, const View *v, const Expr *const *coord, const Expr *stride)
{
    const Expr *at[VIEW_MAX_DIMS], *sum = expr_const(p, 0);
    all_coords(p, v, coord, at);
    for (int d = 0; d < v->n_memory; d++) {
        const ViewStep *u = unfolded(v, d);
        if (u && u->lower[u->n_lower - 1] != d) continue;
        const Expr *own = stride_of(p, v, d);
        const Expr *part = expr_mul(p, at[u ? u->upper[0] : d], stride && !expr_is_const(own) ? stride : own);
        sum = v->dim[d].down ? expr_sub(p, sum, part) : expr_add(p, sum, part);
    }
    return sum;
}

bool view_is_matrix(const View *v)
{
    int top[VIEW_MAX_DIMS], named = 0;
    int64_t n;
    if (view_top(v, top) != 2) return false;
    for (int d = 0; d < v->n_memory; d++) named += !number(v->dim[d].stride, &n);
    for (int i = 0; i < v->n_steps; i++)
        if (v->step[i].kind != VIEW_PASSTHROUGH) return false;
    return named <= 1;
}

const Expr *view_guard(ExprPool *p, const View *v, const Expr *const *coord)
{
    const Expr *at[VIEW_MAX_DIMS], *inside = expr_const(p, 1);
    all_coords(p, v, coord, at);
    for (int i = 0; i < v->n_steps; i++) {
        const ViewStep *s = &v->step[i];
        if (s->kind != VIEW_PAD) continue;
        const Expr *x = at[s->lower[0]], *zero = expr_const(p, 0);
        inside = expr_op(p, EXPR_BOTH, inside, expr_op(p, EXPR_LE, zero, x));
        inside = expr_op(p, EXPR_BOTH, inside, expr_op(p, EXPR_LT, x, size_of(p, v, s->lower[0])));
    }
    return inside;
}

int view_contiguous(ExprPool *p, const View *v, const Expr **length)
{
    int d = 0;
    while (d < v->n_memory && (v->dim[d].down || !expr_is(stride_of(p, v, d), 1))) d++;
    if (d == v->n_memory) return -1;
    *length = size_of(p, v, d);
    for (int i = 0; i < v->n_steps; i++) {
        const ViewStep *s = &v->step[i];
        for (int k = 0; k < s->n_lower; k++) {
            if (s->lower[k] != d) continue;
            if (s->kind == VIEW_MERGE && k != s->n_lower - 1) return -1;
            int up = 0;
            while (s->kind == VIEW_EMBED && up < s->n_upper && s->param[up] != 1) up++;
            if (up == s->n_upper) return -1;
            d = s->upper[up];
            if (s->kind == VIEW_EMBED || s->kind == VIEW_UNFOLD) *length = size_of(p, v, d);
            break;
        }
    }
    return d;
}

bool view_offset(const View *v, const int64_t *coord, int64_t *offset)
{
    Expr node[1024];
    ExprPool p;
    const Expr *at[VIEW_MAX_DIMS];
    int top[VIEW_MAX_DIMS], n = view_top(v, top);
    int64_t values[VIEW_SLOTS] = {0}, inside;
    expr_pool_fixed(&p, node, 1024);
    for (int d = 0; d < v->n_dims; d++)
        if (!expr_is_const(size_of(&p, v, d)) || (d < v->n_memory && !expr_is_const(stride_of(&p, v, d))))
            return false;
    for (int i = 0; i < n; i++) {
        values[VIEW_COORD + i] = coord[i];
        at[i] = view_coord(&p, v, i, "");
        if (coord[i] < at[i]->lo || coord[i] > at[i]->hi) return false;
    }
    const Expr *address = view_address(&p, v, at), *guard = view_guard(&p, v, at);
    return !p.failed && expr_eval(guard, values, &inside) && inside && expr_eval(address, values, offset);
}

void view_dump(const View *v, Buf *out)
{
    static const char *const names[] = {"passthrough", "pad", "embed", "merge", "unfold"};
    for (int d = 0; d < v->n_memory; d++)
        buf_printf(out, "%s%s:%s*%s%s", d ? " " : "", v->dim[d].name, v->dim[d].size,
                   v->dim[d].down ? "-" : "", v->dim[d].stride);
    for (int i = 0; i < v->n_steps; i++) {
        const ViewStep *s = &v->step[i];
        buf_printf(out, " | %s", names[s->kind]);
        for (int k = 0; k < s->n_lower; k++) buf_printf(out, " %s", v->dim[s->lower[k]].name);
        buf_puts(out, " ->");
        for (int k = 0; k < s->n_upper; k++) buf_printf(out, " %s", v->dim[s->upper[k]].name);
    }
}
