/* Names of the helper kernels that copy operands. See pack.h. */
#include "problem/pack.h"

#include <string.h>

static const struct {
    int bytes;
    const char *name, *window;
} kernels[] = {{1, "PackOperands_1", "PackWindow_1"},
               {2, "PackOperands_2", "PackWindow_2"},
               {4, "PackOperands_4", "PackWindow_4"}};

enum { N = sizeof kernels / sizeof *kernels };

_Static_assert(sizeof(PackArgs) == 80, "PackArgs is an argument of a kernel: it has no padding");
_Static_assert(sizeof(PackPixels) == 104 && sizeof(PackFilter) == 184, "the same of these");

const char *pack_kernel_name(int element_bytes)
{
    for (int i = 0; i < N; i++)
        if (kernels[i].bytes == element_bytes) return kernels[i].name;
    return NULL;
}

const char *pack_window_name(int element_bytes)
{
    for (int i = 0; i < N; i++)
        if (kernels[i].bytes == element_bytes) return kernels[i].window;
    return NULL;
}

static bool is_name(const char *name, const char *s, uint64_t n)
{
    return strlen(name) == n && !memcmp(name, s, n);
}

int pack_kernel_bytes(const char *name, uint64_t n)
{
    for (int i = 0; i < N; i++)
        if (is_name(kernels[i].name, name, n) || is_name(kernels[i].window, name, n)) return kernels[i].bytes;
    return 0;
}

bool pack_name_is_window(const char *name, uint64_t n)
{
    bool is = false;
    for (int i = 0; i < N; i++) is |= is_name(kernels[i].window, name, n);
    return is;
}
