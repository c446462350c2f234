/* Predicates in files: reads {type, [index], [value]} from a node, and explains which predicate fails. */
#include <inttypes.h>
#include <string.h>

#include "problem/datatype.h"
#include "problem/predicate_operand.h"

const PredRow pred_rows[PRED_COUNT] = {
#define PRED(id, name, kind, holds) [PRED_##id] = {name, sizeof name - 1, OPERAND_##kind},
#include "problem/predicate.def"
#undef PRED
    [PRED_AND] = {"And", 3, OPERAND_NONE},
    [PRED_OR] = {"Or", 2, OPERAND_NONE},
    [PRED_NOT] = {"Not", 3, OPERAND_NONE},
    [PRED_WORKSPACE] = {"WorkspaceCheck", 14, OPERAND_NONE},
};

const char *const pred_languages[] = {"Any", "Source", "Assembly"};
const char *const pred_units[] = {"Any", "MFMA", "VALU"};
const char *const pred_scalars[] = {"Any", "0", "1", "-1"};
const char *const pred_limit_keys[] = {"ShiftPtrElemA", "ShiftPtrElemB", "DUorMT0", "DUorMT1"};

/* ---- reading ---- */

typedef struct {
    PredList list;
    const char *name;
} Reader;

static Err read_name(const Reader *r, const Node *n, const char *const *names, size_t n_names, int64_t *out)
{
    Str text;
    TRY(node_str(n, r->name, "value", &text));
    for (size_t i = 0; i < n_names; i++)
        if (str_eq_nocase(text, str_from(names[i]))) {
            *out = (int64_t)i;
            return ERR_OK;
        }
    FAIL(ERR_INPUT, "%s:%d: predicate value '%.*s' is unknown", r->name, n->line, STR_ARG(text));
}

static Err read_type(const Reader *r, const Node *n, int64_t *out)
{
    Str text;
    DataType t;
    TRY(node_str(n, r->name, "data type", &text));
    if (!type_find(text, &t))
        FAIL(ERR_INPUT, "%s:%d: data type '%.*s' is unknown", r->name, n->line, STR_ARG(text));
    *out = t;
    return ERR_OK;
}

static Err read_types(const Reader *r, const Node *n, int64_t *out)
{
    TRY(node_seq(n, r->name, "TypesEqual value", 4, 4));
    int64_t t[4];
    for (size_t i = 0; i < 4; i++) TRY(read_type(r, node_at(n, i), &t[i]));
    *out = types_pack((unsigned)t[0], (unsigned)t[1], (unsigned)t[2], (unsigned)t[3]);
    return ERR_OK;
}

static Err read_index(const Reader *r, const Node *n, PredOp *op)
{
    const Node *index = node_get(n, "index");
    int64_t i;
    if (!index) FAIL(ERR_INPUT, "%s:%d: predicate %s has no index", r->name, n->line, pred_rows[op->id].name);
    TRY(node_int(index, r->name, "predicate index", -1, 100, &i));
    op->index = (int8_t)i;
    return ERR_OK;
}

static Err read_range(const Reader *r, const Node *value, PredOp *op)
{
    TRY(node_map(value, r->name, "SizeInRange value"));
    const Node *min = node_get(value, "min"), *max = node_get(value, "max");
    op->v.i[0] = 0;
    op->v.i[1] = INT64_MAX;
    if (min) TRY(node_int(min, r->name, "min", 0, INT64_MAX, &op->v.i[0]));
    if (max) TRY(node_int(max, r->name, "max", 0, INT64_MAX, &op->v.i[1]));
    return ERR_OK;
}

static Err read_limits(const Reader *r, const Node *value, PredOp *op)
{
    TRY(node_map(value, r->name, "BufferLoadOffsetLimitCheck value"));
    for (size_t i = 0; i < 4; i++) {
        int64_t v;
        const Node *n = node_get(value, pred_limit_keys[i]);
        if (!n)
            FAIL(ERR_INPUT, "%s:%d: BufferLoadOffsetLimitCheck has no %s", r->name, value->line,
                 pred_limit_keys[i]);
        TRY(node_int(n, r->name, pred_limit_keys[i], 0, INT32_MAX, &v));
        op->v.lim[i] = (int32_t)v;
    }
    return ERR_OK;
}

