/* The searcher against an oracle: a space of many thousand valid kernels whose times are known for all of
 * them, with effects that the model does not have. Also its limits: spaces of ten and of 10^9 permutations,
 * and that a recorded search is repeated exactly. */
#include <math.h>

#include "measure/search.h"
#include "test/space_setup.h"

enum { N_SIZES = 12, FIRST_PAIRS = 23 * N_SIZES };
/* Compiling a kernel takes as long as measuring it on so many sizes: nothing to speak of, or a lot. */
static const double CHEAP = 0.1, DEAR = 8;

typedef struct {
    ProblemType pt;
    Deriver deriver;
    Space space;
    Pool pool;
    ProblemSize size[N_SIZES];
    Solution current; /* of the model */
    uint64_t n_kernels;
} Setup;

static void sizes_make(Setup *s)
{
    static const int64_t mnk[N_SIZES][3] = {{256, 256, 256},   {1024, 1024, 1024}, {4096, 4096, 4096},
                                            {4096, 64, 1024},  {64, 4096, 1024},   {512, 512, 16384},
                                            {5120, 1000, 320}, {2048, 2048, 512},  {128, 128, 8192},
                                            {3000, 3000, 100}, {768, 3072, 768},   {8192, 1024, 2048}};
    for (int i = 0; i < N_SIZES; i++) {
        s->size[i] = (ProblemSize){.n = 4};
        s->size[i].v[0] = mnk[i][0];
        s->size[i].v[1] = mnk[i][1];
        s->size[i].v[2] = 1;
        s->size[i].v[3] = mnk[i][2];
    }
}

static void setup_space(Setup *s)
{
    memset(s, 0, sizeof *s);
    assert_ok(problem_type_gemm(&s->pt, false, false, TYPE_S, TYPE_S, TYPE_S));
    assert_ok(deriver_init(&s->deriver, &s->pt, target_find(STR("gfx906")), NULL));
    assert_ok(space_init(&s->space, &s->pt));
    sizes_make(s);
}

static void wide_space(Setup *s)
{
    const IntList tile[] = {{2, {2, 2}}, {2, {4, 2}}, {2, {2, 4}}, {2, {4, 4}}, {2, {6, 4}},
                            {2, {4, 6}}, {2, {6, 6}}, {2, {8, 4}}, {2, {4, 8}}, {2, {8, 8}}};
    const IntList group[] = {{3, {8, 8, 1}},  {3, {16, 8, 1}}, {3, {8, 16, 1}}, {3, {16, 16, 1}},
                             {3, {32, 8, 1}}, {3, {8, 32, 1}}, {3, {8, 8, 4}}};
    setup_space(s);
    LISTS(s, ThreadTile, tile, sizeof tile / sizeof *tile);
    LISTS(s, WorkGroup, group, sizeof group / sizeof *group);
    INTS(s, DepthU, 8, 16, 24, 32, 64);
    INTS(s, GlobalSplitU, 1, 2, 4, 8);
    INTS(s, PrefetchGlobalRead, 0, 1);
    INTS(s, PrefetchLocalRead, 0, 1);
    INTS(s, VectorWidth, 1, 2, 4);
    INTS(s, WorkGroupMapping, 1, 8, 64);
    INTS(s, GlobalReadVectorWidth, 1, 4);
    assert_ok(space_seal(&s->space));
    assert_ok(pool_init(&s->pool, &s->space, &s->deriver, NULL));
}

static void setup_fini(Setup *s)
{
    pool_fini(&s->pool);
    space_fini(&s->space);
}

/* -1 .. 1 by hash of up to four numbers. */
static double noise(int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t key[] = {a, b, c, d};
    return (double)(hash64((Str){(const char *)key, sizeof key}) >> 11) * 0x1p-52 - 1;
}

