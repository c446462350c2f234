/* Parameters of gridwise GEMM kernels for convolutions: the few that are tuned, those that follow from them,
 * and MIOpen's perf_config strings.
 *
 * Two families. Vector kernels tune the block's tile and each thread's part of it; threads form clusters
 * of LEVEL0 x LEVEL1 along M and N, and each thread has 2 x 2 parts (the pipeline):
 *   PER_THREAD * LEVEL0_CLUSTER * LEVEL1_CLUSTER * 2 = PER_BLOCK, along M and along N
 *   BLOCK_SIZE = product of the four clusters
 * Matrix kernels (XDLOPS) tune the tile of each wave instead:
 *   BLOCK_SIZE = (M_PER_BLOCK / M_PER_WAVE) * (N_PER_BLOCK / N_PER_WAVE) * 64
 * Both copy A and B with all threads: CLUSTER_K * CLUSTER_M (or N) = BLOCK_SIZE. A thread's part of the copy
 * begins with what it reads at once, along the dimension that is contiguous in memory:
 *   DATA_PER_READ = gcd(largest vector, PER_BLOCK, elements of the thread's copy, contiguous elements)
 * Where that is 1, threads lie along M (or N) first, and a thread's elements along K.
 * Names and ranges are those of MIOpen's CK_PARAM_TUNABLE_* and of its performance configs.
 */
#ifndef SPACE_GRIDWISE_H
#define SPACE_GRIDWISE_H

#include "problem/conv_desc.h"

typedef struct {
    bool matrix;        /* XDLOPS */
    int64_t block_size; /* of vector kernels' perf_config; 0: not given */
    int64_t m_per_block, n_per_block, k_per_block;
    int64_t m_per_part, n_per_part; /* PER_THREAD_SUB_C; matrix: PER_WAVE */
    int64_t k_pack;                 /* matrix: elements of K that lie together in local memory; else 1 */
    int64_t a_more_k, b_more_k_pack, b_read; /* matrix: kept for perf_config; b_read 0: not given */
} GridwiseTuning;

/* The matrix product, and how many elements of each operand are contiguous in memory along each of its two
 * sides (1: no two are). */
typedef struct {
    int64_t m, n, k, groups;
    int32_t bytes;                     /* of an element of A and B */
    int64_t run_a[2], run_b[2], run_d; /* along K, along M or N; of D along N */
} GridwiseProblem;

enum { SIDE_K, SIDE_FREE };

typedef struct {
    int64_t cluster[2];  /* threads along K, along M or N */
    int64_t read, write; /* elements at once, from memory and to local memory */
    int read_side;       /* SIDE_K or SIDE_FREE */
} GridwiseCopy;

typedef struct {
    int64_t block_size;
    int64_t level0[2], level1[2]; /* vector: clusters along M, N */
    int64_t waves[2];             /* matrix: along M, N */
    GridwiseCopy a, b;
    int64_t d_write;                      /* elements of D that a thread writes at once */
    int64_t padded_m, padded_n, padded_k; /* the product in whole blocks */
    int64_t grid;                         /* blocks, of all groups */
    int64_t local_bytes;                  /* two stages of A and B */
} GridwiseDerived;

/* Product i of a convolution, which is not empty. */
void gridwise_of_conv(const ConvDesc *c, int64_t i, GridwiseProblem *out);
/* A product without a convolution: every run of contiguous elements is 1, because nothing is known of it. */
void gridwise_of_gemm(int64_t m, int64_t n, int64_t k, int32_t bytes, GridwiseProblem *out);

/* False: the tuning is not possible for the problem; *why then has the reason with the numbers. */
bool gridwise_derive(const GridwiseTuning *t, const GridwiseProblem *p, GridwiseDerived *out, Buf *why);

/* "64,32,32,4,2,2" or "128,128,8,64,64,4,1,1[,1]". ERR_INPUT: another number of values, or a value that is no
 * number. Ranges are checked by gridwise_derive. */
Err gridwise_perf_read(Str text, GridwiseTuning *out);
void gridwise_perf_print(const GridwiseTuning *t, Buf *out);

/* The quick list: 21 tunings of vector kernels, and matrix kernels', in the order in which they are tried.
 * NULL after the last. */
const GridwiseTuning *gridwise_quick(bool matrix, size_t i);
/* Work of whole blocks beyond that of the product, as a share of it. */
double gridwise_padding(const GridwiseProblem *p, const GridwiseDerived *d);
/* The first of the quick list that is possible, among those with the least padding; NULL: none. */
const GridwiseTuning *gridwise_first(bool matrix, const GridwiseProblem *p, GridwiseDerived *out);

/* One line for each parameter: CK_PARAM_TUNABLE_GEMM_M_PER_BLOCK: 128. */
void gridwise_params_print(const GridwiseTuning *t, const GridwiseDerived *d, Buf *out);
/* The same as solution parameters of a config: WorkGroup, ThreadTile or MatrixInstruction, DepthU. t: type of
 * A and B. */
void gridwise_config_print(const GridwiseTuning *t, const GridwiseDerived *d, DataType type, Buf *out);

#endif
