/* Distribution of tiles over subgroups: golden tables; every element belongs to as many as it must. */
#include "test/support.h"

#include "index/distribute.h"

static void golden(const TileMap *m, const int32_t size[2], const char *expected)
{
    Buf out;
    buf_init(&out);
    distribute_dump(m, size, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_fini(&out);
}

/* The table of the XeTile proposal. */
static void example_of_the_proposal(void **state)
{
    (void)state;
    static const TileMap m = {{2, 2}, {32, 128}};
    golden(&m, (const int32_t[]){128, 128},
           "; [0:31, 0:127] [0, 0] [0, 1]\n; [32:63, 0:127] [1, 0] [1, 1]\n"
           "; [64:95, 0:127] [0, 0] [0, 1]\n; [96:127, 0:127] [1, 0] [1, 1]\n");
}

static void both_sides(void **state)
{
    (void)state;
    static const TileMap wrapped = {{2, 2}, {8, 8}}, robin = {{1, 2}, {8, 8}};
    golden(&wrapped, (const int32_t[]){8, 16}, "; [0:7, 0:7] [0, 0] [1, 0]\n; [0:7, 8:15] [0, 1] [1, 1]\n");
    golden(&robin, (const int32_t[]){8, 32},
           "; [0:7, 0:7] [0, 0]\n; [0:7, 8:15] [0, 1]\n; [0:7, 16:23] [0, 0]\n; [0:7, 24:31] [0, 1]\n");
}

/* Subtiles of each coordinate. */
static int count(const int32_t size[2], const TileMap *m)
{
    int n = 1;
    for (int i = 0; i < 2; i++)
        n *= distribute_rounds(distribute_subtiles(size[i], m->data[i]), m->layout[i]);
    return n;
}

static void counts(void **state)
{
    (void)state;
    static const TileMap a = {{4, 4}, {2, 2}}, b = {{8, 4}, {16, 16}};
    assert_int_equal(count((const int32_t[]){24, 32}, &a), 12);
    assert_int_equal(count((const int32_t[]){256, 128}, &b), 4);
}

/* Every subtile belongs to max(1, layout / n) coordinates, and exactly one of them writes it. */
static void every_subtile_once(void **state)
{
    (void)state;
    for (int32_t n = 1; n <= 16; n++)
        for (int32_t layout = 1; layout <= 16; layout++) {
            if (distribute_check("wg_map", 0, n, layout, 1)) continue;
            for (int32_t s = 0; s < n; s++) {
                int owners = 0, writers = 0;
                for (int32_t c = 0; c < layout; c++) {
                    if (!distribute_has(n, layout, c, s)) continue;
                    Expr nodes[8];
                    ExprPool p;
                    int64_t writes = 0;
                    expr_pool_fixed(&p, nodes, 8);
                    assert_true(
                        expr_eval(distribute_writes(&p, n, layout, expr_const(&p, c)), NULL, &writes));
                    owners++;
                    writers += (int)writes;
                }
                assert_int_equal(owners, layout > n ? layout / n : 1);
                assert_int_equal(writers, 1);
            }
        }
}

static void refused(void **state)
{
    (void)state;
    assert_int_equal(distribute_check("wg_map", 0, 128, 2, 48), ERR_INPUT);
    assert_string_equal(err_message(), "wg_map: 128 rows are no multiple of the 48 of its data");
    assert_int_equal(distribute_check("wg_map", 1, 96, 2, 32), ERR_INPUT);
    assert_string_equal(err_message(), "wg_map: of 96 columns and layout * data = 2 * 32 = 64, neither is a "
                                       "multiple of the other");
    assert_int_equal(distribute_check("wg_map", 1, 64, 2, 64), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_the_proposal), cmocka_unit_test(both_sides), cmocka_unit_test(counts),
        cmocka_unit_test(every_subtile_once),      cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
