/* Cuts a run into shards. See shard_plan.h. */
#include "run/shard_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/own.h"
#include "base/version.h"
#include "run/list.h"
#include "run/shard_deal.h"

enum { CONFIG_BYTES = 256 << 20 };

/* ---- files ---- */

/* The files of a plan; text: their contents, in the run's arena. */
typedef struct {
    ShardFile file[SHARD_FILES_MAX];
    Str text[SHARD_FILES_MAX];
    size_t n;
} Files;

static Err file_take(Run *r, Files *list, const char *path, const char *name)
{
    char hash[SHA256_HEX + 1];
    if (list->n == SHARD_FILES_MAX) FAIL(ERR_INPUT, "more than %d files of a config", SHARD_FILES_MAX);
    TRY(file_read(&r->arena, path, CONFIG_BYTES, &list->text[list->n]));
    sha256_hex(list->text[list->n], hash);
    ShardFile *f = &list->file[list->n++];
    *f = (ShardFile){arena_dup(&r->arena, str_from(name)), arena_dup(&r->arena, (Str){hash, SHA256_HEX})};
    TRY_ALLOC(f->name.s && f->hash.s ? f : NULL);
    return 0;
}

static bool node_names(const Node *value, const Param *p, Str name)
{
    return p->id == PARAM_CustomKernelName && value->kind == NODE_STR && str_eq(value->text, name);
}

/* Whether a solution of the group can have that kernel written by hand. */
static bool group_names_kernel(const SizeGroup *g, Str name)
{
    for (size_t i = 0; i < g->n_params; i++)
        for (size_t k = 0; k < g->param[i].n; k++)
            if (node_names(g->param[i].value[k], g->param[i].param, name)) return true;
    for (size_t i = 0; i < g->n_groups; i++)
        for (size_t k = 0; k < g->group[i].n; k++)
            for (size_t m = 0; m < g->group[i].entry[k].n; m++)
                if (node_names(g->group[i].entry[k].assign[m].value, g->group[i].entry[k].assign[m].param,
                               name))
                    return true;
    return false;
}

static Err programs_take(Run *r, Files *list)
{
    Str *name, dir = arena_dup(&r->arena, path_dir(str_from(r->config->path)));
    size_t n;
    TRY_ALLOC(dir.s);
    TRY(dir_list(&r->arena, dir.s, ".tile", false, &name, &n));
    for (size_t i = 0; i < n; i++) {
        bool named = false;
        for (size_t k = 0; !named && k < r->n_groups; k++)
            named = group_names_kernel(r->group[k].config, path_stem(name[i]));
        Str path = path_join(&r->arena, dir.s, name[i].s);
        TRY_ALLOC(path.s);
        if (named) TRY(file_take(r, list, path.s, name[i].s));
    }
    return 0;
}

static Err files_take(Run *r, ShardPlan *p, Files *list)
{
    static const char *const names[] = {"config.yaml", "sizes.yaml"};
    p->n_configs = (size_t)r->o->n_operands - 1;
    for (size_t i = 0; i < p->n_configs; i++) TRY(file_take(r, list, r->o->operand[i], names[i]));
    TRY(programs_take(r, list));
    p->file = list->file;
    p->n_files = list->n;
    return 0;
}

/* ---- groups and sizes, dealt to shards ---- */

static Str text_or_empty(const char *s) { return s ? str_from(s) : STR(""); }

static Err options_take(Run *r, ShardOptions *out)
{
    const Options *o = r->o;
    *out = (ShardOptions){.simulate = o->simulate,
                          .alternate = o->alternate,
                          .allow_spills = o->allow_spills,
                          .part = text_or_empty(o->part),
                          .cc = text_or_empty(o->cc),
                          .cxx = text_or_empty(o->cxx),
                          .n_globals = (size_t)o->n_overrides};
    TRY_ALLOC(out->global = ARENA_ARRAY(&r->arena, out->n_globals, ShardGlobal));
    for (int i = 0; i < o->n_overrides; i++)
        out->global[i] =
            (ShardGlobal){{o->override[i].key, o->override[i].key_n}, str_from(o->override[i].value)};
    return 0;
}

