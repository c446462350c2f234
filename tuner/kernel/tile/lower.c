/* Lowering of programs written by hand: loops, positions of tiles, barriers. See lower.h. */
#include "kernel/tile/lower.h"

/* ---- names ---- */

const Expr *tile_position(TileLowering *t, int tile, TilePosition which)
{
    static const char *const words[] = {"row", "col", "rows", "cols", "ld"};
    static const int64_t most = INT64_C(1) << 50;
    const char *name = stmts_name(t->s, "t_%s_%s", t->p->tile[tile].name, words[which]);
    int64_t least = which == POSITION_LD ? 0 : -most;
    return expr_var(&t->s->pool, name, TILE_SLOT_POSITION + 5 * tile + (int)which, least, most);
}

const Value *tile_array(TileLowering *t, int tile)
{
    return value_named(t->s, "t_%s", t->p->tile[tile].name);
}

const char *tile_type(const Program *p, int tile)
{
    const Tile *t = &p->tile[tile];
    if (t->space == SPACE_REGISTER) return t->type == hand_sum_type(p->hand) ? "@TC" : "@TD";
    if (t->space == SPACE_GLOBAL) return t->operand == 'C' || t->operand == 'D' ? "@TD" : "@T";
    return "@T";
}

const Expr *tile_inside(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    ExprPool *pool = &t->s->pool;
    const Expr *zero = expr_const(pool, 0);
    const Expr *r = expr_add(pool, tile_position(t, tile, POSITION_ROW), row);
    const Expr *c = expr_add(pool, tile_position(t, tile, POSITION_COL), col);
    const Expr *rows = expr_op(pool, EXPR_BOTH, expr_op(pool, EXPR_LE, zero, r),
                               expr_op(pool, EXPR_LT, r, tile_position(t, tile, POSITION_ROWS)));
    const Expr *cols = expr_op(pool, EXPR_BOTH, expr_op(pool, EXPR_LE, zero, c),
                               expr_op(pool, EXPR_LT, c, tile_position(t, tile, POSITION_COLS)));
    return expr_op(pool, EXPR_BOTH, rows, cols);
}

const Expr *tile_offset(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    static const int64_t most = INT64_MAX / 4;
    ExprPool *pool = &t->s->pool;
    const Expr *r = expr_add(pool, tile_position(t, tile, POSITION_ROW), row);
    const Expr *c = expr_add(pool, tile_position(t, tile, POSITION_COL), col);
    const Expr *line = expr_within(pool, expr_mul(pool, r, tile_position(t, tile, POSITION_LD)), -most, most);
    return expr_add(pool, line, c);
}

const Value *tile_constant(TileLowering *t, double v)
{
    if (v == (double)(int32_t)v) return value_cast(t->s, "@TC", value_int(t->s, (int32_t)v));
    return value_cast(t->s, "@TC", value_literal(t->s, stmts_name(t->s, "%.17g", v)));
}

/* ---- elements ---- */

const Value *tile_element_value(TileLowering *t, const Value *d, const Value *x, const Value *y)
{
    const Program *p = t->p;
    switch (t->o->kind) {
    case OP_SCALE_TILE:
        return value_op(t->s, VALUE_MUL, d, x);
    case OP_SHIFT_TILE:
        return value_op(t->s, VALUE_ADD, d, x);
    case OP_ADD_TILE:
        return value_op(t->s, VALUE_ADD, x, y);
    case OP_MULTIPLY_TILE:
        return value_op(t->s, VALUE_MUL, x, y);
    case OP_CONVERT_TILE:
        if (p->tile[t->o->tile[0]].type == p->tile[t->o->tile[1]].type) return x;
        return value_call(
            t->s,
            p->tile[t->o->tile[0]].type == hand_sum_type(p->hand) ? t->family->widen : t->family->narrow, x);
    default:
        return x;
    }
}

/* What fill, scale and shift take, and the condition of an if, as a value. NULL: none. */
static const Value *scalar(TileLowering *t)
{
    const HandArgs *h = t->o->hand;
    if (h->scalar == HAND_ALPHA) return t->alpha;
    if (h->scalar == HAND_BETA) return t->beta;
    if (h->n[0].e) return value_cast(t->s, "@TC", value_expr(t->s, h->n[0].e));
    return tile_constant(t, h->padding);
}

static void elements(TileLowering *t)
{
    bool by = t->o->kind == OP_FILL_TILE || t->o->kind == OP_SCALE_TILE || t->o->kind == OP_SHIFT_TILE;
    if (!by) {
        t->family->elements(t, NULL);
        return;
    }
    stmt_block(t->s);
    t->family->elements(t, stmt_define(t->s, "@TC", "by", scalar(t)));
    stmt_end(t->s);
}

/* ---- barriers ---- */

