/* libtuner: GEMM with kernels from a tuned library (TensileLibrary.dat and its code objects).
 *
 * A complete program: C (3 x 2) = A (3 x 4) * B (4 x 2).
 *
 *     #include <stdio.h>
 *     #include <tuner.h>
 *
 *     int main(int argc, char **argv)
 *     {
 *         float a[12], b[8], c[6], alpha = 1, beta = 0;
 *         tuner_library *lib;
 *         tuner_status status = tuner_open(&lib, argc > 1 ? argv[1] : NULL, NULL);
 *         for (int i = 0; i < 12; i++) a[i] = (float)i;
 *         for (int i = 0; i < 8; i++) b[i] = (float)(i % 3);
 *         if (!status) {
 *             status = tuner_sgemm(lib, TUNER_N, TUNER_N, 3, 2, 4, &alpha, a, 3, b, 4, &beta, c, 3);
 *             tuner_close(lib);
 *         }
 *         if (status) {
 *             fprintf(stderr, "%s\n", tuner_error_message());
 *             return status;
 *         }
 *         for (int i = 0; i < 3; i++) printf("%g %g\n", (double)c[i], (double)c[i + 3]);
 *         return 0;
 *     }
 *
 * cc example.c -ltuner; with libtuner.a: cc example.c $(pkg-config --static --cflags --libs tuner).
 *
 * Shapes, as in BLAS: everything is column-major; op(A) is m x k, op(B) is k x n, C and D are m x n; element
 * (i, j) of a matrix is at i + j * ld, so A has lda >= m rows when it is not transposed and >= k when it is.
 * All sizes, leading dimensions and strides count elements, not bytes, and are from 0 (leading dimensions:
 * from 1) below 2^32. m or n 0: nothing is done; k or alpha 0: D = beta * C and A, B are not looked
 * at; beta 0: C is not read, it may hold anything. Matrices need the alignment of their elements; 64 bytes is
 * fastest. Nothing may overlap but D and C, which may be the same.
 *
 * Ownership: the caller's memory stays the caller's and is used during the call only; calls return when D
 * is complete (on GPUs: see below). A tuner_library owns its files, threads and workspace (kept between
 * calls, grown on demand up to what the largest call needed, solutions of more than 4 GiB are not chosen)
 * until tuner_close. Library files stay mapped: replace one by renaming another over it. One that is
 * written to or cut in place makes calls fail (TUNER_FAILED) that need what was not read yet, and raises
 * SIGBUS where it is cut during the very reading. Names that are returned (kernel, path, architecture) live
 * as long as the library.
 *
 * A null pointer as the library is TUNER_INPUT (functions that return text or a number: "" and 0).
 *
 * Errors: every function that can fail returns a tuner_status, 0 when it worked; the text of the thread's
 * last error is in tuner_error_message(). Nothing aborts, exits or prints (but see TUNER_LAYER). After an
 * error D may be partly written only when a kernel had begun: TUNER_INPUT, TUNER_NO_SOLUTION and
 * TUNER_NO_DEVICE come before that (arrays of pointers, see below, apart).
 *
 * Threads: all functions may be called from any thread at the same time on the same library, except
 * tuner_close. Calls on one library share its threads, one after the other where they use several; small
 * ones run on the caller's. Code objects are shared libraries: open only libraries that you trust to run.
 * After fork a library works in the process that opened it alone: calls on it in the child are errors,
 * tuner_close does nothing there, and the child may open one of its own.
 *
 * GPUs: a library for one runs on it (tuner_options.device; chosen by itself when the path has nothing for
 * the CPU and a GPU is there that it is for). The driver library (libcuda.so.1, libamdhip64.so) is opened
 * when it is needed. a, b, c and d are then device pointers of that device, alpha and beta stay in host
 * memory, and arrays of batch pointers are in device memory. Calls queue their kernels on the library's
 * stream (tuner_set_stream; at first tuner_options.stream, NULL is the device's default stream) and return at
 * once: D is complete, and the inputs may change, when the stream has come that far (tuner_synchronize). Only
 * the first use of a kernel (its code object is loaded), a workspace that has to grow, and arrays of pointers
 * in a library that has no kernels for them, wait for the device. Calls on one stream are in order. An error
 * that the device finds later is returned by one of the next calls. The calling thread's CUDA context or HIP
 * device is as before after each call. Libraries for a GPU that is not there can be opened for selection
 * (tuner_options.arch); calls on them return TUNER_NO_DEVICE.
 *
 * Environment, read by tuner_open: TUNER_LIBPATH, ROCBLAS_TENSILE_LIBPATH (where the library is),
 * TUNER_DEVICE (as tuner_options.device), TUNER_NUM_THREADS (default: the processors that the process may
 * use), TENSILE_EXPERIMENTAL_SELECTION (1: solutions chosen over grids of sizes, 2: by decision trees,
 * where the library has such rows; anything else: neither), TUNER_LAYER (1 calls, 2 tuner-bench lines, 4
 * YAML profile at close; bits add up) and TUNER_LOG_PATH (file for them, appended; default stderr). Where
 * TUNER_LAYER is not set, rocBLAS's variables are read: ROCBLAS_LAYER, and ROCBLAS_LOG_TRACE_PATH,
 * ROCBLAS_LOG_BENCH_PATH and ROCBLAS_LOG_PROFILE_PATH, then ROCBLAS_LOG_PATH (files for each and for all
 * of them; appended too, where rocBLAS begins anew). A library that createlib made with --library-print-
 * debug prints a line per launch on stderr. */
