/* Results of the same sizes from elsewhere: an earlier run, and the calls of an application. See data.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "problem/problem.h"
#include "report/data.h"
#include "workload/workload.h"

/* Speeds that differ by less are equal where no interval is known. */
#define MARGIN 0.01

/* How two sizes are found to be the same: by problem type and all numbers; where the data types or the
 * leading dimensions of one side are not known, without them. */
typedef enum { MATCH_ALL, MATCH_SHAPE, MATCH_WAYS } Match;

/* "Cijk_Ailk_Bljk" of "Cijk_Ailk_Bljk_SB". */
static Str tensors_of(Str type)
{
    size_t at = 0;
    for (int i = 0; i < 3 && at < type.n; i++) at = str_find(type, '_', at + (i > 0));
    return str_sub(type, 0, at);
}

static Str key_of(const ReportGroup *g, const ReportSize *z, Match way, char *text, size_t size)
{
    if (way == MATCH_ALL)
        snprintf(text, size, "%.*s %.*s", STR_ARG(g->type), STR_ARG(z->numbers));
    else
        snprintf(text, size, "%.*s %lld,%lld,%lld,%lld", STR_ARG(tensors_of(g->type)), (long long)z->m,
                 (long long)z->n, (long long)z->batch, (long long)z->k);
    return str_from(text);
}

enum { KEY_BYTES = 512 };

/* Indexes the sizes of data by their keys. Of a size that it has twice the faster one counts. */
static Err index_make(const ReportData *d, Match way, const ReportSize **list, Map *index)
{
    char text[KEY_BYTES];
    for (size_t i = 0; i < d->n_groups; i++)
        for (size_t k = 0; k < d->group[i].n_sizes; k++) {
            const ReportSize *z = &d->group[i].size[k];
            bool added;
            int64_t *at = map_put(index, key_of(&d->group[i], z, way, text, sizeof text), &added);
            if (!at) FAIL(ERR_FAILED, "out of memory for sizes");
            if (added) *at = (int64_t)index->n - 1;
            if (added || z->gflops > list[*at]->gflops) list[*at] = z;
        }
    return ERR_OK;
}

static Err size_compare(ReportData *d, ReportSize *z, const ReportSize *before, Str kernel)
{
    ReportOther *o = &z->before;
    Comparison *c = &o->ratio;
    *o = (ReportOther){.found = before->n_places > 0, .gflops = before->gflops};
    o->kernel = arena_dup(&d->arena, kernel);
    TRY_ALLOC(o->kernel.s);
    if (!o->found) o->why = STR("no kernel worked before");
    if (before->n_places) o->ns = before->place[0].ns;
    *c = (Comparison){STATS_UNKNOWN, z->gflops / before->gflops, NAN, NAN, 0};
    if (!before->n_places || !z->n_places) return ERR_OK;
    if (before->n_samples > 1 && z->n_samples > 1) {
        Arena a;
        arena_init(&a, 0);
        double *x = ARENA_ARRAY(&a, before->n_samples, double), *y = ARENA_ARRAY(&a, z->n_samples, double);
        Err e = x && y ? 0 : err_set(ERR_FAILED, "out of memory for samples");
        if (!e) memcpy(x, before->sample_ns, before->n_samples * sizeof *x);
        if (!e) memcpy(y, z->sample_ns, z->n_samples * sizeof *y);
        if (!e) e = stats_compare(x, before->n_samples, y, z->n_samples, 0.95, MARGIN, c);
        arena_fini(&a);
        TRY(e);
        /* of the earlier time over the winner's: the winner is faster where the earlier one is slower */
        c->verdict = c->verdict == STATS_SLOWER   ? STATS_FASTER
                     : c->verdict == STATS_FASTER ? STATS_SLOWER
                                                  : c->verdict;
        return ERR_OK;
    }
    c->verdict = c->ratio > 1 + MARGIN ? STATS_FASTER : c->ratio < 1 - MARGIN ? STATS_SLOWER : STATS_TIE;
    return ERR_OK;
}

