/* Launch: the grid of stream-K and the numbers that its kernels take. Source: Tensile 4.44's
 * ContractionSolution.cpp (getSKGrid, predictNumFullTiles, generateSingleCall), whose constants these are. */
#include "client/runtime/launch_priv.h"
#include "index/walk.h"
#include "problem/stream_cut.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t chunks_of(const Contraction *p, const LibSolution *s)
{
    return ceil_div((uint64_t)p->k, (uint64_t)s->map.depth_u);
}

/* STREAMK_GRID_LESS: for many tiles, the fewest groups that use more than three quarters of the compute
 * units in whole rounds. */
static uint64_t reduced_grid(uint64_t tiles, uint64_t cu)
{
    for (uint64_t i = 1; i <= 32 && tiles > cu; i *= 2) {
        uint64_t rounds = ceil_div(i * tiles, cu), grid = ceil_div(i * tiles, rounds);
        if ((double)grid / (double)cu <= 0.75) continue;
        return least(grid < cu ? grid : cu, tiles);
    }
    return least(cu, tiles);
}

/* STREAMK_GRID_MODEL: the grid of least predicted time, from the work of a group and the parts that a tile's
 * sums come in. */
static uint64_t modelled_grid(const Contraction *p, const LibSolution *s, const Geometry *g, uint64_t tiles)
{
    const double group = 5.04 + 8.30, first_part = 5.47, chunk = 4.17, part = 18.59;
    uint64_t chunks = chunks_of(p, s), total = tiles * chunks, best = 1;
    double best_time = 0;
    for (uint64_t grid = 1; grid <= g->cu; grid++) {
        uint64_t each = ceil_div(total, grid), parts = each ? ceil_div(chunks, each) : 1;
        double time =
            group + (parts > 1 ? first_part : 0) + chunk * (double)each + part * (double)(parts - 1);
        if (grid > 1 && time >= best_time) continue;
        best = grid, best_time = time;
    }
    return best;
}

static StreamKernel kernel_of(const SizeMapping *m)
{
    return (StreamKernel){m->stream_k, m->depth_u, m->stream_k_part, m->stream_k_fix, m->stream_k_blocks};
}

/* The cut of a kernel that cuts tiles into equal parts (Walk.stream_part). */
static StreamCut level_cut(const Contraction *p, const SizeMapping *m, uint64_t tiles, uint64_t groups)
{
    const StreamKernel k = kernel_of(m);
    StreamCut cut;
    if (!stream_cut(&k, (int64_t)tiles, (int64_t)groups, p->k, 1, &cut)) /* as if tiles had parts */
        cut = (StreamCut){.tiles = (int64_t)tiles, .parts = (int64_t)groups};
    return cut;
}

static uint64_t cluster_size(const SizeMapping *m)
{
    const int32_t n = m->cluster[0] * m->cluster[1];
    return n > 1 ? (uint64_t)n : 1;
}

bool stream_has_parts(const Contraction *p, const LibSolution *s, const Geometry *g)
{
    const SizeMapping *m = &s->map;
    /* of kernels with clusters the driver launches as many groups as run at once, which may be fewer: only
     * where no number of groups makes a cut pay it is known that there is none */
    const Walk w = {.stream_part = m->stream_k_part, .stream_fix = m->stream_k_fix};
    if (cluster_size(m) > 1) return p->k >= walk_stream_least_k(&w);
    if (m->stream_k_blocks) return g->sk_grid > g->tiles;
    if (!m->stream_k_part) return g->padded_tiles % g->sk_grid;
    return level_cut(p, m, g->tiles, g->sk_grid).tiles > 0;
}

/* A group for each part of a tile where there are fewer tiles than groups. */
static uint64_t level_grid(const Contraction *p, const SizeMapping *m, const Geometry *g)
{
    const uint64_t cluster = cluster_size(m);
    const uint64_t tiles = g->padded_tiles / cluster, groups = g->cu / cluster;
    if (tiles == 0 || tiles >= groups) return g->cu;
    const StreamCut cut = level_cut(p, m, tiles, groups);
    return tiles * (cut.tiles ? (uint64_t)cut.parts : 1) * cluster;
}

uint64_t stream_even(const Contraction *p, const LibSolution *s, const Geometry *g)
{
    const StreamKernel k = kernel_of(&s->map);
    if (g->tiles > UINT32_MAX) return 1; /* such launches are refused */
    return (uint64_t)stream_even_parts(&k, (int64_t)g->tiles, (int64_t)g->cu, p->k);
}

