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
 * Shapes, as in BLAS: all matrices are column-major; op(A) is m x k, op(B) is k x n, C and D are m x n;
 * element (i, j) of a matrix is at i + j * ld, so A has lda >= m when it is not transposed and lda >= k when
 * it is. Units: sizes, leading dimensions and strides count elements, not bytes. They are at least 0 (leading
 * dimensions: at least 1) and below 2^32. If m or n is 0, nothing is done; if k or alpha is 0, D = beta * C
 * and A and B are not read; if beta is 0, C is not read. Matrices must be aligned to their elements; an
 * alignment of 64 bytes is fastest. No matrices may overlap, but D may be C.
 *
 * Ownership: the library uses the caller's memory only during a call, and a call returns when D is complete
 * (on GPUs: see below). A tuner_library owns its files, threads and workspace until tuner_close. The
 * workspace is kept between calls and grows to the largest that a call needs; solutions that need more than 4
 * GiB are not chosen. Library files stay mapped, so replace a file by renaming another over it: after a file
 * was written to or truncated in place, calls that read a new part of it return TUNER_FAILED, and truncating
 * it while it is read raises SIGBUS. Strings that are returned (kernel, path, architecture) live as long as
 * the library.
 *
 * Errors: every function that can fail returns a tuner_status, 0 for success; tuner_error_message() returns
 * the text of the calling thread's last error. No function aborts, exits or prints (except by TUNER_LAYER and
 * --library-print-debug). A null pointer as the library is TUNER_INPUT; functions that return text or a
 * number return "" and 0. TUNER_INPUT, TUNER_NO_SOLUTION and TUNER_NO_DEVICE are returned before any kernel
 * runs, so D is unchanged (except in calls with arrays of pointers, see below); after TUNER_FAILED D may be
 * partly written.
 *
 * Threads: all functions but tuner_close may be called from several threads at the same time on the same
 * library. Large calls use the library's threads, one call at a time; small ones run on the calling thread.
 * Code objects are shared libraries: open only libraries whose code you trust. After fork a library can be
 * used only in the process that opened it: in the child calls on it return TUNER_INPUT, tuner_close does
 * nothing, and the child may open a library of its own.
 *
 * GPUs: a library for a GPU runs on that GPU. tuner_options.device names the device; without it, a GPU is
 * chosen if the path has no library for the CPU but one for a GPU of this machine. The driver library
 * (libcuda.so.1, libamdhip64.so) is opened when it is needed. a, b, c and d are device pointers, alpha and
 * beta are in host memory, arrays of batch pointers are in device memory. Calls queue their kernels on the
 * library's stream (tuner_options.stream, changed by tuner_set_stream; NULL: the device's default stream) and
 * return at once: D is complete, and the inputs may be changed, when the kernels on the stream have ended
 * (tuner_synchronize). A call waits for the device only at the first use of a kernel (to load its code
 * object), when the workspace has to grow, and for arrays of pointers if the library has no kernels for them.
 * Calls on one stream run in order. An error that the device reports later is returned by a following call.
 * Every call restores the calling thread's CUDA context or HIP device. A library for a GPU that is not
 * present can be opened for selection (tuner_options.arch); other calls on it return TUNER_NO_DEVICE.
 *
 * Environment variables, read by tuner_open:
 *
 *   TUNER_LIBPATH, ROCBLAS_TENSILE_LIBPATH  path of the library, in this order
 *   TUNER_DEVICE                    like tuner_options.device
 *   TUNER_NUM_THREADS               default: the processors that the process may use
 *   ROCBLAS_INTERNAL_FP16_ALT_IMPL, ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ
 *                                   1 sets and 0 clears a bit of tuner_gemm_desc.fp16_alt for all calls
 *   TENSILE_EXPERIMENTAL_SELECTION  1: select over grids of sizes, 2: by decision trees, if the library has
 *                                   such rows; else neither
 *   TUNER_LAYER                     log; sum of 1 (calls), 2 (tuner-bench lines; of convolutions
 *                                   MIOpenDriver's), 4 (YAML profile of GEMMs at close)
 *   TUNER_LOG_PATH                  file of the log, appended to; default: stderr
 *   ROCBLAS_LAYER                   like TUNER_LAYER, if that is not set
 *   ROCBLAS_LOG_TRACE_PATH, ROCBLAS_LOG_BENCH_PATH, ROCBLAS_LOG_PROFILE_PATH, ROCBLAS_LOG_PATH
 *                                   files for ROCBLAS_LAYER: one for each part, and one for all parts;
 *                                   appended to, while rocBLAS overwrites them
 *
 * A library that createlib made with --library-print-debug prints a line per launch on stderr. */
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
    TUNER_FAILED = 1,      /* I/O error, out of memory, or a kernel is missing in its code object */
    TUNER_INPUT = 2,       /* a wrong argument or a damaged library file */
    TUNER_NO_SOLUTION = 3, /* no solution of the library applies to the problem */
    TUNER_NO_DEVICE = 4    /* this machine does not have the device of the library */
} tuner_status;

