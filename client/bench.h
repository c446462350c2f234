/* tuner-bench: a rocblas-bench work-alike over libtuner. What its files share: a case (one GEMM to time) and
 * the steps on it. bench.c reads the command line, bench_case.c makes cases of options and YAML, bench_data.c
 * holds matrices, bench_run.c times, bench_gpu.c does so on GPUs, bench_select.c answers --select-only.
 * Measures nothing else and changes no device state.
 */
#ifndef CLIENT_BENCH_H
#define CLIENT_BENCH_H

#include "base/arena.h"
#include "client/runtime/tuner.h"
#include "fmt/node.h"

typedef enum { INIT_RAND_INT, INIT_TRIG_FLOAT, INIT_HPL, INIT_ZERO } BenchInit;

typedef struct {
    tuner_gemm_desc g;         /* pointers and scalars unset; ld and stride 0: default */
    bool ex, strided, batched; /* of the function's name */
    double alpha[2], beta[2];
    int64_t iters, cold_iters;
    int64_t rotating; /* MiB of matrices that are rotated over on a GPU; -1: twice its cache */
    bool verify;
    BenchInit init;
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

typedef struct {
    void *a, *b, *c, *d;
    void **pointers; /* arrays of batch pointers, or NULL */
    size_t bytes[4];
    void *c_before; /* copy of C for verification, or NULL */
} BenchData;

/* Allocates and fills; sets the pointers of c->g. */
Err data_init(BenchCase *c, BenchData *d);
void data_fini(BenchData *d);
/* Sum of errors over sum of magnitudes of a reference with a higher precision; of all elements, or of a
 * sample where that would take too long. *n_checked says how many. */
double data_norm_error(const BenchCase *c, const BenchData *d, uint64_t *n_checked);
/* Scalars as the compute type's bytes. */
void scalar_bytes(tuner_type type, const double value[2], unsigned char out[16]);

typedef struct {
    const char *columns; /* header printed last, NULL: none yet */
    char header[256];
    size_t n_run, n_failed;
    double max_error;
} BenchReport;

typedef struct BenchGpu BenchGpu;

/* How the samples were taken. */
typedef struct {
    int64_t repeat; /* calls in one */
    int64_t n_sets; /* of matrices, on a GPU */
    bool graph;     /* queued as a graph */
    double host_ns; /* GPU: of the host for one call */
} BenchTiming;

/* gpu: NULL when the library runs on the host. */
Err bench_run(tuner_library *lib, BenchGpu *gpu, BenchCase *c, BenchReport *report);

/* Problem lines on stdin, JSON lines on stdout. */
Err bench_select(tuner_library *lib, bool launches);

#endif
