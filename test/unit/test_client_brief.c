/* Unit tests of the brief check: which part of D it checks, what it reads, what it finds. */
#include "test/support.h"

#include <math.h>

#include "client/worker/freivalds.h"
#include "client/worker/number.h"
#include "client/worker/validate.h"
#include "test/unit/gemm_case.h"

/* A brief check of right results, and whether it finds a wrong element. Only element 0 is in the sample. */
static Validator *brief_new(Case *c, int64_t most)
{
    const ValidateOptions o = {.n_validate = 1,
                               .n_allocated = c->g.m * c->g.n * c->g.batch,
                               .n_threads = 3,
                               .never_all = true,
                               .brief = true,
                               .brief_max = most};
    Validator *v;
    assert_ok(validator_new(&c->g, &o, &v));
    assert_ok(validator_store(v, &c->d_view, c->d));
    return v;
}

static bool accepts(Validator *v, const Case *c, bool covered)
{
    Check r;
    assert_ok(validator_check(v, &c->d_view, &r));
    return r.passed && r.n_suspect == 0 && r.covered == covered && r.n_checked == 1 && !r.text[0];
}

static bool finds(Validator *v, const Case *c, int64_t i, int64_t j, int64_t b)
{
    Check r, some;
    const int64_t at = i + c->g.m * (j + c->g.n * b);
    const Value x = matrix_at(&c->d_view, i, j, b);
    number_store(c->g.out, c->d, at, x.re < 0 ? 100 : -100, x.im);
    assert_ok(validator_check(v, &c->d_view, &r));
    assert_ok(validator_check_some(v, &c->d_view, &some));
    number_store(c->g.out, c->d, at, x.re, x.im);
    assert_true(some.passed || !r.passed); /* fewer columns: it finds no more */
    assert_true(r.passed == (r.n_suspect == 0));
    return !r.passed;
}

/* 256 rows in two stripes, 64 columns in 32 blocks of two, 22 or 23 apart: rows 0..127 and 1872..1999,
 * columns 0, 1, 22, 23, ... 698, 699. */
static void test_brief(void **state)
{
    (void)state;
    static const int64_t in[][2] = {{1999, 0}, {0, 699},    {0, 1}, {1999, 699},
                                    {127, 22}, {1872, 698}, {5, 23}},
                         out[][2] = {{128, 0}, {1000, 0},   {1871, 699}, {0, 2},
                                     {7, 21},  {1999, 697}, {900, 350}};
    static const InitType fills[] = {INIT_RANDOM, INIT_TRIG_SIN};
    for (int way = 0; way < 4; way++) {
        Case c = make_case(TYPE_S, fills[way / 2], 2000, 700, 1, 64, way % 2);
        Validator *v = brief_new(&c, 1 << 14);
        assert_true(accepts(v, &c, false));
        for (size_t x = 0; x < sizeof in / sizeof *in; x++)
            if (!finds(v, &c, in[x][0], in[x][1], 0)) fail_msg("way %d: place %zu is not checked", way, x);
        for (size_t x = 0; x < sizeof out / sizeof *out; x++)
            if (finds(v, &c, out[x][0], out[x][1], 0)) fail_msg("way %d: place %zu is checked", way, x);
        validator_free(v);
        v = brief_new(&c, 0); /* small operands: all of D */
        assert_true(accepts(v, &c, true));
        for (size_t x = 0; x < sizeof out / sizeof *out; x++)
            assert_true(finds(v, &c, out[x][0], out[x][1], 0));
        validator_free(v);
        case_free(&c);
    }
}

static void spoil(float *x, int64_t n, int64_t from, int64_t to, int64_t stride, int64_t of_line)
{
    for (int64_t i = from; i < to; i++)
        for (int64_t l = 0; l < n; l++) x[i * stride + l * of_line] = NAN;
}

/* Nothing is read of the other rows of A, the other columns of B, or the other places of C and D: these are
 * NaN, which would show. When all of D is wrong, each sum that is looked at is: they are counted. */
