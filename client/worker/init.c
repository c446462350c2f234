/* Data initialisation. See init.h. */
#include "client/worker/init.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

static const char *const names[INIT_COUNT] = {
    "Zero",     "One",       "Two",        "Random",     "NaN",          "Inf",
    "BadInput", "BadOutput", "SerialIdx",  "SerialDim0", "SerialDim1",   "Identity",
    "TrigSin",  "TrigCos",   "TrigAbsSin", "TrigAbsCos", "RandomNarrow", "NegOne",
    "Max",      "DenormMin", "DenormMax",  "Uniform",    "Normal",
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

bool init_is_positional(InitType how) { return how >= INIT_SERIAL_IDX && how <= INIT_TRIG_ABS_COS; }

Err init_check(InitType how, DataType t, bool scalar)
{
    TRY(number_type_check(scalar ? t : type_value(t)));
    if (scalar && init_is_positional(how))
        FAIL(ERR_INPUT, "initialisation '%s' depends on the position: not for alpha and beta", names[how]);
    bool needs_float = how == INIT_NAN || how == INIT_INF || how == INIT_DENORM_MIN ||
                       how == INIT_DENORM_MAX || (how >= INIT_TRIG_SIN && how <= INIT_TRIG_ABS_COS);
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

/* A random number is entry number random_pick of random_entries; a table of all entries is only faster.
 * Random has integers of Tensile's ranges, with which sums are exact or nearly so; Uniform and Normal have
 * 65536 values, whose mantissa bits vary like those of real data. */
enum { ENTRIES = 1 << 16 };

static int random_range(DataType t)
{
    if (t == TYPE_S || t == TYPE_X || t == TYPE_C) return 100;
    return t == TYPE_D || t == TYPE_Z ? 1000 : 3;
}

static bool from_table(InitType how)
{
    return how == INIT_RANDOM || how == INIT_UNIFORM || how == INIT_NORMAL;
}

static uint64_t random_entries(DataType t, InitType how)
{
    return how == INIT_RANDOM || type_info(t)->integral ? (uint64_t)(2 * random_range(t) + 1) : ENTRIES;
}

static double random_entry(DataType t, InitType how, uint64_t entry)
{
    if (how == INIT_RANDOM || type_info(t)->integral) return (double)entry - random_range(t);
    uint64_t r = random_at(UINT64_C(0x5bd1e9955bd1e995), entry);
    double u = ((double)(r >> 32) + 0.5) * 0x1p-32, v = (double)(r & 0xffffffff) * 0x1p-32;
    if (how == INIT_UNIFORM) return number_round(t, 2 * u - 1);
    return number_round(t, sqrt(-2 * log(u)) * cos(6.283185307179586 * v)); /* Box and Muller */
}

static uint64_t random_pick(uint64_t seed, uint64_t i, int64_t part, uint64_t n)
{
    return (random_at(seed + (uint64_t)part * 77, i) >> 32) * n >> 32;
}

static double random_value(DataType t, InitType how, uint64_t seed, uint64_t i, int part)
{
    return random_entry(t, how, random_pick(seed, i, part, random_entries(t, how)));
}

/* Any mantissa and sign, exponents from the lowest that Tensile uses (or the type has) to 0. */
static double random_narrow(DataType t, uint64_t r)
{
    if (type_info(t)->integral) return random_value(t, INIT_RANDOM, r, 0, 0);
    int low = t == TYPE_D || t == TYPE_Z ? -189 : -100, least = ilogb(number_denorm_max(t)) + 1;
    if (low < least) low = least;
    int e = low + (int)(random_at(r, 1) % (uint64_t)(1 - low));
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
    case INIT_UNIFORM:
    case INIT_NORMAL:
        return random_value(t, how, seed, i, part);
    case INIT_RANDOM_NARROW:
        return random_narrow(t, random_at(seed + (uint64_t)part * 77, i));
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
    DataType type;    /* of the values */
    int64_t packing;  /* values in an element */
    int64_t first, n; /* values first..n-1 are written */
    InitType how;
    uint64_t seed;
    void *out;
    int64_t parts; /* 2 of a complex number */
    uint64_t n_entries;
    const void *table;
} Fill;

enum { CHUNK = 1 << 16 };

static void fill_plain(void *ctx, int64_t task)
{
    const Fill *f = ctx;
    int64_t from = f->first + task * CHUNK, to = from + CHUNK < f->n ? from + CHUNK : f->n;
    bool random = from_table(f->how) || f->how == INIT_RANDOM_NARROW, complex = type_info(f->type)->complex;
    double re = 0, im = 0;
    for (int64_t i = from; i < to; i++) {
        if (random || i == from) {
            re = plain_value(f->type, f->how, f->seed, (uint64_t)i, 0);
            im = complex ? plain_value(f->type, f->how, f->seed, (uint64_t)i, 1) : 0;
        }
        number_store(f->type, f->out, i, re, im);
    }
}

#define TABLE_LOOP(T)                                                                                        \
    do {                                                                                                     \
        const T *table = f->table;                                                                           \
        T *out = f->out;                                                                                     \
        for (int64_t i = from; i < to; i++)                                                                  \
            for (int64_t p = 0; p < f->parts; p++)                                                           \
                out[i * f->parts + p] = table[random_pick(f->seed, (uint64_t)i, p, f->n_entries)];           \
    } while (0)

static void fill_table(void *ctx, int64_t task)
{
    const Fill *f = ctx;
    int64_t from = f->first + task * CHUNK, to = from + CHUNK < f->n ? from + CHUNK : f->n;
    switch (type_bytes(f->type) / f->parts) {
    case 1:
        TABLE_LOOP(uint8_t);
        break;
    case 2:
        TABLE_LOOP(uint16_t);
        break;
    case 4:
        TABLE_LOOP(uint32_t);
        break;
    default:
        TABLE_LOOP(uint64_t);
    }
}

/* The last table that was made, which the tensors of most problems share; making one takes 3 ms. */
static struct {
    void *v;
    DataType type;
    InitType how;
} last_table;

/* Fills from a table of random numbers in the type of the tensor (of a complex one, of its parts). False: out
 * of memory for the table; fill_plain gives the same numbers more slowly. */
static bool fill_from_table(Fill *f, int64_t chunks, int n_threads)
{
    DataType t = f->type, part = t == TYPE_C ? TYPE_S : t == TYPE_Z ? TYPE_D : t;
    f->parts = type_info(t)->complex ? 2 : 1;
    f->n_entries = random_entries(t, f->how);
    if (!last_table.v || last_table.type != t || last_table.how != f->how) {
        free(last_table.v);
        last_table.v = malloc(f->n_entries * sizeof(double));
        if (!last_table.v) return false;
        last_table.type = t, last_table.how = f->how;
        for (uint64_t i = 0; i < f->n_entries; i++)
            number_store(part, last_table.v, (int64_t)i, random_entry(t, f->how, i), 0);
    }
    f->table = last_table.v;
    parallel_for(chunks, n_threads, fill_table, f);
    return true;
}

static void fill_zero(void *ctx, int64_t task)
{
    const Fill *f = ctx;
    int64_t from = task * CHUNK, to = from + CHUNK < f->n ? from + CHUNK : f->n;
    for (int64_t i = from; i < to; i++) number_store(f->type, f->out, i, 0, 0);
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
        for (int64_t y = 0; y < f->packing; y++)
            number_store(f->type, f->out, (at + i0 * t->stride[0]) * f->packing + y, x, both ? x : 0);
    }
}

static int64_t chunks_of(const Fill *f) { return (f->n - f->first + CHUNK - 1) / CHUNK; }

void init_more(DataType t, InitType how, uint64_t seed, int64_t from, int64_t to, int n_threads, void *out)
{
    const int64_t packing = type_info(t)->packing;
    Fill f = {.type = type_value(t),
              .packing = packing,
              .first = from * packing,
              .n = to * packing,
              .how = how,
              .seed = seed,
              .out = out};
    if (from_table(how) && f.n >= ENTRIES / 4 && fill_from_table(&f, chunks_of(&f), n_threads)) return;
    parallel_for(chunks_of(&f), n_threads, fill_plain, &f);
}

void init_tensor(const Tensor *t, InitType how, uint64_t seed, int n_threads, void *out)
{
    if (!init_is_positional(how)) {
        init_more(t->type, how, seed, 0, t->n_elements, n_threads, out);
        return;
    }
    Fill f = {.t = t, .type = type_value(t->type), .packing = type_info(t->type)->packing, .how = how};
    f.n = t->n_elements * f.packing;
    f.seed = seed;
    f.out = out;
    parallel_for(chunks_of(&f), n_threads, fill_zero, &f);
    parallel_for(t->size[1] * t->size[2], n_threads, fill_column, &f);
}
