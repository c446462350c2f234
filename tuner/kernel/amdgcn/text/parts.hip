/* Flags in memory that work-groups share. */
g_DEV unsigned g_count_in(unsigned *flag, unsigned n)
{
    return __hip_atomic_fetch_add(flag, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
g_DEV unsigned g_flag(const unsigned *flag)
{
    return __hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
/* What this thread has written is seen by those that see a flag that is set behind it. */
g_DEV void g_release() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }
g_DEV void g_acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
