/* tuner-bench: a rocblas-bench work-alike over libtuner. Declares a case (one GEMM to time) and the steps
 * on it. bench.c reads the command line, bench_case.c makes cases from options, YAML and logs, bench_fused.c
 * has the options and the data of bias, activation and scale factors, bench_data.c
 * makes the matrices and checks results, bench_side.c calls a library or a peer and times it, on GPUs with
 * bench_gpu.c, bench_run.c runs one case, compare*.c do --compare, bench_select.c does --select-only. No
 * device state is changed.
 */
#ifndef CLIENT_BENCH_H
#define CLIENT_BENCH_H

#include "base/arena.h"
#include "client/peer/peer.h"
#include "client/runtime/tuner.h"
#include "client/worker/fused_data.h"
#include "client/worker/validate.h"
#include "fmt/node.h"
#include "problem/gemm_call.h"

/* Kinds of initialisation: those of rocblas-bench, then those of tuner-client (init.h). */
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

/* RACE: the median of blocks of calls, as tuner-client times them. LOOP: the mean of iters consecutive calls,
 * as rocblas-bench times them. */
typedef enum { TIMING_RACE, TIMING_LOOP } BenchMethod;

/* Bias, activation and scale factors, as the options give them; op: what they are together, made by
 * case_finish. */
typedef struct {
    bool bias, bias_type_given, scale_alpha;
    DataType bias_type;
    Along bias_along, scale_alpha_along; /* ALONG_NONE: not given */
    Activation activation;
    double arg[2]; /* of the activation */
    ScaleAB scale[FUSED_SCALE_D + 1];
    Fused op;
} BenchFused;

typedef struct {
    GemmCall call;
    BenchFused fused;
    tuner_gemm_desc g; /* of the call, made by case_finish; pointers and scalars unset */
    int64_t iters, cold_iters;
    bool iters_given; /* by -i: the call_count of a file has no effect on iters */
    int64_t count;    /* calls of this problem in the file: call_count, or equal lines of a log; 1 */
    int64_t rotating; /* GPU: MiB of copies of the matrices to rotate over; -1: twice its cache */
    bool verify;
    BenchFill fill;
    BenchMethod timing;
    uint64_t seed;
} BenchCase;

/* Sets one option by its long name ("transposeA", "sizem") or its YAML name (M, transA, rocblas_function).
 * ERR_INPUT: an unknown name or value, or an option of rocblas-bench that is not supported here. */
Err case_set(BenchCase *c, const char *name, Str value);
void case_init(BenchCase *c);
/* Fills in the defaults that depend on other options and checks the case. */
Err case_finish(BenchCase *c);
/* The cases of a file: of a YAML list of maps, whose options are applied to a copy of base; otherwise of a
 * log or table that `tuner sizes` reads (workload/workload.h), equal calls merged; a notice
 * counts the lines that are no GEMM. The base's iters, if given, overrides the file's call_count. ERR_INPUT:
 * the file has no GEMM. */
Err case_read_file(Arena *a, const char *path, const BenchCase *base, BenchCase **cases, size_t *n);

/* BENCH_PERIOD bytes of random numbers of one type and kind, made once. A matrix repeats them, from some
 * offset on; the period is a prime number of pages, so that nearby columns differ. */
enum { BENCH_PAGE = 4096, BENCH_PERIOD = 4099 * BENCH_PAGE, BENCH_BLOCKS = 4 };
typedef struct {
    DataType type; /* in the architecture's format */
    BenchFill fill;
    uint64_t seed;
    int fd;     /* anonymous file of the data, which matrices map; -1: none */
    void *data; /* NULL: no block */
} BenchBlock;

typedef struct BenchGpu BenchGpu;

/* State that is kept between cases. */
typedef struct {
    tuner_library *lib;
    BenchGpu *gpu; /* NULL: the library runs on the host */
    Device *host;  /* memory for bias and scale factors on the host; NULL: not needed so far */
    int n_threads; /* for data and checks */
    F8Format f8;   /* of the library's architecture */
    BenchBlock block[BENCH_BLOCKS];
    size_t next_block;
    void *result; /* GPU: D (or C) copied to the host */
    size_t result_bytes;
    char header[256]; /* the column titles that were printed last */
    size_t n_failed, n_wrong;
} Bench;

/* Opens the library's device if that is a GPU. n_threads 0: all processors. The caller must call fini, even
 * after an error. */
Err bench_open(Bench *b, tuner_library *lib, int n_threads);
void bench_fini(Bench *b);

enum { MATRICES = 4 }; /* A, B, C, D */

