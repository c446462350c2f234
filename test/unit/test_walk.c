/* Walks: values from the format notes, bijections over many grids, chunks of K that belong to one part
 * each. */
#include "test/support.h"

#include "index/walk.h"
#include "problem/stream_cut.h"

#include <string.h>

enum { N_NODES = 400 };
static const WalkNames names = {.group = {"x", "y", "z"},
                                .id = "id",
                                .tiles_m = "tiles_m",
                                .tiles_n = "tiles_n",
                                .batch = "batch",
                                .k = "k",
                                .stagger_mask = "mask"};

static int64_t value(const Expr *e, const int64_t *slots)
{
    int64_t v = -1;
    assert_true(expr_eval(e, slots, &v));
    assert_true(v >= e->lo && v <= e->hi);
    return v;
}

/* Every tile of every part is visited exactly once, whatever the grid, the width and the split. */
static void every_tile_once(const Walk *w, int64_t tiles_m, int64_t tiles_n, int64_t batch)
{
    Expr nodes[N_NODES];
    ExprPool p;
    expr_pool_fixed(&p, nodes, N_NODES);
    WalkPlace at = walk_place(&p, w, &names);
    const Expr *ids = walk_ids(&p, w, &names);
    assert_int_equal(expr_pool_check(&p), ERR_OK);
    unsigned char seen[20 * 20 * 4 * 3] = {0};
    int64_t v[WALK_SLOTS] = {[WALK_TILES_M] = tiles_m, [WALK_TILES_N] = tiles_n, [WALK_BATCH] = batch};
    int64_t n = tiles_m * tiles_n * w->split * batch;
    for (int64_t i = 0; i < n; i++) {
        v[WALK_ID] = i;
        v[WALK_GROUP_X] = i % tiles_m, v[WALK_GROUP_Y] = i / tiles_m % (tiles_n * w->split);
        v[WALK_GROUP_Z] = i / tiles_m / (tiles_n * w->split);
        int64_t wg0 = value(at.wg0, v), wg1 = value(at.wg1, v), part = value(at.part, v);
        int64_t wg2 = value(at.wg2, v);
        if (w->persistent && !w->batch_in_id && i >= value(ids, v)) break;
        assert_true(wg0 < tiles_m && wg1 < tiles_n && wg2 < batch && part < w->split);
        unsigned char *s = &seen[((wg2 * w->split + part) * tiles_n + wg1) * tiles_m + wg0];
        assert_int_equal(*s, 0);
        *s = 1;
    }
}

static void bijections(void **state)
{
    (void)state;
    static const int32_t mappings[] = {0, 1, 2, 3, 5, 8, 13, -1, -2, -3, -8};
    for (size_t i = 0; i < sizeof mappings / sizeof *mappings; i++)
        for (int64_t m = 1; m < 20; m += 3)
            for (int64_t n = 1; n < 20; n += 2)
                for (int32_t split = 1; split <= 4; split += 3)
                    for (int how = 0; how < 8; how++) {
                        Walk w = {.mapping = mappings[i], .split = split, .depth_u = 16};
                        w.split_rows_round_robin = how & 1;
                        w.persistent = how >= 2;
                        w.batch_in_id = how >= 4 && how != 6;
                        w.parts_first = how >= 6 && split > 1;
                        every_tile_once(&w, m, n, w.persistent && !w.batch_in_id ? 1 : 3);
                        w.mapping = 1, w.mapping_z = true;
                        if (i == 0) every_tile_once(&w, m, n, w.persistent && !w.batch_in_id ? 1 : 3);
                    }
}

/* Z order by its words: the largest whole square around a tile, in which bits alternate. */
static void z_expected(int64_t m, int64_t n, int64_t x, int64_t y, int64_t *at0, int64_t *at1)
{
    int64_t side = 1;
    while (2 * side <= m && 2 * side <= n && x / (2 * side) * 2 * side + 2 * side <= m &&
           y / (2 * side) * 2 * side + 2 * side <= n)
        side *= 2;
    int64_t serial = x % side + y % side * side;
    *at0 = x - x % side, *at1 = y - y % side;
    for (int64_t bit = 1; serial; bit *= 2, serial /= 4)
        *at0 += serial % 2 * bit, *at1 += serial / 2 % 2 * bit;
}

