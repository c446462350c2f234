/* The producer of wgmma kernels as statements: tile by tile, chunk by chunk, which elements of A and B are
 * copied to a stage (fill_stage, hopper_load.c), for which work-groups of the cluster, and where parts of K
 * meet. What the mbarriers expect is derived, and the whole verified, by lower/producer.h. */
#include "kernel/contract.h"
#include "kernel/nvptx/hopper.h"

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    const Window *window; /* NULL: both operands are matrices */
    bool placed;          /* the launch says where its results belong (WindowPlace) */
    HopperPlace at;       /* this work-group's, in its cluster */
} Produce;

static const Value *reg(const Produce *c, const char *name) { return value_reg(c->s, name); }
static const Value *field(const Produce *c, const char *name) { return value_field(c->s, reg(c, "p"), name); }
static const Expr *number(const Produce *c, const char *name)
{
    return expr_var(&c->s->pool, name, 0, 0, INT32_MAX);
}
static const Expr *size_of(const Produce *c, int32_t index)
{
    return expr_var(&c->s->pool, stmts_name(c->s, "args.size_%d", (int)index), 0, 1, INT32_MAX);
}

/* ---- places in C and D ---- */

static const Expr *place_number(const Produce *c, const char *what, int d)
{
    return expr_var(&c->s->pool, stmts_name(c->s, d < 0 ? "all.%s" : "all.%s_%c", what, "wh"[d > 0]), 0, 1,
                    INT32_MAX);
}

/* The pixel of D along spatial dimension d of row m in block `at` (WindowPlace). */
static const Expr *in_block(const Produce *c, int d, const Expr *at)
{
    ExprPool *pool = &c->s->pool;
    const Expr *block = place_number(c, "block", d), *wide = place_number(c, "block", 0);
    const Expr *of_row = expr_div(pool, number(c, "m"), place_number(c, "rows", -1));
    const Expr *own = d ? expr_div(pool, of_row, wide) : expr_mod(pool, of_row, wide);
    return expr_add(pool, expr_mul(pool, at, block), own);
}

/* The digits of coordinate `at` of a group of D's indices; of placed windows its channel and its pixel. */
static void digits_of(const Produce *c, IndexGroup group, const Expr *at, const Expr *digit[INDEX_MAX])
{
    ExprPool *pool = &c->s->pool;
    const ContractNames names = {.s = c->s, .prefix = "all."};
    const IndexList *list = &c->p->indices->group[group];
    const bool placed = c->placed;
    for (int32_t i = 0; i < list->n; i++) {
        const Expr *size = contract_extent(&names, list->v[i]);
        digit[i] = i + 1 < list->n ? expr_mod(pool, at, size) : at;
        at = expr_div(pool, at, size); /* of what is left: the compiler has its remainder for nothing */
        if (placed && list->v[i] == c->window->row)
            digit[i] = expr_mod(pool, digit[i], place_number(c, "rows", -1));
        for (int d = 0; d < WINDOW_SPATIAL && placed; d++)
            if (list->v[i] == c->window->out[d]) digit[i] = in_block(c, d, digit[i]);
    }
}

/* Elements in front of coordinate `at` of a group of D's indices. */
static const Expr *offset_of(const Produce *c, int tensor, IndexGroup group, const Expr *at)
{
    const ContractNames names = {.s = c->s, .prefix = "all."};
    const Expr *digit[INDEX_MAX];
    digits_of(c, group, at, digit);
    return contract_digits_offset(c->p->indices, tensor, &names, group, digit);
}

/* Windows that slide: columns of D are positions and images. The copy engine needs them to follow one
 * another, or stores them as pixels; single stores do not. */
static const Expr *place_of_window(const Produce *c, int tensor)
{
    ExprPool *pool = &c->s->pool;
    const Expr *of_n = offset_of(c, tensor, INDICES_N, number(c, "n"));
    const Expr *of_batch = offset_of(c, tensor, INDICES_BATCH, number(c, "batch"));
    return expr_add(pool, expr_add(pool, of_n, of_batch), offset_of(c, tensor, INDICES_M, number(c, "m")));
}

