/* GEMM by wgmma (sm_90a), warp-specialised. A producer warp group fills a ring of stages in shared memory by TMA;
 * consumer warp groups of 128 threads multiply with wgmma. Results pass through swizzled shared memory and are
 * stored by TMA, or element by element. Work-groups are persistent. Instructions: PTX ISA, chapters
 * "Asynchronous Warpgroup Level Matrix Instructions", "mbarrier" and "cp.async.bulk.tensor".
 *
 * The text stands in a kernel's namespace, behind its types (g_TD, g_TC) and these numbers, which hopper.c prints
 * from the kernel's program:
 *     CONSUMERS                 consumer warp groups
 *     MULTICAST_WGS CLUSTER     work-groups of a cluster that share A and B tiles by TMA multicast; all of them
 *     SWAP                      the 64 rows of the instruction lie along N, not M
 *     PAIR_BF16                 16-bit results are bf16, not f16
 */
typedef unsigned u32;
typedef unsigned long long u64;
#define FN __device__ __forceinline__

/* CUtensorMap */
struct alignas(64) Map {
    u64 word[16];
};

struct Args {
    g_TD *d;
    const g_TD *c;
    g_TC alpha, beta;
    u64 ldd, batch_d, ldc, batch_c;
    u32 m, n, batch, k, tiles_m, tiles_n, stagger_mask;
    g_TC *sums;
    u32 *flags;
    u32 mapping, mapping_chunk; /* the work-group order as an argument; 0: the kernel has none */
    g_Ops ops;                  /* what the epilogue's ops take */
};

/* ---- instructions ---- */

FN u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

FN void bar_init(u32 bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}

/* Makes initialised mbarriers visible to the cluster and to TMA. */
FN void bars_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/* Arrives, and adds bytes to the transactions that the current phase waits for (expect-tx). */
FN void bar_expect(u32 bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

/* Waits until the phase of that parity has completed. */
FN void bar_wait(u32 bar, u32 parity)
{
    u32 done;
    do
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.b32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(bar), "r"(parity)
                     : "memory");
    while (!done);
}

/* Arrives at the mbarrier at the same shared-memory offset in work-group `rank` of the cluster. It follows reads of
 * wgmma that have completed, and no writes, so it needs no release at the scope of the cluster: that is a fence of
 * memory, which costs about 1000 clocks a stage on an H200. */
FN void bar_arrive(u32 bar, u32 rank)
{
    if constexpr (MULTICAST_WGS == 1)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
    else
        asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %0, %1;\n\t"
                     "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t}" ::"r"(bar),
                     "r"(rank)
                     : "memory");
}

FN u32 cluster_rank()
{
    u32 rank = 0;
    if constexpr (CLUSTER > 1) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

FN void cluster_sync()
{
    if constexpr (CLUSTER > 1)
        asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
    else
        __syncthreads();
}

FN void load_box(u32 to, const Map &map, u32 bar, int c0, int c1, int c2)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(&map), "r"(bar), "r"(c0), "r"(c1), "r"(c2)
                 : "memory");
}

FN void load_box_shared(u32 to, const Map &map, u32 bar, int c0, int c1, int c2, int mask)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(&map), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "h"((unsigned short)mask)
        : "memory");
}

FN void store_box(const Map &map, u32 from, int c0, int c1, int c2)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
        "r"(from), "r"(c0), "r"(c1), "r"(c2)
        : "memory");
}

FN void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> FN void store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
FN void store_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
FN void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
FN void group_sync(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }
FN void consumers_sync() { asm volatile("bar.sync %0, %1;" ::"r"(1 + CONSUMERS), "n"(CONSUMERS * 128) : "memory"); }
/* Named barriers order the main loops of two consumer warp groups, or their ends. wg waits for its turn to
 * multiply; the other one gives it by turn_arrive(wg). */
FN void turn_wait(int wg) { asm volatile("bar.sync %0, 256;" ::"r"(2 + CONSUMERS + wg) : "memory"); }
FN void turn_arrive(int wg) { asm volatile("bar.arrive %0, 256;" ::"r"(2 + CONSUMERS + wg) : "memory"); }

/* Sets the registers per thread of a warp group (setmaxnreg). */
template <int N> FN void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> FN void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }

/* Programmatic dependent launch: lets the next launch begin; waits until previous launches have ended and their
 * writes are visible. */
FN void dependent_begins() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
FN void wait_for_launches() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

FN void prefetch_map(const Map &map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
FN void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> FN void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* An empty asm that reads and writes x: the compiler must have the value in registers here, and moves no access to
 * it across. It separates accesses to accumulators from wgmma in flight, which uses these registers. */
FN void keep(float &x) { asm volatile("" : "+f"(x)::"memory"); }
FN void keep(u32 &x) { asm volatile("" : "+r"(x)::"memory"); }
FN void keep(int &x) { asm volatile("" : "+r"(x)::"memory"); }
template <typename T, int N> FN void keep(T (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) keep(x[i]);
}
