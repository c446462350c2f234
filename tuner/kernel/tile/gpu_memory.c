/* Tiles between memory, registers and local memory. A tile that is inside of its base goes in vectors, with
 * 32-bit offsets from one address for all work-items; one that is not goes element by element, with the
 * padding outside. See gpu.h. */
#include <string.h>

#include "kernel/tile/gpu.h"

/* ---- names and places ---- */

static const Value *base(TileLowering *t, int tile)
{
    return value_named(t->s, "base_%c", t->p->tile[tile].operand - 'A' + 'a');
}

/* "@VP4" for four elements of a tile of "@T". */
static const char *vector_type(TileLowering *t, int tile, int n, const char *suffix)
{
    const char *type = tile_type(t->p, tile);
    return stmts_name(t->s, "@V%c%d%s",
                      !strcmp(type, "@TC")   ? 'C'
                      : !strcmp(type, "@TD") ? 'D'
                                             : 'P',
                      n, suffix);
}

/* Element (row, col) of a tile in memory, at any distance from its base. */
static Access global(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    return access_element(SPACE_GLOBAL, tile_type(t->p, tile), type_bytes(t->p->tile[tile].type),
                          base(t, tile), tile_offset(t, tile, row, col));
}

/* The same as a vector of n elements. */
static Access global_vector(TileLowering *t, int tile, const Expr *row, const Expr *col, int n, bool is_const)
{
    const char *type = vector_type(t, tile, n, "u");
    const Value *at =
        value_op(t->s, VALUE_ADD, base(t, tile), value_expr(t->s, tile_offset(t, tile, row, col)));
    at = value_cast(t->s, stmts_name(t->s, "%s%s *", is_const ? "const " : "", type), at);
    return access_element(SPACE_GLOBAL, type, n * type_bytes(t->p->tile[tile].type), at, NULL);
}

static Access local(TileLowering *t, int tile, const char *type, int n, const Expr *row, const Expr *col)
{
    return access_at(SPACE_LOCAL, type, n * type_bytes(t->p->tile[tile].type), tile_array(t, tile),
                     tile_local(&t->s->pool, &t->plan->tile[tile], row, col));
}

/* Opens an if around what only one of the work-items with the same elements does; false: all differ. */
static bool open_writes(TileLowering *t, int tile)
{
    const Expr *writes = tile_writes(&t->s->pool, t->p, t->plan, tile, tile_gpu_tid(t));
    if (expr_is(writes, 1)) return false;
    stmt_if_expr(t->s, writes);
    return true;
}

/* All of the tile is inside of its base. */
static const Value *is_inside(TileLowering *t, int tile)
{
    ExprPool *pool = &t->s->pool;
    const Expr *zero = expr_const(pool, 0), *inside = expr_const(pool, 1);
    for (int side = 0; side < 2; side++) {
        const Expr *at = tile_position(t, tile, side ? POSITION_COL : POSITION_ROW);
        const Expr *end = tile_position(t, tile, side ? POSITION_COLS : POSITION_ROWS);
        const Expr *last = expr_add_i(pool, at, t->p->tile[tile].size[side]);
        inside = expr_op(pool, EXPR_BOTH, inside, expr_op(pool, EXPR_LE, zero, at));
        inside = expr_op(pool, EXPR_BOTH, inside, expr_op(pool, EXPR_LE, last, end));
    }
    return value_expr(t->s, inside);
}

/* Runs of n elements that begin at multiples of n are aligned, where the machine minds; also when the tile is
 * moved along its rows by `by` (NULL: 0). */
