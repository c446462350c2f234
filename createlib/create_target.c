/* createlib: the architectures that the kernels of a logic file are built for. Fallback logic holds for every
 * device of the runtime: its kernels are built for each architecture that was asked for, or for all of them.
 * */
#include <stdlib.h>

#include "base/log.h"
#include "createlib/create_internal.h"

static TargetFamily family_of(const Create *c)
{
    static const TargetFamily families[] = {[CREATE_HIP] = TARGET_AMDGCN,
                                            [CREATE_HSA] = TARGET_AMDGCN,
                                            [CREATE_HOST] = TARGET_HOST,
                                            [CREATE_CUDA] = TARGET_NVPTX};
    return families[c->o->runtime];
}

static Err add_target(CreateLogic *l, const Target *t)
{
    if (l->n_targets == CREATE_ARCHS_MAX) FAIL(ERR_INPUT, "%s: too many architectures", l->logic.path);
    l->target[l->n_targets++] = t;
    return ERR_OK;
}

/* Compilers differ in which architectures they know. */
static bool compiles(Create *c, const Target *t)
{
    Toolchain tc;
    if (c->o->metadata_only || c->o->generate_sources_and_exit || c->o->generate_manifest_and_exit)
        return true;
    if (create_toolchain(c, t, NULL, &tc) == ERR_OK) return true;
    notice("fallback logic is not built for %s: %s", t->name, err_message());
    err_clear();
    return false;
}

/* With `all`: of GPUs every architecture, of CPUs this one's. */
static Err find_every(Create *c)
{
    TargetFamily family = family_of(c);
    const Target *t;
    if (c->n_every) return ERR_OK;
    if (c->o->runtime == CREATE_HOST) {
        c->every[c->n_every++] = t = target_host_level();
        notice("fallback logic: its kernels are made for this CPU, %s (--architecture names others)",
               t->name);
        return ERR_OK;
    }
    for (size_t i = 0; (t = target_at(i)) && c->n_every < CREATE_ARCHS_MAX; i++)
        if (t->family == family && compiles(c, t)) c->every[c->n_every++] = t;
    if (c->n_every == 0) FAIL(ERR_FAILED, "no compiler for any architecture of the fallback logic");
    return ERR_OK;
}

Err create_targets(Create *c, CreateLogic *l)
{
    static const char *const names[] = {
        [CREATE_HIP] = "HIP", [CREATE_HSA] = "HSA", [CREATE_HOST] = "HOST", [CREATE_CUDA] = "CUDA"};
    TargetFamily family = family_of(c);
    Str arch = l->logic.arch;
    if (str_eq_c(arch, "gfx000") && (c->o->runtime == CREATE_HOST || c->no_arch)) {
        notice("%s: no architecture: its solutions hold for any %s", l->logic.path,
               c->o->runtime == CREATE_HOST ? "CPU" : "GPU");
        arch = l->logic.arch = STR("fallback");
    }
    l->fallback = str_eq_c(arch, "fallback");
    if (!l->fallback) {
        const Target *t = target_find(arch);
        if (!t) FAIL(ERR_INPUT, "%s: unknown architecture '%.*s'", l->logic.path, STR_ARG(arch));
        if (t->family != family)
            FAIL(ERR_INPUT, "%s: architecture '%s' is none for %s", l->logic.path, t->name,
                 names[c->o->runtime]);
        return add_target(l, t);
    }
    for (size_t i = 0; i < c->n_archs; i++)
        if (c->arch[i]->family == family) TRY(add_target(l, c->arch[i]));
    if (l->n_targets) return ERR_OK;
    TRY(find_every(c));
    for (size_t i = 0; i < c->n_every; i++) TRY(add_target(l, c->every[i]));
    return ERR_OK;
}
