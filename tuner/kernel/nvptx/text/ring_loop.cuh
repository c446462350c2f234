
/* ---- the ring of stages ---- */

constexpr bool g_VIA_REGISTERS = g_CopyA::VIA_REGISTERS, g_SHIFTED = g_CopyA::SHIFTED;
/* A and B choose their copy functions separately, so that a misaligned operand does not make the other one be
   copied by elements. The code for it needs registers, so only kernels with at most 128 bytes of
   accumulators per thread have it. */
constexpr bool g_SEPARATE_GUARDS = g_ACC_BYTES <= 128;
constexpr int g_STAGE = g_LA::BYTES + g_LB::BYTES;
static_assert(g_STAGE * g_NS <= g_LDS, "stages do not fit in shared memory");
struct g_Ring {
    g_u32 smem, stage;         /* addresses in shared memory: of the ring, of the stage that is read */
    int read, write;           /* numbers of the stages that are read and written next */
    int next;                  /* the chunk that is copied next; chunks are those of this work-group */
    int whole, chunks;         /* number of chunks with all DU elements of K, and of all chunks */
    int wrap;                  /* StaggerU: the chunk before which the pointers wrap around to the first */
    int tail;                  /* elements of K in the last chunk, when it has fewer than DU */
    bool inside_a, inside_b;   /* all rows or columns of the tile are inside: copy_whole() may copy them */
    bool aligned_a, aligned_b; /* pieces are aligned to their size */
};
/* Waits for the copies of the next stage to read, and makes it the current one. */
g_DEV void g_next_stage(g_Ring &g)
{
    g_arrived<g_NS - 2>();
    __syncthreads();
    g.read = g.read + 1 == g_NS ? 0 : g.read + 1;
    g.stage = g.smem + g.read * g_STAGE;
}
/* Advances the pointers from chunk g.next to the chunk after it. */
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
/* Copies one operand's chunk. in: all rows and columns of the tile are inside, and its pieces are aligned. */
template <class X> g_DEV void g_copy_operand(X &x, g_u32 into, bool in, bool whole, bool aligned, int k_left)
{
    if constexpr (X::VIA_REGISTERS) {
        x.store_stage(into);
    } else if (in && whole) {
        const char *q = x.p;
        x.copy_whole(into, 0, x.PIECES, q);
    } else if (g_SHIFT_PTR && in) {
        if constexpr (g_SHIFT_PTR) x.copy_k_tail(into, k_left);
    } else if (aligned || X::ALWAYS_ALIGNED) {
        x.copy_guarded(into, k_left);
    } else {
        x.copy_elements(into, k_left);
    }
}
/* Operands that are copied through registers: loads chunk g.next. */
template <class X, class Y> g_DEV void g_load_ahead(X &a, Y &b, const g_Ring &g)
{
    if constexpr (X::VIA_REGISTERS) {
        if (g.next >= g.chunks) return;
        const bool whole = g.next < g.whole;
        const int k_left = whole ? g_DU : g.tail;
        a.load(whole && g.inside_a, k_left), b.load(whole && g.inside_b, k_left);
    }
}
/* Operands that are copied through registers: stores the loaded chunk, and loads the next whole one. */
template <class X, class Y> g_DEV void g_store_and_load_ahead(X &a, Y &b, g_Ring &g, g_u32 into)
{
    if constexpr (X::VIA_REGISTERS) {
        a.store_stage(into), b.store_stage(into + g_LA::BYTES);
        g_advance(a, b, g);
        a.load_whole(), b.load_whole();
    }
}
/* Issues the copies of step ks out of `parts` steps of a chunk. */
template <class X> g_DEV void g_copy_part(const X &x, g_u32 into, int ks, int parts, const char *&q)
{
    if constexpr (!X::VIA_REGISTERS) x.copy_whole(into, x.PIECES * ks / parts, x.PIECES * (ks + 1) / parts, q);
}
/* Copies chunk g.next, if there is one, into a stage. The copies are one cp.async group in either case. */
g_DEV void g_copy(g_CopyA &a, g_CopyB &b, g_Ring &g, g_u32 into)
{
    if (g.next < g.chunks) {
        const bool whole = g.next < g.whole;
        const int k_left = whole ? g_DU : g.tail;
        if (g_VIA_REGISTERS || g_SHIFTED || (g.aligned_a && g.aligned_b)) {
            g_copy_operand(a, into, g.inside_a, whole, true, k_left);
            g_copy_operand(b, into + g_LA::BYTES, g.inside_b, whole, true, k_left);
        } else if constexpr (g_SEPARATE_GUARDS) {
            g_copy_operand(a, into, g.inside_a, whole, g.aligned_a, k_left);
            g_copy_operand(b, into + g_LA::BYTES, g.inside_b, whole, g.aligned_b, k_left);
        } else {
            a.copy_elements(into, k_left);
            b.copy_elements(into + g_LA::BYTES, k_left);
        }
        g_advance(a, b, g);
        g_load_ahead(a, b, g);
    }
    g_commit();
}

