/* Library: fields of maps by table. See library_fields.h. */
#include "client/runtime/library_fields.h"

#include <string.h>

#include "problem/datatype.h"

/* ---- from nodes ---- */

static Err read_dims(const char *name, const Field *f, const Node *n, int32_t *out)
{
    TRY(node_seq(n, name, f->key, f->n, 3));
    for (size_t i = 0; i < n->n; i++) {
        int64_t v;
        TRY(node_int(node_at(n, i), name, f->key, f->min, f->max, &v));
        out[i] = (int32_t)v;
    }
    return ERR_OK;
}

static Err read_type(const char *name, const Field *f, const Node *n, int32_t *out)
{
    Str text;
    DataType t;
    TRY(node_str(n, name, f->key, &text));
    if (!type_find(text, &t))
        FAIL(ERR_INPUT, "%s:%d: %s: data type '%.*s' is unknown", name, n->line, f->key, STR_ARG(text));
    *out = (int32_t)t;
    return ERR_OK;
}

static Err read_text(const char *name, const Field *f, const Node *n, Str *out)
{
    TRY(node_str(n, name, f->key, out));
    if (out->n == 0 || out->n > (size_t)f->max || memchr(out->s, 0, out->n))
        FAIL(ERR_INPUT, "%s:%d: '%s' has %zu bytes or a NUL, expected 1 to %d without", name, n->line, f->key,
             out->n, (int)f->max);
    return ERR_OK;
}

static Err read_one(const char *name, const Field *f, const Node *n, void *to)
{
    int64_t v;
    bool flag;
    char *at = (char *)to + f->offset;
    switch ((FieldKind)f->kind) {
    case FIELD_I32:
        TRY(node_int(n, name, f->key, f->min, f->max, &v));
        memcpy(at, &(int32_t){(int32_t)v}, sizeof(int32_t));
        return ERR_OK;
    case FIELD_I64:
        TRY(node_int(n, name, f->key, f->min, f->max, &v));
        memcpy(at, &v, sizeof v);
        return ERR_OK;
    case FIELD_BOOL:
        TRY(node_bool(n, name, f->key, &flag));
        memcpy(at, &flag, sizeof flag);
        return ERR_OK;
    case FIELD_DIMS:
        return read_dims(name, f, n, (int32_t *)(void *)at);
    case FIELD_TYPE:
        return read_type(name, f, n, (int32_t *)(void *)at);
    case FIELD_TEXT:
        return read_text(name, f, n, (Str *)(void *)at);
    case FIELD_OTHER:
        break;
    }
    return ERR_OK;
}

Err fields_read(const char *name, const char *what, const Node *map, const Field *f, size_t n, void *to)
{
    TRY(node_map(map, name, what));
    for (size_t i = 0; i < n; i++) {
        const Node *value = node_get(map, f[i].key);
        if (value)
            TRY(read_one(name, &f[i], value, to));
        else if (f[i].required)
            FAIL(ERR_INPUT, "%s:%d: %s has no '%s'", name, map->line, what, f[i].key);
    }
    return ERR_OK;
}

/* ---- from bytes ---- */

static bool scan_dims(Scan *s, const Field *f)
{
    size_t n;
    int64_t v;
    if (!scan_list(s, &n) || n < f->n || n > 3) return false;
    while (n-- > 0)
        if (!scan_int_in(s, f->min, f->max, &v)) return false;
    return true;
}

static bool scan_one(Scan *s, const Field *f, void *to)
{
    int64_t v;
    Str text;
    DataType t;
    switch ((FieldKind)f->kind) {
    case FIELD_I32:
        return scan_int_in(s, f->min, f->max, &v);
    case FIELD_I64:
        if (!scan_int_in(s, f->min, f->max, &v)) return false;
        if (to) memcpy((char *)to + f->offset, &v, sizeof v);
        return true;
    case FIELD_BOOL:
        return scan_bool(s);
    case FIELD_DIMS:
        return scan_dims(s, f);
    case FIELD_TYPE:
        return scan_str(s, &text) && type_find(text, &t);
    case FIELD_TEXT:
        if (!scan_str(s, &text) || text.n == 0 || text.n > (size_t)f->max || memchr(text.s, 0, text.n))
            return false;
        if (to) memcpy((char *)to + f->offset, &text, sizeof text);
        return true;
    case FIELD_OTHER:
        break;
    }
    return false;
}

static bool is_key(const Field *f, Str key) { return key.n == f->key_n && memcmp(key.s, f->key, key.n) == 0; }

bool fields_scan(Scan *s, const Field *f, size_t n, FieldScan *other, void *ctx, void *to)
{
    size_t n_keys, at = 0;
    uint64_t seen = 0;
    Str key;
    if (!scan_map(s, &n_keys) || n > FIELDS_MAX) return false;
    for (; n_keys > 0; n_keys--) {
        size_t tried = 0;
        if (!scan_str(s, &key)) return false;
        for (; tried < n && !is_key(&f[at], key); tried++) at = at + 1 < n ? at + 1 : 0;
        if (tried == n || seen >> at & 1) return false;
        seen |= UINT64_C(1) << at;
        if (f[at].kind == FIELD_OTHER ? !other || !other(ctx, &f[at], s) : !scan_one(s, &f[at], to))
            return false;
        at = at + 1 < n ? at + 1 : 0;
    }
    for (size_t i = 0; i < n; i++)
        if (f[i].required && !(seen >> i & 1)) return false;
    return true;
}
