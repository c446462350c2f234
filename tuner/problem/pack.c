/* Names of the helper kernels that copy operands. See pack.h. */
#include "problem/pack.h"

#include <string.h>

static const struct {
    int bytes;
    const char *name;
} kernels[] = {{1, "PackOperands_1"}, {2, "PackOperands_2"}, {4, "PackOperands_4"}};

enum { N = sizeof kernels / sizeof *kernels };

_Static_assert(sizeof(PackArgs) == 80, "PackArgs is an argument of a kernel: it has no padding");

const char *pack_kernel_name(int element_bytes)
{
    for (int i = 0; i < N; i++)
        if (kernels[i].bytes == element_bytes) return kernels[i].name;
    return NULL;
}

int pack_kernel_bytes(const char *name, uint64_t n)
{
    for (int i = 0; i < N; i++)
        if (strlen(kernels[i].name) == n && !memcmp(kernels[i].name, name, n)) return kernels[i].bytes;
    return 0;
}
