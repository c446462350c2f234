/* Unit tests of what is compared where a reference of all elements is too dear: bounds of rounding, whole
 * results against each other, some columns by product; and of the data for it (Uniform, Normal). */
#include "test/support.h"

#include <math.h>

#include "client/worker/bounds.h"
#include "client/worker/compare.h"
#include "client/worker/init.h"
#include "client/worker/number.h"

enum { M = 96, N = 80, K = 3000 };

typedef struct {
    Gemm g;
    float *a, *b, *d, *e;
    Matrix d_view, e_view;
} Case;

static float *make(InitType how, uint64_t seed, int64_t rows, int64_t cols, Matrix *view)
{
    Tensor t = {.type = TYPE_S, .size = {rows, cols, 1}, .stride = {1, rows, rows * cols}};
    assert_ok(tensor_finish(&t));
    float *data = calloc((size_t)(rows * cols), sizeof *data);
    assert_non_null(data);
    init_tensor(&t, how, seed, 2, data);
    *view = (Matrix){.type = TYPE_S, .data = data, .row = 1, .col = rows, .batch = rows * cols};
    return data;
}

/* a truncated to this number of mantissa bits. */
static float cut(float x, int bits)
{
    return (float)ldexp(nearbyint(ldexp((double)x, bits - ilogb(x == 0 ? 1 : (double)x))),
                        (x == 0 ? 0 : ilogb((double)x)) - bits);
}

/* D forwards and E backwards along K, in f32. */
static Case make_case(InitType how, int bits)
{
    Case c = {.g = {.m = M, .n = N, .batch = 1, .k = K, .alpha = {1, 0}, .compute = TYPE_S, .out = TYPE_S}};
    c.a = make(how, 1, M, K, &c.g.a);
    c.b = make(how, 2, K, N, &c.g.b);
    c.d = make(INIT_ZERO, 0, M, N, &c.d_view);
    c.e = make(INIT_ZERO, 0, M, N, &c.e_view);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            float x = 0, y = 0;
            for (int l = 0; l < K; l++) x += cut(c.a[i + l * M], bits) * cut(c.b[l + j * K], bits);
            for (int l = K - 1; l >= 0; l--) y += c.a[i + l * M] * c.b[l + j * K];
            c.d[i + j * M] = x;
            c.e[i + j * M] = y;
        }
    return c;
}

static void case_free(Case *c)
{
    free(c->a);
    free(c->b);
    free(c->d);
    free(c->e);
}

/* Long sums of normal numbers near zero are beyond the error formula and within the bound; a slice of K that
 * is missing is beyond both. */
static void test_bounds(void **state)
{
    (void)state;
    Case c = make_case(INIT_NORMAL, 24);
    Bounds *b;
    double worst = 0;
    assert_ok(bounds_new(&c.g, 2, 0, &b));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double want = reference_element(&c.g, i, j, 0).re, got = (double)c.d[i + j * M];
            double bound = bounds_of(b, i, j, 0, got, want);
            worst = fmax(worst, fabs(got - want) / bound);
            double slice = 0;
            for (int l = 0; l < 16; l++) slice += (double)c.a[i + l * M] * (double)c.b[l + j * K];
            if (fabs(slice) > 1 && fabs(slice) <= bound) fail_msg("a slice of %g is within %g", slice, bound);
        }
    if (!(worst < 0.5 && worst > 1e-4)) fail_msg("largest error is %g of its bound", worst);
    bounds_free(b);
    case_free(&c);
}

static void test_bounds_integers(void **state)
{
    (void)state;
    Case c = make_case(INIT_RANDOM, 24);
    Bounds *b;
    assert_ok(bounds_new(&c.g, 2, 0, &b));
    assert_true(bounds_of(b, 3, 4, 0, 100, 101) == 0);
    bounds_free(b);
    c.a[5] = NAN;
    assert_ok(bounds_new(&c.g, 2, 0, &b));
    assert_true(bounds_of(b, 3, 4, 0, 100, 101) == 0);
    bounds_free(b);
    case_free(&c);
}

static void test_compare(void **state)
{
    (void)state;
    Case c = make_case(INIT_NORMAL, 24);
    Check r;
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 0, &r));
    if (!r.passed) fail_msg("%s", r.text);
    assert_int_equal(r.n_checked, M * N);
    c.d[7 + 11 * M] += 2;
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 0, &r));
    assert_false(r.passed);
    assert_int_equal(r.n_wrong, 1);
    assert_non_null(strstr(r.text, "D(7,11,0)"));
    c.d[7 + 11 * M] = NAN;
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 0, &r));
    assert_false(r.passed);
    case_free(&c);
}

/* Products of inputs cut to 11 bits pass as xf32 alone. */
static void test_compare_xf32(void **state)
{
    (void)state;
    Case c = make_case(INIT_NORMAL, 7);
    Check r;
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 11, &r));
    if (!r.passed) fail_msg("%s", r.text);
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 0, &r));
    assert_false(r.passed);
    case_free(&c);
}

