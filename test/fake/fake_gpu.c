/* Fake GPU drivers: the libraries' functions. Built with -DCUDA as libcuda.so.1 (-DOLD: without graphs,
 * -DBROKEN: without times of events) and with -DHIP=5, 6 or 7 as libamdhip64.so. Memory, streams, events and
 * graphs are in fake_memory.c. See fake.h. */
#include "test/fake/fake_priv.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic bool started;
static _Atomic int sticky;
_Atomic uint64_t fake_clock_ns = 1000000;
static _Thread_local int current = FN(-1, 0); /* device whose context is current in this thread */

static const char *architecture(void)
{
    const char *set = fake_setting("arch");
    return set ? set : ARCH;
}

static int n_devices(void) { return (int)fake_number("devices", 1); }

/* A device that has fallen off the bus. */
static bool fake_gone(int device)
{
    const char *path = fake_setting("gone_file");
    return path && access(path, F_OK) == 0 && device == (int)fake_number("gone", -1);
}

static void fake_leave(int device)
{
    static _Atomic int64_t n_launches;
    if (device != (int)fake_number("gone", -1) || ++n_launches < fake_number("gone_after", 1)) return;
    FILE *f = fopen(fake_setting("gone_file") ? fake_setting("gone_file") : "/dev/null", "a");
    if (f) fclose(f);
}

int fake_ready(const char *who)
{
    if (!started) return fake_wrong(NOT_STARTED, "%s before init", who);
    if (current < 0) return fake_wrong(BAD_CONTEXT, "%s without a context", who);
    return fake_gone(current) ? UNKNOWN : sticky;
}

/* ---- library and devices ---- */

API int FN(cuInit, hipInit)(unsigned flags);
API int FN(cuInit, hipInit)(unsigned flags)
{
    if (flags) return fake_wrong(BAD_VALUE, "init: flags %u", flags);
    if (fake_number("nostart", 0)) return 999;
    if (n_devices() == 0) return NO_DEVICE;
    started = true;
    return OK;
}

API int FN(cuDriverGetVersion, hipDriverGetVersion)(int *version);
API int FN(cuDriverGetVersion, hipDriverGetVersion)(int *version)
{
#ifdef CUDA
    *version = 13000;
#else
    *version = HIP * 10000000 + 2 * 100000 + 21153;
#endif
    return OK;
}

API int FN(cuDeviceGetCount, hipGetDeviceCount)(int *n);
API int FN(cuDeviceGetCount, hipGetDeviceCount)(int *n)
{
    *n = n_devices();
    return started ? OK : NOT_STARTED;
}

API int FN(cuDeviceGet, hipDeviceGet)(int *device, int index);
API int FN(cuDeviceGet, hipDeviceGet)(int *device, int index)
{
    if (index < 0 || index >= n_devices()) return BAD_DEVICE;
    *device = index;
    return OK;
}

API int FN(cuDeviceGetName, hipDeviceGetName)(char *name, int bytes, int device);
API int FN(cuDeviceGetName, hipDeviceGetName)(char *name, int bytes, int device)
{
    if (fake_number("twins", 0))
        snprintf(name, (size_t)bytes, "Fake %s", architecture());
    else
        snprintf(name, (size_t)bytes, "Fake %s %d", architecture(), device);
    return OK;
}

API int FN(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, int device);
API int FN(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, int device)
{
    *bytes = (size_t)fake_number("memory", 1 << 30);
    return device < n_devices() ? OK : BAD_DEVICE;
}

API int FN(cuDeviceGetAttribute, hipDeviceGetAttribute)(int *value, int which, int device);
API int FN(cuDeviceGetAttribute, hipDeviceGetAttribute)(int *value, int which, int device)
{
    static const int answers[][3] = {/* CUDA's number, HIP's, answer */
                                     {16, 63, 104},     {10, 87, FN(32, 64)}, {97, 74, FN(232448, 65536)},
                                     {38, 19, 8 << 20}, {13, 5, 1700000},     {36, 60, 1600000},
                                     {18, 16, 0}};
    if (device < 0 || device >= n_devices()) return BAD_DEVICE;
#ifdef CUDA
    if (which == 75 || which == 76) {
        int number = atoi(architecture() + 3);
        *value = which == 75 ? number / 10 : number % 10;
        return OK;
    }
#endif
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i][FN(0, 1)] == which) {
            *value = answers[i][2];
            return OK;
        }
    return fake_wrong(BAD_VALUE, "attribute %d", which);
}

