/* How a consumer warp group of wgmma kernels stores the results of a slice from shared memory where the copy
 * engine does not, as statements over expressions: D of any alignment, sliding windows whose results are
 * placed one by one, and sums of parts of K. Threads have one row each where D's columns lie equally far
 * apart; otherwise each warp has a column. */
#include "kernel/lower/build.h"
#include "kernel/nvptx/hopper.h"

enum {
    WORD = 4, /* bytes of a sum */
    WARP = 32,
    MANY_SUMS = 128, /* of a thread: registers are left for few results at once */
    MOST_SUMS = 160, /* for those of the same rows */
    SLICE = 0,       /* slots of variables */
    THREAD,
    ELEMENT
};

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    ExprPool *pool;
    HopperMemory m;
    bool fused;
    int n_sums; /* of a thread */
    const Expr *thread;
} Elements;

static Elements elements_of(const GpuPlan *p, Stmts *s)
{
    return (Elements){.p = p,
                      .s = s,
                      .pool = &s->pool,
                      .m = hopper_memory(p),
                      .fused = fused_any(&p->fused),
                      .n_sums = hopper_sums(p),
                      .thread = expr_var(&s->pool, "thread", THREAD, 0, WGMMA_LANES - 1)};
}

static const Value *flag(const Elements *w, bool is) { return value_reg(w->s, is ? "true" : "false"); }

/* Prints store_one(): element (m, n) of D, which is inside D. */
void hopper_store_one(const GpuPlan *p, Stmts *s)
{
    const Elements of = elements_of(p, s), *c = &of;
    const Value *ops = reg(c, "ops"), *m = reg(c, "m"), *n = reg(c, "n"), *batch = reg(c, "batch");
    stmt_function(s,
                  (Function){.name = "store_one",
                             STMT_PARAMS({"g_TC", "sum"}, {"const Args &", "args"}, {"const g_Ops &", "ops"},
                                         {"bool", "reads"}, {"int", "m"}, {"int", "n"}, {"int", "batch"})});
    const Value *row = stmt_var(s, "g_OfRow", "of_row", NULL), *col = stmt_var(s, "g_OfCol", "of_col", NULL);
    const Value *old = stmt_var(s, "g_TD", "c", NULL);
    const bool placed = hopper_is_placed(c->p);
    if (placed) stmt_if(s, value_call(s, "d_has", reg(c, "args"), m, n, batch));
    if (c->fused) {
        const Value *of_row = placed ? value_call(s, "d_row", reg(c, "args"), m) : m;
        stmt_call(s, "g_rows<1>", ops, of_row, flag(c, false), value_op(s, VALUE_ADDRESS, row, NULL));
        stmt_call(s, "g_cols<1>", ops, n, flag(c, false), value_op(s, VALUE_ADDRESS, col, NULL));
    }
    const int bytes = gpu_type_bytes(&c->p->out);
    stmt_if(s, reg(c, "reads"));
    const Value *from = value_call(s, "c_at", reg(c, "args"), m, n, batch);
    stmt_set(s, old, value_load(s, access_element(SPACE_GLOBAL, "g_TD", bytes, from, NULL)));
    stmt_end(s);
    const Value *x = hopper_result(s, "g_combined", reg(c, "sum"), old, reg(c, "reads"), row, col);
    const Value *to = value_call(s, "d_at", reg(c, "args"), m, n, batch);
    stmt_store(s, access_element(SPACE_GLOBAL, "g_TD", bytes, to, NULL), value_call(s, "g_from_c", x));
    if (placed) stmt_end(s);
    stmt_end(s);
}

/* Where the slice's sum of row m and column n goes, without a check: a place in D, or in this part's sums of
 * the workspace. */
static const Value *element_place(const Elements *c, const Value *m, const Value *n)
{
    Stmts *s = c->s;
    static const char *const size[] = {"args.m", "args.n", "args.batch"};
    const bool split = hopper_split(c->p) > 1;
    const Value *at = value_call(s, split ? "workspace_at" : "d_at", reg(c, "args"), m, n, reg(c, "p.batch"));
    if (!split) return at;
    const Value *part = value_cast(s, "u64", reg(c, "p.part"));
    for (int i = 0; i < 3; i++) part = value_op(s, VALUE_MUL, part, reg(c, size[i]));
    return sum(c, at, part);
}

