/* Convolutions by libtuner with a library of GEMM kernels: descriptions of two and three dimensions,
 * epilogues, the cache of plans, errors. */
#include "client/runtime/conv_promise.h"
#include "client/runtime/tuner.h"
#include "test/unit/tuner_library.h"

/* The same numbers as planes of one row. */
static void conv_3d(tuner_library *lib, float *x, float *f, float *y)
{
    tuner_selection s;
    tuner_conv3d_desc c = {.size = sizeof c, .input = x, .filter = f, .output = y, .out_d = 2};
    c.n = 3, c.c = 4, c.d = 2, c.h = 1, c.w = 5, c.k = 2, c.z = 1, c.y = 1, c.x = 1;
    memset(y, 0xff, 60 * sizeof *y);
    assert_int_equal(tuner_conv3d(lib, &c, NULL), TUNER_OK);
    for (int n = 0; n < 3; n++)
        for (int k = 0; k < 2; k++)
            for (int p = 0; p < 10; p++) {
                float sum = 0;
                for (int i = 0; i < 4; i++) sum += x[(n * 4 + i) * 10 + p] * f[k * 4 + i];
                assert_true(y[(n * 2 + k) * 10 + p] == sum);
            }
    assert_int_equal(tuner_select_conv3d(lib, &c, NULL, &s), TUNER_OK);
    assert_string_equal(s.kernel, "plain");
    c.out_d = 1;
    assert_int_equal(tuner_conv3d(lib, &c, NULL), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "out_d 1 does not follow from input 2, filter 1"));
    c.out_d = 0, c.d = 3, c.z = 2;
    assert_int_equal(tuner_conv3d(lib, &c, NULL), TUNER_NO_SOLUTION);
    assert_non_null(strstr(tuner_error_message(), "NCDHW KCZYX NCDHW"));
    c.size = 295;
    assert_int_equal(tuner_conv3d(lib, &c, NULL), TUNER_INPUT);
    assert_int_equal(tuner_conv3d(lib, NULL, NULL), TUNER_INPUT);
}

/* Epilogues that convolutions do not have are errors; others need a solution with the same operations. */
static void conv_fused(tuner_library *lib, const tuner_conv2d_desc *good)
{
    static const float vector[4] = {1, 2, 3, 4};
    tuner_epilogue e = {.size = sizeof e, .bias = vector, .bias_along = TUNER_ALONG_M};
    tuner_conv2d_desc c = *good;
    assert_int_equal(tuner_conv2d_fused(lib, &c, NULL), TUNER_OK);
    assert_int_equal(tuner_conv2d_fused(lib, &c, &e), TUNER_NO_SOLUTION);
    e.bias_along = TUNER_ALONG_N;
    assert_int_equal(tuner_conv2d_fused(lib, &c, &e), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "bias_along 2, scale_alpha_along 0, bias_stride 0"));
    e = (tuner_epilogue){.size = sizeof e, .scale_alpha = vector, .scale_alpha_along = TUNER_ALONG_M};
    c.groups = 2;
    assert_int_equal(tuner_conv2d_fused(lib, &c, &e), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "2 groups have no vector in common"));
    c.groups = 1, c.direction = TUNER_CONV_BACKWARD_WEIGHTS;
    assert_int_equal(tuner_conv2d_fused(lib, &c, &e), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "weights has no fused operations"));
}

/* One filter element is a GEMM of the library; others have no solution there. */
static void convolution(void **state)
{
    tuner_library *lib;
    tuner_selection s;
    float x[3 * 4 * 10], f[2 * 4], y[3 * 2 * 10];
    char *dir = test_dir();
    (void)state;
    make_library(dir, "TensileLibrary.yaml");
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_OK);
    for (int i = 0; i < 120; i++) x[i] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < 8; i++) f[i] = (float)(i - 3);
    memset(y, 0xff, sizeof y);
    tuner_conv2d_desc good = {.size = sizeof good, .input = x, .filter = f, .output = y};
    good.n = 3, good.c = 4, good.h = 2, good.w = 5, good.k = 2, good.y = 1, good.x = 1;
    tuner_conv2d_desc c = good;
    for (int call = 0; call < 2; call++) { /* the second one from the cache */
        assert_int_equal(tuner_conv2d(lib, &c), TUNER_OK);
        for (int n = 0; n < 3; n++)
            for (int k = 0; k < 2; k++)
                for (int p = 0; p < 10; p++) {
                    float sum = 0;
                    for (int i = 0; i < 4; i++) sum += x[(n * 4 + i) * 10 + p] * f[k * 4 + i];
                    assert_true(y[(n * 2 + k) * 10 + p] == sum);
                }
        memset(y, 0xff, sizeof y);
    }
    assert_int_equal(tuner_select_conv2d(lib, &c, &s), TUNER_OK);
    assert_true(!strcmp(s.kernel, "plain") && s.n_kernels == 1);
    c.h = 3, c.y = 2;
    assert_int_equal(tuner_conv2d(lib, &c), TUNER_NO_SOLUTION);
    assert_non_null(strstr(tuner_error_message(), "forward f32 NCHW KCYX NCHW n3 c4 h3 w5 k2 y2 x1"));
#define REFUSED(member, value, message)                                                                      \
    c = good, c.member = (value), assert_int_equal(tuner_conv2d(lib, &c), TUNER_INPUT);                      \
    assert_non_null(strstr(tuner_error_message(), message))
    REFUSED(size, 239, "size is 239");
    REFUSED(direction, 3, "direction is 3, expected 0 to 2");
    REFUSED(compute_type, TUNER_F16, "compute type of a convolution: f16_r");
    REFUSED(y, 3, "does not fit the input of 2");
    REFUSED(stride_w, -1, "stride -1 is not in 1");
    REFUSED(groups, 3, "3 groups do not divide 4 input and 2 output channels");
    REFUSED(out_h, 3, "out_h 3 does not follow from input 2, filter 1");
    REFUSED(filter, NULL, "the filter is a null pointer");
    assert_int_equal(tuner_conv2d(lib, NULL), TUNER_INPUT);
    conv_3d(lib, x, f, y);
    conv_fused(lib, &good);
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

/* A measured time stands before a shorter predicted one, whichever comes first, and a form of several parts
 * is as certain as its least certain one. */
static void promises(void **state)
{
    (void)state;
    const Selection measured = {.why = WHY_EXACT, .speed = 100},
                    predicted = {.why = WHY_MODEL, .speed = 1000}, near = {.why = WHY_NEAREST, .speed = 1e6},
                    unknown = {.why = WHY_EXACT};
    Promise gemm = {.found = true}, conv = {.found = true}, other = {.found = true}, none = {.found = false};
    promise_add(&gemm, 1e9, &measured);
    promise_add(&conv, 1e9, &predicted);
    promise_add(&other, 1e9, &near);
    assert_true(gemm.seconds > conv.seconds && conv.seconds > other.seconds);
    assert_true(promise_better(&gemm, &conv) && !promise_better(&conv, &gemm));
    assert_true(promise_better(&conv, &other) && !promise_better(&other, &conv));
    assert_true(promise_better(&other, &none) && !promise_better(&none, &other));
    Promise two = conv;
    promise_add(&two, 1e9, &measured);
    assert_true(two.certainty == PROMISE_PREDICTED && promise_better(&conv, &two));
    promise_add(&two, 1e9, &unknown);
    assert_true(two.seconds > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolution), cmocka_unit_test(promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
