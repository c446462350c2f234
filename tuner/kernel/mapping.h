/* Workgroup mapping: hardware work-group id -> tile of D and part of K. Plain integer functions
 * (tensile-formats 2.4 and 8.3), shared by the generators, the launchers, tests and traffic models. No
 * memory, no errors: sizes must be positive.
 */
#ifndef KERNEL_MAPPING_H
#define KERNEL_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t mapping_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Work-groups of a launch: tiles0, tiles1 * gsu, batch. False when one does not fit 32 bits. */
bool mapping_grid(int64_t m, int64_t n, int64_t batch, int32_t mt0, int32_t mt1, int32_t gsu,
                  uint32_t grid[3]);

/* Grid row y -> tile column and GlobalSplitU part; and back. round_robin:
 * GlobalSplitUWorkGroupMappingRoundRobin. */
void mapping_gsu(uint32_t y, uint32_t tiles1, uint32_t gsu, bool round_robin, uint32_t *part, uint32_t *wg1);
uint32_t mapping_gsu_row(uint32_t part, uint32_t wg1, uint32_t tiles1, uint32_t gsu, bool round_robin);

/* DepthU chunks of K of one part: first, first + step, ... count of them. round_robin:
 * SummationAssignmentRoundRobin. Every chunk belongs to exactly one part; a part may have none. */
typedef struct {
    int64_t first, step, count;
} MappingChunks;
MappingChunks mapping_chunks(int64_t k, int32_t depth_u, uint32_t part, uint32_t gsu, bool round_robin);

/* WorkGroupMapping: renumbers tiles so that wgm columns are walked together. wgm <= 1: unchanged. */
void mapping_wgm(uint32_t wgm, uint32_t tiles0, uint32_t tiles1, uint32_t *wg0, uint32_t *wg1);
/* The words that the host passes for it: numFullBlocks, wgmRemainder1, magicNumberWgmRemainder1. */
void mapping_wgm_words(uint32_t wgm, uint32_t tiles1, uint32_t words[3]);

/* StaggerU: the mask that the host passes, and the first iteration of a work-group of that id. */
uint32_t mapping_stagger_mask(uint32_t stagger_u, uint32_t stride_shift, int64_t k, int32_t depth_u,
                              uint32_t gsu);
static inline int64_t mapping_stagger_start(uint32_t id, uint32_t mask, uint32_t stride_shift)
{
    return (int64_t)(id & mask) << stride_shift;
}

/* PersistentKernel: linear id -> tile, for the loop id += number of groups. */
void mapping_persistent(uint64_t id, uint32_t tiles0, uint32_t tiles1, uint32_t wg[3]);

/* StreamK 1: iterations [first, last) of the work of all tiles that group id of n does. */
void mapping_stream_k(uint64_t tiles, int64_t iters_per_tile, uint32_t id, uint32_t n, int64_t *first,
                      int64_t *last);

/* XCC remap: consecutive hardware ids go to n_xcc dies in turn; gives each die consecutive logical ids. A
 * bijection of [0, n) for every n. */
uint32_t mapping_xcc(uint32_t id, uint32_t n, uint32_t n_xcc);

#endif