API int FN(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char *text, int bytes, int device);
API int FN(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char *text, int bytes, int device)
{
    snprintf(text, (size_t)bytes, "0000:A%d:00.0", device);
    return OK;
}

static int device_use(int device)
{
    if (!started) return fake_wrong(NOT_STARTED, "context before init");
    if (device >= n_devices()) return BAD_DEVICE;
    current = device;
    return OK;
}

#ifdef CUDA
static _Atomic int contexts[16]; /* references to each device's context */

API int cuDevicePrimaryCtxRetain(void **context, int device);
API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (fake_gone(device)) return UNKNOWN;
    contexts[device]++;
    *context = &contexts[device];
    return OK;
}

API int cuDevicePrimaryCtxRelease_v2(int device);
API int cuDevicePrimaryCtxRelease_v2(int device)
{
    return contexts[device]-- > 0 ? OK : fake_wrong(BAD_CONTEXT, "context given back twice");
}

API int cuCtxSetCurrent(void *context);
API int cuCtxSetCurrent(void *context)
{
    if (context) return device_use((int)((_Atomic int *)context - contexts));
    current = -1;
    return OK;
}

API int cuCtxGetCurrent(void **context);
API int cuCtxGetCurrent(void **context)
{
    *context = current < 0 ? NULL : &contexts[current];
    return OK;
}

static const char *error_name(int code)
{
    return code == OK              ? "CUDA_SUCCESS"
           : code == NO_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
           : code == NO_BINARY     ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
           : code == BAD_IMAGE     ? "CUDA_ERROR_INVALID_IMAGE"
           : code == ILLEGAL       ? "CUDA_ERROR_ILLEGAL_ADDRESS"
           : code == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
           : code == BAD_VALUE     ? "CUDA_ERROR_INVALID_VALUE"
                                   : NULL;
}

API int cuGetErrorName(int code, const char **text);
API int cuGetErrorName(int code, const char **text)
{
    *text = error_name(code);
    return *text ? OK : BAD_VALUE;
}

API int cuGetErrorString(int code, const char **text);
API int cuGetErrorString(int code, const char **text)
{
    *text = error_name(code) ? "fake" : NULL;
    return *text ? OK : BAD_VALUE;
}
#else
API int hipSetDevice(int device);
API int hipSetDevice(int device) { return device_use(device); }

API int hipGetDevice(int *device);
API int hipGetDevice(int *device)
{
    *device = current;
    return OK;
}

API const char *hipGetErrorName(int code);
API const char *hipGetErrorName(int code)
{
    return code == NO_MEMORY ? "hipErrorOutOfMemory"
           : code == NO_BINARY ? "hipErrorNoBinaryForGpu"
           : code == ILLEGAL ? "hipErrorIllegalAddress"
           : code == LAUNCH_FAILED ? "hipErrorLaunchFailure"
           : code == BAD_VALUE ? "hipErrorInvalidValue"
                               : "hipErrorUnknown";
}

API const char *hipGetErrorString(int code);
API const char *hipGetErrorString(int code)
{
    return code == ILLEGAL ? "an illegal memory access" : hipGetErrorName(code);
}

/* The old layout has the name at 396, the new one, under its own symbol, at 1160. */
API int hipGetDeviceProperties(char *out, int device);
API int hipGetDeviceProperties(char *out, int device)
{
    memset(out, 0, 792);
    snprintf(out, 256, "Fake %d", device);
    snprintf(out + 396, 256, "%s%s", architecture(), HIP == 5 ? ":sramecc+:xnack-" : "");
    return OK;
}

#if HIP >= 6
API int hipGetDevicePropertiesR0600(char *out, int device);
API int hipGetDevicePropertiesR0600(char *out, int device)
{
    memset(out, 0, 1472);
    snprintf(out, 256, "Fake %d", device);
    snprintf(out + 396, 64, "not here");
    snprintf(out + 1160, 256, "%s:sramecc+:xnack-", architecture());
    return OK;
}
#endif
#endif

