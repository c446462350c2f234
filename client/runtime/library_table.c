/* Library: reading Matching tables, decision trees and the properties of a problem that they use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/runtime/library_priv.h"
#include "fmt/msgpack_scan.h"

/* ---- properties ---- */

static const struct {
    const char *name;
    PropKind kind;
} properties[] = {
    {"FreeSizeA", PROP_FREE_A}, {"FreeSizeB", PROP_FREE_B}, {"BatchSize", PROP_BATCH},
    {"BoundSize", PROP_BOUND},  {"AStride", PROP_STRIDE_A}, {"BStride", PROP_STRIDE_B},
    {"CStride", PROP_STRIDE_C}, {"DStride", PROP_STRIDE_D},
};

Err property_read(FileReader *r, const Node *n, Property *out)
{
    Str type;
    int64_t index = 0;
    TRY(node_map(n, r->name, "property"));
    const Node *t = node_get(n, "type"), *i = node_get(n, "index");
    if (!t) FAIL(ERR_INPUT, "%s:%d: property has no type", r->name, n->line);
    TRY(node_str(t, r->name, "property type", &type));
    if (i) TRY(node_int(i, r->name, "property index", 0, INDEX_MAX - 1, &index));
    for (size_t k = 0; k < sizeof properties / sizeof *properties; k++)
        if (str_eq_c(type, properties[k].name)) {
            *out = (Property){properties[k].kind, (int)index};
            return ERR_OK;
        }
    FAIL(ERR_INPUT, "%s:%d: property type '%.*s' is unknown or not a number", r->name, n->line,
         STR_ARG(type));
}

/* Of a contraction that is no GEMM. -1: it has no such index. */
static int64_t value_of_dims(const Property *prop, const IndexSizes *x)
{
    const bool is_size = prop->kind <= PROP_BOUND;
    const int at = (int)prop->kind - (int)(is_size ? PROP_FREE_A : PROP_STRIDE_A);
    static const IndexGroup groups[] = {INDICES_M, INDICES_N, INDICES_BATCH, INDICES_K};
    if (!is_size) return prop->index < x->indices.tensor[at].n ? x->stride[at][prop->index] : -1;
    const IndexList *g = &x->indices.group[groups[at]];
    const int i = groups[at] == INDICES_K ? g->n - 1 - prop->index : prop->index;
    return i >= 0 && i < g->n ? x->size[g->v[i]] : -1;
}

int64_t property_value(const Property *prop, const Contraction *p)
{
    if (p->dims) return value_of_dims(prop, p->dims);
    if (prop->index > (prop->kind <= PROP_BOUND ? 0 : 2)) return -1; /* a GEMM has no such index */
    switch (prop->kind) {
    case PROP_FREE_A:
        return p->m;
    case PROP_FREE_B:
        return p->n;
    case PROP_BATCH:
        return p->batch;
    case PROP_BOUND:
        return p->k;
    case PROP_STRIDE_A:
        return p->a[prop->index];
    case PROP_STRIDE_B:
        return p->b[prop->index];
    case PROP_STRIDE_C:
        return p->c[prop->index];
    case PROP_STRIDE_D:
        return p->d[prop->index];
    }
    return 0;
}

/* ---- tables ---- */

static const char *const distances[] = {"Euclidean", "Manhattan", "Ratio",    "JSD",
                                        "Random",    "Equality",  "GridBased"};

/* Differences and squares of keys below this are exact in doubles. */
#define KEY_MAX (INT64_C(1) << 52)

/* Finds the four fields of an entry in one pass, because tables have tens of thousands of entries. */
static void entry_fields(const Node *n, const Node *field[4])
{
    static const char names[4][6] = {"key", "index", "speed", "value"};
    for (size_t i = 0; i < n->n; i++) {
        const Node *key = &n->item[2 * i];
        for (size_t f = 0; f < 4; f++)
            if (key->kind == NODE_STR && key->text.n == (f ? 5 : 3) &&
                memcmp(key->text.s, names[f], key->text.n) == 0)
                field[f] = key + 1;
    }
}

static Err entry_index(FileReader *r, const Node *n, const Node *index, const Node *value, TableEntry *e)
{
    if (!index) { /* the old form has a library of type Single as its value */
        const Node *type = value ? node_get(value, "type") : NULL;
        if (!type || !str_eq(type->text, STR("Single")))
            FAIL(ERR_INPUT, "%s:%d: table entry has neither an index nor a value of type Single", r->name,
                 n->line);
        index = node_get(value, "index");
        if (!index) FAIL(ERR_INPUT, "%s:%d: value of type Single has no index", r->name, value->line);
    }
    return solution_ref(r, index, &e->solution);
}

