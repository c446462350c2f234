/* The exported function of a kernel: its arguments, and the walk over the work-groups of a thread. See
 * kernel.h for the ABI. */
#include "kernel/host/text.h"

/* A part of a tile, by parts.c. */
static void part_call(HostText *t, const WalkSlots *slots, const Expr *next_slot)
{
    Stmts *s = &t->s;
    stmt_let(s, "slot", slots->slot);
    stmt_let(s, "next_slot", next_slot);
    stmt_let(s, "parts", slots->parts);
    const Value *sums = value_cast(s, "@TC *", value_reg(s, "slots")),
                *flags = value_cast(s, "uint32_t *", value_reg(s, "flags"));
    stmt_define(s, "struct @Parts", "q",
                value_list(s, sums, flags, value_reg(s, "part"), value_reg(s, "parts"), value_reg(s, "slot"),
                           value_reg(s, "next_slot")));
    stmt_call(s, "@group_part", value_reg(s, "g"), value_reg(s, "x"), value_reg(s, "y"), value_reg(s, "z"),
              value_reg(s, "first_chunk"), value_reg(s, "step"), value_reg(s, "chunks_here"),
              value_op(s, VALUE_ADDRESS, value_reg(s, "q"), NULL), value_reg(s, "la"), value_reg(s, "lb"),
              value_reg(s, "sums"));
}

static void group_call(HostText *t)
{
    Stmts *s = &t->s;
    const bool crossed = t->p->crossed;
    stmt_call(s, "@group", value_reg(s, "g"), value_reg(s, crossed ? "y" : "x"),
              value_reg(s, crossed ? "x" : "y"), value_reg(s, "z"), value_reg(s, "part"), value_reg(s, "la"),
              value_reg(s, "lb"), value_reg(s, "sums"));
}

/* ---- walks of several tiles ---- */

static const WalkNames names_of_tile = {.group = {"0", "0", "z_of_group"},
                                        .id = "tile",
                                        .tiles_m = "tiles0",
                                        .tiles_n = "tiles1",
                                        .batch = "n_matrices",
                                        .stream_group = "group",
                                        .stream_groups = "groups",
                                        .mapping = "mapping",
                                        .mapping_chunk = "mapping_chunk"};

static void place_of_tile(HostText *t, const Walk *w)
{
    WalkPlace at = walk_place(&t->s.pool, w, &names_of_tile);
    stmt_let(&t->s, "x", at.wg0);
    stmt_let(&t->s, "y", at.wg1);
    stmt_let(&t->s, "z", at.wg2);
    if (w->split > 1) stmt_let(&t->s, "part", at.part);
}

/* Tiles along M and N, and matrices, of grids that do not say. */
static void count_tiles(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const char *const size[] = {"g->m", "g->n"}, *const name[] = {"tiles0", "tiles1"};
    const int tile[] = {t->p->mt0, t->p->mt1};
    for (int i = 0; i < 2; i++) {
        const int side = t->p->crossed ? 1 - i : i;
        const Expr *of = expr_var(pool, size[side], 0, 1, UINT32_MAX);
        stmt_let(&t->s, name[i], expr_ceil_div(pool, of, expr_const(pool, tile[side])));
    }
    stmt_define(&t->s, "uint32_t", "n_matrices", value_cast(&t->s, "uint32_t", value_reg(&t->s, "g->batch")));
    HOST_UNUSED(t, "n_matrices");
}

/* Opens the loop over work-groups of the thread. */
static void open_groups(HostText *t)
{
    Stmts *s = &t->s;
    count_tiles(t);
    stmt_loop(
        s,
        (Loop){.var = "id", .type = "uint64_t", .start = host_int(t, "first"), .limit = host_int(t, "last")});
    const Value *id = value_reg(s, "id"), *groups = value_reg(s, "grid[0]");
    stmt_define(s, "uint32_t", "groups", groups);
    stmt_define(s, "uint32_t", "group", value_cast(s, "uint32_t", value_op(s, VALUE_MOD, id, groups)));
    stmt_define(s, "uint32_t", "z_of_group", value_cast(s, "uint32_t", value_op(s, VALUE_DIV, id, groups)));
    HOST_UNUSED(t, "z_of_group", "group", "groups");
}

