/* --list-solutions and --list-targets. See list.h. */
#include "run/list.h"

#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "fmt/json.h"
#include "kernel/custom.h"
#include "problem/matrix_inst.h"
#include "space/space.h"
#include "run/candidates.h"
#include "run/part_choice.h"

/* COUNT_TEXTS: --count alone compares the texts of kernels, to count equal ones once, where a size-group has
 * at most this number of valid solutions. More would take minutes: then the writer's rules alone are counted.
 */
enum { JSON_FLUSH = 1 << 20, COUNT_TEXTS = 8192 };

typedef struct {
    const Options *options;
    const Config *config;
    const Target *target;
    FILE *out;
    Namer *namer;
    Arena *arena;
    Buf line;
    size_t n_without; /* size groups that have no valid solution */
    Json json;        /* with --json; its buffer goes to out from time to time */
    Buf json_text;
} List;

static Err read_config(const Options *o, int i, Arena *a, Config **out)
{
    ConfigOptions options = {.alternate = o->alternate};
    ConfigOverride *override = ARENA_ARRAY(a, (size_t)o->n_overrides + 1, ConfigOverride);
    TRY_ALLOC(override);
    for (int k = 0; k < o->n_overrides; k++) {
        const Override *from = &o->override[k];
        override[k] = (ConfigOverride){{from->key, from->key_n}, str_from(from->value)};
    }
    options.override = override;
    options.n_overrides = (size_t)o->n_overrides;
    if (o->alternate && o->n_operands > 1) options.sizes_path = o->operand[1];
    TRY(config_read(a, o->operand[i], &options, out));
    for (size_t k = 0; k < (*out)->notices.n; k++) warning("%.*s", STR_ARG((*out)->notices.line[k]));
    return ERR_OK;
}

/* The architecture of --arch, else of --part, else of the config's LibraryLogic, else this machine. */
static Err pick_target(const Options *o, const Config *c, const Target **out)
{
    const Part *part;
    TRY(part_option(o, &part));
    if (o->arch || part) {
        *out = target_find(str_from(o->arch ? o->arch : part->arch));
        if (!*out) FAIL(ERR_INPUT, "unknown architecture '%s'", o->arch);
        return ERR_OK;
    }
    *out = c->has_logic ? target_find(c->logic.ArchitectureName) : NULL;
    if (!*out) *out = target_host_level();
    return ERR_OK;
}

/* ---- judging the fork ---- */

/* rules: Tensile's rules, which decide whether a permutation is valid. writer: with the kernel writer's own
 * rules, which decide whether a valid solution can be written. */
typedef struct {
    CustomFolder custom; /* of the config's folder */
    Deriver rules, writer;
    RuleCases unwritten;         /* by the writer's rules */
    Verdict example[RULE_COUNT]; /* the first case of each rule */
    Candidates candidates;
    bool all_texts;       /* COUNT_TEXTS is no limit */
    uint64_t n_writeable; /* by the rules of the writer */
} Judge;

static Err judge_init(Judge *j, List *l, const ProblemType *pt)
{
    const Globals *g = &l->config->globals;
    DeriveLimits limits = {.max_lds_bytes = g->MaxLDS,
                           .device_lds_bytes = g->DeviceLDS,
                           .max_depth_u = (int32_t)g->MaxDepthU,
                           .unroll_loop_efficiency = g->UnrollLoopEfficiencyEnable,
                           .source_matrix = g->SourceMatrixInstructions};
    memset(j, 0, sizeof *j);
    j->all_texts = l->options->reasons || l->options->json;
    custom_folder_init(&j->custom, l->arena, l->target, path_dir(str_from(l->config->path)));
    limits.custom = &j->custom.kernels;
    TRY(deriver_init(&j->rules, pt, l->target, &limits));
    limits.writer = true;
    TRY(deriver_init(&j->writer, pt, l->target, &limits));
    candidates_init(&j->candidates, l->target, l->arena);
    return ERR_OK;
}

/* Counts a valid solution that is no duplicate by whether the kernel writer can write it. as: its permutation
 * before derivation. */
