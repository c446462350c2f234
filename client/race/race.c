/* A race times all solutions of one problem, and the peer, with interleaved samples. See supervisor.h; the
 * worker's part is blocks.c. Solutions and peer are called runners.
 *
 * First every runner is validated and timed once. Then follow stages of rounds: in each round every remaining
 * runner gets one block of launches, in an order that changes from round to round, so that drift of clock and
 * temperature affects all of them equally. At the start of each stage the runners that are too slow are
 * dropped: two samples are enough to exclude a runner that is 10 % slower, tens are needed for the last 1 %.
 * The last stage, among the few fastest and the peer, takes new samples, and only these count for them,
 * because the least of many first samples is biased (selection). A block that was taken at a low clock, or
 * that is an outlier among its runner's samples, is repeated, with a limit on repeats. At the end the winner
 * is checked on data that it has not seen; when it fails, the next one becomes the winner.
 *
 * The table below says how many runners stay for how long; its numbers come from tests on a simulated device
 * with known truth (test/golden/client_race.sh). On sizes that judge a library's choices (race-all-from) the
 * first stage has more runners: a choice may be any of them, and what it loses should not rest on first
 * samples. With fewer race-stages the later ones are left out: rounds of a search only need to know which
 * solutions are good. Without any, the first samples are all: no solution is dropped by them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "client/worker/block_timer.h"
#include "client/race/race.h"

typedef struct {
    double max_ratio;   /* runners slower than this times the fastest are dropped before the stage */
    size_t max_runners; /* the slowest above this number are dropped too */
    int rounds;         /* at most; fewer when the time is over */
    int rounds_min;     /* at least */
    double block_ns;    /* length of a block, more where one launch takes longer */
    double share;       /* of race-seconds */
} Stage;

static const Stage stages[] = {
    {1.30, 40, 2, 1, 0.5e6, 0.25},
    {1.10, 12, 4, 2, 1e6, 0.25},
    {1.03, 4, 15, 7, BLOCK_NS, 0.5},
};
enum { N_STAGES = sizeof stages / sizeof *stages };
/* The first stage with race-all-from: the most runners, and the least number of rounds where a round takes at
 * most ROUND_ALL_NS. Medians have three samples then; longer launches are measured well enough by two. */
enum { RUNNERS_ALL = 100, ROUNDS_ALL = 2 };
static const double ROUND_ALL_NS = 0.1e9;

/* The first launch of a solution is expected to take at most this many times the peer's; launches_budget_ns
 * allows 50 times the expected time. */
static const double PEER_LEAD = 4;
/* A sample is an outlier when its time exceeds OUTLIER x the median of the runner's recent samples, or
 * OUTLIER_LOW_CLOCK x that median while the clock is below CLOCK_DROP x its recent median. */
static const double OUTLIER = 1.10, OUTLIER_LOW_CLOCK = 1.02, CLOCK_DROP = 0.97;
static const uint32_t BAD_THROTTLE =
    THROTTLE_HW_SLOWDOWN | THROTTLE_SW_THERMAL | THROTTLE_HW_THERMAL | THROTTLE_POWER_BRAKE;
static const uint64_t WAIT_NS = UINT64_C(20000000), WAIT_MAX_NS = UINT64_C(2000000000);
/* Runners that would be dropped after one sample get a second one if all second samples together take at most
 * this share of race-seconds. */
static const double SECOND_LOOK = 0.15;
/* The last stage ends early when the winner is significantly faster than all others and its interval is
 * narrower than this share of its time. */
static const double NARROW = 0.005;

/* ---- samples ---- */

double race_sample_ns(const RaceSample *s) { return (double)s->ns / (double)s->n; }

static Err scratch_room(Race *c, size_t n)
{
    if (c->n_scratch >= 2 * n) return 0;
    double *more = realloc(c->scratch, 4 * (n + 1) * sizeof *more);
    if (!more) FAIL(ERR_FAILED, "out of memory for %zu samples", n);
    c->scratch = more;
    c->n_scratch = 4 * (n + 1);
    return 0;
}

/* The samples that count: those of the last stage if there are any, else the first ones; outliers only when
 * all are. */