#ifndef TUNER_H
#define TUNER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUNER_API __attribute__((visibility("default")))

typedef enum {
    TUNER_OK = 0,
    TUNER_FAILED = 1,      /* I/O, memory, a kernel that is missing in its code object */
    TUNER_INPUT = 2,       /* a wrong argument or a damaged library file */
    TUNER_NO_SOLUTION = 3, /* the library has nothing for this problem */
    TUNER_NO_DEVICE = 4    /* the library is for another device than this machine's */
} tuner_status;

typedef enum { TUNER_N, TUNER_T, TUNER_C } tuner_op;

/* Element types; Tensile's numbers. */
typedef enum {
    TUNER_F32 = 0,
    TUNER_F64 = 1,
    TUNER_C32 = 2, /* pairs of f32 */
    TUNER_C64 = 3,
    TUNER_F16 = 4,
    TUNER_I8X4 = 5,
    TUNER_I32 = 6,
    TUNER_BF16 = 7,
    TUNER_I8 = 8,
    TUNER_F8 = 10, /* 4 bits of exponent, as the device has them: gfx94x bias 8, NaN 0x80; others OCP's */
    TUNER_BF8 = 11 /* 5 bits of exponent; A and B may be one of each */
} tuner_type;

/* What a solution is chosen for, where a library has tables for both. */
typedef enum {
    TUNER_METRIC_AUTO = 0, /* compute units for small problems, the device for the others */
    TUNER_METRIC_CU = 1,   /* most work per compute unit that is used: other kernels run beside it */
    TUNER_METRIC_DEVICE = 2
} tuner_metric;

typedef struct tuner_library tuner_library;

/* Zero it, then set what you want. */
typedef struct {
    const char *arch;  /* select for this architecture ("gfx90a", "x86-64-v3"); NULL: this machine's */
    int64_t n_cu;      /* compute units of it; 0: the architecture's usual number */
    int n_threads;     /* 0: TUNER_NUM_THREADS, or all processors */
    int select_only;   /* no code objects are opened */
    int deterministic; /* no solution that adds in an order that may vary */
    const char
        *device;  /* "host", "cuda", "hip", "cuda:1"; NULL: TUNER_DEVICE, or what path has a library for */
    void *stream; /* GPUs: CUstream, cudaStream_t, hipStream_t; NULL: the default stream */
} tuner_options;

/* path: a directory as createlib writes it, its parent with one folder per architecture, or the library file
 * itself; OUTDIR of a run of `tuner` stands for its 4_LibraryClient/library. NULL: TUNER_LIBPATH, then
 * ROCBLAS_TENSILE_LIBPATH. In a directory, the first of <path>/<arch>/ and
 * <path>/ that has TensileLibrary_lazy_<arch>.dat, TensileLibrary_<arch>.dat or TensileLibrary.dat (or .yaml)
 * is taken. */
TUNER_API tuner_status tuner_open(tuner_library **lib, const char *path, const tuner_options *options);
/* Ends the library's threads and frees what it owns; no call on it may be under way. NULL is fine. */
TUNER_API void tuner_close(tuner_library *lib);

/* A file of a library that is compiled into the program: `tuner-createlib --embed-library NAME` writes a C
 * source that calls this for each of its files before main. Link that source, then open "embedded:NAME" (or
 * "embedded:NAME:KEY" for those of one --embed-library-key), as path or in TUNER_LIBPATH. The texts and the
 * data are not copied: they must stay for as long as the program runs. Returns a
 * tuner_status. */
TUNER_API int tuner_embedded_add(const char *name, const char *key, const char *file,
                                 const unsigned char *data, size_t n);

/* GPUs: the stream of all calls from now on, of any thread. It must be of the library's device. */
TUNER_API tuner_status tuner_set_stream(tuner_library *lib, void *stream);
/* Waits until everything on the library's stream is done, and tells of errors. On the CPU nothing is left to
 * do. */
TUNER_API tuner_status tuner_synchronize(tuner_library *lib);

