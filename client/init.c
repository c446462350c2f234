/* Data initialisation. See init.h. */
#include "client/init.h"

#include <math.h>
#include <stdlib.h>

#include "client/number.h"
#include "client/parallel.h"

static const char *const names[INIT_COUNT] = {
    "Zero",       "One",        "Two",          "Random",     "NaN",      "Inf",       "BadInput",
    "BadOutput",  "SerialIdx",  "SerialDim0",   "SerialDim1", "Identity", "TrigSin",   "TrigCos",
    "TrigAbsSin", "TrigAbsCos", "RandomNarrow", "NegOne",     "Max",      "DenormMin", "DenormMax",
};

const char *init_name(InitType how) { return names[how]; }

Err init_find(Str text, InitType *out)
{
    int64_t number;
    int best = 0;
    for (int i = 0; i < INIT_COUNT; i++) {
        if (str_eq_c(text, names[i])) {
            *out = (InitType)i;
            return 0;
        }
        if (str_distance(text, str_from(names[i])) < str_distance(text, str_from(names[best]))) best = i;
    }
    if (str_to_i64(text, &number) && number >= 0 && number < INIT_COUNT) {
        *out = (InitType)number;
        return 0;
    }
    FAIL(ERR_INPUT, "unknown initialisation '%.*s' (did you mean '%s'?)", STR_ARG(text), names[best]);
}

static bool positional(InitType how) { return how >= INIT_SERIAL_IDX && how <= INIT_TRIG_ABS_COS; }

Err init_check(InitType how, DataType t, bool scalar)
{
    TRY(number_type_check(t));
    if (scalar && positional(how))
        FAIL(ERR_INPUT, "initialisation '%s' goes by position: not for alpha and beta", names[how]);
    bool needs_float = how == INIT_NAN || how == INIT_INF || how == INIT_DENORM_MIN || how == INIT_DENORM_MAX;
    if (needs_float && !number_has_nan(t))
        FAIL(ERR_INPUT, "initialisation '%s': type '%s' has no such value", names[how], type_enum_name(t));
    return 0;
}

Err tensor_finish(Tensor *t)
{
    const int64_t limit = INT64_C(1) << 40;
    int64_t n = 1;
    for (int d = 0; d < TENSOR_DIMS; d++) {
        if (t->size[d] < 1 || t->stride[d] < 0)
            FAIL(ERR_INPUT, "tensor of size %lld with stride %lld", (long long)t->size[d],
                 (long long)t->stride[d]);
        int64_t last = t->size[d] - 1;
        if (last > 0 && t->stride[d] > (limit - n) / last)
            FAIL(ERR_INPUT, "tensor of more than 2^40 elements (size %lld, stride %lld)",
                 (long long)t->size[d], (long long)t->stride[d]);
        n += last * t->stride[d];
    }
    t->n_elements = n;
    return 0;
}

