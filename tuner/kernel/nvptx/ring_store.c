/* How ring kernels store a tile's results, as statements. A tile of a GEMM inside D may go straight from
 * the accumulators, each run of a thread as one vector. All others, and those of contractions, pass
 * through shared memory in parts of some lines, each with one column of sums, so that adjacent threads
 * store adjacent rows of D: in vectors where these are aligned and inside D, and otherwise element by
 * element, where a thread has the same rows in all columns if the tile allows that. That lines are read when
 * all threads have written them, and written when all have read, is checked (lower/slices.h). */
#include "kernel/nvptx/ring_store.h"

#include "kernel/gpu/gather.h"
#include "kernel/lower/build.h"
#include "kernel/lower/slices.h"
#include "kernel/nvptx/ring_acc.h"

enum { VECTOR = 16, MOST = 8, NO_SLOT = 0 };

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    bool reads; /* C is read unless beta is 0: functions have a constant READS */
    RingResults r;
    int runs, parts, wide; /* runs of a thread; of the lines; elements of a vector of lines */
} Store;

int ring_store_wide(const GpuPlan *p)
{
    const int bytes = gpu_type_bytes(&p->out);
    return VECTOR / bytes < MOST ? VECTOR / bytes : MOST;
}

static Store store_of(const GpuPlan *p, Stmts *s, RingResults r)
{
    return (Store){.p = p,
                   .s = s,
                   .reads = gpu_reads_c(p),
                   .r = r,
                   .runs = p->n_acc / p->acc_run,
                   .parts = p->mt[1] / r.slots,
                   .wide = ring_store_wide(p)};
}

/* Opens a function that reads C or does not; the name of one that does as this function. */
static void open(const Store *c, Function f)
{
    if (c->reads) f.constant = "READS";
    stmt_function(c->s, f);
}
static const char *named(const Store *c, const char *name)
{
    return c->reads ? stmts_name(c->s, "%s<READS>", name) : name;
}

/* Single results: does a thread have the same rows in all columns? Then these are `step` lines apart. */
static bool has_rows(const Store *c)
{
    const int threads = c->p->n_threads, rows = c->p->mt[0];
    return !c->p->indices &&
           (rows % threads == 0 || (threads % rows == 0 && c->r.slots % (threads / rows) == 0));
}
/* Do instructions with a predicate load and store them? */
static bool has_predicates(const Store *c)
{
    return has_rows(c) && !gpu_adds(c->p) && gpu_type_bytes(&c->p->out) <= 8;
}
/* May vectors of the lines be stored? */
static bool has_wide(const Store *c)
{
    return c->wide > 1 && c->p->mt[0] % c->wide == 0 && !gpu_adds(c->p) && gpu_contiguous_results(c->p);
}
static bool has_straight(const Store *c)
{
    return !c->p->indices && !gpu_adds(c->p) && gpu_contiguous_results(c->p) && c->p->lsu == 1 &&
           gpu_type_bytes(&c->p->out) >= 4;
}

/* ---- types ---- */

/* Prints a struct of n elements, aligned to their size and at most to 16 bytes. */
static void vector(Stmts *s, const char *name, const char *type, int n, int bytes)
{
    stmt_struct(s, name, n * bytes < VECTOR ? n * bytes : VECTOR);
    stmt_array(s, type, "v", DIMS(n));
    stmt_end(s);
}

/* Prints struct @Out: where D and C are; rows and columns from the tile's first to the edge of D, and how
 * many of the first ones a neighbouring tile stores (EdgeType ShiftPtr); the tile's first row and column;
 * for contractions whether rows may be stored in vectors. */
static void types(const Store *c)
{
    static const StmtParam gemm[] = {{"@u64", "ldd"}, {"@u64", "ldc"}, {"int", "m_skip"}, {"int", "n_skip"}},
                           dims[] = {{"@Dims", "x"}, {"bool", "wide"}},
                           all[] = {{"@TD *", "d"},    {"const @TD *", "c"}, {"@Ops", "ops"},
                                    {"int", "m_left"}, {"int", "n_left"},    {"int", "m0"},
                                    {"int", "n0"}};
    Stmts *s = c->s;
    const StmtParam *more = c->p->indices ? dims : gemm;
    const int n_all = sizeof all / sizeof *all, n_more = c->p->indices ? 2 : 4,
              bytes = gpu_type_bytes(&c->p->out);
    stmt_struct(s, "@Out", 0);
    for (int i = 0; i < n_all; i++) stmt_var(s, all[i].type, all[i].name, NULL);
    for (int i = 0; i < n_more; i++) stmt_var(s, more[i].type, more[i].name, NULL);
    stmt_end(s);
    vector(s, "@Sums", "@TC", c->p->acc_run, gpu_type_bytes(&c->p->acc));
    if (has_wide(c)) vector(s, "@Wide", "@TD", c->wide, bytes);
    if (has_straight(c)) vector(s, "@Run", "@TD", c->p->acc_run, bytes);
}