static Err judge_writer(Judge *j, const Solution *as)
{
    Solution s = *as;
    Verdict v;
    CandidateKind kind;
    char hash[CONTENT_HEX + 1];
    if (solution_derive(&j->writer, &s, &v)) {
        const bool texts = ++j->n_writeable <= COUNT_TEXTS || j->all_texts;
        return texts ? candidates_add(&j->candidates, &s, &kind, hash) : ERR_OK;
    }
    rule_cases_add(&j->unwritten, &v);
    return ERR_OK;
}

/* Kernels of the valid solutions. */
static uint64_t kernel_count(const Judge *j)
{
    const bool texts = j->n_writeable <= COUNT_TEXTS || j->all_texts;
    return texts ? j->candidates.n_written : j->n_writeable;
}

static void example_print(List *l, const Verdict *example, uint64_t n)
{
    buf_reset(&l->line);
    verdict_text(example, &l->line);
    fprintf(l->out, "%12llu %s, as in: %s\n", (unsigned long long)n, rule_name(example->rule),
            buf_cstr(&l->line));
}

static void examples_print(List *l, const RuleCounts *c, const Verdict *example)
{
    int order[RULE_COUNT];
    const int n = rule_counts_sorted(c, order);
    for (int i = 0; i < n; i++) example_print(l, &example[order[i]], c->n[order[i]]);
}

static void reasons_print(List *l, Judge *j, const Fork *fork)
{
    const Candidates *c = &j->candidates;
    fprintf(l->out, "%12llu valid\n%12llu duplicates\n", (unsigned long long)fork->n_unique,
            (unsigned long long)fork->n_duplicates);
    examples_print(l, &fork->counts, j->example);
    if (!fork->n_unique) return;
    fprintf(l->out, "of the valid ones\n%12llu written for %s\n", (unsigned long long)c->n_written,
            l->target->name);
    if (c->n_same)
        fprintf(l->out, "%12llu with the kernel of another: parameters without an effect differ\n",
                (unsigned long long)c->n_same);
    rule_cases_sort(&j->unwritten);
    for (int i = 0; i < j->unwritten.n; i++)
        example_print(l, &j->unwritten.of[i].first, j->unwritten.of[i].n);
    for (size_t i = 0; i < c->n_unwritten; i++)
        fprintf(l->out, "%12llu kernel-writer%s: %.*s\n", (unsigned long long)c->unwritten[i].n,
                i + 1 == UNWRITTEN_MAX ? ", as in" : "", STR_ARG(c->unwritten[i].why));
}

/* ---- JSON ---- */

static void json_flush(List *l)
{
    fwrite(l->json_text.s, 1, l->json_text.n, l->out);
    buf_reset(&l->json_text);
}

static void json_name(List *l)
{
    json_str(&l->json, NULL, buf_view(&l->line));
    if (l->json_text.n > JSON_FLUSH) json_flush(l);
}

static void json_case(List *l, const char *rule, Str text, uint64_t n)
{
    json_object(&l->json, NULL);
    json_cstr(&l->json, "rule", rule);
    json_str(&l->json, "text", text);
    json_int(&l->json, "count", (int64_t)n);
    json_object_end(&l->json);
}

static void json_verdict(List *l, const Verdict *v, uint64_t n)
{
    buf_reset(&l->line);
    verdict_text(v, &l->line);
    json_case(l, rule_name(v->rule), buf_view(&l->line), n);
}

static void json_rejections(List *l, const RuleCounts *c, const Verdict *example)
{
    int order[RULE_COUNT];
    const int n = rule_counts_sorted(c, order);
    json_array(&l->json, "rejections");
    for (int i = 0; i < n; i++) json_verdict(l, &example[order[i]], c->n[order[i]]);
    json_array_end(&l->json);
}

/* Valid solutions that no kernel is written for: the writer's rules that rejected them, and the reasons of
 * the kernel writer itself. */
static void json_unwritten(List *l, Judge *j)
{
    const Candidates *c = &j->candidates;
    rule_cases_sort(&j->unwritten);
    json_array(&l->json, "unwritten");
    for (int i = 0; i < j->unwritten.n; i++) json_verdict(l, &j->unwritten.of[i].first, j->unwritten.of[i].n);
    for (size_t i = 0; i < c->n_unwritten; i++)
        json_case(l, "kernel-writer", c->unwritten[i].why, c->unwritten[i].n);
    json_array_end(&l->json);
}

