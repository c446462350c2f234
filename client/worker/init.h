/* Initialisation of tensors and scalars: Tensile's DataInitType values 0..20, and two more: uniform in [-1,
 * 1) and normal (0, 1) numbers, whose mantissa bits vary like those of real data.
 *
 * Element i of a tensor depends on (seed, i) alone, so that every process makes the same data. An Int8x4
 * element consists of four Int8 values: random ones differ, those by position are equal. Types that fill by
 * position (SerialIdx .. TrigAbsCos) set the gaps between columns to zero; the others fill every allocated
 * element.
 */
#ifndef CLIENT_INIT_H
#define CLIENT_INIT_H

#include "base/str.h"
#include "problem/datatype.h"

typedef enum {
    INIT_ZERO,
    INIT_ONE,
    INIT_TWO,
    INIT_RANDOM,
    INIT_NAN,
    INIT_INF,
    INIT_BAD_INPUT,
    INIT_BAD_OUTPUT,
    INIT_SERIAL_IDX,
    INIT_SERIAL_DIM0,
    INIT_SERIAL_DIM1,
    INIT_IDENTITY,
    INIT_TRIG_SIN,
    INIT_TRIG_COS,
    INIT_TRIG_ABS_SIN,
    INIT_TRIG_ABS_COS,
    INIT_RANDOM_NARROW,
    INIT_NEG_ONE,
    INIT_MAX,
    INIT_DENORM_MIN,
    INIT_DENORM_MAX,
    INIT_UNIFORM,
    INIT_NORMAL,
    INIT_COUNT
} InitType;

/* Finds a type by its name ("Random") or its number as text. ERR_INPUT names the nearest. */
Err init_find(Str text, InitType *out);
const char *init_name(InitType how);
/* ERR_INPUT when the type has no such value (NaN or a sine of an integer), or how is positional or the type
 * Int8x4 and scalar is set. */
Err init_check(InitType how, DataType t, bool scalar);

enum { TENSOR_DIMS = 3 };

/* Sizes (at least 1) and strides (at least 0) in elements; dimension 0 usually has the smallest stride. */
typedef struct {
    DataType type;
    int64_t size[TENSOR_DIMS], stride[TENSOR_DIMS];
    int64_t n_elements; /* 1 + sum stride * (size - 1): from the first to the last element */
} Tensor;

/* The dimension, 1 (columns) or 2 (matrices of the batch), with the smaller stride. */
static inline int tensor_inner(const Tensor *t)
{
    if (t->size[1] == 1 || t->size[2] == 1) return t->size[1] == 1 ? 2 : 1;
    return t->stride[2] < t->stride[1] ? 2 : 1;
}

/* n_elements with overflow check; ERR_INPUT beyond 2^40 elements. */
Err tensor_finish(Tensor *t);
/* Writes n_elements elements with several threads. Call init_check first, and from one thread at a time. */
void init_tensor(const Tensor *t, InitType how, uint64_t seed, int n_threads, void *out);
/* Whether values depend on the position of an element, not only on its number. */
bool init_is_positional(InitType how);
/* Writes elements from..to-1 of a tensor of any shape whose values do not depend on the position; out is its
 * first element. */
void init_more(DataType t, InitType how, uint64_t seed, int64_t from, int64_t to, int n_threads, void *out);
/* Makes one value, real and imaginary part, rounded to the type. */
void init_scalar(DataType t, InitType how, uint64_t seed, double out[2]);

#endif
