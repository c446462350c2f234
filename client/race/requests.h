/* Requests of the supervisor to a worker process: starts a worker when there is none, sends one request at a
 * time, ends a worker that is late or dead, and returns the outcome of the request. The loop (supervise.c)
 * and the race (race.c) choose the requests and interpret the answers. The worker's side is worker.c.
 */
#ifndef CLIENT_REQUESTS_H
#define CLIENT_REQUESTS_H

#include <sys/types.h>

#include "client/worker/worker.h"

/* Called for each WORK_VALID and WORK_SAMPLES message of the worker. */
typedef Err WorkMessageFn(void *ctx, const WorkMessage *m);

typedef struct {
    Session *s;
    WorkMessageFn *message;
    void (*again)(void *ctx, const WorkRequest *r); /* r is sent again: its messages so far are void */
    void *ctx;
    pid_t pid; /* 0: no worker */
    int socket;
    bool ready;
    int64_t loading;      /* code object that the worker is loading; -1: none */
    uint64_t deadline_ns; /* when the worker is late; 0: never */
    char peer[64];        /* version of the worker's peer, "" none */
} Requests;

/* The outcome of one request. */
typedef struct {
    RunStatus status;
    bool launched; /* the worker has started to run kernels */
    bool killed;   /* the worker ended by a SIGKILL that this process did not send */
    WorkMessage end;
    char text[WORK_TEXT + 100];
} Outcome;

/* Sends a request and waits for its outcome; starts a worker if needed. ERR_PARTIAL when interrupted; other
 * errors end the run. A kernel that ends its worker is no error: out is RUN_CRASHED or RUN_TIMEOUT. When
 * another process killed the worker with SIGKILL (as Linux does when memory runs out), the kernel may be
 * innocent: the request is repeated once in a new worker, and counts as crashed if that is killed too. */
Err request(Requests *q, const WorkRequest *r, Outcome *out);
/* Ends the worker, if there is one. */
void requests_end(Requests *q);

#endif
