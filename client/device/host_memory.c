/* Host memory with guard pages: one inaccessible page on each side of the buffer's own pages; the buffer touches the front or
 * the back one to the byte. What lies between the buffer and the other one is the buffer's own page. */
#include "client/device/host_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 4096 };

typedef struct {
    void *base; /* mapping, or NULL: from the allocator */
    size_t bytes;
} Block;

static Err alloc_guarded(uint64_t bytes, DeviceGuard guard, Block *b, DeviceMem *out)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
    if (body == 0) body = page;
    b->bytes = body + 2 * page;
    b->base = mmap(NULL, b->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->base == MAP_FAILED) FAIL(ERR_FAILED, "cannot map %zu bytes: %s", b->bytes, strerror(errno));
    char *start = (char *)b->base + page;
    if (mprotect(start, body, PROT_READ | PROT_WRITE)) {
        int why = errno;
        munmap(b->base, b->bytes);
        FAIL(ERR_FAILED, "cannot use %zu bytes: %s", body, strerror(why));
    }
    out->host = guard == DEVICE_GUARD_BACK ? start + (body - bytes) : start;
    return 0;
}

Err host_memory_alloc(uint64_t bytes, DeviceGuard guard, DeviceMem *out)
{
    *out = (DeviceMem){.bytes = bytes};
    if (bytes > (UINT64_C(1) << 46)) FAIL(ERR_FAILED, "cannot allocate %llu bytes", (unsigned long long)bytes);
    Block *b = calloc(1, sizeof *b);
    if (!b) FAIL(ERR_FAILED, "out of memory for %zu bytes", sizeof *b);
    Err e = 0;
    if (guard == DEVICE_GUARD_NONE) {
        if (posix_memalign(&out->host, ALIGN, bytes ? (size_t)bytes : 1))
            e = err_set(ERR_FAILED, "cannot allocate %llu bytes", (unsigned long long)bytes);
    } else {
        e = alloc_guarded(bytes, guard, b, out);
    }
    if (e) {
        free(b);
        *out = (DeviceMem){0};
        return e;
    }
    out->address = (uint64_t)(uintptr_t)out->host;
    out->handle = b;
    return 0;
}

void host_memory_free(DeviceMem *m)
{
    Block *b = m->handle;
    if (b && b->base) munmap(b->base, b->bytes);
    else if (b) free(m->host);
    free(b);
    *m = (DeviceMem){0};
}

Err host_memory_range(const DeviceMem *m, uint64_t offset, uint64_t bytes)
{
    if (offset > m->bytes || bytes > m->bytes - offset)
        FAIL(ERR_FAILED, "%llu bytes at %llu of a buffer of %llu", (unsigned long long)bytes, (unsigned long long)offset,
             (unsigned long long)m->bytes);
    return 0;
}
