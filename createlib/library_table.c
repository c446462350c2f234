/* Tables (Matching nodes, merged over the logic files of one place) and decision trees. */
#include "createlib/library_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "createlib/library_internal.h"
#include "createlib/library_section.h"
#include "problem/indices.h"
#include "problem/predicate.h"
#include "problem/sizes.h"

enum { KEY_PARTS = SIZE_MAX_DIMS, LABELS = 4 };

/* The parts of a size that make the key. Of a GEMM they follow from the index order: label 2 is the first
 * free size of A, 3 that of B, 1 the summation, 0 the batch, which only exact tables, those of batched
 * sections and the whole table behind these use. Element p of a size has the label index_order[p]. Of a
 * convolution they are all sizes and the key strides (problem/sizes.h). */
typedef struct {
    const char *property[KEY_PARTS];
    int32_t index[KEY_PARTS]; /* of the property: which of M's indices, of A's dimensions */
    int32_t element[KEY_PARTS];
    size_t n;
} KeyShape;

typedef struct {
    const LogicRow *row;
    int64_t key[KEY_PARTS];
    int64_t index;
    double speed;
    size_t at;   /* order of the files, for equal keys */
    int section; /* library_section.h */
} TableEntry;

typedef VEC(TableEntry) TableEntries;

static void add_part(KeyShape *s, const char *property, int32_t index, int32_t element)
{
    s->property[s->n] = property, s->index[s->n] = index, s->element[s->n++] = element;
}

/* The key of a convolution, whose n strides of A are those of the dimensions dim; FreeSizeA counts M's
 * indices from the first, BoundSize the summation indices in the order of the identifier. */
static void conv_shape(const ProblemType *pt, const int32_t *dim, int32_t n, KeyShape *s)
{
    static const char *const names[INDICES_GROUPS] = {"FreeSizeA", "FreeSizeB", "BatchSize", "BoundSize"};
    Indices x;
    if (indices_of_type(pt, 0, &x)) {
        err_clear(); /* then it has no kernels either */
        return;
    }
    for (int g = 0; g < INDICES_GROUPS; g++) {
        const IndexList *l = &x.group[g];
        for (int32_t i = 0; i < l->n; i++) add_part(s, names[g], i, l->v[g == INDICES_K ? l->n - 1 - i : i]);
    }
    for (int32_t i = 0; i < n; i++) add_part(s, "AStride", dim[i], pt->TotalIndices + i);
}

/* batch: with the batch of a GEMM, too, which exact tables always have. */
static KeyShape key_shape(const Logic *l, bool batch)
{
    static const char *const names[] = {"BatchSize", "BoundSize", "FreeSizeA", "FreeSizeB"};
    KeyShape s = {.n = 0};
    int32_t dim[SIZE_KEY_MAX];
    const int32_t n = size_key_strides(l->pt, dim);
    if (n) {
        conv_shape(l->pt, dim, n, &s);
        return s;
    }
    for (size_t i = 0; i < l->n_index_order && s.n < LABELS; i++) {
        int32_t label = l->index_order[i];
        if (label < 0 || label > 3 || (label == 0 && !batch)) continue;
        add_part(&s, names[label], 0, (int32_t)i);
    }
    return s;
}

static bool shape_equal(const KeyShape *a, const KeyShape *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->property[i], b->property[i]) || a->index[i] != b->index[i] ||
            a->element[i] != b->element[i])
            return false;
    return true;
}

static int cmp_entries(const void *x, const void *y)
{
    const TableEntry *a = x, *b = y;
    for (int i = 0; i < KEY_PARTS; i++)
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i] ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static Err key_fill(const Logic *l, const KeyShape *shape, TableEntry *t)
{
    for (size_t k = 0; k < shape->n; k++) {
        if (shape->element[k] >= t->row->n)
            FAIL(ERR_INPUT, "%s:%d: a size of %d integers, but the index order asks for element %d", l->path,
                 t->row->line, t->row->n, shape->element[k] + 1);
        t->key[k] = t->row->size[shape->element[k]];
    }
    return ERR_OK;
}

