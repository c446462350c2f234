/* Fake GPU drivers: GEMM kernels of the types in kinds[] by their Tensile name, and their beta-only kernels,
 * played on the host from the arguments alone (Source ABI; strided batches, and in kernels with _GB in their
 * name arrays of pointers). See fake.h. */
#include "test/fake/fake.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { S, D, I32, PACKED_I8, I8, E4M3, E5M2, H } Format;

static const size_t bytes_of[] = {
    [S] = 4, [D] = 8, [I32] = 4, [PACKED_I8] = 4, [I8] = 1, [E4M3] = 1, [E5M2] = 1, [H] = 2};

/* Types by their letters in a kernel's name and in that of its beta-only kernel. */
typedef struct {
    const char *name, *beta_only;
    Format a, b, d, scalar;
} Kind;

static const Kind kinds[] = {
    {"SB", "Cijk_S", S, S, S, S},
    {"DB", "Cijk_D", D, D, D, D},
    {"4xi8II_B", "Cijk_I", PACKED_I8, PACKED_I8, I32, I32},
    {"I8II_B", "", I8, I8, I32, I32},
    {"F8SS_B", "", E4M3, E4M3, S, S},
    {"F8HS_B", "", E4M3, E4M3, H, S},
    {"F8F8S_B", "", E4M3, E4M3, E4M3, S},
    {"F8B8SS_B", "", E4M3, E5M2, S, S},
    {"B8F8SS_B", "", E5M2, E4M3, S, S},
};
enum { N_KINDS_OF_GEMM = sizeof kinds / sizeof *kinds };

typedef struct {
    uint64_t d, c, a, b;
    double alpha, beta;
    uint64_t d1, d2, c1, c2, a1, a2, b1, b2, m, n, batch, k;
    const Kind *kind;
    bool trans_a, trans_b;
} Gemm;

typedef struct {
    const Call *call;
    size_t at;
    bool short_of;
} Reader;

static void take(Reader *r, void *out, size_t bytes, size_t align)
{
    r->at = (r->at + align - 1) / align * align;
    if (r->at + bytes > r->call->n_args) {
        memset(out, 0, bytes);
        r->short_of = true;
        return;
    }
    memcpy(out, r->call->args + r->at, bytes);
    r->at += bytes;
}

static uint64_t take_u64(Reader *r)
{
    uint64_t v;
    take(r, &v, 8, 8);
    return v;
}

static uint64_t take_u32(Reader *r)
{
    uint32_t v;
    take(r, &v, 4, 4);
    return v;
}

/* A small float, sign in the highest bit: exponent bits e with this bias above mantissa bits. Infinities and
 * NaNs are none: tests do not have them. */
static double float_value(unsigned x, int e_bits, int m_bits, int bias)
{
    unsigned e = x >> m_bits & ((1u << e_bits) - 1), m = x & ((1u << m_bits) - 1);
    double v = e ? ldexp(1.0 + ldexp(m, -m_bits), (int)e - bias) : ldexp(m, 1 - bias - m_bits);
    return x >> (e_bits + m_bits) ? -v : v;
}

/* The nearest small float, even where two are; the values of tests are in its range. */
static unsigned float_bits(double v, int e_bits, int m_bits, int bias)
{
    int e;
    frexp(v, &e);
    e = v != 0 && e - 1 + bias > 1 ? e - 1 + bias : 1;
    unsigned m = (unsigned)nearbyint(ldexp(fabs(v), m_bits - e + bias)); /* with the leading 1 */
    unsigned sign = signbit(v) ? 1u << (e_bits + m_bits) : 0;
    return sign + ((unsigned)(e - 1) << m_bits) + m;
}

static double load(uint64_t base, uint64_t i, Format format)
{
    const void *p = (const void *)(uintptr_t)base;
    switch (format) {
    case S:
        return (double)((const float *)p)[i];
    case D:
        return ((const double *)p)[i];
    case I8:
        return (double)((const signed char *)p)[i];
    case E4M3:
        return float_value(((const uint8_t *)p)[i], 4, 3, 7);
    case E5M2:
        return float_value(((const uint8_t *)p)[i], 5, 2, 15);
    case H:
        return float_value(((const uint16_t *)p)[i], 5, 10, 15);
    default:
        return (double)((const int32_t *)p)[i];
    }
}

