/* One run of tuner-client as a child: starts it, reads its events as they come, ends it.
 *
 * The client runs generated code, so it may die at any time: that is an end like another, told in ClientEnd.
 * Does not know what events mean for the store: step_measure.c.
 */
#ifndef TUNER_CLIENT_RUN_H
#define TUNER_CLIENT_RUN_H

#include "base/proc.h"
#include "client/events.h"

typedef struct {
    const char *program, *config_file;
    const char *plan_file;    /* pairs to run */
    const char *log_path;     /* of what it prints */
    const char *dir;          /* that it runs in */
    const char *const *extra; /* more arguments, NULL-terminated; may be NULL */
    void (*tick)(void *ctx);  /* several times a second while the client is silent; may be NULL */
} ClientSpec;

typedef struct {
    bool began; /* it told the version of its events */
    bool done;  /* it said that it had run all pairs */
    ProcResult result;
} ClientEnd;

typedef Err ClientEventFn(void *ctx, const Event *e);

/* Calls fn per event. An error of fn, or Ctrl-C (ERR_FAILED "interrupted"), kills the client. */
Err client_run(const ClientSpec *spec, ClientEventFn *fn, void *ctx, ClientEnd *end);

#endif
