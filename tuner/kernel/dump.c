/* Text of programs, for people and golden tests: tiles with their maps and views, then ops indented by loop.
 */
#include "kernel/program.h"

static const char *const dims[] = {"m", "n", "k"};
static const char *const spaces[] = {"global", "local", "register"};
static const char *const levels[] = {"group", "block", "subgroup", "lane"};
static const char *const roles[] = {"", " by producer", " by consumer"};
static const char *const phases[] = {"all", "main", "drain", "rest"};
static const char *const ops[] = {
    "init_tile", "load_tile", "store_tile", "prefetch_tile", "update_tile_offset",
    "tile_mma",  "barrier",   "wait",       "loop",          "epilogue"};

static void dump_map(const char *name, const TileMap *m, Buf *out)
{
    if (!m->layout[0]) return;
    buf_printf(out, " %s<[%d, %d] of [%d, %d]>", name, m->layout[0], m->layout[1], m->data[0], m->data[1]);
}

static void dump_tile(const Tile *t, Buf *out)
{
    buf_printf(out, "tile %%%s : %s %s[%s %d, %s %d]", t->name, spaces[t->space], type_letter(t->type),
               dims[t->dim[0]], t->size[0], dims[t->dim[1]], t->size[1]);
    if (t->n_buffers > 1) buf_printf(out, " x%d", t->n_buffers);
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
            buf_printf(out, " %s step %d at %s", dims[o->dim], o->step, levels[o->level]);
            if (o->unroll > 1) buf_printf(out, " unroll %d", o->unroll);
            if (o->split > 1) buf_printf(out, " split %d", o->split);
            if (o->phase) buf_printf(out, " %s", phases[o->phase]);
        }
        for (int i = 0; i < 3; i++)
            if (o->kind != OP_LOOP && o->tile[i] >= 0)
                buf_printf(out, "%s %%%s", i == 0 ? "" : i == 1 ? " <-" : ",", p->tile[o->tile[i]].name);
        if (o->kind == OP_UPDATE_TILE_OFFSET) buf_printf(out, " %s + %d", dims[o->dim], o->step);
        if (o->role) buf_puts(out, roles[o->role]);
        if (o->slot) buf_printf(out, " slot +%d", o->slot);
        if (o->set) buf_printf(out, " set %d", o->set);
        if (o->kind == OP_WAIT) buf_printf(out, " all but %d", o->pending);
        if (o->ahead) buf_printf(out, " if %d more", o->ahead);
        if (o->distance) buf_printf(out, " ahead %d", o->distance);
        if (o->guards) {
            buf_puts(out, " guard");
            for (int d = 0; d < 3; d++)
                if (o->guards >> d & 1) buf_printf(out, " %s", dims[d]);
        }
        if (o->kind == OP_LOOP) buf_puts(out, " {");
        buf_putc(out, '\n');
        if (o->kind != OP_LOOP) continue;
        dump_ops(p, o->body, depth + 1, out);
        buf_printf(out, "%*s}\n", depth * 2, "");
    }
}

static void dump_walk(const Walk *w, Buf *out)
{
    if (w->persistent) buf_printf(out, " persistent%s", w->batch_in_id ? " over batches" : "");
    if (w->mapping > 1) buf_printf(out, " wgm %d", w->mapping);
    if (w->mapping < -1) buf_printf(out, " wgm %d along m", -w->mapping);
    if (w->split > 1)
        buf_printf(out, " split k %d%s%s", w->split, w->split_rows_round_robin ? " rows round_robin" : "",
                   w->split_chunks_round_robin ? " chunks round_robin" : "");
    if (w->staggers) buf_printf(out, " stagger %d by %d", w->stagger_mapping, 1 << w->stagger_shift);
}

void program_dump(const Program *p, Buf *out)
{
    const Tile *d = &p->tile[program_tile(p, "d")];
    buf_printf(out, "program %s\nwalk tile %dx%d", p->target->name, d->size[0], d->size[1]);
    dump_walk(&p->walk, out);
    buf_putc(out, '\n');
    for (int i = 0; i < p->n_tiles; i++) dump_tile(&p->tile[i], out);
    dump_ops(p, p->body, 0, out);
}
