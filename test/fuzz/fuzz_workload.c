/* Fuzz target of the reader of logs: what is read is written as CSV and read again with the same calls. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workload/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the bytes as a file. */
static Err read_bytes(Workload *w, const void *data, size_t size)
{
    char path[64];
    int fd = memfd_create("log", MFD_CLOEXEC);
    if (fd < 0) return ERR_FAILED;
    bool written = write(fd, data, size) == (ssize_t)size;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    Err e = written ? workload_read(w, path) : ERR_FAILED;
    close(fd);
    return e;
}

static void again(const WorkloadTypes *types, bool as_convolution, int64_t n_calls)
{
    Workload w;
    Buf csv;
    buf_init(&csv);
    workload_init(&w);
    w.as_convolution = as_convolution;
    workload_csv(types, &csv);
    if (read_bytes(&w, csv.s, csv.n)) __builtin_trap();
    if (w.n_calls != n_calls || w.n_skipped) __builtin_trap();
    workload_fini(&w);
    buf_fini(&csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Workload w;
    WorkloadTypes types;
    const WorkloadLimits all = {.share = 1};
    workload_init(&w);
    w.as_convolution = size % 2 != 0;
    if (!read_bytes(&w, data, size) && w.call.n > 0 &&
        !workload_types(&w, target_find(STR("gfx90a")), NULL, &all, &types)) {
        int64_t n = 0;
        for (size_t i = 0; i < types.n; i++) n += types.type[i].n_calls;
        if (types.n) again(&types, w.as_convolution, n);
    }
    workload_fini(&w);
    return 0;
}
