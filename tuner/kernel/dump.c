/* Text of programs, for people and golden tests: tiles with their maps and views, then ops indented by loop.
 */
#include "kernel/fields.h"
#include "kernel/words.h"

const char *const program_dims[3] = {"m", "n", "k"},
                  *const program_spaces[3] = {"global", "local", "register"},
                  *const program_levels[4] = {"group", "block", "subgroup", "lane"},
                  *const program_phases[4] = {"all", "main", "drain", "rest"};
static const char *const roles[] = {"", " by producer", " by consumer"};
static const char *const ops[] = {
    "init_tile", "load_tile", "store_tile", "prefetch_tile", "update_tile_offset",
    "tile_mma",  "barrier",   "wait",       "loop",          "epilogue"};

int program_op_named(Str name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_eq_c(name, ops[i])) return (int)i;
    return -1;
}

static void dump_map(const char *name, const TileMap *m, Buf *out)
{
    if (!m->layout[0]) return;
    buf_printf(out, " %s<[%d, %d] of [%d, %d]>", name, m->layout[0], m->layout[1], m->data[0], m->data[1]);
}

static void dump_tile(const Tile *t, Buf *out)
{
    buf_printf(out, "tile %%%s : %c %s %s[%s %d, %s %d]", t->name, t->operand, program_spaces[t->space],
               type_letter(t->type), program_dims[t->dim[0]], t->size[0], program_dims[t->dim[1]],
               t->size[1]);
    if (t->n_buffers > 1) buf_printf(out, " buffers %d", t->n_buffers);
    dump_map("wg_map", &t->wg_map, out);
    dump_map("sg_map", &t->sg_map, out);
    if (t->view) {
        buf_puts(out, " view ");
        view_dump(t->view, out);
    }
    buf_putc(out, '\n');
}

static void dump_ops(const Program *p, const Op *list, int depth, Buf *out)
{
    for (const Op *o = list; o; o = o->next) {
        buf_printf(out, "%*s%s", depth * 2, "", ops[o->kind]);
        if (o->kind == OP_LOOP) {
            buf_printf(out, " %s step %d at %s", program_dims[o->dim], o->step, program_levels[o->level]);
            if (o->unroll > 1) buf_printf(out, " unroll %d", o->unroll);
            if (o->split > 1) buf_printf(out, " split %d", o->split);
            if (o->phase) buf_printf(out, " phase %s", program_phases[o->phase]);
        }
        for (int i = 0; i < 3; i++)
            if (o->kind != OP_LOOP && o->tile[i] >= 0)
                buf_printf(out, "%s %%%s", i == 0 ? "" : i == 1 ? " <-" : ",", p->tile[o->tile[i]].name);
        if (o->kind == OP_UPDATE_TILE_OFFSET) buf_printf(out, " %s + %d", program_dims[o->dim], o->step);
        if (o->role) buf_puts(out, roles[o->role]);
        if (o->slot) buf_printf(out, " slot %d", o->slot);
        if (o->set) buf_printf(out, " set %d", o->set);
        if (o->kind == OP_WAIT) buf_printf(out, " pending %d", o->pending);
        if (o->ahead) buf_printf(out, " if_more %d", o->ahead);
        if (o->distance) buf_printf(out, " distance %d", o->distance);
        if (o->guards) {
            buf_puts(out, " guard");
            for (int d = 0; d < 3; d++)
                if (o->guards >> d & 1) buf_printf(out, " %s", program_dims[d]);
        }
        if (o->kind == OP_LOOP) buf_puts(out, " {");
        buf_putc(out, '\n');
        if (o->kind != OP_LOOP) continue;
        dump_ops(p, o->body, depth + 1, out);
        buf_printf(out, "%*s}\n", depth * 2, "");
    }
}

void program_dump(const Program *p, Buf *out)
{
    buf_printf(out, "program %s\ntitle %.*s\n", p->target->name, STR_ARG(p->title));
    fields_put(FIELDS_WALK, &p->walk, out);
    if (p->gpu) fields_put(FIELDS_GPU, p->gpu, out);
    if (p->host) fields_put(FIELDS_HOST, p->host, out);
    for (int i = 0; i < p->n_tiles; i++) dump_tile(&p->tile[i], out);
    dump_ops(p, p->body, 0, out);
}
