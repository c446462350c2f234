/* search_replay [SECONDS...]: searches of the H200's wide space of hgemm kernels, on a device that is made
 * of what an H200 measured, beside the list that a person chose.
 *
 * Kernels of the list have the times that were measured (test/data/search). The others have the fitted
 * performance model's times, corrected by what it missed for the kernels of the list that are built alike,
 * and by made errors: of parameters, of kernels, of pairs of kernel and size. None takes less than 0.97
 * (BEYOND) of the time of the list's best. Prints, for each budget, the speed over that of the list's best
 * (geometric mean, least), after the first round and in the end, what was compiled and measured, and how
 * long the device waited. GROUP=1: TN instead of NN. */
#include "test/bench/recorded.h"
#include "test/bench/search_sim.h"

/* An unlisted kernel's least time over the list's best; spread of made errors; what clusters cost beyond
 * the model (at 1024x1024x1024 the H200's best kernel with a cluster took 1.6 times as long as the list's
 * best). */
static double beyond = 0.97; /* BEYOND in the environment */
static const double BUILT_ERROR = 0.05, CLUSTER_ERROR = 0.2, KERNEL_ERROR = 0.04, PAIR_ERROR = 0.03;

typedef struct {
    SimSetup s;
    ModelMatrix m;
    ModelRates rates[MODEL_CLASSES];
    SearchModel model; /* with the conditions of solutions */
    double *missed;    /* [size][kernel of the list]: log of measured over modelled time; NAN: none */
    double *listed;    /* best time of the list, of each size */
    Map column;        /* hash of a solution of the list -> its column */
    Hash128 hash;      /* of the candidate whose weights these are */
    double *weight;
    ModelSize *size;
} Replay;

/* -1 .. 1 by hash. */
static double draw(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t key[] = {a, b, c};
    return (double)(hash64((Str){(const char *)key, sizeof key}) >> 11) * 0x1p-52 - 1;
}

static double steps(double a, double b) { return fabs(log2(fmax(a, 0.5) / fmax(b, 0.5))); }

/* How differently two kernels are built, in doublings. */
static double distance(const ModelKernel *a, const ModelKernel *b)
{
    if (a->class != b->class || (a->split_kind == 3) != (b->split_kind == 3)) return 20;
    double d = steps(a->tile_m, b->tile_m) + steps(a->tile_n, b->tile_n) + 0.5 * steps(a->depth, b->depth);
    d += 0.5 * steps(a->stages, b->stages) + steps(a->split, b->split) + 0.5 * steps(a->threads, b->threads);
    d += 0.7 * steps(a->cluster_m, b->cluster_m) + 0.7 * steps(a->cluster_n, b->cluster_n);
    d += a->split_kind != b->split_kind ? 1 : 0;
    d += a->persistent != b->persistent ? 1 : 0;
    d += steps(a->load_a, b->load_a) + steps(a->load_b, b->load_b);
    d += 2 * (a->pack_a != b->pack_a) + 0.3 * (a->mapping != b->mapping);
    return d;
}

static void weights_make(Replay *x, const ModelKernel *k)
{
    for (size_t i = 0; i < x->m.n_kernels; i++) x->weight[i] = exp(-1.5 * distance(k, &x->m.kernel[i]));
}

/* What the model misses on a size, by the kernels of the list that are built alike. */
static double missed_by(const Replay *x, size_t z, size_t without)
{
    double sum = 0, all = 0.05;
    for (size_t i = 0; i < x->m.n_kernels; i++) {
        const double r = x->missed[z * x->m.n_kernels + i];
        if (isnan(r) || i == without) continue;
        sum += x->weight[i] * r, all += x->weight[i];
    }
    return sum / all;
}

