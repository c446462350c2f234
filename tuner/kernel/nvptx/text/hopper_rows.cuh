/* Kernels of hopper.cuh with ROWS_FROM_REGISTERS: products of a tile, X from registers.
 *
 * A batch of wgmma takes BATCH_STEPS steps of DepthU; while it multiplies, the fragments of the next
 * batch are loaded into the other one of two sets.
 * Shared memory has a line of 32 words for each k, of which the swizzle exchanges the 16-byte chunks by k. A thread
 * loads two neighbouring rows at a time. acc_row() spreads the rows of a fragment so that the 16 lanes that are
 * served together, with 4 values of k each, read all banks once. */

constexpr int BATCH_STEPS = 2, BATCHES = STEPS / BATCH_STEPS;
static_assert(T_BYTES == 4 && !X_K && STEPS % (2 * BATCH_STEPS) == 0, "fragments of words, an even number of batches");
typedef u32 Fragments[BATCH_STEPS][RX][4];

FN void load_pair(u32 at, u32 &a, u32 &b)
{
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
}

FN void keep(Fragments &f)
{
#pragma unroll
    for (int s = 0; s < BATCH_STEPS; s++)
#pragma unroll
        for (int r = 0; r < RX; r++)
#pragma unroll
            for (int i = 0; i < 4; i++) keep(f[s][r][i]);
}

/* Loads the fragments of BATCH_STEPS steps from step number `first` on. x: of this warp group's rows. */
FN void load_fragments(Fragments &f, u32 x, int first, int thread)
{
    constexpr int INST_K = 32 / T_BYTES;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const u32 k = thread % 4 + half * 4, row = acc_row(thread, 0);
        const u32 at = x + (row / ROW * DU + k) * ROW_BYTES + ((row % ROW * T_BYTES) ^ k << 4);
#pragma unroll
        for (int s = 0; s < BATCH_STEPS; s++)
#pragma unroll
            for (int r = 0; r < RX; r++)
                load_pair(at + (r * (64 / ROW * DU) + (first + s) * INST_K) * ROW_BYTES, f[s][r][2 * half],
                          f[s][r][2 * half + 1]);
    }
}

FN void multiply_fragments(g_TC (&acc)[RX][N_ACC], Fragments &f, u32 y, int first, int add)
{
#pragma unroll
    for (int s = 0; s < BATCH_STEPS; s++)
#pragma unroll
        for (int r = 0; r < RX; r++)
            wgmma(acc[r], f[s][r], with_address(Y_DESC, y) + (step_offset<Y_K, Y_TILE>(first + s) >> 4),
                       s ? 1 : add);
}

FN void accumulate(g_TC (&acc)[RX][N_ACC], const Shared &shared, Ring &ring, u32 chunks, u32 x_offset,
                   u32 rank, int wg, int thread)
{
    Fragments set[2];
    u32 last = 0;
    keep(acc);
    for (u32 i = 0; i < chunks; i++, ring.next()) {
        bar_wait(shared.full(ring.stage), ring.phase);
#pragma unroll
        for (int b = 0; b < BATCHES; b++) {
            load_fragments(set[b % 2], shared.x(ring.stage) + x_offset, b * BATCH_STEPS, thread);
            wgmma_fence();
            multiply_fragments(acc, set[b % 2], shared.y(ring.stage), b * BATCH_STEPS, b > 0 || i > 0);
            wgmma_commit();
            wgmma_wait<1>();
            keep(set[1 - b % 2]); /* the previous batch read these registers until now */
            if (b == 0 && i > 0) release(shared, last, rank, thread);
        }
        last = ring.stage;
    }
    if (PINGPONG) pingpong_arrive(1 - wg);
    wgmma_wait<0>();
    keep(set[1]);
    keep(acc);
    release(shared, last, rank, thread);
}