/* PersistentKernel: a work-group takes tiles group, group + groups, ... */
static void walk_persistent(HostText *t)
{
    Stmts *s = &t->s;
    const Walk *w = &t->program->walk;
    open_groups(t);
    stmt_let(s, "n_ids", walk_ids(&s->pool, w, &names_of_tile));
    stmt_loop(s, (Loop){.var = "tile_id",
                        .type = "uint64_t",
                        .start = host_int(t, "group"),
                        .limit = host_int(t, "n_ids"),
                        .step_by = host_int(t, "groups")});
    stmt_define(s, "uint32_t", "tile", value_cast(s, "uint32_t", value_reg(s, "tile_id")));
    place_of_tile(t, w);
    stmt_define(s, "uint32_t", "part", value_int(s, 0));
    group_call(t);
    stmt_end(s);
    stmt_end(s);
}

/* StreamK: a work-group takes its share of the chunks of tiles. */
static void walk_stream_k(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Walk *w = &t->program->walk;
    open_groups(t);
    const Expr *tiles = walk_ids(pool, w, &names_of_tile);
    const Expr *groups = expr_var(pool, names_of_tile.stream_groups, WALK_GROUPS, 1, UINT32_MAX);
    const Expr *k = expr_var(pool, "g->k", WALK_K, 0, UINT32_MAX);
    WalkNames names = names_of_tile;
    names.id = "round";
    const WalkStreamWords words = walk_stream_words(pool, w, tiles, groups, k, expr_const(pool, 1));
    const WalkStream x = walk_stream(pool, w, &names, &words, tiles);
    stmt_let(s, "n_steps", x.steps);
    stmt_loop(s, (Loop){.var = "round",
                        .type = "uint32_t",
                        .start = host_number(t, 0),
                        .limit = host_int(t, "n_steps")});
    stmt_let(s, "tile", x.tile);
    place_of_tile(t, w);
    stmt_let(s, "first_chunk", x.first);
    stmt_let(s, "chunks_here", x.count);
    stmt_define(s, "uint32_t", "step", value_int(s, 1));
    stmt_let(s, "part", x.part);
    part_call(t, &(WalkSlots){.slot = x.slot, .parts = x.parts}, x.next_slot);
    stmt_end(s);
    stmt_end(s);
}

/* GlobalSplitU whose parts are added up by the last one: ids of tiles and parts. */
static void walk_parts(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    Walk w = t->program->walk;
    w.persistent = w.batch_in_id = true;
    open_groups(t);
    stmt_define(s, "uint32_t", "tile", value_cast(s, "uint32_t", value_reg(s, "id")));
    place_of_tile(t, &w);
    const Expr *k = expr_var(pool, "g->k", WALK_K, 0, UINT32_MAX);
    const WalkChunks c = walk_chunks(pool, &w, k, expr_var(pool, "part", WALK_PART, 0, w.split - 1));
    stmt_let(s, "first_chunk", c.first);
    stmt_let(s, "step", c.step);
    stmt_let(s, "chunks_here", c.count);
    const WalkPlace at = {.wg0 = expr_var(pool, "x", 0, 0, UINT32_MAX),
                          .wg1 = expr_var(pool, "y", 0, 0, UINT32_MAX),
                          .wg2 = expr_var(pool, "z", 0, 0, UINT32_MAX)};
    const WalkSlots slots = walk_slots(pool, &w, &names_of_tile, &at);
    part_call(t, &slots, slots.slot);
    stmt_end(s);
}

/* Prints the loop over ids first to last - 1 of the grid. Where parts of K are added to D in place, the
 * thread that has a tile does all of its parts, in order. */
