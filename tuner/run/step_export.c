/* Step: writes the results of every group to Data/00_Final.csv and .yaml, and to 2_BenchmarkData. See run.h.
 */
#include "run/run.h"

#include <math.h>

#include "base/fs.h"
#include "base/own.h"
#include "run/export.h"
#include "logic/bench_data.h"

typedef struct {
    const Run *r;
    const Group *g;
} CusOf;

/* Number of compute units that the solution's tiles fill. */
static double cus_used(void *ctx, size_t candidate, size_t size)
{
    const CusOf *c = ctx;
    const Solution *s = &c->g->variant[candidate].s;
    const ProblemType *pt = &c->g->problem->pt;
    const ProblemSize *z = &c->g->size[size];
    double cus = c->r->device.n_cu > 0 ? (double)c->r->device.n_cu : 1;
    double tiles = ceil((double)size_m(pt, z) / s->MacroTile0) * ceil((double)size_n(pt, z) / s->MacroTile1) *
                   (double)size_batch(pt, z);
    double per_cu = tiles / (cus / (s->GlobalSplitU > 0 ? s->GlobalSplitU : 1) /
                             (s->LocalSplitU > 0 ? s->LocalSplitU : 1));
    double used = floor(per_cu * cus);
    return used < 1 ? 1 : used > cus ? cus : used;
}

static Err csv_make(Run *r, Group *g, Arena *a, Buf *text)
{
    const Globals *o = &r->config->globals;
    PlanView plan;
    CusOf cus = {r, g};
    int32_t dim[SIZE_KEY_MAX];
    TRY(plan_load(&r->store, a, g->plan, &plan));
    ExportOptions options = {.n_indices = g->problem->pt.TotalIndices,
                             .n_strides = size_key_strides(&g->problem->pt, dim),
                             .per_cu = o->PerformanceMetric == METRIC_CU_EFFICIENCY,
                             .extra_columns = o->CSVExportWinner,
                             .merge = o->CSVMergeSameProblemID,
                             .column = g->column,
                             .n_columns = g->n_columns,
                             .cus = cus_used,
                             .cus_ctx = &cus};
    return export_csv(&r->store, &plan, &options, text);
}

static Err yaml_make(Group *g, Arena *a, const char *path)
{
    const Solution **solutions = ARENA_ARRAY(a, g->n_columns, const Solution *);
    TRY_ALLOC(solutions);
    for (size_t i = 0; i < g->n_columns; i++) solutions[i] = &g->variant[g->column[i]].s;
    return bench_solutions_write(path, &g->config->sizes, solutions, g->n_columns);
}

static Err group_export(Run *r, Group *g, Arena *a, Buf *text)
{
    Str below, csv, yaml, data_csv, data_yaml;
    TRY(run_path(r, &below, "%.*s/%.*s/Data", STR_ARG(r->config->globals.BenchmarkProblemsPath),
                 STR_ARG(g->name)));
    csv = path_join(a, below.s, "00_Final.csv");
    yaml = path_join(a, below.s, "00_Final.yaml");
    data_csv = arena_printf(a, "%s.csv", g->data.s);
    data_yaml = arena_printf(a, "%s.yaml", g->data.s);
    if (!csv.s || !yaml.s || !data_csv.s || !data_yaml.s) FAIL(ERR_FAILED, "out of memory");
    TRY(dir_make(below.s));
    const char *const path[] = {csv.s, yaml.s, data_csv.s, data_yaml.s};
    for (int i = 0; i < 4; i++) TRY(path_no_link(path[i]));
    TRY(csv_make(r, g, a, text));
    TRY(file_write(csv.s, buf_view(text)));
    TRY(yaml_make(g, a, yaml.s));
    TRY(file_copy(yaml.s, data_yaml.s, SIZE_MAX / 2));
    return file_write(data_csv.s, buf_view(text)); /* written last, because it marks the group as done */
}

Err step_export(Run *r)
{
    Str dir;
    Arena a;
    Buf text;
    TRY(run_path(r, &dir, "%.*s", STR_ARG(r->config->globals.BenchmarkDataPath)));
    TRY(dir_make(dir.s));
    arena_init(&a, 0);
    buf_init(&text);
    Err e = 0;
    for (size_t i = 0; !e && i < r->n_groups; i++) {
        arena_reset(&a);
        buf_reset(&text);
        if (!r->group[i].skip) e = group_export(r, &r->group[i], &a, &text);
    }
    buf_fini(&text);
    arena_fini(&a);
    return e;
}
