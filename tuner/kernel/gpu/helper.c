/* Helper kernels for GPUs (tensile-formats 8.4): beta-only prepares D or the workspace for the parts of a
 * GlobalSplitU, post-GSU adds up the parts that the main kernel left in the workspace. The workspace holds
 * the problem's compute type, packed. */
#include <string.h>

#include "base/log.h"
#include "kernel/gpu/helper_text.h"
#include "problem/helper_name.h"

static void arg(HelperText *h, const char *type, const char *name)
{
    bool star = type[strlen(type) - 1] == '*';
    buf_printf(&h->body, "%s%s%s%s", h->n_args++ ? ", " : "", type, star ? "" : " ", name);
}

static const char *index_name(HelperText *h, const char *of, int32_t index)
{
    return stmts_name(&h->s, "%s%d", of, (int)index);
}

/* Strides of tensor c, d or w (the workspace): [1] and, in batches, [2]; those of all indices. */
static void stride_args(HelperText *h, char n)
{
    for (int32_t i = h->x.initial_cd ? 0 : 1; h->general && i < h->x.of_d; i++)
        arg(h, "unsigned", index_name(h, stmts_name(&h->s, "stride_%c", n), i));
    if (h->general) return;
    arg(h, "unsigned", stmts_name(&h->s, "ld%c", n));
    if (h->p.batched) arg(h, "unsigned", stmts_name(&h->s, "batch_%c", n));
}

static void size_args(HelperText *h)
{
    for (int32_t i = 0; h->general && i < h->x.of_d; i++) arg(h, "unsigned", index_name(h, "size_", i));
    if (h->general) return;
    arg(h, "unsigned", "size_m");
    arg(h, "unsigned", "size_n");
    if (h->p.batched) arg(h, "unsigned", "size_batch");
}

static void offset_args(HelperText *h)
{
    if (h->p.strided) return;
    arg(h, "unsigned long long", "offset_d");
    arg(h, "unsigned long long", "offset_c");
}

static Err helper_begin(HelperText *h, const ProblemType *pt, const Target *t)
{
    TRY(gpu_plan_types(&h->p, pt, t));
    h->x = (Indices){0};
    h->general = !indices_are_plain_gemm(pt);
    if (h->general) {
        TRY(indices_of_type(pt, 0, &h->x));
        h->general = !indices_are_gemm(&h->x, NULL);
        if (indices_rows_of_b(&h->x)) indices_exchange(&h->x);
    }
    buf_init(&h->body);
    stmts_init(&h->s, GPU_STMTS_BYTES);
    h->n_args = 0;
    arena_init(&h->arena, 0);
    h->p.dialect->prelude(&h->p, &h->body);
    gpu_types(&h->p, &h->body);
    return ERR_OK;
}

static void helper_fini(HelperText *h)
{
    buf_fini(&h->body);
    stmts_fini(&h->s);
    arena_fini(&h->arena);
}

/* Everything from the body's opening brace on. */
static Err helper_end(HelperText *h, Str symbol, Buf *out)
{
    Buf title;
    buf_init(&title);
    buf_printf(&title, "%.*s for %s", STR_ARG(symbol), h->p.target->name);
    Err e = stmt_print(&h->s, h->p.dialect->words, 1, &h->body);
    buf_puts(&h->body, "}\n");
    if (!e) e = buf_check(&h->body);
    if (!e) e = gpu_finish(&h->p, buf_view(&title), buf_view(&h->body), out);
    buf_fini(&title);
    helper_fini(h);
    return e;
}

static void open_kernel(HelperText *h, Str symbol)
{
    buf_putc(&h->body, '\n');
    h->p.dialect->kernel_head(&h->p, symbol, KERNEL_HELPER_GROUP, &h->body);
}

/* The same for kernels that wait_for_previous(). */
static void open_dependent_kernel(HelperText *h, Str symbol)
{
    Stmts head;
    stmts_init(&head, GPU_STMTS_BYTES);
    if (h->p.dialect->dependent) stmt_file(&head, h->p.dialect->dependent);
    gpu_put(&h->p, &head, &h->body);
    open_kernel(h, symbol);
}

