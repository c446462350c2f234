
/* ---- copies and shared memory ---- */

typedef unsigned int g_u32;
typedef unsigned long long g_u64;
#define g_FN __device__ __forceinline__
/* Bytes of a thread's accumulators. */
constexpr int g_ACC_BYTES = g_MT0 * g_MT1 / (g_NT / g_LSU) * (int)sizeof(g_TC);

