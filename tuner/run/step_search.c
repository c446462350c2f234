/* Step: searches the spaces of the groups where SearchMethod or TimeBudget ask for it.
 *
 * A round chooses candidates for every group, compiles the union once, and measures each on the sizes for
 * which it was chosen. Rounds are recorded before they are measured, so that a run that was killed repeats
 * them from the store and goes on. Where compiling does not disturb measuring (the CPU does not measure
 * itself), rounds overlap, so that neither the compilers nor the device wait for long:
 *
 *   round    n       n+1       n+2
 *            measure compile
 *                    compile   choose (knows the results of n)
 *                    measure   compile
 *
 * In the end the finalists become the variants of the groups, with kernels for sizes between the tuned ones,
 * and the steps that follow treat them like an exhaustive run's: step_fill measures them on further sizes,
 * and step_final ends within the budget. See run.h, measure/search.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/fs.h"
#include "measure/search_cost.h"
#include "run/forecast.h"
#include "run/search_between.h"
#include "run/search_fill.h"
#include "run/search_share.h"
#include "run/searching.h"

/* Seconds of a race on one size in rounds, which only need to separate good candidates from bad ones. */
static const double ROUND_RACE_S = 0.2;

static Err spent_note(Searching *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->group[i].record.id)
            TRY(store_search_spent_set(&x->r->store, x->group[i].record.id, x->r->session,
                                       searching_spent(x) - x->before));
    return 0;
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
                     .seconds = searching_spent(x)};
    notice("%.*s: searched by %.*s: %" PRId64 " of %" PRId64 " candidates%s (%" PRId64
           " permutations), %.1f on a size, %" PRId64 " rounds; stopped: %s; %zu finalists",
           STR_ARG(s->g->name), STR_ARG(s->record.method), end.n_candidates, s->record.n_candidates,
           s->record.sampled ? " of a sample" : "", s->record.n_permutations,
           (double)end.n_pairs / (double)s->search.o.n_sizes, end.n_rounds, reason, s->g->n_variants);
    return store_search_end_add(&x->r->store, s->record.id, x->r->session, &end);
}

/* The finalists, the kernels for sizes between, and the final races. MaxLoss needs all finalists on all
 * sizes. */
static Err finals_plan(Searching *x, SearchGroup *s)
{
    TRY(search_group_finalists(s, searching_finalists_most(x, s)));
    TRY(end_record(x, s));
    const size_t n_finalists = s->g->n_variants;
    TRY(search_group_range(s, searching_range_most(x)));
    const size_t most = searching_finalists_most(x, s);
    if (most < n_finalists && !(x->as_given.MaxLoss > 0)) TRY(search_group_races(s, most));
    return searching_final_costs(x, s);
}

/* The further sizes of all groups: where the rounds ended early, more than for the share. */
static Err fill_plan(Searching *x)
{
    const double time = x->budget > 0 ? fmax(0, x->budget - searching_final_seconds(x) - searching_spent(x))
                                      : (double)INFINITY;
    for (size_t i = 0; !x->r->stopped && i < x->n; i++) {
        const SearchGroup *s = &x->group[i];
        const double share = (double)s->n_own / (double)(x->n_sizes ? x->n_sizes : 1);
        if (s->g->given_up || !s->record.id) continue;
        TRY(search_fill_choose(x->r, s->g, isinf(time) ? time : time * share, searching_scale(x)));
    }
    if (x->budget > 0) x->r->fill_deadline_ns = clock_ns() + (uint64_t)(1e9 * time);
    return ERR_OK;
}

/* Records the expected gain of unmeasured pairs and returns it; -1: it is not known yet. */
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
               n_kernels, n_pairs, searching_spent(x));
    if (x->budget > 0) buf_printf(&text, " of %.4g s", x->budget);
    if (hope >= 0) buf_printf(&text, "; expected gain that is left %.2f %%", 100 * hope);
    if (hope >= 0 && x->n_measured_rounds) {
        x->pace.budget_s = x->budget > 0 ? searching_left(x) : (double)INFINITY;
        const SearchLeft l = search_left(&x->pace);
        const double race = searching_final_race(x), most = race > 0 ? race : RACE_SECONDS;
        buf_printf(&text, "; left: compile %.2g s to %.2g s, measure %.2g s to %.2g s", l.compile_lo,
                   l.compile_hi, l.measure_lo + (double)x->n_sizes * RACE_SECONDS_LEAST,
                   l.measure_hi + (double)x->n_sizes * most);
    }
    notice("%s", buf_cstr(&text));
    buf_fini(&text);
}

/* ---- choosing and compiling ---- */

static Err after_build(Searching *x)
{
    size_t n = 0;
    Group **list = ARENA_ARRAY(&x->r->arena, x->n + 1, Group *);
    TRY_ALLOC(list);
    for (size_t i = 0; i < x->n; i++) {
        const SearchTurn *t = &x->group[i].after;
        if (t->batch.n && !t->known && t->g->n_variants) list[n++] = t->g;
    }
    return n ? building_begin(x->r, list, n, x->overlaps, &x->after.building) : 0;
}

