/* Programs: finding tiles and ops. plan.c makes programs, passes.c refines them, dump.c prints them. */
#include "kernel/program.h"

#include <string.h>

int program_tile(const Program *p, const char *name)
{
    for (int i = 0; i < p->n_tiles; i++)
        if (!strcmp(p->tile[i].name, name)) return i;
    return -1;
}

Op *op_find(Op *list, OpKind kind)
{
    while (list && list->kind != kind) list = list->next;
    return list;
}
