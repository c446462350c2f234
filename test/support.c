/* What the unit tests share. See support.h. The repository root is the working directory of test runs. */
#include "test/support.h"

char *test_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    char *path = malloc(4096);
    assert_non_null(path);
    snprintf(path, 4096, "%s/tuner-test-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
    return path;
}

const char *test_data_path(Arena *a, const char *name)
{
    Str path = path_join(a, "test/data", name);
    assert_non_null(path.s);
    return path.s;
}

Str test_data(Arena *a, const char *name)
{
    Str content;
    assert_ok(file_read(a, test_data_path(a, name), (size_t)1 << 28, &content));
    return content;
}

void args_put(KernelArgs *a, const void *p, size_t bytes)
{
    a->n = (a->n + bytes - 1) / bytes * bytes;
    if (a->n + bytes > sizeof a->bytes) fail_msg("more than %zu bytes of arguments", sizeof a->bytes);
    memcpy(a->bytes + a->n, p, bytes);
    a->n += bytes;
}

void args_put_u32(KernelArgs *a, int64_t v) { args_put(a, &(uint32_t){(uint32_t)v}, 4); }

void assert_names(Str text)
{
    for (size_t i = 0; (i = str_find(text, '@', i)) < text.n; i++)
        if (!str_starts(str_sub(text, i, text.n), "@p ")) fail_msg("'%.40s'", text.s + i);
}
