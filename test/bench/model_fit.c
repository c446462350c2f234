/* model_fit FILE...: fits the performance model's rates to recorded times (recorded.h) of all files
 * together, on every other size, and judges them on the sizes in between: the share of the best speed that
 * the model's first choice reaches, and Spearman's rank correlation, as means over the sizes. Then the
 * rates that are fitted to all sizes. Without arguments it judges those of the H200 that are in the
 * repository. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "measure/model.h"
#include "test/bench/recorded.h"

enum { FILES = 16 };

typedef struct {
    const char *path;
    ModelMatrix m;
} File;

typedef struct {
    File file[FILES];
    size_t n;
    ModelDevice device;
    Arena a;
} Fitting;

/* By a hash of the size, so that equal sizes of different layouts are on one side. */
static bool is_judged(const ModelSize *z)
{
    const double key[] = {z->m, z->n, z->k, z->batch};
    return hash64((Str){(const char *)key, sizeof key}) >> 13 & 1;
}

static double best_of(const ModelMatrix *m, size_t z)
{
    double best = (double)INFINITY;
    for (size_t k = 0; k < m->n_kernels; k++)
        if (m->known[k] && m->seconds[z * m->n_kernels + k] > 0)
            best = fmin(best, m->seconds[z * m->n_kernels + k]);
    return best;
}

static Err fit(const Fitting *x, bool all, ModelRates r[MODEL_CLASSES], ModelFit out[MODEL_CLASSES])
{
    VEC(ModelSample) s = {0};
    Err e = 0;
    for (size_t i = 0; !e && i < x->n; i++) {
        const ModelMatrix *m = &x->file[i].m;
        for (size_t z = 0; !e && z < m->n_sizes; z++)
            for (size_t k = 0; (all || !is_judged(&m->size[z])) && k < m->n_kernels; k++) {
                const double t = m->seconds[z * m->n_kernels + k];
                const ModelSample one = {m->kernel[k], m->size[z], t, model_weight(t, best_of(m, z))};
                if (t > 0 && m->known[k] && !VEC_PUSH(&s, one)) e = err_set(ERR_FAILED, "out of memory");
            }
    }
    if (!e) e = model_calibrate(s.v, s.n, &x->device, r, out);
    VEC_FINI(&s);
    return e;
}

/* Ranks by value, ties by position. */
static double rank_of(const double *v, size_t n, size_t i)
{
    double rank = 0;
    for (size_t k = 0; k < n; k++) rank += v[k] < v[i] || (v[k] == v[i] && k < i);
    return rank;
}

static double spearman(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = rank_of(a, n, i) - rank_of(b, n, i);
        sum += d * d;
    }
    return 1 - 6 * sum / ((double)n * ((double)n * (double)n - 1));
}

static void kernel_print(const Fitting *x, const ModelMatrix *m, const ModelRates r[MODEL_CLASSES], size_t z,
                         size_t k)
{
    const ModelKernel *n = &m->kernel[k];
    ModelTime t;
    const double s = model_time(n, &x->device, &r[n->class], &m->size[z], &t);
    printf("    %s %dx%dx%d stages %d groups %d split %d/%d cluster %dx%d order %d pack %d%d persistent %d: "
           "%.2f us, model %.2f, binds %s\n",
           model_class_name((ModelClass)n->class), n->tile_m, n->tile_n, n->depth, n->stages, n->groups,
           n->split, n->split_kind, n->cluster_m, n->cluster_n, n->mapping, n->pack_a, n->pack_b,
           n->persistent, m->seconds[z * m->n_kernels + k] * 1e6, s * 1e6, model_term_name(t.binds));
}

/* The best kernel of a size, and the model's first choice. */
static void size_print(const Fitting *x, const ModelMatrix *m, const ModelRates r[MODEL_CLASSES], size_t z,
                       size_t first)
{
    const ModelSize *s = &m->size[z];
    size_t best = 0;
    for (size_t k = 0; k < m->n_kernels; k++)
        if (m->known[k] && m->seconds[z * m->n_kernels + k] == best_of(m, z)) best = k;
    printf("  %.0f,%.0f,%.0f,%.0f: %.3f\n", s->m, s->n, s->batch, s->k,
           best_of(m, z) / m->seconds[z * m->n_kernels + first]);
    kernel_print(x, m, r, z, best);
    if (first != best) kernel_print(x, m, r, z, first);
}

