/* Reports without control characters. See text.h. */
#include "report/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

static ssize_t text_write(void *cookie, const char *s, size_t n)
{
    FILE *to = cookie;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        /* U+0080 to U+009F are control characters too; in UTF-8 they begin with 0xc2. */
        bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
                       (c >= 0x80 && c < 0xa0 && i > 0 && (unsigned char)s[i - 1] == 0xc2);
        if (putc(control ? '?' : c, to) == EOF) return 0;
    }
    return (ssize_t)n;
}

Err text_open(FILE *to, FILE **out)
{
    *out = fopencookie(to, "w", (cookie_io_functions_t){.write = text_write});
    if (!*out) FAIL(ERR_FAILED, "out of memory for a report");
    return 0;
}

Err text_close(FILE *f, Err e)
{
    bool failed = fclose(f) != 0;
    if (!e && failed && errno != EPIPE) FAIL(ERR_FAILED, "cannot write the report: %s", strerror(errno));
    return e;
}
