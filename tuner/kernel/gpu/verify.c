/* Rules about generated GPU programs that were read from text: whatever the lowering does not take from the
 * program must be what goes with the rest of it, so that no part of the text is without effect.
 *
 * The tiles are made anew from what the maps say (maps.c), and compared. So are the ops of kernels whose loop
 * over K is an embedded text (with a ring, by wgmma) or has one form (without local memory). Others walk
 * their ops (loop.c): numbers that the walk does not read are checked one by one.
 */
#include <string.h>

#include "kernel/contract.h"
#include "kernel/gpu/loads.h"
#include "kernel/gpu/maps.h"
#include "kernel/passes.h"
#include "kernel/words.h"

typedef struct {
    const Program *p;
    const GpuPlan *plan;
    const char *name;
} Verifier;

#define FAIL_OP(v, o, ...)                                                                                   \
    return err_context(err_set(ERR_INPUT, __VA_ARGS__), "%s:%d: ", (v)->name, (o)->line)

/* ---- tiles ---- */

static void add_tile(Program *q, const char *name, Space space, DataType type, Dim rows, Dim cols)
{
    const GpuPlan *p = q->gpu;
    const int side[] = {p->mt[0], p->mt[1], p->depth_u};
    const char operand = space == SPACE_GLOBAL ? (char)(name[0] - 'a' + 'A') : cols == DIM_K ? 'A' : 'B';
    Tile *t = &q->tile[q->n_tiles++];
    *t = (Tile){.name = name, .space = space, .type = type, .dim = {rows, cols}, .n_buffers = 1};
    t->operand = rows == DIM_M && cols == DIM_N && space != SPACE_GLOBAL ? 'P' : operand;
    t->size[0] = side[rows], t->size[1] = side[cols];
    if (space == SPACE_GLOBAL) t->view = &q->view[name[0] - 'a'];
}

/* The work-group's tiles, as a solution's program begins with. */
static Err base_tiles(Program *q)
{
    const GpuPlan *p = q->gpu;
    const DataType held[] = {p->op[0].type.type, p->op[1].type.type};
    /* any matrix: which of its coordinates is contiguous is up to the program */
    const bool trans[4] = {!p->op[0].tlu, p->op[1].tlu, !gpu_contiguous_rows(p, 2),
                           !gpu_contiguous_rows(p, 3)};
    for (int i = 0; i < 4; i++)
        if (p->indices)
            contract_view(&q->view[i], p->indices, i, NULL);
        else
            program_view(&q->view[i], i, trans[i]);
    add_tile(q, "a", SPACE_GLOBAL, p->to_bf16 ? TYPE_H : held[0], DIM_M, DIM_K);
    add_tile(q, "b", SPACE_GLOBAL, p->to_bf16 ? TYPE_H : held[1], DIM_K, DIM_N);
    add_tile(q, "c", SPACE_GLOBAL, p->dest.type, DIM_M, DIM_N);
    add_tile(q, "d", SPACE_GLOBAL, p->dest.type, DIM_M, DIM_N);
    add_tile(q, "reg_a", SPACE_REGISTER, held[0], DIM_M, DIM_K);
    add_tile(q, "reg_b", SPACE_REGISTER, held[1], DIM_K, DIM_N);
    add_tile(q, "acc", SPACE_REGISTER, p->scalar.type, DIM_M, DIM_N);
    const Epilogue e = gpu_epilogue(p);
    return epilogue_tiles(q, &e);
}

/* The program with the tiles of the plan's numbers. */
static Err expected_tiles(const Verifier *v, Program *q)
{
    memset(q, 0, sizeof *q);
    q->arena = v->p->arena, q->target = v->p->target, q->gpu = v->plan, q->walk = v->p->walk;
    TRY(base_tiles(q));
    if (!v->plan->groups.used) return gpu_tiles(q);
    TRY(hopper_distribute(q));
    gpu_mma_of_warp_groups(q);
    return ERR_OK;
}

static Err same_tile(const Verifier *v, const Tile *is, const Tile *expected)
{
    Buf text[2];
    Err e = ERR_OK;
    for (int i = 0; i < 2; i++) {
        buf_init(&text[i]);
        program_dump_tile(i ? expected : is, &text[i]);
        if (!e) e = buf_check(&text[i]);
    }
    if (!e && !str_eq(buf_view(&text[0]), buf_view(&text[1])))
        e = gpu_tile_error(v->name, is,
                           err_set(ERR_INPUT, "it does not go with the program's other tiles, expected '%s'",
                                   buf_cstr(&text[1])));
    for (int i = 0; i < 2; i++) buf_fini(&text[i]);
    return e;
}

