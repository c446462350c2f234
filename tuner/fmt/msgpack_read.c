/* msgpack reader: bytes to a Node tree. It does not use msgpack-c's unpacker, which allocates the size that
 * an array header announces before it has seen the items, and which does not report the offset of an error.
 * Binary and extension objects are refused: no library file has them. */
#include <string.h>

#include "fmt/keys.h"

typedef struct {
    Arena *arena;
    const char *name;
    Str data;
    size_t at;
    NodeLimits limits;
    size_t nodes;
    bool check_only; /* inside a raw list: no tree is made */
} Reader;

static Err fail_at(const Reader *r, size_t at, const char *what)
{
    return err_set(ERR_INPUT, "%s: byte %zu: %s", r->name, at, what);
}

/* Big-endian number of n bytes. */
static Err number(Reader *r, unsigned n, uint64_t *out)
{
    if (r->data.n - r->at < n) return fail_at(r, r->at, "the file ends inside a number");
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) v = v << 8 | (unsigned char)r->data.s[r->at++];
    *out = v;
    return 0;
}

static Err text(Reader *r, size_t start, uint64_t n, Node *out)
{
    if (n > r->data.n - r->at)
        FAIL(ERR_INPUT, "%s: byte %zu: a string of %llu bytes, but the file ends after %zu", r->name, start,
             (unsigned long long)n, r->data.n - r->at);
    out->kind = NODE_STR;
    out->text = (Str){r->data.s + r->at, (size_t)n};
    r->at += (size_t)n;
    return 0;
}

static Err node_read(Reader *r, unsigned depth, Node *out);

static Err check_key(const Reader *r, size_t at, const Node *key)
{
    return key->kind == NODE_SEQ || key->kind == NODE_MAP ? fail_at(r, at, "a list or map as a key") : 0;
}

/* Bytes of a number or a short string, type byte included: the most frequent objects. 0: another object. */
static size_t scalar_bytes(unsigned type)
{
    static const unsigned char number_bytes[] = {5, 9, 2, 3, 5, 9, 2, 3, 5, 9};
    if (type < 0x80 || type >= 0xe0) return 1;
    if (type >= 0xa0 && type < 0xc0) return 1 + (type & 31);
    return type >= 0xca && type <= 0xd3 ? number_bytes[type - 0xca] : 0;
}

static Err check_items(Reader *r, size_t n, bool map, unsigned depth)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = r->at;
        size_t bytes = at < r->data.n ? scalar_bytes((unsigned char)r->data.s[at]) : 0;
        if (bytes && bytes <= r->data.n - at) {
            r->at += bytes;
            continue;
        }
        Node item;
        TRY(node_read(r, depth + 1, &item));
        if (map && i % 2 == 0) TRY(check_key(r, at, &item));
    }
    return 0;
}

/* Whether the next object is a list under the key of raw lists. */
static bool is_raw_list(const Reader *r, const Node *key)
{
    unsigned type = r->at < r->data.n ? (unsigned char)r->data.s[r->at] : 0;
    return r->limits.raw_list && key->kind == NODE_STR && str_eq_c(key->text, r->limits.raw_list) &&
           ((type >= 0x90 && type < 0xa0) || type == 0xdc || type == 0xdd);
}

static Err raw_list(Reader *r, unsigned depth, Node *out)
{
    unsigned type = (unsigned char)r->data.s[r->at];
    size_t from = r->at + (type == 0xdc ? 3 : type == 0xdd ? 5 : 1);
    r->check_only = true;
    TRY(node_read(r, depth, out));
    r->check_only = false;
    out->text = (Str){r->data.s + from, r->at - from};
    out->item = NULL;
    return 0;
}

static Err collection(Reader *r, size_t start, uint64_t n, bool map, unsigned depth, Node *out)
{
    uint64_t n_nodes = map ? 2 * n : n;
    if (n_nodes > r->data.n - r->at) /* every item takes a byte at least */
        FAIL(ERR_INPUT, "%s: byte %zu: a %s of %llu items, but only %zu bytes follow", r->name, start,
             map ? "map" : "list", (unsigned long long)n, r->data.n - r->at);
    if (n_nodes > r->limits.max_nodes - r->nodes)
        FAIL(ERR_INPUT, "%s: byte %zu: more than %zu nodes", r->name, start, r->limits.max_nodes);
    if (depth >= r->limits.max_depth)
        FAIL(ERR_INPUT, "%s: byte %zu: nested deeper than %u levels", r->name, start, r->limits.max_depth);
    r->nodes += (size_t)n_nodes;
    out->kind = map ? NODE_MAP : NODE_SEQ;
    out->n = (size_t)n;
    if (r->check_only) return check_items(r, (size_t)n_nodes, map, depth);
    out->item = ARENA_ARRAY(r->arena, (size_t)n_nodes, Node);
    if (!out->item) FAIL(ERR_FAILED, "%s: out of memory after %zu nodes", r->name, r->nodes);
    for (size_t i = 0; i < n_nodes; i++) {
        size_t at = r->at;
        Node *item = &out->item[i];
        if (map && i % 2 && is_raw_list(r, item - 1))
            TRY(raw_list(r, depth + 1, item));
        else
            TRY(node_read(r, depth + 1, item));
        if (map && i % 2 == 0) TRY(check_key(r, at, item));
    }
    return map && !r->limits.keep_duplicate_keys ? keys_check(out, r->name) : 0;
}

