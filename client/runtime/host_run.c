/* Host execution: code objects through dlopen, and the partition of a grid for the pool. The threads are in
 * host_pool.c. See host_run.h. */
#include "client/runtime/host_run.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/seal.h"
#include "client/runtime/host_pool.h"

struct HostModule {
    void *dl;
    int fd; /* anonymous file, else -1; open while loaded, as its number is in the module's path */
    char path[];
};

enum { SYMBOL_MAX = 4096, LOCAL_BYTES_MAX = 1 << 30 };

static Err check_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        int why = errno;
        if (fd >= 0) close(fd);
        FAIL(ERR_FAILED, "code object %s: %s", path, strerror(why));
    }
    size_t n = st.st_size > 0 ? (size_t)st.st_size : 0;
    void *data = n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    Err e = data == MAP_FAILED ? err_set(ERR_FAILED, "code object %s: %s", path, strerror(errno))
                               : seal_check(path, (Str){data ? data : "", n});
    if (n && data != MAP_FAILED) munmap(data, n);
    close(fd);
    return e;
}

Err host_module_open(const char *path, HostModule **out)
{
    size_t n = strlen(path);
    const char *prefix =
        strchr(path, '/') ? "" : "./"; /* dlopen searches a name without '/' in the system's folders */
    HostModule *m = malloc(sizeof *m + n + 3);
    *out = NULL;
    TRY_ALLOC(m);
    strcpy(m->path, prefix);
    strcat(m->path, path);
    m->fd = -1;
    Err e = check_file(m->path);
    m->dl = e ? NULL : dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
    if (!m->dl) {
        const char *why = e ? NULL : dlerror();
        if (!e) e = err_set(ERR_FAILED, "code object %s", why ? why : path);
        free(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

void host_module_close(HostModule *m)
{
    if (!m) return;
    dlclose(m->dl);
    if (m->fd >= 0) close(m->fd);
    free(m);
}

static Err write_all(int fd, const char *name, Str data)
{
    while (data.n > 0) {
        ssize_t n = write(fd, data.s, data.n);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            FAIL(ERR_FAILED, "code object %s: %s, %zu bytes left to copy", name, strerror(errno), data.n);
        data = str_sub(data, (size_t)n, data.n);
    }
    return ERR_OK;
}

static Err open_copy(HostModule *m, Str data)
{
    char path[32];
    m->fd = memfd_create("tuner-code-object", MFD_CLOEXEC);
    if (m->fd < 0) FAIL(ERR_FAILED, "code object %s: no anonymous file: %s", m->path, strerror(errno));
    TRY(write_all(m->fd, m->path, data));
    snprintf(path, sizeof path, "/proc/self/fd/%d", m->fd);
    m->dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = m->dl ? NULL : dlerror();
    if (!m->dl) FAIL(ERR_FAILED, "code object %s: %s", m->path, why ? why : "cannot be opened");
    return ERR_OK;
}

Err host_module_open_data(const char *name, Str data, HostModule **out)
{
    HostModule *m = malloc(sizeof *m + strlen(name) + 1);
    *out = NULL;
    TRY_ALLOC(m);
    m->dl = NULL;
    strcpy(m->path, name);
    m->fd = -1;
    Err e = seal_check(name, data);
    if (!e) e = open_copy(m, data);
    if (e) {
        if (m->fd >= 0) close(m->fd);
        free(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

bool host_module_has(const HostModule *m, const char *symbol) { return dlsym(m->dl, symbol) != NULL; }

Err host_module_kernel(const HostModule *m, const char *symbol, HostKernel *out)
{
    static const char suffix[] = "_local_bytes";
    char name[SYMBOL_MAX + sizeof suffix];
    size_t n = strlen(symbol);
    if (n > SYMBOL_MAX) FAIL(ERR_INPUT, "kernel name of %zu bytes, limit %d", n, SYMBOL_MAX);
    void *fn = dlsym(m->dl, symbol);
    if (!fn) FAIL(ERR_FAILED, "%s: has no kernel %s", m->path, symbol);
    memcpy(name, symbol, n);
    memcpy(name + n, suffix, sizeof suffix);
    const uint64_t *bytes = dlsym(m->dl, name);
    out->local_bytes = bytes ? *bytes : 0;
    if (out->local_bytes > LOCAL_BYTES_MAX)
        FAIL(ERR_INPUT, "%s: kernel %s asks for %llu bytes of scratch", m->path, symbol,
             (unsigned long long)out->local_bytes);
    memcpy(&out->fn, &fn, sizeof fn); /* C has no conversion from object to function pointers */
    return ERR_OK;
}

/* ---- pieces of a grid ---- */

typedef struct {
    const HostKernel *kernel;
    const uint32_t *grid;
    const void *args;
    uint32_t parts, columns; /* of a split: rows of the grid are columns * parts */
    bool round_robin;
} Piece;

static void run_groups(void *ctx, uint64_t first, uint64_t last, void *local)
{
    const Piece *p = ctx;
    p->kernel->fn(p->args, p->grid, first, last, local);
}

/* Units are tiles (x, column, z). Consecutive tiles of one row are computed part after part of K. */
static void run_tiles(void *ctx, uint64_t first, uint64_t last, void *local)
{
    const Piece *p = ctx;
    uint64_t width = p->grid[0];
    while (first < last) {
        uint64_t x = first % width, row = first / width, n = last - first;
        uint64_t column = row % p->columns, z = row / p->columns;
        if (n > width - x) n = width - x;
        for (uint32_t part = 0; part < p->parts; part++) {
            uint64_t y = p->round_robin ? column + (uint64_t)part * p->columns : column * p->parts + part;
            uint64_t id = x + width * (y + p->grid[1] * z);
            p->kernel->fn(p->args, p->grid, id, id + n, local);
        }
        first += n;
    }
}

Err host_launch(HostPool *pool, const HostKernel *kernel, const uint32_t grid[3], const void *args,
                const HostSplit *split)
{
    Piece piece = {.kernel = kernel, .grid = grid, .args = args};
    uint64_t n = (uint64_t)grid[0] * grid[1];
    if (__builtin_mul_overflow(n, (uint64_t)grid[2], &n))
        FAIL(ERR_INPUT, "grid %u x %u x %u is too large", grid[0], grid[1], grid[2]);
    if (n == 0) return ERR_OK;
    bool brief = split && split->brief;
    if (!split || split->tile_y <= 1)
        return host_pool_run(pool, run_groups, &piece, n, kernel->local_bytes, brief);
    if (grid[1] % split->tile_y)
        FAIL(ERR_INPUT, "a grid of %u rows is not a multiple of its %u parts", grid[1], split->tile_y);
    piece.parts = split->tile_y;
    piece.columns = grid[1] / split->tile_y;
    piece.round_robin = split->round_robin;
    return host_pool_run(pool, run_tiles, &piece, n / piece.parts, kernel->local_bytes, brief);
}

Err host_launch_inline(HostPool *pool, const HostKernel *kernel, const uint32_t grid[3], const void *args)
{
    uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
    HostScratch scratch;
    TRY(host_scratch_take(pool, kernel->local_bytes, &scratch));
    if (n) kernel->fn(args, grid, 0, n, scratch.p);
    host_scratch_give(pool, &scratch);
    return ERR_OK;
}
