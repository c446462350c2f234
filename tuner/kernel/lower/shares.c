/* See shares.h. A part is traced up to its next access to the counter or a mark, again and again: what it has
 * read so far stands in its history. */
#include "kernel/lower/shares.h"

#include <stdlib.h>

#include "base/map.h"
#include "kernel/lower/trace.h"

enum { HISTORY = 40, ANYS = 24, ANY_PART = -1 };

typedef enum {
    ACCESS_NONE,
    ACCESS_COUNT,
    ACCESS_WAIT,
    ACCESS_CHANGE,
    ACCESS_LOOK,
    ACCESS_LEAVE,
    ACCESS_RESET
} AccessKind;
typedef struct {
    AccessKind kind;
    int64_t at, from, to; /* the mark; what is waited for, or changed */
} Atomic;

/* One part: what its accesses have given, and what it has done. */
typedef struct {
    int16_t result[HISTORY];
    uint8_t counted_then[HISTORY]; /* parts that had counted in then, a bit each */
    int n;
    bool ended;
    Atomic next;
} Part;

/* The counter and marks in the workspace. */
typedef struct {
    uint8_t counted; /* parts that have counted in */
    uint8_t mark[SHARES_PARTS];
    uint8_t gone, left; /* parts that are through with the counter; shares that are left: a bit each */
    bool reset;
} Flags;

/* Things: STAGE and BARRIER are sums and mark of part `number`, REGISTERS the counter, a TILE what the
 * workspace has of the tile. */
typedef struct {
    Trace trace; /* the first member */
    const Shares *of;
    int n;
    bool all;
    Part part[SHARES_PARTS];
    Flags flags;
    Map seen; /* states */
    /* of the part that runs, as one of its threads sees it */
    int k, thread, at; /* accesses that have been made again */
    bool blocked;
    bool begun;                        /* it has made the counter valid */
    bool written, fenced, published;   /* its sums: by this thread; for others; by all threads */
    uint8_t observed, known, readable; /* parts that have counted in: as the first thread, as all have seen */
    uint8_t acquired;                  /* those whose sums the first thread has acquired: all may read them
                                        * behind the next meeting, with counters that reset themselves */
    uint8_t stored, taken;
    bool zeroed;
    int meetings, anys, n_any;
    bool any[ANYS];
} Adding;

static Adding *adding(Trace *r) { return (Adding *)r; }
static const Thing nothing = {.kind = THING_NONE};

/* ---- accesses ---- */

/* The result of an access, or the end of this run: it has not been made yet. */
static Thing made(Adding *a, Atomic x)
{
    Part *p = &a->part[a->k];
    if (a->thread) {
        if (x.kind != ACCESS_LOOK) REFUSE(&a->trace, "another thread than the first one counts parts");
        return thing_number(0); /* the first one looks at all marks */
    }
    if (a->at == p->n) {
        p->next = x;
        a->blocked = true;
        if (!a->trace.e) a->trace.e = ERR_FAILED;
        return nothing;
    }
    a->observed |= p->counted_then[a->at];
    if (x.kind == ACCESS_WAIT && p->result[a->at]) a->acquired |= p->counted_then[a->at];
    return thing_number(p->result[a->at++]);
}

/* Counters that reset themselves are one word: parts that are counted, that are gone, and shares left. */
enum { WORD_GONE = 4, WORD_LEFT = 8, WORD_COUNT = 15 };
static int word_of(const Adding *a)
{
    int counted = 0, gone = 0;
    for (int i = 0; i < a->n; i++) counted += a->flags.counted >> i & 1, gone += a->flags.gone >> i & 1;
    return a->of->leave ? counted | gone << WORD_GONE | a->flags.left << WORD_LEFT : counted;
}

static void leave(Adding *a, int k, int64_t shares)
{
    if (a->flags.gone >> k & 1 || !(a->flags.counted >> k & 1) || shares & ~(int64_t)(1u << k))
        REFUSE(&a->trace, "a part leaves twice, before it is counted, or a share that is not its own");
    a->flags.gone |= (uint8_t)(1u << k), a->flags.left |= (uint8_t)(shares & 15);
}

static void reset(Adding *a)
{
    if (a->flags.gone != (1u << a->n) - 1)
        REFUSE(&a->trace, "the counter is reset while a part may still use it");
    a->flags.reset = true;
}

