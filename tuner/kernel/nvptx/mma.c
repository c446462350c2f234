/* Wave tiles by mma.sync: f16, bf16, tf32, f64, int8 and 8-bit floats, either dimension of either operand
 * contiguous. The text's readers take fragments from shared memory without bank conflicts: 32 bytes along K
 * by ldmatrix; 16-bit elements along the free dimension by transposing ldmatrix; longer ones by plain loads;
 * bytes by turning 4x4 of them in registers. */
#include "kernel/nvptx/ring.h"

static const char text_mma[] =
    "\n"
    "/* ---- multiply: mma.sync on wave tiles ---- */\n"
    "/* The 16 rows of an instruction lie along N, its 8 columns along M: a thread's results are neighbours "
    "along M. */\n"
    "\n"
    "constexpr int @WT0 = @MT0 / @W0, @WT1 = @MT1 / @W1, @NX = @WT1 / 16, @NY = @WT0 / 8;\n"
    "constexpr int @KS = @DU / @MK / @LSU, @N_RUN = @NX * @NY * 2, @RUN = 2;\n"
    "struct @Frag {\n"
    "    @F x[@NX][@XR], y[@NY][@YR];\n"
    "};\n";

static const char text_read_k[] =
    "/* Reads fragments where K is contiguous, 32 bytes of it a step. ROW: of the instruction's row operand. "
    "*/\n"
    "template <class L, bool ROW, int WT>\n"
    "struct @ReadK {\n"
    "    @u32 p;\n"
    "    @FN void init(int first, int lane)\n"
    "    {\n"
    "        const int q = lane >> 3, r = first + (lane & 7) + (ROW ? q & 1 : q >> 1) * 8;\n"
    "        p = r * L::ROWB + (((ROW ? q >> 1 : q & 1) ^ L::swz(r)) << 4);\n"
    "    }\n"
    "    @FN void skip(int ks) { p ^= ks * 32; }\n"
    "    template <int W> @FN void load(@u32 (*f)[W], @u32 stage, int ks) const\n"
    "    {\n"
    "        const @u32 at = stage + (p ^ (ks * 32));\n"
    "        @UNROLL for (int i = 0; i < WT / 16; i++) @ldsm(ROW ? f[i] : f[2 * i], at + i * 16 * L::ROWB);\n"
    "    }\n"
    "};\n";

static const char text_read_t16[] =
    "/* Reads fragments of 16-bit elements where the free dimension is contiguous. */\n"
    "template <class L, bool ROW, int WT>\n"
    "struct @ReadT {\n"
    "    @u32 p;\n"
    "    @FN void init(int first, int lane)\n"
    "    {\n"
    "        const int q = lane >> 3, k = (lane & 7) + (ROW ? q >> 1 : q & 1) * 8;\n"
    "        p = k * L::ROWB + ((((first >> 3) + (ROW ? q & 1 : q >> 1)) ^ L::swz(k)) << 4);\n"
    "    }\n"
    "    @FN void skip(int ks) { p += ks * 16 * L::ROWB; }\n"
    "    template <int W> @FN void load(@u32 (*f)[W], @u32 stage, int ks) const\n"
    "    {\n"
    "        @UNROLL for (int i = 0; i < WT / 16; i++)\n"
    "            @ldsm_t(ROW ? f[i] : f[2 * i], stage + (p ^ (i * 32)) + ks * 16 * L::ROWB);\n"
    "    }\n"
    "};\n";

