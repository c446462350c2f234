/* The walk of stream-K (walk.h): groups take equal shares of the chunks of all tiles, or of those tiles that
 * do not fill whole rounds; the other tiles go round whole. Source: ContractionSolution.cpp of Tensile for
 * the numbers (skTiles, SKItersPerWG, skExtraIters), StreamK 1 to 3 for the order. */
#include "index/walk.h"

/* Sizes have 32 bits because larger launches are refused. */
static const Expr *counted(ExprPool *p, const Expr *e) { return expr_within(p, e, 0, UINT32_MAX); }
static const Expr *add(ExprPool *p, const Expr *x, const Expr *y) { return counted(p, expr_add(p, x, y)); }
static const Expr *sub(ExprPool *p, const Expr *x, const Expr *y) { return counted(p, expr_sub(p, x, y)); }
static const Expr *mul(ExprPool *p, const Expr *x, const Expr *y) { return counted(p, expr_mul(p, x, y)); }
static const Expr *at_least_1(ExprPool *p, const Expr *e)
{
    return expr_within(p, expr_op(p, EXPR_MAX, e, expr_const(p, 1)), 1, UINT32_MAX);
}

/* The shares: group g has chunks first(g) to first(g + 1). */
typedef struct {
    const Expr *base, *extra; /* each share's chunks; shares that have one more */
} Shares;

static const Expr *share_first(ExprPool *p, const Shares *s, const Expr *group)
{
    return add(p, mul(p, group, s->base), expr_op(p, EXPR_MIN, group, s->extra));
}

/* The group that has a chunk. */
static const Expr *share_of(ExprPool *p, const Shares *s, const Expr *chunk)
{
    const Expr *longer = add(p, s->base, expr_const(p, 1));
    const Expr *cut = mul(p, s->extra, longer);
    const Expr *rest = expr_div(p, sub(p, chunk, cut), at_least_1(p, s->base));
    return expr_select(p, expr_op(p, EXPR_LT, chunk, cut), expr_div(p, chunk, longer),
                       add(p, s->extra, rest));
}

/* Tiles that are cut into shares. */
static const Expr *shared_tiles(ExprPool *p, const Walk *w, const Expr *tiles, const Expr *groups)
{
    if (w->stream_k == 1) return tiles;
    const Expr *rest = expr_name(p, "rest", expr_mod(p, tiles, groups));
    const Expr *some = expr_select(p, expr_op(p, EXPR_LT, groups, tiles), add(p, groups, rest), tiles);
    return expr_select(p, rest, some, expr_const(p, 0));
}

WalkStream walk_stream(ExprPool *p, const Walk *w, const WalkNames *names, const Expr *tiles, const Expr *k)
{
    const Expr *group = expr_var(p, names->stream_group, WALK_GROUP, 0, UINT32_MAX),
               *groups = expr_var(p, names->stream_groups, WALK_GROUPS, 1, UINT32_MAX),
               *step = expr_var(p, names->id, WALK_ID, 0, UINT32_MAX);
    const Expr *chunks = at_least_1(p, expr_ceil_div(p, k, expr_const(p, w->depth_u)));
    chunks = expr_name(p, "chunks", chunks);
    const Expr *shared = expr_name(p, "shared_tiles", counted(p, shared_tiles(p, w, tiles, groups)));
    const Expr *all = expr_name(p, "all_chunks", mul(p, shared, chunks));
    const Shares s = {expr_name(p, "share", expr_div(p, all, groups)),
                      expr_name(p, "longer_shares", expr_mod(p, all, groups))};
    const Expr *from = expr_name(p, "share_from", share_first(p, &s, group));
    const Expr *to = add(p, add(p, from, s.base), expr_op(p, EXPR_LT, group, s.extra));
    to = expr_name(p, "share_to", to);
    const Expr *tile0 = expr_name(p, "share_tile", expr_div(p, from, chunks)), *one = expr_const(p, 1);
    const Expr *cut = add(p, sub(p, expr_div(p, sub(p, to, one), chunks), tile0), one);
    cut = expr_select(p, expr_op(p, EXPR_LT, from, to), cut, expr_const(p, 0));
    cut = expr_name(p, "cut_tiles", counted(p, cut));
    const Expr *whole = expr_name(p, "whole_tiles", expr_div(p, sub(p, tiles, shared), groups));
    const bool whole_first = w->stream_k == 3;
    const Expr *is_cut = whole_first ? expr_op(p, EXPR_LE, whole, step) : expr_op(p, EXPR_LT, step, cut);
    is_cut = expr_name(p, "is_cut", is_cut);
    const Expr *i = whole_first ? sub(p, step, whole) : step, *j = whole_first ? step : sub(p, step, cut);
    const Expr *tile = add(p, tile0, i), *round = add(p, add(p, shared, mul(p, j, groups)), group);
    tile = expr_name(p, "tile", counted(p, expr_select(p, is_cut, tile, round)));
    const Expr *begin = expr_name(p, "tile_from", mul(p, tile, chunks)), *end = add(p, begin, chunks);
    const Expr *first = sub(p, expr_op(p, EXPR_MAX, from, begin), begin);
    first = expr_name(p, "first", counted(p, expr_select(p, is_cut, first, expr_const(p, 0))));
    const Expr *last = sub(p, expr_op(p, EXPR_MIN, to, end), begin);
    const Expr *count = counted(p, expr_select(p, is_cut, sub(p, last, first), chunks));
    const Expr *before = share_of(p, &s, begin), *behind = share_of(p, &s, sub(p, end, one));
    before = expr_name(p, "first_group", counted(p, expr_select(p, is_cut, before, group)));
    behind = expr_select(p, is_cut, behind, group);
    const Expr *late = expr_op(p, EXPR_LT, share_first(p, &s, before), begin);
    return (WalkStream){.steps = add(p, whole, cut),
                        .tile = tile,
                        .first = first,
                        .count = expr_name(p, "count", count),
                        .part = sub(p, group, before),
                        .parts = add(p, sub(p, behind, before), one),
                        .slot = add(p, mul(p, before, expr_const(p, 2)), late),
                        .next_slot = mul(p, before, expr_const(p, 2))};
}
