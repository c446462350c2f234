/* Building expressions, simplified; expr_eval.c evaluates them, expr_print.c prints them. See expr.h. */
#include "index/expr_internal.h"

#include <string.h>

#include "base/integer.h"

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
    int64_t factor = value == INT64_MIN ? 1 : value < 0 ? -value : value;
    return make(p, (Expr){.kind = EXPR_CONST, .lo = value, .hi = value, .factor = factor});
}

const Expr *expr_var(ExprPool *p, const char *name, int slot, int64_t lo, int64_t hi)
{
    return make(p, (Expr){.kind = EXPR_VAR, .name = name, .slot = slot, .lo = lo, .hi = hi, .factor = 1});
}

const Expr *expr_kept(ExprPool *p, const char *name, const Expr *e)
{
    if (expr_is_const(e)) return e;
    return make(
        p, (Expr){.kind = EXPR_NAMED, .name = name, .x = e, .lo = e->lo, .hi = e->hi, .factor = e->factor});
}

const Expr *expr_name(ExprPool *p, const char *name, const Expr *e)
{
    return e->kind <= EXPR_NAMED ? e : expr_kept(p, name, e);
}

const Expr *expr_within(ExprPool *p, const Expr *e, int64_t lo, int64_t hi)
{
    if (lo <= e->lo && hi >= e->hi) return e;
    Expr to = *e;
    if (lo > to.lo) to.lo = lo;
    if (hi < to.hi) to.hi = hi;
    return make(p, to);
}

const Expr *expr_multiple(ExprPool *p, const Expr *e, int64_t factor)
{
    if (factor < 2 || e->factor % factor == 0) return e;
    Expr to = *e;
    to.factor = factor;
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
        return x->slot == y->slot && (x->name == y->name || !strcmp(x->name, y->name));
    case EXPR_NAMED:
        return expr_same(x->x, y->x);
    case EXPR_SELECT:
        return expr_same(x->x, y->x) && expr_same(x->y, y->y) && expr_same(x->z, y->z);
    default:
        return expr_same(x->x, y->x) && expr_same(x->y, y->y);
    }
}

const Expr *expr_base(ExprPool *p, const Expr *e, int64_t *c)
{
    *c = 0;
    if (expr_is_const(e)) {
        *c = e->lo;
        return expr_const(p, 0);
    }
    if (e->kind != EXPR_ADD || !expr_is_const(e->y)) return e;
    *c = e->y->lo;
    return e->x;
}

bool expr_has(const Expr *e, int slot)
{
    if (e->kind == EXPR_VAR) return e->slot == slot;
    if (!e->x) return false;
    return expr_has(e->x, slot) || (e->y && expr_has(e->y, slot)) || (e->z && expr_has(e->z, slot));
}

void expr_split(ExprPool *p, const Expr *e, int slot, const Expr **without, const Expr **with)
{
    const Expr *a[2], *b[2];
    if (!expr_has(e, slot)) {
        *without = e, *with = expr_const(p, 0);
    } else if (e->kind == EXPR_MUL && expr_is_const(e->y)) {
        expr_split(p, e->x, slot, &a[0], &b[0]);
        *without = expr_mul(p, a[0], e->y), *with = expr_mul(p, b[0], e->y);
    } else if (e->kind != EXPR_ADD) {
        *without = expr_const(p, 0), *with = e;
    } else {
        expr_split(p, e->x, slot, &a[0], &b[0]);
        expr_split(p, e->y, slot, &a[1], &b[1]);
        *without = expr_add(p, a[0], a[1]), *with = expr_add(p, b[0], b[1]);
    }
}

/* ---- ranges ---- */

typedef struct {
    int64_t lo, hi;
} Range;