static void store(uint64_t base, uint64_t i, Format format, double v)
{
    void *p = (void *)(uintptr_t)base;
    switch (format) {
    case S:
        ((float *)p)[i] = (float)v;
        break;
    case D:
        ((double *)p)[i] = v;
        break;
    case E4M3:
        ((uint8_t *)p)[i] = (uint8_t)float_bits(v, 4, 3, 7);
        break;
    case H:
        ((uint16_t *)p)[i] = (uint16_t)float_bits(v, 5, 10, 15);
        break;
    default:
        ((int32_t *)p)[i] = (int32_t)v;
    }
}

static double take_scalar(Reader *r, Format format)
{
    unsigned char bytes[8];
    take(r, bytes, bytes_of[format], bytes_of[format]);
    return load((uint64_t)(uintptr_t)bytes, 0, format);
}

/* Numbers of an element: packed ones are four along K. */
static uint64_t numbers_of(const Gemm *g) { return g->kind->a == PACKED_I8 ? 4 : 1; }

static double number(const Gemm *g, uint64_t base, uint64_t i, Format format, uint64_t which)
{
    return g->kind->a == PACKED_I8 ? load(base, 4 * i + which, I8) : load(base, i, format);
}

/* The last element of a matrix batch is in a live buffer. */
static bool in_buffer(const Gemm *g, uint64_t base, Format format, uint64_t rows, uint64_t cols, uint64_t s1,
                      uint64_t s2)
{
    uint64_t last = rows - 1 + (cols - 1) * s1 + (g->batch > 1 ? (g->batch - 1) * s2 : 0);
    return buffer_at(base, (last + 1) * bytes_of[format]) != NULL;
}

/* D that a beta-only kernel has just filled: the main kernel adds to it (GlobalSplitU with atomics). */
static _Atomic uint64_t prepared;

/* alpha * sum + beta * c; integers wrap. */
static double scaled(const Gemm *g, double sum, double beta, double c)
{
    if (g->kind->d != I32) return g->alpha * sum + beta * c;
    return (int32_t)((uint32_t)(int64_t)g->alpha * (uint32_t)(int64_t)sum +
                     (uint32_t)(int64_t)beta * (uint32_t)(int64_t)c);
}

/* Rows of D that are computed together, from a copy of their rows of A in double precision: tests launch
 * thousands of kernels. */
enum { ROWS = 32 };

static void copy_a(const Gemm *g, uint64_t z, uint64_t i0, uint64_t rows, double (*a)[ROWS])
{
    const uint64_t w = numbers_of(g);
    for (uint64_t l = 0; l < g->k * w; l++)
        for (uint64_t i = 0; i < ROWS; i++) {
            uint64_t at = z * g->a2 + (g->trans_a ? l / w + (i0 + i) * g->a1 : i0 + i + l / w * g->a1);
            a[l][i] = i < rows ? number(g, g->a, at, g->kind->a, l % w) : 0;
        }
}

static void dot(const Gemm *g, uint64_t z, uint64_t j, double (*a)[ROWS], double sum[ROWS])
{
    const uint64_t w = numbers_of(g);
    for (int i = 0; i < ROWS; i++) sum[i] = 0;
    for (uint64_t l = 0; l < g->k * w; l++) {
        const double b = number(g, g->b, z * g->b2 + (g->trans_b ? j + l / w * g->b1 : l / w + j * g->b1),
                                g->kind->b, l % w);
        for (int i = 0; i < ROWS; i++) sum[i] += a[l][i] * b;
    }
}

static void compute_rows(const Gemm *g, bool add, uint64_t z, uint64_t i0, double (*a)[ROWS])
{
    const uint64_t rows = g->m - i0 < ROWS ? g->m - i0 : ROWS;
    copy_a(g, z, i0, rows, a);
    for (uint64_t j = 0; j < g->n; j++) {
        double sum[ROWS];
        dot(g, z, j, a, sum);
        for (uint64_t i = 0; i < rows; i++) {
            uint64_t d = z * g->d2 + j * g->d1 + i0 + i;
            double old = add            ? load(g->d, d, g->kind->d)
                         : g->beta != 0 ? load(g->c, z * g->c2 + j * g->c1 + i0 + i, g->kind->d)
                                        : 0;
            store(g->d, d, g->kind->d, scaled(g, sum[i], add ? 1 : g->beta, old));
        }
    }
}

static void compute(const Gemm *g, bool add)
{
    double(*a)[ROWS] = malloc((g->k * numbers_of(g) + 1) * sizeof *a);
    if (!a) abort();
    for (uint64_t z = 0; z < g->batch; z++)
        for (uint64_t i0 = 0; i0 < g->m; i0 += ROWS) compute_rows(g, add, z, i0, a);
    free(a);
}

