/* Fuzz target: programs as text, read; those written by hand are also verified, run on a small problem and
 * lowered to each family. */
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernel.h"
#include "kernel/parse.h"
#include "kernel/tile/interpret.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void by_hand(const Program *p, Str text)
{
    static const char *const arches[] = {"x86-64-v3", "gfx90a", "sm_90"};
    const InterpretRun run = {.m = 5, .n = 7, .k = 9, .alpha = 1, .beta = 2, .steps = 1 << 18};
    InterpretResult result;
    TilePlan plan;
    if (tile_plan(p, p->target, "program", &plan)) return;
    (void)tile_interpret(p, &plan, "program", &run, &result);
    for (int i = 0; i < 3; i++) {
        Buf out;
        buf_init(&out);
        (void)kernel_emit_hand(text, "program", target_find(str_from(arches[i])), STR("kernel"), &out);
        buf_fini(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    Arena a;
    Program p;
    Str text = {(const char *)data, n};
    arena_init(&a, (size_t)64 << 20);
    if (!program_parse(&p, text, "program", &a) && p.hand) by_hand(&p, text);
    arena_fini(&a);
    return 0;
}
