/* What the statements of wgmma kernels that add up parts of K through the workspace have in common. */
#ifndef KERNEL_NVPTX_HOPPER_JOIN_H
#define KERNEL_NVPTX_HOPPER_JOIN_H

#include "kernel/lower/build.h"
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

static inline const Value *first_thread(const Join *j)
{
    return op(j, VALUE_EQ, reg(j, "thread"), number(j, 0));
}
static inline const Value *any(const Join *j, const Value *x)
{
    return value_call(j->s, "any_of_group", reg(j, "bar"), x);
}
static inline const Value *sums_of(const Join *j, const Value *part)
{
    return value_call(j->s, "sums_of", reg(j, "parts"), part);
}
static inline const Value *mark_of(const Join *j, const Value *part)
{
    return value_call(j->s, "mark_of", reg(j, "parts"), part);
}
static inline const Value *change_mark(const Join *j, const Value *part, int from, int to)
{
    return value_call(j->s, "change_flag", mark_of(j, part), number(j, from), number(j, to));
}
/* A run of sums lies behind the same one of the thread before. */
static inline const Value *run_at(const Join *j, const Value *first, const Expr *run)
{
    return op(j, VALUE_ADD, first, value_expr(j->s, expr_mul_i(j->pool, run, WGMMA_LANES * RUN)));
}
static inline const Value *acc_at(const Join *j, const Expr *i)
{
    const Value *row = value_at(j->s, reg(j, "acc"), expr_div_i(j->pool, i, j->n_acc));
    return value_at(j->s, row, expr_mod_i(j->pool, i, j->n_acc));
}

/* hopper_join.c: opens a function of a warp group, and declares its barrier and where its tile's sums are. */
void join_open(const Join *j, const char *result, const char *name);
/* Declares x, word `of` of run i of loaded runs. */
const Value *join_loaded(const Join *j, const Expr *i, const Expr *of);

/* hopper_shares.c: prints store_share() and add_sums(), which add up and store a tile in shares. */
void join_shares(const Join *j);

#endif
