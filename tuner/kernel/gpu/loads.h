/* How elements of A and B reach the thread that multiplies them: through registers and local memory, through
 * local memory alone (GpuOperand.to_local), or directly in fragments (in_registers). */
#ifndef KERNEL_GPU_LOADS_H
#define KERNEL_GPU_LOADS_H

#include "kernel/gpu/gpu.h"

/* Are an operand's loads written from registers to local memory? */
static inline bool gpu_is_fetched(const GpuOperand *x) { return !x->to_local && !x->in_registers; }
/* Do loads of an operand, or of all that are in local memory, write it themselves? */
static inline bool gpu_any_to_local(const GpuPlan *p) { return p->op[0].to_local || p->op[1].to_local; }
static inline bool gpu_all_to_local(const GpuPlan *p)
{
    return gpu_any_to_local(p) && !gpu_is_fetched(&p->op[0]) && !gpu_is_fetched(&p->op[1]);
}
/* Are fragments of an operand, or of both, loaded without local memory? */
static inline bool gpu_any_in_registers(const GpuPlan *p)
{
    return p->op[0].in_registers || p->op[1].in_registers;
}
static inline bool gpu_all_in_registers(const GpuPlan *p)
{
    return p->op[0].in_registers && p->op[1].in_registers;
}
/* Register sets of an operand's loads; fragments have one for the current chunk too. */
static inline int gpu_sets(const GpuPlan *p, const GpuOperand *x)
{
    return x->in_registers ? p->prefetch + 1 : p->n_sets;
}

#endif
