struct g_Acc {
    g_TC v[g_NX][g_NY][4];
    int m, n;
    g_ReadA a;
    g_ReadB b;
    g_FN void init(int tid)
    {
        const int lane = tid & 31, wave = tid >> 5;
        m = wave % g_W0 * g_WT0, n = wave / g_W0 % g_W1 * g_WT1;
        a.init(m, lane), b.init(n, lane);
        if (g_LSU > 1) a.skip(wave / (g_W0 * g_W1) * g_KS), b.skip(wave / (g_W0 * g_W1) * g_KS);
        m += place_m(0, g_acc_col(lane, 0)), n += place_n(0, g_acc_row(lane, 0));
        g_UNROLL for (int i = 0; i < g_NX; i++)
            g_UNROLL for (int j = 0; j < g_NY; j++)
                g_UNROLL for (int e = 0; e < 4; e++) v[i][j][e] = 0;
    }
    /* Row of D of column x of tile j of instructions, and column of D of row x of tile i, counted from the first
       of the wave. Where readers transpose bytes in registers (mma_read_t8.cuh), four tiles of 8 are
       interleaved: consecutive elements belong to different tiles. */
    static g_FN int place_m(int j, g_u32 x) { return g_INTERLEAVED_M ? j / 4 * 32 + x * 4 + j % 4 : j * 8 + x; }
    static g_FN int place_n(int i, g_u32 x)
    {
        return g_INTERLEAVED_N ? i / 2 * 32 + x % 8 * 4 + i % 2 * 2 + x / 8 : i * 16 + x;
    }
    g_FN void load(g_Frag &f, g_u32 sa, g_u32 sb, int ks) const
    {
        b.load(f.x, sb, ks), a.load(f.y, sa, ks);
        g_round(f);
    }
