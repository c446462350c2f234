/* The end of a kernel: parts of a local split are added up, then D is written: alpha, beta, or the split
 * sums of GlobalSplitU. Tiles inside D are written in vectors, others element by element. Here by pointers; a
 * dialect may have another way (GpuDialect.finish). */
#include "kernel/gpu/gpu.h"

#include <stdio.h>

bool gpu_adds(const GpuPlan *p) { return p->gsu > 1 && !p->gsu_multiple; }
/* C is read here, not by a helper kernel. */
bool gpu_reads_c(const GpuPlan *p) { return p->use_beta && p->gsu == 1; }
/* Scaled here, not by a helper kernel. */
bool gpu_scales(const GpuPlan *p) { return !p->gsu_multiple; }

static void out_struct(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "\n/* ---- stores ---- */\n\nstruct @Out {\n    @TD *d;\n    unsigned long long ldd;\n");
    if (gpu_scales(p)) buf_puts(out, "    @TC alpha;\n");
    if (gpu_reads_c(p)) buf_puts(out, "    const @TD *c;\n    unsigned long long ldc;\n    @TC beta;\n");
    buf_puts(out, "};\n\n");
}

/* Adds to memory. Types without an instruction: compare and swap of the 4 or 8 bytes around. */
static void add_text(const GpuPlan *p, Buf *out)
{
    if (!gpu_adds(p)) return;
    buf_puts(out, "@DEV void @add_to(@TD *p, @TC x)\n{\n");
    if (p->out.parts == 2)
        buf_puts(out, "    @atomic_add(&p->re, x.re);\n    @atomic_add(&p->im, x.im);\n");
    else if (p->out.part_bytes >= 4)
        buf_puts(out, "    @atomic_add(p, (@TD)x);\n");
    else
        buf_puts(out,
                 "    unsigned *word = (unsigned *)((unsigned long long)p & ~3ull);\n"
                 "    const unsigned shift = ((unsigned)(unsigned long long)p & 2u) * 8;\n"
                 "    unsigned old = *word, seen;\n"
                 "    do {\n"
                 "        seen = old;\n"
                 "        const @TD sum = @from_c(@add(@to_c((@TD)(seen >> shift)), x));\n"
                 "        old = @cas32(word, seen, (seen & ~(0xffffu << shift)) | (unsigned)sum << shift);\n"
                 "    } while (old != seen);\n");
    buf_puts(out, "}\n\n");
}

