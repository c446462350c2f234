/* Runs statements on abstract stages. See async.h. */
#include "kernel/lower/async_stages.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const Known *known(const Run *r, const char *name)
{
    for (int i = r->now.n_known - 1; i >= r->base; i--)
        if (!strcmp(r->now.known[i].name, name)) return &r->now.known[i];
    return NULL;
}

static void know(Run *r, const char *name, int value, bool is_stage)
{
    if (r->now.n_known == NAMES_MAX) {
        REFUSE(r, "more than %d registers with addresses of stages", NAMES_MAX);
        return;
    }
    r->now.known[r->now.n_known++] = (Known){name, value, is_stage};
}

static bool of_counter(void *context, const Expr *var, int64_t *n)
{
    const Known *k = known(context, var->name);
    return k && !k->is_stage && k->value != UNKNOWN && (*n = k->value, true);
}

/* Evaluates an expression of counters. False: it is not known. */
static bool number_of(Run *r, const Expr *e, int64_t *n) { return expr_eval_by(e, of_counter, r, n); }

/* ---- stages that values point to ---- */

static void set_ring(Run *r, const StageRing *ring)
{
    if (r->ring && r->ring != ring) REFUSE(r, "a function with two rings of stages");
    if (ring->n_stages < 1 || ring->n_stages > STAGES_MAX)
        REFUSE(r, "a ring of %d stages, at most %d", ring->n_stages, STAGES_MAX);
    r->ring = ring;
}

/* The stage of a VALUE_STAGE. */
static int stage_at(Run *r, const Value *v)
{
    int64_t n;
    set_ring(r, v->ring);
    if (r->e) return NO_STAGE;
    const Cursor *c = v->y->kind == VALUE_NAME ? state_cursor(r, v->y->name) : NULL;
    if (c) return c->at;
    if (v->y->kind == VALUE_EXPR && number_of(r, v->y->expr, &n) && n >= 0 && n < v->ring->n_stages)
        return (int)n;
    REFUSE(r, "the number of a stage is not known");
    return NO_STAGE;
}

/* Returns the stage that an address lies in, or of which it is made; NO_STAGE: of none. */
static int stage_of(Run *r, const Value *v)
{
    int at = NO_STAGE;
    if (!v) return NO_STAGE;
    if (v->kind == VALUE_STAGE) return stage_at(r, v);
    if (v->kind == VALUE_NAME) {
        const Known *k = known(r, v->name);
        if (k && k->is_stage && k->value == UNKNOWN)
            REFUSE(r, "the stage that '%s' points to is not known", v->name);
        return k && k->is_stage ? k->value : NO_STAGE;
    }
    if (v->access) at = stage_of(r, v->access->base);
    const Value *const part[] = {v->x, v->y, v->z};
    for (int i = 0; i < 3 && at == NO_STAGE; i++) at = stage_of(r, part[i]);
    for (int i = 0; i < v->n && at == NO_STAGE; i++) at = stage_of(r, v->list[i]);
    return at;
}

/* ---- statements ---- */

static void run(Run *r, const Stmt *list);

/* Runs a block; registers and cursors that it declares are forgotten behind it. */
static void block(Run *r, const Stmt *list)
{
    const int n_known = r->now.n_known, n_cursors = r->now.n_cursors;
    run(r, list);
    r->now.n_known = n_known, r->now.n_cursors = n_cursors;
}

static const Stmt *function_of(const Run *r, const char *name)
{
    for (const Stmt *f = r->s->first; f; f = f->next)
        if (f->kind == STMT_FUNCTION && !strcmp(f->function->name, name)) return f;
    return NULL;
}

static bool value_steers(Run *r, const Value *v);

/* Whether statements wait, commit, meet, or move cursors. */
static bool steers(Run *r, const Stmt *list)
{
    for (const Stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_COMMIT || s->kind == STMT_AWAIT || s->kind == STMT_BARRIER ||
            s->kind == STMT_CURSOR || s->kind == STMT_ADVANCE)
            return true;
        if (value_steers(r, s->x) || steers(r, s->body) || steers(r, s->otherwise)) return true;
    }
    return false;
}

/* Binds a function's parameters to the stages of the arguments of a call; to themselves where there are
 * none. */
static void bind(Run *r, const Stmt *f, const Value *call)
{
    for (int i = 0; i < f->function->n_params; i++) {
        const int stage = call ? i < call->n ? stage_of(r, call->list[i]) : NO_STAGE : i;
        if (stage != NO_STAGE && f->function->param[i].name) know(r, f->function->param[i].name, stage, true);
    }
}

