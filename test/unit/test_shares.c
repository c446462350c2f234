/* Parts of K that add up a tile through the workspace (lower/shares.h): the functions of wgmma kernels are
 * right in all orders of the parts' accesses, and refused for the reason when a statement is left out or
 * changed. */
#include "test/support.h"

#include "kernel/gpu/gpu.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/passes.h"
#include "kernel/plan.h"
#include "space/derive.h"

typedef struct {
    Arena arena;
    Stmts s;
    Shares of;
} Made;

/* How parts are added up: in shares, with marks or with counters that reset themselves; all by the last part
 * (StreamK). */
typedef enum { MARKS, COUNTERS, JOINS, HOWS } How;

static void make(Made *m, How how)
{
    const bool joins = how == JOINS;
    ProblemType pt;
    Deriver d;
    Solution s;
    Program p;
    const int32_t shape[] = {128, 64, 16, 1};
    assert_ok(problem_type_gemm(&pt, true, false, TYPE_H, TYPE_H, TYPE_S));
    pt.HighPrecisionAccumulate = true;
    assert_ok(deriver_init(&d, &pt, target_find(STR("sm_90a")), NULL));
    solution_init(&s, &pt);
    s.MatrixInstruction = (IntList){9, {128, 64, 16, 1, 1, 1, 1, 1, 2}};
    s.StaggerU = 0, s.PersistentKernel = !joins, s.PersistentKernelAlongBatch = !joins;
    if (joins)
        s.StreamK = 2;
    else
        s.GlobalSplitU = 3, s.GlobalSplitUAlgorithm = GSUA_SINGLE_KERNEL;
    s.SelfResetCounters = how == COUNTERS;
    assert_true(solution_derive(&d, &s, NULL));
    arena_init(&m->arena, 0);
    assert_ok(program_build(&p, &s, d.target, &m->arena));
    const MatrixInst *in = matrix_inst(d.target, TYPE_H, TYPE_H, shape);
    assert_non_null(in);
    stmts_init(&m->s, 0);
    assert_ok(hopper_join(p.gpu, in, &m->s));
    m->of = hopper_shares(p.gpu);
}

static void end(Made *m)
{
    stmts_fini(&m->s);
    arena_fini(&m->arena);
}

static void test_orders(void **unused)
{
    (void)unused;
    for (int how = 0; how < HOWS; how++) {
        Made m;
        make(&m, (How)how);
        const int most = how == JOINS ? SHARES_PARTS : 3;
        for (int n = 2; n <= most; n++) assert_ok(shares_verify(&m.s, &m.of, n, true));
        end(&m);
    }
}

/* Whether a statement is, or sets something to, the call of that function. */
static bool calls(const Stmt *s, const char *f)
{
    return s->x && (s->kind == STMT_DO || s->kind == STMT_SET) && s->x->kind == VALUE_CALL &&
           !strcmp(s->x->name, f);
}

/* Takes the statement number n that calls f out of a list. */
static bool take_out(Stmt **list, const char *f, int *n)
{
    for (Stmt **at = list; *at; at = &(*at)->next) {
        if (calls(*at, f) && !(*n)--) return *at = (*at)->next, true;
        if (take_out(&(*at)->body, f, n) || take_out(&(*at)->otherwise, f, n)) return true;
    }
    return false;
}

static void test_statements_left_out(void **unused)
{
    (void)unused;
    static const struct {
        How how;
        const char *call;
        int number;
        const char *why;
    } rows[] = {
        {MARKS, "fence_all", 0, "a part counts in before all threads have written its sums"},
        {MARKS, "put_sums", 0, "a part counts in before all threads have written its sums"},
        {MARKS, "group_sync", 0, "a part counts in before all threads have written its sums"},
        {MARKS, "fence_all", 1, "sums are read that may not be written yet"},
        {MARKS, "any_of_group", 0, "threads of a warp group do not do the same"},
        {MARKS, "store_share", 0, "a share is not stored"},
        {MARKS, "store_share", 1, "a share is not stored"},
        {MARKS, "change_flag", 0, "a share is not stored"},
        {COUNTERS, "fence_all", 0, "a part counts in before all threads have written its sums"},
        {COUNTERS, "word_begin", 0, "a part counts in before it has made the counter valid"},
        {COUNTERS, "fence_all", 1, "sums are read that may not be written yet"},
        {COUNTERS, "word_leave", 0, "the counter is not reset"},
        {COUNTERS, "word_leave", 1, "the counter is not reset"},
        {COUNTERS, "word_reset", 0, "the counter is not reset"},
        {COUNTERS, "shares_left", 0, "a share is not stored"},
        {COUNTERS, "store_share", 0, "a share is not stored"},
        {COUNTERS, "store_share", 1, "a share is not stored"},
        {JOINS, "fence_all", 0, "a part counts in before all threads have written its sums"},
        {JOINS, "group_sync", 0, "a part counts in before all threads have written its sums"},
        {JOINS, "fence_all", 1, "sums are read that may not be written yet"},
        {JOINS, "take_sums", 0, "the part that stores the tile has not added the sums of all parts once"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Made m;
        int n = rows[i].number;
        make(&m, rows[i].how);
        assert_true(take_out(&m.s.first, rows[i].call, &n));
        if (shares_verify(&m.s, &m.of, 2, true) != ERR_FAILED)
            fail_msg("%s %d is not missed", rows[i].call, rows[i].number);
        assert_string_equal(err_message(), rows[i].why);
        end(&m);
    }
}

/* Functions that are something else than the text takes them for. */
static void test_other_functions(void **unused)
{
    (void)unused;
    Made m;
    make(&m, MARKS);
    m.of.change = "change_another_flag"; /* no mark is changed: what that gives is not known */
    assert_int_equal(shares_verify(&m.s, &m.of, 2, true), ERR_FAILED);
    end(&m);
    make(&m, COUNTERS);
    m.of.is_gone = "all_counted"; /* reset while others may still wait */
    assert_int_equal(shares_verify(&m.s, &m.of, 2, true), ERR_FAILED);
    end(&m);
    make(&m, JOINS);
    m.of.part = "p.other"; /* each part writes to a place that is not known to be its own */
    assert_int_equal(shares_verify(&m.s, &m.of, 3, true), ERR_FAILED);
    assert_string_equal(err_message(), "sums are written to the place of another part");
    m.of.part = "p.part";
    assert_int_equal(shares_verify(&m.s, &m.of, SHARES_PARTS + 1, true), ERR_FAILED);
    assert_string_equal(err_message(), "5 parts of a tile, 2 to 4 are followed");
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_statements_left_out),
                                       cmocka_unit_test(test_other_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
