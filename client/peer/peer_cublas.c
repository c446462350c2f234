/* cuBLAS as a peer. See peer.h.
 *
 * Algorithms: cublasGemmEx (or its strided batched form) with its default algorithm, and the first algorithms
 * of cublasLt's heuristic list with a workspace of 64 MiB. cublasGemmEx works in place, so it is used only
 * where C is not read or is D. Math modes are the defaults: f32 is true f32 (CUBLAS_COMPUTE_32F),
 * TF32 only where the problem asks for xf32. Numbers are those of cublas_api.h, cublasLt.h and
 * library_types.h of CUDA 12 and 13; the library is found by the dynamic linker.
 *
 * 8-bit floats are multiplied by cublasLt alone, with A transposed and B not. Their scales are 1, which is
 * cublasLt's default for scale pointers that are not set. Fast accumulation stays off, its default: partial
 * sums are promoted to f32 regularly, as in the kernels that the peer is compared with. */
#include <stdio.h>
#include <string.h>

#include "client/worker/number.h"
#include "client/peer/peer.h"

enum { LT_ALGOS = 8, WORKSPACE = 64 << 20 };
enum { LT_TRANS_A = 3, LT_TRANS_B = 4 };           /* cublasLtMatmulDescAttributes_t */
enum { LT_BATCH_COUNT = 5, LT_BATCH_OFFSET = 6 };  /* cublasLtMatrixLayoutAttribute_t */
enum { LT_MAX_WORKSPACE = 1, LT_MIN_ALIGN_A = 5 }; /* cublasLtMatmulPreferenceAttributes_t; B C D follow */
enum { GEMM_DEFAULT = -1 };
enum { R_16BF = 14, R_8F_E4M3 = 28, R_8F_E5M2 = 29 }; /* cudaDataType_t */

typedef struct {
    uint64_t data[8];
} LtAlgo;
typedef struct {
    LtAlgo algo;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
} LtResult;

typedef struct {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_workspace)(void *handle, void *workspace, size_t bytes);
    int (*version)(void *handle, int *version);
    int (*gemm)(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
                int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,
                int c_type, int ldc, int compute, int algo);
    int (*gemm_batched)(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
                        const void *a, int a_type, int lda, long long stride_a, const void *b, int b_type,
                        int ldb, long long stride_b, const void *beta, void *c, int c_type, int ldc,
                        long long stride_c, int batch, int compute, int algo);
} Blas;

typedef struct {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*desc_create)(void **desc, int compute, int scale_type);
    int (*desc_destroy)(void *desc);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t bytes);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
    int (*layout_destroy)(void *layout);
    int (*layout_set)(void *layout, int attribute, const void *value, size_t bytes);
    int (*pref_create)(void **pref);
    int (*pref_destroy)(void *pref);
    int (*pref_set)(void *pref, int attribute, const void *value, size_t bytes);
    int (*heuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref, int wanted,
                     LtResult *result, int *n);
    int (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                  void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                  const LtAlgo *algo, void *workspace, size_t workspace_bytes, void *stream);
} Lt;

typedef struct {
    Peer base;
    PeerLibrary blas_library, lt_library;
    Blas blas;
    Lt lt;
    void *handle, *lt_handle;
    DeviceMem workspace;
    bool in_place; /* algorithm 0 is cublasGemmEx */
    bool c_like_d; /* C is not read: its layout is D's, and its address is D's, or NULL if its type differs */
    int types[TENSOR_COUNT], compute, op_a, op_b;
    void *desc, *layout[TENSOR_COUNT];
    LtResult result[LT_ALGOS];
    int n_results;
    _Alignas(16) unsigned char alpha[16], beta[16];
} Cublas;

/* ---- loading ---- */

