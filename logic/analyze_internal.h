/* The data of the analysis of one problem type. Private to logic/analyze*.c. */
#ifndef LOGIC_ANALYZE_INTERNAL_H
#define LOGIC_ANALYZE_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "logic/analyze.h"
#include "logic/bench_data.h"

/* One size-group: a csv and its yaml. */
typedef struct {
    Str stem;
    BenchSolutions bench;
    BenchTable table;
    int32_t *merged; /* of each column: number of the solution over all groups */
    Map declared;    /* size -> DECLARED_ */
} AnalyzeGroup;

enum { DECLARED_RANGE = 1, DECLARED_EXACT = 2 };

/* One size with a winner. */
typedef struct {
    const int64_t *size;
    int32_t solution; /* merged number */
    double speed;     /* of that solution */
    double low;       /* lower end of its interval; other solutions at or above it are ties */
    bool has_low;     /* low comes from samples */
} AnalyzeWinner;

typedef struct {
    int32_t winner; /* number of the AnalyzeWinner */
    int32_t solution;
    double speed;
} AnalyzeRival;

typedef struct {
    Arena *a;
    const AnalyzeOptions *o;
    AnalyzeGroup *group;
    size_t n_groups;
    const LogicSolution **solution; /* merged */
    size_t n_solutions;
    Map by_size; /* size -> number of the winner + 1 */
    VEC(AnalyzeWinner) winner;
    VEC(AnalyzeRival) rival;
    size_t n_lost, n_ties, n_tie_moves;
    bool *keep;              /* of merged solutions */
    Logic *equality, *trees; /* files beside the table; NULL: none */
} Analysis;

static inline Str size_key(const int64_t *size, size_t n)
{
    return (Str){(const char *)size, n * sizeof *size};
}

/* Adds what the performance model knows: distance, numbers of solutions, rows of sizes that were not
 * measured. column[i]: where solution i of the logic was measured. In analyze_model.c. */
Err analysis_add_model(Analysis *an, Logic *l, const AnalyzeColumn *column, size_t n_dims);

/* Fills in equality and trees, where the model has a decision tree; the first n_measured rows of l were
 * measured. In analyze_tree.c. */
Err analysis_make_trees(Analysis *an, const Logic *l, const AnalyzeColumn *column, size_t n_measured);

/* Fills in solution and group[].merged. */
Err analysis_merge_solutions(Analysis *an);
/* Fills in the winners by Tensile's rule. */
Err analysis_find_winners(Analysis *an);
/* Finds the ties with each winner and chooses among them. */
Err analysis_decide_ties(Analysis *an);
/* Fills in keep by SolutionSelectionAlg. */
Err analysis_select(Analysis *an);

#endif
