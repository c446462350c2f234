/* What groups of a search tell each other: winners of types that differ in transposes, where the spaces have
 * the same values. */
#include "run/search_share.h"
#include "test/space_setup.h"

enum { N_SIZES = 3, N_KERNELS = 2 };

typedef struct {
    ProblemType pt;
    Space space;
    ProblemSize size[N_SIZES];
    uint32_t best[N_SIZES];
    Run run;
} Side;

static void side_make(Side *s, SearchGroup *g, bool transpose_b, int last_depth)
{
    static const int64_t mnk[N_SIZES][3] = {{256, 256, 256}, {4096, 64, 1024}, {1024, 1024, 1024}};
    memset(s, 0, sizeof *s);
    assert_ok(problem_type_gemm(&s->pt, false, transpose_b, TYPE_S, TYPE_S, TYPE_S));
    assert_ok(space_init(&s->space, &s->pt));
    INTS(s, DepthU, 8, 16, last_depth);
    INTS(s, PrefetchGlobalRead, 0, 1);
    assert_ok(space_seal(&s->space));
    for (int i = 0; i < N_SIZES; i++) {
        s->size[i] = (ProblemSize){.n = 4, .v = {mnk[i][0], mnk[i][1], 1, mnk[i][2]}};
        s->best[i] = UINT32_MAX;
    }
    arena_init(&s->run.arena, 0);
    *g = (SearchGroup){.r = &s->run, .n_own = N_SIZES, .space = s->space};
    g->search.o = (SearchOptions){.method = SEARCH_MODEL, .pt = &s->pt, .size = s->size, .n_sizes = N_SIZES};
    g->search.best = s->best;
}

static void side_fini(Side *s, SearchGroup *g)
{
    VEC_FINI(&g->search.known);
    VEC_FINI(&g->search.value);
    VEC_FINI(&g->next.batch);
    space_fini(&s->space);
    arena_fini(&s->run.arena);
}

/* The group has measured a kernel on all sizes. */
static void measured(SearchGroup *g, int64_t permutation, const double ns[N_SIZES])
{
    const SearchCandidate new = {.permutation = permutation};
    const uint32_t c = (uint32_t)g->search.known.n;
    assert_true(VEC_PUSH(&g->search.known, new));
    for (int z = 0; z < N_SIZES; z++) {
        uint32_t *best = &g->search.best[z];
        assert_true(VEC_PUSH(&g->search.value, ns[z]));
        if (ns[z] <= 0) continue;
        g->search.n_pairs++;
        if (*best == UINT32_MAX || ns[z] < search_value(&g->search, *best, (uint32_t)z)) *best = c;
    }
}

static void test_winners(void **state)
{
    (void)state;
    SearchGroup g[2];
    Side side[2];
    side_make(&side[0], &g[0], false, 32);
    side_make(&side[1], &g[1], true, 32);
    measured(&g[0], 5, (const double[]){10, 20, 30});
    measured(&g[0], 3, (const double[]){12, 15, 0});

    assert_ok(search_share(g, 2, 1)); /* the other group has no result yet: it begins as it would alone */
    assert_int_equal(g[1].search.o.n_first, 0);
    measured(&g[1], 3, (const double[]){9, 0, 0});
    assert_ok(search_share(g, 2, 1));
    assert_int_equal(g[1].search.o.n_first, 3);
    const int64_t want[N_SIZES] = {5, 3, 5};
    for (uint32_t z = 0; z < N_SIZES; z++) {
        assert_int_equal(g[1].search.o.first[z].permutation, want[z]);
        assert_int_equal(g[1].search.o.first[z].size, z);
    }

    /* what it has measured, will measure, or cannot write is not tried again */
    measured(&g[1], 5, (const double[]){0, 0, 28});
    const SearchPair pair = {0, 1, false};
    assert_true(VEC_PUSH(&g[1].next.batch, pair));
    assert_ok(search_share(g, 2, 1));
    assert_int_equal(g[1].search.o.n_first, 1);
    assert_int_equal(g[1].search.o.first[0].size, 0);
    g[1].search.known.v[1].failed = true;
    assert_ok(search_share(g, 2, 1));
    assert_int_equal(g[1].search.o.n_first, 0);

    /* the other way round: permutation 3 is fastest on the first size */
    assert_ok(search_share(g, 2, 0));
    assert_int_equal(g[0].search.o.n_first, 0);
    for (int i = 0; i < 2; i++) side_fini(&side[i], &g[i]);
}

static void test_nothing_in_common(void **state)
{
    (void)state;
    SearchGroup g[2];
    Side side[2];
    side_make(&side[0], &g[0], false, 32);
    side_make(&side[1], &g[1], true, 64); /* DepthU has another value */
    measured(&g[0], 5, (const double[]){10, 20, 30});
    measured(&g[1], 0, (const double[]){9, 0, 0});
    assert_ok(search_share(g, 2, 1));
    assert_int_equal(g[1].search.o.n_first, 0);
    side_fini(&side[1], &g[1]);

    side_make(&side[1], &g[1], true, 32);
    measured(&g[1], 0, (const double[]){9, 0, 0});
    side[1].size[1].v[0] = 9000; /* more than twice as far as 4096 */
    side[1].size[2].v[0] = 1500;
    assert_ok(search_share(g, 2, 1));
    assert_int_equal(g[1].search.o.n_first, 2);
    assert_int_equal(g[1].search.o.first[0].size, 0);
    assert_int_equal(g[1].search.o.first[1].size, 2);

    side[1].pt.DataType = side[1].pt.DestDataType = side[1].pt.ComputeDataType = TYPE_D;
    assert_ok(search_share(g, 2, 1));
    assert_int_equal(g[1].search.o.n_first, 0);
    g[1].finished = true;
    for (int i = 0; i < 2; i++) side_fini(&side[i], &g[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_winners),
                                       cmocka_unit_test(test_nothing_in_common)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
