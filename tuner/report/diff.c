/* `tuner diff`: the sizes on which one run's winners are faster or slower than another's, by their samples.
 * See report.h. */
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "measure/query.h"
#include "report/report.h"
#include "report/text.h"

/* The winner of a size in one run. */
typedef struct {
    Str key, kernel;
    double *sample_ns;
    size_t n_samples;
    double median_ns; /* 0: no solution works */
} Side;

typedef struct {
    Store store;
    VEC(Side) side;
    Map by_key;
} RunView;

typedef struct {
    Arena a;
    RunView run[2];
    double margin;
    FILE *f;
    size_t n_both, n_faster, n_slower, n_unknown, n_lost, n_only[2];
    double logs;
} Diff;

/* A size that several groups have counts with its best winner. */
static Err side_add(RunView *r, const PlanView *p, size_t z, const Ranking *rank)
{
    bool added;
    Side x = {.key = p->size[z].key};
    if (rank->best != SIZE_MAX) {
        const Result *best = &rank->result[rank->best];
        x.kernel = p->candidate[rank->best].name;
        x.sample_ns = best->sample_ns;
        x.n_samples = best->n_samples;
        x.median_ns = best->ns.median;
    }
    int64_t *at = map_put(&r->by_key, x.key, &added);
    if (!at) FAIL(ERR_FAILED, "out of memory for %zu sizes", r->side.n);
    if (added) {
        *at = (int64_t)r->side.n;
        if (!VEC_PUSH(&r->side, x)) FAIL(ERR_FAILED, "out of memory for %zu sizes", r->side.n);
        return 0;
    }
    Side *known = &r->side.v[*at];
    if (x.median_ns > 0 && (known->median_ns == 0 || x.median_ns < known->median_ns)) *known = x;
    return 0;
}

static Err run_load(Diff *d, RunView *r)
{
    PlanView *plan;
    size_t n;
    TRY(plans_latest(&r->store, &d->a, &plan, &n));
    for (size_t i = 0; i < n; i++)
        for (size_t z = 0; z < plan[i].n_sizes; z++) {
            Ranking rank;
            TRY(ranking_make(&r->store, &d->a, &plan[i], z, &rank));
            TRY(side_add(r, &plan[i], z, &rank));
        }
    return 0;
}

/* Prints a line for a size that both runs have. */
static Err side_compare(Diff *d, Side *a, Side *b)
{
    Comparison c;
    if (a->median_ns == 0 && b->median_ns == 0) return 0;
    d->n_both++;
    if (a->median_ns == 0 || b->median_ns == 0) {
        const bool lost = b->median_ns == 0;
        d->n_lost += lost;
        d->n_faster += !lost;
        fprintf(d->f, "%-8s %-22s  %.*s\n", lost ? "lost" : "won", lost ? "no solution works" : "had none",
                STR_ARG(a->key));
        return 0;
    }
    TRY(stats_compare(b->sample_ns, b->n_samples, a->sample_ns, a->n_samples, 0.95, 0, &c));
    /* The whole interval lies beyond the margin: of hundreds of equal sizes, none is to be called slower. */
    if (c.lo <= 1 + d->margin && c.hi >= 1 - d->margin && c.verdict != STATS_UNKNOWN) c.verdict = STATS_TIE;
    d->logs += log(a->median_ns / b->median_ns);
    const double ratio = a->median_ns / b->median_ns;
    const bool unsure = c.verdict == STATS_UNKNOWN && fabs(ratio - 1) > d->margin;
    d->n_faster += c.verdict == STATS_FASTER;
    d->n_slower += c.verdict == STATS_SLOWER;
    d->n_unknown += unsure;
    if (c.verdict == STATS_TIE || (c.verdict == STATS_UNKNOWN && !unsure)) return 0;
    if (unsure)
        fprintf(d->f, "unknown  %.3f few samples      ", ratio);
    else
        fprintf(d->f, "%-8s %.3f [%.3f, %.3f]  ", stats_verdict_name(c.verdict), 1 / c.ratio, 1 / c.hi,
                1 / c.lo);
    fprintf(d->f, "%.*s\n", STR_ARG(a->key));
    if (!str_eq(a->kernel, b->kernel))
        fprintf(d->f, "           %.*s\n        -> %.*s\n", STR_ARG(a->kernel), STR_ARG(b->kernel));
    return 0;
}

/* Warns where times were not taken under equal conditions. */
static Err conditions_print(Diff *d)
{
    static const char *const keys[] = {"device", "name", "driver"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        Str x, y;
        TRY(query_environment(&d->run[0].store, &d->a, keys[i], &x));
        TRY(query_environment(&d->run[1].store, &d->a, keys[i], &y));
        if (!str_eq(x, y))
            fprintf(d->f, "the runs differ in their %s: '%.*s' and '%.*s'\n", keys[i], STR_ARG(x),
                    STR_ARG(y));
    }
    return 0;
}

static Err diff_print(Diff *d)
{
    fprintf(d->f, "speed of the second run over the first's, of the winners of each size; 95 %% intervals\n");
    TRY(conditions_print(d));
    for (int i = 0; i < 2; i++) TRY(run_load(d, &d->run[i]));
    for (size_t i = 0; i < d->run[0].side.n; i++) {
        const int64_t *at = map_get(&d->run[1].by_key, d->run[0].side.v[i].key);
        if (!at)
            d->n_only[0]++;
        else
            TRY(side_compare(d, &d->run[0].side.v[i], &d->run[1].side.v[*at]));
    }
    d->n_only[1] = d->run[1].side.n - (d->run[0].side.n - d->n_only[0]);
    if (!d->n_both) FAIL(ERR_INPUT, "the runs have no size in common that any solution works on");
    fprintf(d->f, "%zu sizes: %zu faster, %zu slower, %zu lost, %zu unknown, %zu equal within %.3g %%",
            d->n_both, d->n_faster, d->n_slower, d->n_lost, d->n_unknown,
            d->n_both - d->n_faster - d->n_slower - d->n_lost - d->n_unknown, 100 * d->margin);
    fprintf(d->f, "; geometric mean %.4f\n", exp(d->logs / (double)d->n_both));
    if (d->n_only[0] || d->n_only[1])
        fprintf(d->f, "only in the first: %zu sizes; only in the second: %zu\n", d->n_only[0], d->n_only[1]);
    return 0;
}

Err report_diff(const char *const outdir[2], double margin, FILE *f)
{
    Diff d = {.margin = margin};
    for (int i = 0; i < 2; i++) d.run[i].store.lock_fd = -1;
    arena_init(&d.a, 0);
    Err e = 0;
    for (int i = 0; !e && i < 2; i++) {
        map_init(&d.run[i].by_key);
        e = store_open(&d.run[i].store, outdir[i], STORE_READ);
    }
    if (!e) e = text_open(f, &d.f);
    if (!e) e = text_close(d.f, diff_print(&d));
    for (int i = 0; i < 2; i++) {
        VEC_FINI(&d.run[i].side);
        map_fini(&d.run[i].by_key);
        if (d.run[i].store.db) store_close(&d.run[i].store);
    }
    arena_fini(&d.a);
    if (!e && d.n_slower + d.n_lost)
        e = err_set(ERR_FAILED, "'%s' is slower than '%s' on %zu sizes", outdir[1], outdir[0],
                    d.n_slower + d.n_lost);
    return e;
}
