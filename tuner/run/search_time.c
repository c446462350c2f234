/* The time of a search. See searching.h. */
#include <math.h>

#include "base/fs.h"
#include "measure/model_range.h"
#include "measure/search_cost.h"
#include "run/forecast.h"
#include "run/search_between.h"
#include "run/searching.h"

/* The share of TimeBudget for the final measurements is FINAL_SHARE. Where making the operands of all sizes
 * and the launches of long kernels take more, it is SIZES_ROOM times the operands' time with the launches,
 * but at most FINAL_MOST: operands are made twice, for the races and for the check of the winners on fresh
 * data. Launches: about so many of a size's best kernel are as long as the last race at least, in which each
 * kernel runs once and the last ones in ten blocks; those of a peer with its ten algorithms come on top. */
static const double FINAL_SHARE = 0.2, FINAL_MOST = 0.4, SIZES_ROOM = 2.2, FINAL_LAUNCHES = 70,
                    PEER_LAUNCHES = 30;
/* The share for measuring kernels of the library on further sizes (search_fill.h). A config of fewer than
 * FILL_SIZES sizes is meant for these, and less is spent on others. */
static const double FILL_SHARE = 0.4, FILL_SIZES = 100;
/* Finalists of a group: the least number, and the number that costs are estimated with before they are
 * chosen. CHECK_SHARE: of the finalists' time without operands, the share for validating them; races get the
 * rest. */
enum { FINALISTS_LEAST = 4, FINALISTS_GUESS = 32 };
static const double CHECK_SHARE = 0.5;
/* Share of the budget for packing kernels for sizes between the tuned ones; at least RANGE_LEAST are kept. */
static const double RANGE_SHARE = 0.05;
enum { RANGE_LEAST = 8 };
/* What the least of blocks in the last stage of a race takes on average, with the rests between them. */
static const double LAST_S = 0.12;
/* On the CPU, before anything was measured: seconds of a compilation on one core (others: forecast.h) and of
 * a pair, and the factor of searching_scale. SCORE_S: seconds of one processor in which the candidates of a
 * later round are scored, by the candidate and size. */
static const double HOST_COMPILE_S = 0.45, HOST_PAIR_S = 0.002, HOST_SCALE = 0.15, SCORE_S = 5e-7;

double searching_spent(const Searching *x) { return x->before + (double)(clock_ns() - x->started_ns) * 1e-9; }

void searching_guess(Searching *x)
{
    x->compile_s = (x->overlaps ? COMPILE_GUESS_SECONDS : HOST_COMPILE_S) / fmax(1, (double)cpu_count());
    x->pair_s = x->overlaps ? PAIR_GUESS_SECONDS : HOST_PAIR_S;
}

void searching_guess_choice(Searching *x, const SearchGroup *s)
{
    x->choose_s += SCORE_S * (double)s->pool.n * (double)s->search.o.n_sizes / fmax(1, (double)cpu_count());
}

double searching_scale(const Searching *x)
{
    if (x->expected_s > 0 && x->device_s > 0) return x->device_s / x->expected_s;
    return x->overlaps ? 1 : HOST_SCALE;
}

/* Seconds that the sizes of the unfinished groups take in a round without their kernels: making operands. */
static double sizes_seconds(const Searching *x)
{
    double sum = 0;
    for (size_t i = 0; i < x->n; i++)
        if (!x->group[i].finished) sum += search_cost_sizes(&x->group[i].search);
    return sum * searching_scale(x);
}

size_t searching_range_most(const Searching *x)
{
    if (!x->r->config->has_logic || x->r->shard) return 0;
    const double n = x->budget > 0 ? RANGE_SHARE * x->budget / fmax(x->compile_s, 1e-3) : MODEL_RANGE_KERNELS;
    return n < RANGE_LEAST ? RANGE_LEAST : n < MODEL_RANGE_KERNELS ? (size_t)n : MODEL_RANGE_KERNELS;
}

/* Seconds of the operands and checks of a size with n kernels by search_cost.h, without their launches. */
static double size_seconds(const Group *g, size_t z, size_t n)
{
    const ProblemType *pt = &g->problem->pt;
    return search_cost_of_size(pt, &g->size[z]) + (double)n * search_cost_kernel(pt, &g->size[z]);
}