static const Value *is_aligned(TileLowering *t, int tile, int n, const Expr *by)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const int bytes = type_bytes(t->p->tile[tile].type);
    const Expr *zero = expr_const(pool, 0);
    if (n == 1 || !tile_gpu_plan(t)->dialect->aligned_loads) return value_expr(s, expr_const(pool, 1));
    const Value *at = value_op(s, VALUE_ADD, base(t, tile), value_expr(s, tile_offset(t, tile, zero, zero)));
    const Expr *steps = expr_mul_i(pool, tile_position(t, tile, POSITION_LD), bytes);
    const Value *bits = value_op(s, VALUE_OR, value_cast(s, "unsigned long long", at),
                                 value_cast(s, "unsigned long long", value_expr(s, steps)));
    if (by && by->factor % n)
        bits = value_op(s, VALUE_OR, bits,
                        value_cast(s, "unsigned long long", value_expr(s, expr_mul_i(pool, by, bytes))));
    bits = value_op(s, VALUE_AND, bits, value_int(s, n * bytes - 1));
    return value_op(s, VALUE_EQ, bits, value_int(s, 0));
}

static const Value *is_whole(TileLowering *t, int tile, int n)
{
    return value_op(t->s, VALUE_BOTH, is_inside(t, tile), is_aligned(t, tile, n, NULL));
}

/* What a load finds at (row, col), or the padding. */
static const Value *found(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    const Value *padding = tile_constant(t, t->o->hand->padding);
    const char *narrow = !strcmp(tile_type(t->p, tile), "@T") ? "@narrow" : "@from_c";
    const Value *inside = value_expr(t->s, tile_inside(t, tile, row, col));
    return value_select(t->s, inside, value_load(t->s, global(t, tile, row, col)),
                        value_call(t->s, narrow, padding));
}

/* ---- loads to local memory, with a map ---- */

/* A work-item's part of a local tile: runs of n elements along the side that is contiguous in memory. */
typedef struct {
    int to, from, side, n, along, across;
} Part;

static Part part_of(const TileLowering *t)
{
    Part x = {.to = t->o->tile[0], .from = t->o->tile[1], .side = t->o->hand->transpose ? 0 : 1};
    x.n = tile_run(t->p, t->plan, x.to, x.side);
    x.along = t->plan->tile[x.to].per[x.side] / x.n, x.across = t->plan->tile[x.to].per[1 - x.side];
    return x;
}

typedef struct {
    const Expr *number;    /* of the run */
    const Expr *at[2];     /* row and column of its first element in the local tile */
    const Expr *i, *first; /* across; element of the work-item along */
} Run;

/* Opens the loops over the runs. */
static Run open_runs(TileLowering *t, const Part *x)
{
    ExprPool *pool = &t->s->pool;
    Run r = {.i = stmt_unrolled(t->s, "i", TILE_SLOT_I, x->across)};
    const Expr *j = stmt_unrolled(t->s, "j", TILE_SLOT_J, x->along);
    r.number = expr_add(pool, expr_mul_i(pool, r.i, x->along), j);
    r.first = expr_mul_i(pool, j, x->n);
    r.at[x->side] = tile_element(pool, t->p, t->plan, x->to, x->side, tile_gpu_tid(t), r.first);
    r.at[1 - x->side] = tile_element(pool, t->p, t->plan, x->to, 1 - x->side, tile_gpu_tid(t), r.i);
    return r;
}

/* The row and column of element q of a run. */
static void element_of_run(TileLowering *t, const Part *x, const Run *r, const Expr *q, const Expr *at[2])
{
    ExprPool *pool = &t->s->pool;
    at[1 - x->side] = r->at[1 - x->side];
    at[x->side] =
        tile_element(pool, t->p, t->plan, x->to, x->side, tile_gpu_tid(t), expr_add(pool, r->first, q));
}

static const Value *fetched(TileLowering *t, int tile, const Expr *number)
{
    return value_at(t->s, value_named(t->s, "f_%s", t->p->tile[tile].name), number);
}

void tile_gpu_fetch_registers(TileLowering *t)
{
    const Part x = part_of(t);
    stmt_array(t->s, vector_type(t, x.to, x.n, ""), stmts_name(t->s, "f_%s", t->p->tile[x.to].name),
               DIMS(x.across * x.along));
}