/* One iteration of the main loop: multiplies the current stage and copies a chunk into the stage before it.
   FAST: that chunk lies inside both operands. Its copies are then distributed over the steps of K. */
template <bool FAST>
g_DEV void g_iteration(g_Acc &c, g_Frag *f, g_CopyA &a, g_CopyB &b, g_Ring &g)
{
    const g_u32 into = g.smem + g.write * g_STAGE;
    const char *qa = a.p, *qb = b.p;
    g_UNROLL for (int ks = 0; ks < g_KS; ks++) {
        if (!FAST && ks == 0) g_copy(a, b, g, into);
        if (FAST && ks == 0) g_store_and_load_ahead(a, b, g, into);
        if (g_PLR && ks == g_KS - 1) g_next_stage(g);
        if constexpr (g_PLR) c.load(f[(ks + 1) & 1], g.stage, g.stage + g_LA::BYTES, (ks + 1) % g_KS);
        else c.load(f[0], g.stage, g.stage + g_LA::BYTES, ks);
        constexpr int PARTS = g_KS > 1 ? g_KS - 1 : 1;
        if constexpr (FAST) {
            if (ks < PARTS) {
                g_copy_part(a, into, ks, PARTS, qa);
                g_copy_part(b, into + g_LA::BYTES, ks, PARTS, qb);
            }
            if (ks == PARTS - 1) {
                if (!g_VIA_REGISTERS) g_advance(a, b, g);
                g_commit();
            }
        }
        c.mac(f[g_PLR ? ks & 1 : 0]);
    }
    if (!g_PLR) g_next_stage(g);
    g.write = g.write + 1 == g_NS ? 0 : g.write + 1;
}

/* The main loop over all chunks of K of this work-group, with its prologue. */
g_DEV void g_main_loop(g_Acc &c, g_CopyA &a, g_CopyB &b, g_Ring &g)
{
    g_Frag f[g_PLR + 1];
    g_load_ahead(a, b, g);
    g_NOUNROLL for (int i = 0; i < g_NS - 1; i++) g_copy(a, b, g, g.smem + i * g_STAGE);
    g.write = g_NS - 1;
    g_arrived<g_NS - 2>();
    __syncthreads();
    g.read = 0, g.stage = g.smem;
    if (g_PLR) c.load(f[0], g.stage, g.stage + g_LA::BYTES, 0);
    int i = 0;
    const int fast = g.inside_a && g.inside_b ? g.whole - (g_NS - 1) - g_VIA_REGISTERS : 0;
    g_NOUNROLL for (; i < fast; i++) g_iteration<true>(c, f, a, b, g);
    g_NOUNROLL for (; i < g.chunks; i++) g_iteration<false>(c, f, a, b, g);
    g_arrived<0>();
}

/* EdgeType ShiftPtr: moves a tile that overhangs the edge of D back inside, unless that misaligns its pieces.
   The tile then overlaps the neighbouring tile by its first g_overlap() rows or columns, which the neighbour
   stores. */
template <class X, class L> g_DEV void g_shift_ptr(int &at, int tile, int size)
{
    const int over = g_SHIFT_PTR ? at + tile - size : 0;
    const bool any = !L::K_ROWS || X::VIA_REGISTERS || X::SHIFTED;
    if (over > 0 && size >= tile && (any || over % L::CE == 0)) at -= over;
}
g_DEV int g_overlap(int at, int tile, int size)
{
    const int rest = size % tile;
    return g_SHIFT_PTR && at + tile == size && rest ? tile - rest : 0;
}
/* Initialises the copies: the work-group's first chunk of K is `first`, and later ones are `step` chunks
   apart. */
g_DEV void g_begin(g_CopyA &ca, g_CopyB &cb, g_Ring &g, const g_T *a, const g_T *b, g_u64 lda, g_u64 ldb, unsigned m,
                 unsigned n, int m0, int n0, int tid, unsigned first, int step)
{
    g.next = 0;
    g.inside_a = m0 + g_MT0 <= (int)m, g.inside_b = n0 + g_MT1 <= (int)n;
    const g_u64 at_a = (g_u64)(a + (g_LA::K_ROWS ? m0 : 0)), at_b = (g_u64)(b + (g_LB::K_ROWS ? n0 : 0));
    g.aligned_a = g_SHIFTED || ((at_a | lda * sizeof(g_T)) & (g_LA::CW - 1)) == 0;
    g.aligned_b = g_SHIFTED || ((at_b | ldb * sizeof(g_T)) & (g_LB::CW - 1)) == 0;
    g.inside_a &= g_VIA_REGISTERS || g.aligned_a, g.inside_b &= g_VIA_REGISTERS || g.aligned_b;
    ca.set_aligned(g.aligned_a), cb.set_aligned(g.aligned_b);
    ca.init(a, lda, m0, m, tid, (g_u64)first * g_DU, step * g_DU);
    cb.init(b, ldb, n0, n, tid, (g_u64)first * g_DU, step * g_DU);
}