/* Local tiles that the ops touch. */
static unsigned touched(const Program *p, const Op *list)
{
    unsigned all = 0;
    for (const Op *o = list; o; o = o->next) {
        all |= touched(p, o->body);
        for (int i = 0; i < 3; i++)
            if (o->tile[i] >= 0 && p->tile[o->tile[i]].space == SPACE_LOCAL) all |= 1u << o->tile[i];
    }
    return all;
}

/* A tile must not be read before all work-items have written their parts, nor written while one still reads
 * it, or has other elements of it under way. */
static void order(TileLowering *t)
{
    const Op *o = t->o;
    unsigned reads = 0, writes = 0;
    if (!t->family->barriers) return;
    if (o->kind == OP_TILE_MMA) reads = 1u << o->tile[1] | 1u << o->tile[2];
    if (o->kind == OP_LOAD_TILE && t->p->tile[o->tile[0]].space == SPACE_LOCAL) writes = 1u << o->tile[0];
    if (o->kind == OP_BARRIER || (reads & t->written) || (writes & (t->read | t->written))) {
        stmt_barrier(t->s);
        t->read = t->written = 0;
    }
    t->read |= reads;
    t->written |= writes;
}

/* ---- ops ---- */

static const Value *position(TileLowering *t, TilePosition which)
{
    return value_expr(t->s, tile_position(t, t->o->tile[0], which));
}

void tile_positions(TileLowering *t)
{
    for (int i = 0; i < t->p->n_tiles; i++) {
        if (t->p->tile[i].space != SPACE_GLOBAL) continue;
        for (int w = 0; w < 5; w++)
            stmt_var(t->s, t->family->style->i64, tile_position(t, i, (TilePosition)w)->name,
                     value_int(t->s, 0));
    }
}

static void init_tile(TileLowering *t)
{
    for (int w = 0; w < 5; w++)
        stmt_set(t->s, position(t, (TilePosition)w), value_expr(t->s, t->o->hand->n[w].e));
}

static void update_tile(TileLowering *t)
{
    for (int side = 0; side < 2; side++)
        if (t->o->hand->n[side].e)
            stmt_update(t->s, VALUE_ADD, position(t, (TilePosition)side),
                        value_expr(t->s, t->o->hand->n[side].e));
}

static void ops(TileLowering *t, const Op *list);

static void loop(TileLowering *t)
{
    const Op *o = t->o;
    const HandArgs *h = o->hand;
    if (t->family->loop && t->family->loop(t)) return;
    t->read |= touched(t->p, o->body); /* by the iteration before */
    t->written |= touched(t->p, o->body);
    stmt_loop(t->s, (Loop){.var = h->variable,
                           .type = expr_type(t->family->style, h->counter),
                           .start = h->n[0].e,
                           .limit = h->n[1].e,
                           .step = o->step,
                           .slot = h->slot,
                           .unroll = UNROLL_NONE});
    ops(t, o->body);
    stmt_end(t->s);
    t->o = o;
    t->read |= touched(t->p, o->body);
    t->written |= touched(t->p, o->body);
}

static void branch(TileLowering *t)
{
    const Op *o = t->o;
    const HandArgs *h = o->hand;
    unsigned read = t->read, written = t->written;
    const Value *v = h->n[0].e ? value_expr(t->s, h->n[0].e) : scalar(t);
    stmt_if(t->s, value_op(t->s, VALUE_NE, v, value_int(t->s, 0)));
    ops(t, o->body);
    stmt_end(t->s);
    t->o = o;
    t->read |= read;
    t->written |= written;
}

void tile_op(TileLowering *t, const Op *o)
{
    t->o = o;
    switch (o->kind) {
    case OP_LET:
    case OP_BARRIER:
        break;
    case OP_INIT_TILE:
        init_tile(t);
        break;
    case OP_UPDATE_TILE_OFFSET:
        update_tile(t);
        break;
    case OP_LOAD_TILE:
        t->family->load(t);
        break;
    case OP_STORE_TILE:
        t->family->store(t);
        break;
    case OP_PREFETCH_TILE:
        t->family->prefetch(t);
        break;
    case OP_TILE_MMA:
        t->family->mma(t);
        break;
    case OP_LOOP:
        loop(t);
        break;
    case OP_IF:
        branch(t);
        break;
    default:
        elements(t);
    }
}

static void ops(TileLowering *t, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        t->o = o;
        order(t);
        tile_op(t, o);
    }
}

void tile_ops(TileLowering *t) { ops(t, t->p->body); }

Err tile_lower(const Program *p, const TilePlan *plan, Str symbol, Buf *out)
{
    return target_family(plan->target)->is_gpu ? tile_lower_gpu(p, plan, symbol, out)
                                               : tile_lower_host(p, plan, symbol, out);
}
