/* HostPlan: the numbers and types that the host lowering prints from, taken from a Solution and a
 * ProblemType. Shared by the files of kernel/host only.
 */
#ifndef KERNEL_HOST_PLAN_H
#define KERNEL_HOST_PLAN_H

#include "kernel/epilogue.h"
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
    const Indices *indices; /* of a contraction; NULL: a GEMM */
    bool batched, strided, use_beta;
    Fused fused;        /* of the problem type, and of the epilogue's ops */
    bool direct;        /* registers are stored straight to D: out is compute and not complex */
    int vl, mv, mr, nr; /* vector elements; register tile of mr = mv * vl rows, nr columns */
    int lsu, unroll, prefetch_local, prefetch_global;
    int prefetch_panels; /* of A where it is not packed: by how many panels a tile prefetches ahead; 0: not */
    int mc, nc, kc, mt0, mt1; /* blocks, macro tile */
    /* Packed blocks of A, of B that stay in local memory from one work-group to the next; 0: none do. One of
     * them is 0. */
    int keep_a, keep_b;
    bool runs;    /* HostDirectConv: rows of B's columns are packed once for all taps (runs.c) */
    bool turns;   /* sums of rows are transposed in vector registers (text/finish_row.h) */
    bool crossed; /* tiles of the walk along M are the kernel's tiles along N */
    int gsu;
    bool gsu_multiple;
    bool joins; /* a tile's parts are added up by the last one: StreamK, MultipleBufferSingleKernel */
    bool stagger_argument; /* the unused argument of StaggerU stands in front of others that are read */
    bool workspace;        /* d and c are the workspace: never arrays of pointers */
    bool stream_d;         /* whole vectors of D are stored past the caches */
    bool edges;            /* false: M and N are multiples of the register tile */
    const Op *epilogue;    /* the ops behind the loop over k, behind host_epilogue_read */
};

HostType host_type(DataType type);
/* Sets the fields that do not come from a solution, which are all that helper kernels need. */
void host_plan_types(HostPlan *p, const ProblemType *pt, const Target *t);
/* Are registers stored straight to D? Fused operations need the sum over all of K. */
static inline bool host_plan_is_direct(const HostPlan *p)
{
    return p->parts == 1 && p->out.type == p->compute.type && !fused_any(&p->fused) && !p->indices;
}
/* Do partial sums stay in local memory between chunks of K (16-bit D, contractions)? */
static inline bool host_plan_keeps_sums(const HostPlan *p)
{
    return !p->direct && (p->parts == 1 || p->indices);
}
/* Slots of a stream-K work-group: for the tile that it begins with and for the one that it ends with. */
enum { HOST_STREAM_SLOTS = 2 };
/* The epilogue of the planner's numbers. */
Epilogue host_epilogue(const HostPlan *p);
/* Makes the plan's numbers those of the program's epilogue. ERR_INPUT: "NAME:LINE: what". name: NULL, or that
 * of the text that the program was read from. */
Err host_epilogue_read(Program *p, const char *name);
/* HostKeepB, and the bytes of the record of a packed block (text/keep.h). */
enum { HOST_KEEP_MOST = 1024, HOST_KEPT_BYTES = 64 };
/* Elements (compute type parts) of a packed block of A, of B. */
int64_t host_plan_block_a(const HostPlan *p);
int64_t host_plan_block_b(const HostPlan *p);
/* What a row of columns is known by: its place in B, in B's zero pads, in D and in C (text/runs.h). */
static inline int host_run_places(const HostPlan *p) { return 3 + p->indices->n_pads[1]; }
/* Packed rows that a chunk of K remembers, a power of 2, and rows of which it prefetches
 * what the next chunk will pack. */
enum { HOST_RUN_MEMO = 1024, HOST_RUN_LIST = 512 };
/* Elements (compute type parts) of the local buffers. The records of kept blocks stand behind the blocks.
 * runs: of the tables of rows. */
typedef struct {
    int64_t a, b, sums, runs;
} HostLocal;
HostLocal host_plan_local(const HostPlan *p);

#endif
