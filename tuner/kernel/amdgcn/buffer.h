/* What the files of the copy module "buffer" share: the loads of an operand. */
#ifndef KERNEL_AMDGCN_BUFFER_H
#define KERNEL_AMDGCN_BUFFER_H

#include "kernel/amdgcn/amdgcn.h"

/* How the loads of one operand are distributed over threads; each function computes it from the plan. Where
 * lanes load parts of elements (GpuOperand.parts), all that lies along the contiguous dimension is counted in
 * parts. */
typedef struct {
    const GpuOperand *x;
    int i, bytes;   /* operand number, bytes of an element or part */
    int n;          /* loads of a thread */
    int words;      /* registers of a load: 4 bytes each */
    bool transpose; /* free contiguous in memory, K in local memory */
    int run;        /* consecutive elements of K of a thread; 1 unless transposed */
    int lsp;        /* elements across that one load of all threads covers */
    int lanes;      /* threads side by side along the contiguous dimension */
    bool exchanged; /* swizzled so that local addresses do not differ by constants: each is computed */
    int align;      /* bytes: a power of two of which all addresses in local memory are multiples */
    bool limited;   /* lines past M or N are clamped to the last one, else the range check drops them */
    int n_offsets;  /* vector offsets; other loads differ from them by scalars and immediates */
} Loads;

/* The operand's descriptor and registers in the text. */
static inline const Value *operand(const Loads *l, Stmts *s) { return value_named(s, "c.%c", l->x->name); }

/* ---- buffer_load.c: addresses in global memory, which follow from the program's views ---- */

/* Sets the descriptor, and the vector offsets of the loads. first: where the thread's first load begins. */
void buffer_start(Stmts *s, const GpuPlan *p, const Loads *l, GpuPlace first);

/* The vector offset of load j, and the scalar offset and the immediate by which the load differs from it. */
typedef struct {
    const Value *vector;
    const Expr *scalar, *immediate;
} LoadOffset;
LoadOffset buffer_load_offset(const GpuPlan *p, const Loads *l, Stmts *s, const Expr *j);

/* ---- fragments.c ---- */

/* Prints @frag_take and @frag_rest of the operands with in_registers. */
void amdgcn_fragment_functions(const GpuPlan *p, Stmts *s);

#endif
