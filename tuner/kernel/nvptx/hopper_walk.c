/* The walk of wgmma kernels over tiles and parts of K, as statements: of clusters, then of the work-groups in
 * them. */
#include <string.h>

#include "kernel/nvptx/hopper.h"
#include "kernel/gpu/walk.h"

/* ---- clusters ---- */

static const WalkNames names = {.group = {"0u", "0u", "0u"},
                                .id = "id",
                                GPU_WALK_ARGUMENTS,
                                .stream_group = "group",
                                .stream_groups = "groups",
                                .member = "member"};

static void tile_struct(Stmts *s)
{
    static const char *const field[] = {"wg0",  "wg1",   "wg2",  "part",      "first", "step",
                                        "late", "count", "slot", "next_slot", "parts"};
    stmt_struct(s, "Tile", 0);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) stmt_var(s, "unsigned", field[i], NULL);
    stmt_end(s);
}

/* The fields of struct Tile for one step of the walk: the tile, its part of K, and the workspace slots of the
 * sums of the tile's parts. */
enum { TILE_FIELDS = 11 };
typedef struct {
    const char *name;
    const Expr *value;
} TileField;

static const Expr *all_tiles(ExprPool *pool, const Walk *w)
{
    Walk one = *w; /* the number of ids if no tile were split */
    one.split = 1;
    return walk_ids(pool, &one, &names);
}

static WalkStreamWords stream_words(const Walk *w, ExprPool *pool)
{
    const Expr *k = expr_var(pool, "size_k", WALK_K, 0, UINT32_MAX), *tiles = all_tiles(pool, w);
    const Expr *groups = expr_var(pool, names.stream_groups, WALK_GROUPS, 1, UINT32_MAX);
    return walk_stream_words(pool, w, tiles, groups, k, expr_const(pool, 1));
}

/* Variables in which a walk by ids keeps what is the same for all tiles. */
static const Expr *cut_parts(ExprPool *pool) { return expr_var(pool, "cut_parts", 0, 1, UINT32_MAX); }
static const Expr *whole_tiles(ExprPool *pool) { return expr_var(pool, "whole", 0, 0, UINT32_MAX); }

/* is_cut: whether the tile is cut; NULL: the expressions find out. */
static WalkStream stream_step(const Walk *w, ExprPool *pool, const Expr *is_cut)
{
    WalkStreamWords words = stream_words(w, pool);
    const Expr *tiles = all_tiles(pool, w);
    words.is_cut = is_cut;
    if (walk_stream_by_id(w)) {
        words.parts = cut_parts(pool), words.whole = whole_tiles(pool);
        words.shared = expr_u32(pool, expr_sub(pool, tiles, words.whole));
        walk_stream_shares(pool, &words);
    }
    return walk_stream(pool, w, &names, &words, tiles);
}

/* Prints tile_parts(), the parts of tiles that are cut, and whole_tiles(), the number of the others. Where no
 * number of tiles could make a cut pay, that takes no division. */
static void cut_functions(const Walk *w, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const Expr *k = expr_var(pool, "size_k", WALK_K, 0, UINT32_MAX);
    const Expr *groups = expr_var(pool, names.stream_groups, WALK_GROUPS, 1, UINT32_MAX);
    stmt_function(s, (Function){.result = "unsigned",
                                .name = "tile_parts",
                                STMT_PARAMS({"unsigned", "tiles_m"}, {"unsigned", "tiles_n"},
                                            {"unsigned", "size_batch"}, {"unsigned", "size_k"},
                                            {"unsigned", "groups"})});
    const Value *parts = stmt_var(s, "unsigned", "parts", value_int(s, 1));
    stmt_if_seldom(s, value_expr(s, expr_op(pool, EXPR_LE, expr_const(pool, walk_stream_least_k(w)), k)));
    stmt_set(s, parts, value_expr(s, stream_words(w, pool).parts));
    stmt_end(s);
    stmt_return(s, parts);
    stmt_end(s);
    stmt_function(s, (Function){.result = "unsigned",
                                .name = "whole_tiles",
                                STMT_PARAMS({"unsigned", "tiles_m"}, {"unsigned", "tiles_n"},
                                            {"unsigned", "size_batch"}, {"unsigned", "groups"},
                                            {"unsigned", "cut_parts"})});
    const Expr *tiles = stmt_let(s, "tiles", all_tiles(pool, w)), *one = expr_const(pool, 1);
    const Value *whole = stmt_var(s, "unsigned", "whole", value_expr(s, tiles));
    stmt_if_seldom(s, value_expr(s, expr_op(pool, EXPR_LT, one, cut_parts(pool))));
    stmt_set(s, whole, value_expr(s, walk_stream_whole(pool, tiles, groups, expr_const(pool, 2))));
    stmt_end(s);
    stmt_return(s, whole);
    stmt_end(s);
}

