/* Wave tiles by mma.sync: f16, bf16, tf32, f64, int8 and 8-bit floats, either dimension of either operand
 * contiguous. The text's readers take fragments from shared memory without bank conflicts: 32 bytes along K
 * by ldmatrix; 16-bit elements along the free dimension by transposing ldmatrix; longer ones by plain loads;
 * bytes by turning 4x4 of them in registers. */
#include "base/log.h"
#include "kernel/nvptx/lanes.h"
#include "kernel/nvptx/ring.h"
#include "kernel/text.h"

/* Numbers of two bytes of a fragment each, in the order of m16n8k16: its steps take bytes 0, 1 of every four
 * as elements 0 to 7 of K, bytes 2, 3 as 8 to 15. Both operands have that order, so that sums are the same.
 */

/* mma.sync as the text names it, and what its asm statement needs. */
typedef struct {
    const MatrixInst *in;
    char sum, part;  /* constraints of accumulators and fragments */
    int x, y;        /* registers of the row (x) and the column (y) operand */
    MatrixInst held; /* whose layout fragments and sums have */
} Mma;

/* sm_90 has no mma.sync of 8-bit floats: compilers make m16n8k32 of conversions, two of binary16, whose sums
 * they add to the accumulators. The same is written out here, with sums in the accumulators: binary16 has all
 * numbers of both formats. */
static bool by_halves(const GpuPlan *p) { return gpu_is_f8(p->in.type) && p->target->isa[0] >= 9; }

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

/* The row operand is B. Two instructions of 8 rows count as one. */
static Err mma_of(const GpuPlan *p, Mma *m)
{
    const GpuMatrix *mi = &p->matrix;
    DataType part[2] = {p->op[0].type.type, p->op[1].type.type};
    int32_t shape[] = {mi->m, mi->n, mi->k, mi->b};
    if (p->math == TYPE_X) part[0] = part[1] = TYPE_X;
    const MatrixInst *held = m->in = matrix_inst(p->target, part[1], part[0], shape);
    if (by_halves(p)) {
        part[0] = part[1] = TYPE_H, shape[2] /= 2;
        m->in = matrix_inst(p->target, part[1], part[0], shape);
    }
    if (!held || !m->in || matrix_unit(m->in) != MATRIX_UNIT_MMA)
        FAIL(ERR_INPUT, "%s has no mma.sync %dx%dx%dx%d for types '%s' and '%s'", p->target->name, shape[0],
             shape[1], shape[2], shape[3], type_letter(part[1]), type_letter(part[0]));
    bool d = m->in->sum == TYPE_D;
    int bytes = type_bytes(part[0]), unit = d ? 8 : 4, n = mi->m < 16 ? 2 : 1;
    m->sum = d ? 'd' : m->in->sum == TYPE_I ? 'r' : 'f';
    m->part = d ? 'd' : 'r';
    m->x = n * m->in->n_a * bytes / unit, m->y = m->in->n_b * bytes / unit;
    m->held = *held;
    m->held.m *= n, m->held.n_a *= n, m->held.n_acc *= n;
    return ERR_OK;
}

static void name(const MatrixInst *in, Buf *out)
{
    buf_printf(out, "mma.sync.aligned.m%dn%dk%d.%s", in->m, in->n, in->k, in->name);
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
    buf_puts(out, "@DEV void @mma(@TC *c, const @F *x, const @F *y)\n{\n    asm(\"");
    name(m->in, out);
    buf_puts(out, " ");
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
static void instruction_pair(const Mma *m, Buf *out)
{
    buf_puts(out, "@DEV void @mma(@TC *c, const @F *x, const @F *y)\n{\n");
    for (int h = 0; h < 2; h++) {
        buf_puts(out, "    asm(\"");
        name(m->in, out);
        buf_printf(out,
                   " {%%0, %%1}, {%%2}, {%%3}, {%%0, %%1};\"\n"
                   "        : \"+d\"(c[%d]), \"+d\"(c[%d])\n        : \"d\"(x[%d]), \"d\"(y[0]));\n",
                   2 * h, 2 * h + 1, h);
    }
    buf_puts(out, "}\n");
}

/* The instruction cuts inputs to tf32. NvRoundXF32 1: cvt.rna.tf32, a sequence of instructions on these
 * machines. 2: half a unit of the last place, 2^-11 of the number's power of two, is added, in two
 * instructions. The same for all but denormal numbers (2 cuts them); NaN and infinities stay. */
static void rounding(const GpuPlan *p, Buf *out)
{
    static const char add_half[] = "{ .reg .b32 half; and.b32 half, %0, 0xff800000; "
                                   "fma.rn.f32 %0, half, 0f3a000000, %0; }";
    static const char *const how[] = {"", "cvt.rna.tf32.f32 %0, %0;", add_half};
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
    if (p->ring.shifts) kernel_text_put("nvptx/mma_read_shifted.cuh", out), along = turned = false;
    if (d) kernel_text_put("nvptx/mma_read_f64.cuh", out);
    if (!d && along) kernel_text_put("nvptx/mma_read_k.cuh", out);
    if (!d && turned)
        kernel_text_put(bytes == 2   ? "nvptx/mma_read_t16.cuh"
                        : bytes == 4 ? "nvptx/mma_read_t32.cuh"
                                     : "nvptx/mma_read_t8.cuh",
                        out);
    for (int i = 0; i < 2; i++)
        buf_printf(out, "typedef @Read%c<@L%c, %s, @WT%d> @Read%c;\n",
                   d                ? 'D'
                   : p->ring.shifts ? 'S'
                   : p->op[i].tlu   ? 'T'
                                    : 'K',
                   'A' + i, i ? "true" : "false", i, 'A' + i);
}

Err ring_mma_check(const GpuPlan *p)
{
    Mma m = {0};
    return mma_of(p, &m);
}

void ring_mma_emit(const GpuPlan *p, Buf *out)
{
    Mma m = {0};
    if (mma_of(p, &m)) BUG("mma.sync of %s was not checked", p->target->name);
    const GpuMatrix *mi = &p->matrix;
    bool bytes = gpu_type_bytes(&p->in) == 1;
    buf_printf(out, "typedef %s @F;\n", m.part == 'd' ? "double" : "unsigned");
    buf_printf(
        out, "enum : int { @W0 = %d, @W1 = %d, @MK = %d, @XR = %d, @YR = %d, @LONG_M = %d, @LONG_N = %d };\n",
        mi->waves[0], mi->waves[1], mi->k, m.x, m.y, bytes && p->op[0].tlu, bytes && p->op[1].tlu);
    if (nvptx_mma_lanes(&m.held, out)) BUG("lanes of %s", m.held.name);
    kernel_text_put("nvptx/mma_tile.cuh", out);
    readers(p, out);
    if (mi->m == 8)
        instruction_pair(&m, out);
    else
        instruction(&m, out);
    if (by_halves(p)) halves(p, out);
    rounding(p, out);
    kernel_text_put("nvptx/mma_acc.cuh", out);
    kernel_text_put(by_halves(p) ? "nvptx/mma_mac_halves.cuh" : "nvptx/mma_mac.cuh", out);
    kernel_text_put("nvptx/mma_results.cuh", out);
}
