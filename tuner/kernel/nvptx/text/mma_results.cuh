    /* Run r has two consecutive rows of D. For its element e, tile() is the instruction's tile along M, and sum()
       the number of the accumulator in that tile. */
    static constexpr int RUNS_M = g_NY;
    static g_FN int tile(int r, int e)
    {
        const int j = r % RUNS_M;
        return g_INTERLEAVED_M ? j / 4 * 4 + (j & 1) * 2 + e : j;
    }
    static g_FN int sum(int r, int e)
    {
        return r / RUNS_M % 2 * 2 + (g_INTERLEAVED_M ? r % RUNS_M >> 1 & 1 : e);
    }
    g_FN int row(int r) const { return m + place_m(tile(r, 0), g_acc_col(0, sum(r, 0))); }
    g_FN int col(int r) const { return n + place_n(r / RUNS_M / 2, g_acc_row(0, sum(r, 0))); }
    g_FN g_TC get(int r, int e) const { return v[r / RUNS_M / 2][tile(r, e)][sum(r, e)]; }
    g_FN void set(int r, int e, g_TC x) { v[r / RUNS_M / 2][tile(r, e)][sum(r, e)] = x; }
    /* Results go through shared memory in PARTS parts. part() of run r; slot(): the line of shared memory that it
       is written to; column(): the column of the tile that a line of a part holds. */
    static constexpr int PARTS = g_NX;
    g_FN int part(int r) const { return r / RUNS_M / 2; }
    g_FN int slot(int r) const
    {
        const int in = n % g_WT1, x = g_acc_row(0, sum(r, 0));
        return n / g_WT1 * 16 + (g_INTERLEAVED_N ? in / 2 + x / 8 : in + x);
    }
    static g_FN int column(int part, int slot)
    {
        const g_u32 in = slot & 15;
        return slot / 16 * g_WT1 + place_n(part, g_INTERLEAVED_N ? in / 2 + in % 2 * 8 : in);
    }
};
