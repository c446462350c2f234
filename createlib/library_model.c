/* The performance model of a table: what the solutions of its logic files say of themselves, as one map of
 * the Matching node, which other readers skip:
 *
 *   performanceModel:
 *     kernels: [[index of the solution, numbers of problem/model_select.h's ModelEntry...], ...]
 *     sizes: [[M, N, batch, K, alignment of A, of B, of D], ...]
 *     residuals: [[thousandths of log(measured / predicted) of each kernel, or null], ...]
 *
 * residuals has a list for each size. Where there are enough of them, trees are trained
 * (problem/model_train.h), and only some of the sizes are there (problem/model_points.h):
 *
 *     boostedTrees: {bounds: [...], features: [...], first: [...], values: [...]}   of problem/model_trees.h
 *     left: [[thousandths of what the trees leave of each residual, or null], ...]
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "createlib/library_internal.h"
#include "createlib/library_table.h"
#include "problem/model_points.h"
#include "problem/model_train.h"

typedef struct {
    double size[MODEL_RESIDUAL_NUMBERS - 1];
    double error;
    size_t kernel;
} Residual;

typedef struct {
    double number[MODEL_ENTRY_NUMBERS];
    int64_t index;
} Kernel;

typedef struct {
    VEC(Kernel) kernel;
    VEC(Residual) residual; /* after model_read sorted by size */
    size_t n_sizes;
    Arena a; /* of what follows */
    size_t n_kept;
    bool *kept; /* of each size, in the order of the residuals: it is written */
    ModelEntry *entry;
    ModelTrees *trees; /* NULL: none */
} Model;

static Err numbers_of(const LibraryPart *part, const Node *list, size_t at, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        const Node *v = node_at(list, at + i);
        if (!v) FAIL(ERR_INPUT, "%s:%d: " LOGIC_MODEL_KEY " ends early", part->logic->path, list->line);
        TRY(node_real(v, part->logic->path, LOGIC_MODEL_KEY, &out[i]));
    }
    return ERR_OK;
}

static Err add_solution(Model *m, const LibraryPart *part, const LibrarySolution *s)
{
    Kernel k = {.index = s->index};
    ModelEntry entry;
    const char *path = part->logic->path;
    TRY(node_seq(s->model, path, LOGIC_MODEL_KEY, MODEL_ENTRY_NUMBERS, (size_t)1 << 20));
    size_t n = (s->model->n - MODEL_ENTRY_NUMBERS) / MODEL_RESIDUAL_NUMBERS;
    TRY(numbers_of(part, s->model, 0, MODEL_ENTRY_NUMBERS, k.number));
    if (!model_entry_read(k.number, &entry) ||
        s->model->n != MODEL_ENTRY_NUMBERS + n * MODEL_RESIDUAL_NUMBERS)
        FAIL(ERR_INPUT,
             "%s:%d: " LOGIC_MODEL_KEY
             " of %zu numbers is not of version %d, expected %d and %d for each size",
             path, s->model->line, s->model->n, MODEL_VERSION, MODEL_ENTRY_NUMBERS, MODEL_RESIDUAL_NUMBERS);
    for (size_t i = 0; i < n; i++) {
        double v[MODEL_RESIDUAL_NUMBERS];
        ModelResidual checked;
        Residual r = {.kernel = m->kernel.n};
        TRY(numbers_of(part, s->model, MODEL_ENTRY_NUMBERS + i * MODEL_RESIDUAL_NUMBERS,
                       MODEL_RESIDUAL_NUMBERS, v));
        if (!model_residual_read(v, &checked))
            FAIL(ERR_INPUT, "%s:%d: " LOGIC_MODEL_KEY " has a size of %g, %g, %g, %g with error %g", path,
                 s->model->line, v[0], v[1], v[2], v[3], v[7]);
        memcpy(r.size, v, sizeof r.size);
        r.error = v[MODEL_RESIDUAL_NUMBERS - 1];
        if (!VEC_PUSH(&m->residual, r)) FAIL(ERR_FAILED, "out of memory for %zu residuals", m->residual.n);
    }
    if (!VEC_PUSH(&m->kernel, k)) FAIL(ERR_FAILED, "out of memory for %zu kernels", m->kernel.n);
    return ERR_OK;
}

static Err collect(Model *m, const LibraryPart *part, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < part[i].logic->n_solutions; k++) {
            const LibrarySolution *s = &part[i].solution[k];
            if (s->index >= 0 && s->model) TRY(add_solution(m, &part[i], s));
        }
    return ERR_OK;
}

