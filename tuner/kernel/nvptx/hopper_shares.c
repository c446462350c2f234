/* GlobalSplitU in one launch: all parts of a tile end at about the same time. A warp group waits a limited
 * time for the other parts of the tile, adds its share of the tile over all parts, in the order of the parts,
 * and stores it. A part whose wait times out leaves its share to the part that arrives last.
 *
 * With SelfResetCounters the counter and what is left are one word of 64 bits (text/hopper_counts.cuh), which
 * the last part that is through with it resets, and all loads of a share are in flight at once. */
#include "kernel/nvptx/hopper_join.h"

/* ---- with marks ---- */

/* Loads run `run` of a batch of parts, and adds it to sum. */
static void add_batch(const Join *j)
{
    Stmts *s = j->s;
    ExprPool *p = j->pool;
    const Value *n = reg(j, "parts.n"), *first = reg(j, "first");
    const Value *v = stmt_array(s, "u32", "v", DIMS(SHARE_LOADS, RUN));
    const Expr *i = stmt_unrolled(s, "i", ELEMENT, SHARE_LOADS);
    const Value *part = op(j, VALUE_ADD, first, value_expr(s, i)), *is_part = op(j, VALUE_LT, part, n);
    stmt_if(s, is_part);
    stmt_call(s, "get_sums", run_at(j, sums_of(j, part), expr_var(p, "run", PART, 0, j->runs - 1)),
              value_at(s, v, i));
    stmt_end(s);
    stmt_end(s);
    i = stmt_unrolled(s, "i", ELEMENT, SHARE_LOADS);
    const Expr *e = stmt_unrolled(s, "e", ELEMENT + 1, RUN);
    stmt_if(s, is_part);
    const Value *x = join_loaded(j, i, e), *sum = value_at(s, reg(j, "sum"), e);
    stmt_set(s, sum, value_select(s, part, op(j, VALUE_ADD, sum, x), x));
    for (int k = 0; k < 3; k++) stmt_end(s);
}

/* Stores a run of sums, which are those of one row of the instruction and of the next one. */
static void store_run(const Join *j)
{
    Stmts *s = j->s;
    ExprPool *p = j->pool;
    const bool swap = j->p->matrix.swap;
    const Expr *run = expr_var(p, "run", PART, 0, j->runs - 1),
               *w = expr_var(p, "w", GROUP, 0, j->p->groups.consumers - 1);
    const Expr *e = stmt_unrolled(s, "e", ELEMENT, RUN);
    const Expr *acc = expr_add(p, expr_mul_i(p, expr_mod_i(p, run, j->n_acc / RUN), RUN), e);
    const MatrixAccLane own = nvptx_acc_lane(p, j->p, j->in, j->thread, acc);
    const Expr *first =
        expr_add(p, expr_mul_i(p, w, j->runs * RUN / j->n_acc), expr_div_i(p, run, j->n_acc / RUN));
    const Expr *row = expr_add(p, expr_mul_i(p, first, WGMMA_ROWS), own.row);
    const Value *m =
        stmt_define(s, "int", "m", op(j, VALUE_ADD, reg(j, "p.m"), value_expr(s, swap ? own.col : row)));
    const Value *n =
        stmt_define(s, "int", "n", op(j, VALUE_ADD, reg(j, "p.n"), value_expr(s, swap ? row : own.col)));
    const Value *in_m = op(j, VALUE_LT, m, value_cast(s, "int", reg(j, "args.m")));
    const Value *in_n = op(j, VALUE_LT, n, value_cast(s, "int", reg(j, "args.n")));
    stmt_if(s, op(j, VALUE_BOTH, in_m, in_n));
    stmt_call(s, "store_one", value_at(s, reg(j, "sum"), e), reg(j, "args"), reg(j, "ops"), reg(j, "reads"),
              m, n, reg(j, "p.batch"));
    stmt_end(s);
    stmt_end(s);
}

/* Prints store_share(), which adds up and stores a share of the tile: every n-th run. */
static void store_share(const Join *j)
{
    Stmts *s = j->s;
    ExprPool *p = j->pool;
    stmt_function(s, (Function){.name = "store_share",
                                STMT_PARAMS({"const PartialSums &", "parts"}, {"u32", "share"},
                                            {"const Args &", "args"}, {"const g_Ops &", "ops"},
                                            {"const WorkTile &", "p"}, {"u32", "w"}, {"u32", "thread"})});
    hopper_reads(j->p, s);
    const Expr *n = expr_var(p, "parts.n", PART, 0, UINT32_MAX);
    stmt_loop(s, (Loop){.var = "run",
                        .type = "u32",
                        .start = expr_var(p, "share", PART, 0, UINT32_MAX),
                        .limit = expr_const(p, j->runs),
                        .step_by = n});
    stmt_array(s, "g_TC", "sum", DIMS(RUN));
    stmt_loop(
        s, (Loop){.var = "first", .type = "u32", .start = expr_const(p, 0), .limit = n, .step = SHARE_LOADS});
    add_batch(j);
    stmt_end(s);
    store_run(j);
    stmt_end(s);
    stmt_end(s);
}

