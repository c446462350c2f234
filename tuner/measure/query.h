/* Queries of steps and reports to a store, answered with structs. All SQL of the program is below measure/;
 * other folders call these functions and those of store.h and result.h.
 *
 * Arrays and strings live in the arena that is passed. Errors are those of store.h: ERR_INPUT when the file
 * is damaged, ERR_FAILED for memory or a failed read.
 */
#ifndef MEASURE_QUERY_H
#define MEASURE_QUERY_H

#include "measure/result.h"

/* One start of the program. */
typedef struct {
    Str command;
    Str state; /* "running", "done", "interrupted", "failed"; a killed run leaves "running" */
    Str started;
    Str detail; /* error text; may be empty */
} SessionRecord;

Err query_session(Store *s, Arena *a, int64_t session, SessionRecord *out, bool *found);
Err query_last_session(Store *s, Arena *a, SessionRecord *out, bool *found);
/* Counts measurements of a session's plans: n_wrong gave wrong results, n_faulted crashed, hung or could not
 * be run. */
typedef struct {
    int64_t n_wrong, n_faulted;
} FaultCount;
Err query_session_faults(Store *s, int64_t session, FaultCount *out);

/* Value of a key in the latest recorded environment that has it; empty when none has. */
Err query_environment(Store *s, Arena *a, const char *key, Str *out);

/* A rule that rejected solutions of a plan, most frequent first; text: the rule's sentence for the first
 * solution that it rejected. */
typedef struct {
    Str rule, text;
    int64_t n;
} Rejection;
Err query_rejections(Store *s, Arena *a, int64_t plan, Rejection **out, size_t *n);

/* Candidates of a plan that were not compiled successfully, in order, at most max. */
typedef struct {
    Str name;
    BuildOutcome outcome;
} FailedKernel;
Err query_failed_kernels(Store *s, Arena *a, const PlanView *p, int64_t max, FailedKernel **out, size_t *n);

/* Measurements of a plan by status, most frequent first. */
typedef struct {
    Str status;
    int64_t n;
    bool good; /* PASSED or NO_CHECK */
} StatusCount;
Err query_statuses(Store *s, Arena *a, const PlanView *p, StatusCount **out, size_t *n);

/* Pairs of candidate and size: how many, the sum of their floating-point operations, and the largest. */
typedef struct {
    int64_t n;
    double flops, flops_max;
} PairCount;
/* The sizes of a plan: the work of one candidate. */
Err query_plan_work(Store *s, int64_t plan, PairCount *out);
/* Pairs of the plan that are measured in a setting, runs 0 to n_runs - 1; flops_max stays 0. */
Err query_measured_work(Store *s, int64_t plan, int64_t setting, int64_t n_runs, PairCount *out);

/* Where the store has measurements, but none of a device with this name, *other is the device of some of
 * them; otherwise STR_NULL. */
Err query_other_device(Store *s, Arena *a, Str name, Str *other);
/* What one device measured. */
typedef struct {
    Str device; /* "cuda:1 of node7: NVIDIA H200" */
    int64_t n_sizes, n_pairs;
} DeviceShare;
enum { DEVICE_SHARES_MAX = 1024 };
/* The devices that measured a plan's sizes, or one of its problems (problem 0: all), sorted by name; at most
 * DEVICE_SHARES_MAX. Stores of older versions do not know them. */
Err query_devices(Store *s, Arena *a, const PlanView *p, int64_t problem, DeviceShare **out, size_t *n);

/* The times at which the last max measurements in a setting ended, latest first. */
typedef struct {
    int64_t id;
    double ended_s; /* UTC, since 1970 */
    double flops;
} PairEnd;
Err query_pair_ends(Store *s, Arena *a, int64_t setting, int64_t max, PairEnd **out, size_t *n);

/* Compiles of the kernels whose name, source hash or candidate name contains the text, oldest first, at most
 * max. fn gets one record at a time, because logs may be long; the strings are valid in fn only. */
typedef struct {
    Str name, hash, log, ended;
    BuildOutcome outcome;
    double seconds;
} CompileRecord;
typedef Err CompileRecordFn(void *ctx, const CompileRecord *c);
Err query_compiles(Store *s, Str text, int64_t max, CompileRecordFn *fn, void *ctx);
/* Measurements of those kernels that gave wrong results, crashed, hung or could not be run. */
typedef struct {
    Str kernel, problem, status, detail;
} FaultRecord;
Err query_faults(Store *s, Arena *a, Str text, int64_t max, FaultRecord **out, size_t *n);

#endif