static const Value *below(const Elements *c, const Value *x, const char *size)
{
    return value_op(c->s, VALUE_LT, x, value_cast(c->s, "int", reg(c, size)));
}

/* Stores a line of a slice, adjacent lanes along M. */
static void store_line(const Elements *c, const Expr *line)
{
    Stmts *s = c->s;
    ExprPool *p = c->pool;
    const GpuWarpGroups *g = &c->p->groups;
    const Expr *lane = expr_mod_i(p, c->thread, WARP), *column = expr_mod_i(p, line, g->slice_n);
    const Expr *row = expr_add(p, expr_mul_i(p, expr_div_i(p, line, g->slice_n), g->slice_row), lane);
    const Value *m = stmt_define(s, "int", "m", sum(c, reg(c, "first_m"), value_expr(s, row)));
    const Value *n = stmt_define(s, "int", "n", sum(c, reg(c, "first_n"), value_expr(s, column)));
    const Value *inside = value_op(s, VALUE_BOTH, below(c, m, "args.m"), below(c, n, "args.n"));
    if (g->slice_row < WARP) {
        const Value *own = value_expr(s, expr_op(p, EXPR_LT, lane, expr_const(p, g->slice_row)));
        inside = value_op(s, VALUE_BOTH, own, inside);
    }
    stmt_if(s, inside);
    const Value *v = stmt_var(s, "g_TC", "v", NULL);
    const Value *from = sum(c, reg(c, "at"), value_expr(s, hopper_word_at(c->p, c->s, row, column)));
    stmt_call(s, "from_word", value_call(s, "load_word", from), v);
    if (hopper_split(c->p) > 1)
        stmt_store(s, access_element(SPACE_GLOBAL, "g_TD", WORD, element_place(c, m, n), NULL), v);
    else
        stmt_call(s, "store_one", v, reg(c, "args"), reg(c, "ops"), reg(c, "reads"), m, n, reg(c, "p.batch"));
    stmt_end(s);
}

static void store_each_line(const Elements *c)
{
    Stmts *s = c->s;
    const int lines = c->m.pieces * c->p->groups.slice_n, warps = WGMMA_LANES / WARP;
    /* Left to itself the compiler unrolls two or four iterations, depending on small changes elsewhere.
     * Addresses of contractions have divisions. */
    const Expr *line = stmt_loop(s, (Loop){.var = "line",
                                           .type = "int",
                                           .start = expr_div_i(c->pool, c->thread, WARP),
                                           .limit = expr_const(c->pool, lines),
                                           .step = warps,
                                           .unroll = c->p->indices ? UNROLL_2 : UNROLL_4});
    store_line(c, line);
    stmt_end(s);
}

/* ---- single results of the same rows ---- */

/* Threads that have the same column of a piece. */
static int rows_of_threads(const Elements *c) { return c->p->groups.slice_row; }
/* Columns of a piece that all threads have at once. */
static int columns_at_once(const Elements *c) { return WGMMA_LANES / rows_of_threads(c); }

/* Has a thread one row of a piece, in columns that lie as far apart as their addresses? */
static bool has_rows(const Elements *c)
{
    const int rows = rows_of_threads(c);
    return !hopper_is_placed(c->p) && c->n_sums <= MOST_SUMS && WGMMA_LANES % rows == 0 &&
           c->p->groups.slice_n % columns_at_once(c) == 0;
}

/* Declares what row m has for all columns of the piece: `left`, columns to the edge of D from the thread's
 * first one on; its place in D (`to`) and in C (`c`). */
