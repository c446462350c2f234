/* How a consumer warp group of wgmma kernels writes the results of a slice to shared memory, as statements
 * over expressions.
 * Vectors of fused operations are loaded for a tile's rows by each thread and for its columns by each warp,
 * whose lanes hand them to one another slice by slice.
 *
 * * X is the side of the instruction's rows, Y that of its columns: M and N, or with swap N and M. */
#include "index/layout.h"
#include "kernel/lower/build.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/lanes.h"

enum {
    WORD = 4,          /* bytes of a sum */
    PIECE = 16,        /* bytes of a row of an 8x8 matrix of 16-bit results */
    EARLY = 128,       /* sums of a thread up to which registers are left for vectors during the main loop */
    WARP_COLUMNS = 64, /* two of each lane */
    SLICE = 0,         /* slots of variables */
    THREAD,
    ELEMENT
};

typedef struct {
    const GpuPlan *p;
    const MatrixInst *in;
    Stmts *s;
    ExprPool *pool;
    HopperMemory m;
    bool swap, fused, has_y;    /* fused operations; such with vectors along Y */
    int n_rows, n_acc, n_pairs; /* of a tile's columns, pairs that a lane loads */
    const Expr *i, *thread;
} Write;

static Write write_of(const GpuPlan *p, const MatrixInst *in, Stmts *s)
{
    const HopperMemory m = hopper_memory(p);
    const bool swap = p->matrix.swap;
    return (Write){.p = p,
                   .in = in,
                   .s = s,
                   .pool = &s->pool,
                   .m = m,
                   .swap = swap,
                   .fused = fused_any(&p->fused),
                   .has_y = gpu_has_vectors(p, swap ? ALONG_M : ALONG_N),
                   .n_pairs = (p->mt[!swap] + WARP_COLUMNS - 1) / WARP_COLUMNS,
                   .n_rows = p->matrix.tiles[swap],
                   .n_acc = p->mt[!swap] / 2,
                   .i = expr_var(&s->pool, "i", SLICE, 0, m.slices - 1),
                   .thread = expr_var(&s->pool, "thread", THREAD, 0, WGMMA_LANES - 1)};
}

static const Value *flag(const Write *w, bool is) { return value_reg(w->s, is ? "true" : "false"); }

/* ---- places ---- */

static MatrixAccLane lane_of(const Write *w, const Expr *thread, const Expr *j)
{
    return nvptx_acc_lane(w->pool, w->p, w->in, thread, j);
}

/* Byte `byte` of a line of a slice. The copy engine swizzles lines of 128 bytes, and no shorter ones. */
static const Expr *in_slice(const Write *w, const Expr *line, const Expr *byte)
{
    const Layout l = {
        .bytes = 1, .line = w->m.line, .xor_lines = 1, .xor_mask = w->m.line == HOPPER_ROW_BYTES ? 7 : 0};
    return layout_at(w->pool, &l, line, byte);
}

/* Bytes from a slice's first one to the word of row m and column n: blocks along M follow one another. */
static const Expr *word_at(const Write *w, const Expr *m, const Expr *n)
{
    const int row = w->p->groups.slice_row, block = w->p->groups.slice_n * w->m.line;
    const Expr *in_block = expr_mul_i(w->pool, expr_mod_i(w->pool, m, row), WORD);
    return expr_add(w->pool, expr_mul_i(w->pool, expr_div_i(w->pool, m, row), block),
                    in_slice(w, n, in_block));
}

const Expr *hopper_word_at(const GpuPlan *p, Stmts *s, const Expr *m, const Expr *n)
{
    const Write w = write_of(p, NULL, s);
    return word_at(&w, m, n);
}

const Expr *hopper_byte_at(const GpuPlan *p, Stmts *s, const Expr *piece, const Expr *n, const Expr *byte)
{
    const Write w = write_of(p, NULL, s);
    const Expr *block = expr_mul_i(w.pool, piece, w.p->groups.slice_n * w.m.line);
    return expr_add(w.pool, block, in_slice(&w, n, byte));
}

