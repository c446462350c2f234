/* Compute module for matrix instructions: MFMA of gfx908, gfx90a, gfx94x and WMMA of gfx11, gfx12.
 *
 * A wave holds MIWaveTile tiles of M x N (x blocks) accumulators. Both operands are read from local memory as
 * K runs (K contiguous: 16 bytes of K per lane) or, for types of 4 bytes and more that lie across K, as runs
 * of the free dimension that serve several tiles at once (tiles interleaved). Which K an instruction
 * multiplies is free as long as A and B agree: part g of K (lane / side) takes elements g * vk .. of every
 * step. Complex numbers are four real products. Not here: how local memory is filled (buffer.c).
 */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/text.h"

#include <stdio.h>

static const MatrixInst insts[] = {
#define MI(arches, type, m, n, k, blocks, layout, operand, acc, n_acc, builtin)                              \
    {arches, type, m, n, k, blocks, LAYOUT_##layout, operand, acc, n_acc, builtin},
#include "kernel/amdgcn/matrix.def"
#undef MI
};

static int arch_of(const Target *t)
{
    switch (t->isa[0]) {
    case 9:
        if (t->isa[1] == 4) return MATRIX_ARCH_GFX940;
        return t->isa[2] == 10 ? MATRIX_ARCH_GFX90A : t->isa[2] == 8 ? MATRIX_ARCH_GFX908 : 0;
    case 11:
        return MATRIX_ARCH_GFX11;
    case 12:
        return MATRIX_ARCH_GFX12;
    default:
        return 0;
    }
}

const MatrixInst *matrix_inst(const Target *t, DataType type, int m, int n, int k, int blocks)
{
    int arch = t->family == TARGET_AMDGCN ? arch_of(t) : 0;
    for (size_t i = 0; i < sizeof insts / sizeof insts[0]; i++) {
        const MatrixInst *x = &insts[i];
        if ((x->arches & arch) && x->type == type && x->m == m && x->n == n && x->k == k &&
            x->blocks == blocks)
            return x;
    }
    return NULL;
}

/* Everything that the text needs beside the GpuPlan; made anew from it by each function. */
typedef struct {
    const GpuPlan *p;
    const MatrixInst *in;
    bool swap; /* B is the instruction's first operand: rows of D lie along lanes */
    int parts; /* of K among the lanes */
    int kpl;   /* elements of K per lane and instruction */
    int vk;    /* and per step */
    int bytes; /* of an element */
    int tiles[2], vec[2], blocks[2], waves[2];
    int raw; /* bytes per local read along K */
} Matrix;

static bool is_wmma(const Matrix *m) { return m->in->layout >= LAYOUT_WMMA_R3; }

/* Type of the instruction whose first operand is A, or B with SourceSwap. */
static DataType inst_type(const GpuPlan *p)
{
    if (p->in.type == TYPE_F8B8 && p->matrix.swap) return TYPE_B8F8;
    if (p->in.type == TYPE_B8F8 && p->matrix.swap) return TYPE_F8B8;
    if (p->in.type == TYPE_C) return TYPE_S;
    if (p->in.type == TYPE_Z) return TYPE_D;
    if (p->in.type == TYPE_S && p->math == TYPE_X) return TYPE_X;
    return p->in.type;
}

/* K elements that a lane takes per step: 16 bytes of a K run, or what one instruction needs. */
static int k_run(const GpuPlan *p, const Matrix *m)
{
    bool runs = p->op[0].k_major || p->op[1].k_major;
    int vk = m->kpl, part = p->depth_u / p->lsu;
    while (runs && vk * 2 * m->bytes <= 16 && part % (vk * 2 * m->parts) == 0) vk *= 2;
    return vk;
}

static Matrix matrix_of(const GpuPlan *p)
{
    const GpuMatrix *mi = &p->matrix;
    Matrix m = {.p = p, .bytes = gpu_type_bytes(&p->in)};
    m.in = matrix_inst(p->target, inst_type(p), mi->m, mi->n, mi->k, mi->b);
    if (!m.in) return m;
    m.swap = mi->swap || m.in->layout == LAYOUT_MFMA_F64 || m.in->layout == LAYOUT_WMMA_R3;
    m.kpl = m.in->layout == LAYOUT_WMMA_R3 ? m.in->k : m.in->m * m.in->k * m.in->blocks / p->wave;
    m.parts = m.in->k / m.kpl;
    m.vk = k_run(p, &m);
    m.raw = m.vk * m.bytes > 16 ? 16 : m.vk * m.bytes;
    for (int i = 0; i < 2; i++) {
        m.tiles[i] = mi->tiles[i];
        m.waves[i] = mi->waves[i];
        m.blocks[i] = mi->blocks[i];
        bool rows_in_lane = i == 0 && m.swap && p->out.parts == 1;
        if (!p->op[i].k_major)
            m.vec[i] = pow2_in(m.tiles[i], 16 / m.bytes);
        else
            m.vec[i] = rows_in_lane ? pow2_in(m.tiles[i], 16 / gpu_type_bytes(&p->out)) : 1;
    }
    return m;
}

/* ---- numbers of a lane ---- */

typedef struct {
    int row, block, part;
} Lane;

static Lane lane_of(const Matrix *m, int lane)
{
    int n = m->in->m, q = lane / n;
    switch (m->in->layout) {
    case LAYOUT_MFMA_F64:
        return (Lane){lane % n, q % m->in->blocks, q / m->in->blocks};
    case LAYOUT_WMMA_R3:
        return (Lane){lane % n, 0, 0};
    case LAYOUT_MFMA:
        if (m->in->blocks > 1) return (Lane){lane % n, q, 0};
        return (Lane){lane % n, 0, q};
    default:
        return (Lane){lane % n, 0, q};
    }
}

/* Free position of tile 0's row of a lane, first wave. */
static int lane_position(const Matrix *m, int i, Lane l)
{
    int block = i ? l.block / m->blocks[0] : l.block % m->blocks[0];
    return (block * m->in->m + l.row) * m->vec[i];
}

static int tile_stride(const Matrix *m, int i) { return m->blocks[i] * m->in->m * m->vec[i]; }

bool amdgcn_matrix_reads(const GpuPlan *p, const GpuOperand *x, int access, LdsAccess *a)
{
    Matrix m = matrix_of(p);
    int i = x->name == 'b';
    if (access) return false;
    a->n_lanes = p->wave;
    a->bytes = x->k_major ? m.raw : m.vec[i] * m.bytes;
    a->crossed = !is_wmma(&m);
    for (int lane = 0; lane < a->n_lanes; lane++) {
        Lane l = lane_of(&m, lane);
        int at = lane_position(&m, i, l), k = l.part * m.vk;
        a->at[lane] = x->k_major ? lds_offset(x, at, k) : lds_offset(x, k, at);
    }
    return true;
}

/* One address serves all tiles of a lane: their lines are exchanged alike. */
static bool exchanges(const GpuPlan *p, const GpuOperand *x)
{
    Matrix m = matrix_of(p);
    int i = x->name == 'b', period = x->xor_lines * (x->xor_mask + 1);
    bool apart = m.tiles[i] == m.vec[i] || tile_stride(&m, i) % period == 0;
    return apart && (m.vec[i] == 1 || x->xor_lines % m.vec[i] == 0) && amdgcn_copy_exchanges(p, x);
}

/* ---- plan ---- */

static Err matrix_plan(GpuPlan *p)
{
    const GpuMatrix *mi = &p->matrix;
    for (int i = 0; i < 2; i++)
        if (gpu_type_bytes(&p->in) < 4) p->op[i].k_major = true; /* operands are packed along K */
    Matrix m = matrix_of(p);
    if (!m.in)
        FAIL(ERR_INPUT, "%s has no matrix instruction %dx%dx%dx%d for type '%s'", p->target->name, mi->m,
             mi->n, mi->k, mi->b, type_letter(inst_type(p)));
    if (is_wmma(&m) && p->wave != 32)
        FAIL(ERR_INPUT, "WavefrontSize %d: WMMA kernels of %s have waves of 32 lanes", p->wave,
             p->target->name);
    int step = m.parts * m.vk, depth = p->depth_u / p->lsu;
    if (depth % step)
        FAIL(ERR_INPUT, "DepthU %d / LocalSplitU %d is no multiple of the matrix instruction's K %d",
             p->depth_u, p->lsu, step);
    for (int i = 0; i < 2; i++)
        if (m.tiles[i] * m.waves[i] * m.blocks[i] * m.in->m != p->mt[i])
            FAIL(ERR_INPUT, "MIWaveTile %d x MIWaveGroup %d x %d blocks of %d is not macro tile %d",
                 m.tiles[i], m.waves[i], m.blocks[i], m.in->m, p->mt[i]);
    p->steps = depth / step;
    p->k_step = step;
    p->n_acc = m.tiles[0] * m.tiles[1] * m.in->n_acc;
    p->acc_run = m.vec[0];
    if (!m.swap && m.in->layout == LAYOUT_MFMA) p->acc_run *= 4;
    if (!m.swap && m.in->layout == LAYOUT_WMMA_R4) p->acc_run *= 8;
    const int lines_unit[2] = {tile_stride(&m, 0), tile_stride(&m, 1)};
    lds_choose_pads(p, amdgcn_matrix_reads, exchanges, lines_unit);
    return ERR_OK;
}

bool matrix_fits_half(const GpuPlan *p)
{
    Matrix m = matrix_of(p);
    int arch = arch_of(p->target);
    if (arch != MATRIX_ARCH_GFX90A && arch != MATRIX_ARCH_GFX940) return false;
    if (m.in->m > 16) return false; /* accumulators of 16 registers and more do not pack so well */
    int n = p->n_acc * gpu_type_bytes(&p->acc) / 4, moved = 24; /* addresses, sizes */
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        moved += m.tiles[i] * m.vk * m.bytes / 4 * (p->prefetch_local ? 2 : 1);
        moved += x->nlc * x->nlp * ((x->width * m.bytes + 3) / 4) * p->n_sets;
    }
    return n + moved <= (p->n_stages > 1 ? 300 : 270); /* not all of it lives at the same time */
}

