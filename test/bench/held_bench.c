/* held_bench [verdict] FILE.times...: what the choices of a library lose on sizes that it was not tuned on,
 * by recorded times (recorded.h) of its kernels. The library keeps all of the file's kernels. Tenths of the
 * sizes are left out; rates, residuals and rows of the table come from the others. Sizes are judged for
 * which a race compared the kernels (DENSE times or more), against the best of these; the others only
 * teach. They are divided by a hash: without `verdict` one half is judged, which may be looked at while the
 * model is changed, and with it the other half, which may not. Prints losses of libtuner's choice and of
 * the table with predicted rows, in all and by stratum, and how far kernels are from the model on such
 * sizes. VERBOSE=1: bad choices too. DENSE=N: other sizes are judged, among the kernels with times. ROWS=0:
 * no predicted rows. TREES=0: without trees.
 * APART=N: the last N sizes are judged in place of tenths, and the others teach.
 * BOTH=1: both halves are judged.
 * KEEP=N: N of 1024 of the sizes that teach do, drawn by SEED. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "measure/model.h"
#include "measure/model_teach.h"
#include "measure/model_quality.h"
#include "measure/model_rows.h"
#include "problem/target.h"
#include "test/bench/recorded.h"

enum { FOLDS = 10, DENSE = 12 };

/* ---- sizes ---- */

/* A size is of the first stratum that holds. Strata group sizes by what makes the choice of a kernel
 * difficult, and therefore differ from those of scripts/strata.awk, which group them for comparisons with a
 * peer. */
typedef enum { BATCHED, TINY, SKINNY, ODD, LARGE, STRATA } Stratum;
static const char *const strata[] = {"batched", "tiny", "skinny", "odd", "large"};

static Stratum stratum_of(const ModelSize *z)
{
    static const double TINY_WORK = 1 << 22, SKINNY_SIDE = 128;
    if (z->batch > 1) return BATCHED;
    if (z->m * z->n * z->k <= TINY_WORK) return TINY;
    if (z->m <= SKINNY_SIDE || z->n <= SKINNY_SIDE) return SKINNY;
    return z->align_a < 16 || z->align_b < 16 || z->align_d < 16 ? ODD : LARGE;
}

static int number_of(const char *name, int usual) { return getenv(name) ? atoi(getenv(name)) : usual; }

static bool is_verdict(const ModelSize *z)
{
    const double key[] = {z->m, z->n, z->k, z->batch};
    return hash64((Str){(const char *)key, sizeof key}) >> 17 & 1;
}

/* ---- judging ---- */

enum { MODEL, TABLE, WAYS };
typedef struct {
    ModelMatrix m;
    ModelDevice device;
    ProblemType pt;
    bool verdict;
    bool *out, *judged; /* of each size, in the fold */
    double *loss[WAYS]; /* of each size; NAN: not judged */
    /* of the fitted model and with residuals: sums of squares of logarithms within a size */
    double error[STRATA + 1][WAYS], n_error[STRATA + 1];
} Held;

/* A part of a matrix as a library makes it. */
typedef struct {
    ModelRates rates[MODEL_CLASSES];
    ModelSelector s;
    ModelTable table;
} Library;

static bool is_judged(const Held *h, size_t z)
{
    size_t n = 0;
    for (size_t k = 0; k < h->m.n_kernels; k++) n += h->m.seconds[z * h->m.n_kernels + k] > 0;
    return (int)n >= number_of("DENSE", DENSE) &&
           (number_of("BOTH", 0) || is_verdict(&h->m.size[z]) == h->verdict);
}

static bool can_run(void *ctx, size_t k) { return ((const double *)ctx)[k] > 0; }

static double best_of(const Held *h, size_t z, size_t *kernel)
{
    const double *t = &h->m.seconds[z * h->m.n_kernels];
    *kernel = SIZE_MAX;
    for (size_t k = 0; k < h->m.n_kernels; k++)
        if (t[k] > 0 && (*kernel == SIZE_MAX || t[k] < t[*kernel])) *kernel = k;
    return t[*kernel];
}

