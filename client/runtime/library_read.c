/* Library: reading the tree of nodes below `library`, and solutions by their index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "client/runtime/library_priv.h"

/* ---- solutions by index ---- */

typedef struct {
    int64_t index;
    uint32_t at;
} IndexAt;

static int index_compare(const void *a, const void *b)
{
    const IndexAt *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* For indices in any order: sorts the numbers of solutions by index. */
static Err index_sorted(Arena *a, SolutionChunk *c, const int64_t *index)
{
    IndexAt *pair = calloc(c->n + 1, sizeof *pair);
    c->index = ARENA_ARRAY(a, c->n, int64_t);
    c->at = ARENA_ARRAY(a, c->n, uint32_t);
    if (!pair || !c->index || !c->at) {
        free(pair);
        FAIL(ERR_FAILED, "out of memory for %zu solutions", c->n);
    }
    for (size_t i = 0; i < c->n; i++) pair[i] = (IndexAt){index[i], (uint32_t)i};
    qsort(pair, c->n, sizeof *pair, index_compare);
    int64_t twice = -1;
    for (size_t i = 0; i < c->n; i++) {
        c->index[i] = pair[i].index;
        c->at[i] = pair[i].at;
        if (i && pair[i].index == pair[i - 1].index) twice = pair[i].index;
    }
    free(pair);
    if (twice >= 0) FAIL(ERR_INPUT, "%s: solution index %lld occurs twice", c->name, (long long)twice);
    return ERR_OK;
}

Err chunk_index(Arena *a, SolutionChunk *c, const int64_t *index)
{
    c->first_index = c->n ? index[0] : 0;
    for (size_t i = 1; i < c->n; i++)
        if (index[i] != index[i - 1] + 1) return index_sorted(a, c, index);
    return ERR_OK;
}

uint32_t solution_at(const SolutionChunk *c, int64_t index)
{
    size_t lo = 0, hi = c->n;
    if (!c->index) { /* consecutive indices */
        uint64_t at = (uint64_t)index - (uint64_t)c->first_index;
        return at < hi ? (uint32_t)at : SOLUTION_NONE;
    }
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c->index[mid] < index)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && c->index[lo] == index ? c->at[lo] : SOLUTION_NONE;
}

Err solution_ref(FileReader *r, const Node *n, uint32_t *out)
{
    int64_t index;
    TRY(node_int(n, r->name, "solution index", 0, INT64_MAX - 1, &index));
    *out = solution_at(r->chunk, index);
    if (*out == SOLUTION_NONE)
        FAIL(ERR_INPUT, "%s:%d: solution index %lld is not in the file (%zu solutions)", r->name, n->line,
             (long long)index, r->chunk->n);
    return ERR_OK;
}

/* ---- nodes ---- */

static Err rows_read(FileReader *r, const Node *n, bool hardware, unsigned depth, LibNode *out)
{
    const Node *rows = node_get(n, "rows");
    if (!rows) FAIL(ERR_INPUT, "%s:%d: node has no rows", r->name, n->line);
    TRY(node_seq(rows, r->name, "rows", 0, ROWS_MAX));
    out->kind = LIB_ROWS;
    out->rows.row = ARENA_ARRAY(&r->lib->arena, rows->n, LibRow);
    TRY_ALLOC(out->rows.row);
    for (size_t i = 0; i < rows->n; i++) {
        const Node *row = node_at(rows, i);
        TRY(node_map(row, r->name, "row"));
        const Node *pred = node_get(row, "predicate"), *library = node_get(row, "library");
        if (!pred || !library)
            FAIL(ERR_INPUT, "%s:%d: row has no %s", r->name, row->line, pred ? "library" : "predicate");
        LibRow *to = &out->rows.row[out->rows.n];
        bool holds = true, names_arch = false;
        if (hardware) {
            TRY(hardware_pred_holds(r->name, pred, &r->lib->hw, &holds, &names_arch));
            to->fallback = holds && !names_arch;
            r->lib->names_arch |= names_arch;
            if (!holds) continue;
        } else {
            TRY(pred_parse(&r->lib->arena, r->name, pred, &to->pred));
            if (to->pred->id == PRED_FALSE) continue;
            if (to->pred->id == PRED_TRUE || to->pred->id == PRED_EQUALITY) to->pred = NULL;
        }
        TRY(node_read(r, library, depth + 1, &to->node));
        out->rows.n++;
    }
    return ERR_OK;
}

