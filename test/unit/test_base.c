/* Unit tests of tuner/base. */
#include "test/support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/own.h"
#include "base/proc.h"
#include "base/vec.h"

static void test_str(void **state)
{
    (void)state;
    int64_t v;
    assert_true(str_to_i64(STR("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(str_to_i64(STR("9223372036854775807"), &v) && v == INT64_MAX);
    assert_false(str_to_i64(STR("9223372036854775808"), &v));
    assert_false(str_to_i64(STR("12x"), &v));
    assert_false(str_to_i64(STR(""), &v));
    double d;
    assert_true(str_to_f64(STR("0.25"), &d) && d == 0.25);
    assert_false(str_to_f64(STR("1e999"), &d));
    assert_int_equal(str_distance(STR("DepthV"), STR("DepthU")), 2);
    assert_int_equal(str_distance(STR("depthu"), STR("DepthU")), 2);
    Str rest = STR("a,,b"), part;
    const char *want[] = {"a", "", "b"};
    for (int i = 0; i < 3; i++) {
        assert_true(str_split(&rest, ',', &part));
        assert_str(part, want[i]);
    }
    assert_false(str_split(&rest, ',', &part));
}

static void test_buf(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    for (int i = 0; i < 1000; i++) buf_i64(&b, -i);
    buf_printf(&b, "|%s|%d", "x", 7);
    assert_ok(buf_check(&b));
    assert_true(str_ends(buf_view(&b), "-999|x|7"));
    assert_int_equal(strlen(buf_cstr(&b)), b.n);
    buf_fini(&b);
}

static void test_arena_limit(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 1000);
    assert_non_null(arena_alloc(&a, 500));
    assert_null(arena_alloc(&a, 600));
    assert_null(arena_array(&a, SIZE_MAX / 2, 16));
    arena_fini(&a);
}

static void test_map(void **state)
{
    (void)state;
    Map m;
    map_init(&m);
    char key[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "key%d", i);
        bool added;
        int64_t *v = map_put(&m, str_from(key), &added);
        assert_non_null(v);
        assert_true(added);
        *v = i;
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "key%d", i);
        assert_int_equal(*map_get(&m, str_from(key)), i);
        assert_str(m.entry[i].key, key);
    }
    assert_null(map_get(&m, STR("key5000")));
    map_fini(&m);
}

static void test_hash(void **state)
{
    (void)state;
    char hex[SHA256_HEX + 1], key[CONTENT_HEX + 1], b64[45];
    sha256_hex(STR("abc"), hex); /* FIPS 180-2, B.1 */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_base64(STR("abc"), b64);
    assert_string_equal(b64, "ungWv48Bz_pBQUDeXa4iI7ADYaOWF3qctBD-YfIAFa0=");
    assert_true(hash64(STR("a")) != hash64(STR("b")));
    content_hex(STR(""), key); /* xxHash's own answer (xxh128sum of an empty file) */
    assert_string_equal(key, "99aa06d3014798d86001c324468d497f");
}

static void test_files(void **state)
{
    (void)state;
    char *dir = test_dir();
    Arena a;
    arena_init(&a, 0);
    Str path = path_join(&a, dir, "x/y/z"), file = path_join(&a, path.s, "f.yaml"), got, *names;
    size_t n;
    assert_ok(dir_make(path.s));
    assert_ok(file_write(file.s, STR("hello")));
    assert_ok(file_write_unsynced(file.s, STR("hello world")));
    assert_ok(file_read(&a, file.s, 100, &got));
    assert_str(got, "hello world");
    assert_int_equal(file_read(&a, file.s, 5, &got), ERR_INPUT);
    assert_int_equal(file_read(&a, dir, 5, &got), ERR_INPUT);
    assert_ok(dir_list(&a, dir, ".yaml", true, &names, &n));
    assert_int_equal(n, 1);
    assert_str(names[0], "x/y/z/f.yaml");
    assert_str(path_base(names[0]), "f.yaml");
    assert_str(path_stem(names[0]), "f");
    assert_str(path_dir(names[0]), "x/y/z");
    Str lock = path_join(&a, dir, "lock");
    int fd, other;
    assert_ok(lock_take(lock.s, &fd));
    assert_int_equal(lock_take(lock.s, &other), ERR_FAILED);
    assert_non_null(strstr(err_message(), "held by another process"));
    lock_release(&fd);
    assert_ok(lock_take(lock.s, &fd));
    lock_release(&fd);
    assert_ok(dir_remove(dir));
    assert_false(dir_exists(dir));
    arena_fini(&a);
    free(dir);
}

/* Fails when the file cannot be read. */
static void assert_content(Arena *a, const char *path, const char *want)
{
    Str got;
    assert_ok(file_read(a, path, 1000, &got));
    assert_str(got, want);
}

