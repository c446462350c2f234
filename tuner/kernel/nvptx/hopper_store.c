/* How wgmma kernels store a tile, as statements: slice by slice through two buffers of each consumer warp
 * group, by the copy engine, which loads C into them one slice ahead, or element by element. Waits and bytes
 * are derived (lower/slices.h). */
#include "kernel/lower/build.h"
#include "kernel/lower/slices.h"
#include "kernel/nvptx/hopper.h"

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    bool swap, reads;
    const Window *window;       /* whose results are placed; NULL: they are a matrix */
    int columns, along, slices; /* columns of the instruction in a slice; slices along them; of a tile */
    int pieces, piece_bytes;    /* boxes of a slice along M */
} Store;

enum { SLICE, GROUP_SLOT };

/* window: holds that of the program, if it has a placed one; NULL: places in D alone are asked for. */
static Store store_of(const GpuPlan *p, Stmts *s, bool reads, Window *window)
{
    const HopperMemory m = hopper_memory(p);
    return (Store){.p = p,
                   .s = s,
                   .swap = p->matrix.swap,
                   .reads = reads,
                   .window =
                       window && p->groups.engine_store && hopper_is_placed(p) && !hopper_window(p, window)
                           ? window
                           : NULL,
                   .columns = m.columns,
                   .along = m.along,
                   .slices = m.slices,
                   .pieces = m.pieces,
                   .piece_bytes = m.slice_bytes / m.pieces};
}

static const Expr *buffer_of(const Store *c, const Expr *i)
{
    return expr_mod_i(&c->s->pool, i, HOPPER_BUFFERS);
}
static const Value *of_buffer(const Store *c, const char *what, const Expr *i)
{
    return value_call(c->s, what, reg(c, "wg"), value_expr(c->s, buffer_of(c, i)));
}

/* ---- places ---- */

/* Prints slice_m() and slice_n(), the first row and column of D of a slice. */
static void places(const Store *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *i = expr_var(pool, "i", SLICE, 0, c->slices - 1);
    const Expr *wg = expr_var(pool, "wg", GROUP_SLOT, 0, c->p->groups.consumers - 1);
    const Expr *group =
        c->p->groups.pingpong ? expr_const(pool, 0) : expr_mul_i(pool, wg, c->slices / c->along);
    const Expr *row = expr_mul_i(pool, expr_add(pool, group, expr_div_i(pool, i, c->along)), WGMMA_ROWS);
    const Expr *column = expr_mul_i(pool, expr_mod_i(pool, i, c->along), c->columns);
    for (int n = 0; n < 2; n++) {
        stmt_function(s, (Function){.result = "int",
                                    .name = n ? "slice_n" : "slice_m",
                                    STMT_PARAMS({"int", "i"}, {"const WorkTile &", "p"}, {"int", "wg"})});
        stmt_return(s, offset_by(c, reg(c, n ? "p.n" : "p.m"), n == c->swap ? row : column));
        stmt_end(s);
    }
}

static const Value *first(const Store *c, bool n, const Expr *i)
{
    return value_call(c->s, n ? "slice_n" : "slice_m", value_expr(c->s, i), reg(c, "p"), reg(c, "wg"));
}

static const Expr *piece_at(const Store *c, const Expr *piece, int64_t each)
{
    return expr_mul_i(&c->s->pool, piece, each);
}

/* ---- C ---- */

