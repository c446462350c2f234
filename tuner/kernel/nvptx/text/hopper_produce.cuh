/* The producer of the kernels of hopper.cuh that multiply matrices, and where elements of D and C are. */

FN g_TD *d_at(const Args &args, int m, int n, int batch)
{
    return args.d + (batch * args.batch_d + g_d_at_n(n, args.ldd) + g_d_at_m(m, args.ldd));
}

FN const g_TD *c_at(const Args &args, int m, int n, int batch)
{
    return args.c + (batch * args.batch_c + g_c_at_n(n, args.ldc) + g_c_at_m(m, args.ldc));
}

/* Fills a stage: waits until it is empty, gives its mbarrier the number of its bytes, and starts the TMA copies of
 * this work-group's parts of both tiles. Printed by hopper_load.c. */
FN void fill_stage(const Shared &shared, u32 stage, u32 phase, const Map &map_a, const Map &map_b, int m, int n,
                   int k, int batch, int part_a, int part_b, int mask_a, int mask_b);

FN void produce(const Args &args, const Map &map_a, const Map &map_b, const Shared &shared, int thread)
{
    const u32 rank = cluster_rank();
    const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M % CLUSTER_N;
    const int first = rank / MULTICAST_WGS * MULTICAST_WGS;
    /* multicast masks: A is shared by the work-groups along N, B by those along M */
    int mask_a = 0, mask_b = 0;
    for (int i = 0; i < CLUSTER_N; i++) mask_a |= 1 << (first + i * CLUSTER_M + rank_m);
    for (int i = 0; i < CLUSTER_M; i++) mask_b |= 1 << (first + rank_n * CLUSTER_M + i);
    Ring ring;
    for (Walk walk(args); !walk.done(); walk.next()) {
        const WorkTile p = walk.work_tile(args, rank);
        u32 chunk = p.late;
        for (u32 i = 0; thread == 0 && i < p.count; i++, ring.next()) {
            const int k = (int)((p.first + chunk * p.step) * DU);
            if (++chunk == p.count) chunk = 0;
            fill_stage(shared, ring.stage, ring.phase, map_a, map_b, p.m, p.n, k, p.batch, rank_n, rank_m, mask_a,
                       mask_b);
        }
        if constexpr (CLUSTER_K > 1) {
            __syncwarp();
            cluster_sync(); /* the sums of all parts are written */
            cluster_sync(); /* and have been read: TMA may overwrite them */
        }
    }
}
