/* Parts of a calculation in several processes or threads: all are done once, errors come back, and a
 * process that is killed costs time but no part. */
#include "test/support.h"

#include <signal.h>
#include <unistd.h>

#include "base/spread.h"

enum { PARTS = 100 };

typedef struct {
    uint64_t *out; /* shared */
    pid_t parent;
    size_t bad, deadly; /* PARTS: none */
    size_t idled;
} Job;

static Err square(void *ctx, size_t i)
{
    Job *x = ctx;
    if (i == x->bad) FAIL(ERR_INPUT, "part %zu is bad", i);
    if (i == x->deadly && getpid() != x->parent) kill(getpid(), SIGKILL);
    x->out[i] += i * i + 1;
    return ERR_OK;
}

static Err count_idle(void *ctx)
{
    ((Job *)ctx)->idled++;
    return ERR_OK;
}

static Err stop(void *ctx)
{
    (void)ctx;
    FAIL(ERR_FAILED, "enough");
}

static Job job_new(void)
{
    Job x = {.out = spread_alloc(PARTS * sizeof *x.out), .parent = getpid(), .bad = PARTS, .deadly = PARTS};
    assert_non_null(x.out);
    return x;
}

static void assert_squares(const Job *x)
{
    for (size_t i = 0; i < PARTS; i++) assert_int_equal(x->out[i], i * i + 1);
}

static void all_parts_are_done_once(void **state)
{
    (void)state;
    Job x = job_new();
    assert_ok(
        spread_run(&(Spread){.n = PARTS, .part = square, .ctx = &x, .idle = count_idle, .idle_ctx = &x}));
    assert_squares(&x);
    spread_free(x.out, PARTS * sizeof *x.out);
}

static void threads_do_parts_once(void **state)
{
    (void)state;
    uint64_t out[PARTS] = {0};
    Job x = {.out = out, .parent = getpid(), .bad = PARTS, .deadly = PARTS};
    assert_ok(spread_run(&(Spread){.n = PARTS, .threads = true, .part = square, .ctx = &x}));
    assert_squares(&x);
    x.bad = 7;
    assert_int_equal(spread_run(&(Spread){.n = PARTS, .threads = true, .part = square, .ctx = &x}),
                     ERR_INPUT);
    assert_string_equal(err_message(), "part 7 is bad");
}

static void few_parts_are_done_here(void **state)
{
    (void)state;
    Job x = job_new();
    assert_ok(spread_run(&(Spread){.n = PARTS, .least = PARTS, .part = square, .ctx = &x}));
    assert_squares(&x);
    assert_ok(spread_run(&(Spread){.n = 0, .part = square, .ctx = &x}));
    spread_free(x.out, PARTS * sizeof *x.out);
}

static void an_error_comes_back(void **state)
{
    (void)state;
    Job x = job_new();
    x.bad = 7;
    assert_int_equal(spread_run(&(Spread){.n = PARTS, .part = square, .ctx = &x}), ERR_INPUT);
    assert_string_equal(err_message(), "part 7 is bad");
    assert_int_equal(
        spread_run(&(Spread){.n = PARTS, .part = square, .ctx = &x, .least = PARTS, .idle = stop}),
        ERR_FAILED);
    assert_string_equal(err_message(), "enough");
    spread_free(x.out, PARTS * sizeof *x.out);
}

static void a_killed_process_costs_no_part(void **state)
{
    (void)state;
    Job x = job_new();
    x.deadly = 3;
    assert_ok(spread_run(&(Spread){.n = PARTS, .part = square, .ctx = &x}));
    assert_squares(&x);
    spread_free(x.out, PARTS * sizeof *x.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_are_done_once), cmocka_unit_test(threads_do_parts_once),
        cmocka_unit_test(few_parts_are_done_here), cmocka_unit_test(an_error_comes_back),
        cmocka_unit_test(a_killed_process_costs_no_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