typedef enum { TUNER_N, TUNER_T, TUNER_C } tuner_op;

/* Element types, with the numbers of Tensile's DataType. */
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
    TUNER_F8 = 10, /* 4 exponent bits, in the device's format: gfx94x bias 8, NaN 0x80; else OCP e4m3 */
    TUNER_BF8 = 11 /* 5 exponent bits (OCP e5m2); A and B may be F8 and BF8 */
} tuner_type;

/* The goal of the selection, where a library has tables for both. */
typedef enum {
    TUNER_METRIC_AUTO = 0,  /* CU for small problems, DEVICE for the others */
    TUNER_METRIC_CU = 1,    /* highest speed per compute unit in use, if other kernels run at the same time */
    TUNER_METRIC_DEVICE = 2 /* highest speed */
} tuner_metric;

/* Bits of tuner_gemm_desc.fp16_alt. */
enum { TUNER_FP16_ALT = 1, TUNER_FP16_ALT_ROUND = 2 };

typedef struct tuner_library tuner_library;

/* Zero the structure, then set the members that you need. */
typedef struct {
    const char *arch;  /* select for this architecture ("gfx90a", "x86-64-v3"); NULL: this machine's */
    int64_t n_cu;      /* its compute units; 0: the architecture's usual number */
    int n_threads;     /* 0: TUNER_NUM_THREADS, or all processors */
    int select_only;   /* 1: code objects are not opened */
    int deterministic; /* 1: only solutions that always add in the same order */
    /* "host", "cuda", "hip", "cuda:1"; NULL: TUNER_DEVICE, or the device for which path has a library */
    const char *device;
    void *stream; /* GPUs: CUstream, cudaStream_t, hipStream_t; NULL: the default stream */
} tuner_options;

/* Opens a library. path: a directory that createlib wrote, its parent with one folder per architecture, the
 * library file itself, "embedded:NAME" (tuner_embedded_add), or the output directory of `tuner`, which stands
 * for its 4_LibraryClient/library. NULL: TUNER_LIBPATH, then ROCBLAS_TENSILE_LIBPATH. In a directory the
 * first existing file is taken of TensileLibrary_lazy_<arch>, TensileLibrary_<arch> and TensileLibrary, each
 * with .dat or .yaml, in <path>/<arch>/ and then in <path>/. options may be NULL. TUNER_INPUT: there is no
 * library for the architecture, or it is damaged; TUNER_NO_DEVICE: the device of the options cannot be
 * opened. *lib is NULL after an error. */
TUNER_API tuner_status tuner_open(tuner_library **lib, const char *path, const tuner_options *options);
/* Ends the library's threads and frees all that it owns; no other call on it may be running. lib may be
 * NULL. */
TUNER_API void tuner_close(tuner_library *lib);

/* Registers a file of a library that is compiled into the program. `tuner-createlib --embed-library NAME`
 * writes a C source that calls this function for each file before main. Link that source, then open
 * "embedded:NAME" (or "embedded:NAME:KEY" for the files of one --embed-library-key) as path or by
 * TUNER_LIBPATH. The strings and the n bytes of data are not copied: they must live as long as the program.
 * Returns a tuner_status. */
TUNER_API int tuner_embedded_add(const char *name, const char *key, const char *file,
                                 const unsigned char *data, size_t n);