static void row_begin(const Elements *c, bool may_read)
{
    Stmts *s = c->s;
    const Value *m = reg(c, "m"), *n = reg(c, "n");
    const Value *in = stmt_define(s, "bool", "in_m", below(c, m, "args.m"));
    const Value *to_edge = value_op(s, VALUE_SUB, value_cast(s, "int", reg(c, "args.n")), n);
    stmt_define(s, "int", "left", value_select(s, in, to_edge, value_int(s, 0)));
    if (c->fused && hopper_split(c->p) == 1) {
        const Value *row = stmt_var(s, "g_OfRow", "of_row", NULL);
        stmt_if(s, in);
        stmt_call(s, "g_rows<1>", reg(c, "ops"), m, flag(c, false), value_op(s, VALUE_ADDRESS, row, NULL));
        stmt_end(s);
    }
    stmt_var(s, "g_TD *", "to", element_place(c, m, n));
    if (!may_read) return;
    stmt_var(s, "const g_TD *", "c", value_call(s, "c_at", reg(c, "args"), m, n, reg(c, "p.batch")));
}

/* Moves `to` or `c` to the thread's next column. The compiler does not know the address: else it would
 * compute and keep those of all columns. */
static void next_column(const Elements *c, char tensor)
{
    Stmts *s = c->s;
    const Value *at = reg(c, tensor == 'd' ? "to" : "c");
    stmt_update(s, VALUE_ADD, at,
                value_call(s, stmts_name(s, "g_%c_at_n", tensor), value_int(s, columns_at_once(c)),
                           value_named(s, "args.ld%c", tensor)));
    stmt_call(s, "g_keep_address", at);
}

/* Opens a loop over a slice's pieces or columns. */
static const Expr *counted(const Elements *c, const char *name, int n, int step, bool as_loop)
{
    const Expr *i = stmt_loop(c->s, (Loop){.var = name,
                                           .type = "int",
                                           .start = expr_const(c->pool, 0),
                                           .limit = expr_const(c->pool, n),
                                           .step = step,
                                           .unroll = as_loop ? UNROLL_NONE : UNROLL_FULL});
    return step > 1 ? expr_multiple(c->pool, i, step) : i;
}

/* Is the thread's column n + at inside D? */
static const Value *has_column(const Elements *c, const Expr *at)
{
    return value_op(c->s, VALUE_LT, value_expr(c->s, at), reg(c, "left"));
}

/* Declares C's elements of `few` columns from `from` on, and loads them where C is read: in one branch, so
 * that the loads are in flight together, and none is waited for where C is not read. */
static void load_old(const Elements *c, const Expr *from, int few)
{
    Stmts *s = c->s;
    const Value *old = stmt_array(s, "g_TD", "old", DIMS(few));
    const Expr *i = stmt_unrolled(s, "i", ELEMENT + 1, few);
    stmt_set(s, value_at(s, old, i), value_call_0(s, "g_TD"));
    stmt_end(s);
    stmt_if(s, reg(c, "reads"));
    i = stmt_unrolled(s, "i", ELEMENT + 1, few);
    const Expr *at = expr_mul_i(c->pool, expr_add(c->pool, from, i), columns_at_once(c));
    stmt_set(s, value_at(s, old, i), value_call(s, "g_load_if", has_column(c, at), reg(c, "c")));
    next_column(c, 'c');
    stmt_end(s);
    stmt_end(s);
}

/* Stores the thread's sum in column n + at, if that is inside D. old: NULL where no kernel reads C. */
static void row_store(const Elements *c, const Value *word, const Expr *at, const Value *old)
{
    Stmts *s = c->s;
    const Value *in = stmt_define(s, "bool", "in", has_column(c, at)), *v = stmt_var(s, "g_TC", "v", NULL);
    stmt_call(s, "from_word", word, v);
    if (hopper_split(c->p) == 1) {
        const Value *row = value_call_0(s, "g_OfRow"), *col = value_call_0(s, "g_OfCol");
        if (c->fused) {
            row = reg(c, "of_row");
            col = stmt_var(s, "g_OfCol", "of_col", NULL);
            stmt_if(s, in);
            stmt_call(s, "g_cols<1>", reg(c, "ops"), sum(c, reg(c, "n"), value_expr(s, at)), flag(c, false),
                      value_op(s, VALUE_ADDRESS, col, NULL));
            stmt_end(s);
        }
        v = hopper_result(s, "g_combined", v, old ? old : value_call_0(s, "g_TD"),
                          old ? reg(c, "reads") : flag(c, false), row, col);
        v = value_call(s, "g_from_c", v);
    }
    stmt_call(s, "g_store_if", in, reg(c, "to"), v);
    next_column(c, 'd');
}

