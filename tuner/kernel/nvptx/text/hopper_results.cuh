/* Epilogue of the kernels of hopper.cuh: the ops on the sums (g_scaled, g_combined). Results pass through slices in swizzled
 * shared memory, and are stored by TMA or element by element. */

/* Offset in a slice with the 128-byte swizzle of TMA. Rows shorter than 128 bytes are not swizzled. */
FN u32 swizzled(u32 row, u32 byte)
{
    return OUT_LINE == ROW_BYTES ? row * ROW_BYTES + (byte ^ (row & 7) << 4) : row * OUT_LINE + byte;
}

FN void store_matrices(u32 at, u32 a, u32 b, u32 c, u32 d)
{
    if constexpr (SWAP)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a),
                     "r"(b), "r"(c), "r"(d)
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                     "r"(a), "r"(b), "r"(c), "r"(d)
                     : "memory");
}

FN void load_matrices(u32 at, u32 (&v)[4])
{
    if constexpr (SWAP)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at)
                     : "memory");
}

FN void store_matrices_2(u32 at, u32 a, u32 b)
{
    if constexpr (SWAP)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b)
                     : "memory");
}

FN void load_matrices_2(u32 at, u32 (&v)[4])
{
    if constexpr (SWAP)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(v[0]), "=r"(v[1])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(v[0]), "=r"(v[1])
                     : "r"(at)
                     : "memory");
}

FN u32 pair(float lo, float hi)
{
    u32 p;
    if constexpr (PAIR_BF16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(p) : "f"(hi), "f"(lo));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(p) : "f"(hi), "f"(lo));
    return p;
}

FN void store_word(u32 at, u32 v) { asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }
FN u32 load_word(u32 at)
{
    u32 v;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
    return v;
}
FN u32 word_of(float v) { return __float_as_uint(v); }
FN u32 word_of(int v) { return (u32)v; }
FN void from_word(u32 w, float &v) { v = __uint_as_float(w); }
FN void from_word(u32 w, int &v) { v = (int)w; }

/* ---- vectors of fused operations ---- */

/* What belongs to a row of the instruction (X) and to one of its columns (Y). */
template <bool ROWS> struct Side {
    typedef g_OfCol Of;
    template <int N> static FN bool whole(const g_Ops &o, u32 at, u32 n) { return g_cols_whole<N>(o, at, n); }
    template <int N> static FN void load(const g_Ops &o, u32 at, bool all, Of *to) { g_cols<N>(o, at, all, to); }
};
template <> struct Side<true> {
    typedef g_OfRow Of;
    template <int N> static FN bool whole(const g_Ops &o, u32 at, u32 n) { return g_rows_whole<N>(o, at, n); }
    template <int N> static FN void load(const g_Ops &o, u32 at, bool all, Of *to) { g_rows<N>(o, at, all, to); }
};
typedef Side<!SWAP> X;
typedef Side<SWAP> Y;

/* The elements of the vectors that a thread's accumulators take. Accumulator j of a tile of the instruction is in row
 * j / 2 % 2 of the thread's two rows, and in column j / 4 * 2 + j % 2 of its columns. Those of X are kept for the whole
 * tile; those of Y are loaded slice by slice, one slice ahead. */
struct Vectors {
    X::Of x[RX][2];
    Y::Of y[2][COLUMNS / 4];
    FN void load_y(const g_Ops &o, int i, const WorkTile &p, int thread)
    {
        const u32 at = (SWAP ? p.m : p.n) + i % SLICES_Y * COLUMNS + acc_col(thread, 0);
        if (Y::whole<2>(o, at, COLUMNS - 6)) {
#pragma unroll
            for (int c = 0; c < COLUMNS / 8; c++) Y::load<2>(o, at + c * 8, true, &y[i % 2][c * 2]);
        } else {
#pragma unroll
            for (int c = 0; c < COLUMNS / 8; c++) Y::load<2>(o, at + c * 8, false, &y[i % 2][c * 2]);
        }
    }
    FN void load(const g_Ops &o, const WorkTile &p, int wg, int thread)
    {
        const u32 at = (SWAP ? p.n : p.m) + (PINGPONG ? 0 : wg * RX * 64);
#pragma unroll
        for (int r = 0; r < RX; r++)
#pragma unroll
            for (int h = 0; h < 2; h++) X::load<1>(o, at + r * 64 + acc_row(thread, h * 2), false, &x[r][h]);
        load_y(o, 0, p, thread);
    }
    /* What the ops make of the scaled accumulator j, counted from the first one of slice i. */
    FN g_TC combined(const g_Ops &o, g_TC v, const g_TD &c, bool with_c, int i, int j) const
    {
        return of(o, v, c, with_c, x[i / SLICES_Y][j / 2 % 2], y[i % 2][j / 4 * 2 + j % 2]);
    }
    static FN g_TC of(const g_Ops &o, g_TC v, const g_TD &c, bool with_c, const g_OfRow &row, const g_OfCol &col)
    {
        return g_combined(o, v, c, with_c, row, col);
    }
    static FN g_TC of(const g_Ops &o, g_TC v, const g_TD &c, bool with_c, const g_OfCol &col, const g_OfRow &row)
    {
        return g_combined(o, v, c, with_c, row, col);
    }
};
/* The first ones are loaded before the main loop where registers are left for them. */
constexpr bool VECTORS_EARLY = FUSED && STORE_TMA && RX * N_ACC <= 128;