/* What a function does, looked at once. */
static const Effect *effect_of(Run *r, const Stmt *f)
{
    for (int i = 0; i < r->n_of; i++)
        if (r->of[i].of == f) return &r->of[i];
    if (r->n_of == FUNCTIONS_MAX || f->function->n_params > PARAMS_MAX || r->depth == DEPTH_MAX) {
        REFUSE(r, "functions that fill stages are too many, or call one another too deep");
        return NULL;
    }
    Effect x = {.of = f, .steers = steers(r, f->body)};
    if (!x.steers) {
        Effect *const outer = r->effect;
        const State was = r->now;
        const int base = r->base;
        r->effect = &x, r->base = r->now.n_known, r->depth++;
        bind(r, f, NULL);
        block(r, f->body);
        r->effect = outer, r->base = base, r->depth--;
        r->now = was;
    }
    if (r->n_of == FUNCTIONS_MAX) return NULL;
    r->of[r->n_of] = x;
    return &r->of[r->n_of++];
}

static bool value_steers(Run *r, const Value *v)
{
    if (!v) return false;
    if (v->kind == VALUE_STAGE) return true;
    if (v->kind == VALUE_CALL) {
        const Stmt *f = function_of(r, v->name);
        const Effect *x = f ? effect_of(r, f) : NULL;
        if (x && x->steers) return true;
    }
    for (int i = 0; i < v->n; i++)
        if (value_steers(r, v->list[i])) return true;
    return value_steers(r, v->x) || value_steers(r, v->y);
}

/* Whether a list ends early: on the way to the next turn of its loop, out of it, or out of the function. */
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

/* Runs a function's body with the call's arguments. */
static void follow(Run *r, const Stmt *f, const Value *call)
{
    const int base = r->base, n = r->now.n_known;
    if (r->depth == DEPTH_MAX) REFUSE(r, "functions call one another too deep");
    if (leaves(f->body, false)) REFUSE(r, "%s returns early, but waits or commits", f->function->name);
    if (r->e) return;
    bind(r, f, call);
    r->base = n, r->depth++;
    run(r, f->body);
    r->base = base, r->depth--;
    r->now.n_known = n;
}

static void call(Run *r, const Value *v)
{
    const Stmt *f = function_of(r, v->name);
    const Effect *x = f ? effect_of(r, f) : NULL;
    if (x && x->steers) {
        follow(r, f, v);
        return;
    }
    for (int i = 0; i < v->n; i++) {
        const int stage = stage_of(r, v->list[i]);
        if (!x || x->reads >> i & 1) stage_read(r, stage);
        if (x && x->fills >> i & 1) stage_fill(r, stage);
    }
}

/* What a value loads, and the functions that it calls. */
static void evaluate(Run *r, const Value *v)
{
    if (!v || r->e) return;
    if (v->kind == VALUE_LOAD) stage_read(r, stage_of(r, v->access->base));
    if (v->kind == VALUE_CALL) call(r, v);
    evaluate(r, v->x), evaluate(r, v->y), evaluate(r, v->z);
    for (int i = 0; i < v->n; i++) evaluate(r, v->list[i]);
}

/* A register gets a value, which may be the address of a stage. */
static void assign(Run *r, const char *name, const Value *x, bool declares)
{
    const int stage = stage_of(r, x);
    Known *is = declares ? NULL : (Known *)known(r, name);
    evaluate(r, x);
    if (is)
        is->value = stage, is->is_stage = stage != NO_STAGE;
    else if (stage != NO_STAGE || (declares && known(r, name)))
        know(r, name, stage, stage != NO_STAGE);
}

static void set_cursor(Run *r, const Stmt *s)
{
    const char *name = s->to->name;
    Cursor *c = state_cursor(r, name);
    set_ring(r, s->ring);
    if (r->e) return;
    if (!c && r->now.n_cursors == CURSORS_MAX) REFUSE(r, "more than %d cursors", CURSORS_MAX);
    if (r->e) return;
    if (!c) c = &r->now.cursor[r->now.n_cursors++];
    *c = (Cursor){name, (int)s->number};
    if (s->number < 0 || s->number >= s->ring->n_stages)
        REFUSE(r, "cursor '%s' is set to stage %d of %d", name, (int)s->number, s->ring->n_stages);
}

static void advance(Run *r, const Stmt *s)
{
    Cursor *c = state_cursor(r, s->to->name);
    if (!c)
        REFUSE(r, "there is no cursor '%s'", s->to->name);
    else
        c->at = (c->at + 1) % s->ring->n_stages;
}

static void condition(Run *r, const Stmt *s)
{
    int64_t is;
    evaluate(r, s->x);
    if (s->x->kind == VALUE_EXPR && number_of(r, s->x->expr, &is)) {
        block(r, is ? s->body : s->otherwise);
        return;
    }
    State before = r->now;
    block(r, s->body);
    State then = r->now;
    r->now = before;
    block(r, s->otherwise);
    (void)states_join(r, &r->now, &then);
}

/* A loop that runs a known number of times, turn by turn. */
static void counted(Run *r, const Stmt *s, int64_t from, int64_t to)
{
    const int n = r->now.n_known;
    for (int64_t i = from; i < to && !r->e; i += s->loop->step) {
        know(r, s->loop->var, (int)i, false);
        run(r, s->body);
        r->now.n_known = n;
    }
}

