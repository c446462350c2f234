
/* The same of 16-bit operands of any alignment: neighbouring threads read neighbouring elements into
   registers, a chunk ahead of the stage that they are put into as pairs. */
template <class L>
struct g_Held : g_Copy<L> {
    static constexpr bool HELD = true;
    g_u32 lo[L::N], hi[L::N], pick;
    g_FN void align(bool words) { pick = words ? 0x3210 : 0x5410; }
    g_FN void put(g_u32 stage) const
    {
        g_UNROLL for (int i = 0; i < L::N; i++) {
            const g_u32 v = __byte_perm(lo[i], hi[i], pick);
            if (this->has(i)) g_sts<4>(stage + this->place(i), &v);
        }
    }
    g_FN void get_whole()
    {
        const char *q = this->p;
        const bool words = pick == 0x3210;
        g_UNROLL for (int i = 0; i < L::N; i++) {
            const int pass = i % L::PASSES;
            const char *at = q + pass * (L::ALONG * L::CW);
            if (!this->has(i)) continue;
            if (words) lo[i] = *(const g_u32 *)at;
            else lo[i] = *(const unsigned short *)at, hi[i] = *(const unsigned short *)(at + 2);
            if (pass == L::PASSES - 1) q += this->row_step;
        }
    }
    g_FN void get(bool whole, int k_left)
    {
        if (whole) return get_whole();
        const char *q = this->p;
        const bool words = pick == 0x3210;
        g_UNROLL for (int i = 0; i < L::N; i++) {
            const int n = this->there(i, k_left), pass = i % L::PASSES;
            const char *at = q + pass * (L::ALONG * L::CW);
            g_u32 x = 0, y = 0;
            if (n > 0) x = *(const unsigned short *)at;
            if (n > 1) y = *(const unsigned short *)(at + 2);
            lo[i] = words ? x | y << 16 : x, hi[i] = y;
            if (pass == L::PASSES - 1) q += this->row_step;
        }
    }
};
