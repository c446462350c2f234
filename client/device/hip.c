/* AMD GPUs: the kind `hip`. Monitor: the kernel's files under /sys. */
#include "client/device/gpu.h"
#include "client/device/gpu_monitor.h"

static int hip_count(Buf *why) { return gpu_device_count(&gpu_hip, why); }

static Err hip_open(int index, const DeviceOptions *options, Device **out)
{
    (void)options;
    return gpu_device_open(&device_hip, &gpu_hip, index, amdgpu_monitor_new, out);
}

const DeviceApi device_hip = {
    .name = "hip",
    .code_object_suffixes = {".co", ".hsaco"},
    .count = hip_count,
    .open = hip_open,
    GPU_DEVICE_FUNCTIONS,
};
