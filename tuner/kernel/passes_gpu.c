/* Passes of the GPU families. Distribute: each work-group takes a macro tile, its threads share the loads
 * into local memory and the multiplications. Pipeline: loads run PrefetchGlobalRead chunks of K ahead of the
 * multiplications, through a ring of stages in local memory; the loads are the producer's ops, the reads of
 * local memory and the multiplications the consumer's, barriers and waits stand between them. Edges: which
 * loads need guards. kernel/gpu/loop.c walks the result.
 */
#include "kernel/gpu/loads.h"
#include "kernel/gpu/maps.h"
#include "kernel/passes.h"

static Op *barrier(Program *p) { return pass_tile_op(p, OP_BARRIER, -1, -1, -1); }

static const char *const global_ab[] = {"a", "b"}, *const local_ab[] = {"local_a", "local_b"},
                         *const fetch_ab[] = {"fetch_a", "fetch_b"}, *const reg_ab[] = {"reg_a", "reg_b"};

/* Makes the consumer's ops for one stage: load fragments from local memory, multiply. Fragments that loads
 * fill without local memory are there, or at the rest of K loaded in each step. */
static Op *consumer(Program *p, const GpuPlan *plan, bool rest)
{
    int acc = program_tile(p, "acc"), reg[2];
    const bool swap = plan->matrix.swap; /* the instruction's first operand stands first */
    Op *body[3] = {NULL};
    for (int i = 0; i < 2; i++) {
        const bool direct = plan->op[i].in_registers;
        const char *from = direct ? global_ab[i] : local_ab[i];
        reg[i] = program_tile(p, reg_ab[i]);
        if (!direct || rest) body[i] = pass_tile_op(p, OP_LOAD_TILE, reg[i], program_tile(p, from), -1);
    }
    body[2] = pass_tile_op(p, OP_TILE_MMA, acc, reg[swap], reg[!swap]);
    Op *loop = pass_loop(p, LEVEL_LANE, DIM_K, plan->k_step, pass_list(body, 3));
    if (!loop) return NULL;
    loop->unroll = rest ? 1 : plan->steps;
    loop->split = plan->lsu;
    loop->role = ROLE_CONSUMER;
    return loop;
}

Err gpu_distribute(Program *p)
{
    const GpuPlan *plan = p->gpu;
    TRY(gpu_tiles(p));
    int a = program_tile(p, "a"), b = program_tile(p, "b");
    const int la = program_tile(p, plan->op[0].in_registers ? reg_ab[0] : local_ab[0]);
    const int lb = program_tile(p, plan->op[1].in_registers ? reg_ab[1] : local_ab[1]);
    Op *const chunk[] = {pass_tile_op(p, OP_LOAD_TILE, la, a, -1),
                         pass_tile_op(p, OP_LOAD_TILE, lb, b, -1),
                         pass_move(p, a, plan->depth_u),
                         pass_move(p, b, plan->depth_u),
                         barrier(p),
                         consumer(p, plan, false),
                         barrier(p)};
    Op *loop = pass_loop(p, LEVEL_GROUP, DIM_K, plan->depth_u, pass_list(chunk, 7));
    int acc = program_tile(p, "acc");
    const Epilogue e = gpu_epilogue(plan);
    Op *const whole[] = {pass_tile_op(p, OP_INIT_TILE, a, -1, -1), pass_tile_op(p, OP_INIT_TILE, b, -1, -1),
                         pass_tile_op(p, OP_INIT_TILE, acc, -1, -1), loop, epilogue_ops(p, &e)};
    p->body = pass_list(whole, 5);
    if (!loop || !loop->body || !p->body || !whole[4])
        FAIL(ERR_FAILED, "out of memory for a program of macro tile %dx%d", plan->mt[0], plan->mt[1]);
    return gpu_maps_read(p, NULL);
}

/* ---- pipeline ---- */

enum { LIST_MAX = 256 }; /* a part of a chunk has up to 12 ops */
typedef struct {
    Program *p;
    const GpuPlan *plan;
    Op *op[LIST_MAX];
    int n;
    bool failed;
} OpList;

static Op *push(OpList *l, Op *o)
{
    if (!o || l->n == LIST_MAX) {
        l->failed = true;
        return NULL;
    }
    return l->op[l->n++] = o;
}

/* Appends a producer's op. slot: the stage of the ring that it writes. */
static void push_one(OpList *l, OpKind kind, const char *to, const char *from, int set, int slot, int ahead)
{
    Op *o = push(l, pass_tile_op(l->p, kind, program_tile(l->p, to), program_tile(l->p, from), -1));
    if (o) o->role = ROLE_PRODUCER, o->set = set, o->slot = slot, o->ahead = ahead;
}

/* Appends the first half of the producer's work: the loads of a chunk of A and B are issued. slot: how many
 * chunks it is ahead of the current one. */
