/* The host as a device: code objects are .so files, workgroups run on a pool of threads
 * (client/runtime/host_run), a launch returns when its kernel ended, events are clock readings. A kernel that
 * crashes ends the process, so the client uses this device in a worker process. */
#include "client/device/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "client/device/host_memory.h"
#include "client/device/host_monitor.h"
#include "client/device/record.h"
#include "client/runtime/host_run.h"
#include "problem/target.h"

typedef struct {
    PlainDevice base; /* first */
    HostPool *pool;
    HostMonitor monitor;
} HostDevice;

struct DeviceModule {
    HostModule *module;
    Arena kernels;
};

struct DeviceKernel {
    HostKernel kernel;
};

static int host_count(Buf *why)
{
    (void)why;
    return 1;
}

static Err host_open(int index, const DeviceOptions *options, Device **out)
{
    *out = NULL;
    if (index != 0) FAIL(ERR_NO_DEVICE, "no host device %d: there is one, number 0", index);
    HostDevice *h = calloc(1, sizeof *h);
    if (!h) FAIL(ERR_FAILED, "out of memory for a device (%zu bytes)", sizeof *h);
    Err e = host_pool_new(options->n_threads, &h->pool);
    if (e) {
        free(h);
        return e;
    }
    host_monitor_init(&h->monitor, "");
    h->base.device.api = &device_host;
    *out = &h->base.device;
    return 0;
}

static void host_close(Device *d)
{
    if (!d) return;
    record_free(((PlainDevice *)d)->recorder.open);
    host_pool_free(((HostDevice *)d)->pool);
    free(d);
}

/* "model name" of the first processor. */
static void cpu_name(char *name, size_t size)
{
    snprintf(name, size, "%s", "processor");
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f) return;
    char line[256];
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "model name", 10)) continue;
        Str text = str_trim(str_sub(str_from(line), str_find(str_from(line), ':', 0) + 1, SIZE_MAX));
        snprintf(name, size, "%.*s", STR_ARG(text));
        break;
    }
    fclose(f);
}

static uint64_t last_cache_bytes(void)
{
    static const int levels[] = {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        long n = sysconf(levels[i]);
        if (n > 0) return (uint64_t)n;
    }
    return 0;
}

static Err host_props(Device *d, DeviceProps *out)
{
    HostDevice *h = (HostDevice *)d;
    *out = (DeviceProps){
        .n_cu = host_pool_threads(h->pool), .n_simd_per_cu = 1, .wave_size = 1, .integrated = false};
    cpu_name(out->name, sizeof out->name);
    snprintf(out->architecture, sizeof out->architecture, "%s", target_host_level()->name);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) out->memory_bytes = (uint64_t)pages * (uint64_t)page;
    out->l2_bytes = last_cache_bytes();
    out->clock_mhz = host_monitor_max_clock(&h->monitor);
    struct utsname u;
    if (uname(&u) == 0) snprintf(out->driver, sizeof out->driver, "%.20s %.40s", u.sysname, u.release);
    return 0;
}

static Err host_module_load(Device *d, const char *path, DeviceModule **out)
{
    (void)d;
    *out = NULL;
    DeviceModule *m = calloc(1, sizeof *m);
    if (!m) FAIL(ERR_FAILED, "out of memory for '%s'", path);
    Err e = host_module_open(path, &m->module);
    if (e)
        free(m);
    else
        *out = m;
    return e;
}

static void host_module_unload(Device *d, DeviceModule *m)
{
    (void)d;
    if (!m) return;
    arena_fini(&m->kernels);
    host_module_close(m->module);
    free(m);
}

static Err host_kernel_get(Device *d, DeviceModule *m, const char *symbol, DeviceKernel **out)
{
    (void)d;
    *out = NULL;
    if (!host_module_has(m->module, symbol)) FAIL(ERR_INPUT, "no kernel '%s'", symbol);
    DeviceKernel *k = ARENA_NEW(&m->kernels, DeviceKernel);
    if (!k) FAIL(ERR_FAILED, "out of memory for kernel '%s'", symbol);
    TRY(host_module_kernel(m->module, symbol, &k->kernel));
    *out = k;
    return 0;
}

static Err host_launch_kernel(Device *d, const DeviceLaunch *l)
{
    Recorder *r = &((PlainDevice *)d)->recorder;
    if (r->open) return record_launch(r, l);
    if (l->start) l->start->ns = clock_ns();
    TRY(host_launch(((HostDevice *)d)->pool, &l->kernel->kernel, l->grid, l->args, NULL));
    if (l->stop) l->stop->ns = clock_ns();
    return 0;
}

static Err host_event_record(Device *d, DeviceEvent *e)
{
    (void)d;
    e->ns = clock_ns();
    return 0;
}

static uint64_t host_now(Device *d)
{
    (void)d;
    return clock_ns();
}

static void host_idle(Device *d, uint64_t ns)
{
    (void)d;
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (nanosleep(&t, &t) && errno == EINTR) continue;
}

static void host_read(Device *d, DeviceReading *out) { host_monitor_read(&((HostDevice *)d)->monitor, out); }

const DeviceApi device_host = {
    .name = "host",
    .code_object_suffixes = {".so"},
    .has_guards = true,
    .count = host_count,
    .open = host_open,
    .close = host_close,
    .props = host_props,
    .module_load = host_module_load,
    .module_unload = host_module_unload,
    .kernel_get = host_kernel_get,
    HOST_MEMORY_API,
    .launch = host_launch_kernel,
    PLAIN_DEVICE_API,
    .sync = plain_sync,
    .graph_launch = plain_graph_launch,
    .tensor_map = no_tensor_map,
    .event_record = host_event_record,
    .now_ns = host_now,
    .idle = host_idle,
    .read = host_read,
};