static const char text_read_t32[] =
    "/* Reads fragments of 32-bit elements where the free dimension is contiguous. */\n"
    "template <class L, bool ROW, int WT>\n"
    "struct @ReadT {\n"
    "    @u32 p;\n"
    "    @FN void init(int first, int lane)\n"
    "    {\n"
    "        const int g = lane >> 2, t = lane & 3;\n"
    "        p = t * L::ROWB + ((((first + g) >> 2) ^ L::swz(t)) << 4) + (g & 3) * 4;\n"
    "    }\n"
    "    @FN void skip(int ks) { p += ks * 8 * L::ROWB; }\n"
    "    template <int W> @FN void load(@u32 (*f)[W], @u32 stage, int ks) const\n"
    "    {\n"
    "        @UNROLL for (int i = 0; i < WT / 8; i++) {\n"
    "            /* swz changes bits 5 and 6 alone */\n"
    "            const @u32 at = stage + (p ^ (i * 32 & 96)) + (i * 32 & ~96) + ks * 8 * L::ROWB;\n"
    "            @u32 *to = ROW ? &f[i / 2][i % 2] : f[i];\n"
    "            @lds1(to, at);\n"
    "            @lds1(to + (ROW ? 2 : 1), at + 4 * L::ROWB);\n"
    "        }\n"
    "    }\n"
    "};\n";

static const char text_read_t8[] =
    "/* Reads fragments of bytes where the free dimension is contiguous: 4x4 bytes are turned in registers, "
    "so that element */\n"
    "/* 4g+i of 32 along the free dimension is number g of tile i. */\n"
    "template <class L, bool ROW, int WT>\n"
    "struct @ReadT {\n"
    "    @u32 p;\n"
    "    @FN void init(int first, int lane)\n"
    "    {\n"
    "        const int g = lane >> 2, t = lane & 3, c = first + 4 * g;\n"
    "        p = 4 * t * L::ROWB + (((c >> 4) ^ L::swz(4 * t)) << 4) + (c & 15);\n"
    "    }\n"
    "    @FN void skip(int ks) { p += ks * 32 * L::ROWB; }\n"
    "    template <int W> @FN void load(@u32 (*f)[W], @u32 stage, int ks) const\n"
    "    {\n"
    "        @UNROLL for (int i = 0; i < WT / 32; i++)\n"
    "            @UNROLL for (int h = 0; h < 2; h++) {\n"
    "                @u32 s[4];\n"
    "                @UNROLL for (int e = 0; e < 4; e++) @lds1(&s[e], stage + (p ^ (i * 32)) + (ks * 32 + h "
    "* 16 + e) * L::ROWB);\n"
    "                const @u32 a = __byte_perm(s[0], s[1], 0x5140), b = __byte_perm(s[2], s[3], 0x5140);\n"
    "                const @u32 c = __byte_perm(s[0], s[1], 0x7362), d = __byte_perm(s[2], s[3], 0x7362);\n"
    "                const @u32 v[4] = {__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(c, "
    "d, 0x5410),\n"
    "                                   __byte_perm(c, d, 0x7632)};\n"
    "                @UNROLL for (int e = 0; e < 4; e++) (ROW ? f[2 * i + e / 2][2 * h + e % 2] : f[4 * i + "
    "e][h]) = v[e];\n"
    "            }\n"
    "    }\n"
    "};\n";

static const char text_read_d[] =
    "/* Reads fragments of doubles, either dimension contiguous. */\n"
    "template <class L, bool ROW, int WT>\n"
    "struct @ReadD {\n"
    "    @u32 p;\n"
    "    @FN void init(int first, int lane)\n"
    "    {\n"
    "        const int g = lane >> 2, t = lane & 3, r = L::K_ROWS ? t : first + g, c = L::K_ROWS ? first + g "
    ": t;\n"
    "        p = r * L::ROWB + (((c >> 1) ^ L::swz(r)) << 4) + (c & 1) * 8;\n"
    "    }\n"
    "    @FN void skip(int ks)\n"
    "    {\n"
    "        const int k = ks * @MK;\n"
    "        p = L::K_ROWS ? p + k * L::ROWB : (p ^ (k * 8 & 127)) + (k * 8 & ~127);\n"
    "    }\n"
    "    template <int W> @FN void load(double (*f)[W], @u32 stage, int ks) const\n"
    "    {\n"
    "        @UNROLL for (int i = 0; i < WT / 8; i++)\n"
    "            @UNROLL for (int q = 0; q < @MK / 4; q++) {\n"
    "                const int k = ks * @MK + q * 4;\n"
    "                const @u32 at = L::K_ROWS ? (p ^ (i * 64 & 127)) + (i * 64 & ~127) + k * L::ROWB\n"
    "                                          : (p ^ (k * 8 & 127)) + (k * 8 & ~127) + i * 8 * L::ROWB;\n"
    "                @ldsd(ROW ? &f[i / 2][2 * q + i % 2] : &f[i][q], stage + at);\n"
    "            }\n"
    "    }\n"
    "};\n";

