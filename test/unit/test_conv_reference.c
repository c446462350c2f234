/* The reference of convolutions against a second formulation (a sum over all index tuples into the result's
 * memory), whole and by elements; the check by sums finds single wrong elements and accepts right results. */
#include "test/lib_conv.h"

#include <math.h>

static const int32_t ops[] = {OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA, OP_CONV_BACKWARD_WEIGHTS};

/* An element's offset by its letters and the format: no strides, no order of dimensions. */
static int64_t offset(const char *format, const int64_t *size, const int64_t *at)
{
    int64_t sum = 0;
    for (; *format; format++) sum = sum * size[(int)*format] + at[(int)*format];
    return sum;
}

typedef struct {
    const ConvDesc *c;
    int64_t size[CONV_TENSORS][128], at[CONV_TENSORS][128];
} Naive;

static void naive_init(Naive *v, const ConvDesc *c)
{
    const ConvSize *s = &c->size;
    memset(v, 0, sizeof *v);
    v->c = c;
    for (int d = 0; d < CONV_SPATIAL; d++) {
        v->size[CONV_INPUT][(int)"WHD"[d]] = s->in[d];
        v->size[CONV_OUTPUT][(int)"WHD"[d]] =
            (s->in[d] + s->pad[d] + s->pad_end[d] - s->dilation[d] * (s->filter[d] - 1) - 1) / s->stride[d] +
            1;
        v->size[CONV_FILTER][(int)"XYZ"[d]] = s->filter[d];
    }
    v->size[CONV_INPUT]['N'] = v->size[CONV_OUTPUT]['N'] = s->n;
    v->size[CONV_INPUT]['C'] = s->c, v->size[CONV_OUTPUT]['C'] = s->k;
    v->size[CONV_FILTER]['K'] = s->k, v->size[CONV_FILTER]['C'] = s->c / s->groups;
}

/* Sets the coordinates of all tensors from output position, filter element and channels; false: a pad. */
static bool place(Naive *v, int64_t n, int64_t k, int64_t c, int64_t out, int64_t tap)
{
    const ConvSize *s = &v->c->size;
    bool inside = true;
    v->at[CONV_INPUT]['N'] = v->at[CONV_OUTPUT]['N'] = n;
    v->at[CONV_OUTPUT]['C'] = v->at[CONV_FILTER]['K'] = k;
    v->at[CONV_FILTER]['C'] = c;
    v->at[CONV_INPUT]['C'] = k * s->groups / s->k * (s->c / s->groups) + c;
    for (int d = 0; d < CONV_SPATIAL; d++) {
        const int w = "WHD"[d], x = "XYZ"[d];
        v->at[CONV_OUTPUT][w] = out % v->size[CONV_OUTPUT][w], out /= v->size[CONV_OUTPUT][w];
        v->at[CONV_FILTER][x] = tap % s->filter[d], tap /= s->filter[d];
        const int64_t p =
            v->at[CONV_OUTPUT][w] * s->stride[d] + v->at[CONV_FILTER][x] * s->dilation[d] - s->pad[d];
        v->at[CONV_INPUT][w] = p;
        inside &= p >= 0 && p < s->in[d];
    }
    return inside;
}

static double load(const ConvDesc *c, const ConvMemory *m, ConvTensor t, int64_t at)
{
    double x;
    numbers_load((DataType)c->type[t], m->at[t], at, 1, 1, &x, NULL);
    return x;
}

/* sum: in the order of the result's memory. */
static void naive(const ConvDesc *c, const ConvMemory *m, long double *sum)
{
    Naive v;
    naive_init(&v, c);
    const ConvSize *s = &c->size;
    const int64_t *o = v.size[CONV_OUTPUT], n_out = o['W'] * o['H'] * o['D'];
    const int64_t n_taps = s->filter[0] * s->filter[1] * s->filter[2];
    for (int64_t i = 0; i < m->n[conv_result(c)]; i++) sum[i] = 0;
    for (int64_t n = 0; n < s->n; n++)
        for (int64_t k = 0; k < s->k; k++)
            for (int64_t ch = 0; ch < s->c / s->groups; ch++)
                for (int64_t p = 0; p < n_out; p++)
                    for (int64_t t = 0; t < n_taps; t++) {
                        int64_t at[CONV_TENSORS];
                        if (!place(&v, n, k, ch, p, t)) continue;
                        for (int i = 0; i < CONV_TENSORS; i++)
                            at[i] = offset(c->format[i], v.size[i], v.at[i]);
                        const ConvTensor l = conv_left(c), r = conv_right(c);
                        sum[at[conv_result(c)]] += (long double)load(c, m, l, at[l]) * load(c, m, r, at[r]);
                    }
}

