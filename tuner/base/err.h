/* Errors: a code that is returned and a message that is kept per thread.
 *
 * Library code returns Err; 0 is success, everything else is one of the codes below, which are also the
 * programs' exit codes. FAIL starts an error with its message, TRY forwards it unchanged, err_context puts
 * words in front. The message names the value that was wrong and, where there is a file, 'file:line: '.
 * Does not print: programs print with error() from base/log.h.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>

typedef int Err;

enum {
    ERR_OK = 0,
    ERR_FAILED = 1,   /* the work failed: I/O, memory, compiler, kernel */
    ERR_INPUT = 2,    /* usage or bad input */
    ERR_PARTIAL = 3,  /* a result was made, but some of it was left out */
    ERR_NO_DEVICE = 4 /* no device, or not the one asked for */
};

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Replaces this thread's message; returns code. The text is cut at 2047 bytes. */
Err err_set(Err code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Puts a prefix in front of this thread's message; returns code. */
Err err_context(Err code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The message of the last error in this thread, "" when there was none. Valid until the next err_ call. */
const char *err_message(void);
void err_clear(void);

#define FAIL(code, ...) return err_set(code, __VA_ARGS__)
#define TRY(expr)                                                                                            \
    do {                                                                                                     \
        Err try_err_ = (expr);                                                                               \
        if (try_err_) return try_err_;                                                                       \
    } while (0)

#endif