/* ---- code ---- */

/* An image is an ELF file, or text "FAKE <architecture>" with lines "<kernel> <argument bytes> <lds bytes>".
 */
API int FN(cuModuleLoadData, hipModuleLoadData)(void **module, const void *data);
API int FN(cuModuleLoadData, hipModuleLoadData)(void **module, const void *data)
{
    READY;
    const char *image = data;
    bool elf = memcmp(image, "\177ELF", 4) == 0;
    if (!elf && strncmp(image, "FAKE ", 5) != 0) return BAD_IMAGE;
    size_t n = strcspn(elf ? "" : image + 5, "\n");
    if (!elf && (n != strlen(architecture()) || strncmp(image + 5, architecture(), n) != 0)) return NO_BINARY;
    Object *m = object_new(MODULE);
    m->memory = elf ? NULL : strdup(image);
    *module = m;
    return OK;
}

API int FN(cuModuleUnload, hipModuleUnload)(void *module);
API int FN(cuModuleUnload, hipModuleUnload)(void *module)
{
    VALID(m, module, MODULE);
    m->alive = false;
    return OK;
}

/* The kernel's line in the image, or NULL. */
static const char *kernel_line(const Object *m, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = m->memory ? strchr(m->memory, '\n') : NULL; at; at = strchr(at + 1, '\n'))
        if (strncmp(at + 1, name, n) == 0 && at[n + 1] == ' ') return at + 1 + n;
    return NULL;
}

API int FN(cuModuleGetFunction, hipModuleGetFunction)(void **function, void *module, const char *name);
API int FN(cuModuleGetFunction, hipModuleGetFunction)(void **function, void *module, const char *name)
{
    READY;
    VALID(m, module, MODULE);
    const char *line = kernel_line(m, name);
    if (!line && m->memory) return NOT_FOUND;
    Object *f = object_new(FUNCTION);
    snprintf(f->name, sizeof f->name, "%s", name);
    if (line) sscanf(line, "%u %*u %u %u", &f->arg_bytes, &f->maps_at, &f->cluster);
    *function = f;
    return OK;
}

API int FN(cuModuleGetGlobal_v2, hipModuleGetGlobal)(uint64_t *address, size_t *bytes, void *module,
                                                     const char *name);
API int FN(cuModuleGetGlobal_v2, hipModuleGetGlobal)(uint64_t *address, size_t *bytes, void *module,
                                                     const char *name)
{
    READY;
    VALID(m, module, MODULE);
    char kernel[256];
    const char *end = strstr(name, "_dynamic_lds"), *line;
    snprintf(kernel, sizeof kernel, "%.*s", end ? (int)(end - name) : 0, name);
    line = end ? kernel_line(m, kernel) : NULL;
    const char *lds = line ? strchr(line + 1, ' ') : NULL;
    if (!lds || atoi(lds) == 0) return NOT_FOUND;
    Object *o = object_new(BUFFER);
    uint32_t value = (uint32_t)atoi(lds);
    o->memory = malloc(4);
    o->size = 4;
    memcpy(o->memory, &value, 4);
    o->name[0] = 'g'; /* belongs to the module: no leak */
    *address = (uint64_t)(uintptr_t)o->memory;
    *bytes = 4;
    return OK;
}

#ifdef CUDA
API int cuFuncSetAttribute(void *function, int which, int value);
API int cuFuncSetAttribute(void *function, int which, int value)
{
    READY;
    VALID(f, function, FUNCTION);
    if (which != 8 || value < 0 || value > 232448)
        return fake_wrong(BAD_VALUE, "attribute %d = %d", which, value);
    f->max_lds = (uint32_t)value;
    return OK;
}

/* Of clusters (fourth number of a kernel's line: their work-groups) two run at once. */
API int cuFuncGetAttribute(int *value, int which, void *function);
API int cuFuncGetAttribute(int *value, int which, void *function)
{
    READY;
    VALID(f, function, FUNCTION);
    if (which != 0 && which != 11) return fake_wrong(BAD_VALUE, "attribute %d", which);
    *value = which == 0 ? 384 : (int)f->cluster;
    return OK;
}

