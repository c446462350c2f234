    g_FN void mac(const g_Frag &f)
    {
        g_UNROLL for (int h = 0; h < 2; h++) {
            g_u32 y[g_NY][2];
            g_UNROLL for (int j = 0; j < g_NY; j++) g_halves_a(y[j][0], y[j][1], f.y[j][h]);
            g_UNROLL for (int i = 0; i < g_NX; i++) {
                g_u32 x[4];
                g_UNROLL for (int e = 0; e < 2; e++) g_halves_b(x[e], x[e + 2], f.x[i][2 * h + e]);
                g_UNROLL for (int jj = 0; jj < g_NY; jj++) {
                    const int j = i & 1 ? g_NY - 1 - jj : jj;
                    g_mma(v[i][j], x, y[j]);
                }
            }
        }
    }
