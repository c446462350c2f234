/* Problem sizes: ranges and exact sizes expand to Tensile's lists (values in the cases marked V come from
 * Tensile itself), and bad ones are refused with file and line. */
#include "test/support.h"

#include "problem/sizes.h"

enum { NN = 1, NT = 2, TN = 3, FLAT = 4 };

static void type_of(ProblemType *pt, int which)
{
    assert_ok(problem_type_gemm(pt, which == TN, which == NT, TYPE_S, TYPE_S, TYPE_S));
    if (which != FLAT) return;
    pt->Batched = 0;
    assert_ok(problem_type_derive(pt));
}

/* The list as text, sizes joined by ' '; or the error message. */
static const char *expand(const char *yaml, int which, bool sorted, char *out, size_t size)
{
    Arena a;
    Buf b;
    Node *n;
    ProblemType pt;
    ProblemSizes sizes;
    ProblemSize *list;
    size_t count;
    arena_init(&a, 0);
    buf_init(&b);
    type_of(&pt, which);
    assert_ok(yaml_parse(&a, "t.yaml", str_from(yaml), NULL, &n));
    Err err = problem_sizes_from_node(&a, "t.yaml", n, &pt, NULL, &sizes);
    if (!err) {
        sizes.sorted = sorted;
        err = problem_sizes_list(&a, &sizes, 100000, &list, &count);
    }
    if (err) {
        buf_puts(&b, err_message());
    } else {
        assert_int_equal(count, sizes.count);
        for (size_t i = 0; i < count; i++) {
            if (i) buf_putc(&b, ' ');
            problem_size_print(&list[i], &b);
        }
    }
    snprintf(out, size, "%s", buf_cstr(&b));
    buf_fini(&b);
    arena_fini(&a);
    return out;
}

typedef struct {
    const char *yaml;
    int type;
    const char *want;
} Case;

static void check(const Case *c, size_t n)
{
    static char out[65536];
    for (size_t i = 0; i < n; i++)
        assert_string_equal(expand(c[i].yaml, c[i].type, false, out, sizeof out), c[i].want);
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

static void test_exact(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[Exact: [64, 32, 1, 16]]", NN, "64,32,1,16,64,64,64,16"},
        {"[Exact: [64, 32, 1, 16]]", NT, "64,32,1,16,64,64,64,32"},
        {"[Exact: [64, 32, 1, 16]]", TN, "64,32,1,16,64,64,16,16"},
        {"[Exact: [64, 32, 16]]", FLAT, "64,32,16,64,64,64,16"},
        {"[Exact: [64, 32, 1, 16, 70, 80, 90, 100]]", NN, "64,32,1,16,70,80,90,100"},
        {"[Exact: [64, 32, 1, 16, -1, 80, 0, 16]]", NN, "64,32,1,16,64,80,64,16"},
        {"[Exact: [64, 32, 1, 16, 63, 7, 90, -3]]", NN, "64,32,1,16,64,64,90,16"}, /* raised, as in Tensile */
        /* V */
        {"[Exact: {sizes: [64, 32, 1, 16], stridesA: [1, 100, -1]}]", NN, "64,32,1,16,64,64,100,16"},
        {"[Exact: {sizes: [64, 32, 1, 16], stridesD: [1, 65], stridesC: [1, 66], stridesB: [1, 17]}]", NN,
         "64,32,1,16,65,66,64,17"},
        {"[Exact: [2, 2, 1, 2], Exact: [1, 1, 1, 1], Exact: [2, 2, 1, 2]]", NN,
         "2,2,1,2,2,2,2,2 1,1,1,1,1,1,1,1 2,2,1,2,2,2,2,2"},
        {"[{Exact: [3, 3, 1, 3]}, {MinStride: [0, 0, 0, 8]}]", NN, "3,3,1,3,3,3,3,3"},
    };
    CHECK(cases);
}

