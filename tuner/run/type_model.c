/* The performance model of a run. See type_model.h. */
#include "run/type_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "measure/model.h"
#include "measure/model_teach.h"
#include "measure/rounds.h"

void run_model_device(const Run *r, ModelDevice *out)
{
    model_of_part(r->target, r->part ? str_from(r->part->name) : r->device.name, (int)r->device.n_cu, out);
}

Err run_selector_fit(const Run *r, Arena *a, const ModelMatrix *m, ModelSelector *s)
{
    ModelDevice device;
    ModelRates rates[MODEL_CLASSES];
    run_model_device(r, &device);
    model_rates_typical(rates);
    TRY(model_fit_matrix(m, NULL, &device, rates, NULL));
    return model_selector_of(a, m, NULL, &device, rates, NULL, s);
}

/* ---- the matrix of a problem type ---- */

typedef struct {
    Run *r;
    Arena *a;
    size_t n_kernels, n_sizes; /* of all groups of the type, before equal ones are merged */
} Gather;

static bool is_of_type(const Group *g, const ProblemType *pt)
{
    return !g->skip && !g->given_up && problem_type_equal(&g->problem->pt, pt);
}

static Err type_alloc(Gather *x, TypeModel *t)
{
    size_t nk = x->n_kernels, nz = x->n_sizes;
    ModelMatrix *m = &t->m;
    TRY_ALLOC(t->kernel = ARENA_ARRAY(x->a, nk + 1, int64_t));
    TRY_ALLOC(t->of = ARENA_ARRAY(x->a, nz + 1, const ProblemSize *));
    TRY_ALLOC(t->held_out = ARENA_ARRAY(x->a, nz + 1, bool));
    TRY_ALLOC(t->between = ARENA_ARRAY(x->a, nz + 1, bool));
    TRY_ALLOC(t->kept = ARENA_ARRAY(x->a, nk + 1, bool));
    TRY_ALLOC(t->range = ARENA_ARRAY(x->a, nk + 1, bool));
    TRY_ALLOC(m->kernel = ARENA_ARRAY(x->a, nk + 1, ModelKernel));
    TRY_ALLOC(m->known = ARENA_ARRAY(x->a, nk + 1, bool));
    TRY_ALLOC(m->size = ARENA_ARRAY(x->a, nz + 1, ModelSize));
    TRY_ALLOC(m->seconds = ARENA_ARRAY(x->a, nk * nz + 1, double));
    return ERR_OK;
}

static size_t kernel_at(TypeModel *t, int64_t id)
{
    size_t k = 0;
    while (k < t->m.n_kernels && t->kernel[k] != id) k++;
    return k;
}

static size_t size_at(TypeModel *t, const ProblemSize *s)
{
    size_t z = 0;
    while (z < t->m.n_sizes && !problem_size_equal(t->of[z], s)) z++;
    return z;
}

/* The row of a size, which may be new. */
static size_t row_of(TypeModel *t, const ProblemSize *s)
{
    const size_t row = size_at(t, s);
    if (row < t->m.n_sizes) return row;
    t->of[row] = s;
    t->m.size[t->m.n_sizes++] = model_size(t->pt, s, false);
    return row;
}

/* Adds the times of sizes between the group's, at the clocks of the rounds. */
static void between_add(const Gather *x, TypeModel *t, const Group *g)
{
    for (size_t z = 0; z < g->searched.n_between; z++) {
        const size_t row = row_of(t, &g->searched.between[z]);
        t->between[row] = true;
        for (size_t i = 0; i < g->searched.n_variants; i++) {
            const double ns = g->searched.between_ns[z * g->searched.n_variants + i];
            const size_t column = kernel_at(t, g->variant[i].kernel);
            if (ns > 0 && column < t->m.n_kernels) t->m.seconds[row * x->n_kernels + column] = ns * 1e-9;
        }
    }
}

/* Adds a group's kernels, sizes and times; stride: kernels of all groups, the rows of m->seconds until the
 * end. */