static void test_brief_reads(void **state)
{
    (void)state;
    enum { M = 2000, N = 700, K = 64 };
    for (int trans = 0; trans < 2; trans++) {
        Case c = make_case(TYPE_S, INIT_RANDOM, M, N, 1, K, trans);
        validator_free(brief_new(&c, 0));
        spoil(c.a, K, 128, 1872, c.g.a.row, c.g.a.col);
        spoil(c.c, N, 128, 1872, 1, M);
        spoil(c.d, N, 128, 1872, 1, M);
        for (int64_t q = 0; q < 31; q++) {
            const int64_t from = q * 698 / 31 + 2, to = (q + 1) * 698 / 31;
            spoil(c.b, K, from, to, c.g.b.col, c.g.b.row);
            spoil(c.c, M, from, to, M, 1);
            spoil(c.d, M, from, to, M, 1);
        }
        Freivalds *f;
        int64_t n;
        assert_ok(freivalds_new(&c.g, 2, 0, 1 << 14, &f));
        assert_true(freivalds_usable(f) && freivalds_exact(f) && !freivalds_covers(f));
        assert_int_equal(freivalds_n_blocks(f), 32);
        assert_ok(freivalds_check(f, &c.d_view, 0, NULL, 0, &n));
        assert_int_equal(n, 0);
        memset(c.d, 0xff, sizeof(float) * M * N);
        assert_ok(freivalds_check(f, &c.d_view, 0, NULL, 0, &n));
        assert_int_equal(n, 256 * 32);
        assert_ok(freivalds_check(f, &c.d_view, 3, NULL, 0, &n));
        assert_int_equal(n, 256 * 3);
        freivalds_free(f);
        case_free(&c);
    }
}

/* Stripes of 512 rows, all columns. */
static void test_brief_stripes(void **state)
{
    (void)state;
    Case c = make_case(TYPE_S, INIT_RANDOM, 4000, 64, 1, 8, false);
    c.g.beta[0] = 0;
    Validator *v = brief_new(&c, 1 << 14);
    assert_true(accepts(v, &c, false));
    for (int64_t stripe = 0; stripe < 4; stripe++) {
        const int64_t start = stripe * (4000 - 512) / 3;
        for (int64_t j = 0; j < 64; j += 21) {
            assert_true(finds(v, &c, start, j, 0) && finds(v, &c, start + 300, j, 0));
            assert_true(finds(v, &c, start + 511, j, 0));
            assert_false(stripe > 0 && finds(v, &c, start - 1, j, 0));
            assert_false(stripe < 3 && finds(v, &c, start + 512, j, 0));
        }
    }
    validator_free(v);
    case_free(&c);
}

/* First, columns alone are left out: all rows of 163 of 2000 are looked at. Then rows alone are, of 24
 * columns, an eighth of which is three. */
static void test_brief_of_one(void **state)
{
    (void)state;
    Case c = make_case(TYPE_S, INIT_RANDOM, 100, 2000, 1, 64, false);
    Validator *v = brief_new(&c, 1 << 14);
    assert_true(accepts(v, &c, false));
    for (int64_t i = 0; i < 100; i += 33)
        assert_true(finds(v, &c, i, 0, 0) && finds(v, &c, i, 1999, 0) && !finds(v, &c, i, 1000, 0));
    validator_free(v);
    case_free(&c);
    c = make_case(TYPE_S, INIT_RANDOM, 4000, 24, 1, 8, false);
    c.g.beta[0] = 0;
    v = brief_new(&c, 1 << 14);
    assert_true(accepts(v, &c, false));
    int64_t j0, j1, b, n = 0;
    while (validator_range(v, n, &j0, &j1, &b)) n++;
    assert_int_equal(n, 3);
    validator_free(v);
    case_free(&c);
}