/* ---- text ---- */

static void emit_types(const Matrix *m, Buf *out)
{
    const GpuPlan *p = m->p;
    kernel_text_put("amdgcn/matrix_types.hip", out);
    buf_printf(out, "typedef %s @Op;\n", m->in->operand);
    if (m->in->n_acc > 1)
        buf_printf(out, "typedef %s @AccV __attribute__((ext_vector_type(%d)));\n", m->in->acc, m->in->n_acc);
    buf_printf(out, "struct @Acc { %s c[%d][%d][%d]; };\n", m->in->n_acc > 1 ? "@AccV" : m->in->acc,
               p->in.parts, m->tiles[1], m->tiles[0]);
    /* what one read brings: K runs, or one K of several tiles */
    for (int i = 0; i < 2; i++) {
        int n = m->raw / m->bytes, runs = m->vk / n;
        char operand = i ? 'B' : 'A';
        if (p->op[i].k_major)
            buf_printf(out,
                       "struct __attribute__((aligned(%d))) @Run%c { @T x[%d]; };\n"
                       "struct @Frag%c { @Run%c r[%d][%d]; };\n",
                       m->raw, operand, n, operand, operand, m->tiles[i], runs);
        else
            buf_printf(out,
                       "struct __attribute__((aligned(%d))) @Run%c { @T x[%d]; };\n"
                       "struct @Frag%c { @Run%c r[%d][%d]; };\n",
                       m->vec[i] * m->bytes, operand, m->vec[i], operand, operand, m->tiles[i] / m->vec[i],
                       m->vk);
    }
    buf_puts(out, "struct @Frag { @FragA a; @FragB b; };\n");
}

