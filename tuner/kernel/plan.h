/* Planning: a Solution becomes the numbers of a Program, once. Lowerings and passes see the program alone. */
#ifndef KERNEL_PLAN_H
#define KERNEL_PLAN_H

#include "kernel/gpu/gpu.h"
#include "kernel/host/plan.h"
#include "kernel/program.h"
#include "space/solution.h"

/* Makes the program of a derived solution that is valid for t, as the work-group sees it, before the passes.
 * Everything lives in the arena. ERR_INPUT says what the kernel writer cannot do. */
Err program_build(Program *p, const Solution *s, const Target *t, Arena *arena);

/* The indices of a solution's problem type, with its PackBatchDims and PackSummationDims. ERR_INPUT: no
 * kernel has them. */
Err solution_indices(const Solution *s, Indices *out);
/* Returns the order of work-groups, and the split and the stagger of K. */
Walk plan_walk(const Solution *s);
/* Fill Program.gpu and Program.host. ERR_INPUT says what the kernel writer cannot do. */
Err plan_gpu(Program *program, const Solution *s);
Err plan_host(Program *program, const Solution *s);

/* The same without a program. */
Err gpu_plan(GpuPlan *p, const Solution *s, const Target *t);
/* Without pads of local memory, whose choice takes a hundred times as long as the rest: for the performance
 * model, which asks for every candidate of a space. */
Err gpu_plan_sketch(GpuPlan *p, const Solution *s, const Target *t);
Err host_plan(HostPlan *p, const Solution *s, const Target *t);

#endif