static const PeerSymbol blas_symbols[] = {
    {"cublasCreate_v2", offsetof(Blas, create)},
    {"cublasDestroy_v2", offsetof(Blas, destroy)},
    {"cublasSetStream_v2", offsetof(Blas, set_stream)},
    {"cublasSetWorkspace_v2", offsetof(Blas, set_workspace)},
    {"cublasGetVersion_v2", offsetof(Blas, version)},
    {"cublasGemmEx", offsetof(Blas, gemm)},
    {"cublasGemmStridedBatchedEx", offsetof(Blas, gemm_batched)},
};

static const PeerSymbol lt_symbols[] = {
    {"cublasLtCreate", offsetof(Lt, create)},
    {"cublasLtDestroy", offsetof(Lt, destroy)},
    {"cublasLtMatmulDescCreate", offsetof(Lt, desc_create)},
    {"cublasLtMatmulDescDestroy", offsetof(Lt, desc_destroy)},
    {"cublasLtMatmulDescSetAttribute", offsetof(Lt, desc_set)},
    {"cublasLtMatrixLayoutCreate", offsetof(Lt, layout_create)},
    {"cublasLtMatrixLayoutDestroy", offsetof(Lt, layout_destroy)},
    {"cublasLtMatrixLayoutSetAttribute", offsetof(Lt, layout_set)},
    {"cublasLtMatmulPreferenceCreate", offsetof(Lt, pref_create)},
    {"cublasLtMatmulPreferenceDestroy", offsetof(Lt, pref_destroy)},
    {"cublasLtMatmulPreferenceSetAttribute", offsetof(Lt, pref_set)},
    {"cublasLtMatmulAlgoGetHeuristic", offsetof(Lt, heuristic)},
    {"cublasLtMatmul", offsetof(Lt, matmul)},
};

/* The dynamic linker's path comes first, then the folder of CUDA's packages. */
static const char *const blas_files[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                                         "/usr/local/cuda/lib64/libcublas.so"};
static const char *const lt_files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                       "/usr/local/cuda/lib64/libcublasLt.so"};

static Err status(int code, const char *doing)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {{1, "not initialized"}, {3, "allocation failed"}, {7, "invalid value"},
                 {8, "arch mismatch"},   {11, "mapping error"},    {13, "execution failed"},
                 {14, "internal error"}, {15, "not supported"},    {16, "license error"}};
    if (code == 0) return 0;
    const char *name = "unknown status";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) name = names[i].name;
    FAIL(ERR_FAILED, "%s: %s (%d)", doing, name, code);
}

static void problem_end(Cublas *c)
{
    if (c->desc) c->lt.desc_destroy(c->desc);
    c->desc = NULL;
    for (int i = 0; i < TENSOR_COUNT; i++) {
        if (c->layout[i]) c->lt.layout_destroy(c->layout[i]);
        c->layout[i] = NULL;
    }
    c->n_results = 0;
}

static void cublas_close(Peer *p)
{
    Cublas *c = (Cublas *)p;
    problem_end(c);
    if (c->lt_handle) c->lt.destroy(c->lt_handle);
    if (c->handle) c->blas.destroy(c->handle);
    c->base.device->api->free(c->base.device, &c->workspace);
    peer_library_close(&c->lt_library);
    peer_library_close(&c->blas_library);
}

