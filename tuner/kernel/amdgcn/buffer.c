/* Copy module "buffer": raw buffer loads to registers to local memory (BufferLoad).
 *
 * A descriptor's base moves along K in scalar registers, a thread's offsets never change, further loads of a
 * thread differ by a scalar offset or an immediate. Where the free dimension is contiguous in memory, vectors
 * that straddle M or N are read from the edge back (GpuOperand.shift): the range check must not cut a vector,
 * because processors differ in what is left of it. Where K is contiguous, lines behind M or N are dropped by
 * the range check on gfx9; later processors may or may not count the scalar offset in it, so that lines are
 * limited there, with an offset of its own for each.
 * Where the free dimension is contiguous in memory and K in local memory (types below 4 bytes,
 * UnrollMajorLDS) a thread loads neighbours along K and writes runs of `run` elements of K, transposed in
 * registers.
 */
#include "kernel/amdgcn/amdgcn.h"

#include <stdio.h>

/* How the loads of one operand are dealt to threads; made anew from the plan by each function. */
typedef struct {
    const GpuOperand *x;
    int i, bytes;   /* operand number, bytes of an element */
    int n;          /* loads of a thread */
    int words;      /* registers of a load: 4 bytes each */
    bool transpose; /* free contiguous in memory, K in local memory */
    int run;        /* neighbours along K that a thread has; 1 unless transposed */
    int lsp;        /* elements across that one load of all threads covers */
    int lanes;      /* threads side by side along the contiguous dimension */
    int offsets;    /* vector registers that address them: of each load along, or across, or one */
} Loads;

static Loads loads_of(const GpuPlan *p, int i)
{
    const GpuOperand *x = &p->op[i];
    Loads l = {.x = x, .i = i, .bytes = gpu_type_bytes(&x->type), .n = x->nlc * x->nlp, .run = 1};
    l.words = (x->width * l.bytes + 3) / 4;
    l.transpose = x->tlu && x->k_major;
    l.lsp = (x->tlu ? p->depth_u : x->tile) / x->nlp;
    l.lanes = x->lvc;
    l.offsets = x->tlu ? x->nlc : p->target->isa[0] >= 10 ? x->nlp : 1;
    if (!l.transpose) return l;
    l.run = pow2_in(x->nlp, 16 / l.bytes);
    /* a wave's writes spread over lines and K: 64 bytes of a line of memory per run are enough */
    while (l.lanes % 2 == 0 && l.lanes > 4 && l.lanes * x->width * l.bytes > 64) l.lanes /= 2;
    return l;
}

/* ---- places ---- */

typedef struct {
    int along, across;
} Place;

/* First element of load 0 of a thread. */
static Place thread_place(const Loads *l, int tid)
{
    const GpuOperand *x = l->x;
    int along = tid % l->lanes + tid / (l->lanes * l->lsp) * l->lanes;
    return (Place){along * x->width, tid / l->lanes % l->lsp * l->run};
}

/* Distance of load j (of nlc * nlp) from load 0: along comes first. */
static Place load_place(const Loads *l, int j)
{
    int c = j % l->x->nlc, q = j / l->x->nlc;
    return (Place){c * l->x->lsc, q % l->run + q / l->run * l->run * l->lsp};
}

bool amdgcn_buffer_writes(const GpuPlan *p, const GpuOperand *x, int access, LdsAccess *a)
{
    Loads l = loads_of(p, x->name == 'b');
    bool vector = x->tlu != x->k_major;
    if (access >= (vector ? 1 : x->width) || access >= 4) return false;
    a->n_lanes = p->n_threads < p->wave ? p->n_threads : p->wave;
    a->bytes = (vector ? x->width : l.run) * l.bytes;
    for (int tid = 0; tid < a->n_lanes; tid++) {
        Place q = thread_place(&l, gpu_load_thread(p, x, tid));
        int along = q.along + (vector ? 0 : access), k = x->tlu ? q.across : along;
        int free = x->tlu ? along : q.across;
        a->at[tid] = x->k_major ? lds_offset(x, free, k) : lds_offset(x, k, free);
    }
    return true;
}

bool amdgcn_copy_exchanges(const GpuPlan *p, const GpuOperand *x)
{
    Loads l = loads_of(p, x->name == 'b');
    return l.transpose ? p->copy == &amdgcn_buffer || x->width == 1 : x->width * l.bytes <= 16;
}

