/* Step: makes 3_LibraryLogic from 2_BenchmarkData; where two solutions are close, the store's samples decide.
 * See run.h. */
#include "run/run.h"
#include "space/custom.h"

#include <inttypes.h>
#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/own.h"
#include "logic/analyze.h"
#include "report/winners.h"
#include "run/set_aside.h"
#include "run/type_model.h"

/* A group's results by size, for the analyzer. */
typedef struct {
    Group *g;
    PlanView plan;
    Map size; /* bytes of the integers -> row + 1 */
} GroupSamples;

typedef struct {
    Run *r;
    GroupSamples *group;
    size_t n;
    Arena arena, scratch;
    TypeModels models;
    Err failed;
} Samples;

static Str size_bytes(const int64_t *v, size_t n) { return (Str){(const char *)v, n * sizeof *v}; }

static Err samples_index(Samples *s, Group *g, GroupSamples *out)
{
    out->g = g;
    map_init(&out->size);
    TRY(plan_load(&s->r->store, &s->arena, g->plan, &out->plan));
    for (size_t i = 0; i < g->n_sizes; i++) {
        int64_t *row = map_put(&out->size, size_bytes(g->size[i].v, (size_t)g->size[i].n), NULL);
        if (!row) FAIL(ERR_FAILED, "out of memory for %zu sizes", g->n_sizes);
        if (*row == 0) *row = (int64_t)i + 1;
    }
    return 0;
}

static GroupSamples *samples_of(Samples *s, Str data)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(path_base(s->group[i].g->data), data)) return &s->group[i];
    return NULL;
}

/* Analyze's callback: fills in the group's chosen. */
static Err chosen_take(void *ctx, Str data, const int64_t *size, size_t n_size, int64_t column)
{
    Samples *s = ctx;
    GroupSamples *group = samples_of(s, data);
    int64_t *row = group ? map_get(&group->size, size_bytes(size, n_size)) : NULL;
    if (!row || column >= (int64_t)group->g->n_columns) return 0;
    group->g->chosen[*row - 1] = column < 0 ? WINNER_ELSEWHERE : group->g->column[column];
    return 0;
}

static Err chosen_init(Samples *s)
{
    for (size_t i = 0; i < s->n; i++) {
        Group *g = s->group[i].g;
        TRY_ALLOC(g->chosen = ARENA_ARRAY(&s->r->arena, g->n_sizes, size_t));
        for (size_t z = 0; z < g->n_sizes; z++) g->chosen[z] = WINNER_NONE;
    }
    return 0;
}

/* Sizes that are listed twice get the same choice. */
static void chosen_spread(const Samples *s)
{
    for (size_t i = 0; i < s->n; i++) {
        Group *g = s->group[i].g;
        for (size_t z = 0; z < g->n_sizes; z++) {
            int64_t *row = map_get(&s->group[i].size, size_bytes(g->size[z].v, (size_t)g->size[z].n));
            if (row) g->chosen[z] = g->chosen[*row - 1];
            if (z + g->n_held_out >= g->n_sizes) g->chosen[z] = WINNER_HELD_OUT;
        }
    }
}

/* The csv lists all sizes once per run. The row is found by its number, because rows of equal sizes may
 * differ in strides. */
static bool samples_get(void *ctx, Str data, size_t row, size_t solution, AnalyzeInterval *out)
{
    Samples *s = ctx;
    GroupSamples *group = samples_of(s, data);
    if (!group || !group->plan.n_sizes || solution >= group->g->n_columns) return false;
    size_t z = row % group->plan.n_sizes;
    Result *all;
    arena_reset(&s->scratch);
    Err e = results_get(&s->r->store, &s->scratch, &group->plan, z, &all);
    if (e) {
        s->failed = e;
        return false;
    }
    const Result *result = &all[group->g->column[solution]];
    if (!result->good || result->ns.n < 2) return false;
    double flops = group->plan.size[z].flops;
    *out = (AnalyzeInterval){gflops_of(flops, result->ns.median), gflops_of(flops, result->ns.hi),
                             gflops_of(flops, result->ns.lo)};
    return true;
}

