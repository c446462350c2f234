/* Prints programs as text: tiles with their maps and views, then ops indented by loop. */
#include <stdio.h>

#include "kernel/contract.h"
#include "kernel/fields.h"
#include "kernel/hand.h"
#include "kernel/words.h"

const char *const program_dims[3] = {"m", "n", "k"},
                  *const program_spaces[3] = {"global", "local", "register"},
                  *const program_levels[4] = {"group", "block", "subgroup", "lane"},
                  *const program_phases[4] = {"all", "main", "drain", "rest"},
                  *const program_scalars[3] = {"", "alpha", "beta"},
                  *const program_across[4] = {"", "group", "cluster", "grid"};
static const char *const roles[] = {"", " by producer", " by consumer"};
static const char *const ops[] = {"init_tile",
                                  "load_tile",
                                  "store_tile",
                                  "prefetch_tile",
                                  "update_tile_offset",
                                  "tile_mma",
                                  "barrier",
                                  "wait",
                                  "loop",
                                  "reduce_tile",
                                  "scale_tile",
                                  "add_tile",
                                  "activate_tile",
                                  "convert_tile",
                                  "atomic_add_tile",
                                  "carry_tile",
                                  "let",
                                  "if",
                                  "fill_tile",
                                  "shift_tile",
                                  "multiply_tile"};

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

static void dump_order(const Tile *t, Buf *out)
{
    if (t->order.by_columns) buf_puts(out, " by_columns");
    if (t->order.inner) buf_printf(out, " inner %d", t->order.inner);
    if (t->order.share) buf_printf(out, " share %d", t->order.share);
    if (t->mma[0]) buf_printf(out, " mma [%d, %d, %d, %d]", t->mma[0], t->mma[1], t->mma[2], t->mma[3]);
}

void program_dump_tile(const Tile *t, Buf *out)
{
    buf_printf(out, "tile %%%s : %c %s %s[%s %d, %s %d]", t->name, t->operand, program_spaces[t->space],
               type_letter(t->type), program_dims[t->dim[0]], t->size[0], program_dims[t->dim[1]],
               t->size[1]);
    if (t->n_buffers > 1) buf_printf(out, " buffers %d", t->n_buffers);
    dump_map("wg_map", &t->wg_map, out);
    dump_map("sg_map", &t->sg_map, out);
    dump_order(t, out);
    if (t->view) {
        buf_puts(out, " view ");
        view_dump(t->view, out);
    }
}

static void dump_tiles(const Program *p, const Op *o, Buf *out)
{
    for (int i = 0; i < 3; i++)
        if (o->tile[i] >= 0)
            buf_printf(out, "%s %%%s", i == 0 ? "" : i == 1 ? " <-" : ",", p->tile[o->tile[i]].name);
}

static void dump_number(const char *before, const HandNumber *n, Buf *out)
{
    buf_printf(out, "%s%.*s", before, STR_ARG(n->text));
}

static void dump_real(double v, Buf *out)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", v);
    double back;
    for (int digits = 1; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (str_to_f64(str_from(text), &back) && back == v) break;
        snprintf(text, sizeof text, "%.17g", v);
    }
    buf_puts(out, text);
}

static void dump_scalar(const HandArgs *h, Buf *out)
{
    if (h->scalar != HAND_NUMBER)
        buf_puts(out, h->scalar == HAND_ALPHA ? "alpha" : "beta");
    else if (h->n[0].e)
        dump_number("", &h->n[0], out);
    else
        dump_real(h->padding, out);
}

static void dump_attributes(const Op *o, Buf *out)
{
    const HandArgs *h = o->hand;
    const char *between = "";
    if (!h->transpose && !h->has_padding && !h->mma[0]) return;
    buf_puts(out, " {");
    if (h->transpose) buf_puts(out, "transpose = [1, 0]"), between = ", ";
    if (h->has_padding) {
        buf_printf(out, "%spadding = ", between);
        dump_real(h->padding, out);
    }
    if (h->mma[0]) buf_printf(out, "mma = [%d, %d, %d]", h->mma[0], h->mma[1], h->mma[2]);
    buf_putc(out, '}');
}

