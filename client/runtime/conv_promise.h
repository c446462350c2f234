/* What the solutions of a form of a convolution promise. A convolution has several forms, for instance that
 * of a GEMM where its filter has one element; each has its solutions, and the best promise is taken. Times
 * that were measured for the size stand before those that the performance model predicts, and these before
 * times of another size: on an H200 the model took a convolution's kernel of 187 us for faster than the GEMM
 * that was measured with 34 us. */
#ifndef CLIENT_RUNTIME_CONV_PROMISE_H
#define CLIENT_RUNTIME_CONV_PROMISE_H

#include "client/runtime/library.h"

typedef enum { PROMISE_MEASURED, PROMISE_PREDICTED, PROMISE_OF_OTHER_SIZE } Certainty;

/* All zero: a form without parts yet. certainty: of the least certain part. */
typedef struct {
    double seconds;
    Certainty certainty;
    bool found;
} Promise;

/* Adds a part of so many operations. Where the selection knows no speed, that is 1 GFlop/s. */
static inline void promise_add(Promise *p, double flops, const Selection *s)
{
    const Certainty certainty = s->why == WHY_EXACT   ? PROMISE_MEASURED
                                : s->why == WHY_MODEL ? PROMISE_PREDICTED
                                                      : PROMISE_OF_OTHER_SIZE;
    p->seconds += flops * 1e-9 / (s->speed > 0 ? s->speed : 1);
    if (certainty > p->certainty) p->certainty = certainty;
}

static inline bool promise_better(const Promise *a, const Promise *b)
{
    if (!a->found || !b->found) return a->found;
    return a->certainty == b->certainty ? a->seconds < b->seconds : a->certainty < b->certainty;
}

#endif
