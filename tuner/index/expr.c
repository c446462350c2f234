/* Building and evaluating expressions; expr_print.c prints them. See expr.h. */
#include "index/expr.h"

#include <string.h>

static const Expr no_node = {.kind = EXPR_CONST};

void expr_pool_init(ExprPool *p, Arena *arena) { *p = (ExprPool){.arena = arena}; }

void expr_pool_fixed(ExprPool *p, Expr *node, int n_nodes)
{
    *p = (ExprPool){.node = node, .n_nodes = n_nodes};
}

Err expr_pool_check(const ExprPool *p)
{
    if (p->failed) FAIL(ERR_FAILED, "out of memory for an index expression");
    return ERR_OK;
}

static Expr *new_node(ExprPool *p)
{
    if (p->n_used < p->n_nodes) return &p->node[p->n_used++];
    Expr *e = p->arena ? ARENA_NEW(p->arena, Expr) : NULL;
    if (!e) p->failed = true;
    return e;
}

static const Expr *make(ExprPool *p, Expr e)
{
    Expr *to = new_node(p);
    if (!to) return &no_node;
    *to = e;
    return to;
}

const Expr *expr_const(ExprPool *p, int64_t value)
{
    return make(p, (Expr){.kind = EXPR_CONST, .lo = value, .hi = value});
}

const Expr *expr_var(ExprPool *p, const char *name, int slot, int64_t lo, int64_t hi)
{
    return make(p, (Expr){.kind = EXPR_VAR, .name = name, .slot = slot, .lo = lo, .hi = hi});
}

const Expr *expr_name(ExprPool *p, const char *name, const Expr *e)
{
    if (e->kind <= EXPR_NAMED) return e;
    return make(p, (Expr){.kind = EXPR_NAMED, .name = name, .x = e, .lo = e->lo, .hi = e->hi});
}

const Expr *expr_within(ExprPool *p, const Expr *e, int64_t lo, int64_t hi)
{
    if (lo <= e->lo && hi >= e->hi) return e;
    Expr to = *e;
    if (lo > to.lo) to.lo = lo;
    if (hi < to.hi) to.hi = hi;
    return make(p, to);
}

bool expr_same(const Expr *x, const Expr *y)
{
    if (x == y) return true;
    if (x->kind != y->kind) return false;
    switch (x->kind) {
    case EXPR_CONST:
        return x->lo == y->lo;
    case EXPR_VAR:
        return x->slot == y->slot && !strcmp(x->name, y->name);
    case EXPR_NAMED:
        return expr_same(x->x, y->x);
    case EXPR_SELECT:
        return expr_same(x->x, y->x) && expr_same(x->y, y->y) && expr_same(x->z, y->z);
    default:
        return expr_same(x->x, y->x) && expr_same(x->y, y->y);
    }
}

/* ---- numbers ---- */

static bool apply(ExprKind kind, int64_t x, int64_t y, int64_t *v)
{
    switch (kind) {
    case EXPR_ADD:
        return !__builtin_add_overflow(x, y, v);
    case EXPR_SUB:
        return !__builtin_sub_overflow(x, y, v);
    case EXPR_MUL:
        return !__builtin_mul_overflow(x, y, v);
    case EXPR_DIV:
    case EXPR_MOD:
        if (y == 0 || (x == INT64_MIN && y == -1)) return false;
        *v = kind == EXPR_DIV ? x / y : x % y;
        return true;
    case EXPR_AND:
        *v = x & y;
        return true;
    case EXPR_XOR:
        *v = x ^ y;
        return true;
    case EXPR_MIN:
        *v = x < y ? x : y;
        return true;
    case EXPR_MAX:
        *v = x > y ? x : y;
        return true;
    case EXPR_LT:
        *v = x < y;
        return true;
    case EXPR_LE:
        *v = x <= y;
        return true;
    case EXPR_EQ:
        *v = x == y;
        return true;
    case EXPR_BOTH:
        *v = x && y;
        return true;
    case EXPR_EITHER:
        *v = x || y;
        return true;
    default:
        return false;
    }
}