static const char text_read_s[] =
    "/* Reads fragments of 32-bit elements, either dimension contiguous, of rows that are off by some. */\n"
    "template <class L, bool ROW, int WT>\n"
    "struct @ReadS {\n"
    "    @u32 p;\n"
    "    @FN void init(int first, int lane)\n"
    "    {\n"
    "        const int g = lane >> 2, t = lane & 3;\n"
    "        p = L::K_ROWS ? t * L::ROWB + (first + g) * 4 : (first + g) * L::ROWB + t * 4;\n"
    "    }\n"
    "    @FN void shift(const void *base, @u64 ld, int tile0, int lane)\n"
    "    {\n"
    "        const @u32 from = (@u32)((@u64)base >> 2) + tile0 * (L::K_ROWS ? 1 : (@u32)ld);\n"
    "        p += (from + (L::K_ROWS ? lane & 3 : lane >> 2) * (@u32)ld & 3) * 4;\n"
    "    }\n"
    "    @FN void skip(int ks) { p += ks * (L::K_ROWS ? 8 * L::ROWB : 32); }\n"
    "    template <int W> @FN void load(@u32 (*f)[W], @u32 stage, int ks) const\n"
    "    {\n"
    "        const @u32 at = stage + p + ks * (L::K_ROWS ? 8 * L::ROWB : 32);\n"
    "        @UNROLL for (int i = 0; i < WT / 8; i++) {\n"
    "            @u32 *to = ROW ? &f[i / 2][i % 2] : f[i];\n"
    "            @lds1(to, at + i * (L::K_ROWS ? 32 : 8 * L::ROWB));\n"
    "            @lds1(to + (ROW ? 2 : 1),\n"
    "                  at + i * (L::K_ROWS ? 32 : 8 * L::ROWB) + (L::K_ROWS ? 4 * L::ROWB : 16));\n"
    "        }\n"
    "    }\n"
    "};\n";

static const char text_acc[] =
    "struct @Acc {\n"
    "    @TC v[@NX][@NY][4];\n"
    "    int m, n;\n"
    "    @ReadA a;\n"
    "    @ReadB b;\n"
    "    @FN void init(int tid)\n"
    "    {\n"
    "        const int lane = tid & 31, wave = tid >> 5;\n"
    "        m = wave % @W0 * @WT0, n = wave / @W0 % @W1 * @WT1;\n"
    "        a.init(m, lane), b.init(n, lane);\n"
    "        if (@LSU > 1) a.skip(wave / (@W0 * @W1) * @KS), b.skip(wave / (@W0 * @W1) * @KS);\n"
    "        m += (lane & 3) * (@LONG_M ? 8 : 2), n += (lane >> 2) * (@LONG_N ? 4 : 1);\n"
    "        @UNROLL for (int i = 0; i < @NX; i++)\n"
    "            @UNROLL for (int j = 0; j < @NY; j++)\n"
    "                @UNROLL for (int e = 0; e < 4; e++) v[i][j][e] = 0;\n"
    "    }\n"
    "    @FN void load(@Frag &f, @u32 sa, @u32 sb, int ks) const\n"
    "    {\n"
    "        b.load(f.x, sb, ks), a.load(f.y, sa, ks);\n"
    "        @round(f);\n"
    "    }\n";

