/* Analyze, decision trees: a tree over sizes becomes two more logic files of the problem type.
 *
 * A Matching file of tuner cannot hold trees, and Tensile's tree file has no table, so there are three:
 * NAME.yaml is the table with its distance, NAME_equality.yaml has the measured sizes as exact rows, and
 * NAME_dtree.yaml the trees. Libraries ask them in the order equality, trees, table. Tensile's createlib
 * sorts these rows by the names of their predicates, with TruePred last: the region of the trees must be one
 * predicate that sorts after "EqualityMatching", which SizeInRange is, and And (what two predicates become)
 * is not. A region without predicates would be TruePred like the table's, and Tensile refuses to merge the
 * two.
 */
#include "logic/analyze_internal.h"
#include "logic/logic_internal.h"

#include <string.h>

/* ---- nodes of the document ---- */

static Node of_int(int64_t v) { return (Node){.kind = NODE_INT, .integer = v}; }
static Node of_real(float v) { return (Node){.kind = NODE_FLOAT, .real = (double)v}; }
static Node of_str(const char *s) { return (Node){.kind = NODE_STR, .text = str_from(s)}; }

/* n items, or n pairs of a map. */
static Err list_new(Arena *a, NodeKind kind, size_t n, Node *out)
{
    Node *item = ARENA_ARRAY(a, (kind == NODE_MAP ? 2 * n : n) + 1, Node);
    TRY_ALLOC(item);
    *out = (Node){.kind = kind};
    out->item = item;
    return ERR_OK;
}

static void map_add(Node *map, const char *key, Node value)
{
    map->item[2 * map->n] = of_str(key);
    map->item[2 * map->n + 1] = value;
    map->n++;
}

static Err feature_node(Arena *a, const AnalyzeFeature *f, Node *out)
{
    Node value;
    TRY(list_new(a, NODE_MAP, 2, out));
    map_add(out, "type", of_str(f->type));
    if (!f->tiles) {
        map_add(out, "index", of_int(0));
        return ERR_OK;
    }
    TRY(list_new(a, NODE_MAP, 4, &value));
    map_add(&value, "cus", of_real(f->cus));
    map_add(&value, "mt0", of_real(f->mt0));
    map_add(&value, "mt1", of_real(f->mt1));
    if (f->ws > 0) map_add(&value, "ws", of_real(f->ws));
    map_add(out, "value", value);
    return ERR_OK;
}

/* One predicate that holds for every size. */
static Err region_node(Arena *a, Node *out)
{
    Node range, in;
    TRY(list_new(a, NODE_MAP, 2, &range));
    map_add(&range, "min", of_int(0));
    map_add(&range, "max", of_int(INT64_MAX));
    TRY(list_new(a, NODE_MAP, 3, &in));
    map_add(&in, "type", of_str("SizeInRange"));
    map_add(&in, "index", of_int(0));
    map_add(&in, "value", range);
    TRY(list_new(a, NODE_SEQ, 1, out));
    out->item[out->n++] = in;
    return ERR_OK;
}

/* ---- one tree for each solution ---- */

enum { SAYS_NO = -1, SAYS_YES = -2 };

typedef struct {
    const AnalyzeTree *tree;
    int32_t solution;
    AnalyzeTreeNode *node; /* as many as tree has */
    int32_t n;
} Extract;

/* Copies the subtree below a child as a tree that answers, for each size, whether x->solution is chosen. A
 * subtree with one answer for all sizes becomes that answer. Recurses as deep as the tree, which is bounded
 * (AnalyzeTree). */
static int32_t extract(Extract *x, int32_t child)
{
    if (child < 0) return ~child == x->solution ? SAYS_YES : SAYS_NO;
    int32_t at = x->n++;
    AnalyzeTreeNode node = x->tree->node[child];
    node.lte = extract(x, node.lte);
    node.gt = extract(x, node.gt);
    if (node.lte == node.gt) { /* two answers: nothing was added after this node */
        x->n = at;
        return node.lte;
    }
    x->node[at] = node;
    return at;
}

static Err nodes_node(Arena *a, const Extract *x, Node *out)
{
    TRY(list_new(a, NODE_SEQ, (size_t)x->n, out));
    for (int32_t i = 0; i < x->n; i++) {
        Node *to = &out->item[out->n++];
        TRY(list_new(a, NODE_MAP, 4, to));
        map_add(to, "featureIdx", of_int(x->node[i].feature));
        map_add(to, "nextIdxGT", of_int(x->node[i].gt));
        map_add(to, "nextIdxLTE", of_int(x->node[i].lte));
        map_add(to, "threshold", of_real(x->node[i].threshold));
    }
    return ERR_OK;
}

