/* Clock, temperature and power of the host from sysfs, read only. */
#ifndef CLIENT_DEVICE_HOST_MONITOR_H
#define CLIENT_DEVICE_HOST_MONITOR_H

#include "client/device/device.h"

/* Reads a file of sysfs as text, or as the number at its begin. false, NAN: path is "", or it cannot be read.
 */
bool sensor_text(const char *path, char *text, size_t size);
double sensor_number(const char *path);

enum { MONITOR_PATH = 160 };

typedef struct {
    char clock[MONITOR_PATH], temp[MONITOR_PATH], energy[MONITOR_PATH]; /* "": the machine has none */
    double last_energy_uj;
    uint64_t last_ns; /* 0: no energy read yet */
} HostMonitor;

/* root: "" or, in tests, a directory that contains sys/. */
void host_monitor_init(HostMonitor *m, const char *root);
/* Power is the mean since the previous call; NAN in the first one. */
void host_monitor_read(HostMonitor *m, DeviceReading *out);
/* Nominal maximum clock in MHz, 0 unknown. */
int host_monitor_max_clock(const HostMonitor *m);

#endif
