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
    bool exchanged; /* addresses in local memory that do not differ by constants: each has its own */
    int align;      /* bytes: a power of two of which all addresses in local memory are multiples */
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

/* First element of load 0 of a thread. */
static GpuPlace thread_place(ExprPool *pool, const GpuPlan *p, const Loads *l)
{
    const Expr *tid = gpu_load_thread(pool, p, l->x);
    const Expr *behind = expr_mul_i(pool, expr_div_i(pool, tid, l->lanes * l->lsp), l->lanes);
    const Expr *vector = expr_add(pool, expr_mod_i(pool, tid, l->lanes), behind);
    const Expr *line = expr_mod_i(pool, expr_div_i(pool, tid, l->lanes), l->lsp);
    return (GpuPlace){expr_mul_i(pool, vector, l->x->width), expr_mul_i(pool, line, l->run)};
}

/* Distance of load j (of nlc * nlp) from load 0: along comes first. */
typedef struct {
    int along, across;
} Distance;

static Distance load_distance(const Loads *l, int j)
{
    int c = j % l->x->nlc, q = j / l->x->nlc;
    return (Distance){c * l->x->lsc, q % l->run + q / l->run * l->run * l->lsp};
}

/* Byte offset in the operand's tile of element e of load j. */
static const Expr *lds_at(ExprPool *pool, const Loads *l, GpuPlace first, int j, int e)
{
    Distance d = load_distance(l, j);
    GpuPlace at = {expr_add_i(pool, first.along, d.along + e), expr_add_i(pool, first.across, d.across)};
    return gpu_lds_place(pool, l->x, at);
}

bool amdgcn_buffer_writes(const GpuPlan *p, const GpuOperand *x, int access, ExprPool *pool, GpuAccess *a)
{
    Loads l = loads_of(p, x->name == 'b');
    bool vector = x->tlu != x->k_major;
    if (access >= (vector ? 1 : x->width) || access >= 4) return false;
    GpuPlace at = thread_place(pool, p, &l);
    at.along = expr_add_i(pool, at.along, vector ? 0 : access);
    a->n_threads = p->n_threads;
    a->bytes = (vector ? x->width : l.run) * l.bytes;
    a->k = x->tlu ? at.across : at.along, a->free = x->tlu ? at.along : at.across;
    return true;
}

bool amdgcn_copy_exchanges(const GpuPlan *p, const GpuOperand *x)
{
    Loads l = loads_of(p, x->name == 'b');
    return l.transpose ? p->copy == &amdgcn_buffer || x->width == 1 : x->width * l.bytes <= 16;
}

/* Fills in what the addresses of all writes have in common. */
static void compare_addresses(const GpuPlan *p, Loads *l)
{
    GpuIndex index;
    ExprPool *pool = &index.pool;
    const GpuOperand *x = l->x;
    int elements = x->tlu != x->k_major ? 1 : x->width;
    int64_t c, all = l->x->lds_offset | p->stage_bytes | 16;
    gpu_index_init(&index, NULL, 0);
    GpuPlace first = thread_place(pool, p, l);
    first.along = expr_kept(pool, "along", first.along),
    first.across = expr_kept(pool, "across", first.across);
    const Expr *base = expr_base(pool, lds_at(pool, l, first, 0, 0), &c);
    for (int j = 0, mark = pool->n_used; j < l->n; j++)
        for (int e = 0; e < elements && j / x->nlc % l->run == 0; e++) {
            const Expr *at = lds_at(pool, l, first, j, e);
            all |= at->factor;
            if (!l->exchanged && !expr_same(base, expr_base(pool, at, &c))) l->exchanged = true;
            expr_pool_back(pool, mark);
        }
    l->align = (int)(all & -all);
}

/* ---- text ---- */

