/* Library: the performance model of a table (performanceModel of a Matching node, which createlib writes and
 * Tensile's readers skip): reading it, and the choice of a solution for a size that has no row. The choice
 * weighs all solutions of the model; a solution's predicates are evaluated when it would be the best so
 * far. */
#include <math.h>
#include <string.h>

#include "client/runtime/library_priv.h"

/* ---- reading ---- */

static Err numbers_read(const FileReader *r, const Node *list, size_t n, const char *what, double *out)
{
    TRY(node_seq(list, r->name, what, n, n));
    for (size_t i = 0; i < n; i++) TRY(node_real(node_at(list, i), r->name, what, &out[i]));
    return ERR_OK;
}

static Err kernel_read(FileReader *r, const Node *n, TableModel *m, size_t k)
{
    double v[1 + MODEL_ENTRY_NUMBERS];
    TRY(numbers_read(r, n, 1 + MODEL_ENTRY_NUMBERS, "kernel of performanceModel", v));
    TRY(solution_ref(r, node_at(n, 0), &m->solution[k]));
    if (!model_entry_read(v + 1, &m->select.entry[k]))
        FAIL(ERR_INPUT,
             "%s:%d: kernel %zu of performanceModel is not of version %d, or a number is out of bounds",
             r->name, n->line, k, MODEL_VERSION);
    return ERR_OK;
}

/* A residual of each kernel, or null. */
static Err row_read(const FileReader *r, const Node *row, const char *what, const char *one, size_t n,
                    float *out)
{
    TRY(node_seq(row, r->name, what, n, n));
    for (size_t k = 0; k < n; k++) {
        const Node *e = node_at(row, k);
        if (e->kind == NODE_NULL) continue;
        int64_t thousandths;
        TRY(node_int(e, r->name, one, -30000, 30000, &thousandths));
        out[k] = (float)thousandths / 1000;
    }
    return ERR_OK;
}

static Err size_read(const FileReader *r, const Node *size, const Node *residuals, ModelSelector *s, size_t p)
{
    double v[MODEL_RESIDUAL_NUMBERS] = {0};
    ModelResidual z;
    TRY(numbers_read(r, size, MODEL_RESIDUAL_NUMBERS - 1, "size of performanceModel", v));
    TRY(row_read(r, residuals, "residuals of performanceModel", "residual of performanceModel", s->n_kernels,
                 &s->residual[p * s->n_kernels]));
    if (!model_residual_read(v, &z))
        FAIL(ERR_INPUT, "%s:%d: size %g, %g, %g, %g of performanceModel is out of bounds", r->name,
             size->line, v[0], v[1], v[2], v[3]);
    s->size[p] = z.size;
    return ERR_OK;
}

static Err floats_read(const FileReader *r, const Node *list, const char *what, size_t n, float *out)
{
    TRY(node_seq(list, r->name, what, n, n));
    for (size_t i = 0; i < n; i++) {
        double v;
        TRY(node_real(node_at(list, i), r->name, what, &v));
        if (!(fabs(v) <= 1e30))
            FAIL(ERR_INPUT, "%s:%d: %s: %g, expected at most 1e30", r->name, node_at(list, i)->line, what, v);
        out[i] = (float)v;
    }
    return ERR_OK;
}

/* Numbers of n nodes, from 0 to `most`. */
static Err bytes_read(const FileReader *r, const Node *list, const char *what, size_t n, int most,
                      uint8_t *out)
{
    TRY(node_seq(list, r->name, what, n, n));
    for (size_t i = 0; i < n; i++) {
        int64_t v;
        TRY(node_int(node_at(list, i), r->name, what, 0, most, &v));
        out[i] = (uint8_t)v;
    }
    return ERR_OK;
}

/* The first leaves of the nodes' left subtrees. */
static Err first_read(const FileReader *r, const Node *list, size_t n, uint8_t *out)
{
    static const char WHAT[] = "first of boostedTrees of performanceModel";
    TRY(bytes_read(r, list, WHAT, n, MODEL_TREES_NODES - 1, out));
    for (size_t i = 0; i < n; i++)
        if (out[i] > i % MODEL_TREES_NODES)
            FAIL(ERR_INPUT, "%s:%d: %s: %d of node %zu, expected at most the node's number", r->name,
                 node_at(list, i)->line, WHAT, out[i], i % MODEL_TREES_NODES);
    return ERR_OK;
}

static Err boosted_read(FileReader *r, const Node *trees, ModelTrees **out)
{
    const Node *bounds = node_get(trees, "bounds"), *features = node_get(trees, "features"),
               *first = node_get(trees, "first"), *values = node_get(trees, "values");
    if (!bounds || !features || !first || !values)
        FAIL(ERR_INPUT, "%s:%d: boostedTrees of performanceModel need bounds, features, first and values",
             r->name, trees->line);
    TRY(node_seq(values, r->name, "values of boostedTrees of performanceModel", 0,
                 (size_t)MODEL_TREES_MAX * MODEL_TREES_LEAVES));
    if (values->n % MODEL_TREES_LEAVES)
        FAIL(ERR_INPUT, "%s:%d: %zu values of boostedTrees of performanceModel, expected %d for each tree",
             r->name, values->line, values->n, MODEL_TREES_LEAVES);
    TRY(model_trees_new(&r->lib->arena, (int)(values->n / MODEL_TREES_LEAVES), out));
    ModelTrees *t = *out;
    const size_t nodes = (size_t)t->n * MODEL_TREES_NODES;
    TRY(floats_read(r, values, "values of boostedTrees of performanceModel", values->n, t->value));
    TRY(floats_read(r, bounds, "bounds of boostedTrees of performanceModel", nodes, t->at));
    TRY(bytes_read(r, features, "features of boostedTrees of performanceModel", nodes, MODEL_FEATURES - 1,
                   t->feature));
    return first_read(r, first, nodes, t->first);
}

