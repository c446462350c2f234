/* Parts of K of wgmma kernels that add their sums up through the workspace, as statements. Each warp group
 * writes its sums in register order, 16 bytes a thread. Nobody depends on another work-group being
 * resident.
 *
 * * GlobalSplitU (add_sums): all parts of a tile end at about the same time. A warp group waits a limited
 * time for the other parts of the tile, adds its share of the tile over all parts, in the order of the
 * parts, and stores it. A part whose wait times out leaves its share to the part that arrives last.
 *
 * * With SelfResetCounters the counter and what is left are one word of 64 bits (hopper_counts.cuh), which the
 * last part that is through with it resets. All loads of a share are in flight at once.
 *
 * * StreamK (join_sums): the parts of a tile end at different times and each work-group has other tiles to
 * go on with, so that none waits: the part that arrives last adds up all parts and stores the tile. Two
 * parts have the same sum in either order; more are added in their order, so that results do not depend on
 * timing.
 *
 * * What is read when, and that each share is stored once, is checked (lower/shares.h). */
#include "kernel/lower/shares.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/lanes.h"

enum {
    RUN = 4,         /* sums that a thread writes at once, 16 bytes */
    FLAGS = 8,       /* of a tile's part: a counter for each warp group, then a mark for each */
    MARKS = 4,       /* the first mark: 1: this part's share has been taken; 2: it is left to the last part */
    SHARE_LOADS = 8, /* loads in flight while a share is added up */
    JOIN_LOADS = 16, /* the same of whole parts */
    SHARE_RUNS = 16, /* the same of a share whose runs are loaded together */
    THREAD = 0,      /* slots of variables */
    GROUP,
    PART,
    ELEMENT
};

typedef struct {
    const GpuPlan *p;
    const MatrixInst *in;
    Stmts *s;
    ExprPool *pool;
    int n_acc, runs; /* accumulators of an instruction; runs of a thread */
    const Expr *thread;
} Join;

static const Value *reg(const Join *j, const char *name) { return value_reg(j->s, name); }
static const Value *op(const Join *j, ValueOp o, const Value *x, const Value *y)
{
    return value_op(j->s, o, x, y);
}
static const Value *number(const Join *j, int64_t n) { return value_int(j->s, n); }
static const Value *first_thread(const Join *j) { return op(j, VALUE_EQ, reg(j, "thread"), number(j, 0)); }
static const Value *any(const Join *j, const Value *x)
{
    return value_call(j->s, "any_of_group", reg(j, "bar"), x);
}
static const Value *sums_of(const Join *j, const Value *part)
{
    return value_call(j->s, "sums_of", reg(j, "parts"), part);
}
static const Value *mark_of(const Join *j, const Value *part)
{
    return value_call(j->s, "mark_of", reg(j, "parts"), part);
}
static const Value *change_mark(const Join *j, const Value *part, int from, int to)
{
    return value_call(j->s, "change_flag", mark_of(j, part), number(j, from), number(j, to));
}
/* A run of sums lies behind the same one of the thread before. */
static const Value *run_at(const Join *j, const Value *first, const Expr *run)
{
    return op(j, VALUE_ADD, first, value_expr(j->s, expr_mul_i(j->pool, run, WGMMA_LANES * RUN)));
}
static const Value *acc_at(const Join *j, const Expr *i)
{
    const Value *row = value_at(j->s, reg(j, "acc"), expr_div_i(j->pool, i, j->n_acc));
    return value_at(j->s, row, expr_mod_i(j->pool, i, j->n_acc));
}

/* ---- the workspace of a tile ---- */

/* Prints struct PartialSums: sums of part 0 at this thread's first run, and its flags; how far behind them
 * those of part 0 would be if it had a regular slot, and how far those of parts are apart; the number of
 * parts. */
static void partial_sums(const Join *j)
{
    static const StmtParam marked[] = {{"g_TC *", "sums"}, {"u64", "next"},      {"u64", "step"},
                                       {"u32 *", "flags"}, {"u64", "next_flag"}, {"u64", "flag_step"},
                                       {"u32", "n"},       {NULL, NULL}};
    static const StmtParam counted[] = {{"g_TC *", "sums"}, {"u64", "next"}, {"u64", "step"},
                                        {"u64 *", "word"},  {"u32", "n"},    {NULL, NULL}};
    stmt_struct(j->s, "PartialSums", 0);
    for (const StmtParam *f = j->p->groups.self_reset ? counted : marked; f->name; f++)
        stmt_var(j->s, f->type, f->name, NULL);
    stmt_end(j->s);
}

