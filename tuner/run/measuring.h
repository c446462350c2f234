/* Measures pairs of kernel and size with a client, and records its events in the store. One Measuring belongs
 * to one client at a time; clients of one run share their totals. */
#ifndef TUNER_MEASURING_H
#define TUNER_MEASURING_H

#include "base/vec.h"
#include "run/client_run.h"
#include "run/eta.h"
#include "run/run.h"

typedef struct {
    uint64_t total, done; /* pairs of all groups and runs */
    Progress progress;
    Eta eta;
    bool late;         /* the deadline of the search has passed */
    uint64_t ended_ns; /* when the last pair ended, or the first client was started */
    double best_gflops;
    int64_t best_size;
    size_t n_devices, n_lost; /* of a pool: that measure, that were lost; 0: one device */
} MeasureTotals;

/* A crash that is not in the store yet. */
typedef struct {
    int64_t p, s;
    RunStatus status;
    char text[400];
} HeldResult;

typedef struct {
    Run *r;
    Group *g;
    int64_t run;
    MeasureTotals *all;
    int64_t device_id; /* of store_device */
    Str device_text;   /* the same as text */
    bool open;         /* a pair has started and not ended */
    int64_t p, s;
    VEC(Sample) samples;
    int64_t checked;
    double max_err;
    uint64_t n_ended; /* pairs that this client has finished */
    bool part_done;   /* the client has done all that it was given */
    /* With several devices a kernel that crashes may be the victim of a device that is lost. Such results
     * wait until a later kernel runs on the device. */
    bool holds;
    VEC(HeldResult) held;
    Buf environment;
    Str plan_path, log_path, ini_path, build_dir;
} Measuring;

void measuring_fini(Measuring *m);
/* Sets the device that measures. */
Err measuring_device(Measuring *m, const DeviceChoice *d);
/* The paths of the group's client. */
Err measuring_paths(Measuring *m);
MeasureKey measuring_key(const Measuring *m, int64_t p, int64_t s);
double measuring_flops(const Group *g, int64_t p);
/* Whether the pair of size and column is to be measured. */
bool measuring_wanted(const Group *g, size_t p, size_t s);
/* Appends the pairs of a size that the store lacks as lines of a plan; adds their number to *n. */
Err measuring_missing(Measuring *m, size_t p, Buf *out, size_t *n);
/* More arguments of the client; device: the number of another device than the ini's, or NULL. */
const char **measuring_args(Run *r, const char *device);

/* The callbacks for client_run and client_read; ctx is the Measuring. */
Err measuring_event(void *ctx, const Event *e);
void measuring_tick(void *ctx);
/* Stores the result of the pair that the client is measuring. */
Err measuring_pair_end(Measuring *m, RunStatus status, Str text);
/* Stores the crashes that were held back, after a later kernel ran on the device. */
Err measuring_release(Measuring *m);
/* Stores the times of a client process, for traces. An end without a time means that tuner killed it. */
Err measuring_client_end(Measuring *m, const ClientEnd *end, uint64_t started_ns);
/* Stores the client's description of its device and driver. */
Err measuring_environment(Measuring *m);

#endif