static void emit_lane(const Matrix *m, Buf *out)
{
    int n = m->in->m;
    const char *block = "0", *part = "0";
    char text[2][64];
    if (m->in->layout == LAYOUT_MFMA_F64) {
        snprintf(text[0], sizeof text[0], "lane / %d %% %d", n, m->in->blocks);
        snprintf(text[1], sizeof text[1], "lane / %d", n * m->in->blocks);
        block = text[0], part = text[1];
    } else if (m->in->layout != LAYOUT_WMMA_R3) {
        snprintf(text[0], sizeof text[0], "lane / %d", n);
        if (m->in->blocks > 1)
            block = text[0];
        else
            part = text[0];
    }
    buf_printf(out, "    const unsigned lane = tid %% %d, wave = tid / %d, block = %s, part = %s;\n",
               m->p->wave, m->p->wave, block, part);
}

/* First free position of a wave. */
static void emit_wave(const Matrix *m, int i, Buf *out)
{
    buf_printf(out, i ? "wave / %d %% %d" : "wave %% %d", m->waves[0], m->waves[1]);
    buf_printf(out, " * %d", m->tiles[i] * m->blocks[i] * m->in->m);
}

/* First free position of this thread in operand i. */
static void emit_position(const Matrix *m, int i, Buf *out)
{
    buf_printf(out, "    const unsigned %c0 = ", "mn"[i]);
    emit_wave(m, i, out);
    buf_printf(out, " + (block %s %d * %d + lane %% %d) * %d;\n", i ? "/" : "%", m->blocks[0], m->in->m,
               m->in->m, m->vec[i]);
}