static void push_load(OpList *l, int set, int slot, int ahead)
{
    for (int i = 0; i < 2; i++) {
        const bool to_local = l->plan->op[i].to_local;
        if (l->plan->op[i].in_registers)
            push_one(l, OP_LOAD_TILE, reg_ab[i], global_ab[i], slot, 0, ahead);
        else
            push_one(l, OP_LOAD_TILE, to_local ? local_ab[i] : fetch_ab[i], global_ab[i], set,
                 to_local ? slot : 0, ahead);
    }
    for (int i = 0; i < 2; i++) {
        Op *o = push(l, pass_move(l->p, program_tile(l->p, global_ab[i]), l->plan->depth_u));
        if (o) o->role = ROLE_PRODUCER, o->ahead = ahead;
    }
}

static void push_barrier(OpList *l, int ahead)
{
    Op *o = push(l, barrier(l->p));
    if (o) o->ahead = ahead;
}

/* Appends the stores of a register set's operands that go through registers. */
static void push_set(OpList *l, int set, int slot, int ahead)
{
    for (int i = 0; i < 2; i++)
        if (gpu_is_fetched(&l->plan->op[i]))
            push_one(l, OP_STORE_TILE, local_ab[i], fetch_ab[i], set, slot, ahead);
}

/* The same of the oldest fetched chunk. */
static void push_registers(OpList *l, int slot, int ahead) { push_set(l, 0, slot, ahead); }

static void push_wait(OpList *l, int pending, int ahead)
{
    Op *o = push(l, pass_tile_op(l->p, OP_WAIT, -1, -1, -1));
    if (o) o->pending = pending, o->ahead = ahead;
    push_barrier(l, ahead);
}

/* Appends the second half: the oldest fetched chunk is stored to the next stage; what has been loaded there
 * arrives. */
static void push_store(OpList *l, int slot, int ahead)
{
    const bool direct = gpu_any_to_local(l->plan);
    if (gpu_all_in_registers(l->plan)) return;
    if (l->plan->n_stages == 1 && !direct) push_barrier(l, ahead); /* the only stage may still be read */
    push_registers(l, slot, ahead);
    if (direct)
        push_wait(l, 0, ahead);
    else
        push_barrier(l, ahead);
}

/* Appends the stores of a part of a chunk. */
static void push_part(OpList *l, int part, int slot, int ahead)
{
    if (l->plan->n_stages == 1) push_barrier(l, ahead); /* the only stage may still be read */
    push_set(l, part, slot, ahead);
    push_barrier(l, ahead);
}

/* Is the fetched chunk stored before the next one is loaded? The registers hold one chunk, so it must go to
 * the free stage before the loads of the following chunk overwrite it. */
static bool stores_first(const GpuPlan *plan)
{
    return !gpu_any_to_local(plan) && !gpu_all_in_registers(plan) && plan->prefetch > plan->n_sets;
}

/* Of two operands one goes straight to local memory, the other through registers, both two chunks ahead. The
 * registers hold one chunk, so an iteration begins by storing it to the stage behind the current one. */
static bool stores_between(const GpuPlan *plan)
{
    return gpu_any_to_local(plan) && !gpu_all_to_local(plan) && plan->prefetch > 1;
}

static Op *list_close(OpList *l) { return l->failed ? NULL : pass_list(l->op, l->n); }

static Op *phase_loop(OpList *l, Phase phase)
{
    const int depth = l->plan->depth_u * (phase == PHASE_REST ? 1 : gpu_chunk_parts(l->plan));
    Op *loop = pass_loop(l->p, LEVEL_GROUP, DIM_K, depth, list_close(l));
    if (loop) loop->phase = phase;
    return loop;
}

/* A chunk of K in parts (DepthULdsDivisor). Each part has a register set, which is loaded again, with
 * PrefetchGlobalRead 1 for the next chunk, as soon as it has been stored. */
static Op *parts_loop(Program *p, const GpuPlan *plan, Phase phase)
{
    OpList l = {.p = p, .plan = plan};
    const int parts = gpu_chunk_parts(plan), ahead = plan->one_loop ? 1 : 0;
    const bool ends = phase == PHASE_DRAIN;
    for (int i = 0; i < parts && plan->prefetch == 0; i++) push_load(&l, i, 0, 0);
    for (int i = 0; i < parts; i++) {
        const bool last = i + 1 == parts;
        if (plan->prefetch > 0 && !ends) push_load(&l, i, 1, ahead);
        if (plan->prefetch == 0) push_part(&l, i, 0, 0);
        push(&l, consumer(p, plan, false));
        if (plan->prefetch > 0 && !(ends && last)) push_part(&l, last ? 0 : i + 1, 1, last ? ahead : 0);
    }
    return phase_loop(&l, phase);
}

