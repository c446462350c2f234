/* Sets counters of parts to 0. The launch in front may still use them. */
__device__ __forceinline__ void flags_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
}