/* GPUs: sets the stream of all following calls, from any thread. It must belong to the library's device. */
TUNER_API tuner_status tuner_set_stream(tuner_library *lib, void *stream);
/* Waits until all kernels on the library's stream have ended and returns their errors. On the CPU it returns
 * at once, as calls there are complete when they return. */
TUNER_API tuner_status tuner_synchronize(tuner_library *lib);

/* The device on which calls run: "host", "cuda:0" or "hip:0"; also "host" when calls cannot run. */
TUNER_API const char *tuner_library_device(const tuner_library *lib);
/* The path of the library file, the architecture whose rows are used, and the number of solutions read so
 * far.
 */
TUNER_API const char *tuner_library_path(const tuner_library *lib);
TUNER_API const char *tuner_library_arch(const tuner_library *lib);
TUNER_API size_t tuner_library_solutions(const tuner_library *lib);
/* The text of the last error in the calling thread; "" when there was none. Valid until the thread's next
 * call. */
TUNER_API const char *tuner_error_message(void);
TUNER_API const char *tuner_version(void);

/* One GEMM or a batch of them: D = alpha * op(A) * op(B) + beta * C. Zero the structure, then fill it in.
 * Sizes and offsets of this structure and of tuner_selection stay as they are for one soname, so that a
 * program that was compiled against an earlier header goes on working. */
typedef struct {
    tuner_op trans_a, trans_b;
    tuner_type a_type, b_type, c_type, d_type, compute_type; /* of alpha, beta and the accumulation */
    int64_t m, n, k;
    const void *alpha, *beta; /* one value of compute_type each, in host memory */
    const void *a, *b, *c;
    void *d;                                        /* NULL: same as c (which is then written) */
    int64_t lda, ldb, ldc, ldd;                     /* ldd is ldc where d is NULL */
    int64_t stride_a, stride_b, stride_c, stride_d; /* elements between the matrices of a batch */
    int64_t batch;                                  /* number of matrices; 0 means 1 */
    /* 1: a, b, c, d are arrays of batch pointers to matrices, and strides are not used. If the library has no
     * kernels for arrays of pointers, each matrix is a GEMM of its own. */
    int16_t pointer_arrays;
    int16_t metric; /* a tuner_metric; has no effect where TENSILE_EXPERIMENTAL_SELECTION applies */
    /* 1: f32 operands may be rounded to 11 significant bits (AMD's xf32, NVIDIA's tf32), if the library has
     * kernels for that. */
    int16_t xf32;
    /* TUNER_FP16_ALT and TUNER_FP16_ALT_ROUND, like rocBLAS's gemm flags fp16_alt_impl and fp16_alt_impl_rnz:
     * half operands may be converted to bf16, which keeps their denormals on gfx90a, if the library has
     * kernels for that; with ROUND the conversion rounds to nearest. 0: neither. */
    uint16_t fp16_alt;
    int64_t solution_index; /* > 0: run this solution (index in the file + 1); 0: the library's choice */
} tuner_gemm_desc;

/* Runs a GEMM. TUNER_INPUT: a size, type or leading dimension is out of its range, or a pointer is NULL.
 * TUNER_NO_SOLUTION: no solution applies to these types, transposes and sizes. TUNER_NO_DEVICE: the library
 * cannot run on this machine. TUNER_FAILED: a code object or kernel cannot be opened, or there is no memory
 * for the workspace. */
TUNER_API tuner_status tuner_gemm(tuner_library *lib, const tuner_gemm_desc *gemm);

/* ---- bias, activation, scale factors ---- */

/* hipBLASLt's activations. x is the value, a and b are tuner_epilogue.activation_arg[0] and [1]. */
typedef enum {
    TUNER_ACTIVATION_NONE,
    TUNER_ACTIVATION_ABS,         /* |x| */
    TUNER_ACTIVATION_CLIPPEDRELU, /* x if x >= a, else 0; at most b */
    TUNER_ACTIVATION_GELU,        /* 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
    TUNER_ACTIVATION_LEAKYRELU,   /* x if x >= 0, else a x */
    TUNER_ACTIVATION_RELU,        /* max(x, 0) */
    TUNER_ACTIVATION_SIGMOID,     /* 1 / (1 + exp(-x)) */
    TUNER_ACTIVATION_TANH,        /* a tanh(b x) */
    TUNER_ACTIVATION_SILU,        /* x / (1 + exp(-x)) */
    TUNER_ACTIVATION_CLAMP        /* max(a, min(x, b)) */
} tuner_activation;