static Err samples_init(Samples *s, Run *r)
{
    *s = (Samples){.r = r};
    arena_init(&s->arena, 0);
    arena_init(&s->scratch, 0);
    s->group = ARENA_ARRAY(&s->arena, r->n_groups, GroupSamples);
    TRY_ALLOC(s->group);
    for (size_t i = 0; i < r->n_groups; i++)
        if (!r->group[i].skip) TRY(samples_index(s, &r->group[i], &s->group[s->n++]));
    TRY(type_models_make(r, &s->arena, &s->models));
    type_models_report(&s->models);
    return 0;
}

static void samples_fini(Samples *s)
{
    for (size_t i = 0; i < s->n; i++) map_fini(&s->group[i].size);
    arena_fini(&s->arena);
    arena_fini(&s->scratch);
}

/* The architecture of the logic: the config's, unless that is 'host' or another architecture was requested.
 */
static Str logic_arch(const Run *r)
{
    Str name = r->config->logic.ArchitectureName;
    if (r->o->arch || name.n == 0 || str_eq_c(name, "host") || str_eq_c(name, "gfx000"))
        return str_from(r->target->name);
    return name;
}

/* True for the results of a group of the config: "Cijk_Ailk_Bljk_SB_00.csv" or ".yaml". */
static bool is_result(const void *ctx, Str name)
{
    const Run *r = ctx;
    for (size_t i = 0; i < r->n_groups; i++)
        if (!r->group[i].given_up && str_eq(path_stem(name), path_base(r->group[i].data))) return true;
    return false;
}

static bool is_logic(const void *ctx, Str name)
{
    const Run *r = ctx;
    for (size_t i = 0; i < r->n_logic_files; i++)
        if (str_eq(r->logic_file[i], name)) return true;
    return false;
}

static Err logic_written(void *ctx, Str name)
{
    Run *r = ctx;
    Str *more = ARENA_ARRAY(&r->arena, r->n_logic_files + 1, Str);
    TRY_ALLOC(more);
    if (r->n_logic_files) memcpy(more, r->logic_file, r->n_logic_files * sizeof *more);
    more[r->n_logic_files] = arena_dup(&r->arena, name);
    TRY_ALLOC(more[r->n_logic_files++].s);
    r->logic_file = more;
    return 0;
}

/* The analysis reads every csv of the folder, so files of other configs are moved. Without benchmarks in the
 * config the files are the user's and stay. */
static Err old_results_aside(Run *r)
{
    static const char *const suffix[] = {".csv", ".yaml", NULL};
    if (!r->n_groups) return 0;
    return set_aside(r, &(Leftovers){.below = r->config->globals.BenchmarkDataPath,
                                     .what = "result files",
                                     .suffix = suffix,
                                     .keep = is_result,
                                     .ctx = r});
}

/* createlib packs what the analysis wrote. Other files are moved, because a later tuner-createlib on the
 * folder would pack them. */
static Err old_logic_aside(Run *r)
{
    static const char *const suffix[] = {".yaml", ".yml", NULL};
    return set_aside(r, &(Leftovers){.below = r->config->globals.LibraryLogicPath,
                                     .what = "logic files",
                                     .suffix = suffix,
                                     .recursive = true,
                                     .keep = is_logic,
                                     .ctx = r});
}

/* DeviceNames of the logic: the config's, and in a simulated run the simulated device, which marks such
 * logic. */
static Err devices_of(Run *r, AnalyzeOptions *o)
{
    const LogicSettings *logic = &r->config->logic;
    if (!r->device.is_simulated) {
        if (logic->n_DeviceNames) {
            o->device = logic->DeviceNames;
            o->n_devices = logic->n_DeviceNames;
        }
        return 0;
    }
    Str *name = ARENA_ARRAY(&r->arena, logic->n_DeviceNames + 1, Str);
    TRY_ALLOC(name);
    for (size_t i = 0; i < logic->n_DeviceNames; i++) name[i] = logic->DeviceNames[i];
    name[logic->n_DeviceNames] = r->device.name;
    o->device = name;
    o->n_devices = logic->n_DeviceNames + 1;
    return 0;
}

