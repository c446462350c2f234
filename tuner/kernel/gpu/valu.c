/* Compute module "valu": every thread multiplies vectors of A and B from local memory with the machine's
 * ordinary multiply-add. Any element type, any target; matrix instructions are the families' own modules.
 *
 * As in Tensile's VALU kernels a thread has ThreadTile0 x ThreadTile1 elements of D, in pieces of VectorWidth
 * consecutive ones that are SubGroup * VectorWidth apart. A step is one element of K; with local split U the
 * parts take turns.
 */
#include "kernel/gpu/gpu.h"

#include <stdio.h>

Err gpu_check_thread_tile(const GpuPlan *p)
{
    for (int i = 0; i < 2; i++)
        if (p->tt[i] < 1 || p->tt[i] % p->vw || p->sg[i] * p->tt[i] != p->mt[i])
            FAIL(ERR_INPUT, "ThreadTile %dx%d with VectorWidth %d and WorkGroup %dx%d does not tile %dx%d",
                 p->tt[0], p->tt[1], p->vw, p->sg[0], p->sg[1], p->mt[0], p->mt[1]);
    return ERR_OK;
}

static Err valu_plan(GpuPlan *p)
{
    TRY(gpu_check_thread_tile(p));
    if (p->depth_u % p->lsu)
        FAIL(ERR_INPUT, "DepthU %d is not a multiple of LocalSplitU %d", p->depth_u, p->lsu);
    p->k_step = 1;
    p->steps = p->depth_u / p->lsu;
    p->n_acc = p->tt[0] * p->tt[1];
    p->acc_run = p->vw;
    return ERR_OK;
}

/* Elements of a fragment, part by part, as the multiply-add takes them. */
static const char *widen(const GpuPlan *p, char operand)
{
    DataType type = p->op[operand == 'b'].type.type;
    return type == TYPE_I8 ? "(int)" : gpu_widen(type);
}

static void types(const GpuPlan *p, Buf *out)
{
    int parts = p->vw * p->in.parts, bytes = parts * p->in.part_bytes;
    int pieces = bytes > 16 ? bytes / 16 : 1; /* local memory is read 16 bytes at a time at most */
    buf_printf(out,
               "struct @Acc { @PC v[%d]; };\n"
               "struct @Frag { @VP%d a[%d], b[%d]; };\n\n",
               p->n_acc * p->acc.parts, parts / pieces, p->tt[0] / p->vw * pieces, p->tt[1] / p->vw * pieces);
}

/* Element e of piece i of a thread's row or column, in the text's loops. */
static const Expr *free_of(ExprPool *pool, const GpuPlan *p, int i, const Expr *e)
{
    return gpu_thread_free(pool, p, i, gpu_counter(pool, "i", GPU_I, p->tt[i] / p->vw), e);
}

static const Expr *k_of_step(ExprPool *pool, const GpuPlan *p)
{
    const Expr *step = gpu_counter(pool, "step", GPU_STEP, p->steps);
    return expr_add(pool, expr_mul_i(pool, step, p->lsu), gpu_part_of_k(pool, p));
}

/* VectorWidth elements are side by side in local memory, and aligned where vectors of their number are. */
static bool reads_vectors(const GpuPlan *p, const GpuOperand *x)
{
    GpuIndex index;
    ExprPool *pool = &index.pool;
    gpu_index_init(&index, NULL, 0);
    int bytes = p->vw * x->layout.bytes;
    if (p->vw == 1) return true;
    if (x->k_major) return false;
    if (p->vw & (p->vw - 1)) bytes = p->in.part_bytes;
    if (bytes > 16) bytes = 16;
    const Expr *k = k_of_step(pool, p), *free = free_of(pool, p, x->name == 'b', expr_const(pool, 0));
    return layout_is_run(pool, &x->layout, k, free, p->vw) &&
           gpu_lds_at(pool, x, k, free)->factor % bytes == 0;
}