/* Prints @line(): element i of the lines, added up over the LocalSplitU parts. */
static void line_function(const Store *c)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const Expr *i = expr_var(p, "i", NO_SLOT, 0, INT32_MAX), *one = expr_const(p, 1);
    stmt_function(
        s, (Function){.result = "@TC", .name = "@line", STMT_PARAMS({"const @TC *", "lines"}, {"int", "i"})});
    const Value *v = stmt_var(s, "@TC", "v", value_at(s, reg(c, "lines"), i));
    if (c->p->lsu > 1) {
        const Expr *group = stmt_loop(
            s, (Loop){.var = "s", .start = one, .limit = expr_const(p, c->p->lsu), .unroll = UNROLL_FULL});
        const Expr *at = expr_add(p, i, expr_mul_i(p, group, (int64_t)c->r.line * c->r.slots));
        stmt_set(s, v, value_call(s, "@add", v, value_at(s, reg(c, "lines"), at)));
        stmt_end(s);
    }
    stmt_return(s, v);
    stmt_end(s);
}

/* ---- places and operands of results ---- */

/* The element of D ('d') or C in row m and column n of the tile. Of contractions "at_d" and "at_c" have
 * the row. */
static const Value *place(const Store *c, char tensor, const Value *m, const Value *n)
{
    Stmts *s = c->s;
    const Value *base = value_named(s, "o.%c", tensor), *ld = value_named(s, "o.ld%c", tensor);
    const char *along_m = stmts_name(s, "@%c_at_m", tensor), *along_n = stmts_name(s, "@%c_at_n", tensor);
    if (!c->p->indices)
        return sum(c, sum(c, base, value_call(s, along_n, n, ld)), value_call(s, along_m, m, ld));
    const Value *column = value_call(s, along_n, reg(c, "o.x"), sum(c, reg(c, "o.n0"), n));
    return sum(c, sum(c, base, value_named(s, "at_%c", tensor)), column);
}

static Access vector_at(const Store *c, const char *type, int n, const Value *at)
{
    return access_at(SPACE_GLOBAL, type, n * gpu_type_bytes(&c->p->out), at, NULL);
}
static Access element_at(const Store *c, const Value *at)
{
    return access_element(SPACE_GLOBAL, "@TD", gpu_type_bytes(&c->p->out), at, NULL);
}

/* Declares what fused operations have for n rows of a tile and for a column. */
static void operands(const Store *c, int n)
{
    stmt_array(c->s, "@OfRow", "rows", DIMS(n));
    stmt_var(c->s, "@OfCol", "of_col", NULL);
}

/* Loads it for n rows from m on, as a vector where `may` and they are whole; to: number of the first in
 * "rows". */
static void load_rows(const Store *c, int n, const Value *m, const Value *may, int to)
{
    Stmts *s = c->s;
    if (!fused_any(&c->p->fused)) return;
    const Value *ops = reg(c, "o.ops"), *at = sum(c, reg(c, "o.m0"), m), *rows = reg(c, "rows");
    const Value *whole = value_call(s, stmts_name(s, "@rows_whole<%d>", n), ops, at, number(c, n));
    stmt_call(s, stmts_name(s, "@rows<%d>", n), ops, at, both(c, may, whole),
              to ? op(c, VALUE_ADDRESS, value_at_i(s, rows, to), NULL) : rows);
}

static void load_column(const Store *c, const Value *n)
{
    Stmts *s = c->s;
    if (!fused_any(&c->p->fused)) return;
    stmt_call(s, "@cols<1>", reg(c, "o.ops"), sum(c, reg(c, "o.n0"), n), reg(c, "false"),
              op(c, VALUE_ADDRESS, reg(c, "of_col"), NULL));
}