/* Declares the tile's first element in memory and its leading dimension. */
static const Value *let_first(TileLowering *t, const Part *x)
{
    Stmts *s = t->s;
    const Expr *zero = expr_const(&s->pool, 0);
    const Value *first =
        value_op(s, VALUE_ADD, base(t, x->from), value_expr(s, tile_offset(t, x->from, zero, zero)));
    first = stmt_define(s, "const char *", "first", value_cast(s, "const char *", first));
    stmt_define(s, "unsigned", "ld",
                value_cast(s, "unsigned", value_expr(s, tile_position(t, x->from, POSITION_LD))));
    return first;
}

/* Bytes from there to a run's first element: 32 bits, as is_near has found. */
static const Expr *run_offset(TileLowering *t, const Part *x, const Run *r)
{
    ExprPool *pool = &t->s->pool;
    const Expr *ld = expr_var(pool, "ld", 0, 0, UINT32_MAX);
    const Expr *line = expr_u31(pool, expr_mul(pool, r->at[1 - x->side], ld));
    const Expr *offset = expr_u31(pool, expr_add(pool, line, r->at[x->side]));
    return expr_u31(pool, expr_mul_i(pool, offset, type_bytes(t->p->tile[x->from].type)));
}

/* All inside: a 32-bit offset from the tile's first element. */
static void fetch_vectors(TileLowering *t, const Part *x)
{
    Stmts *s = t->s;
    const Value *first = let_first(t, x);
    Run r = open_runs(t, x);
    const char *load = stmts_name(s, "@load_from<%s>", vector_type(t, x->from, x->n, ""));
    stmt_set(s, fetched(t, x->to, r.number), value_call(s, load, first, value_expr(s, run_offset(t, x, &r))));
    stmt_end(s);
    stmt_end(s);
}

/* 32-bit offsets from the tile's first element reach all of it. */
static const Value *is_near(TileLowering *t, const Part *x)
{
    const Tile *g = &t->p->tile[x->from];
    const int64_t most = ((int64_t)UINT32_MAX / type_bytes(g->type) - g->size[1]) / g->size[0];
    const Expr *ld = tile_position(t, x->from, POSITION_LD);
    return value_expr(t->s, expr_op(&t->s->pool, EXPR_LE, ld, expr_const(&t->s->pool, most)));
}

/* By how much the loop moves a tile in an iteration along a side: NULL for 0. */
static const Expr *moved_by(TileLowering *t, const Op *loop, int tile, int side)
{
    const Expr *by = NULL;
    for (const Op *o = loop->body; o; o = o->next) {
        const Expr *e = o->kind == OP_UPDATE_TILE_OFFSET && o->tile[0] == tile ? o->hand->n[side].e : NULL;
        if (e) by = by ? expr_add(&t->s->pool, by, e) : e;
    }
    return by;
}

void tile_gpu_whole_turns(TileLowering *t, const Op *loop, const Value *turns)
{
    Stmts *s = t->s;
    const Part x = part_of(t);
    for (int side = 0; side < 2; side++) {
        const Expr *by = moved_by(t, loop, x.from, side);
        const Value *at = value_expr(s, tile_position(t, x.from, side ? POSITION_COL : POSITION_ROW));
        const Value *end = value_expr(s, tile_position(t, x.from, side ? POSITION_COLS : POSITION_ROWS));
        stmt_set(s, turns,
                 value_call(s, "@iterations_inside", turns, at, value_int(s, t->p->tile[x.from].size[side]),
                            end, by ? value_expr(s, by) : value_int(s, 0)));
    }
    const Value *fits =
        value_op(s, VALUE_BOTH, is_near(t, &x), is_aligned(t, x.from, x.n, moved_by(t, loop, x.from, 1)));
    stmt_set(s, turns, value_select(s, fits, turns, value_int(s, 0)));
}

