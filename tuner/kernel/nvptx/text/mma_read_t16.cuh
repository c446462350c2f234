/* Reads fragments of 16-bit elements by transposing ldmatrix where the free dimension is contiguous. */
template <class L, bool ROW, int WT>
struct g_ReadT {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        /* Each lane gives the address of one row of 8x8 matrix q = lane / 8. ldmatrix transposes it, so the rows
           of a matrix are 8 consecutive elements of K, from element v of lane 0 on. */
        const int q = lane >> 3, v = (ROW ? q : q & 1) * 2, k = g_op_k<ROW>(0, v) + (lane & 7);
        const int c = g_op_free<ROW>(0, v) + (ROW ? 0 : (q >> 1) * 8);
        p = L::at(k, (first + c) * 2);
    }
    g_FN void skip(int ks) { p += ks * 16 * L::ROWB; }
    template <int W> g_FN void load(g_u32 (*f)[W], g_u32 stage, int ks) const
    {
        g_UNROLL for (int i = 0; i < WT / 16; i++)
            g_ldsm_t(ROW ? f[i] : f[2 * i], stage + (p ^ (i * 32)) + ks * 16 * L::ROWB);
    }
};
