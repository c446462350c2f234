/* Operands whose loads fill the fragments of a matrix instruction without local memory (DirectToVgpr): a lane
 * loads what it multiplies, runs along K or of interleaved tiles, as it would read them from local memory. A
 * chunk's fragments are in registers before its products begin; those of chunks ahead have sets of their own.
 * Here: the fragments of a step, and those of the rest of K, which are loaded element by element. The loads
 * are in buffer.c. */
#include "kernel/amdgcn/buffer.h"

/* f.a.r[v][r] of the text. */
static const Value *run_of(const GpuOperand *x, Stmts *s, const Expr *v, const Expr *r)
{
    return value_at(s, value_at(s, value_named(s, "f.%c.r", x->name), v), r);
}

/* The registers of a load of the current chunk; Fp16AltImpl: converted. */
static const Value *words_of(const GpuPlan *p, const GpuOperand *x, Stmts *s, const Value *load)
{
    if (!p->to_bf16) return load;
    const int n = (x->width * gpu_type_bytes(&x->type) + 3) / 4;
    const Value *words = stmt_array(s, "int", "w", DIMS(n));
    for (int i = 0; i < n; i++)
        stmt_set(s, value_at_i(s, words, i), value_call(s, "@to_bf16x2", value_at_i(s, load, i)));
    return words;
}

static void take_operand(const GpuPlan *p, int i, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = &p->op[i];
    const AmdgcnFragments f = amdgcn_fragments(p, i);
    const Expr *step = gpu_counter(pool, "step", GPU_STEP, p->steps);
    const Expr *v = stmt_unrolled(s, "v", GPU_I, f.vectors), *r = stmt_unrolled(s, "r", GPU_E, f.runs);
    const Expr *j = expr_add(pool, expr_mul_i(pool, step, f.vectors), v);
    j = expr_add(pool, expr_mul_i(pool, j, f.runs), r);
    const Value *current = value_at_i(s, value_named(s, "c.%c.data", x->name), 0);
    const Value *words = words_of(p, x, s, value_at(s, current, j));
    stmt_set(s, run_of(x, s, v, r), value_call(s, i ? "@run_of<@RunB>" : "@run_of<@RunA>", words));
    stmt_end(s);
    stmt_end(s);
}

/* Sets element e of a run to the operand's element at (free, k); 0 behind K. */
static void load_element(const GpuPlan *p, int i, Stmts *s, const Value *to, const Expr *free, const Expr *k)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = &p->op[i];
    const int parts = p->in.parts;
    const Expr *ld = gpu_leading(s, i);
    const Expr *element = expr_mul_i(pool, gpu_operand_address(pool, p, x, free, k, ld), parts);
    const Value *start = value_cast(s, "const @P *", value_named(s, "t.%c", x->name));
    const Value *from =
        stmt_define(s, "const @P *", "from", value_op(s, VALUE_ADD, start, value_expr(s, element)));
    const Expr *in_k = expr_op(pool, EXPR_LT, k, gpu_size(s, "t.k"));
    for (int q = 0; q < parts; q++) {
        Access at = access_element(SPACE_GLOBAL, "@P", p->in.part_bytes, from, expr_const(pool, q));
        at.guard = in_k;
        const Value *loaded = value_load(s, at);
        if (p->to_bf16) loaded = value_call(s, "@to_bf16", loaded); /* of 0: 0 */
        stmt_set(s, parts > 1 ? value_field(s, to, q ? "im" : "re") : to, loaded);
    }
}

static void rest_operand(const GpuPlan *p, int i, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = &p->op[i];
    const AmdgcnFragments f = amdgcn_fragments(p, i);
    stmt_block(s);
    const AmdgcnPlace first = amdgcn_fragment_first(pool, p, i);
    const Expr *free0 = stmt_let(s, "free_0", first.free), *in_chunk = stmt_let(s, "in_chunk", first.k);
    const Expr *v = stmt_unrolled(s, "v", GPU_I, f.vectors), *r = stmt_unrolled(s, "r", GPU_E, f.runs);
    const Expr *e = stmt_unrolled(s, "e", GPU_Q, x->width);
    const Expr *step = gpu_counter(pool, "step", GPU_STEP, p->steps);
    const AmdgcnPlace apart = amdgcn_fragment(pool, p, i, step, v, r);
    const Expr *at_k = expr_add(pool, in_chunk, apart.k), *at = expr_add(pool, free0, apart.free);
    if (x->k_major)
        at_k = expr_add(pool, at_k, e);
    else
        at = expr_add(pool, at, e);
    const Expr *k = stmt_let(s, "k", expr_add(pool, expr_var(pool, "k0", 0, 0, INT32_MAX), at_k));
    stmt_define(s, "unsigned long long", "free",
                value_call(s, i ? "@near_col" : "@near_row", value_reg(s, "t"), value_expr(s, at)));
    const Value *to = value_at(s, value_field(s, run_of(x, s, v, r), "x"), e);
    load_element(p, i, s, to, gpu_stride(s, "free"), k);
    for (int n = 0; n < 4; n++) stmt_end(s);
}

void amdgcn_fragment_functions(const GpuPlan *p, Stmts *s)
{
    stmt_file(s, "amdgcn/fragments.hip");
    stmt_function(s, (Function){.name = "@frag_take",
                                STMT_PARAMS({"@Frag &", "f"}, {"const @Copy &", "c"}, {"int", "step"})});
    for (int i = 0; i < 2; i++)
        if (p->op[i].in_registers) take_operand(p, i, s);
    stmt_end(s);
    stmt_function(s, (Function){.name = "@frag_rest",
                                STMT_PARAMS({"@Frag &", "f"}, {"const @Tile &", "t"}, {"unsigned", "tid"},
                                            {"unsigned", "k0"}, {"int", "step"})});
    for (int i = 0; i < 2; i++)
        if (p->op[i].in_registers) rest_operand(p, i, s);
    stmt_end(s);
}
