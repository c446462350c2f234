/* Error verbs and progress. See log.h. */
#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fs.h"

static struct {
    const char *program;
    int level;
    ProgressFn *observer; /* of progress; NULL: none */
    void *observer_ctx;
} logger = {"tuner", LOG_NORMAL, NULL, NULL};

void log_init(const char *program, int level)
{
    logger.program = program;
    logger.level = level;
}

void log_set_level(int level) { logger.level = level; }

int log_level(void) { return logger.level; }


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

_Noreturn void bug_(const char *file, int line, const char *fmt, ...)
{
    fprintf(stderr, "%s: internal error at %s:%d: ", logger.program, file, line);
    SAY(NULL);
    abort();
}

enum { REDRAW_NS = 200000000, LINE_NS = 2000000000 };

int terminal_width(int fd)
{
    struct winsize w;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20 ? w.ws_col : 80;
}

void progress_init(Progress *p, const char *step, uint64_t total, uint64_t already_done)
{
    const char *kind = getenv("TERM");
    *p = (Progress){.step = step, .total = total, .done = already_done, .done_at_start = already_done};
    p->eta_hi = p->run_hi = -1;
    p->start_ns = clock_ns();
    p->drawn_ns = p->start_ns;
    p->terminal = isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
}

/* "0:42", "1:02:03"; a range where the ends differ by more than a tenth, and its lower end alone where they
 * are so far apart that the upper one says nothing. */
static void range_print(double lo, double hi, Buf *out)
{
    const double FAR = 20;
    unsigned long s[2] = {(unsigned long)(lo + 0.5), (unsigned long)ceil(hi)};
    const bool one = s[0] >= s[1] || (hi - lo) <= 0.1 * hi, open = hi > FAR * fmax(lo, 1);
    for (int i = one ? 1 : 0; i < (open ? 1 : 2); i++) {
        if (s[i] >= 3600)
            buf_printf(out, "%lu:%02lu:%02lu", s[i] / 3600, s[i] / 60 % 60, s[i] % 60);
        else
            buf_printf(out, "%lu:%02lu", s[i] / 60, s[i] % 60);
        if (i == 0) buf_puts(out, open ? " or more" : "-");
    }
}

static void eta_print(const Progress *p, double rate, Buf *out)
{
    double lo = p->eta_lo, hi = p->eta_hi;
    if (hi < 0 && rate > 0 && p->total > p->done) lo = hi = (double)(p->total - p->done) / rate;
    if (hi >= 0) {
        buf_puts(out, "  ETA ");
        range_print(lo, hi, out);
    }
    if (hi >= 0 && p->run_hi >= 0) {
        buf_puts(out, ", run ");
        range_print(lo + p->run_lo, hi + p->run_hi, out);
    }
}

static void progress_draw(Progress *p, bool last, const char *note)
{
    double seconds = (double)(clock_ns() - p->start_ns) * 1e-9;
    double rate = seconds > 0 ? (double)(p->done - p->done_at_start) / seconds : 0;
    Buf line;
    buf_init(&line);
    buf_printf(&line, "%s  %llu/%llu  %.3g/s", p->step, (unsigned long long)p->done,
               (unsigned long long)p->total, rate);
    if (!last) eta_print(p, rate, &line);
    if (*note) buf_printf(&line, "  %s", note);
    int width = terminal_width(STDERR_FILENO) - (p->terminal ? 1 : 0);
    fprintf(stderr, "%s%.*s%s", p->terminal ? "\r\033[K" : "", width, buf_cstr(&line),
            p->terminal && !last ? "" : "\n");
    fflush(stderr);
    buf_fini(&line);
}

void progress_observe(ProgressFn *fn, void *ctx)
{
    logger.observer = fn;
    logger.observer_ctx = ctx;
}

static bool draws(const Progress *p)
{
    if (logger.level < LOG_NORMAL) return false;
    return clock_ns() - p->drawn_ns >= (p->terminal ? (uint64_t)REDRAW_NS : (uint64_t)LINE_NS);
}

bool progress_due(const Progress *p)
{
    return draws(p) || (logger.observer && clock_ns() - p->told_ns >= (uint64_t)REDRAW_NS);
}

static void observer_tell(Progress *p)
{
    if (!logger.observer) return;
    p->told_ns = clock_ns();
    logger.observer(logger.observer_ctx, p);
}

void progress_step(Progress *p, uint64_t done, const char *note_fmt, ...)
{
    p->done = done;
    observer_tell(p);
    if (!draws(p)) return;
    p->drawn_ns = clock_ns();
    char note[256];
    va_list ap;
    va_start(ap, note_fmt);
    vsnprintf(note, sizeof note, note_fmt, ap);
    va_end(ap);
    progress_draw(p, false, note);
}

void progress_done(Progress *p, const char *note_fmt, ...)
{
    observer_tell(p);
    if (logger.level < LOG_NORMAL) return;
    char note[256];
    va_list ap;
    va_start(ap, note_fmt);
    vsnprintf(note, sizeof note, note_fmt, ap);
    va_end(ap);
    progress_draw(p, true, note);
}