static Err tiles(const Verifier *v, const Program *q)
{
    for (int i = 0; i < q->n_tiles; i++) {
        const int at = program_tile(v->p, q->tile[i].name);
        if (at < 0) FAIL(ERR_INPUT, "%s: the program has no tile %%%s", v->name, q->tile[i].name);
        TRY(same_tile(v, &v->p->tile[at], &q->tile[i]));
    }
    for (int i = 0; i < v->p->n_tiles; i++)
        if (program_tile(q, v->p->tile[i].name) < 0)
            return gpu_tile_error(v->name, &v->p->tile[i], err_set(ERR_INPUT, "nothing uses it"));
    return ERR_OK;
}

/* ---- ops that a text has ---- */

static Err unexpected(const Verifier *v, const Program *q, const Op *is, const Op *expected)
{
    Buf text;
    buf_init(&text);
    if (expected) program_dump_op(q, expected, &text);
    Err e = buf_check(&text);
    if (!e)
        e = err_set(ERR_INPUT, "this op does not go with the kernel's text, expected %s%s%s",
                    expected ? "'" : "", expected ? buf_cstr(&text) : "none", expected ? "'" : "");
    buf_fini(&text);
    return err_context(e, "%s:%d: ", v->name, is ? is->line : 0);
}

static bool same_op(const Program *p, const Op *x, const Program *q, const Op *y)
{
    for (int i = 0; i < 3; i++) {
        const int s = x->tile[i], t = y->tile[i];
        if ((s < 0) != (t < 0) || (s >= 0 && strcmp(p->tile[s].name, q->tile[t].name))) return false;
    }
    return x->kind == y->kind && x->level == y->level && x->dim == y->dim && x->step == y->step &&
           x->unroll == y->unroll && x->split == y->split && x->distance == y->distance &&
           x->phase == y->phase && x->ahead == y->ahead && x->set == y->set && x->role == y->role &&
           x->slot == y->slot && x->pending == y->pending && x->guards == y->guards;
}

static Err same_ops(const Verifier *v, const Op *is, const Program *q, const Op *expected)
{
    const Op *last = is;
    for (; is && expected; last = is, is = is->next, expected = expected->next) {
        if (!same_op(v->p, is, q, expected)) return unexpected(v, q, is, expected);
        TRY(same_ops(v, is->body, q, expected->body));
    }
    return is || expected ? unexpected(v, q, is ? is : last, expected) : ERR_OK;
}

static Err ops_of_text(const Verifier *v, Program *q)
{
    Program whole = *q;
    whole.n_tiles = 0;
    if (v->plan->groups.used) {
        TRY(hopper_pipeline(q));
        TRY(hopper_edges(q));
        return same_ops(v, v->p->body, q, q->body);
    }
    if (v->plan->direct) {
        TRY(direct_pipeline(q));
        TRY(direct_edges(q));
        return same_ops(v, v->p->body, q, q->body);
    }
    TRY(base_tiles(&whole));
    TRY(gpu_distribute(&whole));
    TRY(gpu_pipeline(&whole));
    TRY(gpu_edges(&whole));
    return same_ops(v, v->p->body, &whole, whole.body);
}

/* ---- ops that are walked ---- */

static Err loop(const Verifier *v, const Op *o, Phase phase)
{
    const GpuPlan *p = v->plan;
    const bool lane = o->level == LEVEL_LANE;
    const int unroll = lane && phase != PHASE_REST ? p->steps : 1;
    if (o->dim != DIM_K || (o->level != LEVEL_GROUP && !lane))
        FAIL_OP(v, o, "a loop of a GPU kernel is over K, at group or lane");
    if (o->step != (lane ? p->k_step : p->depth_u))
        FAIL_OP(v, o, "step %d, expected %d of the tiles", o->step, lane ? p->k_step : p->depth_u);
    if (o->split != (lane ? p->lsu : 1) || o->unroll != unroll)
        FAIL_OP(v, o, "unroll %d split %d, expected unroll %d split %d", o->unroll, o->split, unroll,
                lane ? p->lsu : 1);
    return ERR_OK;
}

/* The chunks in the ring of stages, and the ops before the current one. */
typedef struct {
    int written[2], read; /* of A and B, of those that loops behind this one read */
    bool barrier;
} Ring;