/* What the epilogue makes of a scaled sum. old: C's element, where C is read. */
static const Value *combined(const Store *c, const Value *x, const Value *old, const Value *with_c,
                             const Value *row)
{
    Stmts *s = c->s;
    return value_call(s, "@combined", reg(c, "o.ops"), x, old ? old : value_call_0(s, "@TD"), with_c, row,
                      reg(c, "of_col"));
}

static const Value *reads(const Store *c) { return reg(c, c->reads ? "READS" : "false"); }

/* to = x where C is read, and `in` where that is not NULL. */
static void set_read_if(const Store *c, const Value *in, const Value *to, const Value *x)
{
    stmt_if(c->s, in ? both(c, reads(c), in) : reads(c));
    stmt_set(c->s, to, x);
    stmt_end(c->s);
}
static void set_read(const Store *c, const Value *to, const Value *x) { set_read_if(c, NULL, to, x); }

/* Element e of the lines from row m of a line on. */
static const Value *of_line(const Store *c, const Value *m)
{
    return value_call(c->s, "@line", reg(c, "lines"), sum(c, times(c, reg(c, "slot"), c->r.line), m));
}

/* Declares vectors for D and, where it is read, for C. */
static void load_c(const Store *c, const char *type, int n, const Value *m, const Value *column)
{
    Stmts *s = c->s;
    stmt_var(s, type, "x", NULL);
    if (!c->reads) return;
    const Value *y = stmt_var(s, type, "y", NULL);
    set_read(c, y, value_load(s, vector_at(c, type, n, place(c, 'c', m, column))));
}

static const Value *element(const Store *c, const char *of, const Expr *e)
{
    return value_at(c->s, value_field(c->s, reg(c, of), "v"), e);
}

/* ---- straight from the accumulators ---- */

/* Prints @store_whole(), of a tile that lies inside D. */
static void store_whole(const Store *c)
{
    Stmts *s = c->s;
    const int run = c->p->acc_run;
    open(c, (Function){.name = "@store_whole", STMT_PARAMS({"const @Out &", "o"}, {"const @Acc &", "acc"})});
    const Value *r = value_expr(s, stmt_unrolled(s, "r", NO_SLOT, c->runs));
    const Value *m = stmt_define(s, "int", "m", value_call(s, "acc.row", r));
    const Value *n = stmt_define(s, "int", "n", value_call(s, "acc.col", r));
    operands(c, run);
    load_rows(c, run, m, NULL, 0);
    load_column(c, n);
    load_c(c, "@Run", run, m, n);
    const Expr *e = stmt_unrolled(s, "e", NO_SLOT, run);
    const Value *v = value_call(s, "@scaled", reg(c, "o.ops"), value_call(s, "acc.get", r, value_expr(s, e)));
    v = combined(c, v, c->reads ? element(c, "y", e) : NULL, reads(c), value_at(s, reg(c, "rows"), e));
    stmt_set(s, element(c, "x", e), value_call(s, "@from_c", v));
    stmt_end(s);
    stmt_store(s, vector_at(c, "@Run", run, place(c, 'd', m, n)), reg(c, "x"));
    stmt_end(s);
    stmt_end(s);
}

/* ---- from the lines ---- */

/* Opens a function that stores a part of the tile. */
static void part_function(const Store *c, const char *name)
{
    open(c, (Function){.name = name,
                       STMT_PARAMS({"const @Out &", "o"}, {"const @TC *", "lines"}, {"int", "part"},
                                   {"int", "tid"})});
}

/* Opens the loop over the vectors of n elements, of which a column has `each`. Declares its line and
 * column. */
static const Expr *vectors(const Store *c, int each, Unroll unroll)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const Expr *i = stmt_loop(s, (Loop){.var = "i",
                                        .type = "int",
                                        .start = expr_var(p, "tid", NO_SLOT, 0, c->p->n_threads - 1),
                                        .limit = expr_const(p, (int64_t)each * c->r.slots),
                                        .step = c->p->n_threads,
                                        .unroll = unroll});
    stmt_define(s, "int", "slot", value_expr(s, expr_div_i(p, i, each)));
    stmt_define(s, "int", "n", value_call(s, "@Acc::column", reg(c, "part"), reg(c, "slot")));
    return i;
}