static void kernel_print(const Held *h, const Library *l, size_t z, const char *who, size_t k)
{
    const ModelKernel *x = &h->m.kernel[k];
    ModelTime t;
    ModelNear near;
    model_near(&l->s, &h->m.size[z], &near);
    model_time(x, &h->device, &l->rates[x->class], &h->m.size[z], &t);
    printf("      %-8s %s %dx%dx%d groups %d stages %d split %d/%d persistent %d cluster %dx%d pack %d%d "
           "store %d: "
           "%.2f us, model %.2f, with residuals %.2f;",
           who, model_class_name((ModelClass)x->class), x->tile_m, x->tile_n, x->depth, x->groups, x->stages,
           x->split, x->split_kind, x->persistent, x->cluster_m, x->cluster_n, x->pack_a, x->pack_b, x->store,
           h->m.seconds[z * h->m.n_kernels + k] * 1e6, t.seconds * 1e6,
           model_predict(&l->s, &near, k, &h->m.size[z]) * 1e6);
    for (int i = 0; i < MODEL_N_TERMS; i++)
        if (t.term[i] > 0.1 * t.seconds) printf(" %s %.2f", model_term_name((ModelTerm)i), t.term[i] * 1e6);
    printf("\n");
}

static void size_print(const Held *h, const Library *l, size_t z, const size_t chosen[WAYS], size_t best)
{
    static const double SHOWN[] = {0.05, 0.1};
    const ModelSize *s = &h->m.size[z];
    if (!(h->loss[MODEL][z] > SHOWN[MODEL] || h->loss[TABLE][z] > SHOWN[TABLE])) return;
    printf("    %.0f,%.0f,%.0f,%.0f aligned %d %d %d, %s: libtuner %.2f, table %.2f\n", s->m, s->n, s->batch,
           s->k, s->align_a, s->align_b, s->align_d, strata[stratum_of(s)], h->loss[MODEL][z],
           h->loss[TABLE][z]);
    kernel_print(h, l, z, "best", best);
    if (chosen[MODEL] != best) kernel_print(h, l, z, "libtuner", chosen[MODEL]);
    if (chosen[TABLE] != best) kernel_print(h, l, z, "table", chosen[TABLE]);
}

/* The errors that count for a choice: those of kernels within NEAR_BEST of the best, and of kernels that
 * would seem to be. */
static void errors_add(Held *h, const Library *l, size_t z, double best)
{
    static const double NEAR_BEST = 1.5;
    const Stratum s = stratum_of(&h->m.size[z]);
    double sum[WAYS] = {0}, squares[WAYS] = {0}, n = 0;
    ModelNear near;
    model_near(&l->s, &h->m.size[z], &near);
    for (size_t k = 0; k < h->m.n_kernels; k++) {
        const double t = h->m.seconds[z * h->m.n_kernels + k];
        const ModelKernel *x = &h->m.kernel[k];
        if (!(t > 0)) continue;
        const double p[WAYS] = {model_time(x, &h->device, &l->rates[x->class], &h->m.size[z], NULL),
                                model_predict(&l->s, &near, k, &h->m.size[z])};
        if (fmin(t, p[1]) > NEAR_BEST * best) continue;
        for (int w = 0; w < WAYS; w++) sum[w] += log(t / p[w]), squares[w] += log(t / p[w]) * log(t / p[w]);
        n++;
    }
    for (int w = 0; n > 0 && w < WAYS; w++) {
        h->error[s][w] += squares[w] - sum[w] * sum[w] / n;
        h->error[STRATA][w] += squares[w] - sum[w] * sum[w] / n;
    }
    h->n_error[s] += n, h->n_error[STRATA] += n;
}

static void size_judge(Held *h, const Library *l, size_t z)
{
    double *t = &h->m.seconds[z * h->m.n_kernels], seconds;
    size_t best, chosen[WAYS];
    const double least = best_of(h, z, &best);
    chosen[MODEL] = model_choose(&l->s, &h->m.size[z], can_run, t, &seconds);
    chosen[TABLE] = model_table_nearest(&l->table, DISTANCE_RATIO, &h->m.size[z], t);
    for (int w = 0; w < WAYS; w++)
        if (chosen[w] != SIZE_MAX) h->loss[w][z] = t[chosen[w]] / least - 1;
    errors_add(h, l, z, least);
    if (getenv("VERBOSE")) size_print(h, l, z, chosen, best);
}

/* Takes sizes that would teach away, without judging them. */
static bool is_dropped(const ModelSize *z)
{
    enum { ALL = 1024 };
    const double key[] = {z->m, z->n, z->k, z->batch, number_of("SEED", 0) + 7.0};
    return (int)(hash64((Str){(const char *)key, sizeof key}) >> 20 & (ALL - 1)) >= number_of("KEEP", ALL);
}

