/* The products of a step by matrix instructions, and the accumulators of a lane. See matrix.c. */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/lower/build.h"

typedef struct {
    Stmts *s;
    const AmdgcnSums *x;
} Sums;

/* Accumulators of a tile: the real part, or of complex numbers part 1, the imaginary one. */
static const Value *sums_of(const Sums *k, const Expr *part, const Expr *t1, const Expr *t0)
{
    const Value *of_part = value_at(k->s, reg(k, "acc.c"), part);
    return value_at(k->s, value_at(k->s, of_part, t1), t0);
}

/* Declares the operand of instruction e for tile t. */
static const Value *operand(const Sums *k, const char *name, const char *of, const Expr *t, const Expr *e,
                            int part)
{
    const char *f = stmts_name(k->s, "@operand<@Op, %d, %s>", k->x->kpl, k->x->parts == 2 ? "true" : "false");
    const Value *x =
        value_call(k->s, f, reg(k, of), value_expr(k->s, t), value_expr(k->s, e), number(k, part));
    return stmt_define(k->s, "@Op", name, x);
}

static void multiply(const Sums *k, const Value *x, const Value *y, const Value *sums)
{
    stmt_set(k->s, sums, value_call(k->s, "@inst", x, y, sums));
}

/* Prints @frag_mac, which multiplies the fragments of one step. A complex product is four real ones. */
static void products(const Sums *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = "@frag_mac", STMT_PARAMS({"@Acc &", "acc"}, {"const @Frag &", "f"})});
    const Expr *e = stmt_unrolled(s, "e", GPU_E, k->x->instructions);
    const Expr *j = stmt_unrolled(s, "j", GPU_Q, k->x->tiles[1]),
               *i = stmt_unrolled(s, "i", GPU_I, k->x->tiles[0]);
    const Value *a = operand(k, "a", "f.a", i, e, 0), *b = operand(k, "b", "f.b", j, e, 0);
    const Value *real = sums_of(k, expr_const(&s->pool, 0), j, i);
    multiply(k, a, b, real);
    if (k->x->parts == 2) {
        const Value *a_im = operand(k, "a_im", "f.a", i, e, 1), *b_im = operand(k, "b_im", "f.b", j, e, 1);
        const Value *imaginary = sums_of(k, expr_const(&s->pool, 1), j, i);
        multiply(k, a, b_im, imaginary);
        multiply(k, op(k, VALUE_NEG, a_im, NULL), b_im, real);
        multiply(k, a_im, b, imaginary);
    }
    stmt_end(s);
    stmt_end(s);
    if (k->x->fences) stmt_fence(s);
    stmt_end(s);
    stmt_end(s);
}

/* Prints @acc_zero. A statement for each part, in place of the loop, makes LLVM 19 copy the accumulators of
 * complex numbers in the last steps (32 instructions of 1,714 on gfx90a). */
static void zero(const Sums *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = "@acc_zero", STMT_PARAMS({"@Acc &", "acc"})});
    const Expr *j = stmt_unrolled(s, "j", GPU_Q, k->x->tiles[1]);
    const Expr *i = stmt_unrolled(s, "i", GPU_I, k->x->tiles[0]);
    stmt_set(s, sums_of(k, stmt_unrolled(s, "part", GPU_PART, k->x->parts), j, i), number(k, 0));
    for (int opened = 0; opened < 4; opened++) stmt_end(s);
}

/* Part of accumulator number i, at the place q. */
static const Value *element(const Sums *k, int part)
{
    ExprPool *p = &k->s->pool;
    const Value *x = sums_of(k, expr_const(p, part), gpu_counter(p, "q.t1", GPU_Q, k->x->tiles[1]),
                             gpu_counter(p, "q.t0", GPU_I, k->x->tiles[0]));
    return k->x->n_acc > 1 ? value_at(k->s, x, gpu_counter(p, "q.v", GPU_E, k->x->n_acc)) : x;
}

static void open_place(const Sums *k)
{
    stmt_define(k->s, "@Place", "q", value_call(k->s, "@place", reg(k, "i")));
}

/* Prints @acc_get and @acc_set. */
static void access(const Sums *k)
{
    Stmts *s = k->s;
    const bool complex = k->x->parts == 2;
    stmt_function(
        s,
        (Function){.result = "@TC", .name = "@acc_get", STMT_PARAMS({"const @Acc &", "acc"}, {"int", "i"})});
    open_place(k);
    stmt_define(s, "@TC", "x", complex ? value_list(s, element(k, 0), element(k, 1)) : element(k, 0));
    stmt_return(s, reg(k, "x"));
    stmt_end(s);
    stmt_function(s,
                  (Function){.name = "@acc_set", STMT_PARAMS({"@Acc &", "acc"}, {"int", "i"}, {"@TC", "x"})});
    open_place(k);
    stmt_set(s, element(k, 0), reg(k, complex ? "x.re" : "x"));
    if (complex) stmt_set(s, element(k, 1), reg(k, "x.im"));
    stmt_end(s);
}

void amdgcn_matrix_sums(const AmdgcnSums *x, Stmts *s)
{
    const Sums k = {s, x};
    products(&k);
    zero(&k);
    access(&k);
}