/* Is a row or column ('m', 'n') to be stored? */
static const Value *inside(const Store *c, const Value *x, char side)
{
    const Value *is = op(c, VALUE_LT, x, value_named(c->s, "o.%c_left", side));
    if (c->p->indices) return is;
    return both(c, is, op(c, VALUE_GE, x, value_named(c->s, "o.%c_skip", side)));
}

/* The rows' places of contractions, which a thread keeps where it has the same rows in all columns. */
static void keep_rows(const Store *c, int n, bool same)
{
    Stmts *s = c->s;
    const Value *m = reg(c, "m"), *row = sum(c, reg(c, "o.m0"), m), *x = reg(c, "o.x");
    if (same) stmt_if(s, op(c, VALUE_EQ, reg(c, "i"), reg(c, "tid")));
    stmt_set(s, reg(c, "at_d"), value_call(s, "@d_at_m", x, row));
    if (c->reads) set_read(c, reg(c, "at_c"), value_call(s, "@c_at_m", x, row));
    load_rows(c, n, m, op(c, VALUE_LT, m, reg(c, "o.m_left")), 0);
    if (same) stmt_end(s);
}

/* Stores n results as a vector, or one. */
static void store_run(const Store *c, int n)
{
    Stmts *s = c->s;
    const Value *m = reg(c, "m"), *column = reg(c, "n"), *to = place(c, 'd', m, column);
    if (n == 1) {
        const Value *old = c->reads ? stmt_var(s, "@TD", "c", NULL) : NULL;
        if (old) set_read(c, old, value_load(s, element_at(c, place(c, 'c', m, column))));
        const Value *v = combined(c, of_line(c, m), old, reads(c), value_at_i(s, reg(c, "rows"), 0));
        stmt_call(s, "@put", to, v);
        return;
    }
    load_c(c, "@Wide", n, m, column);
    const Expr *e = stmt_unrolled(s, "e", NO_SLOT, n);
    const Value *v = combined(c, of_line(c, sum(c, m, value_expr(s, e))),
                              c->reads ? element(c, "y", e) : NULL, reads(c), value_at(s, reg(c, "rows"), e));
    stmt_set(s, element(c, "x", e), value_call(s, "@from_c", v));
    stmt_end(s);
    stmt_store(s, vector_at(c, "@Wide", n, to), reg(c, "x"));
}

/* Prints @store_wide(), vectors of n results, or with n 1 @store_part(). Vectors of a GEMM are inside D. */
static void store_runs(const Store *c, int n)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const bool dims = c->p->indices, wide = n > 1;
    const int each = c->p->mt[0] / n;
    const bool same = c->p->n_threads % each == 0 && (dims || wide); /* rows of a thread in all columns */
    part_function(c, wide ? "@store_wide" : "@store_part");
    operands(c, n);
    if (dims) stmt_var(s, "@u64", "at_d", number(c, 0));
    if (dims && c->reads) stmt_var(s, "@u64", "at_c", number(c, 0));
    const Expr *tid = expr_var(p, "tid", NO_SLOT, 0, c->p->n_threads - 1);
    if (same && !dims) load_rows(c, n, value_expr(s, expr_mul_i(p, expr_mod_i(p, tid, each), n)), NULL, 0);
    const Expr *i = vectors(c, each, dims ? UNROLL_2 : wide ? UNROLL_NONE : UNROLL_4);
    const Value *m = stmt_define(s, "int", "m", value_expr(s, expr_mul_i(p, expr_mod_i(p, i, each), n)));
    if (dims) keep_rows(c, n, same);
    const bool guards = dims || !wide;
    if (guards) stmt_if(s, both(c, inside(c, m, 'm'), inside(c, reg(c, "n"), 'n')));
    if (!dims && !same) load_rows(c, n, m, NULL, 0);
    load_column(c, reg(c, "n"));
    store_run(c, n);
    if (guards) stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

/* ---- single results of the same rows ---- */

/* Declares what the thread's row m has for all columns; `left` and `skip` as in @Out, counted from the
 * thread's first column. */
