/* The table of data types. Numbers, names and sizes are those of Tensile (Tensile/DataType.py). */
#include "problem/datatype.h"

#include <string.h>
#include <strings.h>

static const DataTypeInfo types[TYPE_ALL] = {
    /*  letter  name              other      enum_name         abbrev    bytes integral complex packing */
    {"S", "single", "float", "Float", "f32", 4, false, false, 1},
    {"D", "double", NULL, "Double", "f64", 8, false, false, 1},
    {"C", "complexSingle", NULL, "ComplexFloat", "f32c", 8, false, true, 1},
    {"Z", "complexDouble", NULL, "ComplexDouble", "f64c", 16, false, true, 1},
    {"H", "half", NULL, "Half", "f16", 2, false, false, 1},
    {"4xi8", "int8x4", NULL, "Int8x4", "i8", 4, true, false, 4},
    {"I", "int32", NULL, "Int32", "i32", 4, true, false, 1},
    {"B", "bfloat16", NULL, "BFloat16", "bf16", 2, false, false, 1},
    {"I8", "int8", NULL, "Int8", "i8", 1, true, false, 1},
    {"X", "xfloat32", NULL, "XFloat32", "xf32", 4, false, false, 1},
    {"F8", "float8", NULL, "Float8", "fp8_fp8", 1, false, false, 1},
    {"B8", "bfloat8", NULL, "BFloat8", "bf8_bf8", 1, false, false, 1},
    {"F8B8", "float8Bfloat8", NULL, "Float8BFloat8", "fp8_bf8", 1, false, false, 1},
    {"B8F8", "bfloat8Float8", NULL, "BFloat8Float8", "bf8_fp8", 1, false, false, 1},
    {"F8", "float8", NULL, "Float8", "fp8_fp8", 1, false, false, 1},
    {"B8", "bfloat8", NULL, "BFloat8", "bf8_bf8", 1, false, false, 1},
};

const DataTypeInfo *type_info(DataType t) { return &types[t]; }

DataType type_in_format(DataType t, F8Format f8)
{
    if (f8 != F8_OCP) return t;
    return t == TYPE_F8 ? TYPE_F8_OCP : t == TYPE_B8 ? TYPE_B8_OCP : t;
}

DataType type_value(DataType t) { return t == TYPE_4XI8 ? TYPE_I8 : t; }

static bool same(Str text, const char *name) { return name && str_eq_nocase(text, str_from(name)); }

bool type_from_int(int64_t id, DataType *out)
{
    if (id < 0 || id >= TYPE_COUNT) return false;
    *out = (DataType)id;
    return true;
}

bool type_find(Str text, DataType *out)
{
    static const char prefix[] = "tensileDataType"; /* names of Tensile's C interface */
    const size_t n = sizeof prefix - 1;
    if (text.n > n && !strncasecmp(text.s, prefix, n)) text = str_sub(text, n, text.n);
    for (int i = 0; i < TYPE_COUNT; i++) {
        const DataTypeInfo *t = &types[i];
        if (same(text, t->letter) || same(text, t->name) || same(text, t->other) ||
            same(text, t->enum_name)) {
            *out = (DataType)i;
            return true;
        }
    }
    int64_t id;
    return str_to_i64(text, &id) && type_from_int(id, out);
}

/* The most similar letter or name; NULL when none is similar. */
static const char *type_nearest(Str text)
{
    const char *best = NULL;
    unsigned least = 5; /* in half letters: at most two letters differ */
    for (int i = 0; i < TYPE_COUNT; i++) {
        const char *names[] = {types[i].letter, types[i].name, types[i].enum_name};
        for (int j = 0; j < 3; j++) {
            unsigned d = str_distance(text, str_from(names[j]));
            if (d < least && d < 2 * strlen(names[j])) {
                least = d;
                best = names[j];
            }
        }
    }
    return best;
}

Err type_unknown(Str text)
{
    const char *near = type_nearest(text);
    if (text.n > 64) text.n = 64;
    if (near) FAIL(ERR_INPUT, "unknown data type '%.*s' (did you mean '%s'?)", STR_ARG(text), near);
    Buf all;
    buf_init(&all);
    for (int i = 0; i < TYPE_COUNT; i++)
        buf_printf(&all, "%s%s (%s)", i ? ", " : "", types[i].letter, types[i].name);
    err_set(ERR_INPUT, "unknown data type '%.*s', expected one of %s", STR_ARG(text), buf_cstr(&all));
    buf_fini(&all);
    return ERR_INPUT;
}
