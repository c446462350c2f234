
/* ---- results of contractions ---- */

struct g_Out {
    g_TD *d;
    const g_TD *c;
    g_Dims x;
    g_Ops ops;
    int m_left, n_left; /* rows and columns from the tile's first to the edge of D */
    int m0, n0;         /* the tile's first row and column */
    bool wide;          /* rows may be stored in vectors of g_WIDE */
};
struct alignas(g_RUN * sizeof(g_TC) < 16 ? g_RUN * sizeof(g_TC) : 16) g_Sums {
    g_TC v[g_RUN];
};
constexpr int g_WIDE = 16 / sizeof(g_TD) < 8 ? 16 / sizeof(g_TD) : 8;
struct alignas(g_WIDE * sizeof(g_TD)) g_WideRun {
    g_TD v[g_WIDE];
};
/* The tile passes through shared memory in parts of SLOTS lines, each with one column of sums. */
static_assert(g_SLOTS == g_MT1 / g_Acc::PARTS, "lines of results");
static_assert(g_LINE * g_SLOTS * sizeof(g_TC) * g_LSU <= g_LDS, "results do not fit in shared memory");
/* Returns element i of the lines, added up over the LocalSplitU parts. */
g_DEV g_TC g_line(const g_TC *lines, int i)
{
    g_TC v = lines[i];
    g_UNROLL for (int s = 1; s < g_LSU; s++) v = g_add(v, lines[i + s * (g_LINE * g_SLOTS)]);
    return v;
}
/* Stores a part in vectors of N rows; adjacent threads store adjacent vectors. */
template <bool READS, int N> g_DEV void g_store_runs(const g_Out &o, const g_TC *lines, int part, int tid)
{
    constexpr int RUNS = g_MT0 / N;
    constexpr bool SAME_ROWS = g_NT % RUNS == 0; /* a thread has the same rows in all columns */
    g_u64 at_d = 0, at_c = 0;
    g_OfRow rows[N];
    g_OfCol of_col;
    _Pragma("unroll 2") for (int i = tid; i < RUNS * g_SLOTS; i += g_NT) {
        const int m = i % RUNS * N, slot = i / RUNS, n = g_Acc::column(part, slot);
        if (!SAME_ROWS || i == tid) {
            at_d = g_d_at_m(o.x, o.m0 + m);
            if constexpr (READS) at_c = g_c_at_m(o.x, o.m0 + m);
            if constexpr (g_FUSED) g_rows<N>(o.ops, o.m0 + m, m < o.m_left && g_rows_whole<N>(o.ops, o.m0 + m, N), rows);
        }
        if (m >= o.m_left || n >= o.n_left) continue;
        if constexpr (g_FUSED) g_cols<1>(o.ops, o.n0 + n, false, &of_col);
        struct alignas(N * sizeof(g_TD)) Run {
            g_TD v[N];
        } x, y;
        if constexpr (READS) y = *(const Run *)(o.c + at_c + g_c_at_n(o.x, o.n0 + n));
        g_TD *const to = o.d + at_d + g_d_at_n(o.x, o.n0 + n);
        g_UNROLL for (int e = 0; e < N; e++) {
            const g_TC v = g_combined(o.ops, g_line(lines, slot * g_LINE + m + e), y.v[e], READS, rows[e], of_col);
            if constexpr (N == 1) g_put(to, v);
            else x.v[e] = g_from_c(v);
        }
        if constexpr (N > 1) *(Run *)to = x;
    }
}
template <bool READS> g_DEV void g_store_as(const g_Out &o, const g_Acc &acc, g_TC *lines, int tid)
{
    g_TC *const own = lines + (g_LSU > 1 ? tid / (g_NT / g_LSU) * (g_LINE * g_SLOTS) : 0);
    g_UNROLL for (int part = 0; part < g_Acc::PARTS; part++) {
        __syncthreads();
        g_UNROLL for (int r = 0; r < g_N_RUN; r++) {
            if (acc.part(r) != part) continue;
            g_Sums v;
            g_UNROLL for (int e = 0; e < g_RUN; e++) v.v[e] = g_scaled(o.ops, acc.get(r, e));
            *(g_Sums *)(own + acc.slot(r) * g_LINE + acc.row(r)) = v;
        }
        __syncthreads();
        if (g_MT0 % g_WIDE == 0 && o.wide) g_store_runs<READS, g_MT0 % g_WIDE ? 1 : g_WIDE>(o, lines, part, tid);
        else g_store_runs<READS, 1>(o, lines, part, tid);
    }
}
g_DEV void g_store(const g_Out &o, const g_Acc &acc, char *lds, int tid)
{
    if constexpr (g_READS) {
        if (!g_is_zero(o.ops.beta)) {
            g_store_as<true>(o, acc, (g_TC *)lds, tid);
            return;
        }
    }
    g_store_as<false>(o, acc, (g_TC *)lds, tid);
}
