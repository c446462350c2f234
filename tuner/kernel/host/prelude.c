/* Opening of a host kernel's text: element types, conversions, vectors with partial loads and stores for the
 * target's instruction level. Uses intrinsics only where GCC's and clang's vector extension has no word for
 * it.
 */
#include "kernel/host/plan.h"
#include "kernel/text.h"

HostType host_type(DataType type)
{
    switch (type) {
    case TYPE_S:
        return (HostType){type, "float", 4, false};
    case TYPE_D:
        return (HostType){type, "double", 8, false};
    case TYPE_C:
        return (HostType){type, "float", 4, true};
    case TYPE_Z:
        return (HostType){type, "double", 8, true};
    case TYPE_H:
    case TYPE_B:
        return (HostType){type, "uint16_t", 2, false};
    case TYPE_I8:
        return (HostType){type, "int8_t", 1, false};
    case TYPE_I:
        return (HostType){type, "uint32_t", 4, false};
    default:
        return (HostType){type, NULL, 0, false};
    }
}

/* Half: with F16C from v3 on, else in integers, rounding to nearest even. */
static void half_conversions(const HostPlan *p, Buf *out)
{
    if (p->level >= 3) {
        buf_puts(out, "static inline float @h2f(uint16_t h) { return _cvtsh_ss(h); }\n"
                      "static inline uint16_t @f2h(float f) { return (uint16_t)_cvtss_sh(f, 0); }\n");
        return;
    }
    kernel_text_put("host/half.h", out);
}

static void bf16_conversions(Buf *out) { kernel_text_put("host/bf16.h", out); }

static const char *to_compute(DataType type)
{
    switch (type) {
    case TYPE_H:
        return "@h2f(x)";
    case TYPE_B:
        return "@b2f(x)";
    case TYPE_I8:
        return "(uint32_t)(int32_t)(x)";
    default:
        return "(x)";
    }
}

static const char *from_compute(DataType type)
{
    switch (type) {
    case TYPE_H:
        return "@f2h(x)";
    case TYPE_B:
        return "@f2b(x)";
    default:
        return "(x)";
    }
}

/* Intrinsics' suffix for whole vectors of the compute type. */
static const char *suffix(const HostPlan *p)
{
    if (p->compute.type == TYPE_I) return "epi32";
    return p->compute.bytes == 8 ? "pd" : "ps";
}

static void vector_types(const HostPlan *p, Buf *out)
{
    int bytes = p->vl * p->compute.bytes;
    const char *pre = bytes == 64 ? "_mm512" : bytes == 32 ? "_mm256" : "_mm";
    buf_printf(out,
               "typedef @TC @V __attribute__((vector_size(%d)));\n"
               "typedef @TC @VU __attribute__((vector_size(%d), aligned(%d), may_alias));\n"
               "static inline @V @load(const @TC *p) { return *(const @VU *)p; }\n"
               "static inline void @store(@TC *p, @V v) { *(@VU *)p = v; }\n"
               "static inline @V @set(@TC x) { return (@V)%s_set1_%s(%sx); }\n",
               bytes, bytes, p->compute.bytes, pre, suffix(p), p->compute.type == TYPE_I ? "(int)" : "");
    if (p->level >= 3 && p->compute.type != TYPE_I) {
        buf_printf(out,
                   "static inline @V @fma(@V a, @V b, @V c) { return (@V)%s_fmadd_%s(a, b, c); }\n"
                   "static inline @V @fnma(@V a, @V b, @V c) { return (@V)%s_fnmadd_%s(a, b, c); }\n",
                   pre, suffix(p), pre, suffix(p));
        return;
    }
    buf_puts(out, "static inline @V @fma(@V a, @V b, @V c) { return c + a * b; }\n"
                  "static inline @V @fnma(@V a, @V b, @V c) { return c - a * b; }\n");
}

/* The first n elements of a vector in memory; nothing behind them is touched. 1 <= n <= vl. */
static void partial_access(const HostPlan *p, Buf *out)
{
    int bytes = p->vl * p->compute.bytes;
    const char *pre = bytes == 64 ? "_mm512" : bytes == 32 ? "_mm256" : "_mm";
    const char *sfx = suffix(p);
    if (p->level >= 4) {
        int bits = p->vl > 8 ? 16 : 8;
        buf_printf(out,
                   "static inline @V @load_n(const @TC *p, int64_t n)\n{\n"
                   "    return (@V)%s_maskz_loadu_%s((__mmask%d)((1u << n) - 1u), p);\n}\n"
                   "static inline void @store_n(@TC *p, @V v, int64_t n)\n{\n"
                   "    %s_mask_storeu_%s(p, (__mmask%d)((1u << n) - 1u), (%s)v);\n}\n",
                   pre, sfx, bits, pre, sfx, bits,
                   p->compute.type == TYPE_I ? (bytes == 64   ? "__m512i"
                                                : bytes == 32 ? "__m256i"
                                                              : "__m128i")
                                             : "@V");
        return;
    }
    kernel_text_put("host/part_access.h", out);
}

/* vl consecutive elements of A or B in memory, converted to the compute type. */
static void vector_input(const HostPlan *p, Buf *out)
{
    if (p->parts == 2) return;
    buf_puts(out, "static inline @V @load_in(const @TI *p)\n{\n");
    if (p->in.type == TYPE_H && p->level >= 3)
        buf_printf(out, "    return (@V)%s;\n",
                   p->vl == 16  ? "_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p))"
                   : p->vl == 8 ? "_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p))"
                                : "_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)p))");
    else if (p->in.type == p->compute.type)
        buf_puts(out, "    return @load(p);\n");
    else if (p->in.type == TYPE_I8 || p->in.type == TYPE_B)
        buf_printf(out,
                   "    typedef @TI I __attribute__((vector_size(%d), aligned(%d), may_alias));\n"
                   "    typedef %s W __attribute__((vector_size(%d)));\n"
                   "    return (@V)(__builtin_convertvector(*(const I *)p, W)%s);\n",
                   p->vl * p->in.bytes, p->in.bytes, p->in.type == TYPE_B ? "uint32_t" : "int32_t", p->vl * 4,
                   p->in.type == TYPE_B ? " << 16" : "");
    else
        buf_printf(out, "    @V v;\n    for (int i = 0; i < %d; i++) v[i] = @in(p[i]);\n    return v;\n",
                   p->vl);
    buf_puts(out, "}\n");
}

static bool uses(const HostPlan *p, DataType type)
{
    return p->in.type == type || p->out.type == type || p->dest == type;
}

/* Includes and scalar types: what helper kernels need too. */
void host_scalars(const HostPlan *p, Buf *out)
{
    buf_puts(out,
             "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n");
    buf_printf(out, "typedef %s @TI;\ntypedef %s @TC;\ntypedef %s @TD;\n", p->in.c, p->compute.c, p->out.c);
    if (uses(p, TYPE_H)) half_conversions(p, out);
    if (uses(p, TYPE_B)) bf16_conversions(out);
    buf_printf(out, "static inline @TC @in(@TI x) { return %s; }\n", to_compute(p->in.type));
    buf_printf(out, "static inline @TC @from(@TD x) { return %s; }\n", to_compute(p->out.type));
    buf_printf(out, "static inline @TD @to(@TC x) { return %s; }\n", from_compute(p->out.type));
    buf_puts(out, "static inline int64_t @min(int64_t a, int64_t b) { return a < b ? a : b; }\n");
}

void host_prelude(const HostPlan *p, Buf *out)
{
    host_scalars(p, out);
    vector_types(p, out);
    if (p->direct) partial_access(p, out);
    vector_input(p, out);
}