static Op *main_loop(Program *p, const GpuPlan *plan)
{
    if (gpu_chunk_parts(plan) > 1)
        return parts_loop(p, plan, plan->prefetch > 0 && !plan->one_loop ? PHASE_MAIN : PHASE_ALL);
    OpList l = {.p = p, .plan = plan};
    const bool between = stores_between(plan), async = gpu_all_to_local(plan) || between;
    const bool single = plan->one_loop;
    if (plan->prefetch > 0 && async) push_wait(&l, single ? 0 : plan->prefetch - 1, 0);
    if (plan->prefetch == 0 && gpu_any_to_local(plan)) push_barrier(&l, 0); /* as in push_store */
    if (stores_first(plan) || between) push_registers(&l, 1, single ? 1 : 0);
    push_load(&l, plan->prefetch > 0 ? plan->n_sets - 1 : 0, plan->prefetch, single ? plan->prefetch : 0);
    if (plan->prefetch == 0) push_store(&l, 0, 0);
    push(&l, consumer(p, plan, false));
    if (stores_first(plan))
        push_barrier(&l, single ? 1 : 0);
    else if (plan->prefetch > 0 && !async)
        push_store(&l, 1, single ? 1 : 0);
    return phase_loop(&l, plan->prefetch > 0 && !single ? PHASE_MAIN : PHASE_ALL);
}

static Op *drain_loop(Program *p, const GpuPlan *plan)
{
    if (gpu_chunk_parts(plan) > 1) return parts_loop(p, plan, PHASE_DRAIN);
    OpList l = {.p = p, .plan = plan};
    const bool between = stores_between(plan);
    if (gpu_all_to_local(plan) || between) push_wait(&l, 0, 0);
    if (between) push_registers(&l, 1, 1);
    push(&l, consumer(p, plan, false));
    if (!gpu_all_to_local(plan) && !between && plan->prefetch > 1) push_store(&l, 1, 1);
    return phase_loop(&l, PHASE_DRAIN);
}

/* Makes the loop over the rest of K, behind the last whole DepthU, whose chunks copy_tail reads. */
static Op *rest_loop(Program *p, const GpuPlan *plan)
{
    OpList l = {.p = p, .plan = plan};
    const bool local = !gpu_all_in_registers(plan);
    if (local) push_barrier(&l, 0);
    for (int i = 0; i < 2; i++)
        if (!plan->op[i].in_registers) push_one(&l, OP_LOAD_TILE, local_ab[i], global_ab[i], 0, 0, 0);
    if (local) push_barrier(&l, 0);
    push(&l, consumer(p, plan, true));
    return phase_loop(&l, PHASE_REST);
}

/* Appends the loads in front of the loop over K, and the stores to local memory that belong there. */
static void push_first(OpList *l)
{
    const GpuPlan *plan = l->plan;
    const bool any = gpu_any_to_local(plan), all = gpu_all_to_local(plan);
    const int first = stores_first(plan) ? plan->n_sets : plan->prefetch, parts = gpu_chunk_parts(plan);
    if (parts > 1) {
        if (plan->prefetch == 0) return;
        for (int i = 0; i < parts; i++) push_load(l, i, 0, 0);
        push_set(l, 0, 0, 0);
        push_barrier(l, 0);
        return;
    }
    for (int i = 0; i < first; i++) {
        if (i > 0 && stores_between(plan)) push_registers(l, i - 1, i - 1);
        push_load(l, any ? 0 : i, i, i);
    }
    if (plan->prefetch == 0 || all || stores_between(plan) || gpu_all_in_registers(plan)) return;
    if (any) {
        push_store(l, 0, 0);
        return;
    }
    push_registers(l, 0, 0);
    for (int i = first; i < plan->prefetch; i++) push_load(l, i - first, i, i);
    push_barrier(l, 0);
}

Err gpu_pipeline(Program *p)
{
    const GpuPlan *plan = p->gpu;
    OpList l = {.p = p, .plan = plan};
    for (Op *o = p->body; o;) {
        Op *next = o->next;
        o->next = NULL;
        if (o->kind != OP_LOOP) {
            push(&l, o);
            o = next;
            continue;
        }
        push_first(&l);
        push(&l, main_loop(p, plan));
        if (plan->prefetch > 0 && !plan->one_loop) push(&l, drain_loop(p, plan));
        push(&l, rest_loop(p, plan));
        o = next;
    }
    p->body = list_close(&l);
    if (!p->body) FAIL(ERR_FAILED, "out of memory for a program with %d stages", plan->n_stages);
    return ERR_OK;
}

/* ---- edges ---- */

unsigned gpu_guards(const Program *p, const Op *o, Phase phase)
{
    if (o->kind == OP_LOOP) return o->phase == PHASE_REST ? 1u << DIM_K : 0;
    const bool writes = o->kind == OP_STORE_TILE || o->kind == OP_ATOMIC_ADD_TILE;
    int from = o->kind == OP_LOAD_TILE ? o->tile[1] : writes ? o->tile[0] : -1;
    if (from < 0 || p->tile[from].space != SPACE_GLOBAL) return 0;
    unsigned both = 1u << p->tile[from].dim[0] | 1u << p->tile[from].dim[1];
    return o->kind == OP_LOAD_TILE && phase != PHASE_REST ? both & ~(1u << DIM_K) : both;
}

static void mark(const Program *p, Op *list, Phase phase)
{
    for (Op *o = list; o; o = o->next) {
        o->guards = gpu_guards(p, o, phase);
        if (o->kind == OP_LOOP) mark(p, o->body, o->level == LEVEL_LANE ? phase : o->phase);
    }
}

Err gpu_edges(Program *p)
{
    mark(p, p->body, PHASE_ALL);
    return gpu_epilogue_read(p, NULL);
}