static void judge(const Fitting *x, const char *what, const ModelRates r[MODEL_CLASSES])
{
    for (size_t i = 0; i < x->n; i++) {
        const ModelMatrix *m = &x->file[i].m;
        double share = 0, rank = 0, least = 1, *t = calloc(m->n_kernels, sizeof *t);
        double *p = calloc(m->n_kernels, sizeof *p);
        size_t *first_of = calloc(m->n_kernels, sizeof *first_of);
        size_t n_sizes = 0;
        for (size_t z = 0; t && p && first_of && z < m->n_sizes; z++) {
            size_t n = 0, first = 0;
            for (size_t k = 0; is_judged(&m->size[z]) && k < m->n_kernels; k++) {
                const double s = m->seconds[z * m->n_kernels + k];
                if (!(s > 0) || !m->known[k]) continue;
                t[n] = s;
                p[n] = model_time(&m->kernel[k], &x->device, &r[m->kernel[k].class], &m->size[z], NULL);
                first_of[n] = k;
                if (p[n] < p[first]) first = n;
                n++;
            }
            if (n < 3) continue;
            const double one = best_of(m, z) / t[first];
            if (getenv("VERBOSE")) size_print(x, m, r, z, first_of[first]);
            share += one, rank += spearman(t, p, n), least = fmin(least, one), n_sizes++;
        }
        printf("model_fit: %s, %s: first choice %.3f of the best (least %.3f), Spearman %.2f; %zu sizes left "
               "out\n",
               what, x->file[i].path, share / (double)n_sizes, least, rank / (double)n_sizes, n_sizes);
        free(t);
        free(p);
        free(first_of);
    }
}

static void rates_print(const char *what, const ModelRates r[MODEL_CLASSES], const ModelFit f[MODEL_CLASSES])
{
    for (int c = 0; c < MODEL_CLASSES; c++) {
        double v[MODEL_N_RATES];
        memcpy(v, &r[c], sizeof v);
        if (!f[c].n) continue;
        printf("model_fit: %s, %s: n=%zu median error %.3f -> %.3f:", what, model_class_name((ModelClass)c),
               f[c].n, f[c].before, f[c].after);
        for (int i = 0; i < MODEL_N_RATES; i++) printf(" %s %.3g", model_rate_name(i), v[i]);
        printf("\n");
    }
}

static Err files_read(Fitting *x, int argc, const char *const *argv)
{
    for (int i = 1; i < argc && x->n < FILES; i++) {
        File *f = &x->file[x->n++];
        f->path = argv[i];
        TRY(recorded_read(&x->a, f->path, &f->m));
    }
    return ERR_OK;
}

static Err bench(Fitting *x, int argc, const char *const *argv)
{
    ModelRates r[MODEL_CLASSES];
    ModelFit f[MODEL_CLASSES];
    TRY(files_read(x, argc, argv));
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &x->device);
    model_rates_typical(r);
    judge(x, "typical rates", r);
    TRY(fit(x, false, r, f));
    judge(x, "fitted", r);
    rates_print("every other size", r, f);
    model_rates_typical(r);
    TRY(fit(x, true, r, f));
    rates_print("all sizes", r, f);
    return ERR_OK;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {
        "model_fit", "test/data/search/h200_hgemm_nn.times", "test/data/search/h200_hgemm_tn.times",
        "test/data/search/h200_hgemm_ranges_nn.times", "test/data/search/h200_hgemm_ranges_tn.times"};
    Fitting x = {0};
    arena_init(&x.a, 0);
    const Err e = argc < 2 ? bench(&x, 5, usual) : bench(&x, argc, (const char *const *)argv);
    if (e) fprintf(stderr, "model_fit: %s\n", err_message());
    arena_fini(&x.a);
    return e ? 1 : 0;
}
