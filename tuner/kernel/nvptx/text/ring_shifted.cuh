
/* The same of 32-bit operands: rows are copied from the 16 bytes that they begin in, and have 16
   bytes more; readers add how far a row is off (0 to 3 elements). Rows of a thread are a multiple of
   four apart, and so are off alike. */
template <class L>
struct g_Shifted : g_Copy<L> {
    static constexpr bool SHIFTED = true, NATURAL = true;
    static constexpr int EXTRA = (L::MR + g_NT - 1) / g_NT, PIECES = L::N + EXTRA;
    static_assert(L::RS % 4 == 0 && L::BPE == 4 && L::CW == 16, "shifted copies");
    int offs; /* by how much its rows are off; 4 times that of the extra row */
    g_FN int off() const { return offs & 3; }
    g_FN int extra_off() const { return offs >> 2; }
    long long extra; /* from p to the last 16 bytes of the row that has this thread's number */
    g_FN void init(const g_T *base, g_u64 ld, int tile0, int size, int tid, g_u64 k0, int k_add)
    {
        g_Copy<L>::init(base, ld, tile0, size, tid, k0, k_add);
        const g_u64 first = (g_u64)this->p - this->col * 16;
        const g_u64 last = first + (long long)(tid - this->r) * (long long)(ld * 4);
        offs = (int)(first >> 2 & 3 | last & 12);
        this->p -= off() * 4;
        extra = (long long)((last & ~15ull) + L::MC * 4 - (g_u64)this->p);
    }
    g_FN g_u32 place(int i) const
    {
        return this->s0 + i / L::PASSES * (L::RS * L::ROWB) + i % L::PASSES * (L::ALONG * 16);
    }
    g_FN void last(g_u32 stage, int i, int n) const
    {
        const int row = (int)g_tid() + i * g_NT;
        const char *at = this->p + extra + i * (this->row_step * L::ALONG);
        if (row < L::MR) g_cpz<16>(stage + row * L::ROWB + L::MC * 4, n ? at : this->p_safe, n * 4);
    }
    g_FN void fast(g_u32 stage, int from, int to, const char *&q) const
    {
        g_UNROLL for (int i = from; i < to; i++) {
            if (i >= L::N) {
                last(stage, i - L::N, extra_off());
                continue;
            }
            const int pass = i % L::PASSES;
            if (this->has(i)) g_cp<16>(stage + place(i), q + pass * (L::ALONG * 16));
            if (pass == L::PASSES - 1) q += this->row_step;
        }
    }
    g_FN void tail(g_u32 stage, int k_left) const
    {
        const char *q = this->p;
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int row = i / L::PASSES * L::RS, pass = i % L::PASSES;
            const int k = L::K_ROWS ? this->r + row : (this->col + pass * L::ALONG) * 4 - off();
            const int n = L::K_ROWS         ? (k < k_left) * 4
                          : k_left - k < 0 ? 0
                          : k_left - k < 4 ? k_left - k
                                           : 4;
            if (!this->has(i)) continue;
            g_cpz<16>(stage + place(i), n ? q + pass * (L::ALONG * 16) : this->p_safe, n * 4);
            if (pass == L::PASSES - 1) q += this->row_step;
        }
        rest(stage, k_left);
    }
    g_FN void rest(g_u32 stage, int k_left) const
    {
        g_UNROLL for (int i = 0; i < EXTRA; i++)
            last(stage, i, there((int)g_tid() + i * g_NT, L::MC / 4, extra_off(), extra_off(), k_left));
    }
    /* elements of chunk c of a row that are there */
    g_FN int there(int row, int c, int from, int most, int k_left) const
    {
        const int n = (L::K_ROWS ? this->left : k_left) + from - c * 4;
        if (row >= (L::K_ROWS ? k_left : this->left) || n < 0) return 0;
        return n > most ? most : n;
    }
    g_FN void guarded(g_u32 stage, int k_left) const
    {
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int row = this->r + i / L::PASSES * L::RS, c = this->col + i % L::PASSES * L::ALONG;
            const int n = there(row, c, off(), 4, k_left);
            if (!this->has(i)) continue;
            if (!(L::K_ROWS ? c * 4 < this->left + off() : row < this->left)) continue;
            g_cpz<16>(stage + place(i), n ? this->source(i) : this->p_safe, n * 4);
        }
        rest(stage, k_left);
    }
};
