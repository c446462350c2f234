/* Raw buffers, and stores of D through them (BufferStore; C is read that way too).
 *
 * The descriptor begins at the first element of the work-group's tile, whose place in the matrix is 64 bits
 * in scalar registers; a lane's offset in the tile is 32 bits. Inside D rows are stored in vectors. A tile
 * that overhangs D is stored element by element without a branch: what lies outside gets an offset that the
 * range check drops. Where the columns of a tile are more than 2 GiB apart, the descriptor moves from column
 * to column and drops the others. Loads of C would not pass the stores of D, so that a batch of them comes
 * first. Not here: sums that are added to D in atomic operations, which need pointers (kernel/gpu/store.c).
 */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/text.h"

#include <stdio.h>

/* Offset that is behind every buffer's end: descriptors are made for less than 2 GiB. */
#define OUTSIDE "0x80000000u"
#define REACH 0x7fff0000
/* Registers of a batch: with more, kernels need more than their main loop does; least where accumulators
 * fill a register file. */
enum { BATCH_WORDS = 8, FULL_BATCH_WORDS = 4 };

typedef struct {
    int bytes;          /* of an element */
    int width;          /* elements of a store of a tile inside D */
    int batch, single;  /* elements of a batch of them; of a batch of a tile that overhangs */
    int n;              /* accumulators that a thread stores */
    const char *number; /* of accumulator i, for @acc_row and @acc_col */
} Stores;

int amdgcn_policy(const GpuPlan *p, int hint)
{
    if (p->target->isa[0] >= 12) return hint ? 1 : 0;
    return (hint & 3) | (p->target->isa[0] == 9 && p->target->isa[1] == 4 && hint & 4 ? 16 : 0);
}

bool amdgcn_fills_file(const GpuPlan *p) { return p->n_acc * gpu_type_bytes(&p->acc) / 4 > 200; }

typedef struct {
    int bytes;
    const char *type, *suffix;
} Raw;

static const Raw raws[] = {{1, "unsigned char", "i8"},
                           {2, "unsigned short", "i16"},
                           {4, "int", "i32"},
                           {8, "@w2", "v2i32"},
                           {16, "@w4", "v4i32"}};

static const char *raw_type(int bytes)
{
    size_t i = 0;
    while (raws[i].bytes != bytes) i++;
    return raws[i].type;
}

void amdgcn_raw_buffers(const GpuPlan *p, Buf *out)
{
    bool gfx9 = p->target->isa[0] <= 9;
    buf_puts(out, "typedef int @w2 __attribute__((ext_vector_type(2)));\n"
                  "typedef int @w4 __attribute__((ext_vector_type(4)));\n");
    for (size_t i = 0; i < sizeof raws / sizeof raws[0]; i++)
        buf_printf(out,
                   "extern \"C\" __attribute__((device)) %s @raw_load%d(@w4, int, int, int) "
                   "__asm(\"llvm.amdgcn.raw.buffer.load.%s\");\n"
                   "extern \"C\" __attribute__((device)) void @raw_store%d(%s, @w4, int, int, int) "
                   "__asm(\"llvm.amdgcn.raw.buffer.store.%s\");\n",
                   raws[i].type, raws[i].bytes, raws[i].suffix, raws[i].bytes, raws[i].type, raws[i].suffix);
    /* A raw buffer of `bytes`; at most 4 GiB are seen from its base. Addresses have 48 bits: what stands
     * above them in the descriptor, the stride, is 0 without a mask, which would cost a copy of the
     * descriptor in each iteration of the main loop. Old compilers keep the base in vector registers when
     * they are not told that it is uniform, and loop over its values at each load. */
    buf_printf(out,
               "@DEV @w4 @descriptor(const char *base, unsigned long long bytes)\n{\n"
               "    const unsigned long long b = @uniform64((unsigned long long)base);\n"
               "    const @w4 r = {(int)b, (int)(b >> 32), (int)(bytes >> 32 ? ~0u : "
               "(unsigned)bytes), 0x%x};\n"
               "    return r;\n}\n",
               gfx9 ? 0x27000 : 0x31004000);
}

