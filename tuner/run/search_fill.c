/* Step: measures kernels of the library on further sizes. See search_fill.h. */
#include "run/search_fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/ranked.h"
#include "measure/conditions.h"
#include "measure/model.h"
#include "measure/rounds.h"
#include "measure/search_cost.h"
#include "run/held_out.h"
#include "run/search_between.h"
#include "run/search_group.h"
#include "run/type_model.h"

/* Kernels of a size: at most KERNELS, none that is expected to take CLOSE times as long as the best. UNSURE
 * of them are those that would be the best if kernels without times nearby took OPTIMISM less than expected:
 * kernels that are expected to be slower than they are would never be measured else. Sizes: what the budget
 * has time for, at most MOST; without a budget OF_OWN for each of the config's. They are measured in parts,
 * the first of FIRST_PART sizes and each twice as large as the one before, as the results of one part tell
 * which kernels are worth measuring on the sizes of the next. COST: their seconds over those of
 * search_cost.h, as kernels have their first samples only, which differ by 2 % from later ones: far less than
 * a size differs from its neighbours. */
static const double CLOSE = 1.4, OPTIMISM = 0.3, COST = 0.25;
enum { KERNELS = 12, UNSURE = 4, MOST = 8000, OF_OWN = 9, FIRST_PART = 512, ALIGNED_OF = 4 };

/* ---- sizes ---- */

static bool is_listed(const ProblemSize *s, const ProblemSize *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (problem_size_equal(s, &list[i])) return true;
    return false;
}

/* Draws up to `most` sizes that the group has not: half of them anywhere, of which only one of ALIGNED_OF is
 * aligned, because a choice loses several times as much on those that are not. */
static Err draw(Run *r, const Group *g, size_t most, ProblemSize **out, size_t *n)
{
    const ProblemType *pt = &g->problem->pt;
    const size_t n_own = g->n_sizes - g->n_held_out;
    const uint64_t seed = problem_type_hash(pt) + 3;
    ProblemSize *half[2];
    size_t n_half[2];
    for (int i = 0; i < 2; i++) TRY_ALLOC(half[i] = ARENA_ARRAY(&r->arena, most / 2 + 1, ProblemSize));
    n_half[0] = held_out_draw(pt, g->size, n_own, seed, most / 2, ALIGNED_OF, half[0]);
    n_half[1] = held_out_mix(pt, g->size, n_own, seed, most / 2, half[1]);
    TRY_ALLOC(*out = ARENA_ARRAY(&r->arena, most + 1, ProblemSize));
    *n = 0;
    for (size_t i = 0; i < n_half[0] || i < n_half[1]; i++)
        for (int h = 0; h < 2; h++) {
            if (i >= n_half[h]) continue;
            const ProblemSize *z = &half[h][i];
            if (!is_listed(z, g->size, g->n_sizes) &&
                !is_listed(z, g->searched.between, g->searched.n_between) && !is_listed(z, *out, *n))
                (*out)[(*n)++] = *z;
        }
    return ERR_OK;
}

/* Seconds of a size by search_cost.h. */
static double cost_of(const ProblemType *pt, const ProblemSize *z, double scale)
{
    return COST * scale * (search_cost_of_size(pt, z) + KERNELS * search_cost_kernel(pt, z));
}

/* The most sizes there may be time for. */
static size_t sizes_most(const ProblemType *pt, size_t n_own, double seconds, double scale)
{
    if (isinf(seconds)) return n_own * OF_OWN < MOST ? n_own * OF_OWN : MOST;
    const ProblemSize none = {0}; /* no size takes less */
    const double most = seconds / fmax(cost_of(pt, &none, scale), 1e-9);
    return most < MOST ? (size_t)most : MOST;
}

