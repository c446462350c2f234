/* Finds tiles and ops of programs. plan.c makes programs, passes.c refines them, dump.c prints them. */
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

const Op *op_lane_loop(const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        if (o->kind != OP_LOOP) continue;
        if (o->level == LEVEL_LANE) return o;
        const Op *found = op_lane_loop(o->body);
        if (found) return found;
    }
    return NULL;
}

Op *op_behind_loops(Op *list)
{
    Op *behind = list;
    for (Op *o = list; o; o = o->next)
        if (o->kind == OP_LOOP) behind = o->next;
    return behind;
}

void program_view(View *v, int i, bool trans)
{
    static const struct {
        const char *rows, *row_size, *cols, *col_size, *ld;
    } views[] = {{"m", "size_m", "k", "size_k", "stride_a1"},
                 {"k", "size_k", "n", "size_n", "stride_b1"},
                 {"m", "size_m", "n", "size_n", "stride_c1"},
                 {"m", "size_m", "n", "size_n", "stride_d1"}};
    view_matrix(v, views[i].rows, views[i].row_size, views[i].cols, views[i].col_size, views[i].ld, trans);
}
