/* What a client run reports: the log CSV (stdout, log-file), the results CSV and the logic rows
 * (library-update-file). */
#ifndef CLIENT_REPORT_H
#define CLIENT_REPORT_H

#include "client/events.h"
#include "client/worker/granularity.h"
#include "client/race/plan.h"

/* One solution that was run (or not) on one problem. */
typedef struct {
    const PlanItem *item;
    int64_t s;
    const char *solution; /* kernel name */
    RunStatus status;
    double time_us;   /* mean per enqueue; NAN: not run */
    double gflops;    /* or per CU: as performance-metric says */
    Granularity gran; /* total NAN: not known */
    DeviceReading mean, median;
    int64_t n_readings;
    double enqueue_us; /* NAN: not run */
} ReportRow;

typedef struct Report Report;

/* Prints the log's header. */
Err report_new(const Session *s, const Plan *plan, Report **out);
void report_free(Report *r);
/* A log row and a cell. */
Err report_row(Report *r, const ReportRow *row);
/* The peer beside a problem's best solution; ratio: speed of ours over the peer's, with its interval. */
typedef struct {
    const PlanItem *item;
    const char *name; /* "cublas 13.1.0"; kept by the caller */
    double time_us, gflops, ratio, lo, hi;
} ReportPeer;
Err report_peer(Report *r, const ReportPeer *peer);
/* Writes results-file and library-update-file: whole, so far. */
Err report_write(Report *r);
/* The same in the middle of a run: only what is replaced by it. A device or FIFO would get everything
 * again. */
Err report_checkpoint(Report *r);

#endif
