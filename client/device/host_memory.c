/* Host memory: every buffer is a mapping of its own with an inaccessible page on each side, so that a kernel
 * that writes out of bounds faults instead of overwriting other data. A guarded buffer starts or ends exactly
 * at such a page; a plain one begins at a page boundary. */
#include "client/device/host_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    void *base; /* of the mapping, with the guard pages */
    size_t bytes;
} Block;

Err host_memory_alloc(uint64_t bytes, DeviceGuard guard, DeviceMem *out)
{
    *out = (DeviceMem){.bytes = bytes};
    if (bytes > (UINT64_C(1) << 46))
        FAIL(ERR_FAILED, "cannot allocate %llu bytes", (unsigned long long)bytes);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body = ((size_t)bytes + page - 1) / page * page;
    if (body == 0) body = page;
    Block *b = calloc(1, sizeof *b);
    if (!b) FAIL(ERR_FAILED, "out of memory for %zu bytes", sizeof *b);
    b->bytes = body + 2 * page;
    b->base = mmap(NULL, b->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *start = b->base == MAP_FAILED ? NULL : (char *)b->base + page;
    if (!start || mprotect(start, body, PROT_READ | PROT_WRITE)) {
        int why = errno;
        if (start) munmap(b->base, b->bytes);
        free(b);
        *out = (DeviceMem){0};
        FAIL(ERR_FAILED, "cannot map %llu bytes: %s", (unsigned long long)bytes, strerror(why));
    }
    out->host = guard == DEVICE_GUARD_BACK ? start + (body - bytes) : start;
    out->address = (uint64_t)(uintptr_t)out->host;
    out->handle = b;
    return 0;
}

void host_memory_free(DeviceMem *m)
{
    Block *b = m->handle;
    if (b) munmap(b->base, b->bytes);
    free(b);
    *m = (DeviceMem){0};
}

Err host_device_alloc(Device *d, uint64_t bytes, DeviceGuard guard, DeviceMem *out)
{
    (void)d;
    return host_memory_alloc(bytes, guard, out);
}

void host_device_free(Device *d, DeviceMem *m)
{
    (void)d;
    host_memory_free(m);
}

Err host_device_copy_to(Device *d, const DeviceMem *to, uint64_t offset, const void *from, uint64_t bytes)
{
    (void)d;
    TRY(device_range(to, offset, bytes));
    if (bytes) memcpy((char *)to->host + offset, from, bytes);
    return 0;
}

Err host_device_copy_from(Device *d, void *to, const DeviceMem *from, uint64_t offset, uint64_t bytes)
{
    (void)d;
    TRY(device_range(from, offset, bytes));
    if (bytes) memcpy(to, (char *)from->host + offset, bytes);
    return 0;
}

Err host_device_copy(Device *d, const DeviceMem *to, const DeviceMem *from, uint64_t bytes)
{
    TRY(device_range(from, 0, bytes));
    return host_device_copy_to(d, to, 0, from->host, bytes);
}

Err host_device_fill(Device *d, const DeviceMem *m, unsigned char byte)
{
    (void)d;
    if (m->bytes) memset(m->host, byte, m->bytes);
    return 0;
}
