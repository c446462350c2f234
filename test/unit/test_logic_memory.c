/* Reading, writing, merging, converting, comparing and checking logic when the n-th allocation fails, for
 * every n until none does: an error that says so, or the result that memory gives; nothing leaks; an output
 * directory is as before or as it shall be. */
#include "test/support.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "logic/convert.h"
#include "logic/merge.h"
#include "logic/show.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_FAIL 1
/* glibc's functions, which the functions of the same names here call */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static long fail_at, live; /* 0: never */
static bool failed;

static bool fails(void)
{
    if (fail_at == 0 || --fail_at > 0) return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n)
{
    void *p = fails() ? NULL : __libc_malloc(n);
    live += p != NULL;
    return p;
}

void *calloc(size_t n, size_t size)
{
    void *p = fails() ? NULL : __libc_calloc(n, size);
    live += p != NULL;
    return p;
}

void *realloc(void *old, size_t n)
{
    void *p = fails() ? NULL : __libc_realloc(old, n);
    live += !old && p;
    return p;
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}
#else
static long fail_at, live;
static bool failed;
#define CAN_FAIL 0
#endif

typedef struct {
    char *root;
    const char *x, *y, *out, *file_x, *file_y;
    Str text_x, text_y;
} Place;

#define HEAD                                                                                                 \
    "- {MinimumRequiredVersion: 4.44.0}\n- vega20\n- gfx906\n- [Device 66a0]\n"                              \
    "- {Batched: true, DataType: 0, OperationType: GEMM, TransposeA: false, TransposeB: false, "             \
    "UseBeta: true}\n"
#define TAIL "- null\n- null\n- DeviceEfficiency\n"

static const char *const text_x =
    HEAD "- - {DepthU: 8, New: [1]}\n  - {DepthU: 16, StaggerU: 0}\n- [2, 3, 0, 1]\n"
         "- - - [1, 1, 1, 1]\n    - [0, 5.0]\n  - - [2, 1, 1, 1, 2, 2, 2, 2]\n"
         "    - [1, 6.0]\n" TAIL;
static const char *const text_y =
    HEAD "- - {DepthU: 32}\n  - {DepthU: 16, StaggerU: 0}\n- [2, 3, 0, 1]\n"
         "- - - [1, 1, 1, 1]\n    - [0, 7.0]\n  - - [3, 1, 1, 1]\n    - [1, 6.0]\n" TAIL;

/* Each leaves what it made in out, or returns an error. */
static Err merge(Arena *a, const Place *p, MergePolicy policy, Buf *out)
{
    Logic x, y, merged;
    MergeReport r;
    MergeOptions o = {.policy = policy, .verbosity = 2};
    Buf said;
    buf_init(&said);
    Err e = logic_parse(a, "x", p->text_x, NULL, &x);
    if (!e) e = logic_parse(a, "y", p->text_y, NULL, &y);
    if (!e) e = logic_merge(a, &x, &y, &o, &merged, &r, &said);
    if (!e) e = buf_check(&said);
    if (!e) e = logic_emit(&merged, out);
    buf_fini(&said);
    return e;
}

static Err merge_tensile(Arena *a, const Place *p, Buf *out) { return merge(a, p, MERGE_TENSILE, out); }

static Err merge_best(Arena *a, const Place *p, Buf *out) { return merge(a, p, MERGE_BEST, out); }

static Err merge_whole(Arena *a, const Place *p, Buf *out)
{
    MergeOptions o = {.policy = MERGE_BEST};
    MergeDirsReport r;
    (void)a;
    return merge_dirs(p->x, p->y, p->out, &o, &r, out);
}

static Err convert(Arena *a, const Place *p, Buf *out)
{
    Logic x;
    ConvertReport r;
    ConvertOptions o = {.to = UNIT_EFFICIENCY, .sclk_mhz = 1000, .trim = true, .remove_unused = true};
    TRY(logic_parse(a, "x", p->text_x, NULL, &x));
    TRY(logic_convert(a, &x, &o, &r));
    return logic_emit(&x, out);
}

