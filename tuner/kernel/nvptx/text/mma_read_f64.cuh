/* Reads fragments of doubles by plain loads. K or the free dimension may be contiguous in shared memory. */
template <class L, bool ROW, int WT>
struct g_ReadD {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        const int g = g_op_free<ROW>(lane, 0), t = g_op_k<ROW>(lane, 0), r = L::K_ROWS ? t : first + g, c = L::K_ROWS ? first + g : t;
        p = L::at(r, c * 8);
    }
    g_FN void skip(int ks)
    {
        const int k = ks * g_MK;
        p = L::K_ROWS ? p + k * L::ROWB : (p ^ (k * 8 & 127)) + (k * 8 & ~127);
    }
    template <int W> g_FN void load(double (*f)[W], g_u32 stage, int ks) const
    {
        g_UNROLL for (int i = 0; i < WT / 8; i++)
            g_UNROLL for (int q = 0; q < g_MK / 4; q++) {
                const int v = ROW ? 2 * q + i % 2 : q, k = ks * g_MK + g_op_k<ROW>(0, v);
                const int c = ROW ? i / 2 * 16 + g_op_free<ROW>(0, v) : i * 8;
                const g_u32 at = L::K_ROWS ? (p ^ (c * 8 & 127)) + (c * 8 & ~127) + k * L::ROWB
                                          : (p ^ (k * 8 & 127)) + (k * 8 & ~127) + c * L::ROWB;
                g_ldsd(ROW ? &f[i / 2][v] : &f[i][v], stage + at);
            }
    }
};
