/* Calls by problem type, with the time that they take. See write.h. */
#include <stdlib.h>
#include <string.h>

#include "problem/conv.h"
#include "workload/write.h"

/* ---- time ---- */

/* Seconds of one convolution: those of its products. */
static double estimate_conv(const ConvDesc *c, const ProblemType *pt, const PartRates *r, int n_cu)
{
    double sum = 0;
    const int64_t n = conv_n_gemms(c);
    for (int64_t i = 0; i < n && i < CONV_PRODUCTS_MAX; i++) {
        ConvGemm g;
        conv_gemm(c, i, &g);
        if (g.k == 0) continue;
        sum += part_least_seconds(r, n_cu, pt, (double)g.m, (double)g.n, (double)g.k, (double)c->size.groups);
    }
    return sum;
}

/* Seconds of one call. */
static double estimate(const WorkloadCall *x, const ProblemType *pt, const PartRates *r, int n_cu)
{
    const GemmCall *c = &x->call;
    if (x->conv) return estimate_conv(x->conv, pt, r, n_cu);
    return part_least_seconds(r, n_cu, pt, (double)c->m, (double)c->n, (double)c->k, (double)c->batch);
}

/* ---- groups ---- */

typedef struct {
    const WorkloadCall *call;
    double seconds;
    int64_t type; /* index in WorkloadTypes */
} Timed;

static int timed_cmp(const void *a, const void *b)
{
    const Timed *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds > y->seconds ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}
static int type_cmp(const void *a, const void *b)
{
    const WorkloadType *x = a, *y = b;
    return (x->total < y->total) - (x->total > y->total);
}

static Err collect(Workload *w, const Target *t, const Part *part, Timed *timed, size_t *n_timed, Map *index,
                   WorkloadTypes *out)
{
    const PartRates *rates = part_rates(part, t);
    int n_cu = part ? part->n_cu : t->n_cu;
    for (size_t i = 0; i < w->call.n; i++) {
        const WorkloadCall *c = &w->call.v[i];
        ProblemType pt;
        Err e = c->conv ? conv_problem_type(c->conv, &pt) : call_problem_type(&c->call, &pt);
        if (e == ERR_INPUT) {
            Str reason = arena_dup(&w->arena, str_from(err_message()));
            TRY_ALLOC(reason.s);
            err_clear();
            TRY(workload_skip(w, reason, STR(""), 0));
            continue;
        }
        TRY(e);
        bool added;
        int64_t *number = map_put(index, (Str){(const char *)&pt, sizeof pt}, &added);
        TRY_ALLOC(number);
        if (added) *number = (int64_t)index->n - 1;
        double one = c->seconds > 0 ? c->seconds : estimate(c, &pt, rates, n_cu);
        out->estimated |= c->seconds <= 0;
        timed[(*n_timed)++] = (Timed){c, one * (double)c->count, *number};
    }
    return ERR_OK;
}

/* Sizes in the order of their time, until the limits are reached. */
static Err keep(Workload *w, const Timed *timed, size_t n, const Map *index, const WorkloadLimits *limits,
                WorkloadTypes *out)
{
    size_t *per_type = ARENA_ARRAY(&w->arena, index->n + 1, size_t), n_kept = n;
    double all = 0, sum = 0;
    TRY_ALLOC(per_type);
    for (size_t i = 0; i < n; i++) all += timed[i].seconds;
    for (size_t i = 0; i < n; i++) {
        if ((limits->top && (int64_t)i >= limits->top) || (i && sum >= limits->share * all)) {
            n_kept = i;
            break;
        }
        sum += timed[i].seconds;
        per_type[timed[i].type]++;
    }
    for (size_t i = 0; i < index->n; i++) {
        WorkloadType *x = &out->type[i];
        memcpy(&x->pt, index->entry[i].key.s, sizeof x->pt);
        x->call = ARENA_ARRAY(&w->arena, per_type[i] + 1, const WorkloadCall *);
        x->seconds = ARENA_ARRAY(&w->arena, per_type[i] + 1, double);
        TRY_ALLOC(x->call && x->seconds ? x : NULL);
    }
    for (size_t i = 0; i < n_kept; i++) {
        WorkloadType *x = &out->type[timed[i].type];
        x->call[x->n] = timed[i].call;
        x->seconds[x->n++] = timed[i].seconds;
        x->n_calls += timed[i].call->count;
        x->total += timed[i].seconds;
    }
    out->total = all;
    out->n_left = n - n_kept;
    out->share = all > 0 ? sum / all : 1;
    return ERR_OK;
}

Err workload_types(Workload *w, const Target *t, const Part *part, const WorkloadLimits *limits,
                   WorkloadTypes *out)
{
    Map index;
    size_t n = 0;
    *out = (WorkloadTypes){0};
    Timed *timed = ARENA_ARRAY(&w->arena, w->call.n + 1, Timed);
    TRY_ALLOC(timed);
    map_init(&index);
    Err e = collect(w, t, part, timed, &n, &index, out);
    if (!e) {
        out->type = ARENA_ARRAY(&w->arena, index.n + 1, WorkloadType);
        e = out->type ? ERR_OK : err_set(ERR_FAILED, "out of memory");
    }
    if (!e) {
        qsort(timed, n, sizeof *timed, timed_cmp);
        e = keep(w, timed, n, &index, limits, out);
    }
    if (!e) {
        qsort(out->type, index.n, sizeof *out->type, type_cmp);
        for (out->n = index.n; out->n && out->type[out->n - 1].n == 0;) out->n--;
    }
    map_fini(&index);
    return e;
}
