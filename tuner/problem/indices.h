/* Indices: the roles of a contraction's indices, and the sizes and strides of one contraction.
 *
 * D[i..] = alpha * sum over l.. of A[..] * B[..] + beta * C[i..]. Each tensor has a list of indices, the
 * first one first in its strides. Kernels see a matrix product: an index of D and of one operand alone is of
 * M (of A) or of N (of B), one of D, A and B to the batch, one of A and B alone to K. A group of several
 * indices is one number whose digits they are: M and N as the tensor lists them, the first the fastest; K
 * with the last summation index (Tensile's unrolled one) the fastest; the batch as D lists them.
 *
 * The rows of D are the indices of the operand whose first free index comes first in D (Tensile's Tensor0).
 * Where that is B, kernels exchange the two operands (indices_exchange): what they call A is the problem's B.
 *
 * Zero padding: with x = free * stride(free) + sum * stride(sum), an element of the tensor is read as 0
 * unless start <= x < size(free) * stride(free) + (size(sum) - 1) * stride(sum) - end, and all elements lie
 * `start` in front of where their indices say (Tensile's ZeroPad).
 */
#ifndef PROBLEM_INDICES_H
#define PROBLEM_INDICES_H

#include "problem/problem.h"
#include "problem/sizes.h"

typedef enum { INDICES_M, INDICES_N, INDICES_BATCH, INDICES_K, INDICES_GROUPS } IndexGroup;

/* Tensors are numbered A, B, C, D. */
enum { INDICES_TENSORS = 4 };

typedef struct {
    int32_t n;    /* all indices */
    int32_t of_d; /* indices of D: the first ones */
    IndexList tensor[INDICES_TENSORS];
    IndexList group[INDICES_GROUPS]; /* fastest first */
    int32_t pack;                    /* PackBatchDims: 1 the batch belongs to M, 2 to N */
    int32_t pack_sums;               /* PackSummationDims: kernels take numbers to divide by */
    bool initial_ab, initial_cd;     /* kernels take the first strides of A and B, of C and D */
    bool conj[2];
    IndexList mirror[2]; /* of A and B: indices that go backwards, from size - 1 to 0 (MirrorDims) */
    bool exchanged;      /* of kernels: A and B are the problem's B and A */
    bool is_gemm;        /* indices_are_gemm, of those who ask for it more than once */
    bool outputs_first;  /* of kernels: a sliding window is copied along outputs (indices_tile_first) */
    int32_t n_pads[2];   /* of A and B */
    struct {
        int32_t free, sum; /* indices */
    } pad[2][TUPLE_MAX];
} Indices;

/* Reads "Contraction_lm_Ailkm_Bljkm_Cijk_Dijk", without a suffix of fused operations. ERR_INPUT names what is
 * wrong with it: a tensor with an index twice, an index of D in neither operand. Indices in upper case are
 * mirrored. */
Err indices_read(Str identifier, Indices *out);
/* The indices of a problem type; pack: PackBatchDims. */
Err indices_of_type(const ProblemType *pt, int32_t pack, Indices *out);
/* Is it a GEMM with unit first strides and no padding? */
static inline bool indices_are_plain_gemm(const ProblemType *pt)
{
    return problem_is_gemm(pt) && !pt->UseInitialStridesAB && !pt->UseInitialStridesCD && !pt->ZeroPadA.n &&
           !pt->ZeroPadB.n && !pt->MirrorDimsA.n && !pt->MirrorDimsB.n;
}
/* Moves the batch into M (1) or N (2); 0 does nothing. */
void indices_pack(Indices *x, int32_t pack);
/* Do the rows of D belong to B (Tensor0)? Asked of a problem, not of an exchanged one. */
bool indices_rows_of_b(const Indices *x);
/* Exchanges A and B, M and N, and what belongs to them. */
void indices_exchange(Indices *x);
/* NULL: of a GEMM, whose operands are never exchanged. */
static inline bool indices_are_exchanged(const Indices *x) { return x && x->exchanged; }
/* Is it a GEMM, batched or not, whose operands have one free, one summation and at most one batch index in
 * the order of BLAS, unit first strides and no padding? trans: of A and B; NULL: not asked for. */
bool indices_are_gemm(const Indices *x, bool trans[2]);
/* Does operand t (0 A, 1 B) list a free index, or one of the batch that is packed with those, before the
 * unrolled summation index (Tensile's TLUA, TLUB)? With outputs_first also where the two share a zero pad:
 * the summation index is then a tap of a filter, and there are far more outputs side by side than taps. */
bool indices_tile_first(const Indices *x, int t);
/* Are neighbours along a group of the tensor's indices neighbours in memory, as far as its fastest index
 * goes, where the tensor's first stride is 1? Not mirrored ones, nor such that a zero pad may separate. */
bool indices_run(const Indices *x, int tensor, IndexGroup group);
/* Does the tensor have the index? */
bool indices_has(const Indices *x, int tensor, int32_t index);

/* One contraction. Strides in elements; stride[tensor][i] is that of the tensor's index i. */
typedef struct {
    Indices indices;
    int64_t size[INDEX_MAX];
    int64_t stride[INDICES_TENSORS][INDEX_MAX];
    int64_t pad_start[2][TUPLE_MAX], pad_end[2][TUPLE_MAX];
} IndexSizes;

/* Those of a size of a problem type. */
Err index_sizes_of(const ProblemType *pt, const ProblemSize *s, IndexSizes *out);
/* Product of the sizes of a group; -1 above 2^62. */
int64_t index_group_size(const IndexSizes *x, IndexGroup group);
/* Elements in front of digit `at` of the group in a tensor: the sum of its indices' digits times their
 * strides. */
int64_t index_group_offset(const IndexSizes *x, IndexGroup group, int tensor, int64_t at);
/* The stride of an index in a tensor; 0 in tensors that do not have it. */
int64_t index_stride(const IndexSizes *x, unsigned tensor, int32_t index);
/* The part of zero pad `pad` of A (0) or B (1) that digit `at` of a group has of x above. */
int64_t index_pad_position(const IndexSizes *x, int operand, int pad, IndexGroup group, int64_t at);
/* The first x that is beyond the padding's end. */
int64_t index_pad_edge(const IndexSizes *x, int operand, int pad);

#endif
