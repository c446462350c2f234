/* The nearest of many points, which are measured sizes as the choice by the performance model sees them. A
 * tree divides the space into cells, each of which knows the points around its middle. A search goes down to
 * the cell of a place and looks at these. Shared by the program that tunes and libtuner. */
#ifndef PROBLEM_MODEL_PLACES_H
#define PROBLEM_MODEL_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/floats.h"

enum { MODEL_DIMS = 5, MODEL_NEAR = 8, MODEL_PLACES_MAX = 1 << 16 };

/* log2 of M, N, K and the batch; the alignment of A and B as a distance. Behind them are zeros. */
typedef struct {
    _Alignas(Floats) float x[FLOATS];
} ModelPoint;
/* Square of the distance. */
float model_distance(const ModelPoint *a, const ModelPoint *b);

typedef struct ModelPlaces ModelPlaces;

/* Memory for n points, in the arena. ERR_INPUT: more than MODEL_PLACES_MAX. */
Err model_places_new(Arena *a, size_t n, ModelPlaces **out);
/* Sets a point. After the last one model_places_sort must be called. */
void model_places_set(ModelPlaces *p, size_t i, const ModelPoint *x);
void model_places_sort(ModelPlaces *p);
/* Where a place lies. A caller that has other work does it between this and model_places_near, because both
 * wait for memory most of their time. */
typedef struct ModelCell ModelCell;
const ModelCell *model_places_cell(const ModelPlaces *p, const ModelPoint *x);
/* MODEL_NEAR points, or all where there are fewer, the nearest first, with the squares of their distances,
 * rounded to 19 bits; behind them numbers that must not be used, and large distances. They are the nearest
 * ones, nearly: now and then one of these is missing, and a farther one stands in its place. Of points at the
 * same distance any may come first; equal arguments give equal answers. Returns their number. */
int model_places_near(const ModelPlaces *p, const ModelPoint *x, const ModelCell *cell,
                      uint32_t near[MODEL_NEAR], float distance[MODEL_NEAR]);

#endif
