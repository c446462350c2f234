/* Worker: the forked process that loads code objects and runs kernels, and its messages with the supervisor.
 *
 * The supervisor sends one WorkRequest at a time and gets messages until WORK_END. Before each phase that
 * runs kernels the worker sends the time limit of the phase (WORK_BUDGET); the supervisor kills a worker that
 * exceeds it. When a worker dies, the last request is the cause. Messages are datagrams on a SOCK_SEQPACKET
 * pair, so they arrive whole or not at all.
 */
#ifndef CLIENT_WORKER_H
#define CLIENT_WORKER_H

#include "client/events.h"
#include "client/worker/session.h"

/* What the worker does with a solution. All but DO_LOOP are steps of a race (race.c). */
typedef enum {
    DO_LOOP,  /* the validated run and the timing loop of the options */
    DO_LOOK,  /* the validated run and a first time */
    DO_BLOCK, /* n_blocks blocks of n_launches launches */
    DO_FRESH  /* checks all of D on data that no solution has seen */
} WorkTask;
enum { WORK_PEER = -1 }; /* instead of a solution's number */

typedef struct {
    WorkTask task;
    int64_t p, s;          /* problem; solution's number in the library, WORK_PEER */
    bool validate, timing; /* timing false: the validated run only */
    bool graph;            /* DO_BLOCK: launches are queued as a graph */
    bool brief;            /* DO_BLOCK: one block as DO_LOOK times it */
    bool trust_peer;       /* DO_FRESH: the peer's results are right */
    double expected_ns;    /* of one launch, 0 unknown */
    double best_ns;        /* DO_LOOK: best time so far, 0 none; a much slower solution is launched once */
    int64_t n_launches, n_blocks;
    uint64_t wait_ns; /* DO_BLOCK: idle time before it, so that a hot or throttled device recovers */
} WorkRequest;

typedef enum { WORK_READY, WORK_BUDGET, WORK_NOTE, WORK_VALID, WORK_SAMPLES, WORK_END } WorkKind;
enum { WORK_SAMPLES_MAX = 24, WORK_TEXT = 400 };

typedef struct {
    WorkKind kind;
    int64_t p, s;
    uint64_t budget_ns; /* WORK_BUDGET: time limit from now; 0: none */
    RunStatus status;   /* WORK_VALID, WORK_END */
    int64_t n_checked;  /* WORK_VALID */
    double max_err;
    int64_t first_sync, n_samples; /* WORK_SAMPLES */
    int64_t n_enqueues[WORK_SAMPLES_MAX];
    uint64_t total_ns[WORK_SAMPLES_MAX];
    uint64_t enqueue_ns; /* WORK_END: host time of all launches */
    int64_t n_readings;
    bool in_graph;              /* WORK_SAMPLES of a race: the launches were queued as a graph */
    DeviceReading mean, median; /* WORK_END: NAN where absent; WORK_SAMPLES of a race: mean is the block's */
    bool gone;                  /* WORK_END: the process lost the device and ends */
    char text[WORK_TEXT];       /* WORK_NOTE: a warning; WORK_VALID, WORK_END: the reason */
} WorkMessage;

/* Runs until the socket closes. Never returns. */
_Noreturn void worker_main(const Session *s, int socket);

/* Send messages; for the parts of the worker only. */
Err worker_send(int socket, const WorkMessage *m);
Err worker_budget(int socket, uint64_t ns);

#endif