/* Values of named expressions are kept, so that shared ones are evaluated once. */
enum { MEMO = 32 };
typedef struct {
    const int64_t *values;
    const Expr *seen[MEMO];
    int64_t value[MEMO];
    int n;
} Evaluation;

static bool eval(Evaluation *ev, const Expr *e, int64_t *value)
{
    int64_t x, y;
    switch (e->kind) {
    case EXPR_CONST:
        *value = e->lo;
        return true;
    case EXPR_VAR:
        *value = ev->values[e->slot];
        return true;
    case EXPR_NAMED:
        for (int i = 0; i < ev->n; i++)
            if (ev->seen[i] == e) {
                *value = ev->value[i];
                return true;
            }
        if (!eval(ev, e->x, value)) return false;
        if (ev->n < MEMO) {
            ev->seen[ev->n] = e;
            ev->value[ev->n++] = *value;
        }
        return true;
    case EXPR_SELECT:
        return eval(ev, e->z, &x) && eval(ev, x ? e->x : e->y, value);
    case EXPR_BOTH:
    case EXPR_EITHER:
        if (!eval(ev, e->x, &x)) return false;
        if (!x == (e->kind == EXPR_BOTH)) { /* the second operand is not evaluated, as in C */
            *value = x != 0;
            return true;
        }
        if (!eval(ev, e->y, &y)) return false;
        *value = y != 0;
        return true;
    default:
        return eval(ev, e->x, &x) && eval(ev, e->y, &y) && apply(e->kind, x, y, value);
    }
}

bool expr_eval(const Expr *e, const int64_t *values, int64_t *value)
{
    Evaluation ev;
    ev.values = values;
    ev.n = 0;
    return eval(&ev, e, value);
}

/* ---- ranges ---- */

typedef struct {
    int64_t lo, hi;
} Range;

static int64_t saturated(ExprKind kind, int64_t x, int64_t y)
{
    int64_t v;
    if (apply(kind, x, y, &v)) return v;
    bool negative = kind == EXPR_MUL ? (x < 0) != (y < 0) : x < 0;
    return negative ? INT64_MIN : INT64_MAX;
}

static Range corners(ExprKind kind, const Expr *x, const Expr *y)
{
    int64_t c[4] = {saturated(kind, x->lo, y->lo), saturated(kind, x->lo, y->hi),
                    saturated(kind, x->hi, y->lo), saturated(kind, x->hi, y->hi)};
    Range r = {c[0], c[0]};
    for (int i = 1; i < 4; i++) {
        if (c[i] < r.lo) r.lo = c[i];
        if (c[i] > r.hi) r.hi = c[i];
    }
    return r;
}

/* All ones as wide as v. */
static int64_t ones(int64_t v)
{
    int64_t n = 0;
    while (n < v) n = n * 2 + 1;
    return n;
}

static bool natural(const Expr *x, const Expr *y) { return x->lo >= 0 && y->lo >= 0; }

static Range range_of(ExprKind kind, const Expr *x, const Expr *y)
{
    const Range all = {INT64_MIN, INT64_MAX};
    switch (kind) {
    case EXPR_ADD:
        return (Range){saturated(kind, x->lo, y->lo), saturated(kind, x->hi, y->hi)};
    case EXPR_SUB:
        return (Range){saturated(kind, x->lo, y->hi), saturated(kind, x->hi, y->lo)};
    case EXPR_MUL:
        return corners(kind, x, y);
    case EXPR_DIV:
        return y->lo > 0 ? corners(kind, x, y) : all;
    case EXPR_MOD:
        if (y->lo <= 0) return all;
        return (Range){x->lo < 0 ? 1 - y->hi : 0, x->hi < y->hi - 1 && x->lo >= 0 ? x->hi : y->hi - 1};
    case EXPR_AND:
        if (y->lo >= 0) return (Range){0, x->lo >= 0 && x->hi < y->hi ? x->hi : y->hi};
        return x->lo >= 0 ? (Range){0, x->hi} : all;
    case EXPR_XOR:
        return natural(x, y) ? (Range){0, ones(x->hi > y->hi ? x->hi : y->hi)} : all;
    case EXPR_MIN:
        return (Range){x->lo < y->lo ? x->lo : y->lo, x->hi < y->hi ? x->hi : y->hi};
    case EXPR_MAX:
        return (Range){x->lo > y->lo ? x->lo : y->lo, x->hi > y->hi ? x->hi : y->hi};
    default:
        return (Range){0, 1};
    }
}