/* A lane's lines lie tiles apart; each run along K is in the piece where its line has it. */
static void emit_load_exchanged(const Matrix *m, int i, Buf *out)
{
    const GpuPlan *p = m->p;
    const GpuOperand *x = &p->op[i];
    char c = x->name, f = "mn"[i], operand = i ? 'B' : 'A';
    int runs = m->vk * m->bytes / m->raw, piece = 16 / m->bytes;
    buf_printf(out, "    const unsigned k_%c = (unsigned)step * %d + part * %d", c, p->k_step * p->lsu,
               m->vk);
    if (p->lsu > 1) buf_printf(out, " + z * %d", p->k_step);
    buf_printf(out, ", x_%c = %c0 / %d & %d;\n    const char *%c = lds_%c + %c0 * %d;\n", c, f, x->xor_lines,
               x->xor_mask, c, c, f, x->line * m->bytes);
    for (int r = 0; r < runs; r++) {
        buf_printf(out, "    const char *%c_%d = %c + ((k_%c / %d + %d ^ x_%c) * 16 + k_%c %% %d * %d);\n", c,
                   r, c, c, piece, r, c, c, piece, m->bytes);
        for (int t = 0; t < m->tiles[i]; t++) {
            int free = t / m->vec[i] * tile_stride(m, i) + t % m->vec[i];
            buf_printf(out, "    f.%c.r[%d][%d] = *(const @Run%c *)(%c_%d + %d);\n", c, t, r, operand, c, r,
                       free * x->line * m->bytes);
        }
    }
}

