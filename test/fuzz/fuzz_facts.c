/* Fuzz target of the readers of code objects: facts of a kernel named 'k' for an AMD and an NVIDIA target;
 * what is read prints and parses back to the same. */
#include "build/facts.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one(Str object, const char *arch)
{
    Arena a;
    CodeFacts f, again;
    Buf text;
    arena_init(&a, (size_t)256 << 20);
    buf_init(&text);
    if (!code_facts_read(&a, object, target_find(str_from(arch)), STR("k"), &f)) {
        code_facts_print(&f, &text);
        code_facts_parse(buf_view(&text), &again);
        for (size_t i = 0; code_fact_name(i); i++)
            if (code_fact(&f, i) != code_fact(&again, i) && code_fact(&f, i) >= 0) __builtin_trap();
        if (code_facts_check(&f, target_find(str_from(arch)))) err_clear();
    }
    buf_fini(&text);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str object = {(const char *)data, size};
    one(object, "gfx90a");
    one(object, "sm_90");
    return 0;
}