Err search_fill_choose(Run *r, Group *g, double seconds, double scale)
{
    const ProblemType *pt = &g->problem->pt;
    const size_t n_own = g->n_sizes - g->n_held_out;
    const size_t most = sizes_most(pt, n_own, seconds, scale);
    double sum = search_cost_client() * scale;
    size_t n, n_all = 0;
    g->searched.n_fill = 0;
    if (!search_between_wanted(r, g)) return ERR_OK;
    TRY(draw(r, g, most, &g->searched.fill, &n_all));
    for (n = 0; n < n_all; n++) {
        sum += cost_of(pt, &g->searched.fill[n], scale);
        if (sum > seconds) break;
    }
    g->searched.n_fill = n;
    if (n)
        notice("%.*s: %zu further sizes between these, on which kernels of the library are measured",
               STR_ARG(g->name), n);
    return ERR_OK;
}

/* ---- kernels ---- */

/* What the rounds measured of a group's variants, and the choice by it. */
typedef struct {
    ModelMatrix m;
    ModelSelector s;
} Known;

static Err known_make(const Run *r, const Group *g, Arena *a, Known *k)
{
    const ProblemType *pt = &g->problem->pt;
    const size_t n = g->searched.n_variants, n_own = g->n_sizes - g->n_held_out;
    ModelMatrix *m = &k->m;
    *m = (ModelMatrix){.n_kernels = n, .n_sizes = n_own + g->searched.n_between};
    TRY_ALLOC(m->kernel = ARENA_ARRAY(a, n + 1, ModelKernel));
    TRY_ALLOC(m->known = ARENA_ARRAY(a, n + 1, bool));
    TRY_ALLOC(m->size = ARENA_ARRAY(a, m->n_sizes + 1, ModelSize));
    TRY_ALLOC(m->seconds = ARENA_ARRAY(a, n * m->n_sizes + 1, double));
    for (size_t i = 0; i < n; i++) {
        m->known[i] = !model_kernel(&g->variant[i].s, r->target, &m->kernel[i]);
        if (!m->known[i]) err_clear();
    }
    for (size_t z = 0; z < m->n_sizes; z++) {
        const bool own = z < n_own;
        const double *ns = own ? &g->searched.ns[z * n] : &g->searched.between_ns[(z - n_own) * n];
        m->size[z] = model_size(pt, own ? &g->size[z] : &g->searched.between[z - n_own], false);
        for (size_t i = 0; i < n; i++) m->seconds[z * n + i] = ns[i] * 1e-9;
    }
    return run_selector_fit(r, a, m, &k->s);
}

/* Marks the first kernels of the list, up to `most`, that are not marked yet. */
static void best_mark(Ranked *list, size_t n, size_t most, bool *wanted)
{
    qsort(list, n, sizeof *list, ranked_rising);
    for (size_t i = 0; i < n && most && list[i].value <= CLOSE * list[0].value; i++) {
        most -= !wanted[list[i].index];
        wanted[list[i].index] = true;
    }
}

/* Marks the kernels that are measured on size z. */
static void kernels_mark(const Known *k, const ProblemType *pt, const ProblemSize *size, const bool *runs,
                         bool *wanted, Ranked *list)
{
    const ModelSize z = model_size(pt, size, false);
    ModelNear near;
    size_t n = 0;
    model_near(&k->s, &z, &near);
    for (size_t i = 0; i < k->m.n_kernels; i++)
        if (runs[i] && k->m.known[i]) list[n++] = (Ranked){model_predict(&k->s, &near, i, &z), i};
    best_mark(list, n, KERNELS - UNSURE, wanted);
    for (size_t i = 0; i < n; i++)
        list[i].value *= 1 - OPTIMISM * (1 - model_known(&k->s, &near, list[i].index));
    best_mark(list, n, UNSURE, wanted);
}

/* Of the further sizes those that are measured together. */
typedef struct {
    ProblemSize *size;
    size_t n;
} FillPart;

