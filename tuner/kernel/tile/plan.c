/* Maps, local memory and registers of a program written by hand, for one target. See plan.h; rules about ops
 * are in verify.c. */
#include "kernel/tile/plan.h"

#include "kernel/tile/verify.h"
#include "kernel/words.h"

#define FAIL_TILE(name, p, i, ...)                                                                           \
    return err_context(err_set(ERR_INPUT, __VA_ARGS__), "%s:%d: tile %%%s: ", name, (p)->hand->tile_line[i], \
                       (p)->tile[i].name)

enum { MAX_STAGES = 8, LOCAL_ALIGN = 64, HOST_LOCAL_BYTES = 1 << 28 };
enum { ASYNC_BYTES = 4 }; /* the least that cp.async copies */

/* ---- maps ---- */

static bool is_gpu(const TilePlan *plan) { return plan->target && target_family(plan->target)->is_gpu; }

/* The side of a local tile that is contiguous in memory: that of its first load. */
static int contiguous_side(const Op *list, int tile)
{
    for (const Op *o = list; o; o = o->next) {
        if (o->kind == OP_LOAD_TILE && o->tile[0] == tile) return o->hand->transpose ? 0 : 1;
        int side = contiguous_side(o->body, tile);
        if (side >= 0) return side;
    }
    return -1;
}

/* Lanes along the side that is contiguous in memory first, with runs of up to 16 bytes, then across. Runs of
 * half the length where lanes are left over. */
static bool default_lanes(const Program *p, int i, int32_t lanes, TilePlace *x)
{
    const int side = contiguous_side(p->body, i) == 0 ? 0 : 1;
    const int32_t *data = x->wg.data;
    /* tiles in registers have one map whatever their type is */
    const DataType type = p->tile[i].space == SPACE_REGISTER ? hand_sum_type(p->hand) : p->tile[i].type;
    for (int32_t run = 16 / type_bytes(type); run; run /= 2) {
        int32_t along = 1;
        while (along * 2 <= lanes && data[side] % (along * 2 * run) == 0) along *= 2;
        const int32_t across = lanes / along;
        if (across * along != lanes || data[1 - side] % across || data[side] % run) continue;
        x->sg.layout[side] = along, x->sg.layout[1 - side] = across;
        x->sg.data[side] = run, x->sg.data[1 - side] = 1;
        return true;
    }
    return false;
}

/* A local tile without a map is shared evenly, if it can be: by subgroups across the side that is contiguous
 * in memory, or else along it. */
static bool default_map(const Program *p, int i, const TilePlan *plan, TilePlace *x)
{
    const int side = contiguous_side(p->body, i) == 0 ? 0 : 1;
    const int32_t *size = p->tile[i].size;
    for (int tries = 0; tries < 2; tries++) {
        const int cut = tries ? side : 1 - side;
        if (size[cut] % plan->n_subgroups) continue;
        x->wg = (TileMap){{1, 1}, {size[0], size[1]}};
        x->wg.layout[cut] = plan->n_subgroups, x->wg.data[cut] /= plan->n_subgroups;
        if (default_lanes(p, i, plan->n_lanes, x)) return true;
    }
    return false;
}

