/* Matrix instructions of programs written by hand: which rows of the table products ask for, and which tiles
 * in registers lie as their lanes hold sums. See plan.h. */
#include "kernel/tile/plan.h"

#include "kernel/words.h"

typedef struct {
    const Program *p;
    const char *name;
    TilePlan *plan;
    const Op *o;
    bool changed;
} Search;

#define FAIL_OP(s, ...)                                                                                      \
    return err_context(err_set(ERR_INPUT, __VA_ARGS__), "%s:%d: ", (s)->name, (s)->o->hand->line)

static const Tile *tile(const Search *s, int i) { return &s->p->tile[s->o->tile[i]]; }

/* The instruction's sides divide the subtile of a subgroup and K. */
static Err check_shape(const Search *s)
{
    const int32_t *m = s->o->hand->mma, depth = tile(s, 1)->size[1];
    const Tile *d = tile(s, 0);
    for (int side = 0; side < 2; side++)
        if (d->wg_map.data[side] % m[side])
            FAIL_OP(
                s,
                "a subtile of %%%s has %d %s, no multiple of the %d of the matrix instruction %d x %d x %d",
                d->name, d->wg_map.data[side], side ? "columns" : "rows", m[side], m[0], m[1], m[2]);
    if (depth % m[2])
        FAIL_OP(s, "%%%s has %d of K, no multiple of the %d of the matrix instruction %d x %d x %d",
                tile(s, 1)->name, depth, m[2], m[0], m[1], m[2]);
    return ERR_OK;
}

static Err find(const Search *s, const MatrixInst **in)
{
    const int32_t *m = s->o->hand->mma, shape[] = {m[0], m[1], m[2], 1};
    const Target *t = s->plan->target;
    const bool xf32 = s->p->hand->type.F32XdlMathOp == TYPE_X && tile(s, 1)->type == TYPE_S;
    const DataType x = xf32 ? TYPE_X : tile(s, 1)->type, y = xf32 ? TYPE_X : tile(s, 2)->type;
    *in = matrix_inst(t, x, y, shape);
    if (!*in)
        FAIL_OP(s, "%s has no matrix instruction of %d x %d x %d for type '%s'", t->name, m[0], m[1], m[2],
                type_letter(x));
    if (matrix_unit(*in) == MATRIX_UNIT_WGMMA)
        FAIL_OP(s, "wgmma %d x %d x %d is not written for programs by hand: it takes operands by descriptors",
                m[0], m[1], m[2]);
    if ((*in)->sum != tile(s, 0)->type)
        FAIL_OP(s, "sums in %%%s have type '%s', those of the matrix instruction have '%s'", tile(s, 0)->name,
                type_letter(tile(s, 0)->type), type_letter((*in)->sum));
    if ((*in)->lanes != s->plan->n_lanes)
        FAIL_OP(s, "the matrix instruction %d x %d x %d has %d lanes, the maps give a subgroup %d", m[0],
                m[1], m[2], (*in)->lanes, s->plan->n_lanes);
    return ERR_OK;
}

/* The op's tile number i lies as the instruction's lanes hold sums. */
static Err place(Search *s, int i, const MatrixInst *in)
{
    TilePlace *x = &s->plan->tile[s->o->tile[i]];
    if (x->inst == in) return ERR_OK;
    if (x->inst)
        FAIL_OP(s, "%%%s has sums of the matrix instructions %d x %d x %d and %d x %d x %d", tile(s, i)->name,
                x->inst->m, x->inst->n, x->inst->k, in->m, in->n, in->k);
    if (tile(s, i)->sg_map.layout[0])
        FAIL_OP(s, "%%%s has an sg_map, and the matrix instruction %d x %d x %d places its elements",
                tile(s, i)->name, in->m, in->n, in->k);
    x->inst = in;
    s->changed = true;
    return ERR_OK;
}

static Err product(Search *s)
{
    const MatrixInst *in;
    const Target *t = s->plan->target;
    if (!s->o->hand->mma[0] || tile(s, 0)->space != SPACE_REGISTER || !tile(s, 0)->wg_map.layout[0])
        return ERR_OK;
    if (!t || !target_family(t)->is_gpu) return check_shape(s);
    TRY(find(s, &in));
    TRY(check_shape(s));
    const MatrixInst *other = s->plan->inst;
    if (other && other != in)
        FAIL_OP(
            s,
            "a product by %d x %d x %d and one by %d x %d x %d, expected one matrix instruction in a program",
            other->m, other->n, other->k, in->m, in->n, in->k);
    s->plan->inst = in;
    return place(s, 0, in);
}

/* Ops on elements: all of their tiles lie alike. */
static Err elements(Search *s)
{
    const MatrixInst *in = NULL;
    for (int i = 0; i < 3 && s->o->tile[i] >= 0; i++) {
        if (tile(s, i)->space != SPACE_REGISTER) return ERR_OK;
        if (!in) in = s->plan->tile[s->o->tile[i]].inst;
    }
    for (int i = 0; i < 3 && s->o->tile[i] >= 0 && in; i++) TRY(place(s, i, in));
    return ERR_OK;
}

static Err ops(Search *s, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        s->o = o;
        if (o->kind == OP_TILE_MMA) TRY(product(s));
        if (o->kind == OP_ADD_TILE || o->kind == OP_MULTIPLY_TILE || o->kind == OP_CONVERT_TILE)
            TRY(elements(s));
        TRY(ops(s, o->body));
    }
    return ERR_OK;
}

Err tile_plan_instructions(const Program *p, const char *name, TilePlan *plan)
{
    Search s = {.p = p, .name = name, .plan = plan, .changed = true};
    while (s.changed) {
        s.changed = false;
        TRY(ops(&s, p->body));
    }
    return ERR_OK;
}