/* Which variants can run on the sizes: [size][variant]. */
static Err runs_make(const Run *r, const Group *g, const FillPart *part, Arena *a, bool **out)
{
    const size_t n = g->searched.n_variants, nz = part->n;
    Conditions *c;
    TRY_ALLOC(*out = ARENA_ARRAY(a, n * nz + 1, bool));
    TRY(conditions_new(&g->problem->pt, part->size, nz, r->config->globals.MaxWorkspaceSize, &c));
    for (size_t i = 0; i < n; i++) {
        if (!conditions_take(c, &g->variant[i].s)) continue; /* out of memory: the kernel is not measured */
        for (size_t z = 0; z < nz; z++) (*out)[z * n + i] = conditions_hold(c, z);
    }
    conditions_free(c);
    return ERR_OK;
}

/* The pairs to measure: [size][variant of the group]. */
static Err wanted_make(Run *r, const Group *g, const FillPart *part, Arena *a, bool **out)
{
    const size_t n = g->searched.n_variants, nz = part->n;
    Known k;
    bool *runs;
    Ranked *list = ARENA_ARRAY(a, n + 1, Ranked);
    TRY_ALLOC(list);
    TRY_ALLOC(*out = ARENA_ARRAY(&r->arena, nz * g->n_variants + 1, bool));
    TRY(known_make(r, g, a, &k));
    TRY(runs_make(r, g, part, a, &runs));
    for (size_t z = 0; z < nz; z++)
        kernels_mark(&k, &g->problem->pt, &part->size[z], &runs[z * n], &(*out)[z * g->n_variants], list);
    return ERR_OK;
}

/* ---- measuring ---- */

/* The group with the sizes of the part alone. */
static Err group_make(Run *r, const Group *g, const FillPart *part, Group *out)
{
    Arena a;
    bool *wanted;
    arena_init(&a, 0);
    const Err e = wanted_make(r, g, part, &a, &wanted);
    arena_fini(&a);
    TRY(e);
    *out = *g;
    out->size = part->size, out->n_sizes = part->n;
    out->n_held_out = 0, out->order = NULL;
    out->wanted = wanted;
    out->round = ROUND_FILL;
    memset(&out->searched, 0, sizeof out->searched);
    TRY_ALLOC(out->variant = ARENA_ARRAY(&r->arena, g->n_variants + 1, Variant));
    memcpy(out->variant, g->variant, g->n_variants * sizeof *g->variant);
    for (size_t i = 0; i < g->n_variants; i++) out->variant[i].for_range = false;
    return group_identify(r, out);
}

/* Appends a size's times to those between. */
static Err size_add(Run *r, Group *g, const Group *fill, size_t z, double *ns, Arena *a)
{
    const size_t n = fill->n_variants;
    int64_t *kernel = ARENA_ARRAY(a, n + 1, int64_t);
    double *times = ARENA_ARRAY(a, n + 1, double);
    Result *result;
    size_t n_good = 0;
    TRY_ALLOC(kernel);
    TRY_ALLOC(times);
    for (size_t i = 0; i < n; i++) kernel[i] = fill->variant[i].kernel;
    const RoundSize size = {fill->setting, fill->problem_id[z], kernel, &fill->wanted[z * n], n};
    TRY(round_results(&r->store, a, &size, &result));
    round_times(result, n, SIZE_MAX, 0, times);
    for (size_t i = 0; i < g->searched.n_variants; i++) {
        ns[i] = isinf(times[i]) ? 0 : times[i];
        n_good += ns[i] > 0;
    }
    if (n_good) g->searched.between[g->searched.n_between++] = fill->size[z];
    return ERR_OK;
}

static Err results_add(Run *r, Group *g, const Group *fill)
{
    const size_t n = g->searched.n_variants, most = g->searched.n_between + fill->n_sizes;
    ProblemSize *size = ARENA_ARRAY(&r->arena, most + 1, ProblemSize);
    double *ns = ARENA_ARRAY(&r->arena, most * n + 1, double);
    Arena a;
    TRY_ALLOC(size);
    TRY_ALLOC(ns);
    if (g->searched.n_between) {
        memcpy(size, g->searched.between, g->searched.n_between * sizeof *size);
        memcpy(ns, g->searched.between_ns, g->searched.n_between * n * sizeof *ns);
    }
    g->searched.between = size, g->searched.between_ns = ns;
    arena_init(&a, 0);
    Err e = ERR_OK;
    for (size_t z = 0; !e && z < fill->n_sizes; z++) {
        arena_reset(&a);
        e = size_add(r, g, fill, z, &ns[g->searched.n_between * n], &a);
    }
    arena_fini(&a);
    return e;
}

