/* Runs tuner-client as a child process and passes on its events. The client runs generated code and may die
 * at any time: that is no error; ClientEnd says how the client ended.
 */
#ifndef TUNER_CLIENT_RUN_H
#define TUNER_CLIENT_RUN_H

#include "base/proc.h"
#include "client/events.h"

typedef struct {
    const char *program, *config_file;
    const char *plan_file;    /* the pairs of problem and solution to run */
    const char *log_path;     /* of its standard output and error */
    const char *dir;          /* its working directory */
    const char *const *extra; /* more arguments, NULL-terminated; may be NULL */
    void (*tick)(void *ctx);  /* called after each reading, and at least 50 times a second; may be NULL */
} ClientSpec;

typedef struct {
    bool began; /* it sent the version of its events */
    bool done;  /* it reported that all pairs were run */
    ProcResult result;
} ClientEnd;

typedef Err ClientEventFn(void *ctx, const Event *e);

/* A running client, for callers that poll several. fd: poll it for reading. */
typedef struct {
    Proc proc;
    int fd;
    Buf pending; /* the beginning of an event */
    ClientEnd end;
} Client;

Err client_start(Client *c, const ClientSpec *spec);
/* Reads the available bytes and calls fn for each event; *closed: the client has closed its end of the
 * pipe. */
Err client_read(Client *c, ClientEventFn *fn, void *ctx, bool *closed);
/* Waits for the end of a client that has closed, or kills it, and frees what it used. c->end stays. */
Err client_wait(Client *c);
void client_kill(Client *c);

/* Calls fn for each event. An error of fn, or Ctrl-C (ERR_FAILED "interrupted"), kills the client. */
Err client_run(const ClientSpec *spec, ClientEventFn *fn, void *ctx, ClientEnd *end);

#endif
