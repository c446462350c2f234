/* Requests of the supervisor to its worker. See requests.h. */
#include "client/race/requests.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"

/* ---- the worker's life ---- */

static Err worker_start(Requests *q)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        FAIL(ERR_FAILED, "cannot make a socket pair: %s", strerror(errno));
    fflush(NULL); /* a kernel that calls exit must not write our buffers again */
    pid_t pid = fork();
    if (pid < 0) {
        int why = errno;
        close(pair[0]);
        close(pair[1]);
        FAIL(ERR_FAILED, "cannot fork: %s", strerror(why));
    }
    if (pid == 0) {
        close(pair[0]);
        worker_main(q->s, pair[1]);
    }
    close(pair[1]);
    q->pid = pid;
    q->socket = pair[0];
    q->ready = false;
    q->loading = -1;
    q->deadline_ns = clock_ns() + UINT64_C(60000000000);
    return 0;
}

/* Ends the worker and describes its end in text. True: it ended by a SIGKILL that this process did not
 * send. */
static bool worker_end(Requests *q, bool late, char *text, size_t size)
{
    int status = 0;
    bool sent = false;
    if (q->pid == 0) return false;
    close(q->socket);
    /* A worker that closed its socket is about to exit: it gets a moment before it is killed. */
    for (int i = 0; i < 20 && !late; i++) {
        if (waitpid(q->pid, &status, WNOHANG) == q->pid) goto reaped;
        poll(NULL, 0, 5);
    }
    sent = true;
    kill(q->pid, SIGKILL);
    while (waitpid(q->pid, &status, 0) < 0 && errno == EINTR) continue;
reaped:
    q->pid = 0;
    bool killed = !sent && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!text) return killed;
    if (late)
        snprintf(text, size, "killed: too late");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "ended its process with exit status %d", WEXITSTATUS(status));
    return killed;
}

typedef enum { GOT_MESSAGE, GOT_DEATH, GOT_LATE, GOT_INTERRUPT } Got;

static Got next_message(Requests *q, WorkMessage *m)
{
    for (;;) {
        uint64_t now = clock_ns();
        if (interrupted()) return GOT_INTERRUPT;
        if (q->deadline_ns && now >= q->deadline_ns) return GOT_LATE;
        uint64_t wait_ms = q->deadline_ns ? (q->deadline_ns - now) / 1000000 + 1 : 1000;
        struct pollfd p = {q->socket, POLLIN, 0};
        int n = poll(&p, 1, wait_ms > 1000 ? 1000 : (int)wait_ms);
        if (n < 0 && errno != EINTR) return GOT_DEATH;
        if (n <= 0) continue;
        ssize_t got = recv(q->socket, m, sizeof *m, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof *m) return GOT_DEATH;
        m->text[sizeof m->text - 1] = '\0';
        return GOT_MESSAGE;
    }
}

static void take_budget(Requests *q, const WorkMessage *m)
{
    q->deadline_ns = m->budget_ns ? clock_ns() + m->budget_ns : 0;
    if (!q->ready) q->loading = m->s;
}

/* Starts a worker and waits for its WORK_READY. A code object whose loading ends the worker is left out of
 * the next try; if another process killed the worker, only when it happens twice. */
static Err worker_ready(Requests *q)
{
    size_t n_code = q->s->o.code_objects.n, n_killed = 0;
    for (size_t attempt = 0; attempt <= n_code + n_killed; attempt++) {
        bool killed = false;
        char why[200], note[WORK_TEXT] = "";
        TRY(worker_start(q));
        for (;;) {
            WorkMessage m;
            Got got = next_message(q, &m);
            if (got == GOT_INTERRUPT) {
                worker_end(q, true, NULL, 0);
                FAIL(ERR_PARTIAL, "interrupted");
            }
            if (got != GOT_MESSAGE) {
                killed = worker_end(q, got == GOT_LATE, why, sizeof why);
                break;
            }
            if (m.kind == WORK_BUDGET) take_budget(q, &m);
            if (m.kind == WORK_NOTE) snprintf(note, sizeof note, "%s", m.text);
            if (m.kind != WORK_READY) continue;
            q->ready = true;
            q->deadline_ns = 0;
            snprintf(q->peer, sizeof q->peer, "%.*s", (int)sizeof q->peer - 1, m.text);
            return 0;
        }
        if (note[0]) FAIL(ERR_FAILED, "%s", note);
        if (killed && n_killed == 0) {
            n_killed++;
            continue;
        }
        if (q->loading < 0 || (size_t)q->loading >= n_code)
            FAIL(ERR_FAILED, "the worker does not start: %s", why);
        Str file = q->s->o.code_objects.v[q->loading];
        warning("code object '%.*s' cannot be loaded: %s", STR_ARG(file), why);
        q->s->bad_code[q->loading] = 1;
    }
    FAIL(ERR_FAILED, "no worker could load the code objects");
}

