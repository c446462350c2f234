/* Element types of a kernel's text: parts, elements, vectors, conversions and arithmetic on accumulators. */
#include "kernel/gpu/gpu.h"
#include "kernel/text.h"

#include <stdio.h>

static void element(const char *name, const char *part_name, const GpuType *t, Buf *out)
{
    buf_printf(out, "typedef %s %s;\n", t->part, part_name);
    if (t->parts == 2)
        buf_printf(out, "struct %s { %s re, im; };\n", name, part_name);
    else
        buf_printf(out, "typedef %s %s;\n", part_name, name);
}

static void vectors(const GpuPlan *p, const char *name, const GpuType *t, Buf *out)
{
    char full[16];
    for (int n = 1; n * t->part_bytes <= 16; n++) {
        bool wanted = (n & (n - 1)) == 0 || n == 3 || n == 6;
        if (!wanted) continue;
        snprintf(full, sizeof full, "@%s%d", name, n);
        p->dialect->vector(full, t->part, t->part_bytes, n, out);
    }
}

/* Types that are no numbers of the language: both ways. */
static const struct {
    DataType type;
    const char *widen, *narrow;
} conversions[] = {{TYPE_H, "@h2f", "@f2h"},
                   {TYPE_B, "@b2f", "@f2b"},
                   {TYPE_F8, "@f8_to_f", "@f_to_f8"},
                   {TYPE_B8, "@b8_to_f", "@f_to_b8"}};

const char *gpu_widen(DataType type)
{
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++)
        if (conversions[i].type == type) return conversions[i].widen;
    return "";
}

static const char *narrow(DataType type)
{
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++)
        if (conversions[i].type == type) return conversions[i].narrow;
    return "";
}

static void conversion(const char *to, const char *name, const char *from, const char *call, Buf *out)
{
    buf_printf(out, "@DEV %s @%s(%s x) { return %s%s; }\n", to, name, from, call, *call ? "(x)" : "x");
}

static void complex_arithmetic(Buf *out) { kernel_text_put("gpu/complex.h", out); }

static void real_arithmetic(const GpuPlan *p, Buf *out)
{
    conversion("@TC", "to_c", "@TD", gpu_widen(p->out.type), out);
    conversion("@TD", "from_c", "@TC", narrow(p->out.type), out);
    conversion("@TC", "from_s", "@TS", gpu_widen(p->scalar.type), out);
    conversion("@TS", "to_s", "@TC", narrow(p->scalar.type), out);
    buf_puts(out, "@DEV @TC @zero() { return 0; }\n"
                  "@DEV bool @is_zero(@TC x) { return x == 0; }\n"
                  "@DEV @TC @add(@TC x, @TC y) { return x + y; }\n"
                  "@DEV @TC @mul(@TC x, @TC y) { return x * y; }\n");
    if (p->acc.type == TYPE_I)
        buf_puts(out, "@DEV @TC @madd(@TC x, @TC y, @TC z) { return x * y + z; }\n");
    else
        buf_puts(out, "@DEV @TC @madd(@TC x, @TC y, @TC z) { return @fma(x, y, z); }\n");
}

/* Tensile's conversion: half becomes float, of which bf16 is the upper half; with Fp16AltImplRound to the
 * nearest, the middle to the one near zero. Half's denormals are normal numbers of bf16. */
static void half_to_bf16(const GpuPlan *p, Buf *out)
{
    if (!p->to_bf16) return;
    buf_printf(out,
               "@DEV unsigned short @to_bf16(unsigned short h)\n{\n    const float f = @h2f(h);\n"
               "    unsigned u = %sf);\n%s    return (unsigned short)(u >> 16);\n}\n",
               p->dialect->as_bits, p->to_bf16_rounds ? "    if (f == f) u += 0x7fffu;\n" : "");
    buf_puts(out, "@DEV int @to_bf16x2(int w)\n{\n"
                  "    return (int)((unsigned)@to_bf16((unsigned short)((unsigned)w >> 16)) << 16 |\n"
                  "                 @to_bf16((unsigned short)w));\n}\n");
}

void gpu_types(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "\n/* ---- types ---- */\n\n");
    element("@T", "@P", &p->in, out);
    element("@TC", "@PC", &p->acc, out);
    element("@TD", "@PD", &p->out, out);
    element("@TS", "@PS", &p->scalar, out);
    vectors(p, "VP", &p->in, out);
    vectors(p, "VD", &p->out, out);
    vectors(p, "VC", &p->acc, out);
    if (p->acc.parts == 2)
        complex_arithmetic(out);
    else
        real_arithmetic(p, out);
    half_to_bf16(p, out);
}
