/* GPU: the parts for HIP: versions of its structures, launches with events. libamdhip64 5, 6 and 7. See
 * gpu_priv.h. */
#include <stdio.h>
#include <string.h>

#include "client/runtime/gpu_priv.h"

static const GpuSymbol symbols[] = {
#define GPU_FN(field, needed, cuda, hip, params) {#hip, offsetof(GpuDriver, field), needed},
#define CUDA_FN(field, needed, cuda, params)
#define HIP_FN(field, needed, hip, params) {#hip, offsetof(GpuDriver, field), needed},
#include "client/runtime/gpu_symbols.def"
#undef GPU_FN
#undef CUDA_FN
#undef HIP_FN
    {NULL, 0, false},
};

/* hipDeviceProp_t changed with version 6, which kept the old function under its name and gave the new one
 * another name. Only the offset of gcnArchName is needed: no other function returns the architecture. */
static Err hip_resolve(GpuDriver *d)
{
    gpu_symbol(d->dl, "hipGetErrorName", &d->hip_error_name, sizeof d->hip_error_name);
    gpu_symbol(d->dl, "hipGetErrorString", &d->hip_error_text, sizeof d->hip_error_text);
    gpu_symbol(d->dl, "hipExtModuleLaunchKernel", &d->hip_launch, sizeof d->hip_launch);
    gpu_symbol(d->dl, "hipGetDevicePropertiesR0600", &d->hip_properties, sizeof d->hip_properties);
    d->hip_architecture_at = HIP_ARCHITECTURE_R0600;
    if (!d->hip_properties) {
        gpu_symbol(d->dl, "hipGetDeviceProperties", &d->hip_properties, sizeof d->hip_properties);
        d->hip_architecture_at = HIP_ARCHITECTURE_R0000;
    }
    if (!d->hip_error_name || !d->hip_error_text || !d->hip_properties)
        FAIL(ERR_NO_DEVICE, "the HIP driver library has no %s",
             !d->hip_properties ? "hipGetDeviceProperties" : "hipGetErrorName and hipGetErrorString");
    return ERR_OK;
}

static void hip_error(const GpuDriver *d, GpuErr code, const char **name, const char **text)
{
    *name = d->hip_error_name(code);
    *text = d->hip_error_text(code);
    if (*name && *text && strcmp(*name, *text) == 0) *text = NULL;
}

static Err hip_enter(Gpu *g, void **saved)
{
    int now = -1;
    GPU_TRY(g, device_now(&now), "the thread's device");
    *saved = (void *)(intptr_t)now;
    if (now != g->index) GPU_TRY(g, device_set(g->index), "hip device %d", g->index);
    return ERR_OK;
}

static void hip_leave(Gpu *g, void *saved)
{
    int before = (int)(intptr_t)saved;
    if (before != g->index) g->driver->device_set(before);
}

static Err hip_architecture(Gpu *g, char *out, size_t bytes)
{
    _Alignas(16) char properties[4096] = {0}; /* the largest is 1472 bytes */
    const char *name = properties + g->driver->hip_architecture_at;
    GPU_TRY(g, hip_properties(properties, g->index), "properties of hip device %d", g->index);
    if (strncmp(name, "gfx", 3) != 0)
        FAIL(ERR_NO_DEVICE, "hip device %d calls its architecture '%.32s', not gfx...", g->index, name);
    snprintf(out, bytes, "%.*s", (int)bytes - 1, name);
    return ERR_OK;
}

static void hip_version(int number, char *out, size_t bytes)
{
    snprintf(out, bytes, "HIP %d.%d.%d", number / 10000000, number / 100000 % 100, number % 100000);
}

/* With events, hipExtModuleLaunchKernel times the kernel's own packet; it counts work-items in 32 bits. */
static Err hip_launch(Gpu *g, const GpuLaunch *l, void **extra)
{
    const GpuKernel *k = l->kernel;
    uint32_t n[3], lds = k->dynamic_bytes + l->lds_bytes;
    bool fits = (l->start || l->stop) && g->driver->hip_launch;
    for (int i = 0; i < 3; i++) fits = fits && !__builtin_mul_overflow(l->grid[i], l->group[i], &n[i]);
    if (fits) {
        GPU_TRY(g,
                hip_launch(k->function, n[0], n[1], n[2], l->group[0], l->group[1], l->group[2], lds,
                           l->stream, NULL, extra, l->start, l->stop, 0),
                "launch of %s", k->symbol);
        return ERR_OK;
    }
    if (l->start) TRY(gpu_event_record(g, l->start, l->stream));
    GPU_TRY(g,
            launch(k->function, l->grid[0], l->grid[1], l->grid[2], l->group[0], l->group[1], l->group[2],
                   lds, l->stream, NULL, extra),
            "launch of %s", k->symbol);
    return l->stop ? gpu_event_record(g, l->stop, l->stream) : ERR_OK;
}

static const char *const libraries[] = {"libamdhip64.so",
                                        "libamdhip64.so.7",
                                        "libamdhip64.so.6",
                                        "libamdhip64.so.5",
                                        "/opt/rocm/lib/libamdhip64.so",
                                        NULL};

const GpuKind gpu_hip = {
    .name = "hip",
    .label = "HIP",
    .libraries = libraries,
    .symbols = symbols,
    .attribute = {HIP_ATTR_CUS, HIP_ATTR_WAVE, HIP_ATTR_LDS, HIP_ATTR_L2, HIP_ATTR_CLOCK,
                  HIP_ATTR_MEMORY_CLOCK, HIP_ATTR_INTEGRATED},
    .n_simd_per_cu = 4,
    .param_end = HIP_PARAM_END,
    .resolve = hip_resolve,
    .error = hip_error,
    .enter = hip_enter,
    .leave = hip_leave,
    .architecture = hip_architecture,
    .version = hip_version,
    .launch = hip_launch,
};