/* Tiles, waves, bytes: what a simple model knows. Seconds of 60 compute units. */
static double rough(const Solution *s, const ProblemSize *z, double vector)
{
    const double m = (double)z->v[0], n = (double)z->v[1], k = (double)z->v[3], split = s->GlobalSplitU;
    const double tiles = ceil(m / s->MacroTile0) * ceil(n / s->MacroTile1) * split;
    const double steps = ceil(k / split / s->DepthU) * s->DepthU;
    const double math = (double)s->MacroTile0 * s->MacroTile1 * steps * 1.1e-11;
    const double bytes = (double)(s->MacroTile0 + s->MacroTile1) * steps * 4 * 2.5e-11 / vector;
    return 3e-6 + ceil(tiles / 120) * 2 * (fmax(math, bytes) + 1e-6) +
           (split > 1 ? 4e-6 + m * n * split * 4e-12 : 0);
}

/* The truth: the same, with effects of parameters, of pairs of them, of sizes, and random ones. */
static double truth(const Solution *s, const ProblemSize *z)
{
    const double k = (double)z->v[3], work = log((double)z->v[0] * (double)z->v[1] * k) / 20 - 1;
    double t = rough(s, z, s->VectorWidth == 4 ? 1.3 : s->VectorWidth == 2 ? 1.15 : 0.9);
    t *= s->PrefetchGlobalRead ? 1 : 1.18;
    t *= s->PrefetchLocalRead ? 1 : 1.06 - 0.03 * (s->ThreadTile0 > 4);
    t *= 1 + 0.05 * work * (s->WorkGroupMapping == 1) - 0.03 * work * (s->WorkGroupMapping == 8);
    t *= 1 + 0.04 * fabs(log2(s->DepthU / 16.0));
    t *= s->GlobalLoadVectorWidthA == 4 ? 0.96 : 1;
    t *= 1 + 0.08 * noise(s->ThreadTile0, s->ThreadTile1, s->WorkGroup.v[0], s->WorkGroup.v[1]);
    t *= 1 + 0.04 * noise(s->DepthU, s->VectorWidth, s->PrefetchLocalRead, 7);
    t *= 1 + 0.02 * noise(s->MacroTile0, s->MacroTile1, z->v[0], z->v[1]);
    const Hash128 h = solution_hash(s);
    return t * (1 + 0.015 * noise((int64_t)h.lo, z->v[0], z->v[1], z->v[3]));
}

static bool take_kernel(void *ctx, const Solution *s)
{
    Setup *x = ctx;
    x->current = *s;
    x->n_kernels++;
    return true;
}

static double model_seconds(void *ctx, size_t size)
{
    const Setup *x = ctx;
    return rough(&x->current, &x->size[size], 1);
}

static double truth_of(const Setup *x, const Search *s, uint32_t c, uint32_t z)
{
    Solution solution;
    Hash128 hash;
    assert_true(pool_get(&x->pool, s->known.v[c].permutation, &solution, &hash));
    return truth(&solution, &x->size[z]);
}

/* The times of the best candidates, by measuring all. */
static void oracle(const Setup *x, double best[N_SIZES])
{
    for (int z = 0; z < N_SIZES; z++) best[z] = (double)INFINITY;
    for (size_t i = 0; i < x->pool.n; i++) {
        Solution s;
        Hash128 hash;
        assert_true(pool_get(&x->pool, x->pool.item[i], &s, &hash));
        for (int z = 0; z < N_SIZES; z++) best[z] = fmin(best[z], truth(&s, &x->size[z]));
    }
}

typedef struct {
    size_t n[N_SIZES];     /* measured pairs */
    size_t to_99[N_SIZES]; /* of them until the best was within 1 %; 0: never */
    size_t n_again;
    double reached[N_SIZES]; /* share of the oracle's speed */
    double at_40[N_SIZES];   /* the same with the first 40 pairs */
    uint64_t hash;           /* of all batches */
    size_t n_rounds, n_kernels;
    size_t n_pairs, n_of_first; /* n_of_first: kernels of about the first FIRST_PAIRS pairs */
} Outcome;

