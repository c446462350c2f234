/* NVIDIA GPUs: the kind `cuda`. Monitor: NVML. */
#include "client/device/gpu.h"
#include "client/device/gpu_monitor.h"

static int cuda_count(Buf *why) { return gpu_device_count(&gpu_cuda, why); }

static Err cuda_open(int index, const DeviceOptions *options, Device **out)
{
    (void)options;
    return gpu_device_open(&device_cuda, &gpu_cuda, index, nvml_monitor_new, out);
}

const DeviceApi device_cuda = {
    .name = "cuda",
    .code_object_suffixes = {".cubin"},
    .count = cuda_count,
    .open = cuda_open,
    GPU_DEVICE_FUNCTIONS,
};
