/* Tables of results out of the store. See result.h. */
#include "measure/result.h"
#include "measure/store_search.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranked.h"
#include "base/vec.h"
#include "measure/db.h"

enum {
    PAIRS_MIN = 6, /* fewer pairs have no interval at 0.95 */
    NAME_BYTES_MAX = 1024
};

typedef struct {
    const Db *db;
    Arena *a;
    PlanView *plan;
    size_t i;
} Loading;

static Err plan_row(void *ctx, const DbRow *row)
{
    Loading *l = ctx;
    PlanView *p = l->plan;
    p->id = row_int(row, 0);
    p->group = row_dup(row, 1, l->a);
    p->arch = row_dup(row, 2, l->a);
    p->setting = row_int(row, 3);
    p->environment = row_int(row, 4);
    p->n_permutations = row_int(row, 5);
    p->n_valid = row_int(row, 6);
    p->n_duplicates = row_int(row, 7);
    p->n_runs = row_int(row, 8);
    p->n_candidates = (size_t)row_int(row, 9);
    p->n_sizes = (size_t)row_int(row, 10);
    p->candidate = ARENA_ARRAY(l->a, p->n_candidates, Candidate);
    p->size = ARENA_ARRAY(l->a, p->n_sizes, SizeRow);
    if (!p->group.s || !p->arch.s || !p->candidate || !p->size)
        FAIL(ERR_FAILED, "out of memory reading the store");
    return 0;
}

/* Names from the store are printed in messages, tables and file names, so only these characters are allowed.
 */
static bool is_name(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.s[i]) && !strchr("_.+-", s.s[i])) return false;
    return s.n > 0 && s.n <= NAME_BYTES_MAX && s.s[0] != '.';
}

