/* How kernels with several taps in a stage (WindowTaps) store a tile of forward or backward data, as
 * statements: lines of outputs continue into the padding between them (problem/window.h), which is not
 * stored. A warp group writes a slice of results to local memory as for the copy engine, from where threads
 * store vectors of 16 bytes. */
#include "kernel/lower/build.h"
#include "kernel/nvptx/hopper.h"

enum { VECTOR = 16, SLICE = 0, THREAD, PIECE };

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    const Window *w;
    HopperMemory m;
    int per_line, at_once; /* vectors of a column of a piece; columns that the threads have at once */
} Wide;

static const Expr *thread_of(const Wide *c)
{
    return expr_var(&c->s->pool, "thread", THREAD, 0, WGMMA_LANES - 1);
}

static const Value *as_int(const Wide *c, const Expr *e)
{
    return value_cast(c->s, "int", value_expr(c->s, e));
}

static const Expr *size(const Wide *c, int32_t index)
{
    return expr_var(&c->s->pool, stmts_name(c->s, "all.size_%d", (int)index), 0, 1, INT32_MAX);
}

/* Defines `place` of the thread's first column of the slice, which is column `n` of D. */
static void place(const Wide *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *outs = size(c, c->w->out[0]), *lines = size(c, c->w->out[1]);
    const Expr *n = expr_var(pool, "n", 0, 0, INT32_MAX);
    const Expr *line = stmt_let(s, "line", expr_div(pool, n, outs));
    stmt_var(s, "WidePlace", "place",
             value_list(s, as_int(c, expr_mod(pool, n, outs)), as_int(c, expr_mod(pool, line, lines)),
                        as_int(c, expr_div(pool, line, lines))));
}

/* The place in D of row m and the output `place`. */
static const Value *address(const Wide *c, const Value *m)
{
    static const char *const at[] = {"place.w", "place.h", "place.image"};
    Stmts *s = c->s;
    const Value *to = sum(c, reg(c, "args.d"), m);
    for (int i = 0; i < (c->w->image < 0 ? 2 : 3); i++) {
        const Value *number = value_cast(s, "u64", reg(c, at[i]));
        to = sum(c, to, value_op(s, VALUE_MUL, number, value_named(s, "all.stride_d%d", i + 1)));
    }
    return to;
}

static const Value *below(const Wide *c, const Value *x, const char *limit)
{
    return value_op(c->s, VALUE_LT, x, value_cast(c->s, "int", reg(c, limit)));
}

/* Stores the vectors of the thread's column. */
static void store_column(const Wide *c, const Expr *column)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int row = c->p->groups.slice_row, elements = row / c->per_line;
    const Value *in_line = below(c, reg(c, "place.w"), "all.line_outs");
    const Value *inside = value_op(s, VALUE_BOTH, in_line, below(c, reg(c, "n"), "args.n"));
    if (c->p->groups.slice_n % c->at_once)
        inside =
            value_op(s, VALUE_BOTH, inside,
                     value_expr(s, expr_op(pool, EXPR_LT, column, expr_const(pool, c->p->groups.slice_n))));
    stmt_define(s, "bool", "inside", inside);
    const Expr *piece = stmt_unrolled(s, "piece", PIECE, c->m.pieces);
    const Expr *vector = expr_mod_i(pool, thread_of(c), c->per_line);
    const Expr *of_row = expr_add(pool, expr_mul_i(pool, piece, row), expr_mul_i(pool, vector, elements));
    const Value *m = stmt_define(s, "int", "m", sum(c, reg(c, "first_m"), value_expr(s, of_row)));
    const Value *v = stmt_array(s, "u32", "v", DIMS(VECTOR / 4));
    stmt_if(s, value_op(s, VALUE_BOTH, reg(c, "inside"), below(c, m, "args.m")));
    const Expr *from = hopper_byte_at(c->p, s, piece, column, expr_mul_i(pool, vector, VECTOR));
    stmt_call(s, "load_piece", sum(c, reg(c, "at"), value_expr(s, from)), v);
    stmt_call(s, "store_vector", address(c, m), v);
    stmt_end(s);
    stmt_end(s);
}

static void store_slice(const Wide *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *first = expr_div_i(pool, thread_of(c), c->per_line);
    stmt_var(s, "int", "n", sum(c, reg(c, "first_n"), value_expr(s, first)));
    place(c);
    const Expr *from = stmt_loop(s, (Loop){.var = "from",
                                           .type = "int",
                                           .start = expr_const(pool, 0),
                                           .limit = expr_const(pool, c->p->groups.slice_n),
                                           .step = c->at_once,
                                           .unroll = UNROLL_2});
    store_column(c, expr_add(pool, from, first));
    stmt_update(s, VALUE_ADD, reg(c, "n"), value_int(s, c->at_once));
    stmt_call(s, "place.next", value_int(s, c->at_once), as_int(c, size(c, c->w->out[0])),
              as_int(c, size(c, c->w->out[1])));
    stmt_end(s);
}

void hopper_wide(const GpuPlan *p, const Window *w, Stmts *s)
{
    Wide c = {p, s, w, hopper_memory(p), 0, 0};
    c.per_line = c.m.line / VECTOR, c.at_once = WGMMA_LANES / c.per_line;
    const Value *bar = sum(&c, value_int(s, 1), reg(&c, "wg"));
    stmt_define(s, "WindowArgs &", "all", value_cast(s, "const WindowArgs &", reg(&c, "args")));
    if (fused_any(&p->fused) && !hopper_vectors_early(p))
        stmt_call(s, "vectors.load", reg(&c, "ops"), reg(&c, "p"), reg(&c, "wg"), reg(&c, "thread"));
    stmt_call(s, "group_sync", bar); /* the slices of the previous tile have been read */
    const Expr *i = stmt_unrolled(s, "i", SLICE, c.m.slices);
    const Expr *buffer = expr_mod_i(&s->pool, i, HOPPER_BUFFERS);
    stmt_define(s, "u32", "at", value_call(s, "shared.out", reg(&c, "wg"), value_expr(s, buffer)));
    hopper_words(p, s);
    hopper_slice_words(s, i);
    stmt_call(s, "write_slice", reg(&c, "word"), reg(&c, "at"), reg(&c, "thread"));
    stmt_call(s, "group_sync", bar);
    for (int n = 0; n < 2; n++)
        stmt_define(s, "int", n ? "first_n" : "first_m",
                    value_call(s, n ? "slice_n" : "slice_m", value_expr(s, i), reg(&c, "p"), reg(&c, "wg")));
    store_slice(&c);
    stmt_end(s);
}