bool gpu_valu_reads(const GpuPlan *p, const GpuOperand *x, int access, ExprPool *pool, GpuAccess *a)
{
    int element = x->layout.bytes, bytes = p->vw * element > 16 ? 16 : p->vw * element;
    if (access) return false;
    a->bytes = reads_vectors(p, x) && (p->vw & (p->vw - 1)) == 0 ? bytes : element < 16 ? element : 16;
    a->n_threads = p->n_threads;
    a->k = gpu_part_of_k(pool, p);
    a->free = gpu_thread_free(pool, p, x->name == 'b', expr_const(pool, 0), expr_const(pool, 0));
    return true;
}

/* The loads of one operand's vectors: from line k, SubGroup * VectorWidth elements apart. */
static void load_operand(const GpuPlan *p, GpuIndex *index, int i, const Expr *k, Buf *out)
{
    ExprPool *pool = &index->pool;
    const GpuOperand *op = &p->op[i];
    char x = op->name;
    int parts = p->vw * p->in.parts,
        pieces = parts * p->in.part_bytes > 16 ? parts * p->in.part_bytes / 16 : 1;
    int n = p->tt[i] / p->vw;
    if (!reads_vectors(p, op)) {
        buf_printf(out,
                   "    @UNROLL for (int i = 0; i < %d; i++)\n"
                   "        @UNROLL for (int e = 0; e < %d; e++) {\n"
                   "            const @P *at = (const @P *)(lds_%c + (",
                   n, p->vw, x);
        gpu_index_put(index,
                      gpu_lds_at(pool, op, k, free_of(pool, p, i, gpu_counter(pool, "e", GPU_E, p->vw))));
        buf_printf(
            out,
            "));\n            @UNROLL for (int q = 0; q < %d; q++)\n"
            "                f.%c[i * %d + (e * %d + q) / %d][(e * %d + q) %% %d] = at[q];\n        }\n",
            p->in.parts, x, pieces, p->in.parts, parts / pieces, p->in.parts, parts / pieces);
        return;
    }
    buf_printf(
        out,
        "    @UNROLL for (int i = 0; i < %d; i++) {\n        const @VP%d *at = (const @VP%d *)(lds_%c + (", n,
        parts / pieces, parts / pieces, x);
    gpu_index_put(index, gpu_lds_at(pool, op, k, free_of(pool, p, i, expr_const(pool, 0))));
    buf_puts(out, "));\n");
    if (pieces == 1)
        buf_printf(out, "        f.%c[i] = *at;\n    }\n", x);
    else
        buf_printf(out, "        @UNROLL for (int q = 0; q < %d; q++) f.%c[i * %d + q] = at[q];\n    }\n",
                   pieces, x, pieces);
}

static void loads(const GpuPlan *p, Buf *out)
{
    GpuIndex index;
    gpu_index_init(&index, out, 1);
    buf_puts(
        out,
        "@DEV void @frag_load(@Frag &f, const char *lds_a, const char *lds_b, unsigned tid, int step)\n{\n");
    const Expr *k = gpu_index_let(&index, "k", k_of_step(&index.pool, p));
    for (int i = 0; i < 2; i++) load_operand(p, &index, i, k, out);
    buf_puts(out, "}\n\n");
    gpu_index_done(&index);
}

/* One part of a fragment's element: vectors are indexed by constants after unrolling. */
static void part_text(const GpuPlan *p, char x, const char *i, int q, char *text, size_t n)
{
    int parts = p->vw * p->in.parts, bytes = parts * p->in.part_bytes,
        per = bytes > 16 ? parts * 16 / bytes : parts;
    bool plain = !*widen(p, x);
    if (p->in.parts == 1)
        snprintf(text, n, "%s%sf.%c[%s / %d][%s %% %d]%s", widen(p, x), plain ? "" : "(", x, i, per, i, per,
                 plain ? "" : ")");
    else
        snprintf(text, n, "f.%c[(%s * 2 + %d) / %d][(%s * 2 + %d) %% %d]", x, i, q, per, i, q, per);
}

