/* The points of a selector. See model_points.h. */
#include "problem/model_points.h"

#include <stdlib.h>

#include "base/hash.h"

typedef struct {
    uint32_t n_times;
    uint64_t hash;
    size_t index;
} Sorted;

static int by_times(const void *a, const void *b)
{
    const Sorted *x = a, *y = b;
    if (x->n_times != y->n_times) return x->n_times > y->n_times ? -1 : 1;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static uint64_t hash_of(const ModelSize *z)
{
    const double key[] = {z->m, z->n, z->k, z->batch, z->align_a, z->align_b, z->align_d};
    return hash64((Str){(const char *)key, sizeof key});
}

Err model_points_keep(Arena *a, size_t n, const ModelSize *size, const uint32_t *n_times, size_t most,
                      bool **kept)
{
    Sorted *sorted = ARENA_ARRAY(a, n + 1, Sorted);
    TRY_ALLOC(sorted);
    TRY_ALLOC(*kept = ARENA_ARRAY(a, n + 1, bool));
    for (size_t i = 0; i < n; i++) sorted[i] = (Sorted){n_times[i], hash_of(&size[i]), i};
    qsort(sorted, n, sizeof *sorted, by_times);
    for (size_t i = 0; i < n && i < most && sorted[i].n_times; i++) (*kept)[sorted[i].index] = true;
    return ERR_OK;
}
