/* Error verbs and progress. See log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"

static struct {
    const char *program;
    int level;
} logger = {"tuner", LOG_NORMAL};

void log_init(const char *program, int level)
{
    logger.program = program;
    logger.level = level;
}

void log_set_level(int level) { logger.level = level; }

int log_level(void) { return logger.level; }

const char *log_program(void) { return logger.program; }

static void say(const char *kind, const char *fmt, va_list ap)
{
    char text[4096];
    vsnprintf(text, sizeof text, fmt, ap);
    fflush(stdout);
    if (kind)
        fprintf(stderr, "%s: %s%s\n", logger.program, kind, text);
    else
        fprintf(stderr, "%s\n", text);
}

#define SAY(kind)                                                                                            \
    do {                                                                                                     \
        va_list ap;                                                                                          \
        va_start(ap, fmt);                                                                                   \
        say(kind, fmt, ap);                                                                                  \
        va_end(ap);                                                                                          \
    } while (0)

Err error(Err code, const char *fmt, ...)
{
    SAY("");
    return code;
}

Err error_report(Err code) { return error(code, "%s", err_message()); }

void warning(const char *fmt, ...) { SAY("warning: "); }

void notice(const char *fmt, ...)
{
    if (logger.level >= LOG_NORMAL) SAY(NULL);
}

void verbose(const char *fmt, ...)
{
    if (logger.level >= LOG_VERBOSE) SAY(NULL);
}

_Noreturn void die(Err code, const char *fmt, ...)
{
    SAY("");
    exit(code);
}

_Noreturn void bug_(const char *file, int line, const char *fmt, ...)
{
    fprintf(stderr, "%s: internal error at %s:%d: ", logger.program, file, line);
    SAY(NULL);
    abort();
}

enum { REDRAW_NS = 200000000, LINE_NS = 2000000000 };

void progress_init(Progress *p, const char *step, uint64_t total, uint64_t already_done)
{
    *p = (Progress){.step = step, .total = total, .done = already_done, .done_at_start = already_done};
    p->start_ns = clock_ns();
    p->drawn_ns = p->start_ns;
    p->terminal = isatty(STDERR_FILENO);
}

static void progress_draw(Progress *p, bool last, const char *note)
{
    double seconds = (double)(clock_ns() - p->start_ns) * 1e-9;
    double rate = seconds > 0 ? (double)(p->done - p->done_at_start) / seconds : 0;
    char eta[32] = "";
    if (!last && rate > 0 && p->total > p->done) {
        unsigned long left = (unsigned long)((double)(p->total - p->done) / rate + 0.5);
        snprintf(eta, sizeof eta, "  ETA %lu:%02lu", left / 60, left % 60);
    }
    fprintf(stderr, "%s%s  %llu/%llu  %.3g/s%s%s%s%s", p->terminal ? "\r\033[K" : "", p->step,
            (unsigned long long)p->done, (unsigned long long)p->total, rate, eta, *note ? "  " : "", note,
            p->terminal && !last ? "" : "\n");
    fflush(stderr);
}

void progress_step(Progress *p, uint64_t done, const char *note_fmt, ...)
{
    p->done = done;
    if (logger.level < LOG_NORMAL) return;
    uint64_t now = clock_ns();
    if (now - p->drawn_ns < (p->terminal ? (uint64_t)REDRAW_NS : (uint64_t)LINE_NS)) return;
    p->drawn_ns = now;
    char note[256];
    va_list ap;
    va_start(ap, note_fmt);
    vsnprintf(note, sizeof note, note_fmt, ap);
    va_end(ap);
    progress_draw(p, false, note);
}

void progress_done(Progress *p, const char *note_fmt, ...)
{
    if (logger.level < LOG_NORMAL) return;
    char note[256];
    va_list ap;
    va_start(ap, note_fmt);
    vsnprintf(note, sizeof note, note_fmt, ap);
    va_end(ap);
    progress_draw(p, true, note);
}
