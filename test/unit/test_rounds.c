/* Unit tests of times that the rounds of a search measured: drift between rounds, kernels that failed or were
 * not compared, and the clocks of the final measurements. */
#include "test/support.h"

#include <math.h>

#include "measure/rounds.h"

typedef struct {
    char *dir;
    Arena a;
    Store s;
    int64_t kernel[4], problem, setting;
} Fixture;

static int setup(void **state)
{
    static const char *const name[] = {"a", "b", "c", "d"};
    Fixture *f = calloc(1, sizeof *f);
    f->dir = test_dir();
    arena_init(&f->a, 0);
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    for (int i = 0; i < 4; i++)
        assert_ok(store_kernel(&f->s, str_from(name[i]), str_from(name[i]), &f->kernel[i]));
    assert_ok(store_problem(&f->s, STR("Cijk 64,64,1,64"), 524288, &f->problem));
    assert_ok(store_setting(&f->s, STR("device=x"), &f->setting));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    store_close(&f->s);
    arena_fini(&f->a);
    assert_ok(dir_remove(f->dir));
    free(f->dir);
    free(f);
    return 0;
}

/* Three launches of one race. */
static void measured(Fixture *f, int64_t kernel, int64_t problem, int64_t setting, double ns)
{
    Sample s[3];
    for (int i = 0; i < 3; i++)
        s[i] = (Sample){.ns = (uint64_t)(10 * ns), .enqueues = 10, .round = 1000 * setting + i};
    const Measurement m = {.key = {kernel, problem, setting, 0},
                           .status = ns > 0 ? STR("PASSED") : STR("FAILED"),
                           .detail = STR(""),
                           .sample = s,
                           .n_samples = ns > 0 ? 3 : 0};
    assert_ok(store_measure_add(&f->s, &m));
}

/* The second round is a tenth slower. */
static void test_drift(void **state)
{
    Fixture *f = *state;
    static const bool wanted[] = {true, true, false, true};
    const RoundSize size = {f->setting, f->problem, f->kernel, wanted, 4};
    Result *r;
    double ns[4];
    measured(f, f->kernel[0], f->problem, f->setting, 110000);
    measured(f, f->kernel[1], f->problem, f->setting, 88000);
    measured(f, f->kernel[2], f->problem, f->setting, 90000);
    measured(f, f->kernel[3], f->problem, f->setting, 0);
    assert_ok(round_results(&f->s, &f->a, &size, &r));
    assert_true(r[0].found && r[1].found && !r[2].found && r[3].found && !r[3].good);
    round_times(r, 4, SIZE_MAX, 0, ns);
    assert_true(fabs(ns[0] - 110000) < 1 && fabs(ns[1] - 88000) < 1 && ns[2] == 0 && isinf(ns[3]));
    round_times(r, 4, 0, 100000, ns);
    assert_true(fabs(ns[0] - 100000) < 1 && fabs(ns[1] - 80000) < 1 && ns[2] == 0 && isinf(ns[3]));
    round_times(r, 4, 3, 100000, ns); /* what fails now shows no drift */
    assert_true(fabs(ns[1] - 88000) < 1);
}

/* On the first size final times are twice those of the rounds; the second one has none. */
static void test_clocks_of_final_times(void **state)
{
    (void)state;
    double seconds[] = {20e-6, 40e-6, 0, 0, 0, 0, 0, 0, 5e-6, 0, 0, 0};
    static const double ns[] = {10e3, 20e3, 30e3, 1e3, 3e3, 0};
    ModelMatrix own = {.n_kernels = 4, .n_sizes = 3, .seconds = seconds};
    rounds_add(&own, ns, 2, 3);
    assert_true(seconds[0] == 20e-6 && seconds[1] == 40e-6 && fabs(seconds[2] - 60e-6) < 1e-12);
    assert_true(fabs(seconds[4] - 1e-6) < 1e-12 && fabs(seconds[5] - 3e-6) < 1e-12 && seconds[6] == 0);
    assert_true(seconds[3] == 0 && seconds[8] == 5e-6 && seconds[9] == 0);
}