static Err read_operand(Reader *r, const Node *n, const Node *value, PredOp *op)
{
    Operand kind = pred_rows[op->id].operand;
    bool b = true;
    if (kind == OPERAND_IDX_INT || kind == OPERAND_IDX_RANGE) TRY(read_index(r, n, op));
    if (kind != OPERAND_NONE && kind != OPERAND_FLAG && !value)
        FAIL(ERR_INPUT, "%s:%d: predicate %s has no value", r->name, n->line, pred_rows[op->id].name);
    switch (kind) {
    case OPERAND_NONE:
        return ERR_OK;
    case OPERAND_INT:
    case OPERAND_IDX_INT:
        return node_int(value, r->name, pred_rows[op->id].name, 0, INT64_MAX, &op->v.i[0]);
    case OPERAND_IDX_RANGE:
        return read_range(r, value, op);
    case OPERAND_REAL:
        return node_real(value, r->name, pred_rows[op->id].name, &op->v.r[0]);
    case OPERAND_BOOL:
    case OPERAND_FLAG:
        if (value) TRY(node_bool(value, r->name, pred_rows[op->id].name, &b));
        op->v.i[0] = b;
        return ERR_OK;
    case OPERAND_TYPES:
        return read_types(r, value, &op->v.i[0]);
    case OPERAND_TYPE:
        return read_type(r, value, &op->v.i[0]);
    case OPERAND_LANG:
        return read_name(r, value, pred_languages, 3, &op->v.i[0]);
    case OPERAND_UNIT:
        return read_name(r, value, pred_units, 3, &op->v.i[0]);
    case OPERAND_SCALAR:
        return read_name(r, value, pred_scalars, 4, &op->v.i[0]);
    case OPERAND_LOADLIM:
        return read_limits(r, value, op);
    case OPERAND_OP:
        break;
    }
    Str text;
    TRY(node_str(value, r->name, "OperationIdentifierEqual", &text));
    return pred_add_operation(&r->list, text);
}

static bool find_pred(Str type, PredId *id)
{
    for (int i = 0; i < PRED_COUNT; i++)
        if (str_eq_c(type, pred_rows[i].name)) {
            *id = (PredId)i;
            return true;
        }
    return false;
}

static Err read_pred(Reader *r, const Node *n, unsigned depth);

static Err read_group(Reader *r, const Node *n, const Node *value, PredId id, unsigned depth)
{
    size_t at = r->list.n, n_children = 1;
    if (!value) FAIL(ERR_INPUT, "%s:%d: predicate %s has no value", r->name, n->line, pred_rows[id].name);
    if (id != PRED_NOT) {
        TRY(node_seq(value, r->name, pred_rows[id].name, 0, PRED_CHILDREN_MAX));
        n_children = value->n;
    }
    TRY(pred_push(&r->list, (PredOp){.id = (uint8_t)id, .n_children = (uint16_t)n_children}));
    for (size_t i = 0; i < n_children; i++)
        TRY(read_pred(r, id == PRED_NOT ? value : node_at(value, i), depth + 1));
    r->list.op[at].span = (uint32_t)(r->list.n - at);
    return ERR_OK;
}

static Err read_pred(Reader *r, const Node *n, unsigned depth)
{
    if (depth > PRED_DEPTH_MAX)
        FAIL(ERR_INPUT, "%s:%d: predicates nested deeper than %d", r->name, n->line, PRED_DEPTH_MAX);
    TRY(node_map(n, r->name, "predicate"));
    const Node *type_node = node_get(n, "type"), *value = node_get(n, "value");
    Str type;
    PredId id;
    if (!type_node) FAIL(ERR_INPUT, "%s:%d: predicate has no type", r->name, n->line);
    TRY(node_str(type_node, r->name, "predicate type", &type));
    if (!find_pred(type, &id))
        FAIL(ERR_INPUT, "%s:%d: predicate type '%.*s' is unknown", r->name, n->line, STR_ARG(type));
    if (id == PRED_AND || id == PRED_OR || id == PRED_NOT) return read_group(r, n, value, id, depth);
    PredOp op = {.id = (uint8_t)id};
    TRY(read_operand(r, n, value, &op));
    return id == PRED_OPERATION ? ERR_OK : pred_push(&r->list, op);
}