static Err entry_read(FileReader *r, const Table *t, const Node *n, int64_t *key, TableEntry *e)
{
    const Node *field[4] = {NULL};
    TRY(node_map(n, r->name, "table entry"));
    entry_fields(n, field);
    const Node *k = field[0], *speed = field[2];
    if (!k) FAIL(ERR_INPUT, "%s:%d: table entry has no key", r->name, n->line);
    TRY(node_seq(k, r->name, "key", (size_t)t->n_dims, (size_t)t->n_dims));
    for (size_t i = 0; i < k->n; i++) TRY(node_int(&k->item[i], r->name, "key", -KEY_MAX, KEY_MAX, &key[i]));
    TRY(entry_index(r, n, field[1], field[3], e));
    e->speed = 0;
    if (speed) TRY(node_real(speed, r->name, "speed", &e->speed));
    if (isnan(e->speed)) FAIL(ERR_INPUT, "%s:%d: speed is not a number", r->name, speed->line);
    e->key = key;
    e->n_dims = t->n_dims;
    return ERR_OK;
}

static Err table_fill(Arena *a, Table *t, const TableEntry *entry)
{
    size_t dims = (size_t)t->n_dims;
    t->key = arena_array(a, t->n * dims, sizeof *t->key);
    t->speed = ARENA_ARRAY(a, t->n, double);
    t->solution = ARENA_ARRAY(a, t->n, uint32_t);
    if (!t->key || !t->speed || !t->solution)
        FAIL(ERR_FAILED, "out of memory for a table of %zu sizes", t->n);
    for (size_t i = 0; i < t->n; i++) {
        memcpy(t->key + i * dims, entry[i].key, dims * sizeof *t->key);
        t->speed[i] = entry[i].speed;
        t->solution[i] = entry[i].solution;
    }
    return t->distance == DIST_EUCLIDEAN || t->distance == DIST_MANHATTAN ? near_build(a, t) : ERR_OK;
}

/* Reads an entry of the usual form, {key: [..], index: i, speed: x} in any order, from the bytes. False: it
 * has another form or is wrong. */
static bool entry_scan(FileReader *r, const Table *t, Scan *s, int64_t *key, TableEntry *e)
{
    size_t n, n_key;
    unsigned seen = 0;
    int64_t index = -1;
    *e = (TableEntry){.key = key, .n_dims = t->n_dims};
    if (!scan_map(s, &n) || n > 3) return false;
    for (; n > 0; n--) {
        Str name;
        unsigned bit = 0;
        if (!scan_str(s, &name) || name.n < 3) return false;
        if (name.n == 3 && memcmp(name.s, "key", 3) == 0) {
            bit = 1;
            if (!scan_list(s, &n_key) || n_key != (size_t)t->n_dims) return false;
            for (size_t i = 0; i < n_key; i++)
                if (!scan_int(s, &key[i]) || key[i] < -KEY_MAX || key[i] > KEY_MAX) return false;
        } else if (name.n == 5 && memcmp(name.s, "index", 5) == 0) {
            bit = 2;
            if (!scan_int(s, &index)) return false;
        } else if (name.n == 5 && memcmp(name.s, "speed", 5) == 0) {
            bit = 4;
            if (!scan_real(s, &e->speed) || isnan(e->speed)) return false;
        }
        if (bit == 0 || seen & bit) return false;
        seen |= bit;
    }
    if ((seen & 3) != 3) return false;
    e->solution = solution_at(r->chunk, index);
    return e->solution != SOLUTION_NONE;
}

static Err entry_of_bytes(FileReader *r, const Table *t, Arena *a, Str *rest, int64_t *key, TableEntry *e)
{
    Scan s = scan_of(*rest);
    Node *n;
    if (entry_scan(r, t, &s, key, e)) {
        size_t used = (size_t)(s.at - (const unsigned char *)rest->s);
        *rest = (Str){rest->s + used, rest->n - used};
        return ERR_OK;
    }
    arena_reset(a);
    TRY(msgpack_item(a, r->name, rest, NULL, &n));
    return entry_read(r, t, n, key, e);
}

/* Reads all entries; entry NULL: only checks them. list NULL: from the table's bytes. */
static Err table_entries(FileReader *r, const Node *list, const Table *t, int64_t *keys, TableEntry *entry,
                         bool *sorted)
{
    Arena a;
    Str rest = t->bytes;
    TableEntry one;
    Err e = ERR_OK;
    arena_init(&a, LIBRARY_MAX_BYTES);
    *sorted = true;
    for (size_t i = 0; i < t->n && !e; i++) {
        int64_t *key = entry ? keys + i * (size_t)t->n_dims : keys;
        TableEntry *to = entry ? &entry[i] : &one;
        e = list ? entry_read(r, t, &list->item[i], key, to) : entry_of_bytes(r, t, &a, &rest, key, to);
        if (entry && i && *sorted && !e) *sorted = entry_before(&entry[i - 1], &entry[i]);
    }
    arena_fini(&a);
    return e;
}

