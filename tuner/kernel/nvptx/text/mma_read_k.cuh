/* Reads fragments where K is contiguous, 32 bytes of it a step. ROW: of the instruction's row operand. */
template <class L, bool ROW, int WT>
struct g_ReadK {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        /* lane's row of matrix q: it begins with element v of the first lane that has the row */
        const int q = lane >> 3, v = (ROW ? q : q & 1) * (4 / L::BPE), at = (lane & 7) * 4;
        const int r = first + g_op_free<ROW>(at, v) + (ROW ? 0 : (q >> 1) * 8);
        p = r * L::ROWB + ((g_op_k<ROW>(at, v) * L::BPE / 16 ^ L::swz(r)) << 4);
    }
    g_FN void skip(int ks) { p ^= ks * 32; }
    template <int W> g_FN void load(g_u32 (*f)[W], g_u32 stage, int ks) const
    {
        const g_u32 at = stage + (p ^ (ks * 32));
        g_UNROLL for (int i = 0; i < WT / 16; i++) g_ldsm(ROW ? f[i] : f[2 * i], at + i * 16 * L::ROWB);
    }
};