static Err damaged(const Loading *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
static Err damaged(const Loading *l, const char *fmt, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    FAIL(ERR_INPUT, "'%s' is damaged: plan %" PRId64 " has %s", db_path(l->db), l->plan->id, what);
}

static Err candidate_row(void *ctx, const DbRow *row)
{
    Loading *l = ctx;
    Candidate c = {row_int(row, 0), row_dup(row, 1, l->a), row_dup(row, 2, l->a), BUILD_NONE};
    TRY(row_outcome(row, 3, &c.compile));
    if (!c.name.s || !c.hash.s) FAIL(ERR_FAILED, "out of memory reading the store");
    if (l->i >= l->plan->n_candidates || row_int(row, 4) != (int64_t)l->i || !is_name(c.name))
        return damaged(l, "candidate %" PRId64 " '%.*s' in place of number %zu of %zu", row_int(row, 4),
                       STR_ARG(str_sub(c.name, 0, 100)), l->i, l->plan->n_candidates);
    l->plan->candidate[l->i++] = c;
    return 0;
}

static Err size_row(void *ctx, const DbRow *row)
{
    Loading *l = ctx;
    SizeRow r = {row_int(row, 0), row_dup(row, 1, l->a), row_real(row, 2), STR_NULL};
    if (!r.key.s) FAIL(ERR_FAILED, "out of memory reading the store");
    if (l->i >= l->plan->n_sizes || row_int(row, 3) != (int64_t)l->i || !(r.flops >= 0))
        return damaged(l, "size %" PRId64 " in place of number %zu of %zu", row_int(row, 3), l->i,
                       l->plan->n_sizes);
    l->plan->size[l->i++] = r;
    return 0;
}

static Err plan_check(const Loading *l)
{
    const PlanView *p = l->plan;
    if (!is_name(p->group)) return damaged(l, "the group '%.*s'", STR_ARG(str_sub(p->group, 0, 100)));
    if (!is_name(p->arch)) return damaged(l, "the architecture '%.*s'", STR_ARG(str_sub(p->arch, 0, 100)));
    if (p->n_runs < 1 || p->n_runs > PLAN_RUNS_MAX)
        return damaged(l, "%" PRId64 " runs, expected 1 to %d", p->n_runs, PLAN_RUNS_MAX);
    return 0;
}

Str size_numbers(Str key)
{
    const Str rest = str_sub(key, str_find(key, ' ', 0) + 1, key.n);
    return str_sub(rest, 0, str_find(rest, ' ', 0));
}

Err plan_load(Store *s, Arena *a, int64_t plan, PlanView *out)
{
    Loading l = {s->db, a, out, 0};
    *out = (PlanView){0};
    TRY(db_each(
        s->db, plan_row, &l,
        "SELECT id, grp, arch, setting, environment, permutations, valid, duplicates, runs,"
        " (SELECT count(*) FROM candidate WHERE plan=p.id), (SELECT count(*) FROM size WHERE plan=p.id)"
        " FROM plan p WHERE id=?",
        "i", plan));
    if (!out->id) FAIL(ERR_INPUT, "'%s' is damaged: it has no plan %" PRId64, db_path(s->db), plan);
    TRY(plan_check(&l));
    TRY(db_each(
        s->db, candidate_row, &l,
        "SELECT c.kernel, c.name, k.hash, (SELECT status FROM compile WHERE kernel=c.kernel AND"
        " environment=? ORDER BY id DESC LIMIT 1), c.i FROM candidate c JOIN kernel k ON k.id=c.kernel"
        " WHERE c.plan=? ORDER BY c.i",
        "ii", out->environment, plan));
    if (l.i != out->n_candidates)
        return damaged(&l, "%zu candidates, but only %zu kernels", out->n_candidates, l.i);
    l.i = 0;
    TRY(db_each(s->db, size_row, &l,
                "SELECT s.problem, q.key, q.flops, s.i FROM size s JOIN problem q ON q.id=s.problem"
                " WHERE s.plan=? ORDER BY s.i",
                "i", plan));
    if (l.i != out->n_sizes) return damaged(&l, "%zu sizes, but only %zu problems", out->n_sizes, l.i);
    TRY(store_plan_left(s, plan, &out->n_left));
    if (out->n_left < 0 || out->n_left > (int64_t)out->n_candidates * (int64_t)out->n_sizes)
        return damaged(&l, "%" PRId64 " pairs that are not measured, of %zu candidates and %zu sizes",
                       out->n_left, out->n_candidates, out->n_sizes);
    return plan_convs_load(s, a, out);
}

typedef VEC(int64_t) Ids;

static Err id_row(void *ctx, const DbRow *row)
{
    Ids *ids = ctx;
    if (!VEC_PUSH(ids, row_int(row, 0))) FAIL(ERR_FAILED, "out of memory reading the store");
    return 0;
}

Err plans_latest(Store *s, Arena *a, PlanView **out, size_t *n)
{
    Ids ids = {0};
    Err e = db_each(s->db, id_row, &ids,
                    "SELECT plan FROM session_plan WHERE session=(SELECT max(session) FROM session_plan)"
                    " ORDER BY i",
                    "");
    *n = ids.n;
    *out = e ? NULL : ARENA_ARRAY(a, ids.n, PlanView);
    if (!e && !*out) e = err_set(ERR_FAILED, "out of memory reading the store");
    for (size_t i = 0; !e && i < ids.n; i++) e = plan_load(s, a, ids.v[i], &(*out)[i]);
    VEC_FINI(&ids);
    return e;
}

bool status_good(Str status) { return str_eq_c(status, "PASSED") || str_eq_c(status, "NO_CHECK"); }

/* Which samples of a race count: those of its last stage; without any, those of earlier stages; without
 * these, outliers. */
static SampleFor use_of(const Measurement *m, size_t n_runs)
{
    bool has[3] = {false, false, false};
    for (size_t r = 0; r < n_runs; r++)
        for (size_t i = 0; i < m[r].n_samples; i++) has[m[r].sample[i].use] = true;
    return has[USE_FINAL] ? USE_FINAL : has[USE_FIRST] ? USE_FIRST : USE_OUTLIER;
}

static Err result_finish(Arena *a, const Measurement *m, size_t n_runs, Result *out)
{
    size_t total = 0;
    double sum_ns = 0;
    int64_t launches = 0;
    SampleFor use = use_of(m, n_runs);
    for (size_t r = 0; r < n_runs; r++) total += m[r].n_samples;
    double *sorted = ARENA_ARRAY(a, total, double);
    out->sample_ns = ARENA_ARRAY(a, total, double);
    out->round = ARENA_ARRAY(a, total, int64_t);
    if (!sorted || !out->sample_ns || !out->round) FAIL(ERR_FAILED, "out of memory for %zu samples", total);
    for (size_t r = 0; r < n_runs; r++)
        for (size_t i = 0; i < m[r].n_samples; i++) {
            const Sample *x = &m[r].sample[i];
            if (x->use != use) continue;
            sum_ns += (double)x->ns;
            launches += x->enqueues;
            out->round[out->n_samples] = x->round;
            out->sample_ns[out->n_samples++] = (double)x->ns / (double)(x->enqueues > 0 ? x->enqueues : 1);
            out->last = x;
        }
    if (out->n_samples) memcpy(sorted, out->sample_ns, out->n_samples * sizeof *sorted);
    stats_summary(sorted, out->n_samples, 0.95, &out->ns);
    bool race = out->last && out->last->round > 0;
    out->mean_ns = race ? out->ns.median : launches > 0 ? sum_ns / (double)launches : (double)NAN;
    out->good = out->good && out->n_samples > 0 && out->mean_ns > 0;
    return 0;
}

/* The samples of a race, of all its stages. */
static Err race_samples(Arena *a, const Measurement *m, size_t n_runs, Result *out)
{
    size_t total = 0;
    for (size_t r = 0; r < n_runs; r++) total += m[r].n_samples;
    LevelSample *race = ARENA_ARRAY(a, total, LevelSample);
    if (!race) FAIL(ERR_FAILED, "out of memory for %zu samples", total);
    for (size_t r = 0; r < n_runs; r++)
        for (size_t i = 0; i < m[r].n_samples; i++) {
            const Sample *x = &m[r].sample[i];
            if (x->round > 0 && x->enqueues > 0 && x->ns > 0)
                race[out->n_race++] = (LevelSample){(double)x->ns / (double)x->enqueues, x->round};
        }
    out->race = race;
    return 0;
}

static void result_scale(Result *x, double factor)
{
    x->ns.median *= factor;
    x->ns.lo *= factor;
    x->ns.hi *= factor;
    x->ns.min *= factor;
    x->ns.max *= factor;
    x->ns.q1 *= factor;
    x->ns.q3 *= factor;
    x->ns.mad *= factor;
    x->ns.mean *= factor;
    x->mean_ns *= factor;
    for (size_t k = 0; k < x->n_samples; k++) x->sample_ns[k] *= factor;
}

Err results_level(Arena *a, Result *r, size_t n)
{
    LevelRunner *l = ARENA_ARRAY(a, n + 1, LevelRunner);
    if (!l) FAIL(ERR_FAILED, "out of memory for %zu results", n);
    for (size_t i = 0; i < n; i++)
        l[i] = (LevelRunner){r[i].race, r[i].n_race, r[i].good ? r[i].ns.median : 0,
                             r[i].good && r[i].last->use == USE_FINAL, 1};
    TRY(level_runners(l, n));
    for (size_t i = 0; i < n; i++)
        if (l[i].level != 1) result_scale(&r[i], l[i].level);
    return 0;
}

static Err runs_get(Store *s, Arena *a, const PlanView *p, MeasureKey key, int64_t run, Result *out)
{
    *out = (Result){.status = STR(""), .detail = STR("")};
    Measurement *m;
    size_t n;
    key.run = run < 0 ? 0 : run;
    TRY(store_measure_runs(s, a, &key, run < 0 ? p->n_runs : 1, &m, &n));
    for (size_t i = 0; i < n; i++) {
        bool good = status_good(m[i].status);
        if (i == 0 || (out->good && !good)) out->status = m[i].status, out->detail = m[i].detail;
        out->good = (i == 0 || out->good) && good;
    }
    out->found = n > 0;
    TRY(race_samples(a, m, n, out));
    return result_finish(a, m, n, out);
}

Err result_get(Store *s, Arena *a, const PlanView *p, size_t candidate, size_t size, int64_t run, Result *out)
{
    MeasureKey key = {p->candidate[candidate].kernel, p->size[size].problem, p->setting, 0};
    return runs_get(s, a, p, key, run, out);
}

Err results_get(Store *s, Arena *a, const PlanView *p, size_t size, Result **out)
{
    Result *r = *out = ARENA_ARRAY(a, p->n_candidates + 1, Result);
    if (!r) FAIL(ERR_FAILED, "out of memory for %zu results", p->n_candidates);
    for (size_t i = 0; i < p->n_candidates; i++) TRY(result_get(s, a, p, i, size, -1, &r[i]));
    return results_level(a, r, p->n_candidates);
}

Err result_peer(Store *s, Arena *a, const PlanView *p, size_t size, Str *name, Result *out)
{
    bool found;
    MeasureKey key = {0, p->size[size].problem, p->setting, 0};
    *out = (Result){.status = STR(""), .detail = STR("")};
    TRY(store_peer_find(s, a, key.problem, key.setting, &key.kernel, name, &found));
    return found ? runs_get(s, a, p, key, -1, out) : 0;
}

/* Pairs samples of equal rounds. A block that was repeated comes later, so the last sample of a round counts.
 */
static size_t pair_up(const Result *x, const Result *y, double *p, double *q)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n_samples; i++) {
        if (x->round[i] == 0 || (i + 1 < x->n_samples && x->round[i + 1] == x->round[i])) continue;
        for (size_t j = y->n_samples; j-- > 0;)
            if (y->round[j] == x->round[i]) {
                p[n] = x->sample_ns[i];
                q[n++] = y->sample_ns[j];
                break;
            }
    }
    return n;
}

