/* The walk of stream-K (walk.h): groups take equal shares of the chunks of all tiles, or of those tiles that
 * do not fill whole rounds; the other tiles go round whole. Source: ContractionSolution.cpp of Tensile 4.44
 * for the numbers, KernelWriterAssembly.py for the order of the steps and the mapping to dies.
 *
 * With Walk.stream_part each tile that does not fill a round is cut into the same number of parts, one for
 * each group. Shares of tiles that do not begin and end together are at different places of K, so that groups
 * do not find in the cache what others read: on an H200 they took 1.9 times as long. */
#include "index/walk.h"
#include "problem/stream_cut.h"

#include <math.h>

/* Sizes have 32 bits because larger launches are refused. */
static const Expr *add(ExprPool *p, const Expr *x, const Expr *y) { return expr_u32(p, expr_add(p, x, y)); }
static const Expr *sub(ExprPool *p, const Expr *x, const Expr *y) { return expr_u32(p, expr_sub(p, x, y)); }
static const Expr *mul(ExprPool *p, const Expr *x, const Expr *y) { return expr_u32(p, expr_mul(p, x, y)); }
static const Expr *min(ExprPool *p, const Expr *x, const Expr *y) { return expr_op(p, EXPR_MIN, x, y); }
static const Expr *at_least_1(ExprPool *p, const Expr *e)
{
    return expr_within(p, expr_op(p, EXPR_MAX, e, expr_const(p, 1)), 1, UINT32_MAX);
}

/* x / n, without a division where tiles are not cut (n 1): 0.05 us each before the first load of a tile. */
static const Expr *by_parts(ExprPool *p, const Expr *x, const Expr *n)
{
    return expr_u32(p, expr_select(p, expr_op(p, EXPR_LT, expr_const(p, 1), n), expr_div(p, x, n), x));
}

/* Tiles that are cut into shares. Where all rounds are whole, each share is a tile. */
static const Expr *shared_tiles(ExprPool *p, const Walk *w, const Expr *tiles, const Expr *groups,
                                const Expr *rounds)
{
    if (w->stream_k == 1) return tiles;
    const Expr *rest = expr_name(p, "rest", expr_mod(p, tiles, groups));
    const Expr *some = min(p, expr_add(p, expr_mul(p, groups, rounds), rest), tiles);
    return expr_select(p, rest, some, groups);
}

enum { PARTS_MAX = 8 };

/* Parts of each of the `rest` tiles that do not fill a round; 1: they are not cut. The i-th part saves
 * 1 / (i - 1) - 1 / i of a tile's time and costs stream_part; all together cost stream_fix besides. */
static const Expr *level_parts(ExprPool *p, const Walk *w, const Expr *rest, const Expr *groups,
                               const Expr *k, const Expr *chunks)
{
    enum { K_MAX = 1 << 20 };
    const Expr *one = expr_const(p, 1), *parts = one;
    const Expr *size = expr_name(p, "cut_size", min(p, k, expr_const(p, K_MAX)));
    for (int i = 2; i <= PARTS_MAX; i++)
        parts =
            add(p, parts, expr_op(p, EXPR_LE, expr_const(p, (int64_t)w->stream_part * i * (i - 1)), size));
    parts = min(p, expr_name(p, "best_parts", expr_within(p, parts, 1, PARTS_MAX)),
                expr_name(p, "least_chunk", at_least_1(p, chunks)));
    parts = min(p, expr_name(p, "parts_of_k", parts),
                expr_name(p, "groups_of_tile", expr_div(p, groups, at_least_1(p, rest))));
    parts = expr_name(p, "most_parts", expr_within(p, parts, 0, PARTS_MAX));
    const Expr *saved = expr_mul(p, size, expr_sub(p, parts, one));
    const Expr *each = expr_add_i(p, expr_mul_i(p, parts, w->stream_part), w->stream_fix);
    const Expr *pays = expr_op(p, EXPR_LT, expr_mul(p, parts, each), saved);
    return expr_name(p, "tile_parts", expr_within(p, expr_select(p, pays, parts, one), 1, PARTS_MAX));
}