/* Prints load_slice(): C's slice, into its buffer. */
static void load_slice(const Store *c)
{
    Stmts *s = c->s;
    const Expr *i = expr_var(&s->pool, "i", SLICE, 0, c->slices - 1);
    stmt_function(s, (Function){.name = "load_slice",
                                STMT_PARAMS({"const Map &", "map_c"}, {"const Shared &", "shared"},
                                            {"int", "i"}, {"const WorkTile &", "p"}, {"int", "wg"})});
    const Value *bar = stmt_define(s, "u32", "bar", of_buffer(c, "shared.c", i));
    const Value *to = stmt_define(s, "u32", "to", of_buffer(c, "shared.out", i));
    stmt_expect(s, bar);
    const Value *m = stmt_define(s, "int", "m", first(c, false, i)),
                *n = stmt_define(s, "int", "n", first(c, true, i));
    const Expr *piece = stmt_unrolled(s, "piece", 0, c->pieces);
    const Box b = {.map = reg(c, "map_c"),
                   .at = {offset_by(c, m, piece_at(c, piece, c->p->groups.slice_row)), n, reg(c, "p.batch")}};
    stmt_box(s, access_window(to, piece_at(c, piece, c->piece_bytes), c->piece_bytes), bar, b);
    stmt_end(s);
    stmt_end(s);
}

static void load_ahead(const Store *c, const Expr *i)
{
    Stmts *s = c->s;
    stmt_store_await(s, of_buffer(c, "shared.out", i));
    stmt_call(s, "load_slice", reg(c, "map_c"), reg(c, "shared"), value_expr(s, i), reg(c, "p"),
              reg(c, "wg"));
}

static void if_first(const Store *c, const Expr *i)
{
    stmt_if_expr(c->s, expr_op(&c->s->pool, EXPR_EQ, i, expr_const(&c->s->pool, 0)));
}

static void if_thread(const Store *c)
{
    stmt_if(c->s, value_op(c->s, VALUE_EQ, reg(c, "thread"), value_int(c->s, 0)));
}

/* Slice i's buffer may be written, with its C in it. */
static void acquire(const Store *c, const Expr *i, const Value *at)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    if_thread(c);
    if (c->reads) {
        if_first(c, i);
        load_ahead(c, i);
        stmt_end(s);
        if (c->slices > 1) {
            stmt_if_expr(s, expr_op(pool, EXPR_LT, i, expr_const(pool, c->slices - 1)));
            load_ahead(c, expr_add_i(pool, i, 1));
            stmt_end(s);
        }
    } else {
        if_first(c, i); /* of an odd number of slices the last one of the tile before has the same buffer */
        stmt_store_await(s, at);
        if (c->slices > 1) {
            stmt_else(s);
            stmt_store_await(s, at);
        }
        stmt_end(s);
    }
    stmt_end(s);
    if (!c->reads) {
        stmt_call(s, "group_sync", value_op(s, VALUE_ADD, value_int(s, 1), reg(c, "wg")));
        return;
    }
    const Value *buffer = value_expr(s, buffer_of(c, i)), *phases = reg(c, "phases");
    const Value *parity = value_op(s, VALUE_AND, value_op(s, VALUE_SHR, phases, buffer), value_int(s, 1));
    stmt_phase(s, of_buffer(c, "shared.c", i), parity);
    stmt_update(s, VALUE_XOR, phases, value_op(s, VALUE_SHL, value_int(s, 1), buffer));
}

/* ---- a slice ---- */

static const char *writer(const Store *c) { return c->reads ? "write_slice_with_c" : "write_slice"; }

/* Where C is not read, the results of slice i are computed before its turn: those of the next one while those
 * of this one are on their way to shared memory, for which the fence waits. */
static void compute_ahead(const Store *c, const Expr *i)
{
    Stmts *s = c->s;
    const bool first = expr_is(i, 0);
    if (c->reads || i->lo >= c->slices) return;
    if (first)
        hopper_words(c->p, s);
    else
        stmt_if_expr(s, expr_op(&s->pool, EXPR_LT, i, expr_const(&s->pool, c->slices)));
    hopper_slice_words(s, i);
    if (!first) stmt_end(s);
}

static void write(const Store *c, const Expr *i, const Value *at)
{
    Stmts *s = c->s;
    if (c->reads)
        stmt_call(s, writer(c), reg(c, "acc"), value_expr(s, i), at, reg(c, "ops"), reg(c, "vectors"),
                  reg(c, "thread"));
    else
        stmt_call(s, writer(c), reg(c, "word"), at, reg(c, "thread"));
    compute_ahead(c, expr_add_i(&s->pool, i, 1));
    stmt_do(s, value_call_0(s, "proxy_fence"));
    stmt_call(s, "group_sync", value_op(s, VALUE_ADD, value_int(s, 1), reg(c, "wg")));
}