/* Where a vector lies: along M it has m elements, one for each row of D; along N it has n, one for each
 * column. 0: there is none. */
enum { TUNER_ALONG_M = 1, TUNER_ALONG_N = 2 };
/* tuner_epilogue.scale_ab. 0: neither. */
enum { TUNER_SCALE_SCALAR = 1, TUNER_SCALE_VECTOR = 2 };

/* What a GEMM does to its result besides alpha and beta, as hipBLASLt and TensileLite do it:
 *
 *     D = scale_d * activation(scale_alpha * scale_a * scale_b * alpha * op(A) * op(B)
 *                              + scale_c * beta * C + bias)
 *
 * Zero the structure, set size to sizeof(tuner_epilogue), then the members that you need. It may grow at its
 * end: size says what the program knows, and what it does not know is 0. A size that is less than that of
 * the first release is TUNER_INPUT; so is a larger one than the library's, unless all bytes beyond the
 * library's are 0.
 *
 * Which operations there are is said by bias_along, activation, scale_ab, scale_cd and scale_alpha_along; the
 * library needs a solution with exactly these (and with this bias_type). Each of them needs its pointers, and
 * a pointer whose operation is not wanted must be NULL. Vectors are contiguous. Scale factors have the
 * GEMM's compute type, which must be TUNER_F32 or TUNER_F64; numbers of one element are pointers, too. All
 * pointers are in the memory of the matrices (GPUs: device pointers), aligned to their elements, belong to
 * the caller, and are only read; on a GPU they must stay valid and unchanged until the kernels on the stream
 * have ended. The structure itself is read during the call. */
typedef struct {
    uint64_t size;
    const void *bias;          /* of bias_type; in a batch also for arrays of pointers one block of memory */
    int32_t bias_type;         /* a tuner_type: that of D, or the compute type */
    int32_t bias_along;        /* TUNER_ALONG_ */
    int64_t bias_stride;       /* elements between the biases of two matrices of a batch; 0: all have one */
    int32_t activation;        /* a tuner_activation */
    int32_t scale_ab;          /* scale_a and scale_b: a number each, or vectors along M and along N */
    double activation_arg[2];  /* a and b of the activation; rounded to the compute type */
    const void *scale_a;       /* 1 or m elements */
    const void *scale_b;       /* 1 or n elements */
    const void *scale_c;       /* 1 element */
    const void *scale_d;       /* 1 element */
    const void *scale_alpha;   /* m or n elements */
    int32_t scale_cd;          /* 1: scale_c and scale_d */
    int32_t scale_alpha_along; /* TUNER_ALONG_ */
} tuner_epilogue;

/* tuner_gemm with an epilogue. NULL, or one without any operation: tuner_gemm. TUNER_INPUT, besides the
 * errors of tuner_gemm: a wrong size of the structure, an unknown activation, direction or type, a pointer
 * that is missing or not expected, a compute type without fused operations. TUNER_NO_SOLUTION: the library
 * has no solution with these operations; nothing is computed in parts. */
TUNER_API tuner_status tuner_gemm_fused(tuner_library *lib, const tuner_gemm_desc *gemm,
                                        const tuner_epilogue *epilogue);

/* tuner_gemm with BLAS's order of arguments, in place (D is C). Strides in elements; with batch 0 nothing is
 * done. */
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

/* The solution that tuner_gemm would run. */
typedef struct {
    const char *kernel;     /* symbol of the main kernel; valid as long as the library */
    int64_t solution_index; /* in the file */
    const char *why;        /* "exact", "model", "nearest", "row", "tree", "granularity", "index" */
    int fallback;           /* 1: it is from the rows for any architecture */
    double distance;        /* from the problem to the table's size; 0 when exact */
    int n_key;
    int64_t key[4]; /* the table's size: M, N, [batch,] K */
    double
        speed; /* in the table for that size: GFlops, or the unit with which the table was made; by the model:
                     * the GFlops that it predicts, so that 2e-9 * M * N * batch * K / speed is the time */
    uint64_t workspace_bytes;
    int n_kernels; /* launches: the main kernel and its helper kernels */
} tuner_selection;
TUNER_API tuner_status tuner_select(tuner_library *lib, const tuner_gemm_desc *gemm, tuner_selection *out);
/* The solution that tuner_gemm_fused would run. Pointers of the epilogue may be NULL; other errors are those
 * of tuner_gemm_fused. */
