/* Runs the statements of a consumer warp group. See consumer.h. */
#include "kernel/lower/consumer_run.h"

#include <stdlib.h>

static void run(Consumer *r, const Stmt *list);
static Thing evaluate(Consumer *r, const Value *v);

/* ---- names ---- */

static Thing *known(Consumer *r, const char *name)
{
    for (int i = r->n_names - 1; i >= r->base; i--)
        if (same_name(r->name[i].name, name)) return &r->name[i].is;
    return NULL;
}

static void know(Consumer *r, const char *name, Thing is)
{
    if (r->n_names == CONSUMER_NAMES)
        REFUSE(r, "more than %d names in the functions of a warp group", CONSUMER_NAMES);
    else
        r->name[r->n_names++] = (Named){name, is};
}

static Thing number(int64_t n) { return (Thing){.kind = THING_NUMBER, .number = n}; }
static const Thing nothing = {.kind = THING_NONE};

/* ---- values ---- */

/* The value of an expression of known variables. False: it is not known. */
static bool number_of(Consumer *r, const Expr *e, int64_t *n)
{
    int64_t x, y;
    if (e->lo == e->hi) return *n = e->lo, true;
    if (e->kind == EXPR_VAR || e->kind == EXPR_NAMED) {
        const Thing *k = known(r, e->name);
        if (k && k->kind == THING_NUMBER) return *n = k->number, true;
        return e->kind == EXPR_NAMED && number_of(r, e->x, n);
    }
    if (!number_of(r, e->x, &x) || !number_of(r, e->y, &y)) return false;
    if (e->kind == EXPR_SELECT) {
        int64_t z;
        return number_of(r, e->z, &z) ? (*n = z ? x : y, true) : false;
    }
    const Expr of[] = {{.kind = EXPR_CONST, .lo = x, .hi = x}, {.kind = EXPR_CONST, .lo = y, .hi = y}};
    const Expr both = {.kind = e->kind, .x = &of[0], .y = &of[1]};
    return expr_eval(&both, NULL, n);
}

static bool is(const Value *v, const char *name)
{
    return v && (v->kind == VALUE_NAME || v->kind == VALUE_CALL) && same_name(v->name, name);
}

static Thing of_expr(Consumer *r, const Expr *e)
{
    int64_t n;
    if (e->kind == EXPR_VAR) {
        const Thing *k = known(r, e->name);
        return k ? *k : nothing;
    }
    return number_of(r, e, &n) ? number(n) : nothing;
}

/* A field of the cursor or of a tile. */
static Thing of_field(Consumer *r, const Value *v)
{
    const Consumers *c = r->c;
    if (is(v->x, c->cursor)) {
        if (same_name(v->name, "stage")) return number(consumer_stage(r, r->at));
        if (same_name(v->name, "phase")) return number(consumer_parity(r, r->at));
    }
    const Thing x = evaluate(r, v->x);
    return x.kind == THING_TILE && same_name(v->name, c->count) ? number(x.number) : nothing;
}

static Thing of_op(Consumer *r, const Value *v)
{
    const Thing x = evaluate(r, v->x), y = v->y ? evaluate(r, v->y) : nothing;
    if (x.kind == THING_STAGE || x.kind == THING_REGISTERS) return x;
    if (y.kind == THING_STAGE || y.kind == THING_REGISTERS) return y;
    if (v->op == VALUE_NOT && x.kind == THING_NUMBER) return number(!x.number);
    /* 0 && x, 1 || x: whatever x is */
    if (v->op == VALUE_BOTH && (consumer_is(x, 0) || consumer_is(y, 0))) return number(0);
    if (v->op == VALUE_EITHER && (consumer_is(x, 1) || consumer_is(y, 1))) return number(1);
    if (x.kind != THING_NUMBER || y.kind != THING_NUMBER) return nothing;
    const int64_t a = x.number, b = y.number;
    switch (v->op) {
    case VALUE_ADD:
        return number(a + b);
    case VALUE_SUB:
        return number(a - b);
    case VALUE_XOR:
        return number(a ^ b);
    case VALUE_LT:
        return number(a < b);
    case VALUE_GT:
        return number(a > b);
    case VALUE_EQ:
        return number(a == b);
    case VALUE_NE:
        return number(a != b);
    case VALUE_BOTH:
        return number(a && b);
    case VALUE_EITHER:
        return number(a || b);
    default:
        return nothing;
    }
}

