/* The expressions of a walk; see walk.h. Sources: KernelWriterAssembly.py and ContractionSolution.cpp of
 * Tensile for the walk; the remappings of work-groups to XCCs of Wave and of TensileLite for dies. */
#include "index/walk.h"

static const Expr *var(ExprPool *p, const char *name, int slot, int64_t lo)
{
    return expr_var(p, name ? name : "", slot, lo, UINT32_MAX);
}

/* Bands of full width. */
static const Expr *full_bands(ExprPool *p, const Expr *width, const Expr *tiles)
{
    return expr_div(p, tiles, width);
}

/* Width of the narrower band that follows them; 0: there is none. */
static const Expr *last_width(ExprPool *p, const Expr *width, const Expr *tiles)
{
    return expr_mod(p, tiles, width);
}

WalkBandWords walk_band_words(ExprPool *p, int32_t mapping, const Expr *tiles)
{
    const Expr *width = expr_const(p, mapping < 0 ? -(int64_t)mapping : mapping);
    const Expr *rest = last_width(p, width, tiles);
    const Expr *last = expr_and_i(p, expr_select(p, rest, rest, expr_const(p, mapping)), UINT32_MAX);
    const Expr *magic = expr_div(p, expr_const(p, INT64_C(1) << 31), last);
    return (WalkBandWords){
        .full = full_bands(p, width, tiles), .last = last, .magic = expr_add_i(p, magic, 1)};
}

/* Places the id `serial` of a band that begins at tile `first` along and is `wide` tiles wide. */
static void in_band(ExprPool *p, const Expr *serial, const Expr *wide, const Expr *first, const Expr **across,
                    const Expr **along)
{
    *across = expr_div(p, serial, wide);
    *along = expr_u32(p, expr_add(p, expr_mod(p, serial, wide), first));
}

void walk_bands(ExprPool *p, const Expr *width, const Expr *tiles, const Expr *across_tiles,
                const Expr **across, const Expr **along)
{
    const Expr *band = expr_name(p, "band", expr_div(p, *along, width));
    const Expr *full = expr_op(p, EXPR_LT, band, full_bands(p, width, tiles));
    const Expr *wide = expr_select(p, full, width, last_width(p, width, tiles));
    wide = expr_name(p, "wide", expr_within(p, wide, 1, UINT32_MAX));
    const Expr *serial =
        expr_u32(p, expr_add(p, *across, expr_u32(p, expr_mul(p, expr_mod(p, *along, width), across_tiles))));
    in_band(p, expr_name(p, "serial", serial), wide, expr_u32(p, expr_mul(p, band, width)), across, along);
}

/* The bits of x and all below the highest of them. */
static const Expr *filled_up(ExprPool *p, const Expr *x)
{
    static const char *const names[] = {"up_1", "up_2", "up_4", "up_8", "up_16"};
    for (int i = 0; i < 5; i++) {
        const Expr *moved = expr_div_i(p, x, INT64_C(1) << (1 << i)), *both = expr_op(p, EXPR_AND, x, moved);
        const Expr *either = expr_sub(p, expr_u32(p, expr_add(p, x, moved)), both);
        x = expr_name(p, names[i], expr_u32(p, either));
    }
    return x;
}

