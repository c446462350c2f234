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

/* The side of the product, 0: A, and its name in the text. */
static char letter(int i) { return i ? 'b' : 'a'; }
static const char *named(const Sums *k, const char *fmt, int i)
{
    return stmts_name(k->s, fmt, i ? 'B' : 'A');
}

/* Run r of vector v of the fragments. */
static const Value *run_at(const Sums *k, int i, const Expr *v, const Expr *r)
{
    return value_at(k->s, value_at(k->s, value_named(k->s, "f.%c.r", letter(i)), v), r);
}

/* Element e of K of tile t. */
static const Value *element(const Sums *k, int i, const Expr *t, const Expr *e)
{
    ExprPool *p = &k->s->pool;
    const AmdgcnSumsOperand *x = &k->x->of[i];
    const Expr *v = t, *r = e, *in_run = expr_mod_i(p, e, x->run);
    if (x->k_major)
        r = expr_div_i(p, e, x->run);
    else
        v = expr_div_i(p, t, x->vec), in_run = expr_mod_i(p, t, x->vec);
    return value_at(k->s, value_field(k->s, run_at(k, i, v, r), "x"), in_run);
}

/* The operand is put together of `n` parts: fills an array of them, and returns its bits as the operand. */
static const Value *gathered(const Sums *k, int i, const char *type, int n, const Expr *t, const Expr *e)
{
    ExprPool *p = &k->s->pool;
    const bool of_runs = k->x->of[i].k_major;
    const char *name = stmts_name(k->s, "%c_of", letter(i));
    const Value *all = stmt_var(k->s, type, name, NULL);
    const Expr *q = stmt_unrolled(k->s, "q", GPU_NUMBER, n), *at = expr_add(p, expr_mul_i(p, e, n), q);
    stmt_set(k->s, value_at(k->s, value_field(k->s, all, "x"), q),
             of_runs ? run_at(k, i, t, at) : element(k, i, t, at));
    stmt_end(k->s);
    return value_call(k->s, "__builtin_bit_cast", reg(k, "@Op"), all);
}

/* The operand of instruction e for tile t: kpl elements of K. */
static const Value *operand_of(const Sums *k, int i, const Expr *t, const Expr *e, int part)
{
    ExprPool *p = &k->s->pool;
    const AmdgcnSumsOperand *x = &k->x->of[i];
    const int kpl = k->x->kpl;
    if (k->x->parts == 2) {
        const Value *of = value_field(k->s, element(k, i, t, e), part ? "im" : "re");
        return part && x->conjugate ? op(k, VALUE_NEG, of, NULL) : of;
    }
    if (kpl == 1) return element(k, i, t, e);
    if (!x->k_major) return gathered(k, i, named(k, "@Packed%c", i), kpl, t, e);
    if (kpl >= x->run) return gathered(k, i, named(k, "@Packed%c", i), kpl / x->run, t, e);
    const Value *run = run_at(k, i, t, expr_div_i(p, e, x->run / kpl));
    const Value *all = value_call(k->s, "__builtin_bit_cast", reg(k, named(k, "@Packed%c", i)), run);
    return value_at(k->s, value_field(k->s, all, "x"), expr_mod_i(p, e, x->run / kpl));
}

static const Value *operand(const Sums *k, const char *name, int i, const Expr *t, const Expr *e, int part)
{
    return stmt_define(k->s, "@Op", name, operand_of(k, i, t, e, part));
}

/* Prints @RunA, a read of a lane; @FragA, the fragments of an operand in one step; @PackedA, of what an
 * instruction's operand consists or, of a longer run, the operands that are in it. */
static void fragment_types(const Sums *k, int i)
{
    Stmts *s = k->s;
    const AmdgcnSumsOperand *x = &k->x->of[i];
    const int kpl = k->x->kpl;
    stmt_struct(s, named(k, "@Run%c", i), x->align_bytes);
    stmt_array(s, "@T", "x", DIMS(x->k_major ? x->run : x->vec));
    stmt_end(s);
    stmt_struct(s, named(k, "@Frag%c", i), 0);
    stmt_array(s, named(k, "@Run%c", i), "r", DIMS(x->loads.vectors, x->loads.runs));
    stmt_end(s);
    if (k->x->parts == 2 || kpl == 1) return;
    stmt_struct(s, named(k, "@Packed%c", i), 0);
    if (!x->k_major)
        stmt_array(s, "@T", "x", DIMS(kpl));
    else if (kpl >= x->run)
        stmt_array(s, named(k, "@Run%c", i), "x", DIMS(kpl / x->run));
    else
        stmt_array(s, "@Op", "x", DIMS(x->run / kpl));
    stmt_end(s);
}