/* 16 of 40 batch matrices, 16 rows of each in two stripes, 16 columns in blocks of 4; with a common B more
 * columns. */
static void test_brief_batches(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        Case c = make_case(TYPE_S, INIT_RANDOM, 300, 200, 40, 64, shared);
        if (shared) c.g.b.batch = 0;
        Validator *v = brief_new(&c, 1 << 14);
        assert_true(accepts(v, &c, false));
        for (int64_t b = 0; b < 40; b++) {
            bool in = false;
            for (int64_t x = 0; x < 16; x++) in |= x * 39 / 15 == b;
            assert_true(finds(v, &c, 299, 199, b) == in && finds(v, &c, 7, 0, b) == in);
            assert_false(finds(v, &c, 8, 0, b) || finds(v, &c, 291, 199, b));
            assert_true(finds(v, &c, 0, 4, b) == (in && shared));
        }
        validator_free(v);
        case_free(&c);
    }
}

static void test_brief_types(void **state)
{
    (void)state;
    static const DataType types[] = {TYPE_S, TYPE_D, TYPE_Z, TYPE_C, TYPE_H, TYPE_B, TYPE_I};
    static const int64_t size[4] = {600, 500, 2, 50};
    for (size_t t = 0; t < 2 * sizeof types / sizeof *types; t++) {
        const DataType type = types[t / 2];
        Case c = type == TYPE_I ? packed_case(INIT_RANDOM, INIT_RANDOM, size, t % 2, 0)
                                : make_case(type, INIT_RANDOM, 600, 500, 2, 50, t % 2);
        if (type == TYPE_H || type == TYPE_B) c.g.compute = TYPE_S;
        Validator *v = brief_new(&c, 1 << 13);
        if (!accepts(v, &c, false)) fail_msg("type %s: a right result fails", type_letter(type));
        if (!finds(v, &c, 599, 0, 1) || !finds(v, &c, 0, 499, 0) || !finds(v, &c, 599, 499, 1) ||
            finds(v, &c, 300, 0, 0))
            fail_msg("type %s: wrong elements", type_letter(type));
        validator_free(v);
        case_free(&c);
    }
}

/* A quick check reads a part of these columns: the ranges, whose last has the last column. */
static void test_brief_ranges(void **state)
{
    (void)state;
    enum { M = 2000, N = 700, K = 64 };
    Case c = make_case(TYPE_S, INIT_RANDOM, M, N, 1, K, false);
    Validator *v = brief_new(&c, 1 << 14);
    int64_t j0, j1, b, n = 0, end = 0;
    Check r;
    assert_true(validator_has_ranges(v));
    float *d = calloc(M * N, sizeof *d); /* zero elsewhere */
    assert_non_null(d);
    for (; validator_range(v, n, &j0, &j1, &b); n++, end = j1) {
        assert_true(b == 0 && j1 - j0 == 2 && (n == 0 ? j0 == 0 : j0 > end));
        memcpy(d + M * j0, (float *)c.d + M * j0, sizeof *d * (size_t)(M * (j1 - j0)));
    }
    assert_true(n == 8 && end == N);
    Matrix some = c.d_view;
    some.data = d;
    assert_ok(validator_check_some(v, &some, &r));
    assert_true(r.passed && !r.covered && r.n_suspect == 0);
    static const size_t places[] = {M - 1, 0, M * (N - 1), M * N - 1};
    for (size_t x = 0; x < 4; x++) {
        d[places[x]] += 100;
        assert_ok(validator_check_some(v, &some, &r));
        assert_true(!r.passed && r.n_suspect == 1);
        d[places[x]] -= 100;
    }
    free(d);
    validator_free(v);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brief),         cmocka_unit_test(test_brief_reads),
        cmocka_unit_test(test_brief_stripes), cmocka_unit_test(test_brief_of_one),
        cmocka_unit_test(test_brief_batches), cmocka_unit_test(test_brief_types),
        cmocka_unit_test(test_brief_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
