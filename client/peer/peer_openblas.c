/* OpenBLAS as a peer of the host device: s, d, c and z, one matrix after another. See peer.h. OpenBLAS works
 * in place, so C is copied to D first where it is read. */
#include <stdio.h>
#include <string.h>

#include "client/peer/peer.h"

enum { COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };

typedef void SGemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                   const float *b, int ldb, float beta, float *c, int ldc);
typedef void DGemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                   const double *b, int ldb, double beta, double *c, int ldc);
typedef void ZGemm(int order, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int lda,
                   const void *b, int ldb, const void *beta, void *c, int ldc);

typedef struct {
    Peer base;
    PeerLibrary library;
    SGemm *sgemm;
    DGemm *dgemm;
    ZGemm *cgemm, *zgemm;
    void (*set_threads)(int n);
    char *(*config)(void);
    int op_a, op_b;
} OpenBlas;

static void openblas_close(Peer *p) { peer_library_close(&((OpenBlas *)p)->library); }

static Err openblas_open(Peer *p, int n_threads)
{
    static const char *const file = "libopenblas.so.0";
    static const PeerSymbol symbols[] = {{"cblas_sgemm", offsetof(OpenBlas, sgemm)},
                                         {"cblas_dgemm", offsetof(OpenBlas, dgemm)},
                                         {"cblas_cgemm", offsetof(OpenBlas, cgemm)},
                                         {"cblas_zgemm", offsetof(OpenBlas, zgemm)},
                                         {"openblas_set_num_threads", offsetof(OpenBlas, set_threads)},
                                         {"openblas_get_config", offsetof(OpenBlas, config)}};
    OpenBlas *o = (OpenBlas *)p;
    TRY(peer_library_open(p, &file, 1, 0, &o->library));
    TRY(peer_symbols(p, &o->library, symbols, sizeof symbols / sizeof *symbols, o));
    if (n_threads > 0) o->set_threads(n_threads);
    int version[3] = {0, 0, 0};
    sscanf(o->config(), "OpenBLAS %d.%d.%d", &version[0], &version[1], &version[2]);
    snprintf(o->base.version, sizeof o->base.version, "openblas %d.%d.%d", version[0], version[1],
             version[2]);
    return 0;
}

static Err openblas_problem(Peer *peer, const Problem *p, int *n_algos)
{
    OpenBlas *o = (OpenBlas *)peer;
    DataType t = p->tensor[TENSOR_D].type;
    for (int i = 0; i < TENSOR_COUNT; i++)
        if (p->tensor[i].type != t || (t != TYPE_S && t != TYPE_D && t != TYPE_C && t != TYPE_Z))
            FAIL(ERR_INPUT, "peer openblas has no gemm of type '%s'", type_enum_name(p->tensor[i].type));
    const Matrix *m[2] = {&p->gemm.a, &p->gemm.b};
    const bool trans[2] = {p->shape.trans_a, p->shape.trans_b};
    int *op[2] = {&o->op_a, &o->op_b};
    for (int i = 0; i < 2; i++) {
        if (m[i]->conj && !trans[i])
            FAIL(ERR_INPUT, "peer openblas has no conjugate without transpose (%c)", "AB"[i]);
        *op[i] = m[i]->conj ? CONJ_TRANS : trans[i] ? TRANS : NO_TRANS;
    }
    *n_algos = 1;
    return 0;
}

static void *data_of(const Problem *p, const TensorSet *s, int tensor, int64_t batch)
{
    const Tensor *t = &p->tensor[tensor];
    int64_t at = (p->offset[tensor] + batch * t->stride[2]) * type_bytes(t->type);
    return (void *)(uintptr_t)(set_address(s, tensor) + (uint64_t)at);
}

static void copy_c(const Problem *p, const TensorSet *s, int64_t batch)
{
    const Tensor *c = &p->tensor[TENSOR_C], *d = &p->tensor[TENSOR_D];
    int64_t bytes = type_bytes(d->type);
    const char *from = data_of(p, s, TENSOR_C, batch);
    char *to = data_of(p, s, TENSOR_D, batch);
    for (int64_t j = 0; j < d->size[1]; j++)
        memcpy(to + j * d->stride[1] * bytes, from + j * c->stride[1] * bytes, (size_t)(d->size[0] * bytes));
}

static Err openblas_launch(Peer *peer, const Problem *p, const TensorSet *s, int algo)
{
    OpenBlas *o = (OpenBlas *)peer;
    (void)algo;
    const Gemm *g = &p->gemm;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = (int)p->tensor[TENSOR_A].stride[1], ldb = (int)p->tensor[TENSOR_B].stride[1],
        ldd = (int)p->tensor[TENSOR_D].stride[1];
    float alpha[2] = {(float)g->alpha[0], (float)g->alpha[1]},
          beta[2] = {(float)g->beta[0], (float)g->beta[1]};
    for (int64_t b = 0; b < g->batch; b++) {
        if (p->shape.beta != SCALAR_ZERO && !p->shape.c_equals_d) copy_c(p, s, b);
        const void *x = data_of(p, s, TENSOR_A, b), *y = data_of(p, s, TENSOR_B, b);
        void *d = data_of(p, s, TENSOR_D, b);
        switch (p->tensor[TENSOR_D].type) {
        case TYPE_S:
            o->sgemm(COL_MAJOR, o->op_a, o->op_b, m, n, k, alpha[0], x, lda, y, ldb, beta[0], d, ldd);
            break;
        case TYPE_D:
            o->dgemm(COL_MAJOR, o->op_a, o->op_b, m, n, k, g->alpha[0], x, lda, y, ldb, g->beta[0], d, ldd);
            break;
        case TYPE_C:
            o->cgemm(COL_MAJOR, o->op_a, o->op_b, m, n, k, alpha, x, lda, y, ldb, beta, d, ldd);
            break;
        default:
            o->zgemm(COL_MAJOR, o->op_a, o->op_b, m, n, k, g->alpha, x, lda, y, ldb, g->beta, d, ldd);
        }
    }
    return 0;
}

static void openblas_algo_name(const Peer *peer, int algo, Buf *out)
{
    (void)peer;
    (void)algo;
    buf_puts(out, "gemm");
}

const PeerApi peer_openblas = {
    .name = "openblas",
    .device = "host",
    .package = "libopenblas0",
    .bytes = sizeof(OpenBlas),
    .open = openblas_open,
    .close = openblas_close,
    .problem = openblas_problem,
    .launch = openblas_launch,
    .algo_name = openblas_algo_name,
};