static Err type_add(Gather *x, TypeModel *t, const Group *g)
{
    PlanView p;
    ModelMatrix own, *m = &t->m;
    Arena a;
    arena_init(&a, 0);
    Err e = plan_load(&x->r->store, &a, g->plan, &p);
    if (!e) e = model_matrix_load(&x->r->store, &a, &p, &own);
    if (!e && g->searched.ns)
        rounds_add(&own, g->searched.ns, g->n_sizes - g->n_held_out, g->searched.n_variants);
    for (size_t z = 0; !e && z < own.n_sizes && z < g->n_sizes; z++) {
        const size_t row = row_of(t, &g->size[z]);
        t->held_out[row] = z + g->n_held_out >= g->n_sizes;
        for (size_t k = 0; k < own.n_kernels; k++) {
            size_t column = kernel_at(t, p.candidate[k].kernel);
            if (column == m->n_kernels) {
                t->kernel[column] = p.candidate[k].kernel;
                m->known[column] = own.known[k];
                m->kernel[m->n_kernels++] = own.kernel[k];
            }
            double s = own.seconds[z * own.n_kernels + k];
            if (s > 0) m->seconds[row * x->n_kernels + column] = s;
        }
    }
    arena_fini(&a);
    if (!e) between_add(x, t, g);
    return e;
}

/* Removes kernels without a time, of which a search has thousands, and shortens the rows of the matrix to the
 * rest. */
static void type_pack(const Gather *x, TypeModel *t)
{
    ModelMatrix *m = &t->m;
    size_t n = 0, n_all = m->n_kernels;
    for (size_t k = 0; k < n_all; k++) {
        bool any = false;
        for (size_t z = 0; z < m->n_sizes && !any; z++) any = m->seconds[z * x->n_kernels + k] > 0;
        if (!any) continue;
        for (size_t z = 0; z < m->n_sizes; z++)
            m->seconds[z * x->n_kernels + n] = m->seconds[z * x->n_kernels + k];
        m->kernel[n] = m->kernel[k], m->known[n] = m->known[k], t->kernel[n] = t->kernel[k];
        n++;
    }
    m->n_kernels = n;
    for (size_t z = 0; z < m->n_sizes; z++)
        memmove(&m->seconds[z * n], &m->seconds[z * x->n_kernels], n * sizeof(double));
}

static Err type_gather(Gather *x, TypeModel *t)
{
    const Run *r = x->r;
    x->n_kernels = x->n_sizes = 0;
    for (size_t i = 0; i < r->n_groups; i++)
        if (is_of_type(&r->group[i], t->pt)) {
            x->n_kernels += r->group[i].n_variants;
            x->n_sizes += r->group[i].n_sizes + r->group[i].searched.n_between;
        }
    if (x->n_kernels > TYPE_MODEL_KERNELS_MAX || x->n_kernels * x->n_sizes > TYPE_MODEL_TIMES_MAX)
        return ERR_OK;
    TRY(type_alloc(x, t));
    for (size_t i = 0; i < r->n_groups; i++)
        if (is_of_type(&r->group[i], t->pt)) TRY(type_add(x, t, &r->group[i]));
    type_pack(x, t);
    return ERR_OK;
}

/* ---- fitting ---- */

Err type_model_key(const Run *r, const ProblemType *pt, Buf *out)
{
    buf_printf(out, "%s %.*s: %.*s, %.*s, %lld CUs, ", r->target->name, STR_ARG(r->device.kind),
               STR_ARG(r->device.name), STR_ARG(r->device.arch), (long long)r->device.n_cu);
    problem_type_name(pt, out);
    return buf_check(out);
}

static Err model_keep(Run *r, const TypeModel *t)
{
    ModelRecord record = {.device = t->device};
    Buf key;
    memcpy(record.rates, t->rates, sizeof record.rates);
    memcpy(record.fit, t->fit, sizeof record.fit);
    buf_init(&key);
    Err e = type_model_key(r, t->pt, &key);
    if (!e) e = store_model_add(&r->store, buf_view(&key), &record);
    for (size_t i = 0; !e && i < r->n_groups; i++) {
        if (!is_of_type(&r->group[i], t->pt)) continue;
        buf_reset(&key);
        buf_printf(&key, MODEL_PLAN_KEY, (long long)r->group[i].plan);
        e = buf_check(&key);
        if (!e) e = store_model_add(&r->store, buf_view(&key), &record);
    }
    buf_fini(&key);
    return e;
}

static size_t n_measured(const ModelMatrix *m)
{
    size_t n = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        bool any = false;
        for (size_t k = 0; k < m->n_kernels && !any; k++)
            any = m->known[k] && m->seconds[z * m->n_kernels + k] > 0;
        n += any;
    }
    return n;
}

