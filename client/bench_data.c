/* tuner-bench: matrices, how they are filled, and the check against a reference of higher precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/bench.h"
#include "model/datatype.h"

/* ---- elements ---- */

static uint16_t half_bits(double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    double a = fabs(v);
    if (!(a < 65520)) return (uint16_t)(sign | (isnan(v) ? 0x7e00 : 0x7c00));
    if (a < 0x1p-14) return (uint16_t)(sign | (uint16_t)nearbyint(a * 0x1p24));
    int e;
    double m = frexp(a, &e); /* 0.5 .. 1 */
    return (uint16_t)(sign + (uint16_t)(((e + 14) << 10) + (int)nearbyint((m * 2 - 1) * 1024)));
}

static double half_value(uint16_t h)
{
    int e = h >> 10 & 31, f = h & 1023;
    double v = e == 31 ? (f ? (double)NAN : (double)INFINITY) : e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
    return h >> 15 ? -v : v;
}

static uint16_t bf16_bits(double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    return isnan(v) ? 0x7fc0 : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static void store(tuner_type t, void *base, int64_t at, const double v[2])
{
    unsigned char raw[16];
    size_t bytes = (size_t)type_bytes((DataType)t);
    int8_t small = (int8_t)v[0];
    if (t == TUNER_I8)
        memcpy(raw, &small, 1);
    else
        scalar_bytes(t, v, raw);
    memcpy((char *)base + (size_t)at * bytes, raw, bytes);
}

void scalar_bytes(tuner_type type, const double value[2], unsigned char out[16])
{
    float f[2] = {(float)value[0], (float)value[1]};
    int32_t i = (int32_t)value[0];
    uint16_t h = type == TUNER_F16 ? half_bits(value[0]) : bf16_bits(value[0]);
    memset(out, 0, 16);
    switch (type) {
    case TUNER_F32:
    case TUNER_C32:
        memcpy(out, f, type == TUNER_C32 ? 8 : 4);
        return;
    case TUNER_F64:
    case TUNER_C64:
        memcpy(out, value, type == TUNER_C64 ? 16 : 8);
        return;
    case TUNER_I32:
        memcpy(out, &i, 4);
        return;
    case TUNER_F16:
    case TUNER_BF16:
        memcpy(out, &h, 2);
        return;
    case TUNER_I8:
    case TUNER_I8X4:
        return;
    }
}

static void load(tuner_type t, const void *base, int64_t at, long double v[2])
{
    const char *p = (const char *)base + (size_t)at * (size_t)type_bytes((DataType)t);
    float f[2] = {0, 0};
    double d[2] = {0, 0};
    int32_t i;
    uint16_t h;
    uint32_t u;
    switch (t) {
    case TUNER_F32:
    case TUNER_C32:
        memcpy(f, p, t == TUNER_C32 ? 8 : 4);
        break;
    case TUNER_F64:
    case TUNER_C64:
        memcpy(d, p, t == TUNER_C64 ? 16 : 8);
        v[0] = d[0];
        v[1] = d[1];
        return;
    case TUNER_I32:
        memcpy(&i, p, 4);
        v[0] = i;
        v[1] = 0;
        return;
    case TUNER_F16:
        memcpy(&h, p, 2);
        f[0] = (float)half_value(h);
        break;
    case TUNER_BF16:
        memcpy(&h, p, 2);
        u = (uint32_t)h << 16;
        memcpy(f, &u, 4);
        break;
    case TUNER_I8:
    case TUNER_I8X4:
        f[0] = (float)*(const signed char *)p;
        break;
    }
    v[0] = (long double)f[0];
    v[1] = (long double)f[1];
}

/* ---- filling ---- */

static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double value(const BenchCase *c, tuner_type t, uint64_t *state, int64_t i, int64_t j)
{
    bool whole = t == TUNER_I8 || t == TUNER_I32;
    switch (c->init) {
    case INIT_ZERO:
        return 0;
    case INIT_TRIG_FLOAT:
        if (!whole) return sin((double)(i + j * 1031));
        break;
    case INIT_HPL:
        if (!whole) return (double)(next(state) >> 11) * 0x1p-53 - 0.5;
        break;
    case INIT_RAND_INT:
        break;
    }
    return 1 + (double)(next(state) % 10);
}

typedef struct {
    tuner_type type;
    int64_t rows, cols, ld, stride, batch;
} Shape;

static size_t shape_bytes(const Shape *s)
{
    uint64_t n;
    int64_t last = s->ld * (s->cols > 0 ? s->cols - 1 : 0) + s->rows;
    if (__builtin_mul_overflow((uint64_t)s->stride, (uint64_t)(s->batch - 1), &n) ||
        __builtin_add_overflow(n, (uint64_t)last, &n) || n > UINT64_C(1) << 44)
        return SIZE_MAX;
    return (size_t)n * (size_t)type_bytes((DataType)s->type);
}

static Err make(const BenchCase *c, const Shape *s, uint64_t seed, void **out)
{
    size_t bytes = shape_bytes(s);
    if (bytes == SIZE_MAX || posix_memalign(out, 4096, bytes + 64))
        FAIL(ERR_FAILED, "out of memory for a matrix of %lld x %lld, batch %lld", (long long)s->rows,
             (long long)s->cols, (long long)s->batch);
    uint64_t state = seed * 1000003 + 17;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t j = 0; j < s->cols; j++)
            for (int64_t i = 0; i < s->rows; i++) {
                double v[2] = {value(c, s->type, &state, i, j), value(c, s->type, &state, j, i)};
                store(s->type, *out, b * s->stride + j * s->ld + i, v);
            }
    return ERR_OK;
}