static Err slot(const Verifier *v, const Op *o, Phase phase, Ring *ring)
{
    const GpuPlan *p = v->plan;
    const bool to_local = o->tile[0] >= 0 && v->p->tile[o->tile[0]].space == SPACE_LOCAL;
    const int x = o->tile[0] >= 0 && v->p->tile[o->tile[0]].operand == 'B';
    const bool writes = (o->kind == OP_STORE_TILE || o->kind == OP_LOAD_TILE) && to_local;
    int at = 0;
    if (writes && phase != PHASE_REST) {
        at = ring->written[x]++ - ring->read;
        if (at >= p->n_stages && !ring->barrier)
            FAIL_OP(v, o, "slot %d of %d stages: its chunk may still be read", at, p->n_stages);
    }
    if (o->slot != at) FAIL_OP(v, o, "slot %d, expected %d", o->slot, at);
    if (!writes) ring->barrier = o->kind == OP_BARRIER;
    return ERR_OK;
}

/* The tiles that an op may have. */
static Err operands(const Verifier *v, const Op *o, Phase phase, bool in_stage)
{
    static const struct {
        OpKind kind;
        const char *tile[3];
    } rows[] = {{OP_INIT_TILE, {"a"}},
                {OP_INIT_TILE, {"b"}},
                {OP_INIT_TILE, {"acc"}},
                {OP_LOAD_TILE, {"local_a", "a"}},
                {OP_LOAD_TILE, {"local_b", "b"}},
                {OP_LOAD_TILE, {"fetch_a", "a"}},
                {OP_LOAD_TILE, {"fetch_b", "b"}},
                {OP_LOAD_TILE, {"reg_a", "local_a"}},
                {OP_LOAD_TILE, {"reg_b", "local_b"}},
                {OP_LOAD_TILE, {"reg_a", "a"}},
                {OP_LOAD_TILE, {"reg_b", "b"}},
                {OP_STORE_TILE, {"local_a", "fetch_a"}},
                {OP_STORE_TILE, {"local_b", "fetch_b"}},
                {OP_UPDATE_TILE_OFFSET, {"a"}},
                {OP_UPDATE_TILE_OFFSET, {"b"}},
                {OP_TILE_MMA, {"acc", "reg_a", "reg_b"}},
                {OP_TILE_MMA, {"acc", "reg_b", "reg_a"}}, /* SourceSwap */
                {OP_BARRIER, {NULL}},
                {OP_WAIT, {NULL}},
                {OP_LOOP, {NULL}}};
    const bool b = o->tile[0] >= 0 && v->p->tile[o->tile[0]].operand == 'B';
    const GpuOperand *x = &v->plan->op[b];
    const bool fetches = gpu_is_fetched(x) && phase != PHASE_REST;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool same = rows[i].kind == o->kind;
        for (int t = 0; t < 3 && same; t++) {
            const char *name = o->tile[t] < 0 ? NULL : v->p->tile[o->tile[t]].name, *row = rows[i].tile[t];
            same = name && row ? !strcmp(name, row) : !name && !row;
        }
        if (!same) continue;
        const char *to = rows[i].tile[0];
        if (o->kind == OP_TILE_MMA && (strcmp(rows[i].tile[1], "reg_b") == 0) != v->plan->matrix.swap) break;
        if (o->kind == OP_LOAD_TILE && !in_stage && fetches != (to[0] == 'f')) break;
        const bool to_fragments = o->kind == OP_LOAD_TILE && to[0] == 'r';
        if (to_fragments && x->in_registers != (strlen(rows[i].tile[1]) == 1)) break;
        if (to_fragments && x->in_registers && in_stage != (phase == PHASE_REST)) break;
        if ((o->kind == OP_TILE_MMA || (to_fragments && !x->in_registers)) && !in_stage) break;
        if (in_stage && o->kind != OP_TILE_MMA && !to_fragments) break;
        return ERR_OK;
    }
    FAIL_OP(v, o, "these tiles are none of this op's here");
}