static bool is_link(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* What is written keeps what it is: a link, a device, a FIFO. */
static void test_write_keeps_kind(void **state)
{
    (void)state;
    char *dir = test_dir();
    Arena a;
    arena_init(&a, 0);
    Str real = path_join(&a, dir, "real"), via = path_join(&a, dir, "via"), got;
    Str dangling = path_join(&a, dir, "dangling"), later = path_join(&a, dir, "later");
    Str fifo = path_join(&a, dir, "fifo"), full = path_join(&a, dir, "full");
    assert_ok(file_write(real.s, STR("old")));
    assert_int_equal(symlink("real", via.s), 0);
    assert_int_equal(symlink("later", dangling.s), 0);
    assert_int_equal(symlink("/dev/full", full.s), 0);
    assert_ok(file_write(via.s, STR("new")));
    assert_true(is_link(via.s));
    assert_content(&a, real.s, "new");
    assert_ok(file_write(dangling.s, STR("made")));
    assert_true(is_link(dangling.s));
    assert_content(&a, later.s, "made");
    assert_int_equal(file_write(full.s, STR("x")), ERR_FAILED);
    assert_non_null(strstr(err_message(), "No space left on device"));
    assert_true(is_link(full.s) && file_is_special(full.s));
    assert_int_equal(mkfifo(fifo.s, 0600), 0);
    int fd = open(fifo.s, O_RDONLY | O_NONBLOCK);
    char text[8] = "";
    assert_ok(file_write(fifo.s, STR("pipe")));
    assert_int_equal(read(fd, text, sizeof text), 4);
    assert_string_equal(text, "pipe");
    close(fd);
    assert_true(file_is_special(fifo.s));
    alarm(10); /* a FIFO without a writer must not block */
    assert_int_equal(file_read(&a, fifo.s, 100, &got), ERR_INPUT);
    assert_non_null(strstr(err_message(), "is not a regular file"));
    alarm(0);
    assert_int_equal(file_write(dir, STR("x")), ERR_FAILED);
    assert_ok(dir_remove(dir));
    arena_fini(&a);
    free(dir);
}

/* Only unlocked regular files with the reserved name, in directories reached without a link, are removed. */
static void test_temporaries(void **state)
{
    (void)state;
    char *dir = test_dir();
    Arena a;
    arena_init(&a, 0);
    static const char *const keep[] = {"out/1/x.c.backup",         "out/1/x.c.golden",
                                       "out/1/x.c.before",         "out/1/.tuner-tmp-abcde",
                                       "out/1/.tuner-tmp-abcd_f",  "out/1/.tuner-tmp-abcdefg",
                                       "out/1/.tuner-tmp-locked",  "elsewhere/.tuner-tmp-abcdef",
                                       "out/top/.tuner-tmp-abcdef"};
    enum { KEEP = sizeof keep / sizeof *keep };
    Str deep = path_join(&a, dir, "out/1/a/b"), elsewhere = path_join(&a, dir, "elsewhere");
    Str out = path_join(&a, dir, "out"), top = path_join(&a, dir, "out/top");
    assert_ok(dir_make(deep.s));
    assert_ok(dir_make(elsewhere.s));
    assert_ok(dir_make(top.s));
    for (size_t i = 0; i < KEEP; i++) assert_ok(file_write(path_join(&a, dir, keep[i]).s, STR("mine")));
    Str held = path_join(&a, dir, "out/1/.tuner-tmp-locked");
    assert_int_equal(rename(held.s, path_join(&a, dir, "out/1/.tuner-tmp-lockd1").s), 0);
    held = path_join(&a, dir, "out/1/.tuner-tmp-lockd1");
    Str gone = path_join(&a, deep.s, ".tuner-tmp-aZ09bc"), first = path_join(&a, out.s, ".tuner-tmp-000000");
    Str link = path_join(&a, deep.s, ".tuner-tmp-llllll");
    char work[2][512];
    int lock[2];
    for (int i = 0; i < 2; i++) { /* the first is in use, the second was left with what a linker wrote */
        assert_ok(temporary_dir(path_join(&a, deep.s, "x.so").s, work[i], sizeof work[i], &lock[i]));
        assert_ok(file_write(path_join(&a, work[i], "linked.tmp1a2b3c").s, STR("x")));
    }
    close(lock[1]);
    assert_ok(file_write(gone.s, STR("x")));
    assert_ok(file_write(first.s, STR("x")));
    assert_int_equal(symlink("../../../elsewhere/.tuner-tmp-abcdef", link.s), 0);
    assert_int_equal(symlink("../../elsewhere", path_join(&a, dir, "out/1/folder").s), 0);
    assert_int_equal(symlink("../elsewhere", path_join(&a, dir, "out/2").s), 0);
    int fd = open(held.s, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_ok(temporaries_remove(out.s, STR("1"), true));
    assert_ok(temporaries_remove(out.s, STR("2"), true));
    assert_ok(temporaries_remove(out.s, STR("../elsewhere"), true));
    assert_ok(temporaries_remove(out.s, elsewhere, true));
    assert_ok(temporaries_remove(out.s, STR(""), false));
    assert_ok(temporaries_remove(out.s, STR("missing"), true));
    close(fd);
    assert_false(file_exists(gone.s));
    assert_false(file_exists(first.s));
    assert_true(file_exists(path_join(&a, work[0], "linked.tmp1a2b3c").s));
    assert_false(dir_exists(work[1]));
    close(lock[0]);
    assert_true(is_link(link.s));
    assert_true(file_exists(held.s));
    for (size_t i = 0; i < KEEP; i++)
        if (!strstr(keep[i], "locked")) assert_true(file_exists(path_join(&a, dir, keep[i]).s));
    assert_ok(dir_remove(dir));
    arena_fini(&a);
    free(dir);
}

/* Links are refused where a run writes its own files, and a lock never goes through one. */
static void test_own_files(void **state)
{
    (void)state;
    char *dir = test_dir();
    Arena a;
    int fd;
    arena_init(&a, 0);
    Str victim = path_join(&a, dir, "victim"), lock = path_join(&a, dir, "lock");
    Str sub = path_join(&a, dir, "sub"), aside = path_join(&a, dir, "aside");
    assert_ok(file_write(victim.s, STR("precious")));
    assert_int_equal(symlink("victim", lock.s), 0);
    assert_int_equal(lock_take(lock.s, &fd), ERR_INPUT);
    assert_non_null(strstr(err_message(), "is a symbolic link"));
    assert_content(&a, victim.s, "precious");
    assert_int_equal(path_no_link(lock.s), ERR_INPUT);
    assert_ok(path_no_link(victim.s));
    assert_ok(dir_make(sub.s));
    assert_int_equal(symlink("..", path_join(&a, sub.s, "up").s), 0);
    assert_ok(dir_no_links(sub.s));
    assert_int_equal(symlink("../victim", path_join(&a, sub.s, "v").s), 0);
    assert_int_equal(dir_no_links(sub.s), ERR_INPUT);
    assert_true(path_is_below(dir, STR("sub")) && path_is_below(dir, STR("./sub/")));
    assert_false(path_is_below(dir, STR("sub/up")) || path_is_below(dir, STR("..")));
    assert_false(path_is_below(dir, sub));
    const char *say[] = {"sh", "-c", "echo x", NULL};
    ProcSpec spec = {.argv = say, .stdout_path = lock.s};
    assert_int_equal(proc_run(&spec, 0, &(ProcResult){0}), ERR_FAILED);
    assert_content(&a, victim.s, "precious");
    assert_ok(file_set_aside(dir, "victim", aside.s));
    assert_ok(file_write(victim.s, STR("second")));
    assert_ok(file_set_aside(dir, "victim", aside.s));
    assert_content(&a, path_join(&a, aside.s, "victim").s, "precious");
    assert_content(&a, path_join(&a, aside.s, "victim.1").s, "second");
    assert_ok(dir_remove(dir));
    arena_fini(&a);
    free(dir);
}

static void test_proc(void **state)
{
    (void)state;
    ProcResult r;
    const char *ok[] = {"sh", "-c", "exit 3", NULL};
    assert_ok(proc_run(&(ProcSpec){.argv = ok}, 0, &r));
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.code, 3);
    const char *hang[] = {"sh", "-c", "sleep 100 & sleep 100", NULL};
    assert_ok(proc_run(&(ProcSpec){.argv = hang}, 50000000, &r));
    assert_int_equal(r.end, PROC_TIMED_OUT);
    assert_true(r.wall_ns < 5000000000u);
    const char *crash[] = {"sh", "-c", "kill -SEGV $$", NULL};
    assert_ok(proc_run(&(ProcSpec){.argv = crash}, 0, &r));
    assert_int_equal(r.end, PROC_SIGNALLED);
    const char *none[] = {"/nonexistent/program", NULL};
    assert_int_equal(proc_run(&(ProcSpec){.argv = none}, 0, &r), ERR_FAILED);
    assert_non_null(strstr(err_message(), "/nonexistent/program"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_str),
        cmocka_unit_test(test_buf),
        cmocka_unit_test(test_arena_limit),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_write_keeps_kind),
        cmocka_unit_test(test_temporaries),
        cmocka_unit_test(test_own_files),
        cmocka_unit_test(test_proc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
