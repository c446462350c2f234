
/* The tile of one operand.
   Global memory: the tile has MR rows of MC contiguous elements. at_free() and at_k() give the distance in
   elements along the free dimension and along K. A thread copies pieces of CW bytes (CE elements). All
   threads together copy PASS_COLS adjacent pieces of PASS_ROWS rows in one pass.
   Shared memory (SHARED): a row has ROWB bytes, padding included. Without TRANSPOSED the rows are those of
   global memory, and the number of a 16-byte chunk is exclusive-or'ed with swz(row) to avoid bank conflicts.
   With TRANSPOSED the columns of global memory are the rows, and the number of an element is exclusive-or'ed
   with element_swz(row). Loops that read transposed tiles are unrolled, so that it is a constant there. */
template <bool TRANSPOSED_, int ROWB_, int GAP_, int BYTES_>
struct g_SharedTile {
    static constexpr bool TRANSPOSED = TRANSPOSED_;
    static constexpr int ROWB = ROWB_, GAP = GAP_, BYTES = BYTES_;
};
template <int MT, bool TLU, int CW_, int PASS_COLS_, int PASS_ROWS_, class SHARED>
struct g_Tile : SHARED {
    static constexpr int BPE = sizeof(g_T), MR = TLU ? g_DU : MT, MC = TLU ? MT : g_DU;
    static constexpr bool K_ROWS = TLU, TRANSPOSED = SHARED::TRANSPOSED;
    static constexpr int CW = CW_, CE = CW / BPE, NCOL = MC / CE;
    static constexpr int PASS_COLS = PASS_COLS_, PASS_ROWS = PASS_ROWS_, PASSES = NCOL / PASS_COLS;
    static constexpr int ROWS = (MR + PASS_ROWS - 1) / PASS_ROWS, N = ROWS * PASSES;
    static constexpr bool PARTLY = MR % PASS_ROWS != 0;
    static_assert(PASS_COLS * PASS_ROWS == g_NT && NCOL % PASS_COLS == 0, "copies");
    static g_FN g_u32 at(int r, int col)
    {
        if constexpr (TRANSPOSED) return col * SHARED::ROWB + (r ^ SHARED::element_swz(col)) * BPE;
        const int b = col * CW;
        return SHARED::row(r) + (((b >> 4) ^ SHARED::swz(r)) << 4) + (b & 15);
    }
};

