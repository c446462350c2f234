/* Reads fragments of 32-bit elements from tiles of NvShift (ring_copy.c). shift() adds the 0 to 3 elements
   between the 16-byte boundary that a row is copied from and its first element. */
template <class L, bool ROW, int WT>
struct g_ReadS {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        const int g = g_op_free<ROW>(lane, 0), t = g_op_k<ROW>(lane, 0);
        p = L::K_ROWS ? L::at(t, (first + g) * 4) : L::at(first + g, t * 4);
    }
    g_FN void shift(const void *base, g_u64 ld, int tile0, int lane)
    {
        const g_u32 from = (g_u32)((g_u64)base >> 2) + tile0 * (L::K_ROWS ? 1 : (g_u32)ld);
        p += (from + (L::K_ROWS ? g_op_k<ROW>(lane, 0) : g_op_free<ROW>(lane, 0)) * (g_u32)ld & 3) * 4;
    }
    g_FN void skip(int ks) { p += ks * (L::K_ROWS ? 8 * L::ROWB : 32); }
    template <int W> g_FN void load(g_u32 (*f)[W], g_u32 stage, int ks) const
    {
        const g_u32 at = stage + p + ks * (L::K_ROWS ? 8 * L::ROWB : 32);
        g_UNROLL for (int i = 0; i < WT / 8; i++) {
            g_u32 *to = ROW ? &f[i / 2][i % 2] : f[i];
            g_lds1(to, at + i * (L::K_ROWS ? 32 : 8 * L::ROWB));
            g_lds1(to + (ROW ? 2 : 1), at + i * (L::K_ROWS ? 32 : 8 * L::ROWB) +
                                          g_op_k<ROW>(0, ROW ? 2 : 1) * (L::K_ROWS ? L::ROWB : 4));
        }
    }
};
