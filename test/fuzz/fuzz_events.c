/* Fuzz target: lines of the client's events. What is read must be written to a line that reads back to the
 * same text. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "client/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Event e, back;
    if (event_parse((Str){(const char *)data, size}, &e)) return 0;
    Buf a, b;
    buf_init(&a);
    buf_init(&b);
    event_format(&e, &a);
    if (event_parse(str_sub(buf_view(&a), 0, a.n - 1), &back)) abort();
    event_format(&back, &b);
    if (!str_eq(buf_view(&a), buf_view(&b))) abort();
    buf_fini(&a);
    buf_fini(&b);
    return 0;
}
