
/* An operand's tile. In memory: MR rows of MC contiguous elements, at_free() and at_k() elements from the
   first, copied in pieces of CW bytes. In
   shared memory (SHARED): the same rows, their 16-byte chunks exclusive-or'ed with bits of the row
   number (swz), or, TURNed, its columns, whose elements change places by the row (turn); turn is known
   when the text is compiled wherever they are read. A pass of all threads copies ALONG neighbouring
   pieces of RS rows. */
template <bool TURN_, int ROWB_, int GAP_, int BYTES_>
struct g_SharedTile {
    static constexpr bool TURN = TURN_;
    static constexpr int ROWB = ROWB_, GAP = GAP_, BYTES = BYTES_;
};
template <int MT, bool TLU, int CW_, int ALONG_, int RS_, class SHARED>
struct g_Tile : SHARED {
    static constexpr int BPE = sizeof(g_T), MR = TLU ? g_DU : MT, MC = TLU ? MT : g_DU;
    static constexpr bool K_ROWS = TLU, TURN = SHARED::TURN;
    static constexpr int CW = CW_, CE = CW / BPE, NCOL = MC / CE;
    static constexpr int ALONG = ALONG_, RS = RS_, PASSES = NCOL / ALONG;
    static constexpr int ROWS = (MR + RS - 1) / RS, N = ROWS * PASSES;
    static constexpr bool PARTLY = MR % RS != 0;
    static_assert(ALONG * RS == g_NT && NCOL % ALONG == 0, "copies");
    static g_FN g_u32 at(int r, int col)
    {
        if constexpr (TURN) return col * SHARED::ROWB + (r ^ SHARED::turn(col)) * BPE;
        const int b = col * CW;
        return SHARED::row(r) + (((b >> 4) ^ SHARED::swz(r)) << 4) + (b & 15);
    }
};

