/* Parameters of gridwise kernels: the documents' examples, MIOpen's formulas worked out by hand for some
 * convolutions, the constraints on every row of the quick lists; perf_config strings; reasons. */
#include "test/support.h"

#include "problem/miopen.h"
#include "space/gridwise.h"

static GridwiseDerived derive(const char *perf, const GridwiseProblem *p)
{
    GridwiseTuning t;
    GridwiseDerived d;
    Buf why;
    buf_init(&why);
    assert_ok(gridwise_perf_read(str_from(perf), &t));
    if (!gridwise_derive(&t, p, &d, &why)) fail_msg("%s: %s", perf, buf_cstr(&why));
    buf_fini(&why);
    return d;
}

/* The two tables of the document, 128 x 128 x 16. */
static void test_document(void **state)
{
    (void)state;
    static const char vector[] = "CK_PARAM_TUNABLE_GEMM_M_PER_BLOCK: 128\n"
                                 "CK_PARAM_TUNABLE_GEMM_N_PER_BLOCK: 128\n"
                                 "CK_PARAM_TUNABLE_GEMM_K_PER_BLOCK: 16\n"
                                 "CK_PARAM_TUNABLE_GEMM_M_PER_THREAD_SUB_C: 4\n"
                                 "CK_PARAM_TUNABLE_GEMM_N_PER_THREAD_SUB_C: 4\n"
                                 "CK_PARAM_TUNABLE_GEMM_M_LEVEL0_CLUSTER: 4\n"
                                 "CK_PARAM_TUNABLE_GEMM_M_LEVEL1_CLUSTER: 4\n"
                                 "CK_PARAM_TUNABLE_GEMM_N_LEVEL0_CLUSTER: 4\n"
                                 "CK_PARAM_TUNABLE_GEMM_N_LEVEL1_CLUSTER: 4\n"
                                 "CK_PARAM_TUNABLE_BLOCK_SIZE: 256\n"
                                 "CK_PARAM_TUNABLE_GEMM_A_BLOCK_COPY_CLUSTER_LENGTHS_GEMM_K: 2\n"
                                 "CK_PARAM_TUNABLE_GEMM_A_BLOCK_COPY_CLUSTER_LENGTHS_GEMM_M: 128\n"
                                 "CK_PARAM_TUNABLE_GEMM_A_BLOCK_COPY_DST_DATA_PER_WRITE_GEMM_M: 1\n"
                                 "CK_PARAM_TUNABLE_GEMM_A_BLOCK_COPY_SRC_DATA_PER_READ_GEMM_M: 1\n"
                                 "CK_PARAM_TUNABLE_GEMM_B_BLOCK_COPY_CLUSTER_LENGTHS_GEMM_K: 2\n"
                                 "CK_PARAM_TUNABLE_GEMM_B_BLOCK_COPY_CLUSTER_LENGTHS_GEMM_N: 128\n"
                                 "CK_PARAM_TUNABLE_GEMM_B_BLOCK_COPY_DST_DATA_PER_WRITE_GEMM_N: 1\n"
                                 "CK_PARAM_TUNABLE_GEMM_B_BLOCK_COPY_SRC_DATA_PER_READ_GEMM_N: 1\n"
                                 "CK_PARAM_TUNABLE_GEMM_C_THREAD_COPY_DST_DATA_PER_WRITE_GEMM_N1: 1\n"
                                 "CK_PARAM_DEPENDENT_GRID_SIZE: 6\n";
    GridwiseProblem p;
    GridwiseTuning t;
    Buf text;
    buf_init(&text);
    gridwise_of_gemm(256, 384, 64, 4, &p);
    GridwiseDerived d = derive("256,128,128,16,4,4", &p);
    assert_ok(gridwise_perf_read(STR("256,128,128,16,4,4"), &t));
    gridwise_params_print(&t, &d, &text);
    assert_string_equal(buf_cstr(&text), vector);
    buf_reset(&text);
    gridwise_config_print(&t, &d, TYPE_S, &text);
    assert_string_equal(buf_cstr(&text), "WorkGroup: [16, 16, 1], ThreadTile: [8, 8], DepthU: 16");
    d = derive("128,128,16,64,64,1,1,1", &p);
    assert_int_equal(d.block_size, 256), assert_int_equal(d.waves[0], 2), assert_int_equal(d.waves[1], 2);
    assert_int_equal(d.a.cluster[0], 2), assert_int_equal(d.a.cluster[1], 128);
    assert_int_equal(d.b.cluster[0], 2), assert_int_equal(d.b.cluster[1], 128);
    assert_int_equal(d.d_write, 1);
    assert_ok(gridwise_perf_read(STR("128,128,16,64,64,1,1,1"), &t));
    buf_reset(&text);
    gridwise_config_print(&t, &d, TYPE_S, &text);
    assert_string_equal(buf_cstr(&text), "MatrixInstruction: [32, 32, 2, 1, 1, 2, 2, 2, 2], DepthU: 16");
    buf_fini(&text);
}