/* Any other one: until its state at the head stays the same. */
static void repeated(Run *r, const Stmt *s)
{
    State head = r->now;
    for (int i = 0; !r->e; i++) {
        block(r, s->body);
        if (r->e) return;
        const int n = n_stages(r);
        if (head.n_cursors) state_rotate(r, &r->now, (r->now.cursor[0].at - head.cursor[0].at + n) % n);
        if (!states_join(r, &head, &r->now)) break;
        r->now = head;
        if (i == ROUNDS_MAX) REFUSE(r, "the stages of a loop do not settle");
    }
    r->now = head;
}

static bool loop_steers(Run *r, const Stmt *s)
{
    for (int i = 0; i < r->n_loops; i++)
        if (r->loops[i].of == s) return r->loops[i].steers;
    const bool is = steers(r, s->body);
    if (r->n_loops < LOOPS_MAX) r->loops[r->n_loops++] = (Loops){s, is};
    return is;
}

static void loop(Run *r, const Stmt *s)
{
    enum { TURNS_MAX = 4096 };
    const Loop *l = s->loop;
    int64_t from, to;
    const bool is_counted = l->start && l->limit && !l->step_by && l->step > 0 &&
                            number_of(r, l->start, &from) && number_of(r, l->limit, &to) &&
                            to - from <= TURNS_MAX * l->step;
    const bool is_steering = loop_steers(r, s);
    evaluate(r, l->condition);
    if (is_steering && leaves(s->body, false)) REFUSE(r, "a loop that waits or commits is left early");
    if (is_counted && is_steering)
        counted(r, s, from, to);
    else if (is_counted && from < to)
        block(r, s->body); /* further turns do the same to the stages */
    else
        repeated(r, s);
}

static void one(Run *r, const Stmt *s)
{
    switch (s->kind) {
    case STMT_DEFINE:
    case STMT_VAR:
        assign(r, s->name, s->x, true);
        break;
    case STMT_SET:
        if (s->to->kind == VALUE_NAME)
            assign(r, s->to->name, s->x, false);
        else
            evaluate(r, s->x);
        break;
    case STMT_COPY:
    case STMT_STORE:
        evaluate(r, s->x);
        stage_fill(r, stage_of(r, s->access->base));
        break;
    case STMT_COMMIT:
        stages_commit(r);
        break;
    case STMT_AWAIT:
        stages_await(r, s);
        break;
    case STMT_BARRIER:
        stages_barrier(r);
        break;
    case STMT_CURSOR:
        set_cursor(r, s);
        break;
    case STMT_ADVANCE:
        advance(r, s);
        break;
    case STMT_IF:
        condition(r, s);
        break;
    case STMT_LOOP:
        loop(r, s);
        break;
    case STMT_BLOCK:
        block(r, s->body);
        break;
    default:
        evaluate(r, s->x);
    }
}

/* Ways out of loops and functions are taken for such as go on. Nothing waits, commits or meets there. */
static void run(Run *r, const Stmt *list)
{
    for (const Stmt *s = list; s && !r->e; s = s->next)
        if (s->kind != STMT_FUNCTION) one(r, s);
}

/* ---- a function ---- */

/* Runs functions one behind another, all of them as many times as there are turns. */
static Err checked(const Stmts *s, const char *const *function, int n, int turns, bool derives)
{
    Run *r = calloc(1, sizeof *r);
    if (!r) FAIL(ERR_FAILED, "out of memory for the stages of a kernel");
    r->s = s, r->derives = derives;
    for (int i = 0; i < STAGES_MAX; i++) r->now.stage[i].newer = ARRIVED;
    if (!n) run(r, s->first);
    for (int i = 0; i < n * turns; i++) {
        const Stmt *f = function_of(r, function[i % n]);
        if (!f) REFUSE(r, "there is no function %s", function[i % n]);
        if (f) block(r, f->body);
        if (i % n == n - 1) stages_mix(r);
    }
    for (int i = 0; i < n_stages(r) && !r->e; i++)
        if (r->now.stage[i].newer != ARRIVED) REFUSE(r, "copies to stage %d are under way at the end", i);
    for (int i = 0; i < r->n_waits; i++)
        if (r->wait[i]->number == UNDERIVED)
            REFUSE(r, "a wait for a stage whose copies have always arrived before it");
    const Err e = r->e;
    free(r);
    return e;
}

Err async_derive(Stmts *s, const char *function)
{
    TRY(stmts_check(s));
    /* A wait that is reached again may get a smaller number. What it covered before it still covers: more
     * groups have arrived then, not fewer. */
    return checked(s, &function, function ? 1 : 0, 1, true);
}

Err async_derive_turns(Stmts *s, const char *first, const char *second)
{
    const char *const functions[] = {first, second};
    TRY(stmts_check(s));
    TRY(checked(s, functions, 2, TURNS, true));
    return checked(s, functions, 2, TURNS, false);
}

Err async_verify(const Stmts *s, const char *function)
{
    TRY(stmts_check(s));
    return checked(s, &function, function ? 1 : 0, 1, false);
}
