/* createlib, second step: names of all kernels, and which kernel goes into which file. */
#include "createlib/create_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "kernel/helper.h"
#include "problem/datatype.h"

/* ---- names ---- */

static Err name_of(Create *c, Namer *namer, const SerialNamer *serial, const Solution *s, Str *out)
{
    Buf b;
    buf_init(&b);
    if (serial)
        serial_name(serial, s, &b);
    else
        solution_name(namer, s, NAME_KERNEL, &b);
    *out = arena_dup(&c->a, buf_view(&b));
    buf_fini(&b);
    TRY_ALLOC(out->s);
    return ERR_OK;
}

static Err name_solution(Create *c, Namer *namer, const SerialNamer *serial, CreateLogic *l, size_t i)
{
    LibrarySolution *s = &l->part.solution[i];
    Solution shared;
    TRY(name_of(c, namer, serial, &l->state[i], &s->name));
    s->kernel = s->name;
    return solution_shares_kernel(&l->state[i], &shared) ? name_of(c, namer, serial, &shared, &s->kernel)
                                                         : ERR_OK;
}

static Err name_all(Create *c, Namer *all, SerialNamer *serial)
{
    Namer *own = ARENA_NEW(&c->a, Namer);
    TRY_ALLOC(own);
    for (size_t i = 0; i < c->n_logic; i++) {
        CreateLogic *l = &c->logic[i];
        TRY(namer_init(own, l->logic.pt)); /* the prefix is its own; the parameters shown are common to all */
        memcpy(own->shown, all->shown, sizeof own->shown);
        for (size_t j = 0; j < l->logic.n_solutions; j++)
            if (!l->solution[j].why.n) TRY(name_solution(c, own, serial, l, j));
    }
    return ERR_OK;
}

static Err note_all(Create *c, Namer *all, SerialNamer *serial)
{
    for (size_t i = 0; i < c->n_logic; i++) {
        const CreateLogic *l = &c->logic[i];
        if (!all->n_parts) TRY(namer_init(all, l->logic.pt));
        for (size_t j = 0; j < l->logic.n_solutions; j++) {
            if (l->solution[j].why.n) continue;
            namer_note(all, &l->state[j]);
            if (serial) TRY(serial_namer_note(serial, &l->state[j]));
            Solution shared;
            if (serial && solution_shares_kernel(&l->state[j], &shared))
                TRY(serial_namer_note(serial, &shared));
        }
    }
    return serial ? serial_namer_done(serial) : ERR_OK;
}

static Err names(Create *c)
{
    SerialNamer *serial = NULL;
    Namer *all = ARENA_NEW(&c->a, Namer);
    TRY_ALLOC(all);
    if (c->o->short_file_names) TRY(serial_namer_new(&serial));
    Err e = note_all(c, all, serial);
    if (!e) e = name_all(c, all, serial);
    if (serial) serial_namer_free(serial);
    return e;
}

/* ---- kernels ---- */

/* Sets *number to that of the kernel with like's symbol and target, which is added when it is new. */
static Err unit_of(Create *c, const CreateUnit *like, size_t *number)
{
    Str key = arena_printf(&c->a, "%.*s %s", STR_ARG(like->symbol), like->target->name);
    TRY_ALLOC(key.s);
    int64_t *at = map_put(&c->by_symbol, key, NULL);
    TRY_ALLOC(at);
    if (!*at) {
        if (!VEC_PUSH(&c->unit, *like)) FAIL(ERR_FAILED, "out of memory for %zu kernels", c->unit.n);
        *at = (int64_t)c->unit.n;
    }
    *number = (size_t)*at - 1;
    return ERR_OK;
}

static Err put_into(Create *c, Str file, const Target *t, size_t unit)
{
    int64_t *at = map_put(&c->by_file, file, NULL);
    TRY_ALLOC(at);
    if (!*at) {
        CreateObject o = {.file = file, .target = t};
        if (!VEC_PUSH(&c->object, o)) FAIL(ERR_FAILED, "out of memory for %zu files", c->object.n);
        *at = (int64_t)c->object.n;
    }
    CreateObject *o = &c->object.v[*at - 1];
    for (size_t i = o->unit.n; i > 0 && i + 64 > o->unit.n;
         i--) /* solutions that share a kernel follow one another */
        if (o->unit.v[i - 1] == unit) return ERR_OK;
    if (!VEC_PUSH(&o->unit, unit)) FAIL(ERR_FAILED, "out of memory for %zu kernels", o->unit.n);
    return ERR_OK;
}

