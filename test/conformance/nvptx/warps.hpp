/* What the text of nvptx kernels needs to run on the CPU: threads of a work-group are fibers that run alternately
 * at barriers, instructions of a whole warp are functions in which its lanes meet. Where elements of matrix
 * fragments are, is written down from the PTX ISA's figures of mma.sync and ldmatrix, not from the kernels.
 * emulate.py puts this in front of a text, and launch.hpp behind it. One work-group (with hopper.hpp, one cluster) at
 * a time. What a copy of cp.async writes is NaN from its issue on, and its data from the thread's wait for its group
 * on, so that what is read in between, or still needed of before, is seen. Misaligned accesses abort. */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <tuple>
#include <ucontext.h>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define threadIdx (Index{(unsigned)cur->tid, 0, 0})
#define blockIdx (group_index[cur->cta])

namespace
{
enum { CTAS = 8 /* of a cluster */, WARPS = 32 * CTAS, LANES = 32, SHARED_AT = 1024 /* of the stand-in for shared addresses */ };
struct Index {
    unsigned x, y, z;
};
struct Barrier {
    int n, count, turn;
};
struct Copy {
    char *to, data[16];
    int n;
};
struct Fiber {
    ucontext_t c;
    int tid, cta;
    bool done;
    uint64_t seen; /* progress when it last had to wait */
    std::vector<Copy> copies;   /* that have not arrived */
    std::vector<size_t> groups; /* of these, how many belong to each group that is committed */
};
Fiber *cur;
ucontext_t scheduler;
Barrier group_barrier[CTAS], warp_barrier[WARPS];
Index group_index[CTAS], gridDim;
uint64_t progress; /* grows where a thread does not only wait */
char *shared;
uint32_t slot[WARPS][LANES][6]; /* what lanes hand over */

void meet(Barrier &b)
{
    const int turn = b.turn;
    progress++;
    if (++b.count == b.n) {
        b.count = 0, b.turn++;
        return;
    }
    while (b.turn == turn) swapcontext(&cur->c, &scheduler);
}
int warp() { return cur->cta * (WARPS / CTAS) + cur->tid / LANES; }
int lane() { return cur->tid % LANES; }
void meet_warp() { meet(warp_barrier[warp()]); }
void __syncwarp() { meet_warp(); }
void __syncthreads() { meet(group_barrier[cur->cta]); }

template <class To, class From> To bits(From x)
{
    To y;
    static_assert(sizeof x == sizeof y, "bits");
    memcpy(&y, &x, sizeof y);
    return y;
}
uint32_t __float_as_uint(float x) { return bits<uint32_t>(x); }
float __uint_as_float(uint32_t x) { return bits<float>(x); }
float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
int __dp4a(int x, int y, int z)
{
    for (int i = 0; i < 32; i += 8) z += (int8_t)(x >> i) * (int8_t)(y >> i);
    return z;
}
uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t which)
{
    const uint64_t all = (uint64_t)y << 32 | x;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) r |= (uint32_t)(all >> (which >> 4 * i & 7) * 8 & 255) << 8 * i;
    return r;
}
template <class T> T atomicAdd(T *p, T x)
{
    const T old = *p;
    *p += x;
    return old;
}
template <class T> T atomicCAS(T *p, T expected, T desired)
{
    const T old = *p;
    if (old == expected) *p = desired;
    return old;
}
void __threadfence() {}
uint32_t __shfl_sync(uint32_t, uint32_t x, int from)
{
    slot[warp()][lane()][0] = x;
    meet_warp();
    const uint32_t r = slot[warp()][from][0];
    meet_warp();
    return r;
}
uint32_t __ballot_sync(uint32_t, bool x)
{
    uint32_t r = 0;
    slot[warp()][lane()][0] = x;
    meet_warp();
    for (int i = 0; i < LANES; i++) r |= (uint32_t)(slot[warp()][i][0] != 0) << i;
    meet_warp();
    return r;
}
int __popc(uint32_t x) { return __builtin_popcount(x); }
uint32_t __cvta_generic_to_shared(const void *p)
{
    shared = (char *)p;
    return SHARED_AT;
}

/* ---- numbers of a register: n of 32 / n bits ---- */

