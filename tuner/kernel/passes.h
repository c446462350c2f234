/* Shared by the files of the passes: functions that make ops, and the GPU families' passes (passes_gpu.c). */
#ifndef KERNEL_PASSES_H
#define KERNEL_PASSES_H

#include "kernel/program.h"

/* Returns a copy of an op in the program's arena; NULL: out of memory. Lists leave NULL entries out. */
Op *pass_op(Program *p, Op from);
Op *pass_list(Op *const *ops, int n);
Op *pass_loop(Program *p, Level level, Dim dim, int32_t step, Op *body);
Op *pass_tile_op(Program *p, OpKind kind, int t0, int t1, int t2);
Op *pass_move(Program *p, int tile, int32_t step);

Err gpu_distribute(Program *p);
/* Behind hopper_distribute: the instruction, and the plan's numbers as gpu_maps_read. */
Err gpu_maps_of_warp_groups(Program *p);
Err gpu_pipeline(Program *p);
Err gpu_edges(Program *p);
/* Bit per Dim: edges that an op, in a loop over K of that phase, looks at. */
unsigned gpu_guards(const Program *p, const Op *o, Phase phase);

/* Kernels whose producer and consumers run different code have passes of their own (nvptx/hopper_program.c).
 * hopper_is: is this one of them? */
bool hopper_is(const Program *p);
Err hopper_distribute(Program *p);
Err hopper_pipeline(Program *p);
Err hopper_edges(Program *p);

/* The same for kernels without local memory (gpu/direct_program.c). */
bool direct_is_program(const Program *p);
Err direct_distribute(Program *p);
Err direct_pipeline(Program *p);
Err direct_edges(Program *p);

#endif