API int cuOccupancyMaxActiveClusters(int *n, void *function, const void *config);
API int cuOccupancyMaxActiveClusters(int *n, void *function, const void *config)
{
    READY;
    VALID(f, function, FUNCTION);
    if (*(const unsigned *)config != f->cluster)
        return fake_wrong(BAD_VALUE, "clusters of %u, not %u", *(const unsigned *)config, f->cluster);
    *n = 2;
    return OK;
}

#ifndef OLD
API int cuFuncGetParamInfo(void *function, size_t i, size_t *at, size_t *bytes);
API int cuFuncGetParamInfo(void *function, size_t i, size_t *at, size_t *bytes)
{
    VALID(f, function, FUNCTION);
    /* words, then tensor maps */
    size_t words = (f->maps_at ? f->maps_at : f->arg_bytes) / 4;
    *at = i < words ? 4 * i : f->maps_at + 128 * (i - words);
    *bytes = i < words ? 4 : 128;
    if (*at + *bytes > f->arg_bytes || (i >= words && !f->maps_at)) return BAD_VALUE;
    return OK;
}
#endif
#endif

#if defined CUDA && !defined OLD
/* An encoded tensor map: 128 bytes with the arguments of the call. */
API int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *size,
                               const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                               int interleave, int swizzle, int l2, int fill);
API int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *size,
                               const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                               int interleave, int swizzle, int l2, int fill)
{
    if ((uintptr_t)address % 16 || (uintptr_t)map % 64 || rank != 3 || interleave || fill) return BAD_VALUE;
    for (int i = 0; i < 3; i++)
        if (!size[i] || !box[i] || box[i] > 256 || step[i] != 1 || (i < 2 && stride[i] % 16))
            return BAD_VALUE;
    const uint64_t words[16] = {(uint64_t)(uintptr_t)address,
                                size[0],
                                size[1],
                                size[2],
                                stride[0],
                                stride[1],
                                box[0],
                                box[1],
                                box[2],
                                (uint64_t)type,
                                (uint64_t)swizzle,
                                (uint64_t)l2};
    memcpy(map, words, sizeof words);
    return OK;
}
#endif

/* ---- launches ---- */

int fake_play(const Call *c)
{
    bool fault = false;
    const char *name = c->function->name;
    fake_clock_ns += (uint64_t)fake_number("ns", 10000) * (fake_matches("slow", name) ? 2 : 1);
    fake_leave(current);
    if (fake_gone(current)) return UNKNOWN;
    fake_gemm(c, &fault);
    if (fault) fake_wrong(ILLEGAL, "%s touches what is no buffer", name);
    if (fault || fake_matches("illegal", name)) sticky = ILLEGAL;
    if (fake_matches("hang", name))
        for (;;) pause();
    return OK;
}

static void log_call(const Call *c, const char *how)
{
    char hex[2 * sizeof c->args + 1] = "";
    for (size_t i = 0; i < c->n_args; i++) snprintf(hex + 2 * i, 3, "%02x", c->args[i]);
    fake_log("%s %s grid %u,%u,%u group %u,%u,%u lds %u args %zu %s", how, c->function->name, c->grid[0],
             c->grid[1], c->grid[2], c->group[0], c->group[1], c->group[2], c->lds, c->n_args, hex);
}

static int check_call(const Call *c)
{
    unsigned threads = c->group[0] * c->group[1] * c->group[2];
    for (int i = 0; i < 3; i++)
        if (c->grid[i] == 0 || c->group[i] == 0)
            return fake_wrong(BAD_VALUE, "%s: an empty grid", c->function->name);
    if (threads > 1024) return BAD_VALUE;
    if (FN(c->grid[1] > 65535 || c->grid[2] > 65535, false))
        return fake_wrong(BAD_VALUE, "%s: a grid of %u,%u,%u", c->function->name, c->grid[0], c->grid[1],
                          c->grid[2]);
    if (c->function->arg_bytes && c->n_args != c->function->arg_bytes)
        return fake_wrong(BAD_VALUE, "%s: %zu bytes of arguments, takes %u", c->function->name, c->n_args,
                          c->function->arg_bytes);
    if (FN(c->lds > (c->function->max_lds > 49152 ? c->function->max_lds : 49152), c->lds > 65536))
        return fake_wrong(BAD_VALUE, "%s: %u bytes of shared memory", c->function->name, c->lds);
    return fake_matches("fail", c->function->name) ? LAUNCH_FAILED : OK;
}

