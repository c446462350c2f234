/* Kernels with a ring of stages: plan, constants, the kernel function around the texts in text/. */
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/ring.h"
#include "kernel/text.h"

static Err compute_plan(GpuPlan *p)
{
    const GpuRing *r = &p->ring;
    if (p->matrix.used) TRY(ring_mma_check(p));
    for (int i = 0; i < 2; i++) p->op[i].k_major = r->k_major[i] && !p->op[i].tlu, p->op[i].pad = 0;
    p->k_step = p->matrix.used ? p->matrix.k : r->k_vectors ? 16 / gpu_type_bytes(&p->in) : 1;
    p->steps = p->depth_u / p->k_step / p->lsu;
    p->n_acc = r->accumulators;
    p->acc_run = p->vw;
    p->prefetch_local = r->read_ahead;
    return ERR_OK;
}

static Err copy_plan(GpuPlan *p)
{
    p->n_stages = p->prefetch + 1;
    p->lds_bytes = p->ring.lds_bytes;
    p->stage_bytes = p->ring.stage_bytes;
    if (p->n_stages < 2 || p->stage_bytes < 1 || p->ring.blocks < 1)
        FAIL(ERR_INPUT, "a ring of %d stages with %d bytes each is empty", p->n_stages, p->stage_bytes);
    return ERR_OK;
}

/* Which bits of the row number are exclusive-or'ed to the chunk number: Tile::swz. */
static int swizzle(const GpuPlan *p, const GpuOperand *x)
{
    enum { ROW7 = 1, ROW3, ROW1, QUAD, QUAD4 };
    int bytes = gpu_type_bytes(&p->in), chunks = (x->tlu ? x->tile : p->depth_u) * bytes / 16;
    if (!p->matrix.used || p->ring.shifts) return 0;
    if (bytes == 8 || (bytes == 4 && x->tlu)) return QUAD;
    if (bytes == 1 && x->tlu) return QUAD4;
    switch (chunks & -chunks) {
    case 1:
        return 0;
    case 2:
        return ROW1;
    case 4:
        return ROW3;
    default:
        return ROW7;
    }
}

static void constants(const GpuPlan *p, Buf *out)
{
    bool adds = p->gsu > 1 && !p->gsu_multiple;
    buf_printf(out,
               "\n/* ---- numbers ---- */\n\n"
               "enum : int { @MT0 = %d, @MT1 = %d, @DU = %d, @NT = %d, @NS = %d, @PLR = %d, @STAGGER = %d, "
               "@LDS = %d, @LSU = %d, @MOVES = %d };\n"
               "enum : int { @ADDS = %d, @SCALE = %d, @READS = %d };\n",
               p->mt[0], p->mt[1], p->depth_u, p->n_threads, p->n_stages, p->ring.read_ahead,
               p->walk.staggers, p->lds_bytes, p->lsu, p->ring.moves_back, adds, !p->gsu_multiple,
               p->use_beta && p->gsu == 1);
    if (!p->matrix.used)
        buf_printf(out, "enum : int { @WG0 = %d, @WG1 = %d, @TT0 = %d, @TT1 = %d, @LM = %d, @KV = %d };\n",
                   p->sg[0], p->sg[1], p->tt[0], p->tt[1], p->ring.lanes_m, p->k_step);
}

static void copies(const GpuPlan *p, Buf *out)
{
    kernel_text_put("nvptx/ring_copies.cuh", out);
    int bytes = gpu_type_bytes(&p->in);
    bool held = p->op[0].width * bytes < 4;
    if (held) kernel_text_put("nvptx/ring_held.cuh", out);
    if (p->ring.shifts) kernel_text_put("nvptx/ring_shifted.cuh", out);
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        bool vectors = !p->matrix.used && x->k_major;
        bool turn = !p->matrix.used && !x->tlu && !vectors;
        int pad = turn || vectors ? 16 : p->ring.shifts ? x->tlu ? 32 : 16 : 0;
        /* the rows of A that lanes read at once are a run apart, those of B are neighbours */
        int every = vectors && i == 0 ? 16 / bytes : 1;
        buf_printf(out, "typedef @Tile<%d, %s, %s, %d, %d, %d, %d> @L%c;\n", x->tile,
                   x->tlu ? "true" : "false", turn ? "true" : "false", x->width * bytes, swizzle(p, x), pad,
                   every, 'A' + i);
        buf_printf(out, "typedef %s<@L%c> @Copy%c;\n",
                   held             ? "@Held"
                   : p->ring.shifts ? "@Shifted"
                                    : "@Copy",
                   'A' + i, 'A' + i);
    }
}

/* The elements of A and B as the sums take them. */
static void ring_simt_emit(const GpuPlan *p, Buf *out)
{
    for (int i = 0; i < 2; i++)
        if (p->in.parts == 2)
            buf_printf(out, "@DEV @TC @take_%c(@T x) { const @TC y = {x.re, %sx.im}; return y; }\n",
                       p->op[i].name, p->op[i].conj ? "-" : "");
        else
            buf_printf(out, "@DEV @TC @take_%c(@T x) { return x; }\n", p->op[i].name);
    kernel_text_put("nvptx/ring_simt.cuh", out);
}

