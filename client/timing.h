/* One solution on one problem inside the worker: its launches, the validated run, the timing loop. Used by
 * worker.c. */
#ifndef CLIENT_TIMING_H
#define CLIENT_TIMING_H

#include "client/runtime/launch.h"
#include "client/tensors.h"
#include "client/worker.h"

typedef struct CodeObjects CodeObjects;

/* A loaded code object; module NULL: why it could not be loaded. */
typedef struct {
    const char *path;
    DeviceModule *module;
    char why[200];
} CodeObject;

struct CodeObjects {
    CodeObject *v;
    size_t n;
};

typedef struct {
    const Session *session;
    Device *device;
    const CodeObjects *code;
    int socket;
    Tensors *tensors;
    const Problem *problem;
    const LibSolution *solution;
    WorkRequest request;
    DeviceEvent *start, *stop;
    double own_ns; /* of this solution's validated launch, host clock; 0: none yet */
    DeviceTruth truth; /* for the simulated device */
} Run;

/* Fills in end (WORK_END) and sends the messages before it. An Err is INVALID with its message. */
Err run_solution(Run *r, WorkMessage *end);

#endif