/* The slice's accumulator j. */
static const Value *acc_at(const Write *w, const Expr *j)
{
    ExprPool *p = w->pool;
    const Expr *first = expr_mul_i(p, expr_mod_i(p, w->i, w->m.along), w->m.columns / 2);
    const Value *row = value_at(w->s, reg(w, "acc"), expr_div_i(p, w->i, w->m.along));
    return value_at(w->s, row, expr_add(p, first, j));
}

/* ---- the epilogue ---- */

const Value *hopper_result(Stmts *s, const char *function, const Value *x, const Value *c,
                           const Value *with_c, const Value *row, const Value *col)
{
    const Value *ops = value_reg(s, "ops");
    return value_call(s, function, ops, value_call(s, "g_scaled", ops, x), c, with_c, row, col);
}

const Value *hopper_reads(const GpuPlan *p, Stmts *s)
{
    const Value *zero = value_call(s, "g_is_zero", value_reg(s, "args.beta"));
    return stmt_define(s, "bool", "reads",
                       gpu_reads_c(p) ? value_op(s, VALUE_NOT, zero, NULL) : value_reg(s, "false"));
}

/* ---- vectors of fused operations ---- */

bool hopper_vectors_early(const GpuPlan *p)
{
    return fused_any(&p->fused) && gpu_slices_results(p) && hopper_sums(p) <= EARLY;
}

/* A function of the epilogue's ops for rows of D (of: X) or for columns: "g_rows<2>". */
static const char *side(const Write *w, bool x, const char *what)
{
    return stmts_name(w->s, "g_%s%s", x != w->swap ? "rows" : "cols", what);
}

static const char *y_type(const Write *w) { return w->swap ? "g_OfRow" : "g_OfCol"; }
static const Value *origin(const Write *w, bool x) { return reg(w, x != w->swap ? "p.m" : "p.n"); }

/* Prints load(): what belongs to the two rows of a thread in each instruction, and to two of the columns of
 * each 64, which the lanes of a warp share out. */
static void load_vectors(const Write *w)
{
    Stmts *s = w->s;
    ExprPool *p = w->pool;
    stmt_function(s, (Function){.name = "load",
                                STMT_PARAMS({"const g_Ops &", "o"}, {"const WorkTile &", "p"}, {"int", "wg"},
                                            {"int", "thread"})});
    const Expr *wg = expr_var(p, "wg", SLICE, 0, w->p->groups.consumers - 1);
    const Expr *group = w->p->groups.pingpong ? expr_const(p, 0) : expr_mul_i(p, wg, w->n_rows * WGMMA_ROWS);
    const Value *at = stmt_define(s, "u32", "at", sum(w, origin(w, true), value_expr(s, group)));
    const Expr *r = stmt_unrolled(s, "r", ELEMENT, w->n_rows), *h = stmt_unrolled(s, "h", ELEMENT + 1, 2);
    const Expr *own = lane_of(w, w->thread, expr_mul_i(p, h, 2)).row;
    const Value *row = sum(w, at, value_expr(s, expr_add(p, expr_mul_i(p, r, WGMMA_ROWS), own)));
    const Value *to = value_op(s, VALUE_ADDRESS, value_at(s, value_at(s, reg(w, "x"), r), h), NULL);
    stmt_call(s, side(w, true, "<1>"), reg(w, "o"), row, flag(w, false), to);
    stmt_end(s);
    stmt_end(s);
    if (w->has_y) {
        const Expr *pair = stmt_unrolled(s, "pair", ELEMENT, w->n_pairs);
        const Expr *column =
            expr_add(p, expr_mul_i(p, pair, WARP_COLUMNS), expr_mul_i(p, expr_mod_i(p, w->thread, 32), 2));
        to = value_op(s, VALUE_ADDRESS, value_at(s, reg(w, "y"), expr_mul_i(p, pair, 2)), NULL);
        stmt_call(s, side(w, false, "<2>"), reg(w, "o"), sum(w, origin(w, false), value_expr(s, column)),
                  flag(w, false), to);
        stmt_end(s);
    }
    stmt_end(s);
}

