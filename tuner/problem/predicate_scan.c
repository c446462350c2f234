/* Checks a predicate in msgpack bytes without building it, for files with hundreds of thousands. pred_parse
 * accepts what is accepted here. */
#include <string.h>

#include "problem/datatype.h"
#include "problem/predicate_operand.h"

enum { KEYS = 3 };

static bool find_row(Str type, PredId *id)
{
    for (int i = 0; i < PRED_COUNT; i++)
        if (type.n == pred_rows[i].n && memcmp(type.s, pred_rows[i].name, type.n) == 0) {
            *id = (PredId)i;
            return true;
        }
    return false;
}

static bool scan_name(Scan *s, const char *const *names, size_t n)
{
    Str text;
    if (!scan_str(s, &text)) return false;
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(text, str_from(names[i]))) return true;
    return false;
}

static bool scan_type(Scan *s)
{
    Str text;
    DataType t;
    return scan_str(s, &text) && type_find(text, &t);
}

static bool scan_types(Scan *s)
{
    size_t n;
    if (!scan_list(s, &n) || n != 4) return false;
    return scan_type(s) && scan_type(s) && scan_type(s) && scan_type(s);
}

/* A map of n keys, each once, with integers. */
static bool scan_numbers(Scan *s, const char *const *keys, size_t n, bool all, int64_t max)
{
    size_t n_keys, k;
    unsigned seen = 0;
    int64_t v;
    Str key;
    if (!scan_map(s, &n_keys) || n_keys > n || (all && n_keys != n)) return false;
    for (size_t i = 0; i < n_keys; i++) {
        if (!scan_str(s, &key)) return false;
        for (k = 0; k < n && !str_eq_c(key, keys[k]); k++) {
        }
        if (k == n || seen >> k & 1 || !scan_int_in(s, 0, max, &v)) return false;
        seen |= 1u << k;
    }
    return true;
}

static bool scan_operand(Scan *s, Operand kind)
{
    static const char *const range[] = {"min", "max"};
    int64_t v;
    double d;
    Str text;
    switch (kind) {
    case OPERAND_NONE:
        return scan_skip(s, 1);
    case OPERAND_INT:
    case OPERAND_IDX_INT:
        return scan_int_in(s, 0, INT64_MAX, &v);
    case OPERAND_IDX_RANGE:
        return scan_numbers(s, range, 2, false, INT64_MAX);
    case OPERAND_REAL:
        return scan_real(s, &d);
    case OPERAND_BOOL:
    case OPERAND_FLAG:
        return scan_bool(s);
    case OPERAND_TYPES:
        return scan_types(s);
    case OPERAND_TYPE:
        return scan_type(s);
    case OPERAND_LANG:
        return scan_name(s, pred_languages, 3);
    case OPERAND_UNIT:
        return scan_name(s, pred_units, 3);
    case OPERAND_SCALAR:
        return scan_name(s, pred_scalars, 4);
    case OPERAND_LOADLIM:
        return scan_numbers(s, pred_limit_keys, 4, true, INT32_MAX);
    case OPERAND_OP:
        break;
    }
    return scan_str(s, &text);
}

static bool scan_pred(Scan *s, PredScan *known, unsigned depth, size_t *n_ops, PredId *id);

/* Skips an operand whose bytes equal those of the last predicate at this position or the next: neighbouring
 * solutions differ in few operands. Returns the number of predicates in it; 0: the bytes differ. */
static size_t known_operand(Scan *s, const PredScan *known, size_t *at)
{
    for (size_t i = *at; i < *at + 2 && i < known->n; i++)
        if (scan_same(s, known->part[i])) {
            *at = i + 1;
            return known->n_ops[i];
        }
    return 0;
}

static bool scan_list_of_preds(Scan *s, PredScan *known, unsigned depth, size_t *n_ops)
{
    size_t n, at = 0;
    PredId id;
    PredScan now = {.n = 0};
    if (!scan_list(s, &n) || n > PRED_CHILDREN_MAX) return false;
    for (size_t i = 0; i < n; i++) {
        const Scan from = *s;
        const size_t before = *n_ops;
        size_t n_known = known ? known_operand(s, known, &at) : 0;
        *n_ops += n_known;
        if (!n_known && !scan_pred(s, NULL, depth + 1, n_ops, &id)) return false;
        if (!known || now.n == PRED_SCAN_PARTS) continue;
        now.part[now.n] = scan_between(&from, s);
        now.n_ops[now.n++] = (uint16_t)(*n_ops - before);
    }
    if (known) *known = now;
    return *n_ops <= PRED_OPS_MAX;
}

static bool scan_value(Scan *s, PredId id, PredScan *known, unsigned depth, size_t *n_ops)
{
    PredId child;
    if (id == PRED_AND || id == PRED_OR) return scan_list_of_preds(s, known, depth, n_ops);
    if (id == PRED_NOT) return scan_pred(s, NULL, depth + 1, n_ops, &child);
    return scan_operand(s, pred_rows[id].operand);
}

/* Fields may come in any order; a value that comes before its type is scanned again. */
static bool scan_pred(Scan *s, PredScan *known, unsigned depth, size_t *n_ops, PredId *id)
{
    size_t n;
    Str key, type;
    int64_t index;
    bool has_type = false, has_value = false, has_index = false;
    Scan early = {NULL, NULL};
    if (depth > PRED_DEPTH_MAX || ++*n_ops > PRED_OPS_MAX || !scan_map(s, &n) || n > KEYS) return false;
    for (; n > 0; n--) {
        if (!scan_str(s, &key)) return false;
        if (key.n == 4 && memcmp(key.s, "type", 4) == 0) {
            if (has_type || !scan_str(s, &type) || !find_row(type, id)) return false;
            has_type = true;
        } else if (key.n == 5 && memcmp(key.s, "value", 5) == 0) {
            if (has_value) return false;
            has_value = true;
            if (!has_type) early = *s;
            if (has_type ? !scan_value(s, *id, known, depth, n_ops) : !scan_skip(s, 2 * PRED_DEPTH_MAX))
                return false;
        } else if (key.n == 5 && memcmp(key.s, "index", 5) == 0) {
            if (has_index || !scan_int_in(s, -1, 100, &index)) return false;
            has_index = true;
        } else {
            return false;
        }
    }
    if (!has_type) return false;
    if (early.at && !scan_value(&early, *id, NULL, depth, n_ops)) return false;
    Operand kind = pred_rows[*id].operand;
    bool group = *id == PRED_AND || *id == PRED_OR || *id == PRED_NOT;
    if ((kind == OPERAND_IDX_INT || kind == OPERAND_IDX_RANGE) && !has_index) return false;
    return has_value || (!group && (kind == OPERAND_NONE || kind == OPERAND_FLAG));
}

bool pred_scan(Scan *s, PredScan *known, PredId *id)
{
    size_t n_ops = 0;
    return scan_pred(s, known, 0, &n_ops, id);
}
