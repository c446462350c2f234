/* Store: outdir/tuning.db, the record of everything a tuning run found out. Facts are appended, never
 * changed, and keyed by content, so that a killed run goes on where it stopped and an edited config reuses
 * what still holds:
 *
 *   environment  device, toolchain, tool version            key: the text itself
 *   kernel       one generated source                       key: sha256 of the source
 *   compile      a kernel compiled in an environment        status, time, log
 *   code         what a compiled kernel says of itself      "vgpr=64 sgpr=30 ..." (build/facts.h)
 *   problem      problem type and size                      key: "Cijk_Ailk_Bljk_SB 64,64,1,64,64,64,64,64"
 *   setting      all that a time depends on besides         key: canonical ini text, device included
 *   measurement  kernel x problem x setting x run           verdict, samples
 *   plan         one size-group as it was forked            candidates (kernels by column), sizes, rejections
 *   session      one start of the program                   its plans, time of each step, how it ended
 *
 * A store of another format or version is refused and left alone. A store is untrusted input: it may come
 * from elsewhere, so that names and numbers out of it are checked where they are read (result.h). Does not
 * decide what to do (pipeline.c) nor who wins.
 */
#ifndef MEASURE_STORE_H
#define MEASURE_STORE_H

#include "build/build.h"

enum { STORE_VERSION = 1 };

typedef enum { STORE_WRITE, STORE_READ } StoreMode;

typedef struct {
    struct Db *db; /* measure/db.h; for the files of this folder alone */
    int lock_fd;   /* -1 when reading */
} Store;

/* Writing: makes outdir, takes outdir/tuning.lock (held: ERR_FAILED), creates or checks the database.
 * Reading: ERR_INPUT when there is no store. */
Err store_open(Store *s, const char *outdir, StoreMode mode);
void store_close(Store *s);
/* Path of the database, for messages. */
const char *store_path(const Store *s);

/* Groups many additions into one commit; without it each addition is one. */
Err store_begin(Store *s);
Err store_commit(Store *s);
void store_rollback(Store *s);

/* Find or add; the id is stable for the life of the store. */
Err store_environment(Store *s, Str text, int64_t *id);
Err store_problem(Store *s, Str key, double flops, int64_t *id);
Err store_setting(Store *s, Str key, int64_t *id);
Err store_kernel(Store *s, Str hash, Str name, int64_t *id);

typedef struct {
    int64_t kernel, environment;
    BuildOutcome outcome;
    uint64_t ns; /* of the compiler; 0 when the object came from the cache */
    Str log;     /* what the compiler said; may be empty */
} Compile;

Err store_compile_add(Store *s, const Compile *c);
/* The latest of that kernel in that environment. */
Err store_compile_get(Store *s, Arena *a, int64_t kernel, int64_t environment, Compile *out, bool *found);

/* The first one counts, as the compiler gives the same code again. */
Err store_code_add(Store *s, int64_t kernel, int64_t environment, Str facts);
Err store_code_get(Store *s, Arena *a, int64_t kernel, int64_t environment, Str *facts, bool *found);

typedef struct {
    int64_t kernel, problem, setting, run;
} MeasureKey;

/* A timed group. Of a race also: its round (samples of one problem and round were taken side by side; 0: no
 * race), what the sensors said, and what it is good for. */
typedef enum { USE_FIRST, USE_FINAL, USE_OUTLIER } SampleFor;
typedef struct {
    uint64_t ns;
    int64_t enqueues;
    int64_t round;
    double clock_mhz, power_w, temp_c; /* NAN unknown */
    uint32_t throttle;                 /* bits of client/device/device.h */
    SampleFor use;
} Sample;

typedef struct {
    MeasureKey key;
    Str status; /* names of client/events.h: "PASSED", "CRASHED", ... */
    Str detail;
    const Sample *sample;
    size_t n_samples;
    int64_t checked; /* elements compared */
    double max_err;
} Measurement;

/* A measurement that is already there is kept: the first one counts. */
Err store_measure_add(Store *s, const Measurement *m);
Err store_measure_get(Store *s, Arena *a, const MeasureKey *key, Measurement *out, bool *found);
/* Those of runs key->run to key->run + n_runs - 1 that are there, in order. */
Err store_measure_runs(Store *s, Arena *a, const MeasureKey *key, int64_t n_runs, Measurement **out,
                       size_t *n);
Err store_measured(Store *s, const MeasureKey *key, bool *found);
/* A peer is filed as a kernel of that name that is no plan's candidate. */
Err store_peer(Store *s, Str name, int64_t *kernel);
/* The peer that was measured with a problem and setting; found false: none was. */
Err store_peer_find(Store *s, Arena *a, int64_t problem, int64_t setting, int64_t *kernel, Str *name,
                    bool *found);
typedef struct {
    Str key;   /* content: changes when candidates or sizes do */
    Str group; /* "Cijk_Ailk_Bljk_SB_00" */
    Str arch;
    int64_t setting, environment;
    int64_t n_permutations, n_valid, n_duplicates, n_runs;
} Plan;

Err store_plan(Store *s, const Plan *p, int64_t *id, bool *added);
Err store_candidate_add(Store *s, int64_t plan, int64_t column, int64_t kernel, Str name);
Err store_size_add(Store *s, int64_t plan, int64_t row, int64_t problem);
Err store_rejection_add(Store *s, int64_t plan, Str reason, Str text, int64_t count);

Err store_session_begin(Store *s, Str command, int64_t *id);
/* i: position of the size-group in the config, over all problem groups. */
Err store_session_plan(Store *s, int64_t session, int64_t i, int64_t plan);
/* A finished step and its wall time. */
Err store_step_add(Store *s, int64_t session, Str name, uint64_t ns);
/* How quiet the machine was while a session measured on its CPU. */
typedef struct {
    double load;             /* highest 1-minute load average; NAN: nothing was measured */
    int64_t n_cores;         /* of the machine */
    int64_t n_wide, n_sizes; /* intervals of the solutions in use wider than BUSY_WIDTH, and all */
} Busy;
#define BUSY_WIDTH 0.05

Err store_busy_add(Store *s, int64_t session, const Busy *b);
/* Of the last session that has it. */
Err store_busy_last(Store *s, Busy *out, bool *found);
/* Busy: more load than the cores and one runner can explain, or most intervals wide. Then true, and the
 * line. */
bool busy_text(const Busy *b, char *text, size_t size);
/* state: "done", "interrupted", "failed". */
Err store_session_end(Store *s, int64_t session, Str state, Str detail);

#endif