/* Prints columns(): what belongs to a thread's columns of slice i, two of each eight, from the lanes that
 * have loaded it. All lanes of a warp call it. */
static void columns_of_slice(const Write *w)
{
    Stmts *s = w->s;
    ExprPool *p = w->pool;
    stmt_function(s, (Function){.name = "columns",
                                .qualifier = "const",
                                STMT_PARAMS({"int", "i"}, {"int", "thread"},
                                            {stmts_name(s, "%s *", y_type(w)), "to"})});
    const Expr *first = expr_mul_i(p, expr_mod_i(p, w->i, w->m.along), w->m.columns);
    const Expr *c = stmt_unrolled(s, "c", ELEMENT, w->m.columns / 8);
    const Expr *eight = expr_add(p, first, expr_mul_i(p, c, 8));
    const Expr *own = lane_of(w, w->thread, expr_const(p, 0)).col;
    const Expr *lane = expr_div_i(p, expr_add(p, expr_mod_i(p, eight, WARP_COLUMNS), own), 2);
    const Expr *pair = expr_mul_i(p, expr_div_i(p, eight, WARP_COLUMNS), 2);
    stmt_call(s, "from_lane", value_op(s, VALUE_ADDRESS, value_at(s, reg(w, "y"), pair), NULL),
              value_expr(s, lane),
              value_op(s, VALUE_ADDRESS, value_at(s, reg(w, "to"), expr_mul_i(p, c, 2)), NULL));
    stmt_end(s);
    stmt_end(s);
}

/* Prints struct Vectors, what belongs to a tile's rows x and columns y. */
static void vectors(const Write *w)
{
    Stmts *s = w->s;
    const char *x = w->swap ? "g_OfCol" : "g_OfRow";
    stmt_struct(s, "Vectors", 0);
    if (w->fused)
        stmt_array(s, x, "x", DIMS(w->n_rows, 2));
    else
        stmt_var(s, x, "x", NULL);
    if (w->has_y)
        stmt_array(s, y_type(w), "y", DIMS(w->n_pairs * 2));
    else
        stmt_var(s, y_type(w), "y", NULL);
    if (w->fused) load_vectors(w);
    if (w->has_y) columns_of_slice(w);
    stmt_end(s);
}

/* Declares what belongs to the thread's columns of the slice. */
static void define_columns(const Write *w)
{
    if (!w->has_y) return;
    const Value *y = stmt_array(w->s, y_type(w), "columns", DIMS(w->m.columns / 4));
    stmt_call(w->s, "vectors.columns", value_expr(w->s, w->i), reg(w, "thread"), y);
}

/* What the ops make of the slice's accumulator j, without a ReLU of pairs. Accumulator j of an instruction is
 * in row j / 2 % 2 of the thread's two rows, and in column j / 4 * 2 + j % 2 of its columns. c: NULL where C
 * is not read. */
static const Value *combined(const Write *w, const Expr *j, const Value *c)
{
    Stmts *s = w->s;
    ExprPool *p = w->pool;
    const Value *x = reg(w, "vectors.x"), *y = reg(w, "vectors.y");
    if (w->fused)
        x = value_at(s, value_at(s, x, expr_div_i(p, w->i, w->m.along)),
                     expr_mod_i(p, expr_div_i(p, j, 2), 2));
    if (w->has_y)
        y = value_at(s, reg(w, "columns"),
                     expr_add(p, expr_mul_i(p, expr_div_i(p, j, 4), 2), expr_mod_i(p, j, 2)));
    return hopper_result(s, gpu_relu_of_pairs(w->p) ? "g_before_relu" : "g_combined", acc_at(w, j),
                         c ? c : value_cast(s, "g_TD", value_int(s, 0)), flag(w, c), w->swap ? y : x,
                         w->swap ? x : y);
}