static uint64_t mix(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Integers of Tensile's ranges, which keep sums exact or nearly so. */
static double random_value(DataType t, uint64_t r)
{
    int range = 3;
    if (t == TYPE_S || t == TYPE_X || t == TYPE_C) range = 100;
    if (t == TYPE_D || t == TYPE_Z) range = 1000;
    return (double)(int64_t)((r >> 32) * (uint64_t)(2 * range + 1) >> 32) - range;
}

/* Any mantissa and sign, exponents from the lowest that Tensile uses (or the type has) to 0. */
static double random_narrow(DataType t, uint64_t r)
{
    int low = -100;
    if (t == TYPE_D || t == TYPE_Z) low = -189;
    if (t == TYPE_H) low = -14;
    if (t == TYPE_F8) low = -7;
    if (t == TYPE_B8) low = -15;
    if (type_info(t)->integral) return random_value(t, r);
    int e = low + (int)(mix(r, 1) % (uint64_t)(1 - low));
    double x = ldexp(1 + (double)(r >> 12) * 0x1p-52, e);
    return number_round(t, r & 1 ? -x : x);
}

/* Values that do not depend on the position; part 1 is the imaginary one. */
static double plain_value(DataType t, InitType how, uint64_t seed, uint64_t i, int part)
{
    bool integral = type_info(t)->integral;
    switch (how) {
    case INIT_ONE:
        return part ? 0 : 1;
    case INIT_TWO:
        return part ? 0 : 2;
    case INIT_NEG_ONE:
        return part ? 0 : -1;
    case INIT_RANDOM:
        return random_value(t, mix(seed + (uint64_t)part * 77, i));
    case INIT_RANDOM_NARROW:
        return random_narrow(t, mix(seed + (uint64_t)part * 77, i));
    case INIT_NAN:
        return NAN;
    case INIT_INF:
        return INFINITY;
    case INIT_BAD_INPUT:
        return integral ? number_max(t) : NAN;
    case INIT_BAD_OUTPUT:
        return integral ? -number_max(t) - 1 : INFINITY;
    case INIT_MAX:
        return number_max(t);
    case INIT_DENORM_MIN:
        return number_denorm_min(t);
    case INIT_DENORM_MAX:
        return number_denorm_max(t);
    default:
        return 0;
    }
}

/* index: number of the element in logical order. */
static double position_value(InitType how, int64_t index, int64_t i0, int64_t i1)
{
    double x = (double)index;
    switch (how) {
    case INIT_SERIAL_IDX:
        return x;
    case INIT_SERIAL_DIM0:
        return (double)i0;
    case INIT_SERIAL_DIM1:
        return (double)i1;
    case INIT_IDENTITY:
        return i0 == i1;
    case INIT_TRIG_SIN:
        return sin(x);
    case INIT_TRIG_COS:
        return cos(x);
    case INIT_TRIG_ABS_SIN:
        return fabs(sin(x));
    case INIT_TRIG_ABS_COS:
        return fabs(cos(x));
    default:
        return 0;
    }
}

void init_scalar(DataType t, InitType how, uint64_t seed, double out[2])
{
    out[0] = number_round(t, plain_value(t, how, seed, 0, 0));
    out[1] = type_info(t)->complex ? number_round(t, plain_value(t, how, seed, 0, 1)) : 0;
}

typedef struct {
    const Tensor *t;
    InitType how;
    uint64_t seed;
    void *out;
} Fill;

enum { CHUNK = 1 << 16 };

static void fill_plain(void *ctx, int64_t task)
{
    const Fill *f = ctx;
    int64_t from = task * CHUNK, to = from + CHUNK < f->t->n_elements ? from + CHUNK : f->t->n_elements;
    bool random = f->how == INIT_RANDOM || f->how == INIT_RANDOM_NARROW,
         complex = type_info(f->t->type)->complex;
    double re = 0, im = 0;
    for (int64_t i = from; i < to; i++) {
        if (random || i == from) {
            re = plain_value(f->t->type, f->how, f->seed, (uint64_t)i, 0);
            im = complex ? plain_value(f->t->type, f->how, f->seed, (uint64_t)i, 1) : 0;
        }
        number_store(f->t->type, f->out, i, re, im);
    }
}

static void fill_zero(void *ctx, int64_t task)
{
    const Fill *f = ctx;
    int64_t from = task * CHUNK, to = from + CHUNK < f->t->n_elements ? from + CHUNK : f->t->n_elements;
    for (int64_t i = from; i < to; i++) number_store(f->t->type, f->out, i, 0, 0);
}

/* One column (dimension 0) per task. */
static void fill_column(void *ctx, int64_t task)
{
    const Fill *f = ctx;
    const Tensor *t = f->t;
    int64_t i1 = task % t->size[1], i2 = task / t->size[1];
    int64_t at = i1 * t->stride[1] + i2 * t->stride[2];
    bool both = type_info(t->type)->complex && f->how >= INIT_TRIG_SIN;
    for (int64_t i0 = 0; i0 < t->size[0]; i0++) {
        double x = position_value(f->how, i0 + t->size[0] * task, i0, i1);
        number_store(t->type, f->out, at + i0 * t->stride[0], x, both ? x : 0);
    }
}

void init_tensor(const Tensor *t, InitType how, uint64_t seed, int n_threads, void *out)
{
    Fill f = {t, how, seed, out};
    int64_t chunks = (t->n_elements + CHUNK - 1) / CHUNK;
    if (!positional(how)) {
        parallel_for(chunks, n_threads, fill_plain, &f);
        return;
    }
    parallel_for(chunks, n_threads, fill_zero, &f);
    parallel_for(t->size[1] * t->size[2], n_threads, fill_column, &f);
}
