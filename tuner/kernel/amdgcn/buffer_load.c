/* Addresses of buffer loads: the descriptor of an operand's tile, and the offsets of a thread's loads. See
 * buffer.c. */
#include "kernel/amdgcn/buffer.h"

/* Sizes of the tile in elements, or in parts of elements along the contiguous dimension. */
typedef struct {
    const Expr *rows, *row0, *k; /* M or N, the tile's first row, K */
    const Expr *ld;              /* 64 bits */
} Sizes;

static Sizes sizes_of(Stmts *s, const Loads *l)
{
    const bool b = l->i;
    const int free = l->x->tlu ? l->x->parts : 1, k = l->x->tlu ? 1 : l->x->parts;
    ExprPool *pool = &s->pool;
    return (Sizes){expr_u31(pool, expr_mul_i(pool, gpu_side(s, b), free)),
                   expr_u31(pool, expr_mul_i(pool, gpu_origin(s, b), free)),
                   expr_u31(pool, expr_mul_i(pool, gpu_size(s, "t.k"), k)),
                   expr_mul_i(pool, gpu_leading(s, b), l->x->parts)};
}

/* What stands at those coordinates, counted from the operand's first element, by the program's view. */
static const Expr *address(ExprPool *pool, const GpuPlan *p, const Loads *l, GpuPlace at, const Expr *ld)
{
    const bool tlu = l->x->tlu;
    return gpu_operand_address(pool, p, l->x, tlu ? at.along : at.across, tlu ? at.across : at.along, ld);
}

/* The same in bytes and 32 bits. copy_slow has checked that they suffice. */
static const Expr *offset(Stmts *s, const GpuPlan *p, const Loads *l, GpuPlace at)
{
    ExprPool *pool = &s->pool;
    const Expr *zero = expr_const(pool, 0);
    const Expr *ld = expr_var(pool, l->i ? "c.b.ld" : "c.a.ld", 0, 0, UINT32_MAX); /* in bytes */
    const Expr *along = address(pool, p, l, (GpuPlace){at.along, zero}, ld);
    const Expr *across = address(pool, p, l, (GpuPlace){zero, at.across}, ld);
    return expr_u31(
        pool, expr_add(pool, expr_u31(pool, expr_mul_i(pool, along, l->bytes)), expr_u31(pool, across)));
}

/* Declares the last place that a load may begin at, and where the free dimension is contiguous the first one
 * that is read: the tile's first row, or that one if it comes earlier. Returns what the descriptor's base is
 * on that dimension. */
static const Expr *limits(Stmts *s, const Loads *l, const Sizes *z, const Expr **last)
{
    ExprPool *pool = &s->pool;
    if (l->x->tlu) {
        *last = stmt_let(s, "last", expr_u31(pool, expr_add_i(pool, z->rows, -l->x->width)));
        return stmt_let(s, "from", expr_op(pool, EXPR_MIN, z->row0, *last));
    }
    const Expr *left = expr_sub(pool, expr_add_i(pool, z->rows, -1), z->row0);
    *last = l->limited ? stmt_let(s, "last", expr_u31(pool, left)) : NULL;
    return z->row0;
}

/* Sets the descriptor's base and its bytes. */
static void set_range(Stmts *s, const GpuPlan *p, const Loads *l, const Sizes *z, const Expr *from)
{
    ExprPool *pool = &s->pool;
    const bool tlu = l->x->tlu;
    const Expr *zero = expr_const(pool, 0), *along = tlu ? z->rows : z->k, *across = tlu ? z->k : z->rows;
    const Expr *at = address(pool, p, l, tlu ? (GpuPlace){from, zero} : (GpuPlace){zero, from}, z->ld);
    const Expr *end =
        address(pool, p, l, (GpuPlace){along, expr_u31(pool, expr_add_i(pool, across, -1))}, z->ld);
    const Value *c = operand(l, s), *bytes = value_int(s, l->bytes);
    const Value *first = stmt_define(s, "unsigned long long", "first", value_expr(s, at));
    const Value *behind = stmt_define(s, "unsigned long long", "behind", value_expr(s, end));
    const Value *n = value_op(s, VALUE_SUB, behind, first);
    const Value *base =
        value_op(s, VALUE_ADD, value_named(s, "t.%c", l->x->name), value_op(s, VALUE_MUL, first, bytes));
    base = value_call(s, "@uniform64", value_cast(s, "unsigned long long", base));
    stmt_set(s, value_field(s, c, "base"), value_cast(s, "const char *", base));
    stmt_set(s, value_field(s, c, "bytes"), value_call(s, "@uniform64", value_op(s, VALUE_MUL, n, bytes)));
    const Value *ld = value_cast(s, "unsigned", value_expr(s, z->ld));
    stmt_set(s, value_field(s, c, "ld"), value_op(s, VALUE_MUL, ld, bytes));
}