/* What a step by ids takes, in variables: a whole tile at first. The numbers of a cut tile, which take
 * divisions and selections, are computed only for ids behind the whole tiles. */
static WalkStream step_by_id(const Walk *w, Stmts *s)
{
    static const char *const name[] = {"at_tile", "at_part", "at_first", "at_count", "at_slot", "at_parts"};
    enum { FIELDS = sizeof name / sizeof *name };
    ExprPool *pool = &s->pool;
    const Expr *zero = expr_const(pool, 0), *one = expr_const(pool, 1), *var[FIELDS];
    const Value *to[FIELDS];
    const WalkStream whole = stream_step(w, pool, zero), cut = stream_step(w, pool, one);
    const Expr *const of_whole[] = {whole.tile, whole.part, whole.first, whole.count, zero, whole.parts},
                      *const of_cut[] = {cut.tile, cut.part, cut.first, cut.count, cut.slot, cut.parts};
    for (int i = 0; i < FIELDS; i++) to[i] = stmt_var(s, "unsigned", name[i], value_expr(s, of_whole[i]));
    const Expr *id = expr_var(pool, "id", WALK_ID, 0, UINT32_MAX);
    stmt_if_seldom(s, value_expr(s, expr_op(pool, EXPR_LE, whole_tiles(pool), id)));
    for (int i = 0; i < FIELDS; i++) stmt_set(s, to[i], value_expr(s, of_cut[i]));
    stmt_end(s);
    for (int i = 0; i < FIELDS; i++) var[i] = expr_var(pool, name[i], 0, 0, UINT32_MAX);
    return (WalkStream){.tile = var[0],
                        .part = var[1],
                        .first = var[2],
                        .count = var[3],
                        .slot = var[4],
                        .next_slot = var[4],
                        .parts = var[5]};
}

static void stream_fields(const Walk *w, Stmts *s, TileField out[TILE_FIELDS])
{
    ExprPool *pool = &s->pool;
    WalkStream x = walk_stream_by_id(w) ? step_by_id(w, s) : stream_step(w, pool, NULL);
    stmt_let(s, "tile", x.tile);
    WalkPlace at = walk_place(pool, w, &gpu_names_of_tile);
    const TileField fields[TILE_FIELDS] = {{"wg0", at.wg0},
                                           {"wg1", at.wg1},
                                           {"wg2", at.wg2},
                                           {"tile_part", x.part},
                                           {"from", x.first},
                                           {"by", expr_const(pool, 1)},
                                           {"late", expr_const(pool, 0)},
                                           {"n", x.count},
                                           {"slot", x.slot},
                                           {"next_slot", x.next_slot},
                                           {"parts", x.parts}};
    memcpy(out, fields, sizeof fields);
}