/* Stores a slice piece by piece, some words of a thread at once. The sums of large tiles leave few registers:
 * without loops the compiler would compute the addresses of several pieces at once. */
static void store_rows(const Elements *c)
{
    enum { FEW = 4 };
    Stmts *s = c->s;
    ExprPool *p = c->pool;
    const GpuWarpGroups *g = &c->p->groups;
    const bool large = c->n_sums > MANY_SUMS, may_read = hopper_split(c->p) == 1 && gpu_reads_c(c->p);
    const int rows = rows_of_threads(c), step = columns_at_once(c), n_words = g->slice_n / step,
              few = large && n_words % FEW == 0 ? FEW : n_words;
    const Expr *piece = counted(c, "piece", c->m.pieces, 1, large);
    const Expr *row = expr_add(p, expr_mul_i(p, piece, rows), expr_mod_i(p, c->thread, rows));
    const Expr *first = expr_div_i(p, c->thread, rows);
    stmt_define(s, "int", "m", sum(c, reg(c, "first_m"), value_expr(s, row)));
    stmt_define(s, "int", "n", sum(c, reg(c, "first_n"), value_expr(s, first)));
    row_begin(c, may_read);
    const Expr *from = counted(c, "from", n_words, few, large);
    const Value *words = stmt_array(s, "u32", "sums", DIMS(few));
    const Expr *i = stmt_unrolled(s, "i", ELEMENT + 1, few);
    const Expr *column = expr_mul_i(p, expr_add(p, from, i), step);
    const Expr *at = hopper_word_at(c->p, c->s, row, expr_add(p, first, column));
    stmt_set(s, value_at(s, words, i), value_call(s, "load_word", sum(c, reg(c, "at"), value_expr(s, at))));
    stmt_end(s);
    if (may_read) load_old(c, from, few);
    i = stmt_unrolled(s, "i", ELEMENT + 1, few);
    row_store(c, value_at(s, words, i), expr_mul_i(p, expr_add(p, from, i), step),
              may_read ? value_at(s, reg(c, "old"), i) : NULL);
    for (int k = 0; k < 3; k++) stmt_end(s);
}

void hopper_elements(const GpuPlan *p, Stmts *s)
{
    const Elements c = elements_of(p, s);
    const Value *bar = sum(&c, value_int(s, 1), reg(&c, "wg"));
    if (hopper_split(p) == 1) hopper_reads(p, s);
    stmt_call(s, "group_sync", bar); /* the slices of the previous tile have been read */
    const Expr *i = stmt_unrolled(s, "slice", SLICE, c.m.slices);
    /* Else the compiler would keep what is the same in all slices: large tiles have no registers for it. */
    if (has_rows(&c) && c.n_sums > MANY_SUMS) stmt_call(s, "g_keep_number", reg(&c, "thread"));
    stmt_define(
        s, "u32", "at",
        value_call(s, "shared.out", reg(&c, "wg"), value_expr(s, expr_mod_i(c.pool, i, HOPPER_BUFFERS))));
    hopper_words(p, s);
    hopper_slice_words(s, i);
    stmt_call(s, "write_slice", reg(&c, "word"), reg(&c, "at"), reg(&c, "thread"));
    stmt_call(s, "group_sync", bar);
    stmt_define(s, "int", "first_m", value_call(s, "slice_m", value_expr(s, i), reg(&c, "p"), reg(&c, "wg")));
    stmt_define(s, "int", "first_n", value_call(s, "slice_n", value_expr(s, i), reg(&c, "p"), reg(&c, "wg")));
    has_rows(&c) ? store_rows(&c) : store_each_line(&c);
    stmt_end(s);
}