static size_t counting(const Runner *r, double *out)
{
    size_t n = 0;
    for (int use = SAMPLE_FINAL; n == 0 && use >= 0; use = use == SAMPLE_FINAL ? SAMPLE_FIRST : -1)
        for (size_t i = 0; i < r->samples.n; i++)
            if ((int)r->samples.v[i].state.use == use) out[n++] = race_sample_ns(&r->samples.v[i]);
    for (size_t i = 0; n == 0 && i < r->samples.n; i++) out[i] = race_sample_ns(&r->samples.v[i]);
    return n ? n : r->samples.n;
}

Err race_summary(Race *c, const Runner *r, Summary *out)
{
    TRY(scratch_room(c, r->samples.n));
    size_t n = counting(r, c->scratch);
    stats_summary(c->scratch, n, 0.95, out);
    return 0;
}

static double fastest(const Runner *r)
{
    double best = INFINITY;
    for (size_t i = 0; i < r->samples.n; i++) best = fmin(best, race_sample_ns(&r->samples.v[i]));
    return best;
}

/* Median of the runner's last few samples that were queued in the same way, as those of single launches may
 * contain gaps; 0: fewer than two. Outliers are among them, so that a lasting change is accepted. */
static double recent_ns(const Runner *r, bool in_graph)
{
    double x[RECENT];
    size_t n = 0;
    for (size_t i = r->samples.n; n < RECENT && i-- > 0;)
        if (r->samples.v[i].in_graph == in_graph) x[n++] = race_sample_ns(&r->samples.v[i]);
    if (n < 2) return 0;
    stats_sort(x, n);
    return stats_quantile(x, n, 0.5);
}

/* Median clock of the last samples of all runners; 0: too few. */
static double recent_clock(const Race *c)
{
    double x[CLOCKS];
    if (c->n_clocks < CLOCKS) return 0;
    memcpy(x, c->clock, sizeof x);
    stats_sort(x, CLOCKS);
    return stats_quantile(x, CLOCKS, 0.5);
}

/* Applies OUTLIER, OUTLIER_LOW_CLOCK and CLOCK_DROP. Samples are not outliers on a device that is throttled
 * all the time or runs at its power limit: it cannot give better ones. */
static bool is_outlier(const Race *c, const Runner *r, const RaceSample *s)
{
    if ((s->state.throttle & BAD_THROTTLE) && c->cool) return true;
    double ns = race_sample_ns(s), usual = recent_ns(r, s->in_graph);
    if (usual == 0) return false;
    return ns > OUTLIER * usual ||
           (ns > OUTLIER_LOW_CLOCK * usual && s->state.clock_mhz < CLOCK_DROP * recent_clock(c));
}

/* Samples at a low clock are kept too, so that a clock that stays low becomes the usual one. */
static void clock_note(Race *c, double mhz)
{
    if (mhz > 0) c->clock[c->n_clocks++ % CLOCKS] = mhz;
}

static Err keep_samples(Race *c, const WorkMessage *m)
{
    for (int64_t i = 0; i < m->n_samples; i++) {
        RaceSample s = {.n = m->n_enqueues[i], .ns = m->total_ns[i], .in_graph = m->in_graph};
        s.state = (SampleState){.round = c->round,
                                .clock_mhz = m->mean.clock_sys_mhz,
                                .power_w = m->mean.power_w,
                                .temp_c = m->mean.temp_c,
                                .throttle = m->mean.throttle,
                                .use = c->final ? SAMPLE_FINAL : SAMPLE_FIRST};
        if (!(s.state.throttle & BAD_THROTTLE)) c->cool = true;
        c->busy_ns += (double)s.ns;
        if (is_outlier(c, c->now, &s)) s.state.use = SAMPLE_OUTLIER;
        clock_note(c, s.state.clock_mhz);
        if (!VEC_PUSH(&c->now->samples, s))
            FAIL(ERR_FAILED, "out of memory for %zu samples", c->now->samples.n);
    }
    c->now->readings = m->mean;
    return 0;
}

static Err take_message(void *ctx, const WorkMessage *m)
{
    Race *c = ctx;
    if (m->kind == WORK_SAMPLES) return keep_samples(c, m);
    c->now->valid = *m;
    c->now->checked = true;
    return 0;
}

static void restart_request(void *ctx, const WorkRequest *r)
{
    Race *c = ctx;
    c->now->samples.n = c->n_before;
    c->now->checked = c->was_checked;
    verbose("problem %lld, solution %lld: another process killed its worker; running it again",
            (long long)r->p, (long long)r->s);
}

/* ---- requests ---- */