/* Vectors that one instruction stores. A batch takes BATCH_WORDS, unless NumElementsPerBatchStore says how
 * many elements it has. */
static Stores stores_of(const GpuPlan *p)
{
    Stores s = {.bytes = gpu_type_bytes(&p->out), .width = p->store_width, .n = gpu_share(p)};
    while (s.width & (s.width - 1)) s.width &= s.width - 1;
    while (p->store_width % s.width) s.width /= 2;
    int words = (s.bytes + 3) / 4, given = p->batch_store;
    int batch = amdgcn_fills_file(p) ? FULL_BATCH_WORDS : BATCH_WORDS;
    int most = given > 0 ? given : batch * 4 / s.bytes;
    s.batch = most > s.width ? most / s.width * s.width : s.width;
    s.single = given > 0 ? given : words == 1 ? batch / 2 : 1; /* offsets too */
    if (s.batch > s.n) s.batch = s.n;
    if (s.single > s.n) s.single = s.n;
    return s;
}

/* One element and one vector, there and back; the descriptor. */
static void accesses(const GpuPlan *p, const Stores *s, Buf *out)
{
    int policy_c = amdgcn_policy(p, p->hint_c), policy_d = amdgcn_policy(p, p->hint_d);
    int parts = s->width * p->out.parts;
    char vector[16];
    snprintf(vector, sizeof vector, "@VD%d", parts);
    for (int i = 0; i < 2; i++) {
        const char *type = i ? vector : "@TD", *name = i ? "vector" : "element";
        int bytes = s->bytes * (i ? s->width : 1);
        buf_printf(out,
                   "@DEV void @store_%s(%s x, @w4 d, unsigned at)\n{\n"
                   "    @raw_store%d(__builtin_bit_cast(%s, x), d, (int)at, 0, %d);\n}\n\n",
                   name, type, bytes, raw_type(bytes), policy_d);
        if (!gpu_reads_c(p)) continue;
        buf_printf(out,
                   "@DEV %s @load_%s(@w4 c, unsigned at)\n{\n"
                   "    return __builtin_bit_cast(%s, @raw_load%d(c, (int)at, 0, %d));\n}\n\n",
                   type, name, type, bytes, policy_c);
    }
    buf_printf(
        out,
        "/* C or D from row t.m0 and column n0 on, to its last element; 2 GiB of it at most. */\n"
        "@DEV @w4 @out_buffer(const @TD *x, unsigned long long ld, const @Tile &t, unsigned n0, bool used)\n"
        "{\n"
        "    const unsigned long long bytes = ((t.n - 1 - n0) * ld + (t.m - t.m0)) * %d;\n"
        "    const unsigned seen = bytes < 0x7fffffffull ? (unsigned)bytes : 0x7fffffffu;\n"
        "    return @descriptor((const char *)(x + (n0 * ld + t.m0)), @uniform(used ? seen : 0));\n}\n\n",
        s->bytes);
}

/* What hides a value from the compiler, so that it does not move what is computed from it out of the loop
 * over columns, where it would need a register for each accumulator. */
static void opaque(Buf *out) { kernel_text_put("amdgcn/opaque.hip", out); }

/* `x`: accumulator `index`, scaled and added to `was`, an element of C. */
static void value(const GpuPlan *p, const char *index, const char *was, Buf *out)
{
    char scaled[96];
    snprintf(scaled, sizeof scaled, gpu_scales(p) ? "@mul(s.alpha, @acc_get(acc, %s))" : "@acc_get(acc, %s)",
             index);
    if (was)
        buf_printf(out, "const @TC x = @madd(s.beta, @to_c(%s), %s);\n", was, scaled);
    else
        buf_printf(out, "const @TC x = %s;\n", scaled);
}

