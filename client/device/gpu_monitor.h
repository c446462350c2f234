/* Sensors of GPUs, read only: NVML (libnvidia-ml.so.1, by dlopen) for NVIDIA's, the amdgpu driver's files
 * below /sys for AMD's. Both find the device by its PCI bus id ("0000:65:00.0"). */
#ifndef CLIENT_DEVICE_GPU_MONITOR_H
#define CLIENT_DEVICE_GPU_MONITOR_H

#include "client/device/gpu.h"

/* NULL where there are no sensors. */
GpuMonitor *nvml_monitor_new(const char *bus);
GpuMonitor *amdgpu_monitor_new(const char *bus);
/* The same with a root directory before the paths, for tests. */
GpuMonitor *amdgpu_monitor_at(const char *root, const char *bus);

#endif
