/* Conversions between element types and doubles. See number.h. */
#include "client/worker/number.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <math.h>
#include <string.h>

/* A float of fewer than 32 bits. largest, inf and nan are codes without the sign bit:
 *   largest   the largest finite number; every code above it is NaN, except inf
 *   inf       infinity; equal to nan in types without infinities
 *   nan       the NaN that is stored; the code of the sign bit alone in types without negative zero
 *   saturate  a finite number that is too large is stored as the largest number, not as infinity */
typedef struct {
    int exp_bits, man_bits, bias;
    uint32_t largest, inf, nan;
    bool saturate;
} SmallFloat;

static const SmallFloat half = {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false},
                        bf16 = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false};
static const SmallFloat f8 = {4, 3, 8, 0x7f, 0x80, 0x80, true}, b8 = {5, 2, 16, 0x7f, 0x80, 0x80, true};
static const SmallFloat f8_ocp = {4, 3, 7, 0x7e, 0x7f, 0x7f, true},
                        b8_ocp = {5, 2, 15, 0x7b, 0x7c, 0x7f, true};

static const SmallFloat *small_float(DataType t)
{
    switch (t) {
    case TYPE_H:
        return &half;
    case TYPE_B:
        return &bf16;
    case TYPE_F8:
        return &f8;
    case TYPE_B8:
        return &b8;
    case TYPE_F8_OCP:
        return &f8_ocp;
    case TYPE_B8_OCP:
        return &b8_ocp;
    default:
        return NULL;
    }
}

Err number_type_check(DataType t)
{
    switch (t) {
    case TYPE_S:
    case TYPE_D:
    case TYPE_C:
    case TYPE_Z:
    case TYPE_H:
    case TYPE_I:
    case TYPE_B:
    case TYPE_I8:
    case TYPE_X:
    case TYPE_F8:
    case TYPE_B8:
    case TYPE_F8_OCP:
    case TYPE_B8_OCP:
        return 0;
    default:
        FAIL(ERR_INPUT, "data type '%s' is not one that this client can initialise and check",
             type_enum_name(t));
    }
}

/* Bit of the sign. */
static uint32_t small_sign(const SmallFloat *f) { return 1u << (f->exp_bits + f->man_bits); }

static double small_decode(const SmallFloat *f, uint32_t bits)
{
    uint32_t sign = small_sign(f), code = bits & (sign - 1), man = code & ((1u << f->man_bits) - 1);
    double x;
    if (code > f->largest)
        x = code == f->inf && f->inf != f->nan ? (double)INFINITY : (double)NAN;
    else if (code == 0 && f->nan == sign && bits == sign)
        x = NAN;
    else if (code >> f->man_bits == 0)
        x = ldexp(man, 1 - f->bias - f->man_bits);
    else
        x = ldexp(man + (1u << f->man_bits), (int)(code >> f->man_bits) - f->bias - f->man_bits);
    return bits & sign ? -x : x;
}

static double small_max(const SmallFloat *f) { return small_decode(f, f->largest); }

/* The code nearest to a finite number >= 0, ties to even; above largest when the number is too large. */
static uint32_t small_nearest(const SmallFloat *f, double a)
{
    int e, least = 1 - f->bias;
    frexp(a, &e);
    e -= 1;
    if (a == 0 || e < least) e = least;
    double man_top = ldexp(1, f->man_bits),
           units = nearbyint(ldexp(a, f->man_bits - e)); /* exact in double */
    if (units >= 2 * man_top) units /= 2, e++;
    if (units < man_top) return (uint32_t)units;
    if (e + f->bias >= 1 << f->exp_bits) return f->largest + 1;
    return (uint32_t)(e + f->bias) << f->man_bits | (uint32_t)(units - man_top);
}

static uint32_t small_encode(const SmallFloat *f, double x)
{
    uint32_t top = small_sign(f), sign = signbit(x) ? top : 0, code;
    if (isnan(x))
        code = f->nan;
    else if (isinf(x))
        code = f->inf;
    else {
        code = small_nearest(f, fabs(x));
        if (code > f->largest) code = f->saturate ? f->largest : f->inf;
    }
    if (f->nan == top && (code == 0 || code == top)) return code; /* zero and NaN have no sign */
    return isnan(x) ? code : sign | code;
}