/* ---- simplifying ---- */

static bool times_const(const Expr *e, int64_t *c)
{
    if (e->kind != EXPR_MUL || !expr_is_const(e->y)) return false;
    *c = e->y->lo;
    return true;
}

/* e / c or e % c for a constant c > 0 of what is a * (c * n) + b, or nested divisions. NULL: as it is. */
static const Expr *divide(ExprPool *p, ExprKind kind, const Expr *e, int64_t c)
{
    int64_t by;
    bool div = kind == EXPR_DIV;
    if (e->lo < 0 || c <= 0) return NULL;
    if (c == 1) return div ? e : expr_const(p, 0);
    if (e->hi < c) return div ? expr_const(p, 0) : e;
    if (times_const(e, &by) && by % c == 0) return div ? expr_mul_i(p, e->x, by / c) : expr_const(p, 0);
    if (e->kind == EXPR_ADD && natural(e->x, e->y)) {
        for (int side = 0; side < 2; side++) {
            const Expr *whole = side ? e->y : e->x, *rest = side ? e->x : e->y;
            bool multiple =
                expr_is_const(whole) ? whole->lo % c == 0 : times_const(whole, &by) && by % c == 0;
            if (!multiple) continue;
            const Expr *part = expr_op(p, kind, rest, expr_const(p, c));
            return div ? expr_add(p, expr_div_i(p, whole, c), part) : part;
        }
    }
    if (div && e->kind == EXPR_DIV && expr_is_const(e->y) && e->y->lo > 0 && e->y->lo <= INT32_MAX &&
        c <= INT32_MAX && e->x->lo >= 0)
        return expr_div_i(p, e->x, e->y->lo * c);
    if (!div && e->kind == EXPR_MOD && expr_is_const(e->y) && e->y->lo % c == 0 && e->x->lo >= 0)
        return expr_mod_i(p, e->x, c);
    return NULL;
}

static const Expr *sum(ExprPool *p, const Expr *x, const Expr *y)
{
    int64_t c;
    if (expr_is_const(x)) { /* constants stand behind */
        const Expr *t = x;
        x = y, y = t;
    }
    if (expr_is(y, 0)) return x;
    if (expr_is_const(y) && x->kind == EXPR_ADD && expr_is_const(x->y) &&
        apply(EXPR_ADD, x->y->lo, y->lo, &c))
        return expr_add(p, x->x, expr_const(p, c));
    Range r = range_of(EXPR_ADD, x, y);
    return make(p, (Expr){.kind = EXPR_ADD, .x = x, .y = y, .lo = r.lo, .hi = r.hi});
}

static const Expr *product(ExprPool *p, const Expr *x, const Expr *y)
{
    int64_t c;
    if (expr_is_const(x)) {
        const Expr *t = x;
        x = y, y = t;
    }
    if (expr_is(y, 0) || expr_is(x, 0)) return expr_const(p, 0);
    if (expr_is(y, 1)) return x;
    if (expr_is_const(y) && times_const(x, &c) && apply(EXPR_MUL, c, y->lo, &c))
        return expr_mul_i(p, x->x, c);
    Range r = range_of(EXPR_MUL, x, y);
    return make(p, (Expr){.kind = EXPR_MUL, .x = x, .y = y, .lo = r.lo, .hi = r.hi});
}