static void search_open(Setup *x, Search *s, SearchMethod method)
{
    SearchOptions o = {.pool = &x->pool,
                       .method = method,
                       .pt = &x->pt,
                       .size = x->size,
                       .n_sizes = N_SIZES,
                       .model = {.kernel = take_kernel, .seconds = model_seconds, .ctx = x},
                       .seed = 1};
    assert_ok(search_init(s, &o));
}

/* Measures a batch: every pair is new. */
static void batch_measure(const Setup *x, Search *s, const SearchBatch *batch, const double *best,
                          Outcome *out)
{
    out->n_rounds++;
    for (size_t i = 0; i < batch->n; i++) {
        const SearchPair *p = &batch->v[i];
        const uint32_t word[] = {p->candidate, p->size, p->again};
        out->hash = hash64((Str){(const char *)word, sizeof word}) ^ (out->hash * 31);
        if (p->again) {
            out->n_again++;
            continue;
        }
        const double t = truth_of(x, s, p->candidate, p->size);
        assert_true(search_value(s, p->candidate, p->size) == 0); /* nothing is measured twice */
        search_result(s, p->candidate, p->size, t * 1e9);
        out->n[p->size]++, out->n_pairs++;
        out->reached[p->size] = fmax(out->reached[p->size], best[p->size] / t);
        if (out->n[p->size] <= 40) out->at_40[p->size] = out->reached[p->size];
        if (!out->to_99[p->size] && out->reached[p->size] >= 0.99) out->to_99[p->size] = out->n[p->size];
    }
}

/* Runs a search to its end, or until every size has had max candidates. overlaps: a batch is chosen
 * before the results of the one before it are known. */
static void search_run(Setup *x, SearchMethod method, bool overlaps, double kernel_s, const double *best,
                       size_t max, Outcome *out)
{
    Search s;
    SearchBatch now = {0}, next = {0};
    memset(out, 0, sizeof *out);
    search_open(x, &s, method);
    for (size_t n_done = 0; n_done < N_SIZES;) {
        if (!next.n)
            assert_ok(search_next(
                &s, &(SearchQuota){SIZE_MAX, s.n_batches ? 4 : 12, kernel_s, 1, 0, 1, false}, NULL, &next));
        if (!next.n) break;
        const SearchBatch t = now;
        now = next, next = t, next.n = 0;
        if (overlaps)
            assert_ok(
                search_next(&s, &(SearchQuota){SIZE_MAX, 4, kernel_s, 1, 0, 1, false}, &now, &next));
        batch_measure(x, &s, &now, best, out);
        if (!out->n_of_first && out->n_pairs >= FIRST_PAIRS) out->n_of_first = s.known.n;
        n_done = 0;
        for (int z = 0; z < N_SIZES; z++) n_done += out->n[z] >= max;
    }
    out->n_kernels = s.known.n;
    VEC_FINI(&now);
    VEC_FINI(&next);
    search_fini(&s);
}

static double mean_of(const size_t *v)
{
    double sum = 0;
    for (int i = 0; i < N_SIZES; i++) sum += (double)v[i];
    return sum / N_SIZES;
}

static double geomean(const double *share)
{
    double logs = 0;
    for (int z = 0; z < N_SIZES; z++) logs += log(share[z]);
    return exp(logs / N_SIZES);
}

static void outcome_print(const char *what, const Outcome *o)
{
    print_message("%s: %.1f measured on a size in %zu rounds, reached %.4f, with 40 %.4f\n", what,
                  mean_of(o->n), o->n_rounds, geomean(o->reached), geomean(o->at_40));
    for (int z = 0; z < N_SIZES; z++)
        print_message("  size %d: %zu measured, 99 %% with %zu, reached %.4f\n", z, o->n[z], o->to_99[z],
                      o->reached[z]);
}

/* Of more than 5,000 valid kernels, 40 measured ones are enough for 99 % of the best, as the geometric mean
 * over the sizes; as many random ones are not. */