static void z_order(void **state)
{
    (void)state;
    /* 4 x 4 tiles; ids along M first */
    static const int first[16][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 1},
                                     {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 2}, {3, 2}, {2, 3}, {3, 3}};
    static const int64_t sides[] = {1, 2, 3, 4, 5, 7, 12, 17, 38};
    enum { N_SIDES = sizeof sides / sizeof *sides };
    Expr nodes[N_NODES];
    ExprPool p;
    expr_pool_fixed(&p, nodes, N_NODES);
    const Walk w = {.mapping = 1, .mapping_z = true, .split = 1, .depth_u = 16};
    const WalkPlace at = walk_place(&p, &w, &names);
    assert_ok(expr_pool_check(&p));
    for (int i = 0; i < N_SIDES * N_SIDES; i++) {
        const int64_t m = sides[i % N_SIDES], n = sides[i / N_SIDES];
        for (int64_t id = 0; id < m * n; id++) {
            int64_t x, y, v[WALK_SLOTS] = {[WALK_TILES_M] = m, [WALK_TILES_N] = n};
            v[WALK_GROUP_X] = id % m, v[WALK_GROUP_Y] = id / m;
            z_expected(m, n, id % m, id / m, &x, &y);
            assert_int_equal(value(at.wg0, v), x);
            assert_int_equal(value(at.wg1, v), y);
            if (m == 4 && n == 4) assert_true(x == first[id][0] && y == first[id][1]);
        }
    }
    /* the largest grids: no number leaves 32 bits */
    const int64_t v[WALK_SLOTS] = {
        [WALK_TILES_M] = 65535, [WALK_TILES_N] = 65537, [WALK_GROUP_X] = 40000, [WALK_GROUP_Y] = 65536};
    int64_t x, y;
    z_expected(65535, 65537, 40000, 65536, &x, &y);
    assert_true(value(at.wg0, v) == x && value(at.wg1, v) == y);
}

/* Seed tables of a 6 x 8 grid: the order in which groups of 6, and of 4, tiles along M are taken. */
static void bands_along_m(void **state)
{
    (void)state;
    static const int last_row_of_4[] = {33, 35, 37, 39, 41, 43, 45, 47};
    for (int width = 4; width <= 6; width += 2) {
        Expr nodes[N_NODES];
        ExprPool p;
        expr_pool_fixed(&p, nodes, N_NODES);
        Walk w = {.mapping = -width, .split = 1, .depth_u = 16};
        WalkPlace at = walk_place(&p, &w, &names);
        int table[6][8];
        for (int id = 0; id < 48; id++) { /* ids as this mapping counts them: along N first */
            int64_t v[WALK_SLOTS] = {[WALK_TILES_M] = 6, [WALK_TILES_N] = 8};
            v[WALK_GROUP_X] = id / 8, v[WALK_GROUP_Y] = id % 8;
            table[value(at.wg0, v)][value(at.wg1, v)] = id;
        }
        if (width == 6)
            for (int i = 0; i < 48; i++) assert_int_equal(table[i % 6][i / 6], i);
        else
            for (int n = 0; n < 8; n++) assert_int_equal(table[5][n], last_row_of_4[n]);
    }
}

