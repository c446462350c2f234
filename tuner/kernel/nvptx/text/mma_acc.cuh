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
        m += (lane & 3) * (g_LONG_M ? 8 : 2), n += (lane >> 2) * (g_LONG_N ? 4 : 1);
        g_UNROLL for (int i = 0; i < g_NX; i++)
            g_UNROLL for (int j = 0; j < g_NY; j++)
                g_UNROLL for (int e = 0; e < 4; e++) v[i][j][e] = 0;
    }
    g_FN void load(g_Frag &f, g_u32 sa, g_u32 sb, int ks) const
    {
        b.load(f.x, sb, ks), a.load(f.y, sa, ks);
        g_round(f);
    }
