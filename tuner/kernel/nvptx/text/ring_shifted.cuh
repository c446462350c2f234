
/* Copies of 32-bit operands of any alignment in aligned pieces of 16 bytes (NvShift). A row is copied from
   the last 16-byte boundary at or before its first element, and has one extra piece at its end. Readers add
   the row's shift, the 0 to 3 elements between that boundary and its first element. The rows of a thread are
   a multiple of four apart, so that they all have the same shift. */
template <class L>
struct g_Shifted : g_Copy<L> {
    static constexpr bool SHIFTED = true, ALWAYS_ALIGNED = true;
    static constexpr int EXTRA = (L::MR + g_NT - 1) / g_NT, PIECES = L::N + EXTRA;
    static_assert(L::PASS_ROWS % 4 == 0 && L::BPE == 4 && L::CW == 16, "shifted copies");
    int shifts; /* bits 0 to 1: shift of this thread's rows; bits 2 to 3: of the row of its extra piece */
    g_FN int shift() const { return shifts & 3; }
    g_FN int extra_shift() const { return shifts >> 2; }
    long long extra; /* bytes from p to the extra piece of the row with this thread's number */
    g_FN void init(const g_T *base, g_u64 ld, int tile0, int size, int tid, g_u64 k0, int k_add)
    {
        g_Copy<L>::init(base, ld, tile0, size, tid, k0, k_add);
        const g_u64 first = (g_u64)this->p - this->col * 16;
        const g_u64 last = first + (long long)(tid - this->r) * (long long)(ld * 4);
        shifts = (int)(first >> 2 & 3 | last & 12);
        this->p -= shift() * 4;
        extra = (long long)((last & ~15ull) + L::MC * 4 - (g_u64)this->p);
    }
    g_FN g_u32 shared_offset(int i) const
    {
        return this->s0 + i / L::PASSES * (L::PASS_ROWS * L::ROWB) + i % L::PASSES * (L::PASS_COLS * 16);
    }
    /* Copies n elements of extra piece i, zeros behind them. */
    g_FN void copy_extra(g_u32 stage, int i, int n) const
    {
        const int row = (int)g_tid() + i * g_NT;
        const char *at = this->p + extra + i * (this->row_step * L::PASS_COLS);
        if (row < L::MR) g_cpz<16>(stage + row * L::ROWB + L::MC * 4, n ? at : this->p_safe, n * 4);
    }
    g_FN void copy_whole(g_u32 stage, int from, int to, const char *&q) const
    {
        g_UNROLL for (int i = from; i < to; i++) {
            if (i >= L::N) {
                copy_extra(stage, i - L::N, extra_shift());
                continue;
            }
            const int pass = i % L::PASSES;
            if (this->in_tile(i)) g_cp<16>(stage + shared_offset(i), q + pass * (L::PASS_COLS * 16));
            if (pass == L::PASSES - 1) q += this->row_step;
        }
    }
    g_FN void copy_k_tail(g_u32 stage, int k_left) const
    {
        const char *q = this->p;
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int row = i / L::PASSES * L::PASS_ROWS, pass = i % L::PASSES;
            const int k = L::K_ROWS ? this->r + row : (this->col + pass * L::PASS_COLS) * 4 - shift();
            const int n = L::K_ROWS         ? (k < k_left) * 4
                          : k_left - k < 0 ? 0
                          : k_left - k < 4 ? k_left - k
                                           : 4;
            if (!this->in_tile(i)) continue;
            g_cpz<16>(stage + shared_offset(i), n ? q + pass * (L::PASS_COLS * 16) : this->p_safe, n * 4);
            if (pass == L::PASSES - 1) q += this->row_step;
        }
        copy_extra_guarded(stage, k_left);
    }
    g_FN void copy_extra_guarded(g_u32 stage, int k_left) const
    {
        g_UNROLL for (int i = 0; i < EXTRA; i++)
            copy_extra(stage, i, valid((int)g_tid() + i * g_NT, L::MC / 4, extra_shift(), extra_shift(), k_left));
    }
    /* Returns how many elements of 16-byte piece c of a row lie inside the operand, at most `most`. */
    g_FN int valid(int row, int c, int from, int most, int k_left) const
    {
        const int n = (L::K_ROWS ? this->left : k_left) + from - c * 4;
        if (row >= (L::K_ROWS ? k_left : this->left) || n < 0) return 0;
        return n > most ? most : n;
    }
    g_FN void copy_guarded(g_u32 stage, int k_left) const
    {
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int row = this->r + i / L::PASSES * L::PASS_ROWS, c = this->col + i % L::PASSES * L::PASS_COLS;
            const int n = valid(row, c, shift(), 4, k_left);
            if (!this->in_tile(i)) continue;
            if (!(L::K_ROWS ? c * 4 < this->left + shift() : row < this->left)) continue;
            g_cpz<16>(stage + shared_offset(i), n ? this->source(i) : this->p_safe, n * 4);
        }
        copy_extra_guarded(stage, k_left);
    }
};
