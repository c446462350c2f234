/* The loop over K: walks the program behind its passes and writes copies, waits, barriers and steps in its
 * order. The ops of A and of B stand side by side; one call does both. */
#include "kernel/gpu/gpu.h"
#include "kernel/gpu/loads.h"

typedef struct {
    const GpuPlan *p;
    const Program *program;
    Stmts *s;
    int part; /* of a chunk, that was loaded last */
} Loops;

/* ---- the steps of a stage ---- */

static void load_fragments(const GpuPlan *p, Stmts *s, const Value *f, const Value *const lds[2],
                           const Expr *step)
{
    if (!gpu_all_in_registers(p))
        stmt_call(s, "@frag_load", f, lds[0], lds[1], value_reg(s, "tid"), value_expr(s, step));
    if (gpu_any_in_registers(p)) stmt_call(s, "@frag_take", f, value_reg(s, "copy"), value_expr(s, step));
}

static void steps(const GpuPlan *p, Stmts *s, const Value *const lds[2])
{
    ExprPool *pool = &s->pool;
    const int fence = p->dialect->steps_per_fence;
    const bool ahead = p->prefetch_local && p->steps > 1;
    const Value *acc = value_reg(s, "acc"), *f = value_reg(s, "f");
    if (gpu_compute_pins(p)) stmt_call(s, "@acc_pin", acc);
    if (ahead) {
        stmt_array(s, "@Frag", "f", DIMS(2));
        load_fragments(p, s, value_at_i(s, f, 0), lds, expr_const(pool, 0));
    }
    const Expr *step = stmt_unrolled(s, "s", GPU_STEP, p->steps), *next = expr_add_i(pool, step, 1);
    if (ahead) {
        stmt_if_expr(s, expr_op(pool, EXPR_LT, next, expr_const(pool, p->steps)));
        load_fragments(p, s, value_at(s, f, expr_and_i(pool, next, 1)), lds, next);
        stmt_end(s);
        stmt_call(s, "@frag_mac", acc, value_at(s, f, expr_and_i(pool, step, 1)));
    } else {
        stmt_var(s, "@Frag", "f", NULL);
        load_fragments(p, s, f, lds, step);
        stmt_call(s, "@frag_mac", acc, f);
    }
    /* if LLVM interleaves a hundred steps, it loads all their fragments first, and spills them */
    if (fence && p->steps > 2 * fence) {
        const Expr *in_turn = expr_mod_i(pool, step, fence), *last = expr_const(pool, fence - 1);
        stmt_if_expr(s, expr_op(pool, EXPR_EQ, in_turn, last));
        stmt_fence(s);
        stmt_end(s);
    }
    stmt_end(s);
}

static void stage_operands(const GpuPlan *p, Stmts *s, const Value *lds[2])
{
    static const char *const name[] = {"lds_a", "lds_b"};
    for (int i = 0; i < 2; i++) {
        const Value *at = value_op(s, VALUE_ADD, value_reg(s, "stage"), value_int(s, p->op[i].lds_offset));
        lds[i] = stmt_define(s, "const char *", name[i], at);
    }
}

/* Opens the function of the first steps of a chunk. */
static void open_rest(const GpuPlan *p, Stmts *s)
{
    static const StmtParam in_local[] = {{"@Acc &", "acc"}, {"const char *", "stage"}, {"unsigned", "tid"},
                                         {"int", "steps"},  {"const @Tile &", "t"},    {"unsigned", "k0"}};
    stmt_comment(s, "The first steps only: the rest of K.");
    stmt_function(
        s, (Function){.name = "@stage_rest", .param = in_local, .n_params = gpu_any_in_registers(p) ? 6 : 4});
    if (gpu_compute_pins(p)) stmt_call(s, "@acc_pin", value_reg(s, "acc"));
}

void gpu_stage(const GpuPlan *p, Stmts *s)
{
    static const StmtParam params[] = {
        {"@Acc &", "acc"}, {"const char *", "stage"}, {"unsigned", "tid"}, {"const @Copy &", "copy"}};
    const Value *lds[2];
    gpu_heading(s, "---- one stage of local memory ----");
    stmt_function(s,
                  (Function){.name = "@stage", .param = params, .n_params = gpu_any_in_registers(p) ? 4 : 3});
    stage_operands(p, s, lds);
    steps(p, s, lds);
    stmt_end(s);
    stmt_gap(s);
    open_rest(p, s);
    stage_operands(p, s, lds);
    const Expr *step = stmt_loop(s, (Loop){.var = "s",
                                           .type = "int",
                                           .start = expr_const(&s->pool, 0),
                                           .limit = gpu_size(s, "steps"),
                                           .unroll = UNROLL_NONE});
    const Value *f = stmt_var(s, "@Frag", "f", NULL);
    if (!gpu_all_in_registers(p))
        stmt_call(s, "@frag_load", f, lds[0], lds[1], value_reg(s, "tid"), value_expr(s, step));
    if (gpu_any_in_registers(p))
        stmt_call(s, "@frag_rest", f, value_reg(s, "t"), value_reg(s, "tid"), value_reg(s, "k0"),
                  value_expr(s, step));
    stmt_call(s, "@frag_mac", value_reg(s, "acc"), f);
    stmt_end(s);
    stmt_end(s);
}

