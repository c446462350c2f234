/* One solution map: reads it into a LogicSolution and writes it with sorted keys. Values that a row of
 * params.def cannot represent are kept as they were written. Values are neither derived nor checked by rules.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "fmt/write.h"
#include "logic/logic_internal.h"

void logic_keys_init(LogicKeys *k)
{
    params_sorted(k->order);
    for (int i = 0; i < PARAM_COUNT; i++) k->name[i] = str_from(param_at(k->order[i])->name);
}

ParamId logic_keys_find(const LogicKeys *k, Str name)
{
    size_t low = 0, high = PARAM_COUNT;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = str_cmp(k->name[mid], name);
        if (c == 0) return k->order[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return PARAM_COUNT;
}

static bool flipped(const LogicSolution *s, ParamId id)
{
    return s->flipped[(unsigned)id >> 6] >> ((unsigned)id & 63) & 1;
}

/* A number where the row has true or false, or the other way round: older versions did that. */
static bool is_flipped(const Param *p, const Node *n)
{
    if (p->id == PARAM_AssertAlphaValue || p->id == PARAM_AssertBetaValue)
        return n->kind == NODE_INT && n->integer == 0;
    return (p->kind == KIND_INT && n->kind == NODE_BOOL) || (p->kind == KIND_BOOL && n->kind == NODE_INT);
}

/* A word where a number belongs would leave a default in its place: an error. Other values that the field
 * cannot hold (more than two decimals, long lists, words of newer versions) are kept as written. */
static Err parse_known(const char *name, const Param *p, const Node *v, LogicSolution *out, bool *done)
{
    *done = false;
    if (param_parse_value(p, v, &out->s)) {
        bool number = p->kind == KIND_INT || p->kind == KIND_BOOL || p->kind == KIND_FLOAT;
        if ((number && v->kind == NODE_STR) ||
            (p->kind == KIND_LIST && v->kind != NODE_SEQ && v->kind != NODE_NULL))
            return err_context(ERR_INPUT, "%s:%d: ", name, v->line);
        err_clear();
        return ERR_OK;
    }
    unsigned id = p->id;
    if (is_flipped(p, v)) out->flipped[id >> 6] |= UINT64_C(1) << (id & 63);
    bool text = p->kind == KIND_STR || p->kind == KIND_ENUM;
    *done = !text || v->kind == NODE_STR || id == PARAM_GlobalAccumulation || id == PARAM_ForceStoreSC1;
    return ERR_OK;
}

Err logic_solution_keep(Arena *a, Str key, const Node *value, LogicSolution *out)
{
    TRY_ALLOC(out->kept = arena_grow(a, out->kept, out->n_kept, sizeof *out->kept));
    size_t i = out->n_kept;
    for (; i > 0 && str_cmp(out->kept[i - 1].key, key) > 0; i--) out->kept[i] = out->kept[i - 1];
    out->kept[i] = (LogicKept){key, value};
    out->n_kept++;
    return ERR_OK;
}

void logic_solution_init(LogicSolution *s, const ProblemType *pt, int line)
{
    memset(s, 0, sizeof *s);
    solution_init(&s->s, pt);
    memset(s->s.present, 0, sizeof s->s.present);
    s->line = line;
}

Err logic_solution_key(Arena *a, ParamId id, const char *name, Str key, const Node *value, LogicSolution *out)
{
    bool done = false;
    if (id != PARAM_COUNT) TRY(parse_known(name, param_at(id), value, out, &done));
    return done ? ERR_OK : logic_solution_keep(a, key, value, out);
}

Err logic_solution_parse(Arena *a, const LogicKeys *k, const char *name, const Node *map,
                         const ProblemType *pt, LogicSolution *out)
{
    TRY(node_map(map, name, "solution"));
    logic_solution_init(out, pt, map->line);
    for (size_t i = 0; i < map->n; i++) {
        const Node *key = &map->item[2 * i], *value = &map->item[2 * i + 1];
        if (key->kind != NODE_STR && key->kind != NODE_INT)
            FAIL(ERR_INPUT, "%s:%d: solution key is %s, expected a name", name, key->line,
                 node_kind_name(key->kind));
        if (!str_eq(key->text, STR("ProblemType")))
            TRY(logic_solution_key(a, logic_keys_find(k, key->text), name, key->text, value, out));
        else if (value->kind == NODE_MAP)
            out->problem_type = value;
    }
    return ERR_OK;
}