/* ---- a slice ---- */

/* Are the sums themselves written, which threads or a helper kernel read? */
static bool is_raw(const Write *w) { return !gpu_slices_results(w->p) || hopper_split(w->p) > 1; }
static bool has_pairs(const Write *w) { return !is_raw(w) && gpu_type_bytes(&w->p->out) == 2; }
/* Of a thread's results in a slice. */
static int n_words(const Write *w) { return w->m.columns / (has_pairs(w) ? 4 : 2); }

/* Accumulators j and j + 1 as two results of 16 bits; c: those of C; or NULL. */
static const Value *pair_of(const Write *w, const Expr *j, const Value *c)
{
    Stmts *s = w->s;
    const Value *high = c ? value_op(s, VALUE_SHR, c, value_int(s, 16)) : NULL;
    const Value *lo = combined(w, j, c ? value_cast(s, "g_TD", c) : NULL);
    const Value *hi = combined(w, expr_add_i(w->pool, j, 1), c ? value_cast(s, "g_TD", high) : NULL);
    const Value *pair = value_call(s, "pair", lo, hi);
    return gpu_relu_of_pairs(w->p) ? value_call(s, "relu_pair", pair) : pair;
}

/* Prints slice_words(), the results of a slice where C is not read. They need no memory, so that a thread has
 * them before it waits for a buffer. */
static void slice_words(const Write *w)
{
    Stmts *s = w->s;
    stmt_function(
        s, (Function){.name = "slice_words",
                      STMT_PARAMS({"Sums &", "acc"}, {"int", "i"}, {"const g_Ops &", "ops"},
                                  {"const Vectors &", "vectors"}, {"int", "thread"}, {"u32 *", "word"})});
    if (!is_raw(w)) define_columns(w);
    const Expr *at = stmt_unrolled(s, "j", ELEMENT, n_words(w));
    const Value *of = has_pairs(w)
                          ? pair_of(w, expr_mul_i(w->pool, at, 2), NULL)
                          : value_call(s, "word_of", is_raw(w) ? acc_at(w, at) : combined(w, at, NULL));
    stmt_set(s, value_at(s, reg(w, "word"), at), of);
    stmt_end(s);
    stmt_end(s);
}

void hopper_words(const GpuPlan *p, Stmts *s)
{
    const Write w = write_of(p, NULL, s);
    stmt_array(s, "u32", "word", DIMS(n_words(&w)));
}

void hopper_slice_words(Stmts *s, const Expr *i)
{
    stmt_call(s, "slice_words", value_reg(s, "acc"), value_expr(s, i), value_reg(s, "ops"),
              value_reg(s, "vectors"), value_reg(s, "thread"), value_reg(s, "word"));
}

/* 16-bit results, as rows of 8x8 matrices. Each lane gives stmatrix the address of one row of matrix q, which
 * consists of accumulators 2q and 2q + 1. */
