/* Analyze: 2_BenchmarkData (csv and yaml pairs) -> 3_LibraryLogic/<ScheduleName>_<ProblemType>.yaml.
 *
 * Per problem type: solutions of all size-groups are merged (equal ones once), every size gets its fastest
 * solution, and solutions that win no size are removed. A size is the key of Tensile's table, sizes and
 * leading dimensions: problems that differ only in batch strides share a row, which gets the highest speed,
 * like in Tensile's LibraryLogic.py. Where a decision tree comes with the model, <...>_equality.yaml and
 * <...>_dtree.yaml are written beside it. Does not measure.
 */
#ifndef LOGIC_ANALYZE_H
#define LOGIC_ANALYZE_H

#include "logic/logic.h"

/* Median and confidence interval of one cell in the unit of the csv (higher is better). */
typedef struct {
    double median, low, high;
} AnalyzeInterval;

/* The interval of a cell from its samples; false when there are none. data: the stem of the csv
 * ("Cijk_Ailk_Bljk_SB_00"); row and solution: row and column of the cell, from 0. */
typedef bool AnalyzeSamples(void *ctx, Str data, size_t row, size_t solution, AnalyzeInterval *out);

typedef enum {
    TIES_FEWEST, /* a solution whose interval overlaps the best's may win if it wins more other sizes: fewer
                    kernels */
    TIES_FIRST   /* like Tensile: the greatest number, the first of equal ones */
} AnalyzeTies;

/* What the performance model of a run adds to the logic of one problem type. Functions that are NULL add
 * nothing. A column is a solution of a csv (data: its stem). */
typedef struct {
    Str data;
    size_t column;
} AnalyzeColumn;
typedef struct {
    const int64_t *size; /* as many integers as the rows of the csv have */
    size_t solution;     /* of the kept ones */
    double speed;        /* in the unit of the csv */
    bool is_measured;    /* else it is predicted */
} AnalyzeRow;
/* A decision tree over sizes in Tensile's terms. A feature is a property of the size ("FreeSizeA", index 0),
 * or with tiles set "CUGranularity" or "WavesPerSIMD" of tiles of 1 / mt0 rows and 1 / mt1 columns. */
typedef struct {
    const char *type;
    bool tiles;
    float mt0, mt1, cus, ws; /* ws 0: the feature has none */
} AnalyzeFeature;
/* A child >= 0 is a later node, otherwise ~child is a kept solution. */
typedef struct {
    int32_t feature; /* at most threshold: lte, else gt */
    float threshold;
    int32_t lte, gt;
} AnalyzeTreeNode;
typedef struct {
    const AnalyzeFeature *feature;
    size_t n_features;
    const AnalyzeTreeNode *node; /* at most a few dozen levels deep */
    size_t n_nodes;              /* 0: no tree */
} AnalyzeTree;
typedef struct {
    /* The distance of the table ("Ratio"); s NULL: Tensile's default. */
    Str (*distance)(void *ctx, Str data);
    /* True for a solution that the logic keeps though it wins no size. */
    bool (*keeps)(void *ctx, const AnalyzeColumn *c);
    /* The numbers of the solution's key PerformanceModel; n 0: none. */
    Err (*numbers)(void *ctx, Arena *a, const AnalyzeColumn *of, const double **out, size_t *n);
    /* Rows for sizes that are not in the csv; kept: the solutions of the logic. */
    Err (*rows)(void *ctx, Arena *a, const AnalyzeColumn *kept, size_t n_kept, const AnalyzeRow **out,
                size_t *n);
    /* A tree for sizes that have no exact row; *out NULL: none. Called last. */
    Err (*tree)(void *ctx, Arena *a, const AnalyzeColumn *kept, size_t n_kept, const AnalyzeTree **out);
    /* True for a size that was measured to judge the table and has no row in it. */
    bool (*held_out)(void *ctx, Str data, const int64_t *size, size_t n_size);
    void *ctx;
} AnalyzeModel;

typedef struct {
    const char *data_dir, *logic_dir;
    const char *schedule;     /* "Tensile" */
    const char *arch;         /* "gfx000" */
    int32_t cu_count, is_apu; /* 0 and -1: not in the files */
    const Str *device;        /* NULL: ["fallback"] */
    size_t n_devices;
    double solution_importance_min; /* 0.01 */
    int solution_selection_alg;     /* 1 */
    bool expand_ranges;             /* true */
    bool dict;                      /* DictLibraryLogic */
    AnalyzeTies ties;
    /* Returns whether the csv with this name in data_dir takes part in the analysis; NULL: all do. */
    bool (*takes)(const void *ctx, Str csv);
    const void *takes_ctx;
    /* Called with the name in logic_dir of each file that was written, valid during the call; may be NULL. */
    Err (*written)(void *ctx, Str name);
    void *written_ctx;
    /* Called for each size with a winner and each csv that has the size, with the column of the solution that
     * the logic names for it (-1: the solution is not in this csv); may be NULL. */
    Err (*chosen)(void *ctx, Str data, const int64_t *size, size_t n_size, int64_t column);
    void *chosen_ctx;
    AnalyzeSamples *samples; /* NULL: no intervals, so only equal numbers tie */
    void *samples_ctx;
    AnalyzeModel model;
} AnalyzeOptions;

typedef struct {
    size_t n_files;     /* logic files written */
    size_t n_sizes;     /* with a winner */
    size_t n_lost;      /* sizes without one: every solution failed */
    size_t n_solutions; /* kept */
    size_t n_ties;      /* sizes where other solutions are within the interval of the best */
    size_t n_tie_moves; /* of these, sizes that got another solution than the best */
} AnalyzeReport;

void analyze_options_init(AnalyzeOptions *o);
Err analyze_run(const AnalyzeOptions *o, AnalyzeReport *r);

#endif