/* Programs of kernels that are written by hand stand beside the logic files, where createlib finds them. */
static Err programs_write(Run *r, const char *dir)
{
    for (size_t i = 0; i < r->n_groups; i++)
        for (size_t j = 0; j < r->group[i].n_variants; j++) {
            const CustomKernel *k = r->group[i].variant[j].s.custom;
            if (!k) continue;
            Str path = arena_printf(&r->arena, "%s/%.*s.tile", dir, STR_ARG(k->name));
            TRY_ALLOC(path.s);
            TRY(file_write(path.s, k->text));
        }
    return ERR_OK;
}

static Err analyze(Run *r, Samples *samples, AnalyzeReport *report)
{
    const Config *c = r->config;
    AnalyzeOptions o;
    Str data, logic;
    TRY(run_path(r, &data, "%.*s", STR_ARG(c->globals.BenchmarkDataPath)));
    TRY(run_path(r, &logic, "%.*s", STR_ARG(c->globals.LibraryLogicPath)));
    TRY(dir_make(logic.s));
    TRY(dir_no_links(logic.s));
    TRY(old_results_aside(r));
    analyze_options_init(&o);
    o.data_dir = data.s;
    o.logic_dir = logic.s;
    o.schedule = arena_dup(&r->arena, c->logic.ScheduleName).s;
    o.arch = arena_dup(&r->arena, logic_arch(r)).s;
    if (!o.schedule || !o.arch) FAIL(ERR_FAILED, "out of memory");
    if (c->logic.CUCount > 0) o.cu_count = (int32_t)c->logic.CUCount;
    if (c->logic.IsAPU >= 0) o.is_apu = (int32_t)c->logic.IsAPU;
    TRY(devices_of(r, &o));
    o.solution_importance_min = c->logic.SolutionImportanceMin;
    o.solution_selection_alg = (int)c->globals.SolutionSelectionAlg;
    o.expand_ranges = c->globals.ExpandRanges;
    o.dict = c->globals.DictLibraryLogic;
    o.takes = r->n_groups ? is_result : NULL;
    o.takes_ctx = r;
    o.written = logic_written;
    o.written_ctx = r;
    o.chosen = chosen_take;
    o.chosen_ctx = samples;
    o.samples = samples_get;
    o.samples_ctx = samples;
    type_models_callbacks(&samples->models, &o.model);
    TRY(chosen_init(samples));
    TRY(analyze_run(&o, report));
    TRY(programs_write(r, logic.s));
    TRY(samples->failed);
    chosen_spread(samples);
    TRY(type_regret_report(&samples->models, &samples->arena));
    TRY(type_suggest(&samples->models, &samples->arena, (size_t)r->o->suggest_sizes));
    return old_logic_aside(r);
}

/* True when logic exists and ForceRedoLibraryLogic is off. */
static bool kept(Run *r)
{
    Str dir, *names;
    size_t n = 0;
    if (r->config->globals.ForceRedoLibraryLogic) return false;
    if (run_path(r, &dir, "%.*s", STR_ARG(r->config->globals.LibraryLogicPath)) || !dir_exists(dir.s))
        return false;
    return !dir_list(&r->arena, dir.s, ".yaml", false, &names, &n) && n > 0;
}

Err step_analyze(Run *r)
{
    Samples samples;
    AnalyzeReport report = {0};
    if (kept(r)) {
        notice("analyze: kept what is in %.*s (ForceRedoLibraryLogic is off)",
               STR_ARG(r->config->globals.LibraryLogicPath));
        return 0;
    }
    TRY(run_check());
    Err e = samples_init(&samples, r);
    if (!e) e = analyze(r, &samples, &report);
    samples_fini(&samples);
    if (e) return e;
    notice("analyze: %zu sizes, %zu solutions kept, %zu sizes too close to call (%zu of them given to a "
           "solution that wins "
           "elsewhere)",
           report.n_sizes, report.n_solutions, report.n_ties, report.n_tie_moves);
    r->n_lost = report.n_lost;
    return 0;
}
