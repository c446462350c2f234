/* Choices of a library, made of a run's winners, on other sizes: predicted rows, the loss on held-out sizes,
 * and sizes that are worth tuning. See type_model.h. */
#include "run/type_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/model.h"
#include "measure/history.h"
#include "run/held_out.h"

Err type_model_selector(Arena *a, const TypeModel *t, ModelSelector *s)
{
    ModelMatrix m = t->m;
    TRY_ALLOC(m.known = ARENA_ARRAY(a, m.n_kernels + 1, bool));
    for (size_t k = 0; k < m.n_kernels; k++) m.known[k] = t->m.known[k] && t->kept[k];
    return model_selector_of(a, &m, t->held_out, &t->device, t->rates, &t->taught, s);
}

/* ---- sizes that were not measured ---- */

Err type_range_keep(Arena *a, TypeModel *t, const bool *given)
{
    ModelSelector s;
    TRY(model_selector_of(a, &t->m, t->held_out, &t->device, t->rates, &t->taught, &s));
    memcpy(t->range, given, t->m.n_kernels * sizeof *given);
    TRY(model_range_keep(a, t->pt, &t->m, t->held_out, &s, MODEL_RANGE_KERNELS, t->range));
    for (size_t k = 0; k < t->m.n_kernels; k++) t->range[k] = t->range[k] && !given[k];
    return ERR_OK;
}

Err type_rows_make(Run *r, Arena *a, TypeModel *t)
{
    ModelSelector s;
    t->table = (ModelTable){.pt = t->pt, .m = &t->m, .out = t->held_out, .usable = t->kept};
    TRY(model_table_make(&r->arena, &t->table));
    if (!type_model_extends(t)) return ERR_OK;
    TRY(type_model_selector(a, t, &s));
    return model_table_predict(&r->arena, &t->table, true, &s);
}

/* ---- regret ---- */

static double best_seconds(const ModelMatrix *m, size_t z)
{
    double best = 0;
    for (size_t k = 0; k < m->n_kernels; k++) {
        double s = m->seconds[z * m->n_kernels + k];
        if (s > 0 && (best == 0 || s < best)) best = s;
    }
    return best;
}

typedef struct {
    const TypeModel *t;
    const double *seconds; /* of the size */
} Ask;

/* Whether the library has the kernel, and it can run. */
static bool can_run(void *ctx, size_t k)
{
    const Ask *q = ctx;
    return q->t->kept[k] && q->t->m.known[k] && q->seconds[k] > 0;
}

/* Losses of libtuner (0), the table (1), the table with Tensile's default distance and without predicted
 * rows (2), and the decision trees (3), where the library has them. */
enum { REGRET_WAYS = 4 };
typedef struct {
    double *loss[REGRET_WAYS];
} Losses;

/* The kernels that are chosen for a held-out size. */
static void choices_of(const TypeModel *t, const ModelSelector *s, size_t z, size_t k[REGRET_WAYS])
{
    const double *seconds = &t->m.seconds[z * t->m.n_kernels];
    const ModelSize *size = &t->m.size[z];
    ModelTable plain = t->table;
    double predicted;
    Ask q = {t, seconds};
    plain.n_more = 0, plain.sections = false;
    k[1] = model_table_nearest(&t->table, type_model_distance(t), size, seconds);
    k[2] = model_table_nearest(&plain, DISTANCE_EUCLIDEAN, size, seconds);
    k[3] = t->tree ? model_tree_choose(t->tree, size) : SIZE_MAX;
    if (t->tree && (k[3] == SIZE_MAX || !can_run(&q, k[3]))) k[3] = k[1]; /* the table comes next */
    k[0] = t->tree ? k[3] : k[1];
    if (type_model_wins(t)) k[0] = model_choose(s, size, can_run, &q, &predicted);
}

