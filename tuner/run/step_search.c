/* Step: searches the spaces of the groups where SearchMethod or TimeBudget ask for it.
 *
 * A round chooses candidates for every group, compiles the union once, and measures each on the sizes for
 * which it was chosen. Rounds are recorded before they are measured, so that a run that was killed repeats
 * them from the store and goes on. In the end the finalists become the variants of the groups, and the steps
 * that follow treat them like an exhaustive run's. See run.h, measure/search.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/proc.h"
#include "measure/search_left.h"
#include "run/search_group.h"

/* New candidates of a size: of the first round, and of later ones. SIZES_OF_KERNEL: on which a kernel is
 * measured in a round, about. */
enum { FIRST_QUOTA = 12, LATER_QUOTA = 4, SIZES_OF_KERNEL = 3 };
/* Share of the budget for measuring the finalists, and the shares of what is left that the first round and
 * others may take: several rounds learn from each other; those in random or given order do not. */
static const double FINAL_SHARE = 0.2, FIRST_SHARE = 0.3, ROUND_SHARE = 0.25, ORDER_SHARE = 0.6;
/* Seconds of a race on one size: in rounds, which only need to tell good candidates from bad ones, and of the
 * finalists, at most (the client's own). */
static const double ROUND_RACE_S = 0.2, FINAL_RACE_S = 2, RACE_S_MIN = 0.05;
/* Before anything was measured: seconds of a compilation on one core, and of a pair. */
static const double COMPILE_GUESS_S = 1.5, PAIR_GUESS_S = 0.05;

typedef struct {
    Run *r;
    SearchGroup *group;
    size_t n;
    Globals as_given; /* GlobalParameters of the config; rounds have their own */
    double budget;    /* seconds; 0: none */
    double before;    /* seconds of earlier sessions */
    uint64_t started_ns;
    double compile_s, pair_s; /* of one, on average; wall time */
    size_t n_compiled, n_pairs;
    SearchPace pace;
    size_t n_measured_rounds;
    bool out_of_time;
    size_t n_sizes;
} Searching;

static double spent(const Searching *x) { return x->before + (double)(clock_ns() - x->started_ns) * 1e-9; }

static Err spent_note(Searching *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->group[i].record.id)
            TRY(store_search_spent_set(&x->r->store, x->group[i].record.id, x->r->session,
                                       spent(x) - x->before));
    return 0;
}

/* The time that is left for rounds. */
static double left(const Searching *x) { return x->budget * (1 - FINAL_SHARE) - spent(x); }

/* What the next round may have, of all groups together; per_size 0: the time is over. */
static SearchQuota quota_of(Searching *x, bool first)
{
    SearchQuota q = {SIZE_MAX, first ? FIRST_QUOTA : LATER_QUOTA, x->compile_s, x->pair_s};
    if (x->budget <= 0) return q;
    const double each = x->compile_s + x->pair_s * SIZES_OF_KERNEL;
    const bool learns = x->r->config->globals.SearchMethod == GLOBAL_SEARCH_MODEL;
    const double most = left(x) * (!learns ? ORDER_SHARE : first ? FIRST_SHARE : ROUND_SHARE) / each;
    if (first && x->before == 0 && left(x) < each * (double)x->n_sizes / SIZES_OF_KERNEL)
        warning("TimeBudget of %.4g s: too short for one candidate on each of %zu sizes, which takes about "
                "%.3g s",
                x->budget, x->n_sizes, each * (double)x->n_sizes / SIZES_OF_KERNEL);
    if (!first && left(x) < each) return x->out_of_time = true, (SearchQuota){0};
    q.kernels = most < 1 ? 1 : (size_t)most;
    const size_t at_once = (size_t)cpu_count();
    if (q.kernels < at_once && left(x) > each * (double)at_once) q.kernels = at_once;
    return q;
}

/* Builds and measures the round's kernels of the groups that have any. */
static Err round_measure(Searching *x, size_t n_kernels, size_t n_pairs)
{
    Run *r = x->r;
    const uint64_t start = clock_ns();
    TRY(step_build(r));
    const uint64_t built = clock_ns();
    TRY(spent_note(x));
    TRY(step_write(r));
    TRY(step_measure(r));
    const double compile_s = (double)(built - start) * 1e-9, pair_s = (double)(clock_ns() - built) * 1e-9;
    x->compile_s = (x->compile_s * (double)x->n_compiled + compile_s) / (double)(x->n_compiled + n_kernels);
    x->pair_s = (x->pair_s * (double)x->n_pairs + pair_s) / (double)(x->n_pairs + n_pairs);
    x->n_compiled += n_kernels;
    x->n_pairs += n_pairs;
    const double n = (double)x->n_measured_rounds++;
    x->pace.compile_s = (x->pace.compile_s * n + compile_s) / (n + 1);
    x->pace.measure_s = (x->pace.measure_s * n + pair_s) / (n + 1);
    return 0;
}

