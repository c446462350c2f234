/* Views: addresses as text and as numbers, guards, contiguity; every transform against offsets computed by
 * hand. */
#include "index/view.h"
#include "test/support.h"

/* Top coordinates as variables of these names, plus a constant each. */
static void assert_text(const View *v, const char *const *names, const int64_t *plus, const char *address,
                        const char *guard)
{
    Expr node[256];
    ExprPool p;
    Buf b;
    const Expr *coord[VIEW_MAX_DIMS];
    int top[VIEW_MAX_DIMS], n = view_top(v, top);
    expr_pool_fixed(&p, node, 256);
    buf_init(&b);
    for (int i = 0; i < n; i++)
        coord[i] =
            names[i] ? expr_add_i(&p, view_coord(&p, v, i, names[i]), plus[i]) : expr_const(&p, plus[i]);
    expr_print(&expr_c_style, view_address(&p, v, coord), 0, &b);
    assert_string_equal(buf_cstr(&b), address);
    buf_reset(&b);
    expr_print(&expr_c_style, view_guard(&p, v, coord), 0, &b);
    assert_string_equal(buf_cstr(&b), guard);
    assert_int_equal(expr_pool_check(&p), ERR_OK);
    buf_fini(&b);
}

static int contiguous(const View *v, const char *length)
{
    Expr node[64];
    ExprPool p;
    Buf b;
    const Expr *n = NULL;
    expr_pool_fixed(&p, node, 64);
    buf_init(&b);
    int d = view_contiguous(&p, v, &n);
    if (d >= 0) expr_print(&expr_c_style, n, 0, &b);
    assert_string_equal(buf_cstr(&b), length);
    buf_fini(&b);
    return d;
}

static const int64_t none[2];

static int64_t offset_of(const View *v, int64_t r, int64_t c)
{
    int64_t at = -1;
    return view_offset(v, (const int64_t[]){r, c}, &at) ? at : -1;
}

static void test_matrix(void **state)
{
    (void)state;
    View v;
    view_matrix(&v, "m", "size_m", "k", "size_k", "lda", false);
    assert_text(&v, (const char *const[]){"i", "l"}, none, "i + l * lda", "1");
    assert_text(&v, (const char *const[]){NULL, "l"}, (const int64_t[]){0, 4}, "((uint64_t)l + 4) * lda",
                "1");
    assert_string_equal(v.dim[contiguous(&v, "size_m")].name, "m");
    view_matrix(&v, "m", "5", "k", "7", "11", true);
    assert_int_equal(offset_of(&v, 3, 6), 3 * 11 + 6);
    assert_string_equal(v.dim[contiguous(&v, "7")].name, "k");
    assert_int_equal(offset_of(&v, 5, 0), -1); /* after the last row */
}

/* Packed batch: columns are n and batch merged, batch slowest. */
static void test_merge(void **state)
{
    (void)state;
    View v;
    view_init(&v);
    int m = view_memory_dim(&v, "m", "4", "1"), b = view_memory_dim(&v, "b", "3", "100"),
        n = view_memory_dim(&v, "n", "5", "10");
    view_pass(&v, m, "m");
    assert_true(view_merge(&v, (const int[]){b, n}, 2, "nb", "15") >= 0);
    for (int64_t c = 0; c < 15; c++) assert_int_equal(offset_of(&v, 2, c), 2 + c / 5 * 100 + c % 5 * 10);
    assert_text(&v, (const char *const[]){"i", "j"}, none, "i + j / 5 * 100 + j % 5 * 10", "1");
    assert_text(&v, (const char *const[]){"i", "j"}, (const int64_t[]){0, 5},
                "i + j / 5 * 100 + j % 5 * 10 + 100", "1");
}

/* Input of an implicit-GEMM convolution: one row of width 6, padded by 1 on both sides, filter of 3 taps,
 * stride 2. */
static void test_pad_embed(void **state)
{
    (void)state;
    View v;
    int up[2];
    view_init(&v);
    int w = view_memory_dim(&v, "w", "6", "1");
    int padded = view_pad(&v, w, 1, 1, "wp", "8");
    assert_true(view_embed(&v, padded, (const char *const[]){"x", "wo"}, (const char *const[]){"3", "3"},
                           (const int64_t[]){1, 2}, 2, 0, up));
    int64_t at;
    for (int64_t x = 0; x < 3; x++)
        for (int64_t o = 0; o < 3; o++) {
            int64_t want = x + 2 * o - 1;
            bool inside = view_offset(&v, (const int64_t[]){x, o}, &at);
            assert_int_equal(inside, want >= 0 && want < 6);
            if (inside) assert_int_equal(at, want);
        }
    assert_text(&v, (const char *const[]){"x", "o"}, none, "(int32_t)(x + o * 2) - 1",
                "0 <= (int32_t)(x + o * 2) - 1");
    /* what the ranges say needs no guard: 2 + 2 * 2 - 1 is inside, and so is x + 2 - 1 */
    assert_text(&v, (const char *const[]){"x", NULL}, (const int64_t[]){0, 1}, "x + 1", "1");
}

static void test_unfold(void **state)
{
    (void)state;
    View v;
    view_init(&v);
    int c = view_memory_dim(&v, "c", "4", "6"), y = view_memory_dim(&v, "y", "2", "3"),
        x = view_memory_dim(&v, "x", "3", "1");
    view_unfold(&v, (const int[]){c, y, x}, 3, "k", "24");
    for (int64_t k = 0; k < 24; k++) assert_int_equal(offset_of(&v, k, 0), k);
    assert_text(&v, (const char *const[]){"l"}, (const int64_t[]){1}, "l + 1", "1");
    assert_int_equal(contiguous(&v, "24"), 3);
}

/* A full view and wrong dimensions are refused, never written past. */
static void test_bounds(void **state)
{
    (void)state;
    View v;
    view_init(&v);
    for (int i = 0; i < VIEW_MAX_DIMS; i++) assert_int_equal(view_memory_dim(&v, "d", "1", "1"), i);
    assert_int_equal(view_memory_dim(&v, "d", "1", "1"), -1);
    assert_int_equal(view_pass(&v, 0, "u"), -1);
    view_init(&v);
    assert_int_equal(view_pass(&v, 0, "u"), -1);
    int d = view_memory_dim(&v, "d", "1", "1");
    assert_int_equal(view_pass(&v, d, "u"), 1);
    assert_int_equal(view_memory_dim(&v, "late", "1", "1"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix), cmocka_unit_test(test_merge),
                                       cmocka_unit_test(test_pad_embed), cmocka_unit_test(test_unfold),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