/* Writes the 16-bit results of slice i to shared memory. READS: C is in the slice. */
template <bool READS>
FN void write_pairs(g_TC (&acc)[RX][N_ACC], int i, u32 at, const g_Ops &ops, const Vectors &vectors, int thread)
{
    const int r = i / SLICES_Y, first = i % SLICES_Y * COLUMNS, lane = thread % 32, warp = thread / 32;
    constexpr int MATRICES = COLUMNS % 16 ? 2 : 4;
    /* Each lane gives stmatrix the address of one row of 8x8 matrix q, which consists of accumulators 2q and
       2q + 1. of_row: the first of the four lanes that have the elements of this row. */
    const int q = lane / 8 % MATRICES, of_row = warp * 32 + lane % 8 * 4;
#pragma unroll
    for (int col = 0; col < COLUMNS; col += 4 * MATRICES) {
        g_TC *v = &acc[r][(first + col) / 2];
        const u32 row = SWAP ? acc_row(of_row, 2 * q) : col + acc_col(0, 2 * q) + lane % 8;
        const u32 chunk = SWAP ? col / 8 + acc_col(0, 2 * q) / 8 : acc_row(warp * 32, 2 * q) / 8;
        const u32 to = at + swizzled(row, chunk * 16);
        u32 old[4], out[4];
        if constexpr (READS && MATRICES == 4) load_matrices(to, old);
        if constexpr (READS && MATRICES == 2) load_matrices_2(to, old);
#pragma unroll
        for (int w = 0; w < MATRICES; w++) {
            const int j = col / 2 + w * 2;
            g_TC lo = g_scaled(ops, v[w * 2]), hi = g_scaled(ops, v[w * 2 + 1]);
            lo = vectors.combined(ops, lo, (g_TD)old[w], READS, i, j);
            hi = vectors.combined(ops, hi, (g_TD)(old[w] >> 16), READS, i, j + 1);
            out[w] = pair(lo, hi);
        }
        if constexpr (MATRICES == 4)
            store_matrices(to, out[0], out[1], out[2], out[3]);
        else
            store_matrices_2(to, out[0], out[1]);
    }
}

/* Writes the 4-byte results of slice i to shared memory, or with RAW the sums. */
template <bool READS, bool RAW>
FN void write_words(g_TC (&acc)[RX][N_ACC], int i, u32 at, const g_Ops &ops, const Vectors &vectors, int thread)
{
    const int r = i / SLICES_Y, first = i % SLICES_Y * COLUMNS;
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; j++) {
        const u32 x = acc_row(thread, j), y = acc_col(thread, j);
        const u32 to = at + (SWAP ? swizzled(x, y * 4)
                                  : x / OUT_ROW * (SLICE_N * OUT_LINE) + swizzled(y, x % OUT_ROW * 4));
        g_TC v = acc[r][first / 2 + j], old;
        if (READS) from_word(load_word(to), old);
        if (!RAW) v = vectors.combined(ops, g_scaled(ops, v), (g_TD)old, READS, i, j);
        store_word(to, word_of(v));
    }
}

/* Stores element (m, n) of D, which is inside D. */
FN void store_one(g_TC sum, const Args &args, const g_Ops &ops, bool reads, int m, int n, int batch)
{
    g_OfRow of_row;
    g_OfCol of_col;
    g_TD c;
    if (FUSED) g_rows<1>(ops, m, false, &of_row), g_cols<1>(ops, n, false, &of_col);
    const g_TC v = g_scaled(ops, sum);
    if (reads) c = *c_at(args, m, n, batch);
    *d_at(args, m, n, batch) = g_from_c(g_combined(ops, v, c, reads, of_row, of_col));
}

/* Stores element by element, adjacent lanes along M: D of any alignment, and the sums of parts of K (SPLIT). */
FN void store_elements(g_TC (&acc)[RX][N_ACC], const Args &args, const g_Ops &ops, const Shared &shared,
                       const WorkTile &p, int wg, int thread)
{
    const int lane = thread % 32, warp = thread / 32;
    const bool reads = READS && !g_is_zero(args.beta);
    group_sync(1 + wg); /* the slices of the previous tile have been read */
#pragma unroll
    for (int i = 0; i < SLICES; i++) {
        const u32 at = shared.out(wg, i % BUFFERS);
        write_words<false, true>(acc, i, at, ops, Vectors(), thread);
        group_sync(1 + wg);
        const int first_m = slice_m(i, p, wg), first_n = slice_n(i, p, wg);
        for (int line = warp; line < PIECES * SLICE_N; line += 4) {
            const int m = first_m + line / SLICE_N * OUT_ROW + lane, n = first_n + line % SLICE_N;
            if (lane >= OUT_ROW || m >= (int)args.m || n >= (int)args.n) continue;
            g_TC v;
            from_word(
                load_word(at + line / SLICE_N * (SLICE_N * OUT_LINE) + swizzled(line % SLICE_N, lane * 4)),
                v);
            if constexpr (SPLIT > 1) {
                workspace_at(args, m, n, p.batch)[(u64)p.part * args.m * args.n * args.batch] = v;
            } else
                store_one(v, args, ops, reads, m, n, p.batch);
        }
    }
}