/* The matrix of the sizes that the library gets. */
static Err without_held_out(Arena *a, const TypeModel *t, ModelMatrix *out)
{
    const ModelMatrix *m = &t->m;
    *out = *m;
    TRY_ALLOC(out->size = ARENA_ARRAY(a, m->n_sizes + 1, ModelSize));
    TRY_ALLOC(out->seconds = ARENA_ARRAY(a, m->n_sizes * m->n_kernels + 1, double));
    out->n_sizes = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        if (t->held_out[z]) continue;
        memcpy(&out->seconds[out->n_sizes * m->n_kernels], &m->seconds[z * m->n_kernels],
               m->n_kernels * sizeof(double));
        out->size[out->n_sizes++] = m->size[z];
    }
    return ERR_OK;
}

static Err type_fit(Run *r, Arena *a, TypeModel *t)
{
    size_t n_known = 0;
    for (size_t k = 0; k < t->m.n_kernels; k++) n_known += t->m.known[k];
    run_model_device(r, &t->device);
    model_rates_typical(t->rates);
    if (n_measured(&t->m) < TYPE_MODEL_SIZES || n_known < TYPE_MODEL_KERNELS ||
        !model_selector_fits(t->m.n_kernels, t->m.n_sizes))
        return model_keep(r, t);
    TRY(model_fit_matrix(&t->m, t->held_out, &t->device, t->rates, t->fit));
    TRY(model_teach(a, &t->m, t->held_out, &t->device, t->rates, &t->taught));
    t->fitted = true;
    return model_keep(r, t);
}

Err type_models_fit(Run *r, Arena *a, TypeModels *out)
{
    Gather x = {.r = r, .a = a};
    *out = (TypeModels){.r = r};
    TRY_ALLOC(out->type = ARENA_ARRAY(a, r->n_groups + 1, TypeModel));
    for (size_t i = 0; i < r->n_groups; i++) {
        const ProblemType *pt = &r->group[i].problem->pt;
        size_t k = 0;
        if (!is_of_type(&r->group[i], pt)) continue;
        while (k < out->n && !problem_type_equal(out->type[k].pt, pt)) k++;
        if (k < out->n) continue;
        TypeModel *t = &out->type[out->n++];
        t->pt = pt;
        TRY(type_gather(&x, t));
        TRY(type_fit(r, a, t));
    }
    return ERR_OK;
}

static Err winners_find(Arena *a, const TypeModel *t, bool **out)
{
    ModelTable table = {.pt = t->pt, .m = &t->m, .out = t->held_out};
    TRY(model_table_make(a, &table));
    TRY_ALLOC(*out = ARENA_ARRAY(a, t->m.n_kernels + 1, bool));
    for (size_t z = 0; z < t->m.n_sizes; z++)
        if (table.row[z] != SIZE_MAX && !t->between[z]) (*out)[table.row[z]] = true;
    return ERR_OK;
}

static Err type_judge(Run *r, Arena *a, TypeModel *t)
{
    ModelMatrix given = t->m;
    bool *winners;
    TRY(without_held_out(a, t, &given));
    TRY(model_cross_validate(a, t->pt, &given, &t->device, (ModelFolds){TYPE_MODEL_FOLDS, 0}, t->quality));
    t->tree_wins = type_tree_wins(r, t);
    TRY(winners_find(a, t, &winners));
    return type_range_keep(a, t, winners);
}

Err type_models_make(Run *r, Arena *a, TypeModels *out)
{
    TRY(type_models_fit(r, a, out));
    for (size_t i = 0; i < out->n; i++)
        if (out->type[i].fitted) TRY(type_judge(r, a, &out->type[i]));
    return ERR_OK;
}

TypeModel *type_model_of(const TypeModels *m, const Group *g)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->type[i].fitted && problem_type_equal(m->type[i].pt, &g->problem->pt)) return &m->type[i];
    return NULL;
}

static TableDistance best_distance(const TypeModel *t)
{
    const ModelQuality *q = &t->quality[SELECT_TABLE];
    TableDistance best = DISTANCE_RATIO;
    for (int d = 0; d < TABLE_DISTANCES; d++)
        if (q[d].mean < q[DISTANCE_RATIO].mean_lo && q[d].mean < q[best].mean) best = (TableDistance)d;
    return best;
}