/* Copies ops and their texts into the arena. */
static Err copy_ops(Arena *a, const PredList *l, const PredOp **out)
{
    PredOp *op = ARENA_ARRAY(a, l->n, PredOp);
    TRY_ALLOC(op);
    memcpy(op, l->op, l->n * sizeof *op);
    for (size_t i = 0; i < l->n; i++) {
        if (op[i].id != PRED_OPERATION) continue;
        op[i].v.op.text = arena_dup(a, str_from(op[i].v.op.text)).s;
        TRY_ALLOC(op[i].v.op.text);
    }
    *out = op;
    return ERR_OK;
}

Err pred_parse(Arena *a, const char *name, const Node *n, const PredOp **out)
{
    Arena scratch; /* of the growing list; only its final contents are copied to a */
    Reader r = {.list = {.arena = &scratch}, .name = name};
    arena_init(&scratch, 0);
    Err e = read_pred(&r, n, 0);
    if (!e) e = copy_ops(a, &r.list, out);
    arena_fini(&scratch);
    return e;
}

/* ---- explaining ---- */

static void print_leaf(const PredOp *o, Buf *out)
{
    buf_puts(out, pred_rows[o->id].name);
    switch (pred_rows[o->id].operand) {
    case OPERAND_NONE:
        return;
    case OPERAND_IDX_INT:
        buf_printf(out, "(index %d, value %" PRId64 ")", o->index, o->v.i[0]);
        return;
    case OPERAND_IDX_RANGE:
        buf_printf(out, "(index %d, from %" PRId64 " to below %" PRId64 ")", o->index, o->v.i[0], o->v.i[1]);
        return;
    case OPERAND_REAL:
        buf_printf(out, "(%g)", o->v.r[0]);
        return;
    case OPERAND_OP:
        buf_printf(out, "(%s)", o->v.op.text);
        return;
    case OPERAND_TYPE:
        buf_printf(out, "(%s)", type_enum_name((DataType)o->v.i[0]));
        return;
    case OPERAND_LANG:
        buf_printf(out, "(%s)", pred_languages[o->v.i[0]]);
        return;
    case OPERAND_UNIT:
        buf_printf(out, "(%s)", pred_units[o->v.i[0]]);
        return;
    case OPERAND_SCALAR:
        buf_printf(out, "(%s)", pred_scalars[o->v.i[0]]);
        return;
    case OPERAND_TYPES:
        for (int i = 0; i < 4; i++)
            buf_printf(out, "%s%s", i ? ", " : "(", type_enum_name((DataType)(o->v.i[0] >> (8 * i) & 0xff)));
        buf_puts(out, ")");
        return;
    case OPERAND_LOADLIM:
        for (int i = 0; i < 4; i++)
            buf_printf(out, "%s%s %d", i ? ", " : "(", pred_limit_keys[i], o->v.lim[i]);
        buf_puts(out, ")");
        return;
    case OPERAND_INT:
    case OPERAND_BOOL:
    case OPERAND_FLAG:
        buf_printf(out, "(%" PRId64 ")", o->v.i[0]);
        return;
    }
}

void pred_why_not(const PredOp *o, const Contraction *p, Buf *out)
{
    if (pred_holds(o, p)) return;
    if (o->id == PRED_AND) {
        const PredOp *child = o + 1;
        for (unsigned i = 0; i < o->n_children; i++, child += child->span)
            if (!pred_holds(child, p)) {
                pred_why_not(child, p, out);
                return;
            }
    }
    if (o->id == PRED_NOT && o[1].id < PRED_AND) {
        buf_puts(out, "not ");
        print_leaf(o + 1, out);
    } else {
        print_leaf(o, out);
    }
}
