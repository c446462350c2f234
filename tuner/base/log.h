/* Messages of programs: error verbs on stderr, progress of long steps. For programs only; library code
 * returns Err.
 *
 * Lines are 'program: text'. log_init names the program; it is one of the two allowed globals.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdio.h>

#include "base/str.h"

enum { LOG_QUIET = 0, LOG_NORMAL = 1, LOG_VERBOSE = 2, LOG_DEBUG = 3 };

void log_init(const char *program, int level);
void log_set_level(int level);
int log_level(void);

/* Prints 'program: text'; returns code, so that a program can 'return error(ERR_INPUT, ...)'. */
Err error(Err code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Prints this thread's err_message(); returns code. */
Err error_report(Err code);
void warning(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* At LOG_NORMAL and above, to stderr, no prefix. */
void notice(const char *fmt, ...) PRINTF_LIKE(1, 2);
void verbose(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Our own fault: prints and aborts. */
#define BUG(...) bug_(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Columns of the terminal at fd; 80 where there is none or its size is unknown. */
int terminal_width(int fd);

/* Progress of a step: 'step  done/total  rate  ETA  note', redrawn on a terminal and cut to its width, a
 * plain line of at most 80 columns every few seconds elsewhere. Costs a clock read per call when nothing is
 * drawn. */
typedef struct {
    const char *step;
    uint64_t total, done, start_ns, drawn_ns, done_at_start;
    uint64_t told_ns; /* when the observer was called last */
    bool terminal;
    double eta_lo, eta_hi; /* seconds left of the step; hi < 0: computed from the rate so far */
    double run_lo, run_hi; /* seconds left of the whole run; hi < 0: not known */
} Progress;

/* fn is called with every progress, whether it is drawn or not; NULL: no longer. The pointer is valid in fn
 * alone. */
typedef void ProgressFn(void *ctx, const Progress *p);
void progress_observe(ProgressFn *fn, void *ctx);
void progress_init(Progress *p, const char *step, uint64_t total, uint64_t already_done);
/* Whether progress_step would draw now, or has news for the observer. */
bool progress_due(const Progress *p);
void progress_step(Progress *p, uint64_t done, const char *note_fmt, ...) PRINTF_LIKE(3, 4);
void progress_done(Progress *p, const char *note_fmt, ...) PRINTF_LIKE(2, 3);

#endif
