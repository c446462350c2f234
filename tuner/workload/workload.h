/* Workload: the GEMM calls of an application, read from its logs and merged.
 *
 * Forms of lines; each line is recognized by itself, so that a file may mix them and other text:
 *   - rocBLAS's bench lines (ROCBLAS_LAYER=2), tuner-bench's and libtuner's (TUNER_LAYER=2);
 *   - the YAML profile of rocBLAS and libtuner (layer 4), with call_count as the number of calls;
 *   - hipblaslt-bench lines (HIPBLASLT_LOG_MASK=32) and hipBLASLt's profile, less bias and activation;
 *   - PyTorch's TunableOp files, tuned (with the time of the chosen kernel) or not;
 *   - MIOpenDriver's lines: the matrix products that each direction of the convolution is, or
 *     (as_convolution) the convolutions themselves;
 *   - a CSV file whose first line names the columns M, N and K, and options of rocblas-bench as others; from
 *     a line on that begins with the column base, with options of MIOpenDriver.
 * Lines of other functions, and those that cannot be read, are counted with their reason. A log that ends in
 * the middle of a line loses that line only. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "base/map.h"
#include "base/vec.h"
#include "problem/miopen.h"

typedef struct {
    GemmCall call; /* finished; alpha, beta, solution_index and strides of a single matrix are those of the
                    * first of the merged calls */
    const ConvDesc *conv; /* a convolution, in place of call; NULL: a GEMM */
    int64_t count;        /* calls */
    double seconds;       /* of one call, by the log; 0: unknown */
} WorkloadCall;

typedef struct {
    Str reason; /* "rocblas_strsm", "a size is 0", "the line ends in the middle" */
    int64_t count;
    Str file; /* of the first */
    int64_t line;
} WorkloadSkip;

typedef struct {
    Arena arena;
    Map index; /* of calls, by their sizes and types */
    VEC(WorkloadCall) call;
    Map skip_index;
    VEC(WorkloadSkip) skip;
    int64_t n_lines, n_calls, n_skipped; /* calls count with their call_count */
    int64_t n_convolutions;              /* taken as matrix products; as many as n_products */
    int64_t n_products;
    bool as_convolution;                /* convolutions are not taken as matrix products */
    int64_t n_epilogues;                /* calls whose bias or activation was left out */
    DataType precision;                 /* of calls whose line names no type */
    bool precision_used, line_epilogue; /* line_epilogue: the line that is being read has one */
} Workload;

void workload_init(Workload *w);
void workload_fini(Workload *w);
/* Reads a log; "-" is standard input. ERR_INPUT: it cannot be read, or is larger than 16 GiB. */
Err workload_read(Workload *w, const char *path);

/* ---- for the readers of lines ---- */

/* Adds n calls; checks and completes the call first. seconds: of one call, 0 unknown. */
Err workload_add(Workload *w, GemmCall *c, int64_t n, double seconds);
/* Adds n calls of the convolutions of a line: all of them, or, after an error, none. */
Err workload_add_conv(Workload *w, const MiopenConv *c, int64_t n, double seconds);
/* Counts a line that is no call. The reason is copied when it is new. */
Err workload_skip(Workload *w, Str reason, Str file, int64_t line);

typedef enum { LINE_OTHER, LINE_CALL, LINE_SKIPPED } LineKind;
/* Reads one line that is no CSV row. LINE_SKIPPED: reason is set (in b). An error of a call's values is
 * returned as ERR_INPUT with the message that names the option. */
Err workload_line(Workload *w, Str line, Buf *reason, LineKind *kind);
/* Reads a number of calls. */
Err workload_count(Str name, Str value, int64_t *count);
/* Sets an option of a call by the name that rocblas-bench, hipblaslt-bench or a profile has for it; unknown
 * ones are ignored. *count: of call_count. */
Err workload_option(Workload *w, GemmCall *c, Str name, Str value, int64_t *count);

#endif