static void grid_fields(const Walk *w, Stmts *s, TileField out[TILE_FIELDS])
{
    ExprPool *pool = &s->pool;
    WalkPlace at = walk_place(pool, w, &names);
    WalkChunks chunks = walk_chunks(pool, w, expr_var(pool, "size_k", WALK_K, 0, UINT32_MAX), at.part);
    const Expr *late = w->staggers ? walk_stagger(pool, w, &names, &at, chunks.whole) : expr_const(pool, 0);
    WalkSlots slots = walk_slots(pool, w, &names, &at);
    const TileField fields[TILE_FIELDS] = {
        {"wg0", at.wg0},        {"wg1", at.wg1},           {"wg2", at.wg2},       {"tile_part", at.part},
        {"from", chunks.first}, {"by", chunks.step},       {"late", late},        {"n", chunks.count},
        {"slot", slots.slot},   {"next_slot", slots.slot}, {"parts", slots.parts}};
    memcpy(out, fields, sizeof fields);
}

/* Opens a function whose last two parameters, cut_parts and whole, only walks by ids have. */
static void open_walk(const Walk *w, Stmts *s, Function f)
{
    if (!walk_stream_by_id(w)) f.n_params -= 2;
    stmt_function(s, f);
}

/* Prints tile_of() and tile_ids(), the walk in units of clusters. */
static void tiles(const Walk *w, Stmts *s)
{
    ExprPool *pool = &s->pool;
    TileField let[TILE_FIELDS];
    const Value *field[TILE_FIELDS];
    tile_struct(s);
    open_walk(
        w, s,
        (Function){.result = "Tile",
                   .name = "tile_of",
                   STMT_PARAMS({"unsigned", "id"}, {"unsigned", "tiles_m"}, {"unsigned", "tiles_n"},
                               {"unsigned", "size_batch"}, {"unsigned", "size_k"},
                               {"unsigned", "stagger_mask"}, {"unsigned", "member"}, {"unsigned", "group"},
                               {"unsigned", "groups"}, {"unsigned", "mapping"}, {"unsigned", "mapping_chunk"},
                               {"unsigned", "cut_parts"}, {"unsigned", "whole"})});
    if (w->stream_k)
        stream_fields(w, s, let);
    else
        grid_fields(w, s, let);
    for (int i = 0; i < TILE_FIELDS; i++) {
        stmt_let(s, let[i].name, let[i].value);
        field[i] = value_reg(s, let[i].name);
    }
    stmt_return(s, value_list_n(s, TILE_FIELDS, field));
    stmt_end(s);
    if (walk_stream_by_id(w)) cut_functions(w, s);
    open_walk(
        w, s,
        (Function){.result = "unsigned",
                   .name = "tile_ids",
                   STMT_PARAMS({"unsigned", "tiles_m"}, {"unsigned", "tiles_n"}, {"unsigned", "size_batch"},
                               {"unsigned", "size_k"}, {"unsigned", "group"}, {"unsigned", "groups"},
                               {"unsigned", "cut_parts"}, {"unsigned", "whole"})});
    const Expr *ids = walk_ids(pool, w, &names);
    if (w->stream_k) ids = stream_step(w, pool, NULL).steps;
    stmt_return(s, value_expr(s, ids));
    stmt_end(s);
    stmt_gap(s);
}

/* ---- work-groups ---- */

int hopper_sharing(const GpuPlan *p) { return p->groups.cluster[0] * p->groups.cluster[1]; }
int hopper_members(const GpuPlan *p) { return p->walk.members > 1 ? p->walk.members : 1; }

const Expr *hopper_rank(const GpuPlan *p, Stmts *s)
{
    return expr_var(&s->pool, "rank", 0, 0, hopper_sharing(p) * hopper_members(p) - 1);
}

HopperPlace hopper_place(const GpuPlan *p, Stmts *s, const Expr *rank)
{
    ExprPool *pool = &s->pool;
    const int m = p->groups.cluster[0], n = p->groups.cluster[1];
    return (HopperPlace){.along = {expr_mod_i(pool, rank, m), expr_mod_i(pool, expr_div_i(pool, rank, m), n)},
                         .member = expr_div_i(pool, rank, hopper_sharing(p))};
}

