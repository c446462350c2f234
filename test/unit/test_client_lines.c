/* Unit tests of loops over lines, against plain loops, and of pieces of a range. */
#include "test/support.h"

#include <math.h>

#include "client/worker/lines.h"
#include "client/worker/pieces.h"

enum { MOST = 75 };

/* Small integers, so that sums are exact in any order. */
static void fill(double *x, int64_t n, int64_t seed)
{
    for (int64_t i = 0; i < n; i++) x[i] = (double)((i * 37 + seed * 11) % 41 - 20);
}

static void test_sums(void **state)
{
    (void)state;
    for (int64_t n = 0; n <= MOST; n++) {
        double x[MOST], y[MOST], to[MOST + 1], squares[MOST + 1], lanes[LANES] = {5}, want[LANES] = {5};
        double dot = 0, max = 0;
        fill(x, n, 1), fill(y, n, 2), fill(to, n + 1, 3), fill(squares, n + 1, 4);
        line_add(to, -3, x, n);
        line_add_squares(squares, x, n);
        line_add_lanes(lanes, x, n / LANES * LANES);
        for (int64_t i = 0; i <= n; i++) { /* and not number n */
            double t[MOST + 1], s[MOST + 1];
            fill(t, n + 1, 3), fill(s, n + 1, 4);
            assert_true(to[i] == t[i] - (i < n ? 3 * x[i] : 0));
            assert_true(squares[i] == s[i] + (i < n ? x[i] * x[i] : 0));
        }
        for (int64_t i = 0; i < n; i++) {
            dot += x[i] * y[i];
            max = fmax(max, x[i]);
            if (i < n / LANES * LANES) want[i % LANES] += x[i] * x[i];
        }
        assert_true(line_dot(x, y, n) == dot && line_max(x, n) == max);
        assert_memory_equal(lanes, want, sizeof want);
    }
}

/* One number that differs, at each place of lines of each length. */
static void test_places(void **state)
{
    (void)state;
    static const double whole[] = {0x1p52, 0x1p53 + 2, -0x1p60, 1e300, -0.0, INFINITY, -INFINITY},
                        other[] = {0.5, -0.5, 1e-300, 0x1p52 - 0.5, -0x1p51 - 0.5, NAN};
    double x[MOST];
    fill(x, MOST, 1);
    for (int64_t n = 1; n <= MOST; n++)
        for (int64_t i = 0; i < n; i++) {
            const double old = x[i];
            assert_true(line_is_integral(x, n));
            for (size_t v = 0; v < sizeof whole / sizeof *whole; v++) {
                x[i] = whole[v];
                assert_true(line_is_integral(x, n));
            }
            for (size_t v = 0; v < sizeof other / sizeof *other; v++) {
                x[i] = other[v];
                assert_false(line_is_integral(x, n));
            }
            assert_true(line_max(x, n) <= 20); /* NaN does not count */
            x[i] = 1000;
            assert_true(line_max(x, n) == 1000);
            x[i] = old;
        }
}

static void test_pieces(void **state)
{
    (void)state;
    const Pieces whole = pieces_whole(10), four = {100, 4, 13}, close = {12, 4, 3};
    assert_true(pieces_are_whole(&whole) && pieces_are_whole(&close) && !pieces_are_whole(&four));
    assert_int_equal(pieces_total(&whole), 10);
    assert_int_equal(pieces_total(&four), 52);
    for (int64_t i = 0; i < 10; i++) {
        assert_int_equal(pieces_number(&whole, i), i);
        assert_int_equal(pieces_number(&close, i), i);
        assert_int_equal(pieces_run(&whole, i, 4), i < 6 ? 4 : 10 - i);
    }
    static const int64_t start[] = {0, 29, 58, 87};
    for (int64_t i = 0; i < 52; i++) {
        assert_int_equal(piece_start(&four, i / 13), start[i / 13]);
        assert_int_equal(pieces_number(&four, i), start[i / 13] + i % 13);
        assert_int_equal(pieces_run(&four, i, 100), 13 - i % 13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
