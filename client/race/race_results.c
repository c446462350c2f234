/* The results of a race: events, rows of the log, the peer's ratio to the winner, and the solutions that are
 * not significantly slower than the winner (ties). See race.h. */
#include "client/race/race.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "measure/level.h"

static Err emit_runner(Race *c, const Runner *r, const Summary *sum)
{
    Supervisor *v = c->v;
    int64_t s = r->item ? r->item->s : WORK_PEER;
    TRY(supervisor_emit(v, &(Event){.kind = EVENT_START, .p = c->p, .s = s}));
    if (r->checked)
        TRY(supervisor_emit(v, &(Event){.kind = EVENT_VALID,
                                        .p = c->p,
                                        .s = s,
                                        .status = r->valid.status,
                                        .checked = r->valid.n_checked,
                                        .max_err = r->valid.max_err,
                                        .text = str_from(r->valid.text)}));
    for (size_t i = 0; i < r->samples.n; i++) {
        Event e = {.kind = EVENT_SAMPLE, .p = c->p, .s = s, .sync_no = (int64_t)i};
        e.n_enqueues = r->samples.v[i].n;
        e.total_ns = r->samples.v[i].ns;
        e.state = r->samples.v[i].state;
        e.state.round += c->base;
        TRY(supervisor_emit(v, &e));
    }
    const char *text = r->item || !run_status_good(r->end.status) ? r->end.text : v->q.peer;
    return supervisor_emit(v, &(Event){.kind = EVENT_END,
                                       .p = c->p,
                                       .s = s,
                                       .status = r->end.status,
                                       .n = (int64_t)sum->n,
                                       .median_ns = sum->median,
                                       .lo_ns = sum->lo,
                                       .hi_ns = sum->hi,
                                       .text = str_from(text)});
}

static bool is_final(const Runner *r)
{
    for (size_t i = 0; i < r->samples.n; i++)
        if (r->samples.v[i].state.use == SAMPLE_FINAL) return true;
    return false;
}

static Err levels_set(Race *c, LevelRunner *l, LevelSample *s)
{
    for (size_t i = 0; i < c->n_items; i++) {
        const Runner *r = &c->runner[i];
        Summary sum;
        TRY(race_summary(c, r, &sum));
        l[i] = (LevelRunner){.sample = s, .final = is_final(r), .level = 1};
        if (run_status_good(r->end.status) && sum.n) l[i].ns = sum.median;
        for (size_t k = 0; k < r->samples.n; k++)
            s[l[i].n++] = (LevelSample){race_sample_ns(&r->samples.v[k]), r->samples.v[k].state.round};
        s += l[i].n;
    }
    return level_runners(l, c->n_items);
}

/* In the results the times of dropped runners are those at the winner's clocks; the store keeps the measured
 * times (results_level). */
static Err find_levels(Race *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_items; i++) n += c->runner[i].samples.n;
    LevelRunner *l = calloc(c->n_items + 1, sizeof *l);
    LevelSample *s = calloc(n + 1, sizeof *s);
    Err e = l && s ? levels_set(c, l, s) : err_set(ERR_FAILED, "out of memory for %zu samples", n);
    for (size_t i = 0; !e && i < c->n_items; i++) c->runner[i].level = l[i].level;
    free(l);
    free(s);
    return e;
}

static Err result_of_runner(Race *c, Runner *r, int64_t *n_failures)
{
    Supervisor *v = c->v;
    Summary sum;
    bool good = run_status_good(r->end.status);
    TRY(race_summary(c, r, &sum));
    if (!good) stats_summary(NULL, 0, 0.95, &sum);
    if (good && sum.n && (v->best_ns[c->p] == 0 || sum.median < v->best_ns[c->p]))
        v->best_ns[c->p] = sum.median;
    TRY(emit_runner(c, r, &sum));
    ReportRow row = {.item = r->item, .s = r->item->s, .solution = r->solution->name, .gran = r->gran};
    row.status = r->end.status;
    double ns = sum.median * r->level;
    row.time_us = sum.n ? ns / 1000 : NAN;
    row.gflops = sum.n ? problem_flops(c->problem) / ns : NAN;
    if (v->s->o.cu_efficiency) row.gflops /= row.gran.used_cus;
    row.enqueue_us = NAN;
    row.mean = row.median = sum.n ? r->readings : DEVICE_READING_NONE;
    row.n_readings = sum.n ? (int64_t)r->samples.n : 0;
    if (supervisor_is_failure(row.status)) {
        ++*n_failures;
        if (r->end.text[0])
            verbose("problem %lld, solution %lld: %s", (long long)c->p, (long long)r->item->s, r->end.text);
    }
    return report_row(v->report, &row);
}

/* The peer's row, and its ratio to the winner. */
static Err result_of_peer(Race *c, const Runner *winner)
{
    const Runner *r = &c->runner[c->n_items];
    Summary sum;
    if (c->n == c->n_items || !r->ran) return 0;
    TRY(race_summary(c, r, &sum));
    bool good = run_status_good(r->end.status);
    if (!good) {
        warning("problem %lld: peer: %s", (long long)c->p, r->end.text);
        stats_summary(NULL, 0, 0.95, &sum);
    }
    TRY(emit_runner(c, r, &sum));
    if (!good || !sum.n) return 0;
    Comparison versus = {.ratio = NAN, .lo = NAN, .hi = NAN};
    if (winner) TRY(race_compare(c, r, winner, &versus));
    return report_peer(c->v->report, &(ReportPeer){.item = c->runner[0].item,
                                                   .name = c->v->q.peer,
                                                   .time_us = sum.median / 1000,
                                                   .gflops = problem_flops(c->problem) / sum.median,
                                                   .ratio = versus.ratio,
                                                   .lo = versus.lo,
                                                   .hi = versus.hi});
}

/* The solutions that are not significantly slower than the winner. */
static Err print_ties(Race *c, const Runner *winner)
{
    for (size_t i = 0; winner && i < c->n_items; i++) {
        const Runner *r = &c->runner[i];
        Comparison versus;
        if (!r->racing || r == winner) continue;
        TRY(race_compare(c, winner, r, &versus));
        if (versus.verdict == STATS_FASTER) continue;
        verbose(
            "problem %lld: solution %lld is not significantly slower than %lld: time ratio %.4f [%.4f, %.4f]",
            (long long)c->p, (long long)r->item->s, (long long)winner->item->s, versus.ratio, versus.lo,
            versus.hi);
    }
    return 0;
}

Err race_results(Race *c, int64_t *n_failures)
{
    const Runner *winner = race_leader(c);
    TRY(find_levels(c));
    TRY(result_of_peer(c, winner)); /* first: after a kill no solution must be without its peer */
    for (size_t i = 0; i < c->n_items; i++) TRY(result_of_runner(c, &c->runner[i], n_failures));
    return print_ties(c, winner);
}
