/* Copy module "register": global memory to registers to local memory, on any target.
 *
 * A thread's loads have 32-bit offsets from one uniform pointer per operand, which moves along K: the loop
 * has no vector arithmetic for addresses. Vectors that straddle M or N are read from the edge back
 * (GpuOperand.shift); what lies behind the edge reads the last row or column again. copy_tail reads element
 * by element with 64-bit addresses and does everything else.
 */
#include "kernel/gpu/gpu.h"

#include <stdio.h>

static Err register_plan(GpuPlan *p)
{
    (void)p;
    return ERR_OK;
}

static int loads_of(const GpuOperand *x) { return x->nlc * x->nlp; }

static void state(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "struct @Copy {\n");
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        buf_printf(out,
                   "    const char *%c;\n    unsigned off_%c[%d], along_%c, across_%c;\n    @VP%d "
                   "%c_data[%d][%d];\n",
                   x->name, x->name, loads_of(x), x->name, x->name, x->width * p->in.parts, x->name,
                   p->n_sets, loads_of(x));
    }
    buf_puts(out, "};\n\n");
}

int gpu_load_thread(const GpuPlan *p, const GpuOperand *x, int tid)
{
    if (x->groups == 1) return tid;
    int part = p->wave / x->groups, share = x->lvc / x->groups;
    return tid / p->wave * p->wave + tid % part / share * x->lvc + tid % p->wave / part * share + tid % share;
}

const char *gpu_load_lane(const GpuOperand *x)
{
    return x->groups == 1 ? "tid" : x->name == 'a' ? "@lane_a(tid)" : "@lane_b(tid)";
}

void gpu_load_lanes(const GpuPlan *p, Buf *out)
{
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        int part = p->wave / x->groups, share = x->lvc / x->groups;
        if (x->groups > 1)
            buf_printf(out,
                       "@DEV unsigned @lane_%c(unsigned tid)\n{\n"
                       "    return tid / %d * %d + tid %% %d / %d * %d + tid %% %d / %d * %d + tid %% "
                       "%d;\n}\n\n",
                       x->name, p->wave, p->wave, part, share, x->lvc, p->wave, part, share, share);
    }
}

void gpu_load_place(const GpuPlan *p, int i, const char *along, const char *across, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    bool grouped = x->grouped;
    int threads = p->n_threads / x->n_waves, lines = x->nlp * x->lsp;
    const char *tid = gpu_load_lane(x);
    char lane[48], wave[64] = "", idle[64] = "";
    snprintf(lane, sizeof lane, "%s", tid);
    if (x->n_waves > 1) {
        snprintf(lane, sizeof lane, "%s %% %d", tid, threads);
        snprintf(wave, sizeof wave, "%s / %d * %d + ", tid, threads, lines);
    }
    if (x->fractional)
        snprintf(idle, sizeof idle, "%s >= %d ? %d : ", tid, x->lvc * x->lsp, x->tlu ? x->tile : p->depth_u);
    if (grouped)
        buf_printf(out, "%s = %s%s %% %d * %d, %s = %s%s / %d", along, idle, lane, x->lvc, x->width, across,
                   wave, lane, x->lvc);
    else
        buf_printf(out, "%s = %s%s / %d * %d, %s = %s%s %% %d", along, idle, lane, x->lsp, x->width, across,
                   wave, lane, x->lsp);
}

/* FractionalLoad: some loads of some threads are outside the tile. */
static void inside(const GpuPlan *p, const GpuOperand *x, const char *before, const char *behind, Buf *out)
{
    if (x->fractional)
        buf_printf(out, "%salong < %d && across < %d%s", before, x->tlu ? x->tile : p->depth_u,
                   x->tlu ? p->depth_u : x->tile, behind);
}

