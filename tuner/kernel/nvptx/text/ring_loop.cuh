
/* ---- the ring of stages ---- */

constexpr bool g_HELD = g_CopyA::HELD, g_SHIFTED = g_CopyA::SHIFTED;
/* One misaligned operand leaves the other's copies wide: where registers are left for that code. */
constexpr bool g_APART = g_SUMS <= 128;
constexpr int g_STAGE = g_LA::BYTES + g_LB::BYTES;
static_assert(g_STAGE * g_NS <= g_LDS, "stages do not fit in shared memory");
struct g_Ring {
    g_u32 smem, at;   // shared memory; the stage in use
    int read, write; // stages
    int next, whole, chunks;  // of this work-group: the chunk to copy next, those with all DU elements of K, all
    int wrap;                 // StaggerU: chunk before which the pointers go back
    int tail;                 // elements of K in the last chunk, if it is not a whole one
    bool in_a, in_b;          // all rows, columns are there and may be copied fast
    bool al_a, al_b;          // aligned
};
g_DEV void g_turn(g_Ring &g)
{
    g_arrived<g_NS - 2>();
    __syncthreads();
    g.read = g.read + 1 == g_NS ? 0 : g.read + 1;
    g.at = g.smem + g.read * g_STAGE;
}
/* Pointers to the chunk behind g.next. */
g_DEV void g_advance(g_CopyA &a, g_CopyB &b, g_Ring &g)
{
    g.next++;
    long long n = 1;
    if constexpr (g_STAGGER) {
        if (g.next == g.wrap) n -= g.whole;
        if (g.next == g.whole) n += g.wrap;
    }
    a.step(a.k_step * n), b.step(b.k_step * n);
}
/* in: all rows and columns of the tile are there, and aligned */
template <class X> g_DEV void g_copy_one(X &x, g_u32 into, bool in, bool whole, bool aligned, int k_left)
{
    if constexpr (X::HELD) {
        x.put(into);
    } else if (in && whole) {
        const char *q = x.p;
        x.fast(into, 0, x.PIECES, q);
    } else if (g_MOVES && in) {
        if constexpr (g_MOVES) x.tail(into, k_left);
    } else if (aligned || X::NATURAL) {
        x.guarded(into, k_left);
    } else {
        x.elements(into, k_left);
    }
}
/* Reads chunk g.next into registers, of operands held there. */
template <class X, class Y> g_DEV void g_ahead(X &a, Y &b, const g_Ring &g)
{
    if constexpr (X::HELD) {
        if (g.next >= g.chunks) return;
        const bool whole = g.next < g.whole;
        const int k_left = whole ? g_DU : g.tail;
        a.get(whole && g.in_a, k_left), b.get(whole && g.in_b, k_left);
    }
}
template <class X, class Y> g_DEV void g_put_and_get(X &a, Y &b, g_Ring &g, g_u32 into)
{
    if constexpr (X::HELD) {
        a.put(into), b.put(into + g_LA::BYTES);
        g_advance(a, b, g);
        a.get_whole(), b.get_whole();
    }
}
template <class X> g_DEV void g_copy_part(const X &x, g_u32 into, int ks, int parts, const char *&q)
{
    if constexpr (!X::HELD) x.fast(into, x.PIECES * ks / parts, x.PIECES * (ks + 1) / parts, q);
}
g_DEV void g_copy(g_CopyA &a, g_CopyB &b, g_Ring &g, g_u32 into)
{
    if (g.next < g.chunks) {
        const bool whole = g.next < g.whole;
        const int k_left = whole ? g_DU : g.tail;
        if (g_HELD || g_SHIFTED || (g.al_a && g.al_b)) {
            g_copy_one(a, into, g.in_a, whole, true, k_left);
            g_copy_one(b, into + g_LA::BYTES, g.in_b, whole, true, k_left);
        } else if constexpr (g_APART) {
            g_copy_one(a, into, g.in_a, whole, g.al_a, k_left);
            g_copy_one(b, into + g_LA::BYTES, g.in_b, whole, g.al_b, k_left);
        } else {
            a.elements(into, k_left);
            b.elements(into + g_LA::BYTES, k_left);
        }
        g_advance(a, b, g);
        g_ahead(a, b, g);
    }
    g_commit();
}

