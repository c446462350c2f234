/* Derivation: from the parameters a user gives to the full state of a solution, or the reason why there is
 * none.
 *
 * A Deriver holds what does not change over a fork: facts of the problem type, the target, limits.
 * solution_derive then needs no memory and no lookups (millions of calls). The formulas are Tensile's (facts
 * in section 2.2 and 2.3 of the format notes); rows of rules.def are its reasons to reject. Not here: names
 * (naming.h), enumeration (space.h).
 *
 * Differences from Tensile that are kept:
 * - with source_matrix, Source kernels have matrix instructions, and then the architecture's ISA;
 * - with writer, Fp16AltImpl needs no matrix instruction: kernels convert half to bf16 whatever multiplies;
 * - where Tensile ends with an exception (StreamK, ScheduleIterAlg 2 or DirectToVgpr without a matrix
 *   instruction, PackFreeDims off), a rule rejects; StoreRemapVectorWidth -1 is 0 there;
 * - Tensile changes lists and maps in place that all permutations share (ThreadTile and WorkGroup by a
 *   MatrixInstruction of nine numbers, the AssertStride maps), so that one permutation can change the next;
 *   here each permutation has its own;
 * - on nvptx and the host, parameters that have no meaning there get their default, so that they make no
 *   duplicates; on amdgcn host rows do.
 */
#ifndef MODEL_DERIVE_H
#define MODEL_DERIVE_H

#include "problem/problem.h"
#include "space/custom.h"
#include "space/rules.h"
#include "space/solution.h"
#include "problem/target.h"

/* Global parameters that derivation asks for; zeroed fields mean the defaults in brackets. */
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

/* STATE keys by the states that have them; KEYS_GIVEN: only when the caller set them. */
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
    bool tlu[2]; /* of A and B: the free index is the contiguous one */
    bool gemm, batched, strided_batched, hpa, use_beta, initial_ab, initial_cd, no_free_dims;
    bool fp16_alt, stochastic, zero_pad[2], zero_pad_contiguous[2];
    int32_t tensor0; /* 0: A gives D's fastest index */
    int32_t n_indices_c, n_summation, index_unroll, index01[2];
    const IndexList *assign[2]; /* index assignments of A and B */
    uint32_t free_mask, batch_mask;
    uint64_t keys[KEYS_GIVEN][PARAM_WORDS];
} Deriver;

Err deriver_init(Deriver *d, const ProblemType *pt, const Target *target, const DeriveLimits *limits);

/* Completes *s (whose forkable fields are set, s->pt is d's) or says in *v why not; returns whether it is
 * valid. What is derived before the reason was found stays in *s. v may be NULL. STATE
 * rows that *s has already are derived again, but for _GlobalAccumulation with _WorkspaceSizePerElemC, which
 * are kept, as Tensile keeps a logic file's. */
bool solution_derive(const Deriver *d, Solution *s, Verdict *v);

/* Whether the kernel writer of d's target can honour a solution that is derived, whatever else speaks against
 * it and whether or not d's limits ask for it; *v says why not. On nvptx and the host that is part of
 * solution_derive. */
bool solution_writable(const Deriver *d, const Solution *s, Verdict *v);

/* Where values of a parameter are limited: amdgcn kernels that are to be written, nvptx kernels with a ring
 * of stages and without, the host. */
enum { ONLY_AMD = 1, ONLY_RING, ONLY_WGMMA, ONLY_NV, ONLY_CPU };
typedef struct {
    ParamId id;
    unsigned where;
    RuleId rule;
    bool elsewhere;   /* the rule's predicate is not made from this row */
    int32_t value[2]; /* the legal ones; may be equal; of texts and lists: the default */
} ParamOnly;

/* GlobalReadCoalesceVectorA: Tensile has no other value. */
bool param_has_one_value(const Param *p);

/* The row of effect.def, or NULL. */
const ParamOnly *param_only(const Param *p, unsigned where);
/* What a family (SCOPE_AMD, SCOPE_NV, SCOPE_CPU) does with p: "honoured", "hint: why", "only 0 (rule)", or
 * "-": it is another family's. */
void param_effect_print(const Param *p, unsigned family, Buf *out);

#endif