static Err add_rows(const LibraryPart *part, const KeyShape *shape, TableEntries *out)
{
    const Logic *l = part->logic;
    for (size_t i = 0; i < l->n_rows; i++) {
        const LogicRow *row = &l->row[i];
        TableEntry t = {row, {0}, part->solution[row->solution].index, row->speed, out->n, 0};
        if (t.index < 0) continue; /* left out */
        TRY(key_fill(l, shape, &t));
        if (problem_is_gemm(l->pt)) t.section = library_section_of(l->pt, row);
        if (!VEC_PUSH(out, t)) FAIL(ERR_FAILED, "out of memory for %zu sizes", out->n);
    }
    return ERR_OK;
}

static void emit_properties(Emit *e, const KeyShape *shape)
{
    emit_seq(e, shape->n, shape->n == 0);
    for (size_t i = 0; i < shape->n; i++) {
        emit_map(e, 2, true);
        emit_key_int(e, "index", shape->index[i]);
        emit_key_str(e, "type", str_from(shape->property[i]));
        emit_end(e);
    }
    emit_end(e);
}

static void emit_entries(Emit *e, const TableEntries *t, size_t n_key, bool speed)
{
    emit_seq(e, t->n, t->n == 0);
    for (size_t i = 0; i < t->n; i++) {
        emit_map(e, 2u + speed, false);
        emit_key_int(e, "index", t->v[i].index);
        emit_cstr(e, "key");
        emit_seq(e, n_key, true);
        for (size_t k = 0; k < n_key; k++) emit_int(e, t->v[i].key[k]);
        emit_end(e);
        if (speed) {
            emit_cstr(e, "speed");
            emit_real(e, t->v[i].speed);
        }
        emit_end(e);
    }
    emit_end(e);
}

static bool in_table(const Logic *l, bool exact)
{
    return !l->trees && exact == str_eq_c(logic_distance(l), "Equality");
}

/* Tables of one place become one, as in Tensile, whose merge of tables asserts equal keys and distances. */
static Err check_one_table(const Logic *first, const KeyShape *shape, const Logic *l, const KeyShape *own)
{
    static const char why[] = "logic files of one problem type and device make one table";
    if (!str_eq(logic_distance(first), logic_distance(l)))
        FAIL(ERR_INPUT,
             "%s: distance '%.*s', expected that of %s, '%.*s': %s, which has one distance ('tuner-logic "
             "merge' of the two keeps that of the first)",
             l->path, STR_ARG(logic_distance(l)), first->path, STR_ARG(logic_distance(first)), why);
    if (!shape_equal(shape, own))
        FAIL(ERR_INPUT, "%s: another index order than that of %s: %s, which has one key", l->path,
             first->path, why);
    return ERR_OK;
}

static Err collect(const LibraryPart *part, size_t n, bool exact, const Logic **first, TableEntries *out)
{
    KeyShape shape = {.n = 0};
    *first = NULL;
    for (size_t i = 0; i < n; i++) {
        const Logic *l = part[i].logic;
        if (!in_table(l, exact)) continue;
        KeyShape own = key_shape(l, exact);
        if (!*first) {
            *first = l;
            shape = own;
        }
        TRY(check_one_table(*first, &shape, l, &own));
        TRY(add_rows(&part[i], &shape, out));
    }
    return ERR_OK;
}

/* The rows of one place, in the order of their keys, and what the tables that are made of them share. */
typedef struct {
    TableEntries all;
    const Logic *first;
    KeyShape shape;
    bool has[SECTIONS];
    int n_sections; /* tables of sections beside the whole table; 0: none */
} Tables;

static bool has_batched(const Tables *t)
{
    bool any = false;
    for (int i = 0; i < SECTIONS; i++) any |= t->has[i] && i & SECTION_BATCHED;
    return any;
}

static void sections_note(Tables *t)
{
    for (size_t i = 0; i < t->all.n; i++) t->has[t->all.v[i].section] = true;
    for (int i = 0; i < SECTIONS; i++) t->n_sections += t->has[i];
    if (t->n_sections == 1) t->n_sections = 0;
}

/* The whole table has the key of batched sections: a reader that asks it alone, since it has the performance
 * model, would otherwise take a size's row for that of another number of batches. */
