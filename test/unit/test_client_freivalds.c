/* Unit tests of the product check: what it finds out about its operands, and how it divides its work. */
#include "test/support.h"

#include <math.h>

#include "client/worker/freivalds.h"
#include "client/worker/number.h"
#include "client/worker/validate.h"
#include "test/unit/gemm_case.h"

static Freivalds *make_check(const Case *c)
{
    Freivalds *f;
    assert_ok(freivalds_new(&c->g, 3, 0, 0, &f));
    return f;
}

static void assert_facts(const Case *c, bool usable, bool exact)
{
    Freivalds *f = make_check(c);
    assert_true(freivalds_usable(f) == usable);
    if (usable) assert_true(freivalds_exact(f) == exact);
    freivalds_free(f);
}

/* One number of one operand, at its start, in the middle and at its end, decides whether sums are finite, and
 * whether they are exact: 2^20 times another 2^20 is not, in f32. */
static void test_facts(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        const DataType type = way / 2 ? TYPE_C : TYPE_S;
        Case c = make_case(type, INIT_RANDOM, 133, 70, 2, 600, way % 2);
        const int64_t parts = way / 2 ? 2 : 1;
        float *operand[] = {c.a, c.b, c.c};
        const int64_t n[] = {133 * 600 * 2 * parts, 600 * 70 * 2 * parts, 133 * 70 * 2 * parts};
        assert_facts(&c, true, true);
        for (int o = 0; o < 3; o++)
            for (int64_t place = 0; place < 4; place++) {
                float *x = &operand[o][(n[o] - 1) * place / 3], old = *x;
                *x = 0.5f;
                assert_facts(&c, true, false);
                *x = -INFINITY;
                assert_facts(&c, false, false);
                *x = NAN;
                assert_facts(&c, false, false);
                *x = 0x1p24f;
                assert_facts(&c, true, false);
                *x = old;
            }
        case_free(&c);
    }
}

/* Right results with their roundings, of operands in both orders: the norms of A, B and D make the tolerance,
 * without any of them it is exceeded. */
static void test_tolerance(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        enum { M = 140, N = 130, K = 700 };
        Case c = make_case(TYPE_S, INIT_TRIG_SIN, M, N, 1, K, way % 2);
        if (way / 2) c.g.beta[0] = 0;
        const float *a = c.a, *b = c.b, *add = c.c;
        float *d = c.d;
        for (int64_t j = 0; j < N; j++)
            for (int64_t i = 0; i < M; i++) {
                float s = 0;
                for (int64_t l = 0; l < K; l++)
                    s += a[i * c.g.a.row + l * c.g.a.col] * b[l * c.g.b.row + j * c.g.b.col];
                d[i + M * j] = 2 * s + (float)c.g.beta[0] * add[i + M * j];
            }
        Freivalds *f = make_check(&c);
        int64_t n;
        assert_ok(freivalds_check(f, &c.d_view, 0, NULL, 0, &n));
        assert_true(freivalds_usable(f) && !freivalds_exact(f) && n == 0);
        d[M * 77 + 139] += 0.25f;
        assert_ok(freivalds_check(f, &c.d_view, 0, NULL, 0, &n));
        assert_int_equal(n, 1);
        freivalds_free(f);
        case_free(&c);
    }
}

/* Stores the right D, has it checked, and looks whether a wrong element is one suspect. */
static void assert_sensitive(Case *c, const int64_t (*place)[3], size_t n_places)
{
    const ValidateOptions o = {
        .n_validate = 1, .n_allocated = c->g.m * c->g.n * c->g.batch, .n_threads = 3, .never_all = true};
    Validator *v;
    Check r;
    assert_ok(validator_new(&c->g, &o, &v));
    assert_ok(validator_store(v, &c->d_view, c->d));
    assert_ok(validator_check(v, &c->d_view, &r));
    assert_true(r.passed && r.covered && r.n_suspect == 0);
    for (size_t x = 0; x < n_places; x++) {
        const int64_t i = place[x][0], j = place[x][1], b = place[x][2], at = i + c->g.m * (j + c->g.n * b);
        const Value old = matrix_at(&c->d_view, i, j, b);
        number_store(c->g.out, c->d, at, old.re < 0 ? 1e6 : -1e6, old.im);
        assert_ok(validator_check(v, &c->d_view, &r));
        assert_true(!r.passed && r.n_suspect == 1);
        number_store(c->g.out, c->d, at, old.re, old.im);
    }
    validator_free(v);
}

/* Blocks of more columns than are read at once, more rows than a task of the search has, and sums that are so
 * long that the batch matrices are not prepared all at once. */
static void test_divisions(void **state)
{
    (void)state;
    static const int64_t wide[][3] = {{0, 0, 0}, {2, 511, 0}, {1, 512, 0}, {1, 39999, 0}},
                         high[][3] = {{0, 0, 0}, {2047, 1, 0}, {2048, 1, 0}, {4999, 2, 0}},
                         deep[][3] = {{0, 0, 0}, {0, 0, 1}, {0, 0, 2}};
    for (int trans = 0; trans < 2; trans++) {
        Case c = make_case(TYPE_S, INIT_RANDOM, 3, 40000, 1, 5, trans);
        assert_sensitive(&c, wide, 4);
        case_free(&c);
        c = make_case(TYPE_S, INIT_RANDOM, 5000, 3, 1, 5, trans);
        assert_sensitive(&c, high, 4);
        memset(c.d, 0xff, sizeof(float) * 5000 * 3);
        Freivalds *f = make_check(&c);
        int64_t n;
        assert_ok(freivalds_check(f, &c.d_view, 0, NULL, 0, &n));
        assert_int_equal(n, 5000 * freivalds_n_blocks(f));
        freivalds_free(f);
        case_free(&c);
    }
    Case c = make_case(TYPE_H, INIT_TRIG_SIN, 1, 1, 3, 3 << 20, false);
    c.g.compute = TYPE_S;
    c.g.out = TYPE_S;
    c.d_view.type = TYPE_S;
    free(c.d);
    c.d = calloc(3, sizeof(float));
    c.d_view.data = c.d;
    assert_sensitive(&c, deep, 3);
    case_free(&c);
}

/* All factors and the operands have imaginary parts. */
static void test_complex(void **state)
{
    (void)state;
    static const int64_t place[][3] = {{0, 0, 0}, {149, 89, 1}, {75, 3, 0}};
    for (int way = 0; way < 4; way++) {
        Case c = make_case(way / 2 ? TYPE_Z : TYPE_C, INIT_RANDOM, 150, 90, 2, 300, way % 2);
        c.g.alpha[1] = -1, c.g.beta[1] = 5;
        c.g.a.conj = way % 2;
        c.g.b.conj = !c.g.a.conj;
        assert_sensitive(&c, place, 3);
        case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_divisions),
        cmocka_unit_test(test_complex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
