/* Requests: the supervisor's line to a worker process: starts one when there is none, asks it one thing at a
 * time, ends it when it is late or dead, and says what became of the request. What to ask, and what the
 * answers mean, is the caller's: loop and race. The worker's side is worker.c. Used by supervise.c and
 * race.c.
 */
#ifndef CLIENT_REQUESTS_H
#define CLIENT_REQUESTS_H

#include <sys/types.h>

#include "client/worker/worker.h"

/* WORK_VALID and WORK_SAMPLES as they come. */
typedef Err WorkMessageFn(void *ctx, const WorkMessage *m);

typedef struct {
    Session *s;
    WorkMessageFn *message;
    void (*again)(void *ctx, const WorkRequest *r); /* what message was told of r is void: r is asked again */
    void *ctx;
    pid_t pid; /* 0: no worker */
    int socket;
    bool ready;
    int64_t loading;      /* code object that the worker loads; -1 none */
    uint64_t deadline_ns; /* 0 none */
    char peer[64];        /* version of the worker's peer, "" none */
} Requests;

/* What became of one request. */
typedef struct {
    RunStatus status;
    bool launched; /* the worker got as far as running foreign code */
    bool killed;   /* by a SIGKILL that this process did not send */
    WorkMessage end;
    char text[WORK_TEXT + 100];
} Outcome;

/* Restarts the worker where needed. ERR_PARTIAL when interrupted; other errors end the run. A kernel that
 * takes its worker along is no error: RUN_CRASHED or RUN_TIMEOUT in out. A worker that somebody else killed
 * with SIGKILL, as the kernel does when memory runs out, says nothing about what it ran: that is asked once
 * more, of a new worker, and counts when it ends in the same way. */
Err request(Requests *q, const WorkRequest *r, Outcome *out);
/* Ends the worker, if there is one. */
void requests_end(Requests *q);

#endif
