/* Problems beyond a device's grid limit, in parts: together they are the whole, each fits, and each has the
 * operands that belong to it. */
#include "client/runtime/launch.h"
#include "problem/predicate.h"
#include "test/support.h"

enum { LIMIT = 65535, TILE = 32 };

static LibSolution solution(int32_t gsu, int32_t pack, bool strided)
{
    LibSolution s = {.name = "k", .strided_batched = strided, .map.mapping_dim = -1};
    s.map.macro_tile[0] = s.map.macro_tile[1] = TILE;
    s.map.work_group[0] = s.map.work_group[1] = 8, s.map.work_group[2] = 1;
    s.map.depth_u = 8, s.map.global_split_u = gsu, s.map.pack_batch_dims = pack;
    s.map.source_kernel = true;
    return s;
}

/* n_parts is counted; columns of all matrices must be covered once, in order. */
static uint64_t check(const Contraction *p, const LibSolution *s)
{
    static const void *pointers[4];
    const LaunchHardware hw = {.n_cu = 132, .grid_limit = LIMIT};
    static const float one = 1;
    const LaunchInputs in = {.a = pointers,
                             .b = pointers,
                             .c = pointers,
                             .d = pointers,
                             .alpha = &one,
                             .beta = &one,
                             .offset_b = 7};
    LaunchPart part;
    LaunchList list;
    int64_t covered = 0, matrix = 0, first = 0;
    uint64_t i = 0;
    for (; launch_part(p, s, &in, &hw, i, &part); i++) {
        const Contraction *q = &part.problem;
        int64_t jump = s->strided_batched ? matrix : 0;
        assert_true(q->n > 0 && q->batch > 0 && q->m == p->m && q->k == p->k);
        assert_int_equal(part.in.offset_a, jump * p->a[2]);
        assert_int_equal(part.in.offset_b, 7 + jump * p->b[2] + first * p->b[p->trans_b ? 0 : 1]);
        assert_int_equal(part.in.offset_c, jump * p->c[2] + first * p->c[1]);
        assert_int_equal(part.in.offset_d, jump * p->d[2] + first * p->d[1]);
        assert_ptr_equal(part.in.a, s->strided_batched ? pointers : pointers + matrix);
        assert_ptr_equal(part.in.d, s->strided_batched ? pointers : pointers + matrix);
        assert_ok(launch_build(q, s, &part.in, &hw, &list));
        assert_true(list.call[list.n - 1].num_work_groups[1] <= LIMIT);
        assert_true(list.call[list.n - 1].num_work_groups[2] <= LIMIT);
        covered += q->n * q->batch;
        first += q->n;
        if (first == p->n) first = 0, matrix += q->batch;
    }
    assert_int_equal(covered, p->n * p->batch);
    assert_int_equal(matrix, p->batch);
    return i;
}

static void test_parts(void **state)
{
    (void)state;
    static const struct {
        int64_t n, batch;
        int32_t gsu, pack;
        bool trans_b, strided;
        uint64_t n_parts;
    } cases[] = {{1, 1, 1, 0, false, true, 1},
                 {LIMIT * TILE, LIMIT, 1, 0, false, true, 1},
                 {5, LIMIT + 1, 1, 0, false, true, 2},
                 {5, 200000, 1, 0, true, false, 4},
                 {LIMIT * TILE + 1, 1, 1, 0, false, true, 2},
                 {5000000, 3, 1, 0, true, true, 3},      /* 65,472 tiles of 32: 2,095,104 columns */
                 {5000000, 70000, 1, 0, true, true, 6},  /* and 65,535 matrices */
                 {5000000, 70000, 1, 0, true, false, 6}, /* by arrays of pointers */
                 {300000, 2, 16, 0, false, true, 3},     /* 4,032 tiles, 16 work-groups each */
                 {100, 30000, 1, 2, false, true, 2}};    /* columns of 20,971 matrices side by side */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Contraction p;
        LibSolution s = solution(cases[i].gsu, cases[i].pack, cases[i].strided);
        int64_t n = cases[i].n, batch = cases[i].strided ? 1 : 0;
        contraction_gemm(&p, false, cases[i].trans_b, 2, n, 3, cases[i].batch);
        contraction_strides(&p, 2, cases[i].trans_b ? n : 3, 2, 2, 6 * batch, 3 * n * batch, 2 * n * batch,
                            2 * n * batch);
        p.strided_batched = cases[i].strided;
        assert_int_equal(check(&p, &s), cases[i].n_parts);
    }
}

static void test_no_limit(void **state)
{
    (void)state;
    Contraction p;
    LaunchPart part;
    const LibSolution s = solution(1, 0, true);
    const LaunchInputs in = {0};
    contraction_gemm(&p, false, false, 2, 5000000, 3, 200000);
    assert_true(launch_part(&p, &s, &in, NULL, 0, &part));
    assert_int_equal(part.problem.n, 5000000);
    assert_int_equal(part.problem.batch, 200000);
    assert_false(launch_part(&p, &s, &in, NULL, 1, &part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_no_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