static Err groups_take(Run *r, ShardPlan *p)
{
    p->n_groups = r->n_groups;
    TRY_ALLOC(p->group = ARENA_ARRAY(&r->arena, r->n_groups, Str));
    TRY_ALLOC(p->group_sizes = ARENA_ARRAY(&r->arena, r->n_groups, int64_t));
    for (size_t i = 0; i < r->n_groups; i++) {
        p->group[i] = r->group[i].name;
        p->group_sizes[i] = (int64_t)r->group[i].n_sizes;
    }
    return 0;
}

/* Sizes of all groups with what they are expected to cost; setup[group]: of its kernels. */
static Err sizes_take(Run *r, DealSize **out, size_t *n, double *setup)
{
    *n = 0;
    for (size_t i = 0; i < r->n_groups; i++) *n += r->group[i].n_sizes;
    DealSize *size = ARENA_ARRAY(&r->arena, *n, DealSize);
    TRY_ALLOC(size);
    *out = size;
    for (size_t i = 0; i < r->n_groups; i++) {
        const Group *g = &r->group[i];
        const ProblemType *pt = &g->problem->pt;
        GroupCost cost;
        TRY(run_check());
        TRY(group_cost(r, g, &cost));
        setup[i] = cost.setup;
        for (size_t z = 0; z < g->n_sizes; z++)
            *size++ = (DealSize){.group = (int32_t)i,
                                 .number = (int64_t)z,
                                 .m = size_m(pt, &g->size[z]),
                                 .n = size_n(pt, &g->size[z]),
                                 .k = size_k(pt, &g->size[z]),
                                 .seconds = size_cost(r, g, &cost, &g->size[z]),
                                 .held_out = z + g->n_held_out >= g->n_sizes};
    }
    return 0;
}

/* Sizes of one shard, in order, as ranges. */
static Err ranges_make(Arena *a, const DealSize *size, size_t n, Shard *out)
{
    TRY_ALLOC(out->range = ARENA_ARRAY(a, n, ShardRange));
    for (size_t i = 0; i < n; i++) {
        ShardRange *last = out->n_ranges ? &out->range[out->n_ranges - 1] : NULL;
        if (last && last->group == size[i].group && last->last + 1 == size[i].number)
            last->last++;
        else
            out->range[out->n_ranges++] = (ShardRange){size[i].group, size[i].number, size[i].number};
    }
    out->n_sizes = n;
    return 0;
}

static Err shards_deal(Run *r, ShardPlan *p)
{
    DealSize *size = NULL;
    size_t n;
    double *setup = ARENA_ARRAY(&r->arena, r->n_groups, double);
    double *seconds = ARENA_ARRAY(&r->arena, (size_t)r->o->shards, double);
    p->n = (size_t)r->o->shards;
    p->shard = ARENA_ARRAY(&r->arena, p->n, Shard);
    TRY_ALLOC(setup && seconds ? p->shard : NULL);
    TRY(sizes_take(r, &size, &n, setup));
    Err e = deal(size, n, setup, p->n);
    if (e) return err_context(e, "%s: --shards: ", r->config->path);
    deal_seconds(size, n, setup, seconds);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && size[to].shard == size[from].shard;) to++;
        Shard *s = &p->shard[size[from].shard];
        s->seconds = seconds[size[from].shard];
        TRY(ranges_make(&r->arena, size + from, to - from, s));
    }
    return 0;
}

/* ---- the command ---- */

/* The architecture is fixed here, because machines may differ. */
static Err target_of_plan(Run *r)
{
    Str arch;
    TRY(run_target(r));
    if (run_wanted_arch(r).n || r->o->simulate) return 0;
    TRY(first_device(r->o, &r->arena, &arch));
    r->target = target_find(arch);
    return 0;
}

