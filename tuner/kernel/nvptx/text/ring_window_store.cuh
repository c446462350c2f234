/* Stores the sums of kernels with KeepWindow where no fused operations need them: a warp passes them on in its
 * own shared memory, 16 rows of 16 columns at a time, and stores vectors of 8 rows. */
@DEV void @store_kept(const @Out &o, const @Acc &acc, char *lds, int tid)
{
    constexpr int LINE = 24; /* elements: 16 rows, and 8 that spread lines over the banks */
    static_assert(@NT / 32 * 16 * LINE * 2 <= @KEPT_AT, "the stages' memory is enough");
    const @Ring &g = *(const @Ring *)(lds + @KEPT_AT);
    const int lane = tid % 32, wave = tid / 32;
    const int m = wave % @WAVES_M * @WAVE_M + lane % 2 * 8, n = wave / @WAVES_M * @WAVE_N + lane / 2;
    @TD *const own = (@TD *)lds + wave * 16 * LINE;
    @barrier(); /* stages may still be read */
    @UNROLL for (int i = 0; i < @WAVE_N / 16; i++) {
        const int column = n + i * 16;
        const int at = g.n0 + (column < o.n_left ? column : 0);
        const int row = @quotient(at, g.by_w), image = @quotient(row, g.by_h);
        @TD *const to = o.d + (at - row * g.w.outs_w) * g.w.result_w + (row - image * g.w.outs_h) * g.w.result_h +
                        image * g.w.result_image + (g.m0 + m);
        @UNROLL for (int j = 0; j < @WAVE_M / 16; j++) {
            __syncwarp();
            @UNROLL for (int half = 0; half < 2; half++)
                @UNROLL for (int k = 0; k < 2; k++) {
                    struct alignas(4) {
                        @TD v[2];
                    } pair;
                    @UNROLL for (int e = 0; e < 2; e++)
                        pair.v[e] = @from_c(@scaled(o.ops, acc.v[i][j * 2 + k][half * 2 + e]));
                    *(@u32 *)(own + (half * 8 + lane / 4) * LINE + k * 8 + lane % 4 * 2) = *(const @u32 *)&pair;
                }
            __syncwarp();
            const @Wide x = *(const @Wide *)(own + lane / 2 * LINE + lane % 2 * 8);
            if (column < o.n_left && m + j * 16 < o.m_left) *(@Wide *)(to + j * 16) = x;
        }
    }
}