static void emit_load_operand(const Matrix *m, int i, Buf *out)
{
    const GpuPlan *p = m->p;
    const GpuOperand *x = &p->op[i];
    char c = x->name, f = "mn"[i];
    if (x->xor_mask) {
        emit_load_exchanged(m, i, out);
        return;
    }
    int esize = m->bytes, step = p->k_step * (x->k_major ? 1 : x->line) * esize;
    buf_printf(out, "    const char *%c = lds_%c + ", c, c);
    if (x->k_major) {
        buf_printf(out, "(%c0 * %d + part * %d", f, x->line, m->vk);
        if (x->pad_block) buf_printf(out, " + %c0 / %d * %d", f, x->pad_block / x->line, x->pad);
    } else
        buf_printf(out, "(part * %d + %c0", m->vk * x->line, f);
    /* parts of a local split take turns, so that the first steps of all are the first elements of K */
    if (p->lsu > 1)
        buf_printf(out, ") * %d + (step * %d + (int)z) * %d;\n", esize, p->lsu, step);
    else
        buf_printf(out, ") * %d + step * %d;\n", esize, step);
    int vectors = x->k_major ? m->tiles[i] : m->tiles[i] / m->vec[i];
    int runs = x->k_major ? m->vk * esize / m->raw : m->vk;
    for (int t = 0; t < vectors; t++)
        for (int r = 0; r < runs; r++) {
            int free = x->k_major ? t / m->vec[i] * tile_stride(m, i) + t % m->vec[i] : t * tile_stride(m, i);
            int at = x->k_major ? lds_offset(x, free, 0) + r * m->raw : lds_offset(x, r, free);
            buf_printf(out, "    f.%c.r[%d][%d] = *(const @Run%c *)(%c + %d);\n", c, t, r, "AB"[i], c, at);
        }
}

static void emit_load(const Matrix *m, Buf *out)
{
    const GpuPlan *p = m->p;
    buf_puts(out,
             "@DEV void @frag_load(@Frag &f, const char *lds_a, const char *lds_b, unsigned tid, int step)\n"
             "{\n");
    emit_lane(m, out);
    if (p->lsu > 1) {
        buf_puts(out, "    const unsigned z = ");
        gpu_lsu_of_thread(p, out);
        buf_puts(out, ";\n");
    }
    for (int i = 0; i < 2; i++) {
        emit_position(m, i, out);
        emit_load_operand(m, i, out);
    }
    buf_puts(out, "}\n");
}

/* @op_a(frag, tile, e): operand of instruction e of a step. */
static void emit_operand(const Matrix *m, int i, Buf *out)
{
    const GpuPlan *p = m->p;
    const GpuOperand *x = &p->op[i];
    char c = x->name, operand = i ? 'B' : 'A';
    int run = m->raw / m->bytes;
    buf_printf(out, "@DEV @Op @op_%c(const @Frag%c &f, int t, int e%s)\n{\n", c, operand,
               p->in.parts == 2 ? ", int part" : "");
    if (p->in.parts == 2) {
        if (x->k_major)
            buf_printf(out, "    const @T x = f.r[t][e / %d].x[e %% %d];\n", run, run);
        else
            buf_printf(out, "    const @T x = f.r[t / %d][e].x[t %% %d];\n", m->vec[i], m->vec[i]);
        buf_printf(out, "    return part ? %sx.im : x.re;\n}\n", x->conj ? "-" : "");
        return;
    }
    if (m->kpl == 1) {
        if (x->k_major)
            buf_printf(out, "    return f.r[t][e / %d].x[e %% %d];\n}\n", run, run);
        else
            buf_printf(out, "    return f.r[t / %d][e].x[t %% %d];\n}\n", m->vec[i], m->vec[i]);
        return;
    }
    if (!x->k_major) {
        buf_puts(out, "    @Op o;\n");
        for (int k = 0; k < m->kpl; k++)
            buf_printf(out, "    o[%d] = f.r[t / %d][e * %d + %d].x[t %% %d];\n", k, m->vec[i], m->kpl, k,
                       m->vec[i]);
        buf_puts(out, "    return o;\n}\n");
        return;
    }
    if (m->kpl >= run) {
        int n = m->kpl / run;
        buf_printf(out, "    struct { @Run%c r[%d]; } o = {", "AB"[i], n);
        for (int k = 0; k < n; k++) buf_printf(out, "%sf.r[t][e * %d + %d]", k ? ", " : "", n, k);
        buf_puts(out, "};\n    return __builtin_bit_cast(@Op, o);\n}\n");
        return;
    }
    buf_printf(out,
               "    struct @Ops { @Op o[%d]; };\n"
               "    return __builtin_bit_cast(@Ops, f.r[t][e / %d]).o[e %% %d];\n}\n",
               run / m->kpl, run / m->kpl, run / m->kpl);
}

