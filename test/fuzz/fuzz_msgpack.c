/* Fuzz target of the msgpack reader and writer: what is read, packed and read again is the same data. */
#include "test/fuzz/emit_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a;
    Node *first, *second;
    arena_init(&a, (size_t)256 << 20);
    if (!msgpack_parse(&a, "fuzz", (Str){(const char *)data, size}, NULL, &first)) {
        Buf text;
        buf_init(&text);
        node_write(first, emit_msgpack, &text);
        if (text.n > 2 * size) __builtin_trap(); /* float32 becomes float64, everything else gets no longer */
        if (msgpack_parse(&a, "again", buf_view(&text), NULL, &second) || !node_equal(first, second))
            __builtin_trap();
        buf_fini(&text);
    }
    arena_fini(&a);
    return 0;
}