static float bits_to_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Half to float by moving the bits and scaling by the difference of the biases; infinities and NaN are fixed
 * up. */
static float half_decode(uint16_t h)
{
    float x = bits_to_float((uint32_t)(h & 0x7fff) << 13) * 0x1p112f;
    if ((h & 0x7c00) == 0x7c00) x = h & 0x3ff ? NAN : INFINITY;
    return h & 0x8000 ? -x : x;
}

/* Contiguous real elements are converted in blocks of a fixed size, which compilers vectorise at -O2. */
#define LOAD_LOOP(T, RE, IM)                                                                                 \
    do {                                                                                                     \
        const T *x = (const T *)base + first;                                                                \
        int64_t i = 0;                                                                                       \
        for (; !im && stride == 1 && i + 8 <= n; i += 8)                                                     \
            for (int64_t y = 0; y < 8; y++, x++) re[i + y] = (RE);                                           \
        for (; i < n; i++, x += stride) {                                                                    \
            re[i] = (RE);                                                                                    \
            if (im) im[i] = (IM);                                                                            \
        }                                                                                                    \
    } while (0)

/* Converts contiguous halves, as many as are a multiple of 8, and returns how many. Checks of large operands
 * spend most of their time here. */
#ifdef __x86_64__
__attribute__((target("avx,f16c"))) static int64_t halves_by_f16c(const uint16_t *x, int64_t n, double *out)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)&x[i]));
        _mm256_storeu_pd(&out[i], _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
        _mm256_storeu_pd(&out[i + 4], _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    }
    return i;
}

/* Compilers that do not know "f16c" as the name of a feature are why its bit is read. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

static int64_t halves_load(const uint16_t *x, int64_t n, double *out)
{
    static _Atomic int known; /* 1: there is the instruction; 2: there is none; 0: nobody has looked */
    if (!known) known = has_f16c() ? 1 : 2;
    return known == 1 ? halves_by_f16c(x, n, out) : 0;
}
#else
static int64_t halves_load(const uint16_t *x, int64_t n, double *out)
{
    (void)x, (void)n, (void)out;
    return 0;
}
#endif

typedef struct {
    float v[2];
} Pair32;
typedef struct {
    double v[2];
} Pair64;

void numbers_load(DataType t, const void *base, int64_t first, int64_t stride, int64_t n, double *re,
                  double *im)
{
    const SmallFloat *small = small_float(t);
    if (t == TYPE_H && stride == 1 && !im) {
        const int64_t done = halves_load((const uint16_t *)base + first, n, re);
        first += done, re += done, n -= done;
    }
    switch (t) {
    case TYPE_S:
    case TYPE_X:
        LOAD_LOOP(float, (double)*x, 0);
        break;
    case TYPE_D:
        LOAD_LOOP(double, *x, 0);
        break;
    case TYPE_C:
        LOAD_LOOP(Pair32, (double)x->v[0], (double)x->v[1]);
        break;
    case TYPE_Z:
        LOAD_LOOP(Pair64, x->v[0], x->v[1]);
        break;
    case TYPE_H:
        LOAD_LOOP(uint16_t, (double)half_decode(*x), 0);
        break;
    case TYPE_B:
        LOAD_LOOP(uint16_t, (double)bits_to_float((uint32_t)*x << 16), 0);
        break;
    case TYPE_I:
        LOAD_LOOP(int32_t, (double)*x, 0);
        break;
    case TYPE_I8:
        LOAD_LOOP(int8_t, (double)*x, 0);
        break;
    case TYPE_F8:
    case TYPE_B8:
    case TYPE_F8_OCP:
    case TYPE_B8_OCP:
        LOAD_LOOP(uint8_t, small_decode(small, *x), 0);
        break;
    default:
        break;
    }
}

static int64_t wrap(double x, int bits)
{
    if (!isfinite(x)) return 0;
    double span = ldexp(1, bits), r = x - span * floor(x / span);
    int64_t v = (int64_t)r;
    return v >= (INT64_C(1) << (bits - 1)) ? v - (INT64_C(1) << bits) : v;
}

