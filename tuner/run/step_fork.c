/* Step: makes groups of variants from the config's size-groups: every valid solution once, in Tensile's
 * order, with its name; counts the rejections of the others. See run.h.
 */
#include "run/held_out.h"
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "kernel/custom.h"
#include "space/naming.h"
#include "space/space.h"

enum { MAX_VARIANTS = 1000000, MAX_SIZES = 10000000 };

typedef VEC(Variant) Variants;

static void rejection_print(const Fork *f)
{
    if (f->verdict.rule == RULE_NONE) return;
    Buf why;
    buf_init(&why);
    verdict_text(&f->verdict, &why);
    notice("  permutation %lld: %s", (long long)f->p, buf_cstr(&why));
    buf_fini(&why);
}

/* Adds a valid solution that is no duplicate as a variant if it is a candidate. */
static Err variant_add(Run *r, Group *g, const Solution *s, int64_t permutation, Candidates *candidates,
                       Variants *list)
{
    CandidateKind kind;
    char hash[CONTENT_HEX + 1];
    TRY(candidates_add(candidates, s, &kind, hash));
    if (kind != CANDIDATE_NEW) return 0;
    if (list->n == MAX_VARIANTS)
        FAIL(ERR_INPUT, "%s:%d: more than %d valid solutions", r->config->path, g->config->line,
             MAX_VARIANTS);
    Variant v = {.s = *s, .hash = arena_dup(&r->arena, (Str){hash, CONTENT_HEX}), .permutation = permutation};
    TRY_ALLOC(v.hash.s);
    if (!VEC_PUSH(list, v)) FAIL(ERR_FAILED, "out of memory for %zu solutions", list->n);
    return (list->n & 63) == 0 ? run_check() : 0;
}

static Err variants_collect(Run *r, Group *g, Fork *fork, Candidates *candidates, Variants *list)
{
    bool print = r->config->globals.PrintSolutionRejectionReason, more = true, kept;
    for (;;) {
        TRY(fork_step(fork, &more, &kept));
        if (!more) break;
        if (kept) {
            TRY(variant_add(r, g, &fork->solution, fork->p, candidates, list));
        } else {
            Verdict *example = &g->example[fork->verdict.rule];
            if (example->rule == RULE_NONE) *example = fork->verdict;
            if (print) rejection_print(fork);
        }
        if ((++g->n_permutations & 0xfff) == 0) TRY(run_check());
    }
    g->rules = fork->counts;
    g->n_duplicates = fork->n_duplicates + candidates->n_same;
    g->n_same = candidates->n_same;
    memcpy(g->unwritten, candidates->unwritten, sizeof g->unwritten);
    g->n_unwritten = candidates->n_unwritten;
    return 0;
}

bool run_searches(const Run *r)
{
    const Globals *g = &r->config->globals;
    return (g->SearchMethod != GLOBAL_SEARCH_EXHAUSTIVE || g->TimeBudget.n) && !r->o->compile_only &&
           !g->GenerateSourcesAndExit;
}

DeriveLimits run_derive_limits(const Run *r)
{
    const Globals *g = &r->config->globals;
    return (DeriveLimits){.max_lds_bytes = g->MaxLDS,
                          .device_lds_bytes = g->DeviceLDS,
                          .max_depth_u = (int32_t)g->MaxDepthU,
                          .unroll_loop_efficiency = g->UnrollLoopEfficiencyEnable,
                          .source_matrix = g->SourceMatrixInstructions,
                          .writer = true};
}

static Err group_fork(Run *r, Group *g, Space *space, Variants *list)
{
    Deriver deriver;
    DeriveLimits limits = run_derive_limits(r);
    Fork fork;
    CustomFolder folder;
    custom_folder_init(&folder, &r->arena, r->target, path_dir(str_from(r->config->path)));
    limits.custom = &folder.kernels;
    TRY(deriver_init(&deriver, &g->problem->pt, r->target, &limits));
    TRY(space_of_size_group(space, r->config, &g->problem->pt, g->config));
    TRY(fork_init(&fork, space, &deriver));
    Candidates candidates;
    candidates_init(&candidates, r->target, &r->arena);
    Err e = variants_collect(r, g, &fork, &candidates, list);
    if (!e) e = custom_folder_check(&folder);
    candidates_fini(&candidates);
    fork_fini(&fork);
    return e;
}