static Err cublas_open(Peer *p, int n_threads)
{
    Cublas *c = (Cublas *)p;
    Device *d = p->device;
    int version = 0;
    (void)n_threads;
    TRY(peer_library_open(p, lt_files, sizeof lt_files / sizeof *lt_files, 0, &c->lt_library));
    TRY(peer_symbols(p, &c->lt_library, lt_symbols, sizeof lt_symbols / sizeof *lt_symbols, &c->lt));
    TRY(peer_library_open(p, blas_files, sizeof blas_files / sizeof *blas_files, 0, &c->blas_library));
    TRY(peer_symbols(p, &c->blas_library, blas_symbols, sizeof blas_symbols / sizeof *blas_symbols,
                     &c->blas));
    TRY(status(c->blas.create(&c->handle), "cublasCreate"));
    TRY(status(c->lt.create(&c->lt_handle), "cublasLtCreate"));
    TRY(status(c->blas.set_stream(c->handle, d->api->stream(d)), "cublasSetStream"));
    TRY(d->api->alloc(d, WORKSPACE, DEVICE_GUARD_NONE, &c->workspace));
    TRY(status(c->blas.set_workspace(c->handle, (void *)(uintptr_t)c->workspace.address, WORKSPACE),
               "cublasSetWorkspace"));
    TRY(status(c->blas.version(c->handle, &version), "cublasGetVersion"));
    snprintf(c->base.version, sizeof c->base.version, "cublas %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    return 0;
}

/* ---- a problem ---- */

/* cudaDataType_t; -1: none. */
static int data_type(DataType t)
{
    switch (t) {
    case TYPE_S:
    case TYPE_X:
        return 0;
    case TYPE_D:
        return 1;
    case TYPE_H:
        return 2;
    case TYPE_I8:
        return 3;
    case TYPE_C:
        return 4;
    case TYPE_Z:
        return 5;
    case TYPE_I:
        return 10;
    case TYPE_B:
        return 14;
    case TYPE_F8_OCP:
        return R_8F_E4M3;
    case TYPE_B8_OCP:
        return R_8F_E5M2;
    default:
        return -1;
    }
}

static bool is_float8(DataType t) { return t == TYPE_F8_OCP || t == TYPE_B8_OCP; }

/* cublasComputeType_t; -1: none. */
static int compute_type(const Problem *p)
{
    switch ((DataType)p->shape.compute_type) {
    case TYPE_H:
        return 64;
    case TYPE_S:
    case TYPE_C:
        return p->shape.f32_xdl == TYPE_X ? 77 : 68;
    case TYPE_D:
    case TYPE_Z:
        return 70;
    case TYPE_I:
        return 72;
    default:
        return -1;
    }
}

static Err operations(Cublas *c, const Problem *p)
{
    const Matrix *m[2] = {&p->gemm.a, &p->gemm.b};
    const bool trans[2] = {p->shape.trans_a, p->shape.trans_b};
    int op[2];
    for (int i = 0; i < 2; i++) {
        if (m[i]->conj && !trans[i])
            FAIL(ERR_INPUT, "peer cublas has no conjugate without transpose (%c)", "AB"[i]);
        op[i] = m[i]->conj ? 2 : trans[i] ? 1 : 0;
    }
    c->op_a = op[0];
    c->op_b = op[1];
    return 0;
}

/* Refuses 8-bit floats where the documentation of cublasLtMatmul does; its heuristics know the rest (M and K
 * must be multiples of 16). */
static Err float8_check(const Problem *p)
{
    const DataType a = p->tensor[TENSOR_A].type, b = p->tensor[TENSOR_B].type;
    if (a == TYPE_B8_OCP && b == TYPE_B8_OCP)
        FAIL(ERR_INPUT, "peer cublas: cublasLt does not multiply e5m2 by e5m2");
    if (!p->shape.trans_a || p->shape.trans_b)
        FAIL(ERR_INPUT,
             "peer cublas: cublasLt multiplies 8-bit floats only with A transposed and B not (TN), not %c%c",
             p->shape.trans_a ? 'T' : 'N', p->shape.trans_b ? 'T' : 'N');
    if (is_float8(p->tensor[TENSOR_D].type) && p->shape.beta != SCALAR_ZERO)
        FAIL(ERR_INPUT, "peer cublas: cublasLt adds no C of 8-bit floats (beta is not 0)");
    return 0;
}

static Err layouts(Cublas *c, const Problem *p)
{
    for (int i = 0; i < TENSOR_COUNT; i++) {
        const Tensor *t = &p->tensor[i == TENSOR_C && c->c_like_d ? TENSOR_D : i];
        int32_t batch = (int32_t)t->size[2];
        TRY(status(c->lt.layout_create(&c->layout[i], c->types[i], (uint64_t)t->size[0], (uint64_t)t->size[1],
                                       t->stride[1]),
                   "cublasLtMatrixLayoutCreate"));
        if (batch == 1) continue;
        TRY(status(c->lt.layout_set(c->layout[i], LT_BATCH_COUNT, &batch, sizeof batch),
                   "cublasLtMatrixLayoutSetAttribute"));
        TRY(status(c->lt.layout_set(c->layout[i], LT_BATCH_OFFSET, &t->stride[2], sizeof t->stride[2]),
                   "cublasLtMatrixLayoutSetAttribute"));
    }
    return 0;
}

static uint32_t alignment(const Problem *p, int tensor)
{
    uint64_t bytes = (uint64_t)p->offset[tensor] * (uint64_t)type_bytes(p->tensor[tensor].type);
    uint32_t a = 256;
    while (bytes % a) a /= 2;
    return a;
}

/* An empty list is no error: cublasGemmEx may support the problem. */
static Err heuristics(Cublas *c, const Problem *p)
{
    void *pref = NULL;
    uint64_t most = WORKSPACE;
    TRY(status(c->lt.pref_create(&pref), "cublasLtMatmulPreferenceCreate"));
    int code = c->lt.pref_set(pref, LT_MAX_WORKSPACE, &most, sizeof most);
    for (int i = 0; i < TENSOR_COUNT && !code; i++) {
        uint32_t align = alignment(p, i == TENSOR_C && c->c_like_d ? TENSOR_D : i);
        code = c->lt.pref_set(pref, LT_MIN_ALIGN_A + i, &align, sizeof align);
    }
    int n = 0;
    if (!code && c->lt.heuristic(c->lt_handle, c->desc, c->layout[TENSOR_A], c->layout[TENSOR_B],
                                 c->layout[TENSOR_C], c->layout[TENSOR_D], pref, LT_ALGOS, c->result, &n))
        n = 0;
    for (int i = 0; i < n && i < LT_ALGOS; i++)
        if (c->result[i].state == 0) c->result[c->n_results++] = c->result[i];
    c->lt.pref_destroy(pref);
    return status(code, "cublasLtMatmulPreferenceSetAttribute");
}

/* Types, scalars and which functions can be used. */
static Err types_of(Cublas *c, const Problem *p)
{
    DataType scale = (DataType)p->shape.compute_type;
    for (int i = 0; i < TENSOR_COUNT; i++) {
        c->types[i] = data_type(p->tensor[i].type);
        if (c->types[i] < 0)
            FAIL(ERR_INPUT, "peer cublas: no type for '%s'", type_enum_name(p->tensor[i].type));
        if (p->tensor[i].stride[1] > INT32_MAX) FAIL(ERR_INPUT, "peer cublas: leading dimension beyond 2^31");
    }
    c->compute = compute_type(p);
    if (c->compute < 0 || data_type(scale) < 0)
        FAIL(ERR_INPUT, "peer cublas: no compute type for '%s'", type_enum_name(scale));
    bool float8 = is_float8(p->tensor[TENSOR_A].type) || is_float8(p->tensor[TENSOR_B].type);
    if (float8) TRY(float8_check(p));
    TRY(operations(c, p));
    number_store(scale, c->alpha, 0, p->gemm.alpha[0], p->gemm.alpha[1]);
    number_store(scale, c->beta, 0, p->gemm.beta[0], p->gemm.beta[1]);
    c->c_like_d = p->shape.beta == SCALAR_ZERO;
    c->in_place = !float8 && (c->c_like_d || p->shape.c_equals_d);
    if (c->c_like_d) c->types[TENSOR_C] = is_float8(p->tensor[TENSOR_D].type) ? R_16BF : c->types[TENSOR_D];
    return 0;
}

static Err cublas_problem(Peer *peer, const Problem *p, int *n_algos)
{
    Cublas *c = (Cublas *)peer;
    problem_end(c);
    TRY(types_of(c, p));
    TRY(status(c->lt.desc_create(&c->desc, c->compute, data_type((DataType)p->shape.compute_type)),
               "cublasLtMatmulDescCreate"));
    TRY(status(c->lt.desc_set(c->desc, LT_TRANS_A, &c->op_a, sizeof c->op_a),
               "cublasLtMatmulDescSetAttribute"));
    TRY(status(c->lt.desc_set(c->desc, LT_TRANS_B, &c->op_b, sizeof c->op_b),
               "cublasLtMatmulDescSetAttribute"));
    TRY(layouts(c, p));
    TRY(heuristics(c, p));
    *n_algos = c->n_results + c->in_place;
    if (*n_algos == 0) FAIL(ERR_INPUT, "peer cublas: its heuristics have nothing for this problem");
    return 0;
}

static void *data_of(const Problem *p, const TensorSet *s, int tensor)
{
    uint64_t at = (uint64_t)p->offset[tensor] * (uint64_t)type_bytes(p->tensor[tensor].type);
    return (void *)(uintptr_t)(set_address(s, tensor) + at);
}

static int gemm_ex(Cublas *c, const Problem *p, const TensorSet *s)
{
    const Tensor *t = p->tensor;
    const int *y = c->types;
    int m = (int)p->shape.m, n = (int)p->shape.n, k = (int)p->gemm.k, batch = (int)p->shape.batch;
    const void *a = data_of(p, s, TENSOR_A), *b = data_of(p, s, TENSOR_B);
    void *d = data_of(p, s, TENSOR_D);
    int lda = (int)t[TENSOR_A].stride[1], ldb = (int)t[TENSOR_B].stride[1], ldd = (int)t[TENSOR_D].stride[1];
    if (batch == 1)
        return c->blas.gemm(c->handle, c->op_a, c->op_b, m, n, k, c->alpha, a, y[TENSOR_A], lda, b,
                            y[TENSOR_B], ldb, c->beta, d, y[TENSOR_D], ldd, c->compute, GEMM_DEFAULT);
    return c->blas.gemm_batched(c->handle, c->op_a, c->op_b, m, n, k, c->alpha, a, y[TENSOR_A], lda,
                                t[TENSOR_A].stride[2], b, y[TENSOR_B], ldb, t[TENSOR_B].stride[2], c->beta, d,
                                y[TENSOR_D], ldd, t[TENSOR_D].stride[2], batch, c->compute, GEMM_DEFAULT);
}

static Err cublas_launch(Peer *peer, const Problem *p, const TensorSet *s, int algo)
{
    Cublas *c = (Cublas *)peer;
    if (c->in_place && algo == 0) return status(gemm_ex(c, p, s), "cublasGemmEx");
    const LtResult *r = &c->result[algo - c->in_place];
    void *d = data_of(p, s, TENSOR_D);
    const void *from = !c->c_like_d                               ? data_of(p, s, TENSOR_C)
                       : c->types[TENSOR_C] == c->types[TENSOR_D] ? d
                                                                  : NULL;
    return status(c->lt.matmul(c->lt_handle, c->desc, c->alpha, data_of(p, s, TENSOR_A), c->layout[TENSOR_A],
                               data_of(p, s, TENSOR_B), c->layout[TENSOR_B], c->beta, from,
                               c->layout[TENSOR_C], d, c->layout[TENSOR_D], &r->algo,
                               (void *)(uintptr_t)c->workspace.address, WORKSPACE,
                               peer->device->api->stream(peer->device)),
                  "cublasLtMatmul");
}

static void cublas_algo_name(const Peer *peer, int algo, Buf *out)
{
    const Cublas *c = (const Cublas *)peer;
    if (c->in_place && algo == 0)
        buf_puts(out, "gemmEx");
    else
        buf_printf(out, "lt%d", algo - c->in_place);
}

const PeerApi peer_cublas = {
    .name = "cublas",
    .device = "cuda",
    .bytes = sizeof(Cublas),
    .open = cublas_open,
    .close = cublas_close,
    .problem = cublas_problem,
    .launch = cublas_launch,
    .algo_name = cublas_algo_name,
};
