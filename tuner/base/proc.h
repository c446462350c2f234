/* Subprocesses: start with redirected output, wait for any with a time limit, kill whole process groups.
 *
 * Every child gets a process group of its own, dies when its parent does (Linux), and inherits no
 * descriptor but 0, 1, 2 and keep_fd. Does not interpret output; nothing goes through a shell.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <sys/types.h>

#include "base/arena.h"

typedef struct {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
    const char *stdout_path; /* NULL: /dev/null; "-": inherit; else a file, made anew, never through a link */
    const char *stderr_path; /* NULL: with stdout; "-": inherit; else as stdout_path */
    int stdout_fd;           /* > 0: used instead of stdout_path */
    int keep_fd;             /* > 0: inherited too, under the same number */
    const char *const *setenv; /* NULL or NULL-terminated "NAME=value" list */
    uint64_t memory_bytes;     /* 0: no limit; else RLIMIT_AS */
    uint64_t cpu_seconds;      /* 0: no limit; else RLIMIT_CPU */
    const char *chdir_path;    /* NULL: stay */
} ProcSpec;

typedef struct {
    pid_t pid;
    uint64_t start_ns, deadline_ns; /* deadline 0: none */
} Proc;

typedef enum { PROC_EXITED, PROC_SIGNALLED, PROC_TIMED_OUT, PROC_RUNNING } ProcEnd;

typedef struct {
    ProcEnd end;
    int code; /* exit status or signal number */
    uint64_t wall_ns;
} ProcResult;

/* timeout_ns 0: none. A program that cannot be started is ERR_FAILED with the reason. */
Err proc_start(Proc *p, const ProcSpec *spec, uint64_t timeout_ns);
/* Waits at most wait_ns for the end of the process (UINT64_MAX: without limit). At its deadline the process
 * is killed. r->end is PROC_RUNNING when it still runs. */
Err proc_wait(Proc *p, uint64_t wait_ns, ProcResult *r);
/* Sends SIGKILL to the process group and reaps the child. */
void proc_kill(Proc *p);
/* Starts a process and waits for its end. */
Err proc_run(const ProcSpec *spec, uint64_t timeout_ns, ProcResult *r);
/* "exit status 1", "killed by signal 11 (Segmentation fault)", "timed out after 10.0 s". */
void proc_describe(const ProcResult *r, Buf *out);
/* Full path of a program in PATH; s == NULL when absent. */
Str proc_which(Arena *a, const char *program);

/* After interrupt_init, Ctrl-C and SIGTERM set a flag; the second one ends the process. */
void interrupt_init(void);
bool interrupted(void);
/* Forgets an interrupt, to finish what is known; the next one sets the flag again. */
void interrupt_clear(void);

int threads_ready(void);          /* of the machine: that run or wait for a core now; 0: unknown */
uint64_t memory_free_bytes(void); /* available without swapping */

#endif