/* Prints the types of fragments and sums, and where an accumulator is: element v of tile t0 along M, t1 along
 * N. */
static void types(const Sums *k)
{
    Stmts *s = k->s;
    for (int i = 0; i < 2; i++) fragment_types(k, i);
    stmt_struct(s, "@Frag", 0);
    stmt_var(s, "@FragA", "a", NULL);
    stmt_var(s, "@FragB", "b", NULL);
    stmt_end(s);
    stmt_struct(s, "@Place", 0);
    for (int i = 0; i < 3; i++) stmt_var(s, "int", (const char *const[]){"t0", "t1", "v"}[i], NULL);
    stmt_end(s);
    stmt_struct(s, "@Acc", 0);
    stmt_array(s, "@AccV", "c", DIMS(k->x->parts, k->x->tiles[1], k->x->tiles[0]));
    stmt_end(s);
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
    const Value *a = operand(k, "a", 0, i, e, 0), *b = operand(k, "b", 1, j, e, 0);
    const Value *real = sums_of(k, expr_const(&s->pool, 0), j, i);
    multiply(k, a, b, real);
    if (k->x->parts == 2) {
        const Value *a_im = operand(k, "a_im", 0, i, e, 1), *b_im = operand(k, "b_im", 1, j, e, 1);
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
static const Value *accumulator(const Sums *k, int part)
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
    stmt_define(s, "@TC", "x",
                complex ? value_list(s, accumulator(k, 0), accumulator(k, 1)) : accumulator(k, 0));
    stmt_return(s, reg(k, "x"));
    stmt_end(s);
    stmt_function(s,
                  (Function){.name = "@acc_set", STMT_PARAMS({"@Acc &", "acc"}, {"int", "i"}, {"@TC", "x"})});
    open_place(k);
    stmt_set(s, accumulator(k, 0), reg(k, complex ? "x.re" : "x"));
    if (complex) stmt_set(s, accumulator(k, 1), reg(k, "x.im"));
    stmt_end(s);
}

/* An accumulator is in accumulation registers (AGPRs). */
static void pin(const Sums *k, const Value *x, bool is_volatile)
{
    const AsmOperand in_agpr = {"+a", x};
    stmt_asm(k->s, (Asm){.text = "", .operand = &in_agpr, .n_outputs = 1, .is_volatile = is_volatile});
}

/* Prints @acc_pin, which keeps all accumulators in accumulation registers from stage to stage. Without this
 * constraint LLVM may carry them through the loop over K in vector registers (VGPRs) and copy them in each
 * iteration, or spill them when they fill the register file. And @acc_pin_batch, which keeps accumulators b
 * to end - 1 there until their batch of stores: LLVM would otherwise copy all accumulators to VGPRs after the
 * loop over K, and spill what exceeds the 256 VGPRs. Only the first element of each accumulator vector names
 * it, so that each is constrained once. */
static void pins(const Sums *k)
{
    Stmts *s = k->s;
    ExprPool *p = &s->pool;
    stmt_function(s, (Function){.name = "@acc_pin", STMT_PARAMS({"@Acc &", "acc"})});
    const Expr *j = stmt_unrolled(s, "j", GPU_Q, k->x->tiles[1]);
    const Expr *i = stmt_unrolled(s, "i", GPU_I, k->x->tiles[0]);
    pin(k, sums_of(k, stmt_unrolled(s, "part", GPU_PART, k->x->parts), j, i), false);
    for (int opened = 0; opened < 4; opened++) stmt_end(s);
    stmt_function(s, (Function){.name = "@acc_pin_batch",
                                STMT_PARAMS({"@Acc &", "acc"}, {"int", "b"}, {"int", "end"})});
    stmt_loop(s, (Loop){.var = "i",
                        .start = gpu_size(s, "b"),
                        .limit = gpu_size(s, "end"),
                        .type = "int",
                        .unroll = UNROLL_FULL});
    open_place(k);
    stmt_if(s, op(k, VALUE_EQ, reg(k, "q.v"), number(k, 0)));
    for (int part = 0; part < k->x->parts; part++)
        pin(k,
            sums_of(k, expr_const(p, part), gpu_counter(p, "q.t1", GPU_Q, k->x->tiles[1]),
                    gpu_counter(p, "q.t0", GPU_I, k->x->tiles[0])),
            true);
    for (int opened = 0; opened < 3; opened++) stmt_end(s);
}

void amdgcn_matrix_types(const AmdgcnSums *x, Stmts *s)
{
    const Sums k = {s, x};
    types(&k);
}

void amdgcn_matrix_sums(const AmdgcnSums *x, Stmts *s)
{
    const Sums k = {s, x};
    products(&k);
    zero(&k);
    access(&k);
    if (x->pins) pins(&k);
}
