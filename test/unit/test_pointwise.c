/* Convolutions with one filter element as GEMMs (problem/pointwise.h): the product on the tensors as they lie
 * equals the convolution's reference for all formats and directions; what is none is refused. */
#include "test/lib_conv.h"

#include <math.h>

#include "problem/pointwise.h"

/* D by the GEMM, in double; every element is written once. */
static void multiply(const ConvDesc *c, const PointwiseGemm *g, double *const data[CONV_TENSORS])
{
    const double *a = data[g->a], *b = data[g->b];
    double *d = data[conv_result(c)];
    for (int64_t z = 0; z < g->batch; z++)
        for (int64_t i = 0; i < g->m; i++)
            for (int64_t j = 0; j < g->n; j++) {
                double sum = 0;
                for (int64_t l = 0; l < g->k; l++)
                    sum += a[z * g->stride[0] + (g->trans[0] ? l + i * g->ld[0] : i + l * g->ld[0])] *
                           b[z * g->stride[1] + (g->trans[1] ? j + l * g->ld[1] : l + j * g->ld[1])];
                double *at = &d[z * g->stride[2] + i + j * g->ld[2]];
                assert_true(isnan(*at));
                *at = sum;
            }
}

static void compare(const ConvDesc *c, const PointwiseGemm *g, unsigned *seed)
{
    double *data[CONV_TENSORS];
    for (int t = 0; t < CONV_TENSORS; t++) {
        const int64_t n = conv_elements(c, (ConvTensor)t);
        data[t] = malloc((size_t)n * sizeof(double));
        for (int64_t i = 0; i < n; i++)
            data[t][i] = t == (int)conv_result(c) ? (double)NAN : (double)conv_pick(seed, -9, 9);
    }
    multiply(c, g, data);
    const ConvData all = {.c = c, .data = {data[0], data[1], data[2]}, .n_threads = 1};
    Check check = {0};
    assert_ok(conv_check(&all, &(ConvCheckOptions){.seed = 1}, &check));
    if (!check.passed) {
        Buf text;
        buf_init(&text);
        conv_desc_print(c, &text);
        fail_msg("%s: %s", buf_cstr(&text), check.text);
    }
    for (int t = 0; t < CONV_TENSORS; t++) free(data[t]);
}

static void test_all_formats(void **state)
{
    (void)state;
    static const char *const formats[] = {"NCHW", "NHWC", "CNHW", "CHWN"};
    unsigned seed = 5;
    int n_gemms = 0, n_batched = 0;
    for (int i = 0; i < 3 * 64 * 4; i++) {
        ConvDesc c;
        PointwiseGemm g;
        conv_desc_init(&c);
        conv_desc_types(&c, TYPE_D);
        c.op = OP_CONV_FORWARD + i % 3;
        for (int t = 0, f = i / 3; t < CONV_TENSORS; t++, f /= 4)
            assert_ok(conv_desc_format(&c, (ConvTensor)t, str_from(formats[f % 4])));
        c.size.groups = conv_pick(&seed, 1, 2), c.size.n = conv_pick(&seed, 1, 3);
        c.size.c = c.size.groups * conv_pick(&seed, 1, 4), c.size.k = c.size.groups * conv_pick(&seed, 1, 4);
        c.size.in[0] = conv_pick(&seed, 1, 4), c.size.in[1] = conv_pick(&seed, 1, 3);
        if (!pointwise_gemm(&c, &g)) continue;
        n_gemms++;
        n_batched += g.batch > 1;
        compare(&c, &g, &seed);
    }
    assert_true(n_gemms > 150 && n_batched > 20);
}

/* The formats of frameworks are GEMMs for sure. */
static void test_usual(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        ConvDesc c;
        PointwiseGemm g;
        const bool last = i % 2;
        conv_desc_init(&c);
        conv_desc_formats(&c, last);
        c.op = OP_CONV_FORWARD + i / 2;
        c.size = (ConvSize){.n = 4, .c = 32, .k = 48, .in = {7, 5, 1}, .filter = {1, 1, 1}, .groups = 1};
        for (int d = 0; d < CONV_SPATIAL; d++) c.size.stride[d] = c.size.dilation[d] = 1;
        const bool is = pointwise_gemm(&c, &g);
        assert_int_equal(is, last || c.op != OP_CONV_BACKWARD_WEIGHTS); /* there images are a second sum */
        if (is) assert_int_equal(g.m * g.n * g.k * g.batch, 4 * 35 * 32 * 48);
        if (is) assert_int_equal(g.batch, last ? 1 : 4);
        c.size.pad[0] = 1;
        assert_false(pointwise_gemm(&c, &g));
        c.size.pad[0] = 0, c.size.stride[1] = 2;
        assert_false(pointwise_gemm(&c, &g));
        c.size.stride[1] = 1, c.size.filter[0] = 2;
        assert_false(pointwise_gemm(&c, &g));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_formats), cmocka_unit_test(test_usual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
