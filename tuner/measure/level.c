/* Times of one race at the same clocks. See level.h.
 *
 * The logarithm of a sample is that of its runner's time plus the pace of its round. Paces and times are
 * computed alternately, beginning with the winner's rounds: paces are medians over runners, times are medians
 * over rounds, weighted by how well the round's runners agree.
 */
#include "measure/level.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "measure/stats.h"

/* ITERATIONS: enough for times and paces to converge. Spread of a round's samples, as logarithms: SPREAD is
 * the least, ALONE that of a round with one runner, FAR the most that one sample adds. */
enum { ITERATIONS = 6 };
static const double SPREAD = 0.003, ALONE = 0.02, FAR = 0.2;
/* Kernels shorter than SHORT_NS are launched as a graph, without gaps (BLOCK_GRAPH_NS of
 * client/worker/block_timer.h). In the first rounds of older stores they were launched one by one, with gaps
 * of up to GAP_NS between them. */
static const double SHORT_NS = 20e3, GAP_NS = 20e3;

typedef struct {
    int64_t round;
    size_t runner;
    double log_ns;
} Entry;

typedef struct {
    size_t first, n;          /* its entries */
    double pace, gap, spread; /* gap: of launches; 0: none */
    bool known;
} Round;

/* A value with its weight, or a pace. */
typedef struct {
    double x, weight;
} Weighted;

typedef struct {
    LevelRunner *r;
    size_t n, winner;
    Entry *entry; /* sorted by rounds */
    size_t n_entries;
    Round *round;
    size_t n_rounds;
    double *log_ns;         /* of each runner; NAN: not known yet */
    size_t *in;             /* of each runner: its rounds */
    size_t *first, *filled; /* of each runner: its part of `some` */
    Weighted *some;         /* scratch for all entries */
} Leveling;

static bool is_result(const LevelRunner *r) { return r->ns > 0 && r->n > 0; }

/* The fastest of the runners that were in the last stage; where a race had none, of those with more than
 * first samples. */
static size_t winner_of(const LevelRunner *r, size_t n)
{
    enum { FEW = 2 };
    size_t w = SIZE_MAX;
    bool any = false;
    for (size_t i = 0; i < n; i++) any |= is_result(&r[i]) && r[i].final;
    for (size_t i = 0; i < n; i++) {
        const bool in = is_result(&r[i]) && (any ? r[i].final : r[i].n > FEW);
        if (in && (w == SIZE_MAX || r[i].ns < r[w].ns)) w = i;
    }
    return w;
}

static int by_round(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    const int runner = (x->runner > y->runner) - (x->runner < y->runner);
    return x->round == y->round ? runner : (x->round > y->round) - (x->round < y->round);
}

static int by_value(const void *a, const void *b)
{
    const Weighted *x = a, *y = b;
    return (x->x > y->x) - (x->x < y->x);
}

/* A block that was repeated comes later, so the last sample of a round counts. */
static bool counts(const LevelRunner *r, size_t s)
{
    return s + 1 == r->n || r->sample[s + 1].round != r->sample[s].round;
}

static Err leveling_alloc(Leveling *l)
{
    size_t n = 1;
    for (size_t i = 0; i < l->n; i++) n += l->r[i].n;
    TRY_ALLOC(l->entry = calloc(n, sizeof *l->entry));
    TRY_ALLOC(l->round = calloc(n, sizeof *l->round));
    TRY_ALLOC(l->some = calloc(n, sizeof *l->some));
    TRY_ALLOC(l->log_ns = calloc(l->n, sizeof *l->log_ns));
    TRY_ALLOC(l->in = calloc(l->n, sizeof *l->in));
    TRY_ALLOC(l->first = calloc(l->n, sizeof *l->first));
    TRY_ALLOC(l->filled = calloc(l->n, sizeof *l->filled));
    return ERR_OK;
}

static void entries_collect(Leveling *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const LevelRunner *r = &l->r[i];
        l->log_ns[i] = i == l->winner ? log(r->ns) : (double)NAN;
        for (size_t s = 0; is_result(r) && s < r->n; s++)
            if (counts(r, s)) l->entry[l->n_entries++] = (Entry){r->sample[s].round, i, log(r->sample[s].ns)};
    }
    qsort(l->entry, l->n_entries, sizeof *l->entry, by_round);
    for (size_t i = 0; i < l->n_entries; i++) {
        if (i == 0 || l->entry[i].round != l->entry[i - 1].round) l->round[l->n_rounds++].first = i;
        l->round[l->n_rounds - 1].n++;
        l->in[l->entry[i].runner]++;
    }
}

/* Median of values with weights, which it sorts. */
static double median_of(Weighted *v, size_t n)
{
    double all = 0, sum = 0;
    qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++) all += v[i].weight;
    for (size_t i = 0; i < n; i++) {
        sum += v[i].weight;
        if (sum > all * 0.5000001) return v[i].x;
        if (sum > all * 0.4999999) return i + 1 < n ? (v[i].x + v[i + 1].x) / 2 : v[i].x;
    }
    return 0;
}

