/* Integer expressions of the kernel program: where a work-group's tile is, where an element lies, which
 * elements a thread copies.
 *
 * An expression is built once and used three ways: printed into kernel texts (expr_print), evaluated on
 * numbers by the launcher, by bank counting and by models (expr_eval), and asked for the range that it can
 * have (lo, hi), which decides between 32 and 64 bits and which guards are needed. Constructors simplify with
 * the ranges of their operands and with the factors of which they are multiples, so a formula may be written
 * in full and costs nothing where tiles fit. The constant of a sum becomes its last, outermost term.
 *
 * Division and remainder are C's: they truncate. They are only simplified where both operands cannot be
 * negative. Nodes are immutable and live in their pool. A pool that runs out of memory returns a constant and
 * sets `failed`: check once, with expr_pool_check.
 */
#ifndef INDEX_EXPR_H
#define INDEX_EXPR_H

#include "base/arena.h"

typedef enum {
    EXPR_CONST,
    EXPR_VAR,   /* a parameter, thread, group or loop counter: its value comes from outside */
    EXPR_NAMED, /* another expression that the text computes once, into a variable of that name */
    EXPR_ADD,
    EXPR_SUB,
    EXPR_MUL,
    EXPR_DIV,
    EXPR_MOD,
    EXPR_AND, /* bitwise, like XOR */
    EXPR_XOR,
    EXPR_MIN,
    EXPR_MAX,
    EXPR_LT, /* 0 or 1, like the following four */
    EXPR_LE,
    EXPR_EQ,
    EXPR_BOTH,
    EXPR_EITHER,
    EXPR_SELECT /* z ? x : y */
} ExprKind;

typedef struct Expr Expr;
struct Expr {
    ExprKind kind;
    int slot;         /* VAR: index of its value in expr_eval's array */
    int64_t lo, hi;   /* the value's range; a constant has lo == hi */
    int64_t factor;   /* the value is a multiple of it; 0 only for the constant 0 */
    const char *name; /* VAR, NAMED; must outlive the pool */
    const Expr *x, *y, *z;
};

typedef struct {
    Arena *arena; /* NULL: only the nodes of the array */
    Expr *node;
    int n_nodes, n_used;
    bool failed;
} ExprPool;

/* Takes nodes from an arena. */
void expr_pool_init(ExprPool *p, Arena *arena);
/* Takes nodes from an array of the caller's; for short expressions on a path that must not allocate. */
void expr_pool_fixed(ExprPool *p, Expr *node, int n_nodes);
/* Frees the nodes that were taken from a fixed pool since n_used was `mark`. */
static inline void expr_pool_back(ExprPool *p, int mark)
{
    if (!p->arena) p->n_used = mark;
}
/* ERR_FAILED when a node was missing. */
Err expr_pool_check(const ExprPool *p);

/* ---- building ---- */

const Expr *expr_const(ExprPool *p, int64_t value);
/* A variable whose values are in lo .. hi. */
const Expr *expr_var(ExprPool *p, const char *name, int slot, int64_t lo, int64_t hi);
/* e as an EXPR_NAMED node; constants and variables are returned as they are. */
const Expr *expr_name(ExprPool *p, const char *name, const Expr *e);
/* The same, but only constants are returned as they are. */
const Expr *expr_kept(ExprPool *p, const char *name, const Expr *e);
/* The same value with the narrower range lo .. hi, which the caller guarantees. */
const Expr *expr_within(ExprPool *p, const Expr *e, int64_t lo, int64_t hi);
/* The same for values that are not negative and have 32 or 31 bits: numbers of tiles, sizes, indices. */
static inline const Expr *expr_u32(ExprPool *p, const Expr *e) { return expr_within(p, e, 0, UINT32_MAX); }
static inline const Expr *expr_u31(ExprPool *p, const Expr *e) { return expr_within(p, e, 0, INT32_MAX); }
/* The same value as a multiple of factor, which the caller guarantees. */
const Expr *expr_multiple(ExprPool *p, const Expr *e, int64_t factor);
/* kind: ADD to EITHER. */
const Expr *expr_op(ExprPool *p, ExprKind kind, const Expr *x, const Expr *y);
const Expr *expr_select(ExprPool *p, const Expr *condition, const Expr *then, const Expr *otherwise);

