/* See trace.h. */
#include "kernel/lower/trace.h"

#include <stdlib.h>

static void run(Trace *r, const Stmt *list);

/* ---- names ---- */

Thing *trace_known(Trace *r, const char *name)
{
    for (int i = r->n_names - 1; i >= r->base; i--)
        if (same_name(r->name[i].name, name)) return &r->name[i].is;
    return NULL;
}

void trace_know(Trace *r, const char *name, Thing is)
{
    if (r->n_names == TRACE_NAMES)
        REFUSE(r, "more than %d names in the functions of %s", TRACE_NAMES, r->rules->what);
    else
        r->name[r->n_names++] = (Named){name, is};
}

static const Thing nothing = {.kind = THING_NONE};

/* Is it the call of that function, or of one with that name and a constant: "f<1>"? */
static bool calls(const char *call, const Function *f)
{
    const size_t n = strlen(f->name);
    return !strncmp(call, f->name, n) && (!call[n] || (f->constant && call[n] == '<'));
}

const Stmt *trace_function(const Trace *r, const char *name)
{
    for (int i = 0; i < r->n_functions; i++) {
        const Function *f = r->function[i]->function;
        if (f->name[0] == name[0] && f->name[1] == name[1] && calls(name, f)) return r->function[i];
    }
    return NULL;
}

/* The same of a function whose calls are followed. */
static const Stmt *followed(const Trace *r, const char *name)
{
    const char *other = r->rules->not_followed ? r->rules->not_followed(r) : NULL;
    return same_name(name, other) ? NULL : trace_function(r, name);
}

/* ---- records ---- */

Thing *trace_record(Trace *r, const char *type, Thing *is)
{
    const Stmt *of = r->s->first;
    while (of && (of->kind != STMT_STRUCT || !same_name(of->name, type))) of = of->next;
    if (!of) return NULL;
    if (r->n_records == TRACE_RECORDS) {
        REFUSE(r, "more than %d records in the functions of %s", TRACE_RECORDS, r->rules->what);
        return NULL;
    }
    const int at = r->n_records++;
    for (int i = 0; i < TRACE_FIELDS; i++) r->record[at][i] = nothing;
    r->record_of[at] = of;
    *is = (Thing){.kind = THING_RECORD, .number = at};
    return r->record[at];
}

static Thing *record_field(Trace *r, Thing record, const char *field)
{
    int i = 0;
    for (const Stmt *f = r->record_of[record.number]->body; f && i < TRACE_FIELDS; f = f->next, i++)
        if (same_name(f->name, field)) return &r->record[record.number][i];
    return NULL;
}

void trace_record_set(Trace *r, Thing record, const char *field, Thing x)
{
    Thing *at = record_field(r, record, field);
    if (at) *at = x;
}

/* ---- values ---- */

/* A field of a record, or what the rules know it to be. of: the name of what has it; empty: it has none. */
static Thing field_of(Trace *r, Str of, Thing x, const char *field)
{
    Thing is;
    if (r->rules->field && r->rules->field(r, of, x, field, &is)) return is;
    if (x.kind != THING_RECORD) return nothing;
    const Thing *at = record_field(r, x, field);
    return at ? *at : nothing;
}

static Thing named(Trace *r, const char *name)
{
    const Thing *k = trace_known(r, name);
    const char *dot = k ? NULL : strchr(name, '.');
    if (k) return *k;
    if (!dot) return nothing;
    const Str of = {name, (size_t)(dot - name)}; /* "p.count" */
    Thing x = nothing;
    for (int i = r->base; i < r->n_names; i++)
        if (str_eq_c(of, r->name[i].name)) x = r->name[i].is;
    return field_of(r, of, x, dot + 1);
}

static bool of_variable(void *context, const Expr *var, int64_t *n)
{
    const Thing x = named(context, var->name);
    return x.kind == THING_NUMBER && (*n = x.number, true);
}

bool trace_expr(Trace *r, const Expr *e, int64_t *n) { return expr_eval_by(e, of_variable, r, n); }

/* The address or the like of which an expression is made. */
static Thing made_of(Trace *r, const Expr *e)
{
    if (!e || e->kind == EXPR_CONST) return nothing;
    const Thing is = e->kind == EXPR_VAR || e->kind == EXPR_NAMED ? named(r, e->name) : nothing;
    if (is.kind > THING_RECORD) return is;
    if (e->kind == EXPR_VAR) return nothing;
    const Thing x = made_of(r, e->x);
    return x.kind != THING_NONE ? x : made_of(r, e->y);
}

