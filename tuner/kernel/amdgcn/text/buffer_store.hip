
/* Stores one element or vector through a raw buffer, which drops accesses past its end. */
template <typename V> g_DEV void g_store_raw(V x, g_w4 d, unsigned at)
{
    if constexpr (sizeof(V) == 1)
        g_raw_store1(__builtin_bit_cast(unsigned char, x), d, (int)at, 0, g_STORE_POLICY_D);
    else if constexpr (sizeof(V) == 2)
        g_raw_store2(__builtin_bit_cast(unsigned short, x), d, (int)at, 0, g_STORE_POLICY_D);
    else if constexpr (sizeof(V) == 4)
        g_raw_store4(__builtin_bit_cast(int, x), d, (int)at, 0, g_STORE_POLICY_D);
    else if constexpr (sizeof(V) == 8)
        g_raw_store8(__builtin_bit_cast(g_w2, x), d, (int)at, 0, g_STORE_POLICY_D);
    else
        g_raw_store16(__builtin_bit_cast(g_w4, x), d, (int)at, 0, g_STORE_POLICY_D);
}

template <typename V> g_DEV V g_load_raw(g_w4 c, unsigned at)
{
    if constexpr (sizeof(V) == 1)
        return __builtin_bit_cast(V, g_raw_load1(c, (int)at, 0, g_STORE_POLICY_C));
    else if constexpr (sizeof(V) == 2)
        return __builtin_bit_cast(V, g_raw_load2(c, (int)at, 0, g_STORE_POLICY_C));
    else if constexpr (sizeof(V) == 4)
        return __builtin_bit_cast(V, g_raw_load4(c, (int)at, 0, g_STORE_POLICY_C));
    else if constexpr (sizeof(V) == 8)
        return __builtin_bit_cast(V, g_raw_load8(c, (int)at, 0, g_STORE_POLICY_C));
    else
        return __builtin_bit_cast(V, g_raw_load16(c, (int)at, 0, g_STORE_POLICY_C));
}

/* Sets or gets element q of a vector; a complex element is two parts of it. */
template <typename V, typename E> g_DEV void g_set_element(V &v, int q, E e)
{
    if constexpr (g_STORE_PARTS == 2)
        v[2 * q] = e.re, v[2 * q + 1] = e.im;
    else
        v[q] = e;
}
template <typename E, typename V> g_DEV E g_get_element(const V &v, int q)
{
    if constexpr (g_STORE_PARTS == 2) {
        const E e = {v[2 * q], v[2 * q + 1]};
        return e;
    } else
        return v[q];
}

/* Returns a raw buffer of C or D from row t.m0 and column n0 to its last element, at most 2 GiB. used: false makes
 * it empty, so that loads return 0. */
template <int OF_C>
g_DEV g_w4 g_out_buffer(const g_TD *x, unsigned long long ld, const g_Tile &t, unsigned n0, bool used)
{
    const unsigned long long to_end = g_out_at<OF_C>(t.n - 1 - n0, t.m - t.m0, ld);
    const unsigned long long bytes = to_end * sizeof(g_TD);
    const unsigned seen = bytes < 0x7fffffffull ? (unsigned)bytes : 0x7fffffffu;
    return g_descriptor((const char *)(x + g_out_at<OF_C>(n0, t.m0, ld)), g_uniform(used ? seen : 0));
}

/* Hides a value from the compiler, so that it does not move what is computed from it out of the loop over
 * columns, where it would need a register for each accumulator. */
template <typename V> g_DEV V g_opaque(V x)
{
    unsigned w[(sizeof(V) + 3) / 4] = {};
    __builtin_memcpy(w, &x, sizeof x);
    g_UNROLL for (unsigned i = 0; i < sizeof w / 4; i++) asm volatile("" : "+v"(w[i]) :: "memory");
    __builtin_memcpy(&x, w, sizeof x);
    return x;
}

/* The values that all batches use. They are uniform across the work-group except `first`, the number of the first
 * accumulator of this LocalSplitU part. n0, wide: first column that the buffers reach, and number of columns. */
struct g_Store {
    g_w4 d, c;
    unsigned ldd, ldc, n0, wide;
    int first;
    g_Ops ops;
    unsigned m0, n0_of_tile; /* first row and column of the tile; only with fused operations */
};

/* Returns the number of accumulator i among those of all LocalSplitU parts. */
g_DEV int g_number(const g_Store &s, int i)
{
    if constexpr (g_STORE_SHARED)
        return s.first + i;
    else
        return i;
}

/* Ends a batch with a scheduling fence, so that the next batch's products do not occupy registers while this one's
 * accumulators are live. Kernels whose accumulators fill the register file have no fence: LLVM needs the freedom
 * to begin with any of them. */