/* ---- writing ---- */

static bool flow_of(const Node *n)
{
    size_t count = n->kind == NODE_MAP ? 2 * n->n : n->n;
    for (size_t i = 0; i < count; i++)
        if (n->item[i].kind == NODE_SEQ || n->item[i].kind == NODE_MAP) return false;
    return true;
}

static int by_key(const void *a, const void *b)
{
    const Node *x = *(const Node *const *)a, *y = *(const Node *const *)b;
    if (x->kind == NODE_INT && y->kind == NODE_INT)
        return (x->integer > y->integer) - (x->integer < y->integer);
    return str_cmp(x->text, y->text);
}

static bool keys_sorted(const Node *map)
{
    for (size_t i = 1; i < map->n; i++)
        if (by_key(&(const Node *){&map->item[2 * i - 2]}, &(const Node *){&map->item[2 * i]}) > 0)
            return false;
    return true;
}

static void emit_pair(const Node *key, Emit *e)
{
    logic_node_emit(key, e);
    logic_node_emit(key + 1, e);
}

/* Files are written sorted. Without memory to sort the others they keep their order. */
static void emit_pairs(const Node *n, Emit *e)
{
    const Node **key = keys_sorted(n) ? NULL : malloc(n->n * sizeof *key);
    for (size_t i = 0; key && i < n->n; i++) key[i] = &n->item[2 * i];
    if (key) qsort(key, n->n, sizeof *key, by_key);
    for (size_t i = 0; i < n->n; i++) emit_pair(key ? key[i] : &n->item[2 * i], e);
    free(key);
}

void logic_node_emit(const Node *n, Emit *e)
{
    switch (n->kind) {
    case NODE_NULL:
        emit_null(e);
        return;
    case NODE_BOOL:
        emit_bool(e, n->boolean);
        return;
    case NODE_INT:
        emit_int(e, n->integer);
        return;
    case NODE_FLOAT:
        emit_real(e, n->real);
        return;
    case NODE_STR:
        emit_str(e, n->text);
        return;
    case NODE_SEQ:
        emit_seq(e, n->n, flow_of(n));
        for (size_t i = 0; i < n->n; i++) logic_node_emit(&n->item[i], e);
        break;
    case NODE_MAP:
        emit_map(e, n->n, flow_of(n));
        emit_pairs(n, e);
        break;
    }
    emit_end(e);
}

static void emit_list(const IntList *list, bool chars, Emit *e)
{
    emit_seq(e, (size_t)list->n, true);
    for (int32_t i = 0; i < list->n; i++) {
        char c = (char)('I' + list->v[i]);
        if (chars)
            emit_str(e, (Str){&c, 1});
        else
            emit_int(e, list->v[i]);
    }
    emit_end(e);
}

static void emit_intmap(const IntMap *map, Emit *e)
{
    emit_map(e, (size_t)map->n, true);
    for (int32_t i = 0; i < map->n; i++) {
        emit_int(e, map->key[i]);
        emit_int(e, map->v[i]);
    }
    emit_end(e);
}

static void emit_enum(const Param *p, int32_t v, Emit *e)
{
    if (p->id == PARAM_GlobalAccumulation && v == GACC_NONE)
        emit_null(e);
    else if (p->id == PARAM_ForceStoreSC1 && v != SC1_AUTO)
        emit_bool(e, v == SC1_TRUE);
    else
        emit_str(e, param_enum_name(p, v));
}

static void emit_param(const LogicSolution *s, const Param *p, Emit *e)
{
    const void *f = solution_field_const(&s->s, p);
    int32_t v = *(const int32_t *)f;
    bool flip = flipped(s, (ParamId)p->id);
    switch ((ParamKind)p->kind) {
    case KIND_BOOL:
        if (flip)
            emit_int(e, v);
        else
            emit_bool(e, v != 0);
        break;
    case KIND_INT:
        if ((p->id == PARAM_AssertAlphaValue || p->id == PARAM_AssertBetaValue) && v == 0) {
            if (flip)
                emit_int(e, 0);
            else
                emit_bool(e, false);
        } else if (flip && (v == 0 || v == 1)) {
            emit_bool(e, v != 0);
        } else {
            emit_int(e, v);
        }
        break;
    case KIND_FLOAT:
        if (v % 100 == 0)
            emit_int(e, v / 100);
        else
            emit_real(e, v / 100.0);
        break;
    case KIND_ENUM:
        emit_enum(p, v, e);
        break;
    case KIND_LIST:
    case KIND_CHARS:
        emit_list(f, p->kind == KIND_CHARS, e);
        break;
    case KIND_MAP:
        emit_intmap(f, e);
        break;
    case KIND_STR:
        emit_str(e, *(const Str *)f);
        break;
    }
}