static void row_begin(const Store *c, const Value *first)
{
    Stmts *s = c->s;
    const Value *m = reg(c, "m"), *zero = number(c, 0);
    const Value *in = stmt_define(s, "bool", "in_m", inside(c, m, 'm'));
    operands(c, 1);
    if (fused_any(&c->p->fused)) {
        stmt_if(s, in);
        load_rows(c, 1, m, NULL, 0);
        stmt_end(s);
    }
    const Value *left = value_select(s, in, reg(c, "o.n_left"), zero);
    stmt_define(s, "int", "left", op(c, VALUE_SUB, left, first));
    stmt_define(s, "int", "skip", op(c, VALUE_SUB, reg(c, "o.n_skip"), first));
    for (int i = 0; i < 1 + c->reads; i++) {
        const char tensor = i ? 'c' : 'd';
        const Value *at = place(c, tensor, m, first);
        at = stmt_var(s, i ? "const @TD *" : "@TD *", i ? "c" : "d", at);
        if (has_predicates(c)) stmt_call(s, "@keep_address", at);
    }
}

/* Stores the thread's result in line `slot` and column n, counted from the thread's first column. The result
 * is computed in any case, so that the compiler needs no branch. */
static void row_store(const Store *c, const Value *first)
{
    Stmts *s = c->s;
    const Value *n = reg(c, "n"), *old = NULL;
    const Value *in = op(c, VALUE_LT, n, reg(c, "left"));
    in = stmt_define(s, "bool", "in", op(c, VALUE_BOTH, in, op(c, VALUE_GE, n, reg(c, "skip"))));
    if (c->reads) {
        const Value *at = sum(c, reg(c, "c"), value_call(s, "@c_at_n", n, reg(c, "o.ldc")));
        old = stmt_var(s, "@TD", "old", value_call_0(s, "@TD"));
        if (has_predicates(c))
            set_read(c, old, value_call(s, "@load_if", in, at));
        else
            set_read_if(c, in, old, value_load(s, element_at(c, at)));
    }
    if (fused_any(&c->p->fused)) {
        stmt_if(s, in);
        load_column(c, sum(c, n, first));
        stmt_end(s);
    }
    const Value *v = combined(c, of_line(c, reg(c, "m")), old, reads(c), value_at_i(s, reg(c, "rows"), 0));
    v = stmt_define(s, "@TC", "v", v);
    const Value *to = sum(c, reg(c, "d"), value_call(s, "@d_at_n", n, reg(c, "o.ldd")));
    if (has_predicates(c)) {
        stmt_call(s, "@store_if", in, to, value_call(s, "@from_c", v));
        return;
    }
    stmt_if(s, in);
    stmt_call(s, "@put", to, v);
    stmt_end(s);
}

/* Prints @store_rows(). Threads with the same row begin in adjacent columns. Where enough adjacent lines hold
 * adjacent columns, all places in D are a sum of the thread's first one and a multiple of the leading
 * dimension that the compiler knows. */
static void store_rows(const Store *c)
{
    enum { FEW = 4 };
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const int rows = c->p->mt[0], threads = c->p->n_threads, step = threads > rows ? threads / rows : 1;
    const int adjacent = ring_acc_adjacent(c->p), slots = c->r.slots;
    const bool known = adjacent % step == 0 && slots % adjacent == 0;
    const int group = known ? adjacent : step, groups = slots / group;
    const Expr *tid = expr_var(p, "tid", NO_SLOT, 0, threads - 1);
    part_function(c, "@store_rows");
    const Value *first = stmt_define(s, "int", "first", value_expr(s, expr_div_i(p, tid, rows)));
    const Expr *j = stmt_unrolled(s, "j", NO_SLOT, rows > threads ? rows / threads : 1);
    const Expr *m = expr_add(p, expr_mod_i(p, tid, rows), expr_mul_i(p, j, threads));
    stmt_define(s, "int", "m", value_expr(s, m));
    row_begin(c, first);
    const Expr *g = stmt_loop(s, (Loop){.var = "g",
                                        .type = "int",
                                        .start = expr_const(p, 0),
                                        .limit = expr_const(p, groups),
                                        .unroll = groups <= FEW ? UNROLL_FULL
                                                  : known       ? UNROLL_NONE
                                                                : UNROLL_4});
    const Value *line = value_expr(s, expr_mul_i(p, g, group));
    if (!known) line = sum(c, line, first);
    const Value *column = value_call(s, "@Acc::column", reg(c, "part"), line);
    if (!known) column = op(c, VALUE_SUB, column, first);
    stmt_define(s, "int", "column", column);
    const Expr *i = stmt_unrolled(s, "i", NO_SLOT, group / step), *at = expr_mul_i(p, i, step);
    stmt_define(s, "int", "slot", sum(c, value_expr(s, expr_add(p, expr_mul_i(p, g, group), at)), first));
    stmt_define(s, "int", "n", sum(c, reg(c, "column"), value_expr(s, at)));
    row_store(c, first);
    for (int k = 0; k < 4; k++) stmt_end(s);
}