/* Prints sums_of_tile(), for warp group w of work-group `own` of those that share tiles. */
static void sums_of_tile(const Join *j)
{
    Stmts *s = j->s;
    ExprPool *p = j->pool;
    const int sharing = hopper_sharing(j->p), stride = sharing * (j->p->walk.stream_k ? 2 : 1);
    const int64_t tile = (int64_t)j->p->mt[0] * j->p->mt[1];
    const Expr *w = expr_var(p, "w", GROUP, 0, j->p->groups.consumers - 1);
    const Expr *own = expr_add(p, expr_mul_i(p, w, (int64_t)j->runs * WGMMA_LANES), j->thread);
    const Value *tile_of = number(j, tile), *flags = number(j, FLAGS);
    stmt_function(s, (Function){.result = "PartialSums",
                                .name = "sums_of_tile",
                                STMT_PARAMS({"const Args &", "args"}, {"const WorkTile &", "p"},
                                            {"u32", "rank"}, {"u32", "w"}, {"u32", "thread"})});
    const Expr *in_cluster =
        expr_mod_i(p, expr_var(p, "rank", PART, 0, sharing * hopper_members(j->p) - 1), sharing);
    const Value *at[2], *field[] = {reg(j, "p.slot"), reg(j, "p.next_slot")};
    for (int i = 0; i < 2; i++)
        at[i] =
            stmt_define(s, "u64", i ? "next" : "slot",
                        op(j, VALUE_ADD, op(j, VALUE_MUL, value_cast(s, "u64", field[i]), number(j, sharing)),
                           value_expr(s, in_cluster)));
    const Value *between = op(j, VALUE_SUB, at[1], at[0]);
    const Value *sums =
        op(j, VALUE_ADD, op(j, VALUE_ADD, reg(j, "args.sums"), op(j, VALUE_MUL, at[0], tile_of)),
           value_expr(s, expr_mul_i(p, own, RUN)));
    const Value *of_tile = op(j, VALUE_ADD, reg(j, "args.flags"), op(j, VALUE_MUL, at[0], flags));
    if (j->p->groups.self_reset) {
        const Value *word = op(j, VALUE_ADD, value_cast(s, "u64 *", of_tile), reg(j, "w"));
        stmt_return(s, value_list(s, sums, op(j, VALUE_MUL, between, tile_of), number(j, tile * stride), word,
                                  reg(j, "p.parts")));
        stmt_end(s);
        return;
    }
    const Value *counter = op(j, VALUE_ADD, of_tile, reg(j, "w"));
    stmt_return(s, value_list(s, sums, op(j, VALUE_MUL, between, tile_of), number(j, tile * stride), counter,
                              op(j, VALUE_MUL, between, flags), number(j, (int64_t)FLAGS * stride),
                              reg(j, "p.parts")));
    stmt_end(s);
}

/* Prints a function that returns the place of a part: part 0 has a slot of its own. */
static void place_of(const Join *j, const char *result, const char *name, const char *first, const char *next,
                     const char *step, int behind)
{
    Stmts *s = j->s;
    const Value *part = reg(j, "part"), *regular = op(j, VALUE_ADD, reg(j, first), reg(j, next));
    stmt_function(s, (Function){.result = result,
                                .name = name,
                                STMT_PARAMS({"const PartialSums &", "parts"}, {"u32", "part"})});
    regular = op(j, VALUE_ADD, regular, op(j, VALUE_MUL, part, reg(j, step)));
    const Value *at = value_select(s, part, regular, reg(j, first));
    stmt_return(s, behind ? op(j, VALUE_ADD, at, number(j, behind)) : at);
    stmt_end(s);
}

/* ---- sums ---- */

/* Prints leave_sums(): this part's, to the workspace. */
static void leave_sums(const Join *j)
{
    Stmts *s = j->s;
    const Value *x[RUN];
    stmt_function(s, (Function){.name = "leave_sums",
                                STMT_PARAMS({"const Sums &", "acc"}, {"const PartialSums &", "parts"},
                                            {"u32", "part"})});
    const Value *to = stmt_define(s, "g_TC *const", "to", sums_of(j, reg(j, "part")));
    const Expr *v = stmt_unrolled(s, "v", ELEMENT, j->runs), *first = expr_mul_i(j->pool, v, RUN);
    for (int i = 0; i < RUN; i++) x[i] = value_call(s, "word_of", acc_at(j, expr_add_i(j->pool, first, i)));
    stmt_call(s, "put_sums", run_at(j, to, v), x[0], x[1], x[2], x[3]);
    stmt_end(s);
    stmt_do(s, value_call_0(s, "fence_all"));
    stmt_end(s);
}

