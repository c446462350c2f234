/* Unit tests of toolchains, the compile pool, the object cache and linking. Compilers are the machine's own
 * and scripts. */
#include "test/support.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "build/build.h"
#include "build/pch.h"

typedef struct {
    Arena arena;
    char *dir;
    const char *cache;
    Toolchain cc;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, 0);
    f->dir = test_dir();
    f->cache = path_join(&f->arena, f->dir, "cache").s;
    assert_ok(toolchain_find(&f->arena, target_host_level(), NULL, NULL, &f->cc));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    assert_ok(dir_remove(f->dir));
    free(f->dir);
    arena_fini(&f->arena);
    free(f);
    return 0;
}

static BuildJob *jobs_make(Fixture *f, size_t n)
{
    BuildJob *job = ARENA_ARRAY(&f->arena, n, BuildJob);
    for (size_t i = 0; i < n; i++) {
        job[i].symbol = arena_printf(&f->arena, "answer_%zu", i);
        job[i].source = arena_printf(&f->arena, "int answer_%zu(void) { return %zu; }\n", i, 1000 + i);
    }
    return job;
}

static BuildReport run(Fixture *f, BuildJob *job, size_t n)
{
    BuildReport r;
    assert_ok(build_run(&f->arena, &(BuildOptions){.toolchain = &f->cc, .cache_dir = f->cache}, job, n, &r));
    return r;
}

/* A shell script that plays a compiler; body runs for compilations. */
static const char *script_make(Fixture *f, const char *name, const char *body)
{
    Str path = path_join(&f->arena, f->dir, name);
    Str text = arena_printf(&f->arena,
                            "#!/bin/sh\ncase \"$*\" in\n*--version*) echo 'fake 1.0'; exit 0 ;;\n"
                            "*-fsyntax-only*) exit 0 ;;\nesac\n%s\n",
                            body);
    assert_ok(file_write(path.s, text));
    assert_int_equal(chmod(path.s, 0755), 0);
    return path.s;
}

static void test_toolchain(void **state)
{
    Fixture *f = *state;
    Toolchain t;
    const Target *v3 = target_find(STR("x86-64-v3"));
    static const char *const extra[] = {"-DX=1", NULL};
    assert_ok(toolchain_find(&f->arena, v3, f->cc.program, extra, &t));
    assert_true(strlen(t.version) > 3);
    assert_string_equal(t.args[t.n_args - 2], "-march=x86-64-v3");
    assert_string_equal(t.args[t.n_args - 1], "-DX=1");
    assert_non_null(strstr(t.identity.s, t.version));
    assert_non_null(strstr(t.identity.s, "-march=x86-64-v3\n-DX=1\n"));
    assert_ok(toolchain_find(&f->arena, target_find(STR("x86-64-v4")), NULL, NULL, &t));
    assert_string_equal(t.args[t.n_args - 1], "-mprefer-vector-width=512");
    assert_int_equal(toolchain_find(&f->arena, v3, "no-such-cc", NULL, &t), ERR_FAILED);
    assert_non_null(strstr(err_message(), "'no-such-cc' is not a program"));
    const char *old = path_join(&f->arena, f->dir, "old").s;
    assert_ok(file_write(old, STR("#!/bin/sh\ncase \"$*\" in *--version*) echo old 1; exit 0 ;; esac\n"
                                  "echo 'note: x'; echo \"error: bad value for '-march='\"; exit 1\n")));
    assert_int_equal(chmod(old, 0755), 0);
    assert_int_equal(toolchain_find(&f->arena, v3, old, NULL, &t), ERR_FAILED);
    assert_non_null(
        strstr(err_message(), "(old 1) cannot compile for x86-64-v3: error: bad value for '-march='"));

    char *path = strdup(getenv("PATH"));
    setenv("PATH", f->dir, 1);
    Err e = toolchain_find(&f->arena, v3, NULL, NULL, &t);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(e, ERR_FAILED);
    assert_non_null(strstr(err_message(), "no compiler for x86-64-v3: none of cc, gcc, clang is in PATH"));
}

static int answer(const char *so, const char *symbol)
{
    void *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!lib) fail_msg("%s", dlerror());
    int (*function)(void);
    void *found = dlsym(lib, symbol);
    assert_non_null(found);
    memcpy(&function, &found, sizeof function);
    int v = function();
    dlclose(lib);
    return v;
}

