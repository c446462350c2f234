/* Walk: which tile of D and which part of K a work-group takes, as expressions.
 *
 * The order of the steps: a linear id of a persistent kernel becomes a place in the grid; the grid's row
 * becomes a part of K (GlobalSplitU) and a column of tiles; WorkGroupMapping renumbers tiles so that those
 * that run together share operands. Each step is a bijection. Kernels print these expressions, tests and
 * traffic models evaluate them.
 */
#ifndef INDEX_WALK_H
#define INDEX_WALK_H

#include "index/expr.h"
#include "problem/mapping.h"

/* Slots of the variables, for expr_eval. */
enum {
    WALK_GROUP_X,
    WALK_GROUP_Y,
    WALK_GROUP_Z,
    WALK_ID, /* of a persistent kernel: first its group number, then further by the number of groups */
    WALK_TILES_M,
    WALK_TILES_N,
    WALK_BATCH,
    WALK_K,
    WALK_PART,
    WALK_STAGGER_MASK,
    WALK_GROUP, /* of stream-K: number of a group; WALK_ID is the number of its step */
    WALK_GROUPS,
    WALK_MAPPING, /* words of problem/mapping.h */
    WALK_MAPPING_CHUNK,
    WALK_SLOTS
};

/* Tensile's parameters that determine the walk of a kernel. */
typedef struct {
    bool persistent;               /* PersistentKernel: a group takes tiles id, id + groups, ... */
    bool batch_in_id;              /* PersistentKernelAlongBatch: the batch is part of the id */
    bool prefetches;               /* PrefetchAcrossPersistent: a tile's first loads are issued before the
                                    * results of the tile before it are stored */
    int32_t depth_u;               /* elements of K of a chunk */
    int32_t split;                 /* GlobalSplitU, 1 or more */
    int32_t members;               /* of a cluster that have a part of K each; 0 or 1: none */
    bool split_rows_round_robin;   /* GlobalSplitUWorkGroupMappingRoundRobin */
    bool parts_first;              /* PartsFirst, of persistent kernels: neighbours have parts of one tile */
    bool split_chunks_round_robin; /* GlobalSplitUSummationAssignmentRoundRobin */
    int32_t stream_k;              /* StreamK: 0 no; 1 shares of all tiles; 2 of the first tiles, as many as
                                    * leave whole rounds for the others; 3 of the last tiles, at the end */
    /* > 0, with stream_k 2 and 3: only the tiles of the last round, which is not full, are cut, all into the
     * same number of equal parts, and only where that saves time. stream_part is the cost of each part,
     * stream_fix that of cutting at all, both in elements of K that a group multiplies in that time. */
    int32_t stream_part, stream_fix;
    bool stream_even;        /* of stream_k 2, 3: every tile is cut into the same number of equal parts, and
                              * the grid has a group for each part: its width is tiles along M times parts */
    int32_t stream_dies;     /* StreamKXCCMapping: the number of dies; the groups of a die have neighbouring
                              * shares. 0: shares are in the order of groups */
    int32_t mapping;         /* WorkGroupMapping: > 1 bands along N, < -1 along M, else none */
    bool mapping_z;          /* WorkGroupMappingType Z, instead of bands */
    bool mapping_words;      /* the order is an argument (WorkGroupMappingDim 0, 1); `mapping` is not used */
    int32_t mapping_dim;     /* WorkGroupMappingDim: bands along M (0) or N (1) */
    bool staggers;           /* StaggerU is not 0 */
    int32_t stagger_shift;   /* StaggerUStride as a power of two of chunks */
    int32_t stagger_mapping; /* StaggerUMapping */
} Walk;

/* The variables under the names that a text has for them. */
typedef struct {
    const char *group[3], *id, *tiles_m, *tiles_n, *batch, *k, *stagger_mask;
    const char *stream_group, *stream_groups; /* needed for stream-K: number of a share, shares */
    const char *mapping, *mapping_chunk;      /* needed for mapping_words */
    const char *member; /* number of a work-group among Walk.members; needed where there are several */
} WalkNames;

