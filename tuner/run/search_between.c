/* Sizes between those of the config. See search_between.h. */
#include "run/search_between.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/model.h"
#include "measure/search.h"
#include "problem/model_select.h"
#include "run/held_out.h"
#include "run/type_model.h"

/* WEIGHT: weight of a size between, relative to the mean of the config's sizes. MOST: the most that are
 * chosen. DRAWN: drawn sizes from which they are chosen. The values were chosen by replays of a search on
 * recorded times of an H200 (test/README.md); choosing sizes in dense regions instead of the farthest ones
 * lost more. */
static const double WEIGHT = 0.5;
enum { MOST = 96, DRAWN = 400 };

/* Three sizes for every two of the config; but only one for every two where there would be more than TOGETHER
 * in all, because a choice by the model searches for near sizes in blocks of that many
 * (problem/model_select.c). */
static size_t number_of(size_t n_own)
{
    enum { TOGETHER = 64 };
    const size_t rest = n_own < TOGETHER ? TOGETHER - n_own : 0;
    size_t n = rest > n_own / 2 ? rest : n_own / 2;
    if (n > n_own * 3 / 2) n = n_own * 3 / 2;
    return n < MOST ? n : MOST;
}

bool search_between_wanted(const Run *r, const Group *g)
{
    return r->config->globals.SearchMethod == GLOBAL_SEARCH_MODEL && r->config->has_logic && !r->shard &&
           problem_is_gemm(&g->problem->pt) && g->n_sizes - g->n_held_out >= TYPE_MODEL_SIZES;
}

static ModelPoint point_of(const ProblemType *pt, const ProblemSize *z)
{
    const ModelSize size = model_size(pt, z, false);
    return model_point(&size);
}

/* The drawn size that is farthest from all that are searched; `least` is the distance of each. */
static size_t farthest(const ModelPoint *point, float *least, size_t n, const ModelPoint *searched)
{
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        least[i] = fminf(least[i], model_distance(&point[i], searched));
        if (least[i] > least[best]) best = i;
    }
    return best;
}

Err search_between_choose(const ProblemType *pt, const ProblemSize *all, size_t n_own, size_t n_all,
                          uint64_t seed, ProblemSize *out, size_t *n)
{
    const size_t most = *n;
    ProblemSize *pool = calloc(DRAWN, sizeof *pool);
    ModelPoint point[DRAWN];
    float least[DRAWN];
    size_t at = 0;
    TRY_ALLOC(pool);
    const size_t n_pool = held_out_draw(pt, all, n_own, seed, DRAWN, 2, pool);
    for (size_t i = 0; i < n_pool; i++) point[i] = point_of(pt, &pool[i]), least[i] = INFINITY;
    for (size_t z = 0; z < n_own; z++) {
        const ModelPoint own = point_of(pt, &all[z]);
        at = farthest(point, least, n_pool, &own);
    }
    for (*n = 0; *n < most && n_pool && least[at] > 0;) {
        bool held_out = false;
        const size_t taken = at;
        for (size_t z = n_own; z < n_all; z++) held_out |= problem_size_equal(&all[z], &pool[at]);
        at = farthest(point, least, n_pool, &point[taken]);
        if (!held_out) out[(*n)++] = pool[taken];
    }
    free(pool);
    return ERR_OK;
}

Err search_between_add(Run *r, Group *g)
{
    const size_t n_own = g->n_sizes - g->n_held_out;
    size_t n = number_of(n_own);
    g->n_between = 0;
    if (!search_between_wanted(r, g)) return ERR_OK;
    ProblemSize *all = ARENA_ARRAY(&r->arena, g->n_sizes + n, ProblemSize);
    TRY_ALLOC(all);
    memcpy(all, g->size, n_own * sizeof *all);
    const ProblemType *pt = &g->problem->pt;
    TRY(search_between_choose(pt, g->size, n_own, g->n_sizes, problem_type_hash(pt) + 2, &all[n_own], &n));
    memcpy(&all[n_own + n], &g->size[n_own], g->n_held_out * sizeof *all);
    g->size = all;
    g->n_sizes += n, g->n_between = n;
    return ERR_OK;
}

Err search_between_weights(Run *r, const Group *g, const double **out)
{
    const size_t n_own = g->n_sizes - g->n_held_out - g->n_between;
    const double *own;
    TRY(search_weights(&r->arena, &g->problem->pt, g->size, n_own, &own));
    *out = own;
    if (!g->n_between) return ERR_OK;
    double *all = ARENA_ARRAY(&r->arena, n_own + g->n_between, double);
    TRY_ALLOC(all);
    for (size_t z = 0; z < n_own + g->n_between; z++) all[z] = z >= n_own ? WEIGHT : own ? own[z] : 1;
    *out = all;
    return ERR_OK;
}

/* The order of the last round without the sizes between, which are n from the first on. */
static Err order_drop(Run *r, Group *g, uint32_t first, size_t n)
{
    uint32_t *order = ARENA_ARRAY(&r->arena, g->n_sizes + 1, uint32_t);
    size_t n_order = 0;
    TRY_ALLOC(order);
    for (size_t i = 0; g->order && i < g->n_sizes + n; i++) {
        const uint32_t z = g->order[i];
        if (z < first || z >= first + n) order[n_order++] = z < first ? z : z - (uint32_t)n;
    }
    g->order = g->order ? order : NULL;
    return ERR_OK;
}

Err search_between_drop(Run *r, Group *g)
{
    const size_t n_own = g->n_sizes - g->n_held_out - g->n_between;
    if (!g->n_between) return ERR_OK;
    ProblemSize *size = ARENA_ARRAY(&r->arena, g->n_sizes, ProblemSize);
    TRY_ALLOC(size);
    memcpy(size, g->size, n_own * sizeof *size);
    memcpy(&size[n_own], &g->size[n_own + g->n_between], g->n_held_out * sizeof *size);
    g->searched.between = &g->size[n_own], g->searched.n_between = g->n_between;
    g->size = size;
    g->n_sizes -= g->n_between, g->n_between = 0;
    return order_drop(r, g, (uint32_t)n_own, g->searched.n_between);
}