TUNER_API tuner_status tuner_select_fused(tuner_library *lib, const tuner_gemm_desc *gemm,
                                          const tuner_epilogue *epilogue, tuner_selection *out);

/* ---- convolutions ---- */

typedef enum {
    TUNER_CONV_FORWARD,         /* output = input * filter */
    TUNER_CONV_BACKWARD_DATA,   /* input, from the output's gradient and the filter */
    TUNER_CONV_BACKWARD_WEIGHTS /* filter, from the input and the output's gradient */
} tuner_conv_direction;

/* Order of a tensor's dimensions in memory, the slowest first; of the filter KCYX, KYXC, CKYX, CYXK. */
typedef enum { TUNER_NCHW, TUNER_NHWC, TUNER_CNHW, TUNER_CHWN } tuner_conv_layout;

/* A 2-D convolution (cross-correlation, as in machine learning), all tensors packed:
 *
 *     output[i, k, p, q] = alpha * sum over c, y, x of filter[k, c, y, x]
 *                          * input[i, c, p * stride_h + y * dilation_h - pad_h,
 *                                        q * stride_w + x * dilation_w - pad_w] + beta * output[i, k, p, q]
 *
 * with zeros outside the input. The output has out_h = (h + pad_h + pad_h_end - (y - 1) * dilation_h - 1) /
 * stride_h + 1 rows, and columns likewise. With groups, each has c / groups input and k / groups output
 * channels, and the filter k * (c / groups) * y * x elements.
 *
 * Zero the structure, set size to sizeof(tuner_conv2d_desc), then the members that you need. It may grow at
 * its end, as tuner_epilogue does. Tensors are in the memory of matrices (GPUs: device pointers); the one
 * that is computed is written whole. */
typedef struct {
    uint64_t size;
    int32_t direction;                                          /* a tuner_conv_direction */
    int32_t input_layout, filter_layout, output_layout;         /* a tuner_conv_layout */
    int32_t input_type, filter_type, output_type, compute_type; /* a tuner_type */
    int64_t n, c, h, w;                                         /* images, channels, rows, columns */
    int64_t k, y, x;                                            /* filters, their rows and columns */
    int64_t stride_h, stride_w, dilation_h, dilation_w;         /* 0 means 1 */
    int64_t pad_h, pad_w, pad_h_end, pad_w_end; /* rows and columns of zeros before the input, after it */
    int64_t out_h, out_w;                       /* checked against what follows; 0: not given */
    int64_t groups;                             /* 0 means 1 */
    const void *alpha, *beta; /* one value of compute_type each, in host memory; NULL: 1 and 0 */
    void *input, *filter, *output;
    int64_t solution_index; /* > 0: run this solution (index in the file + 1); 0: the library's choice */
    int32_t xf32;           /* as in tuner_gemm_desc */
    int32_t metric;         /* a tuner_metric */
} tuner_conv2d_desc;

/* Runs a convolution. One with one filter element, stride 1 and no pads runs as a GEMM where the library
 * has a GEMM of these layouts that promises more. TUNER_INPUT: a number is out of its range, output sizes
 * do not follow, groups do not divide the channels, a pointer is NULL. TUNER_NO_SOLUTION: the library has
 * no solution for this direction, these layouts and types, and this size, or there are no kernels of that
 * kind. */
TUNER_API tuner_status tuner_conv2d(tuner_library *lib, const tuner_conv2d_desc *conv);
/* The same with an epilogue, forward and backward data. Vectors lie along the channels of the tensor that is
 * computed, in any layout: bias_along and scale_alpha_along are TUNER_ALONG_M, bias_stride is 0. All images
 * have the same bias; with groups there is no scale_alpha. TUNER_NO_SOLUTION: the library has no solution
 * with these operations. */
