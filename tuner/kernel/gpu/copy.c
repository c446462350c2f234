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
    GpuIndex index;
    gpu_index_init(&index, out, 1);
    GpuPlace at = gpu_load_place(&index.pool, p, x);
    expr_declare(&index.text, at.along);
    expr_declare(&index.text, at.across);
    buf_printf(out, "    c.along_%c = ", n);
    gpu_index_put(&index, at.along);
    buf_printf(out, ", c.across_%c = ", n);
    gpu_index_put(&index, at.across);
    buf_puts(out, ";\n");
    gpu_index_done(&index);
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

/* Place of load i, declared as along and across. */
static GpuPlace let_load(GpuIndex *index, const GpuOperand *x, GpuPlace first, const Expr *i, const Expr *e)
{
    ExprPool *pool = &index->pool;
    const Expr *along = expr_mul_i(pool, expr_mod_i(pool, i, x->nlc), x->lsc),
               *across = expr_mul_i(pool, expr_div_i(pool, i, x->nlc), x->lsp);
    along = expr_add(pool, expr_add(pool, first.along, along), e);
    return (GpuPlace){gpu_index_let(index, "along", along),
                      gpu_index_let(index, "across", expr_add(pool, first.across, across))};
}

/* Whether a load's vector is one in local memory too, side by side and aligned to its size. */
static bool is_vector(ExprPool *pool, const GpuOperand *x, GpuPlace at)
{
    const Layout *l = &x->layout;
    return x->tlu != x->k_major && layout_is_run(pool, l, at.across, at.along, x->width) &&
           layout_at(pool, l, at.across, at.along)->factor % (x->width * l->bytes) == 0;
}

bool gpu_register_writes(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a)
{
    bool vector = x->tlu != x->k_major;
    int bytes = vector ? x->width * x->layout.bytes : x->layout.bytes;
    if (i >= (vector ? 1 : x->width)) return false;
    GpuPlace at = gpu_load_place(pool, p, x);
    at.along = expr_add_i(pool, at.along, vector ? 0 : i);
    a->k = x->tlu ? at.across : at.along, a->free = x->tlu ? at.along : at.across;
    a->bytes = bytes < 16 ? bytes : 16;
    a->n_threads = p->n_threads / x->n_waves;
    return true;
}

/* One operand's registers to local memory: as vectors where the same dimension is contiguous there. */
static void store_operand(const GpuPlan *p, int i, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    GpuIndex index;
    ExprPool *pool = &index.pool;
    int parts = x->width * p->in.parts;
    gpu_index_init(&index, out, 2);
    if (p->to_bf16)
        buf_printf(out,
                   "    @UNROLL for (int i = 0; i < %d; i++)\n"
                   "        @UNROLL for (int e = 0; e < %d; e++)\n"
                   "            c.%c_data[set][i][e] = @to_bf16(c.%c_data[set][i][e]);\n",
                   loads_of(x), x->width, x->name, x->name);
    buf_printf(out, "    @UNROLL for (int i = 0; i < %d; i++) {\n", loads_of(x));
    GpuPlace first = gpu_load_place(pool, p, x);
    first.along = expr_kept(pool, x->name == 'a' ? "c.along_a" : "c.along_b", first.along);
    first.across = expr_kept(pool, x->name == 'a' ? "c.across_a" : "c.across_b", first.across);
    expr_declared(&index.text, first.along);
    expr_declared(&index.text, first.across);
    const Expr *i_load = gpu_counter(pool, "i", GPU_I, loads_of(x));
    GpuPlace at = let_load(&index, x, first, i_load, expr_const(pool, 0));
    inside(p, x, "        if (", ")\n", out);
    if (is_vector(pool, x, at)) {
        buf_printf(out, "        *(@VP%d *)(stage + (", parts);
        gpu_index_put(&index, expr_add_i(pool, gpu_lds_place(pool, x, at), x->lds_offset));
        buf_printf(out, ")) = c.%c_data[set][i];\n    }\n", x->name);
        gpu_index_done(&index);
        return;
    }
    buf_printf(out, "        @UNROLL for (int e = 0; e < %d; e++) {\n            @P *to = (@P *)(stage + (",
               x->width);
    at.along = expr_add(pool, at.along, gpu_counter(pool, "e", GPU_E, x->width));
    gpu_index_put(&index, expr_add_i(pool, gpu_lds_place(pool, x, at), x->lds_offset));
    buf_printf(
        out,
        "));\n            @UNROLL for (int q = 0; q < %d; q++) to[q] = c.%c_data[set][i][e * %d + q];\n "
        "       }\n    }\n",
        p->in.parts, x->name, p->in.parts);
    gpu_index_done(&index);
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
    GpuIndex index;
    ExprPool *pool = &index.pool;
    gpu_index_init(&index, out, 2);
    char n = x->name;
    const char *edge = i ? "col" : "row", *k = x->tlu ? "across" : "along",
               *free = x->tlu ? "along" : "across";
    GpuPlace first = gpu_load_place(pool, p, x);
    buf_puts(out, "    {\n");
    first.along = gpu_index_let(&index, "along_0", first.along);
    first.across = gpu_index_let(&index, "across_0", first.across);
    buf_printf(out, "        @NOUNROLL for (unsigned i = 0; i < %d; i++) {\n", loads_of(x) * x->width);
    const Expr *number = gpu_counter(pool, "i", GPU_I, loads_of(x) * x->width);
    GpuPlace at =
        let_load(&index, x, first, expr_div_i(pool, number, x->width), expr_mod_i(pool, number, x->width));
    inside(p, x, "        if (!(", ")) continue;\n", out);
    buf_printf(out,
               "        const unsigned long long k = (unsigned long long)k0 + %s, free = @near_%s(t, %s);\n",
               k, edge, free);
    buf_printf(out,
               "        const @P *from = (const @P *)t.%c + %d * (%s);\n        @P *to = (@P *)(stage + (", n,
               p->in.parts,
               x->tlu ? (i ? "k * t.ldb + free" : "k * t.lda + free")
                      : (i ? "free * t.ldb + k" : "free * t.lda + k"));
    gpu_index_put(&index, expr_add_i(pool, gpu_lds_place(pool, x, at), x->lds_offset));
    buf_printf(out,
               "));\n        @UNROLL for (int q = 0; q < %d; q++) to[q] = k < t.k ? %s : (@P)0;\n        "
               "}\n    }\n",
               p->in.parts, p->to_bf16 ? "@to_bf16(from[q])" : "from[q]");
    gpu_index_done(&index);
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