typedef struct {
    const Expr *wg0, *wg1, *wg2; /* row and column of tiles, batch */
    const Expr *part; /* of K, below Walk.split times Walk.members; those of a cluster are neighbours */
} WalkPlace;
WalkPlace walk_place(ExprPool *p, const Walk *w, const WalkNames *names);
/* Ids of a persistent kernel: all tiles, times the parts of K, times the batches that are in the id. */
const Expr *walk_ids(ExprPool *p, const Walk *w, const WalkNames *names);

/* Chunks of DepthU elements of K of one part: `count` chunks first, first + step, ...; `whole` of them are
 * not cut short by the end of K. Every chunk belongs to exactly one part; a part may have none. */
typedef struct {
    const Expr *first, *step, *count, *whole;
} WalkChunks;
WalkChunks walk_chunks(ExprPool *p, const Walk *w, const Expr *k, const Expr *part);

/* Where the parts of a tile have their sums in a workspace: part i in slot `slot` + i. */
typedef struct {
    const Expr *slot, *parts;
} WalkSlots;
/* 32-bit flags of the workspace for each slot, of kernels that are not in the Assembly form. */
enum { WALK_SLOT_FLAGS = 8 };
WalkSlots walk_slots(ExprPool *p, const Walk *w, const WalkNames *names, const WalkPlace *at);

/* Numbers of stream-K, the same for all groups. Tensile's host passes them to kernels in assembly under the
 * names in brackets; other kernels compute them. */
typedef struct {
    const Expr *chunks; /* of a tile, 0 where there is nothing to add up (itersPerTile) */
    const Expr *total;  /* of all tiles (totalIters) */
    const Expr *share;  /* chunks of each group (SKItersPerWG) */
    const Expr *shared; /* tiles that are cut into shares (skTiles) */
    const Expr *longer; /* the first groups, which have a chunk more (skExtraIters) */
    const Expr *parts; /* with Walk.stream_part the number of parts of each tile that is cut, whose shares and
                         * longer shares are those of its parts; else NULL */
    const Expr *whole; /* with Walk.stream_part the tiles that are not cut; else NULL */
    const Expr *is_cut; /* where walk_stream_by_id: whether the tile is cut; NULL: follows from the id */
} WalkStreamWords;
/* tiles: of all batches. rounds: the number of whole rounds whose tiles are cut into shares, beside those of
 * the last round; it has no meaning with StreamK 1 and with Walk.stream_part. */
WalkStreamWords walk_stream_words(ExprPool *p, const Walk *w, const Expr *tiles, const Expr *groups,
                                  const Expr *k, const Expr *rounds);
/* Words of Walk.stream_part for texts that keep `parts`: `whole` follows from it, `share` and `longer` from
 * it and `chunks`. */
const Expr *walk_stream_whole(ExprPool *p, const Expr *tiles, const Expr *groups, const Expr *parts);
void walk_stream_shares(ExprPool *p, WalkStreamWords *words);
/* With Walk.stream_part, K below which no tile is cut whatever the number of tiles and groups is. */
int64_t walk_stream_least_k(const Walk *w);
/* Whether WALK_ID counts as that of a persistent kernel (group, group + groups, ... below `steps`) instead of
 * the steps of a group: StreamK 3 with Walk.stream_part. */
bool walk_stream_by_id(const Walk *w);
/* The share of work-group `group`: its own number, or by Walk.stream_dies one next to those of its die. */
const Expr *walk_stream_group(ExprPool *p, const Walk *w, const Expr *group, const Expr *groups);

/* Stream-K: what a group of work-groups (one, or a cluster) takes in its step WALK_ID, below `steps`: chunks
 * first to first + count of a tile, part `part` of `parts` that neighbouring groups from first_group on have
 * of it. A part takes up a slot of a workspace, all but one of a tile's parts or all of them:
 * - one slot for each group: slots first_group + 1 to first_group + parts - 1 are the tile's;
 * - two slots for each group: the sums of part 0 lie in slot `slot`, of part i in next_slot + 2 * i. */
