/* The statements of the kernel that copies the operands of windows into the workspace: pixels of few channels
 * as lines, filters as lines or blocks (problem/pack.h). Elements are copied as they are, whatever their
 * type.
 */
#include "kernel/lower/build.h"
#include "kernel/nvptx/pack.h"
#include "problem/pack.h"

enum { PACK_SLOT = 0 }; /* of all variables, which differ by name */

typedef struct {
    Stmts *s;
    ExprPool *p;
    int bytes; /* of an element */
} Copy;

static const Value *of(const Copy *k, const Expr *e) { return value_expr(k->s, e); }
/* Variables of the text: numbers that are not negative; divisors; strides. The launch refuses copies of more
 * than INT32_MAX elements, and those whose positions do not fit 32 bits. */
static const Expr *count(const Copy *k, const char *name)
{
    return expr_var(k->p, name, PACK_SLOT, 0, INT32_MAX);
}
static const Expr *divisor(const Copy *k, const char *name)
{
    return expr_var(k->p, name, PACK_SLOT, 1, INT32_MAX);
}
static const Expr *stride(const Copy *k, const char *name)
{
    return expr_var(k->p, name, PACK_SLOT, 0, INT64_MAX);
}
static const Expr *add(const Copy *k, const Expr *x, const Expr *y) { return expr_add(k->p, x, y); }
static const Expr *div_by(const Copy *k, const Expr *x, const Expr *y) { return expr_div(k->p, x, y); }
static const Expr *mod_by(const Copy *k, const Expr *x, const Expr *y) { return expr_mod(k->p, x, y); }
static const Expr *less(const Copy *k, const Expr *x, const Expr *y) { return expr_op(k->p, EXPR_LT, x, y); }
static const Expr *and_also(const Copy *k, const Expr *x, const Expr *y)
{
    return expr_op(k->p, EXPR_BOTH, x, y);
}
/* A product that the launch has found to fit 32 bits. */
static const Expr *small_product(const Copy *k, const Expr *x, const Expr *y)
{
    return expr_u31(k->p, expr_mul(k->p, x, y));
}
/* The place of a number of steps along one dimension of a tensor. */
static const Expr *steps(const Copy *k, const Expr *n, const char *name)
{
    return expr_mul(k->p, n, stride(k, name));
}
static const Expr *is_inside(const Copy *k, const Expr *i, const char *size)
{
    return and_also(k, expr_op(k->p, EXPR_LE, expr_const(k->p, 0), i), less(k, i, count(k, size)));
}
static Access element(const Copy *k, const char *base, const Expr *at)
{
    return access_element(SPACE_GLOBAL, "Element", k->bytes, reg(k, base), at);
}

/* ---- types ---- */

static void types(const Copy *k)
{
    static const StmtParam pixels[] = {
#define PIXELS(kind, field) {PACK_TYPE_##kind("Element"), #field},
#include "problem/pack.def"
    };
    static const StmtParam taps[] = {
#define TAPS(kind, field) {PACK_TYPE_##kind("Element"), #field},
#include "problem/pack.def"
    };
    static const StmtParam filter[] = {
#define FILTER(kind, field) {PACK_TYPE_##kind("Element"), #field},
#include "problem/pack.def"
        {"Taps", "w"}, {"Taps", "h"}};
    Stmts *s = k->s;
    nvptx_pack_types(s);
    stmt_typedef(s, k->bytes == 1 ? "u8" : k->bytes == 2 ? "unsigned short" : "u32", "Element", NULL);
    nvptx_pack_struct(s, "Pixels", pixels, (int)(sizeof pixels / sizeof *pixels));
    nvptx_pack_struct(s, "Taps", taps, (int)(sizeof taps / sizeof *taps));
    nvptx_pack_struct(s, "Filter", filter, (int)(sizeof filter / sizeof *filter));
    stmt_struct(s, "Piece", PACK_PIECE_BYTES);
    stmt_array(s, "Element", "v", DIMS(PACK_PIECE_BYTES / k->bytes));
    stmt_end(s);
}

/* ---- pixels ---- */

static int piece_elements(const Copy *k) { return PACK_PIECE_BYTES / k->bytes; }