/* Prints store_placed(), a store of pixels from (w, h) of `image` on, or of a box of the matrix. */
static void store_placed(const Store *c)
{
    Stmts *s = c->s;
    stmt_file(s, "nvptx/hopper_pixels.cuh");
    stmt_function(s, (Function){.name = "store_placed",
                                STMT_PARAMS({"const Map &", "map"}, {"u32", "from"}, {"int", "m"},
                                            {"int", "n"}, {"int", "matrix"}, {"bool", "as_pixels"},
                                            {"int", "w"}, {"int", "h"}, {"int", "image"})});
    const Value *map = reg(c, "map"), *from = reg(c, "from"), *m = reg(c, "m");
    stmt_if(s, reg(c, "as_pixels"));
    stmt_call(s, "store_pixels", map, from, m, reg(c, "w"), reg(c, "h"), reg(c, "image"));
    stmt_else(s);
    stmt_call(s, "store_box", map, from, m, reg(c, "n"), reg(c, "matrix"));
    stmt_end(s);
    stmt_end(s);
}

/* Defines the position and the image of a slice's first column, a pixel of placed results. */
static void pixel(const Store *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    stmt_define(s, "WindowArgs &", "all", value_cast(s, "const WindowArgs &", reg(c, "args")));
    const Expr *size[WINDOW_SPATIAL];
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        size[d] = expr_var(pool, stmts_name(s, "all.size_%d", (int)c->window->out[d]), 0, 1, INT32_MAX);
    const Expr *n = expr_var(pool, "n", 0, 0, INT32_MAX);
    const Expr *line = stmt_let(s, "line", expr_div(pool, n, size[0]));
    const Expr *const at[] = {expr_mod(pool, n, size[0]), expr_mod(pool, line, size[1]),
                              expr_div(pool, line, size[1])};
    for (int i = 0; i < 3; i++)
        stmt_define(s, "int", (const char *[]){"w", "h", "image"}[i], value_expr(s, at[i]));
}

/* Of sums of parts of K the map is of the workspace, in which the matrices of a part follow those of the part
 * before. */
static void store(const Store *c, const Expr *i, const Value *at)
{
    Stmts *s = c->s;
    const Value *batch = reg(c, "p.batch");
    if_thread(c);
    if (hopper_split(c->p) > 1)
        batch = value_op(s, VALUE_ADD, value_op(s, VALUE_MUL, reg(c, "p.part"), reg(c, "args.batch")), batch);
    const Value *m = stmt_define(s, "int", "m", first(c, false, i)),
                *n = stmt_define(s, "int", "n", first(c, true, i));
    const Value *matrix = stmt_define(s, "int", "matrix", batch);
    if (c->window) pixel(c);
    const Expr *piece = stmt_unrolled(s, "piece", 0, c->pieces);
    const Expr *by = piece_at(c, piece, c->piece_bytes);
    const Value *from = expr_is(by, 0) ? at : value_op(s, VALUE_ADD, at, value_expr(s, by));
    const Value *row = offset_by(c, m, piece_at(c, piece, c->p->groups.slice_row)), *map = reg(c, "map_d");
    if (c->window)
        stmt_call(s, "store_placed", map, from, row, n, matrix, reg(c, "all.as_pixels"), reg(c, "w"),
                  reg(c, "h"), reg(c, "image"));
    else
        stmt_call(s, "store_box", map, from, row, n, matrix);
    stmt_end(s);
    stmt_do(s, value_call_0(s, "store_commit"));
    stmt_end(s);
}