/* What the batches share, equal in all threads but for `first`. */
static void state(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "struct @Store {\n    @w4 d;\n    unsigned ldd, n0, wide;\n    int first;\n");
    if (gpu_scales(p)) buf_puts(out, "    @TC alpha;\n");
    if (gpu_reads_c(p)) buf_puts(out, "    @w4 c;\n    unsigned ldc;\n    @TC beta;\n");
    buf_puts(out, "};\n\n");
}

/* A batch is a function of its own with the first accumulator as a constant: compilers give up to unroll a
 * loop over hundreds of them, and then keep all accumulators in scratch memory. */
static void batch_head(const char *name, const char *more, Buf *out)
{
    buf_printf(out,
               "template <int b> @DEV void @%s(const @Store &s, %sconst @Acc &acc, unsigned tid)\n{\n"
               "    const unsigned id = @opaque(tid);\n",
               name, more);
}

/* The next batch's products would take registers beside accumulators that still live. Where those fill a
 * register file compilers need the freedom to begin with any. */
static void batch_end(const GpuPlan *p, Buf *out)
{
    buf_printf(out, "    }\n%s}\n\n", amdgcn_fills_file(p) ? "" : "    @keep_order();\n");
}

static void batch_calls(const char *name, const char *more, int n, int batch, Buf *out)
{
    for (int b = 0; b < n; b += batch) buf_printf(out, "        @%s<%d>(s, %sacc, tid);\n", name, b, more);
}

static void batch_loop(int n, int batch, int step, Buf *out)
{
    buf_printf(out, "    @UNROLL for (int i = b; i < b + %d && i < %d; i += %d) {\n", batch, n, step);
}

/* Vectors of a tile inside D. with_c: beta is not 0. */
static void inside(const GpuPlan *p, const Stores *s, bool with_c, Buf *out)
{
    int parts = s->width * p->out.parts;
    bool complex = p->out.parts == 2;
    batch_head(with_c ? "inside_c" : "inside", "", out);
    if (with_c) {
        buf_printf(out, "    @VD%d old[%d];\n", parts, s->batch / s->width);
        batch_loop(s->n, s->batch, s->width, out);
        buf_printf(out,
                   "        old[(i - b) / %d] = @load_vector(s.c, @acc_col(id, %s) * s.ldc + "
                   "@acc_row(id, %s) * %d);\n    }\n",
                   s->width, s->number, s->number, s->bytes);
    }
    batch_loop(s->n, s->batch, s->width, out);
    if (with_c) buf_printf(out, "        const @VD%d was = old[(i - b) / %d];\n", parts, s->width);
    buf_printf(out, "        @VD%d v;\n        @UNROLL for (int q = 0; q < %d; q++) {\n            ", parts,
               s->width);
    if (with_c && complex) buf_puts(out, "const @TD z = {was[2 * q], was[2 * q + 1]};\n            ");
    value(p, "i + q", !with_c ? NULL : complex ? "z" : "was[q]", out);
    buf_puts(out, complex ? "            const @TD e = @from_c(x);\n"
                            "            v[2 * q] = e.re, v[2 * q + 1] = e.im;\n"
                          : "            v[q] = @from_c(x);\n");
    buf_printf(out,
               "        }\n"
               "        @store_vector(v, s.d, @acc_col(id, %s) * s.ldd + @acc_row(id, %s) * %d);\n",
               s->number, s->number, s->bytes);
    batch_end(p, out);
}

static void inside_tile(const GpuPlan *p, const Stores *s, Buf *out)
{
    buf_printf(out,
               "    if (near && t.m0 + %d <= t.m && t.n0 + %d <= t.n) {\n"
               "        s.d = @out_buffer(o.d, o.ldd, t, t.n0, true);\n",
               p->mt[0], p->mt[1]);
    if (gpu_scales(p)) buf_puts(out, "        s.alpha = o.alpha;\n");
    if (gpu_reads_c(p)) {
        buf_puts(out, "        if (!@is_zero(o.beta)) {\n"
                      "        s.c = @out_buffer(o.c, o.ldc, t, t.n0, true);\n");
        batch_calls("inside_c", "", s->n, s->batch, out);
        buf_puts(out, "        } else {\n");
        batch_calls("inside", "", s->n, s->batch, out);
        buf_puts(out, "        }\n");
    } else
        batch_calls("inside", "", s->n, s->batch, out);
    buf_puts(out, "        return;\n    }\n");
}