static void init_operand(const GpuPlan *p, int i, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    char n = x->name, size = i ? 'n' : 'm';
    int bytes = gpu_type_bytes(&x->type);
    char along[16], across[16];
    snprintf(along, sizeof along, "c.along_%c", n);
    snprintf(across, sizeof across, "c.across_%c", n);
    buf_puts(out, "    ");
    gpu_load_place(p, i, along, across, out);
    buf_puts(out, ";\n");
    if (x->tlu)
        buf_printf(out,
                   "    {\n        const unsigned last = t.%c - %d, from = t.%c0 < last ? t.%c0 : last;\n"
                   "        c.%c = t.%c + (unsigned long long)from * %d;\n",
                   size, x->width, size, size, n, n, bytes);
    else
        buf_printf(out,
                   "    {\n        const unsigned last = t.%c - 1 - t.%c0;\n"
                   "        c.%c = t.%c + (unsigned long long)t.%c0 * t.ld%c * %d;\n",
                   size, size, n, n, size, n, bytes);
    buf_printf(
        out,
        "        @UNROLL for (int i = 0; i < %d; i++) {\n"
        "            unsigned along = c.along_%c + i %% %d * %d, across = c.across_%c + i / %d * %d;\n",
        loads_of(x), n, x->nlc, x->lsc, n, x->nlc, x->lsp);
    if (x->fractional) { /* reads something that is there */
        int most_along = (x->tlu ? x->tile : p->depth_u) - x->width;
        int most_across = (x->tlu ? p->depth_u : x->tile) - 1;
        buf_printf(out,
                   "            if (along > %d) along = %d;\n            if (across > %d) across = %d;\n",
                   most_along, most_along, most_across, most_across);
    }
    if (x->tlu)
        buf_printf(out,
                   "            const unsigned free = t.%c0 + along < last ? t.%c0 + along : last;\n"
                   "            c.off_%c[i] = (across * (unsigned)t.ld%c + (free - from)) * %d;\n",
                   size, size, n, n, bytes);
    else
        buf_printf(out,
                   "            const unsigned free = across < last ? across : last;\n"
                   "            c.off_%c[i] = (free * (unsigned)t.ld%c + along) * %d;\n",
                   n, n, bytes);
    buf_puts(out, "        }\n    }\n");
}

