/* libnvrtc. See nvrtc.h. The prototypes are those of NVIDIA's documentation. */
#include "build/nvrtc/nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"

enum { NEWEST = 16, OLDEST = 11 };

typedef struct Program Program;

typedef struct {
    int (*version)(int *major, int *minor);
    const char *(*error)(int code);
    int (*create)(Program **p, const char *source, const char *name, int n_headers,
                  const char *const *headers, const char *const *names);
    int (*compile)(Program *p, int n, const char *const *options);
    int (*log_size)(Program *p, size_t *n);
    int (*log)(Program *p, char *text);
    int (*cubin_size)(Program *p, size_t *n);
    int (*cubin)(Program *p, char *data);
    int (*destroy)(Program **p);
} Nvrtc;

typedef struct {
    const char *symbol;
    size_t offset;
} Entry;

static const Entry entries[] = {
    {"nvrtcVersion", offsetof(Nvrtc, version)},
    {"nvrtcGetErrorString", offsetof(Nvrtc, error)},
    {"nvrtcCreateProgram", offsetof(Nvrtc, create)},
    {"nvrtcCompileProgram", offsetof(Nvrtc, compile)},
    {"nvrtcGetProgramLogSize", offsetof(Nvrtc, log_size)},
    {"nvrtcGetProgramLog", offsetof(Nvrtc, log)},
    {"nvrtcGetCUBINSize", offsetof(Nvrtc, cubin_size)},
    {"nvrtcGetCUBIN", offsetof(Nvrtc, cubin)},
    {"nvrtcDestroyProgram", offsetof(Nvrtc, destroy)},
};

/* ---- finding ---- */

static void *open_in(const char *dir, int version)
{
    char path[4096];
    int n = version ? snprintf(path, sizeof path, "%slibnvrtc.so.%d", dir, version)
                    : snprintf(path, sizeof path, "%slibnvrtc.so", dir);
    if (n < 0 || (size_t)n >= sizeof path) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_any(const char *root, const char *below)
{
    char dir[4096];
    int n = snprintf(dir, sizeof dir, "%s%s", root, below);
    if (n < 0 || (size_t)n >= sizeof dir) return NULL;
    void *lib = NULL;
    for (int v = NEWEST; !lib && v >= OLDEST; v--) lib = open_in(dir, v);
    return lib ? lib : open_in(dir, 0);
}

static Err nvrtc_open(Nvrtc *c)
{
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    void *lib = open_any("", "");
    for (size_t i = 0; !lib && i < sizeof roots / sizeof *roots; i++) {
        if (!roots[i]) continue;
        lib = open_any(roots[i], "/lib64/");
        if (!lib) lib = open_any(roots[i], "/lib/");
    }
    if (!lib) FAIL(ERR_FAILED, "no libnvrtc.so (looked in the loader's paths, CUDA_HOME, /usr/local/cuda)");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *f = dlsym(lib, entries[i].symbol);
        if (!f) FAIL(ERR_FAILED, "libnvrtc.so has no %s", entries[i].symbol);
        memcpy((char *)c + entries[i].offset, &f, sizeof f);
    }
    return 0;
}

Err nvrtc_version(Buf *out)
{
    Nvrtc c;
    void *symbol;
    Dl_info info;
    struct stat st = {0};
    int major = 0, minor = 0;
    TRY(nvrtc_open(&c));
    if (c.version(&major, &minor)) FAIL(ERR_FAILED, "libnvrtc does not report its version");
    memcpy(&symbol, &c.version, sizeof symbol);
    bool known = dladdr(symbol, &info) && info.dli_fname && stat(info.dli_fname, &st) == 0;
    buf_printf(out, "NVRTC %d.%d (%s, %lld bytes)", major, minor,
               known ? path_base(str_from(info.dli_fname)).s : "libnvrtc", (long long)st.st_size);
    return buf_check(out);
}

/* ---- compiling ---- */

/* Grows out by n bytes and returns their address; NULL when memory is exhausted. */
static char *room(Buf *out, size_t n)
{
    size_t at = out->n;
    for (size_t i = 0; i < n; i++) buf_putc(out, '\0');
    return buf_check(out) ? NULL : out->s + at;
}

static void log_take(const Nvrtc *c, Program *p, Buf *log)
{
    size_t n = 0;
    if (c->log_size(p, &n) || n <= 1) return;
    char *to = room(log, n);
    if (to && c->log(p, to)) log->n -= n;
    while (log->n && !log->s[log->n - 1]) log->n--;
}

static Err compile(const Nvrtc *c, Program *p, const char *const *options, int n_options, Buf *cubin,
                   Buf *log)
{
    size_t n = 0;
    int rc = c->compile(p, n_options, options);
    log_take(c, p, log);
    if (rc) FAIL(ERR_FAILED, "%s", c->error(rc));
    rc = c->cubin_size(p, &n);
    if (!rc && n == 0) FAIL(ERR_FAILED, "NVRTC gave no cubin: the architecture must be sm_, not compute_");
    char *to = rc ? NULL : room(cubin, n);
    if (!rc && !to) FAIL(ERR_FAILED, "out of memory for a cubin of %zu bytes", n);
    if (!rc) rc = c->cubin(p, to);
    if (rc) FAIL(ERR_FAILED, "no cubin: %s", c->error(rc));
    return 0;
}

Err nvrtc_compile(Str source, const char *name, const char *const *options, int n, Buf *cubin, Buf *log)
{
    Nvrtc c;
    Program *p;
    TRY(nvrtc_open(&c));
    int rc = c.create(&p, source.s, name, 0, NULL, NULL);
    if (rc) FAIL(ERR_FAILED, "cannot begin to compile '%s': %s", name, c.error(rc));
    Err e = compile(&c, p, options, n, cubin, log);
    c.destroy(&p);
    return e;
}
