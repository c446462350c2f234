/* See slices.h. */
#include "kernel/lower/slices.h"

#include "kernel/lower/trace.h"

enum {
    BUFFERS_MAX = 4,
    TILES = 3,
    GROUP = 1, /* the warp group that is traced */
    OPEN = -1, /* of `newer`: its group is not committed; its stores have read it */
    READ = 1 << 20,
    MEETINGS_MAX = 4096
};

typedef struct {
    int newer;    /* groups of stores committed behind the newest one that reads it; OPEN, READ */
    bool is_free; /* all threads know that stores have read it */
    bool is_written, is_fenced;       /* by every thread; the engine may see it */
    bool is_whole, is_seen;           /* all threads have written it; and have fenced */
    int64_t expected, loaded, stored; /* bytes of C, and of the slice */
    bool is_there;                    /* C has arrived */
    int phases;                       /* of the mbarrier that have completed */
} Buffer;

/* Things: a STAGE is an address in a buffer, a BARRIER its mbarrier. */
typedef struct {
    Trace trace; /* the first member */
    const Slices *of;
    bool derives;
    int thread, meetings;
    Buffer buffer[BUFFERS_MAX];
} Storing;

static Storing *storing(Trace *r) { return (Storing *)r; }

/* ---- what happens to a buffer ---- */

static Buffer *buffer_of(Storing *t, Thing x, ThingKind kind)
{
    if (t->trace.e) return NULL;
    if (x.kind == kind && x.number >= 0 && x.number < t->of->n_buffers) return &t->buffer[x.number];
    REFUSE(&t->trace, "what is stored, loaded or waited for is no buffer");
    return NULL;
}

static void load(Storing *t, const Stmt *s)
{
    Buffer *b = buffer_of(t, trace_value(&t->trace, s->access->base), THING_STAGE);
    const Thing barrier = trace_value(&t->trace, s->x);
    if (!b) return;
    if (barrier.kind != THING_BARRIER || &t->buffer[barrier.number] != b)
        REFUSE(&t->trace, "a slice of C is counted by another mbarrier");
    if (b->newer != READ) REFUSE(&t->trace, "C is loaded into a buffer that stores may still read");
    if (b->is_written) REFUSE(&t->trace, "C is loaded over a slice that was not stored");
    b->loaded += s->access->bytes;
}

static void expect(Storing *t, const Stmt *s)
{
    Buffer *b = buffer_of(t, trace_value(&t->trace, s->x), THING_BARRIER);
    if (!b) return;
    if (b->expected) REFUSE(&t->trace, "an mbarrier of C is given its bytes twice");
    if (t->derives)
        ((Stmt *)s)->number = t->of->bytes; /* a node of the Stmts, which slices_derive may change */
    b->expected = s->number;
}

static void wait_for_c(Storing *t, const Stmt *s)
{
    Buffer *b = buffer_of(t, trace_value(&t->trace, s->to), THING_BARRIER);
    const Thing parity = trace_value(&t->trace, s->x);
    if (!b) return;
    if (!thing_is(parity, b->phases & 1)) REFUSE(&t->trace, "C is waited for by the wrong parity");
    if (!t->thread && (b->loaded != t->of->bytes || b->expected != b->loaded))
        REFUSE(&t->trace, "C's mbarrier expects %d bytes and gets %d of %d", (int)b->expected, (int)b->loaded,
               t->of->bytes);
    b->phases++;
    b->expected = b->loaded = 0;
    b->is_there = b->is_free = true; /* thread 0 has loaded C behind its wait for stores */
}

static void await_stores(Storing *t, const Stmt *s)
{
    Buffer *b = buffer_of(t, trace_value(&t->trace, s->to), THING_STAGE);
    if (!b) return;
    if (b->newer == OPEN) REFUSE(&t->trace, "a wait for stores that are in no group yet");
    if (t->derives && (s->number == UNDERIVED || s->number > b->newer)) {
        const int most = t->of->n_buffers - 1;
        ((Stmt *)s)->number = b->newer < most ? b->newer : most;
    }
    for (int i = 0; i < t->of->n_buffers; i++)
        if (t->buffer[i].newer != OPEN && t->buffer[i].newer >= s->number) t->buffer[i].newer = READ;
}