static Err point(BenchCase *c, BenchData *d)
{
    tuner_gemm_desc *g = &c->g;
    size_t n = (size_t)g->batch;
    void *const base[4] = {d->a, d->b, d->c, d->d};
    const int64_t stride[4] = {g->stride_a, g->stride_b, g->stride_c, g->stride_d};
    const tuner_type type[4] = {g->a_type, g->b_type, g->c_type, g->d_type};
    d->pointers = calloc(4 * n, sizeof *d->pointers);
    TRY_ALLOC(d->pointers);
    for (size_t k = 0; k < 4; k++)
        for (size_t b = 0; base[k] && b < n; b++)
            d->pointers[k * n + b] =
                (char *)base[k] + b * (size_t)stride[k] * (size_t)type_bytes((DataType)type[k]);
    g->a = d->pointers;
    g->b = d->pointers + n;
    g->c = d->pointers + 2 * n;
    g->d = d->d ? d->pointers + 3 * n : NULL;
    return ERR_OK;
}

Err data_init(BenchCase *c, BenchData *d)
{
    tuner_gemm_desc *g = &c->g;
    bool ta = g->trans_a != TUNER_N, tb = g->trans_b != TUNER_N;
    const Shape a = {g->a_type, ta ? g->k : g->m, ta ? g->m : g->k, g->lda, g->stride_a, g->batch};
    const Shape b = {g->b_type, tb ? g->n : g->k, tb ? g->k : g->n, g->ldb, g->stride_b, g->batch};
    const Shape cs = {g->c_type, g->m, g->n, g->ldc, g->stride_c, g->batch};
    const Shape ds = {g->d_type, g->m, g->n, g->ldd, g->stride_d, g->batch};
    *d = (BenchData){0};
    TRY(make(c, &a, c->seed, &d->a));
    TRY(make(c, &b, c->seed + 1, &d->b));
    TRY(make(c, &cs, c->seed + 2, &d->c));
    if (c->ex) TRY(make(c, &ds, c->seed + 3, &d->d));
    d->bytes[0] = shape_bytes(&a);
    d->bytes[1] = shape_bytes(&b);
    d->bytes[2] = shape_bytes(&cs);
    d->bytes[3] = c->ex ? shape_bytes(&ds) : 0;
    if (c->verify) {
        d->c_before = malloc(d->bytes[2] + 1);
        TRY_ALLOC(d->c_before);
        memcpy(d->c_before, d->c, d->bytes[2]);
    }
    g->a = d->a;
    g->b = d->b;
    g->c = d->c;
    g->d = d->d;
    return c->batched ? point(c, d) : ERR_OK;
}

