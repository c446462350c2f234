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

/* Products of 8-bit floats are accumulated for each stage separately, and then added in f32: the accumulators of wgmma
 * have fewer bits than f32 for them (CUTLASS promotes them likewise, GmmaFP8Accumulation). Of two sets of products one
 * is added while wgmma makes the other one. */
typedef g_TC Products[RX][N_ACC];

FN void add_products(Products &acc, Products &part)
{
    keep(part);
#pragma unroll
    for (int r = 0; r < RX; r++)
#pragma unroll
        for (int j = 0; j < N_ACC; j++) acc[r][j] += part[r][j];
}

/* Starts the products of the next stage. */
FN void start_products(Products &part, const Shared &shared, const Ring &ring, u32 x_offset)
{
    bar_wait(shared.full(ring.stage), ring.phase);
    keep(part);
    wgmma_fence();
    multiply(part, shared.x(ring.stage) + x_offset, shared.y(ring.stage), 0);
    wgmma_commit();
}

FN void accumulate_promoted(Products &acc, const Shared &shared, Ring &ring, u32 chunks, u32 x_offset, u32 rank,
                            int thread)
{
    Products part[PROMOTION_SETS];
    u32 last = 0;
#pragma unroll
    for (int r = 0; r < RX; r++)
#pragma unroll
        for (int i = 0; i < N_ACC; i++) acc[r][i] = 0, part[0][r][i] = 0;
    for (u32 i = 0; i < chunks; i += PROMOTION_SETS) {
#pragma unroll
        for (u32 s = 0; s < PROMOTION_SETS; s++) {
            if (s > 0 && i + s >= chunks) break;
            start_products(part[s], shared, ring, x_offset);
            if (PROMOTION_SETS > 1 && i + s > 0) {
                wgmma_wait<1>();
                release(shared, last, rank, thread);
                add_products(acc, part[PROMOTION_SETS - 1 - s]);
            }
            last = ring.stage;
            ring.next();
            if (PROMOTION_SETS > 1) continue;
            wgmma_wait<0>();
            release(shared, last, rank, thread);
            add_products(acc, part[0]);
        }
    }
    if (PROMOTION_SETS == 1) return;
    wgmma_wait<0>();
    release(shared, last, rank, thread);
    if (chunks % 2)
        add_products(acc, part[0]);
    else
        add_products(acc, part[PROMOTION_SETS - 1]);
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
