/* Unit tests of tuner/measure/store_merge: stores that were made apart become one, in any order and any
 * number of times. */
#include "test/support.h"

#include "measure/db.h"
#include "measure/query.h"
#include "measure/store_merge.h"

typedef struct {
    char *dir;
    Arena a;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->dir = test_dir();
    arena_init(&f->a, 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    arena_fini(&f->a);
    dir_remove(f->dir);
    free(f->dir);
    free(f);
    return 0;
}

static void opened(Fixture *f, const char *name, StoreMode mode, Store *s)
{
    Str dir = path_join(&f->a, f->dir, name);
    assert_non_null(dir.s);
    assert_ok(store_open(s, dir.s, mode));
}

/* A store with the problems from `first` on, whose ids differ from store to store. */
static void store_make(Fixture *f, const char *name, int first, int n, const char *device)
{
    Store s;
    int64_t environment, device_id;
    opened(f, name, STORE_WRITE, &s);
    assert_ok(store_environment(&s, STR("toolchain=cc"), &environment));
    assert_ok(store_device(&s, str_from(device), &device_id));
    for (int i = n - 1; i >= 0; i--) {
        char key[64];
        Sample sample = {.ns = (uint64_t)(1000 + first + i), .enqueues = 1};
        Measurement m = {.status = STR("PASSED"),
                         .detail = STR(""),
                         .sample = &sample,
                         .n_samples = 1,
                         .checked = 7,
                         .device = device_id};
        snprintf(key, sizeof key, "Cijk 64,64,1,%d", first + i);
        assert_ok(store_problem(&s, str_from(key), 100 + first + i, &m.key.problem));
        assert_ok(store_setting(&s, STR("setting"), &m.key.setting));
        assert_ok(store_kernel(&s, STR("hash"), STR("name"), &m.key.kernel));
        assert_ok(store_measure_add(&s, &m));
        if (i == 0)
            assert_ok(store_compile_add(&s, &(Compile){m.key.kernel, environment, BUILD_OK, 5, STR("log")}));
        if (i == 0) assert_ok(store_code_add(&s, m.key.kernel, environment, STR("vgpr=8")));
    }
    store_close(&s);
}

static Err merge(Fixture *f, const char *into_name, const char *from_name, MergeCount *count)
{
    Store into, from;
    opened(f, into_name, STORE_WRITE, &into);
    opened(f, from_name, STORE_READ, &from);
    assert_ok(store_begin(&into));
    Err e = store_merge(&into, &from, NULL, count);
    if (e)
        store_rollback(&into);
    else
        assert_ok(store_commit(&into));
    store_close(&from);
    store_close(&into);
    return e;
}

static int64_t count_of(Fixture *f, const char *name, const char *sql)
{
    Store s;
    int64_t n;
    opened(f, name, STORE_READ, &s);
    assert_ok(db_int(s.db, &n, NULL, sql, ""));
    store_close(&s);
    return n;
}

/* All measurements by their keys, as one text. */
static Err line_add(void *ctx, const DbRow *row)
{
    for (int i = 0; i < 6; i++) buf_printf(ctx, "%.*s|", STR_ARG(row_text(row, i)));
    buf_putc(ctx, '\n');
    return 0;
}

static Str contents(Fixture *f, const char *name)
{
    Store s;
    Buf text;
    buf_init(&text);
    opened(f, name, STORE_READ, &s);
    assert_ok(
        db_each(s.db, line_add, &text,
                "SELECT k.hash, p.key, t.key, m.run, m.samples, d.key FROM measurement m JOIN kernel k ON"
                " k.id=m.kernel JOIN problem p ON p.id=m.problem JOIN setting t ON t.id=m.setting JOIN"
                " measured_on o ON o.measurement=m.id JOIN device d ON d.id=o.device ORDER BY p.key",
                ""));
    store_close(&s);
    Str out = arena_dup(&f->a, buf_view(&text));
    buf_fini(&text);
    return out;
}

static void test_any_order(void **state)
{
    Fixture *f = *state;
    MergeCount count;
    store_make(f, "one", 0, 3, "cuda:0 of a");
    store_make(f, "two", 2, 4, "cuda:0 of b"); /* number 2 is in both */
    assert_ok(merge(f, "forth", "one", &count));
    assert_int_equal(count.n_measurements, 3);
    assert_int_equal(count.n_compiles, 1);
    assert_ok(merge(f, "forth", "two", &count));
    assert_int_equal(count.n_measurements, 3);
    assert_int_equal(count.n_compiles, 0);
    assert_int_equal(count_of(f, "forth", "SELECT count(*) FROM measurement"), 6);
    assert_int_equal(count_of(f, "forth", "SELECT count(*) FROM kernel"), 1);
    assert_int_equal(count_of(f, "forth", "SELECT count(*) FROM code"), 1);
    Str before = contents(f, "forth");
    assert_ok(merge(f, "forth", "one", &count));
    assert_ok(merge(f, "forth", "two", &count));
    assert_int_equal(count.n_measurements, 0);
    assert_true(str_eq(before, contents(f, "forth")));
    assert_ok(merge(f, "back", "two", &count));
    assert_ok(merge(f, "back", "one", &count));
    assert_int_equal(count_of(f, "back", "SELECT count(*) FROM measurement"), 6);
    assert_int_equal(count_of(f, "back", "SELECT count(*) FROM measured_on"), 6);
}

static void test_devices(void **state)
{
    Fixture *f = *state;
    MergeCount count;
    store_make(f, "one", 0, 3, "cuda:0 of a");
    store_make(f, "two", 3, 2, "cuda:1 of b");
    assert_ok(merge(f, "all", "one", &count));
    assert_ok(merge(f, "all", "two", &count));
    assert_int_equal(count_of(f, "all",
                              "SELECT count(*) FROM measured_on o JOIN device d ON d.id=o.device WHERE"
                              " d.key='cuda:0 of a'"),
                     3);
    assert_int_equal(count_of(f, "all",
                              "SELECT count(*) FROM measured_on o JOIN device d ON d.id=o.device WHERE"
                              " d.key='cuda:1 of b'"),
                     2);
}

static void test_damaged(void **state)
{
    Fixture *f = *state;
    Store s;
    MergeCount count;
    store_make(f, "one", 0, 3, "cuda:0 of a");
    store_make(f, "into", 10, 1, "cuda:0 of a");
    opened(f, "one", STORE_WRITE, &s);
    assert_ok(db_exec(s.db, "PRAGMA foreign_keys=OFF", ""));
    assert_ok(db_exec(s.db, "UPDATE measurement SET problem=77 WHERE id=2", ""));
    store_close(&s);
    assert_int_equal(merge(f, "into", "one", &count), ERR_INPUT);
    assert_non_null(strstr(err_message(), "problem 77"));
    assert_int_equal(count_of(f, "into", "SELECT count(*) FROM measurement"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_devices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
