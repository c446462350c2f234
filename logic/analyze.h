/* Analyze: 2_BenchmarkData (csv and yaml pairs) -> 3_LibraryLogic/<ScheduleName>_<ProblemType>.yaml.
 *
 * Per problem type: solutions of all size-groups are merged (equal ones once), every size gets its fastest
 * solution, and the solutions that win nothing go. Does not measure. Called by tuner-logic analyze and by
 * step 3 of the pipeline.
 */
#ifndef LOGIC_ANALYZE_H
#define LOGIC_ANALYZE_H

#include "logic/logic.h"

/* Median and confidence interval of one cell in the unit of the csv (higher is better). */
typedef struct {
    double median, low, high;
} AnalyzeInterval;

/* Samples behind a cell; false when there are none. data is the stem of the csv ("Cijk_Ailk_Bljk_SB_00"),
 * row its row and solution its column, from 0. */
typedef bool AnalyzeSamples(void *ctx, Str data, size_t row, size_t solution, AnalyzeInterval *out);

typedef enum {
    TIES_FEWEST, /* a solution whose interval overlaps the best's may win if it wins more other sizes: fewer
                    kernels */
    TIES_FIRST   /* as Tensile: strictly greater, the first of equal ones */
} AnalyzeTies;

typedef struct {
    const char *data_dir, *logic_dir;
    const char *schedule;     /* "Tensile" */
    const char *arch;         /* "gfx000" */
    int32_t cu_count, is_apu; /* 0, -1: not said */
    const Str *device;        /* NULL: ["fallback"] */
    size_t n_devices;
    double solution_importance_min; /* 0.01 */
    int solution_selection_alg;     /* 1 */
    bool expand_ranges;             /* true */
    bool dict;                      /* DictLibraryLogic */
    AnalyzeTies ties;
    /* NULL, or: is the csv of data_dir with this name one of the analysis? */
    bool (*takes)(const void *ctx, Str csv);
    const void *takes_ctx;
    /* NULL, or: is told the name in logic_dir of each file that was written; valid during the call. */
    Err (*written)(void *ctx, Str name);
    void *written_ctx;
    /* NULL, or: is told, of each size with a winner and each csv that has the size, the column of the
     * solution that the logic names for it; -1: none of this csv. */
    Err (*chosen)(void *ctx, Str data, const int64_t *size, size_t n_size, int64_t column);
    void *chosen_ctx;
    AnalyzeSamples *samples; /* NULL: no intervals, so only equal numbers tie */
    void *samples_ctx;
} AnalyzeOptions;

typedef struct {
    size_t n_files;     /* logic files written */
    size_t n_sizes;     /* with a winner */
    size_t n_lost;      /* sizes without one: every solution failed */
    size_t n_solutions; /* kept */
    size_t n_ties;      /* sizes where the best was not clear */
    size_t n_tie_moves; /* of them decided against the higher number */
} AnalyzeReport;

void analyze_options_init(AnalyzeOptions *o);
Err analyze_run(const AnalyzeOptions *o, AnalyzeReport *r);

#endif
