/* Workgroup mapping: formulas against values from the format notes, and as bijections over many grids. */
#include "kernel/mapping.h"
#include "test/support.h"

/* Every tile is visited exactly once, whatever the grid and the width. */
static void test_wgm_bijection(void **state)
{
    (void)state;
    for (uint32_t t0 = 1; t0 < 8; t0++)
        for (uint32_t t1 = 1; t1 < 12; t1++)
            for (uint32_t wgm = 1; wgm < 10; wgm++) {
                unsigned char seen[8 * 12] = {0};
                for (uint32_t y = 0; y < t1; y++)
                    for (uint32_t x = 0; x < t0; x++) {
                        uint32_t a = x, b = y;
                        mapping_wgm(wgm, t0, t1, &a, &b);
                        assert_true(a < t0 && b < t1);
                        assert_int_equal(seen[a + b * t0]++, 0);
                    }
            }
}

/* Two columns are walked together: down the columns, two by two. */
static void test_wgm_order(void **state)
{
    (void)state;
    static const uint32_t want[6][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}};
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t a = i % 3, b = i / 3;
        mapping_wgm(2, 3, 4, &a, &b);
        assert_int_equal(a, want[i][0]);
        assert_int_equal(b, want[i][1]);
    }
    uint32_t words[3];
    mapping_wgm_words(8, 8, words);
    assert_int_equal(words[0], 1), assert_int_equal(words[1], 8), assert_int_equal(words[2], 268435457);
    mapping_wgm_words(8, 4, words);
    assert_int_equal(words[0], 0), assert_int_equal(words[1], 4), assert_int_equal(words[2], 536870913);
}

static void test_gsu(void **state)
{
    (void)state;
    for (int rr = 0; rr < 2; rr++)
        for (uint32_t tiles1 = 1; tiles1 < 6; tiles1++)
            for (uint32_t gsu = 1; gsu < 6; gsu++)
                for (uint32_t y = 0; y < tiles1 * gsu; y++) {
                    uint32_t part, wg1;
                    mapping_gsu(y, tiles1, gsu, rr, &part, &wg1);
                    assert_true(part < gsu && wg1 < tiles1);
                    assert_int_equal(mapping_gsu_row(part, wg1, tiles1, gsu, rr), y);
                }
    uint32_t part, wg1;
    mapping_gsu(5, 3, 2, false, &part, &wg1);
    assert_int_equal(part, 1), assert_int_equal(wg1, 2);
    mapping_gsu(5, 3, 2, true, &part, &wg1);
    assert_int_equal(part, 1), assert_int_equal(wg1, 2);
    mapping_gsu(1, 3, 2, true, &part, &wg1);
    assert_int_equal(part, 0), assert_int_equal(wg1, 1);
}

/* Each chunk of K belongs to exactly one part. */
static void test_chunks(void **state)
{
    (void)state;
    for (int rr = 0; rr < 2; rr++)
        for (int64_t k = 0; k < 70; k += 3)
            for (uint32_t gsu = 1; gsu < 9; gsu++) {
                unsigned char seen[16] = {0};
                int64_t n = mapping_ceil_div(k, 8), sum = 0;
                for (uint32_t p = 0; p < gsu; p++) {
                    MappingChunks c = mapping_chunks(k, 8, p, gsu, rr);
                    for (int64_t i = 0; i < c.count; i++) {
                        int64_t at = c.first + i * c.step;
                        assert_true(at < n);
                        assert_int_equal(seen[at]++, 0);
                    }
                    sum += c.count;
                }
                assert_int_equal(sum, n);
            }
}

static void test_grid(void **state)
{
    (void)state;
    uint32_t grid[3];
    assert_true(mapping_grid(100, 64, 3, 48, 32, 4, grid));
    assert_int_equal(grid[0], 3), assert_int_equal(grid[1], 8), assert_int_equal(grid[2], 3);
    assert_false(mapping_grid(INT64_C(1) << 40, 1, 1, 16, 16, 1, grid));
}

static void test_stagger(void **state)
{
    (void)state;
    assert_int_equal(mapping_stagger_mask(32, 2, 256, 16, 1), 3);
    assert_int_equal(mapping_stagger_mask(32, 2, 4096, 16, 1), 31);
    assert_int_equal(mapping_stagger_mask(32, 2, 256, 16, 4), 0);
    assert_int_equal(mapping_stagger_mask(0, 2, 256, 16, 1), 0);
    assert_int_equal(mapping_stagger_start(5, 3, 2), 4);
}

static void test_others(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 40; n++)
        for (uint32_t dies = 1; dies < 9; dies++) {
            unsigned char seen[40] = {0};
            for (uint32_t id = 0; id < n; id++) {
                uint32_t to = mapping_xcc(id, n, dies);
                assert_true(to < n);
                assert_int_equal(seen[to]++, 0);
            }
        }
    assert_int_equal(mapping_xcc(8, 16, 8), 1);
    for (uint32_t n = 1; n < 7; n++) {
        int64_t first, last, end = 0;
        for (uint32_t id = 0; id < n; id++) {
            mapping_stream_k(3, 5, id, n, &first, &last);
            assert_int_equal(first, end);
            end = last;
        }
        assert_int_equal(end, 15);
    }
    uint32_t wg[3];
    mapping_persistent(23, 4, 3, wg);
    assert_int_equal(wg[0], 3), assert_int_equal(wg[1], 2), assert_int_equal(wg[2], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wgm_bijection), cmocka_unit_test(test_wgm_order),
        cmocka_unit_test(test_gsu),           cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_grid),          cmocka_unit_test(test_stagger),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
