/* Reads fragments by ldmatrix where K is contiguous in shared memory; a step has 32 bytes of K. ROW: for the
   first operand of mma.sync, which holds rows; otherwise for the second one. */
template <class L, bool ROW, int WT>
struct g_ReadK {
    g_u32 p;
    g_FN void init(int first, int lane)
    {
        /* ldmatrix takes the address of one row of 8x8 matrix q = lane / 8 from each lane. The row begins with
           element v of lane `at`, the first of the four lanes that receive it. */
        const int q = lane >> 3, v = (ROW ? q : q & 1) * (4 / L::BPE), at = (lane & 7) * 4;
        const int r = first + g_op_free<ROW>(at, v) + (ROW ? 0 : (q >> 1) * 8);
        p = L::at(r, g_op_k<ROW>(at, v) * L::BPE);
    }
    g_FN void skip(int ks) { p ^= ks * 32; }
    template <int W> g_FN void load(g_u32 (*f)[W], g_u32 stage, int ks) const
    {
        const g_u32 at = stage + (p ^ (ks * 32));
        g_UNROLL for (int i = 0; i < WT / 16; i++) g_ldsm(ROW ? f[i] : f[2 * i], at + i * 16 * L::ROWB);
    }
};
