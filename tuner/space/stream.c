/* Costs of stream-K. See stream.h. */
#include "space/stream.h"

#include "problem/datatype.h"
#include "problem/problem.h"
#include "space/wgmma.h"

/* Fitted to stream-K kernels with tiles of 256x128 in f16 on an H200 (test/bench/results/h200/stream_k.csv),
 * of which an element of K takes 9.8 ns: 1.4 us for each part, and 7.0 us once, of which 4.2 us (the launch
 * that clears the flags, waits) are taken as the same for all tiles and 2.8 us as in proportion to the tile.
 * Products take time in proportion to the bytes of their operands. */
enum { PART_BYTES = 288, TILE_BYTES = 576, FITTED_TILE = 256 * 128, WAIT_BYTES = 858 * FITTED_TILE };

static StreamCost of_wgmma(const Solution *s)
{
    const int32_t bytes = type_bytes((DataType)s->pt->DataType);
    if (s->StreamK < 2) return (StreamCost){0};
    return (StreamCost){.part = PART_BYTES / bytes,
                        .fix = (TILE_BYTES + WAIT_BYTES / (s->MacroTile0 * s->MacroTile1)) / bytes};
}

/* Kernels with a ring that the threads fill. An element of K takes a work-group as long as its products take
 * the compute unit, 0.28 fs for a byte of the operands and an element of the tile with matrix instructions
 * (half of what wgmma reaches), four times that without; but at least the 2 ns of the steps and waits of the
 * main loop, in which other work-groups can have the compute unit. A round of work-groups that store the sums
 * of parts took 2 us longer on an H100 (5 parts of 568 tiles of 16x32), besides what the sums take. To cut
 * at all costs 9 us there: 8 parts of 32 tiles of 16x32 took 13.7 us where K of 4096, uncut, takes 7.1 us,
 * and 2 parts of 128 tiles of 32x16 took 42.7 us in place of 36.2 us. */
enum { PART_PS = 1400000, ROUND_PS = 2000000, WAIT_PS = 9000000, LEAST_PS = 2000 };

static StreamCost of_ring(const Solution *s)
{
    const int64_t tile = (int64_t)s->MacroTile0 * s->MacroTile1;
    const int64_t bytes = type_bytes((DataType)s->pt->DataType), sums = tile * s->LocalSplitU;
    const int64_t own = tile * bytes * (s->EnableMatrixInstruction ? 28 : 112) / 100 + 1;
    const int64_t element = own > LEAST_PS ? own : LEAST_PS, fit = element / own;
    return (StreamCost){.part = (int32_t)((ROUND_PS + PART_PS * sums / FITTED_TILE) / element),
                        .fix = (int32_t)(WAIT_PS / element),
                        .blocks = fit < s->NvBlocks ? (int32_t)fit : s->NvBlocks};
}

StreamCost stream_cost(const Solution *s)
{
    if (wgmma_is(s)) return of_wgmma(s);
    return s->StreamK > 1 && s->NvRing == 1 ? of_ring(s) : (StreamCost){0};
}