static Str file_base(Create *c, Str symbol)
{
    Buf b;
    buf_init(&b);
    kernel_file_base(symbol, 64, &b);
    Str s = arena_dup(&c->a, buf_view(&b));
    buf_fini(&b);
    return s;
}

/* As file names have it: "gfx90a-xnack-" */
static const char *arch_in_file(Create *c, const Target *t)
{
    Str name = str_from(t->name);
    size_t colon = str_find(name, ':', 0);
    if (colon == name.n) return t->name;
    return arena_printf(&c->a, "%.*s-%s", (int)colon, t->name, t->name + colon + 1).s;
}

static Str unmerged_file(Create *c, Str symbol, const Target *t)
{
    Str base = file_base(c, symbol);
    const char *arch = arch_in_file(c, t);
    return arch ? arena_printf(&c->a, "%.*s.so-000-%s%s", STR_ARG(base), arch, target_code_suffix(t))
                : STR_NULL;
}

Err create_unmerged_file(Create *c, Str symbol, const Target *t, Str *out)
{
    *out = unmerged_file(c, symbol, t);
    TRY_ALLOC(out->s);
    return ERR_OK;
}

/* The file into which a kernel goes. number: of the kernel, for NumMergedFiles. */
static Str file_of(Create *c, const CreateLogic *l, const CreateUnit *u, bool assembly, size_t number)
{
    const char *arch = arch_in_file(c, u->target), *suffix = target_code_suffix(u->target);
    if (!arch) return STR_NULL;
    if (!target_family(u->target)->is_tensile) assembly = false;
    if (!c->o->merge_files) {
        Str base = file_base(c, u->symbol);
        return assembly ? arena_printf(&c->a, "%.*s_%s.co", STR_ARG(base), arch)
                        : unmerged_file(c, u->symbol, u->target);
    }
    if (c->o->lazy && l && l->fallback)
        return arena_printf(&c->a, "%.*s_%s%s", STR_ARG(l->part.placeholder), arch, suffix);
    if (c->o->lazy && l)
        return arena_printf(&c->a, "%.*s%s", STR_ARG(l->part.placeholder), assembly ? ".co" : suffix);
    if (assembly) return arena_printf(&c->a, "TensileLibrary_%s.co", arch);
    if (l && target_family(u->target)->file_per_arch && c->o->num_merged_files == 1)
        return arena_printf(&c->a, "TensileLibrary_%s%s", arch, suffix);
    if (c->o->num_merged_files > 1)
        return arena_printf(&c->a, "Kernels%zu.so-000-%s%s", number % (size_t)c->o->num_merged_files, arch,
                            suffix);
    return arena_printf(&c->a, "Kernels.so-000-%s%s", arch, suffix);
}

static Err add_one(Create *c, const CreateLogic *l, const CreateUnit *like, bool assembly, size_t *unit)
{
    TRY(unit_of(c, like, unit));
    Str file = file_of(c, l, like, assembly, *unit);
    TRY_ALLOC(file.s);
    return put_into(c, file, like->target, *unit);
}

/* Adds the kernel for every requested setting of xnack, if the names of files include the setting. */
static Err add_kernel(Create *c, const CreateLogic *l, const CreateUnit *like, bool assembly, size_t *unit)
{
    bool any = false;
    for (size_t i = 0; i < c->variant.n && !assembly && !(c->o->lazy && l); i++) {
        CreateUnit u = *like;
        u.target = c->variant.v[i];
        if (target_find(str_from(u.target->name)) != like->target) continue;
        TRY(add_one(c, l, &u, assembly, unit));
        any = true;
    }
    return any ? ERR_OK : add_one(c, l, like, assembly, unit);
}

/* ---- helper kernels ---- */