static void band_words(void **state)
{
    (void)state;
    static const struct {
        int32_t mapping;
        int64_t tiles, full, last, magic;
    } rows[] = {{8, 8, 1, 8, 268435457}, {8, 4, 0, 4, 536870913}, {-8, 16, 2, 4294967288, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Expr nodes[N_NODES];
        ExprPool p;
        expr_pool_fixed(&p, nodes, N_NODES);
        WalkBandWords words = walk_band_words(&p, rows[i].mapping, expr_const(&p, rows[i].tiles));
        assert_int_equal(value(words.full, NULL), rows[i].full);
        assert_int_equal(value(words.last, NULL), rows[i].last);
        assert_int_equal(value(words.magic, NULL), rows[i].magic);
    }
}

static void chunks(void **state)
{
    (void)state;
    for (int32_t split = 1; split < 6; split++)
        for (int rr = 0; rr < 4; rr++) /* round robin; members of a cluster */
            for (int64_t k = 0; k < 200; k += 3) {
                Expr nodes[N_NODES];
                ExprPool p;
                expr_pool_fixed(&p, nodes, N_NODES);
                Walk w = {.split = split, .split_chunks_round_robin = rr & 1, .depth_u = 8};
                if (rr & 2) w.split = 1, w.members = split;
                const Expr *part = expr_var(&p, "part", WALK_PART, 0, split - 1);
                const Expr *size = expr_var(&p, "k", WALK_K, 0, UINT32_MAX);
                WalkChunks c = walk_chunks(&p, &w, size, part);
                assert_int_equal(expr_pool_check(&p), ERR_OK);
                unsigned char seen[32] = {0};
                int64_t n = (k + 7) / 8, total = 0, whole = 0;
                for (int64_t q = 0; q < split; q++) {
                    int64_t v[WALK_SLOTS] = {[WALK_K] = k, [WALK_PART] = q};
                    int64_t count = value(c.count, v), at = value(c.first, v), step = value(c.step, v);
                    for (int64_t i = 0; i < count; i++, at += step) {
                        assert_true(at < n);
                        assert_int_equal(seen[at], 0);
                        seen[at] = 1;
                        /* a chunk that K cuts is the last of its part, and not whole */
                        assert_int_equal(i < value(c.whole, v), at < k / 8);
                    }
                    total += count;
                    whole += value(c.whole, v);
                }
                assert_int_equal(total, n);
                assert_int_equal(whole, k / 8);
            }
}

static void dies(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 7, 8, 16, 63, 64, 305, 608};
    for (int kind = 0; kind < 8; kind++)
        for (int32_t x = 2; x <= 8; x *= 2)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                Expr nodes[N_NODES];
                ExprPool p;
                expr_pool_fixed(&p, nodes, N_NODES);
                const Expr *id = expr_var(&p, "id", 0, 0, UINT32_MAX), *n = expr_const(&p, sizes[i]);
                const Expr *n_dies = expr_const(&p, x), *chunk = expr_const(&p, kind - 3);
                const Expr *group = kind == 1 ? NULL : expr_const(&p, kind == 2 ? 16 : 304);
                const Expr *to = kind == 0  ? walk_dies(&p, id, n, n_dies)
                                 : kind < 4 ? walk_dies_grouped(&p, id, n, n_dies, group)
                                            : walk_dies_chunked(&p, id, n, n_dies, chunk);
                assert_int_equal(expr_pool_check(&p), ERR_OK);
                unsigned char seen[608] = {0};
                for (int64_t u = 0; u < sizes[i]; u++) {
                    int64_t at = value(to, &u);
                    assert_true(at >= 0 && at < sizes[i]);
                    assert_int_equal(seen[at], 0);
                    seen[at] = 1;
                    /* ids of one die are consecutive */
                    if (kind == 0 && u >= x) {
                        int64_t before = u - x;
                        assert_int_equal(at, value(to, &before) + 1);
                    }
                }
            }
}

/* Blocks of A and B that one die's work-groups read of 8 x 8 tiles with 8 chunks of K: 8 rows and 64
 * columns in the order of the hardware's ids, 16 and 32 with ids regrouped by die and bands of two. */
static void blocks_of_a_die(void **state)
{
    (void)state;
    static const struct {
        bool remap;
        int32_t width;
        int blocks;
    } rows[] = {{false, 1, 72}, {true, 2, 48}, {true, 1, 72}, {true, 4, 48}, {true, 8, 72}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Expr nodes[N_NODES];
        ExprPool p;
        expr_pool_fixed(&p, nodes, N_NODES);
        const Expr *id = expr_var(&p, "id", 0, 0, 63), *n = expr_const(&p, 64), *eight = expr_const(&p, 8);
        if (rows[i].remap) id = walk_dies(&p, id, n, eight);
        const Expr *across = expr_mod(&p, id, eight), *along = expr_div(&p, id, eight);
        walk_bands(&p, expr_const(&p, rows[i].width), eight, eight, &across, &along);
        bool seen_across[8] = {false}, seen_along[8] = {false};
        int blocks = 0;
        for (int64_t u = 0; u < 64; u += 8) {
            int64_t a = value(across, &u), b = value(along, &u);
            blocks += 8 * (!seen_across[a] + !seen_along[b]);
            seen_across[a] = seen_along[b] = true;
        }
        assert_int_equal(blocks, rows[i].blocks);
    }
}

