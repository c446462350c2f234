/* The performance model of a run: for each problem type of the config one matrix of measured times over all
 * of its groups, rates fitted to it, and the loss of choices by the model on sizes that are left out. */
#ifndef RUN_TYPE_MODEL_H
#define RUN_TYPE_MODEL_H

#include "logic/analyze.h"
#include "measure/model_teach.h"
#include "measure/model_rows.h"
#include "run/run.h"

/* With fewer sizes or kernels no model is fitted; TYPE_MODEL_FOLDS: folds of the cross-validation. */
enum { TYPE_MODEL_SIZES = 8, TYPE_MODEL_KERNELS = 3, TYPE_MODEL_FOLDS = 5 };
/* With more kernels or times no model is fitted, and the library chooses by the table's nearest row. */
enum { TYPE_MODEL_KERNELS_MAX = 20000, TYPE_MODEL_TIMES_MAX = 1 << 24 };

typedef struct {
    const ProblemType *pt;
    ModelMatrix m;          /* of the groups with this problem type, held-out sizes included */
    int64_t *kernel;        /* ids in the store, of m's kernels */
    const ProblemSize **of; /* of m's sizes */
    bool *held_out;         /* of m's sizes */
    bool *between;          /* of m's sizes: between the config's (search_between.h) */
    bool *kept;             /* of m's kernels: the logic has its solution; set by type_models_callbacks */
    bool *range;            /* of m's kernels: for sizes between the measured ones (model_range_keep) */
    ModelTable table;       /* of the logic; by type_rows_make */
    ModelDevice device;
    ModelRates rates[MODEL_CLASSES];
    ModelFit fit[MODEL_CLASSES];
    ModelTaught taught;                   /* by m's times */
    ModelQuality quality[SELECT_METHODS]; /* by cross-validation over the sizes that are not held out */
    bool tree_wins;                       /* the library gets a decision tree */
    ModelTree *tree;                      /* NULL: none, or not trained yet */
    bool fitted;                          /* there were enough times; else only pt to held_out are valid */
} TypeModel;

/* The numbers of the run's device, or of the part that stands in for it, as the performance model needs
 * them. */
void run_model_device(const Run *r, ModelDevice *out);
/* A selector over the matrix, in the arena, with rates fitted to, and trees of, all of its times. */
Err run_selector_fit(const Run *r, Arena *a, const ModelMatrix *m, ModelSelector *s);

typedef struct {
    Run *r;
    TypeModel *type;
    size_t n;
} TypeModels;

/* Appends the key of fitted rates in the store: device, driver and problem type. */
Err type_model_key(const Run *r, const ProblemType *pt, Buf *out);
/* Reads the times, fits and stores the rates. Everything lives in the arena. */
Err type_models_fit(Run *r, Arena *a, TypeModels *out);
/* The same, then judges the model by cross-validation and finds the kernels that the range of sizes needs
 * beside the winners. */
Err type_models_make(Run *r, Arena *a, TypeModels *out);
/* The model that has the group's kernels; NULL: none was fitted. */
TypeModel *type_model_of(const TypeModels *m, const Group *g);
/* Prints a line for each type that was fitted. */
void type_models_report(const TypeModels *m);
/* The distance that loses least on sizes that were left out: Ratio, unless another loses less than the
 * lower end of the interval of its mean. */
TableDistance type_model_distance(const TypeModel *t);
/* Whether the table gets predicted rows: choices by the model lose less than by the best distance, and with
 * predicted rows that loses no more. */
bool type_model_extends(const TypeModel *t);
/* By cross-validation, of the table as it is written, with a distance. */
const ModelQuality *type_table_quality(const TypeModel *t, TableDistance d);
/* Whether the library gets decision trees (DecisionTrees): auto where they lose clearly less than the best
 * distance and their p95 is not above its. */
bool type_tree_wins(const Run *r, const TypeModel *t);
/* A line with the losses of the distances and of the tree. */
void type_tree_report(const TypeModel *t, const char *name);
/* A warning where DecisionTrees is always and the problem type gets none. */
void type_tree_missing(const Run *r, const TypeModel *t, const char *name);
/* AnalyzeModel.tree. */
Err type_tree_make(void *ctx, Arena *a, const AnalyzeColumn *kept, size_t n_kept, const AnalyzeTree **out);
/* The model of the csv's problem type (NULL: none was fitted), and the position in it of a column's kernel
 * (SIZE_MAX: none). */
TypeModel *type_model_of_data(const TypeModels *m, Str data);
size_t type_model_kernel(const TypeModels *m, const TypeModel *t, const AnalyzeColumn *c);
/* Whether choices by the model lose less than the nearest size or the decision tree does; else the library
 * gets no model. */
bool type_model_wins(const TypeModel *t);
/* A selector over the kernels that the logic keeps and the sizes that are not held out, in the arena. */
Err type_model_selector(Arena *a, const TypeModel *t, ModelSelector *s);
/* Fills in range: the kernels that the range of sizes needs beside those that are given. */
Err type_range_keep(Arena *a, TypeModel *t, const bool *given);
/* The table of the logic, with predicted rows where these lose less (type_model_extends). */
Err type_rows_make(Run *r, Arena *a, TypeModel *t);

/* After the analysis (Group.chosen): what the library loses on the held-out sizes, printed. */
Err type_regret_report(TypeModels *m, Arena *a);
/* Prints the n sizes whose tuning would lower the loss most; nothing where no model was fitted. */
Err type_suggest(TypeModels *m, Arena *a, size_t n);

/* Fills in the callbacks by which the analyzer adds the model to logic files; m must outlive the analysis. */
void type_models_callbacks(TypeModels *m, AnalyzeModel *out);

#endif
