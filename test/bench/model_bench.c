/* model_bench [--write PREFIX] OUTDIR...: how well the performance model ranks the kernels of finished runs,
 * and what a choice by it costs on sizes that were not tuned. Sizes are split into folds; the rates and the
 * residuals of a fold's sizes come from the other folds. Prints, for typical rates, fitted rates, and fitted
 * rates with residuals: the mean share of the best speed that the first choice reaches, Spearman's rank
 * correlation per size, and how many first choices have to be measured for 99% of the best; and the regret of
 * the nearest size's winner by each of Tensile's distances beside it. --write: the times of each plan go to
 * the file PREFIX<plan>.times (recorded.h) instead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/model.h"
#include "measure/model_quality.h"
#include "test/bench/recorded.h"

enum { FOLDS = 5 };

static Err write_plan(Store *s, Arena *a, const PlanView *p, const char *prefix)
{
    ModelMatrix m;
    char path[512], what[128];
    TRY(model_matrix_load(s, a, p, &m));
    snprintf(what, sizeof what, "%.*s", STR_ARG(p->group));
    snprintf(path, sizeof path, "%s%s.times", prefix, what);
    FILE *f = fopen(path, "w");
    if (!f) FAIL(ERR_INPUT, "'%s' cannot be written", path);
    recorded_write(f, what, &m);
    fclose(f);
    return ERR_OK;
}

static Err bench_plan(Store *s, Arena *a, const PlanView *p)
{
    ModelMatrix m;
    ModelQuality q[MODEL_WAYS];
    TRY(model_matrix_load(s, a, p, &m));
    const Target *t = target_find(p->arch);
    if (!t) FAIL(ERR_INPUT, "unknown architecture '%.*s'", STR_ARG(p->arch));
    ModelDevice d;
    model_of_part(t, t->family == TARGET_NVPTX ? STR("H200") : STR_NULL,
                  getenv("N_CU") ? atoi(getenv("N_CU")) : 0, &d);
    TRY(model_cross_validate(a, NULL, &m, &d, (ModelFolds){FOLDS, 0}, q));
    printf("%.*s: %zu kernels, %zu sizes\n", STR_ARG(p->group), m.n_kernels, m.n_sizes);
    for (int w = 0; w < MODEL_WAYS; w++) {
        char line[200];
        if (!q[w].n) continue;
        model_quality_text(w, &q[w], line, sizeof line);
        printf("  %s\n", line);
    }
    ModelRates r[MODEL_CLASSES];
    ModelFit fit[MODEL_CLASSES];
    model_rates_typical(r);
    TRY(model_fit_matrix(&m, NULL, &d, r, fit));
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

int main(int argc, char **argv)
{
    const char *prefix = argc > 2 && strcmp(argv[1], "--write") == 0 ? argv[2] : NULL;
    for (int i = prefix ? 3 : 1; i < argc; i++) {
        Store s;
        Arena a;
        PlanView *plan;
        size_t n = 0;
        arena_init(&a, 0);
        Err e = store_open(&s, argv[i], STORE_READ);
        if (!e) e = plans_latest(&s, &a, &plan, &n);
        for (size_t k = 0; !e && k < n; k++)
            e = prefix ? write_plan(&s, &a, &plan[k], prefix) : bench_plan(&s, &a, &plan[k]);
        if (e) fprintf(stderr, "model_bench: %s: %s\n", argv[i], err_message());
        store_close(&s);
        arena_fini(&a);
        if (e) return e;
    }
    return 0;
}
