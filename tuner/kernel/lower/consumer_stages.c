/* What statements do to stages and registers of a consumer warp group, and its events beside those of others.
 * See consumer.h. */
#include "kernel/lower/consumer_run.h"

/* ---- walks ---- */

bool consumer_walk(Consumer *r, int i)
{
    const int n = r->c->ring->n_stages;
    const ConsumerWalk walks[] = {{1, {1}}, {3, {1, n + 2, 2}}, {4, {2, n, 1, 3}}};
    if (i >= (int)(sizeof walks / sizeof *walks)) return false;
    r->walk_now = walks[i];
    r->walk = &r->walk_now;
    return true;
}

static int all_chunks(const ConsumerWalk *w)
{
    int n = 0;
    for (int i = 0; i < w->n; i++) n += w->chunks[i];
    return n;
}

/* ---- a warp group ---- */

void consumer_start(Consumer *r)
{
    trace_restart(&r->run);
    r->tile = r->at = r->n_registers = r->meetings = 0;
    r->acquired = -1;
    r->n_events[r->group] = 0;
    for (int i = 0; i < r->c->ring->n_stages; i++) r->stage[i] = (ConsumerStage){.newer = CONSUMER_DONE};
}

void consumer_forget(Consumer *r, int n_registers)
{
    for (int i = n_registers; i < r->n_registers; i++)
        if (r->registers[i].newer != CONSUMER_DONE)
            REFUSE(&r->run, "products that use '%s' are under way at the end of its block",
                   r->registers[i].name);
    r->n_registers = n_registers;
}

void consumer_end(Consumer *r)
{
    for (int i = 0; i < r->c->ring->n_stages; i++)
        if (r->stage[i].is_held) REFUSE(&r->run, "stage %d is not released", i);
    consumer_forget(r, 0);
    if (r->tile != r->walk->n) REFUSE(&r->run, "a warp group ends before the walk");
    if (r->meetings != r->c->meetings * r->walk->n)
        REFUSE(&r->run, "a warp group meets the cluster %d times in %d tiles, the producer %d times in each",
               r->meetings, r->walk->n, r->c->meetings);
}

void consumer_event(Consumer *r, EventKind kind, int at)
{
    if (r->run.e) return;
    if (r->n_events[r->group] == CONSUMER_EVENTS) {
        REFUSE(&r->run, "more than %d events of a warp group", CONSUMER_EVENTS);
        return;
    }
    r->event[r->group][r->n_events[r->group]++] = (Event){kind, at};
}

void consumer_acquire(Consumer *r, Thing barrier, Thing parity)
{
    if (r->run.e) return;
    if (barrier.kind != THING_BARRIER || parity.kind != THING_NUMBER) {
        REFUSE(&r->run, "a warp group waits for what is no mbarrier of a full stage");
        return;
    }
    const int s = consumer_stage(r, r->at);
    if (barrier.number != s || parity.number != consumer_parity(r, r->at))
        REFUSE(&r->run, "chunk %d is waited for in stage %d with parity %d, it is in stage %d with parity %d",
               r->at, (int)barrier.number, (int)parity.number, s, consumer_parity(r, r->at));
    else if (r->stage[s].is_held)
        REFUSE(&r->run, "stage %d is waited for again, but was not released", s);
    if (r->run.e) return;
    r->stage[s] = (ConsumerStage){.newer = CONSUMER_DONE, .is_held = true};
    r->chunk[s] = r->acquired = r->at;
    consumer_event(r, EVENT_ACQUIRE, r->at);
}

void consumer_advance(Consumer *r)
{
    if (r->acquired != r->at)
        REFUSE(&r->run, "the ring's cursor leaves stage %d, which was not waited for",
               consumer_stage(r, r->at));
    r->at++;
}

void consumer_skip(Consumer *r, int64_t chunks)
{
    if (r->run.e) return;
    if (chunks < 0 || chunks > INT16_MAX) REFUSE(&r->run, "%d chunks are skipped", (int)chunks);
    r->at += (int)chunks;
}

static bool is_held(Consumer *r, int stage)
{
    if (r->run.e) return false;
    if (stage < 0 || stage >= r->c->ring->n_stages)
        REFUSE(&r->run, "stage %d of %d", stage, r->c->ring->n_stages);
    else if (!r->stage[stage].is_held)
        REFUSE(&r->run, "stage %d is read or released, but was not waited for", stage);
    return !r->run.e;
}

