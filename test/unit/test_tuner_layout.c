/* The binary interface of libtuner.so.0: programs compiled against an earlier header go on working. */
#include "test/support.h"

#include <stddef.h>

#include "client/runtime/tuner.h"

/* What a program reads and writes that was compiled when the structures were published first. */
struct first_gemm {
    int trans_a, trans_b, a_type, b_type, c_type, d_type, compute_type;
    int64_t m, n, k;
    const void *alpha, *beta, *a, *b, *c;
    void *d;
    int64_t ld[4], stride[4], batch;
    int pointer_arrays, xf32;
    int64_t solution_index;
};
struct first_selection {
    const char *kernel;
    int64_t solution_index;
    const char *why;
    int fallback;
    double distance;
    int n_key;
    int64_t key[4];
    double speed;
    uint64_t workspace_bytes;
    int n_kernels;
};
struct first_epilogue {
    uint64_t size;
    const void *bias;
    int32_t bias_type, bias_along;
    int64_t bias_stride;
    int32_t activation, scale_ab;
    double activation_arg[2];
    const void *scale_a, *scale_b, *scale_c, *scale_d, *scale_alpha;
    int32_t scale_cd, scale_alpha_along;
};
struct first_conv2d {
    uint64_t size;
    int32_t direction, layout[3], type[4];
    int64_t sizes[7], stride[2], dilation[2], pad[4], out[2], groups;
    const void *alpha, *beta;
    void *tensor[3];
    int64_t solution_index;
    int32_t xf32, metric;
};
struct first_conv3d {
    uint64_t size;
    int32_t direction, layout[3], type[4];
    int64_t sizes[9], stride[3], dilation[3], pad[6], out[3], groups;
    const void *alpha, *beta;
    void *tensor[3];
    int64_t solution_index;
    int32_t xf32, metric;
};
struct first_options {
    const char *arch;
    int64_t n_cu;
    int n_threads, select_only, deterministic;
    const char *device;
    void *stream;
};

static void layout_of_first_release(void **state)
{
    struct first_gemm first = {.pointer_arrays = 1, .xf32 = 1, .solution_index = 5};
    tuner_gemm_desc now;
    (void)state;
    assert_int_equal(sizeof now, sizeof first);
    memcpy(&now, &first, sizeof now);
    assert_int_equal(now.pointer_arrays, 1);
    assert_int_equal(now.xf32, 1);
    assert_int_equal(now.metric, TUNER_METRIC_AUTO);
    assert_int_equal(now.fp16_alt, 0);
    assert_int_equal(now.solution_index, 5);
    assert_int_equal(offsetof(tuner_gemm_desc, batch), offsetof(struct first_gemm, batch));
    assert_int_equal(offsetof(tuner_gemm_desc, lda), offsetof(struct first_gemm, ld));
    assert_int_equal(sizeof(tuner_selection), sizeof(struct first_selection));
    assert_int_equal(offsetof(tuner_selection, key), offsetof(struct first_selection, key));
    assert_int_equal(offsetof(tuner_selection, n_kernels), offsetof(struct first_selection, n_kernels));
    assert_int_equal(sizeof(tuner_options), sizeof(struct first_options));
    assert_int_equal(offsetof(tuner_options, stream), offsetof(struct first_options, stream));
    /* may grow at its end */
    assert_true(sizeof(tuner_conv2d_desc) >= sizeof(struct first_conv2d));
    assert_int_equal(offsetof(tuner_conv2d_desc, n), offsetof(struct first_conv2d, sizes));
    assert_int_equal(offsetof(tuner_conv2d_desc, groups), offsetof(struct first_conv2d, groups));
    assert_int_equal(offsetof(tuner_conv2d_desc, input), offsetof(struct first_conv2d, tensor));
    assert_int_equal(offsetof(tuner_conv2d_desc, metric), offsetof(struct first_conv2d, metric));
    assert_true(sizeof(tuner_conv3d_desc) >= sizeof(struct first_conv3d));
    assert_int_equal(offsetof(tuner_conv3d_desc, groups), offsetof(struct first_conv3d, groups));
    assert_int_equal(offsetof(tuner_conv3d_desc, metric), offsetof(struct first_conv3d, metric));
    assert_true(sizeof(tuner_epilogue) >= sizeof(struct first_epilogue));
    assert_int_equal(offsetof(tuner_epilogue, size), 0);
    assert_int_equal(offsetof(tuner_epilogue, bias_stride), offsetof(struct first_epilogue, bias_stride));
    assert_int_equal(offsetof(tuner_epilogue, activation_arg),
                     offsetof(struct first_epilogue, activation_arg));
    assert_int_equal(offsetof(tuner_epilogue, scale_alpha), offsetof(struct first_epilogue, scale_alpha));
    assert_int_equal(offsetof(tuner_epilogue, scale_alpha_along),
                     offsetof(struct first_epilogue, scale_alpha_along));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_of_first_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