static Err one_op(const Verifier *v, const Op *o, Phase phase, bool in_stage)
{
    const GpuPlan *p = v->plan;
    const bool moves =
        o->kind == OP_LOAD_TILE || o->kind == OP_STORE_TILE || o->kind == OP_UPDATE_TILE_OFFSET;
    const Role role = o->kind == OP_LOOP && o->level == LEVEL_LANE ? ROLE_CONSUMER
                      : moves && !in_stage                         ? ROLE_PRODUCER
                                                                   : ROLE_ALL;
    const unsigned guards = gpu_guards(v->p, o, phase);
    TRY(operands(v, o, phase, in_stage));
    if (o->guards != guards) FAIL_OP(v, o, "guard of edges %u, expected %u", o->guards, guards);
    if (o->role != role) FAIL_OP(v, o, "this op is another role's");
    const bool of_b = o->tile[0] >= 0 && v->p->tile[o->tile[0]].operand == 'B';
    const int sets = o->kind == OP_LOAD_TILE ? gpu_sets(p, &p->op[of_b]) : p->n_sets;
    if (o->set >= sets) FAIL_OP(v, o, "set %d of %d sets of registers", o->set, sets);
    if (o->distance) FAIL_OP(v, o, "distance %d: a GPU kernel prefetches no tiles", o->distance);
    if (o->kind == OP_UPDATE_TILE_OFFSET && (o->dim != DIM_K || o->step != p->depth_u))
        FAIL_OP(v, o, "a tile moves by %d, expected k + %d", o->step, p->depth_u);
    return o->kind == OP_LOOP ? loop(v, o, phase) : ERR_OK;
}

/* Checks that an op of B that the text has together with A's in front of it is for the same chunk. */
static Err pair(const Verifier *v, const Op *a, const Op *b)
{
    const bool paired =
        b->kind == OP_LOAD_TILE || b->kind == OP_STORE_TILE || b->kind == OP_UPDATE_TILE_OFFSET;
    if (!paired || a->kind != b->kind || a->tile[0] < 0 || b->tile[0] < 0) return ERR_OK;
    if (v->p->tile[a->tile[0]].operand != 'A' || v->p->tile[b->tile[0]].operand != 'B') return ERR_OK;
    if (a->ahead != b->ahead) FAIL_OP(v, b, "if_more %d, that of A's is %d", b->ahead, a->ahead);
    return ERR_OK;
}

/* The ops of a list up to `end`. */
static Err walked(const Verifier *v, const Op *list, const Op *end, Phase phase, bool in_stage, Ring *ring)
{
    for (const Op *o = list; o != end; o = o->next) {
        TRY(one_op(v, o, phase, in_stage));
        if (!in_stage) TRY(slot(v, o, phase, ring));
        if (o->next && o->next != end) TRY(pair(v, o, o->next));
        if (o->kind != OP_LOOP) continue;
        const bool lane = o->level == LEVEL_LANE;
        TRY(walked(v, o->body, NULL, lane ? phase : o->phase, lane, ring));
        if (!lane) ring->read++;
    }
    return ERR_OK;
}

/* ---- numbers ---- */

static Err numbers(const Verifier *v)
{
    enum { PREFETCH_MAX = 16 }; /* chunks that loads run ahead; ops are made for each */
    const GpuPlan *p = v->plan;
    const Walk *w = &v->p->walk;
    if (p->prefetch > PREFETCH_MAX)
        FAIL(ERR_INPUT, "%s: stage prefetch %d, at most %d", v->name, p->prefetch, PREFETCH_MAX);
    if (p->ring.used && !p->groups.used && p->prefetch + 1 != p->n_stages)
        FAIL(ERR_INPUT, "%s: stage prefetch %d, a ring of %d stages has %d", v->name, p->prefetch,
             p->n_stages, p->n_stages - 1);
    if (w->prefetches && !gpu_can_prefetch(p))
        FAIL(ERR_INPUT,
             "%s: walk prefetches: first loads of a next tile are for persistent kernels with "
             "loads ahead into registers or a ring",
             v->name);
    if (w->stream_part && !p->groups.used)
        FAIL(ERR_INPUT, "%s: walk stream_part %d is for kernels with warp groups", v->name, w->stream_part);
    if (w->stream_even && (!p->ring.used || p->groups.used))
        FAIL(ERR_INPUT, "%s: walk stream_even is for kernels with a ring that all threads fill", v->name);
    const int parts = gpu_chunk_parts(p);
    if (w->depth_u != p->depth_u * parts)
        FAIL(ERR_INPUT, "%s: walk depth %d, the tiles have %d elements of K", v->name, w->depth_u,
             p->depth_u);
    if (parts > 1 && (p->groups.used || p->ring.used || p->direct || p->n_sets != parts || p->prefetch > 1 ||
                      gpu_any_to_local(p) || gpu_any_in_registers(p)))
        FAIL(ERR_INPUT,
             "%s: walk depth %d, tiles of %d elements of K: each part of a chunk has a register set and is "
             "loaded up to one chunk ahead",
             v->name, w->depth_u, p->depth_u);
    for (int i = 0; i < 2; i++) {
        const DataType type = p->op[i].type.type;
        if (type != p->in.type && !(gpu_is_f8(type) && gpu_is_f8(p->in.type)))
            FAIL(ERR_INPUT, "%s: types ab %s, the tile of %c has %s", v->name, type_letter(p->in.type),
                 "AB"[i], type_letter(type));
    }
    if (p->groups.engine_store && !gpu_contiguous_results(p))
        FAIL(ERR_INPUT, "%s: the copy engine stores D and loads C along M; the view of one runs along N",
             v->name);
    if (!p->groups.used && (p->store_width < 1 || p->acc_run % p->store_width))
        FAIL(ERR_INPUT, "%s: results vector %d, a thread has runs of %d", v->name, p->store_width,
             p->acc_run);
    return ERR_OK;
}