/* Within a budget the finalists' races share what is kept for them. */
static double race_of_finalists(const Searching *x)
{
    if (x->budget <= 0 || x->n_sizes == 0) return 0;
    const double each = x->budget * FINAL_SHARE / (double)x->n_sizes;
    return each < RACE_S_MIN ? RACE_S_MIN : each < FINAL_RACE_S ? each : FINAL_RACE_S;
}

/* Takes note of the expected gain that is left; -1: it is not known yet. */
static double hope_note(Searching *x)
{
    double hope = 0;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->group[i].search.n_batches < 2) continue;
        hope += search_hope(&x->group[i].search);
        n++;
    }
    if (!n) return -1;
    hope /= (double)n;
    if (!x->pace.n_rounds++) x->pace.first_hope = hope;
    x->pace.last_hope = hope;
    return hope;
}

static void round_tell(Searching *x, size_t round, size_t n_kernels, size_t n_pairs)
{
    const double hope = hope_note(x);
    Buf text;
    buf_init(&text);
    buf_printf(&text, "search: round %zu: %zu kernels, %zu pairs of kernel and size; %.3g s", round,
               n_kernels, n_pairs, spent(x));
    if (x->budget > 0) buf_printf(&text, " of %.4g s", x->budget);
    if (hope >= 0) buf_printf(&text, "; expected gain that is left %.2f %%", 100 * hope);
    if (hope >= 0 && x->n_measured_rounds) {
        x->pace.budget_s = x->budget > 0 ? left(x) : (double)INFINITY;
        const SearchLeft l = search_left(&x->pace);
        const double race = race_of_finalists(x), most = race > 0 ? race : FINAL_RACE_S;
        buf_printf(&text, "; left: compile %.2g s to %.2g s, measure %.2g s to %.2g s", l.compile_lo,
                   l.compile_hi, l.measure_lo + (double)x->n_sizes * RACE_S_MIN,
                   l.measure_hi + (double)x->n_sizes * most);
    }
    notice("%s", buf_cstr(&text));
    buf_fini(&text);
}

static Err prepare_all(Searching *x, bool *known, size_t *n_kernels)
{
    *known = true;
    *n_kernels = 0;
    for (size_t i = 0; i < x->n; i++) {
        SearchGroup *s = &x->group[i];
        bool all = true;
        if (s->batch.n) TRY(search_group_prepare(s, &all));
        s->g->skip = s->batch.n == 0 || all || s->g->n_variants == 0;
        *known = *known && s->g->skip;
        *n_kernels += s->batch.n ? search_group_new_kernels(s) : 0;
    }
    return 0;
}

/* A group's part of the kernels of a round: by its sizes, among the groups that are not finished. */
static size_t share_of(const Searching *x, size_t i, size_t n_kernels)
{
    double all = 0;
    for (size_t k = 0; k < x->n; k++)
        if (!x->group[k].finished) all += (double)x->group[k].search.o.n_sizes;
    if (n_kernels == SIZE_MAX || all <= 0) return n_kernels;
    const double part = (double)x->group[i].search.o.n_sizes / all;
    return (size_t)ceil((double)n_kernels * part);
}

/* *more: there was a round. */
static Err round_run(Searching *x, size_t round, bool *more)
{
    size_t n_pairs = 0, n_kernels;
    bool known;
    const SearchQuota all = quota_of(x, round == 1);
    for (size_t i = 0; i < x->n; i++) {
        size_t n;
        SearchQuota q = all;
        q.kernels = share_of(x, i, all.kernels);
        TRY(search_group_choose(&x->group[i], &q, spent(x), &n));
        n_pairs += n;
    }
    *more = n_pairs > 0;
    if (!*more) return 0;
    TRY(prepare_all(x, &known, &n_kernels));
    round_tell(x, round, n_kernels, n_pairs);
    Err e = known ? 0 : round_measure(x, n_kernels, n_pairs);
    for (size_t i = 0; i < x->n; i++) x->group[i].g->skip = x->group[i].g->given_up;
    TRY(e);
    for (size_t i = 0; i < x->n; i++)
        if (x->group[i].batch.n) TRY(search_group_results(&x->group[i]));
    return spent_note(x);
}

/* Rounds are timed without the peer, once; the method of timing is that of the whole run. */
static void globals_of_rounds(Searching *x, bool race)
{
    Globals *g = &x->r->config->globals;
    x->as_given = *g;
    if (race) g->TimingMethod = 2;
    g->Peer = 0;
    g->NumBenchmarks = 1;
}

static bool is_race(const Run *r)
{
    const Globals *g = &r->config->globals;
    bool gpu =
        target_family(r->target)->is_gpu && !r->device.is_simulated && !str_eq_c(r->device.kind, "sim");
    return g->TimingMethod == 2 || (g->TimingMethod == 0 && (gpu || g->Peer));
}

