/* Worker: the forked process that loads code objects and runs kernels, and its messages with the supervisor.
 *
 * The supervisor sends one WorkRequest at a time and gets messages until WORK_END. Before each phase that
 * runs foreign code the worker says how long it may take (WORK_BUDGET); the supervisor kills it when that is
 * over. A worker that dies has been running what was last asked of it. Messages are datagrams on a
 * SOCK_SEQPACKET pair: whole or not at all.
 */
#ifndef CLIENT_WORKER_H
#define CLIENT_WORKER_H

#include "client/events.h"
#include "client/worker/session.h"

/* What is asked. LOOP: the validated run and the timing loop of the options, all of one solution. The others
 * are the steps of a race (race.c): LOOK: the validated run and a first time; BLOCK: n_blocks batches of
 * n_launches; FRESH: all of D on data that no candidate has seen. */
typedef enum { DO_LOOP, DO_LOOK, DO_BLOCK, DO_FRESH } WorkTask;
enum { WORK_PEER = -1 }; /* instead of a solution's number */

typedef struct {
    WorkTask task;
    int64_t p, s;          /* problem; solution's number in the library, WORK_PEER */
    bool validate, timing; /* timing false: the validated run only */
    bool graph;            /* BLOCK: launches as one piece of work */
    bool trust_peer;       /* FRESH: its results are right */
    double expected_ns;    /* of one launch, 0 unknown */
    double best_ns;        /* LOOK: of the best so far, 0 none: what is far behind gets no second launch */
    int64_t n_launches, n_blocks;
    uint64_t wait_ns; /* BLOCK: idle before, so that a hot or throttled device can recover */
} WorkRequest;

typedef enum { WORK_READY, WORK_BUDGET, WORK_NOTE, WORK_VALID, WORK_SAMPLES, WORK_END } WorkKind;
enum { WORK_SAMPLES_MAX = 24, WORK_TEXT = 400 };

typedef struct {
    WorkKind kind;
    int64_t p, s;
    uint64_t budget_ns; /* WORK_BUDGET: from now; 0 none */
    RunStatus status;   /* WORK_VALID, WORK_END */
    int64_t n_checked;  /* WORK_VALID */
    double max_err;
    int64_t first_sync, n_samples; /* WORK_SAMPLES */
    int64_t n_enqueues[WORK_SAMPLES_MAX];
    uint64_t total_ns[WORK_SAMPLES_MAX];
    uint64_t enqueue_ns; /* WORK_END: host time of all launches */
    int64_t n_readings;
    DeviceReading mean, median; /* WORK_END: NAN where absent; WORK_SAMPLES of a race: mean is the block's */
    bool gone;                  /* WORK_END: the device is lost to this process, which ends */
    char text[WORK_TEXT];       /* WORK_NOTE: a warning; WORK_VALID, WORK_END: the reason */
} WorkMessage;

/* Runs until the socket closes. Never returns. */
_Noreturn void worker_main(const Session *s, int socket);

/* For the worker's own parts. */
Err worker_send(int socket, const WorkMessage *m);
Err worker_budget(int socket, uint64_t ns);

#endif