static int read_extra(void **extra, Call *c)
{
    size_t *bytes = NULL;
    if (!extra) return fake_wrong(BAD_VALUE, "launch without arguments");
    if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)PARAM_END)
        return fake_wrong(BAD_VALUE, "launch: extra is not pointer, size, end");
    bytes = extra[3];
    if (*bytes > sizeof c->args) return fake_wrong(BAD_VALUE, "launch: %zu bytes of arguments", *bytes);
    c->n_args = *bytes;
    memcpy(c->args, extra[1], *bytes);
    return OK;
}

Object *fake_default_stream(void)
{
    static Object *s;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!s) {
        s = object_new(STREAM);
        s->name[0] = 'd';
    }
    pthread_mutex_unlock(&lock);
    return s;
}

static int run_call(void *function, Call *c, void *stream, void **params, void **extra, const char *how)
{
    READY;
    Object *f = object_get(function, FUNCTION),
           *s = stream ? object_get(stream, STREAM) : fake_default_stream();
    if (!f || !s || params) return fake_wrong(BAD_HANDLE, "launch: function, stream or params");
    c->function = f;
    int rc = read_extra(extra, c);
    if (!rc) rc = check_call(c);
    if (rc) return rc;
    log_call(c, s->capturing ? "record" : how);
    if (!s->capturing) return fake_play(c);
    s->call = realloc(s->call, (s->n_calls + 1) * sizeof *s->call);
    if (!s->call) abort();
    s->call[s->n_calls++] = *c;
    return OK;
}

API int FN(cuLaunchKernel, hipModuleLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz,
                                                  unsigned bx, unsigned by, unsigned bz, unsigned lds,
                                                  void *stream, void **params, void **extra);
API int FN(cuLaunchKernel, hipModuleLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz,
                                                  unsigned bx, unsigned by, unsigned bz, unsigned lds,
                                                  void *stream, void **params, void **extra)
{
    Call c = {.grid = {gx, gy, gz}, .group = {bx, by, bz}, .lds = lds};
    return run_call(function, &c, stream, params, extra, "launch");
}

#ifndef CUDA
API int hipExtModuleLaunchKernel(void *function, unsigned nx, unsigned ny, unsigned nz, unsigned bx,
                                 unsigned by, unsigned bz, size_t lds, void *stream, void **params,
                                 void **extra, void *start, void *stop, unsigned flags);
API int hipExtModuleLaunchKernel(void *function, unsigned nx, unsigned ny, unsigned nz, unsigned bx,
                                 unsigned by, unsigned bz, size_t lds, void *stream, void **params,
                                 void **extra, void *start, void *stop, unsigned flags)
{
    Object *e0 = start ? object_get(start, EVENT) : NULL, *e1 = stop ? object_get(stop, EVENT) : NULL;
    if ((start && !e0) || (stop && !e1) || flags)
        return fake_wrong(BAD_HANDLE, "launch with events: event or flags");
    if (!bx || !by || !bz || nx % bx || ny % by || nz % bz)
        return fake_wrong(BAD_VALUE, "launch with events: %u,%u,%u work-items are no whole groups", nx, ny,
                          nz);
    Call c = {.grid = {nx / bx, ny / by, nz / bz}, .group = {bx, by, bz}, .lds = (unsigned)lds};
    if (e0) e0->time_ns = fake_clock_ns;
    int rc = run_call(function, &c, stream, params, extra, "launch with events");
    if (e1) e1->time_ns = fake_clock_ns;
    if (e0) e0->recorded = true;
    if (e1) e1->recorded = true;
    return rc;
}
#endif