/* The offset of number i of a packed result. */
static int64_t in_memory(const ConvDesc *c, int64_t i, int64_t at[CONV_DIMS])
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS], sum = 0;
    conv_tensor(c, conv_result(c), size, stride);
    for (int d = CONV_DIMS; d-- > 0; i /= size[d]) at[d] = i % size[d];
    for (int d = 0; d < CONV_DIMS; d++) sum += at[d] * stride[d];
    return sum;
}

static void test_definition(void **state)
{
    (void)state;
    static const DataType types[] = {TYPE_S, TYPE_H, TYPE_B, TYPE_I8};
    unsigned seed = 11;
    for (int i = 0; i < 240; i++) {
        ConvDesc c;
        ConvMemory m;
        conv_random(&seed, ops[i % 3], 2 + i / 3 % 2, types[i / 6 % 4], &c);
        conv_memory(&c,
                    i % 2 && c.type[CONV_FILTER] != TYPE_I8 && c.type[CONV_INPUT] != TYPE_I8 ? INIT_NORMAL
                                                                                             : INIT_RANDOM,
                    (uint64_t)i, &m);
        const ConvTensor r = conv_result(&c);
        const ConvData d = conv_data_of(&c, &m);
        double *have = malloc((size_t)m.n[r] * sizeof *have);
        long double *want = malloc((size_t)m.n[r] * sizeof *want);
        Check check;
        assert_ok(conv_reference(&d, have));
        naive(&c, &m, want);
        for (int64_t e = 0; e < m.n[r]; e++) {
            int64_t at[CONV_DIMS], to = in_memory(&c, e, at);
            const double one = conv_reference_element(&d, at, NULL);
            if (fabs(have[e] - (double)want[to]) > 1e-12 * (1 + fabs(have[e])) ||
                fabs(one - (double)want[to]) > 1e-12 * (1 + fabs(one)))
                fail_msg("case %d element %lld: %g, alone %g, expected %Lg", i, (long long)e, have[e], one,
                         want[to]);
            number_store((DataType)c.type[r], m.at[r], to, have[e], 0);
        }
        for (int never_all = 0; never_all < 2; never_all++) {
            assert_ok(conv_check(&d, &(ConvCheckOptions){.seed = 5, .never_all = never_all}, &check));
            if (!check.passed || check.n_suspect)
                fail_msg("case %d: %s, %lld suspicious", i, check.text, (long long)check.n_suspect);
            assert_true(check.covered);
        }
        free(have), free(want), conv_memory_free(&m);
    }
}

/* One wrong element of a result is found, by all elements and by sums. */
static void test_finds(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int i = 0; i < 90; i++) {
        static const DataType types[] = {TYPE_S, TYPE_H, TYPE_I8};
        ConvDesc c;
        ConvMemory m;
        Check check;
        conv_random(&seed, ops[i % 3], 2 + i / 3 % 2, types[i / 6 % 3], &c);
        conv_memory(&c, INIT_RANDOM, (uint64_t)i, &m);
        const ConvTensor r = conv_result(&c);
        const ConvData d = conv_data_of(&c, &m);
        double *have = malloc((size_t)m.n[r] * sizeof *have);
        int64_t at[CONV_DIMS];
        assert_ok(conv_reference(&d, have));
        for (int64_t e = 0; e < m.n[r]; e++)
            number_store((DataType)c.type[r], m.at[r], in_memory(&c, e, at), have[e], 0);
        const int64_t bad = conv_pick(&seed, 0, m.n[r] - 1), to = in_memory(&c, bad, at);
        if (i % 5 == 0)
            memset((char *)m.at[r] + to * type_bytes((DataType)c.type[r]), number_poison((DataType)c.type[r]),
                   (size_t)type_bytes((DataType)c.type[r]));
        else
            number_store((DataType)c.type[r], m.at[r], to, have[bad] + 1 + fabs(have[bad]) * 0.25, 0);
        for (int never_all = 0; never_all < 2; never_all++) {
            assert_ok(
                conv_check(&d, &(ConvCheckOptions){.seed = (uint64_t)i, .never_all = never_all}, &check));
            if (check.passed || check.n_wrong < 1 || !strstr(check.text, conv_tensor_name(r)))
                fail_msg("case %d: the wrong element is not found", i);
        }
        free(have), conv_memory_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition), cmocka_unit_test(test_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
