/* A fake cuBLAS and cublasLt for tests, of the functions that the peer calls: checks and logs every call, and
 * lets the fake CUDA driver play the GEMM as a launch on the stream. Types are those of supported[]. 8-bit
 * floats are multiplied as the real one does: by cublasLt alone, A transposed and B not, M and K multiples of
 * 16. The list of the heuristics has three algorithms: the second is not supported at cublasLtMatmul, the
 * others take two and three launches where cublasGemmEx takes one. TUNER_FAKE: blas_wrong=1: one element of
 * its results is wrong. */
#include "test/fake/fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { N_ALGOS = 3, COMPUTE_32F = 68, COMPUTE_TF32 = 77, COMPUTE_64F = 70, COMPUTE_32I = 72 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, E4M3 = 28, E5M2 = 29 };

typedef struct {
    int a, b, c, d, compute, scale;
    const char *name; /* of such kernels of the fake driver */
} Types;

static const Types supported[] = {
    {R_32F, R_32F, R_32F, R_32F, COMPUTE_32F, R_32F, "SB"},
    {R_32F, R_32F, R_32F, R_32F, COMPUTE_TF32, R_32F, "SB"},
    {R_64F, R_64F, R_64F, R_64F, COMPUTE_64F, R_64F, "DB"},
    {R_8I, R_8I, R_32I, R_32I, COMPUTE_32I, R_32I, "I8II_BH"},
    {E4M3, E4M3, R_32F, R_32F, COMPUTE_32F, R_32F, "F8SS_BH"},
    {E4M3, E4M3, R_16F, R_16F, COMPUTE_32F, R_32F, "F8HS_BH"},
    {E4M3, E4M3, R_16BF, E4M3, COMPUTE_32F, R_32F, "F8F8S_BH"},
    {E4M3, E5M2, R_32F, R_32F, COMPUTE_32F, R_32F, "F8B8SS_BH"},
    {E5M2, E4M3, R_32F, R_32F, COMPUTE_32F, R_32F, "B8F8SS_BH"},
};

typedef int LaunchFn(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                     unsigned lds, void *stream, void **params, void **extra);

typedef struct {
    void *stream;
    void *workspace;
    size_t workspace_bytes;
} Handle;

typedef struct {
    int compute, scale, op[2];
} Desc;

typedef struct {
    int type, batch;
    uint64_t rows, cols;
    int64_t ld, stride;
} Layout;

typedef struct {
    uint64_t data[8];
} Algo;

typedef struct {
    Algo algo;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
} Result;

typedef struct {
    uint64_t d, c, a, b;
    const void *alpha, *beta;
    uint32_t word[14]; /* strides of D C A B, sizes, tiles */
    const Types *types;
    int op[2];
    void *stream;
} Gemm;

static void *driver(const char *name)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *at = library ? dlsym(library, name) : NULL;
    if (!at) abort();
    return at;
}

static size_t put(unsigned char *args, size_t at, const void *value, size_t bytes)
{
    memcpy(args + at, value, bytes);
    return at + bytes;
}

/* The kernel; its name contains what it computes. */
static void *kernel_of(const Gemm *g, const char *name)
{
    int (*load)(void **, const void *), (*get)(void **, void *, const char *);
    char image[200];
    void *module = NULL, *function = NULL, *at = driver("cuModuleLoadData");
    memcpy(&load, &at, sizeof load);
    at = driver("cuModuleGetFunction");
    memcpy(&get, &at, sizeof get);
    snprintf(image, sizeof image, "FAKE sm_90\n%s %d 0\n", name, g->types->scale == R_64F ? 104 : 96);
    return load(&module, image) || get(&function, module, name) ? NULL : function;
}

