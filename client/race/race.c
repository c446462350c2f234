/* A race: all solutions of one problem, and the peer, side by side. See supervisor.h; the worker's part is
 * blocks.c.
 *
 * First each is validated and gets a first look. Then rounds: every runner that is left gets one block per
 * round, the order turning, so that drift of clock and temperature hits all alike; stage by stage those too
 * far behind the best drop out (what is 10 % slower is settled by two samples, the last 1 % costs tens). The
 * last stage, among the top few and the peer, takes new samples that alone count for them: the best of many
 * looks is too good to be true. A block taken at a dropped clock, or far from its runner's others, is
 * repeated, bounded. The winner is then checked on data that it has not seen; when it fails, the next.
 *
 * What stays and for how long is the table below; times come from tests on a simulated device with known
 * truth (test/golden/client_race.sh).
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
    double behind;   /* who is more than this behind the best drops out */
    size_t most;     /* runners */
    int rounds;      /* at most; fewer when the time is up */
    int rounds_min;  /* at least */
    double block_ns; /* length of a block, more where a launch takes longer */
    double share;    /* of race-seconds */
} Stage;

static const Stage stages[] = {
    {1.30, 40, 2, 1, 0.5e6, 0.25},
    {1.10, 12, 4, 2, 1e6, 0.25},
    {1.03, 4, 15, 7, BLOCK_NS, 0.5},
};
enum { N_STAGES = sizeof stages / sizeof *stages };

/* A solution may be so much slower than the peer before it is called late (which takes 50 times that). */
static const double PEER_LEAD = 4;
/* Outlier: so far above the runner's median; or a little above at a clock that has dropped. */
static const double FAR = 1.10, ABOVE = 1.02, CLOCK_DROP = 0.97;
static const uint32_t BAD_THROTTLE =
    THROTTLE_HW_SLOWDOWN | THROTTLE_SW_THERMAL | THROTTLE_HW_THERMAL | THROTTLE_POWER_BRAKE;
static const uint64_t WAIT_NS = UINT64_C(20000000), WAIT_MAX_NS = UINT64_C(2000000000);
/* Who would drop out after one look gets a second one where all of those cost no more than this share. */
static const double SECOND_LOOK = 0.15;
/* The last stage ends early when the winner is clear and its interval this narrow. */
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

/* Those that count: of the last stage where there are some, without outliers unless all are. */
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