static int64_t saturated(ExprKind kind, int64_t x, int64_t y)
{
    int64_t v;
    if (expr_apply(kind, x, y, &v)) return v;
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

/* The smallest 2^n - 1 that is not below v. */
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

/* ---- factors ---- */

/* A number that divides x op y for all values of the variables. */
static int64_t factor_of(ExprKind kind, const Expr *x, const Expr *y)
{
    int64_t f;
    switch (kind) {
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MIN:
    case EXPR_MAX:
    case EXPR_MOD:
        return int_gcd(x->factor, y->factor);
    case EXPR_MUL:
        if (__builtin_mul_overflow(x->factor, y->factor, &f)) f = x->factor;
        return f;
    case EXPR_DIV:
        return expr_is_const(y) && y->lo > 0 && x->factor % y->lo == 0 ? x->factor / y->lo : 1;
    case EXPR_XOR:
        f = int_gcd(x->factor, y->factor);
        return f & -f; /* low bits that are 0 in both */
    default:
        return 1;
    }
}

static const Expr *node(ExprPool *p, ExprKind kind, const Expr *x, const Expr *y)
{
    Range r = range_of(kind, x, y);
    int64_t factor = factor_of(kind, x, y);
    return make(p, (Expr){.kind = kind, .x = x, .y = y, .lo = r.lo, .hi = r.hi, .factor = factor});
}

/* ---- simplifying ---- */

static bool times_const(const Expr *e, int64_t *c)
{
    if (e->kind != EXPR_MUL || !expr_is_const(e->y)) return false;
    *c = e->y->lo;
    return true;
}

/* The terms of a sum, none of them negative, and its constant. */
enum { TERMS_MAX = 16 };
typedef struct {
    const Expr *term[TERMS_MAX];
    int n;
    int64_t constant;
} Terms;

static bool collect(Terms *t, const Expr *e)
{
    if (e->kind == EXPR_ADD && natural(e->x, e->y)) return collect(t, e->x) && collect(t, e->y);
    if (expr_is_const(e)) return !__builtin_add_overflow(t->constant, e->lo, &t->constant);
    if (t->n == TERMS_MAX) return false;
    t->term[t->n++] = e;
    return true;
}

static const Expr *sum_of(ExprPool *p, const Terms *t)
{
    if (t->n == 0) return expr_const(p, t->constant);
    const Expr *e = t->term[0];
    for (int i = 1; i < t->n; i++) e = expr_add(p, e, t->term[i]);
    return t->constant ? expr_add_i(p, e, t->constant) : e;
}

static int64_t most(const Terms *t)
{
    int64_t v = t->constant;
    for (int i = 0; i < t->n; i++)
        if (__builtin_add_overflow(v, t->term[i]->hi, &v)) return INT64_MAX;
    return v;
}

/* Separates the terms that are multiples of f from the others. */
static void part_by_factor(const Terms *t, int64_t f, Terms *with, Terms *without)
{
    with->n = without->n = 0;
    without->constant = t->constant % f;
    with->constant = t->constant - without->constant;
    for (int i = 0; i < t->n; i++) {
        Terms *to = t->term[i]->factor % f == 0 ? with : without;
        to->term[to->n++] = t->term[i];
    }
}

/* Whether every term is a product with a constant that c divides: the division is then exact and
 * costs nothing. */
static bool divides_free(const Terms *t, int64_t c)
{
    int64_t by;
    for (int i = 0; i < t->n; i++)
        if (!times_const(t->term[i], &by) || by % c) return false;
    return true;
}

/* e / c or e % c of a sum: terms that are multiples of c are taken out of the division, and so are terms that
 * are too small to carry into the quotient. */
static const Expr *divide_sum(ExprPool *p, ExprKind kind, const Expr *e, int64_t c)
{
    Terms all = {.n = 0}, with, without;
    bool div = kind == EXPR_DIV;
    if (e->kind != EXPR_ADD || !collect(&all, e) || (all.n + (all.constant > 0)) < 2) return NULL;
    part_by_factor(&all, c, &with, &without);
    if (with.n + (with.constant > 0) && (!div || most(&without) < c || divides_free(&with, c))) {
        const Expr *rest = expr_op(p, kind, sum_of(p, &without), expr_const(p, c));
        if (!div) return rest;
        const Expr *whole = expr_const(p, with.constant / c);
        for (int i = with.n - 1; i >= 0; i--) whole = expr_add(p, expr_div_i(p, with.term[i], c), whole);
        return expr_within(p, expr_add(p, whole, rest), e->lo / c, e->hi / c);
    }
    for (int i = 0; i < all.n; i++) {
        int64_t g = int_gcd(all.term[i]->factor, c);
        if (g < 2) continue;
        part_by_factor(&all, g, &with, &without);
        if (most(&without) >= g || (without.n == 0 && without.constant == 0)) continue;
        const Expr *big = expr_op(p, kind, sum_of(p, &with), expr_const(p, c));
        return div ? big : expr_add(p, big, sum_of(p, &without));
    }
    return NULL;
}

/* e / c or e % c for a constant c > 0; NULL when it cannot be simplified. */
static const Expr *divide(ExprPool *p, ExprKind kind, const Expr *e, int64_t c)
{
    int64_t by, g;
    bool div = kind == EXPR_DIV;
    if (e->lo < 0 || c <= 0) return NULL;
    if (c == 1) return div ? e : expr_const(p, 0);
    if (e->hi < c) return div ? expr_const(p, 0) : e;
    if (!div && e->factor % c == 0) return expr_const(p, 0);
    if (times_const(e, &by) && by > 0 && (g = int_gcd(by, c)) > 1) {
        const Expr *x = expr_op(p, kind, expr_mul_i(p, e->x, by / g), expr_const(p, c / g));
        return div ? x : expr_mul_i(p, x, g);
    }
    if (div && e->kind == EXPR_DIV && expr_is_const(e->y) && e->y->lo > 0 && e->y->lo <= INT32_MAX &&
        c <= INT32_MAX && e->x->lo >= 0)
        return expr_div_i(p, e->x, e->y->lo * c);
    if (!div && e->kind == EXPR_MOD && expr_is_const(e->y) && e->y->lo % c == 0 && e->x->lo >= 0)
        return expr_mod_i(p, e->x, c);
    return divide_sum(p, kind, e, c);
}

/* Whether e is x + c with a constant c, and its range was not narrowed by expr_within. */
static bool plus_const(const Expr *e, int64_t *c)
{
    if (e->kind != EXPR_ADD || !expr_is_const(e->y)) return false;
    Range r = range_of(EXPR_ADD, e->x, e->y);
    *c = e->y->lo;
    return r.lo == e->lo && r.hi == e->hi;
}

/* A sum's constant is its last term. */
static const Expr *sum(ExprPool *p, const Expr *x, const Expr *y)
{
    int64_t c, d;
    if (expr_is_const(x)) {
        const Expr *t = x;
        x = y, y = t;
    }
    if (expr_is(y, 0)) return x;
    if (expr_is_const(y) && x->kind == EXPR_ADD && expr_is_const(x->y) &&
        expr_apply(EXPR_ADD, x->y->lo, y->lo, &c))
        return expr_add(p, x->x, expr_const(p, c));
    if (!expr_is_const(y)) {
        bool in_x = plus_const(x, &c), in_y = plus_const(y, &d);
        if (in_x && in_y && expr_apply(EXPR_ADD, c, d, &c))
            return expr_add(p, expr_add(p, x->x, y->x), expr_const(p, c));
        if (in_x && !in_y) return expr_add(p, expr_add(p, x->x, y), x->y);
        if (in_y && !in_x) return expr_add(p, expr_add(p, x, y->x), y->y);
    }
    return node(p, EXPR_ADD, x, y);
}

static const Expr *product(ExprPool *p, const Expr *x, const Expr *y)
{
    int64_t c, d;
    if (expr_is_const(x)) {
        const Expr *t = x;
        x = y, y = t;
    }
    if (expr_is(y, 0) || expr_is(x, 0)) return expr_const(p, 0);
    if (expr_is(y, 1)) return x;
    if (expr_is_const(y) && times_const(x, &c) && expr_apply(EXPR_MUL, c, y->lo, &c))
        return expr_mul_i(p, x->x, c);
    if (expr_is_const(y) && plus_const(x, &c) && expr_apply(EXPR_MUL, c, y->lo, &d)) {
        Range r = range_of(EXPR_MUL, x->x, y);
        if (r.lo > INT64_MIN && r.hi < INT64_MAX) return expr_add_i(p, expr_mul(p, x->x, y), d);
    }
    return node(p, EXPR_MUL, x, y);
}

/* (x + c) ^ y as (x ^ y) + c where all bits of y are below those of c; NULL when that does not hold. */
static const Expr *exclusive(ExprPool *p, const Expr *x, const Expr *y)
{
    int64_t c;
    if (!plus_const(x, &c)) return NULL;
    int64_t bits = ones(y->hi);
    if (x->x->lo < 0 || y->lo < 0 || c <= 0 || (c & bits)) return NULL;
    return expr_add_i(p, expr_op(p, EXPR_XOR, x->x, y), c);
}

static bool truth(const Expr *e) { return e->lo >= 0 && e->hi <= 1; }

/* The result where ranges or operands determine it; else NULL. */
static const Expr *known(ExprPool *p, ExprKind kind, const Expr *x, const Expr *y)
{
    const Expr *e;
    switch (kind) {
    case EXPR_SUB:
        if (expr_same(x, y)) return expr_const(p, 0);
        return expr_is_const(y) && y->lo != INT64_MIN ? expr_add_i(p, x, -y->lo) : NULL;
    case EXPR_DIV:
    case EXPR_MOD:
        if (expr_is(x, 0) && y->lo > 0) return x;
        return expr_is_const(y) ? divide(p, kind, x, y->lo) : NULL;
    case EXPR_AND:
        if (expr_is(y, 0) || expr_is(x, 0)) return expr_const(p, 0);
        if (!expr_is_const(y) || y->lo != ones(y->lo) || y->lo == INT64_MAX || x->lo < 0) return NULL;
        return expr_mod_i(p, x, y->lo + 1);
    case EXPR_XOR:
        if (expr_is(x, 0)) return y;
        if (expr_is(y, 0)) return x;
        e = exclusive(p, x, y);
        return e ? e : exclusive(p, y, x);
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
    if (expr_is_const(x) && expr_is_const(y) && expr_apply(kind, x->lo, y->lo, &v)) return expr_const(p, v);
    if (kind == EXPR_ADD) return sum(p, x, y);
    if (kind == EXPR_MUL) return product(p, x, y);
    const Expr *e = known(p, kind, x, y);
    if (e) return e;
    return node(p, kind, x, y);
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
                          .hi = then->hi > otherwise->hi ? then->hi : otherwise->hi,
                          .factor = int_gcd(then->factor, otherwise->factor)});
}

const Expr *expr_ceil_div(ExprPool *p, const Expr *x, const Expr *y)
{
    if (expr_is(y, 1)) return x;
    const Expr *rest = expr_op(p, EXPR_LT, expr_const(p, 0), expr_mod(p, x, y));
    return expr_add(p, expr_div(p, x, y), rest);
}