/* Names solutions by one of the three ways: numbers, the parameters that differ, those of a search. */
typedef struct {
    const SerialNamer *serial; /* NULL: by namer */
    const Namer *namer;
} Names;

static Err name_put(Run *r, const Names *names, const Solution *s, Buf *name, Str *out)
{
    buf_reset(name);
    if (names->serial)
        serial_name(names->serial, s, name);
    else
        solution_name(names->namer, s, NAME_KERNEL, name);
    TRY(buf_check(name));
    *out = arena_dup(&r->arena, buf_view(name));
    TRY_ALLOC(out->s);
    return 0;
}

static Err names_put(Run *r, Group *g, const Names *names, Buf *name)
{
    for (size_t i = 0; i < g->n_variants; i++) {
        Variant *v = &g->variant[i];
        Solution shared;
        TRY(name_put(r, names, &v->s, name, &v->name));
        v->kernel_name = v->name;
        if (solution_shares_kernel(&v->s, &shared)) TRY(name_put(r, names, &shared, name, &v->kernel_name));
    }
    return 0;
}

/* Notes a solution, and the solution that gives its kernel where kernels are shared. */
static Err serial_note(SerialNamer *namer, const Solution *s)
{
    Solution shared;
    TRY(serial_namer_note(namer, s));
    return solution_shares_kernel(s, &shared) ? serial_namer_note(namer, &shared) : 0;
}

static Err names_serial(Run *r, Group *g, Buf *name)
{
    SerialNamer *namer;
    TRY(serial_namer_new(&namer));
    Err e = 0;
    for (size_t i = 0; !e && i < g->n_variants; i++) e = serial_note(namer, &g->variant[i].s);
    if (!e) e = serial_namer_done(namer);
    if (!e) e = names_put(r, g, &(Names){.serial = namer}, name);
    serial_namer_free(namer);
    return e;
}

static Err names_min(Run *r, Group *g, Buf *name)
{
    Namer namer;
    TRY(namer_init(&namer, &g->problem->pt));
    for (size_t i = 0; i < g->n_variants; i++) {
        Solution shared;
        namer_note(&namer, &g->variant[i].s);
        if (!solution_shares_kernel(&g->variant[i].s, &shared)) continue;
        namer_note(&namer, &shared);
        if (!r->config->globals.WorkGroupMappingSweep) continue;
        /* names of kernels must not change when a sweep adds solutions */
        shared.WorkGroupMappingXCC = shared.WorkGroupMappingXCCGroup = -1;
        namer_note(&namer, &shared);
    }
    return names_put(r, g, &(Names){.namer = &namer}, name);
}

Err group_names(Run *r, Group *g)
{
    Buf name;
    buf_init(&name);
    Err e = g->namer                        ? names_put(r, g, &(Names){.namer = g->namer}, &name)
            : r->config->globals.ShortNames ? names_serial(r, g, &name)
                                            : names_min(r, g, &name);
    buf_fini(&name);
    return e;
}

static void unwritten_print(const Group *g)
{
    for (size_t i = 0; i < g->n_unwritten; i++)
        warning("%.*s: %" PRIu64 " kernels cannot be written%s: %.*s", STR_ARG(g->name), g->unwritten[i].n,
                i + 1 == UNWRITTEN_MAX ? ", as in" : "", STR_ARG(g->unwritten[i].why));
}

/* Prints every reason with its count and first case for a group without a valid solution, or without one that
 * can be written. The run continues with the other groups. */
