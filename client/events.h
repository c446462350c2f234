/* Events: tuner-client's reports to the pipeline while it runs (option events-fd), one tab-separated line per
 * event, flushed one by one:
 *
 *   events  version                             EVENTS_VERSION; the first line
 *   env     key value                               once each at the start: device, architecture, n_cu, ...
 *   start   p s                                     solution s on problem p begins
 *   valid   p s STATUS checked max_err text         verdict of the validated run
 *   sample  p s sync_no enqueues total_ns           one timed sync group
 *   end     p s STATUS n median_ns lo_ns hi_ns text per enqueue, interval at 0.95; nan where n is 0
 *   part                                        the lines of a plan before an empty one are done (plan.h)
 *   done
 *
 * A sample of a race has more fields:
 *
 *   round      above 0; samples of one problem with the same round were taken one right after another
 *   clock_mhz power_w temp_c       nan where there is no sensor
 *   throttle   bits of DeviceThrottle (device.h)
 *   use        "first" (before the last stage), "final", or "outlier" (repeated, not counted)
 *
 * p and s are indexes into the ini's problems and the library's solutions; s is -1 for the peer, whose end
 * has its name and version as text. Every start is followed by exactly one end for the same p s, also when
 * the worker died (CRASHED, TIMEOUT) and when the solution is skipped (WRONG_HARDWARE,
 * DID_NOT_SATISFY_ASSERTS). A second start before the end voids the events since the first one: another
 * process killed the worker, and the solution runs once more. Text has tabs and newlines replaced by blanks.
 */
#ifndef CLIENT_EVENTS_H
#define CLIENT_EVENTS_H

#include "base/str.h"

enum { EVENTS_VERSION = 1 };

typedef enum {
    EVENT_VERSION,
    EVENT_ENV,
    EVENT_START,
    EVENT_VALID,
    EVENT_SAMPLE,
    EVENT_END,
    EVENT_PART,
    EVENT_DONE
} EventKind;

typedef enum {
    RUN_PASSED,
    RUN_FAILED,  /* wrong result */
    RUN_INVALID, /* could not be run: load, launch, arguments, memory */
    RUN_CRASHED, /* its process ended */
    RUN_TIMEOUT,
    RUN_DID_NOT_SATISFY_ASSERTS, /* problem or task predicate false */
    RUN_WRONG_HARDWARE,
    RUN_NO_CHECK, /* ran without validation */
    RUN_SKIPPED,  /* below granularity-threshold: not run */
    RUN_STATUS_COUNT
} RunStatus;

/* Event names: "PASSED", "CRASHED", ... */
const char *run_status_name(RunStatus s);
/* Name in the validation column of the log CSV, where CRASHED and TIMEOUT are INVALID. */
const char *run_status_column(RunStatus s);
/* Whether the times count: PASSED or NO_CHECK. */
bool run_status_good(RunStatus s);

typedef enum { SAMPLE_FIRST, SAMPLE_FINAL, SAMPLE_OUTLIER } SampleUse;

/* The fields of a sample of a race; round 0: the sample is not from a race. */
typedef struct {
    int64_t round;
    double clock_mhz, power_w, temp_c;
    uint32_t throttle;
    SampleUse use;
} SampleState;

typedef struct {
    EventKind kind;
    Str key, value;              /* env */
    int64_t p, s;                /* all but version, env, part, done */
    RunStatus status;            /* valid, end */
    int64_t checked;             /* valid: elements compared */
    double max_err;              /* valid: largest of the error formula */
    Str text;                    /* valid, end */
    int64_t sync_no, n_enqueues; /* sample */
    uint64_t total_ns;           /* sample */
    SampleState state;           /* sample */
    int64_t n;                   /* end: samples */
    double median_ns, lo_ns, hi_ns;
} Event;

/* One line without its newline; strings point into it. Unknown kinds, another version and malformed lines:
 * ERR_INPUT. */
Err event_parse(Str line, Event *out);
/* Appends the line with its newline. */
void event_format(const Event *e, Buf *out);
/* Formats and writes the line; ERR_FAILED when the reader has closed the pipe. */
Err event_write(int fd, const Event *e);

#endif
