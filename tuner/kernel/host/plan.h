/* HostPlan: the numbers and types that the host lowering prints from, taken from a Solution and a
 * ProblemType. Shared by the files of kernel/host only.
 */
#ifndef KERNEL_HOST_PLAN_H
#define KERNEL_HOST_PLAN_H

#include "kernel/program.h"
#include "problem/problem.h"
#include "problem/target.h"

/* An element type in C. Complex numbers are pairs of their part's type. */
typedef struct {
    DataType type;
    const char *c; /* of one part in memory */
    int bytes;     /* of one part */
    bool complex;
} HostType;

struct HostPlan {
    const Target *target;
    int level; /* 2 3 4: of x86-64-v<level> */
    HostType in, compute,
        out;               /* out: what this kernel writes (the workspace's type when it accumulates there) */
    DataType dest;         /* of D in the problem */
    HostType scalar;       /* alpha and beta as passed: the problem type's compute type */
    int parts;             /* 2 for complex, else 1 */
    bool conj[2], pack[2]; /* of A and B */
    bool batched, strided, use_beta;
    bool direct;        /* registers are stored straight to D: out is compute and not complex */
    int vl, mv, mr, nr; /* vector elements; register tile of mr = mv * vl rows, nr columns */
    int lsu, unroll, prefetch_local, prefetch_global;
    int mc, nc, kc, mt0, mt1; /* blocks, macro tile */
    int gsu;
    bool gsu_multiple;
    bool workspace; /* d and c are the workspace: never arrays of pointers */
    bool edges;     /* false: M and N are multiples of the register tile */
};

HostType host_type(DataType type);
/* Sets the fields that do not come from a solution, which are all that helper kernels need. */
void host_plan_types(HostPlan *p, const ProblemType *pt, const Target *t);
/* Do partial sums stay in local memory between chunks of K (16-bit D)? */
static inline bool host_plan_keeps_sums(const HostPlan *p) { return !p->direct && p->parts == 1; }
/* Elements (compute type parts) of the local buffers. */
typedef struct {
    int64_t a, b, sums;
} HostLocal;
HostLocal host_plan_local(const HostPlan *p);

#endif
