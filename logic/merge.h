/* Merging library logic: adds the results of an incremental tuning to the logic in use.
 *
 * MERGE_TENSILE has the results of Tensile's merge script, oddities included: - a size listed twice in the
 * original is replaced at its last place alone, and compared with the speed
 *   there; a size listed twice in the increment and not in the original is added twice;
 * - every row of the increment is compared with the original's speed, even if an earlier row replaced that; -
 * a size of 8 or more integers (with a tag: 7) loses its last 4, and its row when the short form is
 *   anywhere in the table already, whichever is faster;
 * - AssertAlphaValue and AssertBetaValue false count as asserting 0 in tags; - units, problem types and
 * architectures are not compared; everything but solutions and table is the
 *   original's; files in one directory alone are left out.
 *
 * MERGE_BEST keeps the fastest row of every size. It refuses files whose speeds have different units, whose
 * problem types, architectures or index orders differ. Of two distances the original's is kept, with a
 * line. Rows of a size whose solutions are for other scalars (AssertAlphaValue, AssertBetaValue,
 * AssertCEqualsD) do not replace each other; such a row goes when one for more problems is faster. Equal
 * speed: the original's row stays. Idempotent, and associative: the order of sizes is that of the files,
 * the order of solutions that of their first rows, SolutionNameMin follows from the set of solutions, and
 * equal solutions are written in one way, so that equal tables are equal bytes (except for unknown keys: 1
 * and 1.0 are equal, and the first row's is kept). When nothing changes, the original file stays byte for
 * byte. The check of units depends on the two files that are merged, so one order of merging may be refused
 * while another is accepted.
 *
 * MERGE_NEWER: like MERGE_BEST, but the increment's row always replaces.
 */
#ifndef LOGIC_MERGE_H
#define LOGIC_MERGE_H

#include "logic/logic.h"
#include "workload/workload.h"

typedef enum { MERGE_TENSILE, MERGE_BEST, MERGE_NEWER } MergePolicy;
typedef enum {
    FORCE_BY_NAME,
    FORCE_ALWAYS,
    FORCE_NEVER
} MergeForce; /* by name: unless "arcturus" is in it */

typedef struct {
    MergePolicy policy;
    MergeForce force;        /* MERGE_TENSILE alone */
    bool keep_long;          /* sizes keep their leading dimensions */
    bool tags;               /* a size may be kept once per kind of solution */
    bool same_units;         /* the units are equal: speeds are not used to distinguish GFlops from % */
    int verbosity;           /* 0 totals, 1 every replaced or dropped size, 2 every size */
    const Workload *weights; /* calls of an application, for the report; NULL: none */
} MergeOptions;

/* What the merge does for the calls of an application that ask for these tables. Times are work over speed,
 * in the tables' unit, of the calls whose size is in the table before and after. */
typedef struct {
    int64_t n_calls, n_before, n_after; /* calls; those whose size is in the table */
    double time_before, time_after;
} MergeWeight;
void merge_weight_print(const MergeWeight *w, Buf *out);

typedef struct {
    size_t n_added, n_replaced, n_kept, n_dropped; /* sizes; kept: of the increment, not taken */
    size_t n_solutions_added, n_solutions_removed;
    bool changed; /* false: the original is the result */
} MergeReport;

/* Merges; changes solutions and rows of both in place, and out has parts of both. Lines about sizes are
 * appended to text. */
Err logic_merge(Arena *a, Logic *original, Logic *increment, const MergeOptions *o, Logic *out,
                MergeReport *r, Buf *text);

typedef struct {
    size_t n_merged, n_copied, n_ignored, n_conflicts;
    MergeReport total;
    MergeWeight weight; /* with weights */
} MergeDirsReport;

/* Merges files of the same relative path (MERGE_TENSILE: only *.yaml directly in the directories). Results
 * are made beside output_dir and moved there together when all are done (staging.h). Either input directory
 * may be the output. ERR_PARTIAL: files that could not be merged are the original's. */
Err merge_dirs(const char *original_dir, const char *incremental_dir, const char *output_dir,
               const MergeOptions *o, MergeDirsReport *r, Buf *text);

#endif
