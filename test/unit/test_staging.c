/* Directories that change all at once: merges that are killed at every one of their system calls, moves that
 * fail, leftovers of a killed one, other processes that use the directory. */
#include "test/support.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logic/merge.h"
#include "logic/staging.h"

static const char *const type = "- {MinimumRequiredVersion: 4.44.0}\n- vega20\n- gfx906\n- [Device 66a0]\n"
                                "- {Batched: true, DataType: 0, OperationType: GEMM, TransposeA: false, "
                                "TransposeB: false, UseBeta: true}\n- - {DepthU: 8}\n- [2, 3, 0, 1]\n";

typedef struct {
    char *root;
    const char *x, *y, *out, *staging;
} Place;

static void put(const char *dir, const char *name, const char *text)
{
    Arena a;
    arena_init(&a, 0);
    Str path = path_join(&a, dir, name);
    assert_ok(dir_make(arena_dup(&a, path_dir(path)).s));
    FILE *f = fopen(path.s, "w"); /* no sync: this is done often */
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    arena_fini(&a);
}

static void put_logic(const char *dir, const char *name, int speed)
{
    char text[1024];
    snprintf(text, sizeof text, "%s- - - [1, 1, 1, 1]\n    - [0, %d.0]\n- null\n- null\n- DeviceEfficiency\n",
             type, speed);
    put(dir, name, text);
}

static void fresh_output(const Place *p)
{
    assert_ok(dir_remove(p->out));
    put(p->out, "a.yaml", "old a");
    put(p->out, "sub/b.yaml", "old b");
    put(p->out, "mine/notes", "mine");
}

static void place_init(Arena *a, Place *p)
{
    p->root = test_dir();
    p->x = path_join(a, p->root, "x").s;
    p->y = path_join(a, p->root, "y").s;
    p->out = path_join(a, p->root, "out").s;
    p->staging = path_join(a, p->root, "out.merging").s;
    for (int i = 0; i < 2; i++) {
        put_logic(i ? p->y : p->x, "a.yaml", 5 + i);
        put_logic(i ? p->y : p->x, "sub/b.yaml", 6 - i);
    }
    put(p->y, "c.yaml", "new c");
}

static void place_fini(Place *p)
{
    assert_ok(dir_remove(p->root));
    free(p->root);
}

/* All names below dir with their contents. */
static Str state(Arena *a, const char *dir)
{
    Str *name, text;
    size_t n;
    Buf b;
    buf_init(&b);
    assert_ok(dir_list(a, dir, "", true, &name, &n));
    for (size_t i = 0; i < n; i++) {
        assert_ok(file_read(a, path_join(a, dir, name[i].s).s, 1 << 20, &text));
        buf_printf(&b, "%s: %s\n", name[i].s, text.s);
    }
    text = arena_dup(a, buf_view(&b));
    buf_fini(&b);
    return text;
}

static Err merge(const Place *p)
{
    MergeOptions best = {.policy = MERGE_BEST};
    MergeDirsReport r;
    Buf text;
    buf_init(&text);
    Err e = merge_dirs(p->x, p->y, p->out, &best, &r, &text);
    buf_fini(&text);
    return e;
}

enum { NO_TRACE = 77 };

static void child(const Place *p, bool inside)
{
    if (inside && chdir(p->out)) _exit(1);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(NO_TRACE);
    raise(SIGSTOP);
    _exit(merge(p) ? 1 : 0);
}

/* The merge is killed at the n-th stop: before or after a system call. False: it ended before. */
static bool killed_at(const Place *p, bool inside, int n, int *status)
{
    pid_t pid = fork();
    if (pid == 0) child(p, inside);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, status, 0), pid);
    for (int i = 0; i < n && WIFSTOPPED(*status); i++) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
        assert_int_equal(waitpid(pid, status, 0), pid);
    }
    if (!WIFSTOPPED(*status)) return false;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, status, 0), pid);
    return true;
}

typedef struct {
    int n_old, n_new, n_mixed, n_left;
} Seen;

/* What is there after a kill, and after the next merge has begun. */
static void look(Arena *a, const Place *p, Str before, Str after, Seen *seen)
{
    Str now = state(a, p->out);
    seen->n_old += str_eq(now, before);
    seen->n_new += str_eq(now, after);
    seen->n_mixed += !str_eq(now, before) && !str_eq(now, after);
    seen->n_left += dir_exists(p->staging);
    assert_ok(staging_recover(a, p->out));
    assert_false(dir_exists(p->staging));
    now = state(a, p->out);
    if (!str_eq(now, before) && !str_eq(now, after)) fail_msg("neither old nor new:\n%s", now.s);
}

