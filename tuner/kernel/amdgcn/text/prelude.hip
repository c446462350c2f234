#define g_DEV static inline __attribute__((device, always_inline))
#define g_UNROLL _Pragma("unroll")
#define g_NOUNROLL _Pragma("nounroll")
g_DEV unsigned g_tid() { return __builtin_amdgcn_workitem_id_x(); }
g_DEV unsigned g_group_x() { return __builtin_amdgcn_workgroup_id_x(); }
g_DEV unsigned g_group_y() { return __builtin_amdgcn_workgroup_id_y(); }
g_DEV unsigned g_group_z() { return __builtin_amdgcn_workgroup_id_z(); }
g_DEV unsigned g_grid_x()
{
    return __builtin_amdgcn_grid_size_x() / g_THREADS;
}
g_DEV unsigned g_uniform(unsigned x)
{
    return (unsigned)__builtin_amdgcn_readfirstlane((int)x);
}
g_DEV unsigned long long g_uniform64(unsigned long long x)
{
    return (unsigned long long)g_uniform((unsigned)(x >> 32)) << 32 | g_uniform((unsigned)x);
}
/* A scheduling fence: the compiler moves no instruction across it, and it emits no instruction. */
#if __has_builtin(__builtin_amdgcn_sched_barrier)
g_DEV void g_keep_order() { __builtin_amdgcn_sched_barrier(0); }
#else
g_DEV void g_keep_order() {}
#endif
/* Vectors for which the language has no ext_vector_type, and vectors of one element. */
template <typename P, int N, int ALIGN> struct __attribute__((aligned(ALIGN))) g_VectorOf {
    P v[N];
    __attribute__((device)) P &operator[](int i) { return v[i]; }
    __attribute__((device)) const P &operator[](int i) const { return v[i]; }
};