/* Sets from[], where the elements of piece q of a pixel lie in column 0 of the tensor, and limits[]: the
 * columns that they have there, 0 where their row is one of the padding or behind the last. */
static void rows_of_piece(const Copy *k, const Expr *image, const Expr *row, const Expr *q)
{
    Stmts *s = k->s;
    const Expr *e = stmt_unrolled(s, "e", PACK_SLOT, piece_elements(k)), *channels = divisor(k, "o.channels");
    const Expr *channel = add(k, expr_mul_i(k->p, q, piece_elements(k)), e);
    channel = stmt_let(s, "channel", expr_u31(k->p, channel));
    const Expr *r = stmt_let(s, "r", div_by(k, channel, channels));
    const Expr *padded =
        add(k, small_product(k, row, count(k, "o.step")), small_product(k, r, count(k, "o.apart")));
    padded = expr_u31(k->p, padded);
    const Expr *h = stmt_let(s, "h", expr_sub(k->p, padded, count(k, "o.top")));
    const Expr *there =
        stmt_let(s, "there", and_also(k, less(k, r, count(k, "o.fold")), is_inside(k, h, "o.height")));
    const Expr *none = expr_const(k->p, 0);
    const Expr *at = add(k, steps(k, h, "o.from_h"), mod_by(k, channel, channels));
    at = add(k, steps(k, image, "o.from_image"), expr_select(k->p, there, at, none));
    stmt_set(s, value_at(s, reg(k, "limits"), e), of(k, expr_select(k->p, there, count(k, "o.width"), none)));
    stmt_set(s, value_at(s, reg(k, "from"), e), sum(k, reg(k, "o.from"), of(k, at)));
    stmt_end(s);
}

/* Makes a piece in column w of the tensor, in front of which there are zeros where w is negative. */
static void piece_of_pixel(const Copy *k, const Expr *w)
{
    Stmts *s = k->s;
    const Expr *e = stmt_unrolled(s, "e", PACK_SLOT, piece_elements(k));
    stmt_define(s, "int", "limit", value_at(s, reg(k, "limits"), e));
    stmt_define(s, "const Element *const", "line", value_at(s, reg(k, "from"), e));
    Access from = element(k, "line", steps(k, w, "o.from_w"));
    from.guard = is_inside(k, w, "limit");
    stmt_set(s, value_at(s, reg(k, "piece.v"), e), value_load(s, from));
    stmt_end(s);
}

/* Prints pack_pixels(), which makes a row of pixels, each of the channels of `fold` rows of the tensor and
 * then zeros. A thread makes the same pieces of several pixels, so that it finds rows and channels once. */
static void pack_pixels(const Copy *k)
{
    Stmts *s = k->s;
    stmt_function(s,
                  (Function){.name = "pack_pixels", STMT_PARAMS({"const Pixels &", "o"}, {"u32", "block"})});
    const Expr *block = count(k, "block"), *rows = divisor(k, "o.rows"),
               *of_pixel = divisor(k, "o.pieces_of_pixel");
    const Expr *thread = expr_var(k->p, "threadIdx.x", PACK_SLOT, 0, PACK_GROUP - 1);
    const Expr *image = stmt_let(s, "image", div_by(k, block, rows));
    const Expr *row = stmt_let(s, "row", mod_by(k, block, rows));
    const Expr *n = stmt_let(s, "n", div_by(k, count(k, "o.pieces"), of_pixel));
    const Expr *wide = stmt_let(s, "wide", expr_op(k->p, EXPR_MIN, of_pixel, expr_const(k->p, PACK_GROUP)));
    const Expr *pixels = stmt_let(s, "pixels", div_by(k, expr_const(k->p, PACK_GROUP), wide));
    stmt_if_expr(s, less(k, thread, expr_mul(k->p, wide, pixels)));
    const Expr *q = stmt_loop(
        s, (Loop){.var = "q", .start = mod_by(k, thread, wide), .limit = of_pixel, .step_by = wide});
    stmt_array(s, "const Element *", "from", DIMS(piece_elements(k)));
    stmt_array(s, "int", "limits", DIMS(piece_elements(k)));
    rows_of_piece(k, image, row, q);
    const Expr *first = add(k, steps(k, image, "o.to_image"), steps(k, row, "o.to_row"));
    stmt_define(s, "Piece *const", "to", value_cast(s, "Piece *", sum(k, reg(k, "o.to"), of(k, first))));
    const Expr *pixel =
        stmt_loop(s, (Loop){.var = "pixel", .start = div_by(k, thread, wide), .limit = n, .step_by = pixels});
    const Expr *w = stmt_let(s, "w", expr_sub(k->p, pixel, count(k, "o.left")));
    stmt_var(s, "Piece", "piece", NULL);
    piece_of_pixel(k, w);
    const Expr *to = add(k, small_product(k, pixel, of_pixel), q);
    stmt_store(s, access_element(SPACE_GLOBAL, "Piece", PACK_PIECE_BYTES, reg(k, "to"), to), reg(k, "piece"));
    for (int i = 0; i < 4; i++) stmt_end(s); /* two loops, the threads, the function */
}