static void write_pairs(const Write *w, bool with_c)
{
    Stmts *s = w->s;
    ExprPool *p = w->pool;
    const int matrices = w->m.columns % 16 ? 2 : 4;
    const Expr *q = expr_mod_i(p, expr_div_i(p, w->thread, 8), matrices), *of_q = expr_mul_i(p, q, 2);
    const Expr *warp = expr_mul_i(p, expr_div_i(p, w->thread, 32), 32),
               *in_matrix = expr_mod_i(p, w->thread, 8);
    /* the first of the four lanes with elements of this row */
    const Expr *of_row = expr_add(p, warp, expr_mul_i(p, in_matrix, 4));
    const Expr *col = stmt_loop(s, (Loop){.var = "col",
                                          .start = expr_const(p, 0),
                                          .limit = expr_const(p, w->m.columns),
                                          .step = 4 * matrices,
                                          .unroll = UNROLL_FULL});
    col = expr_multiple(p, col, 4 * matrices);
    const Expr *column = expr_add(p, col, lane_of(w, expr_const(p, 0), of_q).col);
    const Expr *line = w->swap ? lane_of(w, of_row, of_q).row : expr_add(p, column, in_matrix);
    const Expr *piece = expr_div_i(p, w->swap ? column : lane_of(w, warp, of_q).row, 8);
    const Value *to = stmt_define(
        s, "u32", "to", sum(w, reg(w, "at"), value_expr(s, in_slice(w, line, expr_mul_i(p, piece, PIECE)))));
    const Value *old = with_c ? stmt_array(s, "u32", "old", DIMS(4)) : NULL, *out[4];
    if (with_c) stmt_call(s, matrices == 4 ? "load_matrices" : "load_matrices_2", to, old);
    for (int i = 0; i < matrices; i++) {
        const Expr *j = expr_add_i(p, expr_div_i(p, col, 2), (int64_t)i * 2);
        out[i] = with_c
                     ? stmt_define(s, "u32", stmts_name(s, "out_%d", i), pair_of(w, j, value_at_i(s, old, i)))
                     : value_at(s, reg(w, "word"), expr_div_i(p, j, 2));
    }
    if (matrices == 4)
        stmt_call(s, "store_matrices", to, out[0], out[1], out[2], out[3]);
    else
        stmt_call(s, "store_matrices_2", to, out[0], out[1]);
    stmt_end(s);
}

/* Results of 4 bytes, or the sums themselves. */
static void write_words(const Write *w, bool with_c)
{
    Stmts *s = w->s;
    const Expr *j = stmt_unrolled(s, "j", ELEMENT, w->m.columns / 2);
    const MatrixAccLane own = lane_of(w, w->thread, j);
    const Expr *place =
        w->swap ? in_slice(w, own.row, expr_mul_i(w->pool, own.col, WORD)) : word_at(w, own.row, own.col);
    const Value *to = stmt_define(s, "u32", "to", sum(w, reg(w, "at"), value_expr(s, place)));
    const Value *word = value_at(s, reg(w, "word"), j);
    if (with_c) {
        const Value *old = stmt_var(s, "g_TC", "old", NULL);
        stmt_call(s, "from_word", value_call(s, "load_word", to), old);
        const Value *v = stmt_define(s, "g_TC", "v", combined(w, j, value_cast(s, "g_TD", old)));
        word = value_call(s, "word_of", v);
    }
    stmt_call(s, "store_word", to, word);
    stmt_end(s);
}

/* Prints write_slice(), which writes the results of slice_words(), or write_slice_with_c(), which finds C's
 * slice where D's is to be. */
static void write_slice(const Write *w, bool with_c)
{
    static const StmtParam sums[] = {{"Sums &", "acc"},
                                     {"int", "i"},
                                     {"u32", "at"},
                                     {"const g_Ops &", "ops"},
                                     {"const Vectors &", "vectors"},
                                     {"int", "thread"}},
                           words[] = {{"const u32 *", "word"}, {"u32", "at"}, {"int", "thread"}};
    Stmts *s = w->s;
    stmt_function(s, (Function){.name = with_c ? "write_slice_with_c" : "write_slice",
                                .param = with_c ? sums : words,
                                .n_params = with_c ? 6 : 3});
    if (with_c) define_columns(w);
    if (has_pairs(w))
        write_pairs(w, with_c);
    else
        write_words(w, with_c);
    stmt_end(s);
}

/* ---- the whole ---- */

void hopper_write(const GpuPlan *p, const MatrixInst *in, Stmts *s)
{
    const Write w = write_of(p, in, s);
    stmt_file(s, "nvptx/hopper_results.cuh");
    if (!gpu_slices_results(p)) stmt_file(s, "nvptx/predicated.cuh");
    vectors(&w);
    slice_words(&w);
    write_slice(&w, false);
    if (p->groups.engine_store && gpu_reads_c(p)) write_slice(&w, true);
    if (!gpu_slices_results(p) || p->partial_sums) hopper_store_one(p, s);
}