/* Makes the part's next access. */
static void make(Adding *a, int k)
{
    Part *p = &a->part[k];
    const Atomic x = p->next;
    const int word = word_of(a), counted = word & WORD_COUNT;
    int result = 0;
    if (a->flags.reset) REFUSE(&a->trace, "the counter is used after it was reset");
    switch (x.kind) {
    case ACCESS_COUNT:
        if (a->flags.counted >> k & 1) REFUSE(&a->trace, "a part counts in twice");
        result = word;
        a->flags.counted |= (uint8_t)(1u << k);
        break;
    case ACCESS_LEAVE:
        result = word;
        leave(a, k, x.from);
        break;
    case ACCESS_RESET:
        reset(a);
        break;
    case ACCESS_WAIT:
        result = counted == x.to;
        break;
    case ACCESS_CHANGE:
        result = a->flags.mark[x.at] == x.from;
        if (result) a->flags.mark[x.at] = (uint8_t)x.to;
        break;
    default:
        for (int i = 0; i < a->n; i++)
            if (a->flags.mark[i] > result) result = a->flags.mark[i];
    }
    if (p->n == HISTORY) {
        REFUSE(&a->trace, "parts of a tile wait for one another for ever");
        return;
    }
    p->counted_then[p->n] = a->flags.counted;
    p->result[p->n++] = (int16_t)result;
}

/* ---- what a thread does ---- */

static void meet(Adding *a)
{
    a->meetings++;
    a->published = a->fenced;
    a->known = a->observed;
    if (a->of->leave) a->readable = a->acquired;
}

static void put(Adding *a, Thing to)
{
    if (to.kind != THING_STAGE || to.number != a->k)
        REFUSE(&a->trace, "sums are written to the place of another part");
    a->written = true, a->fenced = a->published = false;
}

static void get(Adding *a, Thing from)
{
    const unsigned need = from.number == ANY_PART ? (1u << a->n) - 1 : 1u << from.number,
                   own = a->written ? 1u << a->k : 0;
    if (from.kind != THING_STAGE) REFUSE(&a->trace, "what is read is no part's sums");
    if (need & ~(a->readable | own)) REFUSE(&a->trace, "sums are read that may not be written yet");
}

static void store(Adding *a, Thing share)
{
    if (share.kind != THING_NUMBER || share.number < 0 || share.number >= a->n ||
        a->stored >> share.number & 1)
        REFUSE(&a->trace, "a share is stored that is none, or twice");
    else
        a->stored |= (uint8_t)(1u << share.number);
}

static void take(Adding *a, Thing from)
{
    if (from.kind != THING_STAGE || from.number < 0 || a->taken >> from.number & 1)
        REFUSE(&a->trace, "the sums of a part are added twice");
    else
        a->taken |= (uint8_t)(1u << from.number);
}

/* The first thread's answers are those of the others, too. */
static Thing any(Adding *a, Thing x)
{
    meet(a);
    if (x.kind != THING_NUMBER || a->anys == ANYS) {
        REFUSE(&a->trace, "what threads of a warp group ask one another is not known");
        return nothing;
    }
    const int i = a->anys++;
    if (!a->thread) {
        a->any[i] = x.number;
        a->n_any = a->anys;
    }
    if (a->thread && i >= a->n_any)
        REFUSE(&a->trace, "threads of a warp group ask one another unequally often");
    return thing_number(a->thread ? a->any[i] : x.number != 0);
}

/* ---- for trace.h ---- */

static bool field(Trace *r, Str of, Thing x, const char *name, Thing *is)
{
    const Adding *a = adding(r);
    (void)of;
    if (x.kind != THING_TILE) return false;
    *is = same_name(name, a->of->count) ? thing_number(a->n) : nothing;
    if (same_name(name, a->of->counter)) *is = (Thing){.kind = THING_REGISTERS};
    return true;
}

static Thing argument(Trace *r, const Value *v, int i)
{
    return i < v->n ? trace_value(r, v->list[i]) : nothing;
}

/* The address of a part's sums or mark. */
static Thing of_part(Trace *r, const Value *v, ThingKind kind)
{
    const Thing i = argument(r, v, 1);
    if (i.kind == THING_NUMBER && (i.number < 0 || i.number >= adding(r)->n))
        REFUSE(r, "there is no such part");
    return (Thing){.kind = kind, .number = i.kind == THING_NUMBER ? i.number : ANY_PART};
}

static Thing access(Trace *r, const Value *v, AccessKind kind)
{
    Atomic x = {.kind = kind};
    const Thing of = argument(r, v, 0), from = argument(r, v, 1),
                to = argument(r, v, kind == ACCESS_WAIT ? 1 : 2);
    if (kind == ACCESS_COUNT && !adding(r)->published)
        REFUSE(r, "a part counts in before all threads have written its sums");
    if (kind == ACCESS_COUNT && adding(r)->of->begin && !adding(r)->begun)
        REFUSE(r, "a part counts in before it has made the counter valid");
    x.at = of.number, x.from = from.number, x.to = to.number;
    const bool marks = kind == ACCESS_CHANGE || kind == ACCESS_LOOK;
    if (of.kind != (marks ? THING_BARRIER : THING_REGISTERS) || x.at < 0)
        REFUSE(r, "what is counted or marked is no flag of the tile");
    if (kind == ACCESS_LEAVE && from.kind != THING_NUMBER)
        REFUSE(r, "the shares that a part leaves are not known");
    return r->e ? nothing : made(adding(r), x);
}

