/* Traces producers, work-group by work-group. producer_check.c puts together what they copy. See
 * producer.h. */
#include "kernel/lower/producer_run.h"

#include <stdlib.h>

#include "base/log.h"

static Producer *producer(Trace *r) { return (Producer *)r; } /* its first member */
static const Thing nothing = {.kind = THING_NONE};

static int stage_now(const Producer *p) { return p->at % p->of->ring->n_stages; }
static int parity_now(const Producer *p) { return p->at / p->of->ring->n_stages & 1; }

/* ---- values ---- */

/* Fields of the cursor, and of the arguments. */
static bool field(Trace *r, Str of, Thing x, const char *name, Thing *is)
{
    enum { OF_ARGS = 3 };
    Producer *p = producer(r);
    if (str_eq_c(of, p->of->cursor)) {
        *is = thing_number(same_name(name, "phase") ? parity_now(p) : stage_now(p));
        return true;
    }
    if (x.kind != THING_NONE || !str_eq_c(of, p->of->args)) return false;
    *is = thing_number(OF_ARGS);
    return true;
}

static int64_t stage_argument(Trace *r, const Value *v)
{
    const Thing x = v->n ? trace_value(r, v->list[v->n - 1]) : nothing;
    if (x.kind != THING_NUMBER) REFUSE(r, "the stage of a call of %s is not known", v->name);
    return x.number;
}