static void write(Storing *t, Thing x)
{
    Buffer *b = buffer_of(t, x, THING_STAGE);
    if (!b) return;
    if (b->is_written) REFUSE(&t->trace, "a slice is written over one that was not stored");
    if (!b->is_free) REFUSE(&t->trace, "a buffer is written that stores may still read");
    if (t->of->reads && !b->is_there) REFUSE(&t->trace, "a buffer is written before C is there");
    *b = (Buffer){.newer = READ, .is_written = true, .phases = b->phases};
}

static void meet(Storing *t)
{
    t->meetings++;
    if (t->thread) return;
    for (int i = 0; i < t->of->n_buffers; i++) {
        Buffer *b = &t->buffer[i];
        b->is_whole = b->is_written;
        b->is_seen = b->is_written && b->is_fenced;
        if (b->newer == READ && !b->is_written) b->is_free = true;
    }
}

static void store(Storing *t, Thing x)
{
    Buffer *b = buffer_of(t, x, THING_STAGE);
    if (!b) return;
    if (!b->is_seen) REFUSE(&t->trace, "a slice is stored that the copy engine may not see yet");
    b->newer = OPEN, b->is_free = b->is_there = false;
}

/* All threads read a slice; until they meet, others may still do so. */
static void read_back(Storing *t, Thing x)
{
    Buffer *b = buffer_of(t, x, THING_STAGE);
    if (!b) return;
    if (!b->is_whole) REFUSE(&t->trace, "a slice is read that other threads may not have written yet");
    b->is_written = b->is_free = false;
}

/* A slice has been stored by the groups up to this one. */
static void commit(Storing *t)
{
    for (int i = 0; i < t->of->n_buffers; i++) {
        Buffer *b = &t->buffer[i];
        if (b->newer == OPEN) b->is_written = b->is_fenced = b->is_seen = false;
        if (b->newer != READ) b->newer++;
    }
}

/* ---- for trace.h ---- */

/* Calls that get the address of a buffer. */
static bool on_buffer(Storing *t, const Value *v)
{
    const Slices *of = t->of;
    void (*const what)(Storing *, Thing) = is_named(v, of->write)   ? write
                                           : is_named(v, of->read)  ? read_back
                                           : is_named(v, of->store) ? store
                                                                    : NULL;
    Thing address = {.kind = THING_NONE};
    for (int i = 0; what && i < v->n; i++) {
        const Thing x = trace_value(&t->trace, v->list[i]);
        if (x.kind == THING_STAGE) address = x;
    }
    if (what && !t->thread) what(t, address);
    return what;
}

static bool call(Trace *r, const Value *v, Thing *is)
{
    Storing *t = storing(r);
    const Slices *of = t->of;
    *is = (Thing){.kind = THING_NONE};
    if (on_buffer(t, v)) return true;
    if (is_named(v, of->buffer) || is_named(v, of->barrier)) {
        const Thing group = v->n == 2 ? trace_value(r, v->list[0]) : *is;
        const Thing i = v->n == 2 ? trace_value(r, v->list[1]) : *is;
        if (!thing_is(group, GROUP) || i.kind != THING_NUMBER) REFUSE(r, "a buffer of another warp group");
        *is = (Thing){is_named(v, of->buffer) ? THING_STAGE : THING_BARRIER, 0, i.number};
    } else if (is_named(v, of->fence)) {
        for (int i = 0; i < of->n_buffers; i++) t->buffer[i].is_fenced = t->buffer[i].is_written;
    } else if (is_named(v, of->meet)) {
        meet(t);
    } else if (is_named(v, of->commit)) {
        commit(t);
    } else
        return false;
    return true;
}

static bool statement_steers(StmtKind kind)
{
    return kind == STMT_BOX || kind == STMT_EXPECT || kind == STMT_PHASE || kind == STMT_STORE_AWAIT ||
           kind == STMT_BARRIER;
}

/* A store of all threads to the only buffer. */
static bool store_to_memory(Trace *r, const Stmt *s)
{
    const Thing to = s->kind == STMT_STORE && storing(r)->of->memory ? trace_value(r, s->access->base)
                                                                     : (Thing){.kind = THING_NONE};
    if (to.kind != THING_STAGE) return false;
    if (!storing(r)->thread) write(storing(r), to);
    return true;
}