static void level_words(ExprPool *p, const Walk *w, const Expr *tiles, const Expr *groups, const Expr *k,
                        WalkStreamWords *words)
{
    const Expr *rest = expr_name(p, "rest", expr_mod(p, tiles, groups));
    words->parts = level_parts(p, w, rest, groups, k, words->chunks);
    words->whole = expr_name(p, "whole", walk_stream_whole(p, tiles, groups, words->parts));
    words->shared = expr_name(p, "shared_tiles", sub(p, tiles, words->whole));
    walk_stream_shares(p, words);
}

const Expr *walk_stream_whole(ExprPool *p, const Expr *tiles, const Expr *groups, const Expr *parts)
{
    const Expr *cut = expr_op(p, EXPR_LT, expr_const(p, 1), parts);
    return sub(p, tiles, expr_select(p, cut, expr_mod(p, tiles, groups), expr_const(p, 0)));
}

void walk_stream_shares(ExprPool *p, WalkStreamWords *words)
{
    words->share = expr_name(p, "share", by_parts(p, words->chunks, words->parts));
    words->longer = sub(p, words->chunks, mul(p, words->share, words->parts));
}

int64_t walk_stream_least_k(const Walk *w)
{
    int64_t least = INT64_MAX;
    for (int64_t i = 2; w->stream_part && i <= PARTS_MAX; i++) { /* i parts pay */
        const int64_t k = i * (i * w->stream_part + w->stream_fix) / (i - 1) + 1;
        least = k < least ? k : least;
    }
    return w->stream_part ? least : 0;
}

bool walk_stream_by_id(const Walk *w) { return w->stream_k == 3 && w->stream_part; }

WalkStreamWords walk_stream_words(ExprPool *p, const Walk *w, const Expr *tiles, const Expr *groups,
                                  const Expr *k, const Expr *rounds)
{
    WalkStreamWords words = {.longer = expr_const(p, 0)};
    words.chunks = expr_name(p, "chunks", expr_ceil_div(p, k, expr_const(p, w->depth_u)));
    words.total = mul(p, tiles, words.chunks);
    if (w->stream_part) {
        level_words(p, w, tiles, groups, k, &words);
        return words;
    }
    words.shared = expr_name(p, "shared_tiles", expr_u32(p, shared_tiles(p, w, tiles, groups, rounds)));
    if (w->stream_k == 1) {
        words.share = expr_name(p, "share", expr_ceil_div(p, words.total, groups));
        return words;
    }
    const Expr *all = mul(p, words.shared, words.chunks);
    words.share = expr_name(p, "share", expr_div(p, all, groups));
    words.longer = expr_name(p, "longer_shares", expr_mod(p, all, groups));
    return words;
}

bool stream_cut(const StreamKernel *s, int64_t tiles, int64_t groups, int64_t k, int64_t rounds,
                StreamCut *out)
{
    const Walk w = {.stream_k = s->stream_k,
                    .depth_u = s->depth_u,
                    .stream_part = s->stream_part,
                    .stream_fix = s->stream_fix};
    Expr nodes[128];
    ExprPool p;
    *out = (StreamCut){0};
    if (tiles < 0 || tiles > UINT32_MAX || groups < 1 || groups > UINT32_MAX || k < 0 || k > UINT32_MAX)
        return false;
    expr_pool_fixed(&p, nodes, 128);
    const WalkStreamWords words = walk_stream_words(&p, &w, expr_const(&p, tiles), expr_const(&p, groups),
                                                    expr_const(&p, k), expr_const(&p, rounds));
    if (p.failed || (words.parts && !expr_eval(words.parts, NULL, &out->parts))) return false;
    return expr_eval(words.shared, NULL, &out->tiles) && expr_eval(words.share, NULL, &out->share) &&
           expr_eval(words.longer, NULL, &out->longer);
}

int64_t stream_even_parts(const StreamKernel *s, int64_t tiles, int64_t n_cu, int64_t k)
{
    /* each round ends with sums that are stored */
    const int64_t chunks = (k + s->depth_u - 1) / s->depth_u, slots = n_cu * s->blocks;
    int64_t best = 1;
    double least = INFINITY;
    if (tiles < 0 || tiles > UINT32_MAX || k < 0 || k > UINT32_MAX) return 1;
    for (int64_t i = 1; i <= PARTS_MAX && (i == 1 || i <= chunks); i++) {
        const int64_t rounds = (tiles * i + slots - 1) / slots, share = (chunks + i - 1) / i;
        const double cost = i > 1 ? (double)rounds * s->stream_part + s->stream_fix : 0;
        const double time = (double)rounds * (double)(share * s->depth_u) + cost;
        if (time < least) best = i, least = time;
    }
    return best;
}