static void state(const GpuPlan *p, const Loads loads[2], Buf *out)
{
    buf_puts(out, "struct @Copy {\n");
    for (int i = 0; i < 2; i++) {
        const Loads *l = &loads[i];
        char c = l->x->name;
        buf_printf(
            out,
            "    const char *%c;\n    unsigned long long %c_bytes;\n    unsigned %c_off[%d], %c_ld, %c_lds;\n"
            "    int %c_data[%d][%d][%d];\n",
            c, c, c, l->offsets, c, c, c, p->n_sets, l->n, l->words);
        if (l->exchanged) buf_printf(out, "    unsigned %c_along, %c_across;\n", c, c);
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

static void init_operand(const GpuPlan *p, const Loads *l, Buf *out)
{
    const GpuOperand *x = l->x;
    char c = x->name, size = l->i ? 'n' : 'm';
    GpuIndex index;
    ExprPool *pool = &index.pool;
    gpu_index_init(&index, out, 2);
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
               "        c.%c_ld = (unsigned)t.ld%c * %d;\n",
               c, c, l->bytes, c, l->bytes, c, c, l->bytes);
    GpuPlace first = thread_place(pool, p, l);
    first.along = gpu_index_let(&index, "along", first.along);
    first.across = gpu_index_let(&index, "across", first.across);
    init_offsets(l, out);
    if (l->exchanged)
        buf_printf(out, "        c.%c_along = along, c.%c_across = across;\n", c, c);
    else {
        buf_printf(out, "        c.%c_lds = ", c);
        gpu_index_put(&index, expr_add_i(pool, lds_at(pool, l, first, 0, 0), x->lds_offset));
        buf_puts(out, ";\n");
    }
    buf_puts(out, "    }\n");
    gpu_index_done(&index);
}

static void init(const GpuPlan *p, const Loads loads[2], Buf *out)
{
    buf_puts(out, "@DEV void @copy_init(@Copy &c, const @Tile &t, unsigned tid)\n{\n");
    for (int i = 0; i < 2; i++) init_operand(p, &loads[i], out);
    buf_puts(out, "}\n\n@DEV void @copy_move(@Copy &c, const @Tile &, long long a, long long b)\n{\n"
                  "    c.a += a;\n    c.b += b;\n}\n\n");
}

static void one_load(const GpuPlan *p, const Loads *l, int j, int at, int n, Buf *out)
{
    const GpuOperand *x = l->x;
    char c = x->name, call[160], scalar[40] = "0";
    Distance q = load_distance(l, j);
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

static void load_operand(const GpuPlan *p, const Loads *l, Buf *out)
{
    char c = l->x->name;
    int bytes = l->x->width * l->bytes;
    buf_printf(out, "    const @w4 r%c = @descriptor(c.%c, c.%c_bytes);\n", c, c, c);
    for (int j = 0; j < l->n; j++)
        for (int at = 0; at < bytes;) {
            int n = bytes - at >= 16  ? 16
                    : bytes - at >= 8 ? 8
                    : bytes - at >= 4 ? 4
                    : bytes - at >= 2 ? 2
                                      : 1;
            one_load(p, l, j, at, n, out);
            at += n;
        }
}

static void load(const GpuPlan *p, const Loads loads[2], Buf *out)
{
    buf_puts(out, "@DEV void @copy_load(@Copy &c, int set, char *)\n{\n");
    for (int i = 0; i < 2; i++) load_operand(p, &loads[i], out);
    buf_puts(out, "}\n\n");
}

/* ---- registers to local memory ---- */

/* The writes of one operand's registers: where they go. */
typedef struct {
    const Loads *l;
    GpuIndex index;
    GpuPlace first;
    GpuPointers pointers;
    Buf *out;
} Writes;

/* A place in local memory: bytes behind a pointer of the text. */
typedef struct {
    GpuPointerName pointer;
    int at;
} To;

static void writes_init(Writes *w, const GpuPlan *p, const Loads *l, Buf *out)
{
    ExprPool *pool = &w->index.pool;
    bool a = l->x->name == 'a';
    w->l = l, w->out = out;
    gpu_index_init(&w->index, out, 1);
    w->pointers = (GpuPointers){.index = &w->index, .name = "to", .from = "stage"};
    w->first = thread_place(pool, p, l);
    if (!l->exchanged) { /* c.a_lds has the address of load 0 */
        int64_t c;
        w->pointers.base[w->pointers.n++] = expr_base(pool, lds_at(pool, l, w->first, 0, 0), &c);
        buf_printf(out, "    char *to = stage + c.%c_lds;\n", l->x->name);
        return;
    }
    w->first.along = expr_kept(pool, a ? "c.a_along" : "c.b_along", w->first.along);
    w->first.across = expr_kept(pool, a ? "c.a_across" : "c.b_across", w->first.across);
    expr_declared(&w->index.text, w->first.along);
    expr_declared(&w->index.text, w->first.across);
}

/* Where element e of load j goes. */
static To place_of(Writes *w, int j, int e)
{
    ExprPool *pool = &w->index.pool;
    int mark = pool->n_used;
    const Expr *at = lds_at(pool, w->l, w->first, j, e);
    To to;
    if (w->l->exchanged) at = expr_add_i(pool, at, w->l->x->lds_offset);
    to.at = gpu_pointer(&w->pointers, at, mark, to.pointer);
    return to;
}

static int alignment(const Loads *l, int bytes)
{
    return bytes & -bytes & (l->align - 1) ? bytes & -bytes : l->align;
}

/* `bytes` of the registers words[0..] to local memory in pieces of `align`. */
static void write_words(const char *words, const To *to, int bytes, int align, Buf *out)
{
    const char *q = to->pointer;
    for (int b = 0; b < bytes;) {
        int n = bytes - b < align ? bytes - b : align, at = to->at + b;
        if (n == 16)
            buf_printf(out, "    *(@w4 *)(%s + %d) = (@w4){%s[%d], %s[%d], %s[%d], %s[%d]};\n", q, at, words,
                       b / 4, words, b / 4 + 1, words, b / 4 + 2, words, b / 4 + 3);
        else if (n >= 8)
            n = 8, buf_printf(out, "    *(@w2 *)(%s + %d) = (@w2){%s[%d], %s[%d]};\n", q, at, words, b / 4,
                              words, b / 4 + 1);
        else if (n >= 4)
            n = 4, buf_printf(out, "    *(int *)(%s + %d) = %s[%d];\n", q, at, words, b / 4);
        else if (n >= 2)
            n = 2, buf_printf(out, "    *(short *)(%s + %d) = (short)(%s[%d] >> %d);\n", q, at, words, b / 4,
                              b % 4 * 8);
        else
            buf_printf(out, "    *(signed char *)(%s + %d) = (signed char)(%s[%d] >> %d);\n", q, at, words,
                       b / 4, b % 4 * 8);
        b += n;
    }
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

/* Element e of a load's registers, shorter than one of them. */
static void write_short(const Writes *w, int j, int e, const To *to)
{
    const Loads *l = w->l;
    const char *type = l->bytes == 2 ? "short" : "signed char";
    buf_printf(w->out, "    *(%s *)(%s + %d) = (%s)(c.%c_data[set][%d][%d] >> %d);\n", type, to->pointer,
               to->at, type, l->x->name, j, e * l->bytes / 4, e * l->bytes % 4 * 8);
}

/* Element e of load j and of those behind it along K. */
static void write_run(Writes *w, int j, int e)
{
    const Loads *l = w->l;
    const GpuOperand *x = l->x;
    Buf *out = w->out;
    int bytes = l->run * l->bytes, align = alignment(l, bytes), per = l->bytes / 4;
    const To to = place_of(w, j, e);
    if (l->run > 1 && l->bytes < 4) {
        pack_run(l, j, e, x->name, out);
        write_words("w", &to, bytes, align, out);
        buf_puts(out, "    }\n");
        return;
    }
    if (l->bytes < 4) {
        write_short(w, j, e, &to);
        return;
    }
    buf_printf(out, "    {\n    const int w[%d] = {", l->run * per);
    for (int r = 0; r < l->run * per; r++)
        buf_printf(out, "%sc.%c_data[set][%d][%d]", r ? ", " : "", x->name, j + r / per * x->nlc,
                   e * per + r % per);
    buf_puts(out, "};\n");
    write_words("w", &to, bytes, align, out);
    buf_puts(out, "    }\n");
}

/* Writes of a transposing operand: for each element of the vector a run of K. */
static void store_transposed(Writes *w)
{
    const GpuOperand *x = w->l->x;
    for (int q = 0; q < x->nlp; q += w->l->run)
        for (int c = 0; c < x->nlc; c++)
            for (int e = 0; e < x->width; e++) write_run(w, q * x->nlc + c, e);
}

static void store_load(Writes *w, int j)
{
    const Loads *l = w->l;
    const GpuOperand *x = l->x;
    char words[64];
    if (x->tlu != x->k_major) {
        const To to = place_of(w, j, 0);
        int bytes = x->width * l->bytes;
        snprintf(words, sizeof words, "c.%c_data[set][%d]", x->name, j);
        write_words(words, &to, bytes, alignment(l, bytes), w->out);
        return;
    }
    for (int e = 0; e < x->width; e++) { /* K contiguous in memory, free in local memory */
        const To to = place_of(w, j, e);
        snprintf(words, sizeof words, "(c.%c_data[set][%d] + %d)", x->name, j, e * l->bytes / 4);
        if (l->bytes < 4)
            write_short(w, j, e, &to);
        else
            write_words(words, &to, l->bytes, alignment(l, l->bytes), w->out);
    }
}

static void store_operand(const GpuPlan *p, const Loads *l, Buf *out)
{
    Writes w;
    buf_puts(out, "    {\n");
    if (p->to_bf16)
        buf_printf(out,
                   "    @UNROLL for (int j = 0; j < %d; j++)\n"
                   "        @UNROLL for (int w = 0; w < %d; w++)\n"
                   "            c.%c_data[set][j][w] = @to_bf16x2(c.%c_data[set][j][w]);\n",
                   l->n, l->words, l->x->name, l->x->name);
    writes_init(&w, p, l, out);
    if (l->transpose)
        store_transposed(&w);
    else
        for (int j = 0; j < l->n; j++) store_load(&w, j);
    buf_puts(out, "    }\n");
    gpu_index_done(&w.index);
}

static void store(const GpuPlan *p, const Loads loads[2], Buf *out)
{
    buf_puts(out, "@DEV void @copy_store(@Copy &c, int set, char *stage)\n{\n");
    for (int i = 0; i < 2; i++) store_operand(p, &loads[i], out);
    buf_puts(out, "}\n\n#define @copy_wait(n)\n\n");
    if (p->n_sets < 2) return;
    buf_puts(out, "@DEV void @copy_shift(@Copy &c)\n{\n");
    for (int i = 0; i < 2; i++) {
        const Loads *l = &loads[i];
        buf_printf(
            out,
            "    @UNROLL for (int s = 0; s < %d; s++)\n"
            "        @UNROLL for (int j = 0; j < %d; j++)\n"
            "            @UNROLL for (int e = 0; e < %d; e++) c.%c_data[s][j][e] = c.%c_data[s + 1][j][e];\n",
            p->n_sets - 1, l->n, l->words, l->x->name, l->x->name);
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

/* With PrefetchGlobalRead 2 and two stages an iteration begins with the writes of the chunk that has
 * arrived, whose registers take the next loads, as in the reference: a second set would have to be copied
 * into the first one. */
static Err buffer_plan(GpuPlan *p)
{
    if (p->prefetch == 2 && p->n_stages == 2) p->n_sets = 1;
    return ERR_OK;
}

static void buffer_emit(const GpuPlan *p, Buf *out)
{
    Loads l[2] = {loads_of(p, 0), loads_of(p, 1)};
    for (int i = 0; i < 2; i++) compare_addresses(p, &l[i]);
    buf_puts(out, "\n/* ---- copy: buffer loads, registers, local memory ---- */\n\n");
    state(p, l, out);
    init(p, l, out);
    load(p, l, out);
    store(p, l, out);
    slow(p, out);
    gpu_copy_tail(p, out);
}

const GpuCopy amdgcn_buffer = {"buffer", false, buffer_plan, buffer_emit};