static Thing stage_argument(Consumer *r, const Value *v)
{
    const Thing x = v->n ? evaluate(r, v->list[v->n - 1]) : nothing;
    if (x.kind != THING_NUMBER) REFUSE(r, "the stage of a call of %s is not known", v->name);
    return x;
}

/* Calls of what consumer.h names. False: it is none of them. */
static bool of_protocol(Consumer *r, const Value *v, Thing *is_)
{
    const Consumers *c = r->c;
    *is_ = nothing;
    if (is(v, c->full)) {
        *is_ = (Thing){.kind = THING_BARRIER, .number = stage_argument(r, v).number};
    } else if (is(v, c->tile[0]) || is(v, c->tile[1])) {
        *is_ = (Thing){.kind = THING_STAGE, .number = stage_argument(r, v).number};
    } else if (is(v, c->skip)) {
        consumer_skip(r, stage_argument(r, v).number);
    } else if (is(v, c->done)) {
        *is_ = number(r->tile == r->walk->n);
    } else if (is(v, c->next)) {
        r->tile++;
    } else if (is(v, c->take)) {
        if (r->tile >= r->walk->n) REFUSE(r, "a warp group takes a tile behind the end of the walk");
        *is_ = (Thing){.kind = THING_TILE, .number = r->e ? 0 : r->walk->chunks[r->tile]};
    } else if (is(v, c->turn_wait) || is(v, c->turn_give)) {
        consumer_event(r, is(v, c->turn_wait) ? EVENT_TURN_WAIT : EVENT_TURN_GIVE,
                       (int)stage_argument(r, v).number);
    } else
        return false;
    return true;
}

static const Stmt *function_of(Consumer *r, const char *name)
{
    for (int i = 0; i < r->n_functions; i++)
        if (same_name(r->function[i]->function->name, name)) return r->function[i];
    return NULL;
}

/* Runs a function of the tree with the call's arguments. */
static void follow(Consumer *r, const Stmt *f, const Value *call)
{
    const int base = r->base, n = r->n_names, n_registers = r->n_registers;
    if (r->depth == CONSUMER_DEPTH) REFUSE(r, "functions of a warp group call one another too deep");
    for (int i = 0; i < call->n && i < f->function->n_params && !r->e; i++) {
        const char *name = f->function->param[i].name;
        const Thing x = evaluate(r, call->list[i]);
        if (name && x.kind != THING_NONE) know(r, name, x);
    }
    if (r->e) return;
    r->base = n, r->depth++;
    run(r, f->body);
    r->base = base, r->depth--;
    consumer_forget(r, n, n_registers);
}

/* The call of a function that is not in the tree. Of a stage's address it makes one of the same stage. */
static Thing outside(Consumer *r, const Value *v)
{
    Thing stage = nothing;
    int n = 0, registers[CONSUMER_OPERANDS];
    for (int i = 0; i < v->n; i++) {
        const Thing x = evaluate(r, v->list[i]);
        if (x.kind == THING_STAGE) stage = x;
        if (x.kind == THING_REGISTERS && n < CONSUMER_OPERANDS) registers[n++] = (int)x.number;
    }
    if (stage.kind == THING_STAGE) consumer_read(r, (int)stage.number);
    for (int i = 0; i < n; i++) consumer_use(r, registers[i]);
    for (int i = 0; i < n && stage.kind == THING_STAGE; i++)
        r->registers[registers[i]].from |= UINT64_C(1) << stage.number;
    return stage;
}