static Thing of_expr(Trace *r, const Expr *e)
{
    int64_t n;
    if (e->kind == EXPR_VAR) return named(r, e->name);
    return trace_expr(r, e, &n) ? thing_number(n) : made_of(r, e);
}

static Thing of_numbers(ValueOp op, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case VALUE_ADD:
        return thing_number((int64_t)(x + y));
    case VALUE_SUB:
        return thing_number((int64_t)(x - y));
    case VALUE_MUL:
        return thing_number((int64_t)(x * y));
    case VALUE_DIV:
        return b > 0 ? thing_number(a / b) : nothing;
    case VALUE_MOD:
        return b > 0 ? thing_number(a % b) : nothing;
    case VALUE_SHL:
        return y < 64 ? thing_number((int64_t)(x << y)) : nothing;
    case VALUE_SHR:
        return y < 64 ? thing_number((int64_t)(x >> y)) : nothing;
    case VALUE_AND:
        return thing_number(a & b);
    case VALUE_XOR:
        return thing_number(a ^ b);
    case VALUE_OR:
        return thing_number(a | b);
    case VALUE_LT:
        return thing_number(a < b);
    case VALUE_LE:
        return thing_number(a <= b);
    case VALUE_GT:
        return thing_number(a > b);
    case VALUE_GE:
        return thing_number(a >= b);
    case VALUE_EQ:
        return thing_number(a == b);
    case VALUE_NE:
        return thing_number(a != b);
    case VALUE_BOTH:
        return thing_number(a && b);
    case VALUE_EITHER:
        return thing_number(a || b);
    default:
        return nothing;
    }
}

static Thing of_op(Trace *r, const Value *v)
{
    const Thing x = trace_value(r, v->x);
    const bool decides = (v->op == VALUE_BOTH && thing_is(x, 0)) || (v->op == VALUE_EITHER && thing_is(x, 1));
    if (decides) return x; /* the other side is not evaluated */
    const Thing y = v->y ? trace_value(r, v->y) : nothing;
    if (x.kind > THING_RECORD) return x; /* the same thing: what is added is an offset in it */
    if (y.kind > THING_RECORD) return y;
    if (v->op == VALUE_NOT && x.kind == THING_NUMBER) return thing_number(!x.number);
    if (v->op == VALUE_NEG && x.kind == THING_NUMBER) return thing_number(-x.number);
    if (v->op == VALUE_BOTH && thing_is(y, 0)) return y; /* whatever x is */
    if (v->op == VALUE_EITHER && thing_is(y, 1)) return y;
    if (x.kind != THING_NUMBER || y.kind != THING_NUMBER) return nothing;
    return of_numbers(v->op, x.number, y.number);
}

static Thing of_select(Trace *r, const Value *v)
{
    const Thing is = trace_value(r, v->z);
    if (is.kind == THING_NUMBER) return trace_value(r, is.number ? v->x : v->y);
    const Thing x = trace_value(r, v->x), y = trace_value(r, v->y);
    return x.kind > THING_RECORD ? x : y.kind > THING_RECORD ? y : nothing;
}

/* Names behind these are at the end of their block. */
static void forget(Trace *r, int n_names)
{
    r->n_names = n_names;
    if (r->rules->forget) r->rules->forget(r);
}

/* Returns the function's result. */
static Thing run_function_body(Trace *r, const Stmt *f)
{
    const Stmt *outer = r->now;
    const int blocks = r->blocks;
    r->now = f, r->blocks = 0, r->returned = false;
    run(r, f->body);
    const Thing result = r->returned ? r->result : nothing;
    r->now = outer, r->blocks = blocks, r->returned = false;
    return result;
}

/* Runs a function of the tree with the call's arguments. */
static Thing follow(Trace *r, const Stmt *f, const Value *call)
{
    const int base = r->base, n = r->n_names;
    if (r->depth == TRACE_DEPTH) REFUSE(r, "functions of %s call one another too deep", r->rules->what);
    for (int i = 0; i < call->n && i < f->function->n_params && !r->e; i++) {
        const char *name = f->function->param[i].name;
        const Thing x = trace_value(r, call->list[i]);
        if (name && x.kind != THING_NONE) trace_know(r, name, x);
    }
    if (r->e) return nothing;
    r->base = n, r->depth++;
    const Thing result = run_function_body(r, f);
    r->base = base, r->depth--;
    forget(r, n);
    return result;
}