static bool truth(const Expr *e) { return e->lo >= 0 && e->hi <= 1; }

/* What the ranges or the operands say already; NULL: nothing. */
static const Expr *known(ExprPool *p, ExprKind kind, const Expr *x, const Expr *y)
{
    switch (kind) {
    case EXPR_SUB:
        if (expr_same(x, y)) return expr_const(p, 0);
        return expr_is_const(y) && y->lo != INT64_MIN ? expr_add_i(p, x, -y->lo) : NULL;
    case EXPR_DIV:
    case EXPR_MOD:
        return expr_is_const(y) ? divide(p, kind, x, y->lo) : NULL;
    case EXPR_AND:
        if (expr_is(y, 0) || expr_is(x, 0)) return expr_const(p, 0);
        return expr_is_const(y) && y->lo == ones(y->lo) && x->lo >= 0 && x->hi <= y->lo ? x : NULL;
    case EXPR_XOR:
        if (expr_is(x, 0)) return y;
        return expr_is(y, 0) ? x : NULL;
    case EXPR_MIN:
        if (x->hi <= y->lo) return x;
        return y->hi <= x->lo ? y : NULL;
    case EXPR_MAX:
        if (x->lo >= y->hi) return x;
        return y->lo >= x->hi ? y : NULL;
    case EXPR_LT:
        if (x->hi < y->lo) return expr_const(p, 1);
        return x->lo >= y->hi ? expr_const(p, 0) : NULL;
    case EXPR_LE:
        if (x->hi <= y->lo) return expr_const(p, 1);
        return x->lo > y->hi ? expr_const(p, 0) : NULL;
    case EXPR_EQ:
        if (expr_same(x, y)) return expr_const(p, 1);
        return x->hi < y->lo || x->lo > y->hi ? expr_const(p, 0) : NULL;
    case EXPR_BOTH:
        if (expr_is(x, 0) || expr_is(y, 0)) return expr_const(p, 0);
        if (x->lo > 0 && truth(y)) return y;
        return y->lo > 0 && truth(x) ? x : NULL;
    case EXPR_EITHER:
        if (x->lo > 0 || y->lo > 0) return expr_const(p, 1);
        if (expr_is(x, 0) && truth(y)) return y;
        return expr_is(y, 0) && truth(x) ? x : NULL;
    default:
        return NULL;
    }
}

const Expr *expr_op(ExprPool *p, ExprKind kind, const Expr *x, const Expr *y)
{
    int64_t v;
    if (expr_is_const(x) && expr_is_const(y) && apply(kind, x->lo, y->lo, &v)) return expr_const(p, v);
    if (kind == EXPR_ADD) return sum(p, x, y);
    if (kind == EXPR_MUL) return product(p, x, y);
    const Expr *e = known(p, kind, x, y);
    if (e) return e;
    Range r = range_of(kind, x, y);
    return make(p, (Expr){.kind = kind, .x = x, .y = y, .lo = r.lo, .hi = r.hi});
}

const Expr *expr_select(ExprPool *p, const Expr *condition, const Expr *then, const Expr *otherwise)
{
    if (expr_is_const(condition)) return condition->lo ? then : otherwise;
    if (condition->lo > 0) return then;
    if (expr_same(then, otherwise)) return then;
    return make(p, (Expr){.kind = EXPR_SELECT,
                          .x = then,
                          .y = otherwise,
                          .z = condition,
                          .lo = then->lo < otherwise->lo ? then->lo : otherwise->lo,
                          .hi = then->hi > otherwise->hi ? then->hi : otherwise->hi});
}

const Expr *expr_ceil_div(ExprPool *p, const Expr *x, const Expr *y)
{
    if (expr_is(y, 1)) return x;
    const Expr *rest = expr_op(p, EXPR_LT, expr_const(p, 0), expr_mod(p, x, y));
    return expr_add(p, expr_div(p, x, y), rest);
}
