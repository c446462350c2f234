/* Subprocesses over fork and exec. See proc.h. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"

static int output_open(const char *path, int inherit)
{
    if (path && strcmp(path, "-") == 0) return inherit;
    if (!path) return open("/dev/null", O_WRONLY | O_CLOEXEC);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
}

static void limit_set(int what, uint64_t value)
{
    struct rlimit r = {value, value};
    if (value) setrlimit((__rlimit_resource_t)what, &r);
}

static void signals_default(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
}

/* In the child: never returns; errno of the failure goes to report_fd. */
static _Noreturn void child_exec(const ProcSpec *spec, pid_t parent, int report_fd)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    signals_default();
    int in = open("/dev/null", O_RDONLY);
    int out = spec->stdout_fd > 0 ? spec->stdout_fd : output_open(spec->stdout_path, STDOUT_FILENO);
    int err = spec->stderr_path ? output_open(spec->stderr_path, STDERR_FILENO) : out;
    bool ok = in >= 0 && out >= 0 && err >= 0 && dup2(in, 0) == 0;
    int err_copy = ok ? fcntl(err, F_DUPFD_CLOEXEC, 10) : -1;
    ok = ok && err_copy >= 0 && dup2(out, 1) == 1 && dup2(err_copy, 2) == 2;
    if (ok && spec->keep_fd > 0) ok = fcntl(spec->keep_fd, F_SETFD, 0) == 0;
    if (ok && spec->chdir_path) ok = chdir(spec->chdir_path) == 0;
    for (const char *const *e = spec->setenv; ok && e && *e; e++) ok = putenv((char *)(uintptr_t)*e) == 0;
    limit_set(RLIMIT_AS, spec->memory_bytes);
    limit_set(RLIMIT_CPU, spec->cpu_seconds);
    if (ok) execvp(spec->argv[0], (char *const *)(uintptr_t)spec->argv);
    int why = errno;
    ssize_t w = write(report_fd, &why, sizeof why);
    _exit(w == (ssize_t)sizeof why ? 127 : 126);
}

Err proc_start(Proc *p, const ProcSpec *spec, uint64_t timeout_ns)
{
    int report[2], why = 0;
    if (pipe2(report, O_CLOEXEC)) FAIL(ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) child_exec(spec, parent, report[1]);
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        FAIL(ERR_FAILED, "cannot start '%s': %s", spec->argv[0], strerror(errno));
    }
    setpgid(pid, pid);
    ssize_t n;
    do n = read(report[0], &why, sizeof why);
    while (n < 0 && errno == EINTR);
    close(report[0]);
    if (n > 0) {
        waitpid(pid, NULL, 0);
        FAIL(ERR_FAILED, "cannot start '%s': %s", spec->argv[0], strerror(why));
    }
    *p = (Proc){.pid = pid, .start_ns = clock_ns()};
    p->deadline_ns = timeout_ns ? p->start_ns + timeout_ns : 0;
    return 0;
}

static void result_set(const Proc *p, int status, bool timed_out, ProcResult *r)
{
    r->wall_ns = clock_ns() - p->start_ns;
    if (timed_out)
        *r = (ProcResult){PROC_TIMED_OUT, 0, r->wall_ns};
    else if (WIFSIGNALED(status))
        *r = (ProcResult){PROC_SIGNALLED, WTERMSIG(status), r->wall_ns};
    else
        *r = (ProcResult){PROC_EXITED, WEXITSTATUS(status), r->wall_ns};
}

/* Sleeps until the child changes state or ns passed, by pidfd where the kernel has it; else it naps
 * briefly. */
static void child_sleep(pid_t pid, uint64_t ns)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        struct timespec nap = {0, ns < 1000000 ? (long)ns : 1000000};
        nanosleep(&nap, NULL);
        return;
    }
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    uint64_t ms = ns / 1000000 + 1;
    poll(&wait, 1, ms > 1000 ? 1000 : (int)ms);
    close(fd);
}

