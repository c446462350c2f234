/* Pipelined loops of programs written by hand on GPUs (tile_pipelines): the loads of the next iteration are
 * under way while this one multiplies, and go to the other stage of local memory, where there is one. See
 * gpu.h. */
#include "kernel/tile/gpu.h"

void tile_gpu_local_tiles(TileLowering *t, const char *stage)
{
    Stmts *s = t->s;
    for (int i = 0; i < t->p->n_tiles; i++) {
        if (t->p->tile[i].space != SPACE_LOCAL) continue;
        const Value *at = value_op(s, VALUE_ADD, value_reg(s, "lds"), value_int(s, t->plan->tile[i].offset));
        if (stage && t->plan->async)
            at = value_stage(s, &t->ring, at, value_reg(s, stage));
        else if (stage)
            at = value_op(s, VALUE_ADD, at, value_reg(s, stage));
        const char *name = stmts_name(s, "t_%s", t->p->tile[i].name);
        stmt_define(s, "char *", name, at);
        stmt_do(s, value_cast(s, "void", value_reg(s, name)));
    }
}

/* What happens to the loop's loads. */
static void each_load(TileLowering *t, const Op *loop, void (*make)(TileLowering *t))
{
    for (const Op *o = loop->body; o; o = o->next) {
        t->o = o;
        if (o->kind == OP_LOAD_TILE) make(t);
    }
}

/* The other ops on memory: prefetches, and tiles move on. */
static void move(TileLowering *t, const Op *loop)
{
    for (const Op *o = loop->body; o; o = o->next)
        if (o->kind == OP_PREFETCH_TILE || o->kind == OP_UPDATE_TILE_OFFSET) tile_op(t, o);
}

/* The ops on what has been loaded, with the stage at the byte of that name. */
static void consume(TileLowering *t, const Op *loop, const char *stage)
{
    stmt_block(t->s);
    tile_gpu_local_tiles(t, stage);
    for (const Op *o = loop->body; o; o = o->next) {
        bool on_memory =
            o->kind == OP_LOAD_TILE || o->kind == OP_PREFETCH_TILE || o->kind == OP_UPDATE_TILE_OFFSET;
        if (!on_memory) tile_op(t, o);
    }
    stmt_end(t->s);
}

/* The loads' second halves. */
static void put(TileLowering *t, const Op *loop, const char *stage)
{
    stmt_block(t->s);
    tile_gpu_local_tiles(t, stage);
    each_load(t, loop, tile_gpu_put);
    stmt_end(t->s);
}

/* Declares where the iterations end in which all loads are whole vectors inside of their bases. */
static const Expr *whole_end(TileLowering *t, const Op *loop)
{
    Stmts *s = t->s;
    const HandArgs *h = loop->hand;
    const char *type = expr_type(t->family->style, h->counter);
    const Value *from = value_expr(s, h->n[0].e), *to = value_expr(s, h->n[1].e);
    const Value *step = value_int(s, loop->step);
    const Value *turns = stmt_var(s, "long long", "turns", value_call(s, "@iterations", from, to, step));
    for (const Op *o = loop->body; o; o = o->next) {
        t->o = o;
        if (o->kind == OP_LOAD_TILE) tile_gpu_whole_turns(t, loop, turns);
    }
    const Value *end = value_op(s, VALUE_ADD, from, value_op(s, VALUE_MUL, turns, step));
    stmt_define(s, type, "whole", value_cast(s, type, end));
    return expr_var(&s->pool, "whole", 0, h->counter->lo, h->counter->hi);
}

/* Iterations up to `whole`: all but the last with the loads of the next one, which none of them has to ask
 * for. */
