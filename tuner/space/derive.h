/* Derivation: computes the full state of a solution from the parameters that a user sets, or rejects it.
 *
 * A Deriver holds what is constant over a fork: properties of the problem type, target, limits.
 * solution_derive is called millions of times and allocates nothing. The formulas are Tensile's (class
 * Solution of Tensile/SolutionStructs.py); rows of rules.def are its reasons to reject.
 *
 * Intended differences from Tensile:
 * - With source_matrix, Source kernels may have matrix instructions, and then have the architecture's ISA.
 * - With writer, Fp16AltImpl needs no matrix instruction: all kernels can convert half to bf16.
 * - Where Tensile ends with an exception (StreamK, ScheduleIterAlg 2 or DirectToVgpr without a matrix
 *   instruction, PackFreeDims off), a rule rejects the solution, and StoreRemapVectorWidth -1 becomes 0.
 * - Tensile modifies lists and maps that all permutations share (ThreadTile and WorkGroup with a
 *   MatrixInstruction of nine numbers, the AssertStride maps), so that one permutation changes the next.
 *   Here each permutation has its own copies.
 * - On nvptx and the host, parameters without meaning there get their defaults, so that they make no
 *   duplicates. On amdgcn this holds for the rows of the host.
 */
#ifndef MODEL_DERIVE_H
#define MODEL_DERIVE_H

#include "problem/conv.h"
#include "problem/problem.h"
#include "space/custom.h"
#include "space/rules.h"
#include "space/solution.h"
#include "problem/target.h"

/* Global parameters that derivation needs; 0 stands for the default in brackets. */
typedef struct {
    int64_t max_lds_bytes;    /* MaxLDS [65536] */
    int64_t device_lds_bytes; /* DeviceLDS [65536] */
    int32_t max_depth_u;      /* MaxDepthU [1024] */
    bool unroll_loop_efficiency;
    bool writer;        /* reject what the family's kernel writer cannot honour, beyond Tensile's rules */
    bool source_matrix; /* Source kernels have matrix instructions [as in Tensile: they have none] */
    const CustomKernels *custom; /* kernels written by hand [there are none]; must outlive the Deriver */
} DeriveLimits;

enum {
    CAP_MFMA = 1 << 0,
    CAP_WMMA = 1 << 1,
    CAP_BF16_1K = 1 << 3, /* the second generation of bf16 matrix instructions */
    CAP_PRELOAD = 1 << 6, /* kernel arguments in registers */
    CAP_GLC = 1 << 7,     /* cache modifier spelt glc, else sc0 */
    CAP_NT = 1 << 8,
    CAP_ATOMIC_ADD = 1 << 9,
    CAP_MFMA_VGPR = 1 << 10, /* results in ordinary registers */
    CAP_FMA_F32 = 1 << 11,
    CAP_ECC_HALF = 1 << 12, /* memory with ECC: no half-word writes */
    CAP_WAVE32 = 1 << 13,
    CAP_ACC_CD = 1 << 14
};

/* Capability flags of an architecture (caps.def and, of matrix instructions, matrix_inst.def); 0: unknown. */
unsigned isa_caps(const int32_t isa[3]);

/* Sets of derived keys (group STATE) by the solutions whose state has them: all; those with matrix
 * instructions; with PrefetchGlobalRead; whose loads have whole vectors; with FractionalLoad. KEYS_GIVEN:
 * only those in which the caller set the key. */
typedef enum {
    KEYS_ALWAYS,
    KEYS_MATRIX,
    KEYS_PREFETCH,
    KEYS_WHOLE_LOADS,
    KEYS_FRACTIONAL,
    KEYS_GIVEN
} StateKeys;

typedef struct {
    const ProblemType *pt;
    const Target *target;
    Solution defaults;
    int64_t max_lds, device_lds;
    int32_t max_depth_u;
    bool unroll_loop_efficiency, source_matrix, writer;
    const CustomKernels *custom;
    int32_t type, dest, compute, xdl; /* DataType ids */
    int32_t bpe, dest_bpe, compute_bpe;
    bool tlu[2];            /* of A and B: the free index is contiguous */
    bool contraction;       /* its form is none of a GEMM (problem/indices.h) */
    const char *not_window; /* why a contraction is no window (problem/window.h); NULL: it is one */
    bool gemm, batched, strided_batched, hpa, use_beta, initial_ab, initial_cd, no_free_dims;
    Fused fused;
    bool fp16_alt, stochastic, zero_pad[2], zero_pad_contiguous[2];
    int32_t tensor0; /* 0: D's contiguous index is one of A */
    int32_t n_indices_c, n_summation, index_unroll, index01[2];
    const IndexList *assign[2]; /* index assignments of A and B */
    uint32_t free_mask, batch_mask;
    int32_t n_fixed_sizes, fixed_index[CONV_SPATIAL], fixed_size[CONV_SPATIAL]; /* a convolution's filter */
    uint64_t keys[KEYS_GIVEN][PARAM_WORDS];
} Deriver;

Err deriver_init(Deriver *d, const ProblemType *pt, const Target *target, const DeriveLimits *limits);

/* Completes *s, whose forkable fields are set and whose pt is d's. Returns true when the solution is valid;
 * otherwise *v (may be NULL) gets the reason, and *s keeps what was derived before. STATE rows that are
 * present are derived again, except for _GlobalAccumulation with _WorkspaceSizePerElemC, which are kept as in
 * Tensile. */
bool solution_derive(const Deriver *d, Solution *s, Verdict *v);

/* True when the kernel writer of d's target can honour a derived solution, whatever the other rules and d's
 * limits say; otherwise *v gets the reason. On nvptx and the host this is part of solution_derive. */
bool solution_writable(const Deriver *d, const Solution *s, Verdict *v);

/* Do the vectors of a host kernel lie along ThreadTile1, so that it exchanges the sides of D? */
bool host_vectors_along_1(const Solution *s);

/* Kinds of kernels that limit the values of parameters: amdgcn kernels that are written, nvptx kernels with a
 * ring of stages, with wgmma, without local memory and without a ring, the host. */
enum { ONLY_AMD = 1, ONLY_RING, ONLY_WGMMA, ONLY_DIRECT, ONLY_NV, ONLY_CPU };
typedef struct {
    ParamId id;
    unsigned where;
    RuleId rule;
    bool elsewhere;   /* the rule is checked by code of its own */
    int32_t value[2]; /* the two legal values, which may be equal; of texts and lists: the default */
} ParamOnly;

/* True for parameters with one legal value in Tensile, such as GlobalReadCoalesceVectorA. */
bool param_has_one_value(const Param *p);

/* The row of effect.def, or NULL. */
const ParamOnly *param_only(const Param *p, unsigned where);
/* Why no value of p changes kernels of one kind (a row HINT of effect.def), or NULL. */
const char *param_hint(const Param *p, unsigned where);
/* Whether the work-group order of s is an argument: then *out is the solution of which the kernel is made,
 * for all solutions that differ in the order's numbers only. */
bool solution_shares_kernel(const Solution *s, Solution *out);

/* Prints what a family (SCOPE_AMD, SCOPE_NV, SCOPE_CPU) does with p: "honoured", "hint: why", "only 0
 * (rule)", or "-" for a parameter of another family. */
void param_effect_print(const Param *p, unsigned family, Buf *out);

#endif
