/* Called before the flags of partial sums are set to 0. The previous launch may still use them, so a dependent
   launch (programmatic dependent launch, sm_90) waits for its end here. */
__device__ __forceinline__ void flags_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
}