const GpuCompute ring_simt = {"ring-simt", false, compute_plan, ring_simt_emit},
                 ring_mma = {"ring-mma", false, compute_plan, ring_mma_emit};
const GpuCopy ring_copy = {"ring", true, copy_plan, copies};

static void work_group(GpuWalk *w, Buf *out)
{
    const GpuPlan *p = w->p;
    buf_puts(
        out,
        "    const unsigned k = @is_zero(@from_s(alpha)) ? 0 : size_k; /* then A and B are not read */\n");
    gpu_walk_chunks(w, "k", NULL);
    if (p->walk.staggers) gpu_walk_stagger(w);
    buf_printf(out,
               "    int m0 = wg0 * %d, n0 = wg1 * %d;\n"
               "    @move_back<@CopyA, @LA>(m0, %d, size_m), @move_back<@CopyB, @LB>(n0, %d, size_n);\n",
               p->mt[0], p->mt[1], p->mt[0], p->mt[1]);
    for (int i = 0; i < 2; i++) {
        buf_printf(out, "    const @T *from_%c = ", p->op[i].name);
        gpu_tensor(p, p->op[i].name, p->strided, out);
        buf_puts(out, ";\n");
    }
    buf_printf(
        out,
        "    @CopyA copy_a;\n    @CopyB copy_b;\n    @Ring ring;\n    @Acc acc;\n"
        "    ring.smem = (@u32)__cvta_generic_to_shared(lds);\n"
        "    ring.chunks = count, ring.whole = whole, ring.wrap = whole - %s, ring.tail = k %% @DU;\n"
        "    @begin(copy_a, copy_b, ring, from_a, from_b, lda, ldb, size_m, size_n, m0, n0, tid, first + %s "
        "* "
        "step, step);\n"
        "    acc.init(tid);\n",
        p->walk.staggers ? "late" : "0", p->walk.staggers ? "late" : "0");
    if (p->ring.shifts)
        buf_puts(out, "    acc.a.shift(from_a, lda, m0, tid & 31);\n"
                      "    acc.b.shift(from_b, ldb, n0, tid & 31);\n");
    buf_puts(out, "    @sum(acc, copy_a, copy_b, ring);\n");
}

static void results(const GpuPlan *p, Buf *out)
{
    bool strided = p->strided || p->workspace;
    buf_puts(out, "    @Out o;\n    o.d = ");
    gpu_tensor(p, 'd', strided, out);
    if (p->gsu_multiple) {
        buf_puts(out, " + (@u64)part * size_m * size_n");
        if (p->batched) buf_puts(out, " * size_batch");
    }
    buf_puts(out, " + (@u64)n0 * ldd + m0;\n    o.ldd = ldd;\n");
    if (!p->gsu_multiple) buf_puts(out, "    o.alpha = @from_s(alpha);\n");
    if (p->use_beta && p->gsu == 1) {
        buf_puts(out, "    o.c = ");
        gpu_tensor(p, 'c', strided, out);
        buf_puts(out, " + (@u64)n0 * ldc + m0;\n    o.ldc = ldc;\n    o.beta = @from_s(beta);\n");
    }
    buf_puts(out, "    o.m_left = size_m - m0, o.n_left = size_n - n0;\n"
                  "    o.m_skip = @moved(m0, @MT0, size_m), o.n_skip = @moved(n0, @MT1, size_n);\n"
                  "    @store(o, acc, lds, (int)tid);\n}\n");
}

static Err ring_lower(const Program *program, Str symbol, Buf *out)
{
    const GpuPlan *p = program->gpu;
    Buf body;
    buf_init(&body);
    p->dialect->prelude(p, &body);
    gpu_types(p, &body);
    constants(p, &body);
    p->copy->emit(p, &body);
    p->compute->emit(p, &body);
    kernel_text_put("nvptx/ring_loop.cuh", &body);
    buf_printf(&body, "@DEV void @put(@TD *d, @TC v) { %s; }\n",
               p->gsu > 1 && !p->gsu_multiple ? "@atomic_add(d, v)" : "*d = @from_c(v)");
    kernel_text_put("nvptx/ring_store.cuh", &body);
    gpu_signature(p, symbol, &body);
    p->dialect->lds_body(p, &body);
    buf_puts(&body, "    const unsigned tid = @tid();\n");
    GpuWalk walk;
    gpu_walk_place(&walk, p, &body);
    work_group(&walk, &body);
    results(p, &body);
    Err e = gpu_walk_check(&walk);
    if (!e) e = gpu_finish_program(program, symbol, buf_view(&body), out);
    buf_fini(&body);
    return e;
}

Err nvptx_lower(const Program *program, Str symbol, Buf *out)
{
    if (program->gpu->groups.used) return hopper_lower(program, symbol, out);
    bool ring = program->gpu->ring.used;
    return ring ? ring_lower(program, symbol, out) : gpu_lower(program, symbol, out);
}