Err group_none_valid(Run *r, Group *g)
{
    Buf why;
    buf_init(&why);
    for (int rule = RULE_NONE + 1; rule < RULE_COUNT; rule++) {
        if (!g->rules.n[rule]) continue;
        buf_reset(&why);
        verdict_text(&g->example[rule], &why);
        notice("  %8llu %s, as in: %s", (unsigned long long)g->rules.n[rule], rule_name((RuleId)rule),
               buf_cstr(&why));
    }
    buf_fini(&why);
    return group_give_up(r, g, ERR_INPUT, "%s:%d: no %s for %.*s on %s among %llu permutations",
                         r->config->path, g->config->line,
                         g->n_unwritten ? "kernel that can be written" : "valid solution", STR_ARG(g->name),
                         r->target->name, (unsigned long long)g->n_permutations);
}

static Err group_sizes(Run *r, Group *g)
{
    return problem_sizes_list(&r->arena, &g->config->sizes, MAX_SIZES, &g->size, &g->n_sizes);
}

static Err group_variants(Run *r, Group *g)
{
    Space space = {0};
    Variants list = {0};
    TRY(size_group_check(r->config, g->config));
    Err e = group_fork(r, g, &space, &list);
    g->variant = e ? NULL : ARENA_ARRAY(&r->arena, list.n, Variant);
    if (!e && !g->variant) e = err_set(ERR_FAILED, "out of memory for %zu solutions", list.n);
    for (size_t i = 0; !e && i < list.n; i++) g->variant[i] = list.v[i];
    g->n_variants = e ? 0 : list.n;
    VEC_FINI(&list);
    space_fini(&space);
    if (e) return e;
    unwritten_print(g);
    if (g->n_variants == 0) return group_none_valid(r, g);
    TRY(group_names(r, g));
    if (g->config->n_custom_kernels)
        notice("%s:%d: CustomKernels are kernels in assembly, which are left out; CustomKernelName names "
               "programs written by hand",
               r->config->path, g->config->line);
    return 0;
}

/* Keeps the sizes of the shard; a group of which it has none is skipped. Held-out sizes stay last. */
static Err group_select(Run *r, Group *g, const SizesOnly *only)
{
    ProblemSize *kept = ARENA_ARRAY(&r->arena, only->n, ProblemSize);
    TRY_ALLOC(kept);
    if (only->n_all != g->n_sizes)
        FAIL(ERR_INPUT, "the shards are of %zu sizes of %.*s, the config has %zu", only->n_all,
             STR_ARG(g->name), g->n_sizes);
    const size_t n_given = g->n_sizes - g->n_held_out;
    g->n_held_out = 0;
    for (size_t i = 0; i < only->n; i++) {
        kept[i] = g->size[only->number[i]];
        g->n_held_out += only->number[i] >= (int64_t)n_given;
    }
    g->size = kept;
    g->n_sizes = only->n;
    g->skip = only->n == 0;
    return 0;
}

/* Size-groups are numbered per problem type over all problem groups. Tensile numbers them within each problem
 * group, and therefore overwrites the first of two groups of the same type. */
static Err group_name(Run *r, Group *g, Map *numbers)
{
    const Globals *o = &r->config->globals;
    Buf name;
    buf_init(&name);
    problem_type_name(&g->problem->pt, &name);
    int64_t *number = map_put(numbers, buf_view(&name), NULL);
    if (number) buf_printf(&name, "_%02lld", (long long)(*number)++);
    g->name = number ? arena_dup(&r->arena, buf_view(&name)) : STR_NULL;
    buf_fini(&name);
    if (!g->name.s) FAIL(ERR_FAILED, "out of memory for the name of a group");
    TRY(run_path(r, &g->dir, "%.*s/%.*s/00_Final", STR_ARG(o->BenchmarkProblemsPath), STR_ARG(g->name)));
    return run_path(r, &g->data, "%.*s/%.*s%s", STR_ARG(o->BenchmarkDataPath), STR_ARG(g->name),
                    o->CSVExportWinner ? "_CSVWinner" : "");
}

/* Skips a group whose results exist when ForceRedoBenchmarkProblems is off. */
static Err group_skip(Run *r, Group *g)
{
    Str csv = arena_printf(&r->arena, "%s.csv", g->data.s),
        yaml = arena_printf(&r->arena, "%s.yaml", g->data.s);
    if (!csv.s || !yaml.s) FAIL(ERR_FAILED, "out of memory");
    g->skip = !r->config->globals.ForceRedoBenchmarkProblems && file_exists(csv.s) && file_exists(yaml.s);
    if (g->skip)
        notice("%.*s: kept what is in %s (ForceRedoBenchmarkProblems is off)", STR_ARG(g->name), csv.s);
    return 0;
}