static int play(const Gemm *g)
{
    LaunchFn *launch;
    void *at = driver("cuLaunchKernel");
    memcpy(&launch, &at, sizeof launch);
    char name[64];
    snprintf(name, sizeof name, "Cijk_A%s_B%s_%s_%s", g->op[0] ? "lik" : "ilk", g->op[1] ? "jlk" : "ljk",
             g->types->name, fake_number("blas_wrong", 0) ? "blas_wrong" : "blas");
    void *function = kernel_of(g, name);
    unsigned char args[128];
    size_t n = put(args, 0, &g->d, 4 * sizeof g->d), scalar_bytes = g->types->scale == R_64F ? 8 : 4;
    n = put(args, n, g->alpha, scalar_bytes);
    n = put(args, n, g->beta, scalar_bytes);
    n = put(args, n, g->word, sizeof g->word);
    void *extra[] = {(void *)1, args, (void *)2, &n, NULL};
    if (!function || launch(function, (g->word[8] + 15) / 16, (g->word[9] + 15) / 16, g->word[10], 256, 1, 1,
                            0, g->stream, NULL, extra))
        return EXECUTION_FAILED;
    return SUCCESS;
}

/* ---- cuBLAS ---- */

API int cublasCreate_v2(Handle **handle);
API int cublasCreate_v2(Handle **handle)
{
    *handle = calloc(1, sizeof **handle);
    return *handle ? SUCCESS : 3;
}

API int cublasDestroy_v2(Handle *handle);
API int cublasDestroy_v2(Handle *handle)
{
    free(handle);
    return SUCCESS;
}

API int cublasSetStream_v2(Handle *handle, void *stream);
API int cublasSetStream_v2(Handle *handle, void *stream)
{
    handle->stream = stream;
    return stream ? SUCCESS : fake_wrong(INVALID, "cublasSetStream: no stream");
}

API int cublasSetWorkspace_v2(Handle *handle, void *workspace, size_t bytes);
API int cublasSetWorkspace_v2(Handle *handle, void *workspace, size_t bytes)
{
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return (uintptr_t)workspace % 256 == 0 ? SUCCESS : fake_wrong(INVALID, "cublasSetWorkspace: alignment");
}

API int cublasGetVersion_v2(Handle *handle, int *version);
API int cublasGetVersion_v2(Handle *handle, int *version)
{
    (void)handle;
    *version = 130203;
    return SUCCESS;
}

static bool is_float8(const Types *t) { return t->a == E4M3 || t->a == E5M2; }

/* The row of these types; NULL: they are not supported. scale -1: any. */
static const Types *types_find(const int type[4], int compute, int scale)
{
    for (size_t i = 0; i < sizeof supported / sizeof *supported; i++) {
        const Types *t = &supported[i];
        if (t->a == type[0] && t->b == type[1] && t->c == type[2] && t->d == type[3] &&
            t->compute == compute && (scale == -1 || t->scale == scale))
            return t;
    }
    return NULL;
}

API int cublasGemmStridedBatchedEx(Handle *h, int op_a, int op_b, int m, int n, int k, const void *alpha,
                                   const void *a, int a_type, int lda, long long sa, const void *b,
                                   int b_type, int ldb, long long sb, const void *beta, void *c, int c_type,
                                   int ldc, long long sc, int batch, int compute, int algo);
API int cublasGemmStridedBatchedEx(Handle *h, int op_a, int op_b, int m, int n, int k, const void *alpha,
                                   const void *a, int a_type, int lda, long long sa, const void *b,
                                   int b_type, int ldb, long long sb, const void *beta, void *c, int c_type,
                                   int ldc, long long sc, int batch, int compute, int algo)
{
    const int type[4] = {a_type, b_type, c_type, c_type};
    fake_log("gemmEx ops %d,%d %dx%dx%d batch %d types %d,%d,%d ld %d,%d,%d compute %d algo %d", op_a, op_b,
             m, n, k, batch, a_type, b_type, c_type, lda, ldb, ldc, compute, algo);
    if (lda < (op_a ? k : m) || ldb < (op_b ? n : k) || ldc < m)
        return fake_wrong(INVALID, "gemmEx: leading dimension");
    const Types *types = types_find(type, compute, -1);
    if (!types) return NOT_SUPPORTED;
    if (is_float8(types)) return fake_wrong(NOT_SUPPORTED, "gemmEx: 8-bit floats");
    return play(&(Gemm){.d = (uintptr_t)c,
                        .c = (uintptr_t)c,
                        .a = (uintptr_t)a,
                        .b = (uintptr_t)b,
                        .alpha = alpha,
                        .beta = beta,
                        .word = {(uint32_t)ldc, (uint32_t)sc, (uint32_t)ldc, (uint32_t)sc, (uint32_t)lda,
                                 (uint32_t)sa, (uint32_t)ldb, (uint32_t)sb, (uint32_t)m, (uint32_t)n,
                                 (uint32_t)batch, (uint32_t)k, 1, 1},
                        .types = types,
                        .op = {op_a, op_b},
                        .stream = h->stream});
}

