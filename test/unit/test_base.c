/* Unit tests of tuner/base. */
#include "test/support.h"

#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"
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
    char hex[SHA256_HEX + 1], b64[45];
    sha256_hex(STR("abc"), hex); /* FIPS 180-2, B.1 */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_base64(STR("abc"), b64);
    assert_string_equal(b64, "ungWv48Bz_pBQUDeXa4iI7ADYaOWF3qctBD-YfIAFa0=");
    assert_true(hash64(STR("a")) != hash64(STR("b")));
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
    assert_ok(file_append(file.s, STR(" world")));
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
        cmocka_unit_test(test_str),  cmocka_unit_test(test_buf),  cmocka_unit_test(test_arena_limit),
        cmocka_unit_test(test_map),  cmocka_unit_test(test_hash), cmocka_unit_test(test_files),
        cmocka_unit_test(test_proc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
