/* Fuzz target of the files of shards: a plan that is read, printed and read again is the same, and so are the
 * results of its first shard. The input is a plan, and behind a line "---8<---" results. */
#include <string.h>

#include "measure/shard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(Str a, Str b)
{
    if (!str_eq(a, b)) __builtin_trap();
}

static void plan_again(Arena *a, const ShardPlan *p)
{
    ShardPlan again;
    Buf text, second;
    buf_init(&text);
    buf_init(&second);
    if (shard_plan_print(p, &text) || shard_plan_parse(a, "again", buf_view(&text), &again) ||
        shard_plan_print(&again, &second))
        __builtin_trap();
    same(buf_view(&text), buf_view(&second));
    buf_fini(&text);
    buf_fini(&second);
}

static void result_again(Arena *a, const ShardPlan *p, const ShardResult *r)
{
    ShardResult again;
    Buf text, second;
    buf_init(&text);
    buf_init(&second);
    if (shard_result_print(r, &text) || shard_result_parse(a, "again", buf_view(&text), p, 0, &again) ||
        shard_result_print(&again, &second))
        __builtin_trap();
    same(buf_view(&text), buf_view(&second));
    buf_fini(&text);
    buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char cut[] = "---8<---\n";
    Arena a;
    ShardPlan p;
    ShardResult r;
    const char *text = (const char *)data;
    size_t at = 0;
    while (at + sizeof cut - 1 <= size && memcmp(text + at, cut, sizeof cut - 1)) at++;
    const bool has_result = at + sizeof cut - 1 <= size;
    arena_init(&a, (size_t)256 << 20);
    if (!shard_plan_parse(&a, "fuzz", (Str){text, has_result ? at : size}, &p)) {
        plan_again(&a, &p);
        p.id = STR("id");
        Str rest = has_result ? (Str){text + at + sizeof cut - 1, size - at - (sizeof cut - 1)} : STR("");
        if (!shard_result_parse(&a, "fuzz", rest, &p, 0, &r)) result_again(&a, &p, &r);
    }
    arena_fini(&a);
    return 0;
}