/* Trees of the solutions that are chosen anywhere; number[]: their positions in the new file, or -1. */
static Err trees_node(Arena *a, const AnalyzeTree *tree, size_t n_solutions, int32_t *number, Node *out)
{
    Extract x = {.tree = tree};
    int32_t n = 0;
    TRY_ALLOC(x.node = ARENA_ARRAY(a, tree->n_nodes + 1, AnalyzeTreeNode));
    TRY(list_new(a, NODE_SEQ, n_solutions, out));
    for (size_t s = 0; s < n_solutions; s++) {
        Node nodes, *to = &out->item[out->n];
        number[s] = -1;
        x.solution = (int32_t)s;
        x.n = 0;
        if (extract(&x, 0) < 0) continue;
        number[s] = n++;
        TRY(nodes_node(a, &x, &nodes));
        TRY(list_new(a, NODE_MAP, 2, to));
        map_add(to, "solution", of_int(number[s]));
        map_add(to, "tree", nodes);
        out->n++;
    }
    return ERR_OK;
}

/* Without "fallback": a size whose solution cannot run goes on to the table. */
static Err forest_node(Arena *a, const AnalyzeTree *tree, size_t n_solutions, int32_t *number,
                       const Node **out)
{
    Node features, region, trees, forest, *list = ARENA_NEW(a, Node);
    TRY_ALLOC(list);
    TRY(list_new(a, NODE_SEQ, tree->n_features, &features));
    for (size_t i = 0; i < tree->n_features; i++)
        TRY(feature_node(a, &tree->feature[i], &features.item[features.n++]));
    TRY(region_node(a, &region));
    TRY(trees_node(a, tree, n_solutions, number, &trees));
    TRY(list_new(a, NODE_MAP, 3, &forest));
    map_add(&forest, "features", features);
    map_add(&forest, "region", region);
    map_add(&forest, "trees", trees);
    TRY(list_new(a, NODE_SEQ, 1, list));
    list->item[list->n++] = forest;
    *out = list;
    return ERR_OK;
}

/* ---- files ---- */

/* Copies the solutions that have a number, without what only a table uses. */
static Err solutions_take(Arena *a, const Logic *from, const int32_t *number, Logic *to)
{
    TRY_ALLOC(to->solution = ARENA_ARRAY(a, from->n_solutions + 1, LogicSolution));
    to->n_solutions = 0;
    for (size_t i = 0; i < from->n_solutions; i++) {
        if (number[i] < 0) continue;
        LogicSolution *s = &to->solution[to->n_solutions];
        *s = from->solution[i];
        TRY_ALLOC(s->kept = ARENA_ARRAY(a, s->n_kept + 1, LogicKept));
        s->n_kept = 0;
        for (size_t k = 0; k < from->solution[i].n_kept; k++) {
            const LogicKept *kept = &from->solution[i].kept[k];
            if (!str_eq_c(kept->key, LOGIC_MODEL_KEY) && !str_eq_c(kept->key, LOGIC_PREDICTED_KEY))
                s->kept[s->n_kept++] = *kept;
        }
        logic_solution_number(s, (int32_t)to->n_solutions++);
    }
    return ERR_OK;
}

/* The measured rows as an exact table. */
static Err equality_make(Arena *a, const Logic *l, size_t n_measured, int32_t *number, Logic *out)
{
    int32_t n = 0;
    *out = *l;
    out->distance = STR("Equality");
    if (out->n_elements <= LOGIC_AT_DISTANCE) out->n_elements = LOGIC_AT_DISTANCE + 1;
    for (size_t i = 0; i < l->n_solutions; i++) number[i] = -1;
    for (size_t i = 0; i < n_measured; i++) number[l->row[i].solution] = 0;
    for (size_t i = 0; i < l->n_solutions; i++)
        if (number[i] == 0) number[i] = n++;
    TRY(solutions_take(a, l, number, out));
    TRY_ALLOC(out->row = ARENA_ARRAY(a, n_measured + 1, LogicRow));
    out->n_rows = n_measured;
    for (size_t i = 0; i < n_measured; i++) {
        out->row[i] = l->row[i];
        out->row[i].solution = number[l->row[i].solution];
    }
    return ERR_OK;
}

Err analysis_make_trees(Analysis *an, const Logic *l, const AnalyzeColumn *column, size_t n_measured)
{
    const AnalyzeModel *m = &an->o->model;
    const AnalyzeTree *tree = NULL;
    if (m->tree) TRY(m->tree(m->ctx, an->a, column, l->n_solutions, &tree));
    if (!tree || !tree->n_nodes) return ERR_OK;
    int32_t *number = ARENA_ARRAY(an->a, l->n_solutions + 1, int32_t);
    TRY_ALLOC(number);
    TRY_ALLOC(an->equality = ARENA_NEW(an->a, Logic));
    TRY_ALLOC(an->trees = ARENA_NEW(an->a, Logic));
    TRY(equality_make(an->a, l, n_measured, number, an->equality));
    *an->trees = *l;
    an->trees->dict = true;
    an->trees->row = NULL;
    an->trees->n_rows = 0;
    TRY(forest_node(an->a, tree, l->n_solutions, number, &an->trees->trees));
    return solutions_take(an->a, l, number, an->trees);
}