static void test_range(void **state)
{
    (void)state;
    static const Case cases[] = {
        /* V */
        {"[Range: [[64, 64, 64, 512], [4], [1], [128]]]", NN,
         "64,4,1,128,64,64,64,128 128,4,1,128,128,128,128,128 256,4,1,128,256,256,256,128 "
         "448,4,1,128,448,448,448,128"},
        /* V */
        {"[Range: [[64, 128], 0, [1], 0]]", NN, "64,64,1,64,64,64,64,64 128,128,1,128,128,128,128,128"},
        {"[Range: [[64, 128], 0, [1]]]", NN, "64,64,1,64,64,64,64,64 128,128,1,128,128,128,128,128"},
        {"[Range: [[2], [3], [1], [5, 2, 8], [7], 0, 1, [0]]]", NN, "2,3,1,5,7,2,3,5 2,3,1,7,7,2,3,7"},
        {"[{Exact: [1, 1, 1, 1]}, {Range: [[2], [2], [1], [2]]}, {Exact: [1, 1, 1, 1]}, {Range: [[1], [1], "
         "[1], [1]]}]",
         NN, "2,2,1,2,2,2,2,2 1,1,1,1,1,1,1,1 1,1,1,1,1,1,1,1 1,1,1,1,1,1,1,1"},
        {"[Range: [[10, 4, -1, 16], [1], [1], [1]]]", NN, "10,1,1,1,10,10,10,1 14,1,1,1,14,14,14,1"},
        {"[Range: [[10, 0, 3, 16], [1], [1], [1]]]", NN,
         "10,1,1,1,10,10,10,1 10,1,1,1,10,10,10,1 13,1,1,1,13,13,13,1"},
        {"~", FLAT,
         "64,64,64,64,64,64,64 128,128,128,128,128,128,128 256,256,256,256,256,256,256 "
         "448,448,448,448,448,448,448"},
        {"[]", NN,
         "64,64,1,64,64,64,64,64 128,128,1,128,128,128,128,128 256,256,1,256,256,256,256,256 "
         "448,448,1,448,448,448,448,448"},
    };
    CHECK(cases);
}

/* V: 36 sizes, m fastest: m = 1 2 3, n = 2 5 8, k = 16 32 64 112. */
static void test_increments(void **state)
{
    (void)state;
    static const int64_t m[] = {1, 2, 3}, n[] = {2, 5, 8}, k[] = {16, 32, 64, 112};
    Arena a;
    Node *node;
    ProblemType pt;
    ProblemSizes sizes;
    ProblemSize s;
    arena_init(&a, 0);
    type_of(&pt, NN);
    assert_ok(yaml_parse(&a, "t.yaml", STR("[Range: [[1,3],[2,3,8],[1],[16,16,16,128]]]"), NULL, &node));
    assert_ok(problem_sizes_from_node(&a, "t.yaml", node, &pt, NULL, &sizes));
    assert_int_equal(sizes.count, 36);
    SizeIter it;
    size_iter_init(&it, &sizes);
    for (int i = 0; i < 36; i++) {
        assert_true(size_iter_next(&it, &s));
        assert_int_equal(size_m(&pt, &s), m[i % 3]);
        assert_int_equal(size_n(&pt, &s), n[i / 3 % 3]);
        assert_int_equal(size_k(&pt, &s), k[i / 9]);
        assert_int_equal(size_batch(&pt, &s), 1);
        assert_int_equal(size_ld(&pt, &s, LD_D), s.v[0]);
        assert_int_equal(size_ld(&pt, &s, LD_B), s.v[3]);
    }
    assert_false(size_iter_next(&it, &s));
    assert_false(size_iter_next(&it, &s));
    arena_fini(&a);
}

static void test_sorted(void **state)
{
    (void)state;
    char out[512];
    assert_string_equal(
        expand("[Exact: [3, 1, 1, 1], Exact: [1, 9, 1, 1], Exact: [1, 2, 1, 1]]", NN, true, out, sizeof out),
        "1,2,1,1,1,1,1,1 1,9,1,1,1,1,1,1 3,1,1,1,3,3,3,1");
}

