/* Expressions as text of C, HIP C++ and CUDA C++, with as few brackets as C needs. */
#include "index/expr.h"

#include <string.h>

const ExprStyle expr_c_style = {"uint32_t", "int32_t", "uint64_t", "int64_t", NULL, NULL};
const ExprStyle expr_gpu_style = {"unsigned", "int", "unsigned long long", "long long", NULL, NULL};

/* The type that a value of the text has: as narrow as its range allows, 32 bits at least. */
typedef enum { TYPE_U32, TYPE_I32, TYPE_U64, TYPE_I64 } TextType;

static TextType type_of_range(int64_t lo, int64_t hi)
{
    if (lo >= 0) return hi <= UINT32_MAX ? TYPE_U32 : TYPE_U64;
    return lo >= INT32_MIN && hi <= INT32_MAX ? TYPE_I32 : TYPE_I64;
}

static TextType type_of(const Expr *e) { return type_of_range(e->lo, e->hi); }

static const char *type_name(const ExprStyle *s, TextType t)
{
    return t == TYPE_U32 ? s->u32 : t == TYPE_I32 ? s->i32 : t == TYPE_U64 ? s->u64 : s->i64;
}

const char *expr_type(const ExprStyle *style, const Expr *e) { return type_name(style, type_of(e)); }

/* The type in which x and y, and a result in lo .. hi, are computed without loss. */
static TextType common(const Expr *x, const Expr *y, int64_t lo, int64_t hi)
{
    if (x->lo < lo) lo = x->lo;
    if (y->lo < lo) lo = y->lo;
    if (x->hi > hi) hi = x->hi;
    if (y->hi > hi) hi = y->hi;
    return type_of_range(lo, hi);
}

typedef struct {
    const char *word;
    int precedence;
} Word;
static const Word words[] = {
    [EXPR_ADD] = {" + ", 12}, [EXPR_SUB] = {" - ", 12},  [EXPR_MUL] = {" * ", 13},
    [EXPR_DIV] = {" / ", 13}, [EXPR_MOD] = {" % ", 13},  [EXPR_AND] = {" & ", 8},
    [EXPR_XOR] = {" ^ ", 7},  [EXPR_LT] = {" < ", 10},   [EXPR_LE] = {" <= ", 10},
    [EXPR_EQ] = {" == ", 9},  [EXPR_BOTH] = {" && ", 5}, [EXPR_EITHER] = {" || ", 4},
};
enum { PRECEDENCE_SELECT = 3, PRECEDENCE_CAST = 14 };

static void constant(int64_t v, Buf *out)
{
    buf_i64(out, v);
    if (v > UINT32_MAX || v < INT32_MIN)
        buf_puts(out, v < 0 ? "ll" : "ull");
    else if (v > INT32_MAX)
        buf_putc(out, 'u');
}

/* An operand as a value of type `as`; constants convert by themselves. */
static void operand(const ExprStyle *s, const Expr *e, TextType as, int precedence, Buf *out)
{
    TextType is = type_of(e);
    if (is == as || expr_is_const(e)) {
        expr_print(s, e, precedence, out);
        return;
    }
    bool brackets = precedence > PRECEDENCE_CAST;
    if (brackets) buf_putc(out, '(');
    buf_printf(out, "(%s)", type_name(s, as));
    expr_print(s, e, PRECEDENCE_CAST, out);
    if (brackets) buf_putc(out, ')');
}

/* min and max without a function: a comparison, whose operands are printed twice. */
static void least(const ExprStyle *s, const Expr *e, TextType as, Buf *out)
{
    const char *name = e->kind == EXPR_MIN ? s->min : s->max;
    if (name) {
        buf_printf(out, "%s(", name);
        operand(s, e->x, as, 0, out);
        buf_puts(out, ", ");
        operand(s, e->y, as, 0, out);
        buf_putc(out, ')');
        return;
    }
    buf_putc(out, '(');
    operand(s, e->x, as, 11, out);
    buf_puts(out, e->kind == EXPR_MIN ? " < " : " > ");
    operand(s, e->y, as, 11, out);
    buf_puts(out, " ? ");
    operand(s, e->x, as, PRECEDENCE_SELECT + 1, out);
    buf_puts(out, " : ");
    operand(s, e->y, as, PRECEDENCE_SELECT, out);
    buf_putc(out, ')');
}

