/* Unit tests of results out of the store: which samples of a race count, pairs of rounds, losers that dropped
 * out, the peer; what steps and reports ask. */
#include "test/support.h"

#include <math.h>

#include "measure/query.h"

typedef struct {
    char *dir;
    Arena a;
    Store s;
    PlanView plan;
    int64_t problem, setting;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->dir = test_dir();
    arena_init(&f->a, 0);
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
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

static int64_t kernel_of(Fixture *f, const char *name)
{
    int64_t kernel;
    assert_ok(store_kernel(&f->s, str_from(name), str_from(name), &kernel));
    return kernel;
}

static void measured(Fixture *f, int64_t kernel, const Sample *sample, size_t n)
{
    Measurement m = {.key = {kernel, f->problem, f->setting, 0}, .status = STR("PASSED"), .detail = STR("")};
    m.sample = sample;
    m.n_samples = n;
    assert_ok(store_measure_add(&f->s, &m));
}

/* A plan with these kernels, by name. */
static void plan_of(Fixture *f, const char *const *name, size_t n)
{
    bool added;
    int64_t id, environment;
    assert_ok(store_environment(&f->s, STR("e"), &environment));
    PlanRecord p = {.key = STR("p"), .group = STR("g"), .arch = STR("sm_90"), .setting = f->setting};
    p.environment = environment;
    p.n_runs = 1;
    assert_ok(store_plan(&f->s, &p, &id, &added));
    for (size_t i = 0; i < n; i++)
        assert_ok(store_candidate_add(&f->s, id, (int64_t)i, kernel_of(f, name[i]), str_from(name[i])));
    assert_ok(store_size_add(&f->s, id, 0, f->problem));
    assert_ok(plan_load(&f->s, &f->a, id, &f->plan));
}

/* Launches of ns each; rounds from first on. */
static void fill(Sample *s, size_t n, double ns, int64_t first, SampleFor use)
{
    for (size_t i = 0; i < n; i++) {
        double drift = 1 + 0.01 * (double)(first + (int64_t)i); /* the same for all of a round */
        s[i] = (Sample){.ns = (uint64_t)(10 * ns * drift), .enqueues = 10, .use = use};
        s[i].round = first + (int64_t)i;
        s[i].clock_mhz = 1980;
    }
}

static void test_which_samples_count(void **state)
{
    Fixture *f = *state;
    const char *const name[] = {"k"};
    Sample s[12];
    Result r;
    fill(s, 2, 500, 1, USE_FIRST);
    fill(s + 2, 1, 90000, 3, USE_OUTLIER);
    fill(s + 3, 9, 1000, 10, USE_FINAL);
    measured(f, kernel_of(f, "k"), s, 12);
    plan_of(f, name, 1);
    assert_ok(result_get(&f->s, &f->a, &f->plan, 0, 0, -1, &r));
    assert_true(r.good);
    assert_int_equal(r.n_samples, 9);
    assert_true(fabs(r.ns.median - 1140) < 1);
    assert_true(r.mean_ns == r.ns.median);
    assert_true(r.last && r.last->round == 18 && r.last->clock_mhz == 1980);
}

static void test_pairs_cancel_drift(void **state)
{
    Fixture *f = *state;
    const char *const name[] = {"a", "b"};
    Sample s[9];
    Ranking rank;
    fill(s, 9, 1000, 10, USE_FINAL);
    measured(f, kernel_of(f, "a"), s, 9);
    fill(s, 9, 1005, 10, USE_FINAL); /* half a percent, under 8 percent of drift */
    measured(f, kernel_of(f, "b"), s, 9);
    plan_of(f, name, 2);
    assert_ok(ranking_make(&f->s, &f->a, &f->plan, 0, &rank));
    assert_int_equal(rank.best, 0);
    assert_int_equal(rank.versus.verdict, STATS_FASTER);
    assert_true(fabs(rank.versus.ratio - 1 / 1.005) < 1e-4);
    assert_false(rank.dropped);
}

/* Rounds of another race are other rounds: no pairs, and drift hides the difference. */
static void test_other_races_are_no_pairs(void **state)
{
    Fixture *f = *state;
    const char *const name[] = {"a", "b"};
    Sample s[9];
    Ranking rank;
    fill(s, 9, 1000, 10, USE_FINAL);
    measured(f, kernel_of(f, "a"), s, 9);
    fill(s, 9, 1005, 10, USE_FINAL);
    for (int i = 0; i < 9; i++) s[i].round += 1000;
    measured(f, kernel_of(f, "b"), s, 9);
    plan_of(f, name, 2);
    assert_ok(ranking_make(&f->s, &f->a, &f->plan, 0, &rank));
    assert_int_equal(rank.versus.verdict, STATS_TIE);
}

static void test_who_dropped_out_is_slower(void **state)
{
    Fixture *f = *state;
    const char *const name[] = {"a", "b"};
    Sample s[9];
    Ranking rank;
    fill(s, 9, 1000, 10, USE_FINAL);
    measured(f, kernel_of(f, "a"), s, 9);
    fill(s, 1, 2000, 1, USE_FIRST);
    measured(f, kernel_of(f, "b"), s, 1);
    plan_of(f, name, 2);
    assert_ok(ranking_make(&f->s, &f->a, &f->plan, 0, &rank));
    assert_int_equal(rank.best, 0);
    assert_int_equal(rank.second, 1);
    assert_true(rank.dropped);
    assert_int_equal(rank.versus.verdict, STATS_FASTER);
}

/* Results of one size: samples of n rounds, at the pace that the device has in each. */
typedef struct {
    LevelSample sample[12];
    double counted;
    Sample last;
} Raced;

static Result raced(Raced *x, const double *pace, int64_t first, int n, bool final, double ns)
{
    Result r = {.good = true, .sample_ns = &x->counted, .n_samples = 1, .last = &x->last, .race = x->sample};
    for (int i = 0; i < n; i++) x->sample[i] = (LevelSample){ns * pace[i], first + i};
    r.n_race = (size_t)n;
    x->last.use = final ? USE_FINAL : USE_FIRST;
    x->counted = ns * pace[n - 1];
    r.ns = (Summary){.n = 1, .median = x->counted, .lo = x->counted, .hi = x->counted};
    r.mean_ns = x->counted;
    return r;
}

/* The device grows slower from round to round: a fifth until the last. Who left early is compared in the
 * rounds that it shared with the winner, in its samples too. */
static void test_level(void **state)
{
    Fixture *f = *state;
    static const double pace[] = {1, 1, 1.05, 1.15, 1.2}, late[] = {1, 1.02};
    static Raced x[6];
    Result r[] = {raced(&x[0], pace, 1, 5, true, 1e6),    raced(&x[1], pace, 1, 3, false, 1.1e6),
                  raced(&x[2], pace, 1, 1, false, 1.5e6), raced(&x[3], pace, 1, 2, false, 1e6),
                  raced(&x[4], late, 1, 1, false, 0.9e6), raced(&x[5], pace, 1, 5, true, 1.001e6)};
    r[4].n_race = 0; /* never raced */
    assert_ok(results_level(&f->a, r, 6));
    assert_true(r[0].ns.median == 1.2e6 && x[0].counted == 1.2e6);
    assert_true(fabs(r[1].ns.median - 1.32e6) < 1 && fabs(x[1].counted - 1.32e6) < 1);
    assert_true(fabs(r[1].mean_ns - 1.32e6) < 1 && fabs(r[1].ns.hi - 1.32e6) < 1);
    assert_true(fabs(r[2].ns.median - 1.8e6) < 1);
    assert_true(r[3].ns.median > 1.2e6 && r[3].ns.median < 1.2001e6); /* never below the winner */
    assert_true(r[4].ns.median == 0.9e6 && r[5].ns.median == 1.001e6 * 1.2);
}

/* The clock falls within the second round, after the winner's sample: the first round decides for who has
 * these two alone, and the others' show which. */
static void test_level_of_mixed_rounds(void **state)
{
    Fixture *f = *state;
    static const double early[] = {1, 1, 1.2, 1.2, 1}, late[] = {1, 1.2, 1.2};
    static Raced x[6];
    Result r[6] = {raced(&x[0], early, 1, 5, true, 1e6)};
    for (int i = 1; i < 6; i++) r[i] = raced(&x[i], late, 1, i < 5 ? 3 : 2, false, 1e6 + 1e4 * i);
    assert_ok(results_level(&f->a, r, 6));
    for (int i = 1; i < 6; i++) assert_true(fabs(r[i].ns.median / (1e6 + 1e4 * i) - 1) < 1e-3);
}

/* Launches of the first round have gaps of 3 us, those of later ones have none. */
static void test_level_of_short_kernels(void **state)
{
    Fixture *f = *state;
    static const double pace[] = {1, 1, 1, 1};
    static Raced x[3];
    Result r[] = {raced(&x[0], pace, 1, 4, true, 3000), raced(&x[1], pace, 1, 3, false, 3300),
                  raced(&x[2], pace, 1, 1, false, 6000)};
    for (int i = 0; i < 3; i++) x[i].sample[0].ns += 3000;
    r[2].ns.median = 9000;
    assert_ok(results_level(&f->a, r, 3));
    assert_true(fabs(r[1].ns.median - 3300) < 10 && fabs(r[2].ns.median - 6000) < 10);
}

/* Of another race, at other clocks, those are leveled that met somebody who met the winner. */
static void test_level_by_others(void **state)
{
    Fixture *f = *state;
    static const double pace[] = {1, 1, 1.2, 1.2}, cold[] = {0.8, 0.8, 0.8};
    static Raced x[4];
    Result r[] = {raced(&x[0], pace, 1, 4, true, 1e6), raced(&x[1], pace, 1, 3, false, 1.1e6),
                  raced(&x[2], cold, 11, 3, false, 1.5e6), raced(&x[3], cold, 21, 3, false, 1.5e6)};
    for (int i = 0; i < 3; i++) x[1].sample[3 + i] = (LevelSample){0.8 * 1.1e6, 11 + i};
    r[1].n_race = 6;
    assert_ok(results_level(&f->a, r, 4));
    assert_true(fabs(r[1].ns.median - 1.32e6) < 1);
    assert_true(fabs(r[2].ns.median - 1.8e6) < 1);
    assert_true(r[3].ns.median == 1.2e6); /* nobody that it raced is known */
}

static void test_peer(void **state)
{
    Fixture *f = *state;
    const char *const name[] = {"a"};
    Sample s[9];
    int64_t kernel;
    Result ours, peer;
    Str who;
    Comparison c;
    fill(s, 9, 1000, 10, USE_FINAL);
    measured(f, kernel_of(f, "a"), s, 9);
    plan_of(f, name, 1);
    assert_ok(result_peer(&f->s, &f->a, &f->plan, 0, &who, &peer));
    assert_false(peer.found || peer.good);
    assert_ok(store_peer(&f->s, STR("cublas 13.1.0"), &kernel));
    fill(s, 9, 900, 10, USE_FINAL);
    s[3].use = USE_OUTLIER; /* its round has no pair */
    measured(f, kernel, s, 9);
    assert_ok(result_peer(&f->s, &f->a, &f->plan, 0, &who, &peer));
    assert_true(peer.found && peer.good);
    assert_str(who, "cublas 13.1.0");
    assert_int_equal(peer.n_samples, 8);
    assert_ok(result_get(&f->s, &f->a, &f->plan, 0, 0, -1, &ours));
    assert_ok(results_compare(&f->a, &peer, &ours, &c));
    assert_true(fabs(c.ratio - 0.9) < 1e-4 && c.verdict == STATS_FASTER);
    assert_int_equal(f->plan.n_candidates, 1);
}

static void test_queries_of_a_plan(void **state)
{
    Fixture *f = *state;
    const char *const name[] = {"a", "b", "c"};
    Compile failed = {.outcome = BUILD_FAILED, .log = STR("no")};
    Rejection *rejection;
    FailedKernel *kernel;
    StatusCount *status;
    PairCount pairs;
    PairEnd *end;
    size_t n;
    Measurement m = {.status = STR("CRASHED"), .detail = STR("signal 11")};
    Sample s[2];
    fill(s, 2, 1000, 1, USE_FINAL);
    plan_of(f, name, 3);
    measured(f, kernel_of(f, "a"), s, 2);
    m.key = (MeasureKey){kernel_of(f, "b"), f->problem, f->setting, 0};
    assert_ok(store_measure_add(&f->s, &m));
    failed.kernel = kernel_of(f, "c");
    failed.environment = f->plan.environment;
    assert_ok(store_compile_add(&f->s, &failed));
    assert_ok(store_rejection_add(&f->s, f->plan.id, STR("lds"), STR("70000 bytes"), 3));
    assert_ok(store_rejection_add(&f->s, f->plan.id, STR("tile"), STR(""), 9));
    assert_ok(query_rejections(&f->s, &f->a, f->plan.id, &rejection, &n));
    assert_true(n == 2 && rejection[0].n == 9 && rejection[1].n == 3);
    assert_str(rejection[1].rule, "lds");
    assert_str(rejection[1].text, "70000 bytes");
    assert_ok(query_failed_kernels(&f->s, &f->a, &f->plan, 10, &kernel, &n));
    assert_int_equal(n, 1);
    assert_str(kernel[0].name, "c");
    assert_ok(query_statuses(&f->s, &f->a, &f->plan, &status, &n));
    assert_true(n == 2 && status[0].n == 1 && !status[0].good && status[1].good);
    assert_ok(query_plan_work(&f->s, f->plan.id, &pairs));
    assert_true(pairs.n == 1 && pairs.flops == 524288 && pairs.flops_max == 524288);
    assert_ok(query_measured_work(&f->s, f->plan.id, f->setting, 1, &pairs));
    assert_true(pairs.n == 2 && pairs.flops == 2 * 524288);
    assert_ok(query_pair_ends(&f->s, &f->a, f->setting, 10, &end, &n));
    assert_true(n == 2 && end[0].id == end[1].id + 1 && end[0].flops == 524288);
}

static Err count_compile(void *ctx, const CompileRecord *c)
{
    assert_str(c->log, "no");
    ++*(size_t *)ctx;
    return 0;
}

static void test_queries_of_sessions_and_logs(void **state)
{
    Fixture *f = *state;
    const char *const name[] = {"a", "b"};
    SessionRecord session;
    FaultCount faults;
    FaultRecord *fault;
    Str driver;
    bool found;
    int64_t id;
    size_t n, n_compiles = 0;
    plan_of(f, name, 2);
    assert_ok(query_last_session(&f->s, &f->a, &session, &found));
    assert_false(found);
    assert_ok(store_session_begin(&f->s, STR("tuner x.yaml out"), &id));
    assert_ok(store_session_plan(&f->s, id, 0, f->plan.id));
    assert_ok(query_last_session(&f->s, &f->a, &session, &found));
    assert_true(found && str_eq_c(session.state, "running"));
    assert_str(session.command, "tuner x.yaml out");
    assert_ok(query_session(&f->s, &f->a, id + 1, &session, &found));
    assert_false(found);
    assert_ok(query_environment(&f->s, &f->a, "driver", &driver));
    assert_int_equal(driver.n, 0);
    assert_ok(store_environment(&f->s, STR("driver=1\nother=2\n"), &id));
    assert_ok(store_environment(&f->s, STR("driver=3\ndriver_of=4\n"), &id));
    assert_ok(query_environment(&f->s, &f->a, "driver", &driver));
    assert_str(driver, "3");
    Measurement m = {.key = {kernel_of(f, "a"), f->problem, f->setting, 0}, .detail = STR("D is 1")};
    m.status = STR("FAILED");
    assert_ok(store_measure_add(&f->s, &m));
    m.key.kernel = kernel_of(f, "b");
    m.status = STR("TIMEOUT");
    assert_ok(store_measure_add(&f->s, &m));
    assert_ok(query_session_faults(&f->s, 1, &faults));
    assert_true(faults.n_wrong == 1 && faults.n_faulted == 1);
    assert_ok(query_faults(&f->s, &f->a, STR("a"), 10, &fault, &n));
    assert_int_equal(n, 1);
    assert_str(fault[0].detail, "D is 1");
    Compile c = {.kernel = kernel_of(f, "b"), .environment = 1, .outcome = BUILD_FAILED, .log = STR("no")};
    assert_ok(store_compile_add(&f->s, &c));
    assert_ok(query_compiles(&f->s, STR("b"), 10, count_compile, &n_compiles));
    assert_ok(query_compiles(&f->s, STR("zz"), 10, count_compile, &n_compiles));
    assert_int_equal(n_compiles, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_which_samples_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pairs_cancel_drift, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_races_are_no_pairs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_dropped_out_is_slower, setup, teardown),
        cmocka_unit_test_setup_teardown(test_level, setup, teardown),
        cmocka_unit_test_setup_teardown(test_level_of_mixed_rounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_level_of_short_kernels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_level_by_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_peer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queries_of_a_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queries_of_sessions_and_logs, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