API int cublasGemmEx(Handle *h, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
                     int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,
                     int c_type, int ldc, int compute, int algo);
API int cublasGemmEx(Handle *h, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
                     int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,
                     int c_type, int ldc, int compute, int algo)
{
    return cublasGemmStridedBatchedEx(h, op_a, op_b, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0,
                                      beta, c, c_type, ldc, 0, 1, compute, algo);
}

/* ---- cublasLt ---- */

API int cublasLtCreate(Handle **handle);
API int cublasLtCreate(Handle **handle) { return cublasCreate_v2(handle); }
API int cublasLtDestroy(Handle *handle);
API int cublasLtDestroy(Handle *handle) { return cublasDestroy_v2(handle); }

API int cublasLtMatmulDescCreate(Desc **desc, int compute, int scale);
API int cublasLtMatmulDescCreate(Desc **desc, int compute, int scale)
{
    *desc = calloc(1, sizeof **desc);
    if (!*desc) return 3;
    **desc = (Desc){.compute = compute, .scale = scale};
    return SUCCESS;
}

API int cublasLtMatmulDescDestroy(Desc *desc);
API int cublasLtMatmulDescDestroy(Desc *desc)
{
    free(desc);
    return SUCCESS;
}

API int cublasLtMatmulDescSetAttribute(Desc *desc, int attribute, const void *value, size_t bytes);
API int cublasLtMatmulDescSetAttribute(Desc *desc, int attribute, const void *value, size_t bytes)
{
    if (attribute < 3 || attribute > 4 || bytes != 4)
        return fake_wrong(INVALID, "cublasLtMatmulDescSetAttribute %d, %zu bytes", attribute, bytes);
    memcpy(&desc->op[attribute - 3], value, 4);
    return SUCCESS;
}

API int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
API int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
    if (ld < (int64_t)rows) return fake_wrong(INVALID, "cublasLtMatrixLayoutCreate: ld %lld", (long long)ld);
    *layout = calloc(1, sizeof **layout);
    if (!*layout) return 3;
    **layout = (Layout){.type = type, .batch = 1, .rows = rows, .cols = cols, .ld = ld};
    return SUCCESS;
}

API int cublasLtMatrixLayoutDestroy(Layout *layout);
API int cublasLtMatrixLayoutDestroy(Layout *layout)
{
    free(layout);
    return SUCCESS;
}

API int cublasLtMatrixLayoutSetAttribute(Layout *layout, int attribute, const void *value, size_t bytes);
API int cublasLtMatrixLayoutSetAttribute(Layout *layout, int attribute, const void *value, size_t bytes)
{
    if (attribute == 5 && bytes == 4)
        memcpy(&layout->batch, value, 4);
    else if (attribute == 6 && bytes == 8)
        memcpy(&layout->stride, value, 8);
    else
        return fake_wrong(INVALID, "cublasLtMatrixLayoutSetAttribute %d, %zu bytes", attribute, bytes);
    return SUCCESS;
}

API int cublasLtMatmulPreferenceCreate(void **pref);
API int cublasLtMatmulPreferenceCreate(void **pref)
{
    *pref = malloc(1);
    return *pref ? SUCCESS : 3;
}

API int cublasLtMatmulPreferenceDestroy(void *pref);
API int cublasLtMatmulPreferenceDestroy(void *pref)
{
    free(pref);
    return SUCCESS;
}

