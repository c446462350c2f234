/* Flags in global memory, by which the work-groups of a tile synchronise (gpu/parts.c). count_in adds n
   and returns the previous value. */
g_DEV unsigned g_count_in(unsigned *flag, unsigned n)
{
    return __hip_atomic_fetch_add(flag, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
g_DEV unsigned g_flag(const unsigned *flag)
{
    return __hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
/* Writes before g_release() are visible after g_acquire() to a thread that has seen a flag set in between. */
g_DEV void g_release() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }
g_DEV void g_acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