/* One element at d[at], c[ct]. */
static void element(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @put(const @Out &o, unsigned row, unsigned col, @TC x)\n{\n");
    buf_puts(out, "    @TD *to = o.d + (col * o.ldd + row);\n");
    if (gpu_scales(p)) buf_puts(out, "    x = @mul(o.alpha, x);\n");
    if (gpu_adds(p)) {
        buf_puts(out, "    @add_to(to, x);\n}\n\n");
        return;
    }
    if (gpu_reads_c(p))
        buf_puts(out, "    if (!@is_zero(o.beta)) x = @madd(o.beta, @to_c(o.c[col * o.ldc + row]), x);\n");
    if (p->hint_d && p->out.parts == 1)
        buf_printf(out, "    %s(to, @from_c(x));\n}\n\n", gpu_store_hinted(p, p->hint_d));
    else
        buf_puts(out, "    *to = @from_c(x);\n}\n\n");
}

/* Part q of vector element e, and a whole element from a vector of C. */
static void pack(const GpuPlan *p, Buf *out)
{
    if (p->out.parts == 2)
        buf_puts(
            out,
            "            const @TD e = @from_c(x);\n            v[2 * q] = e.re, v[2 * q + 1] = e.im;\n");
    else
        buf_puts(out, "            v[q] = @from_c(x);\n");
}

/* store_width elements of a run. */
static void vector(const GpuPlan *p, Buf *out)
{
    int w = p->store_width, parts = w * p->out.parts;
    buf_printf(out,
               "@DEV void @put_vector(const @Out &o, unsigned row, unsigned col, const @Acc &acc, int i)\n{\n"
               "    @VD%du *to = (@VD%du *)(o.d + (col * o.ldd + row));\n    @VD%d v;\n",
               parts, parts, parts);
    if (gpu_reads_c(p))
        buf_printf(
            out,
            "    if (!@is_zero(o.beta)) {\n"
            "        const @VD%d old = %s((const @VD%du *)(o.c + (col * o.ldc + row)));\n"
            "        @UNROLL for (int q = 0; q < %d; q++) {\n"
            "            const @TD was = %s;\n"
            "            const @TC x = @madd(o.beta, @to_c(was), @mul(o.alpha, @acc_get(acc, i + q)));\n",
            parts, gpu_load_hinted(p, p->hint_c), parts, w,
            p->out.parts == 2 ? "{old[2 * q], old[2 * q + 1]}" : "old[q]");
    if (gpu_reads_c(p)) {
        pack(p, out);
        buf_puts(out, "        }\n    } else {\n");
    } else
        buf_puts(out, "    {\n");
    buf_printf(out, "        @UNROLL for (int q = 0; q < %d; q++) {\n            const @TC x = %s;\n", w,
               gpu_scales(p) ? "@mul(o.alpha, @acc_get(acc, i + q))" : "@acc_get(acc, i + q)");
    pack(p, out);
    if (p->hint_d)
        buf_printf(out, "        }\n    }\n    %s(to, (@VD%du)v);\n}\n\n", gpu_store_hinted(p, p->hint_d),
                   parts);
    else
        buf_puts(out, "        }\n    }\n    *to = v;\n}\n\n");
}

static void inside(const GpuPlan *p, Buf *out)
{
    int w = p->store_width, bytes = w * p->out.part_bytes * p->out.parts;
    buf_printf(out, "    bool whole = t.m0 + %d <= t.m && t.n0 + %d <= t.n;\n", p->mt[0], p->mt[1]);
    if (!p->dialect->aligned_loads || w == 1) return;
    buf_printf(out, "    whole = whole && (((unsigned long long)o.d | o.ldd * %d) & %d) == 0;\n",
               p->out.part_bytes * p->out.parts, bytes - 1);
    if (gpu_reads_c(p))
        buf_printf(out, "    whole = whole && (((unsigned long long)o.c | o.ldc * %d) & %d) == 0;\n",
                   p->out.part_bytes * p->out.parts, bytes - 1);
}

int gpu_share(const GpuPlan *p)
{
    return p->n_acc % p->lsu == 0 && p->n_acc / p->lsu % p->store_width == 0 ? p->n_acc / p->lsu : p->n_acc;
}

static void reduce(const GpuPlan *p, Buf *out)
{
    int threads = p->n_threads / p->lsu, n = gpu_share(p);
    if (p->lsu == 1) return;
    buf_printf(
        out,
        "@DEV void @reduce(@Acc &acc, char *lds, unsigned tid)\n{\n"
        "    const unsigned part = tid / %d, at = tid %% %d, first = part * %d;\n"
        "    @TC *sums = (@TC *)lds;\n"
        "    @barrier();\n"
        "    @UNROLL for (int i = 0; i < %d; i++) sums[(part * %d + i) * %d + at] = @acc_get(acc, i);\n"
        "    @barrier();\n"
        "    @UNROLL for (int i = 0; i < %d; i++) {\n"
        "        @TC x = sums[(first + i) * %d + at];\n"
        "        @UNROLL for (int l = 1; l < %d; l++) x = @add(x, sums[(l * %d + first + i) * %d + at]);\n"
        "        @acc_set(acc, i, x);\n    }\n}\n\n",
        threads, threads, n < p->n_acc ? n : 0, p->n_acc, p->n_acc, threads, n, threads, p->lsu, p->n_acc,
        threads);
}

/* NumElementsPerBatchStore: loads of C do not run ahead of the stores by more than a batch. */
static const char *batch(const GpuPlan *p, char *text, size_t n)
{
    int each = p->batch_store / p->store_width * p->store_width;
    text[0] = 0;
    if (each > 0)
        snprintf(text, n, "            if ((i + %d) %% %d == 0) asm volatile(\"\" ::: \"memory\");\n",
                 p->store_width, each);
    return text;
}

const char *gpu_finish_head(const GpuPlan *p, Buf *out)
{
    bool shared = gpu_share(p) < p->n_acc;
    buf_puts(out, "@DEV void @finish(const @Tile &t, const @Out &o, const @Acc &acc, unsigned tid)\n{\n");
    if (shared)
        buf_printf(out, "    const int first = (int)(tid / %d * %d);\n", p->n_threads / p->lsu, gpu_share(p));
    else if (p->lsu > 1)
        buf_printf(out, "    if (tid >= %d) return;\n", p->n_threads / p->lsu);
    return shared ? "first + i" : "i";
}

static void finish(const GpuPlan *p, Buf *out)
{
    int n = gpu_share(p), w = p->store_width;
    const char *i = gpu_finish_head(p, out);
    char text[96];
    if (!gpu_adds(p)) {
        inside(p, out);
        buf_printf(out,
                   "    if (whole) {\n"
                   "        @UNROLL for (int i = 0; i < %d; i += %d) {\n"
                   "            @put_vector(o, t.m0 + @acc_row(tid, %s), t.n0 + @acc_col(tid, %s), acc, i);\n"
                   "%s        }\n        return;\n    }\n",
                   n, w, i, i, batch(p, text, sizeof text));
    }
    buf_printf(out,
               "    @UNROLL for (int i = 0; i < %d; i++) {\n"
               "        const unsigned row = @edge_row(t, @acc_row(tid, %s)), col = @edge_col(t, "
               "@acc_col(tid, %s));\n"
               "        if (row != ~0u && col != ~0u) @put(o, row, col, @acc_get(acc, i));\n    }\n}\n\n",
               n, i, i);
}

void gpu_store(const GpuPlan *p, Buf *out)
{
    out_struct(p, out);
    reduce(p, out);
    if (p->dialect->finish && p->dialect->finish(p, out)) return;
    add_text(p, out);
    element(p, out);
    if (!gpu_adds(p)) vector(p, out);
    finish(p, out);
}