static Err end_record(Searching *x, SearchGroup *s)
{
    const char *reason = x->r->stopped                    ? "interrupted"
                         : !s->finished || x->out_of_time ? "TimeBudget is spent"
                         : s->search.o.method == SEARCH_MODEL
                             ? "nothing that was not measured promises to be faster"
                             : "all candidates were measured";
    size_t n = 0;
    for (size_t c = 0; c < s->search.known.n; c++) n += s->made.n > c && s->made.v[c].hash.s;
    SearchEnd end = {.reason = str_from(reason),
                     .n_rounds = (int64_t)s->n_rounds,
                     .n_candidates = (int64_t)n,
                     .n_pairs = (int64_t)s->search.n_pairs,
                     .n_finalists = (int64_t)s->g->n_variants,
                     .hope = s->search.o.method == SEARCH_MODEL ? search_hope(&s->search) : (double)NAN,
                     .seconds = spent(x)};
    notice("%.*s: searched by %.*s: %" PRId64 " of %" PRId64 " candidates%s (%" PRId64
           " permutations), %.1f on a size, %" PRId64 " rounds; stopped: %s; %zu finalists",
           STR_ARG(s->g->name), STR_ARG(s->record.method), end.n_candidates, s->record.n_candidates,
           s->record.sampled ? " of a sample" : "", s->record.n_permutations,
           (double)end.n_pairs / (double)s->search.o.n_sizes, end.n_rounds, reason, s->g->n_variants);
    return store_search_end_add(&x->r->store, s->record.id, x->r->session, &end);
}

static Err groups_open(Searching *x)
{
    Progress progress;
    progress_init(&progress, "fork", x->n, 0);
    for (size_t i = 0; i < x->n; i++) {
        SearchGroup *s = &x->group[i];
        double before;
        TRY(search_group_init(s, x->r, s->g));
        if (s->finished) continue;
        progress_step(&progress, i + 1, "%zu candidates", s->pool.n);
        x->n_sizes += s->search.o.n_sizes;
        TRY(store_search_spent_before(&x->r->store, s->record.id, x->r->session, &before));
        x->before = fmax(x->before, before);
        notice("%.*s: %" PRId64 " permutations, %zu candidates%s to search on %zu sizes", STR_ARG(s->g->name),
               x->group[i].pool.size, s->pool.n, s->record.sampled ? " (a sample)" : "", s->search.o.n_sizes);
    }
    return spent_note(x);
}

static bool has_results(const Searching *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->group[i].search.n_pairs) return true;
    return false;
}

static Err rounds_run(Searching *x)
{
    x->r->race_seconds = ROUND_RACE_S;
    bool more = true;
    Err e = 0;
    for (size_t round = 1; !e && more; round++) e = round_run(x, round, &more);
    if (!run_stop(x->r, e, has_results(x))) TRY(e);
    x->r->deadline_ns = 0;
    x->r->race_seconds = race_of_finalists(x);
    for (size_t i = 0; i < x->n; i++) {
        SearchGroup *s = &x->group[i];
        if (s->g->given_up || !s->record.id) continue;
        TRY(search_group_finalists(s));
        TRY(end_record(x, s));
    }
    return 0;
}

static Err searching_init(Searching *x, Run *r)
{
    double seconds;
    *x = (Searching){.r = r, .started_ns = clock_ns(), .pair_s = PAIR_GUESS_S};
    time_parse(r->config->globals.TimeBudget, &seconds);
    x->budget = seconds;
    x->compile_s = COMPILE_GUESS_S / fmax(1, (double)cpu_count());
    x->group = ARENA_ARRAY(&r->arena, r->n_groups, SearchGroup);
    TRY_ALLOC(x->group);
    for (size_t i = 0; i < r->n_groups; i++)
        if (!r->group[i].skip) x->group[x->n++].g = &r->group[i];
    if (r->config->globals.ShortNames) notice("ShortNames: a search names kernels by their parameters");
    return 0;
}

Err step_search(Run *r)
{
    Searching x;
    TRY(searching_init(&x, r));
    globals_of_rounds(&x, is_race(r));
    for (size_t i = 0; i < x.n; i++) x.group[i].g->round = 1;
    Err e = groups_open(&x);
    if (x.budget > 0)
        r->deadline_ns = x.started_ns + (uint64_t)(1e9 * fmax(0, x.budget * (1 - FINAL_SHARE) - x.before));
    if (!e) e = rounds_run(&x);
    r->deadline_ns = 0;
    r->config->globals = x.as_given;
    for (size_t i = 0; !e && r->stopped && i < x.n; i++)
        if (x.group[i].record.id) e = search_group_keep(&x.group[i]);
    for (size_t i = 0; i < x.n; i++) search_group_fini(&x.group[i]);
    return e;
}
