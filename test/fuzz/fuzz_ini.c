/* Fuzz target of the ini reader: lines that are read, written and read again are the same. */
#include "fmt/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a;
    Ini first, second;
    arena_init(&a, (size_t)256 << 20);
    if (!ini_parse(&a, "fuzz", (Str){(const char *)data, size}, &first)) {
        Buf text;
        buf_init(&text);
        buf_puts(&text, "#\n"); /* a byte order mark is one in the first line only */
        for (size_t i = 0; i < first.n; i++) {
            buf_str(&text, first.line[i].key);
            buf_putc(&text, '=');
            buf_str(&text, first.line[i].value);
            buf_putc(&text, '\n');
        }
        if (ini_parse(&a, "again", buf_view(&text), &second) || second.n != first.n) __builtin_trap();
        for (size_t i = 0; i < first.n; i++)
            if (!str_eq(first.line[i].key, second.line[i].key) ||
                !str_eq(first.line[i].value, second.line[i].value))
                __builtin_trap();
        buf_fini(&text);
    }
    arena_fini(&a);
    return 0;
}
