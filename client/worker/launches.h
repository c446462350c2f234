/* What the worker knows while it serves a request (Run), and the launches of its solution: code objects found
 * and loaded, kernels found, arguments made for a set of buffers, the queueing of them, and how long they may
 * take. Used by worker.c, judge.c, timing.c and blocks.c. */
#ifndef CLIENT_LAUNCHES_H
#define CLIENT_LAUNCHES_H

#include "base/map.h"
#include "client/runtime/launch.h"
#include "client/worker/tensors.h"
#include "client/worker/worker.h"

typedef struct Peer Peer;

/* A code object. Not tried yet: neither module nor why. */
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
    double own_ns;     /* of this solution's validated launch; 0: none yet */
    DeviceTruth truth; /* for the simulated device */
} Run;

/* One call of a solution on one set of buffers. */
typedef struct {
    const TensorSet *set;
    LaunchList list;
    DeviceKernel *kernel[LAUNCH_CALLS_MAX];
    bool has_parts; /* list is the first part's (launch_part); the others are made when they are queued */
} Launches;

/* Loads all files when there are few; many (one per kernel) when their kernels are asked for. */
Err code_load(const Session *s, Device *d, int socket, CodeObjects *out);

Err launches_build(Run *r, const TensorSet *s, Launches *out);
Err launches_enqueue(Run *r, const Launches *l);
uint64_t launches_workspace_bytes(const Run *r);

/* Time that launches may take: the user's floor, and with room what is expected of them: from this kernel's
 * own first launch, else from the best that is known for the problem, else a guess of 1 GFlops, 100 on a GPU.
 */
uint64_t launches_budget_ns(const Run *r, int64_t n_launches, double sleep_factor);

/* A launch into a poisoned D, and the verdict on it: status and text, and a WORK_VALID with it. */
Err judge_solution(Run *r, CheckDepth depth, RunStatus *status, char *text, size_t size);

#endif