/* ---- one request ---- */

static bool message_sane(const Requests *q, const WorkRequest *r, const WorkMessage *m)
{
    (void)q;
    if (m->kind == WORK_BUDGET || m->kind == WORK_NOTE) return true;
    if (m->p != r->p || m->s != r->s || (unsigned)m->status >= RUN_STATUS_COUNT) return false;
    if (m->kind == WORK_SAMPLES) {
        if (m->n_samples < 0 || m->n_samples > WORK_SAMPLES_MAX || m->first_sync < 0) return false;
        for (int64_t i = 0; i < m->n_samples; i++)
            if (m->n_enqueues[i] < 1) return false;
    }
    return m->kind == WORK_VALID || m->kind == WORK_SAMPLES || m->kind == WORK_END;
}

static Err request_once(Requests *q, const WorkRequest *r, Outcome *out)
{
    *out = (Outcome){.status = RUN_INVALID};
    if (q->pid == 0) TRY(worker_ready(q));
    if (send(q->socket, r, sizeof *r, MSG_NOSIGNAL) != sizeof *r) {
        out->killed = worker_end(q, false, out->text, sizeof out->text);
        out->status = RUN_CRASHED;
        return 0;
    }
    for (;;) {
        WorkMessage m;
        Got got = next_message(q, &m);
        if (got == GOT_INTERRUPT) {
            worker_end(q, true, NULL, 0);
            FAIL(ERR_PARTIAL, "interrupted");
        }
        if (got == GOT_MESSAGE && !message_sane(q, r, &m)) got = GOT_DEATH;
        if (got != GOT_MESSAGE) {
            out->status = got == GOT_LATE ? RUN_TIMEOUT : RUN_CRASHED;
            out->killed = worker_end(q, got == GOT_LATE, out->text, sizeof out->text);
            return 0;
        }
        if (m.kind == WORK_BUDGET) take_budget(q, &m);
        if (m.kind == WORK_BUDGET && m.budget_ns) out->launched = true;
        if (m.kind == WORK_SAMPLES || m.kind == WORK_VALID) TRY(q->message(q->ctx, &m));
        if (m.kind != WORK_END) continue;
        q->deadline_ns = 0;
        out->status = m.status;
        out->end = m;
        snprintf(out->text, sizeof out->text, "%s", m.text);
        if (m.gone) worker_end(q, false, NULL, 0);
        return 0;
    }
}

/* When a worker dies before it ran any kernel of this request, an earlier kernel may be the cause: the
 * request is repeated in a new worker. After a wrong result on the host the worker is replaced, as the kernel
 * may have overwritten its memory; on a GPU only the buffers can be overwritten, which the worker checks and
 * repairs. */
Err request(Requests *q, const WorkRequest *r, Outcome *out)
{
    TRY(request_once(q, r, out));
    if (out->status == RUN_CRASHED && !out->launched) TRY(request_once(q, r, out));
    if (out->status == RUN_CRASHED && out->killed) {
        q->again(q->ctx, r);
        TRY(request_once(q, r, out));
        if (out->status == RUN_CRASHED && out->killed)
            snprintf(out->text, sizeof out->text, "killed by signal %d (%s), twice", SIGKILL,
                     strsignal(SIGKILL));
    }
    if (out->status == RUN_FAILED && !q->s->api->is_gpu) worker_end(q, true, NULL, 0);
    return 0;
}

void requests_end(Requests *q) { worker_end(q, true, NULL, 0); }
