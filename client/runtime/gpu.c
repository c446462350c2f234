/* GPU: the driver library, the device and its errors. See gpu.h; gpu_run.c has modules, launches, memory and
 * graphs, gpu_cuda.c and gpu_hip.c the parts that differ between the two libraries. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/runtime/gpu_priv.h"

/* ---- the library ---- */

/* A driver library is never closed, because drivers do not support being unloaded. */
static pthread_mutex_t drivers_lock = PTHREAD_MUTEX_INITIALIZER;
static GpuDriver drivers[2];

void gpu_symbol(void *dl, const char *name, void *fn, size_t bytes)
{
    void *p = dlsym(dl, name);
    memcpy(fn, &p, bytes); /* C has no conversion from object to function pointers */
}

static Err open_library(const GpuKind *kind, void **dl)
{
    /* a library that the program has loaded already comes first */
    for (const char *const *name = kind->libraries; *name; name++)
        if ((*dl = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))) return ERR_OK;
    for (const char *const *name = kind->libraries; *name; name++)
        if ((*dl = dlopen(*name, RTLD_NOW | RTLD_LOCAL))) return ERR_OK;
    const char *why = dlopen(kind->libraries[0], RTLD_NOW | RTLD_LOCAL) ? NULL : dlerror();
    FAIL(ERR_NO_DEVICE, "no %s driver: %s", kind->label, why ? why : kind->libraries[0]);
}

static Err resolve(GpuDriver *d)
{
    for (const GpuSymbol *s = d->kind->symbols; s->name; s++) {
        void *p = dlsym(d->dl, s->name);
        if (!p && s->needed)
            FAIL(ERR_NO_DEVICE, "the %s driver library is too old: it has no %s", d->kind->label, s->name);
        memcpy((char *)d + s->at, &p, sizeof p);
    }
    return d->kind->resolve ? d->kind->resolve(d) : ERR_OK;
}

Err gpu_driver(const GpuKind *kind, const GpuDriver **out)
{
    GpuDriver *d = &drivers[kind == &gpu_hip];
    pthread_mutex_lock(&drivers_lock);
    Err e = ERR_OK;
    if (!d->kind) {
        GpuDriver fresh = {.kind = kind};
        e = open_library(kind, &fresh.dl);
        if (!e) e = resolve(&fresh);
        if (!e) *d = fresh;
    }
    pthread_mutex_unlock(&drivers_lock);
    *out = e ? NULL : d;
    return e;
}

const char *gpu_kind_name(const GpuKind *kind) { return kind->name; }
const GpuKind *gpu_kind(const Gpu *g) { return g->driver->kind; }

/* ---- errors ---- */

/* Whether the error is a fault of a kernel or of the hardware, after which every later call on the context
 * returns the same error. The two libraries use the same numbers. */
static bool is_permanent(GpuErr code)
{
    static const GpuErr codes[] = {CUDA_ECC,      CUDA_ILLEGAL_ADDRESS, CUDA_TIMEOUT, CUDA_DESTROYED,
                                   CUDA_ASSERTED, CUDA_LAUNCH_FAILED,   CUDA_UNKNOWN};
    /* 714 to 718: stack, instruction, alignment, address space, program counter */
    if (code >= 714 && code <= 718) return true;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i]) return true;
    return false;
}

static Err driver_error(const GpuDriver *d, GpuErr code, const char *what)
{
    const char *name = NULL, *text = NULL;
    d->kind->error(d, code, &name, &text);
    Err e = code == CUDA_NO_DEVICE ? ERR_NO_DEVICE : ERR_FAILED;
    if (!name || strcmp(name, "hipErrorUnknown") == 0 || strcmp(name, "hipUnknown") == 0)
        FAIL(e, "%s: %s error %d", what, d->kind->label, code);
    FAIL(e, "%s: %s%s%s%s", what, name, text ? " (" : "", text ? text : "", text ? ")" : "");
}

Err gpu_error(Gpu *g, GpuErr code, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (is_permanent(code)) atomic_store(&g->lost, true);
    return driver_error(g->driver, code, what);
}

bool gpu_lost(const Gpu *g) { return atomic_load(&g->lost); }

/* ---- devices ---- */

