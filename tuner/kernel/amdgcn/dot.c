/* Compute module for dot product instructions: two products of 16-bit or four of 8-bit elements per
 * instruction, added in 32 bits. Threads hold the same elements of D as in the valu module; local memory has
 * K contiguous, so that one read brings several elements of K of one row or column.
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

/* Elements of K that one read brings: 16 bytes for small tiles, 8 for those that need the registers. */
static int run_of(const GpuPlan *p)
{
    int bytes = gpu_type_bytes(&p->in), most = p->tt[0] + p->tt[1] > 12 ? 8 : 16, run = 4 / bytes;
    while (run * 2 * bytes <= most && p->depth_u % (run * 2 * p->lsu) == 0) run *= 2;
    return run;
}

bool amdgcn_dot_reads(const GpuPlan *p, const GpuOperand *x, int access, ExprPool *pool, GpuAccess *a)
{
    const Expr *zero = expr_const(pool, 0);
    if (access) return false;
    a->k = zero, a->free = gpu_thread_free(pool, p, x->name == 'b', zero, zero);
    a->bytes = run_of(p) * gpu_type_bytes(&p->in);
    a->n_threads = p->n_threads;
    return true;
}

static Err dot_plan(GpuPlan *p)
{
    TRY(gpu_check_thread_tile(p));
    for (int i = 0; i < 2; i++) p->op[i].k_major = true;
    p->k_step = run_of(p);
    p->steps = p->depth_u / p->lsu / p->k_step;
    p->n_acc = p->tt[0] * p->tt[1];
    p->acc_run = p->vw;
    const int lines_unit[2] = {p->sg[0] * p->vw, p->sg[1] * p->vw};
    lds_choose_pads(p, amdgcn_dot_reads, NULL, lines_unit);
    return ERR_OK;
}

static void emit_load_operand(const GpuPlan *p, GpuIndex *index, int i, const Expr *k, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    ExprPool *pool = &index->pool;
    GpuPointers pointers = {
        .index = index, .name = i ? "b" : "a", .from = i ? "lds_b" : "lds_a", .is_const = true};
    GpuPointerName name;
    const Expr *zero = expr_const(pool, 0);
    const Expr *first = gpu_index_let(index, i ? "n0" : "m0", gpu_thread_free(pool, p, i, zero, zero));
    for (int t = 0; t < p->tt[i]; t++) {
        int mark = pool->n_used;
        int64_t behind;
        expr_base(pool, gpu_thread_free(pool, p, i, expr_const(pool, t / p->vw), expr_const(pool, t % p->vw)),
                  &behind);
        const Expr *free = expr_add_i(pool, first, behind);
        int c = gpu_pointer(&pointers, gpu_lds_at(pool, x, k, free), mark, name);
        buf_printf(out, "    f.%c[%d] = *(const @Run *)(%s + %d);\n", x->name, t, name, c);
    }
}

static void emit_load(const GpuPlan *p, Buf *out)
{
    int words = p->k_step * gpu_type_bytes(&p->in) / 4;
    GpuIndex index;
    ExprPool *pool = &index.pool;
    gpu_index_init(&index, out, 1);
    buf_printf(
        out,
        "\n/* ---- compute: runs of K from local memory, dot products ---- */\n\n"
        "struct __attribute__((aligned(%d))) @Run { int w[%d]; };\n"
        "struct @Acc { @TC v[%d]; };\nstruct @Frag { @Run a[%d], b[%d]; };\n\n"
        "@DEV void @frag_load(@Frag &f, const char *lds_a, const char *lds_b, unsigned tid, int step)\n{\n",
        words * 4, words, p->n_acc, p->tt[0], p->tt[1]);
    const Expr *step = gpu_counter(pool, "step", GPU_STEP, p->steps), *part = gpu_part_of_k(pool, p);
    const Expr *k = expr_mul_i(pool, expr_add(pool, expr_mul_i(pool, step, p->lsu), part), p->k_step);
    k = gpu_index_let(&index, "k", k);
    for (int i = 0; i < 2; i++) emit_load_operand(p, &index, i, k, out);
    buf_puts(out, "}\n\n");
    gpu_index_done(&index);
}

static void emit_dot(const GpuPlan *p, Buf *out)
{
    const char *part = p->in.type == TYPE_B ? "__bf16" : "_Float16";
    buf_puts(out, "@DEV @TC @dot(int a, int b, @TC c)\n{\n");
    if (p->in.type == TYPE_I8)
        buf_puts(out, "    return @dot4(a, b, c);\n}\n");
    else
        buf_printf(out,
                   "    typedef %s @pair __attribute__((ext_vector_type(2)));\n"
                   "    return __builtin_amdgcn_fdot2%s(__builtin_bit_cast(@pair, a), "
                   "__builtin_bit_cast(@pair, b), c, false);\n}\n",
                   part, p->in.type == TYPE_B ? "_f32_bf16" : "");
}

static void dot_emit(const GpuPlan *p, Buf *out)
{
    emit_load(p, out);
    emit_dot(p, out);
    buf_printf(
        out,
        "@DEV void @frag_mac(@Acc &acc, const @Frag &f)\n{\n"
        "    @UNROLL for (int u = 0; u < %d; u++)\n"
        "        @UNROLL for (int j = 0; j < %d; j++)\n"
        "            @UNROLL for (int i = 0; i < %d; i++)\n"
        "                acc.v[j * %d + i] = @dot(f.a[i].w[u], f.b[j].w[u], acc.v[j * %d + i]);\n}\n"
        "@DEV void @acc_zero(@Acc &acc)\n{\n    @UNROLL for (int i = 0; i < %d; i++) acc.v[i] = 0;\n}\n"
        "@DEV @TC @acc_get(const @Acc &acc, int i) { return acc.v[i]; }\n"
        "@DEV void @acc_set(@Acc &acc, int i, @TC x) { acc.v[i] = x; }\n",
        p->k_step * gpu_type_bytes(&p->in) / 4, p->tt[1], p->tt[0], p->tt[0], p->tt[0], p->n_acc);
    gpu_thread_tile_places(p, out);
}

const GpuCompute amdgcn_dot = {"dot", true, dot_plan, dot_emit};