static void wait_for_previous(HelperText *h)
{
    if (h->p.dialect->dependent) stmt_call(&h->s, "wait_for_previous");
}

/* ---- where elements are ---- */

/* A size, which is not 0. */
static const Expr *size(HelperText *h, const char *name)
{
    return expr_var(&h->s.pool, name, 0, 1, INT32_MAX);
}

/* The number of elements of D. */
static const Expr *all_elements(HelperText *h)
{
    ExprPool *pool = &h->s.pool;
    const Expr *all = h->general ? size(h, "size_0") : expr_mul(pool, size(h, "size_m"), size(h, "size_n"));
    for (int32_t i = 1; h->general && i < h->x.of_d; i++)
        all = expr_mul(pool, all, size(h, index_name(h, "size_", i)));
    return !h->general && h->p.batched ? expr_mul(pool, all, size(h, "size_batch")) : all;
}

/* Declares the thread's number among all, and how many elements D has. */
static void let_thread(HelperText *h, const char *name)
{
    ExprPool *pool = &h->s.pool;
    const Expr *group = expr_mul_i(pool, word(h, "@group_x()"), KERNEL_HELPER_GROUP);
    const Expr *tid = expr_var(pool, "@tid()", 0, 0, KERNEL_HELPER_GROUP - 1);
    stmt_let(&h->s, name, expr_add(pool, group, tid));
    stmt_let(&h->s, "all", all_elements(h));
}

/* Threads past the last element return. */
static void leave_outside(HelperText *h)
{
    stmt_if_expr(&h->s, expr_op(&h->s.pool, EXPR_LE, wide(h, "all"), wide(h, "at")));
    stmt_return(&h->s, NULL);
    stmt_end(&h->s);
}

/* The number that the indices of a group are the digits of. */
static const Expr *group_number(HelperText *h, IndexGroup g)
{
    ExprPool *pool = &h->s.pool;
    const IndexList *l = &h->x.group[g];
    const Expr *number = expr_const(pool, 0);
    for (int32_t i = l->n; i-- > 0;) {
        number = expr_mul(pool, number, size(h, index_name(h, "size_", l->v[i])));
        number = expr_add(pool, number, word(h, index_name(h, "i_", l->v[i])));
    }
    return number;
}

static void let_word(HelperText *h, const char *name, const Expr *x)
{
    stmt_define(&h->s, "unsigned", name, value_cast(&h->s, "unsigned", value_expr(&h->s, x)));
}

/* Element number `at` (of `all`, elements of D without gaps) to all indices i_0, i_1, .. of D. */
static void let_indices(HelperText *h)
{
    ExprPool *pool = &h->s.pool;
    const Expr *rest = wide(h, "at");
    for (int32_t i = 0; i < h->x.of_d; i++) {
        const Expr *of = size(h, index_name(h, "size_", i));
        let_word(h, index_name(h, "i_", i), i + 1 < h->x.of_d ? expr_mod(pool, rest, of) : rest);
        rest = stmt_let(&h->s, index_name(h, "rest_", i), expr_div(pool, rest, of));
    }
    if (!fused_any(&h->p.fused)) return;
    let_word(h, "z", group_number(h, INDICES_BATCH));
    let_word(h, "j", group_number(h, INDICES_N));
    let_word(h, "i", group_number(h, INDICES_M));
}

/* Element number `at` to row i, column j, batch z. */
static void let_coordinates(HelperText *h)
{
    Stmts *s = &h->s;
    ExprPool *pool = &s->pool;
    if (h->general) {
        let_indices(h);
        return;
    }
    const Expr *columns = expr_div(pool, wide(h, "at"), size(h, "size_m")), *z = expr_const(pool, 0);
    if (h->p.batched) z = expr_div(pool, columns, size(h, "size_n"));
    const Expr *j = expr_mod(pool, columns, size(h, "size_n"));
    const Expr *i = expr_mod(pool, wide(h, "at"), size(h, "size_m"));
    stmt_define(s, "unsigned", "z", value_cast(s, "unsigned", value_expr(s, z)));
    stmt_define(s, "unsigned", "j", value_cast(s, "unsigned", value_expr(s, j)));
    stmt_define(s, "unsigned", "i", value_cast(s, "unsigned", value_expr(s, i)));
}