static void open_place(const Produce *c, const char *type, const char *name)
{
    stmt_function(c->s, (Function){.result = type,
                                   .name = name,
                                   STMT_PARAMS({"const Args &", "args"}, {"int", "m"}, {"int", "n"},
                                               {"int", "batch"})});
}

/* What row m, column n and matrix `batch` are of, where there is a product per tap (WindowPlace). */
typedef struct {
    const Expr *channel, *slot, *tap[WINDOW_SPATIAL], *group;
} TapPlace;

/* The same of kernels whose tiles have rows of several taps. */
static TapPlace tap_of_rows(const Produce *c)
{
    ExprPool *pool = &c->s->pool;
    const int side = c->p->mt[0], taps = hopper_taps(c->p);
    const Expr *m = number(c, "m"), *batch = number(c, "batch"), *in_tile = expr_mod_i(pool, m, side);
    const HopperRows rows = hopper_rows(c->p, c->s, expr_div_i(pool, in_tile, WGMMA_ROWS));
    const Expr *before = expr_mul_i(pool, expr_div_i(pool, m, side), side / taps);
    const Expr *in_block =
        expr_add(pool, expr_mul_i(pool, rows.channels, WGMMA_ROWS), expr_mod_i(pool, in_tile, WGMMA_ROWS));
    const ContractNames names = {.s = c->s, .prefix = "all."};
    const Expr *line = expr_div_i(pool, contract_extent(&names, c->window->tap[0]), taps);
    return (TapPlace){.channel = expr_add(pool, before, in_block),
                      .tap = {expr_add(pool, expr_mul_i(pool, expr_mod(pool, batch, line), taps), rows.tap),
                              expr_div(pool, batch, line)}};
}

static TapPlace tap_place(const Produce *c)
{
    ExprPool *pool = &c->s->pool;
    if (hopper_taps_are_rows(c->p)) return tap_of_rows(c);
    const Expr *m = number(c, "m"), *batch = number(c, "batch"), *pixel = place_number(c, "pixel", -1);
    const Expr *channels = place_number(c, "channels", -1), *fold = place_number(c, "fold", -1);
    const ContractNames names = {.s = c->s, .prefix = "all."};
    const Expr *taps[] = {contract_extent(&names, c->window->tap[0]),
                          contract_extent(&names, c->window->tap[1])};
    const Expr *in_pixel = expr_mod(pool, m, pixel), *line = expr_div(pool, batch, taps[0]);
    TapPlace at = {.channel = expr_mod(pool, in_pixel, channels), .slot = expr_div(pool, in_pixel, channels)};
    if (c->window->group >= 0) at.group = expr_div(pool, line, taps[1]), line = expr_mod(pool, line, taps[1]);
    at.tap[0] = expr_add(pool, expr_mod(pool, batch, taps[0]), expr_div(pool, m, pixel));
    at.tap[1] = expr_add(pool, expr_mul(pool, line, fold), expr_mod(pool, at.slot, fold));
    return at;
}

static const Expr *place_of_tap(const Produce *c, int tensor)
{
    ExprPool *pool = &c->s->pool;
    const ContractNames names = {.s = c->s, .prefix = "all."};
    const TapPlace at = tap_place(c);
    const bool along_h = c->p->groups.line_pixels; /* pixels of a row follow one another in lines */
    const Expr *sum = expr_const(pool, 0), *digit[INDEX_MAX];
    for (int g = INDICES_M; g <= INDICES_BATCH; g++) {
        const IndexList *list = &c->p->indices->group[g];
        for (int32_t i = 0; i < list->n; i++)
            digit[i] = list->v[i] == c->window->channel         ? at.channel
                       : list->v[i] == c->window->tap[along_h]  ? at.tap[0]
                       : list->v[i] == c->window->tap[!along_h] ? at.tap[1]
                       : list->v[i] == c->window->row           ? number(c, "n")
                                                                : at.group;
        sum =
            expr_add(pool, sum, contract_digits_offset(c->p->indices, tensor, &names, (IndexGroup)g, digit));
    }
    return sum;
}

