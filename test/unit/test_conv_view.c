/* Views of convolutions: the matrix products that they make, element by element, are the convolution; the
 * example of the transforms as text. */
#include "test/lib_conv.h"

#include <math.h>

#include "index/conv_view.h"
#include "problem/miopen.h"

static const int32_t ops[] = {OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA, OP_CONV_BACKWARD_WEIGHTS};

/* The number at (group, i, j) of an operand; 0 outside. */
static double element(const ConvDesc *c, const ConvMemory *m, const ConvView *v, ConvTensor t, int64_t group,
                      int64_t i, int64_t j)
{
    const int64_t with[3] = {group, i, j};
    int64_t at;
    double x;
    if (!view_offset(&v->view, c->size.groups > 1 ? with : with + 1, &at)) return 0;
    assert_true(at >= 0 && at < m->n[t]);
    numbers_load((DataType)c->type[t], m->at[t], at, 1, 1, &x, NULL);
    return x;
}

/* D of one product by its views; every element of D is written at most once. */
static void product(const ConvDesc *c, const ConvMemory *m, const ConvGemm *g, double *sum, char *written)
{
    const ConvTensor left = conv_left(c), right = conv_right(c), result = conv_result(c);
    ConvView vl, vr, vd;
    assert_true(conv_view(c, g, left, &vl) && conv_view(c, g, right, &vr) && conv_view(c, g, result, &vd));
    for (int64_t group = 0; group < c->size.groups; group++)
        for (int64_t i = 0; i < g->m; i++)
            for (int64_t j = 0; j < g->n; j++) {
                const int64_t with[3] = {group, i, j};
                int64_t at;
                if (!view_offset(&vd.view, c->size.groups > 1 ? with : with + 1, &at)) continue;
                assert_true(at >= 0 && at < m->n[result] && !written[at]);
                written[at] = 1;
                for (int64_t k = 0; k < g->k; k++)
                    sum[at] += element(c, m, &vl, left, group, k, i) * element(c, m, &vr, right, group, k, j);
            }
}

static void test_products(void **state)
{
    (void)state;
    unsigned seed = 21;
    for (int i = 0; i < 60; i++) {
        ConvDesc c;
        ConvMemory m;
        conv_random(&seed, ops[i % 3], i % 10 == 9 ? 3 : 2, TYPE_S, &c);
        if (i % 10 == 9) c.size.n = 1;
        for (int d = 0; d < 3 && i % 10 == 9; d++)
            if (c.size.in[d] > 5) c.size.in[d] = 5, c.size.filter[d] = 1;
        conv_memory(&c, INIT_RANDOM, (uint64_t)i, &m);
        const ConvTensor result = conv_result(&c);
        const ConvData d = conv_data_of(&c, &m);
        double *have = calloc((size_t)m.n[result], sizeof *have),
               *want = calloc((size_t)m.n[result], sizeof *want);
        char *written = calloc((size_t)m.n[result], 1);
        assert_ok(conv_reference(&d, want));
        for (int64_t k = 0; k < conv_n_gemms(&c); k++) {
            ConvGemm g;
            conv_gemm(&c, k, &g);
            if (g.k) product(&c, &m, &g, have, written);
        }
        int64_t size[CONV_DIMS], stride[CONV_DIMS];
        conv_tensor(&c, result, size, stride);
        for (int64_t e = 0; e < m.n[result]; e++) {
            int64_t rest = e, at = 0;
            for (int k = CONV_DIMS; k-- > 0; rest /= size[k]) at += rest % size[k] * stride[k];
            if (have[at] != want[e]) {
                Buf text;
                buf_init(&text);
                conv_desc_print(&c, &text);
                fail_msg("%s: element %lld is %g, expected %g", buf_cstr(&text), (long long)e, have[at],
                         want[e]);
            }
        }
        free(have), free(want), free(written), conv_memory_free(&m);
    }
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        ConvTensor tensor;
        int64_t gemm;
        const char *text;
    } rows[] = {
        {"conv -n 64 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -F 1", CONV_INPUT, 0,
         "input NCHW [n:64*150528, c:3*50176, hi:224*224, wi:224*1]\n"
         "  hipad = pad(hi, [3, 3]); wipad = pad(wi, [3, 3])\n"
         "  (y, ho) = embed(hipad, [2, [1, 2, 0]]); (x, wo) = embed(wipad, [2, [1, 2, 0]])\n"
         "  gemmK = merge(c, y, x); gemmN = merge(n, ho, wo)\n"},
        {"conv -n 64 -c 64 -H 56 -W 56 -k 64 -p 1 -q 1 -F 1", CONV_FILTER, 0,
         "filter KCYX [k:64*576, c:64*9, y:3*3, x:3*1]\n"
         "  gemmK = merge(c, y, x)\n  gemmM = passthrough(k)\n"},
        {"conv -n 64 -c 64 -H 56 -W 56 -k 64 -p 1 -q 1 -F 1 -O NHWC -I NHWC", CONV_OUTPUT, 0,
         "output NHWC [n:64*200704, k:64*1, ho:56*3584, wo:56*64]\n"
         "  gemmM = passthrough(k)\n  gemmN = merge(n, ho, wo)\n"},
        {"conv -n 64 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -F 2", CONV_OUTPUT, 1,
         "output NCHW [n:64*802816, k:64*12544, ho:112*112, wo:112*1]\n"
         "  hopad = pad(ho, [2, 2]); wopad = pad(wo, [1, 2])\n"
         "  (ys, hs) = embed(hopad, [2, [-1, 1, 3]]); (xs, ws) = embed(wopad, [2, [-1, 1, 2]])\n"
         "  gemmK = merge(k, ys, xs); gemmN = merge(n, hs, ws)\n"},
        {"conv -n 64 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -F 2", CONV_FILTER, 1,
         "filter KCYX [k:64*147, c:3*49, y:7*7, x:7*1]\n"
         "  ys = embed(y, [1, [2, 0]]); xs = embed(x, [1, [2, 1]])\n"
         "  gemmK = merge(k, ys, xs)\n  gemmM = passthrough(c)\n"},
        {"conv -n 2 -c 8 -k 8 -g 4 -H 5 -W 5 -F 4", CONV_FILTER, 0,
         "filter KCYX [g:4*36, k:2*18, c:2*9, y:3*3, x:3*1]\n"
         "  gemmM = passthrough(k)\n  gemmN = merge(c, y, x)\n"},
    };
    Buf text;
    buf_init(&text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MiopenConv c;
        ConvGemm g;
        ConvView v;
        assert_ok(miopen_read(str_from(rows[i].line), &c));
        conv_gemm(&c.conv[0], rows[i].gemm, &g);
        assert_true(conv_view(&c.conv[0], &g, rows[i].tensor, &v));
        buf_reset(&text);
        conv_view_print(&c.conv[0], &v, rows[i].tensor, &text);
        assert_string_equal(buf_cstr(&text), rows[i].text);
    }
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
