/* The worker's state while it serves a request (WorkerContext), and the launches of its solution: loads code
 * objects, finds kernels, makes arguments for a set of buffers, queues launches and computes their time
 * limit.
 */
#ifndef CLIENT_LAUNCHES_H
#define CLIENT_LAUNCHES_H

#include "base/map.h"
#include "client/runtime/launch.h"
#include "client/worker/tensors.h"
#include "client/worker/worker.h"

typedef struct Peer Peer;

/* A code object. Before the first try both module and why are empty. */
typedef struct {
    const char *path;
    DeviceModule *module;
    char why[200]; /* why it could not be loaded */
} CodeObject;

typedef struct {
    CodeObject *v;
    size_t n;
    Map kernel; /* symbol -> DeviceKernel * */
} CodeObjects;

typedef struct {
    const Session *session;
    Device *device;
    CodeObjects *code;
    int socket;
    Tensors *tensors;
    const Problem *problem;
    const LibSolution *solution; /* NULL: the peer */
    Peer *peer;                  /* NULL: none was asked for */
    WorkRequest request;
    DeviceEvent *start, *stop;
    double own_ns;     /* time of this solution's validated launch; 0: none yet */
    DeviceTruth truth; /* for the simulated device */
} WorkerContext;

/* One call of a solution on one set of buffers. */
typedef struct {
    const TensorSet *set;
    LaunchList list;
    DeviceKernel *kernel[LAUNCH_CALLS_MAX];
    bool has_parts; /* list is that of the first part (launch_part); others are made when they are queued */
} Launches;

/* Loads all files if there are few; else (one file per kernel) each when a kernel of it is needed. */
Err code_load(const Session *s, Device *d, int socket, CodeObjects *out);

Err launches_build(WorkerContext *r, const TensorSet *s, Launches *out);
Err launches_enqueue(WorkerContext *r, const Launches *l);
uint64_t launches_workspace_bytes(const WorkerContext *r);

/* Time limit of n launches: at least the option kernel-timeout, and a multiple of the expected time. That is
 * the time of this kernel's first launch, else the best known time of the problem, else a guess by a speed of
 * 1 GFlops, 100 on a GPU. */
uint64_t launches_budget_ns(const WorkerContext *r, int64_t n_launches, double sleep_factor);

/* Launches the solution with a poisoned D and checks the result: sets status and text and sends
 * WORK_VALID. */
Err judge_solution(WorkerContext *r, CheckDepth depth, RunStatus *status, char *text, size_t size);

#endif