/* Median of the last few samples of a runner, outliers too: what lasts is no outlier. */
static double recent_ns(const Runner *r)
{
    double x[RECENT];
    size_t n = r->samples.n < RECENT ? r->samples.n : RECENT;
    for (size_t i = 0; i < n; i++) x[i] = race_sample_ns(&r->samples.v[r->samples.n - 1 - i]);
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

/* Far above the runner's own last samples, or a little above at a clock below the others'. A device that is
 * throttled all the time, or has come to its power limit, has no better samples to give. */
static bool is_outlier(const Race *c, const Runner *r, const RaceSample *s)
{
    if ((s->state.throttle & BAD_THROTTLE) && c->cool) return true;
    if (r->samples.n < 2) return false;
    double ns = race_sample_ns(s), usual = recent_ns(r);
    return ns > FAR * usual || (ns > ABOVE * usual && s->state.clock_mhz < CLOCK_DROP * recent_clock(c));
}

static Err keep_samples(Race *c, const WorkMessage *m)
{
    for (int64_t i = 0; i < m->n_samples; i++) {
        RaceSample s = {.n = m->n_enqueues[i], .ns = m->total_ns[i]};
        s.state = (SampleState){.round = c->round,
                                .clock_mhz = m->mean.clock_sys_mhz,
                                .power_w = m->mean.power_w,
                                .temp_c = m->mean.temp_c,
                                .throttle = m->mean.throttle,
                                .use = c->final ? SAMPLE_FINAL : SAMPLE_FIRST};
        if (!(s.state.throttle & BAD_THROTTLE)) c->cool = true;
        if (is_outlier(c, c->now, &s)) s.state.use = SAMPLE_OUTLIER;
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

static void look_again(void *ctx, const WorkRequest *r)
{
    Race *c = ctx;
    c->now->samples.n = c->n_before;
    c->now->checked = c->was_checked;
    verbose("problem %lld, solution %lld: its worker was killed from outside; once more", (long long)r->p,
            (long long)r->s);
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

/* Asks; a runner that fails is out. */
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
    r->in = r->in && run_status_good(o.status);
    Summary s;
    TRY(race_summary(c, r, &s));
    if (s.n) r->launch_ns = s.median;
    return 0;
}

static double best_of_ours(const Race *c)
{
    double best = 0;
    for (size_t i = 0; i < c->n_items; i++)
        if (c->runner[i].in && c->runner[i].launch_ns > 0 && (best == 0 || c->runner[i].launch_ns < best))
            best = c->runner[i].launch_ns;
    return best;
}

/* The i-th in the order of this round: it begins elsewhere and turns round each time. */
static Runner *turn(const Race *c, size_t i)
{
    size_t at = c->round % 2 ? i : c->n - 1 - i;
    return &c->runner[(at + (size_t)c->round) % c->n];
}

/* The peer first: its time says how long the first solution may take. */
static Err look_at_all(Race *c)
{
    c->round = 1;
    for (size_t k = 0; k < c->n; k++) {
        size_t i = (k + c->n_items) % c->n;
        Runner *r = &c->runner[i];
        if (!r->in) continue;
        if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
        WorkRequest q = request_of(c, r, DO_LOOK);
        q.best_ns = r->item ? best_of_ours(c) : 0;
        if (q.best_ns > 0) q.expected_ns = q.best_ns;
        r->ran = true;
        TRY(ask(c, r, &q));
        if (r->item && supervisor_is_failure(r->end.status) && c->v->s->o.exit_on_error) {
            for (size_t x = i + 1; x < c->n_items; x++) c->runner[x].in = false;
            return 0;
        }
    }
    return 0;
}

static bool last_is_outlier(const Runner *r)
{
    return r->samples.n && r->samples.v[r->samples.n - 1].state.use == SAMPLE_OUTLIER;
}

/* How long to wait before an outlier is repeated: a throttled device gets time, not without end. */
static uint64_t wait_before(Race *c, const Runner *r, int n)
{
    if (!(r->samples.v[r->samples.n - 1].state.throttle & BAD_THROTTLE) || c->waited_ns >= WAIT_MAX_NS)
        return 0;
    uint64_t ns = WAIT_NS << (n < 4 ? n : 4);
    c->waited_ns += ns;
    return ns;
}

static uint64_t rest_before(Race *c, const Runner *r, double block_ns)
{
    if (!c->final || !c->v->s->api->is_gpu) return 0;
    uint64_t ns = block_rest_ns(r->launch_ns, block_ns, !c->has_rested);
    c->has_rested = c->has_rested || ns > 0;
    return ns;
}

/* One block, repeated while it is an outlier and repeats are left. Times of short kernels are not those of
 * graphs but too long where graph is false: they serve to drop out, never to win. */
static Err one_block(Race *c, Runner *r, double block_ns, bool graph)
{
    WorkRequest q = request_of(c, r, DO_BLOCK);
    q.wait_ns = rest_before(c, r, block_ns);
    q.n_launches = block_launches(r->launch_ns, block_ns);
    q.n_blocks = 1;
    q.graph = graph && r->launch_ns < BLOCK_GRAPH_NS && c->v->s->api->has_gaps;
    for (int repeat = 0;; repeat++) {
        TRY(ask(c, r, &q));
        if (!r->in || !last_is_outlier(r) || c->n_repeats == c->repeats_max) return 0;
        c->n_repeats++;
        uint64_t wait_ns = wait_before(c, r, repeat);
        if (wait_ns > q.wait_ns) q.wait_ns = wait_ns;
    }
}

/* ---- stages ---- */

static size_t n_in(const Race *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_items; i++) n += c->runner[i].in;
    return n;
}

/* Who is too far behind, or behind too many, drops out. A lucky first look of the best must not throw out all
 * others, nor an unlucky one throw out the best: medians lead, the fastest sample follows. */
static void drop_out(Race *c, const Stage *stage)
{
    double best = best_of_ours(c);
    for (size_t i = 0; i < c->n_items; i++)
        if (c->runner[i].in && fastest(&c->runner[i]) > stage->behind * best) c->runner[i].in = false;
    while (n_in(c) > stage->most) {
        Runner *last = NULL;
        for (size_t i = 0; i < c->n_items; i++)
            if (c->runner[i].in && (!last || c->runner[i].launch_ns > last->launch_ns)) last = &c->runner[i];
        last->in = false;
    }
}

static bool takes_part(const Race *c, const Runner *r) { return r->in && (r->item || c->final); }

/* Rounds that the time allows. */
static int rounds_of(const Race *c, const Stage *stage)
{
    double round_ns = 0;
    for (size_t i = 0; i < c->n; i++)
        if (takes_part(c, &c->runner[i])) round_ns += fmax(c->runner[i].launch_ns, stage->block_ns);
    double n = c->v->s->o.race_seconds * 1e9 * stage->share / (round_ns > 0 ? round_ns : 1);
    return n < stage->rounds_min ? stage->rounds_min : n > stage->rounds ? stage->rounds : (int)n;
}

/* The sample of a round that counts; 0: none. */
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
        if (c->runner[i].in && c->runner[i].samples.n && (!best || c->runner[i].launch_ns < best->launch_ns))
            best = &c->runner[i];
    return best;
}

/* Is the leader clear of all others, and known well? */
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
        if (!c->runner[i].in || &c->runner[i] == best) continue;
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
            Runner *r = turn(c, i);
            if (!takes_part(c, r)) continue;
            if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
            TRY(one_block(c, r, stage->block_ns, true));
        }
        if (c->final && k + 1 >= stage->rounds_min) TRY(settled(c, &done));
        if (done) return 0;
    }
    return 0;
}

