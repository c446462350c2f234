/* Parts of --part and of the config's LibraryLogic. See part_choice.h. */
#include "run/part_choice.h"

#include <inttypes.h>

Err part_option(const Options *o, const Part **out)
{
    const Target *t = o->arch ? target_find(str_from(o->arch)) : NULL;
    *out = NULL;
    if (!o->part) return 0;
    if (o->arch && !t) FAIL(ERR_INPUT, "unknown architecture '%s'", o->arch);
    Err e = part_find(str_from(o->part), t, out);
    return e ? err_context(e, "--part: ") : 0;
}

static Err devices_notice(const PartList *l)
{
    Buf b;
    buf_init(&b);
    parts_print(l, &b);
    Err e = buf_check(&b);
    if (!e)
        notice("DeviceNames are those of %s: %d compute units (--part says which)", buf_cstr(&b), l->n_cu);
    buf_fini(&b);
    return e;
}

Err part_choose(Run *r, const Part *asked, Str *name, int64_t *n_cu)
{
    const LogicSettings *logic = &r->config->logic;
    PartList list = {0};
    *name = STR("");
    if (asked) {
        *name = str_from(asked->name);
        *n_cu = asked->n_cu;
        return 0;
    }
    if (r->config->has_logic) parts_of_devices(r->target, logic->DeviceNames, logic->n_DeviceNames, &list);
    if (list.n == 1) *name = str_from(list.part[0]->name);
    *n_cu = r->config->has_logic && logic->CUCount > 0 ? logic->CUCount : list.n_cu;
    if (*n_cu == list.n_cu && list.n && !list.same && r->o->simulate) return devices_notice(&list);
    if (*n_cu > 0) return 0;
    *n_cu = r->target->n_cu;
    if (r->o->simulate && *n_cu)
        notice("no part is named: %" PRId64 " compute units, as the largest %s has (--part says which)",
               *n_cu, r->target->name);
    return 0;
}

void part_notice(Run *r)
{
    const LogicSettings *logic = &r->config->logic;
    const Target *t = r->config->has_logic ? target_find(logic->ArchitectureName) : NULL;
    PartList list;
    if (!t) return;
    parts_of_devices(t, logic->DeviceNames, logic->n_DeviceNames, &list);
    if (list.foreign)
        notice("%s: DeviceNames: '%.*s' is %s of %s, not of %s", r->config->path, STR_ARG(list.foreign_name),
               list.foreign->name, list.foreign->arch, t->name);
}
