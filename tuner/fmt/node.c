/* Access to document trees: look-up, checked conversion, comparison. Does not read or write files. See
 * node.h. */
#include "fmt/keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *node_kind_name(NodeKind kind)
{
    switch (kind) {
    case NODE_NULL:
        return "null";
    case NODE_BOOL:
        return "a boolean";
    case NODE_INT:
        return "an integer";
    case NODE_FLOAT:
        return "a number";
    case NODE_STR:
        return "a string";
    case NODE_SEQ:
        return "a list";
    case NODE_MAP:
        return "a map";
    }
    return "nothing";
}

NodeLimits node_limits(const NodeLimits *limits)
{
    NodeLimits l = limits ? *limits : (NodeLimits){0};
    if (!l.max_bytes) l.max_bytes = (size_t)256 << 20;
    if (!l.max_nodes) l.max_nodes = 50000000;
    if (!l.max_depth) l.max_depth = 64;
    return l;
}

Node *node_get(const Node *map, const char *key)
{
    if (!map || map->kind != NODE_MAP) return NULL;
    Str want = str_from(key);
    for (size_t i = 0; i < map->n; i++)
        if (map->item[2 * i].kind == NODE_STR && str_eq(map->item[2 * i].text, want))
            return &map->item[2 * i + 1];
    return NULL;
}

Node *node_at(const Node *seq, size_t i)
{
    return seq && seq->kind == NODE_SEQ && seq->item && i < seq->n ? &seq->item[i] : NULL;
}

/* What was found, for a message: the value of a scalar, the kind of anything else. */
static const char *found(const Node *n, char *text, size_t size)
{
    if (!n) return "nothing";
    if (n->kind == NODE_BOOL)
        snprintf(text, size, "%s", n->boolean ? "true" : "false");
    else if (n->kind == NODE_INT)
        snprintf(text, size, "%" PRId64, n->integer);
    else if (n->kind == NODE_FLOAT)
        snprintf(text, size, "%.17g", n->real);
    else if (n->kind == NODE_STR)
        snprintf(text, size, "'%.*s'", (int)(n->text.n < 60 ? n->text.n : 60), n->text.s ? n->text.s : "");
    else
        return node_kind_name(n->kind);
    return text;
}

static Err expected(const Node *n, const char *name, const char *what, const char *kind)
{
    char text[80];
    int line = n ? n->line : 0;
    const char *have = found(n, text, sizeof text);
    if (line) return err_set(ERR_INPUT, "%s:%d: %s: expected %s, found %s", name, line, what, kind, have);
    return err_set(ERR_INPUT, "%s: %s: expected %s, found %s", name, what, kind, have);
}

Err node_int(const Node *n, const char *name, const char *what, int64_t min, int64_t max, int64_t *out)
{
    if (!n || n->kind != NODE_INT) return expected(n, name, what, "an integer");
    if (n->integer < min || n->integer > max) {
        char range[64];
        snprintf(range, sizeof range, "an integer in %" PRId64 "..%" PRId64, min, max);
        return expected(n, name, what, range);
    }
    *out = n->integer;
    return 0;
}

Err node_bool(const Node *n, const char *name, const char *what, bool *out)
{
    if (n && n->kind == NODE_INT && (n->integer == 0 || n->integer == 1))
        *out = n->integer == 1;
    else if (n && n->kind == NODE_BOOL)
        *out = n->boolean;
    else
        return expected(n, name, what, "a boolean");
    return 0;
}

Err node_real(const Node *n, const char *name, const char *what, double *out)
{
    if (n && n->kind == NODE_INT)
        *out = (double)n->integer;
    else if (n && n->kind == NODE_FLOAT)
        *out = n->real;
    else
        return expected(n, name, what, "a number");
    return 0;
}

Err node_str(const Node *n, const char *name, const char *what, Str *out)
{
    bool scalar = n && (n->kind == NODE_STR || (n->kind != NODE_SEQ && n->kind != NODE_MAP && n->text.s));
    if (!scalar) return expected(n, name, what, "a string");
    *out = n->text;
    return 0;
}

Err node_seq(const Node *n, const char *name, const char *what, size_t min, size_t max)
{
    if (!n || n->kind != NODE_SEQ) return expected(n, name, what, "a list");
    if (n->n >= min && n->n <= max) return 0;
    char range[64], where[32] = "";
    if (min == max)
        snprintf(range, sizeof range, "%zu", min);
    else if (max == SIZE_MAX)
        snprintf(range, sizeof range, "at least %zu", min);
    else
        snprintf(range, sizeof range, "%zu to %zu", min, max);
    if (n->line) snprintf(where, sizeof where, "%d: ", n->line);
    return err_set(ERR_INPUT, "%s:%s%s: expected a list of %s items, found %zu", name, n->line ? where : " ",
                   what, range, n->n);
}

Err node_map(const Node *n, const char *name, const char *what)
{
    if (!n || n->kind != NODE_MAP) return expected(n, name, what, "a map");
    return 0;
}

static bool map_equal(const Node *a, const Node *b)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t j = i; /* usually in the same order */
        if (!node_equal(&a->item[2 * i], &b->item[2 * j]))
            for (j = 0; j < b->n && !node_equal(&a->item[2 * i], &b->item[2 * j]);) j++;
        if (j == b->n || !node_equal(&a->item[2 * i + 1], &b->item[2 * j + 1])) return false;
    }
    return true;
}

bool node_equal(const Node *a, const Node *b)
{
    if (a->kind != b->kind) {
        if (a->kind == NODE_INT && b->kind == NODE_FLOAT) return (double)a->integer == b->real;
        if (a->kind == NODE_FLOAT && b->kind == NODE_INT) return a->real == (double)b->integer;
        return false;
    }
    switch (a->kind) {
    case NODE_NULL:
        return true;
    case NODE_BOOL:
        return a->boolean == b->boolean;
    case NODE_INT:
        return a->integer == b->integer;
    case NODE_FLOAT:
        return a->real == b->real || (isnan(a->real) && isnan(b->real));
    case NODE_STR:
        return str_eq(a->text, b->text);
    case NODE_MAP:
        return a->n == b->n && map_equal(a, b);
    case NODE_SEQ:
        break;
    }
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (!node_equal(&a->item[i], &b->item[i])) return false;
    return true;
}