static void init(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @copy_init(@Copy &c, const @Tile &t, unsigned tid)\n{\n");
    init_operand(p, 0, out);
    init_operand(p, 1, out);
    buf_puts(out, "}\n\n"
                  "@DEV void @copy_move(@Copy &c, const @Tile &, long long a, long long b)\n{\n"
                  "    c.a += a;\n    c.b += b;\n}\n\n");
}

static void load(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @copy_load(@Copy &c, int set, char *)\n{\n");
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        int parts = x->width * p->in.parts;
        buf_printf(out, "    @UNROLL for (int i = 0; i < %d; i++)\n        c.%c_data[set][i] = ", loads_of(x),
                   x->name);
        buf_printf(out, "%s((const @VP%du *)(c.%c + c.off_%c[i]));\n", gpu_load_hinted(p, x->hint), parts,
                   x->name, x->name);
    }
    buf_puts(out, "}\n\n");
}

/* One operand's registers to local memory: as vectors where the same dimension is contiguous there. */
static void store_operand(const GpuPlan *p, int i, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    int parts = x->width * p->in.parts;
    bool same = x->tlu != x->k_major;
    if (p->to_bf16)
        buf_printf(out,
                   "    @UNROLL for (int i = 0; i < %d; i++)\n"
                   "        @UNROLL for (int e = 0; e < %d; e++)\n"
                   "            c.%c_data[set][i][e] = @to_bf16(c.%c_data[set][i][e]);\n",
                   loads_of(x), x->width, x->name, x->name);
    const char *k = x->tlu ? "across" : "along", *free = x->tlu ? "along" : "across";
    buf_printf(
        out,
        "    @UNROLL for (int i = 0; i < %d; i++) {\n"
        "        const unsigned along = c.along_%c + i %% %d * %d, across = c.across_%c + i / %d * %d;\n",
        loads_of(x), x->name, x->nlc, x->lsc, x->name, x->nlc, x->lsp);
    bool vector = same && (x->pad_block ? x->pad_block % x->width == 0 && x->pad % x->width == 0
                                        : x->line % x->width == 0);
    inside(p, x, "        if (", ")\n", out);
    if (vector) {
        buf_printf(out, "        *(@VP%d *)((@T *)(stage + %d) + ", parts, x->lds_offset);
        gpu_lds_element(p, i, k, free, out);
        buf_printf(out, ") = c.%c_data[set][i];\n    }\n", x->name);
        return;
    }
    buf_printf(
        out,
        "        @UNROLL for (int e = 0; e < %d; e++) {\n            @P *to = (@P *)(stage + %d) + %d * ",
        x->width, x->lds_offset, p->in.parts);
    gpu_lds_element(p, i, x->tlu ? "across" : "along + e", x->tlu ? "along + e" : "across", out);
    buf_printf(out,
               ";\n            @UNROLL for (int q = 0; q < %d; q++) to[q] = c.%c_data[set][i][e * %d + q];\n "
               "       }\n    }\n",
               p->in.parts, x->name, p->in.parts);
}

static void store(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @copy_store(@Copy &c, int set, char *stage)\n{\n");
    store_operand(p, 0, out);
    store_operand(p, 1, out);
    buf_puts(out, "}\n\n#define @copy_wait(n)\n\n");
    if (p->n_sets == 1) return;
    buf_puts(out, "@DEV void @copy_shift(@Copy &c)\n{\n");
    for (int i = 0; i < 2; i++)
        buf_printf(out, "    @UNROLL for (int i = 0; i < %d; i++) c.%c_data[0][i] = c.%c_data[1][i];\n",
                   loads_of(&p->op[i]), p->op[i].name, p->op[i].name);
    buf_puts(out, "}\n\n");
}

/* When the fast functions cannot do it: sides shorter than a vector, offsets over 32 bits, misaligned
 * vectors where the machine minds. */
static void slow(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV int @copy_slow(const @Tile &t)\n{\n    int slow = 0;\n");
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        int bytes = gpu_type_bytes(&x->type), lines = x->tlu ? p->depth_u : x->tile;
        char n = x->name, size = i ? 'n' : 'm';
        if (x->tlu && x->width > 1) buf_printf(out, "    slow |= t.%c < %d;\n", size, x->width);
        buf_printf(out, "    slow |= t.ld%c > %lluu;\n", n,
                   (0xffffffffull / (unsigned)bytes - (unsigned)(x->tile + p->depth_u)) / (unsigned)lines);
        if (p->dialect->aligned_loads && x->width * bytes > p->in.part_bytes) {
            buf_printf(out, "    slow |= (((unsigned long long)t.%c | t.ld%c * %d) & %d) != 0;\n", n, n,
                       bytes, x->width * bytes - 1);
            if (x->shift > 1)
                buf_printf(out, "    slow |= t.%c0 + %d > t.%c && t.%c %% %d != 0;\n", size, x->tile, size,
                           size, x->width);
        }
    }
    buf_puts(out, "    return slow;\n}\n\n");
}

static void tail_operand(const GpuPlan *p, int i, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    char n = x->name;
    const char *edge = i ? "col" : "row", *k = x->tlu ? "across" : "along",
               *free = x->tlu ? "along" : "across";
    buf_puts(out, "    {\n        const unsigned ");
    gpu_load_place(p, i, "along_0", "across_0", out);
    buf_printf(out,
               ";\n        @NOUNROLL for (unsigned i = 0; i < %d; i++) {\n"
               "        const unsigned v = i / %d, along = along_0 + v %% %d * %d + i %% %d, across = "
               "across_0 + v / %d * %d;\n",
               loads_of(x) * x->width, x->width, x->nlc, x->lsc, x->width, x->nlc, x->lsp);
    inside(p, x, "        if (!(", ")) continue;\n", out);
    buf_printf(out,
               "        const unsigned long long k = (unsigned long long)k0 + %s, free = @near_%s(t, %s);\n",
               k, edge, free);
    buf_printf(
        out,
        "        const @P *from = (const @P *)t.%c + %d * (%s);\n        @P *to = (@P *)(stage + %d) + %d * ",
        n, p->in.parts,
        x->tlu ? (i ? "k * t.ldb + free" : "k * t.lda + free")
               : (i ? "free * t.ldb + k" : "free * t.lda + k"),
        x->lds_offset, p->in.parts);
    gpu_lds_element(p, i, k, free, out);
    buf_printf(out,
               ";\n        @UNROLL for (int q = 0; q < %d; q++) to[q] = k < t.k ? %s : (@P)0;\n        "
               "}\n    }\n",
               p->in.parts, p->to_bf16 ? "@to_bf16(from[q])" : "from[q]");
}

static void register_emit(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "\n/* ---- copy: global memory, registers, local memory ---- */\n\n");
    state(p, out);
    init(p, out);
    load(p, out);
    store(p, out);
    slow(p, out);
    gpu_copy_tail(p, out);
}

void gpu_copy_tail(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @copy_tail(const @Tile &t, unsigned tid, char *stage, unsigned k0)\n{\n");
    tail_operand(p, 0, out);
    tail_operand(p, 1, out);
    buf_puts(out, "}\n\n");
}

const GpuCopy gpu_copy_register = {"register", false, register_plan, register_emit};
