/* Reads fragments where K is contiguous, 32 bytes of it a step. ROW: of the instruction's row operand. */
template <class L, bool ROW, int WT>
struct g_ReadK {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        const int q = lane >> 3, r = first + (lane & 7) + (ROW ? q & 1 : q >> 1) * 8;
        p = r * L::ROWB + (((ROW ? q >> 1 : q & 1) ^ L::swz(r)) << 4);
    }
    g_FN void skip(int ks) { p ^= ks * 32; }
    template <int W> g_FN void load(g_u32 (*f)[W], g_u32 stage, int ks) const
    {
        const g_u32 at = stage + (p ^ (ks * 32));
        g_UNROLL for (int i = 0; i < WT / 16; i++) g_ldsm(ROW ? f[i] : f[2 * i], at + i * 16 * L::ROWB);
    }
};