static Err fold_judge(Held *h, Arena *a)
{
    Library l = {.table = {.pt = &h->pt, .m = &h->m, .out = h->out}};
    model_rates_typical(l.rates);
    TRY(model_fit_matrix(&h->m, h->out, &h->device, l.rates, NULL));
    ModelTaught c = {0};
    if (number_of("TREES", 1)) TRY(model_teach(a, &h->m, h->out, &h->device, l.rates, &c));
    TRY(model_selector_of(a, &h->m, h->out, &h->device, l.rates, &c, &l.s));
    TRY(model_table_make(a, &l.table));
    if (number_of("ROWS", 1) > 0) TRY(model_table_predict(a, &l.table, true, &l.s));
    for (size_t z = 0; z < h->m.n_sizes; z++)
        if (h->judged[z]) size_judge(h, &l, z);
    return ERR_OK;
}

/* ---- what comes out ---- */

static Err line_print(const Held *h, Arena *a, int way, int stratum)
{
    static const char *const ways[] = {"libtuner", "table, Ratio and rows"};
    ModelQuality q = {.loss = ARENA_ARRAY(a, h->m.n_sizes + 1, double)};
    TRY_ALLOC(q.loss);
    for (size_t z = 0; z < h->m.n_sizes; z++) {
        const bool in = stratum == STRATA || (int)stratum_of(&h->m.size[z]) == stratum;
        q.loss[z] = in ? h->loss[way][z] : (double)NAN;
    }
    TRY(model_quality_finish(a, &q, h->m.n_sizes));
    if (q.n)
        printf("  %-22s %-8s n=%-3zu loss mean %5.1f%% [%.1f, %.1f] p50 %.1f%% p90 %.1f%% p95 %.1f%% worst "
               "%.1f%%\n",
               ways[way], stratum == STRATA ? "all" : strata[stratum], q.n, q.mean * 100, q.mean_lo * 100,
               q.mean_hi * 100, q.p50 * 100, q.p90 * 100, q.p95 * 100, q.worst * 100);
    return ERR_OK;
}

static Err held_print(const Held *h, Arena *a, const char *path)
{
    printf("held_bench: %s, %s\n", path,
           number_of("BOTH", 0) ? "both halves"
           : h->verdict         ? "verdict half"
                                : "development half");
    for (int w = 0; w < WAYS; w++)
        for (int s = STRATA; s >= 0; s--) TRY(line_print(h, a, w, s));
    printf(
        "  log(measured / predicted) within a size, root mean square by the fitted model, with residuals:");
    for (int s = STRATA; s >= 0; s--)
        if (h->n_error[s] > 0)
            printf(" %s %.3f %.3f;", s == STRATA ? "all" : strata[s], sqrt(h->error[s][0] / h->n_error[s]),
                   sqrt(h->error[s][1] / h->n_error[s]));
    printf("\n");
    return ERR_OK;
}

static Err held_judge(Held *h, Arena *a, const char *path)
{
    Arena fold;
    Err e = 0;
    TRY(recorded_read(a, path, &h->m));
    TRY(problem_type_gemm(&h->pt, !h->m.kernel[0].free_a, h->m.kernel[0].free_b, TYPE_H, TYPE_H, TYPE_S));
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &h->device);
    TRY_ALLOC(h->out = ARENA_ARRAY(a, h->m.n_sizes + 1, bool));
    TRY_ALLOC(h->judged = ARENA_ARRAY(a, h->m.n_sizes + 1, bool));
    for (int w = 0; w < WAYS; w++) {
        TRY_ALLOC(h->loss[w] = ARENA_ARRAY(a, h->m.n_sizes + 1, double));
        for (size_t z = 0; z < h->m.n_sizes; z++) h->loss[w][z] = (double)NAN;
    }
    arena_init(&fold, 0);
    const size_t apart = (size_t)number_of("APART", 0);
    for (int f = 0; !e && f < (apart ? 1 : FOLDS); f++) {
        for (size_t z = 0; z < h->m.n_sizes; z++) {
            const bool in_fold =
                apart ? z + apart >= h->m.n_sizes : model_fold_of(&h->m.size[z], (ModelFolds){FOLDS, 0}) == f;
            h->judged[z] = in_fold && is_judged(h, z);
            h->out[z] = in_fold || is_dropped(&h->m.size[z]);
        }
        e = fold_judge(h, &fold);
        arena_reset(&fold);
    }
    arena_fini(&fold);
    TRY(e);
    return held_print(h, a, path);
}

int main(int argc, char **argv)
{
    const bool verdict = argc > 1 && strcmp(argv[1], "verdict") == 0;
    for (int i = 1 + verdict; i < argc; i++) {
        Arena a;
        Held h = {.verdict = verdict};
        arena_init(&a, 0);
        const Err e = held_judge(&h, &a, argv[i]);
        if (e) fprintf(stderr, "held_bench: %s: %s\n", argv[i], err_message());
        arena_fini(&a);
        if (e) return e;
    }
    return 0;
}