/* Reports solutions that were left out because another one has the same kernel, and the parameters that
 * differ. */
static void same_print(const Run *r, const Group *g)
{
    static const unsigned scope[] = {
        [TARGET_AMDGCN] = SCOPE_AMD, [TARGET_NVPTX] = SCOPE_NV, [TARGET_HOST] = SCOPE_CPU};
    Buf names;
    if (!g->n_same) return;
    buf_init(&names);
    for (size_t i = 0; i < g->config->n_params; i++) {
        const ForkParam *p = &g->config->param[i];
        if (p->n < 2 || !param_no_effect(p->param, scope[r->target->family])) continue;
        buf_printf(&names, "%s%s", names.n ? ", " : "; no effect here have ", p->param->name);
    }
    notice("%.*s: %" PRIu64 " more solutions have a kernel of these%s", STR_ARG(g->name), g->n_same,
           buf_cstr(&names));
    buf_fini(&names);
}

Err groups_make(Run *r)
{
    const Config *c = r->config;
    Map numbers;
    size_t n = 0, i = 0;
    for (size_t p = 0; p < c->n_problems; p++) n += c->problem[p].n_size_groups;
    r->group = ARENA_ARRAY(&r->arena, n, Group);
    TRY_ALLOC(r->group);
    r->n_groups = n;
    map_init(&numbers);
    Err e = 0;
    for (size_t p = 0; !e && p < c->n_problems; p++)
        for (size_t s = 0; !e && s < c->problem[p].n_size_groups; s++) {
            Group *g = &r->group[i++];
            *g = (Group){.problem = &c->problem[p], .config = &c->problem[p].size_group[s]};
            e = group_name(r, g, &numbers);
        }
    map_fini(&numbers);
    return e;
}

Err groups_sizes(Run *r)
{
    for (size_t i = 0; i < r->n_groups; i++) TRY(group_sizes(r, &r->group[i]));
    return held_out_add(r);
}

/* The sizes and solutions of the groups. The sizes of a shard are taken from the whole list with its held-out
 * sizes, before it is known which groups have valid solutions. */
static Err groups_fill(Run *r)
{
    Progress progress;
    progress_init(&progress, "fork", r->n_groups, 0);
    if (r->only) {
        if (r->n_only != r->n_groups)
            FAIL(ERR_INPUT, "the shards are of %zu size-groups, the config has %zu", r->n_only, r->n_groups);
        TRY(groups_sizes(r));
        for (size_t i = 0; i < r->n_groups; i++) TRY(group_select(r, &r->group[i], &r->only[i]));
    }
    for (size_t i = 0; i < r->n_groups; i++) {
        Group *g = &r->group[i];
        if (!g->skip && !r->only) TRY(group_skip(r, g)); /* shard.yaml names the kernels of all its groups */
        if (!g->skip && !run_searches(r)) TRY(group_variants(r, g));
        if (!g->skip && !r->only) TRY(group_sizes(r, g));
        progress_step(&progress, i + 1, "%zu solutions", g->n_variants);
    }
    return r->only ? 0 : held_out_add(r);
}

Err step_fork(Run *r)
{
    TRY(groups_make(r));
    TRY(groups_fill(r));
    for (size_t i = 0; i < r->n_groups; i++) {
        const Group *g = &r->group[i];
        if (g->skip || run_searches(r)) continue;
        notice("%.*s: %llu permutations, %zu solutions to try on %zu sizes", STR_ARG(g->name),
               (unsigned long long)g->n_permutations, g->n_variants, g->n_sizes - g->n_held_out);
        if (g->n_held_out)
            notice("%.*s: %zu more sizes are held out, to judge the library on", STR_ARG(g->name),
                   g->n_held_out);
        same_print(r, g);
    }
    return 0;
}
