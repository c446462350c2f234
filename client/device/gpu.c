/* GPUs as devices: an adapter between the table of device.h and the driver of client/runtime/gpu.h. One
 * stream, which everything is queued on. See gpu.h. */
#include "client/device/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

typedef struct {
    Device base;
    Gpu *gpu;
    void *stream;
    GpuMonitor *monitor;
    bool recording;
    Err failed; /* first error while recording */
} GpuDevice;

struct DeviceModule {
    GpuModule *module;
    Arena kernels;
};

struct DeviceKernel {
    GpuKernel kernel;
};

static GpuDevice *own(const Device *d)
{
    union {
        const Device *in;
        GpuDevice *out;
    } u = {.in = d};
    return u.out;
}

/* The events and graphs of the table are the driver's. */
static GpuEvent event(const DeviceEvent *e)
{
    union {
        const DeviceEvent *in;
        GpuEvent out;
    } u = {.in = e};
    return u.out;
}

Err gpu_device_open(const DeviceApi *api, const GpuKind *kind, int index,
                    GpuMonitor *(*monitor)(const char *bus), Device **out)
{
    GpuInfo info;
    *out = NULL;
    GpuDevice *g = calloc(1, sizeof *g);
    if (!g) FAIL(ERR_FAILED, "out of memory for a device (%zu bytes)", sizeof *g);
    g->base = (Device){api, index};
    Err e = gpu_open(kind, index, &g->gpu, NULL);
    if (!e) e = gpu_stream_new(g->gpu, &g->stream);
    if (!e) e = gpu_info(g->gpu, &info);
    if (e) {
        gpu_device_close(&g->base);
        return e;
    }
    g->monitor = monitor(info.bus);
    *out = &g->base;
    return 0;
}

void gpu_device_close(Device *d)
{
    if (!d) return;
    GpuDevice *g = own(d);
    if (g->monitor) g->monitor->free(g->monitor);
    if (g->gpu) gpu_stream_free(g->gpu, g->stream);
    gpu_close(g->gpu);
    free(g);
}

Err gpu_device_props(Device *d, DeviceProps *out)
{
    GpuDevice *g = own(d);
    GpuInfo i;
    TRY(gpu_info(g->gpu, &i));
    *out = (DeviceProps){.n_cu = i.n_cu,
                         .n_simd_per_cu = i.n_simd_per_cu,
                         .wave_size = i.wave_size,
                         .memory_bytes = i.memory_bytes,
                         .l2_bytes = i.l2_bytes,
                         .lds_bytes = i.lds_bytes,
                         .clock_mhz = i.clock_mhz,
                         .memory_clock_mhz = i.memory_clock_mhz,
                         .grid_limit = i.grid_limit,
                         .integrated = i.integrated};
    memcpy(out->name, i.name, sizeof out->name);
    memcpy(out->architecture, i.architecture, sizeof out->architecture);
    const char *version = g->monitor ? g->monitor->driver : "";
    snprintf(out->driver, sizeof out->driver, "%.30s%s%.28s", i.driver, version[0] ? ", " : "", version);
    return 0;
}

/* ---- code ---- */

static Err load(GpuDevice *g, const char *path, GpuModule **out)
{
    Arena a;
    Str data;
    arena_init(&a, 0);
    Err e = file_read(&a, path, (size_t)1 << 30, &data);
    if (!e) e = gpu_module_load(g->gpu, path, data, out);
    arena_fini(&a);
    return e;
}

Err gpu_device_load(Device *d, const char *path, DeviceModule **out)
{
    *out = NULL;
    DeviceModule *m = calloc(1, sizeof *m);
    if (!m) FAIL(ERR_FAILED, "out of memory for '%s'", path);
    Err e = load(own(d), path, &m->module);
    if (e)
        free(m);
    else
        *out = m;
    return e;
}

void gpu_device_unload(Device *d, DeviceModule *m)
{
    if (!m) return;
    arena_fini(&m->kernels);
    gpu_module_unload(own(d)->gpu, m->module);
    free(m);
}

Err gpu_device_kernel(Device *d, DeviceModule *m, const char *symbol, DeviceKernel **out)
{
    DeviceKernel k;
    bool found;
    *out = NULL;
    TRY(gpu_kernel_find(own(d)->gpu, m->module, symbol, &k.kernel, &found));
    if (!found) FAIL(ERR_INPUT, "no kernel '%s'", symbol);
    k.kernel.symbol = arena_dup(&m->kernels, str_from(symbol)).s;
    DeviceKernel *kept = k.kernel.symbol ? ARENA_NEW(&m->kernels, DeviceKernel) : NULL;
    if (!kept) FAIL(ERR_FAILED, "out of memory for kernel '%s'", symbol);
    *kept = k;
    *out = kept;
    return 0;
}

Err gpu_device_launch(Device *d, const DeviceLaunch *l)
{
    GpuDevice *g = own(d);
    GpuLaunch launch = {.kernel = &l->kernel->kernel,
                        .group = l->group,
                        .grid = l->grid,
                        .args = l->args,
                        .args_bytes = l->args_bytes,
                        .lds_bytes = l->lds_bytes,
                        .dependent = l->dependent,
                        .stream = g->stream};
    if (!g->recording) {
        launch.start = event(l->start);
        launch.stop = event(l->stop);
    }
    Err e = gpu_launch(g->gpu, &launch);
    if (e && g->recording) g->failed = e;
    return e;
}

