    /* run r: two neighbours along M; their tile along M, and which of its sums they are */
    static constexpr int PER = g_NY;
    static g_FN int tile(int r, int e)
    {
        const int j = r % PER;
        return g_LONG_M ? j / 4 * 4 + (j & 1) * 2 + e : j;
    }
    static g_FN int sum(int r, int e)
    {
        return r / PER % 2 * 2 + (g_LONG_M ? r % PER >> 1 & 1 : e);
    }
    g_FN int row(int r) const { return m + place_m(tile(r, 0), g_acc_col(0, sum(r, 0))); }
    g_FN int col(int r) const { return n + place_n(r / PER / 2, g_acc_row(0, sum(r, 0))); }
    g_FN g_TC get(int r, int e) const { return v[r / PER / 2][tile(r, e)][sum(r, e)]; }
    g_FN void set(int r, int e, g_TC x) { v[r / PER / 2][tile(r, e)][sum(r, e)] = x; }
    /* parts of the tile that go through shared memory together: rows of it, and their columns of D */
    static constexpr int PARTS = g_NX;
    g_FN int part(int r) const { return r / PER / 2; }
    g_FN int slot(int r) const
    {
        const int in = n % g_WT1, x = g_acc_row(0, sum(r, 0));
        return n / g_WT1 * 16 + (g_LONG_N ? in / 2 + x / 8 : in + x);
    }
    static g_FN int column(int part, int slot)
    {
        const g_u32 in = slot & 15;
        return slot / 16 * g_WT1 + place_n(part, g_LONG_N ? in / 2 + in % 2 * 8 : in);
    }
};