static void emit_inst(const Matrix *m, const char *a, const char *b, const char *acc, Buf *out)
{
    const char *x = m->swap ? b : a, *y = m->swap ? a : b;
    buf_printf(out, "                    %s = __builtin_amdgcn_%s(", acc, m->in->builtin);
    if (!is_wmma(m))
        buf_printf(out, "%s, %s, %s, 0, 0, 0);\n", x, y, acc);
    else if (m->in->type == TYPE_I8)
        buf_printf(out, "true, %s, true, %s, %s, false);\n", x, y, acc);
    else
        buf_printf(out, "%s, %s, %s);\n", x, y, acc);
}

/* Accumulators of four registers fill the accumulation registers. The instruction's result may then only take
 * the place of what it adds to; compilers that mix sums of one and of the next K run out of places, and
 * move hundreds of them about. */
static bool rounds_apart(const Matrix *m)
{
    int arch = arch_of(m->p->target);
    return (arch == MATRIX_ARCH_GFX90A || arch == MATRIX_ARCH_GFX940) && amdgcn_fills_file(m->p) &&
           m->in->n_acc * gpu_type_bytes(&m->p->acc) == 16;
}

static void emit_mac(const Matrix *m, Buf *out)
{
    const char *apart = rounds_apart(m) ? "        @keep_order();\n" : "";
    for (int i = 0; i < 2; i++) emit_operand(m, i, out);
    buf_printf(out,
               "@DEV void @frag_mac(@Acc &acc, const @Frag &f)\n{\n"
               "    @UNROLL for (int e = 0; e < %d; e++) {\n"
               "        @UNROLL for (int j = 0; j < %d; j++)\n"
               "            @UNROLL for (int i = 0; i < %d; i++) {\n",
               m->vk / m->kpl, m->tiles[1], m->tiles[0]);
    if (m->p->in.parts == 2) {
        emit_inst(m, "@op_a(f.a, i, e, 0)", "@op_b(f.b, j, e, 0)", "acc.c[0][j][i]", out);
        emit_inst(m, "@op_a(f.a, i, e, 0)", "@op_b(f.b, j, e, 1)", "acc.c[1][j][i]", out);
        emit_inst(m, "-@op_a(f.a, i, e, 1)", "@op_b(f.b, j, e, 1)", "acc.c[0][j][i]", out);
        emit_inst(m, "@op_a(f.a, i, e, 1)", "@op_b(f.b, j, e, 0)", "acc.c[1][j][i]", out);
    } else
        emit_inst(m, "@op_a(f.a, i, e)", "@op_b(f.b, j, e)", "acc.c[0][j][i]", out);
    buf_printf(out, "            }\n%s    }\n}\n", apart);
}

/* Accumulator i is element v of tile (t0, t1): t0 % vec fastest, then v, then t0 / vec, then t1. */
static void emit_split(const Matrix *m, Buf *out)
{
    int v = m->vec[0], n = m->in->n_acc, outer = m->tiles[0] / v;
    buf_printf(out,
               "struct @Place { int t0, t1, v; };\n"
               "@DEV @Place @place(int i)\n{\n"
               "    const @Place q = {i %% %d + i / %d %% %d * %d, i / %d, i / %d %% %d};\n"
               "    return q;\n}\n",
               v, v * n, outer, v, v * n * outer, v, n);
}