static Err one_map(const Program *p, int i, const char *name, TilePlan *plan)
{
    const Tile *t = &p->tile[i];
    TilePlace *x = &plan->tile[i];
    if (t->wg_map.layout[0]) x->wg = t->wg_map, x->sg = t->sg_map;
    x->mapped = true;
    if (!x->sg.layout[0] && !x->inst && !default_lanes(p, i, plan->n_lanes, x))
        FAIL_TILE(name, p, i, "%d lanes do not share a subtile of %d x %d evenly, and there is no sg_map",
                  plan->n_lanes, x->wg.data[0], x->wg.data[1]);
    for (int side = 0; side < 2; side++) {
        Err e = distribute_check("wg_map", side, t->size[side], x->wg.layout[side], x->wg.data[side]);
        int64_t all = x->inst ? 1 : (int64_t)x->sg.layout[side] * x->sg.data[side];
        if (!e && x->wg.data[side] % all)
            e = err_set(ERR_INPUT,
                        "sg_map: a subtile of %d %s is no multiple of wi_layout * wi_data = %d * %d = %lld",
                        x->wg.data[side], side ? "columns" : "rows", x->sg.layout[side], x->sg.data[side],
                        (long long)all);
        if (e) return err_context(e, "%s:%d: tile %%%s: ", name, p->hand->tile_line[i], t->name);
        int32_t n = distribute_subtiles(t->size[side], x->wg.data[side]);
        x->rounds[side] = distribute_rounds(n, x->wg.layout[side]);
        x->turns[side] = x->wg.data[side] / (int32_t)all;
        x->per[side] = x->inst ? 0 : x->rounds[side] * x->turns[side] * x->sg.data[side];
    }
    x->count = x->per[0] * x->per[1];
    if (x->inst) x->count = tile_instructions(plan, i, 0) * tile_instructions(plan, i, 1) * x->inst->n_acc;
    return ERR_OK;
}

/* Work-items of a map's layout; all maps of a program have equally many. */
static Err layouts(const Program *p, const char *name, TilePlan *plan)
{
    for (int i = 0; i < p->n_tiles; i++) {
        const Tile *t = &p->tile[i];
        const TileMap *const maps[] = {&t->wg_map, &t->sg_map};
        int32_t *const all[] = {&plan->n_subgroups, &plan->n_lanes};
        if (!t->wg_map.layout[0] && t->sg_map.layout[0]) FAIL_TILE(name, p, i, "sg_map without a wg_map");
        for (int m = 0; m < 2; m++) {
            int64_t n = (int64_t)maps[m]->layout[0] * maps[m]->layout[1];
            if (!maps[m]->layout[0]) continue;
            if (n > HAND_MAX_THREADS)
                FAIL_TILE(name, p, i, "a layout of %lld, at most %d", (long long)n, HAND_MAX_THREADS);
            if (*all[m] && *all[m] != n) {
                if (m)
                    FAIL_TILE(name, p, i, "sg_map has %lld work-items, another has %d", (long long)n,
                              *all[m]);
                FAIL_TILE(name, p, i, "wg_map has %lld subgroups, another has %d", (long long)n, *all[m]);
            }
            *all[m] = (int32_t)n;
        }
    }
    const Target *t = plan->target;
    if (!plan->n_lanes) plan->n_lanes = t && t->wave_size > 1 ? t->wave_size : 32;
    if (!plan->n_subgroups) plan->n_subgroups = 1;
    plan->n_threads = plan->n_subgroups * plan->n_lanes;
    if (plan->n_threads > HAND_MAX_THREADS)
        FAIL(ERR_INPUT, "%s: a work-group of %d subgroups of %d work-items = %d, at most %d", name,
             plan->n_subgroups, plan->n_lanes, plan->n_threads, HAND_MAX_THREADS);
    return ERR_OK;
}

/* ---- pipelines ---- */

/* Ops of a list, and of what is nested in it, that touch the tile. */
static int touches(const Op *list, int tile)
{
    int n = 0;
    for (const Op *o = list; o; o = o->next) {
        for (int i = 0; i < 3; i++) n += o->tile[i] == tile;
        n += touches(o->body, tile);
    }
    return n;
}

/* The tile moves forward, by the same in each iteration. */
static bool moves_evenly(const Op *loop, const Op *o)
{
    for (int side = 0; side < 2; side++) {
        const Expr *by = o->hand->n[side].e;
        if (by && (by->lo < 0 || expr_has(by, loop->hand->slot))) return false;
    }
    return true;
}

