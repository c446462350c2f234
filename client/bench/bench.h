/* tuner-bench: a rocblas-bench work-alike over libtuner. What its files share: a case (one GEMM to time) and
 * the steps on it. bench.c reads the command line, bench_case.c makes cases of options and YAML, bench_data.c
 * holds matrices and checks results, bench_run.c times, bench_gpu.c does so on GPUs, bench_select.c answers
 * --select-only. Measures nothing else and changes no device state.
 */
#ifndef CLIENT_BENCH_H
#define CLIENT_BENCH_H

#include "base/arena.h"
#include "client/runtime/tuner.h"
#include "client/worker/validate.h"
#include "fmt/node.h"
#include "problem/datatype.h"

/* rocblas-bench's, then those of tuner-client (init.h). */
typedef enum {
    FILL_RAND_INT,
    FILL_TRIG_FLOAT,
    FILL_HPL,
    FILL_ZERO,
    FILL_ONE,
    FILL_TWO,
    FILL_RANDOM,
    FILL_RANDOM_NARROW,
    FILL_UNIFORM,
    FILL_NORMAL,
    FILL_COUNT
} BenchFill;

/* RACE: blocks of calls as tuner-client times them, their median. LOOP: rocblas-bench's iters calls one
 * behind the other, their mean. */
typedef enum { TIMING_RACE, TIMING_LOOP } BenchMethod;

typedef struct {
    tuner_gemm_desc g;         /* pointers and scalars unset; ld and stride 0: default */
    bool ex, strided, batched; /* of the function's name */
    double alpha[2], beta[2];
    int64_t iters, cold_iters;
    int64_t rotating; /* MiB of matrices that are rotated over on a GPU; -1: twice its cache */
    bool verify;
    bool packed_int8; /* flags 1: i8_r means rocBLAS's old packed layout, which is i8x4_r here */
    BenchFill fill;
    BenchMethod timing;
    uint64_t seed;
} BenchCase;

/* One option by its long name ("transposeA", "sizem"); the YAML names (M, transA, rocblas_function) too.
 * Unknown names and values are ERR_INPUT; what rocblas-bench has and a CPU GEMM bench has not is refused by
 * name. */
Err case_set(BenchCase *c, const char *name, Str value);
void case_init(BenchCase *c);
/* Fills in defaults that depend on others and checks. */
Err case_finish(BenchCase *c);
/* Cases of a YAML file of maps, on top of the given one. */
Err case_read_yaml(Arena *a, const char *path, const BenchCase *base, BenchCase **cases, size_t *n);

/* Random numbers of one type and kind, made once. Matrices are these BENCH_PERIOD bytes again and again, from
 * some place on; the period is a prime number of pages, so that no columns nearby are alike. */
enum { BENCH_PAGE = 4096, BENCH_PERIOD = 4099 * BENCH_PAGE, BENCH_BLOCKS = 4 };
typedef struct {
    DataType type; /* in the architecture's format */
    BenchFill fill;
    uint64_t seed;
    int fd;     /* of the memory, for matrices that are mapped; -1: none */
    void *data; /* NULL: no block */
} BenchBlock;

typedef struct BenchGpu BenchGpu;

/* What is kept from case to case. */
typedef struct {
    tuner_library *lib;
    BenchGpu *gpu; /* NULL: the library runs on the host */
    int n_threads; /* for data and checks */
    F8Format f8;   /* of the library's architecture */
    BenchBlock block[BENCH_BLOCKS];
    size_t next_block;
    void *result; /* a GPU's D (or C), brought back */
    size_t result_bytes;
    char header[256]; /* columns printed last */
    size_t n_failed, n_wrong;
} Bench;

void bench_fini(Bench *b);

enum { MATRICES = 4 }; /* A, B, C, D */

typedef struct {
    void *at[MATRICES]; /* D NULL: C is written, or the matrices are for a GPU and not to be written */
    size_t bytes[MATRICES];
    bool mapped[MATRICES]; /* BENCH_PERIOD bytes of memory, seen many times */
    void *before;          /* C as it was, when it is written here and verified; mapped when mapped_before */
    bool mapped_before;
    void **pointers; /* arrays of batch pointers, or NULL */
} BenchData;

/* Allocates and fills; on the host sets the pointers of c->g. */
Err data_init(Bench *b, BenchCase *c, BenchData *d);
void data_fini(BenchData *d);
/* Is D right? All elements of small problems; a product check of all of D and a sample of the others. d is in
 * b->result on a GPU. */
Err data_check(const Bench *b, const BenchCase *c, const BenchData *d, Check *out);
/* Scalars as the compute type's bytes. */
void scalar_bytes(tuner_type type, const double value[2], unsigned char out[16]);

/* How the samples were taken. */
typedef struct {
    int64_t repeat;            /* calls in one */
    int64_t n_sets, n_wanted;  /* of matrices, on a GPU: there are, would have been */
    bool graph;                /* queued as a graph */
    double host_ns;            /* GPU: of the host for one call */
    double clock_mhz, power_w; /* GPU: mean of readings while it ran; NAN unknown */
} BenchTiming;

/* Number of samples that a case gives. */
int64_t case_samples(const BenchCase *c);

Err bench_run(Bench *b, BenchCase *c);

/* Problem lines on stdin, JSON lines on stdout. */
Err bench_select(tuner_library *lib, bool launches);

#endif