static void store(const Join *j, const Value *share)
{
    Stmts *s = j->s;
    stmt_call(s, "store_share", reg(j, "parts"), share, reg(j, "args"), reg(j, "ops"), reg(j, "p"),
              reg(j, "w"), reg(j, "thread"));
}

/* The first thread: is this the last part (`last`), may it store its share (`all`)? */
static void arrive(const Join *j)
{
    Stmts *s = j->s;
    const Value *n = reg(j, "parts.n"), *flags = reg(j, "parts.flags"), *last = reg(j, "last"),
                *all = reg(j, "all");
    const Value *waits = value_call(s, "wait_count", flags, n), *part = reg(j, "p.part");
    stmt_if(s, first_thread(j));
    stmt_set(s, last, op(j, VALUE_EQ, value_call(s, "count_in", flags), op(j, VALUE_SUB, n, number(j, 1))));
    stmt_set(s, all, op(j, VALUE_EITHER, last, waits));
    stmt_if(s, op(j, VALUE_NOT, all, NULL));
    stmt_comment(s, "leave the share to the last part, unless that has just arrived");
    stmt_do(s, change_mark(j, part, 0, 2));
    stmt_set(s, all, op(j, VALUE_BOTH, waits, change_mark(j, part, 2, 1)));
    stmt_end(s);
    stmt_end(s);
}

/* The last part stores the shares that are left to it. */
static void store_left(const Join *j)
{
    Stmts *s = j->s;
    ExprPool *p = j->pool;
    const Expr *n = expr_var(p, "parts.n", PART, 0, UINT32_MAX), *zero = expr_const(p, 0);
    const Value *left = stmt_var(s, "bool", "left", number(j, 0));
    const Value *q = reg(j, "q");
    stmt_loop(s, (Loop){.var = "q", .type = "u32", .start = j->thread, .limit = n, .step = WGMMA_LANES});
    const Value *is = op(j, VALUE_EQ, value_call(s, "flag_now", mark_of(j, q)), number(j, 2));
    stmt_set(s, left, op(j, VALUE_EITHER, left, is));
    stmt_end(s);
    stmt_if(s, any(j, left));
    stmt_loop(s, (Loop){.var = "q", .type = "u32", .start = zero, .limit = n});
    const Value *takes = op(j, VALUE_BOTH, first_thread(j), change_mark(j, q, 2, 1));
    stmt_if(s, any(j, takes));
    stmt_do(s, value_call_0(s, "fence_all"));
    store(j, q);
    for (int i = 0; i < 3; i++) stmt_end(s);
}

/* Prints add_sums(). */
static void add_sums(const Join *j)
{
    Stmts *s = j->s;
    join_open(j, NULL, "add_sums");
    stmt_call(s, "leave_sums", reg(j, "acc"), reg(j, "parts"), reg(j, "p.part"));
    stmt_call(s, "group_sync", reg(j, "bar"));
    const Value *last = stmt_var(s, "bool", "last", number(j, 0)),
                *all = stmt_var(s, "bool", "all", number(j, 0));
    arrive(j);
    stmt_set(s, all, any(j, all));
    stmt_set(s, last, any(j, last));
    stmt_do(s, value_call_0(s, "fence_all"));
    stmt_if(s, all);
    store(j, reg(j, "p.part"));
    stmt_end(s);
    stmt_if(s, last);
    store_left(j);
    stmt_end(s);
    stmt_end(s);
}

/* ---- with counters that reset themselves ---- */

/* Loads the same run of all parts. */
static void load_run(const Join *j, const Expr *run, const Value *v)
{
    Stmts *s = j->s;
    const Expr *q = stmt_unrolled(s, "q", ELEMENT + 1, j->p->walk.split);
    stmt_if(s, op(j, VALUE_LT, value_expr(s, q), reg(j, "parts.n")));
    stmt_call(s, "get_sums", run_at(j, sums_of(j, value_expr(s, q)), run), value_at(s, v, q));
    stmt_end(s);
    stmt_end(s);
}

/* Adds the run's parts up, in their order, to `sum`. */
static void add_run(const Join *j, const Value *v)
{
    Stmts *s = j->s;
    stmt_array(s, "g_TC", "sum", DIMS(RUN));
    const Expr *q = stmt_unrolled(s, "q", ELEMENT + 1, j->p->walk.split);
    const Expr *e = stmt_unrolled(s, "e", ELEMENT + 2, RUN);
    stmt_if(s, op(j, VALUE_LT, value_expr(s, q), reg(j, "parts.n")));
    const Value *x = stmt_var(s, "g_TC", "x", NULL), *sum = value_at(s, reg(j, "sum"), e);
    stmt_call(s, "from_word", value_at(s, value_at(s, v, q), e), x);
    stmt_set(s, sum, value_select(s, value_expr(s, q), op(j, VALUE_ADD, sum, x), x));
    for (int i = 0; i < 3; i++) stmt_end(s);
}

/* Prints store_share(), which adds up and stores a share of the tile: every n-th run. The loads of several
 * runs are in flight at once. */