/* Is the row's slot one of its column's group, and the tap one of the filter? */
static const Value *has_tap(const Produce *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const TapPlace at = tap_place(c);
    if (hopper_taps_are_rows(c->p))
        return value_expr(s, expr_op(pool, EXPR_LT, at.channel, place_number(c, "channels", -1)));
    const Expr *of_row = expr_div(pool, at.slot, place_number(c, "fold", -1));
    const Expr *of_column = expr_div(pool, number(c, "n"), place_number(c, "rows", -1));
    return value_op(s, VALUE_BOTH, value_expr(s, expr_op(pool, EXPR_EQ, of_row, of_column)),
                    value_expr(s, expr_op(pool, EXPR_LT, at.tap[1], place_number(c, "taps", -1))));
}

/* Is it a pixel of D, which blocks may go beyond? */
static const Value *has_pixel(const Produce *c)
{
    Stmts *s = c->s;
    const IndexList *list = &c->p->indices->group[INDICES_N];
    const Expr *digit[INDEX_MAX];
    const Value *inside = NULL;
    digits_of(c, INDICES_N, number(c, "n"), digit);
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        const Expr *at = digit[index_list_find(list, c->window->out[d])];
        const Value *is = value_expr(s, expr_op(&s->pool, EXPR_LT, at, place_number(c, "outs", d)));
        inside = inside ? value_op(s, VALUE_BOTH, inside, is) : is;
    }
    return inside;
}

/* Prints d_has(), whether row m of column n belongs to D, and d_row(), the row's channel. */
static void placed_rows(const Produce *c)
{
    Stmts *s = c->s;
    open_place(c, "bool", "d_has");
    stmt_define(s, "WindowArgs &", "all", value_cast(s, "const WindowArgs &", reg(c, "args")));
    stmt_return(s, c->window->per_tap ? has_tap(c) : has_pixel(c));
    stmt_end(s);
    stmt_function(
        s, (Function){.result = "int", .name = "d_row", STMT_PARAMS({"const Args &", "args"}, {"int", "m"})});
    stmt_define(s, "WindowArgs &", "all", value_cast(s, "const WindowArgs &", reg(c, "args")));
    const Expr *row = expr_mod(&s->pool, number(c, "m"), place_number(c, "rows", -1));
    stmt_return(s, value_cast(s, "int", value_expr(s, c->window->per_tap ? tap_place(c).channel : row)));
    stmt_end(s);
}

/* The same by one stride each for columns and matrices. */
static const Value *place_of_matrix(const Produce *c, char tensor)
{
    Stmts *s = c->s;
    const Value *ld = value_named(s, "args.ld%c", tensor);
    const Value *matrix = value_op(s, VALUE_MUL, reg(c, "batch"), value_named(s, "args.batch_%c", tensor));
    const Value *column = value_call(s, stmts_name(s, "g_%c_at_n", tensor), reg(c, "n"), ld);
    const Value *row = value_call(s, stmts_name(s, "g_%c_at_m", tensor), reg(c, "m"), ld);
    return value_op(s, VALUE_ADD, value_op(s, VALUE_ADD, matrix, column), row);
}

static void close_place(const Produce *c, const Value *tensor, const Value *at)
{
    stmt_return(c->s, value_op(c->s, VALUE_ADD, tensor, at));
    stmt_end(c->s);
}

/* Prints d_at() and c_at(), the addresses of elements, and workspace_at(), that of a sum of the first part
 * of K. */