template <bool FAST>
g_DEV void g_round_trip(g_Acc &c, g_Frag *f, g_CopyA &a, g_CopyB &b, g_Ring &g)
{
    const g_u32 into = g.smem + g.write * g_STAGE;
    const char *qa = a.p, *qb = b.p;
    g_UNROLL for (int ks = 0; ks < g_KS; ks++) {
        if (!FAST && ks == 0) g_copy(a, b, g, into);
        if (FAST && ks == 0) g_put_and_get(a, b, g, into);
        if (g_PLR && ks == g_KS - 1) g_turn(g);
        if constexpr (g_PLR) c.load(f[(ks + 1) & 1], g.at, g.at + g_LA::BYTES, (ks + 1) % g_KS);
        else c.load(f[0], g.at, g.at + g_LA::BYTES, ks);
        constexpr int PARTS = g_KS > 1 ? g_KS - 1 : 1;
        if constexpr (FAST) {
            if (ks < PARTS) {
                g_copy_part(a, into, ks, PARTS, qa);
                g_copy_part(b, into + g_LA::BYTES, ks, PARTS, qb);
            }
            if (ks == PARTS - 1) {
                if (!g_HELD) g_advance(a, b, g);
                g_commit();
            }
        }
        c.mac(f[g_PLR ? ks & 1 : 0]);
    }
    if (!g_PLR) g_turn(g);
    g.write = g.write + 1 == g_NS ? 0 : g.write + 1;
}

/* Sums all chunks of K of this work-group. */
g_DEV void g_sum(g_Acc &c, g_CopyA &a, g_CopyB &b, g_Ring &g)
{
    g_Frag f[g_PLR + 1];
    g_ahead(a, b, g);
    g_NOUNROLL for (int i = 0; i < g_NS - 1; i++) g_copy(a, b, g, g.smem + i * g_STAGE);
    g.write = g_NS - 1;
    g_arrived<g_NS - 2>();
    __syncthreads();
    g.read = 0, g.at = g.smem;
    if (g_PLR) c.load(f[0], g.at, g.at + g_LA::BYTES, 0);
    int i = 0;
    const int fast = g.in_a && g.in_b ? g.whole - (g_NS - 1) - g_HELD : 0;
    g_NOUNROLL for (; i < fast; i++) g_round_trip<true>(c, f, a, b, g);
    g_NOUNROLL for (; i < g.chunks; i++) g_round_trip<false>(c, f, a, b, g);
    g_arrived<0>();
}

/* EdgeType ShiftPtr: a tile that hangs over the edge is moved back inside, when that leaves vectors
   aligned. Rows and columns that it then shares with its neighbour are the neighbour's: the first
   moved() ones. */
template <class X, class L> g_DEV void g_move_back(int &at, int tile, int size)
{
    const int over = g_MOVES ? at + tile - size : 0;
    const bool any = !L::K_ROWS || X::HELD || X::SHIFTED;
    if (over > 0 && size >= tile && (any || over % L::CE == 0)) at -= over;
}
g_DEV int g_moved(int at, int tile, int size)
{
    const int rest = size % tile;
    return g_MOVES && at + tile == size && rest ? tile - rest : 0;
}
/* Pointers of the work-group's first chunk of K, and of those `step` chunks apart from there. */
g_DEV void g_begin(g_CopyA &ca, g_CopyB &cb, g_Ring &g, const g_T *a, const g_T *b, g_u64 lda, g_u64 ldb, unsigned m,
                 unsigned n, int m0, int n0, int tid, unsigned first, int step)
{
    g.next = 0;
    g.in_a = m0 + g_MT0 <= (int)m, g.in_b = n0 + g_MT1 <= (int)n;
    const g_u64 at_a = (g_u64)(a + (g_LA::K_ROWS ? m0 : 0)), at_b = (g_u64)(b + (g_LB::K_ROWS ? n0 : 0));
    g.al_a = g_SHIFTED || ((at_a | lda * sizeof(g_T)) & (g_LA::CW - 1)) == 0;
    g.al_b = g_SHIFTED || ((at_b | ldb * sizeof(g_T)) & (g_LB::CW - 1)) == 0;
    g.in_a &= g_HELD || g.al_a, g.in_b &= g_HELD || g.al_b;
    ca.align(g.al_a), cb.align(g.al_b);
    ca.init(a, lda, m0, m, tid, (g_u64)first * g_DU, step * g_DU);
    cb.init(b, ldb, n0, n, tid, (g_u64)first * g_DU, step * g_DU);
}
