/* Kernels of hopper.cuh: products of a tile, both operands from shared memory. */

FN void multiply(g_TC (&acc)[RX][N_ACC], u32 x, u32 y, int add)
{
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        const u64 dy = with_address(Y_DESC, y) + (step_offset<Y_K, Y_TILE>(s) >> 4);
#pragma unroll
        for (int r = 0; r < RX; r++) {
            const u32 row = r * (X_K ? 64 * ROW_BYTES : 64 / ROW * DU * ROW_BYTES);
            wgmma(acc[r], with_address(X_DESC, x) + ((step_offset<X_K, X_TILE>(s) + row) >> 4), dy, s ? 1 : add);
        }
    }
}

/* Accumulates each stage separately and adds it in f32. The accumulators of wgmma for 8-bit floats have fewer
 * bits than f32 (CUTLASS promotes them likewise, GmmaFP8Accumulation). */
FN void accumulate_promoted(g_TC (&acc)[RX][N_ACC], const Shared &shared, Ring &ring, u32 chunks,
                            u32 x_offset, u32 rank, int thread)
{
    g_TC part[RX][N_ACC];
#pragma unroll
    for (int r = 0; r < RX; r++)
#pragma unroll
        for (int i = 0; i < N_ACC; i++) acc[r][i] = 0, part[r][i] = 0;
    for (u32 i = 0; i < chunks; i++, ring.next()) {
        bar_wait(shared.full(ring.stage), ring.phase);
        keep(part);
        wgmma_fence();
        multiply(part, shared.x(ring.stage) + x_offset, shared.y(ring.stage), 0);
        wgmma_commit();
        wgmma_wait<0>();
        keep(part);
        release(shared, ring.stage, rank, thread);
#pragma unroll
        for (int r = 0; r < RX; r++)
#pragma unroll
            for (int j = 0; j < N_ACC; j++) acc[r][j] += part[r][j];
    }
}

FN void accumulate(g_TC (&acc)[RX][N_ACC], const Shared &shared, Ring &ring, u32 chunks, u32 x_offset,
                   u32 rank, int wg, int thread)
{
    u32 last = 0;
    if constexpr (PROMOTES) {
        accumulate_promoted(acc, shared, ring, chunks, x_offset, rank, thread);
        if (PINGPONG) pingpong_arrive(1 - wg);
        return;
    }
    keep(acc);
    for (u32 i = 0; i < chunks; i++, ring.next()) {
        bar_wait(shared.full(ring.stage), ring.phase);
        wgmma_fence();
        multiply(acc, shared.x(ring.stage) + x_offset, shared.y(ring.stage), i > 0);
        wgmma_commit();
        if (i > 0) {
            wgmma_wait<1>();
            release(shared, last, rank, thread);
        }
        last = ring.stage;
    }
    if (PINGPONG) pingpong_arrive(1 - wg);
    wgmma_wait<0>();
    keep(acc);
    release(shared, last, rank, thread);
}