const Expr *walk_stream_group(ExprPool *p, const Walk *w, const Expr *group, const Expr *groups)
{
    return w->stream_dies > 1 ? walk_dies(p, group, groups, expr_const(p, w->stream_dies)) : group;
}

/* The shares: group g has chunks share_first(g) to share_first(g + 1). */
typedef struct {
    const Expr *base, *extra, *all; /* each share's chunks; shares that have one more; of all shares */
} Shares;

static const Expr *share_first(ExprPool *p, const Shares *s, const Expr *group, const char *name)
{
    const Expr *first = add(p, mul(p, group, s->base), min(p, group, s->extra));
    return min(p, expr_name(p, name, first), s->all);
}

/* The group that has a chunk. */
static const Expr *share_of(ExprPool *p, const Shares *s, const Expr *chunk)
{
    const Expr *longer = add(p, s->base, expr_const(p, 1));
    const Expr *cut = expr_name(p, "in_longer", mul(p, s->extra, longer));
    const Expr *rest = expr_div(p, sub(p, chunk, cut), expr_name(p, "least_share", at_least_1(p, s->base)));
    return expr_select(p, expr_op(p, EXPR_LT, chunk, cut), expr_div(p, chunk, longer),
                       add(p, s->extra, rest));
}

/* Tiles `first` of n that a group has a share of, from chunk `from` to `to`. */
static const Expr *cut_tiles(ExprPool *p, const Expr *from, const Expr *to, const Expr *chunks,
                             const Expr *first)
{
    const Expr *last = expr_div(p, sub(p, to, expr_const(p, 1)), chunks);
    const Expr *n = add(p, sub(p, last, first), expr_const(p, 1));
    n = expr_select(p, expr_op(p, EXPR_LT, from, to), n, expr_const(p, 0));
    return expr_name(p, "cut_tiles", expr_u32(p, n));
}

/* Tiles that a group takes whole. */
static const Expr *whole_tiles(ExprPool *p, const Expr *tiles, const Expr *group, const Expr *groups)
{
    const Expr *more = expr_op(p, EXPR_LT, group, expr_mod(p, tiles, groups));
    return expr_name(p, "whole_tiles", add(p, expr_div(p, tiles, groups), more));
}

/* What a group takes in its step: whether it is a share of a tile, which of the shared tiles that is, the
 * tile of all; steps of the group. */
typedef struct {
    const Expr *is_cut, *shared, *tile, *steps;
} Step;

/* tile0: the first shared tile that the group has a share of; cut: how many such tiles there are. */
static Step step_of(ExprPool *p, const Walk *w, const Expr *tiles, const Expr *shared, const Expr *tile0,
                    const Expr *cut, const Expr *group, const Expr *groups, const Expr *step)
{
    const bool last = w->stream_k == 3;
    const Expr *whole = whole_tiles(p, sub(p, tiles, shared), group, groups);
    const Expr *is_cut = last ? expr_op(p, EXPR_LE, whole, step) : expr_op(p, EXPR_LT, step, cut);
    const Expr *i = add(p, tile0, last ? sub(p, step, whole) : step);
    const Expr *j = add(p, mul(p, last ? step : sub(p, step, cut), groups), group);
    is_cut = expr_name(p, "is_cut", is_cut);
    const Expr *tile = last ? expr_select(p, is_cut, add(p, sub(p, tiles, shared), i), j)
                            : expr_select(p, is_cut, i, add(p, shared, j));
    return (Step){is_cut, i, expr_name(p, "tile", expr_u32(p, tile)), add(p, whole, cut)};
}

/* The same where ids count tiles: a group's first id behind the whole tiles is that of its part of another
 * one. Whole tiles take no division. */