/* The same with the kernels of a held-out size, which are finalists and those for sizes between, and without
 * the finalists of other sizes. */
static double final_size_seconds(const Searching *x, const Group *g, size_t z)
{
    const bool is_held_out = z + g->n_held_out >= g->n_sizes;
    const size_t n = g->searched.ns ? g->n_variants : FINALISTS_GUESS + searching_range_most(x);
    return LAST_S + size_seconds(g, z, is_held_out ? n : 0);
}

/* Seconds of all final measurements, without finalists; sizes between have none. */
static double final_sizes_seconds(const Searching *x)
{
    double sum = 0;
    for (size_t i = 0; i < x->n; i++) {
        const Group *g = x->group[i].g;
        for (size_t z = 0; z < g->n_sizes; z++)
            if (z < x->group[i].n_own || z >= g->n_sizes - g->n_held_out) sum += final_size_seconds(x, g, z);
    }
    return sum * searching_scale(x);
}

/* Seconds of the final race's launches on a size; a peer's by what the first round measured. */
static double final_launches(const Searching *x, const SearchGroup *s, size_t z)
{
    const double own = s->search.launch_s && z < s->n_own ? s->search.launch_s[z] : 0;
    const double peer = own > 0 && x->as_given.Peer ? fmax(own, s->search.peer[z] * 1e-9) : 0;
    return FINAL_LAUNCHES * own + PEER_LAUNCHES * peer;
}

double searching_final_seconds(const Searching *x)
{
    double need = SIZES_ROOM * final_sizes_seconds(x);
    for (size_t i = 0; i < x->n; i++)
        for (size_t z = 0; z < x->group[i].n_own; z++) need += final_launches(x, &x->group[i], z);
    return fmin(fmax(need, x->budget * FINAL_SHARE), x->budget * FINAL_MOST);
}

double searching_fill_seconds(const Searching *x)
{
    double n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (search_between_wanted(x->r, x->group[i].g)) n += (double)x->group[i].n_own;
    return x->budget * FILL_SHARE * fmin(1, n / FILL_SIZES);
}

double searching_left(const Searching *x)
{
    return x->budget - searching_final_seconds(x) - searching_fill_seconds(x) - searching_spent(x) -
           x->next.expected_s * searching_scale(x);
}

/* Sizes of the unfinished groups, with those between. */
static size_t searched_sizes(const Searching *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) n += x->group[i].finished ? 0 : x->group[i].search.o.n_sizes;
    return n;
}

SearchQuota searching_quota(Searching *x)
{
    const SearchTime t = {.budget_s = x->budget,
                          .left_s = searching_left(x),
                          .kernel_s = x->compile_s,
                          .pair_s = x->pair_s,
                          .choose_s = x->choose_s,
                          .sizes_s = sizes_seconds(x),
                          .scale = searching_scale(x),
                          .n_sizes = searched_sizes(x),
                          .n_rounds = x->n_rounds,
                          .n_cores = (size_t)cpu_count(),
                          .learns = x->r->config->globals.SearchMethod == GLOBAL_SEARCH_MODEL,
                          .overlaps = x->overlaps};
    const SearchQuota q = search_quota(&t);
    const double one = search_kernel_seconds(&t) * (double)x->n_sizes / SEARCH_SIZES_OF_KERNEL;
    if (x->n_rounds == 0 && x->before == 0 && x->budget > 0 && t.left_s < one)
        warning("TimeBudget of %.4g s: too short for one candidate on each of %zu sizes, which takes about "
                "%.3g s",
                x->budget, x->n_sizes, one);
    x->out_of_time = x->out_of_time || !q.per_size;
    return q;
}

/* Seconds for the finalists, without those that the operands of the sizes take. */
static double final_room(const Searching *x)
{
    return fmax(0, searching_final_seconds(x) - final_sizes_seconds(x));
}

