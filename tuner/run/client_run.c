/* Runs tuner-client and reads its events. See client_run.h. */
#include "run/client_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARGS = 64, MAX_LINE = 1 << 20, POLL_MS = 100 };

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

/* Reads until the client closes its end of the pipe. */
static Err events_read(int fd, const ClientSpec *spec, ClientEventFn *fn, void *ctx, ClientEnd *end)
{
    char chunk[65536];
    Buf pending;
    buf_init(&pending);
    Err e = 0;
    while (!e) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, POLL_MS);
        if (interrupted()) {
            e = err_set(ERR_FAILED, "interrupted");
            break;
        }
        if (n <= 0 && spec->tick) spec->tick(ctx);
        if (n <= 0) continue;
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        buf_add(&pending, chunk, (size_t)got);
        e = buf_check(&pending);
        if (!e) e = lines_take(&pending, fn, ctx, end);
    }
    buf_fini(&pending);
    return e;
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

Err client_run(const ClientSpec *spec, ClientEventFn *fn, void *ctx, ClientEnd *end)
{
    int fd[2];
    Proc proc;
    *end = (ClientEnd){0};
    if (pipe2(fd, O_CLOEXEC)) FAIL(ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
    Err e = start(spec, fd[1], &proc);
    close(fd[1]);
    if (!e) {
        e = events_read(fd[0], spec, fn, ctx, end);
        if (e)
            proc_kill(&proc);
        else
            e = proc_wait(&proc, UINT64_MAX, &end->result);
    }
    close(fd[0]);
    return e;
}