static void stagger(void **state)
{
    (void)state;
    Expr nodes[N_NODES];
    ExprPool p;
    expr_pool_fixed(&p, nodes, N_NODES);
    Walk w = {.split = 1, .depth_u = 16, .staggers = true, .stagger_shift = 2, .stagger_mapping = 0};
    WalkPlace at = walk_place(&p, &w, &names);
    const Expr *late = walk_stagger(&p, &w, &names, &at, expr_const(&p, 10));
    int64_t v[WALK_SLOTS] = {
        [WALK_GROUP_X] = 5, [WALK_STAGGER_MASK] = 3, [WALK_TILES_M] = 9, [WALK_TILES_N] = 9};
    assert_int_equal(value(late, v), 4);
    v[WALK_GROUP_X] = 3; /* 12 chunks later there is no chunk */
    assert_int_equal(value(late, v), 0);
}

/* Stream-K: every chunk of every tile once; the parts of a tile belong to neighbouring groups, in the order
 * of K; slots of sums and counters are nobody else's. */
static void stream(const Walk *w, int64_t tiles, int64_t k, int64_t groups, int64_t rounds)
{
    enum { TILES = 40, CHUNKS = 12 };
    static const WalkNames stream_names = {.id = "id", .stream_group = "group", .stream_groups = "groups"};
    Expr nodes[512];
    ExprPool p;
    expr_pool_fixed(&p, nodes, 512);
    const Expr *size = expr_var(&p, "k", WALK_K, 0, UINT32_MAX);
    const Expr *all = expr_const(&p, tiles), *n_groups = expr_var(&p, "groups", WALK_GROUPS, 1, UINT32_MAX);
    const WalkStreamWords words = walk_stream_words(&p, w, all, n_groups, size, expr_const(&p, rounds));
    WalkStream x = walk_stream(&p, w, &stream_names, &words, all);
    assert_int_equal(expr_pool_check(&p), ERR_OK);
    const int64_t chunks = (k + w->depth_u - 1) / w->depth_u;
    unsigned char seen[TILES][CHUNKS] = {{0}}, slots[2 * TILES] = {0}, taken[TILES] = {0}, one[TILES] = {0};
    int64_t counter[TILES], parts[TILES] = {0}, least = INT64_MAX, most = 0;
    assert_true(tiles <= TILES && chunks <= CHUNKS && groups <= TILES);
    for (int64_t g = 0; g < groups; g++) {
        int64_t v[WALK_SLOTS] = {[WALK_K] = k, [WALK_GROUP] = g, [WALK_GROUPS] = groups}, sum = 0;
        const int64_t steps = value(x.steps, v);
        const bool by_id = walk_stream_by_id(w);
        for (v[WALK_ID] = by_id ? g : 0; v[WALK_ID] < steps; v[WALK_ID] += by_id ? groups : 1) {
            int64_t t = value(x.tile, v), first = value(x.first, v), count = value(x.count, v);
            int64_t part = value(x.part, v), n = value(x.parts, v);
            assert_true(t < tiles && first + count <= chunks && part >= 0 && part < n);
            assert_true(count > 0 || chunks == 0);
            taken[t]++;
            for (int64_t i = first; i < first + count; i++) assert_int_equal(seen[t][i]++, 0);
            sum += count;
            assert_int_equal(n == 1, count == chunks);
            if (n == 1) continue;
            assert_int_equal(g - part, value(x.first_group, v));
            if (part) assert_int_equal(one[g]++, 0); /* a slot for each group is enough */
            int64_t slot = part ? value(x.next_slot, v) + 2 * part : value(x.slot, v);
            assert_true(slot < 2 * groups);
            assert_int_equal(slots[slot]++, 0);
            assert_int_equal(part == 0, first == 0);
            assert_int_equal(part, g - value(x.slot, v) / 2);
            if (parts[t]++) assert_int_equal(counter[t], value(x.slot, v) / 2);
            counter[t] = value(x.slot, v) / 2;
        }
        least = sum < least ? sum : least, most = sum > most ? sum : most;
    }
    for (int64_t t = 0; t < tiles; t++)
        for (int64_t i = 0; i < chunks || i < 1; i++) assert_int_equal(chunks ? seen[t][i] : taken[t], 1);
    for (int64_t t = 0; t < tiles; t++)
        for (int64_t u = 0; u < t; u++) assert_true(!parts[t] || !parts[u] || counter[t] != counter[u]);
    if (w->stream_part) return;
    const int64_t even = w->stream_k == 1 ? (tiles * chunks + groups - 1) / groups : least + 1;
    assert_true(most <= even); /* no group has more than its share */
}