static void walk_ids_of_thread(HostText *t)
{
    static const WalkNames names = {.id = "tile",
                                    .tiles_m = "tiles0",
                                    .tiles_n = "tiles1",
                                    .mapping = "mapping",
                                    .mapping_chunk = "mapping_chunk"};
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    const bool serial = p->gsu > 1 && !p->gsu_multiple;
    Walk w = t->program->walk;
    w.persistent = w.batch_in_id = true;
    if (serial) w.split = 1;
    stmt_loop(
        s,
        (Loop){.var = "id", .type = "uint64_t", .start = host_int(t, "first"), .limit = host_int(t, "last")});
    const Value *id = value_reg(s, "id"), *parts = value_int(s, serial ? p->gsu : 1);
    if (serial) {
        stmt_if(s, value_op(s, VALUE_MOD, id, parts));
        stmt_next(s);
        stmt_end(s);
    }
    stmt_define(s, "uint32_t", "tile", value_cast(s, "uint32_t", value_op(s, VALUE_DIV, id, parts)));
    WalkPlace at = walk_place(&s->pool, &w, &names);
    stmt_let(s, "x", at.wg0);
    stmt_let(s, "y", at.wg1);
    stmt_let(s, "z", at.wg2);
    if (serial)
        stmt_loop(s, (Loop){.var = "part",
                            .type = "uint32_t",
                            .start = host_number(t, 0),
                            .limit = host_number(t, p->gsu)});
    else
        stmt_let(s, "part", at.part);
    group_call(t);
    if (serial) stmt_end(s);
    stmt_end(s);
}

/* Changes the arguments for GlobalSplitU. A part does not read C. Its sums are scaled by the kernel that adds
 * up the workspace, or are added to D, which the beta-only kernel has written before. */
static void split_args(HostText *t)
{
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    if (p->gsu == 1 || p->joins) return;
    static const char *const same[][2] = {
        {"g->c", "g->d"}, {"g->ldc", "g->ldd"}, {"g->batchc", "g->batchd"}, {"g->offc", "g->offd"}};
    for (int i = 0; i < 4 && !p->gsu_multiple; i++)
        stmt_set(s, value_reg(s, same[i][0]), value_reg(s, same[i][1]));
    const int one = p->gsu_multiple ? 0 : p->parts;
    for (int i = p->gsu_multiple ? 0 : p->parts; i < 2 * p->parts; i++)
        stmt_set(s, value_named(s, "g->ab[%d]", i), value_int(s, i == one));
}

/* Ends the exported function. Stores past the caches are ordered before those by which the thread says that
 * it is done. */
static void close_kernel(HostText *t)
{
    if (t->p->stream_d) stmt_call(&t->s, "_mm_sfence");
    stmt_end(&t->s);
}

void host_groups(HostText *t, Str symbol)
{
    Stmts *s = &t->s;
    const Walk *w = &t->program->walk;
    HostLocal l = host_plan_local(t->p);
    host_keep_text(t);
    host_group_function(t);
    host_parts_text(t);
    host_open_kernel(t, symbol, (l.a + l.b + l.sums + l.runs) * t->p->compute.bytes);
    host_args(t);
    split_args(t);
    stmt_var(s, "@TC *", "la", value_reg(s, "local"));
    host_pointer(t, "@TC *", "lb", "la", host_number(t, l.a));
    host_pointer(t, "@TC *", "sums", "lb", host_number(t, l.b));
    if (t->p->keep_a || t->p->keep_b) stmt_call(s, "@keep_none", value_reg(s, t->p->keep_a ? "la" : "lb"));
    if (t->p->runs) stmt_call(s, "@runs_open", host_runs_tables(t));
    if (w->persistent || t->p->joins) {
        w->stream_k ? walk_stream_k(t) : w->persistent ? walk_persistent(t) : walk_parts(t);
        close_kernel(t);
        return;
    }
    const Expr *rows = expr_div_i(&s->pool, expr_var(&s->pool, "grid[1]", 0, 0, UINT32_MAX), t->p->gsu);
    stmt_define(s, "uint32_t", "tiles0", value_reg(s, "grid[0]"));
    stmt_define(s, "uint32_t", "tiles1", value_expr(s, rows));
    HOST_UNUSED(t, "tiles1");
    walk_ids_of_thread(t);
    close_kernel(t);
}