static Thing of_call(Consumer *r, const Value *v)
{
    Thing x;
    if (of_protocol(r, v, &x)) return x;
    const Stmt *f = function_of(r, v->name);
    if (is(v, r->c->release)) {
        Thing stage = nothing;
        for (int i = 0; i < v->n && stage.kind != THING_NUMBER; i++) stage = evaluate(r, v->list[i]);
        if (stage.kind != THING_NUMBER) REFUSE(r, "a stage is released whose number is not known");
        consumer_release(r, (int)stage.number);
        return nothing;
    }
    if (!f) return outside(r, v);
    follow(r, f, v);
    return nothing;
}

static Thing evaluate(Consumer *r, const Value *v)
{
    if (!v || r->e) return nothing;
    switch (v->kind) {
    case VALUE_EXPR:
        return of_expr(r, v->expr);
    case VALUE_NAME: {
        const Thing *k = known(r, v->name);
        return k ? *k : nothing;
    }
    case VALUE_FIELD:
        return of_field(r, v);
    case VALUE_AT:
    case VALUE_CAST:
        return evaluate(r, v->x);
    case VALUE_OP:
        return of_op(r, v);
    case VALUE_CALL:
        return of_call(r, v);
    default:
        return nothing;
    }
}

/* ---- statements ---- */

static void block(Consumer *r, const Stmt *list)
{
    const int n = r->n_names, n_registers = r->n_registers;
    run(r, list);
    consumer_forget(r, n, n_registers);
}

/* Registers: arrays of them, and the accumulators. */
static void declare(Consumer *r, const Stmt *s)
{
    const Thing x = evaluate(r, s->x);
    if (s->kind != STMT_VAR || !s->dims[0]) {
        know(r, s->name, x);
        return;
    }
    if (r->n_registers == CONSUMER_REGISTERS) {
        REFUSE(r, "more than %d arrays of registers", CONSUMER_REGISTERS);
        return;
    }
    r->registers[r->n_registers] = (Registers){.name = s->name, .newer = CONSUMER_DONE, .used = true};
    know(r, s->name, (Thing){.kind = THING_REGISTERS, .number = r->n_registers++});
}

static void assign(Consumer *r, const Stmt *s)
{
    const Thing x = evaluate(r, s->x), to = evaluate(r, s->to);
    if (x.kind == THING_REGISTERS) consumer_use(r, (int)x.number);
    if (to.kind == THING_REGISTERS) consumer_use(r, (int)to.number);
    Thing *is_ = s->to->kind == VALUE_NAME ? known(r, s->to->name) : NULL;
    if (is_ && to.kind != THING_REGISTERS) *is_ = s->kind == STMT_SET ? x : nothing;
}

static void condition(Consumer *r, const Stmt *s)
{
    const Thing x = evaluate(r, s->x);
    if (x.kind == THING_NUMBER)
        block(r, x.number ? s->body : s->otherwise);
    else if (consumer_steers(r, s->body) || consumer_steers(r, s->otherwise))
        REFUSE(r, "what a warp group does to its stages depends on a condition that is not known");
    else
        block(r, s->body), block(r, s->otherwise);
}

/* Whether a loop has another turn. */
static bool goes_on(Consumer *r, const Loop *l, bool *turns)
{
    const Thing *i = l->var ? known(r, l->var) : NULL;
    const Thing x = l->condition ? evaluate(r, l->condition) : of_expr(r, l->limit);
    if (x.kind != THING_NUMBER || (!l->condition && (!i || i->kind != THING_NUMBER))) return false;
    *turns = l->condition ? x.number : i->number < x.number;
    return true;
}

static void loop(Consumer *r, const Stmt *s)
{
    enum { TURNS_MAX = 4096 };
    const Loop *l = s->loop;
    const int n = r->n_names;
    bool turns = true;
    if (!consumer_steers(r, s->body)) { /* further turns do the same */
        if (l->var && l->start) know(r, l->var, nothing);
        block(r, s->body);
        r->n_names = n;
        return;
    }
    if (l->start) know(r, l->var, of_expr(r, l->start));
    for (int i = 0; !r->e; i++) {
        if ((!l->condition && !l->limit) || l->step_by || !goes_on(r, l, &turns) || i == TURNS_MAX)
            REFUSE(r, "the turns of a loop of a warp group are not known");
        if (r->e || !turns) break;
        block(r, s->body);
        if (l->var) {
            Thing *at = known(r, l->var);
            if (at) at->number += l->step;
        }
    }
    r->n_names = n;
}