/* The pieces of lines are exchanged, and not alike in all loads of a thread: each has its own address. */
static bool exchanged(const Loads *l)
{
    const GpuOperand *x = l->x;
    int period = x->xor_lines * (x->xor_mask + 1);
    return x->xor_mask && (l->transpose || (x->nlp > 1 && l->lsp % period) ||
                           (x->nlc > 1 && x->lsc * l->bytes % (16 * (x->xor_mask + 1))));
}

/* ---- text ---- */

static void state(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "struct @Copy {\n");
    for (int i = 0; i < 2; i++) {
        Loads l = loads_of(p, i);
        char c = l.x->name;
        buf_printf(
            out,
            "    const char *%c;\n    unsigned long long %c_bytes;\n    unsigned %c_off[%d], %c_ld, %c_lds;\n"
            "    int %c_data[%d][%d][%d];\n",
            c, c, c, l.offsets, c, c, c, p->n_sets, l.n, l.words);
        if (exchanged(&l)) buf_printf(out, "    unsigned %c_line, %c_k;\n", c, c);
    }
    buf_puts(out, "};\n\n");
}

/* Offsets from the descriptor's base: `from` elements behind the operand's first. */
static void init_offsets(const Loads *l, Buf *out)
{
    const GpuOperand *x = l->x;
    char c = x->name, size = l->i ? 'n' : 'm';
    if (!x->tlu && l->offsets == 1) {
        buf_printf(out, "        c.%c_off[0] = along * %d + across * c.%c_ld;\n", c, l->bytes, c);
        return;
    }
    buf_printf(out, "        @UNROLL for (int i = 0; i < %d; i++) {\n", l->offsets);
    if (x->tlu)
        buf_printf(
            out,
            "            const unsigned free = t.%c0 + along + i * %d;\n"
            "            c.%c_off[i] = ((free < last ? free : last) - from) * %d + across * c.%c_ld;\n",
            size, x->lsc, c, l->bytes, c);
    else
        buf_printf(out,
                   "            const unsigned free = across + i * %d, most = t.%c - 1 - t.%c0;\n"
                   "            c.%c_off[i] = along * %d + (free < most ? free : most) * c.%c_ld;\n",
                   l->lsp, size, size, c, l->bytes, c);
    buf_puts(out, "        }\n");
}

static void init_operand(const GpuPlan *p, int i, Buf *out)
{
    Loads l = loads_of(p, i);
    const GpuOperand *x = l.x;
    const char *tid = gpu_load_lane(x);
    char c = x->name, size = i ? 'n' : 'm';
    int span = l.lanes * l.lsp;
    if (x->tlu)
        buf_printf(out,
                   "    {\n"
                   "        const unsigned last = t.%c - %d, from = t.%c0 < last ? t.%c0 : last;\n"
                   "        const unsigned long long at = from;\n"
                   "        const unsigned long long end = (t.k - 1) * t.ld%c + t.%c;\n",
                   size, x->width, size, size, c, size);
    else
        buf_printf(out,
                   "    {\n"
                   "        const unsigned long long at = t.%c0 * t.ld%c;\n"
                   "        const unsigned long long end = (t.%c - 1) * t.ld%c + t.k;\n",
                   size, c, size, c);
    buf_printf(out,
               "        c.%c = (const char *)@uniform64((unsigned long long)(t.%c + at * %d));\n"
               "        c.%c_bytes = @uniform64((end - at) * %d);\n"
               "        c.%c_ld = (unsigned)t.ld%c * %d;\n"
               "        const unsigned along = (%s %% %d",
               c, c, l.bytes, c, l.bytes, c, c, l.bytes, tid, l.lanes);
    if (span < p->n_threads) buf_printf(out, " + %s / %d * %d", tid, span, l.lanes);
    buf_printf(out, ") * %d, across = %s / %d", x->width, tid, l.lanes);
    if (span < p->n_threads) buf_printf(out, " %% %d", l.lsp);
    if (l.run > 1) buf_printf(out, " * %d", l.run);
    buf_puts(out, ";\n");
    init_offsets(&l, out);
    buf_printf(out, "        c.%c_lds = ", c);
    gpu_lds_element(p, i, x->tlu ? "across" : "along", x->tlu ? "along" : "across", out);
    buf_printf(out, " * %d + %d;\n", l.bytes, x->lds_offset);
    if (exchanged(&l))
        buf_printf(out, "        c.%c_line = %s, c.%c_k = %s;\n", c, x->tlu ? "along" : "across", c,
                   x->tlu ? "across" : "along");
    buf_puts(out, "    }\n");
}