void consumer_read(Consumer *r, int stage)
{
    if (is_held(r, stage)) r->stage[stage].is_read = true;
}

void consumer_use(Consumer *r, int registers)
{
    Registers *x = &r->registers[registers];
    if (r->run.e) return;
    if (x->newer != CONSUMER_DONE)
        REFUSE(&r->run, "registers '%s' are used, but products under way use them", x->name);
    x->used = true, x->from = 0;
}

/* A product reads a stage. */
static void product_reads(Consumer *r, int stage)
{
    if (!is_held(r, stage)) return;
    r->stage[stage].is_read = true;
    r->stage[stage].newer = CONSUMER_OPEN;
}

static void product_uses(Consumer *r, Thing registers)
{
    Registers *x = &r->registers[registers.number];
    if (x->used)
        REFUSE(&r->run, "registers '%s' are used by a product with no fence in front of it", x->name);
    x->newer = CONSUMER_OPEN;
    for (int i = 0; i < r->c->ring->n_stages && x->from; i++)
        if (x->from >> i & 1) product_reads(r, i);
    x->from = 0;
}

void consumer_product(Consumer *r, Thing acc, Thing x, Thing y)
{
    const Thing operand[] = {x, y};
    if (r->run.e) return;
    if (acc.kind != THING_REGISTERS) {
        REFUSE(&r->run, "a product is added to what are no registers");
        return;
    }
    product_uses(r, acc);
    for (int i = 0; i < 2; i++) {
        if (operand[i].kind == THING_REGISTERS)
            product_uses(r, operand[i]);
        else if (operand[i].kind == THING_STAGE)
            product_reads(r, (int)operand[i].number);
        else
            REFUSE(&r->run, "an operand of a product is neither in a stage nor in registers");
    }
}

static void commit(int *newer)
{
    if (*newer != CONSUMER_DONE) ++*newer;
}

void consumer_commit(Consumer *r)
{
    for (int i = 0; i < r->c->ring->n_stages; i++) commit(&r->stage[i].newer);
    for (int i = 0; i < r->n_registers; i++) commit(&r->registers[i].newer);
}

static void remember(Consumer *r, const Stmt *at)
{
    for (int i = 0; i < r->n_waits; i++)
        if (r->wait[i] == at) return;
    if (r->n_waits == CONSUMER_WAITS)
        REFUSE(&r->run, "more than %d waits for products", CONSUMER_WAITS);
    else
        r->wait[r->n_waits++] = at;
}

static void arrive(int *newer, int pending)
{
    if (*newer != CONSUMER_OPEN && *newer >= pending) *newer = CONSUMER_DONE;
}

void consumer_await(Consumer *r, const Stmt *at, int newer)
{
    if (r->run.e) return;
    if (newer == CONSUMER_OPEN) REFUSE(&r->run, "a wait for products that are in no group yet");
    /* the tree is that of the Stmts, which consumer_derive may change */
    if (r->derives && newer != CONSUMER_DONE && (at->number == UNDERIVED || at->number > newer))
        ((Stmt *)at)->number = newer;
    if (newer != CONSUMER_DONE || !r->derives) remember(r, at);
    if (at->number == UNDERIVED) return;
    for (int i = 0; i < r->c->ring->n_stages; i++) arrive(&r->stage[i].newer, (int)at->number);
    for (int i = 0; i < r->n_registers; i++) arrive(&r->registers[i].newer, (int)at->number);
}

void consumer_release(Consumer *r, int stage)
{
    if (!is_held(r, stage)) return;
    ConsumerStage *s = &r->stage[stage];
    if (s->newer != CONSUMER_DONE)
        REFUSE(&r->run, "stage %d is released while products may still read it", stage);
    for (int i = 0; i < r->n_registers; i++)
        if (r->registers[i].from >> stage & 1)
            REFUSE(&r->run, "stage %d is released while threads may still load '%s' from it", stage,
                   r->registers[i].name);
    if (!s->is_read) REFUSE(&r->run, "stage %d is released unread", stage);
    s->is_held = false;
    consumer_event(r, EVENT_RELEASE, r->chunk[stage]);
}

