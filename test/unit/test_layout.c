/* Layouts of local memory: places against tables and as injections, what is contiguous, and that addresses of
 * a thread that differ by constants have one base. */
#include "test/support.h"

#include "index/layout.h"

static int64_t at(const Layout *l, int64_t line, int64_t i)
{
    Expr node[80];
    ExprPool p;
    expr_pool_fixed(&p, node, 80);
    const Expr *e = layout_at(&p, l, expr_var(&p, "line", 0, 0, 63), expr_var(&p, "at", 1, 0, 63));
    const int64_t v[] = {line, i};
    int64_t value = -1;
    assert_int_equal(expr_pool_check(&p), ERR_OK);
    assert_true(expr_eval(e, v, &value));
    return value;
}

static void test_places(void **unused)
{
    (void)unused;
    const Layout plain = {.bytes = 4, .line = 68}, blocks = {.bytes = 2, .line = 64, .block = 256, .pad = 8},
                 odd = {.bytes = 1, .line = 32, .block = 48, .pad = 16},
                 xored = {.bytes = 2, .line = 64, .xor_lines = 2, .xor_mask = 7};
    assert_int_equal(at(&plain, 3, 5), (3 * 68 + 5) * 4);
    assert_int_equal(at(&blocks, 3, 63), (3 * 64 + 63) * 2);
    assert_int_equal(at(&blocks, 4, 0), (4 * 64 + 8) * 2);
    assert_int_equal(at(&blocks, 9, 1), (9 * 64 + 1 + 16) * 2);
    assert_int_equal(at(&odd, 1, 15), 47);
    assert_int_equal(at(&odd, 1, 16), 48 + 16);
    assert_int_equal(at(&xored, 0, 17), 17 * 2);
    assert_int_equal(at(&xored, 1, 17), (64 + 17) * 2);
    assert_int_equal(at(&xored, 2, 17), 2 * 128 + (2 ^ 1) * 16 + 2);
    assert_int_equal(at(&xored, 15, 0), 15 * 128 + 7 * 16);
    assert_int_equal(at(&xored, 16, 0), 16 * 128);
    assert_int_equal(layout_bytes(&plain, 8), 8 * 68 * 4);
    assert_int_equal(layout_bytes(&blocks, 8), (8 * 64 + 16) * 2);
    assert_int_equal(layout_bytes(&xored, 8), 8 * 128);
}

/* No two elements share a byte, and all are within layout_bytes. */
static void test_injective(void **unused)
{
    (void)unused;
    static const Layout layouts[] = {{.bytes = 4, .line = 36},
                                     {.bytes = 2, .line = 32, .block = 64, .pad = 8},
                                     {.bytes = 8, .line = 34, .block = 4 * 34, .pad = 6},
                                     {.bytes = 1, .line = 32, .block = 48, .pad = 16},
                                     {.bytes = 4, .line = 32, .xor_lines = 1, .xor_mask = 7},
                                     {.bytes = 2, .line = 32, .xor_lines = 4, .xor_mask = 3},
                                     {.bytes = 16, .line = 32, .xor_lines = 2, .xor_mask = 7}};
    enum { LINES = 24, LENGTH = 32 };
    for (size_t n = 0; n < sizeof layouts / sizeof layouts[0]; n++) {
        const Layout *l = &layouts[n];
        bool used[LINES * 64 * 16] = {false};
        int64_t bytes = layout_bytes(l, LINES);
        for (int line = 0; line < LINES; line++)
            for (int i = 0; i < LENGTH; i++) {
                int64_t to = at(l, line, i);
                assert_true(to >= 0 && to + l->bytes <= bytes && to % l->bytes == 0);
                assert_false(used[to]);
                used[to] = true;
            }
    }
}

/* The address of a thread's element n lines and m elements after its first is one base plus a constant. */
static void one_base(const Layout *l, const Expr *line, const Expr *i, ExprPool *p, int lines, int n, bool is)
{
    int64_t first, c;
    const Expr *base = expr_base(p, layout_at(p, l, line, i), &first);
    const Expr *to = layout_at(p, l, expr_add_i(p, line, lines), expr_add_i(p, i, n));
    assert_int_equal(expr_same(base, expr_base(p, to, &c)), is);
    const int64_t v[] = {0, 0, 0};
    int64_t from, value;
    assert_true(expr_eval(layout_at(p, l, line, i), v, &from) && expr_eval(to, v, &value));
    if (is) assert_int_equal(c - first, value - from);
}

static void test_bases(void **unused)
{
    (void)unused;
    Arena a;
    ExprPool p;
    arena_init(&a, 0);
    expr_pool_init(&p, &a);
    const Expr *tid = expr_var(&p, "tid", 0, 0, 63);
    const Expr *line = expr_mul_i(&p, expr_mod_i(&p, tid, 16), 4),
               *i = expr_mul_i(&p, expr_div_i(&p, tid, 16), 8);
    const Layout plain = {.bytes = 2, .line = 72}, blocks = {.bytes = 2, .line = 64, .block = 256, .pad = 8},
                 xored = {.bytes = 2, .line = 64, .xor_lines = 4, .xor_mask = 7};
    one_base(&plain, line, i, &p, 7, 3, true);
    one_base(&blocks, line, i, &p, 3, 3, true);  /* inside a thread's block of lines */
    one_base(&blocks, line, i, &p, 64, 3, true); /* whole blocks */
    one_base(&blocks, tid, i, &p, 3, 0, false);  /* some threads cross a block, others do not */
    one_base(&xored, line, i, &p, 3, 7, true);   /* exchanged alike, inside a piece */
    one_base(&xored, line, i, &p, 32, 0, true);  /* a whole period */
    one_base(&xored, line, i, &p, 4, 0, false);
    one_base(&xored, line, i, &p, 0, 8, false); /* another piece */
    assert_true(layout_is_run(&p, &plain, line, i, 8));
    assert_true(layout_is_run(&p, &xored, line, i, 8));
    assert_false(layout_is_run(&p, &xored, line, i, 16));
    assert_false(layout_is_run(&p, &(Layout){.bytes = 2, .line = 64, .block = 12, .pad = 4}, line, i, 8));
    assert_int_equal(layout_at(&p, &xored, line, i)->factor, 16);
    assert_int_equal(layout_at(&p, &blocks, line, i)->factor, 16);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_injective),
                                       cmocka_unit_test(test_bases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