bool type_model_extends(const TypeModel *t)
{
    const ModelQuality *plain = &t->quality[(int)SELECT_TABLE + (int)best_distance(t)],
                       *with = &t->quality[SELECT_TABLE_ROWS];
    return t->quality[SELECT_MODEL_RESIDUAL].mean < plain->mean && with->n && with->mean <= plain->mean;
}

TableDistance type_model_distance(const TypeModel *t)
{
    return type_model_extends(t) ? DISTANCE_RATIO : best_distance(t);
}

const ModelQuality *type_table_quality(const TypeModel *t, TableDistance d)
{
    const bool rows = d == DISTANCE_RATIO && type_model_extends(t);
    return &t->quality[rows ? SELECT_TABLE_ROWS : SELECT_TABLE + (SelectMethod)d];
}

bool type_model_wins(const TypeModel *t)
{
    const ModelQuality *other =
        t->tree_wins ? &t->quality[SELECT_TREE] : type_table_quality(t, type_model_distance(t));
    return t->quality[SELECT_MODEL_RESIDUAL].mean < other->mean;
}

static void type_model_report(const TypeModel *t, const char *name)
{
    const ModelQuality *q = t->quality;
    const TableDistance d = type_model_distance(t);
    notice("model: %s: on sizes left out (%zu) its first choice has %.3f of the best speed (rank correlation "
           "%.2f), with residuals %.3f; that of the nearest size by %s %.3f, by Euclidean %.3f; the library "
           "chooses by %s",
           name, q[SELECT_MODEL_FITTED].n, q[SELECT_MODEL_FITTED].share, q[SELECT_MODEL_FITTED].spearman,
           q[SELECT_MODEL_RESIDUAL].share, table_distance_name(d), type_table_quality(t, d)->share,
           q[(int)SELECT_TABLE + (int)DISTANCE_EUCLIDEAN].share,
           type_model_wins(t) ? "the model"
           : t->tree_wins     ? "a decision tree"
                              : "the nearest size");
    type_tree_report(t, name);
}

void type_models_report(const TypeModels *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const TypeModel *t = &m->type[i];
        Buf name;
        buf_init(&name);
        problem_type_name(t->pt, &name);
        type_tree_missing(m->r, t, buf_cstr(&name));
        if (t->fitted) type_model_report(t, buf_cstr(&name));
        buf_fini(&name);
    }
}

/* ---- for the logic ---- */

static const Group *group_of(const TypeModels *m, Str data)
{
    for (size_t i = 0; i < m->r->n_groups; i++)
        if (str_eq(path_base(m->r->group[i].data), data)) return &m->r->group[i];
    return NULL;
}

static Str distance_of(void *ctx, Str data)
{
    const TypeModels *m = ctx;
    const TypeModel *t = type_model_of_data(m, data);
    return t ? str_from(table_distance_name(type_model_distance(t))) : STR_NULL;
}

TypeModel *type_model_of_data(const TypeModels *m, Str data)
{
    const Group *g = group_of(m, data);
    for (size_t i = 0; g && i < m->n; i++)
        if (m->type[i].fitted && problem_type_equal(m->type[i].pt, &g->problem->pt)) return &m->type[i];
    return NULL;
}

size_t type_model_kernel(const TypeModels *m, const TypeModel *t, const AnalyzeColumn *c)
{
    const Group *g = group_of(m, c->data);
    if (!g || c->column >= g->n_columns) return SIZE_MAX;
    int64_t id = g->variant[g->column[c->column]].kernel;
    for (size_t k = 0; k < t->m.n_kernels; k++)
        if (t->kernel[k] == id) return t->m.known[k] ? k : SIZE_MAX;
    return SIZE_MAX;
}

static bool keeps(void *ctx, const AnalyzeColumn *c)
{
    const TypeModels *m = ctx;
    const TypeModel *t = type_model_of_data(m, c->data);
    const size_t k = t ? type_model_kernel(m, t, c) : SIZE_MAX;
    return k != SIZE_MAX && t->range[k] && (type_model_wins(t) || type_model_extends(t));
}