/* A hiccup in its only look must not cost the best its place: those about to drop out are looked at again,
 * where that is cheap, or where the device was throttled then. */
static Err second_look(Race *c)
{
    double limit = stages[0].behind * best_of_ours(c), cost_ns = 0;
    for (size_t i = 0; i < c->n_items; i++)
        if (c->runner[i].in && fastest(&c->runner[i]) > limit)
            cost_ns += fmax(c->runner[i].launch_ns, stages[0].block_ns);
    bool all = cost_ns <= SECOND_LOOK * c->v->s->o.race_seconds * 1e9;
    c->round++;
    c->repeats_max = c->n_items;
    for (size_t i = 0; i < c->n_items; i++) {
        Runner *r = &c->runner[i];
        if (!r->in || fastest(r) <= limit || !(all || last_is_outlier(r))) continue;
        if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
        TRY(one_block(c, r, stages[0].block_ns, false));
    }
    return 0;
}

static Err run_stages(Race *c)
{
    TRY(second_look(c));
    for (int i = 0; i < N_STAGES; i++) {
        drop_out(c, &stages[i]);
        c->final = i == N_STAGES - 1;
        if (!c->final && n_in(c) <= stages[N_STAGES - 1].most && i > 0) continue;
        TRY(run_stage(c, &stages[i]));
    }
    return 0;
}

/* The winner on data that nobody has seen; a loser here was lucky, and the next one is asked. */
static Err check_winner(Race *c)
{
    for (Runner *r; (r = race_leader(c)) != NULL;) {
        if (!r->item->validate) return 0;
        WorkRequest q = request_of(c, r, DO_FRESH);
        q.trust_peer = c->n > c->n_items && c->runner[c->n_items].in;
        TRY(ask(c, r, &q));
        if (r->in) return 0;
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
        r->in = !supervisor_skips(v, c->problem, r->solution, &r->gran, &r->end);
    }
    bool any = n_in(c) > 0;
    for (size_t i = c->n_items; i < c->n; i++) c->runner[i].in = any;
}

Err race_problem(Supervisor *v, const PlanItem *items, size_t n, int64_t *n_failures)
{
    Race c = {.v = v, .problem = &v->s->problems.v[items->p], .p = items->p, .n_items = n};
    c.n = n + (v->s->o.peer[0] != 0);
    c.runner = calloc(c.n, sizeof *c.runner);
    if (!c.runner) FAIL(ERR_FAILED, "out of memory for %zu solutions", n);
    c.base = (int64_t)time(NULL) * ROUNDS_MAX;
    v->q.message = take_message;
    v->q.again = look_again;
    v->q.ctx = &c;
    enter(&c, items);
    Err e = look_at_all(&c);
    if (!e) e = run_stages(&c);
    if (!e) e = check_winner(&c);
    if (!e) e = race_tell(&c, n_failures);
    for (size_t i = 0; i < c.n; i++) VEC_FINI(&c.runner[i].samples);
    free(c.runner);
    free(c.scratch);
    return e;
}