/* What an earlier value of a counter that resets itself says. */
static Thing of_word(Trace *r, const Value *v)
{
    const Adding *a = adding(r);
    const Thing word = argument(r, v, 0), n = argument(r, v, 1);
    if (word.kind != THING_NUMBER || !thing_is(n, a->n)) REFUSE(r, "a value of the counter is not known");
    const int64_t counted = word.number & WORD_COUNT, gone = word.number >> WORD_GONE & WORD_COUNT;
    if (is_named(v, a->of->is_all)) return thing_number(counted == a->n);
    if (is_named(v, a->of->is_gone)) return thing_number(gone == a->n - 1);
    return thing_number(counted == a->n - 1 ? word.number >> WORD_LEFT : 0);
}

/* Calls that kernels with counters that reset themselves have besides. */
static bool call_of_word(Trace *r, const Value *v, Thing *is)
{
    Adding *a = adding(r);
    const Shares *of = a->of;
    if (!of->leave) return false;
    if (is_named(v, of->now))
        *is = thing_number(0);
    else if (is_named(v, of->begin))
        a->begun = argument(r, v, 0).kind == THING_REGISTERS;
    else if (is_named(v, of->leave))
        *is = access(r, v, ACCESS_LEAVE);
    else if (is_named(v, of->reset))
        *is = access(r, v, ACCESS_RESET);
    else if (is_named(v, of->is_all) || is_named(v, of->is_gone) || is_named(v, of->left))
        *is = of_word(r, v);
    else
        return false;
    return true;
}

static bool call(Trace *r, const Value *v, Thing *is)
{
    Adding *a = adding(r);
    const Shares *of = a->of;
    *is = nothing;
    if (is_named(v, of->store)) return store(a, argument(r, v, 1)), false; /* and follow it */
    if (is_named(v, of->take)) return take(a, argument(r, v, 1)), false;
    if (is_named(v, of->tile))
        *is = (Thing){.kind = THING_TILE};
    else if (is_named(v, of->sums))
        *is = of_part(r, v, THING_STAGE);
    else if (is_named(v, of->mark))
        *is = of_part(r, v, THING_BARRIER);
    else if (is_named(v, of->put))
        put(a, argument(r, v, 0));
    else if (is_named(v, of->get))
        get(a, argument(r, v, 0));
    else if (is_named(v, of->fence))
        a->fenced = a->written, a->readable = a->known, a->acquired = a->observed;
    else if (is_named(v, of->meet))
        meet(a);
    else if (is_named(v, of->any))
        *is = any(a, argument(r, v, v->n - 1));
    else if (is_named(v, of->count_in))
        *is = access(r, v, ACCESS_COUNT);
    else if (is_named(v, of->wait[0]) || is_named(v, of->wait[1]))
        *is = access(r, v, ACCESS_WAIT);
    else if (is_named(v, of->change))
        *is = access(r, v, ACCESS_CHANGE);
    else if (is_named(v, of->look))
        *is = access(r, v, ACCESS_LOOK);
    else
        return call_of_word(r, v, is);
    return true;
}

/* Registers that are set to 0. */
static bool statement(Trace *r, const Stmt *s)
{
    const Value *to = s->kind == STMT_SET ? s->to : NULL;
    while (to && to->kind == VALUE_AT) to = to->x;
    if (to == s->to || !is_named(to, adding(r)->of->acc)) return false;
    if (adding(r)->taken) REFUSE(r, "sums are thrown away");
    return adding(r)->zeroed = true;
}

static bool steers(StmtKind kind) { return (void)kind, false; }

static bool call_steers(const Trace *r, const char *name)
{
    const Shares *of = ((const Adding *)r)->of;
    const char *const steering[] = {of->store,    of->take,    of->fence,   of->meet,   of->any,
                                    of->count_in, of->wait[0], of->wait[1], of->change, of->look,
                                    of->begin,    of->leave,   of->reset};
    for (size_t i = 0; i < sizeof steering / sizeof *steering; i++)
        if (same_name(name, steering[i])) return true;
    return false;
}

/* ---- the parts ---- */

