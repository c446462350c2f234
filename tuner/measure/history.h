/* History: the times of a run's events (starts of the program, steps, compilers, client processes,
 * measurements), and the losses of the library's choices on held-out sizes. The tables of clients and losses
 * are created when something is first written to them, so that a store of an older version lacks them.
 *
 * Times are seconds since 1970, UTC, to the millisecond.
 */
#ifndef MEASURE_HISTORY_H
#define MEASURE_HISTORY_H

#include "measure/query.h"

/* ---- starts and steps ---- */

typedef struct {
    int64_t id;
    Str command, state, detail;
    Str started, ended;        /* "2026-11-23T08:11:26.159Z"; ended may be empty */
    double started_s, ended_s; /* ended_s NAN: it runs, or was killed */
} SessionTimes;
/* All starts of the program on this store, in order. */
Err query_sessions(Store *s, Arena *a, SessionTimes **out, size_t *n);

typedef struct {
    Str name;
    double seconds;
} StepTime;
/* The finished steps of a session, in order. */
Err query_steps(Store *s, Arena *a, int64_t session, StepTime **out, size_t *n);

/* ---- compilers, clients, measurements: for each one in the order of their ends ---- */

typedef struct {
    Str name; /* of the kernel */
    BuildOutcome outcome;
    double ended_s, seconds;
} CompileTime;
typedef Err CompileTimeFn(void *ctx, const CompileTime *c);
Err query_compile_times(Store *s, CompileTimeFn *fn, void *ctx);

typedef struct {
    Str kernel, problem, status; /* kernel: its latest name as a candidate, or the peer's name */
    Str device;                  /* as clients have it; empty: a store of an older version */
    int64_t setting, run;
    double ended_s;
    double timed_s; /* sum of the timed samples */
    int64_t n_samples, checked;
    bool race;
} MeasureTime;
typedef Err MeasureTimeFn(void *ctx, const MeasureTime *m);
Err query_measure_times(Store *s, MeasureTimeFn *fn, void *ctx);

/* A process of tuner-client, from its start to its end. */
typedef struct {
    Str group, device; /* the size group that it measured, and on which device */
    Str end;           /* "exit status 0", "killed by signal 9 (Killed)" */
    double started_s, seconds;
} ClientTime;
/* Adds a process that ended now. */
Err store_client_add(Store *s, int64_t session, const ClientTime *c);
Err query_clients(Store *s, Arena *a, ClientTime **out, size_t *n);

/* ---- losses on held-out sizes ---- */

typedef struct {
    Str type, choice; /* "Cijk_Ailk_Bljk_SB"; "libtuner", "table, Ratio" */
    Str numbers;      /* of the size: "300,200,1,100" */
    bool aligned;     /* M, N and K are multiples of 8 */
    double loss;      /* time of the choice over the best kernel's, minus 1 */
} Regret;
Err store_regret_add(Store *s, int64_t session, const Regret *r);
/* Those of the last session that has any. */
Err query_regrets(Store *s, Arena *a, Regret **out, size_t *n);

#endif