/* The place of the element with the indices i_0, i_1, .. in tensor n. */
static const Expr *indexed_at(HelperText *h, char n)
{
    ExprPool *pool = &h->s.pool;
    if (n == 'w') return wide(h, "at");
    const ContractNames names = {&h->s, ""};
    const Expr *at = expr_const(pool, 0);
    for (int32_t i = 0; i < h->x.of_d; i++)
        at = expr_add(pool, at, expr_mul(pool, word(h, index_name(h, "i_", i)),
                                         contract_index_stride(&h->x, n - 'a', &names, i)));
    return at;
}

/* Element (i, j) of a batch whose columns are ld apart; with batch, element (i, j, z). */
static const Expr *element_at(HelperText *h, const char *ld, const char *batch)
{
    ExprPool *pool = &h->s.pool;
    const Expr *in_batch = expr_add(pool, expr_mul(pool, word(h, "j"), word(h, ld)), word(h, "i"));
    return batch ? expr_add(pool, expr_mul(pool, word(h, "z"), word(h, batch)), in_batch) : in_batch;
}

/* Where element (i, j, z) of d, c or w is. */
static const Value *place(HelperText *h, char n, bool array)
{
    Stmts *s = &h->s;
    const Value *base = value_named(s, "%c", n);
    const char *ld = stmts_name(s, "ld%c", n), *batch = stmts_name(s, "batch_%c", n);
    if (array) {
        base = value_call(s, "@pointer", base, value_reg(s, "z"));
        base = value_op(s, VALUE_ADD, base, value_named(s, "offset_%c", n));
    }
    const Expr *at =
        h->general ? indexed_at(h, n) : element_at(h, ld, !array && h->p.batched ? batch : NULL);
    return value_op(s, VALUE_ADD, base, value_expr(s, at));
}

static Access element_of(HelperText *h, const Value *base, const Expr *i)
{
    return access_element(SPACE_GLOBAL, "@TD", gpu_type_bytes(&h->p.out), base, i);
}

static const Value *not_zero(Stmts *s, const Value *x)
{
    return value_op(s, VALUE_NOT, value_call(s, "@is_zero", x), NULL);
}

/* ---- beta-only ---- */

Err gpu_beta_only(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out)
{
    HelperText h;
    TRY(helper_begin(&h, pt, t));
    Stmts *s = &h.s;
    bool arrays = !h.p.strided;
    open_kernel(&h, symbol);
    arg(&h, ga ? "@TS *" : arrays ? "@TD *const *" : "@TD *", "d");
    arg(&h, arrays ? "const @TD *const *" : "const @TD *", "c");
    offset_args(&h);
    stride_args(&h, 'd');
    stride_args(&h, 'c');
    size_args(&h);
    arg(&h, "@TS", "beta");
    buf_puts(&h.body, ")\n{\n");
    let_thread(&h, "at");
    leave_outside(&h);
    let_coordinates(&h);
    const Value *b = stmt_define(s, "@TC", "b", value_call(s, "@from_s", value_reg(s, "beta")));
    const Value *x = stmt_var(s, "@TC", "x", value_call_0(s, "@zero"));
    stmt_if(s, not_zero(s, b));
    const Value *c = value_load(s, element_of(&h, place(&h, 'c', arrays), NULL));
    stmt_set(s, x, value_call(s, "@mul", b, value_call(s, "@to_c", c)));
    stmt_end(s);
    stmt_store(s, element_of(&h, place(&h, 'd', arrays && !ga), NULL),
               value_call(s, ga ? "@to_s" : "@from_c", x));
    return helper_end(&h, symbol, out);
}

/* ---- flags ---- */