static Err config_check(const Run *r)
{
    const Config *c = r->config;
    if (!c->has_problems) FAIL(ERR_INPUT, "%s: it has no BenchmarkProblems to cut into shards", c->path);
    if (c->globals.GenerateSourcesAndExit)
        FAIL(ERR_INPUT, "%s: GenerateSourcesAndExit measures nothing that shards could share", c->path);
    if (c->globals.given[GLOBAL_KEY_WorkGroupMappingSweep] && c->globals.WorkGroupMappingSweep > 0)
        notice("%s: WorkGroupMappingSweep: shards measure no work-group orders besides those of the config; "
               "list further ones there (WorkGroupMapping, WorkGroupMappingXCC), or tune without shards",
               c->path);
    return 0;
}

static Err plan_make(Run *r, ShardPlan *p)
{
    *p = (ShardPlan){.version = STR(TUNER_VERSION), .arch = str_from(r->target->name)};
    TRY(options_take(r, &p->options));
    TRY(groups_take(r, p));
    return shards_deal(r, p);
}

static Err file_put(Run *r, Str name, Str text)
{
    Str path = path_join(&r->arena, r->outdir, name.s);
    TRY_ALLOC(path.s);
    TRY(path_no_link(path.s));
    return file_write(path.s, text);
}

/* The plan is written last: a folder with one is complete. */
static Err plan_write(Run *r, const Files *files, Str text)
{
    Str before, path = path_join(&r->arena, r->outdir, SHARD_PLAN_FILE);
    TRY_ALLOC(path.s);
    if (file_exists(path.s)) {
        TRY(file_read(&r->arena, path.s, CONFIG_BYTES, &before));
        if (!str_eq(before, text))
            FAIL(ERR_INPUT,
                 "'%s' is another plan, of another config, other options or another number of "
                 "shards: remove the folder or name another one",
                 path.s);
    }
    TRY(dir_make(r->outdir));
    for (size_t i = 0; i < files->n; i++) TRY(file_put(r, files->file[i].name, files->text[i]));
    return file_put(r, STR(SHARD_PLAN_FILE), text);
}

static void plan_report(const Run *r, const ShardPlan *p)
{
    double most = 0, sum = 0;
    size_t n_sizes = 0;
    for (size_t i = 0; i < p->n; i++) {
        sum += p->shard[i].seconds;
        most = p->shard[i].seconds > most ? p->shard[i].seconds : most;
        n_sizes += p->shard[i].n_sizes;
    }
    notice(
        "%zu shards of %zu sizes for %s in %s; the largest is expected to take %.0f %% longer than the mean\n"
        "one machine: tuner run-shard %s 0, and so on to %zu\n"
        "Slurm:       sbatch --array=0-%zu scripts/slurm.sbatch %s\n"
        "then:        tuner gather %s",
        p->n, n_sizes, p->arch.s, r->outdir, 100 * (most / (sum / (double)p->n) - 1), r->outdir, p->n - 1,
        p->n - 1, r->outdir, r->outdir);
}

static Err shard(Run *r, Files *files)
{
    ShardPlan p;
    Buf text;
    TRY(run_config(r, r->o, r->o->n_operands - 1));
    TRY(config_check(r));
    TRY(target_of_plan(r));
    TRY(groups_make(r));
    TRY(groups_sizes(r));
    TRY(plan_make(r, &p));
    TRY(files_take(r, &p, files));
    buf_init(&text);
    Err e = shard_plan_print(&p, &text);
    if (!e) e = plan_write(r, files, buf_view(&text));
    buf_fini(&text);
    if (!e) plan_report(r, &p);
    return e;
}

Err shard_command(const Options *o)
{
    Run r = {.o = o, .store.lock_fd = -1, .outdir = o->operand[o->n_operands - 1]};
    if (o->shards < 1) FAIL(ERR_INPUT, "tuner shard: --shards N is missing: into how many parts?");
    Files *files = calloc(1, sizeof *files);
    TRY_ALLOC(files);
    arena_init(&r.arena, 0);
    Err e = shard(&r, files);
    arena_fini(&r.arena);
    free(files);
    return e;
}