static void emit_indices(const IndexList *list, Emit *e)
{
    emit_seq(e, (size_t)list->n, true);
    for (int32_t i = 0; i < list->n; i++) emit_int(e, list->v[i]);
    emit_end(e);
}

static void emit_tuples(const TupleList *list, Emit *e)
{
    emit_seq(e, (size_t)list->n, list->n == 0);
    for (int32_t i = 0; i < list->n; i++) {
        emit_seq(e, (size_t)list->width, true);
        for (int32_t j = 0; j < list->width; j++) emit_int(e, list->v[i][j]);
        emit_end(e);
    }
    emit_end(e);
}

static void emit_conv(const ConvConfig *c, Emit *e)
{
    emit_seq(e, (size_t)c->n, c->n == 0);
    for (int32_t i = 0; i < c->n; i++) {
        emit_map(e, 1, true);
        emit_cstr(e, conv_key_name((ConvKey)c->key[i]));
        emit_cstr(e, c->value[i]);
        emit_end(e);
    }
    emit_end(e);
}

void logic_problem_type_emit(const ProblemType *pt, Emit *e)
{
    size_t n = 0;
    const PtKey *key;
    for (size_t i = 0; (key = problem_key_at(i)); i++) n += problem_key_is_written(key, pt);
    emit_map(e, n, false);
    for (size_t i = 0; (key = problem_key_at(i)); i++) {
        if (!problem_key_is_written(key, pt)) continue;
        const void *f = (const char *)pt + key->offset;
        emit_cstr(e, key->name);
        switch ((PtKind)key->kind) {
        case PT_BOOL:
            emit_bool(e, *(const int32_t *)f != 0);
            break;
        case PT_INT:
        case PT_TYPE:
            emit_int(e, *(const int32_t *)f);
            break;
        case PT_ACTIVATION:
            emit_cstr(e, activation_name(*(const Activation *)f));
            break;
        case PT_SCALE_AB:
            emit_cstr(e, scale_ab_name(*(const ScaleAB *)f));
            break;
        case PT_TYPES:
        case PT_INDICES:
            emit_indices(f, e);
            break;
        case PT_TUPLES:
            emit_tuples(f, e);
            break;
        case PT_OPERATION:
            emit_cstr(e, operation_name(*(const OperationKind *)f));
            break;
        case PT_CONV:
            emit_conv(f, e);
            break;
        }
    }
    emit_end(e);
}

static void emit_problem_type(const LogicSolution *s, bool derive_pt, Emit *e)
{
    emit_cstr(e, "ProblemType");
    if (s->problem_type)
        logic_node_emit(s->problem_type, e);
    else if (derive_pt)
        emit_cstr(e, "derive");
    else
        logic_problem_type_emit(s->s.pt, e);
}

/* Three sorted streams (table rows, kept keys, ProblemType) merged into one. A kept key replaces its row. */
Err logic_solution_emit(const LogicKeys *k, const LogicSolution *s, bool derive_pt, Emit *e)
{
    size_t n = 1 + s->n_kept, kept = 0;
    bool pt_done = false;
    for (size_t i = 0; i < PARAM_COUNT; i++) n += solution_has(&s->s, (ParamId)i);
    for (size_t i = 0; i < s->n_kept; i++) {
        ParamId id = logic_keys_find(k, s->kept[i].key);
        n -= id != PARAM_COUNT && solution_has(&s->s, id);
    }
    emit_map(e, n, false);
    for (size_t i = 0; i <= PARAM_COUNT; i++) {
        const Param *p = i < PARAM_COUNT ? param_at(k->order[i]) : NULL;
        for (; kept < s->n_kept && (!p || str_cmp(s->kept[kept].key, str_from(p->name)) < 0); kept++) {
            if (!pt_done && str_cmp(STR("ProblemType"), s->kept[kept].key) < 0) {
                emit_problem_type(s, derive_pt, e);
                pt_done = true;
            }
            emit_str(e, s->kept[kept].key);
            logic_node_emit(s->kept[kept].value, e);
        }
        if (!pt_done && (!p || str_cmp(STR("ProblemType"), str_from(p->name)) < 0)) {
            emit_problem_type(s, derive_pt, e);
            pt_done = true;
        }
        if (!p) break;
        bool replaced = kept < s->n_kept && str_eq_c(s->kept[kept].key, p->name);
        if (replaced) {
            emit_str(e, s->kept[kept].key);
            logic_node_emit(s->kept[kept++].value, e);
        } else if (solution_has(&s->s, (ParamId)p->id)) {
            emit_cstr(e, p->name);
            emit_param(s, p, e);
        }
    }
    emit_end(e);
    return ERR_OK;
}

