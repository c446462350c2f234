/* See list.h. */
#include "run/list.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "space/space.h"
#include "run/part_choice.h"

typedef struct {
    const Options *options;
    const Config *config;
    const Target *target;
    FILE *out;
    Namer *namer;
    Arena *arena;
    Buf line;
    size_t n_without; /* size groups that have no valid solution */
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

/* --arch, else that of --part, else that of the config's LibraryLogic, else this machine. */
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

/* Walks the fork once. print: names go out; else the namer notes what differs. */
static Err walk(List *l, const Space *sp, const Deriver *deriver, bool print, Fork *fork)
{
    bool more = true, kept = false;
    NameKind kind = l->options->names ? NAME_SOLUTION : NAME_KERNEL;
    Err e = fork_init(fork, sp, deriver);
    while (!e && !(e = fork_step(fork, &more, &kept)) && more) {
        if (interrupted()) e = err_set(ERR_FAILED, "interrupted at permutation %lld", (long long)fork->p);
        if (!kept) continue;
        if (!print) {
            namer_note(l->namer, &fork->solution);
            continue;
        }
        buf_reset(&l->line);
        solution_name(l->namer, &fork->solution, kind, &l->line);
        fprintf(l->out, "%s\n", buf_cstr(&l->line));
    }
    return e;
}

static Err list_group(List *l, const ProblemGroup *pg, const SizeGroup *group, const Space *sp)
{
    Deriver deriver;
    Fork fork;
    int64_t size = 0;
    const Globals *g = &l->config->globals;
    DeriveLimits limits = {.max_lds_bytes = g->MaxLDS,
                           .device_lds_bytes = g->DeviceLDS,
                           .max_depth_u = (int32_t)g->MaxDepthU,
                           .unroll_loop_efficiency = g->UnrollLoopEfficiencyEnable,
                           .source_matrix = g->SourceMatrixInstructions};
    TRY(space_size(sp, &size));
    TRY(deriver_init(&deriver, &pg->pt, l->target, &limits));
    TRY(namer_init(l->namer, &pg->pt));
    if (l->options->names) namer_show_all(l->namer);
    bool count = l->options->count, two_passes = !count && !l->options->names;
    Err e = walk(l, sp, &deriver, !count && !two_passes, &fork);
    uint64_t n_unique = fork.n_unique;
    if (count && !e) fprintf(l->out, "%lld/%llu\n", (long long)size, (unsigned long long)n_unique);
    if (l->options->reasons && !e) {
        fprintf(l->out, "%12llu valid\n%12llu duplicates\n", (unsigned long long)n_unique,
                (unsigned long long)fork.n_duplicates);
        rule_counts_print(&fork.counts, l->out);
    }
    if (!e && n_unique == 0) {
        buf_reset(&l->line);
        rule_counts_summary(&fork.counts, &l->line);
        warning("%s:%d: no valid solution of %lld: %s", l->config->path, group->line, (long long)size,
                buf_cstr(&l->line));
        l->n_without++;
    }
    fork_fini(&fork);
    if (e || !two_passes) return e;
    e = walk(l, sp, &deriver, true, &fork);
    fork_fini(&fork);
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
                warning("%s:%d: custom kernel '%.*s' is left out: hand-written kernels are not part of tuner",
                        l->config->path, group->line, STR_ARG(group->custom_kernel[c]));
            TRY(space_of_size_group(&sp, l->config, &pg->pt, group));
            Err e = list_group(l, pg, group, &sp);
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
    l.namer = ARENA_NEW(&arena, Namer);
    if (!l.namer) e = err_set(ERR_FAILED, "out of memory for the list of solutions");
    for (int i = 0; i < (o->alternate ? 1 : o->n_operands) && !e; i++) e = list_file(&l, i);
    buf_fini(&l.line);
    arena_fini(&arena);
    if (!e && fflush(f) && errno != EPIPE) e = err_set(ERR_FAILED, "cannot write the list of solutions");
    return e;
}

/* ---- targets ---- */

static void list_head(const Target *t, FILE *f)
{
    static const char *const matrix[] = {[MATRIX_NONE] = "no matrix unit",
                                         [MATRIX_MFMA] = "MFMA",
                                         [MATRIX_WMMA] = "WMMA",
                                         [MATRIX_TENSOR] = "tensor cores"};
    static const char *const f8[] = {
        [F8_NONE] = "", [F8_FNUZ] = "8-bit floats (FNUZ), ", [F8_OCP] = "8-bit floats (OCP), "};
    fprintf(f, "%s: %s, ", t->name, target_family_name(t->family));
    if (t->family == TARGET_HOST) {
        fprintf(f, "vectors of %d bits\n", t->vector_bits);
        return;
    }
    fprintf(f, "waves of %d, %d KiB %s, %s, %sup to %d compute units\n", t->wave_size, t->lds_bytes / 1024,
            t->family == TARGET_NVPTX ? "shared memory" : "LDS", matrix[t->matrix], f8[t->f8], t->n_cu);
}

/* Another row's parts are named by that row. */
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
