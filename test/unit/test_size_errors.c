/* The Gaussian process of each size: what it expects of kernels that were measured, that are alike, and that
 * have nothing in common with those that were measured. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "measure/size_errors.h"
#include "test/support.h"

enum { SIZES = 3, KERNELS = 150 };

static double place[SIZES * SIZE_EXTENTS] = {5, 5, 0, 5, 5.5, 5, 0, 5, 9, 9, 0, 9};

/* Traits of kernel i, whose class is i % 2. */
static Traits traits_of(size_t i)
{
    Traits t = {.class = (int32_t)(i % 2), .twins = i + 1};
    for (size_t k = 0; k < TRAITS; k++) t.v[k] = (float)(random_at(i, k) % 8) * 0.5F;
    return t;
}

/* The error of kernel i on each size. */
static double error_of(size_t i) { return i % 2 ? 0.2 : -0.1 + 0.02 * (double)(random_at(i, 99) % 10); }

static void points_add(SizeErrors *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Traits t = traits_of(i);
        uint32_t kernel;
        assert_int_equal(size_errors_add_kernel(e, &t, &kernel), 0);
        for (size_t z = 0; z < 2; z++)
            assert_int_equal(size_errors_add(e, kernel, z, error_of(i), -9 - 0.01 * (double)(i % 7)), 0);
    }
    assert_int_equal(size_errors_fit(e), 0);
}

static void test_size_errors(void **state)
{
    (void)state;
    SizeErrors e;
    ErrorKernel k = {0};
    assert_int_equal(size_errors_init(&e, SIZES, place), 0);
    for (size_t n = 1; n <= KERNELS; n = n * 2 + 1) {
        size_errors_reset(&e);
        points_add(&e, n);
        assert_int_equal(error_kernel_init(&e, &k), 0);
        double known = 0, unknown = 0, off = 0;
        for (size_t i = 0; i < n; i++) { /* measured ones have their errors, where the process has them all */
            const Traits t = traits_of(i);
            error_kernel_set(&e, &t, &k);
            if (2 * n <= SIZE_ERRORS_POINTS) off = fmax(off, fabs(size_errors_mean(&e, &k, 0) - error_of(i)));
            if (2 * n <= SIZE_ERRORS_POINTS) known = fmax(known, size_errors_sd(&e, &k, 0));
        }
        for (size_t i = KERNELS; i < KERNELS + 20; i++) {
            const Traits t = traits_of(i);
            error_kernel_set(&e, &t, &k);
            for (size_t z = 0; z < SIZES; z++) {
                const double sd = size_errors_sd(&e, &k, z);
                assert_true(sd > 0 && sd <= size_errors_sd_max(&e, z) * (1 + 1e-6));
                if (z == 0) unknown = fmax(unknown, sd);
            }
            if (n >= 15 && i % 2) assert_true(size_errors_mean(&e, &k, 0) > 0.1);
            if (n >= 15 && i % 2) assert_true(size_errors_mean(&e, &k, 0) > size_errors_mean(&e, &k, 2));
        }
        assert_true(off < 0.03 && known < unknown);
        Traits other = traits_of(0);
        other.class = 7, other.twins = 1000;
        error_kernel_set(&e, &other, &k); /* no other of its class was measured */
        assert_true(size_errors_mean(&e, &k, 0) == 0 &&
                    fabs(size_errors_sd(&e, &k, 0) / size_errors_sd_max(&e, 0) - 1) < 1e-6);
        error_kernel_fini(&k);
    }
    size_errors_fini(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_size_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