static void test_oracle(void **state)
{
    (void)state;
    Setup x;
    double best[N_SIZES];
    Outcome model, again, random, dear, overlapped;
    wide_space(&x);
    assert_true(pool_is_whole(&x.pool));
    assert_true(x.pool.n >= 5000);
    oracle(&x, best);
    search_run(&x, SEARCH_MODEL, false, CHEAP, best, SIZE_MAX, &model);
    outcome_print("model", &model);
    search_run(&x, SEARCH_RANDOM, false, CHEAP, best, 40, &random);
    outcome_print("random", &random);
    search_run(&x, SEARCH_MODEL, false, CHEAP, best, SIZE_MAX, &again);
    assert_true(model.hash == again.hash); /* it is repeatable */
    search_run(&x, SEARCH_MODEL, false, DEAR, best, SIZE_MAX, &dear);
    outcome_print("kernels that take long to compile", &dear);
    search_run(&x, SEARCH_MODEL, true, DEAR, best, SIZE_MAX, &overlapped);
    outcome_print("the same, chosen before the results of the batch before", &overlapped);
    assert_true(geomean(overlapped.reached) >= 0.97 && overlapped.n_kernels <= dear.n_kernels * 3 / 2);
    print_message("%zu kernels, %zu where they take long to compile; of the first pairs %zu, %zu\n",
                  model.n_kernels, dear.n_kernels, model.n_of_first, dear.n_of_first);
    /* Kernels that take long to compile are shared among sizes: equally many pairs need fewer of them. In the
     * end the number depends on how long a search goes on for the last percent, too. */
    assert_true((double)dear.n_of_first < 0.6 * (double)model.n_of_first);
    assert_true(dear.n_kernels < model.n_kernels && geomean(dear.reached) >= 0.97);
    assert_true(mean_of(model.n) <= 50);
    assert_true(geomean(model.at_40) >= 0.99);
    assert_true(geomean(random.reached) < 0.9);
    setup_fini(&x);
}

/* A space of ten candidates is searched to its end by every method. */
static void test_small(void **state)
{
    (void)state;
    const SearchMethod methods[] = {SEARCH_EXHAUSTIVE, SEARCH_RANDOM};
    Setup x;
    double best[N_SIZES];
    Outcome out;
    setup_space(&x);
    INTS(&x, DepthU, 4, 8, 16, 32, 64);
    INTS(&x, PrefetchGlobalRead, 0, 1);
    assert_ok(space_seal(&x.space));
    assert_ok(pool_init(&x.pool, &x.space, &x.deriver, NULL));
    assert_true(x.pool.n >= 5 && x.pool.n <= 10);
    oracle(&x, best);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        search_run(&x, methods[i], false, CHEAP, best, SIZE_MAX, &out);
        for (int z = 0; z < N_SIZES; z++) assert_int_equal(out.n[z], x.pool.n);
        assert_true(geomean(out.reached) > 0.999999);
    }
    search_run(&x, SEARCH_MODEL, false, CHEAP, best, SIZE_MAX, &out);
    assert_true(geomean(out.reached) > 0.999999);
    setup_fini(&x);
}

/* Candidates are found again by the values that their derivation gave them; others are not. */
static void finds_candidates(const Pool *p)
{
    enum { LOOKS = 40 };
    Solution s, found;
    Hash128 hash, of;
    int changed = 0; /* values of the space that the derivation replaced */
    for (size_t i = 0; i < LOOKS; i++) {
        const int64_t from = p->item[i * (p->n / LOOKS)];
        assert_true(pool_get(p, from, &s, &hash));
        changed += space_find(p->space, &s) < 0;
        const int64_t permutation = pool_find(p, &s, hash);
        assert_true(permutation >= 0);
        assert_true(pool_get(p, permutation, &found, &of));
        assert_true(of.lo == hash.lo && of.hi == hash.hi);
    }
    assert_true(changed > 0);
    s.ThreadTile.v[0] = 3;
    assert_int_equal(pool_find(p, &s, solution_hash(&s)), -1);
}

