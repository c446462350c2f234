/* Unit tests of the reference and of validation: formula, strides, the product check's sensitivity. */
#include "test/support.h"

#include <math.h>

#include "client/worker/freivalds.h"
#include "client/worker/number.h"
#include "client/worker/validate.h"
#include "test/unit/gemm_case.h"

/* As a kernel would: floats, sums in order of l. */
static void compute_f32(Case *c)
{
    const Gemm *g = &c->g;
    float *d = c->d;
    for (int64_t b = 0; b < g->batch; b++)
        for (int64_t j = 0; j < g->n; j++)
            for (int64_t i = 0; i < g->m; i++) {
                float s = 0;
                for (int64_t l = 0; l < g->k; l++)
                    s += ((const float *)c->a)[i * g->a.row + l * g->a.col + b * g->a.batch] *
                         ((const float *)c->b)[l * g->b.row + j * g->b.col + b * g->b.batch];
                int64_t at = i + g->m * (j + g->n * b);
                d[at] = 2 * s + 3 * ((const float *)c->c)[at];
            }
}

static void test_stride(void **state)
{
    (void)state;
    assert_int_equal(validate_stride(128, 128), 2); /* at least 2 */
    assert_int_equal(validate_stride(1024 * 1024, 128), 8209);
    assert_int_equal(validate_stride(11 * 128, 128), 11);
    assert_int_equal(validate_stride(12 * 128, 128), 13);
    assert_int_equal(validate_stride(9, 1), 11);
    assert_int_equal(validate_stride(4, 1), 5);
    assert_int_equal(validate_stride(25, 1), 29);
}

