/* Host execution: code objects for the CPU (.so files with kernels of the host ABI) and the threads that run
 * them.
 *
 * Kernel ABI: `void SYMBOL(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last, void
 * *local)` runs work-groups [first, last); linear id = x + grid[0] * (y + grid[1] * z). kernarg is Tensile's
 * Source layout (or a helper kernel's). `const uint64_t SYMBOL_local_bytes` is the scratch each thread needs,
 * 64-byte aligned. A pool is used by one launch at a time; further callers wait. The caller of host_launch
 * works too. There is no protection from kernels that crash or hang: tuner-client runs those in a process of
 * their own.
 */
#ifndef CLIENT_RUNTIME_HOST_RUN_H
#define CLIENT_RUNTIME_HOST_RUN_H

#include "base/arena.h"

typedef void HostKernelFn(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last,
                          void *local);

typedef struct {
    HostKernelFn *fn;
    uint64_t local_bytes;
} HostKernel;

typedef struct HostPool HostPool;
typedef struct HostModule HostModule;

/* n_threads includes the caller; 0: TUNER_NUM_THREADS, or else the processors that this process may use.
 * Threads start with the first launch that needs them. */
Err host_pool_new(int n_threads, HostPool **out);
void host_pool_free(HostPool *pool);
int host_pool_threads(const HostPool *pool);

/* Checks the seal and opens the file with dlopen (RTLD_NOW). The file's constructors run: open only files
 * that the user has named. */
Err host_module_open(const char *path, HostModule **out);
/* The same from memory, through an anonymous file; name is for messages. */
Err host_module_open_data(const char *name, Str data, HostModule **out);
void host_module_close(HostModule *m);
/* ERR_FAILED when the module does not have it. */
Err host_module_kernel(const HostModule *m, const char *symbol, HostKernel *out);
bool host_module_has(const HostModule *m, const char *symbol);

/* How work-groups may be distributed over threads. */
typedef struct {
    /* This many y must run on one thread in order: the parts of a GlobalSplitU tile, which add into the same
     * D; 0 or 1: no such groups */
    uint32_t tile_y;
    bool round_robin; /* the y of a tile are strided, else consecutive */
    bool brief;       /* a launch of a few tens of microseconds: sleeping threads are not woken */
} HostSplit;

/* Runs all work-groups of the grid and waits for them. split may be NULL. ERR_INPUT: the grid does not fit;
 * ERR_FAILED: out of memory for scratch. */
Err host_launch(HostPool *pool, const HostKernel *kernel, const uint32_t grid[3], const void *args,
                const HostSplit *split);
/* Runs all work-groups on the caller's thread, without the pool's lock; for small grids. */
Err host_launch_inline(HostPool *pool, const HostKernel *kernel, const uint32_t grid[3], const void *args);

#endif
