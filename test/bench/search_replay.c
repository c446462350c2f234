/* search_replay [SECONDS...]: searches of the H200's wide space of hgemm kernels, on a device that is made
 * of what an H200 measured, beside the list that a person chose.
 *
 * Kernels of the list have the times that were measured (test/data/search). The others have the fitted
 * performance model's times, corrected by what it missed for measured kernels of the list and of a search
 * that are built alike, and by made errors: of tiles, of kernels, of pairs of kernel and size, which are as
 * large as those of measured kernels that are left out. None takes less than BEYOND of the least time that
 * was measured on the size. Prints, for each budget, the speed over that of the list's best (geometric mean,
 * least), after the first round and in the end, what was compiled and measured, and how long the device
 * waited. GROUP=1: TN instead of NN. UNSEEN=1: the list's sizes that are not in the config, instead of the
 * config's. HELD=1: those sizes are held out, and what libraries of the search lose there is printed (NN).
 * MADE=N: other made errors. ALONE=1: also with compiling and measuring one after the other. */
#include "run/search_between.h"
#include "test/bench/recorded.h"
#include "measure/search_work.h"
#include "test/bench/search_held.h"
#include "test/bench/search_sim.h"

/* Spread of made errors, by the errors that device_print tells. */
static double beyond = 1; /* BEYOND in the environment */
static uint64_t made = 1; /* MADE */
static const double BUILT_ERROR = 0.06, KERNEL_ERROR = 0.05, PAIR_ERROR = 0.05, ORDER_ERROR = 0.015;

/* What tells how differently two kernels are built: logarithms of numbers, with their weights. */
enum { BUILT_TRAITS = 13, CLASS_APART = 20 };

typedef struct {
    SimSetup s;
    ModelMatrix m, rounds; /* of the list; of a search */
    size_t n_tuned;        /* sizes of the search, the first ones; with HELD=1 others follow */
    size_t
        n_between; /* behind the tuned ones: sizes between, which are searched, and have no recorded times */
    size_t n_measured; /* kernels of both */
    ModelKernel *measured;
    double (*trait)[BUILT_TRAITS]; /* of each of them */
    ModelRates rates[MODEL_CLASSES];
    SearchModel model; /* with the conditions of solutions */
    double *missed;    /* [size][measured kernel]: log of measured over modelled time; NAN: none */
    double *listed;    /* best time of the list, of each size */
    double *least;     /* that was measured, of each size */
    Map column;        /* hash of a solution of the list -> its column */
    Hash128 hash;      /* of the candidate whose weights these are */
    double *weight;
} Replay;

/* A normal number by hash, about. */
static double draw(uint64_t a, uint64_t b, uint64_t c)
{
    double sum = 0;
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t key[] = {a, b, c, made, i};
        sum += (double)(hash64((Str){(const char *)key, sizeof key}) >> 11) * 0x1p-52 - 1;
    }
    return sum;
}

static double number_of(const char *name, double usual) { return getenv(name) ? atof(getenv(name)) : usual; }

static double log2_of(double x) { return log2(fmax(x, 0.5)); }

static void traits_of(const ModelKernel *k, double t[BUILT_TRAITS])
{
    const double v[BUILT_TRAITS] = {
        log2_of(k->tile_m),
        log2_of(k->tile_n),
        0.5 * log2_of(k->depth),
        0.5 * log2_of(k->stages),
        log2_of(k->split),
        0.5 * log2_of(k->threads),
        0.7 * log2_of(k->cluster_m),
        0.7 * log2_of(k->cluster_n),
        log2_of(k->load_a) + (k->class == MODEL_VECTOR ? 0.5 * log2_of(k->load_b) : 0),
        log2_of(k->load_b),
        2.0 * k->pack_a,
        (k->split_kind > 0) + 0.7 * k->persistent,
        0.1 * log2_of(abs(k->mapping)) * (k->mapping < 0 ? -1 : 1),
    };
    memcpy(t, v, sizeof v);
}