static void test_cached(void **state)
{
    Fixture *f = *state;
    enum { N = 60 };
    BuildJob *job = jobs_make(f, N);
    job[7].source = job[6].source; /* a repeated text is compiled once */
    BuildReport r = run(f, job, N);
    assert_int_equal(r.n_compiled, N - 1);
    assert_int_equal(r.n_cached, 1);
    assert_true(r.n_calls < N - 1);
    assert_true(job[3].compile_ns > 0 && !job[3].cached && job[3].finished);
    assert_true(str_eq(job[6].object_path, job[7].object_path));
    r = run(f, job, N);
    assert_int_equal(r.n_compiled + r.n_failed + r.n_calls, 0);
    assert_int_equal(r.n_cached, N);

    Str objects[N];
    for (size_t i = 0; i < N; i++) objects[i] = job[i].object_path;
    const char *so = path_join(&f->arena, f->dir, "out dir\"x.so").s;
    assert_ok(build_link(&f->cc, objects, N, NULL, 0, so));
    assert_int_equal(answer(so, "answer_0"), 1000);
    assert_int_equal(answer(so, "answer_59"), 1059);
    Str *names;
    size_t n;
    assert_ok(dir_list(&f->arena, f->dir, "", false, &names, &n));
    assert_int_equal(n, 2); /* cache and the result, nothing temporary */
    objects[0] = STR("/nonexistent.o");
    assert_int_equal(build_link(&f->cc, objects, N, NULL, 0, so), ERR_FAILED);
    assert_non_null(strstr(err_message(), "/nonexistent.o"));
    assert_null(strchr(err_message(), '\n'));

    Toolchain other; /* other flags, other objects */
    static const char *const extra[] = {"-DX", NULL};
    assert_ok(toolchain_find(&f->arena, f->cc.target, NULL, extra, &other));
    assert_ok(build_run(&f->arena, &(BuildOptions){.toolchain = &other, .cache_dir = f->cache}, job, 1, &r));
    assert_int_equal(r.n_compiled, 1);
}

static void file_damage(const char *path, off_t at, bool cut)
{
    if (cut) {
        assert_int_equal(truncate(path, at), 0);
        return;
    }
    int fd = open(path, O_RDWR);
    char c;
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c ^= 4;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

static void test_damaged(void **state)
{
    Fixture *f = *state;
    BuildJob *job = jobs_make(f, 3);
    BuildReport r;
    BuildOptions o = {.toolchain = &f->cc, .cache_dir = f->cache, .batch = 1};
    assert_ok(build_run(&f->arena, &o, job, 3, &r));
    assert_int_equal(r.n_calls, 3);
    file_damage(job[0].object_path.s, 100, false);
    file_damage(job[1].object_path.s, 100, true);
    assert_ok(build_run(&f->arena, &o, job, 3, &r));
    assert_int_equal(r.n_compiled, 2);
    assert_int_equal(r.n_cached, 1);
    assert_true(job[2].cached);
    Str *names;
    size_t n;
    assert_ok(dir_list(&f->arena, f->cache, ".obj", true, &names, &n));
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) file_damage(path_join(&f->arena, f->cache, names[i].s).s, 20, i == 0);
    assert_ok(build_run(&f->arena, &o, job, 3, &r));
    assert_int_equal(r.n_compiled, 3);
    const char *so = path_join(&f->arena, f->dir, "x.so").s;
    assert_ok(build_link(&f->cc, &job[0].object_path, 1, NULL, 0, so));
    assert_int_equal(answer(so, "answer_0"), 1000);
}

static void test_bad_kernel(void **state)
{
    Fixture *f = *state;
    BuildJob *job = jobs_make(f, 40);
    job[17].source = STR("int answer_17(void) { return undeclared_thing; }\n");
    BuildReport r = run(f, job, 40);
    assert_int_equal(r.n_compiled, 39);
    assert_int_equal(r.n_failed, 1);
    for (size_t i = 0; i < 40; i++) assert_int_equal(job[i].status, i == 17 ? ERR_FAILED : 0);
    assert_non_null(strstr(job[17].why.s, "undeclared_thing"));
    assert_null(strchr(job[17].why.s, '\n'));
    Str log;
    assert_ok(file_read(&f->arena, job[17].log_path.s, 100000, &log));
    assert_true(str_starts(log, "tuner-build-log 1\nkernel: answer_17\n"));
    assert_non_null(strstr(log.s, "\nresult: exit status 1\n"));
    assert_non_null(strstr(log.s, "error:"));
    assert_true(str_ends(log, "int answer_17(void) { return undeclared_thing; }\n"));
}