/* ---- filters ---- */

/* Prints find_tap(), the filter's tap that is tap u of the copy for an output of a block; a number of
 * o.taps or more: it is none. */
static void find_tap(const Copy *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.result = "u32",
                                .name = "find_tap",
                                STMT_PARAMS({"const Taps &", "o"}, {"u32", "output"}, {"u32", "u"})});
    const Expr *block = divisor(k, "o.block"), *output = count(k, "output"), *u = count(k, "u");
    stmt_if_expr(s, expr_op(k->p, EXPR_EQ, block, expr_const(k->p, 1)));
    stmt_return(s, of(k, u));
    stmt_end(s);
    const Expr *last = expr_u31(k->p, expr_sub(k->p, expr_add_i(k->p, block, -1), output));
    const Expr *nth = expr_select(k->p, count(k, "o.mirrored"), last, output);
    const Expr *from = stmt_let(s, "from", small_product(k, nth, count(k, "o.step")));
    const Expr *apart = divisor(k, "o.apart"), *behind = expr_u31(k->p, expr_sub(k->p, u, from));
    stmt_if(s, op(k, VALUE_EITHER, of(k, less(k, u, from)), of(k, mod_by(k, behind, apart))));
    stmt_return(s, reg(k, "o.taps"));
    stmt_end(s);
    stmt_return(s, of(k, div_by(k, behind, apart)));
    stmt_end(s);
}

/* Declares the filter's tap along a dimension. */
static const Expr *tap_of(const Copy *k, const char *name, const char *taps, const Expr *output,
                          const Expr *u)
{
    stmt_define(k->s, "u32", name, value_call(k->s, "find_tap", reg(k, taps), of(k, output), of(k, u)));
    return count(k, name);
}

/* The filter's own element x, -0 as 0, or the mark of one that it does not have. */
static const Value *marked(const Copy *k, const Value *own, const Value *x)
{
    Stmts *s = k->s;
    const Value *zero = value_int(s, 0), *mark = value_int(s, pack_mark(k->bytes));
    if (!pack_mark(k->bytes)) return x;
    return value_select(s, own, value_select(s, op(k, VALUE_EQ, x, mark), zero, x), mark);
}

/* Prints pack_filter(), which makes an element of the filter. Its slot is the number of its row among those
 * that share a pixel, or of its group among those that became one. */
