/* --dump-program: forks like a run and prints programs instead of building kernels. See dump.h. */
#include "run/dump.h"

#include "base/fs.h"
#include "kernel/custom.h"
#include "kernel/kernel.h"
#include "measure/pool.h"
#include "run/run.h"

/* Where the config asks for a search: how many valid solutions of a group are drawn at random and printed,
 * and how many permutations are derived for them at most. */
enum { DRAWN = 256, TRIES = 1 << 16 };

static Err candidates_draw(Run *r, Group *g, const Space *space, const Deriver *deriver)
{
    int64_t size;
    TRY(space_size(space, &size));
    TRY_ALLOC(g->variant = ARENA_ARRAY(&r->arena, DRAWN, Variant));
    for (int64_t i = 0; i < size && i < TRIES && g->n_variants < DRAWN; i++) {
        Solution s;
        Verdict v;
        bool seen = false;
        const int64_t p = pool_shuffle(i, size, 1);
        space_get(space, p, &s);
        if (!solution_derive(deriver, &s, &v)) continue;
        const Hash128 hash = solution_hash(&s);
        for (size_t k = 0; k < g->n_variants && !seen; k++) {
            const Hash128 other = solution_hash(&g->variant[k].s);
            seen = other.lo == hash.lo && other.hi == hash.hi;
        }
        if (!seen) g->variant[g->n_variants++] = (Variant){.s = s, .permutation = p};
    }
    if (!g->n_variants) return group_none_valid(r, g);
    return group_names(r, g);
}

/* Draws some solutions of a group that is searched, which has too many to be read. */
static Err group_draw(Run *r, Group *g)
{
    Deriver deriver;
    Space space;
    CustomFolder folder;
    DeriveLimits limits = run_derive_limits(r);
    custom_folder_init(&folder, &r->arena, r->target, path_dir(str_from(r->config->path)));
    limits.custom = &folder.kernels;
    TRY(deriver_init(&deriver, &g->problem->pt, r->target, &limits));
    TRY(space_of_size_group(&space, r->config, &g->problem->pt, g->config));
    Err e = candidates_draw(r, g, &space, &deriver);
    if (!e) e = custom_folder_check(&folder);
    space_fini(&space);
    return e;
}

static Err group_dump(Run *r, const Group *g, FILE *f)
{
    Buf text;
    buf_init(&text);
    Err e = 0;
    for (size_t i = 0; !e && i < g->n_variants; i++) {
        buf_reset(&text);
        e = kernel_dump(&g->variant[i].s, r->target, str_from(r->o->dump_pass ? r->o->dump_pass : ""), &text);
        if (!e) e = buf_check(&text);
        if (!e) fprintf(f, "# %.*s\n%s\n", STR_ARG(g->variant[i].name), buf_cstr(&text));
        if (!e) e = run_check();
    }
    buf_fini(&text);
    return e;
}

Err dump_programs(const Options *o, FILE *f)
{
    Run r = {.store.lock_fd = -1, .outdir = ""};
    arena_init(&r.arena, 0);
    Err e = run_config(&r, o, o->n_operands);
    log_set_level(LOG_QUIET);
    if (!e) e = run_target(&r);
    if (!e) e = step_fork(&r);
    for (size_t i = 0; !e && run_searches(&r) && i < r.n_groups; i++) e = group_draw(&r, &r.group[i]);
    for (size_t i = 0; !e && i < r.n_groups; i++) e = group_dump(&r, &r.group[i], f);
    if (!e && r.n_given_up)
        e = err_set(ERR_PARTIAL, "%zu of %zu size-groups have no kernels", r.n_given_up, r.n_groups);
    arena_fini(&r.arena);
    return e;
}