static Err group_choose(Searching *x, size_t i, const SearchQuota *all)
{
    size_t n = 0;
    SearchGroup *s = &x->group[i];
    const SearchQuota q = searching_share(x, i, *all);
    if (searching_rests(x, i, all)) return search_group_rest(s), ERR_OK;
    TRY(search_share(x->group, x->n, i));
    TRY(search_group_choose(s, &q, searching_spent(x), &n));
    TRY(search_group_prepare(s));
    if (n) s->owed_kernels = s->owed_seconds = 0;
    x->after.n_pairs += n;
    x->after.expected_s += search_cost_batch(&s->search, &s->after.batch);
    x->after.n_kernels += search_group_new_kernels(s);
    return ERR_OK;
}

/* Chooses a round, if any pair is worth measuring, and generates its kernels' texts. */
static Err round_choose(Searching *x)
{
    const uint64_t start = clock_ns();
    const SearchQuota all = searching_quota(x);
    searching_deal(x, &all);
    for (size_t i = 0; i < x->n; i++) TRY(group_choose(x, i, &all));
    if (!x->after.n_pairs) return 0;
    if (x->n_rounds) x->choose_s = (double)(clock_ns() - start) * 1e-9;
    round_tell(x, ++x->n_rounds, x->after.n_kernels, x->after.n_pairs);
    return after_build(x);
}

static void round_queue(Searching *x)
{
    for (size_t i = 0; i < x->n; i++) search_group_queue(&x->group[i]);
    x->next = x->after;
    x->after = (RoundWork){0};
}

/* Chooses the next round where there is none, and the one after it where rounds overlap. */
static Err rounds_choose(Searching *x)
{
    if (!x->next.n_pairs) {
        TRY(round_choose(x));
        round_queue(x);
    }
    return x->next.n_pairs && x->overlaps ? round_choose(x) : 0;
}

/* Run.aside.work: called while a client measures and while the search chooses. */
static Err next_compile(void *ctx)
{
    const Searching *x = ctx;
    return x->next.building ? building_work(x->next.building) : 0;
}

/* ---- measuring ---- */

static double running_mean(double mean, size_t n, double sum, size_t n_more)
{
    return n + n_more ? (mean * (double)n + sum) / (double)(n + n_more) : mean;
}

static Err aside_check(const Run *r) { return r->aside.e ? err_set(r->aside.e, "%s", r->aside.why) : ERR_OK; }

/* Waits for the kernels of the next round, which becomes the one that is measured; begins to compile those of
 * the round after it. */
static Err round_advance(Searching *x)
{
    uint64_t ns = 0;
    x->now = x->next;
    x->next.building = NULL;
    TRY(aside_check(x->r));
    if (x->now.building) {
        TRY(building_wait(x->now.building, &ns));
        const double compile_s = (double)ns * 1e-9;
        x->compile_s = running_mean(x->compile_s, x->n_compiled, compile_s, x->now.n_kernels);
        x->n_compiled += x->now.n_kernels;
        x->pace.compile_s = running_mean(x->pace.compile_s, x->n_measured_rounds, compile_s, 1);
    }
    x->next = x->after;
    x->after = (RoundWork){0};
    run_aside(x->r);
    Building *b = x->now.building;
    x->now.building = NULL;
    if (b) TRY(building_end(b));
    for (size_t i = 0; i < x->n; i++) search_group_advance(&x->group[i]);
    return spent_note(x);
}

static Err round_measure(Searching *x)
{
    Run *r = x->r;
    bool any = false;
    int peer = 0;
    for (size_t i = 0; i < x->n; i++) {
        const Group *g = x->group[i].g;
        if (g->skip) continue;
        any = true;
        if (!peer) peer = search_group_peer(&x->group[i], g);
    }
    if (!any) return 0;
    const uint64_t start = clock_ns();
    r->config->globals.Peer = peer;
    Err e = step_write(r);
    if (!e) e = step_measure(r);
    r->config->globals.Peer = 0;
    TRY(e);
    TRY(aside_check(r));
    const double s = (double)(clock_ns() - start) * 1e-9;
    x->device_s += s;
    x->expected_s += x->now.expected_s;
    x->pair_s = running_mean(x->pair_s, x->n_pairs, s, x->now.n_pairs);
    x->n_pairs += x->now.n_pairs;
    x->pace.measure_s = running_mean(x->pace.measure_s, x->n_measured_rounds++, s, 1);
    return 0;
}

/* Rounds end when the rest of the budget is needed for the finalists, by what the rounds so far took. */
static void deadline_set(const Searching *x)
{
    const double end = x->budget - searching_final_seconds(x) - searching_fill_seconds(x) - x->before;
    if (x->budget > 0) x->r->deadline_ns = x->started_ns + (uint64_t)(1e9 * fmax(0, end));
}

static Err round_run(Searching *x)
{
    TRY(round_advance(x));
    TRY(round_measure(x));
    deadline_set(x);
    for (size_t i = 0; i < x->n; i++) TRY(search_group_results(&x->group[i]));
    TRY(spent_note(x));
    return rounds_choose(x);
}