/* The copies that one thread makes of one operand, by cp.async. */
template <class L>
struct g_Copy {
    static constexpr bool VIA_REGISTERS = false, SHIFTED = false;
    static constexpr int PIECES = L::N;
    /* A piece of one element is always aligned. */
    static constexpr bool ALWAYS_ALIGNED = L::CW == L::BPE && L::BPE < 16;
    const char *p, *p_safe;
    g_u64 row_step;
    long long k_step;
    int r, col, left;
    g_u32 s0;
    g_FN void init(const g_T *base, g_u64 ld, int tile0, int size, int tid, g_u64 k0, int k_add)
    {
        r = tid / L::PASS_COLS, col = tid % L::PASS_COLS, left = size - tile0;
        s0 = L::at(r, col), p_safe = (const char *)base;
        row_step = ld * (L::PASS_ROWS * L::BPE);
        if (L::K_ROWS) {
            p = (const char *)(base + L::at_k(k0 + r, ld) + L::at_free(tile0, ld) + L::at_free(col * L::CE, ld));
        } else {
            p = (const char *)(base + L::at_free(tile0 + r, ld) + L::at_k(k0, ld) + L::at_k(col * L::CE, ld));
        }
        k_step = (long long)L::at_k(k_add * L::BPE, ld);
    }
    g_FN g_u32 shared_offset(int i) const
    {
        const int row = i / L::PASSES, pass = i % L::PASSES;
        if constexpr (L::TRANSPOSED && L::PASSES == 1 && L::PASS_ROWS % 4 == 0)
            return s0 + row * (L::PASS_ROWS * L::BPE);
        else if constexpr (L::TRANSPOSED) return L::at(r + row * L::PASS_ROWS, col + pass * L::PASS_COLS);
        else if constexpr (L::PASSES == 1 && L::PASS_ROWS % 16 == 0) return s0 + L::row(row * L::PASS_ROWS);
        else return L::at(r + row * L::PASS_ROWS, col + pass * L::PASS_COLS);
    }
    /* Copies pieces [from, to) of a chunk that lies inside the operand. q points to the row of the next piece
       and is p at the first call. It is advanced from row to row: multiples of row_step would each need a
       register. */
    g_FN void copy_whole(g_u32 stage, int from, int to, const char *&q) const
    {
        g_UNROLL for (int i = from; i < to; i++) {
            const int pass = i % L::PASSES;
            if (in_tile(i)) g_cp<L::CW>(stage + shared_offset(i), q + pass * (L::PASS_COLS * L::CW));
            if (pass == L::PASSES - 1) q += row_step;
        }
    }
    /* Returns how many elements of piece i lie inside the operand. */
    g_FN int valid(int i, int k_left) const
    {
        const int row = r + i / L::PASSES * L::PASS_ROWS;
        int n = (L::K_ROWS ? left : k_left) - (col + i % L::PASSES * L::PASS_COLS) * L::CE;
        if (row >= (L::K_ROWS ? k_left : left) || n < 0) n = 0;
        return n > L::CE ? L::CE : n;
    }
    g_FN bool in_tile(int i) const { return !L::PARTLY || r + i / L::PASSES * L::PASS_ROWS < L::MR; }
    g_FN const char *source(int i) const
    {
        return p + (i / L::PASSES) * row_step + (g_u64)(i % L::PASSES * (L::PASS_COLS * L::CW));
    }
    /* Returns how many elements of piece i must be written to shared memory. Elements past the end of K must
       be zero. Elements past the last row or column of the operand only reach results that are not stored, so
       they may have any value. */
    g_FN int needed(int i) const
    {
        if (!in_tile(i)) return 0;
        if constexpr (!g_SHIFT_PTR && g_LSU == 1) return L::CE;
        if (!L::K_ROWS) return r + i / L::PASSES * L::PASS_ROWS < left ? L::CE : 0;
        const int n = left - (col + i % L::PASSES * L::PASS_COLS) * L::CE;
        return n > L::CE ? L::CE : n;
    }
    /* Copies an aligned chunk that has k_left elements of K and may cross the edge of the operand. The loop is
       unrolled by 4 only, to limit the registers. */
    g_FN void copy_guarded(g_u32 stage, int k_left) const
    {
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int n = valid(i, k_left);
            if (needed(i) > 0) g_cpz<L::CW>(stage + shared_offset(i), n ? source(i) : p_safe, n * L::BPE);
        }
    }
    /* Copies a chunk that has k_left elements of K when all rows and columns of the tile are inside. */
    g_FN void copy_k_tail(g_u32 stage, int k_left) const
    {
        const char *q = p;
        _Pragma("unroll 4") for (int i = 0; i < L::N; i++) {
            const int row = r + i / L::PASSES * L::PASS_ROWS, pass = i % L::PASSES;
            const int k = L::K_ROWS ? row : (col + pass * L::PASS_COLS) * L::CE;
            const int n = L::K_ROWS             ? (k < k_left) * L::CE
                          : k_left - k < 0     ? 0
                          : k_left - k < L::CE ? k_left - k
                                               : L::CE;
            if (!in_tile(i)) continue;
            g_cpz<L::CW>(stage + shared_offset(i), n ? q + pass * (L::PASS_COLS * L::CW) : p_safe, n * L::BPE);
            if (pass == L::PASSES - 1) q += row_step;
        }
    }
    /* Copies a chunk of any alignment element by element. cp.async copies at least 4 bytes (PTX ISA, cp.async),
       so elements below 4 bytes are loaded into registers and stored to shared memory. */
    g_FN void copy_elements(g_u32 stage, int k_left) const
    {
        constexpr int WORDS = L::CW / 4, PART = L::BPE > 8 ? 8 : L::BPE, BATCH = L::N % 4 ? L::N % 2 ? 1 : 2 : 4;
        g_NOUNROLL for (int from = 0; from < L::N; from += BATCH) {
            if constexpr (L::BPE < 4) {
                g_u32 w[BATCH][WORDS] = {};
                g_UNROLL for (int i = 0; i < BATCH; i++) {
                    const int n = valid(from + i, k_left);
                    const char *at = source(from + i);
                    g_UNROLL for (int e = 0; e < L::CE; e++) {
                        if (e >= n) continue;
                        const g_u32 v = L::BPE == 2 ? *(const unsigned short *)(at + e * 2)
                                                   : *(const unsigned char *)(at + e);
                        w[i][e * L::BPE / 4] |= v << (e * L::BPE % 4 * 8);
                    }
                }
                g_UNROLL for (int i = 0; i < BATCH; i++)
                    if (needed(from + i) > 0) g_sts<L::CW>(stage + shared_offset(from + i), w[i]);
            } else {
                g_UNROLL for (int i = from; i < from + BATCH; i++) {
                    const int n = valid(i, k_left), want = needed(i);
                    const char *at = source(i);
                    g_UNROLL for (int e = 0; e < L::CW / PART; e++) {
                        if (e >= want * (L::BPE / PART)) continue;
                        const bool in = e < n * (L::BPE / PART);
                        g_cpz<PART>(stage + shared_offset(i) + e * PART, in ? at + e * PART : p_safe, in ? PART : 0);
                    }
                }
            }
        }
    }
    g_FN void step(long long bytes) { p += bytes; }
    g_FN void set_aligned(bool) {}
};