static Err table_load_from(FileReader *r, const Node *list, Table *t)
{
    bool sorted = true;
    int64_t *keys = calloc(t->n * (size_t)t->n_dims + 1, sizeof *keys);
    TableEntry *entry = calloc(t->n + 1, sizeof *entry);
    Err e = keys && entry ? table_entries(r, list, t, keys, entry, &sorted)
                          : err_set(ERR_FAILED, "out of memory for a table of %zu sizes", t->n);
    if (!e && !sorted) entries_sort(entry, t->n);
    if (!e) e = table_fill(&r->lib->arena, t, entry);
    free(keys);
    free(entry);
    if (!e) atomic_store_explicit(&t->ready, true, memory_order_release);
    return e;
}

Err table_load(FileReader *r, Table *t) { return table_load_from(r, NULL, t); }

static Err table_header(FileReader *r, const Node *n, Table *t)
{
    const Node *props = node_get(n, "properties"), *distance = node_get(n, "distance");
    Str name;
    int which = -1;
    if (!props || !distance)
        FAIL(ERR_INPUT, "%s:%d: Matching has no %s", r->name, n->line, props ? "distance" : "properties");
    TRY(node_seq(props, r->name, "properties", 1, TABLE_DIMS_MAX));
    t->n_dims = (int)props->n;
    for (size_t i = 0; i < props->n; i++) TRY(property_read(r, node_at(props, i), &t->prop[i]));
    if (distance->kind == NODE_MAP && node_get(distance, "type")) distance = node_get(distance, "type");
    TRY(node_str(distance, r->name, "distance", &name));
    for (int i = 0; i < (int)(sizeof distances / sizeof *distances); i++)
        if (str_eq_c(name, distances[i])) which = i;
    if (which < 0)
        FAIL(ERR_INPUT, "%s:%d: distance '%.*s' is unknown", r->name, distance->line, STR_ARG(name));
    t->distance = (Distance)which;
    if ((t->distance == DIST_JSD || t->distance == DIST_GRID) && t->n_dims < 3)
        FAIL(ERR_INPUT, "%s:%d: distance %s needs 3 properties, there are %d", r->name, distance->line,
             distances[which], t->n_dims);
    return ERR_OK;
}

Err table_read(FileReader *r, const Node *n, Table *t)
{
    int64_t key[TABLE_DIMS_MAX];
    bool sorted;
    TRY(table_header(r, n, t));
    const Node *list = node_get(n, "table");
    if (!list) FAIL(ERR_INPUT, "%s:%d: Matching has no table", r->name, n->line);
    TRY(node_seq(list, r->name, "table", 0, UINT32_MAX / 2));
    t->n = list->n;
    t->n_blocks = (t->n + TABLE_BLOCK - 1) / TABLE_BLOCK;
    t->chunk = r->chunk;
    TRY(table_model_read(r, node_get(n, "performanceModel"), &t->model));
    if (list->item) return table_load_from(r, list, t);
    t->bytes = list->text;
    return table_entries(r, NULL, t, key, NULL, &sorted);
}

/* ---- decision trees ---- */

static Err read_factor(FileReader *r, const Node *value, const char *key, float *out)
{
    const Node *n = value->kind == NODE_MAP ? node_get(value, key) : NULL;
    double v;
    if (!n) FAIL(ERR_INPUT, "%s:%d: feature value has no '%s'", r->name, value->line, key);
    TRY(node_real(n, r->name, key, &v));
    *out = (float)v;
    return ERR_OK;
}