/* This thread's copies of one operand. */
template <class L>
struct g_Copy {
    static constexpr bool HELD = false, SHIFTED = false;
    static constexpr int PIECES = L::N;
    static constexpr bool NATURAL = L::CW == L::BPE && L::BPE < 16; /* aligned at any rate */
    const char *p, *p_safe;
    g_u64 row_step;
    long long k_step;
    int r, col, left;
    g_u32 s0;
    g_FN void init(const g_T *base, g_u64 ld, int tile0, int size, int tid, g_u64 k0, int k_add)
    {
        r = tid / L::ALONG, col = tid % L::ALONG, left = size - tile0;
        s0 = L::at(r, col), p_safe = (const char *)base;
        row_step = ld * (L::RS * L::BPE);
        if (L::K_ROWS) {
            p = (const char *)(base + L::at_k(k0 + r, ld) + L::at_free(tile0, ld) + L::at_free(col * L::CE, ld));
        } else {
            p = (const char *)(base + L::at_free(tile0 + r, ld) + L::at_k(k0, ld) + L::at_k(col * L::CE, ld));
        }
        k_step = (long long)L::at_k(k_add * L::BPE, ld);
    }
    g_FN g_u32 place(int i) const
    {
        const int row = i / L::PASSES, pass = i % L::PASSES;
        if constexpr (L::TURN && L::PASSES == 1 && L::RS % 4 == 0) return s0 + row * (L::RS * L::BPE);
        else if constexpr (L::TURN) return L::at(r + row * L::RS, col + pass * L::ALONG);
        else if constexpr (L::PASSES == 1 && L::RS % 16 == 0) return s0 + L::row(row * L::RS);
        else return L::at(r + row * L::RS, col + pass * L::ALONG);
    }
    /* pieces [from, to) of a chunk of K that lies in the operand altogether; q: of the row that is next,
       p at first. It runs along, so that no multiples of row_step take registers. */
    g_FN void fast(g_u32 stage, int from, int to, const char *&q) const
    {
        g_UNROLL for (int i = from; i < to; i++) {
            const int pass = i % L::PASSES;
            if (has(i)) g_cp<L::CW>(stage + place(i), q + pass * (L::ALONG * L::CW));
            if (pass == L::PASSES - 1) q += row_step;
        }
    }
    /* elements of piece i that are there */
    g_FN int there(int i, int k_left) const
    {
        const int row = r + i / L::PASSES * L::RS;
        int n = (L::K_ROWS ? left : k_left) - (col + i % L::PASSES * L::ALONG) * L::CE;
        if (row >= (L::K_ROWS ? k_left : left) || n < 0) n = 0;
        return n > L::CE ? L::CE : n;
    }
    g_FN bool has(int i) const { return !L::PARTLY || r + i / L::PASSES * L::RS < L::MR; }
    g_FN const char *source(int i) const
    {
        return p + (i / L::PASSES) * row_step + (g_u64)(i % L::PASSES * (L::ALONG * L::CW));
    }
    /* elements of piece i that results need: what lies behind the operand's last row or column may be
       anything, what lies behind K must be zero */
    g_FN int wanted(int i) const
    {
        if (!has(i)) return 0;
        if constexpr (!g_MOVES && g_LSU == 1) return L::CE;
        if (!L::K_ROWS) return r + i / L::PASSES * L::RS < left ? L::CE : 0;
        const int n = left - (col + i % L::PASSES * L::ALONG) * L::CE;
        return n > L::CE ? L::CE : n;
    }
    /* a chunk of which k_left elements of K are there; few pieces at a time, to take few registers */
    g_FN void guarded(g_u32 stage, int k_left) const
    {
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int n = there(i, k_left);
            if (wanted(i) > 0) g_cpz<L::CW>(stage + place(i), n ? source(i) : p_safe, n * L::BPE);
        }
    }
    /* the same where only K ends: all rows and columns of the tile are there */
    g_FN void tail(g_u32 stage, int k_left) const
    {
        const char *q = p;
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int row = r + i / L::PASSES * L::RS, pass = i % L::PASSES;
            const int k = L::K_ROWS ? row : (col + pass * L::ALONG) * L::CE;
            const int n = L::K_ROWS             ? (k < k_left) * L::CE
                          : k_left - k < 0     ? 0
                          : k_left - k < L::CE ? k_left - k
                                               : L::CE;
            if (!has(i)) continue;
            g_cpz<L::CW>(stage + place(i), n ? q + pass * (L::ALONG * L::CW) : p_safe, n * L::BPE);
            if (pass == L::PASSES - 1) q += row_step;
        }
    }
    /* the same at any alignment, element by element: elements of less than 4 bytes through registers,
       all others as copies */
    g_FN void elements(g_u32 stage, int k_left) const
    {
        constexpr int WORDS = L::CW / 4, PART = L::BPE > 8 ? 8 : L::BPE, BATCH = L::N % 4 ? L::N % 2 ? 1 : 2 : 4;
        g_NOUNROLL for (int from = 0; from < L::N; from += BATCH) {
            if constexpr (L::BPE < 4) {
                g_u32 w[BATCH][WORDS] = {};
                g_UNROLL for (int i = 0; i < BATCH; i++) {
                    const int n = there(from + i, k_left);
                    const char *at = source(from + i);
                    g_UNROLL for (int e = 0; e < L::CE; e++) {
                        if (e >= n) continue;
                        const g_u32 v = L::BPE == 2 ? *(const unsigned short *)(at + e * 2)
                                                   : *(const unsigned char *)(at + e);
                        w[i][e * L::BPE / 4] |= v << (e * L::BPE % 4 * 8);
                    }
                }
                g_UNROLL for (int i = 0; i < BATCH; i++)
                    if (wanted(from + i) > 0) g_sts<L::CW>(stage + place(from + i), w[i]);
            } else {
                g_UNROLL for (int i = from; i < from + BATCH; i++) {
                    const int n = there(i, k_left), want = wanted(i);
                    const char *at = source(i);
                    g_UNROLL for (int e = 0; e < L::CW / PART; e++) {
                        if (e >= want * (L::BPE / PART)) continue;
                        const bool in = e < n * (L::BPE / PART);
                        g_cpz<PART>(stage + place(i) + e * PART, in ? at + e * PART : p_safe, in ? PART : 0);
                    }
                }
            }
        }
    }
    g_FN void step(long long bytes) { p += bytes; }
    g_FN void align(bool) {}
};
