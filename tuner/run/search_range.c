/* Chooses kernels of a search for sizes between the tuned ones. Candidates are all kernels with right results
 * in a round, not only the finalists: these are a few of hundreds, chosen for the tuned sizes, and may have
 * no kernel for sizes of another shape or alignment. Kernels without a measurement are no candidates. See
 * search_group.h. */
#include <math.h>
#include <stdlib.h>

#include "measure/model.h"
#include "measure/model_quality.h"
#include "measure/model_range.h"
#include "run/search_between.h"
#include "run/search_group.h"
#include "run/type_model.h"

/* The candidates with a result, as the performance model sees them. */
typedef struct {
    ModelMatrix m;
    uint32_t *candidate; /* of each of m's kernels */
    bool *keep;          /* finalists, and those that are added */
} Measured;

/* A candidate's least time over the best of the same size. */
typedef struct {
    double behind;
    uint32_t candidate;
} Place;

static int by_place(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->behind != y->behind) return x->behind < y->behind ? -1 : 1;
    return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static bool is_time(double ns) { return ns > 0 && !isinf(ns); }

static double behind_of(const Search *s, uint32_t c)
{
    double least = (double)INFINITY;
    for (uint32_t z = 0; z < s->o.n_sizes; z++) {
        const double ns = search_value(s, c, z);
        if (is_time(ns) && s->best[z] != UINT32_MAX) least = fmin(least, ns / search_value(s, s->best[z], z));
    }
    return least;
}

/* Lists the candidates by how close they came to the best of a size, since a model takes a limited number. */
static Err places_find(const SearchGroup *x, Arena *a, Place **out, size_t *n)
{
    const Search *s = &x->search;
    TRY_ALLOC(*out = ARENA_ARRAY(a, s->known.n + 1, Place));
    *n = 0;
    for (uint32_t c = 0; c < s->known.n; c++) {
        const bool is_made = c < x->made.n && x->made.v[c].hash.s && !s->known.v[c].failed;
        const double behind = is_made && !x->made.v[c].s.custom ? behind_of(s, c) : (double)INFINITY;
        if (!isinf(behind)) (*out)[(*n)++] = (Place){behind, c};
    }
    qsort(*out, *n, sizeof **out, by_place);
    while (*n > MODEL_KERNELS_MAX || (*n && !model_selector_fits(*n, s->o.n_sizes))) --*n;
    return ERR_OK;
}

static Err measured_make(const SearchGroup *x, Arena *a, Measured *out)
{
    const Search *s = &x->search;
    const size_t nz = s->o.n_sizes;
    ModelMatrix *m = &out->m;
    Place *place;
    size_t n = 0;
    TRY(places_find(x, a, &place, &n));
    *m = (ModelMatrix){.n_kernels = n, .n_sizes = nz};
    TRY_ALLOC(m->kernel = ARENA_ARRAY(a, n + 1, ModelKernel));
    TRY_ALLOC(m->known = ARENA_ARRAY(a, n + 1, bool));
    TRY_ALLOC(m->size = ARENA_ARRAY(a, nz + 1, ModelSize));
    TRY_ALLOC(m->seconds = ARENA_ARRAY(a, n * nz + 1, double));
    TRY_ALLOC(out->candidate = ARENA_ARRAY(a, n + 1, uint32_t));
    TRY_ALLOC(out->keep = ARENA_ARRAY(a, n + 1, bool));
    for (size_t z = 0; z < nz; z++) m->size[z] = model_size(s->o.pt, &s->o.size[z], false);
    for (size_t k = 0; k < n; k++) {
        const uint32_t c = out->candidate[k] = place[k].candidate;
        m->known[k] = !model_kernel(&x->made.v[c].s, x->r->target, &m->kernel[k]);
        if (!m->known[k]) err_clear();
        for (uint32_t z = 0; z < nz; z++) {
            const double ns = search_value(s, c, z);
            if (is_time(ns)) m->seconds[z * n + k] = ns * 1e-9;
        }
        for (size_t i = 0; i < x->g->n_variants; i++)
            out->keep[k] |= x->g->variant[i].permutation == s->known.v[c].permutation;
    }
    return ERR_OK;
}

