/* libtuner: the typed calls, in terms of tuner_gemm. */
#include "client/runtime/tuner.h"

tuner_status tuner_sgemm_strided_batched(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m,
                                         int64_t n, int64_t k, const float *alpha, const float *a,
                                         int64_t lda, int64_t stride_a, const float *b, int64_t ldb,
                                         int64_t stride_b, const float *beta, float *c, int64_t ldc,
                                         int64_t stride_c, int64_t batch)
{
    tuner_gemm_desc g = {.trans_a = trans_a,
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
                         .stride_a = stride_a,
                         .stride_b = stride_b,
                         .stride_c = stride_c,
                         .batch = batch};
    return batch == 0 && lib ? TUNER_OK : tuner_gemm(lib, &g); /* types are 0: TUNER_F32 */
}

tuner_status tuner_sgemm(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m, int64_t n,
                         int64_t k, const float *alpha, const float *a, int64_t lda, const float *b,
                         int64_t ldb, const float *beta, float *c, int64_t ldc)
{
    return tuner_sgemm_strided_batched(lib, trans_a, trans_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c,
                                       ldc, 0, 1);
}

tuner_status tuner_dgemm(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m, int64_t n,
                         int64_t k, const double *alpha, const double *a, int64_t lda, const double *b,
                         int64_t ldb, const double *beta, double *c, int64_t ldc)
{
    const tuner_type d = TUNER_F64;
    tuner_gemm_desc g = {.trans_a = trans_a,
                         .trans_b = trans_b,
                         .a_type = d,
                         .b_type = d,
                         .c_type = d,
                         .d_type = d,
                         .compute_type = d,
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
    return tuner_gemm(lib, &g);
}
