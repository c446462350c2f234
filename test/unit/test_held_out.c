/* Held-out sizes: inside the range of the given ones, by turns aligned and ragged, never one of them. */
#include "test/support.h"

#include "run/held_out.h"

enum { N_GIVEN = 5, N = 40 };

static void make(const ProblemType *pt, int64_t m, int64_t n, int64_t batch, int64_t k, ProblemSize *out)
{
    const int64_t v[] = {m, n, batch, k};
    assert_ok(problem_size_from_ints(pt, v, 4, out));
}

static void given_make(const ProblemType *pt, ProblemSize given[N_GIVEN])
{
    make(pt, 16, 4096, 1, 64, &given[0]);
    make(pt, 4096, 16, 1, 8192, &given[1]);
    make(pt, 1024, 1024, 1, 1024, &given[2]);
    make(pt, 128, 128, 16, 128, &given[3]);
    make(pt, 333, 777, 1, 555, &given[4]);
}

static void draws(void **state)
{
    (void)state;
    ProblemType pt;
    ProblemSize given[N_GIVEN], out[N], again[N], other[N];
    assert_ok(problem_type_gemm(&pt, false, true, TYPE_S, TYPE_S, TYPE_S));
    given_make(&pt, given);
    assert_int_equal(held_out_draw(&pt, given, N_GIVEN, 7, N, 2, out), N);
    assert_int_equal(held_out_draw(&pt, given, N_GIVEN, 7, N, 2, again), N);
    assert_int_equal(held_out_draw(&pt, given, N_GIVEN, 8, N, 2, other), N);
    int same = 0;
    for (int i = 0; i < N; i++) {
        int64_t m = size_m(&pt, &out[i]), n = size_n(&pt, &out[i]), k = size_k(&pt, &out[i]);
        assert_true(m >= 8 && m <= 4128 && n >= 8 && n <= 4128 && k >= 32 && k <= 8224);
        assert_true(size_batch(&pt, &out[i]) == 1 || size_batch(&pt, &out[i]) == 16);
        assert_true(m * n * k * size_batch(&pt, &out[i]) <= INT64_C(1024) * 1024 * 1024);
        assert_int_equal(held_out_is_aligned(&pt, &out[i]), i % 2 == 0);
        assert_true(problem_size_equal(&out[i], &again[i]));
        same += problem_size_equal(&out[i], &other[i]);
        for (int j = 0; j < N_GIVEN; j++) assert_false(problem_size_equal(&out[i], &given[j]));
        for (int j = 0; j < i; j++) assert_false(problem_size_equal(&out[i], &out[j]));
    }
    assert_true(same < N / 2);
}

/* Mixed sizes have the numbers of the given ones in other combinations; those of the first half are the same
 * when more are asked for, so that a continued run has the same ones. */
static void mixes(void **state)
{
    (void)state;
    ProblemType pt;
    ProblemSize given[N_GIVEN], out[N], fewer[N / 2];
    assert_ok(problem_type_gemm(&pt, false, true, TYPE_S, TYPE_S, TYPE_S));
    given_make(&pt, given);
    assert_int_equal(held_out_mix(&pt, given, N_GIVEN, 7, N, out), N);
    assert_int_equal(held_out_mix(&pt, given, N_GIVEN, 7, N / 2, fewer), N / 2);
    for (int i = 0; i < N; i++) {
        int n_equal[4] = {0};
        for (int j = 0; j < N_GIVEN; j++) {
            n_equal[0] += size_m(&pt, &out[i]) == size_m(&pt, &given[j]);
            n_equal[1] += size_n(&pt, &out[i]) == size_n(&pt, &given[j]);
            n_equal[2] += size_k(&pt, &out[i]) == size_k(&pt, &given[j]);
            n_equal[3] += size_batch(&pt, &out[i]) == size_batch(&pt, &given[j]);
            assert_false(problem_size_equal(&out[i], &given[j]));
        }
        for (int d = 0; d < 4; d++) assert_true(n_equal[d] > 0);
        for (int j = 0; j < i; j++) assert_false(problem_size_equal(&out[i], &out[j]));
        if (i < N / 2) assert_true(problem_size_equal(&out[i], &fewer[i]));
    }
}

/* A range of one size has no other: the count says so. */
static void narrow(void **state)
{
    (void)state;
    ProblemType pt;
    ProblemSize given[1], out[N];
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_S, TYPE_S, TYPE_S));
    make(&pt, 64, 64, 1, 64, &given[0]);
    assert_int_equal(held_out_draw(&pt, given, 1, 1, N, 2, out), 0);
    assert_int_equal(held_out_draw(&pt, given, 0, 1, N, 2, out), 0);
    assert_int_equal(held_out_mix(&pt, given, 1, 1, N, out), 0);
    assert_int_equal(held_out_mix(&pt, given, 0, 1, N, out), 0);
}

/* Own sizes keep their order, held-out ones come among them, and none is left out. */
static void deals(void **state)
{
    const uint32_t order[] = {4, 2, 3, 0, 1}, expected[] = {2, 0, 3, 1, 4};
    uint32_t out[7], listed[7];
    (void)state;
    held_out_deal(order, 3, 2, out);
    assert_memory_equal(out, expected, sizeof expected);
    held_out_deal(NULL, 2, 5, listed); /* more held out than others */
    for (uint32_t z = 0; z < 7; z++) {
        size_t at = 0;
        while (at < 7 && listed[at] != z) at++;
        assert_in_range(at, 0, 6);
    }
    assert_int_equal(listed[0], 0);
    assert_int_equal(listed[3], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(draws), cmocka_unit_test(mixes),
                                       cmocka_unit_test(narrow), cmocka_unit_test(deals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