Err gpu_flags(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    HelperText h;
    TRY(helper_begin(&h, pt, t));
    Stmts *s = &h.s;
    ExprPool *pool = &s->pool;
    open_dependent_kernel(&h, symbol);
    arg(&h, "unsigned *", "flags");
    arg(&h, "unsigned", "n");
    buf_puts(&h.body, ")\n{\n");
    wait_for_previous(&h);
    const Expr *group = expr_mul_i(pool, word(&h, "@group_x()"), KERNEL_HELPER_GROUP);
    stmt_let(s, "at", expr_add(pool, group, expr_var(pool, "@tid()", 0, 0, KERNEL_HELPER_GROUP - 1)));
    stmt_if_expr(s, expr_op(pool, EXPR_LT, wide(&h, "at"), word(&h, "n")));
    stmt_store(s, access_element(SPACE_GLOBAL, "unsigned", 4, value_reg(s, "flags"), wide(&h, "at")),
               value_int(s, 0));
    stmt_end(s);
    return helper_end(&h, symbol, out);
}

/* ---- post-GSU ---- */

static void post_gsu_tensors(HelperText *h, const char *w)
{
    bool arrays = !h->p.strided;
    arg(h, arrays ? "@TD *const *" : "@TD *", "d");
    arg(h, w, "w");
    arg(h, arrays ? "const @TD *const *" : "const @TD *", "c");
    offset_args(h);
}

/* As gpu_args has them. */
static void fused_args(HelperText *h)
{
    GpuPlan *p = &h->p;
    p->n_args = p->arg_bytes = 0;
    if (gpu_fused_args(p)) BUG("more than %d arguments of fused operations", GPU_ARGS_MAX);
    for (int i = 0; i < p->n_args; i++) arg(h, p->arg[i].type, p->arg[i].name);
}

static void post_gsu_args(HelperText *h)
{
    post_gsu_tensors(h, "const @TS *");
    arg(h, "@TS", "alpha");
    arg(h, "@TS", "beta");
    stride_args(h, 'd');
    stride_args(h, 'w');
    stride_args(h, 'c');
    size_args(h);
    arg(h, "unsigned", "gsu");
    fused_args(h);
}

/* The work of a thread: vw elements from element `at` on, out of all elements of D. */
static void post_gsu_share(HelperText *h, int vw, int reducers)
{
    Stmts *s = &h->s;
    let_thread(h, "id");
    stmt_let(s, "at", expr_mul_i(&s->pool, expr_div_i(&s->pool, wide(h, "id"), reducers), vw));
    const Value *sum = stmt_array(s, "@TC", "sum", DIMS(vw));
    const Expr *e = stmt_unrolled(s, "e", GPU_E, vw);
    stmt_set(s, value_at(s, sum, e), value_call_0(s, "@zero"));
    stmt_end(s);
    let_coordinates(h);
}

/* Each thread sums every `reducers`-th part of vw elements; the first of `reducers` threads adds these up. */
static void post_gsu_sums(HelperText *h, int vw, int reducers)
{
    Stmts *s = &h->s;
    ExprPool *pool = &s->pool;
    post_gsu_share(h, vw, reducers);
    wait_for_previous(h);
    stmt_if_expr(s, expr_op(pool, EXPR_LT, wide(h, "at"), wide(h, "all")));
    stmt_define(s, "const @TS *", "from", place(h, 'w', false));
    helper_add_parts(h, vw, reducers);
    stmt_end(s);
    if (reducers > 1) helper_add_reducers(h, vw, reducers);
}

/* Prints the functions of the ops that make D of the sums. */
static Err post_gsu_ops(HelperText *h)
{
    GpuPlan *p = &h->p;
    Stmts s;
    p->epilogue = epilogue_of_sums(&h->program, &h->arena, p->scalar.type, p->dest.type, &p->fused);
    TRY_ALLOC(p->epilogue);
    p->tile = h->program.tile;
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_ops(p, &s);
    gpu_put(p, &s, &h->body);
    return ERR_OK;
}

/* Declares what belongs to the thread's vw elements of a column: numbers, elements of vectors. */
static void post_gsu_vectors(HelperText *h, int vw)
{
    Stmts *s = &h->s;
    const Value *o = value_reg(s, "o"), *row = value_reg(s, "i");
    const Value *rows = stmt_array(s, "@OfRow", "rows", DIMS(vw)),
                *of_col = stmt_var(s, "@OfCol", "of_col", NULL);
    if (!fused_any(&h->p.fused)) return;
    stmt_call(s, "@load_numbers", o);
    stmt_call(s, "@find_bias", o, value_reg(s, "z"));
    const Value *whole = value_call(s, stmts_name(s, "@rows_whole<%d>", vw), o, row, value_int(s, vw));
    stmt_call(s, stmts_name(s, "@rows<%d>", vw), o, row, whole, rows);
    stmt_call(s, "@cols<1>", o, value_reg(s, "j"), value_literal(s, "true"),
              value_op(s, VALUE_ADDRESS, of_col, NULL));
}