g_DEV void g_batch_end()
{
    if constexpr (g_STORE_IN_ORDER) g_keep_order();
}

/* Stores the vectors of group `group` of a tile inside D, batch by batch. with_c: beta is not 0. The loads of C of a
 * batch all precede its stores of D, because the compiler does not move loads across stores. Batches are a loop,
 * because its body is optimized once and then unrolled. Groups are instances with constants: LLVM fully unrolls a loop
 * of at most 16,384 instructions (-pragma-unroll-threshold), and would index the accumulators of a longer one in
 * scratch memory. */
template <bool with_c, int group> g_DEV void g_inside(const g_Store &s, g_Acc &acc, unsigned tid)
{
    constexpr int until = (group + 1) * g_STORE_GROUP < g_STORE_N ? (group + 1) * g_STORE_GROUP : g_STORE_N;
    g_UNROLL for (int b = group * g_STORE_GROUP; b < until; b += g_STORE_BATCH) {
        const int end = b + g_STORE_BATCH < until ? b + g_STORE_BATCH : until;
        const unsigned id = g_opaque(tid);
        g_acc_pin_batch(acc, b, end);
        g_StoreV old[g_STORE_BATCH / g_STORE_WIDTH];
        if constexpr (with_c)
            g_UNROLL for (int i = b; i < end; i += g_STORE_WIDTH) {
                const int n = g_number(s, i);
                old[(i - b) / g_STORE_WIDTH] =
                    g_load_raw<g_StoreV>(s.c, g_OUT_BYTES_C(g_acc_col(id, n), g_acc_row(id, n), s.ldc));
            }
        g_UNROLL for (int i = b; i < end; i += g_STORE_WIDTH) {
            const int n = g_number(s, i);
            g_OfRow rows[g_STORE_WIDTH];
            g_OfCol of_col;
            if constexpr (g_STORE_FUSED) {
                const unsigned row = s.m0 + g_acc_row(id, n);
                g_rows<g_STORE_WIDTH>(s.ops, row, g_rows_whole<g_STORE_WIDTH>(s.ops, row, g_STORE_WIDTH), rows);
                g_cols<1>(s.ops, s.n0_of_tile + g_acc_col(id, n), true, &of_col);
            }
            g_StoreV v;
            g_UNROLL for (int q = 0; q < g_STORE_WIDTH; q++) {
                const g_TC x = g_scaled(s.ops, g_acc_get(acc, i + q));
                g_TD c = {};
                if constexpr (with_c) c = g_get_element<g_TD>(old[(i - b) / g_STORE_WIDTH], q);
                g_set_element(v, q, g_from_c(g_combined(s.ops, x, c, with_c, rows[q], of_col)));
            }
            g_store_raw(v, s.d, g_OUT_BYTES_D(g_acc_col(id, n), g_acc_row(id, n), s.ldd));
        }
        g_batch_end();
    }
}

/* Stores the elements of group `group` of a tile that overhangs D, or whose columns are too far apart for one
 * descriptor, batch by batch. Elements outside get an offset past the end of every buffer, so that the range check
 * drops them. When beta is 0 the buffer of C is empty, and loads from it return 0. There are no branches: with `&` and
 * values that are computed before they are selected, clang emits none that LLVM would have to remove. */
template <int group> g_DEV void g_edge(const g_Store &s, const g_Tile &t, g_Acc &acc, unsigned tid)
{
    constexpr int until = (group + 1) * g_STORE_GROUP < g_STORE_N ? (group + 1) * g_STORE_GROUP : g_STORE_N;
    constexpr unsigned outside = 0x80000000u;
    g_UNROLL for (int b = group * g_STORE_GROUP; b < until; b += g_STORE_SINGLE) {
        const int end = b + g_STORE_SINGLE < until ? b + g_STORE_SINGLE : until;
        const unsigned id = g_opaque(tid);
        g_acc_pin_batch(acc, b, end);
        unsigned at[g_STORE_SINGLE];
        g_TD old[g_STORE_SINGLE];
        g_UNROLL for (int i = b; i < end; i++) {
            const unsigned row = g_edge_row(t, g_acc_row(id, g_number(s, i)));
            const unsigned col = g_edge_col(t, g_acc_col(id, g_number(s, i))) - s.n0;
            const bool in = (row != ~0u) & (col < s.wide);
            const unsigned to = g_OUT_BYTES_D(col, row - t.m0, s.ldd);
            at[i - b] = in ? to : outside;
            if constexpr (g_STORE_READS_C) {
                const unsigned from = g_OUT_BYTES_C(col, row - t.m0, s.ldc);
                old[i - b] = g_load_raw<g_TD>(s.c, in ? from : outside);
            }
        }
        g_UNROLL for (int i = b; i < end; i++) {
            const g_TC x = g_scaled(s.ops, g_acc_get(acc, i));
            g_OfRow of_row;
            g_OfCol of_col;
            if constexpr (g_STORE_FUSED) {
                g_rows<1>(s.ops, g_edge_row(t, g_acc_row(id, g_number(s, i))), false, &of_row);
                g_cols<1>(s.ops, g_edge_col(t, g_acc_col(id, g_number(s, i))), false, &of_col);
            }
            g_TD c = {};
            if constexpr (g_STORE_READS_C) c = old[i - b];
            const bool with_c = g_STORE_READS_C && (!g_STORE_SCALES_C || !g_is_zero(s.ops.beta));
            g_store_raw(g_from_c(g_combined(s.ops, x, c, with_c, of_row, of_col)), s.d, at[i - b]);
        }
        g_batch_end();
    }
}