static void pack_filter(const Copy *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = "pack_filter", STMT_PARAMS({"const Filter &", "o"}, {"u32", "i"})});
    const Expr *i = count(k, "i"), *line = divisor(k, "o.line"), *pixel = divisor(k, "o.pixel");
    const Expr *taps_x = divisor(k, "o.taps_x"), *taps = expr_mul(k->p, taps_x, divisor(k, "o.taps_y"));
    const Expr *rows = divisor(k, "o.rows"), *channels = divisor(k, "o.channels");
    const Expr *block_w = divisor(k, "o.w.block"),
               *outputs = expr_mul(k->p, block_w, divisor(k, "o.h.block"));
    taps = expr_within(k->p, taps, 1, INT32_MAX), outputs = expr_within(k->p, outputs, 1, INT32_MAX);
    stmt_if_expr(s, less(k, i, count(k, "o.elements")));
    const Expr *channel = stmt_let(s, "channel", mod_by(k, i, line)), *behind = div_by(k, i, line);
    const Expr *tap = stmt_let(s, "tap", mod_by(k, behind, taps));
    const Expr *row = stmt_let(s, "row", div_by(k, behind, taps));
    const Expr *output = stmt_let(s, "output", mod_by(k, div_by(k, row, rows), outputs));
    const Expr *group = stmt_let(s, "group", div_by(k, div_by(k, row, rows), outputs));
    const Expr *copy_x = mod_by(k, tap, taps_x), *copy_y = div_by(k, tap, taps_x);
    const Expr *tap_x = tap_of(k, "tap_x", "o.w", mod_by(k, output, block_w), copy_x);
    const Expr *tap_y = tap_of(k, "tap_y", "o.h", div_by(k, output, block_w), copy_y);
    const Expr *in_pixel = stmt_let(s, "in_pixel", mod_by(k, channel, pixel));
    const Expr *slot = stmt_let(s, "slot", div_by(k, in_pixel, channels));
    const Expr *merged = divisor(k, "o.merged"), *fold = count(k, "o.fold");
    /* 0: no blocks */
    const Expr *is_merged = expr_op(k->p, EXPR_LT, expr_const(k->p, 0), count(k, "o.merged"));
    const Expr *x = stmt_let(s, "x", add(k, tap_x, div_by(k, channel, pixel)));
    const Expr *of_lines = add(k, small_product(k, tap_y, fold), slot);
    const Expr *y = stmt_let(s, "y", expr_select(k->p, is_merged, tap_y, of_lines));
    const Expr *of_block = expr_op(k->p, EXPR_EQ, slot, mod_by(k, group, merged));
    const Expr *of_line = and_also(k, less(k, slot, fold), less(k, y, count(k, "o.filter_y")));
    const Expr *there = expr_select(k->p, is_merged, of_block, of_line);
    const Expr *has_tap =
        and_also(k, less(k, tap_x, count(k, "o.w.taps")), less(k, tap_y, count(k, "o.h.taps")));
    const Expr *from = add(k, steps(k, group, "o.from_group"), steps(k, mod_by(k, row, rows), "o.from_row"));
    from = add(k, add(k, from, steps(k, x, "o.from_x")), steps(k, y, "o.from_y"));
    const Expr *to = add(k, steps(k, row, "o.to_row"), steps(k, copy_y, "o.to_y"));
    to = add(k, add(k, to, steps(k, copy_x, "o.to_x")), steps(k, channel, "o.to_channel"));
    const Expr *own = stmt_let(s, "own", and_also(k, has_tap, there));
    Access old =
        element(k, "o.from", add(k, from, steps(k, mod_by(k, in_pixel, channels), "o.from_channel")));
    old.guard = own;
    stmt_define(s, "Element", "old", value_load(s, old));
    stmt_store(s, element(k, "o.to", to), marked(k, of(k, own), reg(k, "old")));
    stmt_end(s);
    stmt_end(s);
}

void nvptx_pack_window_text(Stmts *s, int bytes)
{
    const Copy k = {.s = s, .p = &s->pool, .bytes = bytes};
    types(&k);
    pack_pixels(&k);
    find_tap(&k);
    pack_filter(&k);
    stmt_function(s, (Function){.name = "pack",
                                STMT_PARAMS({"const Pixels &", "pixels"}, {"const Filter &", "filter"})});
    const Expr *block = count(&k, "blockIdx.x"), *blocks = count(&k, "pixels.blocks");
    stmt_do(s, value_call_0(s, "wait_for_previous"));
    stmt_if_expr(s, less(&k, block, blocks));
    stmt_call(s, "pack_pixels", reg(&k, "pixels"), of(&k, block));
    stmt_else(s);
    const Expr *of_filter = expr_within(k.p, expr_sub(k.p, block, blocks), 0, INT32_MAX / PACK_GROUP);
    const Expr *thread = expr_var(k.p, "threadIdx.x", PACK_SLOT, 0, PACK_GROUP - 1);
    stmt_call(s, "pack_filter", reg(&k, "filter"),
              of(&k, add(&k, expr_mul_i(k.p, of_filter, PACK_GROUP), thread)));
    stmt_end(s);
    stmt_end(s);
}