static Err diff(Arena *a, const Place *p, Buf *out)
{
    char *argv[] = {(char *)p->file_x, (char *)p->file_y, NULL};
    (void)a, (void)out;
    return logic_diff_command(2, argv);
}

static Err check(Arena *a, const Place *p, Buf *out)
{
    char *argv[] = {(char *)p->file_x, NULL};
    (void)a, (void)out;
    Err e = logic_check_command(1, argv);
    return e == ERR_PARTIAL || e == ERR_FAILED ? ERR_OK : e; /* what it finds is another test's */
}

static void place_init(Arena *a, Place *p)
{
    p->root = test_dir();
    p->x = path_join(a, p->root, "x").s;
    p->y = path_join(a, p->root, "y").s;
    p->out = path_join(a, p->root, "out").s;
    p->text_x = str_from(text_x);
    p->text_y = str_from(text_y);
    const char *const dirs[] = {p->x, p->y, p->out};
    for (int i = 0; i < 3; i++) {
        assert_ok(dir_make(dirs[i]));
        assert_ok(file_write(path_join(a, dirs[i], "a.yaml").s, i == 1 ? p->text_y : p->text_x));
    }
    p->file_x = path_join(a, p->x, "a.yaml").s;
    p->file_y = path_join(a, p->y, "a.yaml").s;
}

typedef Err (*Work)(Arena *, const Place *, Buf *);

static char trouble[512]; /* printed when stdout is restored */

/* Makes the n-th allocation fail. False: there were fewer allocations, or the test failed. */
static bool fail_once(Work work, const Place *p, long n, Str want)
{
    Arena a;
    Buf out;
    long before = live;
    failed = false;
    fail_at = n;
    arena_init(&a, 0);
    buf_init(&out);
    Err e = work(&a, p, &out);
    fail_at = 0;
    const char *what = NULL;
    if (!e && !str_eq(buf_view(&out), want)) what = "another result, no error";
    if (e && !failed) what = "an error, but no allocation failed";
    buf_fini(&out);
    arena_fini(&a);
    if (live > before) what = "leaks"; /* below: what libc allocates without these names */
    if (what)
        snprintf(trouble, sizeof trouble, "allocation %ld: %s (%ld): %s", n, what, live - before,
                 err_message());
    return failed && !what;
}

static void fail_everywhere(Work work)
{
    if (!CAN_FAIL) {
        print_message("skipped: allocations cannot be made to fail here\n");
        skip();
    }
    Arena a;
    Place p;
    Buf want;
    long n = 1;
    arena_init(&a, 0);
    place_init(&a, &p);
    fflush(stdout);
    int out = dup(1), err = dup(2), null = open("/dev/null", O_WRONLY);
    assert_true(null >= 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2);
    buf_init(&want);
    *trouble = 0;
    Err e = work(&a, &p, &want);
    buf_reset(&want);
    if (!e) e = work(&a, &p, &want); /* the first run filled buffers that stay */
    while (!e && fail_once(work, &p, n, buf_view(&want))) n++;
    fflush(stdout);
    assert_true(dup2(out, 1) == 1 && dup2(err, 2) == 2);
    close(out), close(err), close(null);
    assert_ok(e);
    if (*trouble) fail_msg("%s", trouble);
    print_message("%ld allocations\n", n - 1);
    assert_true(n > 5);
    buf_fini(&want);
    assert_ok(dir_remove(p.root));
    free(p.root);
    arena_fini(&a);
}

static void test_merge_tensile(void **unused) { (void)unused, fail_everywhere(merge_tensile); }
static void test_merge_best(void **unused) { (void)unused, fail_everywhere(merge_best); }
static void test_merge_dirs(void **unused) { (void)unused, fail_everywhere(merge_whole); }
static void test_convert(void **unused) { (void)unused, fail_everywhere(convert); }
static void test_diff(void **unused) { (void)unused, fail_everywhere(diff); }
static void test_check(void **unused) { (void)unused, fail_everywhere(check); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_tensile), cmocka_unit_test(test_merge_best),
        cmocka_unit_test(test_merge_dirs),    cmocka_unit_test(test_convert),
        cmocka_unit_test(test_diff),          cmocka_unit_test(test_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