static void places(const Produce *c)
{
    Stmts *s = c->s;
    for (int t = 3; t >= 2; t--) {
        const char tensor = "abcd"[t];
        const Value *first = value_named(s, "args.%c", tensor);
        open_place(c, t == 3 ? "g_TD *" : "const g_TD *", stmts_name(s, "%c_at", tensor));
        if (c->window && (c->placed || !c->window->per_tap)) {
            stmt_define(s, "WindowArgs &", "all", value_cast(s, "const WindowArgs &", reg(c, "args")));
            close_place(c, first,
                        value_expr(s, c->window->per_tap ? place_of_tap(c, t) : place_of_window(c, t)));
        } else
            close_place(c, first, place_of_matrix(c, tensor));
    }
    if (c->placed) placed_rows(c);
    open_place(c, "g_TD *", "workspace_at");
    close_place(c, value_reg(s, "args.d"), place_of_matrix(c, 'd'));
}

/* ---- windows ---- */

/* Prints struct WindowArgs: sizes of all indices, strides of C and D, and of windows the pixels from an
 * output to the next, from the tensor's first pixel to the first output's, and from a tap to the next. Where
 * sums are mended also what A and B are as tensors. */
static void window_args(const Produce *c)
{
    static const char *const along[] = {"step", "lower", "dilation"};
    Stmts *s = c->s;
    const Indices *x = c->p->indices;
    stmt_struct(s, "WindowArgs : Args", 0);
    for (int32_t i = 0; i < x->n; i++) stmt_var(s, "u32", stmts_name(s, "size_%d", (int)i), NULL);
    for (int t = 2; t < 4; t++)
        for (int32_t i = 1; i < x->tensor[t].n; i++)
            stmt_var(s, "u64", stmts_name(s, "stride_%c%d", "abcd"[t], (int)i), NULL);
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        for (int i = 0; i < 3; i++) stmt_var(s, "int", stmts_name(s, "%s_%c", along[i], "wh"[d]), NULL);
    stmt_var(s, "u32", "chunks", NULL); /* of channels */
    const char *const *place;
    const int n_place = window_place_names(c->window, c->placed, &place);
    for (int i = 0; i < n_place; i++) stmt_var(s, "u32", place[i], NULL);
    if (hopper_taps_slide(c->p)) stmt_var(s, "u32", "line_outs", NULL); /* outputs of a line that there are */
    if (c->p->groups.line_pixels) hopper_line_args(s);
    for (int t = 0; t < 2 && c->p->groups.mends; t++) {
        stmt_var(s, "const g_T *", (const char *[]){"a", "b"}[t], NULL);
        for (int32_t i = 1; i < x->tensor[t].n; i++)
            stmt_var(s, "u64", stmts_name(s, "stride_%c%d", "ab"[t], (int)i), NULL);
        for (int32_t i = 0; i < 2 * x->n_pads[t]; i++)
            stmt_var(s, "int", stmts_name(s, "pad_%s_%c%d", i % 2 ? "end" : "start", "ab"[t], (int)i / 2),
                     NULL);
    }
    stmt_end(s);
}

/* Taps along W, counted in those of a stage. */
static const Expr *stages_of_line(const Produce *c)
{
    return expr_div_i(&c->s->pool, size_of(c, c->window->tap[0]), hopper_taps(c->p));
}

/* Defines tap_x and tap_y of the first tap of a stage, and how far from itself a pixel is read for it. */
static void set_tap(const Produce *c, const Expr *tap)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Window *w = c->window;
    const Expr *taps[] = {size_of(c, w->tap[0]), size_of(c, w->tap[1])}, *line = stages_of_line(c);
    const Expr *at[] = {expr_mul_i(pool, expr_mod(pool, tap, line), hopper_taps(c->p)),
                        expr_div(pool, tap, line)};
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        const Value *x = stmt_define(s, "int", d ? "y" : "x", value_expr(s, at[d]));
        const Value *last =
            value_op(s, VALUE_SUB, value_cast(s, "int", value_expr(s, taps[d])), value_int(s, 1));
        stmt_define(s, "int", d ? "tap_y" : "tap_x", w->mirrored[d] ? value_op(s, VALUE_SUB, last, x) : x);
        stmt_define(s, "int", d ? "dy" : "dx",
                    value_op(s, VALUE_MUL, x, value_named(s, "args.dilation_%c", "wh"[d])));
    }
}