Err gpu_device_sync(Device *d) { return gpu_stream_sync(own(d)->gpu, own(d)->stream); }

bool gpu_device_lost(const Device *d) { return gpu_lost(own(d)->gpu); }

Err gpu_device_tensor_map(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES])
{
    return gpu_tensor_map(own(d)->gpu, map, out);
}

void *gpu_device_stream(Device *d) { return own(d)->stream; }

/* ---- memory ---- */

Err gpu_device_alloc(Device *d, uint64_t bytes, DeviceGuard guard, DeviceMem *out)
{
    (void)guard; /* has_guards is false */
    *out = (DeviceMem){0};
    uint64_t address;
    TRY(gpu_alloc(own(d)->gpu, bytes, &address));
    *out = (DeviceMem){.address = address, .bytes = bytes, .handle = (void *)(uintptr_t)address};
    return 0;
}

void gpu_device_free(Device *d, DeviceMem *m)
{
    gpu_free(own(d)->gpu, m->address);
    *m = (DeviceMem){0};
}

void *gpu_device_pinned_alloc(Device *d, uint64_t bytes) { return gpu_pinned_alloc(own(d)->gpu, bytes); }
void gpu_device_pinned_free(Device *d, void *p) { gpu_pinned_free(own(d)->gpu, p); }

Err gpu_device_copy_to(Device *d, const DeviceMem *to, uint64_t offset, const void *from, uint64_t bytes)
{
    TRY(device_range(to, offset, bytes));
    return gpu_copy_to(own(d)->gpu, to->address + offset, from, bytes, own(d)->stream);
}

Err gpu_device_copy_from(Device *d, void *to, const DeviceMem *from, uint64_t offset, uint64_t bytes)
{
    TRY(device_range(from, offset, bytes));
    return gpu_copy_from(own(d)->gpu, to, from->address + offset, bytes, own(d)->stream);
}

Err gpu_device_copy(Device *d, const DeviceMem *to, const DeviceMem *from, uint64_t bytes)
{
    TRY(device_range(to, 0, bytes));
    TRY(device_range(from, 0, bytes));
    return gpu_copy(own(d)->gpu, to->address, from->address, bytes, own(d)->stream);
}

Err gpu_device_fill(Device *d, const DeviceMem *m, unsigned char byte)
{
    return gpu_fill(own(d)->gpu, m->address, byte, m->bytes, own(d)->stream);
}

/* ---- graphs ---- */

Err gpu_device_graph_begin(Device *d)
{
    GpuDevice *g = own(d);
    if (g->recording) FAIL(ERR_FAILED, "a graph is being recorded already");
    TRY(gpu_graph_begin(g->gpu, g->stream));
    g->recording = true;
    g->failed = 0;
    return 0;
}

Err gpu_device_graph_end(Device *d, DeviceGraph **out)
{
    GpuDevice *g = own(d);
    GpuGraph *graph;
    char why[400];
    *out = NULL;
    if (!g->recording) FAIL(ERR_FAILED, "no graph is being recorded");
    g->recording = false;
    snprintf(why, sizeof why, "%.399s", g->failed ? err_message() : "");
    Err e = gpu_graph_end(g->gpu, g->stream, &graph);
    if (!e && g->failed) gpu_graph_free(g->gpu, graph);
    if (g->failed) FAIL(g->failed, "%s", why);
    if (!e) *out = (DeviceGraph *)graph;
    return e;
}

Err gpu_device_graph_launch(Device *d, DeviceGraph *graph)
{
    return gpu_graph_launch(own(d)->gpu, (GpuGraph *)graph, own(d)->stream);
}

void gpu_device_graph_free(Device *d, DeviceGraph *graph) { gpu_graph_free(own(d)->gpu, (GpuGraph *)graph); }

/* ---- events and clocks ---- */

Err gpu_device_event_new(Device *d, DeviceEvent **out)
{
    GpuEvent e = NULL;
    *out = NULL;
    TRY(gpu_event_new(own(d)->gpu, &e));
    *out = e;
    return 0;
}

void gpu_device_event_free(Device *d, DeviceEvent *e) { gpu_event_free(own(d)->gpu, event(e)); }

Err gpu_device_event_record(Device *d, DeviceEvent *e)
{
    return gpu_event_record(own(d)->gpu, event(e), own(d)->stream);
}

Err gpu_device_event_elapsed(Device *d, const DeviceEvent *start, const DeviceEvent *stop, uint64_t *ns)
{
    return gpu_event_elapsed(own(d)->gpu, event(start), event(stop), ns);
}

uint64_t gpu_device_now(Device *d) { return device_host.now_ns(d); }

void gpu_device_idle(Device *d, uint64_t ns) { device_host.idle(d, ns); }

void gpu_device_read(Device *d, DeviceReading *out)
{
    GpuMonitor *m = own(d)->monitor;
    *out = DEVICE_READING_NONE;
    if (m) m->read(m, out);
}
