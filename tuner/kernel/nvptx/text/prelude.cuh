#define g_DEV __device__ __forceinline__
#define g_UNROLL _Pragma("unroll")
#define g_NOUNROLL _Pragma("unroll 1")
#define g_SELDOM(x) __builtin_expect((x) != 0, 0)
g_DEV unsigned g_tid() { return threadIdx.x; }
g_DEV unsigned g_group_x() { return blockIdx.x; }
g_DEV unsigned g_group_y() { return blockIdx.y; }
g_DEV unsigned g_group_z() { return blockIdx.z; }
g_DEV unsigned g_grid_x() { return gridDim.x; }
g_DEV unsigned g_uniform(unsigned x) { return __shfl_sync(0xffffffffu, x, 0); }
g_DEV unsigned long long g_uniform64(unsigned long long x) { return x; }
g_DEV void g_barrier() { __syncthreads(); }
g_DEV float g_fma(float x, float y, float z) { return __fmaf_rn(x, y, z); }
g_DEV double g_fma(double x, double y, double z) { return __fma_rn(x, y, z); }
g_DEV float g_h2f(unsigned short h)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}
g_DEV unsigned short g_f2h(float f)
{
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}
g_DEV float g_b2f(unsigned short b) { return __uint_as_float((unsigned)b << 16); }
g_DEV unsigned short g_f2b(float f)
{
    const unsigned u = __float_as_uint(f);
    return (unsigned short)(f != f ? u >> 16 | 64u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
g_DEV int g_dot4(int x, int y, int z) { return __dp4a(x, y, z); }
g_DEV int g_mad24(int x, int y, int z) { return x * y + z; }
template <typename N> g_DEV void g_atomic_add(N *p, N x) { atomicAdd(p, x); }
g_DEV unsigned g_cas32(unsigned *p, unsigned expected, unsigned desired)
{
    return atomicCAS(p, expected, desired);
}
template <typename V> g_DEV V *g_pointer(V *const *table, unsigned z) { return table[z]; }
