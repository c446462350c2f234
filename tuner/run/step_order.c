/* Step: sweeps the numbers of the work-group order on the fastest kernels that have it as an argument
 * (WorkGroupMappingDim 0, 1). The config's variants are measured first. Then the kernels that are closest to
 * the best times over all sizes get variants with further numbers, which share the compiled kernel, so that a
 * sweep costs launches only. The steps that follow treat these like all others. A run that was killed finds
 * the same times in the store and chooses the same kernels. See run.h.
 */
#include <math.h>
#include <string.h>

#include "run/run.h"

static const int32_t widths[] = {1, 2, 4, 8, 16, 32};
enum { N_WIDTHS = sizeof widths / sizeof *widths, N_KINDS = 3, SWEEP_MAX = N_WIDTHS * N_KINDS };
/* log(time / best) of a kernel without a time on a size. */
static const double NO_TIME = 2;

/* A kernel with the sum of log(time / best) over the sizes. */
typedef struct {
    size_t variant; /* the first that has it */
    double loss;
} Kernel;

static bool has_words(const Group *g)
{
    for (size_t i = 0; i < g->n_variants; i++)
        if (g->variant[i].s.WorkGroupMappingDim >= 0) return true;
    return false;
}

/* Mean time of a launch; INFINITY: there is no good measurement. */
static Err time_get(Run *r, const Group *g, size_t variant, size_t size, Arena *a, double *ns)
{
    Measurement m;
    bool found;
    const MeasureKey key = {g->variant[variant].kernel, g->problem_id[size], g->setting, 0};
    *ns = (double)INFINITY;
    TRY(store_measure_get(&r->store, a, &key, &m, &found));
    if (!found || !status_good(m.status)) return 0;
    double sum = 0, n = 0;
    for (size_t i = 0; i < m.n_samples; i++) {
        if (m.sample[i].use == USE_OUTLIER || m.sample[i].enqueues < 1) continue;
        sum += (double)m.sample[i].ns / (double)m.sample[i].enqueues, n++;
    }
    if (n > 0) *ns = sum / n;
    return 0;
}

/* Adds a size to the losses of the kernels. The fastest variant of a kernel counts. */
static Err size_add(Run *r, const Group *g, size_t size, Arena *a, double *ns, Kernel *kernel, size_t n)
{
    double best = (double)INFINITY;
    for (size_t i = 0; i < g->n_variants; i++) {
        arena_reset(a);
        TRY(time_get(r, g, i, size, a, &ns[i]));
        if (ns[i] < best) best = ns[i];
    }
    if (isinf(best)) return 0;
    for (size_t i = 0; i < g->n_variants; i++) {
        const size_t first = g->variant[i].shares;
        if (first && ns[i] < ns[first - 1]) ns[first - 1] = ns[i];
    }
    for (size_t k = 0; k < n; k++) {
        const double own = ns[kernel[k].variant];
        kernel[k].loss += isinf(own) ? NO_TIME : log(own / best);
    }
    return 0;
}

/* Kernels with an order as an argument, the best first. */
static Err kernels_rank(Run *r, const Group *g, Kernel *kernel, size_t *n, double *ns)
{
    Arena a;
    Err e = 0;
    *n = 0;
    for (size_t i = 0; i < g->n_variants; i++)
        if (g->variant[i].s.WorkGroupMappingDim >= 0 && !g->variant[i].shares)
            kernel[(*n)++] = (Kernel){.variant = i};
    arena_init(&a, 0);
    for (size_t z = 0; !e && z < g->n_sizes; z++) e = size_add(r, g, z, &a, ns, kernel, *n);
    arena_fini(&a);
    for (size_t i = 1; i < *n; i++) {
        const Kernel x = kernel[i];
        size_t at = i;
        for (; at > 0 && kernel[at - 1].loss > x.loss; at--) kernel[at] = kernel[at - 1];
        kernel[at] = x;
    }
    return e;
}

