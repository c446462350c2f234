/* Parts of K of wgmma kernels that add their sums up through the workspace, as statements. Each warp group
 * writes its sums in register order, 16 bytes a thread. Nobody depends on another work-group being
 * resident.
 *
 * * GlobalSplitU: shares of a tile (hopper_shares.c).
 *
 * * StreamK (join_sums): the parts of a tile end at different times and each work-group has other tiles to
 * go on with, so that none waits: the part that arrives last adds up all parts and stores the tile. Two
 * parts have the same sum in either order; more are added in their order, so that results do not depend on
 * timing.
 *
 * * What is read when, and that each share is stored once, is checked (lower/shares.h). */
#include "kernel/nvptx/hopper_join.h"

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

const Value *join_loaded(const Join *j, const Expr *i, const Expr *of)
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
    const Value *x = join_loaded(j, expr_div_i(p, i, RUN), expr_mod_i(p, i, RUN));
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

void join_open(const Join *j, const char *result, const char *name)
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
    join_open(j, "bool", "join_sums");
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
    } else {
        join_shares(&j);
    }
    const Shares of = hopper_shares(p);
    return shares_verify(s, &of, 2, false);
}