static void init(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @copy_init(@Copy &c, const @Tile &t, unsigned tid)\n{\n");
    init_operand(p, 0, out);
    init_operand(p, 1, out);
    buf_puts(out, "}\n\n@DEV void @copy_move(@Copy &c, const @Tile &, long long a, long long b)\n{\n"
                  "    c.a += a;\n    c.b += b;\n}\n\n");
}

static void one_load(const GpuPlan *p, const Loads *l, int j, int at, int n, Buf *out)
{
    const GpuOperand *x = l->x;
    char c = x->name, call[160], scalar[40] = "0";
    Place q = load_place(l, j);
    int offset = x->tlu ? j % x->nlc : l->offsets > 1 ? j / x->nlc : 0;
    int immediate = at + (x->tlu ? 0 : q.along * l->bytes);
    if (q.across && (x->tlu || l->offsets == 1))
        snprintf(scalar, sizeof scalar, "(int)(c.%c_ld * %d)", c, q.across);
    snprintf(call, sizeof call, "@raw_load%d(r%c, (int)c.%c_off[%d] + %d, %s, %d)", n, c, c, offset,
             immediate, scalar, amdgcn_policy(p, x->hint));
    if (n <= 4)
        buf_printf(out, "    c.%c_data[set][%d][%d] = %s;\n", c, j, at / 4, call);
    else
        buf_printf(out,
                   "    {\n        const @w%d v = %s;\n"
                   "        @UNROLL for (int e = 0; e < %d; e++) c.%c_data[set][%d][%d + e] = v[e];\n    }\n",
                   n / 4, call, n / 4, c, j, at / 4);
}

static void load_operand(const GpuPlan *p, int i, Buf *out)
{
    Loads l = loads_of(p, i);
    char c = l.x->name;
    int bytes = l.x->width * l.bytes;
    buf_printf(out, "    const @w4 r%c = @descriptor(c.%c, c.%c_bytes);\n", c, c, c);
    for (int j = 0; j < l.n; j++)
        for (int at = 0; at < bytes;) {
            int n = bytes - at >= 16  ? 16
                    : bytes - at >= 8 ? 8
                    : bytes - at >= 4 ? 4
                    : bytes - at >= 2 ? 2
                                      : 1;
            one_load(p, &l, j, at, n, out);
            at += n;
        }
}

static void load(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @copy_load(@Copy &c, int set, char *)\n{\n");
    load_operand(p, 0, out);
    load_operand(p, 1, out);
    buf_puts(out, "}\n\n");
}

/* ---- registers to local memory ---- */

/* Largest power of two that divides every address that a thread's piece can start at. */
static int alignment(const GpuPlan *p, const Loads *l, int bytes)
{
    const GpuOperand *x = l->x;
    int align = 16;
    const int units[] = {bytes, x->line * l->bytes, x->pad_block ? x->pad * l->bytes : 16, x->lds_offset,
                         p->stage_bytes};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        while (units[i] % align) align /= 2;
    return align;
}

/* `bytes` of the registers words[0..] to local memory in pieces of `align`. */
static void write_words(const char *words, int at, int bytes, int align, Buf *out)
{
    for (int b = 0; b < bytes;) {
        int n = bytes - b < align ? bytes - b : align;
        if (n == 16)
            buf_printf(out, "    *(@w4 *)(to + %d) = (@w4){%s[%d], %s[%d], %s[%d], %s[%d]};\n", at + b, words,
                       b / 4, words, b / 4 + 1, words, b / 4 + 2, words, b / 4 + 3);
        else if (n >= 8)
            n = 8, buf_printf(out, "    *(@w2 *)(to + %d) = (@w2){%s[%d], %s[%d]};\n", at + b, words, b / 4,
                              words, b / 4 + 1);
        else if (n >= 4)
            n = 4, buf_printf(out, "    *(int *)(to + %d) = %s[%d];\n", at + b, words, b / 4);
        else if (n >= 2)
            n = 2, buf_printf(out, "    *(short *)(to + %d) = (short)(%s[%d] >> %d);\n", at + b, words, b / 4,
                              b % 4 * 8);
        else
            buf_printf(out, "    *(signed char *)(to + %d) = (signed char)(%s[%d] >> %d);\n", at + b, words,
                       b / 4, b % 4 * 8);
        b += n;
    }
}

static int place_offset(const Loads *l, Place q)
{
    const GpuOperand *x = l->x;
    int k = x->tlu ? q.across : q.along, free = x->tlu ? q.along : q.across;
    return x->k_major ? lds_offset(x, free, k) : lds_offset(x, k, free);
}

/* Elements 1 or 2 bytes wide of `run` loads, packed into run * bytes of K each. */
static void pack_run(const Loads *l, int j, int e, char c, Buf *out)
{
    int per = 4 / l->bytes, words = (l->run * l->bytes + 3) / 4;
    buf_printf(out, "    {\n    int w[%d];\n", words);
    for (int w = 0; w < words; w++) {
        const char *d[4];
        char text[4][40];
        for (int q = 0; q < 4; q++) {
            int r = w * per + (q < l->run ? q : 0);
            snprintf(text[q], sizeof text[q], "c.%c_data[set][%d][%d]", c, j + r % l->run * l->x->nlc,
                     e / per);
            d[q] = text[q];
        }
        if (l->bytes == 2)
            buf_printf(out, "    w[%d] = (int)__builtin_amdgcn_perm(%s, %s, 0x%xu);\n", w, d[1], d[0],
                       e % 2 ? 0x07060302 : 0x05040100);
        else if (l->run == 2)
            buf_printf(out, "    w[%d] = (int)__builtin_amdgcn_perm(%s, %s, 0x%xu);\n", w, d[1], d[0],
                       0x0c0c0400 + 0x0101 * (e % 4));
        else
            buf_printf(out,
                       "    w[%d] = (int)__builtin_amdgcn_perm(__builtin_amdgcn_perm(%s, %s, 0x%xu), "
                       "__builtin_amdgcn_perm(%s, %s, 0x%xu), 0x%xu);\n",
                       w, d[3], d[2], e % 4 < 2 ? 0x05010400 : 0x07030602, d[1], d[0],
                       e % 4 < 2 ? 0x05010400 : 0x07030602, e % 2 ? 0x07060302 : 0x05040100);
    }
}

/* Element e of load j and of those behind it along K, to byte `at`. */
static void write_run(const GpuPlan *p, const Loads *l, int j, int e, int at, Buf *out)
{
    const GpuOperand *x = l->x;
    int bytes = l->run * l->bytes, align = alignment(p, l, bytes);
    if (l->run > 1 && l->bytes < 4) {
        pack_run(l, j, e, x->name, out);
        write_words("w", at, bytes, align, out);
        buf_puts(out, "    }\n");
        return;
    }
    if (l->bytes < 4) {
        buf_printf(out, "    *(%s *)(to + %d) = (%s)(c.%c_data[set][%d][%d] >> %d);\n",
                   l->bytes == 2 ? "short" : "signed char", at, l->bytes == 2 ? "short" : "signed char",
                   x->name, j, e * l->bytes / 4, e * l->bytes % 4 * 8);
        return;
    }
    int per = l->bytes / 4;
    buf_printf(out, "    {\n    const int w[%d] = {", l->run * per);
    for (int r = 0; r < l->run * per; r++)
        buf_printf(out, "%sc.%c_data[set][%d][%d]", r ? ", " : "", x->name, j + r / per * x->nlc,
                   e * per + r % per);
    buf_puts(out, "};\n");
    write_words("w", at, bytes, align, out);
    buf_puts(out, "    }\n");
}

/* `to` for the element that is `from_first` behind the thread's first: opens a block. */
static void own_address(const GpuPlan *p, const Loads *l, Place from_first, Buf *out)
{
    const GpuOperand *x = l->x;
    char line[32], k[32];
    snprintf(line, sizeof line, "c.%c_line + %d", x->name, x->tlu ? from_first.along : from_first.across);
    snprintf(k, sizeof k, "c.%c_k + %d", x->name, x->tlu ? from_first.across : from_first.along);
    buf_puts(out, "    {\n    char *to = stage + (");
    gpu_lds_element(p, l->i, k, line, out);
    buf_printf(out, " * %d + %d);\n", l->bytes, x->lds_offset);
}

/* Writes of a transposing operand: for each element of the vector a run of K. */
static void store_transposed(const GpuPlan *p, const Loads *l, Buf *out)
{
    const GpuOperand *x = l->x;
    for (int q = 0; q < x->nlp; q += l->run)
        for (int ci = 0; ci < x->nlc; ci++)
            for (int e = 0; e < x->width; e++) {
                int j = q * x->nlc + ci;
                Place place = load_place(l, j);
                place.along += e;
                if (!exchanged(l)) {
                    write_run(p, l, j, e, place_offset(l, place), out);
                    continue;
                }
                own_address(p, l, place, out);
                write_run(p, l, j, e, 0, out);
                buf_puts(out, "    }\n");
            }
}

static void store_operand(const GpuPlan *p, int i, Buf *out)
{
    Loads l = loads_of(p, i);
    const GpuOperand *x = l.x;
    char words[64];
    buf_puts(out, "    {\n");
    if (p->to_bf16)
        buf_printf(out,
                   "    @UNROLL for (int j = 0; j < %d; j++)\n"
                   "        @UNROLL for (int w = 0; w < %d; w++)\n"
                   "            c.%c_data[set][j][w] = @to_bf16x2(c.%c_data[set][j][w]);\n",
                   l.n, l.words, x->name, x->name);
    if (!exchanged(&l)) buf_printf(out, "    char *to = stage + c.%c_lds;\n", x->name);
    if (l.transpose)
        store_transposed(p, &l, out);
    else
        for (int j = 0; j < l.n; j++) {
            Place q = load_place(&l, j);
            snprintf(words, sizeof words, "c.%c_data[set][%d]", x->name, j);
            if (exchanged(&l)) {
                int bytes = x->width * l.bytes;
                own_address(p, &l, q, out);
                write_words(words, 0, bytes, alignment(p, &l, bytes), out);
                buf_puts(out, "    }\n");
                continue;
            }
            if (x->tlu != x->k_major) {
                int bytes = x->width * l.bytes;
                write_words(words, place_offset(&l, q), bytes, alignment(p, &l, bytes), out);
                continue;
            }
            for (int e = 0; e < x->width; e++) { /* K contiguous in memory, free in local memory */
                Place at = {q.along + e, q.across};
                snprintf(words, sizeof words, "(c.%c_data[set][%d] + %d)", x->name, j, e * l.bytes / 4);
                if (l.bytes < 4)
                    buf_printf(out, "    *(%s *)(to + %d) = (%s)(*%s >> %d);\n",
                               l.bytes == 2 ? "short" : "signed char", place_offset(&l, at),
                               l.bytes == 2 ? "short" : "signed char", words, e * l.bytes % 4 * 8);
                else
                    write_words(words, place_offset(&l, at), l.bytes, alignment(p, &l, l.bytes), out);
            }
        }
    buf_puts(out, "    }\n");
}

static void store(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV void @copy_store(@Copy &c, int set, char *stage)\n{\n");
    store_operand(p, 0, out);
    store_operand(p, 1, out);
    buf_puts(out, "}\n\n#define @copy_wait(n)\n\n");
    if (p->n_sets < 2) return;
    buf_puts(out, "@DEV void @copy_shift(@Copy &c)\n{\n");
    for (int i = 0; i < 2; i++) {
        Loads l = loads_of(p, i);
        buf_printf(
            out,
            "    @UNROLL for (int s = 0; s < %d; s++)\n"
            "        @UNROLL for (int j = 0; j < %d; j++)\n"
            "            @UNROLL for (int e = 0; e < %d; e++) c.%c_data[s][j][e] = c.%c_data[s + 1][j][e];\n",
            p->n_sets - 1, l.n, l.words, l.x->name, l.x->name);
    }
    buf_puts(out, "}\n\n");
}

/* Offsets of a thread stay below 2 GiB; a side has a whole vector. */
static void slow(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "@DEV int @copy_slow(const @Tile &t)\n{\n    int slow = 0;\n");
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        int bytes = gpu_type_bytes(&x->type), lines = x->tlu ? p->depth_u : x->tile;
        char size = i ? 'n' : 'm';
        buf_printf(out, "    slow |= t.ld%c > %du;\n", x->name, 0x7fff0000 / bytes / lines);
        if (x->tlu) buf_printf(out, "    slow |= t.%c < %d;\n", size, x->width);
    }
    buf_puts(out, "    return slow;\n}\n\n");
}

static Err buffer_plan(GpuPlan *p)
{
    (void)p;
    return ERR_OK;
}

static void buffer_emit(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "\n/* ---- copy: buffer loads, registers, local memory ---- */\n\n");
    state(p, out);
    init(p, out);
    load(p, out);
    store(p, out);
    slow(p, out);
    gpu_copy_tail(p, out);
}

const GpuCopy amdgcn_buffer = {"buffer", false, buffer_plan, buffer_emit};