static Err losses_of(Arena *a, TypeModel *t, Losses *out)
{
    ModelSelector s;
    TRY(type_model_selector(a, t, &s));
    for (int w = 0; w < REGRET_WAYS; w++) TRY_ALLOC(out->loss[w] = ARENA_ARRAY(a, t->m.n_sizes + 1, double));
    for (size_t z = 0; z < t->m.n_sizes; z++) {
        const double *seconds = &t->m.seconds[z * t->m.n_kernels];
        double best = best_seconds(&t->m, z);
        size_t k[REGRET_WAYS] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
        if (t->held_out[z] && best > 0) choices_of(t, &s, z, k);
        for (int w = 0; w < REGRET_WAYS; w++)
            out->loss[w][z] = k[w] == SIZE_MAX ? (double)NAN : seconds[k[w]] / best - 1;
    }
    return ERR_OK;
}

/* which: 0 all sizes, 1 aligned ones, 2 ragged ones. */
static Err regret_line(Arena *a, const TypeModel *t, const char *name, const double *loss, int which)
{
    static const char *const words[] = {"all", "aligned", "ragged"};
    ModelQuality q = {.loss = ARENA_ARRAY(a, t->m.n_sizes + 1, double)};
    TRY_ALLOC(q.loss);
    for (size_t z = 0; z < t->m.n_sizes; z++) {
        bool in = which == 0 || held_out_is_aligned(t->pt, t->of[z]) == (which == 1);
        q.loss[z] = in ? loss[z] : (double)NAN;
    }
    TRY(model_quality_finish(a, &q, t->m.n_sizes));
    if (!q.n) return ERR_OK;
    char mean[48];
    snprintf(mean, sizeof mean, "%.1f%% [%.1f, %.1f]", q.mean * 100, q.mean_lo * 100, q.mean_hi * 100);
    printf("  %-22s %-8s %5zu  %-22s %7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", name, words[which], q.n, mean,
           q.p50 * 100, q.p90 * 100, q.p95 * 100, q.worst * 100);
    return ERR_OK;
}

/* Keeps the losses of a choice for reports. */
static Err regret_store(Run *r, const TypeModel *t, Str type, const char *choice, const double *loss)
{
    Buf size;
    Err e = 0;
    buf_init(&size);
    for (size_t z = 0; !e && z < t->m.n_sizes; z++) {
        if (isnan(loss[z])) continue;
        buf_reset(&size);
        problem_size_print(t->of[z], &size);
        e = buf_check(&size);
        if (!e)
            e = store_regret_add(&r->store, r->session,
                                 &(Regret){.type = type,
                                           .choice = str_from(choice),
                                           .numbers = buf_view(&size),
                                           .aligned = held_out_is_aligned(t->pt, t->of[z]),
                                           .loss = loss[z]});
    }
    buf_fini(&size);
    return e;
}

static Err regret_print(Run *r, Arena *a, TypeModel *t)
{
    Losses l;
    Buf name;
    char table[48];
    TRY(losses_of(a, t, &l));
    buf_init(&name);
    problem_type_name(t->pt, &name);
    Str type = arena_dup(a, buf_view(&name));
    printf("\n%s: loss of the library's choice on held-out sizes against the best kernel of the run\n"
           "  %-22s %-8s %5s  %-22s %8s %8s %8s %8s\n",
           buf_cstr(&name), "choice", "sizes", "n", "mean [95% interval]", "p50", "p90", "p95", "worst");
    buf_fini(&name);
    TRY_ALLOC(type.s);
    snprintf(table, sizeof table, "table, %s", table_distance_name(type_model_distance(t)));
    const char *names[REGRET_WAYS] = {"libtuner", table, "table, Euclidean", "decision trees"};
    TRY(store_begin(&r->store));
    for (int w = 0; w < (t->tree ? REGRET_WAYS : REGRET_WAYS - 1); w++) {
        for (int which = 0; which < 3; which++) TRY(regret_line(a, t, names[w], l.loss[w], which));
        TRY(regret_store(r, t, type, names[w], l.loss[w]));
    }
    return store_commit(&r->store);
}

/* The rows of the logic: Group.chosen. */
static void rows_by_choice(const TypeModels *m, TypeModel *t)
{
    for (size_t i = 0; i < m->r->n_groups; i++) {
        const Group *g = &m->r->group[i];
        if (type_model_of(m, g) != t || !g->chosen) continue;
        for (size_t z = 0; z < g->n_sizes; z++) {
            if (g->chosen[z] >= g->n_variants) continue;
            size_t at = 0, k = 0;
            while (at < t->m.n_sizes && !problem_size_equal(t->of[at], &g->size[z])) at++;
            while (k < t->m.n_kernels && t->kernel[k] != g->variant[g->chosen[z]].kernel) k++;
            if (at < t->m.n_sizes && k < t->m.n_kernels) t->table.row[at] = k;
        }
    }
}

