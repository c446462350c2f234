/* Fuzz target of the logic reader and writer: what reads is written to a text that reads to the same text,
 * and the line scanner agrees with the YAML reader. */
#include <stdlib.h>

#include "logic/logic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write(const Logic *l, Buf *out)
{
    buf_init(out);
    if (logic_emit(l, out)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const LogicReadOptions slow = {.no_scan = true};
    Str text = {(const char *)data, size};
    Logic l, other;
    Arena a;
    arena_init(&a, (size_t)512 << 20);
    Err fast_err = logic_parse(&a, "fuzz", text, NULL, &l);
    Err slow_err = logic_parse(&a, "fuzz", text, &slow, &other);
    if (fast_err != slow_err) abort();
    if (!fast_err) {
        Buf one, two, three;
        write(&l, &one);
        write(&other, &two);
        if (!str_eq(buf_view(&one), buf_view(&two))) abort();
        if (logic_parse(&a, "again", buf_view(&one), NULL, &other)) abort();
        write(&other, &three);
        if (!str_eq(buf_view(&one), buf_view(&three))) abort();
        buf_fini(&one);
        buf_fini(&two);
        buf_fini(&three);
    }
    arena_fini(&a);
    return 0;
}