/* A tile of the walk. Its chunks begin anywhere, and are not neighbours. */
static Thing take(Trace *r)
{
    Producer *p = producer(r);
    const ProducerWalkTile *t = &p->walk.tile[p->tile];
    const int part = p->rank / p->of->sharing;
    Thing is = nothing;
    if (p->tile >= p->walk.n) REFUSE(r, "a producer takes a tile behind the end of the walk");
    if (r->e || !trace_record(r, p->of->tile_type, &is)) return nothing;
    const struct {
        const char *name;
        int64_t is;
    } fields[] = {{"wg0", 5 + p->tile},
                  {"wg1", 3 + 2 * p->tile},
                  {"wg2", p->of->by_group ? 0 : p->tile},
                  {"part", part},
                  {"first", t->first + part},
                  {"step", t->step},
                  {"late", t->chunks / 2},
                  {"count", t->chunks},
                  {"slot", 0},
                  {"next_slot", 0},
                  {"parts", 1}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        trace_record_set(r, is, fields[i].name, thing_number(fields[i].is));
    return is;
}

static bool call(Trace *r, const Value *v, Thing *is)
{
    Producer *p = producer(r);
    const Producers *of = p->of;
    *is = nothing;
    if (is_named(v, of->full) || is_named(v, of->empty))
        *is = (Thing){THING_BARRIER, is_named(v, of->empty), stage_argument(r, v)};
    else if (is_named(v, of->tile[0].name) || is_named(v, of->tile[1].name))
        *is = (Thing){THING_STAGE, is_named(v, of->tile[1].name), stage_argument(r, v)};
    else if (is_named(v, of->rank))
        *is = thing_number(p->rank);
    else if (is_named(v, of->done))
        *is = thing_number(p->tile == p->walk.n);
    else if (is_named(v, of->tile_of))
        *is = take(r);
    else if (is_named(v, of->next))
        producer_next(p);
    else if (is_named(v, of->meet))
        p->meetings++;
    else
        return false;
    return true;
}

/* Numbers of arguments are not compared with 0 but by functions that are not in the tree: they are not 0. */
static Thing outside(Trace *r, const Value *v)
{
    for (int i = 0; i < v->n; i++) trace_value(r, v->list[i]);
    return thing_number(0);
}

/* ---- statements ---- */

static bool is_barrier(const Producer *p, Thing x, bool empty)
{
    return x.kind == THING_BARRIER && x.of == empty && x.number == stage_now(p);
}

static void wait_for_empty(Producer *p, const Stmt *s)
{
    const Thing barrier = trace_value(&p->trace, s->to), parity = trace_value(&p->trace, s->x);
    if (!is_barrier(p, barrier, true))
        REFUSE(&p->trace, "a producer waits for what is not the mbarrier of its empty stage");
    else if (!thing_is(parity, parity_now(p) ^ 1)) /* the phase before the first one counts as complete */
        REFUSE(&p->trace, "chunk %d waits for the wrong parity of its empty stage", p->at);
    p->waited = p->at;
}

static void expect(Producer *p, const Stmt *s)
{
    const char *full = p->of->full;
    if (p->waited != p->at)
        REFUSE(&p->trace, "'%s' is given its bytes before its stage is empty", full);
    else if (p->expected == p->at)
        REFUSE(&p->trace, "'%s' is given its bytes twice", full);
    else if (!is_barrier(p, trace_value(&p->trace, s->x), false))
        REFUSE(&p->trace, "'%s' is not given its bytes", full);
    else if (p->expect && p->expect != s)
        REFUSE(&p->trace, "'%s' is given its bytes in two places", full);
    p->expected = p->at, p->expect = s;
}

static void box(Producer *p, const Stmt *s)
{
    Trace *r = &p->trace;
    const Access *to = s->access;
    const Thing at = trace_value(r, to->base), mask = s->box->mask ? trace_value(r, s->box->mask) : nothing;
    int64_t offset = 0;
    if (r->e) return;
    if (p->waited != p->at) REFUSE(r, "a box is copied to a stage that may still be read");
    if (at.kind != THING_STAGE || at.number != stage_now(p))
        REFUSE(r, "a box is copied to none of the stage's tiles");
    if (!is_barrier(p, trace_value(r, s->x), false)) REFUSE(r, "a box is not counted by '%s'", p->of->full);
    if (to->offset && !trace_expr(r, to->offset, &offset)) REFUSE(r, "the place of a box is not known");
    if (s->box->mask && mask.kind != THING_NUMBER) REFUSE(r, "the work-groups of a box are not known");
    if (r->e) return;
    const ProducerTile *t = &p->of->tile[at.of];
    if (!is_named(s->box->map, t->map)) REFUSE(r, "a box of '%s' is not copied from '%s'", t->name, t->map);
    if (offset < 0 || offset + to->bytes > t->bytes)
        REFUSE(r, "a box ends at byte %d of '%s', which has %d", (int)offset + to->bytes, t->name,
               (int)t->bytes);
    const uint32_t own = UINT32_C(1) << p->rank;
    ProducerBox b = {.chunk = p->at,
                     .rank = p->rank,
                     .tile = at.of,
                     .offset = (int)offset,
                     .bytes = to->bytes,
                     .to = s->box->mask ? (uint32_t)mask.number : own,
                     .k = -1,
                     .free = -1};
    const Thing along = trace_value(r, s->box->at[0]);
    const Thing across = t->across < 0 ? nothing : trace_value(r, s->box->at[t->across]);
    producer_box(p, &b, along, across);
}

static bool statement(Trace *r, const Stmt *s)
{
    Producer *p = producer(r);
    switch (s->kind) {
    case STMT_PHASE:
        wait_for_empty(p, s);
        return true;
    case STMT_EXPECT:
        expect(p, s);
        return true;
    case STMT_BOX:
        box(p, s);
        return true;
    case STMT_ADVANCE:
        if (p->expected != p->at) REFUSE(r, "'%s' is not given its bytes", p->of->full);
        p->at++;
        return true;
    default:
        return false;
    }
}

static bool statement_steers(StmtKind kind)
{
    return kind == STMT_PHASE || kind == STMT_EXPECT || kind == STMT_BOX || kind == STMT_ADVANCE;
}

static bool call_steers(const Trace *r, const char *name)
{
    const Producers *of = ((const Producer *)r)->of;
    return same_name(name, of->next) || same_name(name, of->meet);
}

static bool array(Trace *r, const Stmt *s, Thing *is) { return (void)r, (void)s, (void)is, true; }
static void use(Trace *r, Thing x) { (void)r, (void)x; }
static void forget(Trace *r) { (void)r; }

/* ---- all work-groups ---- */

static const ProducerWalk *walk_of(const Producers *of, int i, ProducerWalk *w)
{
    const int n = of->ring->n_stages;
    const ProducerWalk walks[] = {{1, {{1, 0, 1}}}, {3, {{2, 4, 1}, {n + 1, 1, 3}, {1, 2, 1}}}};
    if (i >= (int)(sizeof walks / sizeof *walks)) return NULL;
    *w = walks[i];
    return w;
}

/* Runs a thread of a work-group. */
static void run_thread(Producer *p, const Stmt *f, int rank, int thread)
{
    trace_restart(&p->trace);
    p->rank = rank, p->tile = p->at = p->meetings = 0;
    producer_begin(p);
    p->waited = p->expected = -1;
    trace_know(&p->trace, p->of->thread, thing_number(thread));
    trace_body(&p->trace, f);
    if (p->tile != p->walk.n) REFUSE(&p->trace, "a producer ends before the walk");
}

static void run_walk(Producer *p, const Stmt *f)
{
    p->boxes.n = 0;
    for (int rank = 0; rank < p->of->cluster && !p->trace.e; rank++) {
        p->copies = true;
        run_thread(p, f, rank, 0);
        const int meetings = p->meetings;
        if (p->of->by_all && !p->trace.e) {
            p->copies = false;
            run_thread(p, f, rank, 1);
        }
        if (meetings != p->meetings)
            REFUSE(&p->trace, "threads of a producer meet %d and %d times", meetings, p->meetings);
        if (meetings % p->walk.n) REFUSE(&p->trace, "%d meetings for %d tiles", meetings, p->walk.n);
        p->out->meetings = meetings / p->walk.n;
    }
    producer_check(p);
}

static Err checked(const Stmts *s, const Producers *of, bool derives, Produced *out)
{
    static const TraceRules rules = {.what = "a producer",
                                     .call = call,
                                     .field = field,
                                     .outside = outside,
                                     .statement = statement,
                                     .array = array,
                                     .use = use,
                                     .forget = forget,
                                     .steers = statement_steers,
                                     .call_steers = call_steers};
    Producer *p = calloc(1, sizeof *p);
    if (!p) FAIL(ERR_FAILED, "out of memory for the stages of a kernel");
    *out = (Produced){0};
    p->of = of, p->out = out;
    p->trace.e = trace_init(&p->trace, &rules, s);
    if (of->ring->n_stages < 1 || of->ring->n_stages > STAGES_MAX || of->cluster > CLUSTER_MAX)
        REFUSE(&p->trace, "%d stages and %d work-groups", of->ring->n_stages, of->cluster);
    const Stmt *f = trace_function(&p->trace, of->function);
    if (!f) REFUSE(&p->trace, "there is no function %s", of->function);
    for (int w = 0; !p->trace.e && walk_of(of, w, &p->walk); w++) run_walk(p, f);
    if (!p->trace.e && derives)
        ((Stmt *)p->expect)->number = out->bytes; /* a node of *s, which may be changed */
    if (!p->trace.e && p->expect->number != out->bytes)
        REFUSE(&p->trace, "'%s' expects %d bytes and gets %d", of->full, (int)p->expect->number,
               (int)out->bytes);
    const Err e = p->trace.e;
    VEC_FINI(&p->boxes);
    free(p);
    return e;
}

Err producer_derive(Stmts *s, const Producers *of, Produced *out) { return checked(s, of, true, out); }
Err producer_verify(const Stmts *s, const Producers *of, Produced *out) { return checked(s, of, false, out); }