static Err integer(Reader *r, unsigned bytes, bool is_signed, Node *out)
{
    uint64_t v;
    TRY(number(r, bytes, &v));
    out->kind = NODE_INT;
    if (is_signed) {
        unsigned shift = 64 - 8 * bytes;
        out->integer = (int64_t)(v << shift) >> shift;
    } else if (v <= INT64_MAX) {
        out->integer = (int64_t)v;
    } else {
        out->kind = NODE_FLOAT;
        out->real = (double)v;
    }
    return 0;
}

static Err real(Reader *r, unsigned bytes, Node *out)
{
    uint64_t v;
    TRY(number(r, bytes, &v));
    out->kind = NODE_FLOAT;
    if (bytes == 8) {
        memcpy(&out->real, &v, sizeof out->real);
    } else {
        uint32_t bits = (uint32_t)v;
        float f;
        memcpy(&f, &bits, sizeof f);
        out->real = (double)f;
    }
    return 0;
}

/* Types 0xc0 .. 0xdf, with their own bytes for value or size. */
static Err typed_read(Reader *r, size_t start, unsigned type, unsigned depth, Node *out)
{
    uint64_t n;
    switch (type) {
    case 0xc0:
        out->kind = NODE_NULL;
        return 0;
    case 0xc2:
    case 0xc3:
        out->kind = NODE_BOOL;
        out->boolean = type == 0xc3;
        out->text = type == 0xc3 ? STR("true") : STR("false");
        return 0;
    case 0xca:
        return real(r, 4, out);
    case 0xcb:
        return real(r, 8, out);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return integer(r, 1u << (type - 0xcc), false, out);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return integer(r, 1u << (type - 0xd0), true, out);
    case 0xd9:
    case 0xda:
    case 0xdb:
        TRY(number(r, 1u << (type - 0xd9), &n));
        return text(r, start, n, out);
    case 0xdc:
    case 0xdd:
        TRY(number(r, 2u << (type - 0xdc), &n));
        return collection(r, start, n, false, depth, out);
    case 0xde:
    case 0xdf:
        TRY(number(r, 2u << (type - 0xde), &n));
        return collection(r, start, n, true, depth, out);
    default:
        break;
    }
    FAIL(ERR_INPUT, "%s: byte %zu: object type 0x%02x (%s)", r->name, start, type,
         type == 0xc1 ? "never used" : "binary data or an extension, expected none");
}

static Err node_read(Reader *r, unsigned depth, Node *out)
{
    size_t start = r->at;
    if (start >= r->data.n) return fail_at(r, start, "the file ends where an object is expected");
    unsigned type = (unsigned char)r->data.s[r->at++];
    if (type < 0x80 || type >= 0xe0) {
        out->kind = NODE_INT;
        out->integer = type < 0x80 ? (int)type : (int)type - 256;
        return 0;
    }
    if (type < 0x90) return collection(r, start, type & 15, true, depth, out);
    if (type < 0xa0) return collection(r, start, type & 15, false, depth, out);
    if (type < 0xc0) return text(r, start, type & 31, out);
    return typed_read(r, start, type, depth, out);
}

Err msgpack_parse(Arena *a, const char *name, Str data, const NodeLimits *limits, Node **out)
{
    Reader r = {.arena = a, .name = name, .data = data, .nodes = 1};
    r.limits = node_limits(limits);
    if (data.n > r.limits.max_bytes)
        FAIL(ERR_INPUT, "%s: %zu bytes, more than the limit of %zu", name, data.n, r.limits.max_bytes);
    Node *root = ARENA_NEW(a, Node);
    if (!root) FAIL(ERR_FAILED, "%s: out of memory", name);
    TRY(node_read(&r, 0, root));
    if (r.at != data.n)
        FAIL(ERR_INPUT, "%s: byte %zu: %zu bytes after the end of the object", name, r.at, data.n - r.at);
    *out = root;
    return 0;
}

Err msgpack_item(Arena *a, const char *name, Str *rest, const NodeLimits *limits, Node **out)
{
    Reader r = {.arena = a, .name = name, .data = *rest, .nodes = 1};
    r.limits = node_limits(limits);
    Node *root = ARENA_NEW(a, Node);
    if (!root) FAIL(ERR_FAILED, "%s: out of memory", name);
    TRY(node_read(&r, 0, root));
    *rest = (Str){rest->s + r.at, rest->n - r.at};
    *out = root;
    return 0;
}