/* Declares x, word `of` of run i of loaded runs. */
static const Value *loaded(const Join *j, const Expr *i, const Expr *of)
{
    const Value *x = stmt_var(j->s, "g_TC", "x", NULL);
    stmt_call(j->s, "from_word", value_at(j->s, value_at(j->s, reg(j, "v"), i), of), x);
    return x;
}

/* Prints take_sums(), which adds the sums of one part to acc. */
static void take_sums(const Join *j)
{
    Stmts *s = j->s;
    ExprPool *p = j->pool;
    const int batch = j->runs % JOIN_LOADS == 0 ? JOIN_LOADS : j->runs % RUN == 0 ? RUN : j->runs;
    stmt_function(s,
                  (Function){.name = "take_sums", STMT_PARAMS({"Sums &", "acc"}, {"const g_TC *", "from"})});
    const Expr *first = stmt_loop(s, (Loop){.var = "first",
                                            .start = expr_const(p, 0),
                                            .limit = expr_const(p, j->runs),
                                            .step = batch,
                                            .unroll = UNROLL_FULL});
    const Value *v = stmt_array(s, "u32", "v", DIMS(batch, RUN));
    const Expr *i = stmt_unrolled(s, "i", ELEMENT + 1, batch);
    stmt_call(s, "get_sums", run_at(j, reg(j, "from"), expr_add(p, first, i)), value_at(s, v, i));
    stmt_end(s);
    i = stmt_unrolled(s, "i", ELEMENT + 1, (int64_t)batch * RUN);
    const Value *x = loaded(j, expr_div_i(p, i, RUN), expr_mod_i(p, i, RUN));
    stmt_update(s, VALUE_ADD, acc_at(j, expr_add(p, expr_mul_i(p, first, RUN), i)), x);
    for (int n = 0; n < 3; n++) stmt_end(s);
}

/* ---- StreamK ---- */

static void zero_sums(const Join *j)
{
    const Expr *r = stmt_unrolled(j->s, "r", ELEMENT, j->runs * RUN / j->n_acc);
    const Expr *i = stmt_unrolled(j->s, "i", ELEMENT + 1, j->n_acc);
    stmt_set(j->s, value_at(j->s, value_at(j->s, reg(j, "acc"), r), i), number(j, 0));
    stmt_end(j->s);
    stmt_end(j->s);
}

/* Opens a function of a warp group, and declares its barrier and where the sums of its tile are. */
static void open(const Join *j, const char *result, const char *name)
{
    Stmts *s = j->s;
    stmt_function(s, (Function){.result = result,
                                .name = name,
                                STMT_PARAMS({"Sums &", "acc"}, {"const Args &", "args"},
                                            {"const g_Ops &", "ops"}, {"const WorkTile &", "p"},
                                            {"u32", "rank"}, {"int", "wg"}, {"int", "thread"})});
    const Value *w = j->p->groups.pingpong ? number(j, 0) : reg(j, "wg");
    stmt_define(s, "int", "w", w);
    stmt_define(s, "int", "bar", op(j, VALUE_ADD, number(j, 1), reg(j, "wg")));
    stmt_define(s, "PartialSums", "parts",
                value_call(s, "sums_of_tile", reg(j, "args"), reg(j, "p"), reg(j, "rank"), reg(j, "w"),
                           reg(j, "thread")));
}

/* Prints join_sums(). Returns true in the part that arrives last, whose acc then has the sums of all
 * parts. */
