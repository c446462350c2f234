/* The nearest of many points, which are measured sizes as the choice by the performance model sees them.
 * Points are sorted into blocks of neighbours, each with the box that its points lie in. A search finds the
 * nearest point in the nearest blocks, and the others among the points around that one. Shared by the program
 * that tunes and libtuner. */
#ifndef PROBLEM_MODEL_PLACES_H
#define PROBLEM_MODEL_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { MODEL_DIMS = 5, MODEL_NEAR = 8 };

/* log2 of M, N, K and the batch; the alignment of A and B as a distance. */
typedef struct {
    float x[MODEL_DIMS];
} ModelPoint;
/* Square of the distance. */
float model_distance(const ModelPoint *a, const ModelPoint *b);

typedef struct ModelPlaces ModelPlaces;

/* Memory for n points, in the arena. */
Err model_places_new(Arena *a, size_t n, ModelPlaces **out);
/* Sets a point. After the last one model_places_sort must be called. */
void model_places_set(ModelPlaces *p, size_t i, const ModelPoint *x);
void model_places_sort(ModelPlaces *p);
/* MODEL_NEAR points, or all where there are fewer, the nearest first, with the squares of their distances,
 * rounded to 18 bits. They are the nearest ones, nearly: now and then one of these is missing, and a farther
 * one stands in its place. Of points at the same distance any may come first; equal arguments give equal
 * answers. Returns their number. */
int model_places_near(const ModelPlaces *p, const ModelPoint *x, uint32_t near[MODEL_NEAR],
                      float distance[MODEL_NEAR]);

#endif
