/* Unit tests of tuner/measure/store and db: facts, reopening, foreign files, locks, a killed writer, a full
 * disk. */
#include "test/support.h"

#include <math.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/db.h"
#include "measure/query.h"

typedef struct {
    char *dir;
    Arena a;
    Store s;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->dir = test_dir();
    arena_init(&f->a, 0);
    f->s.lock_fd = -1;
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

static Measurement measurement(Store *s, const char *kernel, const char *problem, int64_t run)
{
    Measurement m = {.status = STR("PASSED"), .detail = STR(""), .checked = 128, .max_err = 1e-6};
    assert_ok(store_kernel(s, str_from(kernel), STR("Cijk"), &m.key.kernel));
    assert_ok(store_problem(s, str_from(problem), 1e6, &m.key.problem));
    assert_ok(store_setting(s, STR("num-warmups=1"), &m.key.setting));
    m.key.run = run;
    return m;
}

static const Sample samples[] = {{.ns = 12345, .enqueues = 1},
                                 {.ns = 12400, .enqueues = 2},
                                 {.ns = UINT64_C(1) << 60,
                                  .enqueues = 3,
                                  .round = 7,
                                  .clock_mhz = 1980,
                                  .power_w = 412.5,
                                  .temp_c = 51,
                                  .throttle = 4,
                                  .use = USE_OUTLIER}};

static void samples_check(const Sample *got)
{
    assert_int_equal(got[1].round, 0);
    assert_int_equal(got[2].round, 7);
    assert_true(got[2].clock_mhz == 1980 && got[2].power_w == 412.5 && got[2].temp_c == 51);
    assert_int_equal(got[2].throttle, 4);
    assert_int_equal(got[2].use, USE_OUTLIER);
}

static void test_facts_survive_reopening(void **state)
{
    Fixture *f = *state;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    Measurement m = measurement(&f->s, "k1", "p1", 0), got;
    m.sample = samples;
    m.n_samples = 3;
    assert_ok(store_measure_add(&f->s, &m));
    int64_t env;
    assert_ok(store_environment(&f->s, STR("device=sim"), &env));
    Compile c = {m.key.kernel, env, BUILD_FAILED, 77, STR("error: line 1\nline 2")};
    assert_ok(store_compile_add(&f->s, &c));
    store_close(&f->s);

    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    Measurement again = measurement(&f->s, "k1", "p1", 0);
    assert_int_equal(again.key.kernel, m.key.kernel);
    assert_int_equal(again.key.problem, m.key.problem);
    bool found;
    assert_ok(store_measure_get(&f->s, &f->a, &again.key, &got, &found));
    assert_true(found);
    assert_str(got.status, "PASSED");
    assert_int_equal(got.n_samples, 3);
    assert_true(got.sample[2].ns == UINT64_C(1) << 60);
    assert_int_equal(got.sample[1].enqueues, 2);
    samples_check(got.sample);
    assert_int_equal(got.checked, 128);
    assert_true(got.max_err == 1e-6);
    again.key.run = 1;
    assert_ok(store_measured(&f->s, &again.key, &found));
    assert_false(found);
    Compile compile;
    assert_ok(store_compile_get(&f->s, &f->a, m.key.kernel, env, &compile, &found));
    assert_true(found);
    assert_str(compile.log, "error: line 1\nline 2");
    assert_int_equal(compile.ns, 77);
}

static void test_compile_status(void **state)
{
    Fixture *f = *state;
    Compile got;
    bool found;
    int64_t kernel, env;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    assert_ok(store_kernel(&f->s, STR("h"), STR("k"), &kernel));
    assert_ok(store_environment(&f->s, STR("e"), &env));
    for (int outcome = BUILD_OK; outcome < BUILD_OUTCOMES; outcome++) {
        Compile c = {.kernel = kernel, .environment = env, .outcome = (BuildOutcome)outcome, .log = STR("")};
        assert_ok(store_compile_add(&f->s, &c));
        assert_ok(store_compile_get(&f->s, &f->a, kernel, env, &got, &found));
        assert_true(found && got.outcome == c.outcome);
    }
    assert_ok(db_exec(f->s.db, "UPDATE compile SET status='fine'", ""));
    assert_int_equal(store_compile_get(&f->s, &f->a, kernel, env, &got, &found), ERR_INPUT);
    assert_non_null(strstr(err_message(), "'fine'"));
}

static void test_code_facts(void **state)
{
    Fixture *f = *state;
    int64_t env, kernel;
    bool found;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    assert_ok(store_environment(&f->s, STR("cc"), &env));
    assert_ok(store_kernel(&f->s, STR("hash"), STR("Cijk"), &kernel));
    Str facts;
    assert_ok(store_code_get(&f->s, &f->a, kernel, env, &facts, &found));
    assert_false(found);
    assert_ok(store_code_add(&f->s, kernel, env, STR("vgpr=64 lds=0")));
    assert_ok(store_code_add(&f->s, kernel, env, STR("vgpr=65")));
    assert_ok(store_code_get(&f->s, &f->a, kernel, env, &facts, &found));
    assert_true(found);
    assert_str(facts, "vgpr=64 lds=0");
    /* a store of this version from before there were facts */
    assert_ok(db_exec(f->s.db, "DROP TABLE code", ""));
    assert_ok(store_code_get(&f->s, &f->a, kernel, env, &facts, &found));
    assert_false(found);
}

static void test_first_measurement_counts(void **state)
{
    Fixture *f = *state;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    static const Sample one[] = {{.ns = 100, .enqueues = 1}}, two[] = {{.ns = 200, .enqueues = 1}};
    Measurement m = measurement(&f->s, "k", "p", 0), got;
    m.sample = one;
    m.n_samples = 1;
    m.max_err = (double)NAN;
    assert_ok(store_measure_add(&f->s, &m));
    m.sample = two;
    m.status = STR("CRASHED");
    assert_ok(store_measure_add(&f->s, &m));
    bool found;
    assert_ok(store_measure_get(&f->s, &f->a, &m.key, &got, &found));
    assert_str(got.status, "PASSED");
    assert_int_equal(got.sample[0].ns, 100);
    assert_true(isnan(got.max_err));
}

static void test_plan_is_keyed_by_content(void **state)
{
    Fixture *f = *state;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    Measurement m = measurement(&f->s, "k", "p", 0);
    int64_t env, id, again;
    bool added;
    assert_ok(store_environment(&f->s, STR("e"), &env));
    PlanRecord p = {STR("abc"), STR("Cijk_00"), STR("x86-64-v3"), m.key.setting, env, 10, 4, 1, 1};
    assert_ok(store_plan(&f->s, &p, &id, &added));
    assert_true(added);
    assert_ok(store_candidate_add(&f->s, id, 0, m.key.kernel, STR("Cijk_K1")));
    assert_ok(store_size_add(&f->s, id, 0, m.key.problem));
    assert_ok(store_rejection_add(&f->s, id, STR("lds-too-large"), STR("70000 bytes"), 6));
    assert_ok(store_plan(&f->s, &p, &again, &added));
    assert_false(added);
    assert_int_equal(id, again);
    /* a candidate of a kernel that is not there is our own fault and must not get in */
    assert_int_equal(store_candidate_add(&f->s, id, 1, 999, STR("x")), ERR_FAILED);
}

static void write_text(Fixture *f, const char *text, size_t n)
{
    assert_ok(file_write(path_join(&f->a, f->dir, "tuning.db").s, (Str){text, n}));
}

static void test_foreign_files_are_refused_and_kept(void **state)
{
    Fixture *f = *state;
    const char *path = path_join(&f->a, f->dir, "tuning.db").s;
    char garbage[5000];
    memset(garbage, 'x', sizeof garbage);
    write_text(f, garbage, sizeof garbage);
    assert_int_equal(store_open(&f->s, f->dir, STORE_WRITE), ERR_INPUT);
    assert_non_null(strstr(err_message(), "tuning.db"));
    Str now;
    assert_ok(file_read(&f->a, path, 1 << 20, &now));
    assert_true(str_eq(now, (Str){garbage, sizeof garbage}));

    assert_ok(dir_remove(path));
    Db *db;
    assert_ok(db_open(path, DB_WRITE, &db));
    assert_ok(db_exec(db, "CREATE TABLE other(x)", ""));
    db_close(db);
    assert_int_equal(store_open(&f->s, f->dir, STORE_WRITE), ERR_INPUT);
    assert_non_null(strstr(err_message(), "not a tuning store"));
}

static void test_unknown_version_is_refused(void **state)
{
    Fixture *f = *state;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    assert_ok(db_exec(f->s.db, "UPDATE meta SET value='2' WHERE key='version'", ""));
    store_close(&f->s);
    assert_int_equal(store_open(&f->s, f->dir, STORE_WRITE), ERR_INPUT);
    assert_non_null(strstr(err_message(), "version '2'"));
    assert_int_equal(store_open(&f->s, f->dir, STORE_READ), ERR_INPUT);
}

static void test_second_writer_is_refused_reader_is_not(void **state)
{
    Fixture *f = *state;
    Store other, reader;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    assert_int_equal(store_open(&other, f->dir, STORE_WRITE), ERR_FAILED);
    assert_non_null(strstr(err_message(), "held by another process"));
    assert_ok(store_open(&reader, f->dir, STORE_READ));
    int64_t id;
    assert_int_not_equal(store_problem(&reader, STR("p"), 1, &id), 0);
    store_close(&reader);
    store_close(&f->s);
    assert_ok(store_open(&other, f->dir, STORE_WRITE));
    store_close(&other);
}

static void test_reading_without_a_store(void **state)
{
    Fixture *f = *state;
    assert_int_equal(store_open(&f->s, f->dir, STORE_READ), ERR_INPUT);
    assert_non_null(strstr(err_message(), "no tuning run"));
    assert_false(file_exists(path_join(&f->a, f->dir, "tuning.db").s));
}

/* Writes measurements 0, 1, 2, ... and reports each one after its commit. */
static _Noreturn void writer(const char *dir, int told)
{
    Store s;
    if (store_open(&s, dir, STORE_WRITE)) _exit(1);
    Measurement m = measurement(&s, "k", "p", 0);
    for (int64_t i = 0;; i++) {
        m.key.run = i;
        if (store_measure_add(&s, &m)) _exit(2);
        if (write(told, &i, sizeof i) != (ssize_t)sizeof i) _exit(3);
    }
}

static void test_killed_writer_loses_nothing(void **state)
{
    Fixture *f = *state;
    for (int round = 0; round < 8; round++) {
        int told[2];
        assert_int_equal(pipe(told), 0);
        assert_ok(dir_make(f->dir));
        pid_t pid = fork();
        if (pid == 0) writer(f->dir, told[1]);
        close(told[1]);
        int64_t last = -1, i;
        for (int n = 0; n < 3 + 40 * round && read(told[0], &i, sizeof i) == (ssize_t)sizeof i; n++) last = i;
        kill(pid, SIGKILL);
        while (read(told[0], &i, sizeof i) == (ssize_t)sizeof i) last = i;
        waitpid(pid, NULL, 0);
        close(told[0]);
        assert_true(last >= 2);
        assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
        int64_t n, max;
        assert_ok(db_int(f->s.db, &n, NULL, "SELECT count(*) FROM measurement", ""));
        assert_ok(db_int(f->s.db, &max, NULL, "SELECT max(run) FROM measurement", ""));
        assert_true(n >= last + 1 && n <= last + 2 && max == n - 1);
        store_close(&f->s);
        assert_ok(dir_remove(f->dir));
    }
    assert_ok(dir_make(f->dir));
}

static void test_full_and_read_only_disk(void **state)
{
    Fixture *f = *state;
    if (mount("tmpfs", f->dir, "tmpfs", 0, "size=256k")) {
        print_message("skipped: full disk: cannot mount a tmpfs here\n");
        skip();
    }
    Err e = store_open(&f->s, f->dir, STORE_WRITE);
    int64_t n = 0, count = -1;
    char text[2000];
    memset(text, 'y', sizeof text);
    for (; !e && n < 1000; n++) {
        snprintf(text, 24, "%lld", (long long)n);
        text[strlen(text)] = 'y';
        int64_t id;
        e = store_problem(&f->s, (Str){text, sizeof text}, 1, &id);
    }
    char message[512];
    snprintf(message, sizeof message, "%s", err_message());
    store_close(&f->s);
    Err reopened = store_open(&f->s, f->dir, STORE_READ);
    if (!reopened) reopened = db_int(f->s.db, &count, NULL, "SELECT count(*) FROM problem", "");
    store_close(&f->s);
    int remounted = mount("tmpfs", f->dir, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL);
    Err read_only = store_open(&f->s, f->dir, STORE_WRITE);
    store_close(&f->s);
    Err status = store_open(&f->s, f->dir, STORE_READ);
    store_close(&f->s);
    umount(f->dir);
    assert_int_equal(e, ERR_FAILED);
    assert_non_null(strstr(message, "full"));
    assert_int_equal(reopened, 0);
    assert_int_equal(count, n - 1);
    assert_int_equal(remounted, 0);
    assert_int_equal(read_only, ERR_FAILED);
    assert_int_equal(status, 0);
}

/* A store from elsewhere: what no run writes is an error with the file and the value, and never more work
 * than the file is long. */
static void damage(Fixture *f, const char *sql, const char *want)
{
    PlanView p;
    Ranking r;
    int64_t plan = 1;
    Measurement m = measurement(&f->s, "k0", "p0", 0);
    assert_ok(store_begin(&f->s));
    assert_ok(db_exec(f->s.db, sql, ""));
    Err e = plan_load(&f->s, &f->a, plan, &p);
    if (!e) e = ranking_make(&f->s, &f->a, &p, 0, &r);
    if (!e) e = store_measure_get(&f->s, &f->a, &m.key, &m, &(bool){false});
    if (e != ERR_INPUT || !strstr(err_message(), want))
        fail_msg("'%s': %d '%s', expected '%s'", sql, e, e ? err_message() : "", want);
    store_rollback(&f->s);
}

static void store_small(Fixture *f)
{
    int64_t plan;
    bool added;
    Measurement m = measurement(&f->s, "k0", "p0", 0);
    m.sample = samples;
    m.n_samples = 2;
    assert_ok(store_measure_add(&f->s, &m));
    PlanRecord p = {.key = STR("key"), .group = STR("Cijk_SB_00"), .arch = STR("x86-64-v3"), .n_runs = 1};
    p.setting = m.key.setting;
    assert_ok(store_environment(&f->s, STR("env"), &p.environment));
    assert_ok(store_plan(&f->s, &p, &plan, &added));
    for (int i = 0; i < 3; i++)
        assert_ok(store_candidate_add(&f->s, plan, i, m.key.kernel, STR("Cijk_MT8x8")));
    assert_ok(store_size_add(&f->s, plan, 0, m.key.problem));
}

static void test_untrusted(void **state)
{
    Fixture *f = *state;
    PlanView p;
    Ranking r;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    store_small(f);
    assert_ok(plan_load(&f->s, &f->a, 1, &p));
    assert_ok(ranking_make(&f->s, &f->a, &p, 0, &r));
    assert_int_equal(r.n_good, 3);
    damage(f, "UPDATE plan SET grp='../../x'", "the group '../../x'");
    damage(f, "UPDATE plan SET grp=''", "the group ''");
    damage(f, "UPDATE plan SET arch=char(27)||'[2J'", "the architecture");
    damage(f, "UPDATE plan SET runs=1000000000", "1000000000 runs, expected 1 to 10000");
    damage(f, "UPDATE plan SET runs=-1", "-1 runs");
    damage(f, "UPDATE plan SET runs='many'", "0 runs");
    damage(f, "DELETE FROM candidate WHERE i=1", "candidate 2 'Cijk_MT8x8' in place of number 1 of 2");
    damage(f, "UPDATE candidate SET i=9223372036854775807 WHERE i=2", "in place of number 2 of 3");
    damage(f, "UPDATE candidate SET name='a/b' WHERE i=2", "'a/b' in place of number 2");
    damage(f, "UPDATE size SET i=7", "size 7 in place of number 0 of 1");
    damage(f, "UPDATE problem SET flops=-1", "size 0 in place of number 0");
    damage(f, "UPDATE measurement SET samples='0*5'", "sample '0*5'");
    damage(f, "UPDATE measurement SET samples='9000000000000000000*5'", "1 to 1000000000000 enqueues");
    damage(f, "UPDATE measurement SET samples=replace(hex(zeroblob(3000000)), '0', '1*1 ')",
           "samples of a kernel");
    assert_ok(db_exec(f->s.db, "PRAGMA foreign_keys=OFF", ""));
    damage(f, "DELETE FROM kernel", "3 candidates, but only 0 kernels");
    damage(f, "DELETE FROM problem", "1 sizes, but only 0 problems");
}

static void test_untrusted_schema(void **state)
{
    Fixture *f = *state;
    int64_t n;
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    store_small(f);
    assert_ok(
        db_exec(f->s.db, "CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM measurement; END", ""));
    assert_ok(store_session_begin(&f->s, STR("tuner"), &n));
    assert_ok(db_int(f->s.db, &n, NULL, "SELECT count(*) FROM measurement", ""));
    assert_int_equal(n, 1);
    store_close(&f->s);
    assert_int_equal(store_open(&f->s, f->dir, STORE_READ), ERR_INPUT);
    assert_non_null(strstr(err_message(), "has views or triggers"));
}

/* Names that a URI or SQL would read otherwise, on a directory that cannot be written. */
static void test_read_only_names(void **state)
{
    Fixture *f = *state;
    static const char *const names[] = {"what?", "100%", "a%41b", "it's", "#1", "file:x", "a b&c=d", "x//y"};
    enum { N = sizeof names / sizeof *names };
    Err e = 0;
    char message[512] = "";
    bool mounted = mount("tmpfs", f->dir, "tmpfs", 0, "size=8m") == 0;
    if (!mounted && geteuid() == 0) skip(); /* root writes to directories of mode 0555 */
    for (size_t i = 0; i < N; i++) {
        assert_ok(store_open(&f->s, path_join(&f->a, f->dir, names[i]).s, STORE_WRITE));
        store_small(f);
        store_close(&f->s);
        if (!mounted) assert_int_equal(chmod(path_join(&f->a, f->dir, names[i]).s, 0555), 0);
    }
    int ready = mounted ? mount("tmpfs", f->dir, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) : 0;
    for (size_t i = 0; !e && i < N; i++) {
        PlanView p;
        e = store_open(&f->s, path_join(&f->a, f->dir, names[i]).s, STORE_READ);
        if (!e) e = plan_load(&f->s, &f->a, 1, &p);
        store_close(&f->s);
    }
    int entered = chdir(f->dir);
    if (!e) e = store_open(&f->s, "file:x", STORE_READ);
    store_close(&f->s);
    if (e) snprintf(message, sizeof message, "%s", err_message());
    int left = chdir("/");
    if (mounted) umount(f->dir);
    for (size_t i = 0; !mounted && i < N; i++) chmod(path_join(&f->a, f->dir, names[i]).s, 0755);
    assert_int_equal(ready | entered | left, 0);
    if (e) fail_msg("%s", message);
}

static void test_busy(void **state)
{
    Fixture *f = *state;
    Busy b = {.load = 2.9, .n_cores = 2, .n_wide = 3, .n_sizes = 6, .margin = 1};
    char text[256];
    bool found;
    int64_t session;
    assert_false(busy_text(&b, text, sizeof text));
    b.margin = 0.5;
    assert_true(busy_text(&b, text, sizeof text));
    b.load = 5.25;
    assert_true(busy_text(&b, text, sizeof text));
    assert_string_equal(text, "the machine was busy while kernels were timed: load average 5.2 on 2 cores");
    b.n_wide = 4;
    assert_true(busy_text(&b, text, sizeof text));
    assert_non_null(strstr(text, "on 2 cores; 4 of 6 intervals wider than 5%"));
    b.load = (double)NAN;
    assert_true(busy_text(&b, text, sizeof text));
    assert_null(strstr(text, "load"));
    assert_ok(store_open(&f->s, f->dir, STORE_WRITE));
    assert_ok(store_busy_last(&f->s, &b, &found));
    assert_false(found);
    assert_ok(store_session_begin(&f->s, STR("tuner"), &session));
    assert_ok(store_busy_add(&f->s, session, &(Busy){1.5, 8, 1, 2, 0}));
    assert_ok(store_busy_last(&f->s, &b, &found));
    assert_true(found && b.load == 1.5 && b.n_cores == 8 && b.n_wide == 1 && b.n_sizes == 2 &&
                b.margin == RUN_LOAD_MARGIN);
    assert_ok(db_exec(f->s.db, "DROP TABLE busy", "")); /* a store from before there was one */
    assert_ok(store_busy_last(&f->s, &b, &found));
    assert_false(found);
}

static void test_store_links(void **state)
{
    Fixture *f = *state;
    static const char *const names[] = {"tuning.lock", "tuning.db", "tuning.db-wal", "tuning.db-journal"};
    Str victim = path_join(&f->a, f->dir, "victim"), got;
    assert_ok(file_write(victim.s, STR("precious")));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Str link = path_join(&f->a, f->dir, names[i]);
        assert_int_equal(symlink("victim", link.s), 0);
        assert_int_equal(store_open(&f->s, f->dir, STORE_WRITE), ERR_INPUT);
        assert_non_null(strstr(err_message(), "is a symbolic link"));
        assert_ok(file_read(&f->a, victim.s, 100, &got));
        assert_str(got, "precious");
        assert_int_equal(unlink(link.s), 0);
    }
    assert_int_equal(mkfifo(path_join(&f->a, f->dir, "tuning.db").s, 0600), 0);
    alarm(10);
    assert_int_equal(store_open(&f->s, f->dir, STORE_WRITE), ERR_INPUT);
    alarm(0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_facts_survive_reopening),
        T(test_code_facts),
        T(test_compile_status),
        T(test_first_measurement_counts),
        T(test_plan_is_keyed_by_content),
        T(test_foreign_files_are_refused_and_kept),
        T(test_unknown_version_is_refused),
        T(test_second_writer_is_refused_reader_is_not),
        T(test_reading_without_a_store),
        T(test_killed_writer_loses_nothing),
        T(test_full_and_read_only_disk),
        T(test_untrusted),
        T(test_untrusted_schema),
        T(test_read_only_names),
        T(test_store_links),
        T(test_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