API int cublasLtMatmulPreferenceSetAttribute(void *pref, int attribute, const void *value, size_t bytes);
API int cublasLtMatmulPreferenceSetAttribute(void *pref, int attribute, const void *value, size_t bytes)
{
    (void)pref;
    (void)value;
    bool good = (attribute == 1 && bytes == 8) || (attribute >= 5 && attribute <= 8 && bytes == 4);
    return good ? SUCCESS : fake_wrong(INVALID, "preference %d, %zu bytes", attribute, bytes);
}

static const Types *lt_types(const Desc *desc, const Layout *a, const Layout *b, const Layout *c,
                             const Layout *d)
{
    const int type[4] = {a->type, b->type, c->type, d->type};
    return types_find(type, desc->compute, desc->scale);
}

API int cublasLtMatmulAlgoGetHeuristic(Handle *h, Desc *desc, Layout *a, Layout *b, Layout *c, Layout *d,
                                       void *pref, int wanted, Result *result, int *n);
API int cublasLtMatmulAlgoGetHeuristic(Handle *h, Desc *desc, Layout *a, Layout *b, Layout *c, Layout *d,
                                       void *pref, int wanted, Result *result, int *n)
{
    (void)h;
    (void)pref;
    const Types *types = lt_types(desc, a, b, c, d);
    *n = 0;
    if (!types || (is_float8(types) && (a->rows % 16 || a->cols % 16))) return NOT_SUPPORTED;
    if (is_float8(types) && (!desc->op[0] || desc->op[1]))
        return fake_wrong(NOT_SUPPORTED, "heuristic: 8-bit floats with ops %d,%d", desc->op[0], desc->op[1]);
    for (; *n < wanted && *n < N_ALGOS; ++*n) result[*n] = (Result){.algo = {{(uint64_t)*n + 1}}};
    return SUCCESS;
}

API int cublasLtMatmul(Handle *h, Desc *desc, const void *alpha, const void *a, Layout *la, const void *b,
                       Layout *lb, const void *beta, const void *c, Layout *lc, void *d, Layout *ld,
                       const Algo *algo, void *workspace, size_t workspace_bytes, void *stream);
API int cublasLtMatmul(Handle *h, Desc *desc, const void *alpha, const void *a, Layout *la, const void *b,
                       Layout *lb, const void *beta, const void *c, Layout *lc, void *d, Layout *ld,
                       const Algo *algo, void *workspace, size_t workspace_bytes, void *stream)
{
    (void)h;
    const Types *types = lt_types(desc, la, lb, lc, ld);
    uint64_t k = desc->op[0] ? la->rows : la->cols, which = algo->data[0];
    fake_log("ltMatmul ops %d,%d %llux%llux%llu batch %d types %d,%d,%d,%d compute %d scale %d algo %llu",
             desc->op[0], desc->op[1], (unsigned long long)ld->rows, (unsigned long long)ld->cols,
             (unsigned long long)k, ld->batch, la->type, lb->type, lc->type, ld->type, desc->compute,
             desc->scale, (unsigned long long)which);
    if (!types) return fake_wrong(INVALID, "cublasLtMatmul: types");
    if (!c && lc->type == ld->type) return fake_wrong(INVALID, "cublasLtMatmul: no C");
    if (!workspace || workspace_bytes < 32 << 20) return fake_wrong(INVALID, "cublasLtMatmul: workspace");
    if (which == 2) return NOT_SUPPORTED;
    Gemm g = {.d = (uintptr_t)d,
              .c = (uintptr_t)c,
              .a = (uintptr_t)a,
              .b = (uintptr_t)b,
              .alpha = alpha,
              .beta = beta,
              .word = {(uint32_t)ld->ld, (uint32_t)ld->stride, (uint32_t)lc->ld, (uint32_t)lc->stride,
                       (uint32_t)la->ld, (uint32_t)la->stride, (uint32_t)lb->ld, (uint32_t)lb->stride,
                       (uint32_t)ld->rows, (uint32_t)ld->cols, (uint32_t)ld->batch, (uint32_t)k, 1, 1},
              .types = types,
              .op = {desc->op[0], desc->op[1]},
              .stream = stream};
    int rc = SUCCESS;
    for (uint64_t i = 0; i <= which && !rc; i++) rc = play(&g);
    return rc;
}
