
/* ---- multiply: fused multiply-adds on thread tiles, in runs of 16 bytes ---- */
/* A thread reads vectors of 16 bytes from shared memory. They lie along M or N, or with UnrollMajorLDS along K;
   a step then has g_KV elements of K. The lanes of a warp form a grid of g_LM along M by g_LN along N. The
   tile of a thread consists of runs of 16 bytes, with one run of each other lane in between. Where B's
   vectors lie along K, it has single columns instead of runs along N: adjacent lanes then read adjacent rows
   of B's tile, which are in different banks. */

constexpr int g_VE = 16 / sizeof(g_T);
constexpr int g_W0 = g_WG0 / g_LM, g_LN = 32 / g_LM, g_W1 = g_WG1 / g_LN;
constexpr int g_KS = g_DU / g_LSU / g_KV, g_N_RUN = g_TT0 * g_TT1 / g_VE, g_RUN = g_VE;
/* g_ALONG_K: the operand's vectors lie along K. g_SINGLE: a thread has single columns, not runs, along N. */
template <class L> constexpr bool g_ALONG_K = !L::K_ROWS && !L::TRANSPOSED;
constexpr bool g_SINGLE = g_ALONG_K<g_LB>;
struct g_Frag {
    g_T a[g_KV * g_TT0], b[g_KV * g_TT1];
};
struct g_Acc {
    g_TC v[g_TT0 * g_TT1];
    int m, n;
    g_u32 a, b;
    g_FN void init(int tid)
    {
        const int lane = tid & 31, wave = tid >> 5;
        m = (wave % g_W0 * g_LM * g_TT0) + lane % g_LM * g_VE;
        n = (wave / g_W0 % g_W1 * g_LN * g_TT1) + lane / g_LM * (g_SINGLE ? 1 : g_VE);
        a = from<g_LA>(m), b = from<g_LB>(n);
        /* LocalSplitU: of LSU consecutive steps of K each part of the work-group takes one */
        if (g_LSU > 1) {
            const int part = wave / (g_W0 * g_W1);
            a += part * (g_ALONG_K<g_LA> ? 16 : g_KV * g_LA::ROWB);
            b += part * (g_ALONG_K<g_LB> ? 16 : g_KV * g_LB::ROWB);
        }
        g_UNROLL for (int i = 0; i < g_TT0 * g_TT1; i++) v[i] = g_zero();
    }
    template <class L> static g_FN g_u32 from(int i)
    {
        return g_ALONG_K<L> ? L::row(i) : i * sizeof(g_T);
    }
    /* Reads N rows or columns, each with KV consecutive elements of K. They form runs, or are SINGLE; `lanes` is
       the number of lanes along that dimension. */
    template <class L, int N, bool SINGLE> g_FN void read(g_T *f, g_u32 at, int lanes, int ks) const
    {
        if constexpr (g_ALONG_K<L>) {
            g_UNROLL for (int i = 0; i < N; i++) {
                const int row = SINGLE ? i * lanes : i / g_VE * lanes * g_VE + i % g_VE;
                g_T u[g_VE];
                g_lds4((g_u32 *)u, at + ks * g_LSU * 16 + L::row(row));
                g_UNROLL for (int k = 0; k < g_VE; k++) f[k * N + i] = u[k];
            }
        } else {
            g_UNROLL for (int k = 0; k < g_KV; k++) {
                const int swz = L::TRANSPOSED ? L::element_swz(ks * g_LSU) : 0;
                g_UNROLL for (int i = 0; i < N / g_VE; i++) {
                    g_T u[g_VE];
                    g_lds4((g_u32 *)u, at + (ks * g_LSU * g_KV + k) * L::ROWB + i * lanes * 16);
                    g_UNROLL for (int e = 0; e < g_VE; e++) f[k * N + i * g_VE + (e ^ swz)] = u[e];
                }
            }
        }
    }
    g_FN void load(g_Frag &f, g_u32 sa, g_u32 sb, int ks) const
    {
        read<g_LA, g_TT0, false>(f.a, sa + a, g_LM, ks);
        read<g_LB, g_TT1, g_SINGLE>(f.b, sb + b, g_LN, ks);
    }
    g_FN void mac(const g_Frag &f)
    {
        g_UNROLL for (int k = 0; k < g_KV; k++)
            g_UNROLL for (int j = 0; j < g_TT1; j++)
                g_UNROLL for (int ii = 0; ii < g_TT0; ii++) {
                    const int i = j & 1 ? g_TT0 - 1 - ii : ii;
                    g_TC &sum = v[j * g_TT0 + i];
                    sum = g_madd(g_take_a(f.a[k * g_TT0 + i]), g_take_b(f.b[k * g_TT1 + j]), sum);
                }
    }
    static constexpr int RUNS_M = g_TT0 / g_VE;
    g_FN int row(int r) const { return m + r % RUNS_M * g_LM * g_VE; }
    g_FN int col(int r) const
    {
        const int j = r / RUNS_M;
        return g_SINGLE ? n + j * g_LN : n + j / g_VE * g_LN * g_VE + j % g_VE;
    }
    g_FN g_TC get(int r, int e) const { return v[r / RUNS_M * g_TT0 + r % RUNS_M * g_VE + e]; }
    g_FN void set(int r, int e, g_TC x) { v[r / RUNS_M * g_TT0 + r % RUNS_M * g_VE + e] = x; }
    /* Results go through shared memory in PARTS parts. part() of run r; slot(): the line of shared memory that it
       is written to; column(): the column of the tile that a line of a part holds. */
    static constexpr int PARTS = g_TT1 / g_VE;
    g_FN int part(int r) const { return r / RUNS_M / g_VE; }
    g_FN int slot(int r) const
    {
        const int column = r / RUNS_M % g_VE * (g_SINGLE ? g_LN : 1);
        return n / (g_LN * g_TT1) * (g_LN * g_VE) + n % (g_LN * g_TT1) + column;
    }
    static g_FN int column(int part, int slot)
    {
        return slot / (g_LN * g_VE) * (g_LN * g_TT1) + part * (g_LN * g_VE) + slot % (g_LN * g_VE);
    }
};