static void await_products(Consumer *r, const Stmt *s)
{
    const Thing x = evaluate(r, s->x);
    if (x.kind == THING_REGISTERS)
        consumer_await(r, s, r->registers[x.number].newer);
    else if (x.kind == THING_NUMBER && x.number >= 0 && x.number < r->c->ring->n_stages)
        consumer_await(r, s, r->stage[x.number].newer);
    else
        REFUSE(r, "a wait for products that is for neither registers nor a stage");
}

static void one(Consumer *r, const Stmt *s)
{
    switch (s->kind) {
    case STMT_LET:
        know(r, s->name, of_expr(r, s->expr));
        break;
    case STMT_DEFINE:
    case STMT_VAR:
        declare(r, s);
        break;
    case STMT_SET:
    case STMT_UPDATE:
        assign(r, s);
        break;
    case STMT_PHASE:
        consumer_acquire(r, evaluate(r, s->to), evaluate(r, s->x));
        break;
    case STMT_ADVANCE:
        consumer_advance(r);
        break;
    case STMT_PRODUCT:
        consumer_product(r, evaluate(r, s->product->acc), evaluate(r, s->product->x),
                         evaluate(r, s->product->y));
        break;
    case STMT_PRODUCT_FENCE:
        for (int i = 0; i < r->n_registers; i++) r->registers[i].used = false;
        break;
    case STMT_PRODUCT_COMMIT:
        consumer_commit(r);
        break;
    case STMT_PRODUCT_AWAIT:
        await_products(r, s);
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
    case STMT_RETURN:
    case STMT_LEAVE:
    case STMT_NEXT:
        REFUSE(r, "a function of a warp group is left early");
        break;
    default:
        evaluate(r, s->x);
    }
}

static void run(Consumer *r, const Stmt *list)
{
    for (const Stmt *s = list; s && !r->e; s = s->next) one(r, s);
}

/* ---- all warp groups ---- */

/* Runs a warp group over a walk. */
static void run_group(Consumer *r, const Stmt *f, int group)
{
    consumer_start(r);
    know(r, r->c->group, number(group));
    run(r, f->body);
    consumer_end(r);
}

static Err checked(const Stmts *s, const Consumers *c, bool derives, int *releases)
{
    TRY(stmts_check(s));
    Consumer *r = calloc(1, sizeof *r);
    if (!r) FAIL(ERR_FAILED, "out of memory for the stages of a kernel");
    r->c = c, r->derives = derives;
    if (c->ring->n_stages < 1 || c->ring->n_stages > STAGES_MAX || c->n_groups > CONSUMER_GROUPS)
        REFUSE(r, "%d stages and %d warp groups", c->ring->n_stages, c->n_groups);
    for (const Stmt *at = s->first; at && !r->e; at = at->next) {
        if (at->kind != STMT_FUNCTION) continue;
        if (r->n_functions == CONSUMER_FUNCTIONS) REFUSE(r, "more than %d functions", CONSUMER_FUNCTIONS);
        if (!r->e) r->function[r->n_functions++] = at;
    }
    const Stmt *f = function_of(r, c->function);
    if (!f) REFUSE(r, "there is no function %s", c->function);
    for (int w = 0; !r->e && consumer_walk(r, w); w++) {
        for (int g = 0; g < c->n_groups && !r->e; g++) {
            r->group = g;
            run_group(r, f, g);
        }
        consumer_together(r, releases);
    }
    consumer_waits(r, s->first);
    const Err e = r->e;
    free(r);
    return e;
}

Err consumer_derive(Stmts *s, const Consumers *c, int *releases) { return checked(s, c, true, releases); }

Err consumer_verify(const Stmts *s, const Consumers *c, int *releases)
{
    return checked(s, c, false, releases);
}