static Thing of_call(Trace *r, const Value *v)
{
    Thing x = nothing;
    if (r->rules->call(r, v, &x)) return x;
    const Stmt *f = followed(r, v->name);
    if (f) return follow(r, f, v);
    if (r->rules->outside) return r->rules->outside(r, v);
    for (int i = 0; i < v->n; i++) (void)trace_value(r, v->list[i]);
    return nothing;
}

Thing trace_value(Trace *r, const Value *v)
{
    if (!v || r->e) return nothing;
    switch (v->kind) {
    case VALUE_EXPR:
        return of_expr(r, v->expr);
    case VALUE_NAME:
        return named(r, v->name);
    case VALUE_FIELD:
        return field_of(r, v->x->kind == VALUE_NAME ? str_from(v->x->name) : STR_NULL, trace_value(r, v->x),
                        v->name);
    case VALUE_AT:
    case VALUE_CAST:
        return trace_value(r, v->x);
    case VALUE_OP:
        return of_op(r, v);
    case VALUE_SELECT:
        return of_select(r, v);
    case VALUE_CALL:
        return of_call(r, v);
    default:
        return r->rules->memory ? r->rules->memory(r, v) : nothing;
    }
}

/* ---- statements ---- */

void trace_block(Trace *r, const Stmt *list)
{
    const int n = r->n_names;
    r->blocks++;
    run(r, list);
    r->blocks--;
    forget(r, n);
}

static void declare(Trace *r, const Stmt *s)
{
    Thing x = trace_value(r, s->x);
    if (s->kind == STMT_VAR && s->dims[0] && r->rules->array && !r->rules->array(r, s, &x)) return;
    trace_know(r, s->name, x);
}

static void assign(Trace *r, const Stmt *s)
{
    const Thing x = trace_value(r, s->x), to = trace_value(r, s->to);
    if (r->rules->use) r->rules->use(r, x), r->rules->use(r, to);
    Thing *is = s->to->kind == VALUE_NAME ? trace_known(r, s->to->name) : NULL;
    if (!is || to.kind == THING_REGISTERS) return;
    const bool updates = s->kind == STMT_UPDATE && x.kind == THING_NUMBER && is->kind == THING_NUMBER;
    if (s->kind == STMT_UPDATE && is->kind > THING_RECORD) return; /* the same thing at an offset */
    *is = s->kind == STMT_SET ? x : updates ? of_numbers(s->op, is->number, x.number) : nothing;
}

static void condition(Trace *r, const Stmt *s)
{
    const Thing x = trace_value(r, s->x);
    if (x.kind == THING_NUMBER)
        trace_block(r, x.number ? s->body : s->otherwise);
    else if (r->rules->branch)
        r->rules->branch(r, s);
    else if (trace_steers(r, s->body) || trace_steers(r, s->otherwise))
        REFUSE(r, "what %s does to its stages depends on a condition that is not known", r->rules->what);
    else
        trace_block(r, s->body), trace_block(r, s->otherwise);
}

/* Whether a loop has another iteration. */
static bool goes_on(Trace *r, const Loop *l, bool *turns)
{
    const Thing *i = l->var ? trace_known(r, l->var) : NULL;
    const Thing x = l->condition ? trace_value(r, l->condition) : of_expr(r, l->limit);
    if (x.kind != THING_NUMBER || (!l->condition && (!i || i->kind != THING_NUMBER))) return false;
    *turns = l->condition ? x.number : i->number < x.number;
    return true;
}

static void loop(Trace *r, const Stmt *s)
{
    const Loop *l = s->loop;
    const int n = r->n_names, n_records = r->n_records;
    bool turns = true;
    if (!trace_steers(r, s->body)) { /* further iterations do the same */
        if (l->var && l->start) trace_know(r, l->var, nothing);
        trace_block(r, s->body);
        r->n_names = n;
        return;
    }
    if (l->start) trace_know(r, l->var, of_expr(r, l->start));
    for (int i = 0; !r->e; i++) {
        if ((!l->condition && !l->limit) || l->step_by || !goes_on(r, l, &turns) || i == TRACE_TURNS) {
            if (r->rules->turns)
                r->rules->turns(r, s);
            else
                REFUSE(r, "the turns of a loop of %s are not known", r->rules->what);
            break;
        }
        if (r->e || !turns) break;
        trace_block(r, s->body);
        r->n_records = n_records;
        Thing *at = l->var ? trace_known(r, l->var) : NULL;
        if (at) at->number += l->step;
    }
    r->n_names = n;
}