static WorkRequest request_of(const Race *c, const Runner *r, WorkTask task)
{
    double expected_ns = r->launch_ns > 0 ? r->launch_ns : c->v->best_ns[c->p];
    if (expected_ns == 0 && c->n > c->n_items) expected_ns = PEER_LEAD * c->runner[c->n_items].launch_ns;
    return (WorkRequest){.task = task,
                         .p = c->p,
                         .s = r->item ? r->item->s : WORK_PEER,
                         .validate = r->item ? r->item->validate : c->runner[0].item->validate,
                         .expected_ns = expected_ns};
}

/* Sends a request to the worker; a runner that fails is dropped. */
static Err ask(Race *c, Runner *r, const WorkRequest *q)
{
    Outcome o;
    RunStatus before = r->end.status;
    c->now = r;
    c->n_before = r->samples.n;
    c->was_checked = r->checked;
    TRY(request(&c->v->q, q, &o));
    if (q->task == DO_LOOK || !run_status_good(o.status)) r->end = o;
    if (run_status_good(o.status) && q->task != DO_LOOK) r->end.status = before;
    r->racing = r->racing && run_status_good(o.status);
    Summary s;
    TRY(race_summary(c, r, &s));
    if (s.n) r->launch_ns = s.median;
    return 0;
}

static double best_of_ours(const Race *c)
{
    double best = 0;
    for (size_t i = 0; i < c->n_items; i++)
        if (c->runner[i].racing && c->runner[i].launch_ns > 0 && (best == 0 || c->runner[i].launch_ns < best))
            best = c->runner[i].launch_ns;
    return best;
}

/* The i-th runner of this round: each round starts at another runner and reverses the direction. */
static Runner *runner_of_round(const Race *c, size_t i)
{
    size_t at = c->round % 2 ? i : c->n - 1 - i;
    return &c->runner[(at + (size_t)c->round) % c->n];
}

/* Validates every runner and times it once. The peer comes first: its time limits that of the first
 * solution. */
static Err look_at_all(Race *c)
{
    c->round = 1;
    for (size_t k = 0; k < c->n; k++) {
        size_t i = (k + c->n_items) % c->n;
        Runner *r = &c->runner[i];
        if (!r->racing) continue;
        if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
        WorkRequest q = request_of(c, r, DO_LOOK);
        q.best_ns = r->item ? best_of_ours(c) : 0;
        if (q.best_ns > 0) q.expected_ns = q.best_ns;
        r->ran = true;
        TRY(ask(c, r, &q));
        if (r->item && supervisor_is_failure(r->end.status) && c->v->s->o.exit_on_error) {
            for (size_t x = i + 1; x < c->n_items; x++) c->runner[x].racing = false;
            return 0;
        }
    }
    return 0;
}

static bool last_is_outlier(const Runner *r)
{
    return r->samples.n && r->samples.v[r->samples.n - 1].state.use == SAMPLE_OUTLIER;
}

/* Time to wait before an outlier is repeated, so that a throttled device recovers; limited per race. */
static uint64_t wait_before(Race *c, const Runner *r, int n)
{
    if (!(r->samples.v[r->samples.n - 1].state.throttle & BAD_THROTTLE) || c->waited_ns >= WAIT_MAX_NS)
        return 0;
    uint64_t ns = WAIT_NS << (n < 4 ? n : 4);
    c->waited_ns += ns;
    return ns;
}

/* Without a peer, whose algorithms are timed in between, samples are all that the device did. */
static uint64_t rest_before(Race *c, const Runner *r, double block_ns)
{
    if (!c->final || !c->v->s->api->is_gpu) return 0;
    const double busy_ns = c->n > c->n_items ? (double)INFINITY : c->busy_ns;
    uint64_t ns = block_rest_ns(r->launch_ns, block_ns, !c->has_rested, busy_ns);
    c->has_rested = c->has_rested || ns > 0;
    return ns;
}

/* Times one block and repeats it while it is an outlier and repeats are left. Short kernels are queued as a
 * graph, as in their first samples, because times of single launches would include gaps of the host. brief:
 * the block is as long as a first sample, and so is the graph. */
