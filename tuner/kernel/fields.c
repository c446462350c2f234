/* Prints and reads the rows of fields.def. See fields.h. */
#include "kernel/fields.h"

#include <stddef.h>
#include <string.h>

typedef enum { COUNT, NUMBER, SIGNED, FLAG, TYPE, ELEMENT } FieldKind;

typedef struct {
    FieldsOf of;
    const char *clause, *key;
    FieldKind kind;
    size_t at;
} Field;

enum { OF_Walk = FIELDS_WALK, OF_GpuPlan = FIELDS_GPU, OF_HostPlan = FIELDS_HOST };
static const Field fields[] = {
#define FIELD(of, clause, key, kind, member) {(FieldsOf)OF_##of, clause, key, kind, offsetof(of, member)},
#include "kernel/fields.def"
#undef FIELD
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Reads the DataType of an element type: GpuType and HostType both begin with it. */
static DataType element(const char *at)
{
    DataType t;
    memcpy(&t, at, sizeof t);
    return t;
}

static int element_bytes(FieldsOf of, const char *at)
{
    if (of == FIELDS_GPU) return gpu_type_bytes((const GpuType *)(const void *)at);
    return ((const HostType *)(const void *)at)->bytes;
}

static bool is_zero(const Field *f, const char *at)
{
    int32_t n;
    if (f->kind == FLAG) return !*(const bool *)(const void *)at;
    if (f->kind >= TYPE) return false;
    memcpy(&n, at, sizeof n);
    return n == 0;
}

static void put(const Field *f, const char *at, Buf *out)
{
    int32_t n;
    buf_printf(out, " %s ", f->key);
    switch (f->kind) {
    case FLAG:
        buf_putc(out, '1');
        return;
    case COUNT:
    case NUMBER:
    case SIGNED:
        memcpy(&n, at, sizeof n);
        buf_i64(out, n);
        return;
    default:
        buf_puts(out, type_letter(element(at)));
    }
}

void fields_put(FieldsOf of, const void *from, Buf *out)
{
    const char *open = NULL;
    for (size_t i = 0; i < N_FIELDS; i++) {
        const Field *f = &fields[i];
        const char *at = (const char *)from + f->at;
        if (f->of != of || is_zero(f, at)) continue;
        if (!open || strcmp(open, f->clause)) {
            if (open) buf_putc(out, '\n');
            buf_puts(out, f->clause);
            open = f->clause;
        }
        put(f, at, out);
    }
    if (open) buf_putc(out, '\n');
}

bool fields_have(FieldsOf of, Str clause)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].of == of && str_eq_c(clause, fields[i].clause)) return true;
    return false;
}

static Err set(const Field *f, Str value, char *to)
{
    int64_t v;
    DataType t;
    if (f->kind == TYPE || f->kind == ELEMENT) {
        if (!type_find(value, &t))
            FAIL(ERR_INPUT, "%s %s is no data type: '%.*s'", f->clause, f->key, STR_ARG(value));
        if (f->kind == TYPE)
            memcpy(to, &t, sizeof t);
        else if (f->of == FIELDS_GPU)
            *(GpuType *)(void *)to = gpu_type(t);
        else
            *(HostType *)(void *)to = host_type(t);
        return ERR_OK;
    }
    static const struct {
        int64_t least, most;
        const char *expected;
    } range[] = {[COUNT] = {1, INT32_MAX, "a number of 32 bits from 1 up"},
                 [NUMBER] = {0, INT32_MAX, "a number of 32 bits from 0 up"},
                 [SIGNED] = {INT32_MIN, INT32_MAX, "a number of 32 bits"},
                 [FLAG] = {0, 1, "0 or 1"}};
    if (!str_to_i64(value, &v) || v < range[f->kind].least || v > range[f->kind].most)
        FAIL(ERR_INPUT, "%s %s is '%.*s', expected %s", f->clause, f->key, STR_ARG(value),
             range[f->kind].expected);
    int32_t n = (int32_t)v;
    if (f->kind == FLAG)
        *(bool *)(void *)to = n;
    else
        memcpy(to, &n, sizeof n);
    return ERR_OK;
}

Err fields_set(FieldsOf of, Str clause, Str key, Str value, void *to)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const Field *f = &fields[i];
        if (f->of == of && str_eq_c(clause, f->clause) && str_eq_c(key, f->key))
            return set(f, value, (char *)to + f->at);
    }
    FAIL(ERR_INPUT, "'%.*s' has no '%.*s'", STR_ARG(clause), STR_ARG(key));
}

Err fields_check(FieldsOf of, const void *from)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const Field *f = &fields[i];
        const char *at = (const char *)from + f->at;
        if (f->of != of) continue;
        bool missing = f->kind == COUNT     ? is_zero(f, at)
                       : f->kind == ELEMENT ? element_bytes(of, at) == 0
                                            : false;
        if (missing) FAIL(ERR_INPUT, "the program has no '%s' in its clause '%s'", f->key, f->clause);
    }
    return ERR_OK;
}