float half_to_float(uint32_t x) { return (float)bits<_Float16>((uint16_t)x); }
uint32_t float_to_half(float x) { return bits<uint16_t>((_Float16)x); }
struct f16 {
    enum { N = 2 };
    static float get(uint32_t x) { return half_to_float(x); }
};
struct bf16 {
    enum { N = 2 };
    static float get(uint32_t x) { return bits<float>(x << 16); }
};
struct tf32 {
    enum { N = 1 };
    static float get(uint32_t x) { return bits<float>(x & 0xffffe000u); }
};
struct e4m3 {
    enum { N = 4 };
    static float get(uint32_t x)
    {
        const int e = x >> 3 & 15, m = x & 7;
        const float y = (x & 127) == 127 ? NAN : e ? ldexpf(8 + m, e - 10) : ldexpf(m, -9);
        return x & 128 ? -y : y;
    }
};
struct e5m2 {
    enum { N = 4 };
    static float get(uint32_t x) { return half_to_float(x << 8); }
};
struct s8 {
    enum { N = 4 };
    static int get(uint32_t x) { return (int8_t)x; }
};
uint32_t e4m3x2(uint32_t x)
{
    return float_to_half(e4m3::get(x & 255)) | float_to_half(e4m3::get(x >> 8 & 255)) << 16;
}

/* ---- shared memory ---- */

template <class T> T *at_shared(uint32_t at, int n = 1)
{
    if (at % (n * sizeof(T))) abort();
    return (T *)(shared + (at - SHARED_AT));
}
template <int W> void load_shared(void *to, uint32_t at) { memcpy(to, at_shared<char>(at, W), W); }
template <int W> void copy_async(uint32_t to, const void *from, int n)
{
    if ((uintptr_t)from % W) abort();
    Copy c = {at_shared<char>(to, W), {}, W};
    memcpy(c.data, from, n);
    memset(c.to, 0xff, W);
    cur->copies.push_back(c);
}
void commit_copies()
{
    size_t n = cur->copies.size();
    for (size_t g : cur->groups) n -= g;
    cur->groups.push_back(n);
}
/* Copies of all groups but the last n arrive. */
void await_copies(size_t n)
{
    size_t arrived = 0;
    while (cur->groups.size() > n) arrived += cur->groups.front(), cur->groups.erase(cur->groups.begin());
    for (size_t i = 0; i < arrived; i++) memcpy(cur->copies[i].to, cur->copies[i].data, cur->copies[i].n);
    cur->copies.erase(cur->copies.begin(), cur->copies.begin() + (long)arrived);
}
/* Lane 8q + r has the address of row r of matrix q; register q of lane 4r + c its elements 2c, 2c + 1. */
void ldmatrix(uint32_t *to, uint32_t at, bool trans)
{
    const int r = lane() / 4, c = lane() % 4 * 2;
    slot[warp()][lane()][0] = at;
    meet_warp();
    for (int q = 0; q < 4; q++) {
        to[q] = 0;
        for (int e = 0; e < 2; e++) {
            const uint32_t row = slot[warp()][q * 8 + (trans ? c + e : r)][0];
            to[q] |= (uint32_t)at_shared<uint16_t>(row, 8)[trans ? r : c + e] << 16 * e;
        }
    }
    meet_warp();
}

/* ---- m16n8: A of 4 registers, B of 2; K is 8 registers' numbers ---- */

template <class A, class B, class Sum> void mma(Sum *sum, const uint32_t *x, const uint32_t *y)
{
    enum { N = A::N, K = 8 * N, WIDTH = 32 / N };
    static Sum a[WARPS][16][K], b[WARPS][K][8];
    const int w = warp(), g = lane() / 4, t = lane() % 4;
    const uint32_t mask = (uint32_t)(((uint64_t)1 << WIDTH) - 1);
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < N; i++)
            a[w][g + r % 2 * 8][t * N + i + r / 2 * 4 * N] = A::get(x[r] >> i * WIDTH & mask);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < N; i++) b[w][t * N + i + r * 4 * N][g] = B::get(y[r] >> i * WIDTH & mask);
    meet_warp();
    for (int i = 0; i < 4; i++) {
        const int row = g + i / 2 * 8, column = t * 2 + i % 2;
        for (int k = 0; k < K; k++) sum[i] += a[w][row][k] * b[w][k][column];
    }
    meet_warp();
}
} // namespace
