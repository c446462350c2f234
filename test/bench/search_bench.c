/* search_bench [CONFIG ARCH SECONDS...]: searches of a wide space, on a device whose times are known for
 * all candidates. The device is the performance model with other rates, drawn at random, and with effects
 * that the model does not have: of families, of parameters and pairs of them, of kernels, of pairs of
 * kernel and size. Time is that of search_sim.h. For each budget (0: none) it prints the share of the best
 * speed that the search's choices reach, as the geometric mean and the least over the sizes, how many
 * candidates it measured on a size, and the device's idle share of the time. GROUP chooses another of the
 * config's problems than the first, DEVICES how many are made. */
#include "test/bench/search_sim.h"

enum { DEVICES_MADE = 1 };

typedef struct {
    SimSetup s;
    SearchModel truth;
    uint64_t device;
    Hash128 hash; /* of the candidate that the truth has */
} Setup;

/* -1 .. 1 by hash. */
static double draw(uint64_t device, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t key[] = {device, a, b, c};
    return (double)(hash64((Str){(const char *)key, sizeof key}) >> 11) * 0x1p-52 - 1;
}

static double true_seconds(void *ctx, const Solution *s, Hash128 hash, size_t z)
{
    Setup *x = ctx;
    if (x->hash.lo != hash.lo || x->hash.hi != hash.hi) {
        if (!x->truth.kernel(x->truth.ctx, s)) return 0;
        x->hash = hash;
    }
    const double seconds = x->truth.seconds(x->truth.ctx, z);
    const uint64_t d = x->device;
    double e =
        0.12 * draw(d, 1, (uint64_t)s->MacroTile0 << 20 | (uint64_t)s->MacroTile1, (uint64_t)s->NumThreads);
    e += 0.06 * draw(d, 2, (uint64_t)s->ConsumerSchedule, (uint64_t)s->ClusterM * 8 + (uint64_t)s->ClusterN);
    e += 0.05 * draw(d, 3, (uint64_t)s->DepthU, (uint64_t)s->PrefetchGlobalRead);
    e += 0.04 * draw(d, 4, (uint64_t)s->WorkGroupMapping, (uint64_t)x->s.size[z].v[0]);
    e += 0.05 * draw(d, 5, (uint64_t)s->GlobalSplitU, (uint64_t)s->GlobalSplitUAlgorithm);
    e += 0.04 *
         draw(d, 6, (uint64_t)s->EngineStore * 2 + (uint64_t)s->DependentLaunch, (uint64_t)s->SourceSwap);
    e += 0.03 * draw(d, 7, hash.lo, 0) + 0.02 * draw(d, 8, hash.lo, z + 1);
    return seconds * exp(e);
}

static Err truth_make(Setup *x, uint64_t device)
{
    PredictorOptions o = x->s.predictor;
    x->device = device;
    for (int c = 0; c < MODEL_CLASSES; c++) {
        double v[MODEL_N_RATES];
        memcpy(v, &o.rates[c], sizeof v);
        for (int i = 0; i < MODEL_N_RATES; i++) v[i] *= exp(0.5 * draw(device, 9, (uint64_t)c, (uint64_t)i));
        memcpy(&o.rates[c], v, sizeof v);
        o.rates[c].math = fmin(o.rates[c].math, 1);
    }
    TRY(predictor_init(&o, &x->truth));
    x->hash = (Hash128){0};
    x->s.seconds = true_seconds, x->s.ctx = x;
    sim_best(&x->s);
    return ERR_OK;
}

static Err bench(int argc, const char *const *argv)
{
    static Setup x;
    Arena a;
    const char *group = getenv("GROUP"), *devices = getenv("DEVICES");
    const uint64_t n_devices = devices ? strtoul(devices, NULL, 10) : DEVICES_MADE;
    arena_init(&a, 0);
    TRY(sim_setup(&x.s, &a, argv[1], argv[2], group ? strtoul(group, NULL, 10) : 0));
    printf("search_bench: %s: %lld permutations, %zu candidates, %zu sizes; forked in %.1f s\n", argv[1],
           (long long)x.s.pool.size, x.s.pool.n, x.s.n_sizes, x.s.fork_s);
    for (uint64_t device = 1; device <= n_devices; device++) {
        TRY(truth_make(&x, device));
        for (int i = 3; i < argc; i++)
            for (int overlaps = 0; overlaps < 2; overlaps++) {
                SimOutcome o = {.reached = ARENA_ARRAY(&a, x.s.n_sizes, double)};
                TRY_ALLOC(o.reached);
                TRY(sim_run(&x.s, atof(argv[i]), overlaps, &o));
                printf("search_bench: device %d, budget %5s s%s: %.4f of the best speed, least %.4f; %zu "
                       "kernels, %.1f candidates on a size, %zu rounds, %.0f s (%.1f choosing); without "
                       "99%%: %.2f; device idle %.2f\n",
                       (int)device, argv[i], overlaps ? ", overlapped" : "", o.share, o.least, o.n_kernels,
                       o.per_size, o.n_rounds, o.seconds, o.thought, o.without_99, o.idle);
                fflush(stdout);
            }
        predictor_fini(&x.truth);
    }
    pool_fini(&x.s.pool);
    space_fini(&x.s.space);
    arena_fini(&a);
    return ERR_OK;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"search_bench", "configs/host.yaml", "x86-64-v4", "300"};
    Err e = argc < 4 ? bench(4, usual) : bench(argc, (const char *const *)argv);
    if (e) fprintf(stderr, "search_bench: %s\n", err_message());
    return e ? 1 : 0;
}