static const char text_mac[] = "    @FN void mac(const @Frag &f)\n"
                               "    {\n"
                               "        @UNROLL for (int i = 0; i < @NX; i++)\n"
                               "            @UNROLL for (int jj = 0; jj < @NY; jj++) {\n"
                               "                const int j = i & 1 ? @NY - 1 - jj : jj;\n"
                               "                @mma(v[i][j], f.x[i], f.y[j]);\n"
                               "            }\n"
                               "    }\n";

/* Numbers of two bytes of a fragment each, in the order of m16n8k16: its steps take bytes 0, 1 of every four
 * as elements 0 to 7 of K, bytes 2, 3 as 8 to 15. Both operands have that order, so that sums are the same.
 */
static const char text_mac_halves[] =
    "    @FN void mac(const @Frag &f)\n"
    "    {\n"
    "        @UNROLL for (int h = 0; h < 2; h++) {\n"
    "            @u32 y[@NY][2];\n"
    "            @UNROLL for (int j = 0; j < @NY; j++) @halves_a(y[j][0], y[j][1], f.y[j][h]);\n"
    "            @UNROLL for (int i = 0; i < @NX; i++) {\n"
    "                @u32 x[4];\n"
    "                @UNROLL for (int e = 0; e < 2; e++) @halves_b(x[e], x[e + 2], f.x[i][2 * h + e]);\n"
    "                @UNROLL for (int jj = 0; jj < @NY; jj++) {\n"
    "                    const int j = i & 1 ? @NY - 1 - jj : jj;\n"
    "                    @mma(v[i][j], x, y[j]);\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "    }\n";

static const char text_results[] =
    "    /* run r: two neighbours along M */\n"
    "    static constexpr int PER = @NY;\n"
    "    @FN int row(int r) const\n"
    "    {\n"
    "        const int j = r % PER;\n"
    "        return m + (@LONG_M ? j / 4 * 32 + (j & 1) * 2 + (j >> 1 & 1) * 4 : j * 8);\n"
    "    }\n"
    "    @FN int col(int r) const\n"
    "    {\n"
    "        const int h = r / PER % 2, i = r / PER / 2;\n"
    "        return n + (@LONG_N ? i / 2 * 32 + i % 2 * 2 + h : i * 16 + h * 8);\n"
    "    }\n"
    "    @FN @TC get(int r, int e) const\n"
    "    {\n"
    "        const int j = r % PER, h = r / PER % 2, i = r / PER / 2;\n"
    "        return @LONG_M ? v[i][j / 4 * 4 + (j & 1) * 2 + e][h * 2 + (j >> 1 & 1)] : v[i][j][h * 2 + e];\n"
    "    }\n"
    "    /* parts of the tile that go through shared memory together: rows of it, and their columns of D */\n"
    "    static constexpr int PARTS = @NX;\n"
    "    @FN int part(int r) const { return r / PER / 2; }\n"
    "    @FN int slot(int r) const\n"
    "    {\n"
    "        const int h = r / PER % 2, in = n % @WT1;\n"
    "        return n / @WT1 * 16 + (@LONG_N ? in / 2 + h : in + h * 8);\n"
    "    }\n"
    "    static @FN int column(int part, int slot)\n"
    "    {\n"
    "        const int in = slot % 16, from = slot / 16 * @WT1;\n"
    "        return from + (@LONG_N ? part / 2 * 32 + part % 2 * 2 + in / 2 * 4 + in % 2 : part * 16 + in);\n"
    "    }\n"
    "};\n";

/* mma.sync of an input type; registers of its row (x) and column (y) operand. */
typedef struct {
    const char *op;
    char sum, part; /* constraints of accumulators and fragments */
    int x, y;
} Mma;

/* sm_90 has no mma.sync of 8-bit floats: compilers make m16n8k32 of conversions, two of binary16, whose sums
 * they add to the accumulators. The same is written out here, with sums in the accumulators: binary16 has all
 * numbers of both formats. */
static bool by_halves(const GpuPlan *p) { return gpu_is_f8(p->in.type) && p->target->isa[0] >= 9; }

