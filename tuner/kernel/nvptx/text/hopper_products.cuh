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

/* Ends those of `stage`; N later ones may be under way. */
template <int N> FN void end_products(Products &acc, Products &part, const Shared &shared, u32 stage, u32 rank, int thread)
{
    wgmma_wait<N>();
    release(shared, stage, rank, thread);
    add_products(acc, part);
}

/* Starts the products `next` of the stage after the ring's, and ends `part` of the ring's. */
FN void turn_products(Products &acc, Products &next, Products &part, const Shared &shared, Ring &ring, u32 x_offset,
                      u32 rank, int thread)
{
    const u32 stage = ring.stage;
    ring.next();
    start_products(next, shared, ring, x_offset);
    end_products<1>(acc, part, shared, stage, rank, thread);
}

FN void accumulate_promoted(Products &acc, const Shared &shared, Ring &ring, u32 chunks, u32 x_offset, u32 rank,
                            int thread)
{
    Products part[PROMOTION_SETS];
#pragma unroll
    for (int r = 0; r < RX; r++)
#pragma unroll
        for (int i = 0; i < N_ACC; i++) acc[r][i] = 0, part[0][r][i] = 0;
    if constexpr (PROMOTION_SETS == 1) {
        for (u32 i = 0; i < chunks; i++, ring.next()) {
            start_products(part[0], shared, ring, x_offset);
            end_products<0>(acc, part[0], shared, ring.stage, rank, thread);
        }
        return;
    }
    Products &one = part[0], &other = part[PROMOTION_SETS - 1];
    u32 i = 1;
    start_products(one, shared, ring, x_offset);
    for (; i + 1 < chunks; i += 2) {
        turn_products(acc, other, one, shared, ring, x_offset, rank, thread);
        turn_products(acc, one, other, shared, ring, x_offset, rank, thread);
    }
    if (i < chunks) {
        turn_products(acc, other, one, shared, ring, x_offset, rank, thread);
        end_products<0>(acc, other, shared, ring.stage, rank, thread);
    } else {
        end_products<0>(acc, one, shared, ring.stage, rank, thread);
    }
    ring.next();
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
