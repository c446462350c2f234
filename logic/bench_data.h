/* The two files that a benchmark of one size-group leaves in 2_BenchmarkData: <name>.csv, one row per size
 * and a column per solution, and <name>.yaml, the sizes and the solutions in the order of the columns.
 *
 * The pipeline writes the yaml, the client the csv. Does not measure and does not choose.
 */
#ifndef LOGIC_BENCH_DATA_H
#define LOGIC_BENCH_DATA_H

#include "logic/logic.h"
#include "problem/sizes.h"

typedef struct {
    const char *path;
    ProblemSizes sizes;
    LogicSolution *solution;
    size_t n_solutions;
    const ProblemType *pt; /* of the first solution */
    const Node *pt_node;
} BenchSolutions;

/* Full derived states, in the order of the csv's columns. */
Err bench_solutions_write(const char *path, const ProblemSizes *sizes, const Solution *const *solutions,
                          size_t n);
Err bench_solutions_read(Arena *a, const char *path, BenchSolutions *out);

/* One data row of the csv: size and one speed per solution; -1 failed, NaN not run. */
typedef struct {
    int64_t size[LOGIC_KEY_MAX];
    const double *speed;
    int line;
} BenchRow;

typedef struct {
    const char *path;
    bool per_cu; /* first header cell is GFlopsPerCU */
    bool metric_known;
    size_t n_dims, n_solutions;
    BenchRow *row;
    size_t n_rows;
} BenchTable;

/* Reads a csv with n_dims integers after the first column and n_solutions columns at the end. An empty cell
 * is an error. */
Err bench_table_read(Arena *a, const char *path, size_t n_dims, size_t n_solutions, BenchTable *out);

#endif
