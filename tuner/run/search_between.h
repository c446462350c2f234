/* Sizes between those of the config, which a search takes in beside them, with less weight: what its rounds
 * measure there teaches the model of sizes that nobody tuned, finds kernels for them, and makes rows of the
 * library's table. They are in no result file, as the last race does not have them. */
#ifndef TUNER_SEARCH_BETWEEN_H
#define TUNER_SEARCH_BETWEEN_H

#include "run/run.h"

/* Chooses up to *n sizes in the range of n_own sizes: of many that are drawn (held_out_draw) those that are
 * farthest from all others (model_distance). None of the sizes that follow the own ones is chosen. */
Err search_between_choose(const ProblemType *pt, const ProblemSize *all, size_t n_own, size_t n_all,
                          uint64_t seed, ProblemSize *out, size_t *n);
/* Puts sizes between behind the group's own ones, before those held out. None where the library would not get
 * a model of them: too few sizes, no logic, a shard, another search method, no GEMM. */
Err search_between_add(Run *r, Group *g);
/* Weights of a search's sizes: those of the config's (search_weights), and less for those between. */
Err search_between_weights(Run *r, const Group *g, const double **out);
/* Takes them out again; they stay in Group.searched.between. */
Err search_between_drop(Run *r, Group *g);

#endif
