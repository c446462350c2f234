/* Helper kernels may be dependent launches (programmatic dependent launch, sm_90). This lets the next launch begin,
   and waits for the end of the previous one: it may still write what is read here, or read what is written. */
__device__ __forceinline__ void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
}