/* ---- the tile ---- */

/* All threads write their runs of a part to the lines. */
static void collect(const Store *c, const Value *part)
{
    Stmts *s = c->s;
    const int bytes = c->p->acc_run * gpu_type_bytes(&c->p->acc);
    const Value *r = value_expr(s, stmt_unrolled(s, "r", NO_SLOT + 1, c->runs));
    stmt_if(s, op(c, VALUE_EQ, value_call(s, "acc.part", r), part));
    const Value *v = stmt_var(s, "@Sums", "v", NULL);
    const Expr *e = stmt_unrolled(s, "e", NO_SLOT + 2, c->p->acc_run);
    stmt_set(s, value_at(s, value_field(s, v, "v"), e),
             value_call(s, "@scaled", reg(c, "o.ops"), value_call(s, "acc.get", r, value_expr(s, e))));
    stmt_end(s);
    const Value *at = times(c, value_call(s, "acc.slot", r), c->r.line);
    at = sum(c, sum(c, reg(c, "own"), at), value_call(s, "acc.row", r));
    stmt_store(s, access_at(SPACE_LOCAL, "@Sums", bytes, at, NULL), v);
    stmt_end(s);
    stmt_end(s);
}

/* Prints @store_lines(). */
static Err store_lines(const Store *c)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const char *name = "@store_lines";
    open(c, (Function){.name = name,
                       STMT_PARAMS({"const @Out &", "o"}, {"const @Acc &", "acc"}, {"@TC *", "lines"},
                                   {"bool", "wide"}, {"int", "tid"})});
    const Expr *group =
        expr_div_i(p, expr_var(p, "tid", NO_SLOT, 0, c->p->n_threads - 1), c->p->n_threads / c->p->lsu);
    const Expr *behind = expr_mul_i(p, group, (int64_t)c->r.line * c->r.slots);
    stmt_define(s, "@TC *const", "own",
                expr_is(behind, 0) ? reg(c, "lines") : sum(c, reg(c, "lines"), value_expr(s, behind)));
    const Value *part = value_expr(s, stmt_unrolled(s, "part", NO_SLOT, c->parts));
    stmt_barrier(s);
    collect(c, part);
    stmt_barrier(s);
    const Value *const x[] = {reg(c, "o"), reg(c, "lines"), part, reg(c, "tid")};
    if (has_wide(c)) {
        stmt_if(s, reg(c, "wide"));
        stmt_do(s, value_call_n(s, named(c, "@store_wide"), 4, x));
        stmt_else(s);
    }
    stmt_do(s, value_call_n(s, named(c, has_rows(c) ? "@store_rows" : "@store_part"), 4, x));
    if (has_wide(c)) stmt_end(s);
    stmt_end(s);
    stmt_end(s);
    const Slices of = {.function = name,
                       .thread = "tid",
                       .memory = "lines",
                       .n_buffers = 1,
                       .read = "@line",
                       .group = "group",
                       .phases = "phases"};
    return slices_verify(s, &of);
}

