/* Massage: what rocBLAS does to merged logic before it builds its library (library/src/blas3/Tensile/Logic,
 * archive/massage.py), for architectures whose kernels assume that C and D have one leading dimension.
 *
 * Every solution is written once more, with LdcEqualsLdd false and the next index, unless it packs batches
 * (PackBatchDims 1); every size of such a solution is listed once more for the copy, after all others. Sizes
 * lose their leading dimensions, and everything after element 8 (metric, distance) is left out. Equal to the
 * script's output byte by byte. Not idempotent, like the script: massaged logic is not massaged again.
 */
#ifndef LOGIC_MASSAGE_H
#define LOGIC_MASSAGE_H

#include "logic/logic.h"

typedef struct {
    size_t n_files, n_solutions_added, n_sizes_added;
    size_t n_left_out; /* files that could not be massaged */
} MassageReport;

/* Changes the logic in place; adds to r. ERR_INPUT: the map form, a solution without SolutionIndex, or
 * indices whose highest one is not the number of solutions less 1. */
Err logic_massage(Arena *a, Logic *l, MassageReport *r);

/* All *.yaml files directly in input_dir. Results are made beside output_dir and moved there together
 * (staging.h), which may be input_dir. A file that cannot be massaged is left out with a warning, as the
 * script does, and ERR_PARTIAL returned. ERR_INPUT: there is no file that can be massaged; nothing is
 * changed then. */
Err massage_dir(const char *input_dir, const char *output_dir, MassageReport *r, Buf *text);

#endif