size_t searching_finalists_most(const Searching *x, const SearchGroup *s)
{
    double pairs = 0;
    if (x->budget <= 0) return SIZE_MAX;
    const double share = (double)s->n_own / (double)(x->n_sizes ? x->n_sizes : 1);
    for (size_t z = 0; z < s->n_own; z++) pairs += search_cost_pair(&s->search, z) * searching_scale(x);
    const double n = final_room(x) * CHECK_SHARE * share / fmax(pairs, 1e-6);
    return n < FINALISTS_LEAST ? FINALISTS_LEAST : n < 1e6 ? (size_t)n : SIZE_MAX;
}

double searching_final_race(const Searching *x)
{
    if (x->budget <= 0 || x->n_sizes == 0) return 0;
    const double each = final_room(x) * (1 - CHECK_SHARE) / (double)x->n_sizes;
    return each < RACE_SECONDS_LEAST ? RACE_SECONDS_LEAST : each < RACE_SECONDS ? each : RACE_SECONDS;
}

Err searching_final_costs(const Searching *x, const SearchGroup *s)
{
    Group *g = s->g;
    const double race = searching_final_race(x), scale = searching_scale(x);
    if (x->budget <= 0) return ERR_OK;
    TRY_ALLOC(g->searched.seconds = ARENA_ARRAY(&x->r->arena, g->n_sizes + 1, double));
    for (size_t z = 0; z < g->n_sizes; z++) {
        size_t n = 0;
        for (size_t i = 0; i < g->n_variants; i++) n += group_races(g, z, i);
        g->searched.seconds[z] = race + final_launches(x, s, z) + scale * (LAST_S + size_seconds(g, z, n));
    }
    return ERR_OK;
}

/* ---- the groups' shares of a round ---- */

/* The expected gain that is left on all sizes of a group. It is an estimate by few results, so that each size
 * counts GAIN_FLOOR times the mean of all groups at least. Before all groups have results: its sizes. */
static const double GAIN_FLOOR = 0.25;
/* A group takes part in a round when its seconds are this multiple of those of starting its client. */
static const double TURN_OF_CLIENT = 3;

static double gain_left(const Searching *x, const SearchGroup *s)
{
    double sizes = 0, gain = 0;
    const double n = (double)s->search.o.n_sizes;
    for (size_t i = 0; i < x->n; i++) {
        const Search *g = &x->group[i].search;
        if (x->group[i].finished) continue;
        if (g->n_batches < 2) return n;
        sizes += (double)g->o.n_sizes;
        gain += (double)g->o.n_sizes * search_hope(g);
    }
    return gain > 0 ? n * (search_hope(&s->search) + GAIN_FLOOR * gain / sizes) : n;
}

/* The same times the seconds of a size without kernels. */
static double seconds_left(const Searching *x, const SearchGroup *s)
{
    return gain_left(x, s) * search_cost_sizes(&s->search) / (double)s->search.o.n_sizes;
}

void searching_deal(Searching *x, const SearchQuota *q)
{
    double gain = 0, seconds = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->group[i].finished) continue;
        gain += gain_left(x, &x->group[i]);
        seconds += seconds_left(x, &x->group[i]);
    }
    for (size_t i = 0; gain > 0 && q->kernels != SIZE_MAX && i < x->n; i++) {
        SearchGroup *s = &x->group[i];
        if (s->finished) continue;
        s->owed_kernels += (double)q->kernels * gain_left(x, s) / gain;
        s->owed_seconds += q->seconds * seconds_left(x, s) / seconds;
    }
}

bool searching_rests(const Searching *x, size_t i, const SearchQuota *q)
{
    const SearchGroup *s = &x->group[i];
    const double least = TURN_OF_CLIENT * q->scale * search_cost_client();
    bool most = true;
    for (size_t k = 0; k < x->n; k++)
        most &= x->group[k].finished || x->group[k].owed_seconds <= s->owed_seconds;
    return q->per_size && q->seconds > 0 && !q->is_last && s->search.n_batches >= 2 && !most &&
           s->owed_seconds < least && s->n_rounds >= s->n_recorded;
}

SearchQuota searching_share(const Searching *x, size_t i, SearchQuota q)
{
    const SearchGroup *s = &x->group[i];
    if (s->finished || q.kernels == SIZE_MAX) return q;
    q.kernels = (size_t)ceil(s->owed_kernels);
    if (q.seconds > 0) q.seconds = s->owed_seconds;
    return q;
}