TUNER_API tuner_status tuner_conv2d_fused(tuner_library *lib, const tuner_conv2d_desc *conv,
                                          const tuner_epilogue *epilogue);

/* A 3-D convolution: as a 2-D one, with planes (d, z) in front of rows. Layouts are NCDHW, NDHWC, CNDHW and
 * CDHWN, by the names of 2-D ones. epilogue: NULL, or as tuner_conv2d_fused. */
typedef struct {
    uint64_t size;
    int32_t direction;
    int32_t input_layout, filter_layout, output_layout;
    int32_t input_type, filter_type, output_type, compute_type;
    int64_t n, c, d, h, w;
    int64_t k, z, y, x;
    int64_t stride_d, stride_h, stride_w, dilation_d, dilation_h, dilation_w; /* 0 means 1 */
    int64_t pad_d, pad_h, pad_w, pad_d_end, pad_h_end, pad_w_end;
    int64_t out_d, out_h, out_w;
    int64_t groups;
    const void *alpha, *beta;
    void *input, *filter, *output;
    int64_t solution_index;
    int32_t xf32, metric;
} tuner_conv3d_desc;
TUNER_API tuner_status tuner_conv3d(tuner_library *lib, const tuner_conv3d_desc *conv,
                                    const tuner_epilogue *epilogue);

/* The solutions that they would run. Pointers may be NULL. key: the first numbers of the table's size. */
TUNER_API tuner_status tuner_select_conv2d_fused(tuner_library *lib, const tuner_conv2d_desc *conv,
                                                 const tuner_epilogue *epilogue, tuner_selection *out);
TUNER_API tuner_status tuner_select_conv3d(tuner_library *lib, const tuner_conv3d_desc *conv,
                                           const tuner_epilogue *epilogue, tuner_selection *out);
TUNER_API tuner_status tuner_select_conv2d(tuner_library *lib, const tuner_conv2d_desc *conv,
                                           tuner_selection *out);

/* The order in which the work-groups of a kernel take the tiles of D, for kernels that have it as an argument
 * (WorkGroupMappingDim 0 or 1 of the solution): bands of wgm tiles (1 to 1024); ids regrouped for xcc dies (1
 * to 32; 1: not), in groups of `group` ids (0: all; a multiple of xcc, below 1024), or in chunks of `chunk`
 * ids per die (0: no; below 256; then group is 0). */
typedef struct {
    int32_t wgm, xcc, group, chunk;
} tuner_mapping;
/* Sets the order for all following calls, from any thread; NULL: the library's choice again. Solutions whose
 * kernels have an order of their own keep it. TUNER_INPUT: a number is out of its range. */
TUNER_API tuner_status tuner_set_mapping(tuner_library *lib, const tuner_mapping *mapping);
/* The order that tuner_gemm would launch with. *why: "tuned" (the library file has it), "model" (least bytes
 * by the traffic model, asked once for each problem), "given" (tuner_set_mapping), "fixed" (part of
 * the kernel; *mapping is all zeros). */
TUNER_API tuner_status tuner_select_mapping(tuner_library *lib, const tuner_gemm_desc *gemm,
                                            tuner_mapping *mapping, const char **why);

/* One launch of a GEMM: grid, block and the bytes of the argument buffer, for callers that launch kernels
 * themselves. */
typedef struct {
    const char *kernel;
    uint32_t work_group[3], num_work_groups[3];
    uint32_t n_arg_bytes;
    const unsigned char *args;
} tuner_launch;
/* Makes the launches of a GEMM without running them and calls visit for each in order. alpha, beta and all
 * pointers of gemm are put into the arguments; workspace: device address of workspace_bytes (tuner_select).
 * *launch and its members are valid only during visit. Errors are those of tuner_gemm. */
TUNER_API tuner_status tuner_launches(tuner_library *lib, const tuner_gemm_desc *gemm, void *workspace,
                                      void (*visit)(void *ctx, const tuner_launch *launch), void *ctx);
/* The same of a convolution. */
TUNER_API tuner_status tuner_launches_conv2d(tuner_library *lib, const tuner_conv2d_desc *conv,
                                             void *workspace,
                                             void (*visit)(void *ctx, const tuner_launch *launch), void *ctx);

#ifdef __cplusplus
}
#endif
#endif
