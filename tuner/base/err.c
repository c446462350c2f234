/* Per-thread error message. See err.h. */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char message[2048];

Err err_set(Err code, const char *fmt, ...)
{
    char text[sizeof message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap); /* arguments may point into the old message */
    va_end(ap);
    memcpy(message, text, sizeof message);
    return code;
}

Err err_context(Err code, const char *fmt, ...)
{
    char text[sizeof message];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0) return code;
    size_t used = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    snprintf(text + used, sizeof text - used, "%s", message);
    memcpy(message, text, sizeof message);
    return code;
}

const char *err_message(void) { return message; }

void err_clear(void) { message[0] = 0; }
