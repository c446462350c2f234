/* Times of one race at like clocks. See level.h. */
#include "measure/level.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "measure/stats.h"

/* How slow the device was in a round: the mean of log(sample / time at the winner's clocks) of n runners. */
typedef struct {
    int64_t round;
    double pace, sum;
    size_t n;
    bool known;
} Round;

typedef struct {
    LevelRunner *r;
    size_t n, winner;
    Round *round; /* sorted */
    size_t n_rounds;
    double *paces; /* of one runner's rounds */
    bool *done;    /* of each runner: its level is known, or it has none */
} Leveling;

static bool is_result(const LevelRunner *r) { return r->ns > 0 && r->n > 0; }

static int by_round(const void *a, const void *b)
{
    const Round *x = a, *y = b;
    return (x->round > y->round) - (x->round < y->round);
}

static Round *round_of(const Leveling *l, int64_t round)
{
    Round key = {.round = round};
    return bsearch(&key, l->round, l->n_rounds, sizeof key, by_round);
}

static size_t winner_of(const LevelRunner *r, size_t n)
{
    size_t w = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        if (is_result(&r[i]) && r[i].final && (w == SIZE_MAX || r[i].ns < r[w].ns)) w = i;
    return w;
}

static Err rounds_collect(Leveling *l)
{
    size_t n = 0, most = 1, k = 0;
    for (size_t i = 0; i < l->n; i++) {
        n += l->r[i].n;
        if (l->r[i].n > most) most = l->r[i].n;
    }
    l->round = calloc(n + 1, sizeof *l->round);
    l->paces = calloc(most, sizeof *l->paces);
    l->done = calloc(l->n + 1, sizeof *l->done);
    TRY_ALLOC(l->round);
    TRY_ALLOC(l->paces);
    TRY_ALLOC(l->done);
    n = 0;
    for (size_t i = 0; i < l->n; i++)
        for (size_t s = 0; s < l->r[i].n; s++) l->round[n++].round = l->r[i].sample[s].round;
    qsort(l->round, n, sizeof *l->round, by_round);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || l->round[i].round != l->round[k - 1].round) l->round[k++] = l->round[i];
    l->n_rounds = k;
    return ERR_OK;
}

/* A block that was repeated comes later, so the last sample of a round counts. */
static bool counts(const LevelRunner *r, size_t s)
{
    return s + 1 == r->n || r->sample[s + 1].round != r->sample[s].round;
}

static void rounds_add(Leveling *l, size_t i)
{
    const LevelRunner *r = &l->r[i];
    for (size_t s = 0; s < r->n; s++) {
        Round *x = round_of(l, r->sample[s].round);
        if (x->known || !counts(r, s)) continue;
        x->sum += log(r->sample[s].ns / (r->ns * r->level));
        x->n++;
    }
}

static void rounds_close(Leveling *l)
{
    for (size_t i = 0; i < l->n_rounds; i++) {
        Round *x = &l->round[i];
        if (x->known || !x->n) continue;
        x->pace = x->sum / (double)x->n;
        x->known = true;
    }
}

/* The level of a runner, if it has a round whose pace is known. The first one is left out where there are
 * others: it has fewer launches, and for short kernels the gaps between them. */
static bool level_one(Leveling *l, LevelRunner *r)
{
    size_t n = 0;
    for (size_t s = 0; s < r->n; s++) {
        const Round *x = round_of(l, r->sample[s].round);
        if (x->known && counts(r, s)) l->paces[n++] = log(r->sample[s].ns) - x->pace;
    }
    if (!n) return false;
    const size_t from = n > 1;
    stats_sort(l->paces + from, n - from);
    const double ns = exp(stats_quantile(l->paces + from, n - from, 0.5)), best = l->r[l->winner].ns;
    r->level = fmax(ns, best * (1 + 1e-6)) / r->ns;
    return true;
}

/* Whether a runner of a last stage was in at least half of the winner's rounds: its own time counts then. */
static bool is_beside(const Leveling *l, const LevelRunner *r)
{
    size_t n = 0;
    for (size_t s = 0; s < r->n; s++) n += counts(r, s) && round_of(l, r->sample[s].round)->known;
    return r->final && 2 * n >= l->r[l->winner].n;
}

static void level_all(Leveling *l)
{
    bool more = true;
    rounds_add(l, l->winner);
    rounds_close(l);
    for (size_t i = 0; i < l->n; i++)
        l->done[i] = i == l->winner || !is_result(&l->r[i]) || is_beside(l, &l->r[i]);
    while (more) {
        more = false;
        for (size_t i = 0; i < l->n; i++) {
            if (l->done[i] || !level_one(l, &l->r[i])) continue;
            l->done[i] = more = true;
            rounds_add(l, i);
        }
        rounds_close(l);
    }
}

Err level_runners(LevelRunner *r, size_t n)
{
    Leveling l = {.r = r, .n = n, .winner = winner_of(r, n)};
    for (size_t i = 0; i < n; i++) r[i].level = 1;
    if (l.winner == SIZE_MAX) return ERR_OK;
    Err e = rounds_collect(&l);
    if (!e) level_all(&l);
    free(l.round);
    free(l.paces);
    free(l.done);
    return e;
}