void consumer_waits(Consumer *r, const Stmt *list)
{
    for (const Stmt *s = list; s && !r->run.e; s = s->next) {
        bool reached = false;
        for (int i = 0; i < r->n_waits; i++) reached = reached || r->wait[i] == s;
        if (s->kind == STMT_PRODUCT_AWAIT && (!reached || s->number == UNDERIVED))
            REFUSE(&r->run, "a wait for products that are complete in any case, or without a number");
        consumer_waits(r, s->body), consumer_waits(r, s->otherwise);
    }
}

/* ---- all warp groups ---- */

enum { CHUNKS_MAX = 8 * STAGES_MAX };

/* The warp groups of a work-group in the order of what they wait for. */
typedef struct {
    Consumer *r;
    int n_chunks, each;         /* releases of each chunk */
    int released[CHUNKS_MAX];   /* so far */
    int filled;                 /* chunks that the producer has copied */
    int next[CONSUMER_GROUPS];  /* event of a group */
    int knows[CONSUMER_GROUPS]; /* chunks before this one have been copied, as a group knows by itself or
                                        * by another one that gave it its turn */
    int turn[CONSUMER_GROUPS];  /* what a group knows that gave this one its turn; -1: none did */
} Together;

/* Every chunk is released equally often. */
static void count_releases(Together *t)
{
    int times[CHUNKS_MAX] = {0};
    for (int g = 0; g < t->r->c->n_groups; g++)
        for (int i = 0; i < t->r->n_events[g]; i++)
            if (t->r->event[g][i].kind == EVENT_RELEASE) times[t->r->event[g][i].at]++;
    t->each = times[0];
    for (int i = 0; i < t->n_chunks; i++)
        if (times[i] != t->each || !times[i])
            REFUSE(&t->r->run, "chunk %d is released by %d warp groups, chunk 0 by %d", i, times[i], t->each);
}

/* The producer fills stages as long as they are empty. */
static void fill(Together *t)
{
    const int n = t->r->c->ring->n_stages;
    while (t->filled < t->n_chunks && (t->filled < n || t->released[t->filled - n] == t->each)) t->filled++;
}

/* Whether a group's next event could happen now; it then has. */
static bool happens(Together *t, int g)
{
    Consumer *r = t->r;
    const Event *e = &r->event[g][t->next[g]];
    if (e->kind == EVENT_RELEASE) t->released[e->at]++;
    if (e->kind == EVENT_ACQUIRE) {
        if (e->at >= t->filled) return false;
        /* else the mbarrier's parity could be that of an earlier phase */
        if (e->at - r->c->ring->n_stages >= t->knows[g])
            REFUSE(&r->run,
                   "chunk %d is waited for by a warp group that does not know whether chunk %d has come",
                   e->at, e->at - r->c->ring->n_stages);
        if (e->at == t->knows[g]) t->knows[g]++;
    }
    if (e->kind == EVENT_TURN_GIVE) {
        if (e->at < 0 || e->at >= r->c->n_groups || t->turn[e->at] >= 0) {
            REFUSE(&r->run, "warp group %d gets its turn twice", e->at);
            return false;
        }
        t->turn[e->at] = t->knows[g];
    }
    if (e->kind == EVENT_TURN_WAIT) {
        if (e->at != g) REFUSE(&r->run, "warp group %d waits for the turn of %d", g, e->at);
        if (r->run.e || t->turn[g] < 0) return false;
        if (t->turn[g] > t->knows[g]) t->knows[g] = t->turn[g];
        t->turn[g] = -1;
    }
    t->next[g]++;
    return true;
}

void consumer_together(Consumer *r, int *releases)
{
    Together t = {.r = r, .n_chunks = all_chunks(r->walk)};
    bool moves = true;
    if (r->run.e) return;
    if (t.n_chunks > CHUNKS_MAX) REFUSE(&r->run, "a walk of %d chunks", t.n_chunks);
    for (int g = 0; g < r->c->n_groups; g++) t.turn[g] = -1;
    if (!r->run.e) count_releases(&t);
    while (moves && !r->run.e) {
        moves = false;
        fill(&t);
        for (int g = 0; g < r->c->n_groups; g++)
            while (!r->run.e && t.next[g] < r->n_events[g] && happens(&t, g)) fill(&t), moves = true;
    }
    for (int g = 0; g < r->c->n_groups; g++)
        if (t.next[g] < r->n_events[g]) REFUSE(&r->run, "warp group %d waits for ever", g);
    if (*releases && *releases != t.each && !r->run.e)
        REFUSE(&r->run, "a stage is released by %d warp groups, in another walk by %d", t.each, *releases);
    *releases = t.each;
}