/* Bits 0, 2, 4 .. of x side by side. */
static const Expr *even_bits(ExprPool *p, const Expr *x, const char *const names[4])
{
    static const int64_t mask[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    x = expr_and_i(p, x, mask[0]);
    for (int i = 0; i < 4; i++) {
        const Expr *closer = expr_u32(p, expr_add(p, x, expr_div_i(p, x, INT64_C(1) << (1 << i))));
        x = expr_and_i(p, expr_name(p, names[i], closer), mask[i + 1]);
    }
    return x;
}

void walk_z(ExprPool *p, const Expr *tiles_m, const Expr *tiles_n, const Expr **x, const Expr **y)
{
    static const char *const names[][3] = {{"z_x", "last_m", "whole_m"}, {"z_y", "last_n", "whole_n"}},
                             *const bits_names[][4] = {{"m_2", "m_4", "m_8", "m_16"},
                                                       {"n_2", "n_4", "n_8", "n_16"}};
    const Expr *size[] = {tiles_m, tiles_n}, *at[] = {*x, *y};
    const Expr *side = expr_name(p, "least", expr_op(p, EXPR_MIN, tiles_m, tiles_n));
    for (int i = 0; i < 2; i++) {
        /* The square of side 2^t around the tile is whole as long as the tile's number with the lowest t bits
         * set is at most size - 1: up to the highest bit in which the two differ, or as often as 2 divides
         * the size. */
        const Expr *last = expr_name(p, names[i][1], expr_u32(p, expr_add_i(p, size[i], -1)));
        at[i] = expr_name(p, names[i][0], at[i]);
        const Expr *differs = expr_op(p, EXPR_XOR, at[i], last),
                   *divides = expr_op(p, EXPR_XOR, size[i], last);
        const Expr *whole = expr_name(p, names[i][2], expr_op(p, EXPR_MAX, differs, divides));
        side = expr_op(p, EXPR_MIN, side, whole);
        if (i == 0) side = expr_name(p, "side_m", side);
    }
    const Expr *mask = filled_up(p, expr_name(p, "side", expr_u32(p, side)));
    mask = expr_name(p, "z_mask", expr_div_i(p, mask, 2));
    const Expr *in[2];
    for (int i = 0; i < 2; i++) in[i] = expr_name(p, i ? "z_n" : "z_m", expr_op(p, EXPR_AND, at[i], mask));
    const Expr *rows = expr_u32(p, expr_mul(p, in[1], expr_u32(p, expr_add_i(p, mask, 1))));
    const Expr *serial = expr_name(p, "z_serial", expr_u32(p, expr_add(p, in[0], rows)));
    for (int i = 0; i < 2; i++) {
        const Expr *bits = even_bits(p, i ? expr_div_i(p, serial, 2) : serial, bits_names[i]);
        const Expr *first = expr_u32(p, expr_sub(p, at[i], in[i]));
        *(i ? y : x) = expr_u32(p, expr_add(p, first, bits));
    }
}

void walk_map(ExprPool *p, const Expr *id, const Expr *width, const Expr *tiles, const Expr *across_tiles,
              const Expr **across, const Expr **along)
{
    /* a band of more tiles than there are is a band of all: the product stays below 2^32 */
    const Expr *least = expr_name(p, "width", expr_op(p, EXPR_MIN, width, tiles));
    const Expr *in_a_band = expr_name(p, "band_ids", expr_u32(p, expr_mul(p, least, across_tiles)));
    const Expr *band = expr_name(p, "band", expr_div(p, id, in_a_band));
    const Expr *first = expr_name(p, "band_first", expr_u32(p, expr_mul(p, band, least)));
    const Expr *left = expr_within(p, expr_sub(p, tiles, first), 1, UINT32_MAX);
    const Expr *wide = expr_name(p, "wide", expr_op(p, EXPR_MIN, least, left));
    const Expr *before = expr_u32(p, expr_mul(p, band, in_a_band));
    const Expr *serial = expr_name(p, "serial", expr_u32(p, expr_sub(p, id, before)));
    in_band(p, serial, wide, first, across, along);
}

/* `bits` bits of a word, from bit `from` on. */
static const Expr *field(ExprPool *p, const Expr *word, int from, int bits)
{
    return expr_and_i(p, expr_div_i(p, word, INT64_C(1) << from), (INT64_C(1) << bits) - 1);
}

MappingSizes mapping_sizes(ExprPool *p, const Expr *word, const Expr *chunk_word)
{
    const Expr *wgm = expr_within(p, field(p, word, 0, 16), 1, MAPPING_WGM_MAX);
    const Expr *dies = expr_within(p, field(p, word, 16, 6), 1, MAPPING_XCC_MAX);
    return (MappingSizes){.wgm = expr_name(p, "wgm", wgm),
                          .dies = expr_name(p, "dies", dies),
                          .group = expr_name(p, "die_group", field(p, word, 22, 10)),
                          .chunk = expr_within(p, chunk_word, 0, MAPPING_CHUNK_MAX)};
}

/* Nothing of the remappings is named: a text computes named expressions whether or not a select takes them.
 * A group or chunk of 0 must not divide there, and where there is one die nothing should. */
const Expr *walk_dies(ExprPool *p, const Expr *id, const Expr *n, const Expr *n_dies)
{
    const Expr *die = expr_mod(p, id, n_dies);
    const Expr *before = expr_add(p, expr_u32(p, expr_mul(p, die, expr_div(p, n, n_dies))),
                                  expr_op(p, EXPR_MIN, die, expr_mod(p, n, n_dies)));
    return expr_u32(p, expr_add(p, expr_u32(p, before), expr_div(p, id, n_dies)));
}

const Expr *walk_dies_grouped(ExprPool *p, const Expr *id, const Expr *n, const Expr *n_dies,
                              const Expr *group)
{
    const Expr *die = expr_mod(p, id, n_dies);
    const Expr *turns = expr_div(p, n, n_dies), *base = expr_const(p, 0), *size = turns, *in = id;
    if (group) { /* the last group may be smaller */
        const Expr *first_left = expr_u32(p, expr_mul(p, expr_div(p, n, group), group));
        const Expr *left = expr_u32(p, expr_sub(p, n, first_left));
        const Expr *is_left = expr_op(p, EXPR_LE, first_left, id);
        size = expr_div(p, expr_select(p, is_left, left, group), n_dies);
        base = expr_u32(p, expr_mul(p, expr_div(p, id, group), group));
        in = expr_mod(p, id, group);
    }
    const Expr *moved = expr_u32(p, expr_add(p, base, expr_div(p, in, n_dies)));
    moved = expr_add(p, moved, expr_u32(p, expr_mul(p, die, size)));
    const Expr *stays = expr_op(p, EXPR_LE, expr_u32(p, expr_mul(p, turns, n_dies)), id);
    return expr_select(p, stays, id, expr_u32(p, moved));
}

const Expr *walk_dies_chunked(ExprPool *p, const Expr *id, const Expr *n, const Expr *n_dies,
                              const Expr *chunk)
{
    const Expr *die = expr_mod(p, id, n_dies);
    const Expr *turn = expr_mul(p, n_dies, chunk), *local = expr_div(p, id, n_dies);
    const Expr *whole = expr_u32(p, expr_mul(p, expr_div(p, n, turn), turn));
    const Expr *round = expr_u32(p, expr_mul(p, expr_div(p, local, chunk), turn));
    const Expr *moved =
        expr_add(p, round, expr_u32(p, expr_add(p, expr_mul(p, die, chunk), expr_mod(p, local, chunk))));
    return expr_select(p, expr_op(p, EXPR_LE, whole, id), id, expr_u32(p, moved));
}

const Expr *walk_remap(ExprPool *p, const Expr *id, const Expr *n, const MappingSizes *sizes)
{
    const Expr *dies = sizes->dies;
    const Expr *moved = expr_is(sizes->group, 0)
                            ? walk_dies(p, id, n, dies)
                            : expr_select(p, sizes->group, walk_dies_grouped(p, id, n, dies, sizes->group),
                                          walk_dies(p, id, n, dies));
    if (!expr_is(sizes->chunk, 0))
        moved = expr_select(p, sizes->chunk, walk_dies_chunked(p, id, n, dies, sizes->chunk), moved);
    return expr_select(p, expr_op(p, EXPR_LT, expr_const(p, 1), dies), moved, id);
}

/* Rows of the grid: columns of tiles, times the parts of K. */
static const Expr *rows(ExprPool *p, const Walk *w, const Expr *tiles_n)
{
    return expr_u32(p, expr_mul_i(p, tiles_n, w->split));
}

const Expr *walk_ids(ExprPool *p, const Walk *w, const WalkNames *names)
{
    const Expr *n = expr_mul(p, var(p, names->tiles_m, WALK_TILES_M, 1),
                             rows(p, w, var(p, names->tiles_n, WALK_TILES_N, 1)));
    n = expr_u32(p, n);
    return w->batch_in_id ? expr_u32(p, expr_mul(p, n, var(p, names->batch, WALK_BATCH, 1))) : n;
}

/* The tile in the order of the argument words. x, y: column and row of the tile in the grid. */
static void place_by_words(ExprPool *p, const Walk *w, const WalkNames *names, const Expr *x, const Expr *y,
                           WalkPlace *at)
{
    const Expr *tiles_m = var(p, names->tiles_m, WALK_TILES_M, 1),
               *tiles_n = var(p, names->tiles_n, WALK_TILES_N, 1);
    const Expr *n = expr_name(p, "n_tiles", expr_u32(p, expr_mul(p, tiles_m, tiles_n)));
    const MappingSizes sizes = mapping_sizes(p, var(p, names->mapping, WALK_MAPPING, 0),
                                             var(p, names->mapping_chunk, WALK_MAPPING_CHUNK, 0));
    const Expr *id = expr_u32(p, expr_add(p, x, expr_u32(p, expr_mul(p, y, tiles_m))));
    if (w->persistent && w->split <= 1) { /* it is the walk's own id */
        id = var(p, names->id, WALK_ID, 0);
        if (w->batch_in_id) { /* the remainder by the quotient: one division is enough */
            at->wg2 = expr_name(p, "matrix", expr_div(p, id, n));
            id = expr_u32(p, expr_sub(p, id, expr_u32(p, expr_mul(p, at->wg2, n))));
        }
    }
    id = expr_name(p, "tile_id", id);
    id = expr_name(p, "mapped_id", walk_remap(p, id, n, &sizes));
    if (w->mapping_dim)
        walk_map(p, id, sizes.wgm, tiles_n, tiles_m, &at->wg0, &at->wg1);
    else
        walk_map(p, id, sizes.wgm, tiles_m, tiles_n, &at->wg1, &at->wg0);
}

WalkPlace walk_place(ExprPool *p, const Walk *w, const WalkNames *names)
{
    const Expr *tiles_m = var(p, names->tiles_m, WALK_TILES_M, 1),
               *tiles_n = var(p, names->tiles_n, WALK_TILES_N, 1);
    const Expr *x = var(p, names->group[0], WALK_GROUP_X, 0), *y = var(p, names->group[1], WALK_GROUP_Y, 0);
    WalkPlace at = {.wg2 = var(p, names->group[2], WALK_GROUP_Z, 0), .part = expr_const(p, 0)};
    if (w->persistent) {
        const Expr *id = var(p, names->id, WALK_ID, 0), *n_rows = rows(p, w, tiles_n);
        if (w->parts_first) {
            at.part = expr_mod_i(p, id, w->split);
            id = expr_name(p, "id_of_tile", expr_div_i(p, id, w->split)), n_rows = tiles_n;
        }
        x = expr_mod(p, id, tiles_m);
        y = expr_name(p, "row", expr_div(p, id, tiles_m));
        if (w->batch_in_id) at.wg2 = expr_div(p, y, n_rows), y = expr_mod(p, y, n_rows);
    }
    if (w->split > 1) {
        y = expr_name(p, "split_row", y);
        if (!w->parts_first)
            at.part = w->split_rows_round_robin ? expr_div(p, y, tiles_n) : expr_mod_i(p, y, w->split);
        at.part = expr_name(p, "part", expr_within(p, at.part, 0, w->split - 1));
        if (!w->parts_first)
            y = w->split_rows_round_robin ? expr_mod(p, y, tiles_n) : expr_div_i(p, y, w->split);
    }
    if (w->members > 1) {
        const Expr *member = expr_var(p, names->member, WALK_PART, 0, w->members - 1);
        at.part = w->split > 1 ? expr_add(p, expr_mul_i(p, at.part, w->members), member) : member;
    }
    if (w->mapping_words) {
        place_by_words(p, w, names, x, y, &at);
        return at;
    }
    if (w->mapping_z) walk_z(p, tiles_m, tiles_n, &x, &y);
    if (w->mapping > 1) walk_bands(p, expr_const(p, w->mapping), tiles_n, tiles_m, &x, &y);
    if (w->mapping < -1) walk_bands(p, expr_const(p, -(int64_t)w->mapping), tiles_m, tiles_n, &y, &x);
    at.wg0 = x, at.wg1 = y;
    return at;
}

WalkChunks walk_chunks(ExprPool *p, const Walk *w, const Expr *k, const Expr *part)
{
    const Expr *cut = expr_op(p, EXPR_LT, expr_const(p, 0), expr_mod_i(p, k, w->depth_u));
    const Expr *chunks = expr_name(p, "chunks", expr_ceil_div(p, k, expr_const(p, w->depth_u)));
    const int32_t parts = w->split * (w->members > 1 ? w->members : 1);
    if (parts <= 1)
        return (WalkChunks){.first = expr_const(p, 0),
                            .step = expr_const(p, 1),
                            .count = chunks,
                            .whole = expr_div_i(p, k, w->depth_u)};
    const Expr *each = expr_name(p, "each", expr_div_i(p, chunks, parts));
    const Expr *more = expr_name(p, "more", expr_mod_i(p, chunks, parts));
    const Expr *count =
        expr_name(p, "count", expr_u32(p, expr_add(p, each, expr_op(p, EXPR_LT, part, more))));
    const Expr *first = part, *step = expr_const(p, w->split_chunks_round_robin ? parts : 1);
    if (!w->split_chunks_round_robin)
        first = expr_add(p, expr_u32(p, expr_mul(p, part, each)), expr_op(p, EXPR_MIN, part, more));
    first = expr_name(p, "first", expr_u32(p, first));
    /* the last chunk, which the end of K may cut, belongs to this part */
    const Expr *last_part = expr_mod_i(p, expr_u32(p, expr_add_i(p, chunks, parts - 1)), parts);
    const Expr *has_last = w->split_chunks_round_robin
                               ? expr_op(p, EXPR_EQ, part, last_part)
                               : expr_op(p, EXPR_EQ, expr_u32(p, expr_add(p, first, count)), chunks);
    has_last = expr_op(p, EXPR_BOTH, expr_op(p, EXPR_LT, expr_const(p, 0), count), has_last);
    const Expr *whole = expr_sub(p, count, expr_op(p, EXPR_BOTH, cut, has_last));
    return (WalkChunks){.first = first, .step = step, .count = count, .whole = expr_u32(p, whole)};
}

WalkSlots walk_slots(ExprPool *p, const Walk *w, const WalkNames *names, const WalkPlace *at)
{
    const Expr *tiles_m = var(p, names->tiles_m, WALK_TILES_M, 1),
               *tiles_n = var(p, names->tiles_n, WALK_TILES_N, 1);
    const Expr *tile = expr_u32(p, expr_add(p, expr_u32(p, expr_mul(p, at->wg2, tiles_n)), at->wg1));
    tile = expr_u32(p, expr_add(p, expr_u32(p, expr_mul(p, tile, tiles_m)), at->wg0));
    if (w->split <= 1) tile = expr_const(p, 0);
    tile = expr_name(p, "tile_number", tile);
    return (WalkSlots){.slot = expr_u32(p, expr_mul_i(p, tile, w->split)), .parts = expr_const(p, w->split)};
}

const Expr *walk_stagger(ExprPool *p, const Walk *w, const WalkNames *names, const WalkPlace *at,
                         const Expr *whole)
{
    const Expr *tiles_m = var(p, names->tiles_m, WALK_TILES_M, 1),
               *tiles_n = var(p, names->tiles_n, WALK_TILES_N, 1);
    const Expr *id = at->wg0, *tile = expr_u32(p, expr_mul(p, at->wg1, tiles_m));
    switch (w->stagger_mapping) {
    case 1:
        id = at->wg1;
        break;
    case 2:
        id = at->wg2;
        break;
    case 3:
        id = expr_u32(p, expr_mul(p, at->wg2, expr_u32(p, expr_mul(p, tiles_m, tiles_n))));
        id = expr_u32(p, expr_add(p, expr_u32(p, expr_add(p, at->wg0, tile)), id));
        break;
    case 4:
        id = expr_const(p, UINT32_MAX);
        break;
    default:
        break;
    }
    const Expr *mask = var(p, names->stagger_mask, WALK_STAGGER_MASK, 0);
    const Expr *late = expr_op(p, EXPR_AND, id, mask);
    late = expr_name(p, "delay", expr_u32(p, expr_mul_i(p, late, INT64_C(1) << w->stagger_shift)));
    return expr_select(p, expr_op(p, EXPR_LT, late, whole), late, expr_const(p, 0));
}
