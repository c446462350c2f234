/* Decision trees of a run: whether the library gets one, its training on the kernels of the logic, and its
 * form for the analyzer. See type_model.h. */
#include "run/type_model.h"

#include <stdio.h>

#include "base/log.h"

enum { TREES_AUTO, TREES_NEVER, TREES_ALWAYS }; /* values of DecisionTrees */

bool type_tree_wins(const Run *r, const TypeModel *t)
{
    const ModelQuality *tree = &t->quality[SELECT_TREE],
                       *table = type_table_quality(t, type_model_distance(t));
    int how = (int)r->config->globals.DecisionTrees;
    bool has_index_order = t->pt->TotalIndices == 4; /* of exact rows: M, N, batch, K */
    if (how == TREES_NEVER || !has_index_order || !tree->n) return false;
    return how == TREES_ALWAYS || (model_quality_is_less(tree, table) && tree->p95 <= table->p95);
}

void type_tree_report(const TypeModel *t, const char *name)
{
    Buf b;
    buf_init(&b);
    for (int i = 0; i <= TABLE_DISTANCES; i++) {
        const ModelQuality *q =
            i == TABLE_DISTANCES ? &t->quality[SELECT_TREE] : type_table_quality(t, (TableDistance)i);
        buf_printf(&b, "%s%s %.1f%% (%.1f%%)", i ? ", " : "",
                   select_method_name(SELECT_TABLE + (SelectMethod)i), 100 * q->mean, 100 * q->p95);
    }
    notice("model: %s: mean loss (p95) on sizes left out%s: %s; the logic has %s%s", name,
           type_model_extends(t) ? ", with predicted rows" : "", buf_cstr(&b),
           t->tree_wins ? "decision trees before the table with " : "the distance ",
           table_distance_name(type_model_distance(t)));
    buf_fini(&b);
}

void type_tree_missing(const Run *r, const TypeModel *t, const char *name)
{
    if (r->config->globals.DecisionTrees != TREES_ALWAYS || t->tree_wins) return;
    warning(
        "%s: DecisionTrees is always, but there are none: they need %d sizes and %d kernels with times, and "
        "sizes of M, N, batch, K",
        name, TYPE_MODEL_SIZES, TYPE_MODEL_KERNELS);
}

/* ---- for the analyzer ---- */

static AnalyzeFeature feature_of(const ModelTreeFeature *f)
{
    static const char *const type[] = {[TREE_FREE_A] = "FreeSizeA",
                                       [TREE_FREE_B] = "FreeSizeB",
                                       [TREE_BOUND] = "BoundSize",
                                       [TREE_BATCH] = "BatchSize",
                                       [TREE_CU_GRANULARITY] = "CUGranularity",
                                       [TREE_WAVES] = "WavesPerSIMD"};
    bool tiles = f->kind == TREE_CU_GRANULARITY || f->kind == TREE_WAVES;
    return (AnalyzeFeature){type[f->kind], tiles, f->mt0, f->mt1, f->cus, f->kind == TREE_WAVES ? 1.0f : 0};
}

/* Leaves of the model's tree name kernels of the matrix, those of the analyzer kept solutions. */
static int32_t child_of(const size_t *kernel, size_t n_kept, int32_t child)
{
    if (child >= 0) return child;
    size_t k = 0;
    while (k < n_kept && kernel[k] != (size_t)~child) k++;
    return k < n_kept ? ~(int32_t)k : INT32_MIN; /* ~INT32_MIN is no solution */
}

static Err tree_convert(Arena *a, const ModelTree *from, const size_t *kernel, size_t n_kept,
                        AnalyzeTree **out)
{
    AnalyzeTree *t = ARENA_NEW(a, AnalyzeTree);
    AnalyzeFeature *feature = ARENA_ARRAY(a, (size_t)from->n_features + 1, AnalyzeFeature);
    AnalyzeTreeNode *node = ARENA_ARRAY(a, (size_t)from->n_nodes + 1, AnalyzeTreeNode);
    TRY_ALLOC(t);
    TRY_ALLOC(feature);
    TRY_ALLOC(node);
    for (int32_t i = 0; i < from->n_features; i++) feature[i] = feature_of(&from->feature[i]);
    for (int32_t i = 0; i < from->n_nodes; i++) {
        const ModelTreeNode *n = &from->node[i];
        node[i] = (AnalyzeTreeNode){n->feature, n->threshold, child_of(kernel, n_kept, n->lte),
                                    child_of(kernel, n_kept, n->gt)};
    }
    *t = (AnalyzeTree){feature, (size_t)from->n_features, node, (size_t)from->n_nodes};
    *out = t;
    return ERR_OK;
}

Err type_tree_make(void *ctx, Arena *a, const AnalyzeColumn *kept, size_t n_kept, const AnalyzeTree **out)
{
    const TypeModels *m = ctx;
    TypeModel *t = n_kept ? type_model_of_data(m, kept[0].data) : NULL;
    ModelSelector s;
    if (!t || !t->tree_wins) return ERR_OK;
    Arena *run = &m->r->arena; /* t lives longer than the analysis */
    ModelTree *tree = ARENA_NEW(run, ModelTree);
    size_t *kernel = ARENA_ARRAY(a, n_kept, size_t);
    TRY_ALLOC(tree);
    TRY_ALLOC(kernel);
    TRY(type_model_selector(a, t, &s));
    TRY(model_tree_train(&t->m, t->held_out, t->kept, &s, &t->device, tree));
    for (size_t i = 0; i < n_kept; i++) kernel[i] = type_model_kernel(m, t, &kept[i]);
    AnalyzeTree *made = NULL;
    if (!tree->n_nodes)
        notice("model: no decision trees are written: one kernel loses least on all sizes together");
    if (tree->n_nodes) TRY(tree_convert(a, tree, kernel, n_kept, &made));
    if (made) t->tree = tree;
    *out = made;
    return ERR_OK;
}