/* A space whose derivation changes values: -1 stands for one that it chooses. */
static void test_find(void **state)
{
    (void)state;
    Setup x;
    const IntList tile[] = {{2, {2, 2}}, {2, {4, 4}}, {2, {8, 4}}, {2, {4, 8}}, {2, {8, 8}}};
    setup_space(&x);
    LISTS(&x, ThreadTile, tile, 5);
    INTS(&x, DepthU, -1, 8, 16, 32, 64);
    INTS(&x, VectorWidth, -1, 1, 2, 4);
    INTS(&x, GlobalReadVectorWidth, -1, 1, 2, 4);
    INTS(&x, GlobalSplitU, 1, 2, 3, 4);
    INTS(&x, PrefetchGlobalRead, 0, 1);
    assert_ok(space_seal(&x.space));
    assert_ok(pool_init(&x.pool, &x.space, &x.deriver, NULL));
    finds_candidates(&x.pool);
    setup_fini(&x);
}

/* A space of more than 10^9 permutations is sampled; memory and work are bounded. */
static void test_large(void **state)
{
    (void)state;
    Setup x;
    int32_t many[64];
    double best[N_SIZES];
    Outcome out;
    const IntList tile[] = {{2, {2, 2}}, {2, {4, 4}}, {2, {8, 4}}, {2, {4, 8}}, {2, {8, 8}}};
    for (int i = 0; i < 64; i++) many[i] = i + 1;
    setup_space(&x);
    LISTS(&x, ThreadTile, tile, 5);
    set_ints(&(&x)->space, &(&x)->pt, PARAM_WorkGroupMapping, many, 64);
    set_ints(&(&x)->space, &(&x)->pt, PARAM_GlobalSplitU, many, 64);
    set_ints(&(&x)->space, &(&x)->pt, PARAM_StaggerU, (const int32_t[]){0, 2, 4, 8, 16, 32, 64}, 7);
    set_ints(&(&x)->space, &(&x)->pt, PARAM_StaggerUStride,
             (const int32_t[]){16, 32, 64, 128, 256, 512, 1024}, 7);
    INTS(&x, DepthU, 8, 16, 32, 64);
    INTS(&x, PrefetchGlobalRead, 0, 1);
    INTS(&x, PrefetchLocalRead, 0, 1);
    INTS(&x, VectorWidth, 1, 2, 4);
    INTS(&x, GlobalReadVectorWidth, 1, 2, 4);
    INTS(&x, StaggerUMapping, 0, 1, 2, 3, 4);
    INTS(&x, LoopTail, 0, 1);
    INTS(&x, KernelLanguage, LANG_SOURCE, LANG_ASSEMBLY);
    assert_ok(space_seal(&x.space));
    assert_ok(pool_init(&x.pool, &x.space, &x.deriver, NULL));
    assert_true(x.pool.size > 1000000000);
    assert_true(!pool_is_whole(&x.pool));
    assert_true(x.pool.n > 1000 && x.pool.n < POOL_ITEMS && x.pool.n_looks <= POOL_LOOKS);
    Pool some;
    assert_ok(pool_init_some(&some, &x.space, &x.deriver, 5000, NULL));
    assert_int_equal(some.n_looks, 5000);
    assert_true(!pool_is_whole(&some) && some.n > 0 && some.n < x.pool.n);
    pool_fini(&some);
    for (int z = 0; z < N_SIZES; z++) best[z] = 1;
    search_run(&x, SEARCH_MODEL, false, CHEAP, best, 16, &out);
    for (int z = 0; z < N_SIZES; z++) assert_true(out.n[z] >= 16);
    setup_fini(&x);
}

/* The share of size 0 in the pairs of the second batch, where another library is `faster` times as fast
 * there. */
