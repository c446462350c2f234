/* A packed GEMM with its data, for tests of the reference and of validation. */
#ifndef TEST_GEMM_CASE_H
#define TEST_GEMM_CASE_H

#include "test/support.h"

#include "client/worker/init.h"
#include "client/worker/reference.h"

/* D is zero at first. */
typedef struct {
    Gemm g;
    void *a, *b, *c, *d;
    Matrix d_view;
} Case;

static inline void *make(DataType t, InitType how, uint64_t seed, int64_t m, int64_t n, int64_t batch,
                         Matrix *view, bool trans)
{
    Tensor x = {.type = t, .size = {trans ? n : m, trans ? m : n, batch}};
    x.stride[0] = 1;
    x.stride[1] = x.size[0];
    x.stride[2] = x.size[0] * x.size[1];
    assert_ok(tensor_finish(&x));
    void *data = calloc((size_t)x.n_elements + 1, (size_t)type_bytes(t));
    assert_non_null(data);
    init_tensor(&x, how, seed, 2, data);
    *view = (Matrix){.type = t,
                     .data = data,
                     .row = trans ? x.stride[1] : 1,
                     .col = trans ? 1 : x.stride[1],
                     .batch = x.stride[2]};
    return data;
}

static inline Case make_case(DataType t, InitType how, int64_t m, int64_t n, int64_t batch, int64_t k,
                             bool trans)
{
    Case c = {
        .g = {
            .m = m, .n = n, .batch = batch, .k = k, .alpha = {2, 0}, .beta = {3, 0}, .compute = t, .out = t}};
    c.a = make(t, how, 1, m, k, batch, &c.g.a, trans);
    c.b = make(t, how, 2, k, n, batch, &c.g.b, !trans);
    c.c = make(t, how, 3, m, n, batch, &c.g.c, false);
    c.d = make(t, INIT_ZERO, 4, m, n, batch, &c.d_view, false);
    return c;
}

static inline void case_free(Case *c)
{
    free(c->a);
    free(c->b);
    free(c->c);
    free(c->d);
}

/* A packed GEMM of Int8x4 with int32 results. */
static inline Case packed_case(InitType how, InitType c_how, const int64_t z[4], bool trans_a, bool trans_b)
{
    const int64_t m = z[0], n = z[1], batch = z[2], k = z[3];
    Case c = {.g = {.m = m, .n = n, .batch = batch, .k = 4 * k, .compute = TYPE_I, .out = TYPE_I}};
    c.g.alpha[0] = 3, c.g.beta[0] = -2;
    c.a = make(TYPE_4XI8, how, 1, m, k, batch, &c.g.a, trans_a);
    c.b = make(TYPE_4XI8, how, 2, k, n, batch, &c.g.b, trans_b);
    c.c = make(TYPE_I, c_how, 3, m, n, batch, &c.g.c, false);
    c.d = make(TYPE_I, INIT_ZERO, 4, m, n, batch, &c.d_view, false);
    c.g.b.packed_rows = true;
    return c;
}

#endif
