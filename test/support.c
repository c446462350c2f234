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