void number_store(DataType t, void *base, int64_t i, double re, double im)
{
    switch (t) {
    case TYPE_S:
    case TYPE_X:
        ((float *)base)[i] = (float)re;
        break;
    case TYPE_D:
        ((double *)base)[i] = re;
        break;
    case TYPE_C:
        ((Pair32 *)base)[i] = (Pair32){{(float)re, (float)im}};
        break;
    case TYPE_Z:
        ((Pair64 *)base)[i] = (Pair64){{re, im}};
        break;
    case TYPE_I:
        ((int32_t *)base)[i] = (int32_t)wrap(re, 32);
        break;
    case TYPE_I8:
        ((int8_t *)base)[i] = (int8_t)wrap(re, 8);
        break;
    case TYPE_H:
        ((uint16_t *)base)[i] = (uint16_t)small_encode(&half, re);
        break;
    case TYPE_B:
        ((uint16_t *)base)[i] = (uint16_t)small_encode(&bf16, re);
        break;
    case TYPE_F8:
    case TYPE_B8:
    case TYPE_F8_OCP:
    case TYPE_B8_OCP:
        ((uint8_t *)base)[i] = (uint8_t)small_encode(small_float(t), re);
        break;
    default:
        break;
    }
}

double number_round(DataType t, double x)
{
    switch (t) {
    case TYPE_S:
    case TYPE_X:
    case TYPE_C:
        return (double)(float)x;
    case TYPE_I:
        return (double)wrap(x, 32);
    case TYPE_I8:
        return (double)wrap(x, 8);
    case TYPE_H:
    case TYPE_B:
    case TYPE_F8:
    case TYPE_B8:
    case TYPE_F8_OCP:
    case TYPE_B8_OCP:
        return small_decode(small_float(t), small_encode(small_float(t), x));
    default:
        return x;
    }
}

double number_unit(DataType t)
{
    const SmallFloat *f = small_float(t);
    if (f) return ldexp(1, -f->man_bits - 1);
    if (type_info(t)->integral) return 0;
    return t == TYPE_D || t == TYPE_Z ? 0x1p-53 : 0x1p-24;
}

double number_exact_limit(DataType t)
{
    const SmallFloat *f = small_float(t);
    if (f) return ldexp(1, f->man_bits + 1);
    if (t == TYPE_I) return 0x1p31;
    if (t == TYPE_I8) return 0x1p7;
    return t == TYPE_D || t == TYPE_Z ? 0x1p53 : 0x1p24;
}

double number_max(DataType t)
{
    const SmallFloat *f = small_float(t);
    if (f) return small_max(f);
    if (t == TYPE_I) return 2147483647;
    if (t == TYPE_I8) return 127;
    return t == TYPE_D || t == TYPE_Z ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
}

double number_denorm_min(DataType t)
{
    const SmallFloat *f = small_float(t);
    if (f) return ldexp(1, 1 - f->bias - f->man_bits);
    if (type_info(t)->integral) return NAN;
    return t == TYPE_D || t == TYPE_Z ? 0x1p-1074 : 0x1p-149;
}

double number_denorm_max(DataType t)
{
    const SmallFloat *f = small_float(t);
    if (f) return ldexp(1 - ldexp(1, -f->man_bits), 1 - f->bias);
    if (type_info(t)->integral) return NAN;
    return t == TYPE_D || t == TYPE_Z ? 0x0.fffffffffffffp-1022 : 0x0.fffffep-126;
}

unsigned char number_poison(DataType t)
{
    if (type_info(t)->integral) return 0xA5;
    return t == TYPE_F8 || t == TYPE_B8 ? 0x80 : 0xFF;
}

bool number_has_nan(DataType t) { return !type_info(t)->integral; }

double number_tolerance(DataType t)
{
    switch (t) {
    case TYPE_H:
        return 0.01;
    case TYPE_B:
        return 0.1;
    case TYPE_F8:
    case TYPE_F8_OCP:
        return 0.125;
    case TYPE_B8:
    case TYPE_B8_OCP:
        return 0.25;
    case TYPE_D:
    case TYPE_Z:
        return 1e-12;
    case TYPE_S:
    case TYPE_X:
    case TYPE_C:
        return 1e-4;
    default:
        return 0;
    }
}

int number_input_bits(DataType a, bool xf32, bool fp16_alt)
{
    if (a == TYPE_H && fp16_alt) return 8;
    if (a == TYPE_F8_OCP || a == TYPE_B8_OCP) return 14;
    return a == TYPE_S && xf32 ? 11 : 0;
}