static void streams(void **state)
{
    (void)state;
    for (int32_t kind = 1; kind <= 3; kind++)
        for (int64_t tiles = 1; tiles < 40; tiles += 1 + tiles / 8)
            for (int64_t k = 0; k < 90; k += 13)
                for (int64_t groups = 1; groups < 14; groups += 1 + groups / 4)
                    for (int64_t rounds = 0; rounds < (kind > 1 ? 3 : 1); rounds++)
                        stream(&(Walk){.split = 1, .depth_u = 8, .stream_k = kind}, tiles, k, groups, rounds);
}

/* Tiles that do not fill a round in equal parts, one for each group, where that saves more than it costs: 4
 * parts of 2 tiles on 8 groups save 3/4 of 80 elements and cost 20 + 4 * 5. */
static void level_streams(void **state)
{
    (void)state;
    static const struct {
        int64_t tiles, k, groups;
        int32_t part, fix;
        int64_t cut, parts;
    } rows[] = {{2, 80, 8, 5, 20, 2, 4}, {2, 80, 6, 5, 20, 2, 3},  {3, 80, 8, 5, 20, 3, 2},
                {5, 80, 8, 5, 20, 0, 1}, {10, 80, 8, 5, 20, 2, 4}, {10, 80, 8, 5, 45, 0, 1},
                {8, 80, 8, 5, 0, 0, 1},  {1, 80, 20, 5, 0, 1, 4},  {1, 80, 20, 1, 0, 1, 8},
                {1, 8, 20, 1, 0, 0, 1},  {9, 0, 4, 5, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Expr nodes[512];
        ExprPool p;
        expr_pool_fixed(&p, nodes, 512);
        const Walk w = {
            .split = 1, .depth_u = 8, .stream_k = 3, .stream_part = rows[i].part, .stream_fix = rows[i].fix};
        const WalkStreamWords words =
            walk_stream_words(&p, &w, expr_const(&p, rows[i].tiles), expr_const(&p, rows[i].groups),
                              expr_const(&p, rows[i].k), expr_const(&p, 1));
        assert_int_equal(value(words.shared, NULL), rows[i].cut);
        assert_int_equal(value(words.whole, NULL), rows[i].tiles - rows[i].cut);
        if (rows[i].cut) assert_int_equal(value(words.parts, NULL), rows[i].parts);
        if (rows[i].cut) assert_true(rows[i].k >= walk_stream_least_k(&w));
    }
    for (int32_t kind = 2; kind <= 3; kind++)
        for (int64_t tiles = 1; tiles < 40; tiles += 1 + tiles / 3)
            for (int64_t k = 0; k < 97; k += 48)
                for (int64_t groups = 1; groups < 30; groups += 1 + groups / 3)
                    for (int32_t part = 1; part < 4; part++)
                        stream(&(Walk){.split = 1,
                                       .depth_u = 8,
                                       .stream_k = kind,
                                       .stream_part = part,
                                       .stream_fix = 4 * (part - 1)},
                               tiles, k, groups, 0);
}

/* A group for each part of all tiles: 3 x 2 tiles of 2 matrices. Every chunk comes once, and every part has a
 * slot of its own but one of a tile. */
static void even_streams(void **state)
{
    enum { M = 3, N = 2, Z = 2, PARTS = 5, CHUNKS = 12 };
    static const WalkNames names_of = {
        .group = {"x", "y", "z"}, .tiles_m = "m", .tiles_n = "n", .stream_groups = "groups"};
    (void)state;
    for (int64_t k = 0; k < 90; k += 13)
        for (int64_t parts = 1; parts <= PARTS; parts++) {
            const Walk w = {.split = 1, .depth_u = 8, .stream_k = 3, .stream_even = true};
            Expr nodes[256];
            ExprPool p;
            const Expr *column;
            unsigned char seen[M * N * Z][CHUNKS] = {{0}}, slots[M * N * Z * PARTS + 1] = {0};
            expr_pool_fixed(&p, nodes, 256);
            const WalkStream x =
                walk_stream_even(&p, &w, &names_of, expr_var(&p, "k", WALK_K, 0, UINT32_MAX), &column);
            assert_int_equal(expr_pool_check(&p), ERR_OK);
            for (int64_t g = 0; g < M * parts * N * Z; g++) {
                const int64_t row = g / (M * parts);
                const int64_t v[WALK_SLOTS] = {[WALK_K] = k, [WALK_TILES_M] = M, [WALK_TILES_N] = N,
                                               [WALK_GROUPS] = M * parts, [WALK_GROUP_X] = g % (M * parts),
                                               [WALK_GROUP_Y] = row % N, [WALK_GROUP_Z] = row / N};
                const int64_t tile = value(column, v) + M * row, part = value(x.part, v);
                const int64_t first = value(x.first, v), end = first + value(x.count, v);
                assert_true(value(column, v) < M && part < parts && end <= (k + 7) / 8);
                assert_int_equal(value(x.parts, v), parts);
                if (part) assert_int_equal(slots[value(x.first_group, v) + part]++, 0);
                assert_true(value(x.first_group, v) + parts <= M * N * Z * parts);
                for (int64_t i = first; i < end; i++) assert_int_equal(seen[tile][i]++, 0);
            }
            for (int64_t t = 0; t < M * N * Z; t++)
                for (int64_t i = 0; i < (k + 7) / 8; i++) assert_int_equal(seen[t][i], 1);
        }
}

/* From the least K on which pays some number of tiles and groups is cut, below it none. */
static void least_k(void **state)
{
    (void)state;
    const StreamKernel kernel = {.stream_k = 3, .depth_u = 8, .stream_part = 144, .stream_fix = 717};
    const Walk w = {.split = 1, .depth_u = 8, .stream_k = 3, .stream_part = 144, .stream_fix = 717};
    for (int64_t below = 0; below < 2; below++) {
        bool cut = false;
        for (int64_t tiles = 1; tiles < 40; tiles++) {
            StreamCut c;
            assert_true(stream_cut(&kernel, tiles, 132, walk_stream_least_k(&w) - below, 1, &c));
            cut = cut || c.tiles;
        }
        assert_int_equal(cut, !below);
    }
}

/* Kernels whose launches cut all tiles, on 10 compute units that have 2 work-groups each. */
static void even_parts(void **state)
{
    (void)state;
    const StreamKernel s = {.stream_k = 3, .depth_u = 8, .stream_part = 4, .stream_fix = 100, .blocks = 2};
    static const struct {
        int64_t tiles, k, parts;
    } rows[] = {{20, 8000, 1}, /* a full round */
                {10, 8000, 2}, /* 4,000 and 104 of 8,000 */
                {10, 200, 1},  /* shares of 13 and 12 chunks: 104 and 104 of 200 */
                {10, 240, 2},  /* 120 and 104 of 240 */
                {21, 8000, 8}, /* 9 rounds of an eighth, 9 * 4 and 100; whole tiles take 16,000 */
                {1, 1 << 20, 8},
                {1, 24, 1},
                {0, 8000, 1},
                {(int64_t)1 << 40, 8000, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(stream_even_parts(&s, rows[i].tiles, 10, rows[i].k), rows[i].parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bijections),      cmocka_unit_test(z_order),
                                       cmocka_unit_test(bands_along_m),   cmocka_unit_test(band_words),
                                       cmocka_unit_test(chunks),          cmocka_unit_test(dies),
                                       cmocka_unit_test(blocks_of_a_die), cmocka_unit_test(stagger),
                                       cmocka_unit_test(streams),         cmocka_unit_test(level_streams),
                                       cmocka_unit_test(least_k),       cmocka_unit_test(even_parts),
                                       cmocka_unit_test(even_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