/* Prints what follows the op's name. */
static void dump_hand_op(const Program *p, const Op *o, Buf *out)
{
    const HandArgs *h = o->hand;
    switch (o->kind) {
    case OP_LOOP:
        buf_printf(out, " %%%s", h->name);
        dump_number(" from ", &h->n[0], out);
        dump_number(" to ", &h->n[1], out);
        buf_printf(out, " step %d {", o->step);
        break;
    case OP_LET:
        buf_printf(out, " %%%s", h->name);
        dump_number(" = ", &h->n[0], out);
        break;
    case OP_IF:
        buf_putc(out, ' ');
        dump_scalar(h, out);
        buf_puts(out, " {");
        break;
    case OP_INIT_TILE:
        buf_printf(out, " %%%s", p->tile[o->tile[0]].name);
        dump_number("[", &h->n[0], out);
        dump_number(", ", &h->n[1], out);
        dump_number("] shape [", &h->n[2], out);
        dump_number(", ", &h->n[3], out);
        dump_number("] strides [", &h->n[4], out);
        dump_number(", ", &h->n[5], out);
        buf_putc(out, ']');
        break;
    case OP_UPDATE_TILE_OFFSET:
        dump_tiles(p, o, out);
        for (int i = 0, any = 0; i < 2; i++) {
            if (!h->n[i].e) continue;
            buf_printf(out, "%s %s", any++ ? "," : "", program_dims[p->tile[o->tile[0]].dim[i]]);
            dump_number(" + ", &h->n[i], out);
        }
        break;
    default:
        dump_tiles(p, o, out);
        if (o->kind == OP_TILE_MMA && o->set) buf_printf(out, ", %%%s", p->tile[o->tile[0]].name);
        if (o->kind == OP_FILL_TILE || o->kind == OP_SCALE_TILE || o->kind == OP_SHIFT_TILE) {
            buf_puts(out, " by ");
            dump_scalar(h, out);
        }
        dump_attributes(o, out);
    }
    buf_putc(out, '\n');
}

static void dump_hand_head(const Program *p, Buf *out)
{
    const Hand *h = p->hand;
    buf_printf(out, "problem %.*s\ngrid tile_m %d tile_n %d\n", STR_ARG(h->problem), h->tile_m, h->tile_n);
    bool any = false;
    for (int i = 0; i < HAND_PARAMS; i++)
        if (h->used[i]) buf_printf(out, "%s %%%s", any ? "" : "param", hand_params[i]), any = true;
    if (any) buf_putc(out, '\n');
}

void program_dump_op(const Program *p, const Op *o, Buf *out)
{
    buf_puts(out, ops[o->kind]);
    if (o->kind == OP_LOOP) {
        buf_printf(out, " %s step %d at %s", program_dims[o->dim], o->step, program_levels[o->level]);
        if (o->unroll > 1) buf_printf(out, " unroll %d", o->unroll);
        if (o->split > 1) buf_printf(out, " split %d", o->split);
        if (o->phase) buf_printf(out, " phase %s", program_phases[o->phase]);
    } else
        dump_tiles(p, o, out);
    if (o->kind == OP_UPDATE_TILE_OFFSET) buf_printf(out, " %s + %d", program_dims[o->dim], o->step);
    if (o->scalar) buf_printf(out, " by %s", program_scalars[o->scalar]);
    if (o->activation) buf_printf(out, " by %s", activation_name(o->activation));
    if (o->across) buf_printf(out, " across %s", program_across[o->across]);
    if (o->parts) buf_puts(out, " parts");
    if (o->last) buf_puts(out, " last");
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
}

static void dump_ops(const Program *p, const Op *list, int depth, Buf *out)
{
    for (const Op *o = list; o; o = o->next) {
        buf_printf(out, "%*s", depth * 2, "");
        if (o->hand) {
            buf_puts(out, ops[o->kind]);
            dump_hand_op(p, o, out);
            if (o->kind != OP_LOOP && o->kind != OP_IF) continue;
            dump_ops(p, o->body, depth + 1, out);
            buf_printf(out, "%*s}\n", depth * 2, "");
            continue;
        }
        program_dump_op(p, o, out);
        buf_putc(out, '\n');
        if (o->kind != OP_LOOP) continue;
        dump_ops(p, o->body, depth + 1, out);
        buf_printf(out, "%*s}\n", depth * 2, "");
    }
}

void program_dump(const Program *p, Buf *out)
{
    buf_printf(out, "program %s\ntitle %.*s\n", p->target ? p->target->name : "any", STR_ARG(p->title));
    if (p->hand) dump_hand_head(p, out);
    fields_put(FIELDS_WALK, &p->walk, out);
    if (p->indices) contract_put(p->indices, out);
    if (p->gpu && !p->hand) fields_put(FIELDS_GPU, p->gpu, out);
    if (p->host && !p->hand) fields_put(FIELDS_HOST, p->host, out);
    for (int i = 0; i < p->n_tiles; i++) program_dump_tile(&p->tile[i], out), buf_putc(out, '\n');
    dump_ops(p, p->body, 0, out);
}
