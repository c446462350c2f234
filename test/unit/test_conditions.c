/* Which sizes a solution takes: what the copy engine and the workspace ask, for kernels of the H200's
 * config. */
#include "test/support.h"

#include "measure/conditions.h"
#include "measure/pool.h"
#include "space/config.h"
#include "space/wgmma.h"

enum { LOOKS = 20000, EVEN = 0, ODD = 1, SIZES = 2 };

typedef struct {
    Arena a;
    Config *config;
    const ProblemType *pt;
    Deriver deriver;
    Space space;
    int64_t n;
    ProblemSize size[SIZES];
    Conditions *open, *tight; /* without a limit of the workspace; with one byte */
} Setup;

static void setup_init(Setup *x)
{
    const Target *t = target_find(STR("sm_90a"));
    arena_init(&x->a, 0);
    assert_ok(config_read(&x->a, "configs/h200_hgemm.yaml", NULL, &x->config));
    x->pt = &x->config->problem[0].pt;
    assert_ok(deriver_init(&x->deriver, x->pt, t, &(DeriveLimits){.max_depth_u = 1024, .writer = true}));
    assert_ok(space_of_size_group(&x->space, x->config, x->pt, &x->config->problem[0].size_group[0]));
    assert_ok(space_size(&x->space, &x->n));
    x->size[EVEN] = (ProblemSize){8, {4096, 4096, 1, 4096, 4096, 4096, 4096, 4096}, NULL};
    x->size[ODD] = (ProblemSize){8, {2047, 2047, 1, 2047, 2047, 2047, 2047, 2047}, NULL};
    assert_ok(conditions_new(x->pt, x->size, SIZES, 0, &x->open));
    assert_ok(conditions_new(x->pt, x->size, SIZES, 1, &x->tight));
}

static void setup_fini(Setup *x)
{
    conditions_free(x->open);
    conditions_free(x->tight);
    space_fini(&x->space);
    arena_fini(&x->a);
}

/* Of wgmma kernels only those with copies of both operands, and without the engine's stores, take odd
 * strides; every kernel that splits K over a workspace needs one. */
static void test_engine_and_workspace(void **state)
{
    (void)state;
    Setup x = {0};
    size_t n_wgmma = 0, n_odd = 0, n_split = 0, n_other = 0;
    setup_init(&x);
    for (int64_t i = 0; i < LOOKS; i++) {
        Solution s;
        Verdict v;
        space_get(&x.space, pool_shuffle(i, x.n, 1), &s);
        if (!solution_derive(&x.deriver, &s, &v)) continue;
        assert_true(conditions_take(x.open, &s) && conditions_take(x.tight, &s));
        const bool engine = s.NvRing == 1 && wgmma_is(&s), copies = s.PackOperands == 3;
        if (engine) {
            assert_int_equal(conditions_hold(x.open, ODD), copies && !s.EngineStore);
            n_wgmma++, n_odd += conditions_hold(x.open, ODD);
        } else {
            n_other += conditions_hold(x.open, ODD);
        }
        if (s.GlobalSplitU > 1 && s.ClusterK <= 1) {
            n_split++;
            assert_false(conditions_hold(x.tight, EVEN));
        } else if (conditions_hold(x.open, EVEN)) {
            assert_true(conditions_hold(x.tight, EVEN));
        }
        if (conditions_hold(x.tight, ODD)) assert_false(engine);
    }
    assert_true(n_wgmma > 1000 && n_odd > 10 && n_split > 100 && n_other > 10);
    setup_fini(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_engine_and_workspace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