/* The kernel of a size's first place; found by its group. */
static Str winner_of(const ReportData *d, const ReportSize *z)
{
    for (size_t i = 0; i < d->n_groups; i++) {
        const ReportGroup *g = &d->group[i];
        if (z < g->size || z >= g->size + g->n_sizes) continue;
        return z->n_places && z->place[0].kernel < g->n_kernels ? g->kernel[z->place[0].kernel].name
                                                                : STR("");
    }
    return STR("");
}

static Err compare_by(ReportData *d, const ReportData *before, Match way, size_t *n)
{
    char text[KEY_BYTES];
    size_t total = 0;
    for (size_t i = 0; i < before->n_groups; i++) total += before->group[i].n_sizes;
    const ReportSize **list = ARENA_ARRAY(&d->arena, total, const ReportSize *);
    TRY_ALLOC(list);
    Map index;
    map_init(&index);
    Err e = index_make(before, way, list, &index);
    for (size_t i = 0; !e && i < d->n_groups; i++)
        for (size_t k = 0; !e && k < d->group[i].n_sizes; k++) {
            ReportSize *z = &d->group[i].size[k];
            const int64_t *at = map_get(&index, key_of(&d->group[i], z, way, text, sizeof text));
            if (!at || z->before.kernel.s) continue;
            e = size_compare(d, z, list[*at], winner_of(before, list[*at]));
            ++*n;
        }
    map_fini(&index);
    return e;
}

Err data_compare(ReportData *d, const ReportData *before, Str path)
{
    size_t n = 0;
    for (int way = 0; way < MATCH_WAYS && !n; way++) TRY(compare_by(d, before, (Match)way, &n));
    if (!n) FAIL(ERR_INPUT, "'%.*s' has no size in common with the other results", STR_ARG(path));
    TRY_ALLOC((d->before = arena_dup(&d->arena, path)).s);
    return ERR_OK;
}

/* ---- calls ---- */

static Err calls_index(const Workload *w, Map *index)
{
    for (size_t i = 0; i < w->call.n; i++) {
        const WorkloadCall *c = &w->call.v[i];
        ProblemType pt;
        Buf key;
        if (call_problem_type(&c->call, &pt)) {
            err_clear(); /* no kernel is for such a call */
            continue;
        }
        buf_init(&key);
        problem_type_name(&pt, &key);
        buf_printf(&key, " %lld,%lld,%lld,%lld", (long long)c->call.m, (long long)c->call.n,
                   (long long)c->call.batch, (long long)c->call.k);
        int64_t *at = map_put(index, buf_view(&key), NULL);
        buf_fini(&key);
        if (!at) FAIL(ERR_FAILED, "out of memory for calls");
        *at += c->count;
    }
    return ERR_OK;
}

/* Calls of equal M, N, K and batch with other leading dimensions count for all sizes that have them. */
static size_t calls_set(ReportData *d, const Map *index)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_groups; i++)
        for (size_t k = 0; k < d->group[i].n_sizes; k++) {
            ReportSize *z = &d->group[i].size[k];
            char text[KEY_BYTES];
            snprintf(text, sizeof text, "%.*s %lld,%lld,%lld,%lld", STR_ARG(d->group[i].type),
                     (long long)z->m, (long long)z->n, (long long)z->batch, (long long)z->k);
            const int64_t *calls = map_get(index, str_from(text));
            if (!calls) continue;
            z->calls = *calls;
            n++;
            if (z->n_places && z->place[0].ns > 0) d->seconds += (double)*calls * z->place[0].ns * 1e-9;
        }
    return n;
}

Err data_calls(ReportData *d, const char *const *log, size_t n)
{
    Workload w;
    Map index;
    workload_init(&w);
    map_init(&index);
    Err e = 0;
    for (size_t i = 0; !e && i < n; i++) e = workload_read(&w, log[i]);
    if (!e) e = calls_index(&w, &index);
    if (!e && !calls_set(d, &index))
        e = err_set(ERR_INPUT, "'%s' has no call of a size of the results", log[0]);
    map_fini(&index);
    workload_fini(&w);
    return e;
}