/* ---- the loop over K ---- */

/* Advances `at`, the offset of a stage in local memory, to the next stage of the ring. */
static void advance(Loops *t, const char *at)
{
    ExprPool *pool = &t->s->pool;
    const int n = t->p->n_stages, bytes = t->p->stage_bytes;
    if (n < 2) return;
    const Expr *last = expr_const(pool, (n - 1) * bytes), *now = expr_var(pool, at, 0, 0, (n - 1) * bytes);
    const Expr *next = n == 2 ? expr_within(pool, expr_sub(pool, last, now), 0, bytes)
                              : expr_select(pool, expr_op(pool, EXPR_EQ, now, last), expr_const(pool, 0),
                                            expr_add_i(pool, now, bytes));
    stmt_set(t->s, value_reg(t->s, at), value_expr(t->s, next));
}

static const Tile *tile_of(const Loops *t, const Op *o, int i) { return &t->program->tile[o->tile[i]]; }

/* Returns the address of the stage whose offset is the variable of that name. */
static const Value *stage_at(Loops *t, const char *at)
{
    const Value *offset = t->p->n_stages > 1 ? value_reg(t->s, at) : value_int(t->s, 0);
    return value_op(t->s, VALUE_ADD, value_reg(t->s, "lds"), offset);
}

/* Declares the number of a chunk of the rest of K. */
static const Expr *let_chunk(Loops *t)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const Expr *turn = expr_mul(pool, gpu_size(s, "j"), gpu_size(s, "step"));
    const Expr *chunk = expr_add(pool, gpu_size(s, "first"), expr_u31(pool, turn));
    const int parts = gpu_chunk_parts(t->p);
    if (parts > 1)
        chunk = expr_add(pool, expr_mul_i(pool, chunk, parts), gpu_counter(pool, "part", GPU_PART, parts));
    return stmt_let(s, "chunk", expr_within(pool, chunk, 0, INT32_MAX / t->p->depth_u));
}

/* The register sets of a pair of loads: of the operand that goes to local memory, and of that whose fragments
 * are loaded. */
static void load_chunk(Loops *t, const Op *o)
{
    Stmts *s = t->s;
    const Value *to = gpu_any_to_local(t->p) ? stage_at(t, "wr")
                                             : value_op(s, VALUE_ADD, value_reg(s, "lds"), value_int(s, 0));
    int set[2] = {o->set, o->set}; /* of loads behind one another, A's and B's */
    for (const Op *q = o; q && q->kind == OP_LOAD_TILE; q = q->next)
        set[t->p->op[tile_of(t, q, 0)->operand == 'B'].in_registers] = q->set;
    if (gpu_any_in_registers(t->p))
        stmt_call(s, "@copy_load", value_reg(s, "copy"), value_int(s, set[0]), to, value_int(s, set[1]));
    else
        stmt_call(s, "@copy_load", value_reg(s, "copy"), value_int(s, o->set), to);
    if (gpu_all_to_local(t->p)) advance(t, "wr");
}

static void load(Loops *t, const Op *o, Phase phase)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    if (phase == PHASE_REST) {
        const Expr *chunk = let_chunk(t);
        stmt_call(s, "@copy_tail", value_reg(s, "t"), value_reg(s, "tid"), value_reg(s, "lds"),
                  value_expr(s, expr_mul_i(pool, chunk, t->p->depth_u)));
        return;
    }
    load_chunk(t, o);
    t->part = o->set;
}

static void store(Loops *t, const Op *o)
{
    const int set = gpu_chunk_parts(t->p) > 1 ? o->set : 0;
    stmt_call(t->s, "@copy_store", value_reg(t->s, "copy"), value_int(t->s, set), stage_at(t, "wr"));
    const bool shifts = t->p->n_sets > 1 && gpu_chunk_parts(t->p) == 1;
    if (shifts) stmt_call(t->s, "@copy_shift", value_reg(t->s, "copy"));
    advance(t, "wr");
}