static Err helper_of(Create *c, Str symbol, const Target *t, int64_t **unit)
{
    Str key = arena_printf(&c->a, "%.*s %s", STR_ARG(symbol), t->name);
    TRY_ALLOC(key.s);
    TRY_ALLOC(*unit = map_put(&c->by_helper, key, NULL));
    return ERR_OK;
}

static Err shared_reason(Create *c, const CreateUnit *u, const ProblemType *pt, Str *why)
{
    Buf first, other;
    buf_init(&first);
    buf_init(&other);
    problem_type_name(u->pt, &first);
    problem_type_name(pt, &other);
    *why =
        arena_printf(&c->a,
                     "helper kernel '%.*s' is that of %s (compute type %s); %s, which computes in %s, needs "
                     "another of the same name: make them libraries of their own",
                     STR_ARG(u->symbol), buf_cstr(&first), type_letter((DataType)u->pt->ComputeDataType),
                     buf_cstr(&other), type_letter((DataType)pt->ComputeDataType));
    Err e = buf_check(&first) ? buf_check(&first) : buf_check(&other);
    buf_fini(&first);
    buf_fini(&other);
    TRY_ALLOC(why->s);
    return e;
}

/* Tensile's names of helpers contain only the destination type, and its library uses the first helper of a
 * name for all problem types. Here a solution that would get the helper of another compute type is left out;
 * in a metadata-only run it is kept as in Tensile, with a warning. */
static Err check_shared(Create *c, const HelperKernel *h, const ProblemType *pt, const Target *t, Str *why)
{
    int64_t *unit;
    TRY(helper_of(c, h->symbol, t, &unit));
    CreateUnit *u = *unit ? &c->unit.v[*unit - 1] : NULL;
    if (!u || helper_serves(u->pt, pt, t, h->symbol) || (c->o->metadata_only && u->name_clash_reported))
        return ERR_OK;
    TRY(shared_reason(c, u, pt, why));
    if (!c->o->metadata_only) return ERR_OK;
    warning("%.*s", STR_ARG(*why));
    u->name_clash_reported = true;
    *why = STR_NULL;
    return ERR_OK;
}

static Err add_helper(Create *c, const HelperKernel *h, const Solution *s, const Target *t)
{
    CreateUnit u = {.symbol = h->symbol, .target = t, .pt = s->pt, .helper = *h};
    size_t number;
    int64_t *unit;
    TRY(add_kernel(c, NULL, &u, false, &number));
    TRY(helper_of(c, h->symbol, t, &unit));
    if (!*unit) *unit = (int64_t)number + 1;
    return ERR_OK;
}

/* Adds a solution's kernel and helpers for one target; *why is set when a helper's name is taken. */
static Err plan_solution(Create *c, CreateLogic *l, size_t i, const Target *t, Str *why)
{
    const Solution *s = &l->state[i];
    HelperKernel helper[HELPERS_MAX];
    CreateUnit u = {.symbol = l->part.solution[i].kernel, .target = t, .s = s};
    size_t n;
    TRY(kernel_helpers(&c->a, s, helper, &n));
    for (size_t j = 0; j < n && !why->n; j++) TRY(check_shared(c, &helper[j], s->pt, t, why));
    if (why->n) return ERR_OK;
    size_t unit;
    TRY(add_kernel(c, l, &u, s->KernelLanguage == LANG_ASSEMBLY, &unit));
    for (size_t j = 0; j < n; j++) TRY(add_helper(c, &helper[j], s, t));
    return ERR_OK;
}

static Err plan_logic(Create *c, CreateLogic *l)
{
    for (size_t i = 0; i < l->logic.n_solutions; i++)
        for (size_t t = 0; t < l->n_targets && !l->solution[i].why.n; t++)
            TRY(plan_solution(c, l, i, l->target[t], &l->solution[i].why));
    return ERR_OK;
}

Err create_plan(Create *c)
{
    TRY(names(c));
    for (size_t i = 0; i < c->n_logic; i++) TRY(plan_logic(c, &c->logic[i]));
    for (size_t i = 0; i < c->unit.n; i++) {
        if (c->unit.v[i].s)
            c->r->n_kernels++;
        else
            c->r->n_helpers++;
    }
    return ERR_OK;
}