/* Sets the vector offsets of the loads; the thread's first load begins at `first`. */
static void set_offsets(Stmts *s, const GpuPlan *p, const Loads *l, const Sizes *z, GpuPlace first,
                        const Expr *from, const Expr *last)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = l->x;
    const Expr *i = stmt_unrolled(s, "i", GPU_I, l->n_offsets);
    GpuPlace at = first;
    const Expr *zero = expr_const(pool, 0), *apart = expr_mul_i(pool, i, x->tlu ? x->lsc * x->parts : l->lsp);
    if (x->in_registers) apart = amdgcn_fragment(pool, p, l->i, zero, i, zero).free;
    if (x->tlu) {
        const Expr *free = expr_add(pool, z->row0, expr_add(pool, at.along, apart));
        at.along = expr_sub(pool, expr_op(pool, EXPR_MIN, stmt_let(s, "free", free), last), from);
        at.along = expr_u31(pool, at.along);
    } else if (l->limited) {
        const Expr *free = stmt_let(s, "free", expr_add(pool, at.across, apart));
        at.across = expr_op(pool, EXPR_MIN, free, last);
    }
    stmt_set(s, value_at(s, value_field(s, operand(l, s), "off"), i), value_expr(s, offset(s, p, l, at)));
    stmt_end(s);
}

void buffer_start(Stmts *s, const GpuPlan *p, const Loads *l, GpuPlace first)
{
    const Sizes z = sizes_of(s, l);
    const Expr *last, *from = limits(s, l, &z, &last);
    set_range(s, p, l, &z, from);
    set_offsets(s, p, l, &z, first, from, last);
}

/* The same of a load of fragments: load r of vector v of a step. */
static LoadOffset fragment_offset(const GpuPlan *p, const Loads *l, Stmts *s, const Expr *j)
{
    ExprPool *pool = &s->pool;
    const bool tlu = l->x->tlu;
    const AmdgcnFragments f = amdgcn_fragments(p, l->i);
    const Expr *zero = expr_const(pool, 0);
    const Expr *r = expr_mod_i(pool, j, f.runs), *q = expr_div_i(pool, j, f.runs);
    const Expr *v = expr_mod_i(pool, q, f.vectors), *step = expr_div_i(pool, q, f.vectors);
    const AmdgcnPlace apart = amdgcn_fragment(pool, p, l->i, step, v, r);
    const Expr *line = tlu ? apart.k : l->limited ? zero : apart.free;
    return (LoadOffset){value_at(s, value_field(s, operand(l, s), "off"), tlu || l->limited ? v : zero),
                        offset(s, p, l, (GpuPlace){zero, line}),
                        offset(s, p, l, (GpuPlace){tlu ? zero : apart.k, zero})};
}

LoadOffset buffer_load_offset(const GpuPlan *p, const Loads *l, Stmts *s, const Expr *j)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = l->x;
    if (x->in_registers) return fragment_offset(p, l, s, j);
    const Expr *zero = expr_const(pool, 0), *column = expr_mod_i(pool, j, x->nlc),
               *q = expr_div_i(pool, j, x->nlc);
    const Expr *runs = expr_mul_i(pool, expr_div_i(pool, q, l->run), l->run * l->lsp);
    const Expr *line = expr_add(pool, expr_mod_i(pool, q, l->run), runs);
    const Expr *along = expr_mul_i(pool, column, x->lsc * x->parts);
    const Value *vectors = value_field(s, operand(l, s), "off");
    return (LoadOffset){value_at(s, vectors,
                                 x->tlu       ? column
                                 : l->limited ? q
                                              : zero),
                        offset(s, p, l, (GpuPlace){zero, l->limited ? zero : line}),
                        offset(s, p, l, (GpuPlace){x->tlu ? zero : along, zero})};
}