/* How differently two kernels are built, in doublings. */
static double distance(const ModelKernel *a, const double s[BUILT_TRAITS], const ModelKernel *b,
                       const double t[BUILT_TRAITS])
{
    if (a->class != b->class || (a->split_kind == 3) != (b->split_kind == 3)) return CLASS_APART;
    double d = 0;
    for (int i = 0; i < BUILT_TRAITS; i++) d += fabs(s[i] - t[i]);
    return d;
}

static void weights_make(Replay *x, const ModelKernel *k)
{
    double t[BUILT_TRAITS];
    traits_of(k, t);
    for (size_t i = 0; i < x->n_measured; i++)
        x->weight[i] = exp(-2.5 * distance(k, t, &x->measured[i], x->trait[i]));
}

/* What the model misses on a size, by measured kernels that are built alike. */
static double missed_by(const Replay *x, size_t z, size_t without)
{
    double sum = 0, all = 0.01;
    for (size_t i = 0; i < x->n_measured; i++) {
        const double r = x->missed[z * x->n_measured + i];
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
    const uint64_t built = (uint64_t)s->DepthU << 48 | (uint64_t)s->MacroTile0 << 20 |
                           (uint64_t)s->MacroTile1 << 4 | (uint64_t)s->EnableMatrixInstruction;
    const uint64_t twins = search_twins(s);
    const bool order = search_order_counts(s, x->m.size[z].m, x->m.size[z].n);
    const double e = missed_by(x, z, SIZE_MAX) + BUILT_ERROR * draw(built, z, 2) +
                     KERNEL_ERROR * draw(twins, 0, 3) + PAIR_ERROR * draw(twins, z, 4) +
                     (order ? ORDER_ERROR * draw(hash.lo, z, 5) : 0);
    return fmax(t * exp(e), beyond * x->least[z]);
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

/* The recorded time of a measured kernel; 0: none. */
static double recorded(const Replay *x, size_t z, size_t i)
{
    const size_t n = x->m.n_kernels;
    return i < n ? x->m.seconds[z * n + i] : x->rounds.seconds[z * x->rounds.n_kernels + i - n];
}

static Err measured_make(Replay *x, Arena *a)
{
    const size_t n = x->n_measured = x->m.n_kernels + x->rounds.n_kernels, nz = x->m.n_sizes;
    TRY_ALLOC(x->measured = ARENA_ARRAY(a, n, ModelKernel));
    TRY_ALLOC(x->trait = arena_alloc(a, n * sizeof *x->trait));
    TRY_ALLOC(x->missed = ARENA_ARRAY(a, n * nz, double));
    TRY_ALLOC(x->listed = ARENA_ARRAY(a, nz, double));
    TRY_ALLOC(x->least = ARENA_ARRAY(a, nz, double));
    TRY_ALLOC(x->weight = ARENA_ARRAY(a, n, double));
    for (size_t i = 0; i < n; i++) {
        x->measured[i] = i < x->m.n_kernels ? x->m.kernel[i] : x->rounds.kernel[i - x->m.n_kernels];
        traits_of(&x->measured[i], x->trait[i]);
    }
    for (size_t z = 0; z < nz; z++) {
        x->listed[z] = x->least[z] = (double)INFINITY;
        for (size_t i = 0; i < n; i++) {
            const double t = recorded(x, z, i);
            if (t > 0) x->least[z] = fmin(x->least[z], t);
            if (t > 0 && i < x->m.n_kernels) x->listed[z] = fmin(x->listed[z], t);
        }
    }
    return ERR_OK;
}

static bool is_between(const Replay *x, size_t z) { return z >= x->n_tuned && z < x->n_tuned + x->n_between; }

/* What the model misses of a measured kernel on a size, by the other recorded sizes; *unknown: how much of it
 * they leave open. */
static double missed_nearby(const Replay *x, size_t z, size_t k, double *unknown)
{
    const ModelPoint at = model_point(&x->m.size[z]);
    double sum = 0, all = 0.15;
    for (size_t i = 0; i < x->m.n_sizes; i++) {
        const double r = is_between(x, i) ? (double)NAN : x->missed[i * x->n_measured + k];
        if (isnan(r) || i == z) continue;
        const ModelPoint y = model_point(&x->m.size[i]);
        const double w = exp(-(double)model_distance(&at, &y) / (2 * 1.2 * 1.2));
        sum += w * r, all += w;
    }
    *unknown = 0.15 / all;
    return sum / all;
}

/* What the model misses on sizes between the recorded ones: as nearby, with made errors as large as those of
 * recorded sizes that are left out. */
static void between_make(Replay *x)
{
    const size_t nk = x->n_measured;
    double errors = 0, unknown = 0, u;
    for (size_t z = 0; z < x->m.n_sizes; z++)
        for (size_t k = 0; k < nk; k++) {
            if (is_between(x, z) || isnan(x->missed[z * nk + k]) || recorded(x, z, k) > 2 * x->least[z])
                continue;
            const double e = x->missed[z * nk + k] - missed_nearby(x, z, k, &u);
            errors += e * e, unknown += u;
        }
    const double spread = sqrt(errors / fmax(unknown, 1e-9));
    for (size_t z = x->n_tuned; z < x->n_tuned + x->n_between; z++) {
        x->least[z] = 0, x->listed[z] = (double)INFINITY;
        for (size_t k = 0; k < nk; k++) {
            const double missed = missed_nearby(x, z, k, &u);
            x->missed[z * nk + k] =
                missed +
                spread * sqrt(u) * (0.6 * draw((uint64_t)x->measured[k].class, z, 6) + 0.8 * draw(k, z, 7));
        }
    }
    if (x->n_between)
        printf("search_replay: %zu sizes between; made errors there up to %.0f %%\n", x->n_between,
               100 * spread);
}

/* Fits the model to the recorded times, and takes note of what it misses. */
static Err device_make(Replay *x, Arena *a)
{
    TRY(measured_make(x, a));
    const size_t nk = x->n_measured, nz = x->m.n_sizes;
    PredictorOptions o = x->s.predictor;
    ModelSample *s = calloc(nk * nz + 1, sizeof *s);
    size_t n = 0;
    TRY_ALLOC(s);
    for (size_t z = 0; z < nz; z++)
        for (size_t k = 0; k < nk; k++) {
            const double t = recorded(x, z, k);
            if (t > 0) s[n++] = (ModelSample){x->measured[k], x->m.size[z], t, model_weight(t, x->listed[z])};
        }
    Err e = model_calibrate(s, n, &o.device, o.rates, NULL);
    free(s);
    TRY(e);
    for (size_t z = 0; z < nz; z++)
        for (size_t k = 0; k < nk; k++) {
            const double t = recorded(x, z, k);
            const ModelKernel *kernel = &x->measured[k];
            x->missed[z * nk + k] =
                t > 0 ? log(t / model_time(kernel, &o.device, &o.rates[kernel->class], &x->m.size[z], NULL))
                      : (double)NAN;
        }
    between_make(x);
    return predictor_init(&o, &x->model);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How far the made device is from the recorded one, on kernels left out one by one that are near the best. */
static void device_print(Replay *x)
{
    const size_t nk = x->n_measured, nz = x->m.n_sizes;
    double *error = calloc(nk * nz + 1, sizeof *error);
    size_t n = 0;
    for (size_t k = 0; error && k < nk; k++) {
        weights_make(x, &x->measured[k]);
        for (size_t z = 0; z < nz; z++)
            if (!isnan(x->missed[z * nk + k]) && recorded(x, z, k) < 2 * x->least[z])
                error[n++] = fabs(x->missed[z * nk + k] - missed_by(x, z, k));
    }
    qsort(error, n, sizeof *error, by_value);
    if (n)
        printf(
            "search_replay: %zu kernels, %zu recorded pairs within twice the best; the device's times of a "
            "kernel left out are off by %.0f %% (median), %.0f %% (p90)\n",
            nk, n, 100 * error[n / 2], 100 * error[n * 9 / 10]);
    free(error);
    x->hash = (Hash128){0};
}

static void outcome_print(const Replay *x, double budget, bool overlaps, const SimOutcome *o)
{
    double logs = 0, least = (double)INFINITY;
    size_t below = 0;
    for (size_t z = 0; z < x->n_tuned; z++) {
        const double over = o->reached[z] * x->listed[z] / x->s.best[z];
        logs += log(fmax(over, 1e-3));
        least = fmin(least, over), below += over < 0.97;
        if (over < 0.97 || getenv("VERBOSE"))
            printf("    %.0fx%.0fx%.0fx%.0f: %.3f of the list, %.3f of the best\n", x->m.size[z].m,
                   x->m.size[z].n, x->m.size[z].batch, x->m.size[z].k, over, o->reached[z]);
    }
    printf("search_replay: %.0f s%s: %.3f of the list's speed (least %.3f, %zu of %zu sizes below 0.97), "
           "%.3f of the "
           "best; after the first round %.3f, %zu sizes without a result; %zu kernels, %.1f on a size, %zu "
           "rounds; "
           "forked in %.1f s, thought %.1f s, device idle %.2f\n",
           budget, overlaps ? "" : ", one after the other", exp(logs / (double)x->n_tuned), least, below,
           x->n_tuned, o->share, o->first_share, o->n_without, o->n_kernels, o->per_size, o->n_rounds,
           x->s.fork_s, o->thought, o->idle);
    fflush(stdout);
}

static bool size_equal(const ModelSize *a, const ModelSize *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->batch == b->batch;
}

/* The sizes of a matrix in the order of others; those that it lacks have no times. */
static Err sizes_order(Arena *a, ModelMatrix *m, const ModelSize *size, size_t n)
{
    double *seconds = ARENA_ARRAY(a, m->n_kernels * n + 1, double);
    TRY_ALLOC(seconds);
    for (size_t z = 0; z < n; z++)
        for (size_t i = 0; i < m->n_sizes; i++)
            if (size_equal(&m->size[i], &size[z]))
                memcpy(&seconds[z * m->n_kernels], &m->seconds[i * m->n_kernels],
                       m->n_kernels * sizeof *seconds);
    m->seconds = seconds, m->n_sizes = n;
    TRY_ALLOC(m->size = ARENA_ARRAY(a, n + 1, ModelSize));
    memcpy(m->size, size, n * sizeof *size);
    return ERR_OK;
}

/* Sizes between the first n, as a search takes them in. */
static Err between_draw(Replay *x, ProblemSize *problem, ModelSize *size, size_t *n, size_t n_more)
{
    x->n_between = n_more;
    TRY(search_between_choose(x->s.pt, problem, *n, *n, 1000 + made, &problem[*n], &x->n_between));
    for (size_t i = 0; i < x->n_between; i++, ++*n) size[*n] = model_size(x->s.pt, &problem[*n], false);
    return ERR_OK;
}

/* The config's sizes, or those of the list that the config does not have; with `held` these behind those. */
static Err sizes_choose(Replay *x, Arena *a, bool unseen, bool held)
{
    const size_t n_all = x->m.n_sizes, n_config = x->s.n_sizes,
                 n_more = held ? (size_t)number_of("BETWEEN", 0) : 0;
    const ProblemSize first = x->s.size[0];
    ModelSize *size = ARENA_ARRAY(a, n_all + n_more, ModelSize),
              *config = ARENA_ARRAY(a, n_config, ModelSize);
    ProblemSize *problem = ARENA_ARRAY(a, n_all + n_more, ProblemSize);
    size_t n = 0;
    if (!size || !config || !problem) FAIL(ERR_FAILED, "out of memory for %zu sizes", n_all);
    for (size_t z = 0; z < n_config; z++) config[z] = model_size(x->s.pt, &x->s.size[z], false);
    for (size_t i = 0; i < (held ? 2 : 1) * n_all; i++) {
        const ModelSize *at = &x->m.size[i % n_all];
        bool has = false;
        if (i == n_all) TRY(between_draw(x, problem, size, &n, n_more));
        for (size_t z = 0; z < n_config; z++) has = has || size_equal(at, &config[z]);
        if (has == (i < n_all ? unseen : !unseen)) continue;
        x->n_tuned += i < n_all;
        const int64_t v[] = {(int64_t)at->m, (int64_t)at->n, (int64_t)at->batch, (int64_t)at->k};
        const int64_t lda = x->s.pt->TransposeA ? v[3] : v[0], ldb = x->s.pt->TransposeB ? v[1] : v[3];
        const int64_t ld[] = {v[0], v[0], lda, ldb};
        problem[n] = first;
        memcpy(problem[n].v, v, sizeof v);
        if (first.n == 8) memcpy(&problem[n].v[4], ld, sizeof ld);
        size[n++] = *at;
    }
    if (!n) FAIL(ERR_INPUT, "the recorded times have no %s sizes", unseen ? "other" : "such");
    x->s.size = problem, x->s.predictor.size = problem;
    x->s.predictor.n_sizes = n;
    x->s.n_sizes = x->n_tuned + x->n_between;
    double *weight = ARENA_ARRAY(a, x->s.n_sizes, double);
    TRY_ALLOC(weight);
    for (size_t z = 0; z < x->s.n_sizes; z++) weight[z] = z < x->n_tuned ? 1 : number_of("WEIGHT", 0.3);
    x->s.weight = weight;
    TRY_ALLOC(x->s.best = ARENA_ARRAY(a, n, double));
    TRY(sizes_order(a, &x->m, size, n));
    return sizes_order(a, &x->rounds, size, n);
}

static Err held_print(void *ctx, const Search *s)
{
    Replay *x = ctx;
    Held h = {.setup = &x->s,
              .size = x->m.size,
              .listed = x->listed,
              .n_sizes = x->m.n_sizes,
              .n_tuned = x->n_tuned + x->n_between,
              .n_raced = x->n_tuned};
    Arena a;
    arena_init(&a, 0);
    const Err e = held_judge(&h, &a, s);
    arena_fini(&a);
    return e;
}

static Err bench(Replay *x, Arena *a, int n, const char *const *budget)
{
    static const char *const times[] = {"test/data/search/h200_hgemm_list_nn.times",
                                        "test/data/search/h200_hgemm_list_tn.times"};
    static const char *const rounds[] = {"test/data/search/h200_hgemm_rounds_nn.times",
                                         "test/data/search/h200_hgemm_rounds_tn.times"};
    const size_t group = number_of("GROUP", 0) == 1;
    TRY(recorded_read(a, times[group], &x->m));
    TRY(recorded_read(a, rounds[group], &x->rounds));
    TRY(list_read(x, a, "test/data/search/h200_hgemm_list.yaml", group));
    TRY(sim_setup(&x->s, a, "configs/h200_hgemm.yaml", "sm_90a", group));
    const bool held = number_of("HELD", 0) == 1;
    TRY(sizes_choose(x, a, number_of("UNSEEN", 0) == 1, held));
    TRY(device_make(x, a));
    device_print(x);
    x->s.seconds = seconds_of, x->s.ctx = x, x->s.ended = held ? held_print : NULL;
    sim_best(&x->s);
    for (size_t z = 0; z < x->s.n_sizes; z++) x->s.best[z] = fmin(x->s.best[z], x->listed[z]);
    for (int i = 0; i < n; i++)
        for (int overlaps = 1; overlaps >= (number_of("ALONE", 0) == 1 ? 0 : 1); overlaps--) {
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
    beyond = number_of("BEYOND", beyond), made = (uint64_t)number_of("MADE", (double)made);
    const Err e = argc < 2 ? bench(&x, &a, 1, usual) : bench(&x, &a, argc - 1, (const char *const *)argv + 1);
    if (e) fprintf(stderr, "search_replay: %s\n", err_message());
    predictor_fini(&x.model);
    pool_fini(&x.s.pool);
    space_fini(&x.s.space);
    map_fini(&x.column);
    arena_fini(&a);
    return e ? 1 : 0;
}