/* Whether the group's fill has pairs that the store does not have. */
static Err has_missing(Run *r, const Group *fill, bool *missing)
{
    *missing = false;
    for (size_t z = 0; z < fill->n_sizes; z++)
        for (size_t i = 0; i < fill->n_columns && !*missing; i++) {
            const size_t v = fill->column[i];
            const MeasureKey key = {fill->variant[v].kernel, fill->problem_id[z], fill->setting, 0};
            bool found = true;
            if (fill->wanted[z * fill->n_variants + v]) TRY(store_measured(&r->store, &key, &found));
            *missing = !found;
        }
    return ERR_OK;
}

/* Measures sizes of a group. An interrupt or the end of the time leaves what was measured. */
static Err part_fill(Run *r, size_t at, const FillPart *part)
{
    Group own = r->group[at], fill;
    bool missing;
    TRY(group_make(r, &own, part, &fill));
    TRY(has_missing(r, &fill, &missing));
    Err e = ERR_OK;
    if (missing) {
        r->group[at] = fill;
        r->group[at].skip = false;
        e = step_write(r);
        if (!e) e = step_measure(r);
        r->group[at] = own;
    }
    if (!e || run_stop(r, e, true)) e = results_add(r, &r->group[at], &fill);
    return e;
}

static Err group_fill(Run *r, size_t at)
{
    ProblemSize *size = r->group[at].searched.fill;
    const size_t n = r->group[at].searched.n_fill;
    size_t next = FIRST_PART;
    Err e = ERR_OK;
    r->late = false;
    for (size_t from = 0, some; !e && from < n && !r->stopped && !r->late; from += some, next *= 2) {
        some = n - from < next + next / 2 ? n - from : next;
        e = part_fill(r, at, &(FillPart){&size[from], some});
    }
    return e;
}

/* The end of a group that has n of the sizes that are left: its share of the time until `end` (0: no end). */
static uint64_t deadline_of(uint64_t end, size_t n, size_t left)
{
    const uint64_t now = clock_ns();
    if (!end) return 0;
    return end > now ? now + (uint64_t)((double)(end - now) * (double)n / (double)left) : now;
}

static Err groups_fill(Run *r, bool *skip)
{
    size_t left = 0;
    for (size_t i = 0; i < r->n_groups; i++) {
        skip[i] = r->group[i].skip;
        if (!skip[i]) left += r->group[i].searched.n_fill;
        r->group[i].skip = true;
    }
    Err e = ERR_OK;
    for (size_t i = 0; !e && i < r->n_groups; i++) {
        const size_t n = r->group[i].searched.n_fill;
        if (skip[i] || !n || r->stopped) continue;
        r->deadline_ns = deadline_of(r->fill_deadline_ns, n, left);
        e = group_fill(r, i);
        left -= n;
    }
    return e;
}

Err step_fill(Run *r)
{
    Globals *g = &r->config->globals;
    const Globals as_given = *g;
    const uint64_t deadline_ns = r->deadline_ns;
    size_t n = 0;
    for (size_t i = 0; i < r->n_groups; i++) n += r->group[i].skip ? 0 : r->group[i].searched.n_fill;
    if (!n) return ERR_OK;
    bool *skip = ARENA_ARRAY(&r->arena, r->n_groups + 1, bool);
    TRY_ALLOC(skip);
    search_globals_of_rounds(r);
    r->in_rounds = true, r->race_stages = 0;
    const Err e = groups_fill(r, skip);
    for (size_t i = 0; i < r->n_groups; i++) r->group[i].skip = skip[i];
    r->in_rounds = r->late = false;
    r->deadline_ns = deadline_ns;
    *g = as_given;
    TRY(e);
    return step_write(r);
}