/* Checks that the epilogue adds up exactly the parts of K that the walk and the maps make. */
static Err epilogue(const Program *p, const char *name)
{
    Epilogue e;
    const GpuPlan *plan = p->gpu;
    TRY(epilogue_read(p, plan->epilogue, name, &e));
    const Across parts = p->walk.members > 1 ? ACROSS_CLUSTER : plan->lsu > 1 ? ACROSS_GROUP : ACROSS_NONE;
    if (e.across != parts)
        FAIL(ERR_INPUT, "%s: the epilogue adds up no parts across '%s', but across '%s'", name,
             program_across[parts], program_across[e.across]);
    if (p->walk.split > 1 && !e.adds && !e.parts && !e.grid)
        FAIL(ERR_INPUT, "%s: walk split %d, but the epilogue stores one part", name, p->walk.split);
    if (p->walk.stream_k && !e.adds && !e.grid)
        FAIL(ERR_INPUT, "%s: walk stream_k %d, but the epilogue stores one part", name, p->walk.stream_k);
    for (const Op *o = plan->epilogue; o; o = o->next) {
        const unsigned guards = gpu_guards(p, o, PHASE_ALL);
        if (o->guards != guards) {
            const Err at = err_set(ERR_INPUT, "guard of edges %u, expected %u", o->guards, guards);
            return err_context(at, "%s:%d: ", name, o->line);
        }
    }
    return ERR_OK;
}

/* Checks that the tiles that the maps put into local memory fit. */
static Err local_memory(const Verifier *v)
{
    const GpuPlan *p = v->plan;
    const int64_t sums = p->lsu > 1 ? (int64_t)p->mt[0] * p->mt[1] * p->lsu * gpu_type_bytes(&p->acc) : 0;
    if (p->groups.used || p->ring.used) return ERR_OK;
    if (p->lds_bytes < sums || p->lds_bytes < 1)
        FAIL(ERR_INPUT, "%s: stage local_bytes %d, sums of %d parts have %lld", v->name, p->lds_bytes, p->lsu,
             (long long)sums);
    if (p->direct) return ERR_OK;
    int64_t at = 0;
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        if (x->in_registers) continue;
        const int64_t bytes = layout_bytes(&x->layout, gpu_lines(p, x));
        if (x->layout.line < gpu_line_length(p, x) || x->lds_bytes != bytes || x->lds_offset != at)
            FAIL(
                ERR_INPUT,
                "%s: layout_%c: lines of %d elements, offset %d, bytes %d; the tile has lines of %d, at %lld "
                "are %lld bytes",
                v->name, x->name, x->layout.line, x->lds_offset, x->lds_bytes, gpu_line_length(p, x),
                (long long)at, (long long)bytes);
        at += (bytes + 15) / 16 * 16;
    }
    if (p->stage_bytes != at || p->lds_bytes < at * p->n_stages)
        FAIL(ERR_INPUT, "%s: stage bytes %d local_bytes %d, expected %lld and %d times as much", v->name,
             p->stage_bytes, p->lds_bytes, (long long)at, p->n_stages);
    return ERR_OK;
}

Err gpu_verify(Program *p, const char *name)
{
    Program q;
    Ring ring = {0};
    TRY(gpu_epilogue_read(p, name));
    TRY(gpu_maps_read(p, name));
    TRY(epilogue(p, name));
    const Verifier v = {p, p->gpu, name};
    TRY(numbers(&v));
    TRY(expected_tiles(&v, &q));
    TRY(tiles(&v, &q));
    TRY(local_memory(&v));
    if (v.plan->copy && v.plan->copy->check) TRY(v.plan->copy->check(v.plan));
    const bool in_parts = gpu_chunk_parts(v.plan) > 1;
    if (v.plan->ring.used || v.plan->groups.used || v.plan->direct || in_parts) return ops_of_text(&v, &q);
    TRY(walked(&v, p->body, op_behind_loops(p->body), PHASE_ALL, false, &ring));
    return ERR_OK;
}