/* sum to D, by the ops. */
/* The distance of the thread's element e from its first one in tensor n: they are neighbours along D's first
 * index. */
static const Expr *apart(HelperText *h, char n, const Expr *e)
{
    const ContractNames names = {&h->s, ""};
    if (!h->general) return e;
    return expr_mul(&h->s.pool, e, contract_index_stride(&h->x, n - 'a', &names, 0));
}

static void post_gsu_store(HelperText *h, int vw)
{
    Stmts *s = &h->s;
    bool arrays = !h->p.strided;
    leave_outside(h);
    const Value *to = stmt_define(s, "@TD *", "to", place(h, 'd', arrays));
    const Value *old = stmt_define(s, "const @TD *", "old", place(h, 'c', arrays));
    post_gsu_vectors(h, vw);
    const Expr *e = stmt_unrolled(s, "e", GPU_E, vw);
    GpuPoint at = {value_at(s, value_reg(s, "rows"), e), value_reg(s, "of_col"), NULL};
    const Value *sum = value_at(s, value_reg(s, "sum"), e); /* the first op multiplies by alpha */
    const Value *x = stmt_var(s, "@TC", "x", gpu_element_op(&h->p, s, h->p.epilogue, &at, sum));
    for (const Op *op = h->p.epilogue->next; op && op->kind != OP_CONVERT_TILE; op = op->next) {
        const bool adds_c = op->kind == OP_ADD_TILE && op->scalar;
        if (adds_c) stmt_if(s, not_zero(s, value_reg(s, "o.beta")));
        if (adds_c) at.c = value_load(s, element_of(h, old, apart(h, 'c', e)));
        const Value *y = gpu_element_op(&h->p, s, op, &at, x);
        if (y != x) stmt_set(s, x, y);
        if (adds_c) stmt_end(s);
    }
    stmt_store(s, element_of(h, to, apart(h, 'd', e)), value_call(s, "@from_c", x));
    stmt_end(s);
}

/* helper_is_for_both: one kernel serves half and float scalars. Half alpha and beta share one word. With
 * float scalars all arguments after alpha are one word later, and gsu is 1. */
static void both_args(HelperText *h, Str symbol, int n)
{
    open_kernel(h, symbol);
    post_gsu_tensors(h, "const void *");
    arg(h, "unsigned", "scalars");
    for (int i = 0; i <= n; i++) arg(h, "unsigned", stmts_name(&h->s, "word%d", i));
    buf_puts(&h->body, ")\n{\n");
}

static void both_values(HelperText *h, const char *const *name, int n)
{
    Stmts *s = &h->s;
    const Value *scalars = value_reg(s, "scalars");
    stmt_comment(s, "float's beta");
    const Value *wide_args =
        stmt_define(s, "bool", "wide", value_op(s, VALUE_EQ, value_reg(s, "word0"), value_int(s, 0)));
    const Value *low = value_cast(s, "unsigned short", scalars);
    const Value *high = value_cast(s, "unsigned short", value_op(s, VALUE_SHR, scalars, value_int(s, 16)));
    stmt_var(s, "@Ops", "o", NULL);
    stmt_set(s, value_reg(s, "o.alpha"),
             value_select(s, wide_args, value_int(s, 1), value_call(s, "@h2f", low)));
    stmt_set(s, value_reg(s, "o.beta"),
             value_select(s, wide_args, value_int(s, 0), value_call(s, "@h2f", high)));
    for (int i = 0; i < n; i++)
        stmt_define(s, "unsigned", name[i],
                    value_select(s, wide_args, value_named(s, "word%d", i + 1), value_named(s, "word%d", i)));
    stmt_define(s, "unsigned", "gsu",
                value_select(s, wide_args, value_int(s, 1), value_named(s, "word%d", n)));
}