static void test_refusals(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[Exact: [0, 1, 1, 1]]", NN, "t.yaml:1: Exact: size 0 of index 0 ('i') is not in 1..2147483647"},
        {"[Exact: [1, -5, 1, 1]]", NN, "t.yaml:1: Exact: size -5 of index 1 ('j') is not in 1..2147483647"},
        {"[Exact: [1, 1, 1, 1099511627776]]", NN,
         "t.yaml:1: Exact: size 1099511627776 of index 3 ('l') is not in 1..2147483647"},
        {"[Exact: [2000000000, 1, 1, 2000000000]]", NN,
         "t.yaml:1: Exact: size [2000000000,1,1,2000000000,2000000000,2000000000,2000000000,2000000000]: "
         "tensor A "
         "would have more than 2^46 elements"},
        {"[Exact: [64, 32, 1, 16, 70, 80, 2147483648, 100]]", NN,
         "t.yaml:1: Exact: leading dimension LDA 2147483648 is not in 64..2147483647 (-1: the least)"},
        {"[Exact: {sizes: [64, 32, 1, 16], stridesB: [1, 15]}]", NN,
         "t.yaml:1: Exact: leading dimension stridesB[1] 15 is not in 16..2147483647"},
        {"[Exact: [64, 32, 1]]", NN,
         "t.yaml:1: Exact: 3 numbers in a size; expected 4, or 4 more for the leading dimensions LDD, LDC, "
         "LDA, LDB"},
        {"[Exact: {size: [64, 32, 1, 16]}]", NN,
         "t.yaml:1: unknown key 'size' in Exact (legal: sizes, stridesA, stridesB, stridesC, stridesD, "
         "padStartA, "
         "padEndA, padStartB, padEndB, count)"},
        {"[Exact: {stridesA: [1, 2]}]", NN, "t.yaml:1: Exact has no 'sizes'"},
        {"[Exacts: [1, 1, 1, 1]]", NN,
         "t.yaml:1: unknown kind of size 'Exacts' (legal: Exact, Range, MinStride, Conv)"},
        {"[Conv: {n: 1}]", NN, "t.yaml:1: Conv needs an OperationType Convolution..., this is GEMM"},
        {"[MinStride: [1, 1, 1, 1], MinStride: [1, 1, 1, 1]]", NN, "t.yaml:1: MinStride is there twice"},
        {"[Range: [[1, 1, 1000000], [1, 1, 1000000], [1], [1]]]", NN,
         "t.yaml:1: Range has 1000000000000 problem sizes, at most 1000000 are allowed"},
        {"[Range: [[1, 1, 2000000000], [1, 1, 2000000000], [1, 1, 2000000000], [1, 1, 2000000000]]]", NN,
         "t.yaml:1: Range has more than 2^63 problem sizes, at most 1000000 are allowed"},
        {"[Range: [[1, 1, 1099511627776], [1], [1], [1]]]", NN,
         "t.yaml:1: Range: 1099511627776 in dimension 0 is over 2147483647"},
        {"[Range: [[0, 8], [1], [1], [1]]]", NN,
         "t.yaml:1: Range: size 0 of index 0 ('i') is not in 1..2147483647"},
        {"[Range: [[1], [1], [1], [8, 0, 64]]]", NN, "t.yaml:1: Range: dimension 3 never ends with stride 0"},
        {"[Range: [[1], [1], [1], [8, 2, -1, 64]]]", NN,
         "t.yaml:1: Range: dimension 3 never ends with stride 2 and increment -1"},
        {"[Range: [[64, 64, 8], [1], [1], [1]]]", NN,
         "t.yaml:1: Range: dimension 0 starts at 64, after its end 8"},
        {"[Range: [0, [1], [1], [1]]]", NN,
         "t.yaml:1: Range: dimension 0 copies dimension 0, which is not before it (one value: [0])"},
        {"[Range: [[1], [1], 64, [1]]]", NN,
         "t.yaml:1: Range: dimension 2 copies dimension 64, which is not before it (one value: [64])"},
    };
    CHECK(cases);
}

static void test_strides(void **state)
{
    (void)state;
    Arena a;
    Node *node;
    ProblemType pt;
    ProblemSizes sizes;
    int64_t stride[INDEX_MAX];
    arena_init(&a, 0);
    type_of(&pt, TN);
    assert_ok(yaml_parse(&a, "t.yaml",
                         STR("[Exact: {sizes: [64, 32, 5, 16], stridesA: [1, 100, 7000], stridesD: [-1, 80], "
                             "count: 3}]"),
                         NULL, &node));
    assert_ok(problem_sizes_from_node(&a, "t.yaml", node, &pt, NULL, &sizes));
    const ProblemSize *s = &sizes.exact[0];
    assert_int_equal(size_strides(&pt, s, LD_A, stride), 3);
    assert_true(stride[0] == 1 && stride[1] == 100 && stride[2] == 7000);
    assert_int_equal(size_strides(&pt, s, LD_D, stride), 3);
    assert_true(stride[0] == 1 && stride[1] == 80 && stride[2] == 80 * 32);
    assert_int_equal(size_strides(&pt, s, LD_B, stride), 3);
    assert_true(stride[0] == 1 && stride[1] == 16 && stride[2] == 16 * 32);
    assert_int_equal(size_tensor_elements(&pt, s, LD_A), 15 + 63 * 100 + 4 * 7000 + 1);
    assert_int_equal(s->extra->count, 3);
    arena_fini(&a);
}

static void test_from_ints(void **state)
{
    (void)state;
    ProblemType pt;
    ProblemSize s, t;
    type_of(&pt, NN);
    assert_ok(problem_size_from_ints(&pt, (const int64_t[]){4, 5, 6, 7}, 4, &s));
    assert_ok(problem_size_from_ints(&pt, (const int64_t[]){4, 5, 6, 7, 4, 4, 4, 8}, 8, &t));
    assert_true(problem_size_cmp(&s, &t) < 0);
    assert_false(problem_size_equal(&s, &t));
    assert_int_equal(problem_size_from_ints(&pt, (const int64_t[]){4, 5, 6, 7, 1}, 5, &s), ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),     cmocka_unit_test(test_range),    cmocka_unit_test(test_increments),
        cmocka_unit_test(test_sorted),    cmocka_unit_test(test_refusals), cmocka_unit_test(test_strides),
        cmocka_unit_test(test_from_ints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