/* Defines the position of pixel number `pixel` of the batch's: outputs along W first. */
static void set_pixel(const Produce *c, const Expr *pixel, const Value *batch)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Window *w = c->window;
    const Expr *of = stmt_let(s, "pixel", pixel), *outs = size_of(c, w->out[0]),
               *lines = size_of(c, w->out[1]);
    const Expr *line = stmt_let(s, "line", expr_div(pool, of, outs));
    const Expr *const at[] = {expr_mod(pool, of, outs), expr_mod(pool, line, lines)};
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        const Value *out = value_cast(s, "int", value_expr(s, at[d]));
        const Value *by = value_op(s, VALUE_MUL, out, value_named(s, "args.step_%c", "wh"[d]));
        stmt_define(s, "int", d ? "h" : "w",
                    value_op(s, VALUE_ADD, by, value_named(s, "args.lower_%c", "wh"[d])));
    }
    for (int d = 0; d < WINDOW_SPATIAL && hopper_taps_are_rows(c->p); d++)
        stmt_define(s, "int", d ? "of_h" : "of_w", value_cast(s, "int", value_expr(s, at[d])));
    const Value *image = value_expr(s, expr_div(pool, line, lines));
    stmt_define(s, "int", "image", value_op(s, VALUE_ADD, batch, image));
}

/* Pixels from the tile's first one to those that this work-group copies. */
static const Expr *own_pixels(const Produce *c)
{
    const int pixels = c->window->pixels;
    return expr_mul_i(&c->s->pool, c->at.along[!pixels], hopper_part_rows(c->p, pixels));
}

/* What is the same for all chunks of a tile. */
static void window_of_tile(const Produce *c)
{
    Stmts *s = c->s;
    const Window *w = c->window;
    const Expr *batch = number(c, "p.batch"), *group = batch;
    if (w->per_tap && w->group >= 0) {
        const Expr *taps = expr_mul(&s->pool, size_of(c, w->tap[0]), size_of(c, w->tap[1]));
        group = expr_div(&s->pool, batch, taps), batch = expr_mod(&s->pool, batch, taps);
    }
    for (int i = 0; i < 2 && w->group >= 0; i++)
        stmt_define(s, "int", i ? "first_row" : "first_channel",
                    value_cast(s, "int",
                               value_op(s, VALUE_MUL, value_expr(s, group),
                                        value_expr(s, size_of(c, i ? w->row : w->channel)))));
    if (w->per_tap) {
        set_tap(c, batch);
        return;
    }
    set_pixel(c, expr_add(&s->pool, number(c, "p.n"), own_pixels(c)),
              w->group < 0 ? field(c, "batch") : value_int(s, 0));
}

static const Expr *chunks_of_tap(const GpuPlan *p, ExprPool *pool)
{
    return expr_var(pool, "args.chunks", 0, 1, INT32_MAX / p->depth_u);
}

const Expr *hopper_tap(const GpuPlan *p, const Window *w, Stmts *s, const Expr *chunk)
{
    const Produce c = {.p = p, .s = s, .window = w};
    ExprPool *pool = &s->pool;
    const Expr *taps = expr_mul(pool, stages_of_line(&c), size_of(&c, w->tap[1]));
    const Expr *last = expr_add_i(pool, expr_within(pool, taps, 1, INT32_MAX), -1);
    return expr_op(pool, EXPR_MIN, expr_div(pool, chunk, chunks_of_tap(p, pool)), last);
}

const Expr *hopper_chunk_of_tap(const GpuPlan *p, Stmts *s, const Expr *chunk, const Expr *tap)
{
    ExprPool *pool = &s->pool;
    const int most = INT32_MAX / p->depth_u;
    const Expr *before = expr_within(pool, expr_mul(pool, tap, chunks_of_tap(p, pool)), 0, most);
    return expr_within(pool, expr_sub(pool, chunk, before), 0, most);
}

