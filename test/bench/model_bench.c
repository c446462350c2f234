/* model_bench [--splits N] OUTDIR|FILE.times...: how well the performance model ranks the
 * kernels of finished runs, or of recorded times (recorded.h), and what choices cost on sizes that were not
 * tuned. Sizes are split into folds; rates, residuals, and the kernels that a library keeps come from the
 * other folds. Prints, for typical rates and fitted rates, the mean share of the best speed that the first
 * choice reaches, Spearman's rank correlation per size, and how many first choices have to be measured for
 * 99% of the best; the regret of libtuner's choice among a library's kernels; and that of the nearest size's
 * winner by each of Tensile's distances, of a decision tree, and of a table with predicted rows. --splits:
 * other folds N times (with seeds from 1 on), losses of all together; 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/model.h"
#include "measure/model_quality.h"
#include "test/bench/recorded.h"

enum { FOLDS = 5 };

/* All that the grid of a range needs to know of the problem type is the strides' units. */
static Err type_of(const ModelMatrix *m, ProblemType *pt)
{
    size_t k = 0;
    while (k < m->n_kernels && !m->known[k]) k++;
    if (k == m->n_kernels) FAIL(ERR_INPUT, "no kernel has numbers for the performance model");
    const int32_t bytes = m->kernel[k].bytes_ab;
    const DataType in = bytes == 8 ? TYPE_D : bytes == 4 ? TYPE_S : bytes == 1 ? TYPE_I8 : TYPE_H;
    const DataType out = bytes == 1 ? TYPE_I : in, sum = bytes == 2 ? TYPE_S : out;
    return problem_type_gemm(pt, !m->kernel[k].free_a, m->kernel[k].free_b, in, out, sum);
}

/* Losses of all splits behind each other. */
static Err splits_judge(Arena *a, const ModelMatrix *m, const ModelDevice *d, int splits,
                        ModelQuality q[SELECT_METHODS])
{
    ProblemType pt;
    ModelQuality one[SELECT_METHODS];
    double spearman[SELECT_METHODS] = {0}, first_99[SELECT_METHODS] = {0};
    TRY(type_of(m, &pt));
    for (int w = 0; w < SELECT_METHODS; w++)
        TRY_ALLOC(q[w].loss = ARENA_ARRAY(a, (size_t)splits * m->n_sizes + 1, double));
    for (int s = 0; s < splits; s++) {
        TRY(model_cross_validate(a, &pt, m, d, (ModelFolds){FOLDS, splits > 1 ? (uint64_t)s + 1 : 0}, one));
        for (int w = 0; w < SELECT_METHODS; w++) {
            memcpy(&q[w].loss[(size_t)s * m->n_sizes], one[w].loss, m->n_sizes * sizeof(double));
            spearman[w] += one[w].spearman / splits;
            first_99[w] += one[w].first_99 / splits;
        }
    }
    for (int w = 0; w < SELECT_METHODS; w++) {
        TRY(model_quality_finish(a, &q[w], (size_t)splits * m->n_sizes));
        q[w].spearman = spearman[w];
        q[w].first_99 = first_99[w];
    }
    return ERR_OK;
}

static Err bench_matrix(Arena *a, Str name, const ModelMatrix *m, const ModelDevice *d, int splits)
{
    ModelQuality q[SELECT_METHODS];
    TRY(splits_judge(a, m, d, splits, q));
    printf("%.*s: %zu kernels, %zu sizes\n", STR_ARG(name), m->n_kernels, m->n_sizes);
    for (int w = 0; w < SELECT_METHODS; w++) {
        char line[200];
        if (!q[w].n) continue;
        model_quality_text((SelectMethod)w, &q[w], line, sizeof line);
        printf("  %s\n", line);
    }
    ModelRates r[MODEL_CLASSES];
    ModelFit fit[MODEL_CLASSES];
    model_rates_typical(r);
    TRY(model_fit_matrix(m, NULL, d, r, fit));
    for (int c = 0; c < MODEL_CLASSES; c++) {
        if (!fit[c].n) continue;
        double v[MODEL_N_RATES];
        memcpy(v, &r[c], sizeof v);
        printf("  %s: n=%zu median error %.3f -> %.3f:", model_class_name((ModelClass)c), fit[c].n,
               fit[c].before, fit[c].after);
        for (int i = 0; i < MODEL_N_RATES; i++) printf(" %s %.3g", model_rate_name(i), v[i]);
        printf("\n");
    }
    return 0;
}

static Err device_of(Str arch, ModelDevice *d)
{
    const Target *t = target_find(arch);
    if (!t) FAIL(ERR_INPUT, "unknown architecture '%.*s'", STR_ARG(arch));
    model_of_part(t, t->family == TARGET_NVPTX ? STR("H200") : STR_NULL,
                  getenv("N_CU") ? atoi(getenv("N_CU")) : 0, d);
    return ERR_OK;
}

static Err bench_store(Arena *a, const char *dir, int splits)
{
    Store s;
    PlanView *plan;
    size_t n = 0;
    Err e = store_open(&s, dir, STORE_READ);
    if (!e) e = plans_latest(&s, a, &plan, &n);
    for (size_t k = 0; !e && k < n; k++) {
        ModelMatrix m;
        ModelDevice d;
        e = model_matrix_load(&s, a, &plan[k], &m);
        if (!e) e = device_of(plan[k].arch, &d);
        if (!e) e = bench_matrix(a, plan[k].group, &m, &d, splits);
    }
    store_close(&s);
    return e;
}

static Err bench_file(Arena *a, const char *path, int splits)
{
    ModelMatrix m;
    ModelDevice d;
    TRY(recorded_read(a, path, &m));
    TRY(device_of(STR("sm_90a"), &d));
    return bench_matrix(a, str_from(path), &m, &d, splits);
}

int main(int argc, char **argv)
{
    int splits = 1, i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
        if (strcmp(argv[i], "--splits") == 0) splits = atoi(argv[i + 1]) > 1 ? atoi(argv[i + 1]) : 1;
    for (; i < argc; i++) {
        Arena a;
        arena_init(&a, 0);
        const bool is_file = str_ends(str_from(argv[i]), ".times");
        Err e = is_file ? bench_file(&a, argv[i], splits) : bench_store(&a, argv[i], splits);
        if (e) fprintf(stderr, "model_bench: %s: %s\n", argv[i], err_message());
        arena_fini(&a);
        if (e) return e;
    }
    return 0;
}