static double share_of_size(Setup *x, const double *best, double faster)
{
    Search s;
    SearchBatch batch = {0};
    Outcome out = {0};
    size_t n = 0;
    search_open(x, &s, SEARCH_MODEL);
    assert_ok(search_next(&s, &(SearchQuota){SIZE_MAX, 12, CHEAP, 1, 0, 1, false}, NULL, &batch));
    batch_measure(x, &s, &batch, best, &out);
    for (uint32_t z = 0; z < N_SIZES; z++)
        search_peer(&s, z, search_value(&s, s.best[z], z) / (z == 0 ? faster : 0.5));
    assert_ok(search_next(&s, &(SearchQuota){8, 4, DEAR, 1, 0, 1, false}, NULL, &batch));
    assert_true(batch.n > 0);
    for (size_t i = 0; i < batch.n; i++) n += batch.v[i].size == 0;
    const double share = (double)n / (double)batch.n;
    VEC_FINI(&batch);
    search_fini(&s);
    return share;
}

/* A size on which another library is faster gets more candidates; one on which it is slower, as many. */
static void test_peer(void **state)
{
    (void)state;
    Setup x;
    double best[N_SIZES];
    wide_space(&x);
    oracle(&x, best);
    const double none = share_of_size(&x, best, 0), slower = share_of_size(&x, best, 0.8);
    assert_true(slower == none);
    print_message("share of a size: %.2f, behind a peer %.2f\n", none, share_of_size(&x, best, 1.5));
    assert_true(share_of_size(&x, best, 1.5) > none);
    setup_fini(&x);
}

/* The bijection maps 0 .. n-1 onto itself. */
static void test_shuffle(void **state)
{
    (void)state;
    const int64_t sizes[] = {1, 2, 3, 10, 255, 256, 257, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char seen[5000] = {0};
        for (int64_t k = 0; k < sizes[i]; k++) {
            const int64_t at = pool_shuffle(k, sizes[i], 7);
            assert_true(at >= 0 && at < sizes[i] && !seen[at]);
            seen[at] = 1;
        }
    }
}

/* Choices and permutations are each other's inverse, and neighbours differ in one choice. */
static void test_neighbours(void **state)
{
    (void)state;
    Setup x;
    int64_t near[2000];
    wide_space(&x);
    for (int64_t p = 0; p < x.pool.size; p += x.pool.size / 50) {
        uint32_t a[32], b[32];
        pool_choices(&x.pool, p, a);
        int64_t back = 0;
        for (size_t d = x.space.dim.n; d-- > 0;) back = back * (int64_t)x.space.dim.v[d].choice.n + a[d];
        assert_int_equal(back, p);
        const size_t n = pool_neighbours(&x.pool, p, near, 2000);
        assert_true(n > 0 && n <= pool_neighbours_max(&x.pool));
        for (size_t i = 0; i < n; i++) {
            int n_differ = 0;
            pool_choices(&x.pool, near[i], b);
            for (size_t d = 0; d < x.space.dim.n; d++) n_differ += a[d] != b[d];
            assert_int_equal(n_differ, 1);
        }
    }
    setup_fini(&x);
}

/* A search that is killed in the middle, and repeats its batches from the record, goes on as if it had not
 * been. */
static void test_replay(void **state)
{
    (void)state;
    enum { ROUNDS = 6, KILLED = 3 };
    const SearchQuota four = {SIZE_MAX, 4, CHEAP, 1, 0, 1, false};
    Setup x;
    Search whole, again;
    SearchBatch a = {0}, b = {0};
    wide_space(&x);
    search_open(&x, &whole, SEARCH_MODEL);
    search_open(&x, &again, SEARCH_MODEL);
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(search_next(&whole, &four, NULL, &a));
        b.n = 0;
        for (size_t i = 0; round < KILLED && i < a.n; i++) {
            SearchPair p = a.v[i];
            assert_ok(search_candidate(&again, whole.known.v[p.candidate].permutation, &p.candidate));
            assert_true(VEC_PUSH(&b, p));
        }
        if (round < KILLED)
            search_replay(&again, &b);
        else
            assert_ok(search_next(&again, &four, NULL, &b));
        assert_int_equal(a.n, b.n);
        for (size_t i = 0; i < a.n; i++) {
            assert_int_equal(whole.known.v[a.v[i].candidate].permutation,
                             again.known.v[b.v[i].candidate].permutation);
            assert_int_equal(a.v[i].size, b.v[i].size);
            const double t = truth_of(&x, &whole, a.v[i].candidate, a.v[i].size) * 1e9;
            search_result(&whole, a.v[i].candidate, a.v[i].size, t);
            search_result(&again, b.v[i].candidate, b.v[i].size, t);
        }
    }
    VEC_FINI(&a);
    VEC_FINI(&b);
    search_fini(&whole);
    search_fini(&again);
    setup_fini(&x);
}

