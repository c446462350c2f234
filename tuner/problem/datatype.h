/* DataType: the element types of tensors, numbered as in Tensile's files (section 4 of a logic file holds
 * these ints).
 *
 * Each is one row of the table in datatype.c. The combinations that make a GEMM are in problem.h.
 */
#ifndef MODEL_DATATYPE_H
#define MODEL_DATATYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum {
    TYPE_S,
    TYPE_D,
    TYPE_C,
    TYPE_Z,
    TYPE_H,
    TYPE_4XI8,
    TYPE_I,
    TYPE_B,
    TYPE_I8,
    TYPE_X,
    TYPE_F8,
    TYPE_B8,
    TYPE_F8B8,
    TYPE_B8F8,
    TYPE_COUNT,
    /* OCP variants of F8 and B8, for arithmetic only: files and problem types do not name them */
    TYPE_F8_OCP = TYPE_COUNT,
    TYPE_B8_OCP,
    TYPE_ALL
} DataType;

/* Encoding of F8 and B8 on a processor; a column of targets.def.
 * FNUZ: 4 + 3 and 5 + 2 bits, biases 8 and 16, no infinities, no negative zero, NaN is 0x80; largest 240 and
 *       57344 (gfx94x). NONE, on the CPU, is treated as FNUZ.
 * OCP:  e4m3fn, bias 7, NaN is 0x7f and 0xff, no infinities, largest 448; e5m2, bias 15, as IEEE has it,
 *       largest 57344 (OCP 8-bit floating point specification; gfx12, sm_89 and later). */
typedef enum { F8_NONE, F8_FNUZ, F8_OCP } F8Format;
/* TYPE_F8_OCP and TYPE_B8_OCP for F8 and B8 of that format, else the type itself. */
DataType type_in_format(DataType t, F8Format f8);

typedef struct {
    const char *letter;    /* "S", "4xi8": in names of problem types and kernels */
    const char *name;      /* "single" */
    const char *other;     /* another accepted name ("float"), or NULL */
    const char *enum_name; /* "Float": in library files and client.ini */
    const char *abbrev;    /* "f32": in names of matrix instructions */
    int32_t bytes;         /* bytes of one element */
    bool integral, complex;
    int32_t packing; /* values in one element: 4 for 4xi8 */
} DataTypeInfo;

/* t must be one of the enum. */
const DataTypeInfo *type_info(DataType t);
static inline const char *type_letter(DataType t) { return type_info(t)->letter; }
static inline const char *type_enum_name(DataType t) { return type_info(t)->enum_name; }
static inline int32_t type_bytes(DataType t) { return type_info(t)->bytes; }
/* Type of the values in an element: I8 for 4xi8, else the type itself. */
DataType type_value(DataType t);
/* 32-bit registers of one element: 0.25 .. 4. */
static inline double type_regs(DataType t) { return type_info(t)->bytes / 4.0; }

/* A letter, name, enum name ("s", "Single", "float"; case does not matter) or the number as text. */
bool type_find(Str text, DataType *out);
/* The type of a number of Tensile's files. */
bool type_from_int(int64_t id, DataType *out);
/* ERR_INPUT: "unknown data type 'dubble' (did you mean 'double'?)", or with the list of types. */
Err type_unknown(Str text);

#endif