static void json_counts(List *l, const SizeGroup *group, int64_t permutations, Judge *j, const Fork *fork)
{
    json_int(&l->json, "line", group->line);
    json_str(&l->json, "problem_type", str_sub(str_from(l->namer->prefix), 0, strlen(l->namer->prefix) - 1));
    json_cstr(&l->json, "arch", l->target->name);
    json_int(&l->json, "permutations", permutations);
    json_int(&l->json, "valid", (int64_t)fork->n_unique);
    json_int(&l->json, "duplicates", (int64_t)fork->n_duplicates);
    json_int(&l->json, "written", (int64_t)j->candidates.n_written);
    json_int(&l->json, "same_kernel", (int64_t)j->candidates.n_same);
    json_rejections(l, &fork->counts, j->example);
    json_unwritten(l, j);
}

/* Enumerates the permutations of the fork once. print: prints names; otherwise the namer collects the values
 * that differ. write: solutions that cannot be written are counted, too. */
static Err walk(List *l, const Space *sp, Judge *j, bool print, bool write, Fork *fork)
{
    bool more = true, kept = false;
    NameKind kind = l->options->names ? NAME_SOLUTION : NAME_KERNEL;
    Err e = fork_init(fork, sp, &j->rules);
    while (!e && !(e = fork_step(fork, &more, &kept)) && more) {
        const RuleId rule = fork->verdict.rule;
        if (interrupted()) e = err_set(ERR_FAILED, "interrupted at permutation %lld", (long long)fork->p);
        if (rule != RULE_NONE && fork->counts.n[rule] == 1) j->example[rule] = fork->verdict;
        if (!kept) continue;
        if (write && !e) e = judge_writer(j, &fork->walk.current);
        if (!print) {
            namer_note(l->namer, &fork->solution);
            continue;
        }
        buf_reset(&l->line);
        solution_name(l->namer, &fork->solution, kind, &l->line);
        if (l->options->json)
            json_name(l);
        else
            fprintf(l->out, "%s\n", buf_cstr(&l->line));
    }
    return e;
}

static Err list_group(List *l, const SizeGroup *group, const Space *sp, Judge *j)
{
    Fork fork;
    int64_t size = 0;
    TRY(space_size(sp, &size));
    if (l->options->names) namer_show_all(l->namer);
    bool json = l->options->json, count = l->options->count, reasons = l->options->reasons;
    bool two_passes = !count && (json || !l->options->names);
    Err e = walk(l, sp, j, !count && !two_passes, count || reasons || json, &fork);
    if (!e) e = custom_folder_check(&j->custom);
    uint64_t n_unique = fork.n_unique;
    if (json && !e) {
        json_object(&l->json, NULL);
        json_counts(l, group, size, j, &fork);
        json_array(&l->json, "solutions");
    }
    if (count && !json && !e)
        fprintf(l->out, "%lld/%llu/%llu\n", (long long)size, (unsigned long long)n_unique,
                (unsigned long long)kernel_count(j));
    if (reasons && !json && !e) reasons_print(l, j, &fork);
    if (!e && n_unique == 0) {
        buf_reset(&l->line);
        rule_counts_summary(&fork.counts, &l->line);
        warning("%s:%d: no valid solution of %lld: %s", l->config->path, group->line, (long long)size,
                buf_cstr(&l->line));
        l->n_without++;
    }
    fork_fini(&fork);
    if (!e && two_passes) {
        e = walk(l, sp, j, true, false, &fork);
        fork_fini(&fork);
    }
    if (json) {
        json_array_end(&l->json);
        json_object_end(&l->json);
    }
    return e;
}

static Err judge_group(List *l, const ProblemGroup *pg, const SizeGroup *group, const Space *sp)
{
    Judge *j = ARENA_NEW(l->arena, Judge);
    TRY_ALLOC(j);
    TRY(namer_init(l->namer, &pg->pt));
    TRY(judge_init(j, l, &pg->pt));
    Err e = list_group(l, group, sp, j);
    candidates_fini(&j->candidates);
    return e;
}