uint64_t stream_grid(const Contraction *p, const LibSolution *s, const LaunchHardware *hw, const Geometry *g)
{
    if (!hw) return g->cu;
    if (hw->streamk_fixed_grid > 0) return (uint64_t)hw->streamk_fixed_grid;
    switch (hw->streamk_dynamic_grid) {
    case STREAMK_GRID_TILES:
        return least(g->cu, g->tiles ? g->tiles : 1);
    case STREAMK_GRID_LESS:
        return reduced_grid(g->tiles ? g->tiles : 1, g->cu);
    case STREAMK_GRID_MODEL:
        return modelled_grid(p, s, g, g->tiles0 * g->tiles1); /* Tensile's leaves out the batch */
    default:
        break;
    }
    /* Tensile's kernels have as many groups as there are compute units. For few tiles that gives shares of a
     * chunk or two, whose sums cost more than their products. */
    if (s->map.stream_k_part) return level_grid(p, &s->map, g);
    if (s->map.source_kernel && g->tiles < g->cu && p->k > 0) return modelled_grid(p, s, g, g->tiles);
    if (hw->streamk_max_cus > 0) return least(g->cu, (uint64_t)hw->streamk_max_cus);
    return hw->streamk_grid_multiplier > 1 ? g->cu * (uint64_t)hw->streamk_grid_multiplier : g->cu;
}

/* Whole rounds of tiles that are cut into shares besides the rest, as Tensile predicts: measured on parts of
 * 304 compute units, where a rest of fewer tiles than the curve's at a K is better cut with another round. */
static uint64_t predicted_rounds(uint64_t k, uint64_t rest, uint64_t cu)
{
    static const struct {
        uint64_t k;
        double tiles;
    } curve[] = {{512, 304}, {768, 201}, {1024, 75}, {1536, 40}, {2048, 30}, {3072, 21},
                 {4096, 14}, {5120, 11}, {6144, 9},  {7168, 8},  {8192, 5},  {16384, 4}};
    enum { POINTS = sizeof curve / sizeof *curve };
    if (cu != 304 || rest == 0) return 0;
    if (k < curve[0].k) return 1;
    for (int i = 1; i < POINTS; i++) {
        if (k >= curve[i].k) continue;
        double along = (double)(k - curve[i - 1].k) / (double)(curve[i].k - curve[i - 1].k);
        return (double)rest < curve[i - 1].tiles + along * (curve[i].tiles - curve[i - 1].tiles);
    }
    return (double)rest < curve[POINTS - 1].tiles;
}

static void put_word(Args *args, ExprPool *pool, const Expr *e)
{
    int64_t value = 0;
    args->overflow |= pool->failed || !expr_eval(e, NULL, &value) || value < 0 || value > UINT32_MAX;
    put_u32(args, (uint32_t)value);
}

void put_streamk(const Contraction *p, const LibSolution *s, const LaunchHardware *hw, const Geometry *g,
                 Args *args)
{
    const SizeMapping *m = &s->map;
    const uint64_t k = chunks_of(p, s) * (uint64_t)m->depth_u;
    const uint64_t rounds = hw && hw->streamk_full_tiles_set
                                ? (uint64_t)hw->streamk_full_tiles
                                : predicted_rounds(k, g->tiles % g->sk_grid, g->cu);
    const Walk w = {.stream_k = m->stream_k, .depth_u = m->depth_u};
    Expr nodes[96];
    ExprPool pool;
    expr_pool_fixed(&pool, nodes, 96);
    /* the kernel counts the chunks of all tiles with 32 bits */
    args->overflow |= (unsigned __int128)g->tiles * chunks_of(p, s) > UINT32_MAX;
    const WalkStreamWords words = walk_stream_words(
        &pool, &w, expr_const(&pool, (int64_t)g->tiles), expr_const(&pool, (int64_t)g->sk_grid),
        expr_const(&pool, p->k), expr_const(&pool, (int64_t)least(rounds, g->tiles)));
    put_word(args, &pool, words.chunks);
    put_magic(args, MAGIC_OF_WALKS, chunks_of(p, s));
    put_magic(args, MAGIC_OF_WALKS, g->tiles0 * g->tiles1);
    put_word(args, &pool, words.total);
    put_word(args, &pool, words.share);
    if (m->stream_k < 2) return;
    put_u32(args, (uint32_t)g->sk_grid);
    put_word(args, &pool, words.shared);
    put_word(args, &pool, words.longer);
}