/* Of 8-bit floats; the row operand is B. */
static const char *f8_op(const GpuPlan *p)
{
    static const char *const ops[2][2] = {
        {"m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k32.row.col.f32.e4m3.e5m2.f32"},
        {"m16n8k32.row.col.f32.e5m2.e4m3.f32", "m16n8k32.row.col.f32.e5m2.e5m2.f32"}};
    if (by_halves(p)) return "m16n8k16.row.col.f32.f16.f16.f32";
    return ops[p->op[1].type.type == TYPE_B8][p->op[0].type.type == TYPE_B8];
}

/* Four numbers of 8 bits as two and two of binary16; e5m2 is its upper half. */
static void halves(const GpuPlan *p, Buf *out)
{
    static const char *const how[] = {
        "    asm(\"{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2.e4m3x2 %0, low; "
        "cvt.rn.f16x2.e4m3x2 %1, high; }\"\n        : \"=r\"(low), \"=r\"(high) : \"r\"(x));\n",
        "    low = __byte_perm(x, 0, 0x1404), high = __byte_perm(x, 0, 0x3424);\n"};
    for (int i = 0; i < 2; i++)
        buf_printf(out, "@DEV void @halves_%c(unsigned &low, unsigned &high, unsigned x)\n{\n%s}\n",
                   p->op[i].name, how[p->op[i].type.type == TYPE_B8]);
}

static Mma mma_of(const GpuPlan *p)
{
    if (gpu_is_f8(p->in.type)) return (Mma){f8_op(p), 'f', 'r', 4, 2};
    switch (p->in.type) {
    case TYPE_H:
        return (Mma){"m16n8k16.row.col.f32.f16.f16.f32", 'f', 'r', 4, 2};
    case TYPE_B:
        return (Mma){"m16n8k16.row.col.f32.bf16.bf16.f32", 'f', 'r', 4, 2};
    case TYPE_I8:
        return (Mma){"m16n8k32.row.col.s32.s8.s8.s32", 'r', 'r', 4, 2};
    case TYPE_D:
        switch (p->matrix.k) {
        case 16:
            return (Mma){"m16n8k16.row.col.f64.f64.f64.f64", 'd', 'd', 8, 4};
        case 8:
            return (Mma){"m16n8k8.row.col.f64.f64.f64.f64", 'd', 'd', 4, 2};
        default:
            return (Mma){"m16n8k4.row.col.f64.f64.f64.f64", 'd', 'd', 2, 1};
        }
    default:
        return (Mma){"m16n8k8.row.col.f32.tf32.tf32.f32", 'f', 'r', 4, 2};
    }
}

static void registers(int from, int n, Buf *out)
{
    for (int i = 0; i < n; i++) buf_printf(out, "%s%%%d", i ? ", " : "{", from + i);
    buf_puts(out, "}");
}

static void operands(char constraint, const char *name, int n, Buf *out)
{
    for (int i = 0; i < n; i++) buf_printf(out, "%s\"%c\"(%s[%d])", i ? ", " : "", constraint, name, i);
}

static void instruction(const Mma *m, Buf *out)
{
    buf_printf(out, "@DEV void @mma(@TC *c, const @F *x, const @F *y)\n{\n    asm(\"mma.sync.aligned.%s ",
               m->op);
    registers(0, 4, out);
    buf_puts(out, ", ");
    registers(4, m->x, out);
    buf_puts(out, ", ");
    registers(4 + m->x, m->y, out);
    buf_puts(out, ", ");
    registers(0, 4, out);
    buf_puts(out, ";\"\n        : ");
    for (int i = 0; i < 4; i++) buf_printf(out, "%s\"+%c\"(c[%d])", i ? ", " : "", m->sum, i);
    buf_puts(out, "\n        : ");
    operands(m->part, "x", m->x, out);
    buf_puts(out, ", ");
    operands(m->part, "y", m->y, out);
    buf_puts(out, ");\n}\n");
}