static Err numbers_of(void *ctx, Arena *a, const AnalyzeColumn *c, const double **out, size_t *n)
{
    const TypeModels *m = ctx;
    const TypeModel *t = type_model_of_data(m, c->data);
    size_t k = t ? type_model_kernel(m, t, c) : SIZE_MAX;
    *n = 0;
    if (k == SIZE_MAX) return ERR_OK;
    t->kept[k] = true;
    if (!type_model_wins(t)) return ERR_OK;
    const ModelMatrix *x = &t->m;
    double *v = ARENA_ARRAY(a, MODEL_ENTRY_NUMBERS + x->n_sizes * MODEL_RESIDUAL_NUMBERS, double);
    TRY_ALLOC(v);
    ModelEntry entry = {.kernel = x->kernel[k], .device = t->device, .rates = t->rates[x->kernel[k].class]};
    model_entry_write(&entry, v);
    *n = MODEL_ENTRY_NUMBERS;
    for (size_t z = 0; z < x->n_sizes; z++) {
        double s = x->seconds[z * x->n_kernels + k];
        if (s <= 0 || t->held_out[z]) continue;
        double p = model_time(&entry.kernel, &entry.device, &entry.rates, &x->size[z], NULL);
        model_residual_write(&(ModelResidual){x->size[z], log(s / p)}, v + *n);
        *n += MODEL_RESIDUAL_NUMBERS;
    }
    *out = v;
    return ERR_OK;
}

/* The logic's rows beside those of the csv. */
typedef struct {
    size_t *kept; /* of each kernel: the kept column; SIZE_MAX: none */
    AnalyzeRow *row;
    size_t n;
} Rows;

static Err rows_make(Arena *a, const TypeModels *m, const TypeModel *t, const AnalyzeColumn *kept,
                     size_t n_kept, Rows *out)
{
    TRY_ALLOC(out->kept = ARENA_ARRAY(a, t->m.n_kernels + 1, size_t));
    TRY_ALLOC(out->row = ARENA_ARRAY(a, t->m.n_sizes + t->table.n_more + 1, AnalyzeRow));
    for (size_t k = 0; k < t->m.n_kernels; k++) out->kept[k] = SIZE_MAX;
    for (size_t i = n_kept; i-- > 0;) {
        const size_t k = type_model_kernel(m, t, &kept[i]);
        if (k != SIZE_MAX) out->kept[k] = i;
    }
    out->n = 0;
    return ERR_OK;
}

static void row_add(Rows *x, const ProblemSize *at, const ModelSize *z, size_t kernel, double seconds,
                    bool is_measured)
{
    const double flops = 2 * z->m * z->n * z->k * z->batch;
    if (x->kept[kernel] != SIZE_MAX)
        x->row[x->n++] = (AnalyzeRow){at->v, x->kept[kernel], flops / seconds * 1e-9, is_measured};
}

/* Sizes between the config's have measured rows. */
static Err rows_of(void *ctx, Arena *a, const AnalyzeColumn *kept, size_t n_kept, const AnalyzeRow **out,
                   size_t *n)
{
    const TypeModels *m = ctx;
    TypeModel *t = n_kept ? type_model_of_data(m, kept[0].data) : NULL;
    *n = 0;
    if (!t) return ERR_OK;
    TRY(type_rows_make(m->r, a, t));
    const ModelTable *table = &t->table;
    const ModelMatrix *x = &t->m;
    Rows rows;
    TRY(rows_make(a, m, t, kept, n_kept, &rows));
    for (size_t z = 0; z < x->n_sizes; z++) {
        const size_t k = t->between[z] ? table->row[z] : SIZE_MAX;
        if (k != SIZE_MAX) row_add(&rows, t->of[z], &x->size[z], k, x->seconds[z * x->n_kernels + k], true);
    }
    for (size_t i = 0; i < table->n_more; i++) {
        const ModelRow *more = &table->more[i];
        row_add(&rows, &more->at, &more->size, more->kernel, more->seconds, false);
    }
    *out = rows.row, *n = rows.n;
    return ERR_OK;
}

static bool is_held_out(void *ctx, Str data, const int64_t *size, size_t n_size)
{
    const TypeModels *m = ctx;
    const Group *g = group_of(m, data);
    for (size_t z = g ? g->n_sizes - g->n_held_out : 0; g && z < g->n_sizes; z++)
        if ((size_t)g->size[z].n == n_size && !memcmp(g->size[z].v, size, n_size * sizeof *size)) return true;
    return false;
}

void type_models_callbacks(TypeModels *m, AnalyzeModel *out)
{
    *out = (AnalyzeModel){.distance = distance_of,
                          .keeps = keeps,
                          .numbers = numbers_of,
                          .rows = rows_of,
                          .tree = type_tree_make,
                          .held_out = is_held_out,
                          .ctx = m};
}