/* However short the time, every size has a few candidates after the first batch, mostly of the same
 * kernels. */
static void test_first_batch_covers(void **state)
{
    (void)state;
    const SearchQuota none = {
        .kernels = 1, .per_size = 4, .kernel_s = 1, .pair_s = 1, .seconds = 1e-9, .scale = 1};
    Setup x;
    Search s;
    SearchBatch b = {0};
    size_t n[N_SIZES] = {0};
    wide_space(&x);
    search_open(&x, &s, SEARCH_MODEL);
    assert_ok(search_next(&s, &none, NULL, &b));
    for (size_t i = 0; i < b.n; i++) n[b.v[i].size]++;
    for (int z = 0; z < N_SIZES; z++) assert_int_equal(n[z], 3);
    assert_true(s.known.n < 3 * N_SIZES);
    VEC_FINI(&b);
    search_fini(&s);
    setup_fini(&x);
}

/* Kernels that differ in the order of work-groups alone are measured once on a size with one row of tiles. */
static void test_twins(void **state)
{
    (void)state;
    Setup x;
    Search s;
    SearchBatch b = {0};
    size_t n_narrow = 0, n_wide = 0;
    setup_space(&x);
    for (int i = 0; i < N_SIZES; i++) x.size[i].v[0] = i % 2 ? 16 : 4096;
    INTS(&x, DepthU, 16, 32);
    INTS(&x, WorkGroupMapping, 1, 4, 8, 16);
    assert_ok(space_seal(&x.space));
    assert_ok(pool_init(&x.pool, &x.space, &x.deriver, NULL));
    assert_int_equal(x.pool.n, 8);
    search_open(&x, &s, SEARCH_MODEL);
    assert_ok(search_next(&s, &(SearchQuota){SIZE_MAX, 12, CHEAP, 1, 0, 1, false}, NULL, &b));
    for (size_t i = 0; i < b.n; i++) *(b.v[i].size % 2 ? &n_narrow : &n_wide) += 1;
    print_message("%zu pairs with one row of tiles, %zu with several\n", n_narrow, n_wide);
    assert_int_equal(n_narrow, 2 * N_SIZES / 2);
    assert_true(n_wide > n_narrow);
    VEC_FINI(&b);
    search_fini(&s);
    setup_fini(&x);
}

/* A size that is called often is worth more, a short one less; without counts all are alike. */
static void test_weights(void **state)
{
    (void)state;
    Setup x;
    Arena a;
    SizeExtra often = {.count = 1000}, once = {.count = 1};
    const double *w;
    arena_init(&a, 0);
    setup_space(&x);
    assert_ok(search_weights(&a, &x.pt, x.size, N_SIZES, &w));
    assert_null(w);
    x.size[1].extra = &often; /* 1024^3 */
    x.size[2].extra = &once;  /* 4096^3 */
    assert_ok(search_weights(&a, &x.pt, x.size, N_SIZES, &w));
    assert_true(w[1] > 5 * w[2] && w[2] > w[0] && w[0] >= 1.0 / SEARCH_WEIGHT_LEAST);
    space_fini(&x.space);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shuffle),
                                       cmocka_unit_test(test_neighbours),
                                       cmocka_unit_test(test_small),
                                       cmocka_unit_test(test_find),
                                       cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_peer),
                                       cmocka_unit_test(test_replay),
                                       cmocka_unit_test(test_weights),
                                       cmocka_unit_test(test_twins),
                                       cmocka_unit_test(test_oracle),
                                       cmocka_unit_test(test_first_batch_covers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
