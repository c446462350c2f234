/* The consumer warp groups of the kernels of hopper.cuh, and the kernel function. */

FN void store_tile(g_TC (&acc)[RX][N_ACC], const Args &args, const g_Ops &ops, Vectors &vectors, const Map &map_c,
                   const Map &map_d, const Shared &shared, const WorkTile &p, int wg, int thread, u32 &phases)
{
    if constexpr (!STORE_TMA)
        store_elements(acc, args, ops, shared, p, wg, thread);
    else if (READS && !g_is_zero(args.beta))
        store_slices<true>(acc, args, ops, vectors, map_c, map_d, shared, p, wg, thread, phases);
    else
        store_slices<false>(acc, args, ops, vectors, map_c, map_d, shared, p, wg, thread, phases);
}

FN void consume(const Args &args, const Map &map_c, const Map &map_d, const Shared &shared, int wg,
                int thread)
{
    const u32 rank = cluster_rank();
    const u32 x_offset = PINGPONG ? 0 : wg * RX * (X_K ? 64 * ROW_BYTES : 64 / ROW * DU * ROW_BYTES);
    Ring ring;
    u32 phases = 0;
    g_TC acc[RX][N_ACC];
    g_Ops ops = args.ops;
    Vectors vectors;
    Walk walk(args);
    g_load_numbers(ops);
    if (PINGPONG && wg) pingpong_arrive(0);
    if (PINGPONG && wg && !walk.done()) {
        const WorkTile p = walk.work_tile(args, rank);
        ring.skip(p.count);
        walk.next();
    }
    while (!walk.done()) {
        const WorkTile p = walk.work_tile(args, rank);
        g_Ops of_tile = ops;
        g_find_bias(of_tile, p.batch);
        if constexpr (VECTORS_EARLY) vectors.load(of_tile, p, wg, thread);
        /* without this wait the parity of a stage could be that of an earlier tile's phase */
        if (PINGPONG) pingpong_wait(wg);
        accumulate(acc, shared, ring, p.count, x_offset, rank, wg, thread);
        bool stores = CLUSTER_K == 1;
        if constexpr (CLUSTER_K > 1) add_parts(acc, args, of_tile, shared, p, rank, wg, thread);
        if (PARTIAL_SUMS && p.parts > 1) {
            if constexpr (STREAM_K)
                stores = join_sums(acc, args, p, rank, wg, thread);
            else
                stores = false, add_sums(acc, args, of_tile, p, rank, wg, thread);
        }
        if (stores) store_tile(acc, args, of_tile, vectors, map_c, map_d, shared, p, wg, thread, phases);
        walk.next();
        if (PINGPONG && !walk.done()) {
            const WorkTile other = walk.work_tile(args, rank);
            ring.skip(other.count);
            walk.next();
        }
    }
    if (thread == 0) store_wait();
}

/* ---- kernel ---- */

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
            bar_init(shared.empty(i), TILE_WGS * (CLUSTER_M + CLUSTER_N - 1));
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
