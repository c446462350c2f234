/* The performance model of a search (measure/model.h), with the conditions of solutions on sizes: a size that
 * a solution does not take has no time. See search_model.h. */
#include "run/search_model.h"

#include "measure/conditions.h"
#include "measure/model.h"

typedef struct {
    const Target *target;
    ModelDevice device;
    ModelRates rates[MODEL_CLASSES];
    ModelSize *size;
    ModelKernel kernel; /* of the last solution */
    Conditions *conditions;
} Predictor;

static bool take_kernel(void *ctx, const Solution *s)
{
    Predictor *p = ctx;
    return conditions_take(p->conditions, s) && !model_kernel(s, p->target, &p->kernel);
}

static double seconds(void *ctx, size_t size)
{
    const Predictor *p = ctx;
    if (!conditions_hold(p->conditions, size)) return 0;
    return model_time(&p->kernel, &p->device, &p->rates[p->kernel.class], &p->size[size], NULL);
}

Err search_model_init(Run *r, const Group *g, SearchModel *out)
{
    const ProblemType *pt = &g->problem->pt;
    Predictor *p = ARENA_NEW(&r->arena, Predictor);
    TRY_ALLOC(p);
    p->target = r->target;
    p->size = ARENA_ARRAY(&r->arena, g->n_sizes, ModelSize);
    TRY_ALLOC(p->size);
    const bool beta = pt->UseBeta && r->config->globals.DataInitTypeBeta != 0;
    for (size_t z = 0; z < g->n_sizes; z++) p->size[z] = model_size(pt, &g->size[z], beta);
    model_of_part(r->target, r->part ? str_from(r->part->name) : r->device.name, (int)r->device.n_cu,
                  &p->device);
    model_rates_typical(p->rates);
    *out = (SearchModel){take_kernel, seconds, p};
    return conditions_new(pt, g->size, g->n_sizes, &p->conditions);
}

void search_model_fini(SearchModel *m)
{
    Predictor *p = m->ctx;
    if (p) conditions_free(p->conditions);
    m->ctx = NULL;
}