/* By MIOpen's CalculateGemm{A,B}BlockCopyPerformanceParameters, CalculateGemmCThreadCopy.. and
 * CalculateLdsNumberOfByte, on paper. */
static const struct {
    const char *line, *perf;
    int64_t a[4], b[4], d_write, bytes, grid; /* cluster K, cluster M (N), read, write */
    int a_side, b_side;
} convolutions[] = {
    /* filter: K = c y x is contiguous, 8 elements of a thread: 4 along K, 2 along M; input 1x1: 56 * 56 */
    {"conv -n 64 -c 64 -H 56 -W 56 -k 256 -y 1 -x 1 -F 1",
     "256,128,128,16,4,4",
     {4, 64, 4, 2},
     {8, 32, 4, 4},
     4,
     32768,
     3136,
     SIDE_K,
     SIDE_FREE},
    /* 3x3 with pad 1: no two neighbours of the input are inside together */
    {"conv -n 64 -c 64 -H 56 -W 56 -k 64 -p 1 -q 1 -F 1",
     "64,64,64,8,4,4",
     {2, 32, 4, 2},
     {1, 64, 1, 1},
     4,
     8192,
     3136,
     SIDE_K,
     SIDE_FREE},
    /* dilation 2 with pad 2: pairs; 48 * 48 outputs */
    {"conv -n 16 -c 256 -H 48 -W 48 -k 256 -p 2 -q 2 -l 2 -j 2 -F 1",
     "256,128,128,16,4,4",
     {4, 64, 4, 2},
     {4, 64, 2, 2},
     4,
     32768,
     576,
     SIDE_K,
     SIDE_FREE},
    /* 7 * 7 positions are odd */
    {"conv -n 64 -c 2048 -H 7 -W 7 -k 512 -y 1 -x 1 -F 1",
     "64,32,32,4,2,2",
     {2, 32, 2, 1},
     {2, 32, 1, 1},
     1,
     2048,
     1568,
     SIDE_K,
     SIDE_FREE},
    /* data: filter KCYX with 3x3 has neighbours along x only, which are several c apart */
    {"conv -n 64 -c 64 -H 56 -W 56 -k 64 -p 1 -q 1 -F 2",
     "64,64,64,8,4,4",
     {1, 64, 1, 1},
     {1, 64, 1, 1},
     4,
     8192,
     3136,
     SIDE_FREE,
     SIDE_FREE},
    /* data of 1x1: M = c is contiguous in the filter */
    {"conv -n 64 -c 64 -H 56 -W 56 -k 64 -y 1 -x 1 -F 2",
     "64,64,64,8,4,4",
     {4, 16, 4, 4},
     {4, 16, 4, 4},
     4,
     8192,
     3136,
     SIDE_FREE,
     SIDE_FREE},
};

static void test_convolutions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof convolutions / sizeof *convolutions; i++) {
        MiopenConv c;
        GridwiseProblem p;
        assert_ok(miopen_read(str_from(convolutions[i].line), &c));
        gridwise_of_conv(&c.conv[0], 0, &p);
        const GridwiseDerived d = derive(convolutions[i].perf, &p);
        const int64_t have_a[4] = {d.a.cluster[0], d.a.cluster[1], d.a.read, d.a.write},
                      have_b[4] = {d.b.cluster[0], d.b.cluster[1], d.b.read, d.b.write};
        for (int k = 0; k < 4; k++)
            if (have_a[k] != convolutions[i].a[k] || have_b[k] != convolutions[i].b[k])
                fail_msg("row %zu number %d: A %lld, B %lld", i, k, (long long)have_a[k],
                         (long long)have_b[k]);
        assert_int_equal(d.d_write, convolutions[i].d_write);
        assert_int_equal(d.local_bytes, convolutions[i].bytes);
        assert_int_equal(d.grid, convolutions[i].grid);
        assert_int_equal(d.a.read > 1 ? d.a.read_side : convolutions[i].a_side, convolutions[i].a_side);
    }
}