/* A field of a struct in memory or in registers; they count tiles, chunks and the like. */
static const Value *field(Stmts *s, const char *of, const char *name)
{
    return value_field(s, value_reg(s, of), name);
}

static void walk_structs(const Walk *w, Stmts *s)
{
    static const char *const tile[] = {"part",  "first", "step",      "late",
                                       "count", "slot",  "next_slot", "parts"},
                             *const walk[] = {"id", "step", "total", "along", "across", "group", "groups"};
    stmt_struct(s, "WorkTile", 0);
    for (int i = 0; i < 3; i++) stmt_var(s, "int", (const char *[]){"m", "n", "batch"}[i], NULL);
    for (size_t i = 0; i < sizeof tile / sizeof *tile; i++) stmt_var(s, "u32", tile[i], NULL);
    stmt_end(s);
    stmt_struct(s, "Walk", 0);
    for (size_t i = 0; i < sizeof walk / sizeof *walk; i++) stmt_var(s, "u32", walk[i], NULL);
    for (int i = 0; i < 2 && walk_stream_by_id(w); i++)
        stmt_var(s, "u32", (const char *[]){"cut_parts", "whole"}[i], NULL);
    stmt_end(s);
}

/* Prints walk_of(), walk_done() and walk_next(). */
static void walk_functions(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const int cluster = hopper_sharing(p) * hopper_members(p);
    const char *const tiles[] = {"args.tiles_m", "args.tiles_n"}, *const let[] = {"along", "across"};
    const Value *all[2];
    stmt_function(s, (Function){.result = "Walk", .name = "walk_of", STMT_PARAMS({"const Args &", "args"})});
    for (int i = 0; i < 2; i++)
        all[i] = value_expr(
            s, stmt_let(s, let[i],
                        expr_ceil_div(pool, gpu_size(s, tiles[i]), expr_const(pool, p->groups.cluster[i]))));
    const Expr *group = expr_div_i(pool, gpu_size(s, "blockIdx.x"), cluster);
    const Expr *groups = expr_div_i(pool, gpu_size(s, "gridDim.x"), cluster);
    const Value *own = stmt_define(s, "u32", "group", value_expr(s, group));
    const Value *n = stmt_define(s, "u32", "groups", value_expr(s, groups));
    const Value *batch = field(s, "args", "batch"), *k = field(s, "args", "k"), *cut[2] = {NULL, NULL};
    const bool by_id = walk_stream_by_id(&p->walk), steps = p->walk.stream_k && !by_id;
    if (by_id) {
        const Value *parts = value_call(s, "tile_parts", all[0], all[1], batch, k, n);
        cut[0] = stmt_define(s, "u32", "cut_parts", parts);
        cut[1] =
            stmt_define(s, "u32", "whole", value_call(s, "whole_tiles", all[0], all[1], batch, n, cut[0]));
    }
    const Value *of_ids[] = {all[0], all[1], batch, k, own, n, cut[0], cut[1]};
    const Value *ids = value_call_n(s, "tile_ids", by_id ? 8 : 6, of_ids);
    const Value *walk[] = {steps ? value_int(s, 0) : own,
                           steps ? value_int(s, 1) : n,
                           ids,
                           all[0],
                           all[1],
                           own,
                           n,
                           cut[0],
                           cut[1]};
    stmt_return(s, value_list_n(s, by_id ? 9 : 7, walk));
    stmt_end(s);
    stmt_function(s,
                  (Function){.result = "bool", .name = "walk_done", STMT_PARAMS({"const Walk &", "walk"})});
    stmt_return(s, value_op(s, VALUE_GE, field(s, "walk", "id"), field(s, "walk", "total")));
    stmt_end(s);
    stmt_function(s, (Function){.name = "walk_next", STMT_PARAMS({"Walk &", "walk"})});
    stmt_update(s, VALUE_ADD, field(s, "walk", "id"), field(s, "walk", "step"));
    stmt_end(s);
}