static void join_sums(const Join *j)
{
    Stmts *s = j->s;
    const Value *n = reg(j, "parts.n"), *flags = reg(j, "parts.flags"), *one = number(j, 1),
                *two = number(j, 2);
    open(j, "bool", "join_sums");
    const Value *pair = op(j, VALUE_BOTH, first_thread(j), op(j, VALUE_EQ, n, two));
    const Value *last =
        stmt_var(s, "bool", "last", op(j, VALUE_BOTH, pair, value_call(s, "wait_count<0>", flags, one)));
    stmt_set(s, last, any(j, last));
    stmt_if(s, op(j, VALUE_NOT, last, NULL));
    stmt_call(s, "leave_sums", reg(j, "acc"), reg(j, "parts"), reg(j, "p.part"));
    stmt_call(s, "group_sync", reg(j, "bar"));
    const Value *arrives = op(j, VALUE_EQ, value_call(s, "count_in", flags), op(j, VALUE_SUB, n, one));
    stmt_set(s, last, any(j, op(j, VALUE_BOTH, first_thread(j), arrives)));
    stmt_end(s);
    stmt_if(s, last);
    stmt_do(s, value_call_0(s, "fence_all"));
    const Value *q = stmt_var(s, "u32", "q", op(j, VALUE_SUB, one, reg(j, "p.part")));
    const Value *end = stmt_var(s, "u32", "end", op(j, VALUE_ADD, q, one));
    stmt_if(s, op(j, VALUE_GT, n, two));
    stmt_set(s, q, number(j, 0));
    stmt_set(s, end, n);
    zero_sums(j);
    stmt_end(s);
    stmt_loop(
        s, (Loop){.var = "q", .limit = expr_var(j->pool, "end", PART, 0, UINT32_MAX), .unroll = UNROLL_NONE});
    stmt_call(s, "take_sums", reg(j, "acc"), sums_of(j, q));
    stmt_end(s);
    stmt_end(s);
    stmt_return(s, last);
    stmt_end(s);
}

/* ---- GlobalSplitU ---- */

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
    const Value *x = loaded(j, i, e), *sum = value_at(s, reg(j, "sum"), e);
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
    open(j, NULL, "add_sums");
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

/* ---- GlobalSplitU, with counters that reset themselves ---- */

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
    open(j, NULL, "add_sums");
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

/* ---- the whole ---- */

Shares hopper_shares(const GpuPlan *p)
{
    const bool joins = p->walk.stream_k, resets = p->groups.self_reset;
    return (Shares){.function = joins ? "join_sums" : "add_sums",
                    .thread = "thread",
                    .part = "p.part",
                    .tile = "sums_of_tile",
                    .count = "n",
                    .counter = resets ? "word" : "flags",
                    .sums = "sums_of",
                    .mark = resets ? NULL : "mark_of",
                    .put = "put_sums",
                    .get = "get_sums",
                    .fence = "fence_all",
                    .meet = "group_sync",
                    .any = "any_of_group",
                    .count_in = resets ? "word_count" : "count_in",
                    .wait = {resets ? "word_wait" : "wait_count", resets ? NULL : "wait_count<0>"},
                    .change = resets ? NULL : "change_flag",
                    .look = resets ? NULL : "flag_now",
                    .now = resets ? "word_now" : NULL,
                    .begin = resets ? "word_begin" : NULL,
                    .leave = resets ? "word_leave" : NULL,
                    .reset = resets ? "word_reset" : NULL,
                    .is_all = resets ? "all_counted" : NULL,
                    .is_gone = resets ? "others_gone" : NULL,
                    .left = resets ? "shares_left" : NULL,
                    .store = joins ? NULL : "store_share",
                    .take = "take_sums",
                    .acc = "acc"};
}

Err hopper_join(const GpuPlan *p, const MatrixInst *in, Stmts *s)
{
    const bool swap = p->matrix.swap;
    const int n_acc = p->mt[!swap] / 2;
    const Join j = {.p = p,
                    .in = in,
                    .s = s,
                    .pool = &s->pool,
                    .n_acc = n_acc,
                    .runs = p->matrix.tiles[swap] * n_acc / RUN,
                    .thread = expr_var(&s->pool, "thread", THREAD, 0, WGMMA_LANES - 1)};
    if (n_acc % RUN)
        FAIL(ERR_INPUT, "%d sums of an instruction, parts of K are written in runs of %d", n_acc, RUN);
    stmt_file(s, "nvptx/hopper_join.cuh");
    if (p->groups.self_reset) stmt_file(s, "nvptx/hopper_counts.cuh");
    partial_sums(&j);
    sums_of_tile(&j);
    place_of(&j, "g_TC *", "sums_of", "parts.sums", "parts.next", "parts.step", 0);
    if (!p->groups.self_reset)
        place_of(&j, "u32 *", "mark_of", "parts.flags", "parts.next_flag", "parts.flag_step", MARKS);
    leave_sums(&j);
    if (p->walk.stream_k) {
        take_sums(&j);
        join_sums(&j);
    } else if (p->groups.self_reset) {
        store_runs(&j);
        add_counted_sums(&j);
    } else {
        store_share(&j);
        add_sums(&j);
    }
    const Shares of = hopper_shares(p);
    return shares_verify(s, &of, 2, false);
}
