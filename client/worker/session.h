/* What a client run is made of: read once by the supervisor before it forks, only read by the workers. */
#ifndef CLIENT_SESSION_H
#define CLIENT_SESSION_H

#include "client/device/device.h"
#include "client/options.h"
#include "client/worker/problem_set.h"
#include "client/runtime/library.h"

typedef struct {
    Options o;
    ProblemSet problems;
    Library *library;
    const DeviceApi *api;
    DeviceProps props;
    int n_threads;           /* for the client's own work */
    bool no_data;            /* nothing computes and nobody looks: buffers are not filled */
    bool race;               /* solutions of a problem are timed side by side, not one after another */
    unsigned char *bad_code; /* per code object: loading it ended a worker */
} Session;

#endif
