/* Conversions of 8-bit floats as text: @f8_to_f @b8_to_f @f_to_f8 @f_to_b8, plain code but for the dialect's
 * words (GpuDialect.as_float, as_bits, e4m3_to_f) and @h2f. Called by the dialects' preludes. */
#include "kernel/gpu/gpu.h"

/* Floats of 8 bits (problem/datatype.h). Codes without the sign: largest number, then NaN, and inf, NaN's own
 * where there are no infinities. */
typedef struct {
    const char *name;
    int man_bits, bias;
    unsigned largest, inf, nan;
} Small;
static const Small smalls[][2] = {
    [F8_FNUZ] = {{"f8", 3, 8, 127, 128, 128}, {"b8", 2, 16, 127, 128, 128}},
    [F8_OCP] = {{"f8", 3, 7, 0x7e, 0x7f, 0x7f}, {"b8", 2, 15, 0x7b, 0x7c, 0x7f}},
};

static void f8_to_float(const GpuDialect *d, const Small *x, Buf *out)
{
    buf_printf(out, "@DEV float @%s_to_f(unsigned char x)\n{\n", x->name);
    if (x->inf != x->nan) { /* the upper half of a binary16 */
        buf_puts(out, "    return @h2f((unsigned short)(x << 8));\n}\n");
        return;
    }
    if (d->e4m3_to_f && x->nan == 0x7f) {
        buf_puts(out, d->e4m3_to_f);
        return;
    }
    buf_printf(out,
               "    const float y = %s(x & 127u) << %d) * 0x1p%df;\n"
               "    const unsigned u = %sy) | (x & 128u) << 24;\n"
               "    return %s%s == %u ? 0x7fc00000u : u);\n}\n",
               d->as_float, 23 - x->man_bits, 127 - x->bias, d->as_bits, d->as_float,
               x->nan < 128 ? "(x & 127)" : "x", x->nan);
}

/* By arithmetic on the bits of a float: magic's last bit is the least number's, so that adding it rounds
 * numbers below the least normal one; the others round as integers. What is too large becomes the largest
 * number or, without clip, what infinity does: infinities stay or, where there are none, become NaN, as in
 * the reference's kernels. */
static void f8_from_float(const GpuDialect *d, const Small *x, bool clip, Buf *out)
{
    int shift = 23 - x->man_bits, rebias = 127 - x->bias;
    unsigned magic = (unsigned)(127 + 23 + 1 - x->bias - x->man_bits) << 23;
    unsigned most = (x->largest << shift) + ((unsigned)rebias << 23), least = (unsigned)(rebias + 1) << 23;
    buf_printf(out,
               "@DEV unsigned char @f_to_%s(float f)\n{\n"
               "    const unsigned u = %sf);\n"
               "    unsigned a = u & 0x7fffffffu;\n",
               x->name, d->as_bits);
    if (clip) buf_printf(out, "    if (a > 0x%xu && a < 0x7f800000u) a = 0x%xu;\n", most, most);
    buf_printf(out,
               "    const float small = %sa) + %s0x%xu);\n"
               "    const unsigned normal = ((a + 0x%xu + (a >> %d & 1u)) >> %d) - %du;\n"
               "    const unsigned code = a < 0x%xu ? %ssmall) - 0x%xu : normal;\n",
               d->as_float, d->as_float, magic, (1u << (shift - 1)) - 1, shift, shift,
               (unsigned)rebias << x->man_bits, least, d->as_bits, magic);
    if (x->nan == 128)
        buf_puts(out, "    return (unsigned char)(code > 127u ? 128u : code ? code | (u >> 24 & 128u) : "
                      "0u);\n}\n");
    else
        buf_printf(out,
                   "    const unsigned all = a > 0x7f800000u ? %uu : code > %uu ? %uu : code;\n"
                   "    return (unsigned char)(all | (u >> 24 & 128u));\n}\n",
                   x->nan, x->largest, x->inf);
}

void gpu_small_floats(const GpuPlan *p, Buf *out)
{
    if (!gpu_is_f8(p->in.type) && !gpu_is_f8(p->dest.type)) return;
    for (int i = 0; i < 2; i++) {
        const Small *x = &smalls[p->target->f8][i];
        f8_to_float(p->dialect, x, out);
        f8_from_float(p->dialect, x, p->f8_clips, out);
    }
}