/* What belongs to a chunk. Windows that slide go through the taps, and for each through its channels; where
 * there is nothing to multiply, the chunk is behind the channels of the last tap. */
static void window_of_chunk(const Produce *c, const Expr *chunk)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Window *w = c->window;
    if (w->per_tap) {
        const Expr *k = stmt_let(s, "k", expr_mul_i(pool, chunk, c->p->depth_u));
        set_pixel(c, expr_add(pool, k, own_pixels(c)), value_int(s, 0));
        return;
    }
    const Expr *tap = stmt_let(s, "tap", hopper_tap(c->p, w, s, chunk));
    stmt_let(s, "k", expr_mul_i(pool, hopper_chunk_of_tap(c->p, s, chunk, tap), c->p->depth_u));
    set_tap(c, tap);
}

/* ---- the producer ---- */

/* The work-groups of the cluster that share a tile of operand i: those of the same row (A) or column (B). */
static const Value *mask_of(const Produce *c, int i)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int step = i ? 1 : c->p->groups.cluster[0], n = c->p->groups.cluster[!i];
    const Expr *first = expr_mul_i(pool, c->at.member, hopper_sharing(c->p));
    const Expr *own = expr_mul_i(pool, c->at.along[i], i ? c->p->groups.cluster[0] : 1);
    int64_t bits = 0;
    for (int j = 0; j < n; j++) bits |= INT64_C(1) << j * step;
    return value_op(s, VALUE_SHL, value_int(s, bits), value_expr(s, expr_add(pool, first, own)));
}

static void fill(const Produce *c)
{
    static const char *const of_matrices[] = {"k", "batch"}, *const of_window[] = {"k",  "tap_x", "tap_y",
                                                                                   "w",  "h",     "image",
                                                                                   "dx", "dy"};
    Stmts *s = c->s;
    const int n_window = sizeof of_window / sizeof *of_window;
    const Value *x[24] = {reg(c, "shared"), reg(c, "ring.stage"), reg(c, "ring.phase"), reg(c, "map_a"),
                          reg(c, "map_b"),  field(c, "m"),        field(c, "n")};
    int n = 7;
    if (c->window && c->window->group >= 0) x[n++] = reg(c, "first_channel"), x[n++] = reg(c, "first_row");
    if (c->window)
        for (int i = 0; i < n_window; i++) x[n++] = reg(c, of_window[i]);
    else
        x[n++] = reg(c, of_matrices[0]), x[n++] = field(c, of_matrices[1]);
    if (hopper_taps_are_rows(c->p)) x[n++] = reg(c, "of_w"), x[n++] = reg(c, "of_h");
    for (int i = 0; i < 2; i++) x[n++] = value_cast(s, "int", value_expr(s, c->at.along[!i]));
    x[n++] = reg(c, "mask_a"), x[n++] = reg(c, "mask_b");
    stmt_do(s, value_call_n(s, "fill_stage", n, x));
}

/* All chunks of a tile's part of K. StaggerU: they begin in the middle. */
static void chunks(const Produce *c, const StageRing *ring)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Value *chunk = stmt_var(s, "u32", "chunk", field(c, "late"));
    stmt_loop(s,
              (Loop){.var = "i", .type = "u32", .start = expr_const(pool, 0), .limit = number(c, "p.count")});
    const int most = INT32_MAX / c->p->depth_u; /* chunks of K */
    const Expr *steps = expr_within(pool, expr_mul(pool, number(c, "chunk"), number(c, "p.step")), 0, most);
    const Expr *at = expr_within(pool, expr_add(pool, number(c, "p.first"), steps), 0, most);
    if (c->window)
        window_of_chunk(c, stmt_let(s, "of_k", at));
    else
        stmt_define(s, "int", "k", value_expr(s, expr_mul_i(pool, at, c->p->depth_u)));
    stmt_update(s, VALUE_ADD, chunk, value_int(s, 1));
    stmt_if(s, value_op(s, VALUE_EQ, chunk, field(c, "count")));
    stmt_set(s, chunk, value_int(s, 0));
    stmt_end(s);
    fill(c);
    stmt_advance(s, ring, reg(c, "ring"));
    stmt_end(s);
}