void tile_gpu_fetch(TileLowering *t)
{
    const Part x = part_of(t);
    if (!open_writes(t, x.to)) stmt_block(t->s);
    fetch_vectors(t, &x);
    stmt_end(t->s);
}

static void put_runs(TileLowering *t, const Part *x)
{
    ExprPool *pool = &t->s->pool;
    const TilePlace *place = &t->plan->tile[x->to];
    const int bytes = type_bytes(t->p->tile[x->to].type);
    const Expr *zero = expr_const(pool, 0), *at[2];
    for (int i = 0; i < 2; i++) at[i] = tile_element(pool, t->p, t->plan, x->to, i, tile_gpu_tid(t), zero);
    const TilePointer to = tile_gpu_pointer(t, x->to, "to", tile_local(pool, place, at[0], at[1]));
    Run r = open_runs(t, x);
    if (tile_local_is_vector(pool, place, r.at[0], r.at[1], x->side, x->n))
        stmt_store(t->s,
                   tile_gpu_local(t, &to, vector_type(t, x->to, x->n, ""), x->n * bytes,
                                  tile_local(pool, place, r.at[0], r.at[1])),
                   fetched(t, x->to, r.number));
    else {
        const Expr *q = stmt_unrolled(t->s, "q", TILE_SLOT_U, x->n);
        element_of_run(t, x, &r, q, at);
        stmt_store(t->s, tile_gpu_local(t, &to, "@T", bytes, tile_local(pool, place, at[0], at[1])),
                   value_at(t->s, fetched(t, x->to, r.number), q));
        stmt_end(t->s);
    }
    stmt_end(t->s);
    stmt_end(t->s);
}

void tile_gpu_fetch_async(TileLowering *t)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const Part x = part_of(t);
    const TilePlace *place = &t->plan->tile[x.to];
    const int bytes = tile_copy_bytes(t->p, t->plan, t->o), element = type_bytes(t->p->tile[x.to].type);
    if (!open_writes(t, x.to)) stmt_block(s);
    const Expr *zero = expr_const(pool, 0), *at[2];
    const Value *first = let_first(t, &x);
    for (int i = 0; i < 2; i++) at[i] = tile_element(pool, t->p, t->plan, x.to, i, tile_gpu_tid(t), zero);
    const TilePointer to = tile_gpu_pointer(t, x.to, "to", tile_local(pool, place, at[0], at[1]));
    Run r = open_runs(t, &x);
    const Expr *q = zero, *from = run_offset(t, &x, &r);
    const bool single = bytes == element && x.n > 1;
    if (single) q = stmt_unrolled(s, "q", TILE_SLOT_U, x.n);
    element_of_run(t, &x, &r, q, at);
    const Value *local_at =
        value_place(s, tile_gpu_local(t, &to, "char", 1, tile_local(pool, place, at[0], at[1])));
    from = expr_add(pool, from, expr_mul_i(pool, q, element));
    const Value *address = value_call(s, "@shared", value_reg(s, "lds"), local_at);
    stmt_copy(s, access_window(address, NULL, bytes), access_at(SPACE_GLOBAL, "char", bytes, first, from),
              NULL);
    for (int i = 0; i < 3 + single; i++) stmt_end(s);
}

void tile_gpu_put(TileLowering *t)
{
    const Part x = part_of(t);
    if (!open_writes(t, x.to)) stmt_block(t->s);
    put_runs(t, &x);
    stmt_end(t->s);
}