static int map_compare(const void *a, const void *b)
{
    const LibMapEntry *x = a, *y = b;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static Err map_read(FileReader *r, const Node *n, unsigned depth, LibNode *out)
{
    const Node *property = node_get(n, "property"), *map = node_get(n, "map");
    const Node *type = property ? node_get(property, "type") : NULL;
    if (!type || !map)
        FAIL(ERR_INPUT, "%s:%d: ProblemMap has no %s", r->name, n->line, type ? "map" : "property");
    if (!str_eq(type->text, STR("OperationIdentifier")))
        FAIL(ERR_INPUT, "%s:%d: ProblemMap property '%.*s', expected OperationIdentifier", r->name,
             type->line, STR_ARG(type->text));
    TRY(node_map(map, r->name, "map"));
    out->kind = LIB_BY_OPERATION;
    out->map.entry = ARENA_ARRAY(&r->lib->arena, map->n, LibMapEntry);
    TRY_ALLOC(out->map.entry);
    for (size_t i = 0; i < map->n; i++) {
        Str key;
        TRY(node_str(&map->item[2 * i], r->name, "operation identifier", &key));
        out->map.entry[i].operation = operation_code(key);
        TRY(node_read(r, &map->item[2 * i + 1], depth + 1, &out->map.entry[i].node));
        out->map.n++;
    }
    qsort(out->map.entry, out->map.n, sizeof *out->map.entry, map_compare);
    return ERR_OK;
}

static Err exact_read(FileReader *r, const Node *map, LibNode *out)
{
    TRY(node_map(map, r->name, "exact"));
    out->granularity.exact = ARENA_ARRAY(&r->lib->arena, map->n, ExactSize);
    TRY_ALLOC(out->granularity.exact);
    for (size_t i = 0; i < map->n; i++) {
        ExactSize *e = &out->granularity.exact[out->granularity.n_exact++];
        const Node *key = &map->item[2 * i];
        if (key->kind == NODE_SEQ) {
            TRY(node_seq(key, r->name, "exact size", 4, 4));
            for (size_t d = 0; d < 4; d++)
                TRY(node_int(node_at(key, d), r->name, "exact size", 0, INT64_MAX, &e->size[d]));
        } else {
            Str rest, part;
            TRY(node_str(key, r->name, "exact size", &rest));
            for (int d = 0; d < 4; d++)
                if (!str_split(&rest, ',', &part) || !str_to_i64(str_trim(part), &e->size[d]))
                    FAIL(ERR_INPUT, "%s:%d: exact size is not 'M,N,batch,K'", r->name, key->line);
        }
        TRY(solution_ref(r, &map->item[2 * i + 1], &e->solution));
    }
    return ERR_OK;
}

static Err granularity_read(FileReader *r, const Node *n, LibNode *out)
{
    const Node *indices = node_get(n, "indices"), *exact = node_get(n, "exact");
    if (!indices) FAIL(ERR_INPUT, "%s:%d: GranularitySelection has no indices", r->name, n->line);
    TRY(node_seq(indices, r->name, "indices", 0, LIBRARY_MAX_SOLUTIONS));
    out->kind = LIB_GRANULARITY;
    out->granularity.chunk = r->chunk;
    out->granularity.solution = ARENA_ARRAY(&r->lib->arena, indices->n, uint32_t);
    IndexAt *pair = calloc(indices->n + 1, sizeof *pair);
    Err e = pair && out->granularity.solution ? ERR_OK : err_set(ERR_FAILED, "out of memory");
    for (size_t i = 0; i < indices->n && !e; i++) {
        e = solution_ref(r, node_at(indices, i), &pair[i].at);
        pair[i].index = node_at(indices, i)->integer;
    }
    if (!e) qsort(pair, indices->n, sizeof *pair, index_compare);
    for (size_t i = 0; i < indices->n && !e; i++) out->granularity.solution[i] = pair[i].at;
    out->granularity.n = indices->n;
    free(pair);
    if (e) return e;
    return exact ? exact_read(r, exact, out) : ERR_OK;
}

static Err placeholder_read(FileReader *r, const Node *n, LibNode *out)
{
    Library *lib = r->lib;
    const Node *value = node_get(n, "value");
    Str name;
    if (!value) FAIL(ERR_INPUT, "%s:%d: Placeholder has no value", r->name, n->line);
    TRY(node_str(value, r->name, "Placeholder", &name));
    if (name.n == 0 || name.n > 255 || memchr(name.s, 0, name.n) || str_find(name, '/', 0) < name.n)
        FAIL(ERR_INPUT, "%s:%d: Placeholder '%.*s' is not a file name", r->name, value->line, STR_ARG(name));
    if (r->chunk->code_object >= 0)
        FAIL(ERR_INPUT, "%s:%d: Placeholder inside a placeholder's file", r->name, n->line);
    name = arena_dup(&lib->arena, name);
    TRY_ALLOC(name.s);
    out->kind = LIB_PLACEHOLDER;
    out->placeholder.name = name.s;
    out->placeholder.code_object = (int32_t)lib->placeholders.n;
    atomic_init(&out->placeholder.loaded, NULL);
    if (!VEC_PUSH(&lib->placeholders, out))
        FAIL(ERR_FAILED, "out of memory for %zu placeholders", lib->placeholders.n + 1);
    return ERR_OK;
}

Err node_read(FileReader *r, const Node *n, unsigned depth, LibNode **out)
{
    Str type;
    if (depth > LIBRARY_DEPTH_MAX)
        FAIL(ERR_INPUT, "%s:%d: library nodes nested deeper than %d", r->name, n->line, LIBRARY_DEPTH_MAX);
    TRY(node_map(n, r->name, "library node"));
    const Node *t = node_get(n, "type"), *index = node_get(n, "index");
    if (!t) FAIL(ERR_INPUT, "%s:%d: library node has no type", r->name, n->line);
    TRY(node_str(t, r->name, "library node type", &type));
    LibNode *node = ARENA_NEW(&r->lib->arena, LibNode);
    TRY_ALLOC(node);
    *out = node;
    if (str_eq_c(type, "Hardware")) return rows_read(r, n, true, depth, node);
    if (str_eq_c(type, "Problem")) return rows_read(r, n, false, depth, node);
    if (str_eq_c(type, "ProblemMap")) return map_read(r, n, depth, node);
    if (str_eq_c(type, "GranularitySelection")) return granularity_read(r, n, node);
    if (str_eq_c(type, "Placeholder")) return placeholder_read(r, n, node);
    if (str_eq_c(type, "Matching")) {
        node->kind = LIB_MATCHING;
        return table_read(r, n, &node->table);
    }
    if (str_eq_c(type, "DecisionTree")) {
        node->kind = LIB_TREES;
        return forest_read(r, n, &node->forest, depth);
    }
    if (!str_eq_c(type, "Single"))
        FAIL(ERR_INPUT, "%s:%d: library node type '%.*s' is unknown", r->name, t->line, STR_ARG(type));
    if (!index) FAIL(ERR_INPUT, "%s:%d: Single has no index", r->name, n->line);
    node->kind = LIB_SINGLE;
    node->single.chunk = r->chunk;
    return solution_ref(r, index, &node->single.at);
}