static inline const Expr *expr_add(ExprPool *p, const Expr *x, const Expr *y)
{
    return expr_op(p, EXPR_ADD, x, y);
}
static inline const Expr *expr_sub(ExprPool *p, const Expr *x, const Expr *y)
{
    return expr_op(p, EXPR_SUB, x, y);
}
static inline const Expr *expr_mul(ExprPool *p, const Expr *x, const Expr *y)
{
    return expr_op(p, EXPR_MUL, x, y);
}
static inline const Expr *expr_div(ExprPool *p, const Expr *x, const Expr *y)
{
    return expr_op(p, EXPR_DIV, x, y);
}
static inline const Expr *expr_mod(ExprPool *p, const Expr *x, const Expr *y)
{
    return expr_op(p, EXPR_MOD, x, y);
}
static inline const Expr *expr_add_i(ExprPool *p, const Expr *x, int64_t y)
{
    return expr_op(p, EXPR_ADD, x, expr_const(p, y));
}
static inline const Expr *expr_mul_i(ExprPool *p, const Expr *x, int64_t y)
{
    return expr_op(p, EXPR_MUL, x, expr_const(p, y));
}
static inline const Expr *expr_div_i(ExprPool *p, const Expr *x, int64_t y)
{
    return expr_op(p, EXPR_DIV, x, expr_const(p, y));
}
static inline const Expr *expr_mod_i(ExprPool *p, const Expr *x, int64_t y)
{
    return expr_op(p, EXPR_MOD, x, expr_const(p, y));
}
static inline const Expr *expr_and_i(ExprPool *p, const Expr *x, int64_t y)
{
    return expr_op(p, EXPR_AND, x, expr_const(p, y));
}
/* x / y rounded up; x >= 0, y > 0. */
const Expr *expr_ceil_div(ExprPool *p, const Expr *x, const Expr *y);

static inline bool expr_is_const(const Expr *e) { return e->kind == EXPR_CONST; }
static inline bool expr_is(const Expr *e, int64_t value) { return e->kind == EXPR_CONST && e->lo == value; }
/* Whether both have the same structure. */
bool expr_same(const Expr *x, const Expr *y);
/* Splits e into the result and the constant *c: e = result + *c. */
const Expr *expr_base(ExprPool *p, const Expr *e, int64_t *c);
/* Whether e has a variable of that slot. */
bool expr_has(const Expr *e, int slot);
/* Splits a sum: e = *without + *with, where *with holds the terms that have the variable of that slot. */
void expr_split(ExprPool *p, const Expr *e, int slot, const Expr **without, const Expr **with);

/* ---- evaluating ---- */

/* values: of variables, by slot. False on a division by zero or an overflow of 64 bits. */
bool expr_eval(const Expr *e, const int64_t *values, int64_t *value);

/* The same with the values of variables and named expressions that `of` knows; false where one is missing. A
 * named expression that it does not know is evaluated. */
typedef bool ExprValueOf(void *context, const Expr *var, int64_t *value);
bool expr_eval_by(const Expr *e, ExprValueOf *of, void *context, int64_t *value);

/* The same for n lanes at once, EXPR_LANES_MAX at most: values[slot][lane]. Both operands of SELECT, BOTH and
 * EITHER are evaluated. */
enum { EXPR_LANES_MAX = 64 };
bool expr_eval_lanes(const Expr *e, int n, const int64_t *const *values, int64_t *value);

/* ---- printing ---- */

/* Names that differ between the languages of kernel texts. */
typedef struct {
    const char *u32, *i32, *u64, *i64; /* type names */
    const char *min, *max;             /* functions of two arguments; NULL: printed as a comparison */
} ExprStyle;
extern const ExprStyle expr_c_style, expr_gpu_style; /* stdint.h's names; unsigned and unsigned long long */

enum { EXPR_MAX_DECLARED = 64 };
/* A text in which named expressions are declared once and referred to by name from there on. */
typedef struct {
    const ExprStyle *style;
    Buf *out;
    int indent; /* levels, for declarations */
    const Expr *declared[EXPR_MAX_DECLARED];
    int n_declared;
} ExprText;

/* Prints one expression, in brackets if its precedence is below min_precedence: 0 means never, EXPR_OPERAND
 * unless it is a name, a number or in brackets already. Operands are cast where the value needs more than 32
 * bits. */
enum { EXPR_OPERAND = 20 };
void expr_print(const ExprStyle *style, const Expr *e, int min_precedence, Buf *out);
/* Declares the named expressions that e consists of, each once and before its use. Two of the same name and
 * structure are one. */
void expr_declare(ExprText *t, const Expr *e);
/* Records that the text already declares the named expression e. */
void expr_declared(ExprText *t, const Expr *e);
/* Declares the named expressions that e consists of, then e itself as the variable `name`. */
void expr_let(ExprText *t, const char *name, const Expr *e);
/* The type that e has in the text. */
const char *expr_type(const ExprStyle *style, const Expr *e);

#endif
