/* Layout of kernels whose threads load A and B from global memory into registers without local memory
 * (DirectToVgprA and DirectToVgprB without a matrix instruction): for products with a side of a few elements,
 * which are bound by memory. Rules and the kernel program use this plan.
 *
 * A thread has ThreadTile0 x ThreadTile1 elements of D, and LocalSplitU groups of threads share K: a group
 * takes runs of consecutive elements of K, `run` of them, in turn. Loads are vectors along the contiguous
 * dimension of each operand. */
#ifndef SPACE_DIRECT_H
#define SPACE_DIRECT_H

#include "problem/target.h"
#include "space/solution.h"

typedef struct {
    int32_t width[2];    /* elements of a load of A, of B */
    int32_t vector[2];   /* consecutive rows, columns of a thread: width where M, N is contiguous, else 1 */
    int32_t run, runs;   /* elements of K of a run; runs of a thread in DepthU */
    int32_t loads[2];    /* of a thread for a run */
    int32_t sums;        /* of a thread */
    int32_t registers;   /* 32-bit registers that sums and loaded vectors of a thread take */
    int32_t local_bytes; /* shared memory in which LocalSplitU's sums meet */
} DirectPlan;

/* True when the solution's kernel is of this kind on that family; also for solutions that are not derived. */
bool direct_is(const Solution *s, TargetFamily family);
/* The plan of a solution whose ThreadTile0, ThreadTile1, MacroTile0, MacroTile1, LocalSplitU, DepthU and load
 * widths are derived. */
void direct_plan(const Solution *s, DirectPlan *p);

#endif