static Err kernels_choose(const SearchGroup *x, Arena *a, size_t most, Measured *k)
{
    ModelSelector s;
    TRY(run_selector_fit(x->r, a, &k->m, &s));
    return model_range_keep(a, x->search.o.pt, &k->m, NULL, &s, most, k->keep);
}

/* Appends the kernels that were added to the finalists. */
static Err variants_add(SearchGroup *x, const Measured *k)
{
    Group *g = x->g;
    const size_t n_final = g->n_variants;
    Variant *all = ARENA_ARRAY(&x->r->arena, n_final + k->m.n_kernels, Variant);
    TRY_ALLOC(all);
    for (size_t i = 0; i < n_final; i++) all[i] = g->variant[i];
    for (size_t i = 0; i < k->m.n_kernels; i++) {
        const Variant *v = &x->made.v[k->candidate[i]];
        bool there = !k->keep[i];
        for (size_t f = 0; !there && f < n_final; f++) there = all[f].permutation == v->permutation;
        if (there) continue;
        all[g->n_variants] = *v;
        all[g->n_variants++].for_range = true;
    }
    g->variant = all;
    if (g->n_variants > n_final)
        notice("%.*s: %zu more kernels for sizes between these, of %zu that were measured right",
               STR_ARG(g->name), g->n_variants - n_final, k->m.n_kernels);
    return ERR_OK;
}

static Err range_add(SearchGroup *x, Arena *a, size_t most)
{
    Measured k;
    size_t n_known = 0;
    TRY(measured_make(x, a, &k));
    for (size_t i = 0; i < k.m.n_kernels; i++) n_known += k.m.known[i];
    if (k.m.n_sizes < TYPE_MODEL_SIZES || n_known < TYPE_MODEL_KERNELS) return ERR_OK;
    TRY(kernels_choose(x, a, most, &k));
    return variants_add(x, &k);
}

/* The rounds' times of the group's variants on n sizes from the first on. */
static Err times_make(const SearchGroup *x, uint32_t first, size_t n_sizes, double **out)
{
    const Group *g = x->g;
    const Search *s = &x->search;
    const size_t n = g->n_variants;
    TRY_ALLOC(*out = ARENA_ARRAY(&x->r->arena, n_sizes * n + 1, double));
    for (size_t i = 0; i < n; i++) {
        const uint32_t c = search_group_candidate(x, &g->variant[i]);
        for (uint32_t z = 0; c != UINT32_MAX && z < n_sizes; z++) {
            const double ns = search_value(s, c, first + z);
            (*out)[z * n + i] = is_time(ns) ? ns : 0;
        }
    }
    return ERR_OK;
}

/* What the rounds measured of the group's variants. */
static Err searched_make(SearchGroup *x)
{
    Group *g = x->g;
    g->searched.n_variants = g->n_variants;
    g->searched.n_settings = x->setting.n;
    TRY_ALLOC(g->searched.setting = ARENA_ARRAY(&x->r->arena, x->setting.n + 1, int64_t));
    for (size_t i = 0; i < x->setting.n; i++) g->searched.setting[i] = x->setting.v[i];
    TRY(times_make(x, 0, x->n_own, &g->searched.ns));
    TRY(times_make(x, (uint32_t)x->n_own, g->n_between, &g->searched.between_ns));
    return search_between_drop(x->r, g);
}

Err search_group_range(SearchGroup *x, size_t most)
{
    Arena a;
    arena_init(&a, 0);
    Err e = most ? range_add(x, &a, most) : ERR_OK;
    arena_fini(&a);
    return e ? e : searched_make(x);
}