/* Opens a function that stores a tile. */
static void tile_function(Stmts *s, const char *name)
{
    stmt_function(s, (Function){.name = name,
                                STMT_PARAMS({"Sums &", "acc"}, {"const Args &", "args"},
                                            {"const g_Ops &", "ops"}, {"Vectors &", "vectors"},
                                            {"const Map &", "map_c"}, {"const Map &", "map_d"},
                                            {"const Shared &", "shared"}, {"const WorkTile &", "p"},
                                            {"int", "wg"}, {"int", "thread"}, {"u32 &", "phases"})});
}

static Err derive(const Store *c, const char *function)
{
    const Slices of = {.function = function,
                       .thread = "thread",
                       .group = "wg",
                       .phases = "phases",
                       .n_buffers = HOPPER_BUFFERS,
                       .bytes = c->pieces * c->piece_bytes,
                       .reads = c->reads,
                       .buffer = "shared.out",
                       .barrier = "shared.c",
                       .write = writer(c),
                       .read = hopper_taps_slide(c->p)     ? "load_piece"
                               : c->p->groups.engine_store ? NULL
                                                           : "load_word",
                       .fence = "proxy_fence",
                       .meet = "group_sync",
                       .store = c->window ? "store_placed" : "store_box",
                       .commit = "store_commit"};
    return slices_derive(c->s, &of);
}

static Err store_slices(const Store *c)
{
    Stmts *s = c->s;
    const char *name = c->reads ? "store_slices_with_c" : "store_slices";
    tile_function(s, name);
    if (fused_any(&c->p->fused) && !hopper_vectors_early(c->p))
        stmt_call(s, "vectors.load", reg(c, "ops"), reg(c, "p"), reg(c, "wg"), reg(c, "thread"));
    compute_ahead(c, expr_const(&s->pool, 0));
    const Expr *i = stmt_unrolled(s, "i", SLICE, c->slices);
    const Value *at = stmt_define(s, "u32", "at", of_buffer(c, "shared.out", i));
    acquire(c, i, at);
    write(c, i, at);
    store(c, i, at);
    stmt_end(s);
    stmt_end(s);
    return derive(c, name);
}

/* ---- the whole ---- */

void hopper_slices(const GpuPlan *p, Stmts *s)
{
    const Store c = store_of(p, s, false, NULL);
    places(&c);
}

/* By the copy engine: where beta is 0, C is not read. */
static Err by_engine(const Store *plain, const Store *with_c)
{
    static const char *const all[] = {"acc",    "args", "ops", "vectors", "map_c", "map_d",
                                      "shared", "p",    "wg",  "thread",  "phases"};
    enum { N = sizeof all / sizeof *all };
    Stmts *s = plain->s;
    const Value *x[N];
    if (plain->window) store_placed(plain);
    for (int i = 0; i < N; i++) x[i] = value_reg(s, all[i]);
    TRY(store_slices(plain));
    if (with_c) {
        load_slice(with_c);
        TRY(store_slices(with_c));
    }
    tile_function(s, "store_tile");
    if (with_c) stmt_if(s, value_call(s, "g_is_zero", value_reg(s, "args.beta")));
    stmt_do(s, value_call_n(s, "store_slices", N, x));
    if (with_c) {
        stmt_else(s);
        stmt_do(s, value_call_n(s, "store_slices_with_c", N, x));
        stmt_end(s);
    }
    stmt_end(s);
    return ERR_OK;
}

Err hopper_store(const GpuPlan *p, Stmts *s)
{
    Window w;
    const Store plain = store_of(p, s, false, &w), with_c = store_of(p, s, true, &w);
    if (hopper_taps_slide(p)) {
        TRY(hopper_window(p, &w));
        stmt_file(s, "nvptx/hopper_wide.cuh");
        tile_function(s, "store_tile");
        hopper_wide(p, &w, s);
        stmt_end(s);
        return derive(&plain, "store_tile");
    }
    if (p->groups.engine_store) return by_engine(&plain, gpu_reads_c(p) ? &with_c : NULL);
    tile_function(s, "store_tile");
    hopper_elements(p, s);
    stmt_end(s);
    return derive(&plain, "store_tile");
}