static Err tables_collect(const LibraryPart *part, size_t n, bool exact, Tables *t)
{
    *t = (Tables){.first = NULL};
    TRY(collect(part, n, exact, &t->first, &t->all));
    if (!t->first) return ERR_OK;
    if (!exact && library_has_sections(part, n)) sections_note(t);
    t->shape = key_shape(t->first, exact || has_batched(t));
    for (size_t i = 0; has_batched(t) && i < t->all.n; i++) TRY(key_fill(t->first, &t->shape, &t->all.v[i]));
    if (t->all.n) qsort(t->all.v, t->all.n, sizeof *t->all.v, cmp_entries);
    return ERR_OK;
}

static Err emit_matching(Emit *e, const LibraryPart *part, size_t n, const Logic *first,
                         const KeyShape *shape, const TableEntries *rows, bool with_model)
{
    bool model = false;
    if (with_model) TRY(library_has_model(part, n, &model));
    emit_map(e, 4u + model, false);
    emit_key_str(e, "distance", logic_distance(first));
    if (model) TRY(library_emit_model(e, part, n));
    emit_cstr(e, "properties");
    emit_properties(e, shape);
    emit_cstr(e, "table");
    emit_entries(e, rows, shape->n, !str_eq_c(logic_distance(first), "GridBased"));
    emit_key_str(e, "type", STR("Matching"));
    emit_end(e);
    return ERR_OK;
}

/* The rows of a section, with keys of its shape, in the order of these. */
static Err section_rows(const Tables *t, int section, const KeyShape *shape, TableEntries *rows)
{
    for (size_t i = 0; i < t->all.n; i++) {
        TableEntry x = t->all.v[i];
        if (x.section != section) continue;
        TRY(key_fill(t->first, shape, &x));
        if (!VEC_PUSH(rows, x)) FAIL(ERR_FAILED, "out of memory for %zu sizes", t->all.n);
    }
    if (rows->n) qsort(rows->v, rows->n, sizeof *rows->v, cmp_entries);
    return ERR_OK;
}

/* Emits the predicate of a section and the table of its rows. */
static Err emit_section(Emit *e, const LibraryPart *part, size_t n, const Tables *t, int section)
{
    const KeyShape shape = key_shape(t->first, section & SECTION_BATCHED);
    TableEntries rows = {NULL, 0, 0};
    Err err = section_rows(t, section, &shape, &rows);
    emit_map(e, 2, false);
    emit_cstr(e, "library");
    if (!err) err = emit_matching(e, part, n, t->first, &shape, &rows, false);
    emit_cstr(e, "predicate");
    if (!err) err = library_emit_section(e, t->first->pt, section, has_batched(t));
    emit_end(e);
    VEC_FINI(&rows);
    return err;
}

/* ---- decision trees ---- */

static Err solution_index(const LibraryPart *part, const Node *n, const char *what, int64_t *out)
{
    int64_t at = 0;
    TRY(node_int(n, part->logic->path, what, 0, (int64_t)part->logic->n_solutions - 1, &at));
    *out = part->solution[at].index;
    return ERR_OK;
}

static void emit_single(Emit *e, int64_t index)
{
    emit_map(e, 2, true);
    emit_key_int(e, "index", index);
    emit_key_str(e, "type", STR("Single"));
    emit_end(e);
}

static Err emit_one_tree(Emit *e, const LibraryPart *part, const Node *tree)
{
    const Node *solution = node_get(tree, "solution"), *nodes = node_get(tree, "tree");
    int64_t index = -1;
    if (!solution || !nodes)
        FAIL(ERR_INPUT, "%s:%d: a tree needs 'solution' and 'tree'", part->logic->path, tree->line);
    TRY(solution_index(part, solution, "solution of a tree", &index));
    emit_map(e, 2, false);
    emit_cstr(e, "tree");
    logic_node_emit(nodes, e);
    emit_cstr(e, "value");
    emit_single(e, index);
    emit_end(e);
    return ERR_OK;
}