/* The op may stand in a pipelined loop, behind the loads of the tiles in `loaded`. */
static bool may_stand(const Program *p, const TilePlan *plan, const Op *loop, const Op *o, unsigned loaded)
{
    switch (o->kind) {
    case OP_UPDATE_TILE_OFFSET:
        return moves_evenly(loop, o);
    case OP_LOAD_TILE: /* alone, and only here */
        return p->tile[o->tile[0]].space == SPACE_LOCAL && plan->tile[o->tile[0]].mapped &&
               !(loaded >> o->tile[0] & 1) && touches(loop->body, o->tile[0]) == touches(p->body, o->tile[0]);
    case OP_TILE_MMA:
        return (loaded >> o->tile[1] & 1) && (loaded >> o->tile[2] & 1);
    case OP_LET:
    case OP_PREFETCH_TILE:
    case OP_FILL_TILE:
    case OP_SCALE_TILE:
    case OP_SHIFT_TILE:
    case OP_ADD_TILE:
    case OP_MULTIPLY_TILE:
    case OP_CONVERT_TILE:
        return true;
    default:
        return false;
    }
}

bool tile_pipelines(const Program *p, const TilePlan *plan, const Op *loop)
{
    unsigned loaded = 0;
    bool moved = false;
    for (const Op *o = loop->body; o; o = o->next) {
        if (!may_stand(p, plan, loop, o, loaded)) return false;
        if (moved && (o->kind == OP_LOAD_TILE || o->kind == OP_PREFETCH_TILE)) return false;
        moved |= o->kind == OP_UPDATE_TILE_OFFSET;
        if (o->kind == OP_LOAD_TILE) loaded |= 1u << o->tile[0];
    }
    return loaded != 0;
}

/* ---- memory ---- */

/* Lines of a local tile in local memory. */
static int lines_of(const Program *p, const TilePlan *plan, int i)
{
    return p->tile[i].size[plan->tile[i].columns_first ? 1 : 0];
}