Err type_regret_report(TypeModels *m, Arena *a)
{
    for (size_t i = 0; i < m->n; i++) {
        TypeModel *t = &m->type[i];
        size_t n = 0;
        for (size_t z = 0; t->fitted && z < t->m.n_sizes; z++)
            n += t->held_out[z] && best_seconds(&t->m, z) > 0;
        if (!n) continue;
        rows_by_choice(m, t);
        TRY(regret_print(m->r, a, t));
    }
    return ERR_OK;
}

/* ---- sizes that are worth tuning ---- */

/* The expected benefit of tuning a size: the cross-validated loss of choices near it, times its distance from
 * the measured sizes. */
static double promise(const TypeModel *t, const ModelPoint *point, const ModelPoint *tuned,
                      const double *loss, size_t n)
{
    double sum = 0.01, weight = 1, least = 1e9;
    for (size_t i = 0; i < n; i++) {
        double d = (double)model_distance(point, &tuned[i]), w = exp(-d / 8);
        if (d < least) least = d;
        if (isnan(loss[i])) continue;
        sum += w * loss[i];
        weight += w;
    }
    (void)t;
    return sum / weight * (1 - exp(-least / 4));
}

static Err suggest_type(const TypeModel *t, Arena *a, size_t n)
{
    size_t n_given = 0, n_tuned = 0, n_pool = 20 * n + 400;
    ProblemSize *given = ARENA_ARRAY(a, t->m.n_sizes + 1, ProblemSize),
                *pool = ARENA_ARRAY(a, n_pool, ProblemSize);
    ModelPoint *tuned = ARENA_ARRAY(a, t->m.n_sizes + n + 1, ModelPoint);
    double *loss = ARENA_ARRAY(a, t->m.n_sizes + n + 1, double);
    TRY_ALLOC(given);
    TRY_ALLOC(pool);
    TRY_ALLOC(tuned);
    TRY_ALLOC(loss);
    for (size_t z = 0; z < t->m.n_sizes; z++) {
        if (t->held_out[z]) continue;
        loss[n_tuned] = t->quality[SELECT_MODEL_RESIDUAL].loss[n_tuned];
        tuned[n_tuned++] = model_point(&t->m.size[z]);
        given[n_given++] = *t->of[z];
    }
    n_pool = held_out_draw(t->pt, given, n_given, problem_type_hash(t->pt) + 1, n_pool, 2, pool);
    for (size_t i = 0; i < n && i < n_pool; i++) {
        size_t best = 0;
        double most = -1;
        for (size_t k = 0; k < n_pool; k++) {
            ModelSize z = model_size(t->pt, &pool[k], false);
            ModelPoint point = model_point(&z);
            double v = promise(t, &point, tuned, loss, n_tuned);
            if (v > most) best = k, most = v;
        }
        ModelSize z = model_size(t->pt, &pool[best], false);
        printf("          - Exact: [");
        for (int32_t d = 0; d < t->pt->TotalIndices; d++)
            printf("%s%lld", d ? ", " : "", (long long)pool[best].v[d]);
        printf("]\n");
        loss[n_tuned] = (double)NAN;
        tuned[n_tuned++] = model_point(&z);
    }
    return ERR_OK;
}

Err type_suggest(TypeModels *m, Arena *a, size_t n)
{
    for (size_t i = 0; n && i < m->n; i++) {
        const TypeModel *t = &m->type[i];
        Buf name;
        buf_init(&name);
        problem_type_name(t->pt, &name);
        if (t->fitted)
            printf("\n%s: sizes whose tuning promises most\n", buf_cstr(&name));
        else
            notice("%s: no sizes to suggest: fewer than %d were measured", buf_cstr(&name), TYPE_MODEL_SIZES);
        buf_fini(&name);
        if (t->fitted) TRY(suggest_type(t, a, n));
    }
    return ERR_OK;
}