static Err emit_trees(Emit *e, const LibraryPart *part, const Node *lib)
{
    const Node *features = node_get(lib, "features"), *trees = node_get(lib, "trees");
    const Node *fallback = node_get(lib, "fallback");
    int64_t null_index = -1;
    if (!features || !trees)
        FAIL(ERR_INPUT, "%s:%d: a decision tree needs 'features' and 'trees'", part->logic->path, lib->line);
    TRY(node_seq(trees, part->logic->path, "trees", 0, 100000));
    if (fallback) TRY(solution_index(part, fallback, "fallback", &null_index));
    emit_map(e, 4, false);
    emit_cstr(e, "features");
    logic_node_emit(features, e);
    emit_cstr(e, "nullValue");
    emit_single(e, null_index);
    emit_cstr(e, "trees");
    emit_seq(e, trees->n, trees->n == 0);
    for (size_t i = 0; i < trees->n; i++) TRY(emit_one_tree(e, part, &trees->item[i]));
    emit_end(e);
    emit_key_str(e, "type", STR("DecisionTree"));
    emit_end(e);
    return ERR_OK;
}

/* One predicate stands for itself; more are And. */
static Err emit_region(Emit *e, const LibraryPart *part, const Node *lib)
{
    const Node *region = node_get(lib, "region");
    if (!region) FAIL(ERR_INPUT, "%s:%d: a decision tree needs 'region'", part->logic->path, lib->line);
    TRY(node_seq(region, part->logic->path, "region", 0, 64));
    if (region->n == 0) {
        emit_type_only(e, "TruePred");
    } else if (region->n == 1) {
        logic_node_emit(&region->item[0], e);
    } else {
        emit_map(e, 2, false);
        emit_key_str(e, "type", STR("And"));
        emit_cstr(e, "value");
        logic_node_emit(region, e);
        emit_end(e);
    }
    return ERR_OK;
}

static Err emit_tree_rows(Emit *e, const LibraryPart *part, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Node *trees = part[i].logic->trees;
        for (size_t j = 0; trees && j < trees->n; j++) {
            emit_map(e, 2, false);
            emit_cstr(e, "library");
            TRY(emit_trees(e, &part[i], &trees->item[j]));
            emit_cstr(e, "predicate");
            TRY(emit_region(e, &part[i], &trees->item[j]));
            emit_end(e);
        }
    }
    return ERR_OK;
}

static Err emit_table_row(Emit *e, const LibraryPart *part, size_t n, const Tables *t, bool exact)
{
    emit_map(e, 2, false);
    emit_cstr(e, "library");
    TRY(emit_matching(e, part, n, t->first, &t->shape, &t->all, !exact));
    emit_cstr(e, "predicate");
    emit_type_only(e, exact ? "EqualityMatching" : "TruePred");
    emit_end(e);
    return ERR_OK;
}

/* Emits a Problem node with its rows in the order in which readers ask them: the table of exact sizes,
 * decision trees, tables of sections, the whole table. Tables whose `first` is NULL are not there. */
static Err emit_rows(Emit *e, const LibraryPart *part, size_t n, const Tables *exact, const Tables *other)
{
    size_t n_trees = 0;
    for (size_t i = 0; i < n; i++)
        if (part[i].logic->trees) n_trees += part[i].logic->trees->n;
    const size_t n_rows = n_trees + !!exact->first + !!other->first + (size_t)other->n_sections;
    emit_map(e, 2, false);
    emit_cstr(e, "rows");
    emit_seq(e, n_rows, n_rows == 0);
    if (exact->first) TRY(emit_table_row(e, part, n, exact, true));
    TRY(emit_tree_rows(e, part, n));
    for (int i = 0; other->n_sections && i < SECTIONS; i++)
        if (other->has[section_at(i)]) TRY(emit_section(e, part, n, other, section_at(i)));
    if (other->first) TRY(emit_table_row(e, part, n, other, false));
    emit_end(e);
    emit_key_str(e, "type", STR("Problem"));
    emit_end(e);
    return ERR_OK;
}

Err library_emit_tables(Emit *e, const LibraryPart *part, size_t n)
{
    Tables exact, other;
    Err err = tables_collect(part, n, true, &exact);
    const Err also = tables_collect(part, n, false, &other);
    if (!err) err = also;
    if (!err) err = emit_rows(e, part, n, &exact, &other);
    VEC_FINI(&exact.all);
    VEC_FINI(&other.all);
    return err;
}