static Err list_config(List *l)
{
    for (size_t i = 0; i < l->config->n_problems; i++) {
        const ProblemGroup *pg = &l->config->problem[i];
        for (size_t k = 0; k < pg->n_size_groups; k++) {
            const SizeGroup *group = &pg->size_group[k];
            Space sp;
            TRY(size_group_check(l->config, group));
            for (size_t c = 0; c < group->n_custom_kernels; c++)
                warning("%s:%d: CustomKernels: '%.*s' is a kernel in assembly, which is left out; "
                        "CustomKernelName names programs written by hand",
                        l->config->path, group->line, STR_ARG(group->custom_kernel[c]));
            TRY(space_of_size_group(&sp, l->config, &pg->pt, group));
            Err e = judge_group(l, pg, group, &sp);
            space_fini(&sp);
            TRY(e);
        }
    }
    return ERR_OK;
}

static Err list_file(List *l, int i)
{
    Config *config = NULL;
    TRY(read_config(l->options, i, l->arena, &config));
    l->config = config;
    TRY(pick_target(l->options, config, &l->target));
    if (!config->n_problems) FAIL(ERR_INPUT, "%s: there are no BenchmarkProblems", config->path);
    return list_config(l);
}

Err list_solutions(const Options *o, FILE *f)
{
    Arena arena;
    List l = {.options = o, .out = f, .arena = &arena};
    Err e = ERR_OK;
    arena_init(&arena, 0);
    buf_init(&l.line);
    buf_init(&l.json_text);
    l.json = json_to(&l.json_text);
    l.namer = ARENA_NEW(&arena, Namer);
    if (!l.namer) e = err_set(ERR_FAILED, "out of memory for the list of solutions");
    if (o->json) {
        json_object(&l.json, NULL);
        json_cstr(&l.json, "format", "tuner-solutions");
        json_int(&l.json, "version", 1);
        json_array(&l.json, "groups");
    }
    for (int i = 0; i < (o->alternate ? 1 : o->n_operands) && !e; i++) e = list_file(&l, i);
    if (o->json && !e) {
        json_array_end(&l.json);
        json_object_end(&l.json);
        buf_putc(&l.json_text, '\n');
        json_flush(&l);
        e = buf_check(&l.json_text);
    }
    buf_fini(&l.json_text);
    buf_fini(&l.line);
    arena_fini(&arena);
    if (!e && fflush(f) && errno != EPIPE) e = err_set(ERR_FAILED, "cannot write the list of solutions");
    return e;
}

/* ---- targets ---- */

static void list_head(const Target *t, FILE *f)
{
    static const char *const matrix[] = {[MATRIX_UNIT_NONE] = "no matrix unit",
                                         [MATRIX_UNIT_MFMA] = "MFMA",
                                         [MATRIX_UNIT_WMMA] = "WMMA",
                                         [MATRIX_UNIT_MMA] = "tensor cores",
                                         [MATRIX_UNIT_WGMMA] = "tensor cores"};
    static const char *const f8[] = {
        [F8_NONE] = "", [F8_FNUZ] = "8-bit floats (FNUZ), ", [F8_OCP] = "8-bit floats (OCP), "};
    fprintf(f, "%s: %s, ", t->name, target_family_name(t->family));
    if (!target_family(t)->is_gpu) {
        fprintf(f, "vectors of %d bits\n", t->vector_bits);
        return;
    }
    fprintf(f, "waves of %d, %d KiB %s, %s, %sup to %d compute units\n", t->wave_size, t->lds_bytes / 1024,
            target_family(t)->local_memory, matrix[matrix_unit_of(t)], f8[t->f8], t->n_cu);
}

/* Prints the parts of a target. Parts of another target's row are named by that row. */
static void list_parts(const Target *t, FILE *f)
{
    const char *as = NULL;
    for (size_t i = 0; part_at(i); i++) {
        const Part *p = part_at(i);
        if (!part_is_of(p, t)) continue;
        if (strcmp(p->arch, t->name) != 0) {
            as = p->arch;
            continue;
        }
        int n = fprintf(f, "  %-22s %3d CUs  %-16s", p->name, p->n_cu, p->schedule);
        fprintf(f, n > 0 && p->ids[0] ? " %s\n" : "\n", p->ids);
    }
    if (as) fprintf(f, "  the parts of %s\n", as);
}

Err list_targets(FILE *f)
{
    for (size_t i = 0; target_at(i); i++) {
        list_head(target_at(i), f);
        list_parts(target_at(i), f);
    }
    return ERR_OK;
}
