/* Kernels whose pixels and filters stay in shared memory (KeepWindow): the numbers of the contraction's
 * window as the text has them (text/ring_window.cuh), and the text. */
#include "kernel/contract.h"
#include "kernel/nvptx/ring_copy.h"
#include "problem/keep.h"
#include "problem/window.h"

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    Window w;
    ContractNames names;
} Keep;

enum { FILTER, PIXELS, RESULTS = 3 }; /* tensors of the kernel */

Err ring_window_check(const GpuPlan *p)
{
    Window w;
    const char *why = p->indices ? window_of(p->indices, &w) : "it is a matrix product";
    if (!why && (w.per_tap || w.pixels != PIXELS || w.image_in_batch))
        why = "pixels must slide along the columns of D";
    if (!why && (gpu_type_bytes(&p->in) != 2 || !p->matrix.used || p->matrix.k != 16 || p->lsu > 1))
        why = "16-bit elements by mma.sync with 16 elements of K";
    if (why) FAIL(ERR_INPUT, "a window of %d bytes is not kept: %s", p->ring.window_bytes, why);
    return ERR_OK;
}

static void member(const Keep *k, const char *name, const Value *x)
{
    stmt_set(k->s, value_named(k->s, "w.%s", name), x);
}
static const Value *of(const Keep *k, const Expr *x) { return value_expr(k->s, x); }
static const Value *as(const Keep *k, const char *type, const Expr *x)
{
    return value_cast(k->s, type, value_expr(k->s, x));
}
static const Expr *size(const Keep *k, int32_t index) { return contract_extent(&k->names, index); }
static const Expr *step(const Keep *k, int tensor, int32_t index)
{
    return contract_index_step(k->p->indices, tensor, &k->names, index);
}

/* Prints @common(), the greatest common divisor. */
static void common_divisor(Stmts *s)
{
    const Value *a = value_reg(s, "a"), *b = value_reg(s, "b");
    stmt_function(s, (Function){.result = "unsigned",
                                .name = "@common",
                                STMT_PARAMS({"unsigned", "a"}, {"unsigned", "b"})});
    stmt_loop(s, (Loop){.condition = b, .unroll = UNROLL_NONE});
    stmt_define(s, "unsigned", "rest", value_op(s, VALUE_MOD, a, b));
    stmt_set(s, a, b);
    stmt_set(s, b, value_reg(s, "rest"));
    stmt_end(s);
    stmt_return(s, a);
    stmt_end(s);
}

/* Sets what a spatial dimension has: d 0 is W, 1 is H. The unit of positions is what divides the distances of
 * outputs and of taps. */
static void dimension(const Keep *k, int d)
{
    static const char *const edges[WINDOW_SPATIAL][2] = {{"left", "right"}, {"top", "bottom"}};
    Stmts *s = k->s;
    const char n = "wh"[d];
    const Expr *taps = size(k, k->w.tap[d]), *outs = size(k, k->w.out[d]);
    const Value *one = value_int(s, 1), *zero = value_int(s, 0);
    const Value *by_out = value_select(s, value_op(s, VALUE_LT, one, of(k, outs)),
                                       as(k, "unsigned", step(k, PIXELS, k->w.out[d])), zero);
    const Value *by_tap = value_select(s, value_op(s, VALUE_LT, one, of(k, taps)),
                                       as(k, "unsigned", step(k, PIXELS, k->w.tap[d])), zero);
    by_out = stmt_define(s, "unsigned", stmts_name(s, "by_out_%c", n), by_out);
    by_tap = stmt_define(s, "unsigned", stmts_name(s, "by_tap_%c", n), by_tap);
    const Value *unit =
        stmt_define(s, "unsigned", stmts_name(s, "unit_%c", n), value_call(s, "@common", by_out, by_tap));
    unit = value_select(s, unit, unit, one);
    member(k, stmts_name(s, "taps_%c", n), as(k, "int", taps));
    member(k, stmts_name(s, "outs_%c", n), as(k, "int", outs));
    member(k, stmts_name(s, "pixel_%c", n), unit);
    member(k, stmts_name(s, "step_%c", n), value_op(s, VALUE_DIV, by_out, unit));
    member(k, stmts_name(s, "tap_%c", n), value_op(s, VALUE_DIV, by_tap, unit));
    member(k, stmts_name(s, "result_%c", n), as(k, "long long", step(k, RESULTS, k->w.out[d])));
    member(k, stmts_name(s, "filter_%c", n), as(k, "int", step(k, FILTER, k->w.tap[d])));
    const Value *start = zero, *edge = value_literal(s, "0x7fffffff");
    for (int32_t i = 0; i < k->p->indices->n_pads[PIXELS]; i++) {
        if (k->p->indices->pad[PIXELS][i].free != k->w.out[d]) continue;
        start = as(k, "int", contract_pad_start(k->p->indices, PIXELS, &k->names, i));
        edge = as(k, "int", contract_pad_edge(k->p->indices, PIXELS, &k->names, i));
    }
    member(k, edges[d][0], start);
    member(k, edges[d][1], edge);
}