typedef struct {
    void *at[MATRICES]; /* D NULL: C is written, or the matrices are only the source of a GPU's copies */
    size_t bytes[MATRICES];
    bool mapped[MATRICES]; /* BENCH_PERIOD bytes of memory, mapped repeatedly */
    void *before;          /* C before the call, when the call writes it and verifies; else NULL */
    bool mapped_before;
    void **pointers; /* arrays of batch pointers, or NULL */
    FusedData fused;
    Device *device; /* that has them; NULL: there are none */
    tuner_epilogue epilogue_of;
    const tuner_epilogue *epilogue; /* NULL: a plain GEMM */
} BenchData;

/* Allocates and fills; on the host sets the pointers of c->g. */
Err data_init(Bench *b, BenchCase *c, BenchData *d);
void data_fini(BenchData *d);
/* ---- bench_fused.c ---- */

/* Sets an option with one of hipblaslt-bench's names; *known false: it is none of them. */
Err bench_fused_set(BenchFused *f, const char *name, Str value, bool *known);
/* Checks the options together and makes op. */
Err bench_fused_finish(BenchCase *c);
/* The case's operations without pointers, for a selection. */
void bench_epilogue(const BenchCase *c, tuner_epilogue *out);
/* The vectors and numbers, in the memory of the library's device; parts of data_init and data_fini. */
Err bench_fused_init(Bench *b, const BenchCase *c, BenchData *d);
void bench_fused_fini(BenchData *d);
/* Titles and values of its columns; "" and nothing for a plain GEMM. */
const char *bench_fused_columns(const BenchCase *c);
void bench_fused_print(const BenchCase *c);

/* The reference that results of the case are compared with: all elements of a small problem; a product check
 * of all of D and a sample of elements of a large one. */
Err data_validator(const Bench *b, const BenchCase *c, const BenchData *d, Validator **out);
/* Compares D, or C where that is written; a GPU's is copied to the host first. */
Err data_check(Bench *b, const BenchCase *c, const BenchData *d, Validator *v, Check *out);
/* Makes the matrices as they were before a call, and poisons D; on a GPU those of the first set. */
Err data_restore(Bench *b, const BenchCase *c, BenchData *d);
/* A scalar as bytes of the compute type. */
void scalar_bytes(tuner_type type, const double value[2], unsigned char out[16]);
/* Sets the case's pointers to its alpha and beta, which are stored in the caller's arrays. */
void case_scalars(BenchCase *c, unsigned char alpha[16], unsigned char beta[16]);

/* The conditions under which the samples were taken. */
typedef struct {
    int64_t repeat;            /* calls per sample */
    int64_t n_sets, n_wanted;  /* GPU: sets of matrices that exist, that were wanted */
    bool graph;                /* calls were queued as a graph */
    double host_ns;            /* GPU: time of the host per call */
    double clock_mhz, power_w; /* GPU: mean of readings during the run; NAN unknown */
} BenchTiming;

/* Number of samples that a case gives. */
int64_t case_samples(const BenchCase *c);

Err bench_run(Bench *b, BenchCase *c);
/* 2 M N K of all matrices of the batch, 8 M N K of complex ones. */
double case_flops(const BenchCase *c);

/* ---- who computes ---- */

typedef struct {
    tuner_library *lib;             /* NULL: the peer */
    const tuner_epilogue *epilogue; /* of the case; NULL: none */
    Peer *peer;
    Problem problem; /* of the peer */
} BenchSide;

/* One call; g: of the case, with the pointers of a set of matrices. */
Err side_call(const BenchSide *s, const tuner_gemm_desc *g);
/* Prepares the peer for a case. ERR_INPUT: it cannot do it, for the reason in the message. */
Err side_peer_problem(const Bench *b, BenchSide *s, const BenchCase *c);

/* How the calls of one side are timed: blocks of equal calls, whose number is found once. */
typedef struct {
    const BenchSide *side;
    int64_t repeat; /* calls of a block */
    double call_ns; /* GPU: time of one, as it looks at first */
    DeviceGraph *graph;
    int64_t n_graph; /* calls in the graph */
    double host_ns;  /* GPU: time of the host per call */
    bool rested;     /* GPU: a block was timed before */
} BenchLane;

/* block_ns: least time of a block on the host; a GPU's blocks have BLOCK_NS. The caller must close the lane,
 * even after an error. */
Err lane_open(Bench *b, const BenchSide *s, const BenchCase *c, double block_ns, BenchLane *out);
void lane_close(Bench *b, BenchLane *l);
/* Times a block; *ns: per call. */
Err lane_block(Bench *b, BenchLane *l, const BenchCase *c, double *ns);

/* Reads problem lines from stdin and prints JSON lines on stdout; the format is in bench_select.c. */
Err bench_select(tuner_library *lib, bool launches);
/* The same for the cases of a file. */
Err bench_select_cases(tuner_library *lib, const BenchCase *cases, size_t n, bool launches);

#endif