/* The names of the arguments between the scalars and gsu. */
static int both_names(HelperText *h, const char *name[4 * INDEX_MAX])
{
    static const char *const flat[] = {"ldd", "ldw", "ldc", "size_m", "size_n"};
    static const char *const batched[] = {"ldd",     "batch_d", "ldw",    "batch_w",   "ldc",
                                          "batch_c", "size_m",  "size_n", "size_batch"};
    int n = 0;
    if (!h->general) {
        memcpy(name, h->p.batched ? batched : flat, h->p.batched ? sizeof batched : sizeof flat);
        return h->p.batched ? 9 : 5;
    }
    for (const char *t = "dwc"; *t; t++)
        for (int32_t i = h->x.initial_cd ? 0 : 1; i < h->x.of_d; i++)
            name[n++] = index_name(h, stmts_name(&h->s, "stride_%c", *t), i);
    for (int32_t i = 0; i < h->x.of_d; i++) name[n++] = index_name(h, "size_", i);
    return n;
}

static void post_gsu_both(HelperText *h, Str symbol)
{
    const char *name[4 * INDEX_MAX];
    const int n = both_names(h, name);
    Stmts *s = &h->s;
    ExprPool *pool = &s->pool;
    both_args(h, symbol, n);
    both_values(h, name, n);
    post_gsu_share(h, 1, 1);
    stmt_let(s, "first",
             h->general ? indexed_at(h, 'w') : element_at(h, "ldw", h->p.batched ? "batch_w" : NULL));
    const Expr *left = expr_op(pool, EXPR_LT, word(h, "g"), word(h, "gsu"));
    const Expr *in = expr_op(pool, EXPR_LT, wide(h, "at"), wide(h, "all"));
    const Expr *g = stmt_loop(s, (Loop){.var = "g",
                                        .type = "unsigned",
                                        .start = expr_const(pool, 0),
                                        .condition = value_expr(s, expr_op(pool, EXPR_BOTH, left, in))});
    const Expr *at = expr_add(pool, expr_mul(pool, g, wide(h, "all")), wide(h, "first"));
    const Value *w = value_reg(s, "w"), *floats = value_cast(s, "const float *", w),
                *halves = value_cast(s, "const unsigned short *", w);
    const Value *as_float = value_load(s, access_element(SPACE_GLOBAL, "float", 4, floats, at));
    const Value *as_half = value_load(s, access_element(SPACE_GLOBAL, "unsigned short", 2, halves, at));
    stmt_update(s, VALUE_ADD, value_at_i(s, value_reg(s, "sum"), 0),
                value_select(s, value_reg(s, "wide"), as_float, value_call(s, "@h2f", as_half)));
    stmt_end(s);
    post_gsu_store(h, 1);
}

Err gpu_post_gsu(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    HelperText h;
    int64_t vw = helper_name_width(symbol), reducers = helper_name_reducers(symbol);
    if (vw > 4 || reducers > 16 || KERNEL_HELPER_GROUP % reducers)
        FAIL(ERR_INPUT, "'%.*s' names vector width %lld and %lld reducers", STR_ARG(symbol), (long long)vw,
             (long long)reducers);
    TRY(helper_begin(&h, pt, t));
    Stmts *s = &h.s;
    const Err e = post_gsu_ops(&h);
    if (e) {
        helper_fini(&h);
        return e;
    }
    if (helper_is_for_both(pt, t, symbol)) {
        post_gsu_both(&h, symbol);
        return helper_end(&h, symbol, out);
    }
    h.p.lds_bytes = KERNEL_HELPER_GROUP * (int)vw * gpu_type_bytes(&h.p.acc);
    open_dependent_kernel(&h, symbol);
    post_gsu_args(&h);
    buf_puts(&h.body, ")\n{\n");
    if (reducers > 1) h.p.dialect->lds_body(&h.p, &h.body);
    post_gsu_sums(&h, (int)vw, (int)reducers);
    stmt_var(s, "@Ops", "o", NULL);
    gpu_set_ops(&h.p, s, "o");
    post_gsu_store(&h, (int)vw);
    return helper_end(&h, symbol, out);
}