static void mac_complex(const GpuPlan *p, Buf *out)
{
    static const char *const sign[] = {"", "-"};
    char ar[96], ai[96], br[96], bi[96];
    part_text(p, 'a', "i", 0, ar, sizeof ar);
    part_text(p, 'a', "i", 1, ai, sizeof ai);
    part_text(p, 'b', "j", 0, br, sizeof br);
    part_text(p, 'b', "j", 1, bi, sizeof bi);
    const char *sa = sign[p->op[0].conj], *sb = sign[p->op[1].conj];
    const char *both = sign[p->op[0].conj == p->op[1].conj];
    buf_printf(out,
               "            @PC &re = acc.v[2 * (j * %d + i)], &im = acc.v[2 * (j * %d + i) + 1];\n"
               "            const @PC ar = %s, ai = %s, br = %s, bi = %s;\n"
               "            re = @fma(%sai, bi, @fma(ar, br, re));\n"
               "            im = @fma(%sai, br, @fma(ar, %sbi, im));\n",
               p->tt[0], p->tt[0], ar, ai, br, bi, both, sa, sb);
}

static void mac(const GpuPlan *p, Buf *out)
{
    char a[96], b[96];
    part_text(p, 'a', "i", 0, a, sizeof a);
    part_text(p, 'b', "j", 0, b, sizeof b);
    buf_puts(out, "@DEV void @frag_mac(@Acc &acc, const @Frag &f)\n{\n");
    buf_printf(out,
               "    @UNROLL for (int j = 0; j < %d; j++)\n        @UNROLL for (int i = 0; i < %d; i++) {\n",
               p->tt[1], p->tt[0]);
    if (p->acc.parts == 2)
        mac_complex(p, out);
    else if (p->acc.type == TYPE_I)
        buf_printf(out, "            acc.v[j * %d + i] = %s(%s, %s, acc.v[j * %d + i]);\n", p->tt[0],
                   p->in.type == TYPE_4XI8 ? "@dot4" : "@mad24", a, b, p->tt[0]);
    else
        buf_printf(out, "            acc.v[j * %d + i] = @fma(%s, %s, acc.v[j * %d + i]);\n", p->tt[0], a, b,
                   p->tt[0]);
    buf_puts(out, "        }\n}\n\n");
}

void gpu_thread_tile_places(const GpuPlan *p, Buf *out)
{
    GpuIndex index;
    ExprPool *pool = &index.pool;
    gpu_index_init(&index, out, 1);
    const Expr *number = gpu_counter(pool, "i", GPU_NUMBER, p->tt[0] * p->tt[1]);
    const Expr *in[] = {expr_mod_i(pool, number, p->tt[0]), expr_div_i(pool, number, p->tt[0])};
    for (int i = 0; i < 2; i++) {
        buf_printf(out, "@DEV unsigned @acc_%s(unsigned tid, int i)\n{\n    return ", i ? "col" : "row");
        gpu_index_put(&index, gpu_thread_free(pool, p, i, expr_div_i(pool, in[i], p->vw),
                                              expr_mod_i(pool, in[i], p->vw)));
        buf_puts(out, ";\n}\n");
    }
    gpu_index_done(&index);
}

static void places(const GpuPlan *p, Buf *out)
{
    static const char *const get[] = {"return acc.v[i];",
                                      "const @TC x = {acc.v[2 * i], acc.v[2 * i + 1]}; return x;"};
    static const char *const set[] = {"acc.v[i] = x;", "acc.v[2 * i] = x.re; acc.v[2 * i + 1] = x.im;"};
    int which = p->acc.parts - 1;
    buf_printf(
        out, "@DEV void @acc_zero(@Acc &acc)\n{\n    @UNROLL for (int i = 0; i < %d; i++) acc.v[i] = 0;\n}\n",
        p->n_acc * p->acc.parts);
    buf_printf(out, "@DEV @TC @acc_get(const @Acc &acc, int i) { %s }\n", get[which]);
    buf_printf(out, "@DEV void @acc_set(@Acc &acc, int i, @TC x) { %s }\n", set[which]);
    gpu_thread_tile_places(p, out);
}

static void valu_emit(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "\n/* ---- compute: vectors from local memory, multiply-add ---- */\n\n");
    types(p, out);
    places(p, out);
    loads(p, out);
    mac(p, out);
}

const GpuCompute gpu_valu = {"valu", false, valu_plan, valu_emit};