void data_fini(BenchData *d)
{
    free(d->a);
    free(d->b);
    free(d->c);
    free(d->d);
    free(d->pointers);
    free(d->c_before);
    *d = (BenchData){0};
}

/* ---- the check ---- */

static void multiply_add(long double sum[2], const long double x[2], const long double y[2], bool cx, bool cy)
{
    long double xi = cx ? -x[1] : x[1], yi = cy ? -y[1] : y[1];
    sum[0] += x[0] * y[0] - xi * yi;
    sum[1] += x[0] * yi + xi * y[0];
}

/* In long double: 64 bits of mantissa are more than any of the types has. */
static void reference(const BenchCase *c, const BenchData *d, int64_t b, int64_t i, int64_t j,
                      long double out[2])
{
    const tuner_gemm_desc *g = &c->g;
    long double sum[2] = {0, 0}, x[2], y[2], before[2] = {0, 0};
    const long double alpha[2] = {c->alpha[0], c->alpha[1]}, beta[2] = {c->beta[0], c->beta[1]};
    for (int64_t l = 0; l < g->k; l++) {
        load(g->a_type, d->a, b * g->stride_a + (g->trans_a == TUNER_N ? l * g->lda + i : i * g->lda + l), x);
        load(g->b_type, d->b, b * g->stride_b + (g->trans_b == TUNER_N ? j * g->ldb + l : l * g->ldb + j), y);
        multiply_add(sum, x, y, g->trans_a == TUNER_C, g->trans_b == TUNER_C);
    }
    out[0] = out[1] = 0;
    if (alpha[0] != 0 || alpha[1] != 0) multiply_add(out, alpha, sum, false, false);
    if (beta[0] == 0 && beta[1] == 0) return; /* C is not read: it may be anything */
    load(g->c_type, d->c_before, b * g->stride_c + j * g->ldc + i, before);
    multiply_add(out, beta, before, false, false);
}

enum { CHECK_WORK = 50000000 }; /* multiply-adds: about two seconds where each misses the cache */

double data_norm_error(const BenchCase *c, const BenchData *d, uint64_t *n_checked)
{
    const tuner_gemm_desc *g = &c->g;
    uint64_t total = (uint64_t)g->m * (uint64_t)g->n * (uint64_t)g->batch, state = 99;
    uint64_t n = (uint64_t)CHECK_WORK / (uint64_t)(g->k > 0 ? g->k : 1) + 1;
    bool all = n >= total;
    long double error = 0, norm = 0;
    if (all) n = total;
    for (uint64_t e = 0; e < n; e++) {
        uint64_t at = all ? e : next(&state) % total;
        int64_t i = (int64_t)(at % (uint64_t)g->m), j = (int64_t)(at / (uint64_t)g->m % (uint64_t)g->n);
        int64_t b = (int64_t)(at / (uint64_t)g->m / (uint64_t)g->n);
        long double want[2], got[2];
        reference(c, d, b, i, j, want);
        if (d->d)
            load(g->d_type, d->d, b * g->stride_d + j * g->ldd + i, got);
        else
            load(g->c_type, d->c, b * g->stride_c + j * g->ldc + i, got);
        error += fabsl(got[0] - want[0]) + fabsl(got[1] - want[1]);
        norm += fabsl(want[0]) + fabsl(want[1]);
    }
    *n_checked = n;
    if (isnan((double)error)) return (double)INFINITY;
    return (double)(norm > 0 ? error / norm : error);
}