static Err one_block(Race *c, Runner *r, double block_ns, bool brief)
{
    WorkRequest q = request_of(c, r, DO_BLOCK);
    q.wait_ns = rest_before(c, r, block_ns);
    q.n_launches = block_launches(r->launch_ns, block_ns);
    q.n_blocks = 1;
    q.graph = r->launch_ns < BLOCK_GRAPH_NS && c->v->s->api->has_gaps;
    q.brief = brief;
    for (int repeat = 0;; repeat++) {
        TRY(ask(c, r, &q));
        if (!r->racing || !last_is_outlier(r) || c->n_repeats == c->repeats_max) return 0;
        c->n_repeats++;
        uint64_t wait_ns = wait_before(c, r, repeat);
        if (wait_ns > q.wait_ns) q.wait_ns = wait_ns;
    }
}

/* ---- stages ---- */

static size_t n_in(const Race *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_items; i++) n += c->runner[i].racing;
    return n;
}

static bool has_all(const Race *c, const Stage *stage) { return c->all && stage == stages; }

/* Drops runners by the table. A runner is compared by its fastest sample with the smallest median, so that
 * neither one lucky sample of the fastest nor one unlucky sample of another decides. */
static void drop_out(Race *c, const Stage *stage)
{
    const size_t most = has_all(c, stage) ? RUNNERS_ALL : stage->max_runners;
    double best = best_of_ours(c);
    for (size_t i = 0; i < c->n_items; i++)
        if (c->runner[i].racing && fastest(&c->runner[i]) > stage->max_ratio * best)
            c->runner[i].racing = false;
    while (n_in(c) > most) {
        Runner *last = NULL;
        for (size_t i = 0; i < c->n_items; i++)
            if (c->runner[i].racing && (!last || c->runner[i].launch_ns > last->launch_ns))
                last = &c->runner[i];
        last->racing = false;
    }
}

static bool takes_part(const Race *c, const Runner *r) { return r->racing && (r->item || c->final); }

/* The number of rounds that the stage's share of time allows. */
static int rounds_of(const Race *c, const Stage *stage)
{
    double round_ns = 0;
    for (size_t i = 0; i < c->n; i++)
        if (takes_part(c, &c->runner[i])) round_ns += fmax(c->runner[i].launch_ns, stage->block_ns);
    double n = c->v->s->o.race_seconds * 1e9 * stage->share / (round_ns > 0 ? round_ns : 1);
    const bool more = has_all(c, stage) && round_ns <= ROUND_ALL_NS;
    const int least = more ? ROUNDS_ALL : stage->rounds_min;
    return n < least ? least : n > stage->rounds ? stage->rounds : (int)n;
}

/* The sample of a round that counts, in ns per launch; 0: none. */
static double of_round(const Runner *r, int64_t round)
{
    for (size_t i = r->samples.n; i-- > 0;)
        if (r->samples.v[i].state.round == round && r->samples.v[i].state.use == SAMPLE_FINAL)
            return race_sample_ns(&r->samples.v[i]);
    return 0;
}

/* Time of a over that of b, from the rounds that both have. */
Err race_compare(Race *c, const Runner *a, const Runner *b, Comparison *out)
{
    size_t n = 0;
    TRY(scratch_room(c, a->samples.n + b->samples.n));
    double *x = c->scratch, *y = c->scratch + c->n_scratch / 2;
    for (int64_t round = 1; round <= c->round; round++) {
        double s = of_round(a, round), t = of_round(b, round);
        if (s > 0 && t > 0) x[n] = s, y[n++] = t;
    }
    return stats_compare_paired(x, y, n, 0.95, 0, out);
}

Runner *race_leader(const Race *c)
{
    Runner *best = NULL;
    for (size_t i = 0; i < c->n_items; i++)
        if (c->runner[i].racing && c->runner[i].samples.n &&
            (!best || c->runner[i].launch_ns < best->launch_ns))
            best = &c->runner[i];
    return best;
}

/* Whether the leader is significantly faster than all others and its interval is narrow. */
static Err settled(Race *c, bool *out)
{
    Runner *best = race_leader(c);
    Summary s;
    *out = false;
    if (!best) return 0;
    TRY(race_summary(c, best, &s));
    if (!(s.level >= 0.95 && stats_relative_width(&s) <= NARROW)) return 0;
    for (size_t i = 0; i < c->n_items; i++) {
        Comparison versus;
        if (!c->runner[i].racing || &c->runner[i] == best) continue;
        TRY(race_compare(c, best, &c->runner[i], &versus));
        if (versus.verdict != STATS_FASTER) return 0;
    }
    *out = true;
    return 0;
}