/* The logarithm of a sample's time at the winner's clocks; of short kernels without the gap between launches,
 * which is the same for all of them. */
static double without_pace(const Round *round, double log_ns)
{
    const double ns = exp(log_ns);
    return round->gap > 0 ? log(fmax(ns - round->gap, ns / 4)) : log_ns - round->pace;
}

/* Collects the differences between a round's samples and the times of their runners, as logarithms or in ns.
 * Only runners with at least `least` rounds count. Returns how many there are. */
static size_t paces_collect(Leveling *l, const Round *round, size_t least, bool in_ns)
{
    size_t n = 0;
    for (size_t i = round->first; i < round->first + round->n; i++) {
        const Entry *e = &l->entry[i];
        const double known = l->log_ns[e->runner];
        if (l->in[e->runner] < least || isnan(known)) continue;
        l->some[n++] = (Weighted){in_ns ? exp(e->log_ns) - exp(known) : e->log_ns - known, 1};
    }
    return n;
}

/* Finds the pace and the spread of a round. Runners with one or two rounds hardly show whether a round agrees
 * with others, and count only where there are no runners with more. */
static void pace_find(Leveling *l, Round *round)
{
    size_t n = 0, least = 4;
    double far = 0;
    while (!n && least > 1) n = paces_collect(l, round, --least, false);
    if (!n) return;
    round->known = true;
    round->pace = median_of(l->some, n);
    round->gap = 0;
    if (l->r[l->winner].ns < SHORT_NS && round->pace > 0) {
        n = paces_collect(l, round, least, true);
        const double gap = median_of(l->some, n);
        if (gap > 0 && gap < GAP_NS) round->gap = gap;
    }
    n = 0;
    for (size_t i = round->first; i < round->first + round->n; i++) {
        const Entry *e = &l->entry[i];
        if (l->in[e->runner] < least || isnan(l->log_ns[e->runner])) continue;
        far += fmin(fabs(without_pace(round, e->log_ns) - l->log_ns[e->runner]), FAR);
        n++;
    }
    round->spread = n > 1 ? SPREAD + far / (double)n : ALONE;
}

/* Computes the times of all runners that have a round whose pace is known. True: some were not known
 * before. */
static bool times_find(Leveling *l)
{
    bool more = false;
    for (size_t i = 0, at = 0; i < l->n; at += l->in[i++]) l->first[i] = at, l->filled[i] = 0;
    for (size_t k = 0; k < l->n_rounds; k++) {
        const Round *round = &l->round[k];
        for (size_t i = round->first; round->known && i < round->first + round->n; i++) {
            const Entry *e = &l->entry[i];
            const double weight = 1 / (round->spread * round->spread);
            l->some[l->first[e->runner] + l->filled[e->runner]++] =
                (Weighted){without_pace(round, e->log_ns), weight};
        }
    }
    for (size_t i = 0; i < l->n; i++) {
        if (!l->filled[i]) continue;
        more |= isnan(l->log_ns[i]);
        l->log_ns[i] = median_of(&l->some[l->first[i]], l->filled[i]);
    }
    return more;
}

/* Whether a runner of a last stage was in at least half of the winner's rounds: its own time counts then. */
static bool is_beside(const Leveling *l, size_t runner)
{
    size_t n = 0;
    for (size_t k = 0; k < l->n_rounds; k++) {
        bool both[2] = {false, false};
        for (size_t i = l->round[k].first; i < l->round[k].first + l->round[k].n; i++) {
            both[0] |= l->entry[i].runner == runner;
            both[1] |= l->entry[i].runner == l->winner;
        }
        n += both[0] && both[1];
    }
    return l->r[runner].final && 2 * n >= l->in[l->winner];
}

static void levels_find(Leveling *l)
{
    const LevelRunner *winner = &l->r[l->winner];
    bool more = true;
    for (int i = 0; more || i < ITERATIONS; i++) {
        for (size_t k = 0; k < l->n_rounds; k++) pace_find(l, &l->round[k]);
        more = times_find(l);
    }
    for (size_t i = 0; i < l->n; i++) {
        LevelRunner *r = &l->r[i];
        if (i == l->winner || !is_result(r) || isnan(l->log_ns[i]) || is_beside(l, i)) continue;
        const double ns = winner->ns * exp(l->log_ns[i] - l->log_ns[l->winner]);
        r->level = fmax(ns, winner->ns * (1 + 1e-6)) / r->ns;
    }
}

Err level_runners(LevelRunner *r, size_t n)
{
    Leveling l = {.r = r, .n = n, .winner = winner_of(r, n)};
    for (size_t i = 0; i < n; i++) r[i].level = 1;
    if (l.winner == SIZE_MAX) return ERR_OK;
    Err e = leveling_alloc(&l);
    if (!e) {
        entries_collect(&l);
        levels_find(&l);
    }
    free(l.entry);
    free(l.round);
    free(l.some);
    free(l.log_ns);
    free(l.in);
    free(l.first);
    free(l.filled);
    return e;
}