/* Traces a thread of part k as far as it comes. Returns what its function returns. */
static Thing run_thread(Adding *a, const Stmt *f, int k, int thread)
{
    trace_restart(&a->trace);
    a->k = k, a->thread = thread, a->at = a->meetings = a->anys = 0;
    a->blocked = a->begun = a->written = a->fenced = a->published = a->zeroed = false;
    a->observed = a->known = a->readable = a->acquired = a->stored = a->taken = 0;
    if (thread) /* as the first one's, which were checked */
        a->observed = a->known = a->acquired = (uint8_t)((1u << a->n) - 1);
    trace_know(&a->trace, a->of->thread, thing_number(thread));
    trace_know(&a->trace, a->of->part, thing_number(k));
    a->trace.result = nothing;
    trace_body(&a->trace, f);
    if (a->blocked && a->trace.e) a->trace.e = ERR_OK;
    return a->trace.result;
}

/* Runs part k up to its next access. */
static void advance(Adding *a, const Stmt *f, int k)
{
    (void)run_thread(a, f, k, 0);
    a->part[k].ended = !a->blocked;
}

/* All parts have ended: together they have stored each share, or one of them the tile. */
static void judge(Adding *a, const Stmt *f)
{
    const uint8_t everything = (uint8_t)((1u << a->n) - 1);
    uint8_t stored = 0;
    int whole = 0;
    for (int k = 0; k < a->n && !a->trace.e; k++) {
        const Thing last = run_thread(a, f, k, 0);
        const uint8_t own = (uint8_t)(a->zeroed ? 0 : 1u << k), by_first = a->stored;
        const int meetings = a->meetings;
        if (stored & a->stored) REFUSE(&a->trace, "two parts store one share");
        stored |= a->stored;
        if (!a->of->store && !thing_is(last, 0) && (a->taken ^ own) != everything)
            REFUSE(&a->trace, "the part that stores the tile has not added the sums of all parts once");
        whole += !a->of->store && !thing_is(last, 0);
        const Thing other = run_thread(a, f, k, 1);
        if (a->meetings != meetings || a->stored != by_first ||
            (!a->of->store && other.number != last.number))
            REFUSE(&a->trace, "threads of a warp group do not do the same");
    }
    if (a->of->reset && !a->flags.reset) REFUSE(&a->trace, "the counter is not reset");
    if (a->of->store && stored != everything) REFUSE(&a->trace, "a share is not stored");
    if (!a->of->store && whole != 1) REFUSE(&a->trace, "%d parts store the tile", whole);
}

/* Whether these histories are new. */
static bool is_new(Adding *a)
{
    char key[SHARES_PARTS * (3 * HISTORY + 1)];
    size_t n = 0;
    bool added = false;
    for (int k = 0; k < a->n; k++) {
        key[n++] = (char)a->part[k].n;
        for (int i = 0; i < a->part[k].n; i++) {
            key[n++] = (char)(a->part[k].result[i] & 255);
            key[n++] = (char)(a->part[k].result[i] >> 8);
            key[n++] = (char)a->part[k].counted_then[i];
        }
    }
    if (!map_put(&a->seen, (Str){key, n}, &added)) REFUSE(&a->trace, "out of memory for the orders of parts");
    return added;
}

/* Goes on from here in each order, or with the first part that has not ended. */
static void explore(Adding *a, const Stmt *f)
{
    bool ended = true;
    if (a->trace.e || !is_new(a)) return;
    for (int k = 0; k < a->n && !a->trace.e; k++) {
        if (a->part[k].ended) continue;
        ended = false;
        const Part was = a->part[k];
        const Flags flags = a->flags;
        make(a, k);
        if (!a->trace.e) advance(a, f, k);
        explore(a, f);
        a->part[k] = was, a->flags = flags;
        if (!a->all) break;
    }
    if (ended) judge(a, f);
}

Err shares_verify(const Stmts *s, const Shares *of, int n, bool all)
{
    static const TraceRules rules = {.what = "parts of a tile",
                                     .call = call,
                                     .field = field,
                                     .statement = statement,
                                     .steers = steers,
                                     .call_steers = call_steers};
    const Stmt *f;
    Adding *a = trace_new(sizeof *a, &rules, s, of->function, &f);
    if (!a) return trace_free(a);
    a->of = of, a->n = n, a->all = all;
    if (n < 2 || n > SHARES_PARTS)
        REFUSE(&a->trace, "%d parts of a tile, 2 to %d are followed", n, SHARES_PARTS);
    map_init(&a->seen);
    for (int k = 0; k < n && !a->trace.e; k++) advance(a, f, k);
    explore(a, f);
    map_fini(&a->seen);
    return trace_free(a);
}
