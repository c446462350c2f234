/* The performance model of a run: for each problem type of the config one matrix of measured times over all
 * of its groups, rates fitted to it, and what choices by it cost on sizes that are left out. */
#ifndef RUN_TYPE_MODEL_H
#define RUN_TYPE_MODEL_H

#include "logic/analyze.h"
#include "measure/model_quality.h"
#include "run/run.h"

/* Fewer sizes or kernels teach a model nothing. */
enum { TYPE_MODEL_SIZES = 8, TYPE_MODEL_KERNELS = 3, TYPE_MODEL_FOLDS = 5 };

typedef struct {
    const ProblemType *pt;
    ModelMatrix m;          /* of the groups with this problem type, held-out sizes included */
    int64_t *kernel;        /* ids in the store, of m's kernels */
    const ProblemSize **of; /* of m's sizes */
    bool *held_out;         /* of m's sizes */
    ModelDevice device;
    ModelRates rates[MODEL_CLASSES];
    ModelFit fit[MODEL_CLASSES];
    ModelQuality quality[MODEL_WAYS]; /* by cross-validation over the sizes that are not held out */
    bool fitted;                      /* there were enough times; else only pt to held_out are valid */
} TypeModel;

typedef struct {
    Run *r;
    TypeModel *type;
    size_t n;
} TypeModels;

/* Reads the times, fits, stores the rates and judges. Everything lives in the arena. */
Err type_models_make(Run *r, Arena *a, TypeModels *out);
/* The model that has the group's kernels; NULL: none was fitted. */
const TypeModel *type_model_of(const TypeModels *m, const Group *g);
/* Prints a line for each type that was fitted. */
void type_models_report(const TypeModels *m);
/* What the analyzer adds to logic files; m must outlive the analysis. */
void type_models_callbacks(TypeModels *m, AnalyzeModel *out);

#endif
