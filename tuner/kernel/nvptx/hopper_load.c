/* The producer's copies of wgmma kernels: a function that fills a stage by TMA, as statements. The bytes that
 * the stage's mbarrier expects are derived from them. */
#include "kernel/lower/engine.h"
#include "kernel/nvptx/hopper.h"

enum { ROW_BYTES = 128 }; /* of a swizzled block */

/* An operand's tile in a stage. Its parts are copied by as many work-groups of the cluster, each to all. */
typedef struct {
    const GpuPlan *p;
    Stmts *s;
    char name; /* 'a' 'b' */
    bool k_major;
    int tile, parts;
    int row;              /* elements of a row of a block */
    int blocks;           /* along K where it is contiguous, else along the free dimension */
    const char *to;       /* the register with its address: "x", "y" */
    const Window *window; /* NULL: both operands are matrices */
} Load;

static Load load_of(const GpuPlan *p, Stmts *s, const Window *w, int i)
{
    const int row = ROW_BYTES / gpu_type_bytes(&p->in);
    Load l = {
        .p = p, .s = s, .name = "ab"[i], .k_major = !p->op[i].tlu, .tile = p->mt[i], .row = row, .window = w};
    l.parts = p->groups.cluster[1 - i] > 1 ? p->groups.cluster[1 - i] : 1;
    l.blocks = ((l.k_major ? p->depth_u : l.tile) + row - 1) / row;
    return l;
}

/* Rows of a block: of the tile, or elements of K. */
static int64_t rows_of(const Load *l) { return l->k_major ? l->tile : l->p->depth_u; }
static int64_t bytes_of(const Load *l) { return l->blocks * rows_of(l) * ROW_BYTES; }

static const Value *plus(const Load *l, const char *name, const Expr *e)
{
    const Value *x = value_reg(l->s, name);
    return expr_is(e, 0) ? x : value_op(l->s, VALUE_ADD, x, value_cast(l->s, "int", value_expr(l->s, e)));
}

/* Is the tile cut into parts along its rows, or into whole blocks? */
static bool is_cut(const Load *l) { return l->k_major || l->blocks % l->parts; }

/* The numbers of a box whose element is `along` its contiguous dimension, `across` the other one. The first
 * pixel is that of this work-group's part already. */
static void coordinates(const Load *l, const Value *along, const Value *across, const Value *at[BOX_NUMBERS])
{
    static const char *const pixels[] = {"w", "h", "image", "dx", "dy"}, *const taps[] = {"tap_x", "tap_y"};
    const Window *w = l->window;
    int n = 0;
    at[n++] = along;
    if (w && l->name - 'a' == w->pixels) {
        for (int i = 0; i < 5; i++) at[n++] = value_reg(l->s, pixels[i]);
        return;
    }
    for (int i = 0; i < WINDOW_SPATIAL && w && !w->per_tap; i++) at[n++] = value_reg(l->s, taps[i]);
    at[n++] = across;
    if (!w) at[n++] = value_reg(l->s, "batch");
    if (w && w->per_tap) at[n++] = value_int(l->s, 0);
}

/* Prints the copies of this work-group's part: rows of every block where the tile is cut along them, else
 * whole blocks. */
static void boxes(const Load *l)
{
    Stmts *s = l->s;
    ExprPool *pool = &s->pool;
    const bool cut = is_cut(l);
    const int n = cut ? l->blocks : l->blocks / l->parts;
    const int64_t rows = cut ? rows_of(l) / l->parts : rows_of(l);
    const char *free = l->name == 'a' ? "m" : "n", *part_name = stmts_name(s, "part_%c", l->name);
    const Expr *zero = expr_const(pool, 0);
    const Expr *part = l->parts > 1 ? expr_var(pool, part_name, 0, 0, l->parts - 1) : zero;
    const Expr *i = stmt_unrolled(s, "i", 0, n);
    const Expr *block = cut ? i : expr_add(pool, expr_mul_i(pool, part, n), i);
    const Expr *row = cut ? expr_mul_i(pool, part, rows) : zero, *along = expr_mul_i(pool, block, l->row);
    const Expr *to = expr_add(pool, expr_mul_i(pool, block, rows_of(l)), row);
    to = expr_mul_i(pool, to, ROW_BYTES);
    Box b = {.map = value_named(s, "map_%c", l->name),
             .mask = l->parts > 1 ? value_named(s, "mask_%c", l->name) : NULL,
             .senders = l->parts};
    coordinates(l, plus(l, l->k_major ? "k" : free, along), plus(l, l->k_major ? free : "k", row), b.at);
    stmt_box(s, access_window(value_reg(s, l->to), to, (int)(rows * ROW_BYTES)), value_reg(s, "full"), b);
    stmt_end(s);
}