static bool is_inside(const Gemm *g)
{
    bool k = g->k > 0;
    const Kind *x = g->kind;
    return in_buffer(g, g->d, x->d, g->m, g->n, g->d1, g->d2) &&
           (!k ||
            in_buffer(g, g->a, x->a, g->trans_a ? g->k : g->m, g->trans_a ? g->m : g->k, g->a1, g->a2)) &&
           (!k || in_buffer(g, g->b, x->b, g->trans_b ? g->n : g->k, g->trans_b ? g->k : g->n, g->b1, g->b2));
}

/* One matrix after the other, by arrays of pointers to D, C, A, B, with offsets of that order. */
static void by_pointers(const Gemm *g, const uint64_t offset[4], bool *fault)
{
    const uint64_t arrays[] = {g->d, g->c, g->a, g->b};
    const Format format[] = {g->kind->d, g->kind->d, g->kind->a, g->kind->b};
    for (int i = 0; i < 4 && !*fault; i++) *fault = !buffer_at(arrays[i], 8 * g->batch);
    for (uint64_t z = 0; z < g->batch && !*fault; z++) {
        Gemm one = *g;
        uint64_t *const base[] = {&one.d, &one.c, &one.a, &one.b};
        for (int i = 0; i < 4; i++)
            *base[i] = ((const uint64_t *)(uintptr_t)arrays[i])[z] + offset[i] * bytes_of[format[i]];
        one.batch = 1;
        *fault = !is_inside(&one);
        if (!*fault) compute(&one, false);
    }
}

static bool main_kernel(const Call *call, Gemm *g, bool *fault)
{
    Reader r = {call, 0, false};
    const bool pointers = strstr(call->function->name, "_GB") != NULL;
    uint64_t offset[4] = {0};
    g->d = take_u64(&r);
    g->c = take_u64(&r);
    g->a = take_u64(&r);
    g->b = take_u64(&r);
    for (int i = 0; i < 4 && pointers; i++) offset[i] = take_u64(&r);
    g->alpha = take_scalar(&r, g->kind->scalar);
    g->beta = take_scalar(&r, g->kind->scalar);
    uint64_t *const words[] = {&g->d1, &g->d2, &g->c1, &g->c2, &g->a1,    &g->a2,
                               &g->b1, &g->b2, &g->m,  &g->n,  &g->batch, &g->k};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) *words[i] = take_u32(&r);
    if (r.short_of) return false;
    if (pointers) {
        by_pointers(g, offset, fault);
        return true;
    }
    *fault = !is_inside(g);
    if (!*fault) compute(g, prepared == g->d);
    if (!*fault && fake_matches("wrong", call->function->name)) store(g->d, 0, g->kind->d, 12345);
    prepared = 0;
    return true;
}

/* D = beta * C: D, C, strides, sizes, beta. */
static bool beta_kernel(const Call *call, Gemm *g, bool *fault)
{
    Reader r = {call, 0, false};
    g->d = take_u64(&r);
    g->c = take_u64(&r);
    uint64_t *const words[] = {&g->d1, &g->d2, &g->c1, &g->c2, &g->m, &g->n, &g->batch};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) *words[i] = take_u32(&r);
    g->alpha = 0;
    g->beta = take_scalar(&r, g->kind->scalar);
    if (r.short_of) return false;
    *fault = !in_buffer(g, g->d, g->kind->d, g->m, g->n, g->d1, g->d2);
    if (!*fault) compute(g, false);
    prepared = g->d;
    return true;
}

bool fake_gemm(const Call *call, bool *fault)
{
    const char *name = call->function->name;
    Gemm g = {0};
    *fault = false;
    for (g.kind = kinds; g.kind < kinds + N_KINDS_OF_GEMM; g.kind++)
        if (strcmp(name, g.kind->beta_only) == 0) return beta_kernel(call, &g, fault);
    if (strncmp(name, "Cijk_A", 6) != 0 || strlen(name) < 18) return false;
    g.trans_a = strncmp(name + 5, "Alik", 4) == 0;
    g.trans_b = strncmp(name + 10, "Bjlk", 4) == 0;
    for (g.kind = kinds; g.kind < kinds + N_KINDS_OF_GEMM; g.kind++)
        if (strncmp(name + 15, g.kind->name, strlen(g.kind->name)) == 0) return main_kernel(call, &g, fault);
    return false;
}