static double seconds_of(void *ctx, const Solution *s, Hash128 hash, size_t z)
{
    Replay *x = ctx;
    ModelKernel k;
    const int64_t *column = map_get(&x->column, (Str){(const char *)&hash, sizeof hash});
    if (column && x->m.seconds[z * x->m.n_kernels + (size_t)*column] > 0)
        return x->m.seconds[z * x->m.n_kernels + (size_t)*column];
    if (x->hash.lo != hash.lo || x->hash.hi != hash.hi) {
        if (!x->model.kernel(x->model.ctx, s) || model_kernel(s, x->s.target, &k)) return 0;
        weights_make(x, &k);
        x->hash = hash;
    }
    const double t = x->model.seconds(x->model.ctx, z);
    if (!(t > 0)) return 0;
    double e = missed_by(x, z, SIZE_MAX);
    e += BUILT_ERROR *
         draw((uint64_t)s->EngineStore * 2 + (uint64_t)s->DependentLaunch, (uint64_t)s->SourceSwap, 1);
    e += BUILT_ERROR * draw((uint64_t)s->DepthU, (uint64_t)s->MacroTile0 << 20 | (uint64_t)s->MacroTile1, 2);
    e += s->ClusterM * s->ClusterN > 1 ? CLUSTER_ERROR : 0;
    e += KERNEL_ERROR * draw(hash.lo, 0, 3) + PAIR_ERROR * draw(hash.lo, z, 4);
    return fmax(t * exp(e), beyond * x->listed[z]);
}

/* The list's solutions in their order, which is that of the recorded kernels. */
static Err list_read(Replay *x, Arena *a, const char *path, size_t group)
{
    SimSetup list = {0};
    Solution s;
    Hash128 hash;
    TRY(sim_setup(&list, a, path, "sm_90a", group));
    if (list.pool.n != x->m.n_kernels)
        FAIL(ERR_INPUT, "%s has %zu kernels, and %zu were recorded", path, list.pool.n, x->m.n_kernels);
    map_init(&x->column);
    for (size_t i = 0; i < list.pool.n; i++) {
        int64_t *at;
        if (!pool_get(&list.pool, list.pool.item[i], &s, &hash)) continue;
        if (model_kernel(&s, list.target, &x->m.kernel[i])) err_clear(); /* as this program counts */
        at = map_put(&x->column, (Str){(const char *)&hash, sizeof hash}, NULL);
        if (at) *at = (int64_t)i;
    }
    pool_fini(&list.pool);
    space_fini(&list.space);
    return ERR_OK;
}