Err proc_wait(Proc *p, uint64_t wait_ns, ProcResult *r)
{
    uint64_t start = clock_ns();
    bool timed_out = false;
    for (;;) {
        int status;
        pid_t got = waitpid(p->pid, &status, WNOHANG);
        if (got < 0 && errno != EINTR)
            FAIL(ERR_FAILED, "cannot wait for process %ld: %s", (long)p->pid, strerror(errno));
        if (got == p->pid) {
            result_set(p, status, timed_out, r);
            kill(-p->pid, SIGKILL); /* its children that still run */
            return 0;
        }
        uint64_t now = clock_ns();
        if (p->deadline_ns && now >= p->deadline_ns && !timed_out) {
            kill(-p->pid, SIGKILL);
            kill(p->pid, SIGKILL);
            timed_out = true;
            continue;
        }
        if (!timed_out && wait_ns != UINT64_MAX && now - start >= wait_ns) {
            *r = (ProcResult){PROC_RUNNING, 0, now - p->start_ns};
            return 0;
        }
        uint64_t left = wait_ns == UINT64_MAX ? 1000000000u : wait_ns - (now - start);
        if (p->deadline_ns && !timed_out && p->deadline_ns - now < left) left = p->deadline_ns - now;
        child_sleep(p->pid, left);
    }
}

void proc_kill(Proc *p)
{
    if (p->pid <= 0) return;
    kill(-p->pid, SIGKILL);
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) continue;
    p->pid = 0;
}

Err proc_run(const ProcSpec *spec, uint64_t timeout_ns, ProcResult *r)
{
    Proc p;
    TRY(proc_start(&p, spec, timeout_ns));
    return proc_wait(&p, UINT64_MAX, r);
}

void proc_describe(const ProcResult *r, Buf *out)
{
    switch (r->end) {
    case PROC_EXITED:
        buf_printf(out, "exit status %d", r->code);
        break;
    case PROC_SIGNALLED:
        buf_printf(out, "killed by signal %d (%s)", r->code, strsignal(r->code));
        break;
    case PROC_TIMED_OUT:
        buf_printf(out, "timed out after %.1f s", (double)r->wall_ns * 1e-9);
        break;
    case PROC_RUNNING:
        buf_printf(out, "running for %.1f s", (double)r->wall_ns * 1e-9);
        break;
    }
}

Str proc_which(Arena *a, const char *program)
{
    if (strchr(program, '/')) return access(program, X_OK) == 0 ? arena_dup(a, str_from(program)) : STR_NULL;
    const char *path = getenv("PATH");
    Str rest = str_from(path ? path : "/usr/bin:/bin"), dir;
    while (str_split(&rest, ':', &dir)) {
        Str full = arena_printf(a, "%.*s/%s", STR_ARG(dir.n ? dir : STR(".")), program);
        if (full.s && file_exists(full.s) && access(full.s, X_OK) == 0) return full;
    }
    return STR_NULL;
}

static volatile sig_atomic_t interrupt_flag;

static void on_interrupt(int sig)
{
    if (interrupt_flag) {
        signal(sig, SIG_DFL);
        raise(sig);
    }
    interrupt_flag = 1;
}

void interrupt_init(void)
{
    struct sigaction act = {.sa_handler = on_interrupt};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool interrupted(void) { return interrupt_flag != 0; }

void interrupt_clear(void) { interrupt_flag = 0; }

int threads_ready(void)
{
    char line[256];
    int ready = 0;
    FILE *f = fopen("/proc/loadavg", "re"); /* "0.20 0.18 0.12 3/512 12345": the load averages, ready/all */
    if (f && fgets(line, sizeof line, f) && sscanf(line, "%*s %*s %*s %d/", &ready) != 1) ready = 0;
    if (f) fclose(f);
    return ready;
}

uint64_t memory_free_bytes(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
    if (f) fclose(f);
    return kib ? kib * 1024 : (uint64_t)1 << 30;
}