static void matrices_function(Stmts *s)
{
    stmt_file(s, "nvptx/hopper_produce.cuh");
    stmt_function(s, (Function){.name = "fill_stage",
                                STMT_PARAMS({"const Shared &", "shared"}, {"u32", "stage"}, {"u32", "phase"},
                                            {"const Map &", "map_a"}, {"const Map &", "map_b"}, {"int", "m"},
                                            {"int", "n"}, {"int", "k"}, {"int", "batch"}, {"int", "part_a"},
                                            {"int", "part_b"}, {"int", "mask_a"}, {"int", "mask_b"})});
}

static void window_function(const Load *pixels, Stmts *s)
{
    const Window *w = pixels->window;
    stmt_constant(s, "bool", "PER_TAP", w->per_tap);
    stmt_constant(s, "int", "PIXELS_APART", is_cut(pixels) ? rows_of(pixels) / pixels->parts : 0);
    stmt_constant(s, "bool", "MIRRORED_W", w->mirrored[0]);
    stmt_constant(s, "bool", "MIRRORED_H", w->mirrored[1]);
    stmt_file(s, "nvptx/hopper_window.cuh");
    stmt_function(s, (Function){.name = "fill_stage",
                                STMT_PARAMS({"const Shared &", "shared"}, {"u32", "stage"}, {"u32", "phase"},
                                            {"const Map &", "map_a"}, {"const Map &", "map_b"}, {"int", "m"},
                                            {"int", "n"}, {"int", "k"}, {"int", "tap_x"}, {"int", "tap_y"},
                                            {"int", "w"}, {"int", "h"}, {"int", "image"}, {"int", "dx"},
                                            {"int", "dy"}, {"int", "part_a"}, {"int", "part_b"},
                                            {"int", "mask_a"}, {"int", "mask_b"})});
}

Err hopper_window(const GpuPlan *p, Window *w)
{
    const char *why = window_of(p->indices, w);
    if (why || w->pixels == w->per_tap)
        FAIL(ERR_INPUT, "the copy engine loads windows: %s", why ? why : "rows of D are not those of A");
    return ERR_OK;
}

Err hopper_load(const GpuPlan *p, Stmts *s)
{
    const bool swap = p->matrix.swap;
    Window w;
    if (p->indices) TRY(hopper_window(p, &w));
    const Window *window = p->indices ? &w : NULL;
    Load x = load_of(p, s, window, swap), y = load_of(p, s, window, !swap);
    x.to = "x", y.to = "y";
    if (window)
        window_function(w.pixels == swap ? &x : &y, s);
    else
        matrices_function(s);
    const Value *stage = value_reg(s, "stage"), *phase = value_reg(s, "phase");
    const Value *empty = stmt_define(s, "u32", "empty", value_call(s, "shared.empty", stage));
    stmt_phase(s, empty, value_op(s, VALUE_XOR, phase, value_int(s, 1)));
    const Value *full = stmt_define(s, "u32", "full", value_call(s, "shared.full", stage));
    stmt_expect(s, full);
    stmt_define(s, "u32", x.to, value_call(s, "shared.x", stage));
    boxes(&x);
    stmt_define(s, "u32", y.to, value_call(s, "shared.y", stage));
    boxes(&y);
    stmt_end(s);
    const EngineFill fill = {.function = "fill_stage",
                             .full = "full",
                             .empty = "empty",
                             .tile = {{x.to, bytes_of(&x)}, {y.to, bytes_of(&y)}}};
    return engine_derive(s, &fill);
}