static void store_runs(const Join *j)
{
    Stmts *s = j->s;
    ExprPool *p = j->pool;
    const int n = j->p->walk.split, own = (j->runs + n - 1) / n;
    int batch = SHARE_RUNS / n > 1 ? SHARE_RUNS / n : 1;
    if (batch > own) batch = own;
    stmt_function(s, (Function){.name = "store_share",
                                STMT_PARAMS({"const PartialSums &", "parts"}, {"u32", "share"},
                                            {"const Args &", "args"}, {"const g_Ops &", "ops"},
                                            {"const WorkTile &", "p"}, {"u32", "w"}, {"u32", "thread"})});
    hopper_reads(j->p, s);
    const Expr *share = expr_var(p, "share", PART, 0, n - 1);
    const Expr *first = stmt_loop(s, (Loop){.var = "first",
                                            .start = expr_const(p, 0),
                                            .limit = expr_const(p, own),
                                            .step = batch,
                                            .unroll = UNROLL_FULL});
    const Value *v = stmt_array(s, "u32", "v", DIMS(batch, n, RUN));
    for (int stores = 0; stores < 2; stores++) {
        const Expr *i = stmt_unrolled(s, "i", ELEMENT, batch);
        const Expr *run = stmt_let(s, "run", expr_add(p, share, expr_mul_i(p, expr_add(p, first, i), n)));
        stmt_if(s, op(j, VALUE_LT, value_expr(s, run), number(j, j->runs)));
        if (stores) {
            add_run(j, value_at(s, v, i));
            store_run(j);
        } else {
            load_run(j, run, value_at(s, v, i));
        }
        stmt_end(s);
        stmt_end(s);
    }
    stmt_end(s);
    stmt_end(s);
}

/* The first thread: what the word was, may this part store its share (`all`)? */
static void count_parts(const Join *j)
{
    Stmts *s = j->s;
    const Value *n = reg(j, "parts.n"), *word = reg(j, "parts.word"), *all = reg(j, "all"),
                *left = reg(j, "left"), *gone = reg(j, "gone"), *waits = reg(j, "waits");
    const Value *own = op(j, VALUE_SHL, number(j, 1), reg(j, "p.part"));
    stmt_if(s, first_thread(j));
    stmt_call(s, "word_begin", word, reg(j, "before"));
    stmt_set(s, reg(j, "before"), value_call(s, "word_count", word));
    stmt_set(s, waits, value_call(s, "word_wait", word, n));
    stmt_set(s, all, waits);
    stmt_if(s, op(j, VALUE_NOT, waits, NULL));
    stmt_comment(s, "leave the share to the last part, unless that has just come");
    stmt_set(s, gone, value_call(s, "word_leave", word, own));
    stmt_set(s, all, value_call(s, "all_counted", gone, n));
    stmt_do(s, value_call_0(s, "fence_all"));
    stmt_end(s);
    stmt_set(s, left, value_call(s, "shares_left", reg(j, "before"), n));
    stmt_end(s);
}

/* Prints add_sums(). */
static void add_counted_sums(const Join *j)
{
    Stmts *s = j->s;
    const Value *n = reg(j, "parts.n"), *word = reg(j, "parts.word"), *zero = number(j, 0);
    join_open(j, NULL, "add_sums");
    const Value *before = stmt_var(s, "u64", "before", zero), *gone = stmt_var(s, "u64", "gone", zero);
    stmt_if(s, first_thread(j));
    stmt_set(s, before, value_call(s, "word_now", word));
    stmt_end(s);
    stmt_call(s, "leave_sums", reg(j, "acc"), reg(j, "parts"), reg(j, "p.part"));
    stmt_call(s, "group_sync", reg(j, "bar"));
    const Value *all = stmt_var(s, "bool", "all", zero), *left = stmt_var(s, "u32", "left", zero);
    const Value *waits = stmt_var(s, "bool", "waits", zero);
    count_parts(j);
    stmt_set(s, all, any(j, all));
    stmt_if(s, waits);
    stmt_set(s, gone, value_call(s, "word_leave", word, zero));
    stmt_end(s);
    stmt_if(s, all);
    store(j, reg(j, "p.part"));
    stmt_end(s);
    stmt_if(s, any(j, op(j, VALUE_NE, left, zero)));
    stmt_loop(s, (Loop){.var = "q",
                        .type = "u32",
                        .start = expr_const(j->pool, 0),
                        .limit = expr_var(j->pool, "parts.n", PART, 0, UINT32_MAX)});
    stmt_if(s, any(j, op(j, VALUE_AND, op(j, VALUE_SHR, left, reg(j, "q")), number(j, 1))));
    store(j, reg(j, "q"));
    for (int i = 0; i < 3; i++) stmt_end(s);
    stmt_if(s, op(j, VALUE_BOTH, first_thread(j), value_call(s, "others_gone", gone, n)));
    stmt_call(s, "word_reset", word);
    stmt_end(s);
    stmt_end(s);
}

void join_shares(const Join *j)
{
    if (j->p->groups.self_reset) {
        store_runs(j);
        add_counted_sums(j);
    } else {
        store_share(j);
        add_sums(j);
    }
}
