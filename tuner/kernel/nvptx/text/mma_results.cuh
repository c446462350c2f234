    /* run r: two neighbours along M */
    static constexpr int PER = g_NY;
    g_FN int row(int r) const
    {
        const int j = r % PER;
        return m + (g_LONG_M ? j / 4 * 32 + (j & 1) * 2 + (j >> 1 & 1) * 4 : j * 8);
    }
    g_FN int col(int r) const
    {
        const int h = r / PER % 2, i = r / PER / 2;
        return n + (g_LONG_N ? i / 2 * 32 + i % 2 * 2 + h : i * 16 + h * 8);
    }
    g_FN g_TC get(int r, int e) const
    {
        const int j = r % PER, h = r / PER % 2, i = r / PER / 2;
        return g_LONG_M ? v[i][j / 4 * 4 + (j & 1) * 2 + e][h * 2 + (j >> 1 & 1)] : v[i][j][h * 2 + e];
    }
    /* parts of the tile that go through shared memory together: rows of it, and their columns of D */
    static constexpr int PARTS = g_NX;
    g_FN int part(int r) const { return r / PER / 2; }
    g_FN int slot(int r) const
    {
        const int h = r / PER % 2, in = n % g_WT1;
        return n / g_WT1 * 16 + (g_LONG_N ? in / 2 + h : in + h * 8);
    }
    static g_FN int column(int part, int slot)
    {
        const int in = slot % 16, from = slot / 16 * g_WT1;
        return from + (g_LONG_N ? part / 2 * 32 + part % 2 * 2 + in / 2 * 4 + in % 2 : part * 16 + in);
    }
};