/* Whether the time is over and the next round still has pairs to measure. The first round is always
 * measured. */
static bool is_late(const Searching *x)
{
    if (!x->r->deadline_ns || clock_ns() < x->r->deadline_ns || x->n_rounds < 2) return false;
    for (size_t i = 0; i < x->n; i++)
        if (x->group[i].next.batch.n && !x->group[i].next.known) return true;
    return false;
}

void search_globals_of_rounds(Run *r)
{
    Globals *g = &r->config->globals;
    if (run_races(r)) g->TimingMethod = 2;
    g->Peer = 0;
    g->NumBenchmarks = 1;
}

static Err groups_open(Searching *x)
{
    Progress progress;
    progress_init(&progress, "fork", x->n, 0);
    for (size_t i = 0; i < x->n; i++) {
        SearchGroup *s = &x->group[i];
        double before;
        TRY(search_group_init(s, x->r, s->g));
        s->peer = x->as_given.Peer;
        if (s->finished) continue;
        progress_step(&progress, i + 1, "%zu candidates", s->pool.n);
        x->n_sizes += s->n_own;
        searching_guess_choice(x, s);
        TRY(store_search_spent_before(&x->r->store, s->record.id, x->r->session, &before));
        x->before = fmax(x->before, before);
        notice("%.*s: %" PRId64 " permutations, %zu candidates%s to search on %zu sizes", STR_ARG(s->g->name),
               x->group[i].pool.size, s->pool.n, s->record.sampled ? " (a sample)" : "", s->n_own);
        if (s->g->n_between)
            notice("%.*s: %zu sizes between these are searched too, for sizes that nobody tuned",
                   STR_ARG(s->g->name), s->g->n_between);
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
    x->r->in_rounds = true, x->r->race_stages = 1;
    if (x->overlaps) x->r->aside.work = next_compile, x->r->aside.ctx = x;
    Err e = rounds_choose(x);
    while (!e && x->next.n_pairs && !is_late(x)) e = round_run(x);
    if (x->next.n_pairs) x->out_of_time = true;
    x->r->aside.work = NULL;
    x->r->in_rounds = false;
    if (x->n_measured_rounds)
        notice("search: the device measured %.0f %% of %.3g s",
               100 * x->device_s / (searching_spent(x) - x->before), searching_spent(x) - x->before);
    building_drop(x->now.building);
    building_drop(x->next.building);
    building_drop(x->after.building);
    if (!run_stop(x->r, e, has_results(x))) TRY(e);
    x->r->deadline_ns = 0;
    for (size_t i = 0; i < x->n; i++) {
        SearchGroup *s = &x->group[i];
        if (s->g->given_up || !s->record.id) continue;
        TRY(finals_plan(x, s));
    }
    TRY(fill_plan(x));
    x->r->race_seconds = searching_final_race(x);
    return 0;
}

static Err searching_init(Searching *x, Run *r)
{
    double seconds;
    *x = (Searching){.r = r, .started_ns = clock_ns(), .overlaps = !str_eq_c(r->device.kind, "host")};
    time_parse(r->config->globals.TimeBudget, &seconds);
    x->budget = seconds;
    searching_guess(x);
    x->group = ARENA_ARRAY(&r->arena, r->n_groups, SearchGroup);
    TRY_ALLOC(x->group);
    for (size_t i = 0; i < r->n_groups; i++)
        if (!r->group[i].skip) x->group[x->n++].g = &r->group[i];
    if (r->config->globals.ShortNames) notice("ShortNames: a search names kernels by their parameters");
    return 0;
}

/* A search may take hours, so it says what ends it. */
static void limit_tell(const Searching *x)
{
    const bool measures_all = x->r->config->globals.SearchMethod == GLOBAL_SEARCH_EXHAUSTIVE;
    if (x->budget > 0)
        notice("search: ends when nothing promises a gain, or after %.4g s (TimeBudget)", x->budget);
    else
        notice("search: no TimeBudget: ends when %s; Ctrl-C ends it with a library of what is known",
               measures_all ? "all candidates are measured" : "nothing promises a gain");
}

Err step_search(Run *r)
{
    Searching x;
    TRY(searching_init(&x, r));
    x.as_given = r->config->globals;
    search_globals_of_rounds(r);
    for (size_t i = 0; i < x.n; i++) x.group[i].g->round = 1;
    Err e = building_prepare(r);
    if (!e) e = groups_open(&x);
    if (!e) limit_tell(&x);
    deadline_set(&x);
    if (!e) e = rounds_run(&x);
    r->deadline_ns = x.budget > 0 ? x.started_ns + (uint64_t)(1e9 * fmax(0, x.budget - x.before)) : 0;
    r->config->globals = x.as_given;
    for (size_t i = 0; !e && r->stopped && i < x.n; i++)
        if (x.group[i].record.id) e = search_results_keep(r, x.group[i].g);
    for (size_t i = 0; i < x.n; i++) search_group_fini(&x.group[i]);
    return e;
}
