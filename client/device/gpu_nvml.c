/* Sensors of NVIDIA's GPUs through NVML. Only functions that read are looked up. See gpu_monitor.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/device/gpu_monitor.h"

typedef int NvmlReturn; /* 0: success */
typedef void *NvmlDevice;

typedef struct {
    GpuMonitor base;
    void *dl;
    NvmlDevice device;
    NvmlReturn (*init)(void);
    NvmlReturn (*shutdown)(void);
    NvmlReturn (*by_bus)(const char *bus, NvmlDevice *device);
    NvmlReturn (*clock)(NvmlDevice device, int which, unsigned *mhz);
    NvmlReturn (*temperature)(NvmlDevice device, int sensor, unsigned *celsius);
    NvmlReturn (*power)(NvmlDevice device, unsigned *milliwatts);
    NvmlReturn (*reasons)(NvmlDevice device, unsigned long long *bits);
    NvmlReturn (*version)(char *text, unsigned bytes);
} Nvml;

static bool symbol(Nvml *n, const char *name, void *fn)
{
    void *p = dlsym(n->dl, name);
    memcpy(fn, &p, sizeof p);
    return p != NULL;
}

static void nvml_read(GpuMonitor *m, DeviceReading *out)
{
    enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };
    Nvml *n = (Nvml *)m;
    unsigned value;
    unsigned long long bits;
    if (n->clock && !n->clock(n->device, CLOCK_SM, &value)) out->clock_sys_mhz = value;
    if (n->clock && !n->clock(n->device, CLOCK_MEMORY, &value)) out->clock_mem_mhz = value;
    if (n->temperature && !n->temperature(n->device, SENSOR_GPU, &value)) out->temp_c = value;
    if (n->power && !n->power(n->device, &value)) out->power_w = value / 1000.0;
    if (n->reasons && !n->reasons(n->device, &bits)) out->throttle = (uint32_t)bits;
}

static void nvml_free(GpuMonitor *m)
{
    Nvml *n = (Nvml *)m;
    if (n->shutdown) n->shutdown();
    if (n->dl) dlclose(n->dl);
    free(n);
}

GpuMonitor *nvml_monitor_new(const char *bus)
{
    Nvml *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->base.read = nvml_read;
    n->base.free = nvml_free;
    n->dl = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->dl || !symbol(n, "nvmlInit_v2", &n->init) || n->init()) {
        nvml_free(&n->base);
        return NULL;
    }
    symbol(n, "nvmlShutdown", &n->shutdown);
    symbol(n, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus);
    symbol(n, "nvmlDeviceGetClockInfo", &n->clock);
    symbol(n, "nvmlDeviceGetTemperature", &n->temperature);
    symbol(n, "nvmlDeviceGetPowerUsage", &n->power);
    symbol(n, "nvmlSystemGetDriverVersion", &n->version);
    if (!symbol(n, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons))
        symbol(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
    if (!n->by_bus || n->by_bus(bus, &n->device)) {
        nvml_free(&n->base);
        return NULL;
    }
    if (!n->version || n->version(n->base.driver, sizeof n->base.driver)) n->base.driver[0] = 0;
    return &n->base;
}