static int by_size(const void *a, const void *b)
{
    const Residual *x = a, *y = b;
    for (size_t i = 0; i < sizeof x->size / sizeof *x->size; i++)
        if (x->size[i] != y->size[i]) return x->size[i] < y->size[i] ? -1 : 1;
    return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static bool same_size(const Residual *a, const Residual *b)
{
    return !memcmp(a->size, b->size, sizeof a->size);
}

/* ---- trees ---- */

static ModelSize size_of(const Residual *r)
{
    double v[MODEL_RESIDUAL_NUMBERS];
    ModelResidual out;
    memcpy(v, r->size, sizeof r->size);
    v[MODEL_RESIDUAL_NUMBERS - 1] = r->error;
    model_residual_read(v, &out); /* as when it was collected */
    return out.size;
}

static Err times_make(Model *m, ModelTimes *x)
{
    const size_t nk = m->kernel.n;
    bool *known = ARENA_ARRAY(&m->a, nk + 1, bool);
    ModelSize *size = ARENA_ARRAY(&m->a, m->n_sizes + 1, ModelSize);
    double *seconds = ARENA_ARRAY(&m->a, m->n_sizes * nk + 1, double);
    TRY_ALLOC(m->entry = ARENA_ARRAY(&m->a, nk + 1, ModelEntry));
    TRY_ALLOC(known);
    TRY_ALLOC(size);
    TRY_ALLOC(seconds);
    *x = (ModelTimes){.n_kernels = nk, .entry = m->entry, .known = known, .size = size, .seconds = seconds};
    for (size_t k = 0; k < nk; k++) known[k] = model_entry_read(m->kernel.v[k].number, &m->entry[k]);
    for (size_t i = 0; i < m->residual.n; i++) {
        const Residual *r = &m->residual.v[i];
        const ModelEntry *e = &m->entry[r->kernel];
        if (!i || !same_size(r, r - 1)) size[x->n_sizes++] = size_of(r);
        const double t = model_time(&e->kernel, &e->device, &e->rates, &size[x->n_sizes - 1], NULL);
        seconds[(x->n_sizes - 1) * nk + r->kernel] = t * exp(r->error);
    }
    return ERR_OK;
}

static Err trees_make(Model *m)
{
    ModelTimes x;
    if (!model_selector_fits(m->kernel.n, m->n_sizes)) return ERR_OK;
    TRY(times_make(m, &x));
    return model_train(&m->a, &x, &m->trees);
}

/* Decides which sizes are written. */
static Err sizes_keep(Model *m)
{
    ModelSize *size = ARENA_ARRAY(&m->a, m->n_sizes + 1, ModelSize);
    uint32_t *n_times = ARENA_ARRAY(&m->a, m->n_sizes + 1, uint32_t);
    size_t n = 0;
    TRY_ALLOC(size);
    TRY_ALLOC(n_times);
    for (size_t i = 0; i < m->residual.n; i++) {
        const Residual *r = &m->residual.v[i];
        if (!i || !same_size(r, r - 1)) size[n++] = size_of(r);
        n_times[n - 1]++;
    }
    const size_t most = model_points_most(m->kernel.n, n, m->trees != NULL);
    TRY(model_points_keep(&m->a, n, size, n_times, most, &m->kept));
    for (size_t z = 0; z < n; z++) m->n_kept += m->kept[z];
    return ERR_OK;
}

/* What the trees leave of a residual. */
static double left_of(const Model *m, const Residual *r)
{
    const ModelSize z = size_of(r);
    float x[MODEL_FEATURES];
    model_time_features(&m->entry[r->kernel], &z, x);
    /* within the bounds of residuals in files */
    return fmax(-30, fmin(30, r->error - (double)model_trees_value(m->trees, x)));
}

/* ---- the map ---- */

static void emit_number(Emit *e, double v)
{
    if (v == floor(v) && fabs(v) < 1e15)
        emit_int(e, (int64_t)v);
    else
        emit_real(e, v);
}

static void emit_kernels(Emit *e, const Model *m)
{
    emit_cstr(e, "kernels");
    emit_seq(e, m->kernel.n, false);
    for (size_t k = 0; k < m->kernel.n; k++) {
        emit_seq(e, 1 + MODEL_ENTRY_NUMBERS, true);
        emit_int(e, m->kernel.v[k].index);
        for (int i = 0; i < MODEL_ENTRY_NUMBERS; i++) emit_number(e, m->kernel.v[k].number[i]);
        emit_end(e);
    }
    emit_end(e);
}

static double error_of(const Model *m, const Residual *r)
{
    (void)m;
    return r->error;
}

/* Thousandths of the size that begins at `from`; returns where the next one begins. */
static size_t emit_row(Emit *e, const Model *m, size_t from, double value(const Model *, const Residual *))
{
    const Residual *r = m->residual.v;
    size_t i = from;
    emit_seq(e, m->kernel.n, true);
    for (size_t k = 0; k < m->kernel.n; k++) {
        if (i == m->residual.n || !same_size(&r[i], &r[from]) || r[i].kernel != k) {
            emit_null(e);
            continue;
        }
        emit_int(e, llround(value(m, &r[i]) * 1000));
        while (i < m->residual.n && same_size(&r[i], &r[from]) && r[i].kernel == k) i++;
    }
    emit_end(e);
    return i;
}

static size_t next_size(const Model *m, size_t from)
{
    size_t i = from + 1;
    while (i < m->residual.n && same_size(&m->residual.v[i], &m->residual.v[from])) i++;
    return i;
}

static void emit_rows(Emit *e, const Model *m, const char *key, double value(const Model *, const Residual *))
{
    size_t z = 0;
    emit_cstr(e, key);
    emit_seq(e, m->n_kept, false);
    for (size_t i = 0; i < m->residual.n; z++) i = m->kept[z] ? emit_row(e, m, i, value) : next_size(m, i);
    emit_end(e);
}

static void emit_floats(Emit *e, const char *key, const float *v, size_t n)
{
    emit_cstr(e, key);
    emit_seq(e, n, true);
    for (size_t i = 0; i < n; i++) emit_real(e, (double)v[i]);
    emit_end(e);
}

static void emit_bytes(Emit *e, const char *key, const uint8_t *v, size_t n)
{
    emit_cstr(e, key);
    emit_seq(e, n, true);
    for (size_t i = 0; i < n; i++) emit_int(e, v[i]);
    emit_end(e);
}

static void emit_trees(Emit *e, const ModelTrees *t)
{
    const size_t nodes = (size_t)t->n * MODEL_TREES_NODES;
    emit_cstr(e, "boostedTrees");
    emit_map(e, 4, false);
    emit_floats(e, "bounds", t->at, nodes);
    emit_bytes(e, "features", t->feature, nodes);
    emit_bytes(e, "first", t->first, nodes);
    emit_floats(e, "values", t->value, (size_t)t->n * MODEL_TREES_LEAVES);
    emit_end(e);
}

static void emit_sizes(Emit *e, const Model *m)
{
    const Residual *r = m->residual.v;
    size_t z = 0;
    emit_cstr(e, "sizes");
    emit_seq(e, m->n_kept, false);
    for (size_t i = 0; i < m->residual.n; i = next_size(m, i)) {
        if (!m->kept[z++]) continue;
        emit_seq(e, MODEL_RESIDUAL_NUMBERS - 1, true);
        for (size_t k = 0; k < MODEL_RESIDUAL_NUMBERS - 1; k++) emit_number(e, r[i].size[k]);
        emit_end(e);
    }
    emit_end(e);
}

static void model_fini(Model *m)
{
    VEC_FINI(&m->kernel);
    VEC_FINI(&m->residual);
    arena_fini(&m->a);
}

static Err model_read(Model *m, const LibraryPart *part, size_t n)
{
    TRY(collect(m, part, n));
    if (m->kernel.n > MODEL_KERNELS_MAX)
        FAIL(ERR_INPUT, "%s: a performance model of %zu kernels, at most %d", part->logic->path, m->kernel.n,
             MODEL_KERNELS_MAX);
    if (m->residual.n) qsort(m->residual.v, m->residual.n, sizeof *m->residual.v, by_size);
    for (size_t i = 0; i < m->residual.n; i++)
        m->n_sizes += !i || !same_size(&m->residual.v[i], &m->residual.v[i - 1]);
    return ERR_OK;
}

Err library_has_model(const LibraryPart *part, size_t n, bool *has)
{
    Model m = {0};
    arena_init(&m.a, 0);
    size_t with = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < part[i].logic->n_solutions; k++)
            with += part[i].solution[k].index >= 0 && part[i].solution[k].model;
    *has = with >= 2;
    if (!*has) return ERR_OK;
    Err e = model_read(&m, part, n);
    model_fini(&m);
    if (e != ERR_INPUT) return e;
    warning("%s; the library has no performance model", err_message());
    err_clear();
    *has = false;
    return ERR_OK;
}

Err library_emit_model(Emit *e, const LibraryPart *part, size_t n)
{
    Model m = {0};
    arena_init(&m.a, 0);
    Err err = model_read(&m, part, n);
    if (!err) err = trees_make(&m);
    if (!err) err = sizes_keep(&m);
    if (!err) {
        emit_cstr(e, "performanceModel");
        emit_map(e, m.trees ? 5 : 3, false);
        if (m.trees) emit_trees(e, m.trees);
        emit_kernels(e, &m);
        if (m.trees) emit_rows(e, &m, "left", left_of);
        emit_rows(e, &m, "residuals", error_of);
        emit_sizes(e, &m);
        emit_end(e);
    }
    model_fini(&m);
    return err;
}
