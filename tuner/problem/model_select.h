/* Choice of a kernel for a size that was not measured: the performance model, corrected by its residuals on
 * measured sizes nearby. Shared by the program that tunes and libtuner.
 *
 * A ModelSelector has kernels and points. A point is a measured size with the residual of each kernel
 * there, log(measured / predicted), where it is known. What all kernels of a point have in common is taken
 * out of their residuals first: it does not help to choose, and it would count for those kernels alone
 * that were measured there. The time of a kernel on a size is the prediction times the exponential of
 * the mean residual of the nearest points and of what these have in common, weighted by their distance in
 * the logarithms of M, N, K and the batch, and by how close the kernel is there to the best one: its
 * residual on sizes for which nobody would choose it says little. Alignments that differ count as
 * distance. Far from all points the kernel's mean residual takes over, and the kernel is expected to lose
 * a little more.
 *
 * A selector may have trees (model_trees.h), which say what residuals to expect. Then the residuals are those
 * that the trees leave.
 *
 * A choice does not compute all of this for its size: it takes means over the nearest points of what is
 * expected there, and asks the trees of a few kernels (model_choice.h).
 */
#ifndef PROBLEM_MODEL_SELECT_H
#define PROBLEM_MODEL_SELECT_H

#include <stddef.h>

#include "base/arena.h"
#include "problem/model.h"
#include "problem/model_forest.h"
#include "problem/model_lanes.h"
#include "problem/model_places.h"
#include "problem/model_trees.h"

enum { MODEL_KERNELS_MAX = 2048, MODEL_POINTS_MAX = MODEL_PLACES_MAX };

ModelPoint model_point(const ModelSize *z);

/* What a file says of one kernel: all that its predictions need, so that files of several runs can be
 * merged. */
typedef struct {
    ModelKernel kernel;
    ModelDevice device;
    ModelRates rates;
} ModelEntry;
/* log(measured / predicted) of a kernel on a size. */
typedef struct {
    ModelSize size;
    double error;
} ModelResidual;

/* In files an entry is a list of numbers: version, device, rates, kernel, MODEL_RESERVED ones that are not
 * used (0; coefficients that older programs had), and MODEL_RESIDUAL_NUMBERS for each residual. */
enum { MODEL_VERSION = 6, MODEL_RESIDUAL_NUMBERS = 8, MODEL_RESERVED = 16 };
enum {
    MODEL_DEVICE_NUMBERS = sizeof(ModelDevice) / sizeof(double),
    MODEL_ENTRY_NUMBERS = 1 + MODEL_DEVICE_NUMBERS + MODEL_N_RATES + MODEL_KERNEL_NUMBERS + MODEL_RESERVED
};
void model_entry_write(const ModelEntry *e, double out[MODEL_ENTRY_NUMBERS]);
void model_residual_write(const ModelResidual *r, double out[MODEL_RESIDUAL_NUMBERS]);
/* False: another version, or a number out of bounds. */
bool model_entry_read(const double v[MODEL_ENTRY_NUMBERS], ModelEntry *e);
bool model_residual_read(const double v[MODEL_RESIDUAL_NUMBERS], ModelResidual *r);

typedef struct ModelChoice ModelChoice; /* model_choice.h */

typedef struct {
    size_t n_kernels, n_points;
    ModelEntry *entry;   /* of each kernel */
    ModelSize *size;     /* of each point */
    float *residual;     /* [point * n_kernels + kernel]; NAN: not known */
    ModelForest *forest; /* of the trees; NULL: there are none */
    float *left;         /* as residual, beside the model with the trees; NULL without trees */
    /* made by model_selector_finish */
    ModelPlaces *places; /* of the points */
    /* what `residual` says or, with trees, `left` */
    float *common;            /* of each point: what its kernels have in common */
    struct ModelKnown *known; /* [point * n_kernels + kernel] */
    float *mean; /* of each kernel, far from all points: by weight, drawn towards 0 where there are few, and a
                  * loss that is expected there */
    ModelLanes *lanes;
    ModelReady *ready; /* of each kernel */
    ModelChoice *choice;
} ModelSelector;

/* Whether that many are within the bounds, MODEL_TIMES_MAX residuals in all. */
enum { MODEL_TIMES_MAX = 1 << 22 };
static inline bool model_selector_fits(size_t n_kernels, size_t n_points)
{
    return n_kernels <= MODEL_KERNELS_MAX && n_points <= MODEL_POINTS_MAX &&
           n_kernels * n_points <= MODEL_TIMES_MAX;
}

/* Memory for a selector, in the arena, with no residual known. ERR_INPUT: too many. */
Err model_selector_new(Arena *a, size_t n_kernels, size_t n_points, ModelSelector *s);
/* Gives a selector trees, which must live as long, and memory for `left` in the arena, with none known.
 * ERR_INPUT: trees with too many bounds (model_forest.h). */
Err model_selector_trees(Arena *a, ModelSelector *s, const ModelTrees *trees);
/* Fills in the rest from entry, size, residual and, with trees, `left`; of this what is not known, although
 * the residual is, is computed. */
void model_selector_finish(ModelSelector *s);

/* The nearest points of a size with their weights. */
typedef struct {
    int n;
    uint32_t point[MODEL_NEAR];
    float weight[MODEL_NEAR];
    float common; /* of the points, by weight */
} ModelNear;
void model_near(const ModelSelector *s, const ModelSize *z, ModelNear *out);
/* The weight of a point at this distance, whose square is given; or of FLOATS of them. */
#define MODEL_NEAR_WEIGHT(distance2) (1 / (1 + (distance2)))
/* Predicted seconds of kernel k, with the trees if there are any. */
double model_predict(const ModelSelector *s, const ModelNear *near, size_t k, const ModelSize *z);
/* The same of up to MODEL_FOREST_LAUNCHES kernels; the logarithm of it over the model's time, and the part of
 * this that near points say. of: of the size; is not read without trees. */
typedef struct {
    double seconds;
    float all, near;
} ModelExpected;
void model_expected(const ModelSelector *s, const ModelNear *near, int n, const size_t *kernel,
                    const ModelSize *z, const ModelForestSize *of, ModelExpected *out);
/* How much of that rests on times of the kernel on sizes nearby: 0 (none) to 1. */
double model_known(const ModelSelector *s, const ModelNear *near, size_t k);

/* The kernel with the least predicted time among those for which allowed (may be NULL) is true, which is
 * asked only of kernels that would be the best. *seconds gets the prediction. SIZE_MAX: none is allowed. */
typedef bool ModelAllowed(void *ctx, size_t kernel);
size_t model_choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                    double *seconds);

#endif