/* A list is a record of the function's type. */
static void give_back(Trace *r, const Stmt *s)
{
    r->returned = true;
    if (r->blocks || !r->now) {
        REFUSE(r, "a function of %s is left early", r->rules->what);
        return;
    }
    if (!s->x || s->x->kind != VALUE_LIST) {
        r->result = trace_value(r, s->x);
        return;
    }
    Thing is = nothing, x[TRACE_FIELDS];
    for (int i = 0; i < s->x->n && i < TRACE_FIELDS; i++) x[i] = trace_value(r, s->x->list[i]);
    const char *type = r->now->function->result;
    Thing *field = type ? trace_record(r, type, &is) : NULL;
    for (int i = 0; field && i < s->x->n && i < TRACE_FIELDS; i++) field[i] = x[i];
    r->result = is;
}

static void one(Trace *r, const Stmt *s)
{
    if (r->rules->statement(r, s)) return;
    switch (s->kind) {
    case STMT_LET:
        trace_know(r, s->name, of_expr(r, s->expr));
        break;
    case STMT_DEFINE:
    case STMT_VAR:
        declare(r, s);
        break;
    case STMT_SET:
    case STMT_UPDATE:
        assign(r, s);
        break;
    case STMT_IF:
        condition(r, s);
        break;
    case STMT_LOOP:
        loop(r, s);
        break;
    case STMT_BLOCK:
        trace_block(r, s->body);
        break;
    case STMT_RETURN:
        give_back(r, s);
        break;
    case STMT_LEAVE:
    case STMT_NEXT:
        REFUSE(r, "a function of %s is left early", r->rules->what);
        break;
    default:
        trace_value(r, s->x);
    }
}

static void run(Trace *r, const Stmt *list)
{
    for (const Stmt *s = list; s && !r->e && !r->returned; s = s->next) one(r, s);
}

/* ---- what steers ---- */

static bool value_steers(Trace *r, const Value *v)
{
    if (!v) return false;
    if (v->kind == VALUE_STAGE) return true;
    for (int i = 0; i < v->n; i++)
        if (value_steers(r, v->list[i])) return true;
    if (v->kind == VALUE_CALL) {
        if (r->rules->call_steers && r->rules->call_steers(r, v->name)) return true;
        const Stmt *f = followed(r, v->name);
        if (f) return trace_steers(r, f->body);
    }
    return value_steers(r, v->x) || value_steers(r, v->y);
}

static bool steers(Trace *r, const Stmt *list)
{
    for (const Stmt *s = list; s; s = s->next)
        if (r->rules->steers(s->kind) || value_steers(r, s->x) || trace_steers(r, s->body) ||
            trace_steers(r, s->otherwise))
            return true;
    return false;
}

bool trace_steers(Trace *r, const Stmt *list)
{
    if (!list) return false;
    for (int i = 0; i < r->n_lists; i++)
        if (r->list[i].list == list) return r->list[i].steers;
    const bool is = steers(r, list);
    if (r->n_lists < TRACE_LISTS) r->list[r->n_lists++] = (Steers){list, is};
    return is;
}

/* ---- the whole ---- */

void trace_body(Trace *r, const Stmt *function)
{
    (void)run_function_body(r, function);
    forget(r, 0);
}

void trace_restart(Trace *r) { r->n_names = r->n_records = r->base = r->depth = 0; }

static Err init(Trace *r, const TraceRules *rules, const Stmts *s)
{
    TRY(stmts_check(s));
    r->rules = rules, r->s = s;
    for (const Stmt *at = s->first; at; at = at->next) {
        if (at->kind != STMT_FUNCTION) continue;
        if (r->n_functions == TRACE_FUNCTIONS) FAIL(ERR_FAILED, "more than %d functions", TRACE_FUNCTIONS);
        r->function[r->n_functions++] = at;
    }
    return ERR_OK;
}

void *trace_new(size_t bytes, const TraceRules *rules, const Stmts *s, const char *function, const Stmt **f)
{
    Trace *r = calloc(1, bytes);
    if (!r) {
        (void)err_set(ERR_FAILED, "out of memory for the stages of a kernel");
        return NULL;
    }
    r->e = init(r, rules, s);
    *f = function ? trace_function(r, function) : NULL;
    if (function && !*f) REFUSE(r, "there is no function %s", function);
    return r;
}

Err trace_free(void *state)
{
    if (!state) return ERR_FAILED;
    const Err e = ((Trace *)state)->e;
    free(state);
    return e;
}
