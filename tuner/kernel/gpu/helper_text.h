/* The text of a helper kernel while it is made (helper.c, helper_sums.c). */
#ifndef KERNEL_GPU_HELPER_TEXT_H
#define KERNEL_GPU_HELPER_TEXT_H

#include "kernel/contract.h"
#include "kernel/gpu/gpu.h"
#include "kernel/helper.h"

typedef struct {
    GpuPlan p;
    Buf body;
    Stmts s; /* of the kernel function's body */
    int n_args;
    Arena arena;
    Program program; /* the ops of the kernel that adds parts up */
    bool general;    /* D is no matrix or batch of matrices: it has these indices */
    Indices x;
} HelperText;

static inline const Expr *word(HelperText *h, const char *name)
{
    return expr_var(&h->s.pool, name, 0, 0, UINT32_MAX);
}

static inline const Expr *wide(HelperText *h, const char *name)
{
    return expr_var(&h->s.pool, name, 0, 0, 1ll << 62);
}

/* Adds vw elements of every `reducers`-th part of K, from pointer `from` on, to the thread's `sum`. */
void helper_add_parts(HelperText *h, int vw, int reducers);
/* The first of `reducers` threads adds up the sums of all of them. */
void helper_add_reducers(HelperText *h, int vw, int reducers);

#endif
