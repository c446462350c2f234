/* Evaluating expressions, on one set of values and on those of the lanes of a wave. See expr.h. */
#include "index/expr.h"
#include "index/expr_internal.h"

bool expr_apply(ExprKind kind, int64_t x, int64_t y, int64_t *v)
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
        return eval(ev, e->x, &x) && eval(ev, e->y, &y) && expr_apply(e->kind, x, y, value);
    }
}

bool expr_eval(const Expr *e, const int64_t *values, int64_t *value)
{
    Evaluation ev;
    ev.values = values;
    ev.n = 0;
    return eval(&ev, e, value);
}

bool expr_eval_by(const Expr *e, ExprValueOf *of, void *context, int64_t *value)
{
    int64_t x, y;
    if (e->lo == e->hi) {
        *value = e->lo;
        return true;
    }
    if (e->kind == EXPR_VAR) return of(context, e, value);
    if (e->kind == EXPR_NAMED) return of(context, e, value) || expr_eval_by(e->x, of, context, value);
    if (e->kind == EXPR_SELECT)
        return expr_eval_by(e->z, of, context, &x) && expr_eval_by(x ? e->x : e->y, of, context, value);
    return expr_eval_by(e->x, of, context, &x) && expr_eval_by(e->y, of, context, &y) &&
           expr_apply(e->kind, x, y, value);
}

/* ---- all lanes of a wave ---- */

typedef struct {
    int n;
    const int64_t *const *values;
} Lanes;

static bool known_to_fit(const Expr *e) { return e->lo > INT64_MIN && e->hi < INT64_MAX; }

/* x becomes x op c; false when the operation needs an overflow check. */
static bool lanes_const(const Expr *e, int n, int64_t *x, int64_t c)
{
    bool shifts = e->x->lo >= 0 && c > 0 && (c & (c - 1)) == 0;
    int by = shifts ? __builtin_ctzll((unsigned long long)c) : 0;
    switch (e->kind) {
    case EXPR_ADD:
        if (!known_to_fit(e)) return false;
        for (int i = 0; i < n; i++) x[i] += c;
        return true;
    case EXPR_MUL:
        if (!known_to_fit(e)) return false;
        for (int i = 0; i < n; i++) x[i] *= c;
        return true;
    case EXPR_DIV:
        if (!shifts) return false;
        for (int i = 0; i < n; i++) x[i] >>= by;
        return true;
    case EXPR_MOD:
        if (!shifts) return false;
        for (int i = 0; i < n; i++) x[i] &= c - 1;
        return true;
    default:
        return false;
    }
}

/* x becomes x op y. */
static bool lanes_apply(const Expr *e, int n, int64_t *x, const int64_t *y)
{
    if (e->kind == EXPR_ADD && known_to_fit(e)) {
        for (int i = 0; i < n; i++) x[i] += y[i];
        return true;
    }
    for (int i = 0; i < n; i++)
        if (!expr_apply(e->kind, x[i], y[i], &x[i])) return false;
    return true;
}

static bool lanes_eval(const Lanes *l, const Expr *e, int64_t *value)
{
    int64_t y[EXPR_LANES_MAX], z[EXPR_LANES_MAX];
    switch (e->kind) {
    case EXPR_CONST:
        for (int i = 0; i < l->n; i++) value[i] = e->lo;
        return true;
    case EXPR_VAR:
        for (int i = 0; i < l->n; i++) value[i] = l->values[e->slot][i];
        return true;
    case EXPR_NAMED:
        return lanes_eval(l, e->x, value);
    case EXPR_SELECT:
        if (!lanes_eval(l, e->z, z) || !lanes_eval(l, e->x, value) || !lanes_eval(l, e->y, y)) return false;
        for (int i = 0; i < l->n; i++)
            if (!z[i]) value[i] = y[i];
        return true;
    default:
        if (!lanes_eval(l, e->x, value)) return false;
        if (expr_is_const(e->y) && lanes_const(e, l->n, value, e->y->lo)) return true;
        return lanes_eval(l, e->y, y) && lanes_apply(e, l->n, value, y);
    }
}

bool expr_eval_lanes(const Expr *e, int n, const int64_t *const *values, int64_t *value)
{
    const Lanes l = {n, values};
    return n <= EXPR_LANES_MAX && lanes_eval(&l, e, value);
}