/* A run at a time: more addresses at once would take registers from the products. */
void tile_gpu_copy(TileLowering *t)
{
    ExprPool *pool = &t->s->pool;
    const Part x = part_of(t);
    const bool some = open_writes(t, x.to), swap = t->o->hand->transpose;
    const int64_t all = (int64_t)x.across * x.along;
    const Expr *at[2];
    stmt_loop(t->s, (Loop){.var = "e",
                           .type = "unsigned",
                           .start = expr_const(pool, 0),
                           .limit = expr_const(pool, all),
                           .slot = TILE_SLOT_I,
                           .unroll = UNROLL_NONE});
    const Expr *e = expr_var(pool, "e", TILE_SLOT_I, 0, all - 1);
    Run r = {.first = expr_mul_i(pool, expr_mod_i(pool, e, x.along), x.n)};
    const Expr *across = expr_div_i(pool, e, x.along);
    across = tile_element(pool, t->p, t->plan, x.to, 1 - x.side, tile_gpu_tid(t), across);
    r.at[1 - x.side] = stmt_let(t->s, "across", across);
    const Value *v = stmt_var(t->s, vector_type(t, x.to, x.n, ""), "v", NULL);
    const Expr *q = stmt_unrolled(t->s, "q", TILE_SLOT_U, x.n);
    element_of_run(t, &x, &r, q, at);
    stmt_set(t->s, value_at(t->s, v, q), found(t, x.from, at[swap], at[!swap]));
    stmt_end(t->s);
    q = stmt_unrolled(t->s, "q", TILE_SLOT_U, x.n);
    stmt_store(t->s, local(t, x.to, "@T", 1, at[0], at[1]), value_at(t->s, v, q));
    for (int i = 0; i < 2 + some; i++) stmt_end(t->s);
}

/* Without a map: along the base's rows, all work-items side by side. */
static void load_one_by_one(TileLowering *t)
{
    ExprPool *pool = &t->s->pool;
    const int to = t->o->tile[0], from = t->o->tile[1];
    const Tile *g = &t->p->tile[from];
    const Expr *e = stmt_loop(t->s, (Loop){.var = "e",
                                           .type = "unsigned",
                                           .start = tile_gpu_tid(t),
                                           .limit = expr_const(pool, (int64_t)g->size[0] * g->size[1]),
                                           .step = t->plan->n_threads,
                                           .slot = TILE_SLOT_I,
                                           .unroll = UNROLL_NONE});
    const Expr *at[] = {expr_div_i(pool, e, g->size[1]), expr_mod_i(pool, e, g->size[1])};
    const bool swap = t->o->hand->transpose;
    stmt_store(t->s, local(t, to, "@T", 1, at[swap], at[!swap]), found(t, from, at[0], at[1]));
    stmt_end(t->s);
}

/* ---- tiles in registers ---- */

/* Elements e, e + 1 .. of a work-item that are neighbours in memory. */
static int run_in_memory(const TileLowering *t, int tile)
{
    return t->o->hand->transpose ? 1 : tile_run(t->p, t->plan, tile, 1);
}

static const Expr *open_elements(TileLowering *t, int tile, int step)
{
    return stmt_loop(t->s, (Loop){.var = "e",
                                  .start = expr_const(&t->s->pool, 0),
                                  .limit = expr_const(&t->s->pool, t->plan->tile[tile].count),
                                  .step = step,
                                  .slot = TILE_SLOT_I,
                                  .unroll = UNROLL_FULL});
}

static void load_vectors(TileLowering *t, int to, int from, int n)
{
    const Expr *e = open_elements(t, to, n);
    const bool swap = t->o->hand->transpose;
    const Expr *at[] = {tile_gpu_held(t, to, 0, e), tile_gpu_held(t, to, 1, e)};
    const Value *v = stmt_define(t->s, vector_type(t, from, n, ""), "v",
                                 value_load(t->s, global_vector(t, from, at[swap], at[!swap], n, true)));
    const Expr *q = stmt_unrolled(t->s, "q", TILE_SLOT_U, n);
    stmt_set(t->s, tile_gpu_register(t, to, expr_add(&t->s->pool, e, q)), value_at(t->s, v, q));
    stmt_end(t->s);
    stmt_end(t->s);
}

