/* Reads fragments of bytes where the free dimension is contiguous. ldmatrix transposes 16-bit elements only, so
   blocks of 4x4 bytes are transposed in registers. Element 4g+i of 32 along the free dimension is then element
   g of the instruction's tile i. */
template <class L, bool ROW, int WT>
struct g_ReadT {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        const int c = first + 4 * g_op_free<ROW>(lane, 0), k = g_op_k<ROW>(lane, 0);
        p = L::at(k, c);
    }
    g_FN void skip(int ks) { p += ks * 32 * L::ROWB; }
    template <int W> g_FN void load(g_u32 (*f)[W], g_u32 stage, int ks) const
    {
        g_UNROLL for (int i = 0; i < WT / 32; i++)
            g_UNROLL for (int h = 0; h < 2; h++) {
                g_u32 s[4];
                g_UNROLL for (int e = 0; e < 4; e++) {
                    const int k = ks * 32 + g_op_k<ROW>(0, (ROW ? 2 * h : h) * 4 + e);
                    g_lds1(&s[e], stage + (p ^ (i * 32)) + k * L::ROWB);
                }
                const g_u32 a = __byte_perm(s[0], s[1], 0x5140), b = __byte_perm(s[2], s[3], 0x5140);
                const g_u32 c = __byte_perm(s[0], s[1], 0x7362), d = __byte_perm(s[2], s[3], 0x7362);
                const g_u32 v[4] = {__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(c, d, 0x5410),
                                   __byte_perm(c, d, 0x7632)};
                g_UNROLL for (int e = 0; e < 4; e++) (ROW ? f[2 * i + e / 2][2 * h + e % 2] : f[4 * i + e][h]) = v[e];
            }
    }
};