static void structure(Stmts *s)
{
    static const char *const whole[] = {
        "channels", "rows",     "groups",   "taps_w",     "taps_h",         "outs_w",      "outs_h", "step_w",
        "step_h",   "tap_w",    "tap_h",    "pixel_w",    "pixel_h",        "left",        "right",  "top",
        "bottom",   "filter_w", "filter_h", "filter_row", "filter_channel", "filter_group"};
    static const char *const wide[] = {"result_w", "result_h", "result_image", "pixel_image"};
    stmt_struct(s, "@Window", 0);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) stmt_var(s, "int", whole[i], NULL);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) stmt_var(s, "long long", wide[i], NULL);
    stmt_end(s);
}

/* Prints @window(), which finds the numbers. Rows of a filter without groups belong to one of all rows. */
static void numbers(const Keep *k)
{
    Stmts *s = k->s;
    const bool grouped = k->w.group >= 0;
    const Value *zero = value_int(s, 0);
    stmt_function(s,
                  (Function){.result = "@Window", .name = "@window", STMT_PARAMS({"const @Dims &", "dims"})});
    stmt_var(s, "@Window", "w", NULL);
    member(k, "channels", as(k, "int", size(k, k->w.channel)));
    member(k, "groups", grouped ? as(k, "int", size(k, k->w.group)) : value_int(s, 1));
    const Value *all = value_literal(s, "0x40000000"), *rows = as(k, "int", size(k, k->w.row));
    const Value *one_group = value_op(s, VALUE_EQ, value_named(s, "w.groups"), value_int(s, 1));
    member(k, "rows", value_select(s, one_group, all, rows));
    for (int d = 0; d < WINDOW_SPATIAL; d++) dimension(k, d);
    member(k, "pixel_image", k->w.image < 0 ? zero : as(k, "long long", step(k, PIXELS, k->w.image)));
    member(k, "result_image", k->w.image < 0 ? zero : as(k, "long long", step(k, RESULTS, k->w.image)));
    member(k, "filter_row", as(k, "int", step(k, FILTER, k->w.row)));
    member(k, "filter_channel", as(k, "int", step(k, FILTER, k->w.channel)));
    member(k, "filter_group", grouped ? as(k, "int", step(k, FILTER, k->w.group)) : zero);
    stmt_return(s, value_reg(s, "w"));
    stmt_end(s);
}

void ring_window_args(Stmts *s)
{
#define SET(name) stmt_set_reg(s, "ring." #name, value_cast(s, "int", value_reg(s, "keep_" #name)));
    KEEP_NUMBERS(SET)
#undef SET
}

Err ring_window_put(const GpuPlan *p, Stmts *s)
{
    Keep k = {.p = p, .s = s, .names = {s, "dims."}};
    TRY(ring_window_check(p));
    (void)window_of(p->indices, &k.w);
    const bool rows_first = p->op[FILTER].tlu;
    const struct {
        const char *name;
        int value;
    } all[] = {{"@WAVE_M", p->mt[0] / p->matrix.waves[0]},
               {"@WAVE_N", p->mt[1] / p->matrix.waves[1]},
               {"@WAVES_M", p->matrix.waves[0]},
               {"@WIDE", p->ring.window_piece},
               {"@K_MAJOR", !rows_first},
               {"@STAGES", p->n_stages},
               {"@LINE_BYTES", keep_line_bytes(p->mt[0], p->depth_u, rows_first)},
               {"@STAGE_BYTES", keep_stage_bytes(p->mt[0], p->depth_u, rows_first)},
               {"@KEPT_BYTES", KEEP_OWN_BYTES}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) stmt_constant(s, "int", all[i].name, all[i].value);
    structure(s);
    common_divisor(s);
    numbers(&k);
    stmt_function(s, (Function){.result = "float", .name = "@element", STMT_PARAMS({"unsigned short", "x"})});
    stmt_return(s, value_call(s, p->in.type == TYPE_B ? "@b2f" : "@h2f", value_reg(s, "x")));
    stmt_end(s);
    if (p->ring.dependent_launch) stmt_file(s, p->dialect->dependent);
    stmt_function(s, (Function){.name = "@wait_for_launches"});
    if (p->ring.dependent_launch) stmt_do(s, value_call_0(s, "wait_for_previous"));
    stmt_end(s);
    stmt_file(s, "nvptx/ring_window.cuh");
    return ERR_OK;
}

/* Groups: rows are multiplied by channels of others, whose filters are 0. */
bool ring_window_mends(const GpuPlan *p)
{
    Window w;
    return !window_of(p->indices, &w) && w.group >= 0;
}

/* Vectors of 8 results of two bytes, which nothing else is made of, and which pass through the stages. */
bool ring_window_stores(const GpuPlan *p)
{
    enum { PASSED = 16 * 24 * 2 /* of a warp */ };
    const int stages = p->n_stages * keep_stage_bytes(p->mt[0], p->depth_u, p->op[FILTER].tlu);
    return p->ring.window_bytes && gpu_type_bytes(&p->out) == 2 && !fused_any(&p->fused) && !gpu_reads_c(p) &&
           !gpu_adds(p) && p->n_threads / p->wave * PASSED <= stages;
}