/* Whether an operand of type `is` must be cast so that C computes in type `as`. */
static bool needs_cast(const Expr *e, const Expr *other, TextType as)
{
    TextType is = type_of(e);
    if (expr_is_const(e) || is == as) return false;
    if (as == TYPE_U32) return false;
    if (as == TYPE_U64) return type_of(other) != TYPE_U64 || expr_is_const(other);
    return true;
}

static void binary(const ExprStyle *s, const Expr *e, Buf *out)
{
    int at = words[e->kind].precedence;
    const char *word = words[e->kind].word;
    const Expr *x = e->x, *y = e->y;
    Expr positive;
    if (e->kind == EXPR_ADD && expr_is_const(y) && y->lo < 0 && y->lo != INT64_MIN) {
        positive = (Expr){.kind = EXPR_CONST, .lo = -y->lo, .hi = -y->lo};
        word = words[EXPR_SUB].word, y = &positive;
    }
    bool compares = e->kind == EXPR_LT || e->kind == EXPR_LE || e->kind == EXPR_EQ;
    TextType as = common(x, y, compares ? 0 : e->lo, compares ? 0 : e->hi);
    if (e->kind == EXPR_BOTH || e->kind == EXPR_EITHER) as = TYPE_U32;
    bool cast = needs_cast(x, y, as);
    operand(s, x, cast ? as : type_of(x), at, out);
    buf_puts(out, word);
    /* in U64 one wide operand is enough */
    operand(s, y, !(cast && as == TYPE_U64) && needs_cast(y, x, as) ? as : type_of(y), at + 1, out);
}

void expr_print(const ExprStyle *style, const Expr *e, int min_precedence, Buf *out)
{
    int at;
    switch (e->kind) {
    case EXPR_CONST:
        if (e->lo < 0 && min_precedence > PRECEDENCE_CAST) buf_putc(out, '(');
        constant(e->lo, out);
        if (e->lo < 0 && min_precedence > PRECEDENCE_CAST) buf_putc(out, ')');
        return;
    case EXPR_VAR:
    case EXPR_NAMED:
        buf_puts(out, e->name);
        return;
    case EXPR_MIN:
    case EXPR_MAX:
        least(style, e, common(e->x, e->y, 0, 0), out);
        return;
    case EXPR_SELECT:
        at = PRECEDENCE_SELECT;
        if (at < min_precedence) buf_putc(out, '(');
        expr_print(style, e->z, at + 1, out);
        buf_puts(out, " ? ");
        operand(style, e->x, type_of(e), at + 1, out);
        buf_puts(out, " : ");
        operand(style, e->y, type_of(e), at, out);
        if (at < min_precedence) buf_putc(out, ')');
        return;
    default:
        at = words[e->kind].precedence;
        if (at < min_precedence) buf_putc(out, '(');
        binary(style, e, out);
        if (at < min_precedence) buf_putc(out, ')');
    }
}

static void declaration(ExprText *t, const char *name, const Expr *e)
{
    for (int i = 0; i < t->indent; i++) buf_puts(t->out, "    ");
    buf_printf(t->out, "const %s %s = ", expr_type(t->style, e), name);
    expr_print(t->style, e, 0, t->out);
    buf_puts(t->out, ";\n");
}

void expr_declared(ExprText *t, const Expr *e)
{
    if (e->kind != EXPR_NAMED) return;
    if (t->n_declared == EXPR_MAX_DECLARED) {
        t->out->failed = true;
        return;
    }
    t->declared[t->n_declared++] = e;
}

void expr_declare(ExprText *t, const Expr *e)
{
    if (e->x && e->kind != EXPR_NAMED) {
        if (e->z) expr_declare(t, e->z);
        expr_declare(t, e->x);
        if (e->y) expr_declare(t, e->y);
        return;
    }
    if (e->kind != EXPR_NAMED) return;
    for (int i = 0; i < t->n_declared; i++)
        if (t->declared[i] == e || (!strcmp(t->declared[i]->name, e->name) && expr_same(t->declared[i], e)))
            return;
    expr_declare(t, e->x);
    expr_declared(t, e);
    declaration(t, e->name, e->x);
}

void expr_let(ExprText *t, const char *name, const Expr *e)
{
    expr_declare(t, e);
    if (e->kind != EXPR_NAMED || strcmp(e->name, name)) declaration(t, name, e);
}
