/* The performance model's view of kernels and devices. The arithmetic is in problem/model.h, which libtuner
 * shares.
 *
 *   ModelDevice d;
 *   ModelRates r[MODEL_CLASSES];
 *   ModelKernel k;
 *   model_of_part(target, STR("H200"), 0, &d);           once; then calibrate.h, if times are known
 *   model_rates_typical(r);
 *   TRY(model_kernel(&solution, target, &k));            once per candidate
 *   ModelSize z = model_size(pt, &size, false);          once per size
 *   double s = model_time(&k, &d, &r[k.class], &z, NULL);
 */
#ifndef MEASURE_MODEL_H
#define MEASURE_MODEL_H

#include "problem/model.h"
#include "problem/part.h"
#include "problem/sizes.h"
#include "space/solution.h"

/* The numbers of a derived, valid solution's kernel, from its plan. Allocates nothing that outlives the call.
 * ERR_INPUT: the kernel writer cannot do it. */
Err model_kernel(const Solution *s, const Target *t, ModelKernel *out);

/* A device from the table of parts. part: its name in parts.def; empty: the target's largest. n_cu 0: the
 * part's (host: the machine's processors). Never fails: a target without a row of rates gets those of its
 * nearest relative. */
void model_of_part(const Target *t, Str part, int n_cu, ModelDevice *out);
/* Typical rates of all classes. */
void model_rates_typical(ModelRates r[MODEL_CLASSES]);

/* The size of a problem; beta: C is read where the kernel can. */
ModelSize model_size(const ProblemType *pt, const ProblemSize *s, bool beta);
/* Fills in which parts of A and B are distinct in memory. */
void model_size_once(const ProblemType *pt, const ProblemSize *s, ModelSize *z);

#endif