static void move(Loops *t)
{
    Stmts *s = t->s;
    const Value *by[] = {value_reg(s, "step_a"), value_reg(s, "step_b")}, *wrap = value_reg(s, "wrap");
    const Value *const part[] = {value_reg(s, "part_a"), value_reg(s, "part_b")};
    const int before = gpu_chunk_parts(t->p) - 1; /* moves in front of that to the next chunk */
    if (t->part < before) {
        stmt_call(s, "@copy_move", value_reg(s, "copy"), value_reg(s, "t"), part[0], part[1]);
        return;
    }
    if (t->p->walk.staggers) {
        stmt_update(s, VALUE_SUB, wrap, value_int(s, 1));
        by[0] = value_select(s, wrap, by[0], value_reg(s, "back_a"));
        by[1] = value_select(s, wrap, by[1], value_reg(s, "back_b"));
    }
    for (int i = 0; i < 2 && before; i++)
        by[i] = value_op(s, VALUE_SUB, by[i], value_op(s, VALUE_MUL, part[i], value_int(s, before)));
    stmt_call(s, "@copy_move", value_reg(s, "copy"), value_reg(s, "t"), by[0], by[1]);
}

static void consume(Loops *t, Phase phase)
{
    const GpuPlan *p = t->p;
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    if (phase != PHASE_REST && gpu_any_in_registers(p)) {
        const Value *copy = value_reg(s, "copy");
        stmt_call(s, "@stage", value_reg(s, "acc"), stage_at(t, "rd"), value_reg(s, "tid"), copy);
        if (p->prefetch > 0) stmt_call(s, "@copy_turn", copy);
    } else if (phase != PHASE_REST)
        stmt_call(s, "@stage", value_reg(s, "acc"), stage_at(t, "rd"), value_reg(s, "tid"));
    if (phase != PHASE_REST) {
        advance(t, "rd");
        return;
    }
    if (gpu_all_in_registers(p)) let_chunk(t);
    const Expr *chunk = expr_var(pool, "chunk", 0, 0, INT32_MAX / p->depth_u);
    const Expr *left = expr_sub(pool, gpu_size(s, "t.k"), expr_mul_i(pool, chunk, p->depth_u));
    left = stmt_let(s, "left", expr_u31(pool, left));
    const int each = p->lsu * p->k_step;
    const Expr *some = expr_div_i(pool, expr_add_i(pool, left, each - 1), each);
    const Expr *in_stage = expr_op(pool, EXPR_LT, left, expr_const(pool, p->depth_u));
    const Expr *n = expr_select(pool, in_stage, some, expr_const(pool, p->steps));
    const Value *const head[] = {value_reg(s, "acc"), value_reg(s, "lds"), value_reg(s, "tid"),
                                 value_expr(s, n)};
    if (!gpu_any_in_registers(p)) {
        stmt_call(s, "@stage_rest", head[0], head[1], head[2], head[3]);
        return;
    }
    const Value *k0 = value_expr(s, expr_mul_i(pool, chunk, p->depth_u));
    stmt_call(s, "@stage_rest", head[0], head[1], head[2], head[3], value_reg(s, "t"), k0);
}

static void one_op(Loops *t, const Op *o, Phase phase)
{
    switch (o->kind) {
    case OP_LOAD_TILE:
        load(t, o, phase);
        break;
    case OP_STORE_TILE:
        store(t, o);
        break;
    case OP_UPDATE_TILE_OFFSET:
        move(t);
        break;
    case OP_BARRIER:
        stmt_barrier(t->s);
        break;
    case OP_WAIT:
        stmt_wait(t->s, o->pending);
        break;
    default:
        break;
    }
}

/* The ops of A and B are adjacent; A's stands for both, where there is one. */
static bool second_of_pair(const Loops *t, const Op *o, Phase phase)
{
    const GpuOperand *a = &t->p->op[0];
    bool pairs = (o->kind == OP_LOAD_TILE && !(phase == PHASE_REST && a->in_registers)) ||
                 o->kind == OP_UPDATE_TILE_OFFSET || (o->kind == OP_STORE_TILE && gpu_is_fetched(a));
    return pairs && tile_of(t, o, 0)->operand == 'B';
}

static void walk(Loops *t, const Op *list, Phase phase);

/* i + ahead < whole: the chunk `ahead` iterations later exists and is whole. */
static const Expr *has_chunk(Stmts *s, int ahead)
{
    const Expr *i = expr_var(&s->pool, "i", 0, 0, INT32_MAX);
    return expr_op(&s->pool, EXPR_LT, expr_add_i(&s->pool, i, ahead), gpu_size(s, "whole"));
}

