/* ShortNames: kernels named by a number. Every parameter that varies in the set is a digit, its values
 * sorted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "space/naming.h"

typedef VEC(Solution) Examples;

struct SerialNamer {
    ParamId order[PARAM_COUNT]; /* sorted by name; n of them */
    int n, digits;
    Examples values[PARAM_COUNT]; /* indexed like order: a solution for each distinct value */
};

Err serial_namer_new(SerialNamer **out)
{
    SerialNamer *n = calloc(1, sizeof *n);
    ParamId sorted[PARAM_COUNT];
    if (!n) FAIL(ERR_FAILED, "out of memory for the names of solutions");
    params_sorted(sorted);
    for (int i = 0; i < PARAM_COUNT; i++) {
        if (param_in_names(param_at(sorted[i]))) n->order[n->n++] = sorted[i];
    }
    *out = n;
    return ERR_OK;
}

void serial_namer_free(SerialNamer *n)
{
    if (!n) return;
    for (int i = 0; i < n->n; i++) VEC_FINI(&n->values[i]);
    free(n);
}

/* Index of s's value among the known values; their number when it is new. */
static size_t value_index(const SerialNamer *n, int i, const Solution *s)
{
    const Param *p = param_at(n->order[i]);
    size_t k = 0;
    while (k < n->values[i].n && !param_equal(p, &n->values[i].v[k], s)) k++;
    return k;
}

Err serial_namer_note(SerialNamer *n, const Solution *s)
{
    for (int i = 0; i < n->n; i++) {
        if (!solution_has(s, n->order[i]) || value_index(n, i, s) < n->values[i].n) continue;
        if (!VEC_PUSH(&n->values[i], *s)) FAIL(ERR_FAILED, "out of memory for the names of solutions");
    }
    return ERR_OK;
}

static int compare_values(const Param *p, const Solution *a, const Solution *b)
{
    const void *x = solution_field_const(a, p), *y = solution_field_const(b, p);
    const IntList *l = x, *m = y;
    switch ((ParamKind)p->kind) {
    case KIND_LIST:
    case KIND_CHARS:
        for (int32_t i = 0; i < l->n && i < m->n; i++)
            if (l->v[i] != m->v[i]) return l->v[i] < m->v[i] ? -1 : 1;
        return l->n < m->n ? -1 : l->n > m->n;
    case KIND_MAP:
        return 0; /* in the order found */
    case KIND_STR:
        return str_cmp(*(const Str *)x, *(const Str *)y);
    case KIND_ENUM:
        return str_cmp(param_enum_name(p, *(const int32_t *)x), param_enum_name(p, *(const int32_t *)y));
    default:
        return *(const int32_t *)x < *(const int32_t *)y ? -1 : *(const int32_t *)x > *(const int32_t *)y;
    }
}

Err serial_namer_done(SerialNamer *n)
{
    uint64_t most = 1;
    char text[24];
    for (int i = 0; i < n->n; i++) {
        const Param *p = param_at(n->order[i]);
        Examples *e = &n->values[i];
        for (size_t k = 1; k < e->n; k++) {
            Solution moved = e->v[k];
            size_t j = k;
            for (; j > 0 && compare_values(p, &e->v[j - 1], &moved) > 0; j--) e->v[j] = e->v[j - 1];
            e->v[j] = moved;
        }
        if (e->n > 1 && __builtin_mul_overflow(most, (uint64_t)e->n, &most))
            FAIL(ERR_INPUT, "ShortNames: the parameters vary too much for a number of 64 bits");
    }
    n->digits = snprintf(text, sizeof text, "%" PRIu64, most);
    return ERR_OK;
}

void serial_name(const SerialNamer *n, const Solution *s, Buf *out)
{
    uint64_t serial = 0, factor = 1;
    for (int i = 0; i < n->n; i++) {
        if (n->values[i].n < 2 || !solution_has(s, n->order[i])) continue;
        size_t k = value_index(n, i, s);
        if (k < n->values[i].n) serial += k * factor;
        factor *= n->values[i].n;
    }
    buf_printf(out, "S%0*" PRIu64, n->digits, serial);
}
