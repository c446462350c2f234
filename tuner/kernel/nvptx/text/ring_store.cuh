
/* ---- results ---- */

struct g_Out {
    g_TD *d;
    const g_TD *c;
    g_u64 ldd, ldc;
    g_Ops ops;
    int m_left, n_left; /* rows and columns from the tile's first to the edge of D */
    int m_skip, n_skip; /* how many of the first ones a neighbouring tile stores (EdgeType ShiftPtr) */
    int m0, n0;         /* the tile's first row and column; only with fused operations */
};
struct alignas(g_RUN * sizeof(g_TD)) g_Run {
    g_TD v[g_RUN];
};
struct alignas(g_RUN * sizeof(g_TC) < 16 ? g_RUN * sizeof(g_TC) : 16) g_Sums {
    g_TC v[g_RUN];
};
/* Loads what belongs to N rows of the tile from row m on; to one column. */
template <int N> g_DEV void g_load_rows(const g_Out &o, int m, g_OfRow *to)
{
    if constexpr (g_FUSED) g_rows<N>(o.ops, o.m0 + m, g_rows_whole<N>(o.ops, o.m0 + m, N), to);
}
g_DEV void g_load_col(const g_Out &o, int n, g_OfCol *to)
{
    if constexpr (g_FUSED) g_cols<1>(o.ops, o.n0 + n, false, to);
}
/* Stores a tile that lies inside D, each run of a thread as one vector, straight from the accumulators. */
template <bool READS> g_DEV void g_store_whole(const g_Out &o, const g_Acc &acc)
{
    g_UNROLL for (int r = 0; r < g_N_RUN; r++) {
        g_Run x, y;
        g_OfRow rows[g_RUN];
        g_OfCol of_col;
        const int m = acc.row(r), n = acc.col(r);
        g_load_rows<g_RUN>(o, m, rows);
        g_load_col(o, n, &of_col);
        if constexpr (READS) y = *(const g_Run *)(o.c + g_c_at_n(n, o.ldc) + g_c_at_m(m, o.ldc));
        g_UNROLL for (int e = 0; e < g_RUN; e++) {
            const g_TC v = g_scaled(o.ops, acc.get(r, e));
            x.v[e] = g_from_c(g_combined(o.ops, v, y.v[e], READS, rows[e], of_col));
        }
        *(g_Run *)(o.d + g_d_at_n(n, o.ldd) + g_d_at_m(m, o.ldd)) = x;
    }
}
/* All other tiles go through shared memory, so that adjacent threads store adjacent rows of D. They are stored
   in vectors where these are aligned and inside D, and otherwise element by element. Shared memory has SLOTS
   lines, each with one column of sums. */
static_assert(g_SLOTS == g_MT1 / g_Acc::PARTS, "lines of results");
static_assert(g_LINE * g_SLOTS * sizeof(g_TC) * g_LSU <= g_LDS, "results do not fit in shared memory");
/* Returns element i of the lines, added up over the LocalSplitU parts. */
g_DEV g_TC g_line(const g_TC *lines, int i)
{
    g_TC v = lines[i];
    g_UNROLL for (int s = 1; s < g_LSU; s++) v = g_add(v, lines[i + s * (g_LINE * g_SLOTS)]);
    return v;
}
constexpr int g_WIDE = 16 / sizeof(g_TD) < 8 ? 16 / sizeof(g_TD) : 8;
struct alignas(g_WIDE * sizeof(g_TD)) g_WideRun {
    g_TD v[g_WIDE];
};
template <bool READS> g_DEV void g_store_wide(const g_Out &o, const g_TC *lines, int part, int tid)
{
    constexpr bool SAME_ROWS = g_NT % (g_MT0 / g_WIDE) == 0; /* a thread has the same rows in all columns */
    g_OfRow rows[g_WIDE];
    g_OfCol of_col;
    if (SAME_ROWS) g_load_rows<g_WIDE>(o, tid % (g_MT0 / g_WIDE) * g_WIDE, rows);
    g_NOUNROLL for (int i = tid; i < g_MT0 / g_WIDE * g_SLOTS; i += g_NT) {
        const int m = i % (g_MT0 / g_WIDE) * g_WIDE, slot = i / (g_MT0 / g_WIDE), n = g_Acc::column(part, slot);
        g_WideRun x, y;
        if (!SAME_ROWS) g_load_rows<g_WIDE>(o, m, rows);
        g_load_col(o, n, &of_col);
        if constexpr (READS) y = *(const g_WideRun *)(o.c + g_c_at_n(n, o.ldc) + g_c_at_m(m, o.ldc));
        g_UNROLL for (int e = 0; e < g_WIDE; e++) {
            const g_TC v = g_line(lines, slot * g_LINE + m + e);
            x.v[e] = g_from_c(g_combined(o.ops, v, y.v[e], READS, rows[e], of_col));
        }
        *(g_WideRun *)(o.d + g_d_at_n(n, o.ldd) + g_d_at_m(m, o.ldd)) = x;
    }
}
template <bool READS> g_DEV void g_store_part(const g_Out &o, const g_TC *lines, int part, int tid)
{
    _Pragma("unroll 4") for (int i = tid; i < g_MT0 * g_SLOTS; i += g_NT) {
        const int m = i % g_MT0, slot = i / g_MT0, n = g_Acc::column(part, slot);
        if (m >= o.m_left || n >= o.n_left || m < o.m_skip || n < o.n_skip) continue;
        g_TC v = g_line(lines, slot * g_LINE + m);
        g_OfRow of_row;
        g_OfCol of_col;
        g_load_rows<1>(o, m, &of_row);
        g_load_col(o, n, &of_col);
        g_TD c;
        if constexpr (READS) c = o.c[g_c_at_n(n, o.ldc) + g_c_at_m(m, o.ldc)];
        v = g_combined(o.ops, v, c, READS, of_row, of_col);
        g_put(o.d + g_d_at_n(n, o.ldd) + g_d_at_m(m, o.ldd), v);
    }
}
/* Stores 16-bit results as aligned pairs. In a column whose first element is not aligned to 4 bytes the pairs
   begin at row 1. */