/* Every row satisfies the constraints, written out. */
static void test_quick(void **state)
{
    (void)state;
    const GridwiseTuning *t;
    GridwiseProblem p;
    GridwiseDerived d;
    Buf why;
    size_t n = 0;
    buf_init(&why);
    gridwise_of_gemm(384, 640, 512, 4, &p);
    for (; (t = gridwise_quick(false, n)); n++) {
        assert_true(gridwise_derive(t, &p, &d, &why));
        assert_int_equal(t->m_per_part * d.level0[0] * d.level1[0] * 2, t->m_per_block);
        assert_int_equal(t->n_per_part * d.level0[1] * d.level1[1] * 2, t->n_per_block);
        assert_int_equal(d.level0[0] * d.level1[0] * d.level0[1] * d.level1[1], t->block_size);
        assert_int_equal(d.a.cluster[0] * d.a.cluster[1], t->block_size);
        assert_int_equal(d.b.cluster[0] * d.b.cluster[1], t->block_size);
        assert_int_equal(d.grid, (384 + t->m_per_block - 1) / t->m_per_block * (640 / t->n_per_block));
    }
    assert_int_equal(n, 21);
    buf_reset(&why);
    gridwise_perf_print(gridwise_quick(false, 0), &why);
    assert_string_equal(buf_cstr(&why), "256,128,128,16,4,4");
    buf_reset(&why);
    gridwise_perf_print(gridwise_quick(false, 20), &why);
    assert_string_equal(buf_cstr(&why), "64,32,32,4,2,2");
    assert_ptr_equal(gridwise_first(false, &p, &d), gridwise_quick(false, 0));
    p.m = 64;
    assert_ptr_equal(gridwise_first(false, &p, &d), gridwise_quick(false, 6)); /* 64 x 128: no padding */
    for (n = 0; (t = gridwise_quick(true, n)); n++) {
        assert_true(gridwise_derive(t, &p, &d, &why));
        assert_int_equal(d.block_size,
                         t->m_per_block / t->m_per_part * (t->n_per_block / t->n_per_part) * 64);
        assert_true(d.a.cluster[0] * d.a.cluster[1] <= d.block_size);
    }
    buf_fini(&why);
}

static void test_perf(void **state)
{
    (void)state;
    static const char *const good[] = {"64,32,32,4,2,2", "128,128,8,64,64,4,1,1",
                                       "256,256,8,128,128,4,0,1,4"};
    static const char *const bad[][2] = {
        {"64,32,32,4,2",
         "perf_config '64,32,32,4,2' has 5 numbers, expected 6 (vector kernels), 8 or 9 (matrix "
         "kernels)"},
        {"64,32,x,4,2,2", "perf_config '64,32,x,4,2,2': 'x', expected 6, 8 or 9 numbers separated by commas"},
        {"v2:64,64,8,32,32,8,1,1,1",
         "perf_config 'v2:64,64,8,32,32,8,1,1,1': 'v2:64', expected 6, 8 or 9 numbers "
         "separated by commas"},
        {"128,128,8,64,64,4,2,1",
         "perf_config '128,128,8,64,64,4,2,1': numbers 7 and 8 are flags, expected 0 or 1"},
        {"", "perf_config '': '', expected 6, 8 or 9 numbers separated by commas"},
    };
    static const char *const refused[][2] = {
        {"64,48,32,4,2,2", "M_PER_BLOCK 48, expected a power of two from 32 to 128"},
        {"64,32,32,32,2,2", "K_PER_BLOCK 32, expected a power of two from 4 to 16"},
        {"64,32,32,4,8,2", "M_PER_THREAD 8, expected a power of two from 2 to 4"},
        {"512,128,128,8,4,4", "BLOCK_SIZE 512, expected a power of two from 64 to 256"},
        {"128,64,64,8,4,4",
         "BLOCK_SIZE 128, but the clusters have 64 threads: with another number a thread would "
         "not have 2 x 2 parts"},
        {"0,32,64,8,4,4", "BLOCK_SIZE 32 is not in 64..256"},
        {"128,128,8,32,128,4,1,1", "no matrix instructions for a wave's tile of 32 x 128"},
        {"16,16,2,16,16,1,1,1", "K_PER_BLOCK 2 is no multiple of the instruction's 4"},
        {"64,128,8,128,64,4,1,1", "64 x 128 per block are no multiple of 128 x 64 per wave"},
        {"256,256,8,64,64,4,1,1", "BLOCK_SIZE 1024 is not in 64..256"},
        {"256,256,16,128,128,8,1,1", "two stages of A and B have 524288 bytes, local memory 65536"},
        {"4,64,1,4,64,1,1,1", "A of 1 x 4 elements cannot be dealt to 64 threads"},
    };
    Buf text;
    GridwiseTuning t;
    GridwiseProblem p;
    GridwiseDerived d;
    buf_init(&text);
    gridwise_of_gemm(256, 256, 256, 4, &p);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(gridwise_perf_read(str_from(good[i]), &t));
        buf_reset(&text);
        gridwise_perf_print(&t, &text);
        assert_string_equal(buf_cstr(&text), good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gridwise_perf_read(str_from(bad[i][0]), &t), ERR_INPUT);
        assert_string_equal(err_message(), bad[i][1]);
        err_clear();
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_ok(gridwise_perf_read(str_from(refused[i][0]), &t));
        if (gridwise_derive(&t, &p, &d, &text)) fail_msg("%s is possible", refused[i][0]);
        assert_string_equal(buf_cstr(&text), refused[i][1]);
    }
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document), cmocka_unit_test(test_convolutions),
                                       cmocka_unit_test(test_quick), cmocka_unit_test(test_perf)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
