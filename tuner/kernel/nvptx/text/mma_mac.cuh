    g_FN void mac(const g_Frag &f)
    {
        g_UNROLL for (int i = 0; i < g_NX; i++)
            g_UNROLL for (int jj = 0; jj < g_NY; jj++) {
                const int j = i & 1 ? g_NY - 1 - jj : jj;
                g_mma(v[i][j], f.x[i], f.y[j]);
            }
    }
