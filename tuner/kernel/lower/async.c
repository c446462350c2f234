/* Traces statements on abstract stages. See async.h. */
#include "kernel/lower/async_stages.h"

#include <stdlib.h>

static Run *run_of(Trace *t) { return (Run *)t; } /* its first member */
static const Thing nothing = {.kind = THING_NONE};

/* ---- stages that values point to ---- */

static void set_ring(Run *r, const StageRing *ring)
{
    if (r->ring && r->ring != ring) REFUSE(&r->trace, "a function with two rings of stages");
    if (ring->n_stages < 1 || ring->n_stages > STAGES_MAX)
        REFUSE(&r->trace, "a ring of %d stages, at most %d", ring->n_stages, STAGES_MAX);
    r->ring = ring;
}

/* The stage of a VALUE_STAGE. */
static Thing stage_at(Run *r, const Value *v)
{
    int64_t n = UNKNOWN;
    set_ring(r, v->ring);
    if (r->trace.e) return nothing;
    const Cursor *c = v->y->kind == VALUE_NAME ? state_cursor(r, v->y->name) : NULL;
    if (c) n = c->at;
    const bool is_known = c || (v->y->kind == VALUE_EXPR && trace_expr(&r->trace, v->y->expr, &n));
    if (!is_known || n < 0 || n >= v->ring->n_stages) REFUSE(&r->trace, "the number of a stage is not known");
    return (Thing){.kind = THING_STAGE, .number = n};
}

/* Its number; NO_STAGE: x is none. */
static int stage_of(Run *r, Thing x)
{
    if (x.kind != THING_STAGE) return NO_STAGE;
    if (x.number == UNKNOWN) REFUSE(&r->trace, "the stage that an address lies in is not known");
    return (int)x.number;
}

static Thing memory(Trace *t, const Value *v)
{
    Thing is = nothing;
    if (v->kind == VALUE_STAGE) return stage_at(run_of(t), v);
    if (v->access) is = trace_value(t, v->access->base);
    if (v->kind == VALUE_LOAD) {
        stage_read(run_of(t), stage_of(run_of(t), is));
        return nothing;
    }
    for (int i = 0; i < v->n; i++) {
        const Thing x = trace_value(t, v->list[i]);
        if (is.kind == THING_NONE && x.kind == THING_STAGE) is = x;
    }
    return is;
}

/* ---- functions ---- */

/* Whether a list ends early: on the way to the next iteration of its loop, out of it, or out of the function.
 */
static bool leaves(const Stmt *list, bool in_loop)
{
    for (const Stmt *s = list; s; s = s->next) {
        const bool jumps = s->kind == STMT_LEAVE || s->kind == STMT_NEXT;
        if (s->kind == STMT_RETURN || (jumps && !in_loop)) return true;
        const bool inside = in_loop || s->kind == STMT_LOOP;
        if (leaves(s->body, inside) || leaves(s->otherwise, inside)) return true;
    }
    return false;
}

/* Looks at a function for itself: its parameters are the stages. */
static void look_at(Run *r, const Stmt *f, Effect *x)
{
    Trace *t = &r->trace;
    Effect *const outer = r->effect;
    const int base = t->base, n = t->n_names;
    r->effect = x, t->base = n, t->depth++;
    for (int i = 0; i < f->function->n_params; i++)
        if (f->function->param[i].name)
            trace_know(t, f->function->param[i].name, (Thing){.kind = THING_STAGE, .number = i});
    trace_block(t, f->body);
    r->effect = outer, t->base = base, t->n_names = n, t->depth--;
}

/* What a function does, looked at once. */
static const Effect *effect_of(Run *r, const Stmt *f)
{
    for (int i = 0; i < r->n_of; i++)
        if (r->of[i].of == f) return &r->of[i];
    Effect x = {.of = f, .steers = trace_steers(&r->trace, f->body)};
    if (f->function->n_params > PARAMS_MAX || r->trace.depth == TRACE_DEPTH)
        REFUSE(&r->trace,
               "functions that fill stages have too many parameters, or call one another too deep");
    else if (!x.steers)
        look_at(r, f, &x);
    if (r->n_of == FUNCTIONS_MAX) REFUSE(&r->trace, "more than %d functions that fill stages", FUNCTIONS_MAX);
    if (r->trace.e) return NULL;
    r->of[r->n_of] = x;
    return &r->of[r->n_of++];
}

/* Functions that steer are followed. Of a stage's address others make one of the same stage; "@shared" does
 * so, and reads nothing. */
static bool call(Trace *t, const Value *v, Thing *is)
{
    Run *r = run_of(t);
    const bool is_address = !strcmp(v->name, "@shared");
    const Stmt *f = trace_function(t, v->name);
    const Effect *x = f ? effect_of(r, f) : NULL;
    *is = nothing;
    if (x && x->steers) {
        if (leaves(f->body, false)) REFUSE(t, "%s returns early, but waits or commits", f->function->name);
        return false;
    }
    for (int i = 0; i < v->n; i++) {
        const Thing a = trace_value(t, v->list[i]);
        if (a.kind != THING_STAGE) continue;
        if (x ? x->reads >> i & 1 : !is_address) stage_read(r, stage_of(r, a));
        if (x && x->fills >> i & 1) stage_fill(r, stage_of(r, a));
        if (is->kind == THING_NONE) *is = a;
    }
    return true;
}

/* ---- statements ---- */