static Step step_by_id(ExprPool *p, const WalkStreamWords *words, const Expr *cut_tile, const Expr *cut,
                       const Expr *groups, const Expr *id)
{
    const Expr *is_cut =
        words->is_cut ? words->is_cut : expr_name(p, "is_cut", expr_op(p, EXPR_LE, words->whole, id));
    const Expr *tile = expr_select(p, is_cut, add(p, words->whole, cut_tile), id);
    const Expr *ids = add(p, words->whole, expr_select(p, cut, groups, expr_const(p, 0)));
    return (Step){is_cut, cut_tile, expr_name(p, "tile", expr_u32(p, tile)), ids};
}

/* With Walk.stream_part: group g has part g % parts of tile g / parts of those that are cut. */
static WalkStream level_stream(ExprPool *p, const Walk *w, const WalkStreamWords *words, const Expr *tiles,
                               const Expr *group, const Expr *groups, const Expr *step)
{
    const Expr *zero = expr_const(p, 0), *one = expr_const(p, 1), *parts = words->parts;
    const Expr *cut_tile = expr_name(p, "cut_tile", by_parts(p, group, parts));
    const Expr *cut = expr_op(p, EXPR_LT, group, mul(p, words->shared, parts));
    cut = expr_name(p, "cut_tiles", cut);
    const Step s = walk_stream_by_id(w)
                       ? step_by_id(p, words, cut_tile, cut, groups, step)
                       : step_of(p, w, tiles, words->shared, cut_tile, cut, group, groups, step);
    const Expr *own = sub(p, group, mul(p, cut_tile, parts));
    const Expr *part = expr_name(p, "own_part", expr_select(p, s.is_cut, own, zero));
    const Expr *first = add(p, mul(p, part, words->share), min(p, part, words->longer));
    const Expr *count = add(p, words->share, expr_op(p, EXPR_LT, part, words->longer));
    const Expr *first_group = expr_name(p, "first_group", sub(p, group, part));
    const Expr *slot = mul(p, first_group, expr_const(p, 2));
    return (WalkStream){
        .steps = s.steps,
        .tile = s.tile,
        .first = expr_name(p, "first", expr_u32(p, expr_select(p, s.is_cut, first, zero))),
        .count = expr_name(p, "in_share", expr_u32(p, expr_select(p, s.is_cut, count, words->chunks))),
        .part = part,
        .parts = expr_select(p, s.is_cut, parts, one),
        .first_group = first_group,
        .slot = slot,
        .next_slot = slot};
}

WalkStream walk_stream_even(ExprPool *p, const Walk *w, const WalkNames *names, const Expr *k,
                            const Expr **column)
{
    const Expr *tiles_m = expr_var(p, names->tiles_m, WALK_TILES_M, 1, UINT32_MAX),
               *tiles_n = expr_var(p, names->tiles_n, WALK_TILES_N, 1, UINT32_MAX),
               *groups = expr_var(p, names->stream_groups, WALK_GROUPS, 1, UINT32_MAX),
               *x = expr_var(p, names->group[0], WALK_GROUP_X, 0, UINT32_MAX),
               *y = expr_var(p, names->group[1], WALK_GROUP_Y, 0, UINT32_MAX),
               *z = expr_var(p, names->group[2], WALK_GROUP_Z, 0, UINT32_MAX);
    const Expr *one = expr_const(p, 1), *cut = expr_op(p, EXPR_LT, tiles_m, groups);
    const Expr *parts = expr_select(p, cut, expr_div(p, groups, tiles_m), one);
    parts = expr_name(p, "parts_of_k", expr_within(p, parts, 1, UINT32_MAX));
    const Expr *chunks = expr_name(p, "chunks", expr_ceil_div(p, k, expr_const(p, w->depth_u)));
    const Expr *share = expr_name(p, "share", by_parts(p, chunks, parts));
    const Expr *longer = expr_name(p, "longer_shares", sub(p, chunks, mul(p, share, parts)));
    *column = expr_name(p, "column", by_parts(p, x, parts));
    const Expr *part = expr_name(p, "own_part", sub(p, x, mul(p, *column, parts)));
    const Expr *row = add(p, y, mul(p, tiles_n, z));
    const Expr *first_group = mul(p, add(p, *column, mul(p, tiles_m, row)), parts);
    return (WalkStream){.steps = one,
                        .first =
                            expr_name(p, "first_chunk", add(p, mul(p, part, share), min(p, part, longer))),
                        .count = expr_name(p, "in_share", add(p, share, expr_op(p, EXPR_LT, part, longer))),
                        .part = part,
                        .parts = parts,
                        .first_group = first_group};
}