static bool statement(Trace *r, const Stmt *s)
{
    if (store_to_memory(r, s)) return true;
    if (s->kind == STMT_BARRIER) return meet(storing(r)), true;
    if (storing(r)->thread && statement_steers(s->kind)) {
        if (s->kind != STMT_PHASE) REFUSE(r, "another thread than the first one loads or waits for stores");
        return true;
    }
    switch (s->kind) {
    case STMT_BOX:
        load(storing(r), s);
        return true;
    case STMT_EXPECT:
        expect(storing(r), s);
        return true;
    case STMT_PHASE:
        wait_for_c(storing(r), s);
        return true;
    case STMT_STORE_AWAIT:
        await_stores(storing(r), s);
        return true;
    default:
        return false;
    }
}

static bool call_steers(const Trace *r, const char *name)
{
    const Slices *of = ((const Storing *)r)->of;
    return same_name(name, of->meet) || same_name(name, of->fence) || same_name(name, of->commit) ||
           same_name(name, of->store) || same_name(name, of->write);
}

/* ---- the whole ---- */

/* Stores some tiles, one after the other. Returns how often the thread meets the others. */
static int run_thread(Storing *t, const Stmt *f, int thread)
{
    int64_t phases = 0;
    t->thread = thread, t->meetings = 0;
    for (int i = 0; i < BUFFERS_MAX; i++) t->buffer[i] = (Buffer){.newer = READ, .is_free = t->of->once};
    const int tiles = t->of->once ? 1 : t->of->memory ? t->of->n_buffers + 1 : TILES;
    for (int tile = 0; tile < tiles && !t->trace.e; tile++) {
        trace_restart(&t->trace);
        trace_know(&t->trace, t->of->phases, thing_number(phases));
        trace_know(&t->trace, t->of->thread, thing_number(thread));
        trace_know(&t->trace, t->of->group, thing_number(GROUP));
        if (t->of->where) trace_know(&t->trace, t->of->where, thing_number(1));
        if (t->of->memory) trace_know(&t->trace, t->of->memory, (Thing){.kind = THING_STAGE});
        trace_body(&t->trace, f);
        phases = t->trace.name[0].is.number; /* as the function has left it */
    }
    for (int i = 0; i < t->of->n_buffers && !thread; i++)
        if (t->buffer[i].is_written) REFUSE(&t->trace, "a slice is not stored");
    return t->meetings;
}

static void every_wait(Storing *t, const Stmt *list)
{
    for (const Stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_STORE_AWAIT && s->number == UNDERIVED)
            REFUSE(&t->trace, "a wait for stores without a number");
        every_wait(t, s->body), every_wait(t, s->otherwise);
    }
}

/* Other threads do what thread 0 does, but for what is asked of it alone. */
static Err checked(const Stmts *s, const Slices *of, bool derives)
{
    static const TraceRules rules = {.what = "the stores of a tile",
                                     .call = call,
                                     .statement = statement,
                                     .steers = statement_steers,
                                     .call_steers = call_steers};
    const Stmt *f;
    Storing *t = trace_new(sizeof *t, &rules, s, of->function, &f);
    if (!t) return trace_free(t);
    t->of = of, t->derives = derives;
    if (of->n_buffers > BUFFERS_MAX)
        REFUSE(&t->trace, "%d buffers of slices, at most %d are followed", of->n_buffers, BUFFERS_MAX);
    /* a wait that is reached again may get a smaller number: what it covered before it still covers */
    const int meetings = t->trace.e ? 0 : run_thread(t, f, 0);
    if (!t->trace.e) every_wait(t, f->body);
    /* nothing is asked of a thread of its own where all of them store */
    if (!t->trace.e && !of->memory && run_thread(t, f, 1) != meetings)
        REFUSE(&t->trace, "threads of a warp group meet a different number of times");
    return trace_free(t);
}

Err slices_derive(Stmts *s, const Slices *of)
{
    TRY(checked(s, of, true));
    return checked(s, of, false);
}

Err slices_verify(const Stmts *s, const Slices *of) { return checked(s, of, false); }