static void test_error_formula(void **state)
{
    (void)state;
    assert_true(validate_error(TYPE_S, 3, 3) == 0);
    assert_true(fabs(validate_error(TYPE_S, 3, 5) - 2.0 / 9) < 1e-15);
    assert_true(validate_error(TYPE_S, NAN, NAN) == 0 && isinf(validate_error(TYPE_S, NAN, 1)));
    assert_true(validate_error(TYPE_S, INFINITY, INFINITY) == 0 &&
                isinf(validate_error(TYPE_S, INFINITY, 1)));
    assert_true(isinf(validate_error(TYPE_I, 3, 4)) && validate_error(TYPE_I, 4, 4) == 0);
    const struct {
        DataType t;
        double tol;
    } want[] = {{TYPE_H, 0.01},  {TYPE_B, 0.1},  {TYPE_F8, 0.125},
                {TYPE_B8, 0.25}, {TYPE_S, 1e-4}, {TYPE_D, 1e-12}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_true(number_tolerance(want[i].t) == want[i].tol);
}

/* The blocked reference against the element-wise one, all shapes of edges and transposes. */
static void test_reference(void **state)
{
    (void)state;
    static const DataType types[] = {TYPE_S, TYPE_D, TYPE_H, TYPE_B, TYPE_C, TYPE_Z, TYPE_I8};
    static const int64_t sizes[][4] = {{1, 1, 1, 1}, {65, 63, 2, 257}, {8, 130, 1, 5}, {100, 3, 3, 512}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int trans = 0; trans < 2; trans++) {
                const int64_t *z = sizes[s];
                Case c = make_case(types[t], INIT_RANDOM, z[0], z[1], z[2], z[3], trans);
                c.g.a.conj = type_info(types[t])->complex;
                if (c.g.a.conj) c.g.alpha[1] = -1;
                size_t n = (size_t)(z[0] * z[1] * z[2]);
                double *re = malloc(n * 8), *im = malloc(n * 8);
                assert_ok(reference_all(&c.g, 2, re, c.g.a.conj ? im : NULL));
                for (size_t x = 0; x < n; x += 7) {
                    int64_t i = (int64_t)x % z[0], j = (int64_t)x / z[0] % z[1], b = (int64_t)x / z[0] / z[1];
                    Value v = reference_element(&c.g, i, j, b);
                    assert_true(v.re == re[x]); /* integers: exact */
                    if (c.g.a.conj) assert_true(v.im == im[x]);
                }
                free(re);
                free(im);
                case_free(&c);
            }
}

/* D by the plain loop over its bytes that defines it: k elements, four products each, alpha and beta in int32
 * that wraps. */
static void compute_packed(Case *c)
{
    const Gemm *g = &c->g;
    const int8_t *a = c->a, *b = c->b;
    int32_t *d = c->d;
    for (int64_t z = 0; z < g->batch; z++)
        for (int64_t j = 0; j < g->n; j++)
            for (int64_t i = 0; i < g->m; i++) {
                uint32_t s = 0;
                int64_t at = i + g->m * (j + g->n * z);
                for (int64_t l = 0; l < g->k / 4; l++)
                    for (int64_t y = 0; y < 4; y++)
                        s += (uint32_t)(a[4 * (i * g->a.row + l * g->a.col + z * g->a.batch) + y] *
                                        b[4 * (l * g->b.row + j * g->b.col + z * g->b.batch) + y]);
                s = s * (uint32_t)(int64_t)g->alpha[0] +
                    (uint32_t)((const int32_t *)c->c)[at] * (uint32_t)(int64_t)g->beta[0];
                d[at] = (int32_t)s;
            }
}

static void test_packed(void **state)
{
    (void)state;
    static const int64_t sizes[][4] = {{1, 1, 1, 1}, {65, 63, 2, 67}, {8, 130, 1, 5}, {100, 3, 3, 129}};
    static const double scalars[][2] = {{3, -2}, {2147483647, -2147483648.0}, {1, 0}, {0, 2}};
    static const InitType fills[][2] = {
        {INIT_RANDOM, INIT_RANDOM}, {INIT_MAX, INIT_MAX}, {INIT_BAD_OUTPUT, INIT_BAD_OUTPUT}};
    for (size_t s = 0; s < 4; s++)
        for (int way = 0; way < 48; way++) {
            const int64_t *z = sizes[s];
            const InitType *fill = fills[way / 16];
            Case c = packed_case(fill[0], fill[1], z, way & 1, way >> 1 & 1);
            memcpy(c.g.alpha, &scalars[way >> 2 & 3][0], sizeof(double));
            memcpy(c.g.beta, &scalars[way >> 2 & 3][1], sizeof(double));
            compute_packed(&c);
            const int32_t *d = c.d;
            int64_t n = z[0] * z[1] * z[2];
            double *re = malloc((size_t)n * sizeof *re);
            assert_ok(reference_all(&c.g, 2, re, NULL));
            for (int64_t x = 0; x < n; x++)
                if (re[x] != d[x] ||
                    reference_element(&c.g, x % z[0], x / z[0] % z[1], x / z[0] / z[1]).re != d[x])
                    fail_msg("size %zu, way %d: element %d is %g, should be %d", s, way, (int)x, re[x], d[x]);
            free(re);
            case_free(&c);
        }
}

/* All of D by products, exactly; one wrong byte of an element of B would make a wrong column. */
static void test_packed_product(void **state)
{
    (void)state;
    static const int64_t size[4] = {300, 260, 2, 96};
    ValidateOptions o = {.n_validate = 100, .n_allocated = 300 * 260 * 2, .n_threads = 2, .never_all = true};
    for (int way = 0; way < 4; way++) {
        Case c = packed_case(INIT_RANDOM, INIT_RANDOM, size, way & 1, way >> 1);
        Freivalds *f;
        Validator *v;
        Check check;
        compute_packed(&c);
        assert_ok(freivalds_new(&c.g, 2, 0, 0, &f));
        assert_true(freivalds_usable(f) && freivalds_exact(f));
        freivalds_free(f);
        assert_ok(validator_new(&c.g, &o, &v));
        assert_ok(validator_check(v, &c.d_view, &check));
        assert_true(check.passed && check.covered && check.n_suspect == 0);
        int32_t *d = c.d;
        d[300 * 260 + 299]++;
        assert_ok(validator_check(v, &c.d_view, &check));
        assert_true(!check.passed && check.n_suspect == 1);
        d[300 * 260 + 299]--;
        validator_free(v);
        int8_t *b = c.b;
        b[4 * 50 * 96 + 3]++; /* no longer what D was made of */
        assert_ok(validator_new(&c.g, &o, &v));
        assert_ok(validator_check(v, &c.d_view, &check));
        assert_true(!check.passed);
        validator_free(v);
        case_free(&c);
    }
}

/* beta 0 and alpha 0 read nothing: NaN must not come through. */
static void test_zero_scalars(void **state)
{
    (void)state;
    Case c = make_case(TYPE_S, INIT_NAN, 5, 4, 1, 3, false);
    c.g.alpha[0] = 0;
    c.g.beta[0] = 0;
    double re[20];
    assert_ok(reference_all(&c.g, 1, re, NULL));
    for (int i = 0; i < 20; i++) assert_true(re[i] == 0);
    assert_true(reference_element(&c.g, 1, 1, 0).re == 0);
    case_free(&c);
}

static Check check(Case *c, const ValidateOptions *o)
{
    Validator *v;
    Check out;
    assert_ok(validator_new(&c->g, o, &v));
    assert_ok(validator_check(v, &c->d_view, &out));
    validator_free(v);
    return out;
}

static void test_all_elements(void **state)
{
    (void)state;
    Case c = make_case(TYPE_S, INIT_RANDOM, 33, 29, 2, 40, true);
    compute_f32(&c);
    ValidateOptions o = {.n_validate = 128, .n_allocated = 33 * 29 * 2, .n_threads = 2};
    Check r = check(&c, &o);
    assert_true(r.passed && r.covered && r.n_checked == 33 * 29 * 2 && r.max_err == 0);
    double sum = 0;
    for (int i = 0; i < 33 * 29 * 2; i++) sum += fabs((double)((float *)c.d)[i]);
    assert_true(r.diff == 0 && fabs(r.want - sum) <= 1e-12 * sum);
    int largest = 0; /* where the formula lets more pass */
    for (int i = 0; i < 33 * 29 * 2; i++)
        if (fabsf(((float *)c.d)[i]) > fabsf(((float *)c.d)[largest])) largest = i;
    ((float *)c.d)[largest] += 1;
    r = check(&c, &o);
    assert_true(r.passed && r.diff == 1 && fabs(r.want - sum) <= 1e-12 * sum);
    ((float *)c.d)[largest] -= 1;
    ((float *)c.d)[33 * 29 + 5] += 1000;
    r = check(&c, &o);
    assert_true(!r.passed && r.n_wrong == 1);
    assert_true(r.diff == 1000 && fabs(r.want - sum) <= 1e-12 * sum);
    assert_non_null(strstr(r.text, "D(5,0,1) is "));
    ((float *)c.d)[33 * 29 + 5] = NAN;
    assert_false(check(&c, &o).passed);
    o.n_validate = 0;
    r = check(&c, &o);
    assert_true(r.passed && !r.covered && r.n_checked == 0);
    case_free(&c);
}

/* Integer inputs with exact sums: one wrong element anywhere, by as little as the formula refuses, is found.
 */
static void test_freivalds_exact(void **state)
{
    (void)state;
    Case c = make_case(TYPE_S, INIT_RANDOM, 150, 130, 2, 64, false);
    compute_f32(&c);
    ValidateOptions o = {.n_validate = 16, .n_allocated = 150 * 130 * 2, .n_threads = 2, .never_all = true};
    Check r = check(&c, &o);
    assert_true(r.passed && r.covered && r.n_suspect == 0);
    assert_true(r.n_checked < 40);
    float *d = c.d;
    for (size_t at = 1; at < 150 * 130 * 2; at += 1777) {
        float old = d[at];
        d[at] += fmaxf(2, fabsf(old) * 3e-4f);
        r = check(&c, &o);
        if (r.passed || r.n_suspect != 1) fail_msg("element %zu: %lld suspects", at, (long long)r.n_suspect);
        d[at] = old;
    }
    /* A swap of two elements of one row within a block: signs are not sums. */
    float x = d[150 * 3], y = d[150 * 64];
    d[150 * 3] = y;
    d[150 * 64] = x;
    assert_false(check(&c, &o).passed);
    d[150 * 3] = x;
    d[150 * 64] = y;
    /* A small difference within the tolerance is a suspicion, not a failure. */
    d[777] += fabsf(d[777]) > 1000 ? 0.01f : 1e-5f;
    r = check(&c, &o);
    assert_true(r.passed);
    case_free(&c);
}

/* Inexact inputs: no false alarm on a right result, one element off by a good part of its size is found. */
static void test_freivalds_inexact(void **state)
{
    (void)state;
    Case c = make_case(TYPE_S, INIT_TRIG_SIN, 200, 190, 1, 300, true);
    compute_f32(&c);
    ValidateOptions o = {.n_validate = 16, .n_allocated = 200 * 190, .n_threads = 2, .never_all = true};
    Check r = check(&c, &o);
    assert_true(r.passed && r.n_suspect == 0);
    float *d = c.d;
    d[12345] += 0.5f;
    r = check(&c, &o);
    assert_true(!r.passed && r.n_suspect == 1);
    d[12345] = NAN;
    assert_false(check(&c, &o).passed);
    case_free(&c);
    c = make_case(TYPE_S, INIT_INF, 40, 40, 1, 8, false);
    compute_f32(&c);
    o.n_allocated = 1600;
    r = check(&c, &o);
    assert_true(r.passed && !r.covered);
    assert_non_null(strstr(r.text, "not finite"));
    case_free(&c);
}

/* Many batch matrices with one B, as images have one filter, and with a B of each: few blocks for each, no
 * false alarm, and a wrong element of any of them is found. */
static void test_freivalds_batches(void **state)
{
    (void)state;
    enum { M = 33, N = 70, BATCH = 90, K = 120 };
    for (int shared = 0; shared < 2; shared++) {
        Case c = make_case(TYPE_S, INIT_TRIG_SIN, M, N, BATCH, K, true);
        if (shared) c.g.b.batch = 0;
        compute_f32(&c);
        ValidateOptions o = {
            .n_validate = 16, .n_allocated = M * N * BATCH, .n_threads = 3, .never_all = true};
        Check r = check(&c, &o);
        assert_true(r.passed && r.covered && r.n_suspect == 0);
        float *d = c.d;
        for (size_t at = 7; at < M * N * BATCH; at += 31337) {
            const float old = d[at];
            d[at] += 0.5f;
            r = check(&c, &o);
            if (r.passed || r.n_suspect != 1)
                fail_msg("element %zu: %lld suspects", at, (long long)r.n_suspect);
            d[at] = old;
        }
        case_free(&c);
    }
}

static void test_freivalds_types(void **state)
{
    (void)state;
    static const DataType types[] = {TYPE_D, TYPE_Z, TYPE_C, TYPE_H, TYPE_B};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        Case c = make_case(types[t], INIT_RANDOM, 90, 70, 2, 50, t % 2);
        if (types[t] == TYPE_H || types[t] == TYPE_B) c.g.compute = TYPE_S;
        ValidateOptions o = {.n_validate = 16, .n_allocated = 90 * 70 * 2, .n_threads = 2, .never_all = true};
        Validator *v;
        Check r;
        assert_ok(validator_new(&c.g, &o, &v));
        assert_ok(validator_store(v, &c.d_view, c.d));
        assert_ok(validator_check(v, &c.d_view, &r));
        if (!r.passed || !r.covered || r.n_suspect) fail_msg("type %s: %s", type_letter(types[t]), r.text);
        Value x = matrix_at(&c.d_view, 11, 7, 1);
        number_store(types[t], c.d, 11 + 90 * 7 + 90 * 70, x.re * 2 + 100, x.im);
        assert_ok(validator_check(v, &c.d_view, &r));
        if (r.passed) fail_msg("type %s: a wrong element passed", type_letter(types[t]));
        validator_free(v);
        case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stride),
        cmocka_unit_test(test_error_formula),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_packed_product),
        cmocka_unit_test(test_zero_scalars),
        cmocka_unit_test(test_all_elements),
        cmocka_unit_test(test_freivalds_exact),
        cmocka_unit_test(test_freivalds_inexact),
        cmocka_unit_test(test_freivalds_batches),
        cmocka_unit_test(test_freivalds_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