/* Elements of a tile that overhangs D, or of which the descriptor reaches one column. C has no element in
 * reach when beta is 0: nothing is read, and what is added is 0. */
static void edge(const GpuPlan *p, const Stores *s, Buf *out)
{
    bool c = gpu_reads_c(p);
    batch_head("edge", "const @Tile &t, ", out);
    buf_printf(out, "    unsigned at[%d];\n", s->single);
    if (c) buf_printf(out, "    @TD old[%d];\n", s->single);
    batch_loop(s->n, s->single, 1, out);
    buf_printf(out,
               "        const unsigned row = @edge_row(t, @acc_row(id, %s));\n"
               "        const unsigned col = @edge_col(t, @acc_col(id, %s)) - s.n0;\n"
               "        const bool in = row != ~0u && col < s.wide;\n"
               "        at[i - b] = in ? col * s.ldd + (row - t.m0) * %d : " OUTSIDE ";\n",
               s->number, s->number, s->bytes);
    if (c)
        buf_printf(out,
                   "        const unsigned from = in ? col * s.ldc + (row - t.m0) * %d : " OUTSIDE ";\n"
                   "        old[i - b] = @load_element(s.c, from);\n",
                   s->bytes);
    buf_puts(out, "    }\n");
    batch_loop(s->n, s->single, 1, out);
    buf_puts(out, "        ");
    value(p, "i", c ? "old[i - b]" : NULL, out);
    buf_puts(out, "        @store_element(@from_c(x), s.d, at[i - b]);\n");
    batch_end(p, out);
}

static void edge_tile(const GpuPlan *p, const Stores *s, Buf *out)
{
    buf_printf(out,
               "    s.wide = near ? %d : 1;\n"
               "    const unsigned end = t.n - t.n0 < %d ? t.n : t.n0 + %d;\n"
               "    @NOUNROLL for (s.n0 = t.n0; s.n0 < end; s.n0 += s.wide) {\n"
               "        s.d = @out_buffer(o.d, o.ldd, t, s.n0, true);\n",
               p->mt[1], p->mt[1], p->mt[1]);
    if (gpu_reads_c(p)) buf_puts(out, "        s.c = @out_buffer(o.c, o.ldc, t, s.n0, !@is_zero(o.beta));\n");
    if (gpu_scales(p)) buf_puts(out, "        s.alpha = @opaque(o.alpha);\n");
    batch_calls("edge", "t, ", s->n, s->single, out);
    buf_puts(out, "    }\n");
}

bool amdgcn_finish(const GpuPlan *p, Buf *out)
{
    if (!p->buffer_store || gpu_adds(p)) return false;
    Stores s = stores_of(p);
    int most = REACH / s.bytes / p->mt[1];
    accesses(p, &s, out);
    opaque(out);
    state(p, out);
    bool shared = gpu_share(p) < p->n_acc;
    s.number = shared ? "s.first + i" : "i";
    if (gpu_reads_c(p)) inside(p, &s, true, out);
    inside(p, &s, false, out);
    edge(p, &s, out);
    gpu_finish_head(p, out);
    buf_printf(out, "    const bool near = o.ldd <= %du", most);
    if (gpu_reads_c(p)) buf_printf(out, " && o.ldc <= %du", most);
    buf_printf(out, ";\n    @Store s;\n    s.ldd = (unsigned)o.ldd * %d;\n", s.bytes);
    if (shared) buf_puts(out, "    s.first = first;\n");
    if (gpu_reads_c(p)) buf_printf(out, "    s.ldc = (unsigned)o.ldc * %d;\n    s.beta = o.beta;\n", s.bytes);
    inside_tile(p, &s, out);
    edge_tile(p, &s, out);
    buf_puts(out, "}\n\n");
    return true;
}