static void set_cursor(Run *r, const Stmt *s)
{
    const char *name = s->to->name;
    Cursor *c = state_cursor(r, name);
    set_ring(r, s->ring);
    if (r->trace.e) return;
    if (!c && r->now.n_cursors == CURSORS_MAX) REFUSE(&r->trace, "more than %d cursors", CURSORS_MAX);
    if (r->trace.e) return;
    if (!c) c = &r->now.cursor[r->now.n_cursors++];
    *c = (Cursor){name, (int)s->number};
    if (s->number < 0 || s->number >= s->ring->n_stages)
        REFUSE(&r->trace, "cursor '%s' is set to stage %d of %d", name, (int)s->number, s->ring->n_stages);
}

static void advance(Run *r, const Stmt *s)
{
    Cursor *c = state_cursor(r, s->to->name);
    if (!c)
        REFUSE(&r->trace, "there is no cursor '%s'", s->to->name);
    else
        c->at = (c->at + 1) % s->ring->n_stages;
}

/* Ways out of loops and functions are taken for such as go on. Nothing waits, commits or meets there. */
static bool statement(Trace *t, const Stmt *s)
{
    Run *r = run_of(t);
    switch (s->kind) {
    case STMT_COPY:
    case STMT_STORE:
        trace_value(t, s->x);
        stage_fill(r, stage_of(r, trace_value(t, s->access->base)));
        return true;
    case STMT_COMMIT:
        stages_commit(r);
        return true;
    case STMT_AWAIT:
        stages_await(r, s);
        return true;
    case STMT_BARRIER:
        stages_barrier(r);
        return true;
    case STMT_CURSOR:
        set_cursor(r, s);
        return true;
    case STMT_ADVANCE:
        advance(r, s);
        return true;
    case STMT_LOOP:
        if (trace_steers(t, s->body) && leaves(s->body, false))
            REFUSE(t, "a loop that waits or commits is left early");
        return false;
    case STMT_RETURN:
    case STMT_LEAVE:
    case STMT_NEXT:
        trace_value(t, s->x);
        return true;
    default:
        return false;
    }
}

static bool steers(StmtKind kind)
{
    return kind == STMT_COMMIT || kind == STMT_AWAIT || kind == STMT_BARRIER || kind == STMT_CURSOR ||
           kind == STMT_ADVANCE;
}

/* A block, whose cursors are forgotten behind it. */
static void block(Run *r, const Stmt *list)
{
    const int n_cursors = r->now.n_cursors;
    trace_block(&r->trace, list);
    r->now.n_cursors = n_cursors;
}

/* Both sides. */
static void branch(Trace *t, const Stmt *s)
{
    Run *r = run_of(t);
    const State before = r->now;
    Names names, then_names;
    names_keep(r, &names);
    block(r, s->body);
    const State then = r->now;
    names_keep(r, &then_names);
    r->now = before;
    names_set(r, &names);
    block(r, s->otherwise);
    (void)states_join(r, &r->now, &then);
    names_keep(r, &names);
    (void)names_join(&names, &then_names);
    names_set(r, &names);
}

/* Until the state at the loop's head stays the same. */
static void turns(Trace *t, const Stmt *s)
{
    Run *r = run_of(t);
    Thing *var = s->loop->var ? trace_known(t, s->loop->var) : NULL;
    if (var) *var = nothing;
    State head = r->now;
    Names names, now;
    names_keep(r, &names);
    for (int i = 0; !t->e; i++) {
        block(r, s->body);
        if (t->e) return;
        const int n = n_stages(r);
        names_keep(r, &now);
        if (head.n_cursors) state_rotate(r, &r->now, &now, (r->now.cursor[0].at - head.cursor[0].at + n) % n);
        const bool news = states_join(r, &head, &r->now), of_names = names_join(&names, &now);
        r->now = head;
        names_set(r, &names);
        if (!news && !of_names) break;
        if (i == ROUNDS_MAX) REFUSE(t, "the stages of a loop do not settle");
    }
}

/* ---- a function ---- */

/* Runs functions one behind another, all of them as many times as there are iterations. */
static Err checked(const Stmts *s, const char *const *function, int n, int n_turns, bool derives)
{
    static const TraceRules rules = {.what = "a ring",
                                     .call = call,
                                     .memory = memory,
                                     .statement = statement,
                                     .branch = branch,
                                     .turns = turns,
                                     .steers = steers};
    const Stmt *f;
    Run *r = trace_new(sizeof *r, &rules, s, n ? function[0] : NULL, &f);
    if (!r) return trace_free(r);
    r->derives = derives;
    for (int i = 0; i < STAGES_MAX; i++) r->now.stage[i].newer = ARRIVED;
    if (!n && !r->trace.e) block(r, s->first);
    for (int i = 0; i < n * n_turns && !r->trace.e; i++) {
        f = trace_function(&r->trace, function[i % n]);
        if (!f) REFUSE(&r->trace, "there is no function %s", function[i % n]);
        if (f) block(r, f->body);
        if (i % n == n - 1) stages_mix(r);
    }
    for (int i = 0; i < n_stages(r); i++)
        if (r->now.stage[i].newer != ARRIVED)
            REFUSE(&r->trace, "copies to stage %d are under way at the end", i);
    for (int i = 0; i < r->n_waits; i++)
        if (r->wait[i]->number == UNDERIVED)
            REFUSE(&r->trace, "a wait for a stage whose copies have always arrived before it");
    return trace_free(r);
}

Err async_derive(Stmts *s, const char *function)
{
    /* A wait that is reached again may get a smaller number. What it covered before it still covers: more
     * groups have arrived then, not fewer. */
    return checked(s, &function, function ? 1 : 0, 1, true);
}

Err async_derive_turns(Stmts *s, const char *first, const char *second)
{
    const char *const functions[] = {first, second};
    TRY(checked(s, functions, 2, TURNS, true));
    return checked(s, functions, 2, TURNS, false);
}

Err async_verify(const Stmts *s, const char *function)
{
    return checked(s, &function, function ? 1 : 0, 1, false);
}