/* The trees, which libraries of few times have not, and what these leave of the residuals. Older libraries
 * have trees of other forms, under "trees" or "symmetricTrees", and do without them. */
static Err trees_read(FileReader *r, const Node *n, ModelSelector *s)
{
    const Node *trees = node_get(n, "boostedTrees"), *left = node_get(n, "left");
    ModelTrees *t;
    if (!trees) return ERR_OK;
    TRY(node_map(trees, r->name, "boostedTrees of performanceModel"));
    if (!left)
        FAIL(ERR_INPUT, "%s:%d: boostedTrees of performanceModel need left beside them", r->name,
             trees->line);
    TRY(boosted_read(r, trees, &t));
    const Err bounds = model_selector_trees(&r->lib->arena, s, t);
    if (bounds) return err_context(bounds, "%s:%d: ", r->name, trees->line);
    TRY(node_seq(left, r->name, "left of performanceModel", s->n_points, s->n_points));
    for (size_t p = 0; p < s->n_points; p++)
        TRY(row_read(r, node_at(left, p), "left of performanceModel", "number of left of performanceModel",
                     s->n_kernels, &s->left[p * s->n_kernels]));
    return ERR_OK;
}

Err table_model_read(FileReader *r, const Node *n, TableModel **out)
{
    Arena *a = &r->lib->arena;
    const Node *kernels, *sizes, *residuals;
    *out = NULL;
    if (!n) return ERR_OK;
    TRY(node_map(n, r->name, "performanceModel"));
    kernels = node_get(n, "kernels"), sizes = node_get(n, "sizes"), residuals = node_get(n, "residuals");
    if (!kernels || !sizes || !residuals)
        FAIL(ERR_INPUT, "%s:%d: performanceModel has no %s", r->name, n->line,
             !kernels ? "kernels"
             : !sizes ? "sizes"
                      : "residuals");
    TRY(node_seq(kernels, r->name, "kernels of performanceModel", 1, MODEL_KERNELS_MAX));
    TRY(node_seq(sizes, r->name, "sizes of performanceModel", 0, MODEL_POINTS_MAX));
    TRY(node_seq(residuals, r->name, "residuals of performanceModel", sizes->n, sizes->n));
    TableModel *m = ARENA_NEW(a, TableModel);
    TRY_ALLOC(m);
    TRY_ALLOC(m->solution = ARENA_ARRAY(a, kernels->n, uint32_t));
    TRY(model_selector_new(a, kernels->n, sizes->n, &m->select));
    for (size_t k = 0; k < kernels->n; k++) TRY(kernel_read(r, node_at(kernels, k), m, k));
    for (size_t p = 0; p < sizes->n; p++)
        TRY(size_read(r, node_at(sizes, p), node_at(residuals, p), &m->select, p));
    TRY(trees_read(r, n, &m->select));
    model_selector_finish(&m->select);
    *out = m;
    return ERR_OK;
}

/* ---- choosing ---- */

static double at_least_1(int64_t v) { return v > 1 ? (double)v : 1; }

static int32_t align_of(const int64_t stride[3], uint32_t type)
{
    return model_align((stride[1] | stride[2]) * type_bytes((DataType)type));
}

/* As measure/model.c has it for the sizes that were measured. */
static int32_t align_of_dims(const IndexSizes *x, int tensor, uint32_t type)
{
    int64_t all = 0;
    for (int32_t i = 1; i < x->indices.tensor[tensor].n; i++) all |= x->stride[tensor][i];
    return model_align(all * type_bytes((DataType)type));
}

static int32_t align_in(const Contraction *p, int tensor, const int64_t stride[3])
{
    const uint32_t type = p->types >> (8 * tensor) & 255;
    return p->dims ? align_of_dims(p->dims, tensor, type) : align_of(stride, type);
}

static ModelSize size_of(const Contraction *p)
{
    return (ModelSize){.m = at_least_1(p->m),
                       .n = at_least_1(p->n),
                       .k = at_least_1(p->k),
                       .batch = at_least_1(p->batch),
                       .align_a = align_in(p, 0, p->a),
                       .align_b = align_in(p, 1, p->b),
                       .align_d = align_in(p, 3, p->d),
                       .reads_c = false};
}

bool table_model_measured(const TableModel *m, const Contraction *p)
{
    for (size_t i = 0; i < m->select.n_points; i++) {
        const ModelSize *z = &m->select.size[i];
        if (z->m == (double)p->m && z->n == (double)p->n && z->k == (double)p->k &&
            z->batch == (double)p->batch)
            return true;
    }
    return false;
}

typedef struct {
    Library *lib;
    const Table *t;
    const Contraction *p;
    Err e;
} Ask;

static bool can_solve(void *ctx, size_t kernel)
{
    Ask *q = ctx;
    const LibSolution *s;
    if (!q->e) q->e = solution_of(q->lib, q->t->chunk, q->t->model->solution[kernel], &s);
    return !q->e && solution_can_solve(s, q->p);
}

Err table_model_find(Library *lib, const Table *t, const Contraction *p, Selection *out)
{
    Ask q = {.lib = lib, .t = t, .p = p};
    ModelSize z = size_of(p);
    double seconds = 0;
    size_t k = model_choose(&t->model->select, &z, can_solve, &q, &seconds);
    if (q.e || k == SIZE_MAX) return q.e;
    memset(out, 0, sizeof *out);
    TRY(solution_of(lib, t->chunk, t->model->solution[k], &out->solution));
    out->why = WHY_MODEL;
    out->speed = contraction_flops(p) / seconds * 1e-9;
    return ERR_OK;
}
