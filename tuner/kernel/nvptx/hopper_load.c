/* The copies of wgmma kernels: a function that fills a stage by TMA, as statements. It waits until the
 * stage is empty, gives its mbarrier the number of its bytes, and starts the copies of this work-group's
 * parts of both tiles. */
#include "kernel/lower/build.h"
#include "kernel/nvptx/hopper.h"

enum { ROW_BYTES = HOPPER_ROW_BYTES };

/* An operand's tile in a stage. Its parts are copied by as many work-groups of the cluster, each to all. */
typedef struct {
    const GpuPlan *p;
    Stmts *s;
    char name; /* 'a' 'b' */
    bool k_major;
    int tile, depth, parts;
    int row;              /* elements of a row of a block */
    int blocks;           /* along K where it is contiguous, else along the free dimension */
    int taps;             /* copies of that, one for each tap of the stage */
    const char *to;       /* the register with its address: "x", "y" */
    const Window *window; /* NULL: both operands are matrices */
} Load;

static Load load_of(const GpuPlan *p, Stmts *s, const Window *w, int i)
{
    const int row = ROW_BYTES / gpu_type_bytes(&p->in);
    Load l = {.p = p,
              .s = s,
              .name = "ab"[i],
              .k_major = !p->op[i].tlu,
              .tile = hopper_side(p, i),
              .depth = hopper_depth(p, i),
              .taps = hopper_copies(p, i),
              .row = row,
              .window = w};
    l.parts = p->groups.cluster[1 - i] > 1 ? p->groups.cluster[1 - i] : 1;
    l.blocks = ((l.k_major ? p->depth_u : l.tile) + row - 1) / row;
    return l;
}

/* Rows of a block: of the tile, or elements of K. */
static int64_t rows_of(const Load *l) { return l->k_major ? l->tile : l->depth; }
static int64_t bytes_of(const Load *l) { return l->taps * l->blocks * rows_of(l) * ROW_BYTES; }

/* Is the tile cut into parts along its rows, or into whole blocks? */
static bool is_cut(const Load *l) { return l->k_major || l->blocks % l->parts; }

/* Do threads make the tile (problem/lines.h)? */
static bool is_made(const Load *l)
{
    return l->p->groups.line_pixels && l->window && l->name - 'a' == l->window->pixels;
}

/* The filter's element of tap number `tap` of the stage, along W. */
static const Value *tap_of(const Load *l, const char *first, const Expr *tap)
{
    const Value *by = value_cast(l->s, "int", value_expr(l->s, tap));
    return value_op(l->s, l->window->mirrored[0] ? VALUE_SUB : VALUE_ADD, value_reg(l->s, first), by);
}

/* The numbers of a box whose element is `along` its contiguous dimension, `across` the other one. The first
 * pixel is that of this work-group's part already. Channels and rows are counted through all groups. tap: of
 * the stage; NULL: it has one. */
static void coordinates(const Load *l, const Value *along, const Value *across, const Expr *tap,
                        const Value *at[BOX_NUMBERS])
{
    static const char *const pixels[] = {"w", "h", "image", "dx", "dy"}, *const taps[] = {"tap_x", "tap_y"};
    const Window *w = l->window;
    int n = 0;
    if (w && w->group >= 0) {
        const bool of_pixels = l->name - 'a' == w->pixels;
        const Value **x = of_pixels || !l->k_major ? &along : &across;
        *x = value_op(l->s, VALUE_ADD, *x, value_reg(l->s, of_pixels ? "first_channel" : "first_row"));
    }
    at[n++] = along;
    if (w && hopper_taps_are_rows(l->p) && l->name - 'a' != w->pixels) {
        for (int i = 0; i < 3; i++) at[n++] = value_reg(l->s, (const char *[]){"of_w", "of_h", "image"}[i]);
        for (int i = 0; i < 2; i++) at[n++] = value_int(l->s, 0);
        return;
    }
    if (w && l->name - 'a' == w->pixels) {
        for (int i = 0; i < 5; i++) at[n++] = value_reg(l->s, pixels[i]);
        return;
    }
    for (int i = 0; i < WINDOW_SPATIAL && w && !w->per_tap; i++)
        at[n++] = tap && !i ? tap_of(l, taps[i], tap) : value_reg(l->s, taps[i]);
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
    const Expr *tap = l->taps > 1 ? stmt_unrolled(s, "t", 1, l->taps) : NULL;
    const Expr *i = stmt_unrolled(s, "i", 0, n);
    const Expr *block = cut ? i : expr_add(pool, expr_mul_i(pool, part, n), i);
    const Expr *row = cut ? expr_mul_i(pool, part, rows) : zero, *along = expr_mul_i(pool, block, l->row);
    const Expr *before = tap ? expr_add(pool, expr_mul_i(pool, tap, l->blocks), block) : block;
    const Expr *to = expr_add(pool, expr_mul_i(pool, before, rows_of(l)), row);
    to = expr_mul_i(pool, to, ROW_BYTES);
    Box b = {.map = value_named(s, "map_%c", l->name),
             .mask = l->parts > 1 ? value_named(s, "mask_%c", l->name) : NULL};
    const Value *k = reg(l, "k"), *x = reg(l, free);
    if (l->name == 'a' && hopper_taps_are_rows(l->p))
        x = value_op(s, VALUE_DIV, x, value_int(s, hopper_taps(l->p)));
    coordinates(l, offset_by(l, l->k_major ? k : x, along), offset_by(l, l->k_major ? x : k, row), tap, b.at);
    stmt_box(s, access_window(value_reg(s, l->to), to, (int)(rows * ROW_BYTES)), value_reg(s, "full"), b);
    stmt_end(s);
    if (tap) stmt_end(s);
}