static void whole_turns(TileLowering *t, const Op *loop, const Expr *whole)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const HandArgs *h = loop->hand;
    const char *rd = t->plan->stages > 1 ? "rd" : NULL, *wr = t->plan->stages > 1 ? "wr" : NULL;
    const Expr *next = expr_add_i(pool, h->counter, loop->step);
    each_load(t, loop, tile_gpu_fetch_registers);
    if (rd) stmt_var(s, "unsigned", rd, value_int(s, 0));
    each_load(t, loop, tile_gpu_fetch);
    move(t, loop);
    put(t, loop, NULL);
    stmt_barrier(s);
    stmt_loop(s, (Loop){.var = h->variable,
                        .condition = value_expr(s, expr_op(pool, EXPR_LT, next, whole)),
                        .step = loop->step,
                        .slot = h->slot,
                        .unroll = UNROLL_NONE});
    each_load(t, loop, tile_gpu_fetch);
    move(t, loop);
    consume(t, loop, rd);
    if (wr) {
        const int32_t bytes = (int32_t)t->plan->stage_bytes;
        const Expr *other = expr_sub(pool, expr_const(pool, bytes), expr_var(pool, "rd", 0, 0, bytes));
        stmt_define(s, "unsigned", "wr", value_expr(s, expr_within(pool, other, 0, bytes)));
    } else
        stmt_barrier(s);
    put(t, loop, wr);
    stmt_barrier(s);
    if (wr) stmt_set(s, value_reg(s, "rd"), value_reg(s, "wr"));
    stmt_end(s);
    consume(t, loop, rd);
    stmt_barrier(s);
    stmt_update(s, VALUE_ADD, value_reg(s, h->variable), value_int(s, loop->step));
}

/* ---- asynchronous copies ---- */

/* Starts the loads of the iteration with that counter, if there is one. They are a group in any case, so that
 * waits can count. */
static void start(TileLowering *t, const Op *loop, const Expr *counter, const Expr *whole)
{
    Stmts *s = t->s;
    stmt_if_expr(s, expr_op(&s->pool, EXPR_LT, counter, whole));
    tile_gpu_local_tiles(t, "wr");
    each_load(t, loop, tile_gpu_fetch_async);
    move(t, loop);
    stmt_end(s);
    stmt_commit(s);
    stmt_advance(s, &t->ring, value_reg(s, "wr"));
}

/* Iterations up to `whole`; the loads of an iteration begin stages - 1 iterations before. How many groups
 * each wait leaves under way follows from the statements (async.h). */
static void async_turns(TileLowering *t, const Op *loop, const Expr *whole)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const HandArgs *h = loop->hand;
    const int32_t ahead = t->plan->stages - 1;
    const Value *rd = stmt_cursor(s, &t->ring, "unsigned", "rd", 0);
    stmt_cursor(s, &t->ring, "unsigned", "wr", 0);
    for (int32_t i = 0; i < ahead; i++)
        start(t, loop, expr_add_i(pool, h->counter, (int64_t)i * loop->step), whole);
    stmt_loop(
        s,
        (Loop){
            .var = h->variable, .limit = whole, .step = loop->step, .slot = h->slot, .unroll = UNROLL_NONE});
    stmt_await(s, &t->ring, rd, 0);
    stmt_barrier(s);
    start(t, loop, expr_add_i(pool, h->counter, (int64_t)ahead * loop->step), whole);
    consume(t, loop, "rd");
    stmt_advance(s, &t->ring, rd);
    stmt_end(s);
    stmt_await(s, &t->ring, NULL, 0);
    stmt_barrier(s);
}

/* The others, element by element, in one stage. */
static void other_turns(TileLowering *t, const Op *loop)
{
    Stmts *s = t->s;
    const HandArgs *h = loop->hand;
    stmt_loop(s, (Loop){.var = h->variable,
                        .limit = h->n[1].e,
                        .step = loop->step,
                        .slot = h->slot,
                        .unroll = UNROLL_NONE});
    each_load(t, loop, tile_gpu_copy);
    move(t, loop);
    stmt_barrier(s);
    t->is_short = true;
    consume(t, loop, NULL);
    t->is_short = false;
    stmt_barrier(s);
    stmt_end(s);
}

bool tile_gpu_loop(TileLowering *t)
{
    Stmts *s = t->s;
    const Op *loop = t->o;
    const HandArgs *h = loop->hand;
    if (!tile_pipelines(t->p, t->plan, loop)) return false;
    stmt_block(s);
    stmt_var(s, expr_type(t->family->style, h->counter), h->variable, value_expr(s, h->n[0].e));
    const Expr *whole = whole_end(t, loop);
    stmt_if_expr(s, expr_op(&s->pool, EXPR_LT, h->counter, whole));
    (t->plan->async ? async_turns : whole_turns)(t, loop, whole);
    stmt_end(s);
    other_turns(t, loop);
    stmt_end(s);
    t->o = loop;
    return true;
}
