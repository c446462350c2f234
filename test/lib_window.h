/* Contractions of convolutions, for tests that launch kernels of windows. */
#ifndef TEST_LIB_WINDOW_H
#define TEST_LIB_WINDOW_H

#include "test/support.h"

#include "client/runtime/launch.h"
#include "problem/conv.h"

/* A forward convolution of f16, NHWC, 3 rows and columns of padding with 7 taps, else 1 with 3. */
static inline void conv_of(int64_t c, int64_t taps, int64_t stride, int64_t groups, int64_t size,
                           IndexSizes *x, Contraction *p)
{
    ConvDesc d;
    ProblemType pt;
    ConvPart part;
    conv_desc_init(&d);
    conv_desc_types(&d, TYPE_H);
    conv_desc_formats(&d, true);
    ConvSize *s = &d.size;
    s->n = 2, s->c = c, s->k = groups > 1 ? c : 64, s->groups = groups;
    for (int i = 0; i < 2; i++) {
        s->in[i] = size, s->filter[i] = taps, s->stride[i] = stride;
        s->pad[i] = s->pad_end[i] = taps / 2;
    }
    assert_ok(conv_problem_type(&d, &pt));
    assert_ok(conv_part(&pt, s, 0, &part));
    part.size.extra = &part.extra;
    assert_ok(index_sizes_of(&pt, &part.size, x));
    contraction_gemm(p, false, false, 1, 1, 1, 1);
    contraction_types(p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
    p->dims = x;
    p->m = index_group_size(x, INDICES_M), p->n = index_group_size(x, INDICES_N);
    p->k = index_group_size(x, INDICES_K), p->batch = index_group_size(x, INDICES_BATCH);
}

#endif