static Err count(const GpuKind *kind, const GpuDriver **d, int *n)
{
    char what[64];
    *n = 0;
    TRY(gpu_driver(kind, d));
    snprintf(what, sizeof what, "the %s driver does not start", kind->label);
    GpuErr rc = (*d)->init(0);
    if (!rc) rc = (*d)->device_count(n);
    if (rc == CUDA_NO_DEVICE || rc == CUDA_BAD_DEVICE || (!rc && *n == 0))
        FAIL(ERR_NO_DEVICE, "the %s driver finds no device", kind->label);
    if (rc) {
        driver_error(*d, rc, what);
        return ERR_NO_DEVICE;
    }
    return ERR_OK;
}

Err gpu_count(const GpuKind *kind, int *n)
{
    const GpuDriver *d;
    return count(kind, &d, n);
}

static Err open_device(Gpu *g, void **saved)
{
    const GpuKind *kind = g->driver->kind;
    void *before;
    GPU_TRY(g, device_get(&g->device, g->index), "%s device %d", kind->name, g->index);
    if (kind->context_open) TRY(kind->context_open(g));
    Err e = kind->enter(g, saved ? saved : &before);
    if (e && kind->context_close) kind->context_close(g);
    return e;
}

Err gpu_open(const GpuKind *kind, int index, Gpu **out, void **saved)
{
    const GpuDriver *d;
    int n;
    *out = NULL;
    TRY(count(kind, &d, &n));
    if (index < 0 || index >= n)
        FAIL(ERR_NO_DEVICE, "no %s device %d: there %s %d", kind->name, index, n == 1 ? "is" : "are", n);
    Gpu *g = calloc(1, sizeof *g);
    if (!g) FAIL(ERR_FAILED, "out of memory for a device (%zu bytes)", sizeof *g);
    g->driver = d;
    g->index = index;
    Err e = open_device(g, saved);
    if (e)
        free(g);
    else
        *out = g;
    return e;
}

void gpu_close(Gpu *g)
{
    if (!g) return;
    if (g->driver->kind->context_close) g->driver->kind->context_close(g);
    free(g);
}

static Err attribute(Gpu *g, GpuAttribute which, int *out)
{
    GpuAttr number = g->driver->kind->attribute[which];
    GPU_TRY(g, device_attribute(out, number, g->device), "attribute %d of device %d", number, g->index);
    return ERR_OK;
}

/* An attribute, or 0 where the driver does not have it. */
static int attribute_or_0(Gpu *g, GpuAttribute which)
{
    int value = 0;
    GpuErr rc = g->driver->device_attribute(&value, g->driver->kind->attribute[which], g->device);
    return rc || value < 0 ? 0 : value;
}

Err gpu_info(Gpu *g, GpuInfo *out)
{
    const GpuDriver *d = g->driver;
    int version = 0;
    size_t memory = 0;
    *out = (GpuInfo){.n_simd_per_cu = d->kind->n_simd_per_cu, .grid_limit = d->kind->grid_limit};
    GPU_TRY(g, device_name(out->name, sizeof out->name - 1, g->device), "name of device %d", g->index);
    GPU_TRY(g, device_bus(out->bus, sizeof out->bus - 1, g->device), "bus id of device %d", g->index);
    GPU_TRY(g, device_memory(&memory, g->device), "memory of device %d", g->index);
    GPU_TRY(g, driver_version(&version), "version of the driver");
    TRY(attribute(g, GPU_ATTR_CUS, &out->n_cu));
    TRY(attribute(g, GPU_ATTR_WAVE, &out->wave_size));
    out->clock_mhz = attribute_or_0(g, GPU_ATTR_CLOCK) / 1000; /* from kHz */
    out->memory_clock_mhz = attribute_or_0(g, GPU_ATTR_MEMORY_CLOCK) / 1000;
    out->memory_bytes = memory;
    out->l2_bytes = (uint64_t)attribute_or_0(g, GPU_ATTR_L2);
    out->lds_bytes = (uint64_t)attribute_or_0(g, GPU_ATTR_LDS);
    out->integrated = attribute_or_0(g, GPU_ATTR_INTEGRATED) != 0;
    for (char *c = out->bus; *c; c++)
        if (*c >= 'A' && *c <= 'F') *c = (char)(*c - 'A' + 'a');
    d->kind->version(version, out->driver, sizeof out->driver);
    TRY(d->kind->architecture(g, out->architecture, sizeof out->architecture));
    char *colon = strchr(out->architecture, ':');
    if (colon) {
        snprintf(out->features, sizeof out->features, "%s", colon);
        *colon = 0;
    }
    return ERR_OK;
}

Err gpu_enter(Gpu *g, void **saved) { return g->driver->kind->enter(g, saved); }

void gpu_leave(Gpu *g, void *saved) { g->driver->kind->leave(g, saved); }
