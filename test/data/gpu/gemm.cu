/* GEMM kernels for tests of timing and recovery on a real CUDA device: f32 NN, Tensile's Source arguments, three
 * tiles, and one that is wrong, one that never ends, one that leaves its memory. */
typedef unsigned int u32;

#define ARGS                                                                                                 \
    float *D, const float *C, const float *A, const float *B, float alpha, float beta, u32 sD1, u32 sD2,      \
        u32 sC1, u32 sC2, u32 sA1, u32 sA2, u32 sB1, u32 sB2, u32 I, u32 J, u32 K, u32 L, u32 t0, u32 t1
#define PASS D, C, A, B, alpha, beta, sD1, sD2, sC1, sC2, sA1, sA2, sB1, sB2, I, J, K, L

/* TILE x TILE of D by 256 threads, T x T each, DepthU 8. */
template <int TILE, int T>
static __device__ void gemm(float *D, const float *C, const float *A, const float *B, float alpha, float beta,
                            u32 sD1, u32 sD2, u32 sC1, u32 sC2, u32 sA1, u32 sA2, u32 sB1, u32 sB2, u32 I,
                            u32 J, u32 K, u32 L)
{
    enum { U = 8, LOADS = TILE * U / 256 };
    __shared__ float a[U][TILE], b[U][TILE + 1];
    float acc[T][T] = {};
    u32 t = threadIdx.x, i0 = blockIdx.x * TILE, j0 = blockIdx.y * TILE, batch = blockIdx.z;
    A += (size_t)batch * sA2;
    B += (size_t)batch * sB2;
    u32 ti = t % 16, tj = t / 16;
    for (u32 l0 = 0; l0 < L; l0 += U) {
        for (int x = 0; x < LOADS; x++) {
            u32 e = t + x * 256, i = e % TILE, l = e / TILE, bl = e % U, j = e / U;
            a[l][i] = i0 + i < I && l0 + l < L ? A[i0 + i + (size_t)(l0 + l) * sA1] : 0;
            b[bl][j] = j0 + j < J && l0 + bl < L ? B[l0 + bl + (size_t)(j0 + j) * sB1] : 0;
        }
        __syncthreads();
        for (int l = 0; l < U; l++)
            for (int x = 0; x < T; x++)
                for (int y = 0; y < T; y++) acc[x][y] += a[l][ti + 16 * x] * b[l][tj + 16 * y];
        __syncthreads();
    }
    for (int y = 0; y < T; y++)
        for (int x = 0; x < T; x++) {
            u32 i = i0 + ti + 16 * x, j = j0 + tj + 16 * y;
            if (i >= I || j >= J) continue;
            size_t d = i + (size_t)j * sD1 + (size_t)batch * sD2, c = i + (size_t)j * sC1 + (size_t)batch * sC2;
            D[d] = alpha * acc[x][y] + (beta == 0 ? 0 : beta * C[c]);
        }
}

extern "C" __global__ void __launch_bounds__(256) Cijk_Ailk_Bljk_SB_t128(ARGS) { gemm<128, 8>(PASS); }
extern "C" __global__ void __launch_bounds__(256) Cijk_Ailk_Bljk_SB_t64(ARGS) { gemm<64, 4>(PASS); }
extern "C" __global__ void __launch_bounds__(256) Cijk_Ailk_Bljk_SB_t32(ARGS) { gemm<32, 2>(PASS); }

extern "C" __global__ void __launch_bounds__(256) Cijk_Ailk_Bljk_SB_wrong(ARGS)
{
    gemm<64, 4>(PASS);
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1)
        D[I - 1 + (size_t)(J - 1) * sD1 + (size_t)blockIdx.z * sD2] += 1e4f;
}

extern "C" __global__ void __launch_bounds__(256) Cijk_Ailk_Bljk_SB_endless(ARGS)
{
    gemm<64, 4>(PASS);
    volatile float *d = D;
    while (d[0] == d[0]) {
    }
}

extern "C" __global__ void __launch_bounds__(256) Cijk_Ailk_Bljk_SB_stray(ARGS)
{
    gemm<64, 4>(PASS);
    ((float *)0x10)[threadIdx.x] = 1;
}
