/* Warp-specialised kernels for sm_90a: a producer warp group fills a ring of stages by TMA, and consumer warp
 * groups multiply by wgmma. */
#ifndef KERNEL_NVPTX_HOPPER_H
#define KERNEL_NVPTX_HOPPER_H

#include "kernel/gpu/gpu.h"
#include "problem/matrix_inst.h"
#include "problem/window.h"

/* Appends the text of a kernel. program: as the passes of hopper_program.c made it. */
Err hopper_lower(const Program *program, Str symbol, Buf *out);

/* hopper_load.c: prints produce() and fill_stage(). ERR_FAILED: engine_derive refuses it. */
Err hopper_load(const GpuPlan *p, Stmts *s);
/* The roles of a contraction's indices. ERR_INPUT: the copy engine does not load it. */
Err hopper_window(const GpuPlan *p, Window *out);

/* hopper_products.c: prints accumulate(), the products of a tile. in: the instruction. */
void hopper_products(const GpuPlan *p, const MatrixInst *in, const StageRing *ring, Stmts *s);
/* Bytes from X's tile in a stage to the rows of a consumer warp group. */
const Expr *hopper_group_at(const GpuPlan *p, Stmts *s, const Expr *group);

/* hopper_consume.c: prints release(), the products, the epilogue's texts, consume(), and EMPTY_ARRIVALS, the
 * arrivals that the mbarrier of an empty stage expects. ERR_FAILED: consumer_derive refuses it. ring must
 * outlive s. */
Err hopper_consume(const GpuPlan *p, const MatrixInst *in, const StageRing *ring, Stmts *s);

#endif
