/* Views: building, addresses, guards; see view.h. Sources: the coordinate transforms of MIOpen's MLIR notes.
 */
#include "kernel/view.h"

#include <string.h>

void view_init(View *v) { memset(v, 0, sizeof *v); }

static int add_dim(View *v, const char *name, const char *size, const char *stride)
{
    if (v->n_dims == VIEW_MAX_DIMS) return -1;
    v->dim[v->n_dims] = (ViewDim){name, size, stride};
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

/* ---- asking ---- */

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

/* Expression of every dimension, from the top ones downwards. text[d] is a range of one buffer. */
typedef struct {
    Buf text;
    size_t from[VIEW_MAX_DIMS], to[VIEW_MAX_DIMS];
} Coords;

static Str coord_text(const Coords *c, int d) { return (Str){c->text.s + c->from[d], c->to[d] - c->from[d]}; }

static void coord_begin(Coords *c, int d) { c->from[d] = c->text.n; }

/* Appends the expression of dimension d, by index because the buffer moves when it grows. */
static void coord_append(Coords *c, int d)
{
    for (size_t i = c->from[d]; i < c->to[d]; i++) buf_putc(&c->text, c->text.s[i]);
}

static bool coord_simple(const Coords *c, int d)
{
    Str s = coord_text(c, d);
    for (size_t i = 0; i < s.n; i++)
        if (strchr(" +-*/%", s.s[i])) return false;
    return true;
}

static void coord_operand(Coords *c, int d)
{
    bool simple = coord_simple(c, d);
    if (!simple) buf_putc(&c->text, '(');
    coord_append(c, d);
    if (!simple) buf_putc(&c->text, ')');
}

static void merge_coords(const View *v, const ViewStep *s, Coords *c)
{
    for (int k = 0; k < s->n_lower; k++) {
        coord_begin(c, s->lower[k]);
        coord_operand(c, s->upper[0]);
        for (int after = k + 1; after < s->n_lower; after++)
            buf_printf(&c->text, " / %s", v->dim[s->lower[after]].size);
        if (k > 0) buf_printf(&c->text, " %% %s", v->dim[s->lower[k]].size);
        c->to[s->lower[k]] = c->text.n;
    }
}

static void step_coords(const View *v, const ViewStep *s, Coords *c)
{
    if (s->kind == VIEW_MERGE || s->kind == VIEW_UNFOLD) {
        merge_coords(v, s, c);
        return;
    }
    int low = s->lower[0];
    coord_begin(c, low);
    if (s->kind == VIEW_EMBED) {
        for (int i = 0; i < s->n_upper; i++) {
            if (i) buf_puts(&c->text, " + ");
            if (s->param[i] != 1) buf_printf(&c->text, "%lld * ", (long long)s->param[i]);
            coord_operand(c, s->upper[i]);
        }
        if (s->param[s->n_upper]) buf_printf(&c->text, " + %lld", (long long)s->param[s->n_upper]);
    } else {
        coord_append(c, s->upper[0]);
        if (s->kind == VIEW_PAD && s->param[0]) buf_printf(&c->text, " - %lld", (long long)s->param[0]);
    }
    c->to[low] = c->text.n;
}

static void coords_init(const View *v, const char *const *coord, Coords *c)
{
    int top[VIEW_MAX_DIMS], n = view_top(v, top);
    memset(c, 0, sizeof *c);
    buf_init(&c->text);
    for (int i = 0; i < n; i++) {
        coord_begin(c, top[i]);
        buf_puts(&c->text, coord[i]);
        c->to[top[i]] = c->text.n;
    }
    for (int i = v->n_steps - 1; i >= 0; i--) step_coords(v, &v->step[i], c);
}

/* Unfolded dimensions lie in one another: the last one's stride times the whole coordinate. */
static const ViewStep *unfolded(const View *v, int d)
{
    for (int i = 0; i < v->n_steps; i++)
        if (v->step[i].kind == VIEW_UNFOLD)
            for (int k = 0; k < v->step[i].n_lower; k++)
                if (v->step[i].lower[k] == d) return &v->step[i];
    return NULL;
}

void view_address(const View *v, const char *const *coord, Buf *out)
{
    Coords c;
    int64_t stride;
    bool first = true;
    coords_init(v, coord, &c);
    for (int d = 0; d < v->n_memory; d++) {
        const ViewStep *u = unfolded(v, d);
        if (u && u->lower[u->n_lower - 1] != d) continue;
        int source = u ? u->upper[0] : d;
        bool known = number(v->dim[d].stride, &stride);
        if ((known && stride == 0) || str_eq_c(coord_text(&c, source), "0")) continue;
        if (!first) buf_puts(out, " + ");
        first = false;
        bool unit = known && stride == 1, bare = unit || coord_simple(&c, source);
        buf_printf(out, bare ? "%.*s" : "(%.*s)", STR_ARG(coord_text(&c, source)));
        if (!unit) buf_printf(out, " * %s", v->dim[d].stride);
    }
    if (first) buf_puts(out, "0");
    buf_fini(&c.text);
}

void view_guard(const View *v, const char *const *coord, Buf *out)
{
    Coords c;
    size_t start = out->n;
    coords_init(v, coord, &c);
    for (int i = 0; i < v->n_steps; i++) {
        const ViewStep *s = &v->step[i];
        if (s->kind != VIEW_PAD) continue;
        Str x = coord_text(&c, s->lower[0]);
        if (out->n > start) buf_puts(out, " && ");
        if (s->param[0]) buf_printf(out, "%.*s >= 0", STR_ARG(x));
        if (s->param[0] && s->param[1]) buf_puts(out, " && ");
        if (s->param[1]) buf_printf(out, "%.*s < %s", STR_ARG(x), v->dim[s->lower[0]].size);
    }
    if (out->n == start) buf_puts(out, "1");
    buf_fini(&c.text);
}

int view_contiguous(const View *v, const char **length)
{
    int64_t stride;
    int d = -1;
    for (int i = 0; i < v->n_memory && d < 0; i++)
        if (number(v->dim[i].stride, &stride) && stride == 1) d = i;
    if (d < 0) return -1;
    *length = v->dim[d].size;
    for (int i = 0; i < v->n_steps; i++) {
        const ViewStep *s = &v->step[i];
        for (int k = 0; k < s->n_lower; k++) {
            if (s->lower[k] != d) continue;
            if (s->kind == VIEW_MERGE && k != s->n_lower - 1) return -1;
            int up = 0;
            while (s->kind == VIEW_EMBED && up < s->n_upper && s->param[up] != 1) up++;
            if (up == s->n_upper) return -1;
            d = s->upper[up];
            if (s->kind == VIEW_EMBED || s->kind == VIEW_UNFOLD) *length = v->dim[d].size;
            break;
        }
    }
    return d;
}

static bool step_offset(const View *v, const ViewStep *s, int64_t value[VIEW_MAX_DIMS])
{
    int64_t rest = value[s->upper[0]], size;
    switch (s->kind) {
    case VIEW_PASSTHROUGH:
        value[s->lower[0]] = rest;
        return true;
    case VIEW_PAD:
        value[s->lower[0]] = rest - s->param[0];
        return number(v->dim[s->lower[0]].size, &size) && value[s->lower[0]] >= 0 &&
               value[s->lower[0]] < size;
    case VIEW_EMBED:
        value[s->lower[0]] = s->param[s->n_upper];
        for (int i = 0; i < s->n_upper; i++) value[s->lower[0]] += s->param[i] * value[s->upper[i]];
        return true;
    case VIEW_MERGE:
    case VIEW_UNFOLD:
        for (int k = s->n_lower - 1; k >= 0; k--) {
            if (!number(v->dim[s->lower[k]].size, &size) || size <= 0) return false;
            value[s->lower[k]] = k ? rest % size : rest;
            rest /= size;
        }
        return true;
    }
    return false;
}

bool view_offset(const View *v, const int64_t *coord, int64_t *offset)
{
    int64_t value[VIEW_MAX_DIMS] = {0}, stride;
    int top[VIEW_MAX_DIMS], n = view_top(v, top);
    for (int i = 0; i < n; i++) value[top[i]] = coord[i];
    for (int i = v->n_steps - 1; i >= 0; i--)
        if (!step_offset(v, &v->step[i], value)) return false;
    *offset = 0;
    for (int d = 0; d < v->n_memory; d++) {
        if (!number(v->dim[d].stride, &stride)) return false;
        *offset += value[d] * stride;
    }
    return true;
}

void view_dump(const View *v, Buf *out)
{
    static const char *const names[] = {"passthrough", "pad", "embed", "merge", "unfold"};
    for (int d = 0; d < v->n_memory; d++)
        buf_printf(out, "%s%s:%s*%s", d ? " " : "", v->dim[d].name, v->dim[d].size, v->dim[d].stride);
    for (int i = 0; i < v->n_steps; i++) {
        const ViewStep *s = &v->step[i];
        buf_printf(out, " | %s", names[s->kind]);
        for (int k = 0; k < s->n_lower; k++) buf_printf(out, " %s", v->dim[s->lower[k]].name);
        buf_puts(out, " ->");
        for (int k = 0; k < s->n_upper; k++) buf_printf(out, " %s", v->dim[s->upper[k]].name);
    }
}
