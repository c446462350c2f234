/* What the performance model learns. See model_teach.h. */
#include "measure/model_teach.h"

Err model_entries(Arena *a, const ModelMatrix *m, const ModelDevice *d, const ModelRates r[MODEL_CLASSES],
                  ModelEntry **out)
{
    ModelEntry *entry = *out = ARENA_ARRAY(a, m->n_kernels + 1, ModelEntry);
    TRY_ALLOC(entry);
    for (size_t k = 0; k < m->n_kernels; k++)
        if (m->known[k])
            entry[k] = (ModelEntry){.kernel = m->kernel[k], .device = *d, .rates = r[m->kernel[k].class]};
    return ERR_OK;
}

Err model_teach(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                const ModelRates r[MODEL_CLASSES], ModelTaught *t)
{
    Arena scratch;
    ModelEntry *entry;
    *t = (ModelTaught){0};
    arena_init(&scratch, 0);
    Err e = model_entries(&scratch, m, d, r, &entry);
    const ModelTimes times = {m->n_kernels, m->n_sizes, entry, m->known, m->size, m->seconds, out};
    if (!e) e = model_train(a, &times, &t->trees);
    arena_fini(&scratch);
    return e;
}
