/* Memory of the host and the simulated device, between inaccessible pages. */
#ifndef CLIENT_DEVICE_HOST_MEMORY_H
#define CLIENT_DEVICE_HOST_MEMORY_H

#include "client/device/device.h"

Err host_memory_alloc(uint64_t bytes, DeviceGuard guard, DeviceMem *out);
void host_memory_free(DeviceMem *m);

/* The memory functions of DeviceApi for devices whose memory is the CPU's. */
Err host_device_alloc(Device *d, uint64_t bytes, DeviceGuard guard, DeviceMem *out);
void host_device_free(Device *d, DeviceMem *m);
Err host_device_copy_to(Device *d, const DeviceMem *to, uint64_t offset, const void *from, uint64_t bytes);
Err host_device_copy_from(Device *d, void *to, const DeviceMem *from, uint64_t offset, uint64_t bytes);
Err host_device_copy(Device *d, const DeviceMem *to, const DeviceMem *from, uint64_t bytes);
Err host_device_fill(Device *d, const DeviceMem *m, unsigned char byte);
#define HOST_MEMORY_API                                                                                      \
    .alloc = host_device_alloc, .free = host_device_free, .copy_to = host_device_copy_to,                    \
    .copy_from = host_device_copy_from, .copy = host_device_copy, .fill = host_device_fill

#endif
