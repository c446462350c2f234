/* The kernel function of the kernels of hopper.cuh. EMPTY_ARRIVALS: what the mbarrier of an empty stage expects, as
 * hopper_consume.c derives it. */

FN void gemm(char *dynamic, const Args &args, const Map &map_a, const Map &map_b, const Map &map_c,
             const Map &map_d)
{
    const Shared shared = {(shared_address(dynamic) + 1023) & ~1023u};
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0), thread = threadIdx.x % 128;
    if constexpr (DEPENDENT) dependent_begins();
    if (threadIdx.x == 0) {
        prefetch_map(map_a);
        prefetch_map(map_b);
        if (STORE_TMA) prefetch_map(map_d);
        for (int i = 0; i < STAGES; i++) {
            bar_init(shared.full(i), 1);
            bar_init(shared.empty(i), EMPTY_ARRIVALS);
        }
        for (int i = 0; i < CONSUMERS * BUFFERS; i++) bar_init(shared.c(i / BUFFERS, i % BUFFERS), 1);
        bars_fence();
        proxy_fence();
    }
    cluster_sync();
    if constexpr (DEPENDENT) wait_for_launches();
    if (group == 0) {
        if constexpr (REGS_PRODUCER > 0) fewer_registers<REGS_PRODUCER>();
        if (CLUSTER_K > 1 || thread == 0) produce(args, map_a, map_b, shared, thread);
        __syncwarp();
    } else {
        if constexpr (REGS_CONSUMER > 0) more_registers<REGS_CONSUMER>();
        consume(args, map_c, map_d, shared, group - 1, thread);
        __syncwarp();
    }
    if constexpr (CLUSTER > 1)
        cluster_sync(); /* other work-groups may still multicast into this one and arrive at its mbarriers */
}
