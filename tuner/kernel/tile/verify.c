/* Rules about the ops of a program written by hand: spaces, shapes, types, maps, and that nothing is read
 * before it is written. See verify.h. */
#include "kernel/tile/verify.h"

#include <string.h>

#include "kernel/words.h"

typedef struct {
    const Program *p;
    const Target *target;
    const char *name;
    TilePlan *plan;
    const Op *o;
    unsigned ready;         /* bit per tile: initialised (global) or written */
    unsigned first, second; /* operands of products */
    bool stores;
} Verifier;

#define FAIL_OP(v, ...)                                                                                      \
    return err_context(err_set(ERR_INPUT, __VA_ARGS__), "%s:%d: ", (v)->name, (v)->o->hand->line)

static const Tile *tile(const Verifier *v, int i) { return &v->p->tile[v->o->tile[i]]; }

/* Operand i of the op is in that space; a source must have been written. */
static Err in_space(const Verifier *v, int i, Space space, bool read)
{
    const Tile *t = tile(v, i);
    if (t->space != space)
        FAIL_OP(v, "%%%s is in %s memory, expected %s", t->name, program_spaces[t->space],
                program_spaces[space]);
    if (read && !(v->ready >> v->o->tile[i] & 1))
        FAIL_OP(v, "%%%s may be read before it is %s", t->name,
                space == SPACE_GLOBAL ? "initialised (init_tile)" : "written");
    return ERR_OK;
}

/* Operands i and j have equal sides (swapped: those of j the other way around). */
static Err same_shape(const Verifier *v, int i, int j, bool swapped)
{
    const Tile *x = tile(v, i), *y = tile(v, j);
    for (int side = 0; side < 2; side++) {
        int other = swapped ? 1 - side : side;
        if (x->dim[side] != y->dim[other] || x->size[side] != y->size[other])
            FAIL_OP(v, "%%%s is [%s %d, %s %d]%s, %%%s is [%s %d, %s %d]", y->name,
                    program_dims[y->dim[swapped]], y->size[swapped], program_dims[y->dim[!swapped]],
                    y->size[!swapped], swapped ? " transposed" : "", x->name, program_dims[x->dim[0]],
                    x->size[0], program_dims[x->dim[1]], x->size[1]);
    }
    return ERR_OK;
}

static Err same_type(const Verifier *v, int i, int j)
{
    const Tile *x = tile(v, i), *y = tile(v, j);
    if (x->type != y->type)
        FAIL_OP(v, "%%%s has type '%s', %%%s has '%s'", y->name, type_letter(y->type), x->name,
                type_letter(x->type));
    return ERR_OK;
}

/* Each work-item has the same elements of both. */
static Err same_map(const Verifier *v, int i, int j)
{
    const TilePlace *x = &v->plan->tile[v->o->tile[i]], *y = &v->plan->tile[v->o->tile[j]];
    if (x->inst != y->inst || memcmp(&x->wg, &y->wg, sizeof x->wg) || memcmp(&x->sg, &y->sg, sizeof x->sg))
        FAIL_OP(v, "%%%s and %%%s have different maps", tile(v, j)->name, tile(v, i)->name);
    return ERR_OK;
}

static Err init_tile(Verifier *v)
{
    const HandNumber *n = v->o->hand->n;
    const Tile *t = tile(v, 0);
    TRY(in_space(v, 0, SPACE_GLOBAL, false));
    if (!expr_is(n[5].e, 1))
        FAIL_OP(v, "strides[1] of %%%s is '%.*s', expected 1: rows are contiguous", t->name,
                STR_ARG(n[5].text));
    if (n[4].e->lo < 0) FAIL_OP(v, "strides[0] of %%%s can be %lld", t->name, (long long)n[4].e->lo);
    if (t->operand == 'C' && !v->p->hand->type.UseBeta)
        FAIL_OP(v, "%%%s is of C, and the problem has UseBeta 0", t->name);
    v->ready |= 1u << v->o->tile[0];
    return ERR_OK;
}

static Err load_tile(Verifier *v)
{
    const HandArgs *h = v->o->hand;
    const Tile *to = tile(v, 0);
    if (to->space == SPACE_GLOBAL) FAIL_OP(v, "load_tile to %%%s in global memory", to->name);
    TRY(in_space(v, 1, SPACE_GLOBAL, true));
    TRY(same_shape(v, 0, 1, h->transpose));
    TRY(same_type(v, 0, 1));
    bool whole_padding = h->padding == (double)(int64_t)h->padding && h->padding >= -128 && h->padding <= 127;
    if (type_info(to->type)->integral && !whole_padding)
        FAIL_OP(v, "padding is %g, expected a whole number from -128 to 127 for type '%s'", h->padding,
                type_letter(to->type));
    v->ready |= 1u << v->o->tile[0];
    return ERR_OK;
}

static Err store_tile(Verifier *v)
{
    if (v->o->hand->has_attributes) FAIL_OP(v, "store_tile has no attributes");
    TRY(in_space(v, 0, SPACE_GLOBAL, true));
    TRY(in_space(v, 1, SPACE_REGISTER, true));
    if (tile(v, 0)->operand != 'D')
        FAIL_OP(v, "store_tile to %%%s of %c, expected D", tile(v, 0)->name, tile(v, 0)->operand);
    TRY(same_shape(v, 0, 1, false));
    v->stores = true;
    return same_type(v, 0, 1);
}