/* The warnings of recoveries, hundreds of them, go nowhere. */
static void kill_everywhere(bool inside, Seen *seen)
{
    Arena a, round;
    Place p;
    int n = 0, status, err = dup(2);
    assert_non_null(freopen("/dev/null", "w", stderr));
    arena_init(&a, 0);
    arena_init(&round, 0);
    place_init(&a, &p);
    fresh_output(&p);
    Str before = state(&a, p.out);
    assert_ok(merge(&p));
    Str after = state(&a, p.out);
    assert_false(str_eq(before, after));
    assert_non_null(strstr(after.s, "mine/notes: mine"));
    for (;; n += 2) { /* between two system calls once */
        fresh_output(&p);
        if (!killed_at(&p, inside, n, &status)) break;
        look(&round, &p, before, after, seen);
        arena_reset(&round);
    }
    assert_int_equal(dup2(err, 2), 2);
    close(err);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_TRACE) {
        print_message("skipped: no ptrace here\n");
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(str_eq(state(&a, p.out), after));
    place_fini(&p);
    arena_fini(&round);
    arena_fini(&a);
}

static void test_killed(void **unused)
{
    (void)unused;
    Seen seen = {0};
    kill_everywhere(false, &seen);
    print_message("killed %d times: %d old, %d new, %d left a staging directory\n", seen.n_old + seen.n_new,
                  seen.n_old, seen.n_new, seen.n_left);
    assert_int_equal(seen.n_mixed, 0);
    assert_true(seen.n_old > 50 && seen.n_new > 10 && seen.n_left > 50);
}

/* In the working directory files are renamed one after the other: the next merge sets it right. */
static void test_killed_inside(void **unused)
{
    (void)unused;
    Seen seen = {0};
    kill_everywhere(true, &seen);
    print_message("killed inside: %d old, %d new, %d mixed until the next merge\n", seen.n_old, seen.n_new,
                  seen.n_mixed);
    assert_true(seen.n_mixed > 0 && seen.n_new > 10);
}

/* The third of four files cannot be moved: what was there is there again. */
static void test_undone(void **unused)
{
    (void)unused;
    Arena a;
    Staging s;
    char *root = test_dir(), *here = realpath(".", NULL);
    arena_init(&a, 0);
    const char *out = path_join(&a, root, "out").s;
    put(out, "a", "old a");
    put(out, "b", "old b");
    Str before = state(&a, out), name[] = {STR("a"), STR("sub/new"), STR("missing"), STR("b")};
    assert_ok(staging_open(&a, out, &s));
    put(s.tree.s, "a", "new a");
    put(s.tree.s, "sub/new", "new");
    put(s.tree.s, "b", "new b");
    assert_int_equal(chdir(out), 0);
    Err e = staging_commit(&s, name, 4);
    assert_int_equal(e, ERR_FAILED);
    assert_non_null(strstr(err_message(), "/out/missing"));
    staging_close(&s, e);
    assert_non_null(strstr(err_message(), "/out/missing"));
    assert_true(str_eq(state(&a, out), before));
    assert_false(dir_exists(s.path.s));
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_ok(dir_remove(root));
    free(root);
    arena_fini(&a);
}

static void test_in_the_way(void **unused)
{
    (void)unused;
    Arena a;
    Place p;
    Staging s;
    int lock;
    arena_init(&a, 0);
    place_init(&a, &p);
    /* a directory of the user is not removed */
    put(p.staging, "photo", "x");
    assert_int_equal(merge(&p), ERR_INPUT);
    assert_non_null(strstr(err_message(), "out.merging' is in the way"));
    assert_ok(dir_remove(p.staging));
    /* another process is at work */
    assert_ok(dir_make(p.staging));
    assert_ok(lock_take(path_join(&a, p.staging, "lock").s, &lock));
    assert_int_equal(merge(&p), ERR_FAILED);
    assert_non_null(strstr(err_message(), "another merge into"));
    lock_release(&lock);
    /* it is gone: what it left is removed, an empty directory too */
    assert_ok(merge(&p));
    assert_false(dir_exists(p.staging));
    assert_ok(dir_make(p.staging));
    assert_ok(merge(&p));
    /* a link to a directory stays one: its files are renamed */
    const char *elsewhere = path_join(&a, p.root, "elsewhere").s, *sub = path_join(&a, p.out, "sub").s;
    assert_ok(dir_remove(sub));
    put(elsewhere, "b.yaml", "old b");
    assert_int_equal(symlink(elsewhere, sub), 0);
    assert_ok(merge(&p));
    struct stat st;
    assert_true(lstat(sub, &st) == 0 && S_ISLNK(st.st_mode));
    assert_null(strstr(state(&a, elsewhere).s, "old b"));
    /* modes stay */
    assert_int_equal(chmod(p.out, 0750), 0);
    assert_int_equal(unlink(sub), 0);
    assert_ok(merge(&p));
    assert_true(stat(p.out, &st) == 0 && (st.st_mode & 0777) == 0750);
    assert_ok(staging_open(&a, p.out, &s));
    staging_close(&s, ERR_OK);
    assert_false(dir_exists(p.staging));
    place_fini(&p);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed), cmocka_unit_test(test_killed_inside),
                                       cmocka_unit_test(test_undone), cmocka_unit_test(test_in_the_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
