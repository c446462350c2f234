/* What the copy modules "register" (copy.c) and "gather" (gather.c) share: places of loads, registers, and
 * their way to local memory. */
#ifndef KERNEL_GPU_COPY_H
#define KERNEL_GPU_COPY_H

#include "kernel/gpu/gpu.h"

/* Loads of a thread. */
int copy_loads(const GpuOperand *x);
/* A name with the operand's letter in it. */
const char *copy_name(Stmts *s, const char *before, const GpuOperand *x, const char *behind);
/* The registers of load i. */
const Value *copy_data(Stmts *s, const GpuOperand *x, const Value *set, const Expr *i);
/* The functions' argument `set`. */
const Value *copy_set(Stmts *s);
/* The position of the thread's load 0, which copy_init has stored. */
GpuPlace copy_kept_place(Stmts *s, const GpuPlan *p, const GpuOperand *x);
/* The position of element e of load i. */
GpuPlace copy_load_place(ExprPool *pool, const GpuOperand *x, GpuPlace first, const Expr *i, const Expr *e);
/* Opens a block and in it the loop of @copy_tail over the elements of a thread. Returns the position of the
 * element, declared as along and across; those outside the tile are skipped. Both are to be ended. */
GpuPlace copy_tail_open(const GpuPlan *p, Stmts *s, const GpuOperand *x);
/* The local memory address of a position in the operand's tile. */
Access copy_local_at(Stmts *s, const GpuOperand *x, const char *type, int bytes, GpuPlace at);
/* In @copy_slow: the fast functions cannot do the problem if the condition holds. */
void copy_slow_if(Stmts *s, const Value *condition);

/* Prints for one operand the part of @copy_tail that copies the rest of K behind whole chunks. */
typedef void CopyTail(const GpuPlan *p, Stmts *s, const GpuOperand *x);

/* What the two modules have each of their own. */
typedef struct {
    const char *heading, *file;                /* file: a text that comes first; NULL: none */
    void (*state)(const GpuPlan *p, Stmts *s); /* struct @Copy */
    void (*init)(const GpuPlan *p, Stmts *s);  /* @copy_init */
    void (*load)(const GpuPlan *p, Stmts *s);  /* @copy_load */
    void (*slow)(const GpuPlan *p, Stmts *s);  /* @copy_slow */
    CopyTail *tail;
} CopyPieces;
/* Prints the module, with @copy_store, @copy_wait and @copy_shift, which both have. */
void copy_emit(const GpuPlan *p, const CopyPieces *x, Buf *out);

#endif
