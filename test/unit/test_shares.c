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

/* The statements of a kernel whose parts join (StreamK) or have a share each. */
static void make(Made *m, bool joins)
{
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
    for (int joins = 0; joins < 2; joins++) {
        Made m;
        make(&m, joins);
        for (int n = 2; n <= (joins ? SHARES_PARTS : 3); n++) assert_ok(shares_verify(&m.s, &m.of, n, true));
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
        bool joins;
        const char *call;
        int number;
        const char *why;
    } rows[] = {
        {false, "fence_all", 0, "a part counts in before all threads have written its sums"},
        {false, "put_sums", 0, "a part counts in before all threads have written its sums"},
        {false, "group_sync", 0, "a part counts in before all threads have written its sums"},
        {false, "fence_all", 1, "sums are read that may not be written yet"},
        {false, "any_of_group", 0, "threads of a warp group do not do the same"},
        {false, "store_share", 0, "a share is not stored"},
        {false, "store_share", 1, "a share is not stored"},
        {false, "change_flag", 0, "a share is not stored"},
        {true, "fence_all", 0, "a part counts in before all threads have written its sums"},
        {true, "group_sync", 0, "a part counts in before all threads have written its sums"},
        {true, "fence_all", 1, "sums are read that may not be written yet"},
        {true, "take_sums", 0, "the part that stores the tile has not added the sums of all parts once"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Made m;
        int n = rows[i].number;
        make(&m, rows[i].joins);
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
    make(&m, false);
    m.of.change = "change_another_flag"; /* no mark is changed: what that gives is not known */
    assert_int_equal(shares_verify(&m.s, &m.of, 2, true), ERR_FAILED);
    end(&m);
    make(&m, true);
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