WalkStream walk_stream(ExprPool *p, const Walk *w, const WalkNames *names, const WalkStreamWords *words,
                       const Expr *tiles)
{
    const Expr *group = expr_var(p, names->stream_group, WALK_GROUP, 0, UINT32_MAX),
               *groups = expr_var(p, names->stream_groups, WALK_GROUPS, 1, UINT32_MAX),
               *step = expr_var(p, names->id, WALK_ID, 0, UINT32_MAX);
    if (words->parts) return level_stream(p, w, words, tiles, group, groups, step);
    const Expr *zero = expr_const(p, 0), *one = expr_const(p, 1), *chunks = at_least_1(p, words->chunks);
    chunks = expr_name(p, "per_tile", chunks);
    /* without chunks all tiles go round whole */
    const Expr *shared = expr_u32(p, expr_select(p, words->chunks, words->shared, zero));
    shared = expr_name(p, "cut_into_shares", shared);
    const Shares s = {words->share, words->longer, expr_name(p, "all_chunks", mul(p, shared, words->chunks))};
    const Expr *from = expr_name(p, "share_from", share_first(p, &s, group, "share_at"));
    const Expr *to = expr_name(p, "share_to", share_first(p, &s, add(p, group, one), "next_share_at"));
    const Expr *tile0 = expr_name(p, "share_tile", expr_div(p, from, chunks));
    const Expr *cut = cut_tiles(p, from, to, chunks, tile0);
    const Step at = step_of(p, w, tiles, shared, tile0, cut, group, groups, step);
    const Expr *is_cut = at.is_cut;
    const Expr *begin = expr_name(p, "tile_from", mul(p, at.shared, chunks)),
               *end = expr_name(p, "tile_to", add(p, begin, chunks));
    const Expr *first = sub(p, expr_op(p, EXPR_MAX, from, begin), begin);
    first = expr_name(p, "share_first", first);
    const Expr *before = expr_name(p, "share_before", share_of(p, &s, begin));
    const Expr *behind = share_of(p, &s, sub(p, end, one));
    const Expr *late = expr_op(p, EXPR_LT, share_first(p, &s, before, "before_at"), begin);
    const Expr *count = expr_select(p, is_cut, sub(p, sub(p, min(p, to, end), begin), first), words->chunks);
    const Expr *first_group = expr_name(p, "first_group", expr_select(p, is_cut, before, group));
    behind = expr_select(p, is_cut, behind, group);
    return (WalkStream){.steps = at.steps,
                        .tile = at.tile,
                        .first = expr_name(p, "first", expr_u32(p, expr_select(p, is_cut, first, zero))),
                        .count = expr_name(p, "in_share", expr_u32(p, count)),
                        .part = sub(p, group, first_group),
                        .parts = add(p, sub(p, behind, first_group), one),
                        .first_group = first_group,
                        .slot = add(p, mul(p, first_group, expr_const(p, 2)), late),
                        .next_slot = mul(p, first_group, expr_const(p, 2))};
}

/* Of `count` chunks from `first` on those below `end`. */
static const Expr *below(ExprPool *p, const Expr *first, const Expr *count, const Expr *end, const char *name)
{
    const Expr *stop = expr_name(p, name, min(p, expr_name(p, "share_end", add(p, first, count)), end));
    return sub(p, expr_op(p, EXPR_MAX, stop, first), first);
}

WalkChunks walk_stream_chunks(ExprPool *p, const Walk *w, const WalkStream *step, const Expr *k)
{
    const Expr *chunks = expr_name(p, "chunks_of_k", expr_ceil_div(p, k, expr_const(p, w->depth_u)));
    return (WalkChunks){.first = step->first,
                        .step = expr_const(p, 1),
                        .count = below(p, step->first, step->count, chunks, "chunks_end"),
                        .whole =
                            below(p, step->first, step->count, expr_div_i(p, k, w->depth_u), "whole_end")};
}
