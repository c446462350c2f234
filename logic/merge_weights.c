/* What a merge does for an application: the calls of its log as weights of sizes. See merge.h. */
#include "logic/merge_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* Types, transposes and conjugates are equal: what decides in a library which table is asked. */
static bool is_asked(const ProblemType *pt, const GemmCall *c)
{
    ProblemType of;
    if (call_problem_type(c, &of)) {
        err_clear();
        return false;
    }
    return pt->OperationType == of.OperationType && pt->DataType == of.DataType &&
           pt->DestDataType == of.DestDataType && pt->ComputeDataType == of.ComputeDataType &&
           pt->TransposeA == of.TransposeA && pt->TransposeB == of.TransposeB &&
           pt->ComplexConjugateA == of.ComplexConjugateA && pt->ComplexConjugateB == of.ComplexConjugateB &&
           pt->F32XdlMathOp == of.F32XdlMathOp && pt->StridedBatched == of.StridedBatched;
}

static Str key_of(const int64_t size[4]) { return (Str){(const char *)size, 4 * sizeof *size}; }

/* The highest speed of each size, by [m, n, batch, k]. */
static Err speeds_of(const Logic *l, Map *at, double **speed)
{
    *speed = calloc(l->n_rows + 1, sizeof **speed);
    TRY_ALLOC(*speed);
    for (size_t i = 0; i < l->n_rows; i++) {
        const LogicRow *r = &l->row[i];
        bool added;
        if (r->n < 4) continue;
        int64_t *found = map_put(at, key_of(r->size), &added);
        TRY_ALLOC(found);
        if (added) *found = (int64_t)at->n - 1;
        if (r->speed > (*speed)[*found]) (*speed)[*found] = r->speed;
    }
    return ERR_OK;
}

static Err lookup(const Workload *w, const Logic *l, Map *at, double **speed, MergeSpeeds *out)
{
    TRY(speeds_of(l, at, speed));
    for (size_t i = 0; i < w->call.n; i++) {
        const GemmCall *c = &w->call.v[i].call;
        const int64_t size[4] = {c->m, c->n, c->batch, c->k};
        out->speed[i] = -1;
        if (!is_asked(l->pt, c)) continue;
        int64_t *found = map_get(at, key_of(size));
        out->speed[i] = found ? (*speed)[*found] : 0;
    }
    return ERR_OK;
}

Err merge_speeds(Arena *a, const Workload *w, const Logic *l, MergeSpeeds *out)
{
    double *speed = NULL;
    Map at;
    out->speed = ARENA_ARRAY(a, w->call.n + 1, double);
    TRY_ALLOC(out->speed);
    map_init(&at);
    Err e = lookup(w, l, &at, &speed, out);
    free(speed);
    map_fini(&at);
    return e;
}

void merge_weigh(const Workload *w, const MergeSpeeds *before, const MergeSpeeds *after, MergeWeight *out)
{
    *out = (MergeWeight){0};
    for (size_t i = 0; i < w->call.n; i++) {
        const WorkloadCall *x = &w->call.v[i];
        double old = before->speed[i], now = after->speed[i];
        double work = (double)x->call.m * (double)x->call.n * (double)x->call.k * (double)x->call.batch *
                      (double)x->count;
        if (old < 0) continue;
        out->n_calls += x->count;
        out->n_before += old > 0 ? x->count : 0;
        out->n_after += now > 0 ? x->count : 0;
        if (old <= 0 || now <= 0) continue;
        out->time_before += work / old;
        out->time_after += work / now;
    }
}

void merge_weight_add(MergeWeight *sum, const MergeWeight *w)
{
    sum->n_calls += w->n_calls;
    sum->n_before += w->n_before;
    sum->n_after += w->n_after;
    sum->time_before += w->time_before;
    sum->time_after += w->time_after;
}

void merge_weight_print(const MergeWeight *w, Buf *out)
{
    if (w->n_calls == 0) {
        buf_puts(out, "no call of the log asks for these tables\n");
        return;
    }
    buf_printf(out, "of %lld calls of the log, %lld have their size in the table, %lld had it",
               (long long)w->n_calls, (long long)w->n_after, (long long)w->n_before);
    if (w->time_before > 0)
        buf_printf(out, "; those that have it in both take %.4g of the time, by the speeds of the tables",
                   w->time_after / w->time_before);
    buf_putc(out, '\n');
}