static void tile(const Produce *c, const StageRing *ring)
{
    Stmts *s = c->s;
    const bool members = hopper_members(c->p) > 1;
    stmt_define(s, "WorkTile", "p",
                value_call(s, "work_tile", reg(c, "walk"), reg(c, "args"), reg(c, "rank")));
    if (members) stmt_if(s, value_op(s, VALUE_EQ, reg(c, "thread"), value_int(s, 0)));
    if (c->window) window_of_tile(c);
    chunks(c, ring);
    if (members) {
        stmt_end(s);
        stmt_do(s, value_call_0(s, "__syncwarp"));
        stmt_comment(
            s, "the sums of all parts of K are written; they have been read, and the ring may be filled");
        for (int i = 0; i < 2; i++) stmt_do(s, value_call_0(s, "cluster_sync"));
    }
    stmt_call(s, "walk_next", reg(c, "walk"));
}

static void produce(const Produce *c, const StageRing *ring)
{
    static const char *const masks[] = {"mask_a", "mask_b"};
    Stmts *s = c->s;
    const char *args = c->window ? "all" : "args";
    stmt_function(
        s, (Function){.name = "produce",
                      STMT_PARAMS({"const Args &", args}, {"const Map &", "map_a"}, {"const Map &", "map_b"},
                                  {"const Shared &", "shared"}, {"int", "thread"})});
    if (c->window) stmt_define(s, "WindowArgs &", "args", value_cast(s, "const WindowArgs &", reg(c, args)));
    stmt_define(s, "u32", "rank", value_call_0(s, "cluster_rank"));
    for (int i = 0; i < 2; i++) stmt_define(s, "int", masks[i], mask_of(c, i));
    stmt_var(s, "Ring", "ring", NULL);
    stmt_var(s, "Walk", "walk", value_call(s, "walk_of", reg(c, "args")));
    stmt_loop(s,
              (Loop){.condition = value_op(s, VALUE_NOT, value_call(s, "walk_done", reg(c, "walk")), NULL)});
    tile(c, ring);
    stmt_end(s);
    stmt_end(s);
}

/* ---- the whole ---- */

Err hopper_produce(const GpuPlan *p, const StageRing *ring, Stmts *s, Produced *out)
{
    Window w;
    if (p->indices) TRY(hopper_window(p, &w));
    const Produce c = {.p = p,
                       .s = s,
                       .window = p->indices ? &w : NULL,
                       .placed = hopper_is_placed(p),
                       .at = hopper_place(p, s, hopper_rank(p, s))};
    if (p->indices) stmt_file(s, "nvptx/hopper_window.cuh"), window_args(&c);
    places(&c);
    hopper_fill(p, c.window, s);
    produce(&c, ring);
    if (p->groups.line_pixels) hopper_lines(p, &w, ring, s);
    Producers of = {.function = "produce",
                    .thread = "thread",
                    .by_all = hopper_members(p) > 1,
                    .args = "args",
                    .rank = "cluster_rank",
                    .cluster = hopper_sharing(p) * hopper_members(p),
                    .sharing = hopper_sharing(p),
                    .depth = p->depth_u,
                    .by_tap = p->indices,
                    .by_group = p->indices && w.group >= 0,
                    .ring = ring,
                    .cursor = "ring",
                    .full = "shared.full",
                    .empty = "shared.empty",
                    .done = "walk_done",
                    .next = "walk_next",
                    .tile_of = "tile_of",
                    .tile_type = "Tile",
                    .meet = "cluster_sync"};
    hopper_filled_tiles(p, c.window, of.tile);
    return producer_derive(s, &of, out);
}