Err hopper_window(const GpuPlan *p, Window *w)
{
    const char *why = window_of(p->indices, w);
    if (why || w->pixels == w->per_tap)
        FAIL(ERR_INPUT, "the copy engine loads windows: %s", why ? why : "rows of D are not those of A");
    return ERR_OK;
}

bool hopper_is_placed(const GpuPlan *p)
{
    Window w;
    return p->indices && !window_of(p->indices, &w) && window_is_placed(&w, gpu_stores_elements(p));
}

/* Prints the head of fill_stage(). Of windows k is the first channel, or per tap the first pixel; (tap_x,
 * tap_y) are of the other operand; (w, h) of `image` is the first pixel, read (dx, dy) apart. Groups begin at
 * first_channel of the pixels and first_row of the other operand. Where taps are rows of a tile, the other
 * operand is read from position (of_w, of_h) of `image` on. */
static void fill_function(Stmts *s, const Window *window, bool taps_are_rows)
{
    static const char *const
        of_window[] = {"first_channel", "first_row", "k", "tap_x", "tap_y", "w", "h", "image", "dx", "dy"},
        *const of_matrices[] = {"k", "batch"}, *const parts[] = {"part_a", "part_b", "mask_a", "mask_b"};
    StmtParam x[24] = {
        {"const Shared &", "shared"}, {"u32", "stage"}, {"u32", "phase"}, {"const Map &", "map_a"},
        {"const Map &", "map_b"},     {"int", "m"},     {"int", "n"}};
    int n = 7;
    const int coordinates = window ? (int)(sizeof of_window / sizeof *of_window) : 2;
    for (int i = window && window->group < 0 ? 2 : 0; i < coordinates; i++)
        x[n++] = (StmtParam){"int", window ? of_window[i] : of_matrices[i]};
    if (taps_are_rows) x[n++] = (StmtParam){"int", "of_w"}, x[n++] = (StmtParam){"int", "of_h"};
    for (int i = 0; i < 4; i++) x[n++] = (StmtParam){"int", parts[i]};
    stmt_function(s, (Function){.name = "fill_stage", .param = x, .n_params = n});
}

int hopper_part_rows(const GpuPlan *p, int i)
{
    const Load l = load_of(p, NULL, NULL, i);
    return is_cut(&l) ? (int)rows_of(&l) / l.parts : 0;
}

void hopper_filled_tiles(const GpuPlan *p, const Window *window, ProducerTile out[PRODUCER_TILES])
{
    for (int k = 0; k < PRODUCER_TILES; k++) {
        const Load l = load_of(p, NULL, window, k ? !p->matrix.swap : p->matrix.swap);
        const bool pixels = window && l.name - 'a' == window->pixels;
        out[k] = (ProducerTile){.name = k ? "shared.y" : "shared.x",
                                .map = l.name == 'a' ? "map_a" : "map_b",
                                .bytes = is_made(&l) ? 0 : bytes_of(&l),
                                .row_bytes = ROW_BYTES,
                                .row_elements = l.row,
                                .rows = (int)rows_of(&l),
                                .blocks = l.blocks,
                                .k_major = l.k_major,
                                .across = pixels || hopper_taps_are_rows(p) ? -1
                                          : window && !window->per_tap      ? 1 + WINDOW_SPATIAL
                                                                            : 1};
    }
}

void hopper_fill(const GpuPlan *p, const Window *window, Stmts *s)
{
    const bool swap = p->matrix.swap;
    Load x = load_of(p, s, window, swap), y = load_of(p, s, window, !swap);
    x.to = "x", y.to = "y";
    fill_function(s, window, hopper_taps_are_rows(p));
    const Value *stage = value_reg(s, "stage"), *phase = value_reg(s, "phase");
    const Value *empty = stmt_define(s, "u32", "empty", value_call(s, "shared.empty", stage));
    stmt_phase(s, empty, value_op(s, VALUE_XOR, phase, value_int(s, 1)));
    const Value *full = stmt_define(s, "u32", "full", value_call(s, "shared.full", stage));
    stmt_expect(s, full);
    stmt_define(s, "u32", x.to, value_call(s, "shared.x", stage));
    if (!is_made(&x)) boxes(&x);
    stmt_define(s, "u32", y.to, value_call(s, "shared.y", stage));
    if (!is_made(&y)) boxes(&y);
    stmt_end(s);
}