Err results_compare(Arena *a, const Result *x, const Result *y, Comparison *out)
{
    double *p = ARENA_ARRAY(a, x->n_samples, double),
           *q = ARENA_ARRAY(a, x->n_samples + y->n_samples, double);
    if (!p || !q) FAIL(ERR_FAILED, "out of memory for %zu samples", x->n_samples + y->n_samples);
    size_t n = pair_up(x, y, p, q);
    if (n >= PAIRS_MIN) return stats_compare_paired(p, q, n, 0.95, 0, out);
    memcpy(p, x->sample_ns, x->n_samples * sizeof *p);
    memcpy(q, y->sample_ns, y->n_samples * sizeof *q);
    return stats_compare(p, x->n_samples, q, y->n_samples, 0.95, 0, out);
}

Err ranking_make(Store *s, Arena *a, const PlanView *p, size_t size, Ranking *out)
{
    *out = (Ranking){.best = SIZE_MAX, .second = SIZE_MAX, .versus = {.verdict = STATS_UNKNOWN}};
    Ranked *good = ARENA_ARRAY(a, p->n_candidates, Ranked);
    TRY_ALLOC(good);
    TRY_ALLOC(out->order = ARENA_ARRAY(a, p->n_candidates, size_t));
    TRY(results_get(s, a, p, size, &out->result));
    for (size_t i = 0; i < p->n_candidates; i++) {
        const Result *r = &out->result[i];
        if (r->good) good[out->n_good++] = (Ranked){r->ns.median, i};
        out->n_failed += r->found && !r->good;
        out->n_missing += !r->found;
    }
    qsort(good, out->n_good, sizeof *good, ranked_rising);
    for (size_t i = 0; i < out->n_good; i++) out->order[i] = good[i].index;
    if (out->n_good) out->best = out->order[0];
    if (out->n_good < 2) return 0;
    out->second = out->order[1];
    const Result *x = &out->result[out->best], *y = &out->result[out->second];
    TRY(results_compare(a, x, y, &out->versus));
    out->dropped =
        out->versus.verdict == STATS_UNKNOWN && x->last->use == USE_FINAL && y->last->use != USE_FINAL;
    if (out->dropped) out->versus.verdict = STATS_FASTER;
    return 0;
}