/* Prints @store_as(), which chooses the functions that store a tile. */
static void store_as(const Store *c)
{
    Stmts *s = c->s;
    const int bytes = gpu_type_bytes(&c->p->out), run = c->p->acc_run;
    const Value *o = reg(c, "o"), *acc = reg(c, "acc"), *lines = value_cast(s, "@TC *", reg(c, "lds")),
                *zero = number(c, 0);
    const Value *wide = reg(c, c->p->indices && has_wide(c) ? "o.wide" : "false"), *straight = NULL;
    open(c, (Function){.name = "@store_as",
                       STMT_PARAMS({"const @Out &", "o"}, {"const @Acc &", "acc"}, {"char *", "lds"},
                                   {"int", "tid"})});
    if (!c->p->indices && !gpu_adds(c->p) && gpu_contiguous_results(c->p)) {
        const Value *bits = op(c, VALUE_OR, value_cast(s, "@u64", reg(c, "o.d")),
                               product(c, reg(c, "o.ldd"), number(c, bytes)));
        const Value *of_c = op(c, VALUE_OR, value_cast(s, "@u64", reg(c, "o.c")),
                               product(c, reg(c, "o.ldc"), number(c, bytes)));
        if (c->reads) bits = op(c, VALUE_OR, bits, value_select(s, reads(c), of_c, zero));
        bits = stmt_define(s, "@u64", "bits", bits);
        const Value *no_skip =
            op(c, VALUE_NOT, op(c, VALUE_OR, reg(c, "o.m_skip"), reg(c, "o.n_skip")), NULL);
        const Value *rows = op(c, VALUE_GE, reg(c, "o.m_left"), number(c, c->p->mt[0]));
        const Value *columns = op(c, VALUE_GE, reg(c, "o.n_left"), number(c, c->p->mt[1]));
        const Value *whole = stmt_define(s, "bool", "whole", both(c, both(c, rows, columns), no_skip));
        const int sizes[] = {c->wide * bytes, run * bytes < VECTOR ? run * bytes : VECTOR};
        const Value *aligned[2];
        for (int i = 0; i < 2; i++)
            aligned[i] = both(c, whole, op(c, VALUE_EQ, op(c, VALUE_MOD, bits, number(c, sizes[i])), zero));
        if (has_wide(c)) wide = aligned[0];
        if (has_straight(c)) straight = aligned[1];
    }
    if (straight) {
        stmt_if(s, straight);
        stmt_call(s, named(c, "@store_whole"), o, acc);
        stmt_else(s);
    }
    stmt_call(s, named(c, "@store_lines"), o, acc, lines, wide, reg(c, "tid"));
    if (straight) stmt_end(s);
    stmt_end(s);
}

static Err all(const Store *c)
{
    if (has_straight(c)) store_whole(c);
    if (has_wide(c)) store_runs(c, c->wide);
    has_rows(c) ? store_rows(c) : store_runs(c, 1);
    TRY(store_lines(c));
    store_as(c);
    return ERR_OK;
}

Err ring_store(const GpuPlan *p, RingResults r, Stmts *s)
{
    const Store c = store_of(p, s, r);
    const Value *const x[] = {value_reg(s, "o"), value_reg(s, "acc"), value_reg(s, "lds"),
                              value_reg(s, "tid")};
    gpu_heading(s, "---- results ----");
    if (has_predicates(&c)) stmt_file(s, "nvptx/predicated.cuh");
    types(&c);
    line_function(&c);
    TRY(all(&c));
    stmt_function(s, (Function){.name = "@store",
                                STMT_PARAMS({"const @Out &", "o"}, {"const @Acc &", "acc"}, {"char *", "lds"},
                                            {"int", "tid"})});
    if (c.reads) {
        stmt_if(s, value_op(s, VALUE_NOT, value_call(s, "@is_zero", value_reg(s, "o.ops.beta")), NULL));
        stmt_do(s, value_call_n(s, "@store_as<1>", 4, x));
        stmt_else(s);
    }
    stmt_do(s, value_call_n(s, c.reads ? "@store_as<0>" : "@store_as", 4, x));
    if (c.reads) stmt_end(s);
    stmt_end(s);
    return ERR_OK;
}

void ring_store_elements(const GpuPlan *p, Stmts *s)
{
    const Expr *i = expr_var(&s->pool, "i", NO_SLOT, 0, p->n_acc - 1);
    const Value *r = value_expr(s, expr_div_i(&s->pool, i, p->acc_run)), *x = value_reg(s, "x");
    const Value *e = value_expr(s, expr_mod_i(&s->pool, i, p->acc_run));
    stmt_function(
        s,
        (Function){.result = "@TC", .name = "@acc_get", STMT_PARAMS({"const @Acc &", "acc"}, {"int", "i"})});
    stmt_return(s, value_call(s, "acc.get", r, e));
    stmt_end(s);
    stmt_function(s,
                  (Function){.name = "@acc_set", STMT_PARAMS({"@Acc &", "acc"}, {"int", "i"}, {"@TC", "x"})});
    stmt_call(s, "acc.set", r, e, x);
    stmt_end(s);
}