/* Offsets of the local tiles in a stage. */
static void lay_out(const Program *p, TilePlan *plan)
{
    int64_t at = 0;
    for (int i = 0; i < p->n_tiles; i++) {
        TilePlace *x = &plan->tile[i];
        if (p->tile[i].space != SPACE_LOCAL) continue;
        x->offset = at;
        at += (layout_bytes(&x->layout, lines_of(p, plan, i)) + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
    }
    plan->stage_bytes = at;
    plan->local_bytes = at * plan->stages;
}

/* All loads of pipelined loops can be copies of the family's asynchronous instruction. */
static bool copies_async(const Program *p, const TilePlan *plan, const Op *list)
{
    for (const Op *loop = list; loop; loop = loop->next) {
        if (!copies_async(p, plan, loop->body)) return false;
        if (loop->kind != OP_LOOP || !tile_pipelines(p, plan, loop)) continue;
        for (const Op *o = loop->body; o; o = o->next)
            if (o->kind == OP_LOAD_TILE && tile_copy_bytes(p, plan, o) < ASYNC_BYTES) return false;
    }
    return true;
}

/* Stages that the program asks for: `buffers` of its local tiles. */
static int32_t asked_stages(const Program *p)
{
    int32_t most = 1;
    for (int i = 0; i < p->n_tiles; i++)
        if (p->tile[i].space == SPACE_LOCAL && p->tile[i].n_buffers > most) most = p->tile[i].n_buffers;
    return most;
}

static bool has_pipeline(const Program *p, const TilePlan *plan, const Op *list)
{
    for (const Op *o = list; o; o = o->next)
        if ((o->kind == OP_LOOP && tile_pipelines(p, plan, o)) || has_pipeline(p, plan, o->body)) return true;
    return false;
}

/* cp.async: from which version of the family's instruction set on; 0: it has none. */
static const int async_isa[] = {[TARGET_AMDGCN] = 0, [TARGET_NVPTX] = 8, [TARGET_HOST] = 0};

static Err local_memory(const Program *p, const char *name, TilePlan *plan)
{
    const Target *t = plan->target;
    int64_t most = t && t->lds_bytes ? t->lds_bytes : HOST_LOCAL_BYTES;
    plan->stages = 1;
    for (int i = 0; i < p->n_tiles; i++)
        plan->tile[i].layout = (Layout){.bytes = type_bytes(p->tile[i].type),
                                        .line = p->tile[i].size[plan->tile[i].columns_first ? 0 : 1]};
    lay_out(p, plan);
    if (plan->local_bytes > most)
        FAIL(ERR_INPUT, "%s: the local tiles need %lld bytes, %s has %lld", name,
             (long long)plan->local_bytes, t ? t->name : "any target", (long long)most);
    if (!is_gpu(plan)) return ERR_OK;
    const int32_t asked = asked_stages(p), isa = async_isa[t->family];
    const bool pipeline = has_pipeline(p, plan, p->body);
    plan->async = pipeline && asked > 1 && isa && t->isa[0] >= isa && copies_async(p, plan, p->body);
    if (plan->async && asked * plan->stage_bytes > most)
        FAIL(ERR_INPUT, "%s: %d stages of the local tiles need %lld bytes, %s has %lld", name, asked,
             (long long)(asked * plan->stage_bytes), t->name, (long long)most);
    if (pipeline && 2 * plan->stage_bytes <= most) plan->stages = plan->async ? asked : 2;
    tile_plan_pads(p, plan, most / plan->stages - plan->stage_bytes - (int64_t)p->n_tiles * LOCAL_ALIGN);
    lay_out(p, plan);
    return ERR_OK;
}

/* Numbers of the first and the last op that touch each tile; ops in front of `*at` have been counted. What a
 * loop touches and something in front of it does is kept through all of its iterations. */
typedef struct {
    int first[PROGRAM_MAX_TILES], last[PROGRAM_MAX_TILES];
} Lifetimes;

static void lifetimes(const Op *list, int *at, Lifetimes *x)
{
    for (const Op *o = list; o; o = o->next) {
        const int begin = (*at)++;
        for (int i = 0; i < 3; i++) {
            if (o->tile[i] < 0) continue;
            if (!x->first[o->tile[i]]) x->first[o->tile[i]] = begin;
            x->last[o->tile[i]] = begin;
        }
        lifetimes(o->body, at, x);
        for (int i = 0; i < PROGRAM_MAX_TILES && o->kind == OP_LOOP; i++)
            if (x->last[i] > begin && x->first[i] < begin) x->last[i] = *at;
    }
}

/* Tiles in registers that live at the same time. */
static Err registers(const Program *p, const char *name, TilePlan *plan)
{
    Lifetimes life = {{0}, {0}};
    int64_t most = 0;
    int n_ops = 1, worst = 0;
    lifetimes(p->body, &n_ops, &life);
    for (int at = 1; at < n_ops; at++) {
        int64_t bytes = 0;
        int last = 0;
        for (int i = 0; i < p->n_tiles; i++) {
            if (p->tile[i].space != SPACE_REGISTER || at < life.first[i] || at > life.last[i]) continue;
            const int64_t one = type_bytes(p->tile[i].type) < 4 ? 4 : type_bytes(p->tile[i].type);
            bytes += plan->tile[i].count * one;
            last = i;
        }
        if (bytes > most) most = bytes, worst = last;
    }
    const Target *t = plan->target;
    if (t && t->lds_bytes && most / 4 > t->n_vector_regs)
        FAIL_TILE(name, p, worst, "with it a work-item needs %lld registers for tiles, %s has %d",
                  (long long)(most / 4), t->name, t->n_vector_regs);
    plan->registers = (int32_t)(most / 4 < INT32_MAX ? most / 4 : INT32_MAX);
    return ERR_OK;
}

static Err tiles(const Program *p, const char *name, TilePlan *plan)
{
    for (int i = 0; i < p->n_tiles; i++) {
        const Tile *t = &p->tile[i];
        if (t->n_buffers > (t->space == SPACE_LOCAL ? MAX_STAGES : 1))
            FAIL_TILE(name, p, i, "buffers %d, at most %d of a tile in %s memory", t->n_buffers,
                      t->space == SPACE_LOCAL ? MAX_STAGES : 1, program_spaces[t->space]);
        if (type_info(t->type)->complex || type_info(t->type)->packing != 1)
            FAIL_TILE(name, p, i, "no tiles of data type '%s' in programs written by hand",
                      type_letter(t->type));
        for (int side = 0; side < 2; side++)
            if (t->size[side] > HAND_MAX_SIDE)
                FAIL_TILE(name, p, i, "a side of %d, at most %d", t->size[side], HAND_MAX_SIDE);
        if ((int64_t)t->size[0] * t->size[1] > HAND_MAX_ELEMENTS)
            FAIL_TILE(name, p, i, "%d x %d elements, at most %d", t->size[0], t->size[1], HAND_MAX_ELEMENTS);
        bool cd = t->operand == 'C' || t->operand == 'D';
        DataType type = (DataType)(cd ? p->hand->type.DestDataType : p->hand->type.DataType);
        if (t->space == SPACE_GLOBAL && (t->operand == 'P' || t->type != type))
            FAIL_TILE(name, p, i, "a tile of %c in memory has type '%s', expected '%s' of A, B, C or D",
                      t->operand, type_letter(t->type), type_letter(type));
        DataType sum = hand_sum_type(p->hand), dest = (DataType)p->hand->type.DestDataType;
        if (t->space == SPACE_REGISTER && t->type != sum && t->type != dest)
            FAIL_TILE(name, p, i, "a tile in registers has type '%s', expected '%s' of sums or '%s' of D",
                      type_letter(t->type), type_letter(sum), type_letter(dest));
        if (t->space == SPACE_LOCAL && t->type != (DataType)p->hand->type.DataType)
            FAIL_TILE(name, p, i, "a tile in local memory has type '%s', expected '%s' of A and B",
                      type_letter(t->type), type_letter((DataType)p->hand->type.DataType));
        if (t->space == SPACE_REGISTER && !t->wg_map.layout[0])
            FAIL_TILE(name, p, i, "a tile in registers needs a wg_map");
        const bool shared = t->space == SPACE_LOCAL && is_gpu(plan) && !t->wg_map.layout[0] &&
                            default_map(p, i, plan, &plan->tile[i]);
        if (t->wg_map.layout[0] || shared) TRY(one_map(p, i, name, plan));
    }
    return ERR_OK;
}

Err tile_plan(const Program *p, const Target *t, const char *name, TilePlan *out)
{
    *out = (TilePlan){.target = t};
    if (!p->hand)
        FAIL(ERR_INPUT, "%s: a generated program; this is for programs with a 'problem' line", name);
    if (p->target && t && p->target != t)
        FAIL(ERR_INPUT, "%s: a program for %s, not for %s", name, p->target->name, t->name);
    const ProblemType *pt = &p->hand->type;
    if (pt->OperationType != OP_GEMM) FAIL(ERR_INPUT, "%s: the problem is no GEMM", name);
    const Fused fused = problem_fused(pt);
    if (fused_any(&fused))
        FAIL(ERR_INPUT, "%s: programs written by hand have no bias, activation and scale factors", name);
    if (!p->hand->tile_m || !p->hand->tile_n)
        FAIL(ERR_INPUT, "%s: no 'grid tile_m N tile_n N', the tile of D of a work-group", name);
    TRY(layouts(p, name, out));
    TRY(tile_plan_instructions(p, name, out));
    TRY(tiles(p, name, out));
    TRY(verify_ops(p, t, name, out));
    TRY(local_memory(p, name, out));
    return registers(p, name, out);
}
