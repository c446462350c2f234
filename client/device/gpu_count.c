/* GPUs as devices: a child process counts them, because a driver that was initialised in this process could
 * not be used in workers that it forks later. See gpu.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "client/device/gpu.h"

typedef struct {
    int n;
    char why[300];
} Answer;

static _Noreturn void answer(const GpuKind *kind, int fd)
{
    Answer a = {0};
    if (gpu_count(kind, &a.n)) {
        a.n = 0;
        snprintf(a.why, sizeof a.why, "%.299s", err_message());
    }
    ssize_t n = write(fd, &a, sizeof a);
    _exit(n == sizeof a ? 0 : 1);
}

/* The number of bytes that arrived before the deadline. */
static size_t read_answer(int fd, Answer *a, uint64_t deadline_ns)
{
    size_t got = 0;
    while (got < sizeof *a) {
        uint64_t now = clock_ns();
        struct pollfd p = {fd, POLLIN, 0};
        int ready = now < deadline_ns ? poll(&p, 1, (int)((deadline_ns - now) / 1000000) + 1) : 0;
        if (ready < 0 && errno == EINTR) continue;
        ssize_t n = ready > 0 ? read(fd, (char *)a + got, sizeof *a - got) : 0;
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += (size_t)n;
    }
    return got;
}

int gpu_device_count(const GpuKind *kind, Buf *why)
{
    enum { LIMIT_S = 60 };
    const char *name = gpu_kind_name(kind);
    int fd[2], status;
    Answer a;
    if (pipe(fd)) {
        buf_printf(why, "cannot make a pipe: %s", strerror(errno));
        return 0;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) answer(kind, fd[1]);
    close(fd[1]);
    size_t got = pid > 0 ? read_answer(fd[0], &a, clock_ns() + LIMIT_S * UINT64_C(1000000000)) : 0;
    close(fd[0]);
    if (pid < 0) {
        buf_printf(why, "cannot fork: %s", strerror(errno));
        return 0;
    }
    if (got != sizeof a) kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (got == sizeof a) {
        if (a.n == 0) buf_puts(why, a.why);
        return a.n;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        buf_printf(why, "the %s driver crashed while its devices were counted (signal %d)", name,
                   WTERMSIG(status));
    else
        buf_printf(why, "the %s driver did not answer within %d s", name, LIMIT_S);
    return 0;
}