static Err tile_mma(Verifier *v)
{
    const Tile *d = tile(v, 0), *x = tile(v, 1), *y = tile(v, 2);
    DataType sum = hand_sum_type(v->p->hand);
    TRY(in_space(v, 0, SPACE_REGISTER, v->o->set));
    TRY(in_space(v, 1, SPACE_LOCAL, true));
    TRY(in_space(v, 2, SPACE_LOCAL, true));
    TRY(same_type(v, 1, 2));
    if (d->type != sum)
        FAIL_OP(v, "sums in %%%s have type '%s', expected '%s'", d->name, type_letter(d->type),
                type_letter(sum));
    if (x->size[1] != y->size[0] || x->dim[1] != y->dim[0] || d->size[0] != x->size[0] ||
        d->dim[0] != x->dim[0] || d->size[1] != y->size[1] || d->dim[1] != y->dim[1])
        FAIL_OP(v, "[%s %d, %s %d] <- [%s %d, %s %d], [%s %d, %s %d] is no product", program_dims[d->dim[0]],
                d->size[0], program_dims[d->dim[1]], d->size[1], program_dims[x->dim[0]], x->size[0],
                program_dims[x->dim[1]], x->size[1], program_dims[y->dim[0]], y->size[0],
                program_dims[y->dim[1]], y->size[1]);
    v->first |= 1u << v->o->tile[1];
    v->second |= 1u << v->o->tile[2];
    if (v->first & v->second) {
        int both = v->o->tile[v->second >> v->o->tile[1] & 1 ? 1 : 2];
        FAIL_OP(v, "%%%s is the first operand of one product and the second of another",
                v->p->tile[both].name);
    }
    /* K across lines; matrix instructions take elements of less than 4 bytes along K */
    const bool along_k = v->plan->tile[v->o->tile[0]].inst && type_bytes(x->type) < 4;
    v->plan->tile[v->o->tile[1]].columns_first = !along_k;
    v->plan->tile[v->o->tile[2]].columns_first = along_k;
    v->ready |= 1u << v->o->tile[0];
    return ERR_OK;
}

/* Ops on elements: %d and the sources are in registers, with one map. */
static Err elements(Verifier *v)
{
    OpKind kind = v->o->kind;
    bool changes = kind == OP_SCALE_TILE || kind == OP_SHIFT_TILE;
    TRY(in_space(v, 0, SPACE_REGISTER, changes));
    for (int i = 1; i < 3 && v->o->tile[i] >= 0; i++) {
        TRY(in_space(v, i, SPACE_REGISTER, true));
        TRY(same_shape(v, 0, i, false));
        TRY(same_map(v, 0, i));
        if (kind != OP_CONVERT_TILE) TRY(same_type(v, 0, i));
    }
    if (v->o->hand->scalar == HAND_BETA && !v->p->hand->type.UseBeta)
        FAIL_OP(v, "beta, and the problem has UseBeta 0");
    if (kind != OP_CONVERT_TILE && tile(v, 0)->type != hand_sum_type(v->p->hand))
        FAIL_OP(v, "%%%s has type '%s', expected '%s': convert_tile first", tile(v, 0)->name,
                type_letter(tile(v, 0)->type), type_letter(hand_sum_type(v->p->hand)));
    const HandArgs *h = v->o->hand;
    bool by_number = h->scalar == HAND_NUMBER && (kind == OP_SCALE_TILE || kind == OP_FILL_TILE);
    if (by_number && type_info(tile(v, 0)->type)->integral &&
        (h->padding != (double)(int64_t)h->padding || h->padding < INT32_MIN || h->padding > INT32_MAX))
        FAIL_OP(v, "by %g, expected a whole number for type '%s'", h->padding, type_letter(tile(v, 0)->type));
    v->ready |= 1u << v->o->tile[0];
    return ERR_OK;
}

static Err ops(Verifier *v, const Op *list);

/* What a loop or an if writes may be missing behind it. */
static Err block(Verifier *v)
{
    const Op *o = v->o;
    if (o->kind == OP_IF && o->hand->scalar == HAND_BETA && !v->p->hand->type.UseBeta)
        FAIL_OP(v, "beta, and the problem has UseBeta 0");
    unsigned before = v->ready;
    TRY(ops(v, o->body));
    v->ready = before;
    return ERR_OK;
}

static Err one(Verifier *v)
{
    switch (v->o->kind) {
    case OP_INIT_TILE:
        return init_tile(v);
    case OP_LOAD_TILE:
        return load_tile(v);
    case OP_STORE_TILE:
        return store_tile(v);
    case OP_PREFETCH_TILE:
    case OP_UPDATE_TILE_OFFSET:
        return in_space(v, 0, SPACE_GLOBAL, true);
    case OP_TILE_MMA:
        return tile_mma(v);
    case OP_LOOP:
    case OP_IF:
        return block(v);
    case OP_LET:
    case OP_BARRIER:
        return ERR_OK;
    default:
        return elements(v);
    }
}

static Err ops(Verifier *v, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        v->o = o;
        TRY(one(v));
    }
    return ERR_OK;
}

Err verify_ops(const Program *p, const Target *t, const char *name, TilePlan *plan)
{
    Verifier v = {.p = p, .target = t, .name = name, .plan = plan};
    const Walk *w = &p->walk;
    if (w->persistent || w->batch_in_id || w->split > 1 || w->staggers || w->depth_u || w->stream_k ||
        w->mapping_words)
        FAIL(ERR_INPUT, "%s: walk has more than mapping, which is for generated programs", name);
    TRY(ops(&v, p->body));
    if (!v.stores) FAIL(ERR_INPUT, "%s: no store_tile: the program writes nothing to D", name);
    return ERR_OK;
}
