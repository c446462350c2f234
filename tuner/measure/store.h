/* Store: outdir/tuning.db, the record of everything a tuning run found out. Facts are appended, never
 * changed, and keyed by content, so that a killed run goes on where it stopped and an edited config reuses
 * what still holds:
 *
 *   environment  device, toolchain, tool version            key: the text itself
 *   kernel       one generated source                       key: hash of the source
 *   compile      a kernel compiled in an environment        status, time, log
 *   code         facts from the code object of a kernel     "vgpr=64 sgpr=30 ..." (build/facts.h)
 *   problem      problem type and size                      key: "Cijk_Ailk_Bljk_SB 64,64,1,64,64,64,64,64"
 *   setting      what else a time depends on                key: canonical ini text, device included
 *   measurement  kernel x problem x setting x run           verdict, samples
 *   device       which device measured it                   key: name, number and host
 *   plan         one size-group as it was forked            candidates (kernels by column), sizes, rejections
 *   session      one start of the program                   its plans, time of each step, how it ended
 *
 * A store of another format or version is refused and not changed. A store is untrusted input: names and
 * numbers are checked where they are read (result.h). Reports and steps read through query.h and result.h.
 */
#ifndef MEASURE_STORE_H
#define MEASURE_STORE_H

#include "build/build.h"
#include "measure/busy.h"

enum { STORE_VERSION = 1 };

typedef enum { STORE_WRITE, STORE_READ } StoreMode;

typedef struct {
    struct Db *db; /* measure/db.h; for the files of this folder alone */
    int lock_fd;   /* -1 when reading */
} Store;

/* STORE_WRITE makes outdir, takes outdir/tuning.lock (ERR_FAILED when another process holds it) and creates
 * or checks the database. STORE_READ: ERR_INPUT when there is no store. */
Err store_open(Store *s, const char *outdir, StoreMode mode);
void store_close(Store *s);
/* Whether a run is working on outdir, which is when it holds the lock. */
bool store_at_work(const char *outdir);
/* A session's state for users: one that says that it runs while no run is at work was killed. */
Str session_state(Str stored, bool at_work);
/* Path of the database, for messages. */
const char *store_path(const Store *s);

/* Between begin and commit, additions form one transaction; otherwise each addition is committed by itself.
 */
Err store_begin(Store *s);
Err store_commit(Store *s);
void store_rollback(Store *s);

/* The id of the row with this key, which is added when absent. Ids never change. */
Err store_environment(Store *s, Str text, int64_t *id);
Err store_problem(Store *s, Str key, double flops, int64_t *id);
/* The convolution that a problem is (SizeExtra.conv). */
Err store_conv_add(Store *s, int64_t problem, Str text);
Err store_setting(Store *s, Str key, int64_t *id);
Err store_kernel(Store *s, Str hash, Str name, int64_t *id);

typedef struct {
    int64_t kernel, environment;
    BuildOutcome outcome;
    uint64_t ns; /* of the compiler; 0 when the object came from the cache */
    Str log;     /* output of the compiler; may be empty */
} Compile;

Err store_compile_add(Store *s, const Compile *c);
/* The latest compilation of the kernel in the environment. */
Err store_compile_get(Store *s, Arena *a, int64_t kernel, int64_t environment, Compile *out, bool *found);

/* Facts that are already there are kept, because the same compiler gives the same code. */
Err store_code_add(Store *s, int64_t kernel, int64_t environment, Str facts);
Err store_code_get(Store *s, Arena *a, int64_t kernel, int64_t environment, Str *facts, bool *found);

typedef struct {
    int64_t kernel, problem, setting, run;
} MeasureKey;

/* One timed group of launches. In a race, samples of one problem with the same round were taken side by side;
 * round 0: no race. use: USE_FIRST: before the last stage of the race; USE_FINAL: in the last stage;
 * USE_OUTLIER: the sample was repeated and does not count. */
typedef enum { USE_FIRST, USE_FINAL, USE_OUTLIER } SampleFor;
typedef struct {
    uint64_t ns;
    int64_t enqueues;
    int64_t round;
    double clock_mhz, power_w, temp_c; /* NAN: unknown */
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
    int64_t device; /* of store_device; 0: not known. Written, not read: query_devices */
} Measurement;

/* The id of a device, described by its name, number and host: which of several devices measured what. */
Err store_device(Store *s, Str text, int64_t *id);
Err store_measured_on(Store *s, int64_t measurement, int64_t device);
/* Creates the tables of devices, which stores of older versions lack. */
Err store_device_tables(Store *s);

/* A measurement that is already there is kept. */
Err store_measure_add(Store *s, const Measurement *m);
Err store_measure_get(Store *s, Arena *a, const MeasureKey *key, Measurement *out, bool *found);
/* The measurements of runs key->run to key->run + n_runs - 1 that the store has, in order. */
Err store_measure_runs(Store *s, Arena *a, const MeasureKey *key, int64_t n_runs, Measurement **out,
                       size_t *n);
Err store_measured(Store *s, const MeasureKey *key, bool *found);
/* A peer is stored as a kernel of that name which is a candidate of no plan; its hash begins with
 * PEER_HASH. */
#define PEER_HASH "peer "
Err store_peer(Store *s, Str name, int64_t *kernel);
/* The peer that was measured on a problem in a setting; *found is false when none was. */
Err store_peer_find(Store *s, Arena *a, int64_t problem, int64_t setting, int64_t *kernel, Str *name,
                    bool *found);
typedef struct {
    Str key;   /* hash of the contents: changes when candidates or sizes do */
    Str group; /* "Cijk_Ailk_Bljk_SB_00" */
    Str arch;
    int64_t setting, environment;
    int64_t n_permutations, n_valid, n_duplicates, n_runs;
} PlanRecord;

Err store_plan(Store *s, const PlanRecord *p, int64_t *id, bool *added);
Err store_candidate_add(Store *s, int64_t plan, int64_t column, int64_t kernel, Str name);
Err store_size_add(Store *s, int64_t plan, int64_t row, int64_t problem);
Err store_rejection_add(Store *s, int64_t plan, Str reason, Str text, int64_t count);

Err store_session_begin(Store *s, Str command, int64_t *id);
/* Records the plan of the session's i-th size-group, counted over all problem groups of the config; it
 * replaces an earlier one of that group. */
Err store_session_plan(Store *s, int64_t session, int64_t i, int64_t plan);
/* A finished step and its wall time. */
Err store_step_add(Store *s, int64_t session, Str name, uint64_t ns);
/* Records the load of the machine while a session measured on its CPU: the highest 1-minute load average
 * (NAN: nothing was measured), and the counts of winners' intervals. The margin is not stored: it is
 * RUN_LOAD_MARGIN. */
Err store_busy_add(Store *s, int64_t session, const Busy *b);
/* The record of the last session that has one. */
Err store_busy_last(Store *s, Busy *out, bool *found);
/* Busy.margin of a run: the 1-minute average still contains the compilers, which take all cores, when the
 * timed kernel adds one thread. */
#define RUN_LOAD_MARGIN 1
/* state: "done", "interrupted", "failed". */
Err store_session_end(Store *s, int64_t session, Str state, Str detail);

#endif