/* Fits the model to the recorded times, and takes note of what it misses. */
static Err device_make(Replay *x, Arena *a)
{
    const size_t nk = x->m.n_kernels, nz = x->m.n_sizes;
    PredictorOptions o = x->s.predictor;
    ModelSample *s = calloc(nk * nz + 1, sizeof *s);
    size_t n = 0;
    TRY_ALLOC(s);
    TRY_ALLOC(x->missed = ARENA_ARRAY(a, nk * nz, double));
    TRY_ALLOC(x->listed = ARENA_ARRAY(a, nz, double));
    TRY_ALLOC(x->weight = ARENA_ARRAY(a, nk, double));
    for (size_t z = 0; z < nz; z++) {
        x->listed[z] = (double)INFINITY;
        for (size_t k = 0; k < nk; k++)
            if (x->m.seconds[z * nk + k] > 0) x->listed[z] = fmin(x->listed[z], x->m.seconds[z * nk + k]);
        for (size_t k = 0; k < nk; k++) {
            const double t = x->m.seconds[z * nk + k];
            if (t > 0) s[n++] = (ModelSample){x->m.kernel[k], x->m.size[z], t, model_weight(t, x->listed[z])};
        }
    }
    Err e = model_calibrate(s, n, &o.device, o.rates, NULL);
    free(s);
    TRY(e);
    for (size_t z = 0; z < nz; z++)
        for (size_t k = 0; k < nk; k++) {
            const double t = x->m.seconds[z * nk + k];
            const ModelKernel *kernel = &x->m.kernel[k];
            x->missed[z * nk + k] =
                t > 0 ? log(t / model_time(kernel, &o.device, &o.rates[kernel->class], &x->m.size[z], NULL))
                      : (double)NAN;
        }
    return predictor_init(&o, &x->model);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How far the made device is from the recorded one, on kernels of the list left out one by one. */
static void device_print(Replay *x)
{
    const size_t nk = x->m.n_kernels, nz = x->m.n_sizes;
    double *error = calloc(nk * nz + 1, sizeof *error);
    size_t n = 0;
    for (size_t k = 0; error && k < nk; k++) {
        weights_make(x, &x->m.kernel[k]);
        for (size_t z = 0; z < nz; z++)
            if (!isnan(x->missed[z * nk + k])) error[n++] = fabs(x->missed[z * nk + k] - missed_by(x, z, k));
    }
    qsort(error, n, sizeof *error, by_value);
    if (n)
        printf("search_replay: %zu kernels, %zu recorded pairs; the device's times of a kernel left out are "
               "off by "
               "%.0f %% (median), %.0f %% (p90)\n",
               nk, n, 100 * error[n / 2], 100 * error[n * 9 / 10]);
    free(error);
    x->hash = (Hash128){0};
}

static void outcome_print(const Replay *x, double budget, bool overlaps, const SimOutcome *o)
{
    double logs = 0, least = (double)INFINITY;
    size_t below = 0;
    for (size_t z = 0; z < x->s.n_sizes; z++) {
        const double over = o->reached[z] * x->listed[z] / x->s.best[z];
        logs += log(fmax(over, 1e-3));
        least = fmin(least, over), below += over < 0.97;
    }
    printf("search_replay: %.0f s%s: %.3f of the list's speed (least %.3f, %zu of %zu sizes below 0.97), "
           "%.3f of the "
           "best; after the first round %.3f, %zu sizes without a result; %zu kernels, %.1f on a size, %zu "
           "rounds; "
           "forked in %.1f s, thought %.1f s, device idle %.2f\n",
           budget, overlaps ? "" : ", one after the other", exp(logs / (double)x->s.n_sizes), least, below,
           x->s.n_sizes, o->share, o->first_share, o->n_without, o->n_kernels, o->per_size, o->n_rounds,
           x->s.fork_s, o->thought, o->idle);
    fflush(stdout);
}

static Err sizes_check(const Replay *x, const char *path)
{
    bool same = x->s.n_sizes == x->m.n_sizes;
    for (size_t z = 0; same && z < x->m.n_sizes; z++) {
        const ModelSize a = model_size(x->s.pt, &x->s.size[z], false), *b = &x->m.size[z];
        same = a.m == b->m && a.n == b->n && a.k == b->k && a.batch == b->batch;
    }
    if (!same) FAIL(ERR_INPUT, "%s has other sizes than the config", path);
    return ERR_OK;
}

static Err bench(Replay *x, Arena *a, int n, const char *const *budget)
{
    static const char *const times[] = {"test/data/search/h200_hgemm_nn.times",
                                        "test/data/search/h200_hgemm_tn.times"};
    const size_t group = getenv("GROUP") && atoi(getenv("GROUP")) == 1;
    TRY(recorded_read(a, times[group], &x->m));
    TRY(list_read(x, a, "test/data/search/h200_hgemm_list.yaml", group));
    TRY(sim_setup(&x->s, a, "configs/h200_hgemm.yaml", "sm_90a", group));
    TRY(sizes_check(x, times[group]));
    TRY(device_make(x, a));
    device_print(x);
    x->s.seconds = seconds_of, x->s.ctx = x;
    sim_best(&x->s);
    for (size_t z = 0; z < x->s.n_sizes; z++) x->s.best[z] = fmin(x->s.best[z], x->listed[z]);
    for (int i = 0; i < n; i++)
        for (int overlaps = 1; overlaps >= 0; overlaps--) {
            SimOutcome o = {.reached = ARENA_ARRAY(a, x->s.n_sizes, double)};
            TRY_ALLOC(o.reached);
            TRY(sim_run(&x->s, atof(budget[i]), overlaps, &o));
            outcome_print(x, atof(budget[i]), overlaps, &o);
        }
    return ERR_OK;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"67"}; /* the share of 27 sizes in 150 s for 60 */
    static Replay x;
    Arena a;
    arena_init(&a, 0);
    if (getenv("BEYOND")) beyond = atof(getenv("BEYOND"));
    const Err e = argc < 2 ? bench(&x, &a, 1, usual) : bench(&x, &a, argc - 1, (const char *const *)argv + 1);
    if (e) fprintf(stderr, "search_replay: %s\n", err_message());
    predictor_fini(&x.model);
    pool_fini(&x.s.pool);
    space_fini(&x.s.space);
    map_fini(&x.column);
    arena_fini(&a);
    return e ? 1 : 0;
}