/* "host", "cuda:0" or "hip:0": where calls run (host also where nothing can). */
TUNER_API const char *tuner_library_device(const tuner_library *lib);
/* The library file that was opened, and the architecture whose rows are used. */
TUNER_API const char *tuner_library_path(const tuner_library *lib);
TUNER_API const char *tuner_library_arch(const tuner_library *lib);
TUNER_API size_t tuner_library_solutions(const tuner_library *lib);
/* Text of the last error in this thread; "" when there was none. */
TUNER_API const char *tuner_error_message(void);
TUNER_API const char *tuner_version(void);

/* One GEMM or a batch of them: D = alpha * op(A) * op(B) + beta * C. Zero it, then fill it in. */
typedef struct {
    tuner_op trans_a, trans_b;
    tuner_type a_type, b_type, c_type, d_type, compute_type; /* of alpha, beta and the accumulation */
    int64_t m, n, k;
    const void *alpha, *beta; /* one value of compute_type each, in host memory */
    const void *a, *b, *c;
    void *d;                                        /* NULL: same as c (which is then written) */
    int64_t lda, ldb, ldc, ldd;                     /* ldd is ldc where d is NULL */
    int64_t stride_a, stride_b, stride_c, stride_d; /* elements between the matrices of a batch */
    int64_t batch;                                  /* 0 counts as 1 */
    /* a, b, c, d are arrays of batch pointers; strides are not used. A library without kernels for these runs
     * the matrices one by one */
    int pointer_arrays;
    /* 1: products of f32 may be made of operands rounded to 11 bits (AMD's xf32, NVIDIA's tf32), where the
     * library has kernels for that; the others are used where it has not */
    int xf32;
    int64_t solution_index; /* > 0: this solution (index of the file + 1); 0: the library's choice */
    tuner_metric metric;    /* see there; TENSILE_EXPERIMENTAL_SELECTION comes first */
} tuner_gemm_desc;

/* TUNER_INPUT: a size, type or leading dimension out of its range, a null pointer. TUNER_NO_SOLUTION: nothing
 * in the library for these types, transposes and sizes. TUNER_FAILED: a code object or kernel that cannot be
 * opened, no memory for the workspace. */
TUNER_API tuner_status tuner_gemm(tuner_library *lib, const tuner_gemm_desc *gemm);

/* The usual calls in BLAS's order; batch 0: nothing is done. */
TUNER_API tuner_status tuner_sgemm(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m,
                                   int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda,
                                   const float *b, int64_t ldb, const float *beta, float *c, int64_t ldc);
TUNER_API tuner_status tuner_dgemm(tuner_library *lib, tuner_op trans_a, tuner_op trans_b, int64_t m,
                                   int64_t n, int64_t k, const double *alpha, const double *a, int64_t lda,
                                   const double *b, int64_t ldb, const double *beta, double *c, int64_t ldc);
TUNER_API tuner_status tuner_sgemm_strided_batched(tuner_library *lib, tuner_op trans_a, tuner_op trans_b,
                                                   int64_t m, int64_t n, int64_t k, const float *alpha,
                                                   const float *a, int64_t lda, int64_t stride_a,
                                                   const float *b, int64_t ldb, int64_t stride_b,
                                                   const float *beta, float *c, int64_t ldc, int64_t stride_c,
                                                   int64_t batch);

/* What tuner_gemm would run, without running it; pointers in the description are not looked at, alpha and
 * beta are. */
typedef struct {
    const char *kernel;     /* symbol of the main kernel; lives as long as the library */
    int64_t solution_index; /* of the file */
    const char *why;        /* "exact", "nearest", "row", "tree", "granularity", "index" */
    int fallback;           /* through the rows for any architecture */
    double distance;        /* to the table's size; 0 when exact */
    int n_key;
    int64_t key[4]; /* the table's size: M, N, [batch,] K */
    double speed;   /* the table's figure for that size: GFlops, or whatever it was made with */
    uint64_t workspace_bytes;
    int n_kernels; /* launches: 1 and the helper kernels */
} tuner_selection;
TUNER_API tuner_status tuner_select(tuner_library *lib, const tuner_gemm_desc *gemm, tuner_selection *out);

/* The launches with their arguments, as bytes: for tests and for callers with a device of their own. alpha,
 * beta and all pointers of gemm are put into the arguments; workspace is the device address to use. */
typedef struct {
    const char *kernel;
    uint32_t work_group[3], num_work_groups[3];
    uint32_t n_arg_bytes;
    const unsigned char *args;
} tuner_launch;
/* Calls visit for each launch in order; what it gets is valid during that call. */
TUNER_API tuner_status tuner_launches(tuner_library *lib, const tuner_gemm_desc *gemm, void *workspace,
                                      void (*visit)(void *ctx, const tuner_launch *launch), void *ctx);

#ifdef __cplusplus
}
#endif
#endif