/* The parts of a chunk of the rest of K that are not behind its end. */
static void rest_parts(Loops *t, const Op *o)
{
    Stmts *s = t->s;
    stmt_loop(s, (Loop){.var = "part",
                        .start = expr_const(&s->pool, 0),
                        .limit = expr_const(&s->pool, gpu_chunk_parts(t->p)),
                        .unroll = UNROLL_NONE});
    const Expr *k0 = expr_mul_i(&s->pool, let_chunk(t), t->p->depth_u);
    stmt_if_expr(s, expr_op(&s->pool, EXPR_LT, k0, gpu_size(s, "t.k")));
    walk(t, o->body, o->phase);
    stmt_end(s);
    stmt_end(s);
}

static void group_loop(Loops *t, const Op *o)
{
    Stmts *s = t->s;
    const int prefetch = t->p->prefetch;
    if (o->phase == PHASE_REST)
        stmt_loop(s, (Loop){.var = "j",
                            .start = gpu_size(s, "whole"),
                            .limit = gpu_size(s, "count"),
                            .unroll = UNROLL_NONE});
    else if (o->phase == PHASE_DRAIN && prefetch == 1)
        stmt_block(s);
    else {
        const Expr *more = has_chunk(s, o->phase == PHASE_MAIN ? prefetch : 0);
        stmt_loop(s, (Loop){.var = "i", .condition = value_expr(s, more), .unroll = UNROLL_NONE});
    }
    if (o->phase == PHASE_REST && gpu_chunk_parts(t->p) > 1)
        rest_parts(t, o);
    else
        walk(t, o->body, o->phase);
    stmt_end(s);
}

static void walk(Loops *t, const Op *list, Phase phase)
{
    for (const Op *o = list; o;) {
        if (o->kind == OP_LOOP) {
            if (o->level == LEVEL_GROUP)
                group_loop(t, o);
            else
                consume(t, phase);
            o = o->next;
            continue;
        }
        const int ahead = o->ahead;
        if (ahead) stmt_if_expr(t->s, has_chunk(t->s, ahead));
        do {
            if (!second_of_pair(t, o, phase)) one_op(t, o, phase);
            o = o->next;
        } while (o && ahead && o->ahead == ahead && o->kind != OP_LOOP);
        if (ahead) stmt_end(t->s);
    }
}

/* The ops in front of the loop over the rest of K, as a list of their own. */
typedef struct {
    Op op[64];
    int n, n_loads; /* of them, loads in front of all others */
    const Op *rest;
} Head;

static Err head_of(const Program *program, Head *h)
{
    const Op *o = program->body;
    *h = (Head){0};
    while (o && o->kind == OP_INIT_TILE) o = o->next;
    for (const Op *r = o; r; r = r->next)
        if (r->kind == OP_LOOP && r->phase == PHASE_REST) h->rest = r;
    if (!o || !h->rest) FAIL(ERR_FAILED, "a program without a loop over the rest of K cannot be lowered");
    for (; o != h->rest && h->n < 64; o = o->next) h->op[h->n++] = *o;
    while (h->n_loads < h->n &&
           (h->op[h->n_loads].kind == OP_LOAD_TILE || h->op[h->n_loads].kind == OP_UPDATE_TILE_OFFSET))
        h->n_loads++;
    return ERR_OK;
}

/* Walks ops `from` to `to` of the head. */
static void walk_head(Loops *t, Head *h, int from, int to)
{
    for (int i = from; i < to; i++) h->op[i].next = i + 1 < to ? &h->op[i + 1] : NULL;
    walk(t, from < to ? &h->op[from] : NULL, PHASE_ALL);
}

static void counters(const Loops *t)
{
    stmt_var(t->s, "unsigned", "i", value_int(t->s, 0));
    if (t->p->n_stages < 2) return;
    stmt_var(t->s, "int", "rd", value_int(t->s, 0));
    stmt_var(t->s, "int", "wr", value_int(t->s, 0));
}

Err gpu_loop_first(const GpuPlan *p, const Program *program, Stmts *s, const Value *where)
{
    Loops t = {p, program, s, 0};
    Head h;
    TRY(head_of(program, &h));
    counters(&t);
    stmt_if(s, value_op(s, VALUE_BOTH, where, value_expr(s, gpu_any_whole(s))));
    walk_head(&t, &h, 0, h.n_loads);
    stmt_end(s);
    return ERR_OK;
}

/* Lowers all ops after the initialisation of accumulators and copies, up to the epilogue. */
Err gpu_loop(const GpuPlan *p, const Program *program, Stmts *s)
{
    Loops t = {p, program, s, 0};
    Head h;
    TRY(head_of(program, &h));
    stmt_if_expr(s, gpu_any_whole(s));
    if (!p->walk.prefetches) counters(&t);
    walk_head(&t, &h, p->walk.prefetches ? h.n_loads : 0, h.n);
    stmt_end(s);
    Op last = *h.rest;
    last.next = NULL;
    walk(&t, &last, PHASE_ALL);
    return ERR_OK;
}
