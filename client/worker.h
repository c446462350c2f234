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
#include "client/session.h"

typedef struct {
    int64_t p, s;          /* problem; solution's number in the library */
    bool validate, timing; /* timing false: the validated run only */
    double expected_ns;    /* of one launch, 0 unknown */
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
    DeviceReading mean, median; /* WORK_END: NAN where absent */
    char text[WORK_TEXT];       /* WORK_NOTE: a warning; WORK_VALID, WORK_END: the reason */
} WorkMessage;

/* Runs until the socket closes. Never returns. */
_Noreturn void worker_main(const Session *s, int socket);

/* For the worker's own parts. */
Err worker_send(int socket, const WorkMessage *m);
Err worker_budget(int socket, uint64_t ns);

#endif
