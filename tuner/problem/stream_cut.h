/* How a launch of a stream-K kernel cuts its tiles: numbers for the performance model and the launcher. The
 * arithmetic is that of the kernels' texts, the expressions of index/walk.h; index/walk_stream.c evaluates
 * them. */
#ifndef PROBLEM_STREAM_CUT_H
#define PROBLEM_STREAM_CUT_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers of a kernel that the arithmetic needs. The first four are the members of Walk with these
 * names. */
typedef struct {
    int32_t stream_k, depth_u, stream_part, stream_fix;
    /* Kernels whose tiles the launcher cuts: how many work-groups a compute unit runs at once without any of
     * them taking longer than alone. Other kernels: 0. */
    int32_t blocks;
} StreamKernel;

/* The tiles that are cut, and their shares. parts > 0: each tile is cut into that many shares. parts 0: the
 * chunks of all these tiles are cut into one share for each work-group. A share has `share` chunks of K, and
 * the first `longer` shares have one more. */
typedef struct {
    int64_t tiles, parts, share, longer;
} StreamCut;

/* tiles: of all batches; groups: work-groups (or clusters) of the launch; rounds: whole rounds of tiles that
 * are cut besides the rest. False: a number is out of the bounds of walk_stream_words. */
bool stream_cut(const StreamKernel *s, int64_t tiles, int64_t groups, int64_t k, int64_t rounds,
                StreamCut *out);

/* Parts into which a launcher cuts each tile of a kernel with `blocks`: those of least predicted time, 1
 * where no cut pays. It launches a work-group for each part. The hardware hands those out, so that whole
 * tiles need neither sums in a workspace nor counters. n_cu: compute units. */
int64_t stream_even_parts(const StreamKernel *s, int64_t tiles, int64_t n_cu, int64_t k);

#endif