/* 8x8x4, all that sm_80 has for doubles: two make one of 16 rows. */
static void instruction_pair(Buf *out)
{
    buf_puts(out, "@DEV void @mma(@TC *c, const @F *x, const @F *y)\n{\n");
    for (int h = 0; h < 2; h++)
        buf_printf(out,
                   "    asm(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%%0, %%1}, {%%2}, {%%3}, "
                   "{%%0, %%1};\"\n"
                   "        : \"+d\"(c[%d]), \"+d\"(c[%d])\n        : \"d\"(x[%d]), \"d\"(y[0]));\n",
                   2 * h, 2 * h + 1, h);
    buf_puts(out, "}\n");
}

/* The instruction cuts inputs to tf32. NvRoundXF32 1: cvt.rna.tf32, a sequence of instructions on these
 * machines. 2: half a unit of the last place, 2^-11 of the number's power of two, is added, in two
 * instructions. The same for all but denormal numbers (2 cuts them); NaN and infinities stay. */
static void rounding(const GpuPlan *p, Buf *out)
{
    static const char *const how[] = {"", "cvt.rna.tf32.f32 %0, %0;",
                                      "{ .reg .b32 half; and.b32 half, %0, 0xff800000; fma.rn.f32 %0, half, "
                                      "0f3a000000, %0; }"};
    const int rounds = p->ring.rounds_xf32;
    buf_puts(out, "@DEV void @round(@Frag &f)\n{\n");
    for (int i = 0; i < 2 && rounds; i++)
        buf_printf(out,
                   "    @UNROLL for (int i = 0; i < @N%c; i++)\n"
                   "        @UNROLL for (int e = 0; e < %d; e++)\n"
                   "            asm(\"%s\" : \"+r\"(f.%c[i][e]));\n",
                   i ? 'Y' : 'X', i ? 2 : 4, how[rounds == 2 ? 2 : 1], i ? 'y' : 'x');
    buf_puts(out, "    (void)f;\n}\n");
}

static void readers(const GpuPlan *p, Buf *out)
{
    bool d = p->in.type == TYPE_D, turned = p->op[0].tlu || p->op[1].tlu;
    bool along = !p->op[0].tlu || !p->op[1].tlu;
    int bytes = gpu_type_bytes(&p->in);
    if (p->ring.shifts) buf_puts(out, text_read_s), along = turned = false;
    if (d) buf_puts(out, text_read_d);
    if (!d && along) buf_puts(out, text_read_k);
    if (!d && turned) buf_puts(out, bytes == 2 ? text_read_t16 : bytes == 4 ? text_read_t32 : text_read_t8);
    for (int i = 0; i < 2; i++)
        buf_printf(out, "typedef @Read%c<@L%c, %s, @WT%d> @Read%c;\n",
                   d                ? 'D'
                   : p->ring.shifts ? 'S'
                   : p->op[i].tlu   ? 'T'
                                    : 'K',
                   'A' + i, i ? "true" : "false", i, 'A' + i);
}

void ring_mma_emit(const GpuPlan *p, Buf *out)
{
    Mma m = mma_of(p);
    const GpuMatrix *mi = &p->matrix;
    bool bytes = gpu_type_bytes(&p->in) == 1;
    buf_printf(out, "typedef %s @F;\n", m.part == 'd' ? "double" : "unsigned");
    buf_printf(
        out, "enum : int { @W0 = %d, @W1 = %d, @MK = %d, @XR = %d, @YR = %d, @LONG_M = %d, @LONG_N = %d };\n",
        mi->waves[0], mi->waves[1], mi->k, m.x, m.y, bytes && p->op[0].tlu, bytes && p->op[1].tlu);
    buf_puts(out, text_mma);
    readers(p, out);
    if (mi->m == 8)
        instruction_pair(out);
    else
        instruction(&m, out);
    if (by_halves(p)) halves(p, out);
    rounding(p, out);
    buf_puts(out, text_acc);
    buf_puts(out, by_halves(p) ? text_mac_halves : text_mac);
    buf_puts(out, text_results);
}