static void test_timeout_and_crash(void **state)
{
    Fixture *f = *state;
    Toolchain fake;
    const char *body =
        arena_printf(&f->arena,
                     "for s; do :; done\ngrep -q SLOW $s && sleep 60\ngrep -q CRASH $s && kill -SEGV $$\n"
                     "grep -q EMPTY $s && exit 0\ngrep -q SERIAL $s && echo 'ptxas info : (C7508) Potential "
                     "Performance Loss: setmaxnreg ignored' >&2\nexec %s \"$@\"",
                     f->cc.program)
            .s;
    assert_ok(toolchain_find(&f->arena, f->cc.target, script_make(f, "fake", body), NULL, &fake));
    BuildJob *job = jobs_make(f, 12);
    job[2].source = STR("/* SLOW */\n");
    job[5].source = STR("/* CRASH */\n");
    job[6].source = STR("/* EMPTY */\n");
    job[8].source = STR("/* SERIAL */\n");
    BuildReport r;
    BuildOptions o = {.toolchain = &fake, .cache_dir = f->cache, .jobs = 2, .timeout_ns = 1000000000};
    assert_ok(build_run(&f->arena, &o, job, 12, &r));
    assert_int_equal(r.n_failed, 4);
    assert_int_equal(r.n_compiled, 8);
    assert_true(str_starts(job[8].why, "ptxas info : (C7508) Potential Performance Loss"));
    assert_true(str_starts(job[2].why, "compiler timed out after 1."));
    assert_true(str_starts(job[5].why, "compiler killed by signal 11"));
    assert_true(str_starts(job[6].why, "compiler exit status 0"));
    assert_int_equal(job[8].outcome, BUILD_FAILED);
    assert_int_equal(job[2].outcome, BUILD_TIMEOUT);
    assert_int_equal(job[5].outcome, BUILD_KILLED);
    assert_int_equal(job[6].outcome, BUILD_FAILED);
    assert_true(job[2].compile_ns >= 1000000000 && job[2].compile_ns < 10000000000);
    assert_true(file_exists(job[2].log_path.s) && file_exists(job[5].log_path.s));
    assert_true(r.wall_ns < 20000000000);
}

typedef struct {
    size_t calls;
} Watch;

static Err interrupt_second(void *user, BuildJob *job, size_t n_done)
{
    Watch *w = user;
    (void)job;
    if (++w->calls != n_done) return err_set(ERR_FAILED, "%zu calls, %zu done", w->calls, n_done);
    if (n_done == 2) raise(SIGINT);
    return 0;
}

static Err stop_third(void *user, BuildJob *job, size_t n_done)
{
    (void)user;
    return n_done == 3 ? err_set(ERR_FAILED, "enough after %.*s", STR_ARG(job->symbol)) : 0;
}

