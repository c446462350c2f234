/* Kernels of the test of a real CUDA device (test/unit/test_gpu_device.c). */
extern "C" __global__ void scale(float *d, const float *s, float alpha, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = alpha * s[i];
}

/* Reverses a block through more shared memory than a kernel gets without asking. */
extern "C" __device__ __attribute__((used)) const unsigned int reverse_dynamic_lds = 98304;
extern "C" __global__ void reverse(float *d, unsigned n)
{
    extern __shared__ float held[];
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) held[i] = d[i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) d[i] = held[n - 1 - i];
}

extern "C" __global__ void stray(float *p) { p[threadIdx.x] = 1; }

extern "C" __global__ void empty(unsigned long long) {}

/* Busy for that many clocks. */
extern "C" __global__ void spin(long long clocks, long long *out)
{
    long long start = clock64();
    while (clock64() - start < clocks) {
    }
    if (out) *out = clock64() - start;
}
