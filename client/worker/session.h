/* The state of a client run: the supervisor fills it in before it forks, workers only read it. */
#ifndef CLIENT_SESSION_H
#define CLIENT_SESSION_H

#include "client/device/device.h"
#include "client/options.h"
#include "client/worker/problem_set.h"
#include "client/runtime/library.h"

typedef struct {
    ClientOptions o;
    ProblemSet problems;
    Library *library;
    const DeviceApi *api;
    DeviceProps props;
    int n_threads;           /* for the client's own work */
    bool no_data;            /* simulated device without validation: buffers are not filled */
    bool race;               /* samples of a problem's solutions are interleaved */
    unsigned char *bad_code; /* per code object: loading it ended a worker */
} Session;

#endif
