/* createlib: chooses the compiler of a target by the options. If a command line names a ROCm compiler that is
 * not installed, or a code object version that compilers no longer make, the nearest one is used, with a
 * notice. */
#include <string.h>

#include "base/log.h"
#include "createlib/create_internal.h"

/* Names that Tensile's own options have had. */
static bool is_tensile_compiler(const char *name)
{
    static const char *const names[] = {"hcc", "hipcc", "amdclang++"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

/* Finds the requested compiler. If it is one of Tensile's that is missing or does not support the target,
 * another one is used. */
static Err find(Create *c, const Target *t, const char *const *extra, Toolchain *out)
{
    const char *forced = !target_family(t)->is_gpu ? c->o->c_compiler : c->o->cxx_compiler;
    Err e = toolchain_find(&c->a, t, forced, extra, out);
    if (!e || !is_tensile_compiler(forced)) return e;
    Str why = arena_dup(&c->a, str_from(err_message()));
    TRY_ALLOC(why.s);
    err_clear();
    if (toolchain_find(&c->a, t, NULL, extra, out)) {
        err_clear();
        FAIL(e, "%s", why.s);
    }
    if (!c->compiler_noticed) notice("%s; '%s' compiles instead", why.s, out->program);
    c->compiler_noticed = true;
    return ERR_OK;
}

static Err find_version(Create *c, const Target *t, int version, const char *const *otherwise, Toolchain *out)
{
    static const char *const version3[] = {"-mcode-object-version=3", NULL};
    static const char *const version5[] = {"-mcode-object-version=5", NULL};
    return find(c, t, version == 3 ? version3 : version == 5 ? version5 : otherwise, out);
}

/* Version 2 is never made: it has no msgpack metadata, by which kernels are checked. */
Err create_toolchain(Create *c, const Target *t, const char *const *extra, Toolchain *out)
{
    int asked = target_family(t)->is_tensile ? c->o->code_object_version : 0, made = asked == 2 ? 3 : asked;
    Err e = find_version(c, t, made, extra, out);
    if (e && made == 3) {
        err_clear();
        made = 4;
        e = find_version(c, t, made, extra, out);
    }
    if (!e && made != asked && c->version_noticed != made) {
        notice("code object version V%d: V%d is the nearest that '%s' makes for %s", asked, made,
               out->program, t->name);
        c->version_noticed = made;
    }
    return e;
}