typedef struct {
    const Expr *steps, *tile, *first, *count, *part, *parts, *first_group, *slot, *next_slot;
} WalkStream;
WalkStream walk_stream(ExprPool *p, const Walk *w, const WalkNames *names, const WalkStreamWords *words,
                       const Expr *tiles);

/* The same with Walk.stream_even, where a group has one part; *column: of tiles, in place of the group's.
 * `tile` is not filled in, nor are slots: the sums of a tile's parts lie behind first_group. */
WalkStream walk_stream_even(ExprPool *p, const Walk *w, const WalkNames *names, const Expr *k,
                            const Expr **column);

/* The chunks of a step. k: elements that are added up, fewer than the words were made of where A and B are
 * not read. */
WalkChunks walk_stream_chunks(ExprPool *p, const Walk *w, const WalkStream *step, const Expr *k);

/* StaggerU: the number of chunks by which a work-group starts after its first one; it wraps around after the
 * last of its `whole` chunks. */
const Expr *walk_stagger(ExprPool *p, const Walk *w, const WalkNames *names, const WalkPlace *at,
                         const Expr *whole);

/* ---- the steps ---- */

/* The numbers of an order (problem/mapping.h) as expressions, taken from its words. */
typedef struct {
    const Expr *wgm, *dies, *group, *chunk;
} MappingSizes;
MappingSizes mapping_sizes(ExprPool *p, const Expr *word, const Expr *chunk_word);

/* Renumbers a grid of `tiles` along and `across_tiles` across in bands of width * across_tiles, so that
 * `width` neighbours along run together; the last band may be narrower. *across and *along are the hardware's
 * numbers and are replaced by the new ones. width is an expression, so that it may be a kernel argument. */
void walk_bands(ExprPool *p, const Expr *width, const Expr *tiles, const Expr *across_tiles,
                const Expr **across, const Expr **along);
/* Renumbers a grid in Z order (WorkGroupMappingType Z with WorkGroupMapping 1, Tensile's generalized
 * one). A tile lies in the largest whole square of tiles whose side is a power of two and which begins at
 * a multiple of it; in that square, bits of the tile's number alternate between *x and *y. */
void walk_z(ExprPool *p, const Expr *tiles_m, const Expr *tiles_n, const Expr **x, const Expr **y);
/* Arguments that the host passes to Tensile's assembly kernels for WorkGroupMapping `mapping`, of tiles along
 * N or (mapping < 0) along M: the number of full bands, the width of the last band, and the magic number that
 * divides by that width (31 bits). Where no band is narrower, the width is the parameter itself, sign
 * included, as Tensile passes it. */
typedef struct {
    const Expr *full, *last, *magic;
} WalkBandWords;
WalkBandWords walk_band_words(ExprPool *p, int32_t mapping, const Expr *tiles);

/* Like walk_bands, for a linear id below tiles * across_tiles, which counts the tiles across first: bands of
 * `width` tiles along, inside a band along first. For Wave's order tiles are along M, for Tensile's
 * WorkGroupMapping along N. Writes *across and *along. */
void walk_map(ExprPool *p, const Expr *id, const Expr *width, const Expr *tiles, const Expr *across_tiles,
              const Expr **across, const Expr **along);

/* The hardware gives ids to the dies (XCCs) round robin; these functions renumber them so that a die gets
 * consecutive ids. n: the number of ids. A bijection of [0, n) for every n. */
const Expr *walk_dies(ExprPool *p, const Expr *id, const Expr *n, const Expr *n_dies);
/* The same within groups of `group` ids, a multiple of n_dies; NULL: one group of all full rounds. Ids after
 * the last full round stay. */
const Expr *walk_dies_grouped(ExprPool *p, const Expr *id, const Expr *n, const Expr *n_dies,
                              const Expr *group);
/* Each die gets chunks of `chunk` consecutive ids; ids after the last full round of chunks stay. */
const Expr *walk_dies_chunked(ExprPool *p, const Expr *id, const Expr *n, const Expr *n_dies,
                              const Expr *chunk);
/* The one of the three that the sizes ask for: chunks, else groups, else the first. */
const Expr *walk_remap(ExprPool *p, const Expr *id, const Expr *n, const MappingSizes *sizes);

#endif