static void test_interrupt(void **state)
{
    Fixture *f = *state;
    BuildJob *job = jobs_make(f, 30);
    BuildReport r;
    BuildOptions o = {
        .toolchain = &f->cc, .cache_dir = f->cache, .jobs = 1, .batch = 1, .on_done = stop_third};
    assert_int_equal(build_run(&f->arena, &o, job, 30, &r), ERR_FAILED);
    assert_true(strstr(err_message(), "enough after answer_2") != NULL && r.n_compiled == 3 &&
                !job[3].finished);
    pid_t child = fork();
    if (child == 0) {
        Watch w = {0};
        o.on_done = interrupt_second;
        o.user = &w;
        interrupt_init();
        Err e = build_run(&f->arena, &o, job + 10, 20, &r);
        _exit(e == ERR_FAILED && strstr(err_message(), "interrupted after 2 of 20 kernels") &&
                      r.n_compiled == 2
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    r = run(f, job, 30);
    assert_int_equal(r.n_cached, 5);
    assert_int_equal(r.n_compiled, 25);
}

/* kill -9 of the building process: what is there is whole, the next run does the rest and cleans up. */
static void test_killed(void **state)
{
    Fixture *f = *state;
    enum { N = 24 };
    Toolchain slow;
    const char *body = arena_printf(&f->arena, "sleep 0.1; exec %s \"$@\"", f->cc.program).s;
    assert_ok(toolchain_find(&f->arena, f->cc.target, script_make(f, "slow", body), NULL, &slow));
    BuildJob *job = jobs_make(f, N);
    BuildOptions o = {.toolchain = &slow, .cache_dir = f->cache, .jobs = 2, .batch = 1};
    pid_t child = fork();
    if (child == 0) {
        build_run(&f->arena, &o, job, N, NULL);
        _exit(0);
    }
    Str *names;
    size_t n = 0, n_work = 0;
    for (int i = 0; i < 1000 && n < 3; i++) {
        usleep(20000);
        if (dir_list(&f->arena, f->cache, ".obj", true, &names, &n)) n = 0;
    }
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_ok(dir_list(&f->arena, f->cache, "", false, &names, &n));
    for (size_t i = 0; i < n; i++) {
        if (!str_starts(names[i], ".tuner-work-")) continue;
        n_work++;
        struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
        usleep(200000); /* until the compilers of the killed process have ended */
        assert_int_equal(utimensat(AT_FDCWD, path_join(&f->arena, f->cache, names[i].s).s, old, 0), 0);
    }
    assert_int_equal(n_work, 2); /* of the build and of its precompiled header */
    BuildReport r;
    assert_ok(build_run(&f->arena, &o, job, N, &r));
    assert_true(r.n_cached > 0 && r.n_compiled > 0);
    assert_int_equal(r.n_cached + r.n_compiled, N);
    assert_ok(dir_list(&f->arena, f->cache, "", false, &names, &n));
    for (size_t i = 0; i < n; i++) assert_false(str_starts(names[i], ".tuner-work-"));
    Str objects[N];
    for (size_t i = 0; i < N; i++) objects[i] = job[i].object_path;
    const char *so = path_join(&f->arena, f->dir, "x.so").s;
    assert_ok(build_link(&f->cc, objects, N, NULL, 0, so));
    assert_int_equal(answer(so, "answer_23"), 1023);
}

/* A kernel's name in the linked file need not be its symbol in the object. */
static void test_link_names(void **state)
{
    Fixture *f = *state;
    BuildJob job = {
        .symbol = STR("k"),
        .source = STR("int k(void);\nint k(void) { return 7; }\nconst unsigned long k_local_bytes = 64;\n")};
    run(f, &job, 1);
    assert_ok(job.status);
    const char *so = path_join(&f->arena, f->dir, "named.so").s;
    const LinkName names[] = {{STR("Cijk_TT4_4"), STR("k")}, {STR("Cijk_TT8_8"), STR("k")}};
    assert_ok(build_link(&f->cc, &job.object_path, 1, names, 2, so));
    assert_int_equal(answer(so, "Cijk_TT4_4"), 7);
    assert_int_equal(answer(so, "Cijk_TT8_8"), 7);
    const LinkName bad[] = {{STR("x,--defsym=y"), STR("k")}};
    assert_int_equal(build_link(&f->cc, &job.object_path, 1, bad, 1, so), ERR_INPUT);
    assert_non_null(strstr(err_message(), "x,--defsym=y"));
}

/* With the precompiled header and without one (a compiler that cannot make it) kernels that use it compile.
 */
static void test_headers(void **state)
{
    Fixture *f = *state;
    Pch pch = {0};
    assert_null(pch_use(&pch, f->dir)); /* it was not begun */
    pch_begin(&pch, &f->cc, f->cache);
    assert_string_equal(pch_use(&pch, f->dir), "headers.h");
    assert_true(file_exists(path_join(&f->arena, f->dir, "headers.h.gch").s));
    BuildJob *job = jobs_make(f, 20);
    for (size_t i = 0; i < 20; i++)
        job[i].source = arena_printf(
            &f->arena, "#include <immintrin.h>\n__m128 x%zu(__m128 a) { return _mm_add_ps(a, a); }\n", i);
    BuildReport r = run(f, job, 10);
    assert_int_equal(r.n_compiled, 10);
    const BuildOptions o = {.toolchain = &f->cc, .cache_dir = f->cache, .pch = &pch};
    assert_ok(build_run(&f->arena, &o, job, 11, &r)); /* one kernel, with the header that is there */
    assert_int_equal(r.n_compiled, 1);
    pch_fini(&pch);
    f->cc.headers = "#error none\n";
    pch_begin(&pch, &f->cc, f->cache);
    assert_null(pch_use(&pch, f->dir));
    pch_fini(&pch);
    r = run(f, job, 20);
    assert_int_equal(r.n_compiled, 9);
    assert_int_equal(r.n_cached, 11);
}

static void test_bad_places(void **state)
{
    Fixture *f = *state;
    BuildJob *job = jobs_make(f, 1);
    Str file = path_join(&f->arena, f->dir, "file");
    assert_ok(file_write(file.s, STR("x")));
    BuildOptions o = {.toolchain = &f->cc, .cache_dir = path_join(&f->arena, file.s, "cache").s};
    assert_int_equal(build_run(&f->arena, &o, job, 1, NULL), ERR_FAILED);
    assert_non_null(strstr(err_message(), "file"));
    BuildReport r;
    o.cache_dir = f->cache;
    assert_ok(build_run(&f->arena, &o, job, 0, &r));
    assert_int_equal(build_link(&f->cc, NULL, 0, NULL, 0, file.s), ERR_INPUT);
    Arena small; /* out of memory is an error, nothing else */
    for (size_t limit = 16; limit < 4000; limit += 16) {
        arena_init(&small, limit);
        Err e = build_run(&small, &o, job, 1, &r);
        arena_fini(&small);
        if (!e) return;
        assert_int_equal(e, ERR_FAILED);
    }
    fail();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_toolchain),         TEST(test_cached),    TEST(test_damaged), TEST(test_bad_kernel),
        TEST(test_timeout_and_crash), TEST(test_interrupt), TEST(test_killed),  TEST(test_headers),
        TEST(test_link_names),        TEST(test_bad_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
