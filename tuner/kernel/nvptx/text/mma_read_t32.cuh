/* Reads fragments of 32-bit elements by plain loads where the free dimension is contiguous. */
template <class L, bool ROW, int WT>
struct g_ReadT {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        const int g = g_op_free<ROW>(lane, 0), t = g_op_k<ROW>(lane, 0);
        p = L::at(t, (first + g) * 4);
    }
    g_FN void skip(int ks) { p += ks * 8 * L::ROWB; }
    template <int W> g_FN void load(g_u32 (*f)[W], g_u32 stage, int ks) const
    {
        g_UNROLL for (int i = 0; i < WT / 8; i++) {
            /* the swizzle only changes bits 5 and 6 of an offset */
            const g_u32 at = stage + (p ^ (i * 32 & 96)) + (i * 32 & ~96) + ks * 8 * L::ROWB;
            g_u32 *to = ROW ? &f[i / 2][i % 2] : f[i];
            g_lds1(to, at);
            g_lds1(to + (ROW ? 2 : 1), at + g_op_k<ROW>(0, ROW ? 2 : 1) * L::ROWB);
        }
    }
};