static Err run_stage(Race *c, const Stage *stage)
{
    int rounds = rounds_of(c, stage);
    c->n_repeats = 0;
    c->repeats_max = 2 + (size_t)rounds;
    for (int k = 0; k < rounds; k++) {
        bool done = false;
        c->round++;
        for (size_t i = 0; i < c->n; i++) {
            Runner *r = runner_of_round(c, i);
            if (!takes_part(c, r)) continue;
            if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
            TRY(one_block(c, r, stage->block_ns, false));
        }
        if (c->final && k + 1 >= stage->rounds_min) TRY(settled(c, &done));
        if (done) return 0;
    }
    return 0;
}

/* One disturbed sample must not exclude the fastest runner: those that are about to be dropped are timed
 * again, if that is cheap or the device was throttled during their sample. */
static Err second_look(Race *c)
{
    double limit = stages[0].max_ratio * best_of_ours(c), cost_ns = 0;
    for (size_t i = 0; i < c->n_items; i++)
        if (c->runner[i].racing && fastest(&c->runner[i]) > limit)
            cost_ns += fmax(c->runner[i].launch_ns, stages[0].block_ns);
    bool all = cost_ns <= SECOND_LOOK * c->v->s->o.race_seconds * 1e9;
    c->round++;
    c->repeats_max = c->n_items;
    for (size_t i = 0; i < c->n_items; i++) {
        Runner *r = &c->runner[i];
        if (!r->racing || fastest(r) <= limit || !(all || last_is_outlier(r))) continue;
        if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
        TRY(one_block(c, r, stages[0].block_ns, true));
    }
    return 0;
}

static Err run_stages(Race *c)
{
    const int n = (int)c->v->s->o.race_stages;
    if (n) TRY(second_look(c));
    for (int i = 0; i < n; i++) {
        drop_out(c, &stages[i]);
        c->final = i == N_STAGES - 1;
        if (n == N_STAGES && !c->final && n_in(c) <= stages[N_STAGES - 1].max_runners && i > 0) continue;
        TRY(run_stage(c, &stages[i]));
    }
    return 0;
}

/* Checks the winner on data that no runner has seen; when it fails, the next one becomes the winner. */
static Err check_winner(Race *c)
{
    for (Runner *r; c->v->s->o.check_winner && (r = race_leader(c)) != NULL;) {
        if (!r->item->validate) return 0;
        WorkRequest q = request_of(c, r, DO_FRESH);
        q.trust_peer = c->n > c->n_items && c->runner[c->n_items].racing;
        TRY(ask(c, r, &q));
        if (r->racing) return 0;
    }
    return 0;
}

static void enter(Race *c, const PlanItem *items)
{
    Supervisor *v = c->v;
    for (size_t i = 0; i < c->n_items; i++) {
        Runner *r = &c->runner[i];
        r->item = &items[i];
        r->solution = library_solution(v->s->library, (size_t)items[i].s);
        r->readings = DEVICE_READING_NONE;
        supervisor_granularity(v, c->problem, r->solution, &r->gran);
        r->racing = !supervisor_skips(v, c->problem, r->solution, &r->gran, &r->end);
    }
    bool any = n_in(c) > 0;
    for (size_t i = c->n_items; i < c->n; i++) c->runner[i].racing = any;
}

Err race_problem(Supervisor *v, const PlanItem *items, size_t n, int64_t *n_failures)
{
    Race c = {.v = v, .problem = &v->s->problems.v[items->p], .p = items->p, .n_items = n};
    c.n = n + (v->s->o.peer[0] != 0);
    c.all = v->s->o.race_all_from >= 0 && items->p >= v->s->o.race_all_from;
    c.runner = calloc(c.n, sizeof *c.runner);
    if (!c.runner) FAIL(ERR_FAILED, "out of memory for %zu solutions", n);
    c.base = (int64_t)time(NULL) * ROUNDS_MAX;
    v->q.message = take_message;
    v->q.again = restart_request;
    v->q.ctx = &c;
    enter(&c, items);
    Err e = look_at_all(&c);
    if (!e) e = run_stages(&c);
    if (!e) e = check_winner(&c);
    if (!e) e = race_results(&c, n_failures);
    for (size_t i = 0; i < c.n; i++) VEC_FINI(&c.runner[i].samples);
    free(c.runner);
    free(c.scratch);
    return e;
}
