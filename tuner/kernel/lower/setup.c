/* See setup.h. */
#include "kernel/lower/setup.h"

#include "kernel/lower/trace.h"

enum { ALL_BARRIERS = 4 * STAGES_MAX };

/* Things: a BARRIER is number `number` of those of kind `of`. */
typedef struct {
    Trace trace; /* the first member */
    const Setup *of;
    int inits[SETUP_BARRIERS][ALL_BARRIERS];
    bool fenced[2], is_seen;   /* since mbarriers were set up; all threads see them */
    int meetings, calls, role; /* calls of the roles' functions; which one */
    bool meets_behind, waited; /* behind the role's function; for launches */
} Begin;

static const Thing nothing = {.kind = THING_NONE};

/* The mbarrier that a call returns. False: it is none. */
static bool barrier_of(Begin *b, const Value *v, Thing *is)
{
    for (int k = 0; k < SETUP_BARRIERS; k++) {
        const SetupBarriers *x = &b->of->barriers[k];
        if (!is_named(v, x->barrier)) continue;
        const Thing group = x->groups ? trace_value(&b->trace, v->list[0]) : thing_number(0);
        const Thing i = trace_value(&b->trace, v->list[v->n - 1]);
        const int groups = x->groups ? x->groups : 1;
        if (group.kind != THING_NUMBER || i.kind != THING_NUMBER || group.number < 0 ||
            group.number >= groups || i.number < 0 || i.number >= x->n || groups * x->n > ALL_BARRIERS)
            REFUSE(&b->trace, "there is no such mbarrier of %s", x->barrier);
        *is = (Thing){THING_BARRIER, k, b->trace.e ? 0 : group.number * x->n + i.number};
        return true;
    }
    return false;
}

static void init(Begin *b, const Value *v)
{
    const Thing x = trace_value(&b->trace, v->list[0]), n = trace_value(&b->trace, v->list[1]);
    if (b->trace.e) return;
    if (x.kind != THING_BARRIER) {
        REFUSE(&b->trace, "something is set up that is no mbarrier");
        return;
    }
    const int arrivals = b->of->barriers[x.of].arrivals;
    b->inits[x.of][x.number]++;
    b->fenced[0] = b->fenced[1] = false;
    if (!thing_is(n, arrivals))
        REFUSE(&b->trace, "an mbarrier of %s is set up for other than its %d arrivals",
               b->of->barriers[x.of].barrier, arrivals);
}

static void begin_role(Begin *b, int role)
{
    b->calls++;
    if (role != b->role) REFUSE(&b->trace, "a thread calls the function of another role");
    if (!b->is_seen) REFUSE(&b->trace, "a role begins before all threads see its mbarriers");
    if (!b->waited) REFUSE(&b->trace, "a role begins before the launches in front have ended");
    b->meets_behind = false;
}

static bool call(Trace *r, const Value *v, Thing *is)
{
    Begin *b = (Begin *)r; /* its first member */
    *is = nothing;
    if (barrier_of(b, v, is)) return true;
    for (int i = 0; i < SETUP_ROLES; i++)
        if (is_named(v, b->of->role[i])) return begin_role(b, i), true;
    for (int i = 0; i < 2; i++)
        if (is_named(v, b->of->fence[i])) return b->fenced[i] = true;
    if (is_named(v, b->of->init)) return init(b, v), true;
    if (is_named(v, b->of->launches)) return b->waited = true;
    if (is_named(v, b->of->group)) return *is = thing_number(b->role), true;
    if (!is_named(v, b->of->meet)) return false;
    b->meetings++;
    b->is_seen = b->fenced[0] && b->fenced[1];
    return b->meets_behind = true;
}

static bool statement(Trace *r, const Stmt *s) { return (void)r, (void)s, false; }
static bool steers(StmtKind kind) { return (void)kind, false; }

static bool call_steers(const Trace *r, const char *name)
{
    const Setup *of = ((const Begin *)r)->of;
    return same_name(name, of->init) || same_name(name, of->meet) || same_name(name, of->role[0]) ||
           same_name(name, of->role[1]);
}

/* The first thread of a role or the second one. Returns how often it meets the others. */
static int run_thread(Begin *b, const Stmt *f, int role, int thread)
{
    const bool sets_up = !role && !thread,
               may_rest = !role && thread; /* one thread may do the first role's work */
    trace_restart(&b->trace);
    b->meetings = b->calls = 0, b->role = role;
    b->is_seen = b->meets_behind = false;
    b->fenced[0] = b->fenced[1] = !sets_up;
    b->waited = !b->of->launches;
    trace_know(&b->trace, b->of->thread, thing_number((int64_t)role * b->of->group_threads + thread));
    trace_body(&b->trace, f);
    if (b->calls > 1 || (b->calls < 1 && !may_rest))
        REFUSE(&b->trace, "a role's function is called %d times", b->calls);
    if (b->of->meets_at_end && !b->meets_behind)
        REFUSE(&b->trace, "a work-group ends while others may arrive at its mbarriers");
    return b->meetings;
}

/* Was each mbarrier of a kind set up once? */
static void every_barrier(Begin *b, int kind)
{
    const SetupBarriers *x = &b->of->barriers[kind];
    for (int i = 0; i < (x->groups ? x->groups : 1) * x->n && !b->trace.e; i++)
        if (b->inits[kind][i] != 1)
            REFUSE(&b->trace, "mbarrier %d of %s is set up %d times", i, x->barrier, b->inits[kind][i]);
}

Err setup_verify(const Stmts *s, const Setup *of)
{
    static const TraceRules rules = {.what = "a kernel",
                                     .call = call,
                                     .statement = statement,
                                     .steers = steers,
                                     .call_steers = call_steers};
    const Stmt *f;
    Begin *b = trace_new(sizeof *b, &rules, s, of->function, &f);
    if (!b) return trace_free(b);
    b->of = of;
    int meetings = 0;
    for (int i = 0; i < 2 * SETUP_ROLES && !b->trace.e; i++) {
        const int n = run_thread(b, f, i / 2, i % 2);
        if (i && n != meetings)
            REFUSE(&b->trace, "threads of a work-group meet %d and %d times", meetings, n);
        meetings = n;
    }
    for (int k = 0; k < SETUP_BARRIERS && !b->trace.e; k++) every_barrier(b, k);
    return trace_free(b);
}
