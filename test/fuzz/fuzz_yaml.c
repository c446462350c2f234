/* Fuzz target of the YAML reader and writer: no input may crash, leak or take long; what is read, written and
 * read again is the same data, and the second text is the same as the first. */
#include "test/fuzz/emit_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const NodeLimits limits = {.max_nodes = 100000};
    Arena a;
    Node *first, *second;
    arena_init(&a, (size_t)256 << 20);
    if (!yaml_parse(&a, "fuzz", (Str){(const char *)data, size}, &limits, &first)) {
        Buf text, again;
        buf_init(&text);
        buf_init(&again);
        node_write(first, emit_yaml, &text);
        if (yaml_parse(&a, "again", buf_view(&text), NULL, &second) || !node_equal(first, second))
            __builtin_trap();
        node_write(second, emit_yaml, &again);
        if (!str_eq(buf_view(&text), buf_view(&again))) __builtin_trap();
        buf_reset(&again);
        node_write(first, emit_msgpack, &again);
        if (msgpack_parse(&a, "packed", buf_view(&again), NULL, &second) || !node_equal(first, second))
            __builtin_trap();
        buf_fini(&text);
        buf_fini(&again);
    }
    arena_fini(&a);
    return 0;
}