template <typename N, N... group> struct g_Groups {};
typedef __make_integer_seq<g_Groups, int, (g_STORE_N + g_STORE_GROUP - 1) / g_STORE_GROUP> g_AllGroups;
template <bool with_c, int... group>
g_DEV void g_all_inside(g_Groups<int, group...>, const g_Store &s, g_Acc &acc, unsigned tid)
{
    (g_inside<with_c, group>(s, acc, tid), ...);
}
template <int... group>
g_DEV void g_all_edge(g_Groups<int, group...>, const g_Store &s, const g_Tile &t, g_Acc &acc, unsigned tid)
{
    (g_edge<group>(s, t, acc, tid), ...);
}

template <typename O> g_DEV void g_store_inside(g_Store &s, const g_Tile &t, const O &o, g_Acc &acc, unsigned tid)
{
    s.d = g_out_buffer<0>(o.d, o.ldd, t, t.n0, true);
    if constexpr (g_STORE_READS_C)
        if (!g_is_zero(o.beta)) {
            s.c = g_out_buffer<1>(o.c, o.ldc, t, t.n0, true);
            g_all_inside<true>(g_AllGroups{}, s, acc, tid);
            return;
        }
    g_all_inside<false>(g_AllGroups{}, s, acc, tid);
}

/* near: all columns of a tile are within 2 GiB; otherwise the descriptor moves from column to column. */
template <typename O>
g_DEV void g_store_edge(g_Store &s, const g_Tile &t, const O &o, g_Acc &acc, unsigned tid, bool near)
{
    s.wide = near ? g_STORE_COLUMNS : 1;
    const unsigned end = t.n - t.n0 < g_STORE_COLUMNS ? t.n : t.n0 + g_STORE_COLUMNS;
    g_NOUNROLL for (s.n0 = t.n0; s.n0 < end; s.n0 += s.wide) {
        s.d = g_out_buffer<0>(o.d, o.ldd, t, s.n0, true);
        if constexpr (g_STORE_READS_C) s.c = g_out_buffer<1>(o.c, o.ldc, t, s.n0, !g_is_zero(o.beta));
        if constexpr (g_STORE_SCALES) s.ops.alpha = g_opaque(o.alpha);
        g_all_edge(g_AllGroups{}, s, t, acc, tid);
    }
}

template <typename O> g_DEV void g_finish(const g_Tile &t, const O &o, g_Acc &acc, unsigned tid)
{
    constexpr unsigned reach = 0x7fff0000 / (unsigned)sizeof(g_TD) / g_STORE_COLUMNS;
    if constexpr (g_STORE_LSU > 1 && !g_STORE_SHARED)
        if (tid >= g_STORE_THREADS) return;
    g_Store s;
    if constexpr (g_STORE_SHARED) s.first = (int)(tid / g_STORE_THREADS * g_STORE_N);
    s.ops = o;
    if constexpr (g_STORE_FUSED) s.m0 = t.m0, s.n0_of_tile = t.n0;
    bool near = o.ldd <= reach;
    s.ldd = (unsigned)o.ldd * (unsigned)sizeof(g_TD);
    if constexpr (g_STORE_READS_C) {
        near = near && o.ldc <= reach;
        s.ldc = (unsigned)o.ldc * (unsigned)sizeof(g_TD);
    }
    if (near && t.m0 + g_STORE_ROWS <= t.m && t.n0 + g_STORE_COLUMNS <= t.n)
        g_store_inside(s, t, o, acc, tid);
    else
        g_store_edge(s, t, o, acc, tid, near);
}

