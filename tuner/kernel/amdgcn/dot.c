/* Compute module for dot product instructions: two products of 16-bit or four of 8-bit elements per
 * instruction, added in 32 bits. Threads have the same elements of D as in the valu module. K is
 * contiguous in local memory, so that one read returns several elements of K of a row or column.
 */
#include "kernel/amdgcn/amdgcn.h"

bool dot_applies(const GpuPlan *p)
{
    const TargetRegisters *r = target_registers(p->target);
    int wanted = p->in.type == TYPE_H    ? DOT_F16
                 : p->in.type == TYPE_B  ? DOT_BF16
                 : p->in.type == TYPE_I8 ? DOT_I8
                                         : 0;
    int per = 4 / gpu_type_bytes(&p->in);
    return r && r->dot & wanted && p->depth_u % (p->lsu * per) == 0 && p->acc.part_bytes == 4;
}

/* Returns the elements of K that one read loads: 16 bytes for small tiles, 8 for tiles that need the
 * registers. */
static int run_of(const GpuPlan *p)
{
    int bytes = gpu_type_bytes(&p->in), most = p->tt[0] + p->tt[1] > 12 ? 8 : 16, run = 4 / bytes;
    const int together = amdgcn_k_together(p);
    while (run * 2 * bytes <= most && p->depth_u % (run * 2 * p->lsu) == 0 && run * 2 <= together) run *= 2;
    return run;
}

bool amdgcn_dot_reads(const GpuPlan *p, const GpuOperand *x, int access, ExprPool *pool, GpuAccess *a)
{
    const Expr *zero = expr_const(pool, 0);
    if (access) return false;
    a->k = zero, a->free = gpu_thread_free(pool, p, x->name == 'b', zero, zero);
    a->bytes = p->k_step * gpu_type_bytes(&p->in);
    a->n_threads = p->n_threads;
    return true;
}

static Err dot_shape(GpuPlan *p)
{
    const int run = run_of(p);
    if (p->k_step < 4 / gpu_type_bytes(&p->in) || run % p->k_step)
        FAIL(ERR_INPUT, "steps of %d elements of K, dot products take up to %d", p->k_step, run);
    return gpu_thread_shape(p);
}

static Err dot_plan(GpuPlan *p)
{
    TRY(gpu_check_thread_tile(p));
    for (int i = 0; i < 2; i++) p->op[i].k_major = true;
    p->k_step = run_of(p);
    p->steps = p->depth_u / p->lsu / p->k_step;
    TRY(dot_shape(p));
    const int lines_unit[2] = {p->sg[0] * p->vw, p->sg[1] * p->vw};
    lds_choose_pads(p, amdgcn_dot_reads, NULL, lines_unit);
    return ERR_OK;
}

static void load_operand(const GpuPlan *p, int i, const Expr *k, Stmts *s)
{
    const GpuOperand *x = &p->op[i];
    ExprPool *pool = &s->pool;
    AmdgcnPointers pointers = {
        .s = s, .name = i ? "b" : "a", .from = i ? "lds_b" : "lds_a", .is_const = true};
    const Expr *zero = expr_const(pool, 0);
    const Expr *first = stmt_let(s, i ? "n0" : "m0", gpu_thread_free(pool, p, i, zero, zero));
    for (int t = 0; t < p->tt[i]; t++) {
        const Expr *piece = expr_const(pool, t / p->vw), *e = expr_const(pool, t % p->vw);
        int64_t behind;
        expr_base(pool, gpu_thread_free(pool, p, i, piece, e), &behind);
        const Expr *at = gpu_lds_at(pool, x, k, expr_add_i(pool, first, behind));
        const Access run = amdgcn_access(&pointers, "@Run", p->k_step * gpu_type_bytes(&p->in), at);
        stmt_set(s, value_at_i(s, value_named(s, "f.%c", x->name), t), value_load(s, run));
    }
}

static void load(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    stmt_function(s,
                  (Function){.name = "@frag_load",
                             STMT_PARAMS({"@Frag &", "f"}, {"const char *", "lds_a"},
                                         {"const char *", "lds_b"}, {"unsigned", "tid"}, {"int", "step"})});
    const Expr *step = gpu_counter(pool, "step", GPU_STEP, p->steps), *part = gpu_part_of_k(pool, p);
    const Expr *k = expr_mul_i(pool, expr_add(pool, expr_mul_i(pool, step, p->lsu), part), p->k_step);
    k = stmt_let(s, "k", k);
    for (int i = 0; i < 2; i++) load_operand(p, i, k, s);
    stmt_end(s);
}

static void make(const GpuPlan *p, Stmts *s)
{
    const AmdgcnConstant c[] = {{"int", "@DOT_WORDS", p->k_step * gpu_type_bytes(&p->in) / 4},
                                {"int", "@DOT_ROWS", p->tt[0]},
                                {"int", "@DOT_COLUMNS", p->tt[1]}};
    amdgcn_constants(s, c, sizeof c / sizeof c[0]);
    stmt_file(s, p->in.type == TYPE_I8  ? "amdgcn/dot_int8.hip"
                 : p->in.type == TYPE_B ? "amdgcn/dot_bf16.hip"
                                        : "amdgcn/dot_half.hip");
    stmt_file(s, "amdgcn/dot.hip");
    load(p, s);
}

static void dot_emit(const GpuPlan *p, Buf *out)
{
    amdgcn_print(p, make, out);
    gpu_thread_tile_places(p, out);
}

const GpuCompute amdgcn_dot = {"dot", true, dot_plan, dot_shape, dot_emit, NULL};
