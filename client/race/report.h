/* The files of a client run: the log CSV (stdout, log-file), the results CSV and the logic rows
 * (library-update-file). */
#ifndef CLIENT_REPORT_H
#define CLIENT_REPORT_H

#include "client/events.h"
#include "client/worker/granularity.h"
#include "client/race/plan.h"

/* The result of one solution on one problem. */
typedef struct {
    const PlanItem *item;
    int64_t s;
    const char *solution; /* kernel name */
    RunStatus status;
    double time_us;   /* mean per enqueue; NAN: not run */
    double gflops;    /* or gflops per CU, by performance-metric */
    Granularity gran; /* total NAN: not known */
    DeviceReading mean, median;
    int64_t n_readings;
    double enqueue_us; /* NAN: not run */
} ReportRow;

typedef struct Report Report;

/* Prints the log's header. */
Err report_new(const Session *s, const RunPlan *plan, Report **out);
void report_free(Report *r);
/* Writes a log row and stores a cell of the results CSV. */
Err report_row(Report *r, const ReportRow *row);
/* The peer's result for a problem; ratio: speed of the best solution over the peer's, with its interval. */
typedef struct {
    const PlanItem *item;
    const char *name; /* "cublas 13.1.0"; kept by the caller */
    double time_us, gflops, ratio, lo, hi;
} ReportPeer;
Err report_peer(Report *r, const ReportPeer *peer);
/* Writes results-file and library-update-file with all results so far. */
Err report_write(Report *r);
/* The same in the middle of a run, for regular files only: a device or FIFO would get everything again. */
Err report_checkpoint(Report *r);

#endif