static bool same_words(const Solution *a, const Solution *b)
{
    return a->WorkGroupMapping == b->WorkGroupMapping && a->WorkGroupMappingXCC == b->WorkGroupMappingXCC &&
           a->WorkGroupMappingXCCGroup == b->WorkGroupMappingXCCGroup &&
           a->WorkGroupMappingXCCChunk == b->WorkGroupMappingXCCChunk;
}

static bool is_there(const Group *g, Str kernel_name, const Solution *s)
{
    for (size_t i = 0; i < g->n_variants; i++)
        if (str_eq(g->variant[i].kernel_name, kernel_name) && same_words(&g->variant[i].s, s)) return true;
    return false;
}

/* Adds variants of a kernel with the orders that it does not have yet: on a device with several dies as the
 * hardware has the ids, regrouped by die, and regrouped by die within a wave. */
static Err kernel_sweep(Run *r, const Group *g, size_t variant, Candidates *candidates, Variant *out,
                        size_t *n)
{
    const Variant *v = &g->variant[variant];
    const TrafficDevice d = part_traffic(str_from(r->target->name), r->device.n_cu);
    for (int kind = 0; kind < (d.dies > 1 ? N_KINDS : 1); kind++)
        for (int i = 0; i < N_WIDTHS; i++) {
            Variant x = {.s = v->s};
            CandidateKind is;
            char hash[CONTENT_HEX + 1];
            x.s.WorkGroupMapping = widths[i];
            x.s.WorkGroupMappingXCC = kind ? -1 : 1;
            x.s.WorkGroupMappingXCCGroup = kind == 2 ? -1 : 0;
            x.s.WorkGroupMappingXCCChunk = 0;
            if (is_there(g, v->kernel_name, &x.s)) continue;
            TRY(candidates_add(candidates, &x.s, &is, hash));
            if (is != CANDIDATE_NEW) continue;
            x.hash = arena_dup(&r->arena, (Str){hash, CONTENT_HEX});
            TRY_ALLOC(x.hash.s);
            out[(*n)++] = x;
        }
    return 0;
}

static Err group_sweep(Run *r, Group *g)
{
    const size_t most = (size_t)r->config->globals.WorkGroupMappingSweep;
    size_t n_kernels, n_new = 0;
    Kernel *kernel = ARENA_ARRAY(&r->arena, g->n_variants, Kernel);
    double *ns = ARENA_ARRAY(&r->arena, g->n_variants, double);
    TRY_ALLOC(kernel);
    TRY_ALLOC(ns);
    TRY(kernels_rank(r, g, kernel, &n_kernels, ns));
    if (n_kernels > most) n_kernels = most;
    Variant *all = ARENA_ARRAY(&r->arena, g->n_variants + n_kernels * SWEEP_MAX, Variant);
    TRY_ALLOC(all);
    memcpy(all, g->variant, g->n_variants * sizeof *all);
    Candidates candidates;
    candidates_init(&candidates, r->target, &r->arena);
    Err e = 0;
    for (size_t i = 0; !e && i < n_kernels; i++)
        e = kernel_sweep(r, g, kernel[i].variant, &candidates, all + g->n_variants, &n_new);
    candidates_fini(&candidates);
    TRY(e);
    notice("%.*s: work-group orders: %zu more on the best %zu kernels that take one", STR_ARG(g->name), n_new,
           n_kernels);
    g->variant = all;
    g->n_variants += n_new;
    return group_names(r, g);
}

Err step_order(Run *r)
{
    bool *skip = ARENA_ARRAY(&r->arena, r->n_groups, bool), any = false;
    TRY_ALLOC(skip);
    for (size_t i = 0; i < r->n_groups; i++) {
        Group *g = &r->group[i];
        skip[i] = g->skip;
        g->skip = g->skip || !has_words(g);
        if (g->skip) continue;
        any = true;
        TRY(group_identify(r, g));
    }
    Err e = any ? step_build(r) : 0;
    if (any && !e) e = step_write(r);
    if (any && !e) e = step_measure(r);
    for (size_t i = 0; i < r->n_groups; i++) {
        Group *g = &r->group[i];
        if (!e && !g->skip) e = group_sweep(r, g);
        g->skip = skip[i] || g->given_up;
    }
    return e;
}
