/* Fuzz target: programs as text are read and checked, and their modules chosen. Not here: lowering,
 * which gets the programs of the passes and their texts alone. */
#include <stddef.h>
#include <stdint.h>

#include "kernel/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    Arena a;
    Program p;
    arena_init(&a, (size_t)64 << 20);
    (void)program_parse(&p, (Str){(const char *)data, n}, "program", &a);
    arena_fini(&a);
    return 0;
}
