/* The performance model of a search. See predictor.h. */
#include "measure/predictor.h"

#include <stdlib.h>
#include <string.h>

#include "measure/calibrate.h"
#include "measure/conditions.h"

/* This many times are enough for a dozen rates; of more samples, evenly spaced ones are used. */
enum { FIT_SAMPLES = 3000 };

typedef struct {
    PredictorOptions o;
    ModelRates rates[MODEL_CLASSES];
    ModelSize *size;
    double *best;       /* of each size, of the samples */
    ModelKernel kernel; /* of the last solution */
    Conditions *conditions;
    VEC(ModelSample) samples;
    VEC(uint32_t) at; /* size of each sample */
} Predictor;

static bool take_kernel(void *ctx, const Solution *s)
{
    Predictor *p = ctx;
    return conditions_take(p->conditions, s) && !model_kernel(s, p->o.target, &p->kernel);
}

static double seconds_of(void *ctx, size_t size)
{
    const Predictor *p = ctx;
    if (!conditions_hold(p->conditions, size)) return 0;
    return model_time(&p->kernel, &p->o.device, &p->rates[p->kernel.class], &p->size[size], NULL);
}

static int class_of(void *ctx)
{
    const Predictor *p = ctx;
    return p->kernel.class;
}

static Err measured(void *ctx, size_t size, double seconds)
{
    Predictor *p = ctx;
    ModelSample sample = {p->kernel, p->size[size], seconds, 1};
    if (!VEC_PUSH(&p->samples, sample) || !VEC_PUSH(&p->at, (uint32_t)size))
        FAIL(ERR_FAILED, "out of memory for %zu samples of the performance model", p->samples.n);
    if (p->best[size] == 0 || seconds < p->best[size]) p->best[size] = seconds;
    return ERR_OK;
}

/* The fit begins at the options' rates, so that it depends on the samples alone. */
static Err fit(void *ctx)
{
    Predictor *p = ctx;
    const size_t every = p->samples.n / FIT_SAMPLES + 1;
    size_t n = 0;
    for (size_t i = 0; i < p->samples.n; i++) {
        const double seconds = p->samples.v[i].seconds, best = p->best[p->at.v[i]];
        if (i % every && seconds > best * 1.02) continue;
        p->samples.v[n] = p->samples.v[i];
        p->samples.v[n++].weight = model_weight(seconds, best);
    }
    memcpy(p->rates, p->o.rates, sizeof p->rates);
    Err e = model_calibrate(p->samples.v, n, &p->o.device, p->rates, NULL);
    p->samples.n = p->at.n = 0;
    memset(p->best, 0, p->o.n_sizes * sizeof *p->best);
    return e;
}

Err predictor_init(const PredictorOptions *o, SearchModel *out)
{
    Predictor *p = calloc(1, sizeof *p);
    TRY_ALLOC(p);
    *out = (SearchModel){take_kernel, seconds_of, measured, fit, p, class_of};
    p->o = *o;
    memcpy(p->rates, o->rates, sizeof p->rates);
    p->size = calloc(o->n_sizes + 1, sizeof *p->size);
    p->best = calloc(o->n_sizes + 1, sizeof *p->best);
    TRY_ALLOC(p->size);
    TRY_ALLOC(p->best);
    for (size_t z = 0; z < o->n_sizes; z++) {
        p->size[z] = model_size(o->pt, &o->size[z], o->beta);
        model_size_once(o->pt, &o->size[z], &p->size[z]);
    }
    return conditions_new(o->pt, o->size, o->n_sizes, o->max_workspace, &p->conditions);
}

void predictor_fini(SearchModel *m)
{
    Predictor *p = m->ctx;
    if (!p) return;
    conditions_free(p->conditions);
    VEC_FINI(&p->samples);
    VEC_FINI(&p->at);
    free(p->size);
    free(p->best);
    free(p);
    m->ctx = NULL;
}