/* ---- comparing ---- */

/* Numbers that a run found out about the kernel say nothing of what it is. */
static bool is_finding(const LogicKept *k)
{
    return str_eq_c(k->key, LOGIC_MODEL_KEY) || str_eq_c(k->key, LOGIC_PREDICTED_KEY);
}

static size_t skip_findings(const LogicSolution *s, size_t i)
{
    while (i < s->n_kept && is_finding(&s->kept[i])) i++;
    return i;
}

static bool kept_equal(const LogicSolution *a, const LogicSolution *b)
{
    size_t i = skip_findings(a, 0), k = skip_findings(b, 0);
    for (; i < a->n_kept && k < b->n_kept; i = skip_findings(a, i + 1), k = skip_findings(b, k + 1))
        if (!str_eq(a->kept[i].key, b->kept[k].key) || !node_equal(a->kept[i].value, b->kept[k].value))
            return false;
    return i == a->n_kept && k == b->n_kept;
}

bool logic_solution_equal(const LogicSolution *a, const LogicSolution *b)
{
    for (int i = 0; i < PARAM_COUNT; i++) {
        if (i == PARAM_SolutionIndex || i == PARAM_SolutionNameMin) continue;
        bool has = solution_has(&a->s, (ParamId)i);
        if (has != solution_has(&b->s, (ParamId)i)) return false;
        if (has && !param_equal(param_at((ParamId)i), &a->s, &b->s)) return false;
    }
    return kept_equal(a, b);
}

static Str field_bytes(const Param *p, const Solution *s)
{
    const void *f = solution_field_const(s, p);
    switch ((ParamKind)p->kind) {
    case KIND_STR:
        return *(const Str *)f;
    case KIND_LIST:
    case KIND_CHARS:
        return (Str){f, sizeof(IntList)};
    case KIND_MAP:
        return (Str){f, sizeof(IntMap)};
    default:
        return (Str){f, sizeof(int32_t)};
    }
}

/* Removes the kept value of a key, so that the field of its row is written. */
void logic_solution_own(LogicSolution *s, ParamId id)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_kept; i++)
        if (!str_eq_c(s->kept[i].key, param_at(id)->name)) s->kept[n++] = s->kept[i];
    s->n_kept = n;
    s->flipped[(unsigned)id >> 6] &= ~(UINT64_C(1) << ((unsigned)id & 63));
    solution_mark(&s->s, id);
}

void logic_solution_number(LogicSolution *s, int32_t index)
{
    logic_solution_own(s, PARAM_SolutionIndex);
    s->s.SolutionIndex = index;
}

Err logic_solution_rename(Arena *a, LogicSolution *s, Str name)
{
    logic_solution_own(s, PARAM_SolutionNameMin);
    s->s.SolutionNameMin = arena_dup(a, name);
    TRY_ALLOC(s->s.SolutionNameMin.s);
    return ERR_OK;
}

uint64_t logic_solution_hash(const LogicSolution *s)
{
    uint64_t h = 0;
    for (size_t i = 0; i < s->n_kept; i++) h += !is_finding(&s->kept[i]);
    for (int i = 0; i < PARAM_COUNT; i++) {
        if (i == PARAM_SolutionIndex || i == PARAM_SolutionNameMin || !solution_has(&s->s, (ParamId)i))
            continue;
        h = (h ^ hash64(field_bytes(param_at((ParamId)i), &s->s)) ^ (uint64_t)i) *
            UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}
