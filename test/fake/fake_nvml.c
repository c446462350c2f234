/* Fake libnvidia-ml.so.1 for tests: one device at bus 0000:a0:00.0, with readings that do not change. */
#include <stdio.h>
#include <string.h>

#define API __attribute__((visibility("default")))

static int device;

API int nvmlInit_v2(void);
API int nvmlInit_v2(void) { return 0; }

API int nvmlShutdown(void);
API int nvmlShutdown(void) { return 0; }

API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out);
API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out)
{
    *out = &device;
    return strcmp(bus, "0000:a0:00.0") ? 6 : 0;
}

API int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz);
API int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz)
{
    *mhz = which == 1 ? 1755 : 2619;
    return d == &device && (which == 1 || which == 2) ? 0 : 2;
}

API int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *celsius);
API int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *celsius)
{
    *celsius = 41;
    return d == &device && sensor == 0 ? 0 : 2;
}

API int nvmlDeviceGetPowerUsage(void *d, unsigned *milliwatts);
API int nvmlDeviceGetPowerUsage(void *d, unsigned *milliwatts)
{
    *milliwatts = 612500;
    return d == &device ? 0 : 2;
}

/* The old name: drivers before 535 have no other. */
API int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *bits);
API int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *bits)
{
    *bits = 0x24;
    return d == &device ? 0 : 2;
}

API int nvmlSystemGetDriverVersion(char *text, unsigned bytes);
API int nvmlSystemGetDriverVersion(char *text, unsigned bytes)
{
    snprintf(text, bytes, "580.1");
    return 0;
}