struct alignas(2 * sizeof(g_TD)) g_Pair {
    g_TD v[2];
};
template <bool READS> g_DEV void g_store_pairs(const g_Out &o, const g_TC *lines, int part, int tid)
{
    _Pragma("unroll 2") for (int i = tid; i < g_MT0 / 2 * g_SLOTS; i += g_NT) {
        const int slot = i / (g_MT0 / 2), n = g_Acc::column(part, slot);
        if (n >= o.n_left || n < o.n_skip) continue;
        g_TD *d = o.d + g_d_at_n(n, o.ldd);
        const int r = i % (g_MT0 / 2) * 2 + (int)((g_u64)d / sizeof(g_TD) & 1);
        const int m[2] = {r, r + 1 < g_MT0 ? r + 1 : 0};
        g_Pair x;
        g_OfCol of_col;
        g_load_col(o, n, &of_col);
        g_UNROLL for (int e = 0; e < 2; e++) {
            const g_TC v = g_line(lines, slot * g_LINE + m[e]);
            g_OfRow of_row;
            g_load_rows<1>(o, m[e], &of_row);
            g_TD c;
            const bool with_c = READS && m[e] < o.m_left;
            if (with_c) c = o.c[g_c_at_n(n, o.ldc) + g_c_at_m(m[e], o.ldc)];
            x.v[e] = g_from_c(g_combined(o.ops, v, c, with_c, of_row, of_col));
        }
        if (m[1] && m[1] < o.m_left && m[0] >= o.m_skip) *(g_Pair *)(d + r) = x;
        else g_UNROLL for (int e = 0; e < 2; e++)
            if (m[e] < o.m_left && m[e] >= o.m_skip) d[m[e]] = x.v[e];
    }
}
template <bool READS> g_DEV void g_store_lines(const g_Out &o, const g_Acc &acc, g_TC *lines, bool wide, int tid)
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
        if (wide) g_store_wide<READS>(o, lines, part, tid);
        else if constexpr (sizeof(g_TD) == 2 && !g_ADDS && g_M_CONTIGUOUS) g_store_pairs<READS>(o, lines, part, tid);
        else g_store_part<READS>(o, lines, part, tid);
    }
}
template <bool READS> g_DEV void g_store_as(const g_Out &o, const g_Acc &acc, char *lds, int tid)
{
    const g_u64 bits = (g_u64)o.d | o.ldd * sizeof(g_TD) |
                      (READS ? (g_u64)o.c | o.ldc * sizeof(g_TD) : 0);
    const bool whole = !g_ADDS && g_M_CONTIGUOUS && o.m_left >= g_MT0 && o.n_left >= g_MT1 && !(o.m_skip | o.n_skip);
    const bool wide = whole && bits % sizeof(g_WideRun) == 0 && g_MT0 % g_WIDE == 0;
    const bool runs = sizeof(g_TD) >= 4 && g_LSU == 1 && whole && bits % sizeof(g_Run) == 0;
    if (runs) g_store_whole<READS>(o, acc);
    else g_store_lines<READS>(o, acc, (g_TC *)lds, wide, tid);
}
g_DEV void g_store(const g_Out &o, const g_Acc &acc, char *lds, int tid)
{
    if constexpr (g_READS) {
        if (!g_is_zero(o.ops.beta)) {
            g_store_as<true>(o, acc, lds, tid);
            return;
        }
    }
    g_store_as<false>(o, acc, lds, tid);
}
