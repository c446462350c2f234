/* libtuner: the typed calls, in terms of tuner_gemm. */
#include "client/runtime/tuner.h"

/* Types are 0: TUNER_F32. */
static tuner_gemm_desc gemm_of(tuner_op trans_a, tuner_op trans_b, int64_t m, int64_t n, int64_t k,
                               const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                               const void *beta, void *c, int64_t ldc)
{
    return (tuner_gemm_desc){.trans_a = trans_a,
                             .trans_b = trans_b,
                             .m = m,
                             .n = n,
                             .k = k,
                             .alpha = alpha,
                             .beta = beta,
                             .a = a,
                             .b = b,
                             .c = c,
                             .lda = lda,
                             .ldb = ldb,
                             .ldc = ldc,
                             .batch = 1};
}

tuner_status tuner_sgemm_strided_batched(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m,
                                         int64_t n, int64_t k, const float *alpha, const float *a,
                                         int64_t lda, int64_t stride_a, const float *b, int64_t ldb,
                                         int64_t stride_b, const float *beta, float *c, int64_t ldc,
                                         int64_t stride_c, int64_t batch)
{
    tuner_gemm_desc g = gemm_of(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    g.stride_a = stride_a, g.stride_b = stride_b, g.stride_c = stride_c;
    g.batch = batch;
    return batch == 0 && lib ? TUNER_OK : tuner_gemm(lib, &g);
}

tuner_status tuner_sgemm(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m, int64_t n,
                         int64_t k, const float *alpha, const float *a, int64_t lda, const float *b,
                         int64_t ldb, const float *beta, float *c, int64_t ldc)
{
    const tuner_gemm_desc g = gemm_of(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return tuner_gemm(lib, &g);
}

tuner_status tuner_dgemm(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m, int64_t n,
                         int64_t k, const double *alpha, const double *a, int64_t lda, const double *b,
                         int64_t ldb, const double *beta, double *c, int64_t ldc)
{
    tuner_gemm_desc g = gemm_of(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    g.a_type = g.b_type = g.c_type = g.d_type = g.compute_type = TUNER_F64;
    return tuner_gemm(lib, &g);
}