static void load_registers(TileLowering *t)
{
    const int to = t->o->tile[0], from = t->o->tile[1], n = run_in_memory(t, to);
    const bool swap = t->o->hand->transpose;
    stmt_if(t->s, is_whole(t, from, n));
    load_vectors(t, to, from, n);
    stmt_else(t->s);
    const Expr *e = open_elements(t, to, 1);
    const Expr *at[] = {tile_gpu_held(t, to, 0, e), tile_gpu_held(t, to, 1, e)};
    stmt_set(t->s, tile_gpu_register(t, to, e), found(t, from, at[swap], at[!swap]));
    stmt_end(t->s);
    stmt_end(t->s);
}

void tile_gpu_load(TileLowering *t)
{
    const int to = t->o->tile[0];
    if (t->p->tile[to].space != SPACE_LOCAL)
        load_registers(t);
    else if (!t->plan->tile[to].mapped)
        load_one_by_one(t);
    else {
        const Part x = part_of(t);
        stmt_if(t->s, value_op(t->s, VALUE_BOTH, is_near(t, &x), is_whole(t, x.from, x.n)));
        tile_gpu_fetch_registers(t);
        tile_gpu_fetch(t);
        tile_gpu_put(t);
        stmt_else(t->s);
        tile_gpu_copy(t);
        stmt_end(t->s);
    }
}

static void store_vectors(TileLowering *t, int to, int from, int n)
{
    const Expr *e = open_elements(t, from, n);
    const Value *v = stmt_var(t->s, vector_type(t, to, n, ""), "v", NULL);
    const Expr *q = stmt_unrolled(t->s, "q", TILE_SLOT_U, n);
    stmt_set(t->s, value_at(t->s, v, q), tile_gpu_register(t, from, expr_add(&t->s->pool, e, q)));
    stmt_end(t->s);
    const Expr *row = tile_gpu_held(t, from, 0, e), *col = tile_gpu_held(t, from, 1, e);
    stmt_store(t->s, global_vector(t, to, row, col, n, false), v);
    stmt_end(t->s);
}

void tile_gpu_store(TileLowering *t)
{
    const int to = t->o->tile[0], from = t->o->tile[1], n = run_in_memory(t, from);
    const bool some = open_writes(t, from);
    stmt_if(t->s, is_whole(t, to, n));
    store_vectors(t, to, from, n);
    stmt_else(t->s);
    const Expr *e = open_elements(t, from, 1);
    const Expr *row = tile_gpu_held(t, from, 0, e), *col = tile_gpu_held(t, from, 1, e);
    stmt_if_expr(t->s, tile_inside(t, to, row, col));
    stmt_store(t->s, global(t, to, row, col), tile_gpu_register(t, from, e));
    for (int i = 0; i < 3 + some; i++) stmt_end(t->s);
}

/* One element of every 64 bytes of each row, and the last one. */
void tile_gpu_prefetch(TileLowering *t)
{
    ExprPool *pool = &t->s->pool;
    const int tile = t->o->tile[0];
    const Tile *g = &t->p->tile[tile];
    int32_t line = 64 / type_bytes(g->type), lines = (g->size[1] + line - 1) / line + 1;
    const Expr *e = stmt_loop(t->s, (Loop){.var = "e",
                                           .type = "unsigned",
                                           .start = tile_gpu_tid(t),
                                           .limit = expr_const(pool, (int64_t)g->size[0] * lines),
                                           .step = t->plan->n_threads,
                                           .slot = TILE_SLOT_I,
                                           .unroll = UNROLL_NONE});
    const Expr *row = expr_div_i(pool, e, lines), *at = expr_mul_i(pool, expr_mod_i(pool, e, lines), line);
    const Expr *col = expr_op(pool, EXPR_MIN, at, expr_const(pool, g->size[1] - 1));
    stmt_if_expr(t->s, tile_inside(t, tile, row, col));
    stmt_call(t->s, "@prefetch",
              value_op(t->s, VALUE_ADD, base(t, tile), value_expr(t->s, tile_offset(t, tile, row, col))));
    stmt_end(t->s);
    stmt_end(t->s);
}