/* No kernel of the rounds becomes faster than the best final one. */
static void test_never_below_the_best(void **state)
{
    (void)state;
    double seconds[] = {20e-6, 0};
    static const double ns[] = {10e3, 9e3};
    ModelMatrix own = {.n_kernels = 2, .n_sizes = 1, .seconds = seconds};
    rounds_add(&own, ns, 1, 2);
    assert_true(seconds[0] == 20e-6 && seconds[1] == 20e-6);
}

static int64_t setting_of(Fixture *f, const char *key)
{
    int64_t id;
    assert_ok(store_setting(&f->s, str_from(key), &id));
    return id;
}

static int64_t problem_of(Fixture *f, const char *key)
{
    int64_t id;
    assert_ok(store_problem(&f->s, str_from(key), 524288, &id));
    return id;
}

/* A plan of the fixture's size. */
static void plan_of(Fixture *f, int64_t setting, PlanView *out)
{
    bool added;
    int64_t id, environment;
    assert_ok(store_environment(&f->s, STR("e"), &environment));
    const PlanRecord p = {.key = STR("p"),
                          .group = STR("g"),
                          .arch = STR("sm_90"),
                          .setting = setting,
                          .environment = environment,
                          .n_runs = 1};
    assert_ok(store_plan(&f->s, &p, &id, &added));
    assert_ok(store_size_add(&f->s, id, 0, f->problem));
    assert_ok(plan_load(&f->s, &f->a, id, out));
}

static double time_of(Fixture *f, const RoundTimes *t, size_t z, int kernel)
{
    const size_t k = rounds_kernel(t, f->kernel[kernel]);
    assert_true(k < t->n_kernels && z < t->n_sizes);
    return t->ns[z * t->n_kernels + k];
}

/* Kernel a is measured in both rounds, the second of which is a tenth slower, c in the second one alone, and
 * d on another size after the rounds. Results of all rounds together, another device, the peer and other
 * problem types are left out. */
static void test_rounds_of_a_store(void **state)
{
    Fixture *f = *state;
    static const char *const key[] = {
        "device=y\nsearch=1\ndevice-idx=0\n",  "device=y\nsearch=2\ndevice-idx=0\npeer=cublas\n",
        "device=y\nsearch=-1\ndevice-idx=0\n", "device=y\nsearch=-2\ndevice-idx=0\n",
        "device=z\nsearch=3\ndevice-idx=0\n",  "device=y\ndevice-idx=0\npeer=cublas\n"};
    int64_t setting[6], peer;
    const int64_t between = problem_of(f, "Cijk 96,64,1,64"), other = problem_of(f, "Cijk_S 64,64,1,64");
    PlanView p;
    RoundTimes t;
    for (int i = 0; i < 6; i++) setting[i] = setting_of(f, key[i]);
    plan_of(f, setting[5], &p);
    assert_ok(store_peer(&f->s, STR("cublas"), &peer));
    measured(f, f->kernel[0], f->problem, setting[0], 100000);
    measured(f, f->kernel[1], f->problem, setting[0], 0);
    measured(f, peer, f->problem, setting[0], 50000);
    measured(f, f->kernel[0], f->problem, setting[1], 110000);
    measured(f, f->kernel[2], f->problem, setting[1], 88000);
    for (int i = 0; i < 4; i++) measured(f, f->kernel[i], f->problem, setting[2], 70000);
    measured(f, f->kernel[3], between, setting[3], 60000);
    measured(f, f->kernel[1], between, setting[4], 60000);
    measured(f, f->kernel[0], other, setting[0], 60000);
    assert_ok(rounds_load(&f->s, &f->a, &p, &t));
    assert_true(t.n_sizes == 2 && t.size[0].problem == f->problem && t.size[1].problem == between);
    assert_true(t.n_kernels == 4 && rounds_kernel(&t, peer) == SIZE_MAX);
    assert_true(fabs(time_of(f, &t, 0, 0) - 100000) < 1 && time_of(f, &t, 0, 1) == 0);
    assert_true(fabs(time_of(f, &t, 0, 2) - 80000) < 1 && time_of(f, &t, 0, 3) == 0);
    assert_true(time_of(f, &t, 1, 0) == 0 && time_of(f, &t, 1, 1) == 0);
    assert_true(fabs(time_of(f, &t, 1, 3) - 60000) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_drift, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rounds_of_a_store, setup, teardown),
        cmocka_unit_test(test_clocks_of_final_times),
        cmocka_unit_test(test_never_below_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