static Err feature_read(FileReader *r, const Node *n, Feature *f)
{
    Str type;
    double v;
    TRY(node_map(n, r->name, "feature"));
    const Node *t = node_get(n, "type"), *value = node_get(n, "value");
    if (!t) FAIL(ERR_INPUT, "%s:%d: feature has no type", r->name, n->line);
    TRY(node_str(t, r->name, "feature type", &type));
    if (str_eq_c(type, "ProblemScaleMeasure")) {
        f->kind = FEATURE_SCALE;
        return ERR_OK;
    }
    bool tile0 = str_eq_c(type, "Tile0Granularity"), waves = str_eq_c(type, "WavesPerSIMD");
    if (!tile0 && !waves && !str_eq_c(type, "Tile1Granularity") && !str_eq_c(type, "CUGranularity")) {
        f->kind = FEATURE_PROPERTY;
        return property_read(r, n, &f->prop);
    }
    if (!value) FAIL(ERR_INPUT, "%s:%d: feature %.*s has no value", r->name, n->line, STR_ARG(type));
    if (waves || str_eq_c(type, "CUGranularity")) {
        f->kind = waves ? FEATURE_WAVES : FEATURE_CU;
        TRY(read_factor(r, value, "mt0", &f->mt0));
        TRY(read_factor(r, value, "mt1", &f->mt1));
        TRY(read_factor(r, value, "cus", &f->cus));
        return waves ? read_factor(r, value, "ws", &f->waves) : ERR_OK;
    }
    f->kind = tile0 ? FEATURE_TILE0 : FEATURE_TILE1;
    TRY(node_real(value, r->name, "feature value", &v));
    *(tile0 ? &f->mt0 : &f->mt1) = (float)v;
    return ERR_OK;
}

static Err next_read(FileReader *r, const Node *n, const char *key, size_t at, size_t n_nodes, int32_t *out)
{
    const Node *next = node_get(n, key);
    int64_t v;
    if (!next) FAIL(ERR_INPUT, "%s:%d: tree node has no %s", r->name, n->line, key);
    TRY(node_int(next, r->name, key, -2, (int64_t)n_nodes - 1, &v));
    if (v >= 0 && v <= (int64_t)at)
        FAIL(ERR_INPUT, "%s:%d: tree node %zu: %s goes back to %d", r->name, next->line, at, key, (int)v);
    *out = (int32_t)v;
    return ERR_OK;
}

static Err tree_read(FileReader *r, const Node *n, size_t n_features, Tree *t, unsigned depth)
{
    TRY(node_map(n, r->name, "tree"));
    const Node *list = node_get(n, "tree"), *value = node_get(n, "value");
    if (!list || !value) FAIL(ERR_INPUT, "%s:%d: tree has no %s", r->name, n->line, list ? "value" : "tree");
    TRY(node_seq(list, r->name, "tree", 1, 1 << 24));
    TreeNode *node = ARENA_ARRAY(&r->lib->arena, list->n, TreeNode);
    TRY_ALLOC(node);
    for (size_t i = 0; i < list->n; i++) {
        const Node *at = node_at(list, i), *feature, *threshold;
        int64_t index;
        double limit;
        TRY(node_map(at, r->name, "tree node"));
        feature = node_get(at, "featureIdx");
        threshold = node_get(at, "threshold");
        if (!feature || !threshold)
            FAIL(ERR_INPUT, "%s:%d: tree node has no %s", r->name, at->line,
                 feature ? "threshold" : "featureIdx");
        TRY(node_int(feature, r->name, "featureIdx", 0, (int64_t)n_features - 1, &index));
        TRY(node_real(threshold, r->name, "threshold", &limit));
        node[i].feature = (int32_t)index;
        node[i].threshold = (float)limit;
        TRY(next_read(r, at, "nextIdxLTE", i, list->n, &node[i].next_lte));
        TRY(next_read(r, at, "nextIdxGT", i, list->n, &node[i].next_gt));
    }
    t->node = node;
    t->n = list->n;
    return node_read(r, value, depth + 1, &t->value);
}

Err forest_read(FileReader *r, const Node *n, Forest *f, unsigned depth)
{
    const Node *features = node_get(n, "features"), *trees = node_get(n, "trees");
    const Node *null_value = node_get(n, "nullValue");
    if (!features || !trees)
        FAIL(ERR_INPUT, "%s:%d: DecisionTree has no %s", r->name, n->line, features ? "trees" : "features");
    TRY(node_seq(features, r->name, "features", 1, TREE_FEATURES_MAX));
    TRY(node_seq(trees, r->name, "trees", 0, 1 << 20));
    f->feature = ARENA_ARRAY(&r->lib->arena, features->n, Feature);
    f->tree = ARENA_ARRAY(&r->lib->arena, trees->n, Tree);
    TRY_ALLOC(f->feature);
    TRY_ALLOC(f->tree);
    f->n_features = features->n;
    for (size_t i = 0; i < features->n; i++) TRY(feature_read(r, node_at(features, i), &f->feature[i]));
    for (size_t i = 0; i < trees->n; i++)
        TRY(tree_read(r, node_at(trees, i), f->n_features, &f->tree[i], depth));
    f->n_trees = trees->n;
    const Node *index = null_value ? node_get(null_value, "index") : NULL;
    bool none = index && index->kind == NODE_INT && index->integer == -1; /* the logic has no fallback */
    if (null_value && null_value->kind == NODE_MAP && !none)
        return node_read(r, null_value, depth + 1, &f->null_value);
    return ERR_OK;
}
