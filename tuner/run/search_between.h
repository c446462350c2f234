/* Sizes between those of the config. A search measures them in its rounds with less weight, so that the
 * performance model is fitted to untuned sizes, kernels for these are found, and the library's table gets
 * rows for them. They are in no result file, because the final race does not measure them. */
#ifndef TUNER_SEARCH_BETWEEN_H
#define TUNER_SEARCH_BETWEEN_H

#include "run/run.h"

/* Chooses up to *n sizes in the range of n_own sizes: of many that are drawn (held_out_draw) those that are
 * farthest from all others (model_distance). None of the sizes that follow the own ones is chosen. */
Err search_between_choose(const ProblemType *pt, const ProblemSize *all, size_t n_own, size_t n_all,
                          uint64_t seed, ProblemSize *out, size_t *n);
/* Whether the library of a group would get a model: not with too few sizes, no logic, a shard, another search
 * method, no GEMM. */
bool search_between_wanted(const Run *r, const Group *g);
/* Inserts sizes between after the group's own ones, before those held out, where they are wanted. */
Err search_between_add(Run *r, Group *g);
/* Weights of a search's sizes: those of the config's (search_weights), and less for those between. */
Err search_between_weights(Run *r, const Group *g, const double **out);
/* Removes these sizes from the group; Group.searched.between keeps them. */
Err search_between_drop(Run *r, Group *g);

#endif