/* Rougher products pass as those of halves that were multiplied as bf16, and not as xf32. */
static void test_compare_bf16(void **state)
{
    (void)state;
    Case c = make_case(INIT_NORMAL, 1);
    Check r;
    assert_int_equal(number_input_bits(TYPE_S, true, false), 11);
    assert_int_equal(number_input_bits(TYPE_H, false, true), 8);
    assert_int_equal(number_input_bits(TYPE_H, false, false), 0);
    assert_int_equal(number_input_bits(TYPE_B, true, true), 0);
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 8, &r));
    if (!r.passed) fail_msg("%s", r.text);
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 11, &r));
    assert_false(r.passed);
    case_free(&c);
}

/* Products of 8-bit floats that wgmma has cut before their sum are right in f32, too. */
static void test_compare_f8(void **state)
{
    (void)state;
    Case c = make_case(INIT_NORMAL, 8);
    Check r;
    assert_int_equal(number_input_bits(TYPE_F8, false, false), 0);
    assert_ok(
        compare_results(&c.g, &c.d_view, &c.e_view, 2, number_input_bits(TYPE_F8_OCP, false, false), &r));
    if (!r.passed) fail_msg("%s", r.text);
    assert_ok(compare_results(&c.g, &c.d_view, &c.e_view, 2, 0, &r));
    assert_false(r.passed);
    case_free(&c);
}

/* Some columns: a wrong element in them is found, one elsewhere only by the whole check. */
static void test_some(void **state)
{
    (void)state;
    Case c = make_case(INIT_NORMAL, 24);
    ValidateOptions o = {.n_validate = 4, .n_allocated = M * N, .n_threads = 2, .never_all = true};
    Validator *v;
    Check r;
    int64_t j0, j1, b, last = -1, n = 0;
    bool covered[N] = {false};
    assert_ok(validator_new(&c.g, &o, &v));
    assert_true(validator_has_ranges(v));
    for (; validator_range(v, n, &j0, &j1, &b); n++) {
        assert_true(j0 > last && j1 > j0 && j1 <= N && b == 0);
        for (int64_t j = j0; j < j1; j++) covered[j] = true;
        last = j1 - 1;
    }
    assert_true(n == 5 && covered[0] && covered[N - 1]); /* an eighth of the blocks */
    assert_ok(validator_check_some(v, &c.d_view, &r));
    assert_true(r.passed && !r.covered);
    for (int j = 0; j < N; j++) {
        float was = c.d[5 + j * M];
        c.d[5 + j * M] += 40;
        assert_ok(validator_check_some(v, &c.d_view, &r));
        if (r.passed == covered[j]) fail_msg("column %d, covered %d: passed %d", j, covered[j], r.passed);
        assert_ok(validator_check(v, &c.d_view, &r));
        assert_false(r.passed);
        c.d[5 + j * M] = was;
    }
    validator_free(v);
    case_free(&c);
}

/* Mean, variance, range; the same whether drawn from a table (large tensors) or not. */
static void test_random_numbers(void **state)
{
    (void)state;
    static const struct {
        InitType how;
        double mean, variance, most;
    } kind[] = {{INIT_UNIFORM, 0, 1 / 3.0, 1}, {INIT_NORMAL, 0, 1, 7}};
    enum { MANY = 200000, FEW = 1000 };
    for (size_t k = 0; k < 2; k++)
        for (int t = 0; t < 2; t++) {
            DataType type = t ? TYPE_H : TYPE_C;
            int64_t parts = t ? 1 : 2;
            Tensor large = {.type = type, .size = {MANY, 1, 1}, .stride = {1, MANY, MANY}}, small = large;
            small.size[0] = FEW;
            assert_ok(tensor_finish(&large));
            assert_ok(tensor_finish(&small));
            char *x = malloc(MANY * 8), *y = malloc(FEW * 8);
            assert_true(x && y);
            init_tensor(&large, kind[k].how, 9, 2, x);
            init_tensor(&small, kind[k].how, 9, 1, y);
            assert_memory_equal(x, y, (size_t)(FEW * type_bytes(type)));
            double sum = 0, squares = 0, cross = 0;
            for (int64_t i = 0; i < MANY; i++) {
                double re, im;
                numbers_load(type, x, i, 1, 1, &re, &im);
                assert_true(fabs(re) <= kind[k].most);
                sum += re + im;
                squares += re * re + im * im;
                cross += re * im;
            }
            double n = MANY * (double)parts;
            if (fabs(sum / n) > 0.01 || fabs(squares / n - kind[k].variance) > 0.01 || fabs(cross / n) > 0.01)
                fail_msg("%s: mean %g, variance %g, of parts %g", init_name(kind[k].how), sum / n,
                         squares / n, cross / n);
            free(x);
            free(y);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),       cmocka_unit_test(test_bounds_integers),
        cmocka_unit_test(test_compare),      cmocka_unit_test(test_compare_xf32),
        cmocka_unit_test(test_compare_bf16), cmocka_unit_test(test_compare_f8),
        cmocka_unit_test(test_some),         cmocka_unit_test(test_random_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
