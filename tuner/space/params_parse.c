/* Reads values of parameters from a document and checks their form and range. Whether a user may set a value
 * is decided in params_legal.c. */
#include <math.h>

#include "fmt/node.h"
#include "space/solution.h"

static Err parse_int(const Param *p, const Node *n, int32_t *out)
{
    if (n->kind == NODE_BOOL) return *out = n->boolean, ERR_OK;
    if (n->kind == NODE_FLOAT && param_is_load_width(p) && n->real > 0 && n->real < 1)
        return *out = 0, ERR_OK;
    if (n->kind != NODE_INT)
        FAIL(ERR_INPUT, "'%s' must be a number, not %s '%.*s'", p->name, node_kind_name(n->kind),
             STR_ARG(n->text));
    if (n->integer < INT32_MIN || n->integer > INT32_MAX)
        FAIL(ERR_INPUT, "'%s' is out of range: %lld", p->name, (long long)n->integer);
    *out = (int32_t)n->integer;
    return ERR_OK;
}

static Err parse_bool(const Param *p, const Node *n, int32_t *out)
{
    if (n->kind == NODE_BOOL) return *out = n->boolean, ERR_OK;
    if (n->kind == NODE_INT && (n->integer == 0 || n->integer == 1))
        return *out = (int32_t)n->integer, ERR_OK;
    FAIL(ERR_INPUT, "'%s' must be true or false, not %s '%.*s'", p->name, node_kind_name(n->kind),
         STR_ARG(n->text));
}

static Err parse_hundredths(const Param *p, const Node *n, int32_t *out)
{
    double v = 0;
    if (n->kind == NODE_INT)
        v = (double)n->integer;
    else if (n->kind == NODE_FLOAT)
        v = n->real;
    else
        FAIL(ERR_INPUT, "'%s' must be a number, not %s '%.*s'", p->name, node_kind_name(n->kind),
             STR_ARG(n->text));
    if (!(fabs(v) <= 1e7)) FAIL(ERR_INPUT, "'%s' is out of range: %g", p->name, v);
    double scaled = round(v * 100);
    if (fabs(scaled - v * 100) > 1e-6) FAIL(ERR_INPUT, "'%s' has more than two decimals: %g", p->name, v);
    *out = (int32_t)scaled;
    return ERR_OK;
}

static Err parse_enum(const Param *p, const Node *n, int32_t *out)
{
    Str name = n->text;
    if (n->kind == NODE_BOOL) name = n->boolean ? STR("True") : STR("False");
    if (n->kind == NODE_NULL) name = STR("None");
    int v = n->kind == NODE_SEQ || n->kind == NODE_MAP ? -1 : param_enum_value(p, name);
    if (v < 0) {
        Buf legal;
        buf_init(&legal);
        param_legal_print(p, &legal);
        err_set(ERR_INPUT, "'%s' cannot be '%.*s'; legal: %s", p->name, STR_ARG(name), buf_cstr(&legal));
        buf_fini(&legal);
        return ERR_INPUT;
    }
    *out = v;
    return ERR_OK;
}

static Err parse_list(const Param *p, const Node *n, IntList *out)
{
    if (n->kind != NODE_SEQ)
        FAIL(ERR_INPUT, "'%s' must be a list, not %s '%.*s'", p->name, node_kind_name(n->kind),
             STR_ARG(n->text));
    if (n->n > INTLIST_MAX) FAIL(ERR_INPUT, "'%s' has %zu elements; at most %d", p->name, n->n, INTLIST_MAX);
    IntList list = {0, {0}};
    for (size_t i = 0; i < n->n; i++) {
        const Node *e = &n->item[i];
        if (p->kind == KIND_CHARS) {
            if (e->kind != NODE_STR || e->text.n != 1 || e->text.s[0] < 'I' || e->text.s[0] > 'Z')
                FAIL(ERR_INPUT, "'%s' must hold letters I..Z, not '%.*s'", p->name, STR_ARG(e->text));
            list.v[i] = e->text.s[0] - 'I';
        } else {
            TRY(parse_int(p, e, &list.v[i]));
        }
    }
    list.n = (int32_t)n->n;
    *out = list;
    return ERR_OK;
}

/* Keys are numbers, which msgpack and quoted YAML may have as text. */
static Err parse_key(const Param *p, const Node *n, int32_t *out)
{
    int64_t v = 0;
    if (n->kind == NODE_STR && str_to_i64(n->text, &v) && v >= 0 && v < 256) return *out = (int32_t)v, ERR_OK;
    TRY(parse_int(p, n, out));
    if (*out < 0 || *out > 255) FAIL(ERR_INPUT, "'%s' has index %d; it must be 0..255", p->name, *out);
    return ERR_OK;
}

static Err parse_map(const Param *p, const Node *n, IntMap *out)
{
    if (n->kind != NODE_MAP)
        FAIL(ERR_INPUT, "'%s' must be a map, not %s '%.*s'", p->name, node_kind_name(n->kind),
             STR_ARG(n->text));
    if (n->n > INTMAP_MAX) FAIL(ERR_INPUT, "'%s' has %zu entries; at most %d", p->name, n->n, INTMAP_MAX);
    IntMap map = {0, {0}, {0}};
    for (size_t i = 0; i < n->n; i++) {
        TRY(parse_key(p, &n->item[2 * i], &map.key[i]));
        TRY(parse_int(p, &n->item[2 * i + 1], &map.v[i]));
    }
    map.n = (int32_t)n->n;
    *out = map;
    return ERR_OK;
}

bool param_is_bool_alias(const Param *p, const Node *n)
{
    return n->kind == NODE_BOOL && p->kind == KIND_INT && p->id != PARAM_AssertAlphaValue &&
           p->id != PARAM_AssertBetaValue;
}

Err param_parse_value(const Param *p, const Node *n, Solution *s)
{
    void *f = solution_field(s, p);
    switch ((ParamKind)p->kind) {
    case KIND_BOOL:
        TRY(parse_bool(p, n, f));
        break;
    case KIND_INT:
        TRY(parse_int(p, n, f));
        break;
    case KIND_FLOAT:
        TRY(parse_hundredths(p, n, f));
        break;
    case KIND_ENUM:
        TRY(parse_enum(p, n, f));
        break;
    case KIND_LIST:
    case KIND_CHARS:
        TRY(parse_list(p, n, f));
        break;
    case KIND_MAP:
        TRY(parse_map(p, n, f));
        break;
    case KIND_STR:
        if (n->kind == NODE_SEQ || n->kind == NODE_MAP)
            FAIL(ERR_INPUT, "'%s' must be text, not %s", p->name, node_kind_name(n->kind));
        *(Str *)f = n->kind == NODE_NULL ? STR("") : n->text;
        break;
    }
    solution_mark(s, (ParamId)p->id);
    return ERR_OK;
}
