/* How the helper kernel that adds up the parts of a GlobalSplitU (post-GSU) reads and adds them. */
#include "kernel/gpu/helper_text.h"

/* sum[e] = sum[e] + x. */
static void add_to_sum(Stmts *s, const Expr *e, const Value *x)
{
    const Value *sum = value_at(s, value_reg(s, "sum"), e);
    stmt_set(s, sum, value_call(s, "@add", sum, x));
}

void helper_add_reducers(HelperText *h, int vw, int reducers)
{
    Stmts *s = &h->s;
    ExprPool *pool = &s->pool;
    const Value *lds = value_cast(s, "@TC *", value_reg(s, "lds"));
    const Expr *first = expr_mul_i(pool, expr_var(pool, "@tid()", 0, 0, KERNEL_HELPER_GROUP - 1), vw);
    const Value *parts = stmt_define(s, "@TC *", "parts", value_op(s, VALUE_ADD, lds, value_expr(s, first)));
    Access part = access_element(SPACE_LOCAL, "@TC", gpu_type_bytes(&h->p.acc), parts, NULL);
    part.offset = stmt_unrolled(s, "e", GPU_E, vw);
    stmt_store(s, part, value_at(s, value_reg(s, "sum"), part.offset));
    stmt_end(s);
    stmt_barrier(s);
    stmt_if(s,
            value_op(s, VALUE_NE, value_expr(s, expr_mod_i(pool, wide(h, "id"), reducers)), value_int(s, 0)));
    stmt_return(s, NULL);
    stmt_end(s);
    const Expr *r = stmt_loop(s, (Loop){.var = "r",
                                        .start = expr_const(pool, 1),
                                        .limit = expr_const(pool, reducers),
                                        .unroll = UNROLL_FULL});
    const Expr *e = stmt_unrolled(s, "e", GPU_E, vw);
    part.offset = expr_add(pool, expr_mul_i(pool, r, vw), e);
    add_to_sum(s, e, value_load(s, part));
    stmt_end(s);
    stmt_end(s);
}

/* One part after the other. */
static void one_by_one(HelperText *h, int vw, int reducers)
{
    Stmts *s = &h->s;
    ExprPool *pool = &s->pool;
    const Expr *g = stmt_loop(s, (Loop){.var = "g",
                                        .type = "unsigned",
                                        .start = expr_mod_i(pool, wide(h, "id"), reducers),
                                        .limit = word(h, "gsu"),
                                        .step = reducers});
    const Expr *e = stmt_unrolled(s, "e", GPU_E, vw);
    const Expr *at = expr_add(pool, expr_mul(pool, g, wide(h, "all")), e);
    Access part = access_element(SPACE_GLOBAL, "@TS", gpu_type_bytes(&h->p.scalar), value_reg(s, "from"), at);
    add_to_sum(s, e, value_call(s, "@from_s", value_load(s, part)));
    stmt_end(s);
    stmt_end(s);
}

/* The loads of several parts are in flight at once. A thread's elements lie at a multiple of their size: the
 * workspace has no gaps, and an even number of rows where vw is 2. */
static void in_batches(HelperText *h, int vw, int reducers)
{
    Stmts *s = &h->s;
    ExprPool *pool = &s->pool;
    const int batch = h->p.dialect->parts_ahead, bytes = vw * gpu_type_bytes(&h->p.scalar);
    stmt_struct(s, "Run", bytes);
    stmt_array(s, "@TS", "v", DIMS(vw));
    stmt_end(s);
    stmt_loop(s, (Loop){.var = "first",
                        .type = "unsigned",
                        .start = expr_mod_i(pool, wide(h, "id"), reducers),
                        .limit = word(h, "gsu"),
                        .step = reducers * batch});
    const Value *runs = stmt_array(s, "Run", "run", DIMS(batch));
    for (int adds = 0; adds < 2; adds++) {
        const Expr *i = stmt_unrolled(s, "i", GPU_I, batch);
        const Expr *g = stmt_let(s, "g", expr_add(pool, word(h, "first"), expr_mul_i(pool, i, reducers)));
        stmt_if_expr(s, expr_op(pool, EXPR_LT, g, word(h, "gsu")));
        const Value *run = value_at(s, runs, i);
        if (adds) {
            const Expr *e = stmt_unrolled(s, "e", GPU_E, vw);
            add_to_sum(s, e, value_call(s, "@from_s", value_at(s, value_field(s, run, "v"), e)));
            stmt_end(s);
        } else {
            const Value *at = value_expr(s, expr_mul(pool, g, wide(h, "all")));
            const Value *from = value_op(s, VALUE_ADD, value_reg(s, "from"), at);
            stmt_set(s, run, value_load(s, access_at(SPACE_GLOBAL, "Run", bytes, from, NULL)));
        }
        stmt_end(s);
        stmt_end(s);
    }
    stmt_end(s);
}

void helper_add_parts(HelperText *h, int vw, int reducers)
{
    if (h->p.dialect->parts_ahead)
        in_batches(h, vw, reducers);
    else
        one_by_one(h, vw, reducers);
}
