/* What a report shows: runs and CSV files, read once into one structure that all writers (page, xlsx, md,
 * JSON) share. Read by data_store.c and data_csv.c; data_compare.c adds the other results of the same sizes.
 *
 * Everything lives in the arena of the ReportData. All text is untrusted: it may hold any bytes, and writers
 * escape it. Times are in nanoseconds of one launch, speeds in GFlops (with per_cu: of one compute unit);
 * NAN: unknown.
 */
#ifndef REPORT_DATA_H
#define REPORT_DATA_H

#include "measure/history.h"
#include "measure/store_search.h"
#include "report/params.h"

/* Where results come from. */
typedef enum {
    SOURCE_RUN,     /* the output directory of a run: finished, at work, or killed */
    SOURCE_RESULTS, /* results CSV of tuner or Tensile: a column per solution */
    SOURCE_PEER,    /* peer.csv: winners beside another library */
    SOURCE_BENCH    /* output of rocblas-bench or tuner-bench: a header and a row for each call */
} SourceKind;

enum {
    REPORT_PLACES = 6,          /* first places of a size that are kept with their intervals */
    REPORT_SPEEDS_MAX = 1500000 /* pairs of size and kernel with a speed of their own, in all groups: bounds
                                 * the page's size */
};
/* Codes in place of a speed. */
#define SPEED_MISSING (-1) /* not measured */
#define SPEED_FAILED 0

typedef struct {
    size_t kernel;
    double ns, lo_ns, hi_ns; /* median and its 95 % interval; NAN: there is none */
    size_t n;                /* samples */
} ReportPlace;

/* A time of the same size from elsewhere: another library, an earlier run. ratio: its time over the winner's
 * (above 1: the winner is faster). verdict: of the winner. */
typedef struct {
    bool found;
    double gflops, ns;
    Comparison ratio;
    Str why; /* where there is no time: the reason, or empty */
    Str kernel;
} ReportOther;

typedef struct {
    Str numbers; /* "1024,1024,1,1024,1024,1024,1024,1024", and strides after a blank */
    int64_t m, n, batch, k;
    double flops, bytes;              /* operations; bytes of A, B and D */
    ReportPlace place[REPORT_PLACES]; /* the fastest first */
    size_t n_places;
    double gflops;     /* of the first place; NAN: there is none */
    Comparison versus; /* first against second place */
    bool dropped;      /* the second place left the race early */
    bool held_out;     /* the library did not get this size: its losses are in ReportRun.regret */
    size_t n_good, n_failed, n_missing;
    int32_t *speed;    /* of each kernel: parts of 10000 of the winner's speed, or a code; NULL: left out */
    double *sample_ns; /* of the winner, for comparisons */
    size_t n_samples;
    ReportOther peer, before;
    int64_t calls; /* of the application, 0: unknown */
} ReportSize;

typedef struct {
    Str name, compile; /* compile: outcome, empty: unknown */
    Str facts;         /* "vgpr=64 lds=..."; may be empty */
} ReportKernel;

typedef struct {
    size_t run;     /* of the ReportData */
    Str name, type; /* "Cijk_Ailk_Bljk_SB_00", "Cijk_Ailk_Bljk_SB" */
    Str arch;
    bool per_cu;
    int32_t bytes_ab, bytes_d;                     /* of an element of A and B, of D; 0: not looked up yet */
    int64_t n_permutations, n_valid, n_duplicates; /* 0, 0, 0: unknown */
    ReportKernel *kernel;
    size_t n_kernels;
    ReportSize *size;
    size_t n_sizes;
    Rejection *rejection;
    size_t n_rejections;
    StatusCount *status;
    size_t n_statuses;
    ReportParam *param; /* parameters in which the kernels differ */
    size_t n_params;
    double peak_gflops, dram_gbs; /* ceilings of the device; NAN: unknown */
    double cache_bytes;           /* operands of so few bytes are not bound by DRAM; 0: they are not cached */
} ReportGroup;

/* A kernel that did not compile, gave wrong results, crashed, hung or could not be run. */
typedef struct {
    Str kernel, size; /* size: empty where it did not compile */
    Str status, detail;
} ReportFault;

typedef struct {
    SourceKind kind;
    Str path;
    Str state; /* "done", "running", "interrupted", "failed", "killed"; empty: no run */
    bool live; /* a process works on it now */
    Str detail, started, ended, command;
    Str device, driver, arch;
    Busy busy;
    bool has_busy;
    StepTime *step;
    size_t n_steps;
    SearchView *search;
    size_t n_searches;
    ReportFault *fault;
    size_t n_faults;
    Regret *regret;
    size_t n_regrets;
} ReportRun;

typedef struct {
    Arena arena;
    ReportRun *run;
    size_t n_runs;
    ReportGroup *group; /* of all runs */
    size_t n_groups;
    Str peer;       /* name of the library beside the winners; empty: none */
    Str before;     /* path of the earlier results; empty: none */
    double seconds; /* of all calls of the application by the winners' times; 0: no calls are known */
    size_t n_pairs; /* pairs of size and kernel so far */
} ReportData;

typedef struct {
    const char *const *path; /* directories and CSV files */
    size_t n_paths;
    const char *before;     /* NULL: none */
    const char *const *log; /* of the application: calls of sizes, as 'tuner sizes' reads them */
    size_t n_logs;
    const char *part; /* of CSV files that name no device; NULL: unknown */
} ReportInputs;

/* ERR_INPUT: a path is neither a run's directory nor a CSV file with results. On errors too, the data must be
 * released with report_data_fini. */
Err report_data_read(ReportData *d, const ReportInputs *in);
void report_data_fini(ReportData *d);
/* Whether a process works on one of the runs. */
bool report_data_live(const ReportData *d);

/* What all readers leave to be done: parameters and their worth. */
Err report_data_finish(ReportData *d);

/* ---- for the readers ---- */

/* Appends a run, or a group of the last run; NULL: out of memory. Pointers to earlier ones become invalid. */
ReportRun *report_run_add(ReportData *d, SourceKind kind, Str path);
ReportGroup *report_group_add(ReportData *d);
/* M, N, batch and K of the numbers, operations and bytes. flops: NAN: computed. */
void report_size_init(ReportGroup *g, ReportSize *z, Str numbers, double flops);
/* True while speeds of n more pairs fit. */
bool report_speeds_fit(ReportData *d, size_t n);
/* The ceilings by the table of parts. device: text with a part's name; g->type and g->arch are set. */
void report_ceilings(ReportGroup *g, Str device, const char *part);
/* The problem type in the name of a group or kernel: what stands before "_MT" or "_00". */
Str report_type_of(Str name);

Err data_store_read(ReportData *d, const char *outdir);
Err data_csv_read(ReportData *d, const char *path, const char *part);
/* The same from text in memory, which must live as long as the data; path: for messages. */
Err data_csv_take(ReportData *d, const char *path, const char *part, Str text);
/* Adds the results of other data as ReportSize.before. */
Err data_compare(ReportData *d, const ReportData *before, Str path);
/* Reads the application's calls and adds their number to the sizes. */
Err data_calls(ReportData *d, const char *const *log, size_t n);

#endif
