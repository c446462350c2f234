/* --dump-program: forks like a run and prints programs instead of building kernels. See dump.h. */
#include "run/dump.h"

#include "kernel/kernel.h"
#include "run/run.h"

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
    for (size_t i = 0; !e && i < r.n_groups; i++) e = group_dump(&r, &r.group[i], f);
    if (!e && r.n_given_up)
        e = err_set(ERR_PARTIAL, "%zu of %zu size-groups have no kernels", r.n_given_up, r.n_groups);
    arena_fini(&r.arena);
    return e;
}