/* The first row or column of a work-group's tile, which is below 2^31. */
static const Value *first_of(const GpuPlan *p, Stmts *s, int i, const Expr *in_cluster)
{
    ExprPool *pool = &s->pool;
    const int n = p->groups.cluster[i], side = p->mt[i];
    const Expr *wg = expr_var(pool, i ? "t.wg1" : "t.wg0", 0, 0, INT32_MAX / (n * side) - 1);
    const Expr *tile = expr_add(pool, expr_mul_i(pool, wg, n), in_cluster);
    return value_cast(s, "int", value_expr(s, expr_mul_i(pool, tile, side)));
}

/* Prints work_tile(), the tile of a work-group. Where there is nothing to multiply it has one chunk behind
 * the end of K, which the copy engine fills with zeros. */
static void work_tile(const GpuPlan *p, Stmts *s)
{
    static const char *const same[] = {"slot", "next_slot", "parts"};
    const HopperPlace at = hopper_place(p, s, hopper_rank(p, s));
    stmt_function(
        s, (Function){.result = "WorkTile",
                      .name = "work_tile",
                      STMT_PARAMS({"const Walk &", "walk"}, {"const Args &", "args"}, {"u32", "rank"})});
    const Value *group = stmt_var(s, "u32", "group", field(s, "walk", "group"));
    const Value *groups = stmt_var(s, "u32", "groups", field(s, "walk", "groups"));
    const bool by_id = walk_stream_by_id(&p->walk);
    if (p->walk.stream_k && !by_id) { /* hidden: shares that the compiler computes ahead occupy registers */
        stmt_call(s, "keep", group);
        stmt_call(s, "keep", groups);
    }
    const Value *of_tile[] = {field(s, "walk", "id"),
                              field(s, "walk", "along"),
                              field(s, "walk", "across"),
                              field(s, "args", "batch"),
                              field(s, "args", "k"),
                              field(s, "args", "stagger_mask"),
                              value_expr(s, at.member),
                              group,
                              groups,
                              field(s, "args", "mapping"),
                              field(s, "args", "mapping_chunk"),
                              by_id ? field(s, "walk", "cut_parts") : NULL,
                              by_id ? field(s, "walk", "whole") : NULL};
    stmt_define(s, "Tile", "t", value_call_n(s, "tile_of", by_id ? 13 : 11, of_tile));
    const Value *none = value_op(s, VALUE_EQ, field(s, "t", "count"), value_int(s, 0));
    const Value *zero = value_call(s, "g_is_zero", field(s, "args", "alpha"));
    const Value *nothing = stmt_define(s, "bool", "nothing", value_op(s, VALUE_EITHER, none, zero));
    const Expr *behind = expr_add_i(&s->pool, expr_div_i(&s->pool, gpu_size(s, "args.k"), p->depth_u), 1);
    const Value *of[11] = {first_of(p, s, 0, at.along[0]),
                           first_of(p, s, 1, at.along[1]),
                           value_cast(s, "int", field(s, "t", "wg2")),
                           field(s, "t", "part"),
                           value_select(s, nothing, value_expr(s, behind), field(s, "t", "first")),
                           field(s, "t", "step"),
                           value_select(s, nothing, value_int(s, 0), field(s, "t", "late")),
                           value_select(s, nothing, value_int(s, 1), field(s, "t", "count"))};
    for (int i = 0; i < 3; i++) of[8 + i] = field(s, "t", same[i]);
    stmt_return(s, value_list_n(s, 11, of));
    stmt_end(s);
}

void hopper_tiles(const GpuPlan *p, Stmts *s)
{
    gpu_heading(s, "---- tiles of a work-group ----");
    walk_structs(&p->walk, s);
    walk_functions(p, s);
    work_tile(p, s);
}

void hopper_walk(const GpuPlan *p, Stmts *s)
{
    gpu_heading(s, "---- the walk ----");
    tiles(&p->walk, s);
}
