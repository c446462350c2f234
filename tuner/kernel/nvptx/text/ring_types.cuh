
/* ---- copies and shared memory ---- */

typedef unsigned int g_u32;
typedef unsigned long long g_u64;
#define g_FN __device__ __forceinline__