static void emit_access(const Matrix *m, Buf *out)
{
    const char *element = m->in->n_acc > 1 ? "[q.v]" : "";
    buf_printf(out,
               "@DEV void @acc_zero(@Acc &acc)\n{\n"
               "    @UNROLL for (int j = 0; j < %d; j++)\n"
               "        @UNROLL for (int i = 0; i < %d; i++) {\n",
               m->tiles[1], m->tiles[0]);
    for (int part = 0; part < m->p->in.parts; part++)
        buf_printf(out, "            acc.c[%d][j][i] = 0;\n", part);
    buf_puts(out,
             "        }\n}\n@DEV @TC @acc_get(const @Acc &acc, int i)\n{\n    const @Place q = @place(i);\n");
    if (m->p->in.parts == 2)
        buf_printf(out,
                   "    const @TC x = {acc.c[0][q.t1][q.t0]%s, acc.c[1][q.t1][q.t0]%s};\n"
                   "    return x;\n}\n",
                   element, element);
    else
        buf_printf(out, "    return acc.c[0][q.t1][q.t0]%s;\n}\n", element);
    buf_puts(out, "@DEV void @acc_set(@Acc &acc, int i, @TC x)\n{\n    const @Place q = @place(i);\n");
    if (m->p->in.parts == 2)
        buf_printf(out,
                   "    acc.c[0][q.t1][q.t0]%s = x.re;\n"
                   "    acc.c[1][q.t1][q.t0]%s = x.im;\n}\n",
                   element, element);
    else
        buf_printf(out, "    acc.c[0][q.t1][q.t0]%s = x;\n}\n", element);
}

/* Row inside the instruction's first operand side (i) and block of element v of D. */
static void emit_d_layout(const Matrix *m, Buf *out)
{
    const char *i = "q.v", *block = "0";
    switch (m->in->layout) {
    case LAYOUT_MFMA:
        if (m->in->m == 32) {
            i = "q.v % 16 / 4 * 8 + lane / 32 * 4 + q.v % 4", block = "q.v / 16";
        } else if (m->in->m == 16) {
            i = "lane / 16 * 4 + q.v % 4", block = "q.v / 4";
        } else
            block = "lane / 4";
        break;
    case LAYOUT_MFMA_F64:
        i = m->in->m == 16 ? "q.v * 4 + lane / 16" : "lane / 16";
        if (m->in->m == 4) block = "lane / 4 % 4";
        break;
    case LAYOUT_WMMA_R3:
        i = "q.v * 2 + lane / 16";
        break;
    case LAYOUT_WMMA_R4:
        i = "lane / 16 * 8 + q.v";
        break;
    }
    buf_printf(out,
               "    const @Place q = @place(i);\n"
               "    const unsigned lane = tid %% %d, wave = tid / %d, block = %s, side = %s;\n",
               m->p->wave, m->p->wave, block, i);
}

static void emit_place(const Matrix *m, int i, Buf *out)
{
    buf_printf(out, "@DEV unsigned @acc_%s(unsigned tid, int i)\n{\n", i ? "col" : "row");
    emit_d_layout(m, out);
    const char *row = (i == 0) == m->swap ? "lane % " : "side % ";
    buf_puts(out, "    return ");
    emit_wave(m, i, out);
    buf_printf(out, " + q.t%d / %d * %d + (block %s %d * %d + %s%d) * %d + q.t%d %% %d;\n}\n", i, m->vec[i],
               tile_stride(m, i), i ? "/" : "%", m->blocks[0], m->in->m, row, m->in->m, m->vec[i], i,
               m->vec[i]);
}

static void matrix_emit(const GpuPlan *p, Buf *out)
{
    Matrix m = matrix_of(p);
    emit_types(&m, out);
    emit_load(&m, out);
    emit_mac(&m, out);
    emit_split(&m, out);
    emit_access(&m, out);
    for (int i = 0; i < 2; i++) emit_place(&m, i, out);
}

const GpuCompute amdgcn_matrix = {"matrix", matrix_plan, matrix_emit};
