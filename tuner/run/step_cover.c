/* Step: keeps the fewest kernels with which no size loses more than MaxLoss of its speed. The others are left
 * out of the results that the analysis reads; the store keeps their times. See run.h, measure/cover.h.
 */
#include <inttypes.h>
#include <math.h>

#include <sys/stat.h>

#include "measure/cover.h"
#include "run/type_model.h"

enum { LINES = 20 };

static uint64_t bytes_of(Str path)
{
    struct stat st;
    return path.s && stat(path.s, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* The times of all columns on all sizes, as the analysis sees them. */
static Err times_get(Run *r, const Group *g, Arena *a, double *ns)
{
    Arena scratch;
    PlanView plan;
    TRY(plan_load(&r->store, a, g->plan, &plan));
    arena_init(&scratch, 0);
    Err e = 0;
    for (size_t z = 0; !e && z < g->n_sizes; z++) {
        Ranking rank;
        arena_reset(&scratch);
        e = ranking_make(&r->store, &scratch, &plan, z, &rank);
        for (size_t c = 0; !e && c < g->n_columns; c++) {
            const Result *x = &rank.result[g->column[c]];
            ns[z * g->n_columns + c] = x->good ? x->ns.median : (double)INFINITY;
        }
    }
    arena_fini(&scratch);
    return e;
}

/* Columns that are the fastest of a size, and the bytes of their objects. */
static size_t winners_count(const Group *g, const double *ns, Arena *a, uint64_t *bytes)
{
    size_t n = 0;
    bool *wins = ARENA_ARRAY(a, g->n_columns, bool);
    *bytes = 0;
    for (size_t z = 0; wins && z < g->n_sizes - g->n_held_out; z++) {
        size_t best = 0;
        const double *row = &ns[z * g->n_columns];
        for (size_t c = 1; c < g->n_columns; c++)
            if (row[c] < row[best]) best = c;
        if (isinf(row[best]) || wins[best]) continue;
        wins[best] = true;
        *bytes += bytes_of(g->variant[g->column[best]].object);
        n++;
    }
    return n;
}

static void loss_print(double share, char *to, size_t size)
{
    if (isinf(share))
        snprintf(to, size, "all");
    else
        snprintf(to, size, "%.1f %%", 100 * share);
}

static void cover_report(const Run *r, const Group *g, const Cover *c, const double *ns, Arena *a)
{
    uint64_t bytes = 0, of_winners;
    size_t lines = 0;
    const size_t n_winners = winners_count(g, ns, a, &of_winners);
    for (size_t k = 0; k < g->n_columns; k++)
        if (c->kept[k]) bytes += bytes_of(g->variant[g->column[k]].object);
    notice("%.*s: MaxLoss %.3g %%: %zu kernels of %" PRIu64 " KiB instead of %zu of %" PRIu64
           " KiB; loss by geometric mean %.2f %%, at most %.2f %%",
           STR_ARG(g->name), 100 * r->config->globals.MaxLoss, c->n_kept, bytes / 1024, n_winners,
           of_winners / 1024, 100 * c->mean, 100 * c->worst);
    for (size_t k = 0; k < g->n_columns; k++) {
        char mean[32], worst[32];
        if (!c->kept[k] || ++lines > LINES) continue;
        loss_print(c->mean_without[k], mean, sizeof mean);
        loss_print(c->worst_without[k], worst, sizeof worst);
        notice("  without it, loss by geometric mean %s, at most %s: %.*s", mean, worst,
               STR_ARG(g->variant[g->column[k]].name));
    }
    if (lines > LINES) notice("  and %zu more kernels", lines - LINES);
}

static size_t kernel_of(const TypeModel *t, const Group *g, size_t column)
{
    size_t k = 0;
    while (k < t->m.n_kernels && t->kernel[k] != g->variant[g->column[column]].kernel) k++;
    return k;
}

/* The kernels that sizes between the measured ones need beside those of the cover. */
static Err range_add(const TypeModels *m, const Group *g, Arena *a, Cover *c)
{
    TypeModel *t = type_model_of(m, g);
    size_t n = 0;
    if (!t) return 0;
    for (size_t k = 0; k < t->m.n_kernels; k++) t->kept[k] = false;
    for (size_t i = 0; i < g->n_columns; i++) {
        const size_t k = kernel_of(t, g, i);
        if (c->kept[i] && k < t->m.n_kernels) t->kept[k] = true;
    }
    TRY(type_range_keep(a, t, t->kept));
    for (size_t i = 0; i < g->n_columns; i++) {
        const size_t k = kernel_of(t, g, i);
        if (c->kept[i] || k == t->m.n_kernels || !t->range[k]) continue;
        c->kept[i] = true;
        n++;
    }
    if (n) notice("%.*s: %zu more kernels for sizes between these", STR_ARG(g->name), n);
    return 0;
}

static Err group_cover(Run *r, const TypeModels *m, Group *g, Arena *a)
{
    Cover c;
    size_t n = 0;
    double *ns = ARENA_ARRAY(a, g->n_sizes * g->n_columns, double);
    size_t *kept = ARENA_ARRAY(&r->arena, g->n_columns, size_t);
    TRY_ALLOC(ns);
    TRY_ALLOC(kept);
    TRY(times_get(r, g, a, ns));
    TRY(cover_make(a, &(CoverTimes){g->n_sizes - g->n_held_out, g->n_columns, ns}, r->config->globals.MaxLoss,
                   &c));
    if (c.n_kept == 0) return 0; /* no kernel works on any size */
    cover_report(r, g, &c, ns, a);
    TRY(range_add(m, g, a, &c));
    for (size_t k = 0; k < g->n_columns; k++)
        if (c.kept[k]) kept[n++] = g->column[k];
    g->column = kept;
    g->n_columns = n;
    return 0;
}

Err step_cover(Run *r)
{
    Arena a, of_models;
    TypeModels models;
    arena_init(&a, 0);
    arena_init(&of_models, 0);
    Err e = type_models_fit(r, &of_models, &models);
    for (size_t i = 0; !e && i < r->n_groups; i++) {
        arena_reset(&a);
        if (!r->group[i].skip && r->group[i].n_columns) e = group_cover(r, &models, &r->group[i], &a);
    }
    arena_fini(&a);
    arena_fini(&of_models);
    return e;
}
