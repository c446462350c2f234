/* Runs tuner-client and reads its events. See client_run.h. */
#include "run/client_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARGS = 64, MAX_LINE = 1 << 20, POLL_MS = 20, PIPE_BYTES = 1 << 20 };

/* Passes complete lines to fn and keeps the rest; fills in end. */
static Err lines_take(Buf *pending, ClientEventFn *fn, void *ctx, ClientEnd *end)
{
    size_t from = 0;
    Err e = 0;
    for (size_t at; !e && (at = str_find(buf_view(pending), '\n', from)) < pending->n; from = at + 1) {
        Event event;
        e = event_parse(str_sub(buf_view(pending), from, at), &event);
        if (e) return err_context(e, "tuner-client");
        if (!end->began && event.kind != EVENT_VERSION)
            FAIL(ERR_INPUT, "tuner-client: its events do not begin with their version, expected %d",
                 EVENTS_VERSION);
        end->began = true;
        if (event.kind == EVENT_DONE) end->done = true;
        if (event.kind != EVENT_VERSION) e = fn(ctx, &event);
    }
    if (e) return e;
    size_t left = pending->n - from;
    memmove(pending->s, pending->s + from, left);
    pending->n = left;
    if (left > MAX_LINE) FAIL(ERR_FAILED, "tuner-client wrote an event of more than %d bytes", MAX_LINE);
    return 0;
}

static Err start(const ClientSpec *spec, int fd, Proc *proc)
{
    const char *argv[MAX_ARGS];
    char fd_text[16];
    size_t n = 0;
    snprintf(fd_text, sizeof fd_text, "%d", fd);
    argv[n++] = spec->program;
    argv[n++] = "--config-file";
    argv[n++] = spec->config_file;
    argv[n++] = "--plan-file";
    argv[n++] = spec->plan_file;
    argv[n++] = "--events-fd";
    argv[n++] = fd_text;
    for (const char *const *x = spec->extra; x && *x; x++) {
        if (n + 1 >= MAX_ARGS) FAIL(ERR_INPUT, "more than %d arguments for tuner-client", MAX_ARGS);
        argv[n++] = *x;
    }
    argv[n] = NULL;
    ProcSpec p = {.argv = argv, .stdout_path = spec->log_path, .keep_fd = fd, .chdir_path = spec->dir};
    return proc_start(proc, &p, 0);
}

Err client_start(Client *c, const ClientSpec *spec)
{
    int fd[2];
    *c = (Client){.fd = -1};
    buf_init(&c->pending);
    if (pipe2(fd, O_CLOEXEC)) FAIL(ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
    /* Room for the events of seconds in which tick does something else; the usual 64 KiB will do too. */
    (void)fcntl(fd[0], F_SETPIPE_SZ, PIPE_BYTES);
    Err e = start(spec, fd[1], &c->proc);
    close(fd[1]);
    if (e)
        close(fd[0]);
    else
        c->fd = fd[0];
    return e;
}

Err client_read(Client *c, ClientEventFn *fn, void *ctx, bool *closed)
{
    char chunk[65536];
    *closed = false;
    ssize_t got = read(c->fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) return 0;
    *closed = got <= 0;
    if (*closed) return 0;
    buf_add(&c->pending, chunk, (size_t)got);
    TRY(buf_check(&c->pending));
    return lines_take(&c->pending, fn, ctx, &c->end);
}

static void client_free(Client *c)
{
    buf_fini(&c->pending);
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
}

Err client_wait(Client *c)
{
    client_free(c);
    return proc_wait(&c->proc, UINT64_MAX, &c->end.result);
}

void client_kill(Client *c)
{
    proc_kill(&c->proc);
    client_free(c);
}

/* Reads until the client closes its end of the pipe. */
static Err events_read(Client *c, const ClientSpec *spec, ClientEventFn *fn, void *ctx)
{
    bool closed = false;
    Err e = 0;
    while (!e && !closed) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        int n = poll(&p, 1, POLL_MS);
        if (interrupted()) FAIL(ERR_FAILED, "interrupted");
        if (spec->tick) spec->tick(ctx);
        if (n > 0) e = client_read(c, fn, ctx, &closed);
    }
    return e;
}

Err client_run(const ClientSpec *spec, ClientEventFn *fn, void *ctx, ClientEnd *end)
{
    Client c;
    *end = (ClientEnd){0};
    TRY(client_start(&c, spec));
    Err e = events_read(&c, spec, fn, ctx);
    if (e)
        client_kill(&c);
    else
        e = client_wait(&c);
    *end = c.end;
    return e;
}
