
/* ---- copy: buffer loads, registers, local memory ---- */

/* The loads that one thread makes of one operand.
 *     TLU_         the free dimension is contiguous in memory; otherwise K is
 *     WIDTH_       elements of a load, BYTES_ bytes each
 *     NLC_ NLP_    loads of a thread along the contiguous dimension and across it (across: from line to line)
 *     LSC_ LSP_    distance in elements or lines between them; RUN_ consecutive lines belong to one thread
 *     LIMITED_     lines past M or N are clamped to the last one, so that each load across has its own offset;
 *                  otherwise the range check of the buffer drops them
 *     LINES_       lines that a stage covers, for the limit of the stride
 *     SETS_        register sets; POLICY_: cache policy operand of the buffer loads */
template <bool TLU_, bool LIMITED_, int BYTES_, int WIDTH_, int NLC_, int NLP_, int LSC_, int LSP_, int RUN_, int LINES_,
          int SETS_, int POLICY_>
struct g_CopyOf {
    static constexpr bool TLU = TLU_, LIMITED = LIMITED_ && !TLU_;
    static constexpr int BYTES = BYTES_, WIDTH = WIDTH_, NLC = NLC_, NLP = NLP_, LSC = LSC_, LSP = LSP_, RUN = RUN_;
    static constexpr int N = NLC * NLP, WORDS = (WIDTH * BYTES + 3) / 4, SETS = SETS_, POLICY = POLICY_;
    static constexpr int OFFSETS = TLU ? NLC : LIMITED ? NLP : 1;
    static constexpr unsigned STRIDE_MOST = 0x7fff0000 / BYTES / LINES_;
    const char *base;
    unsigned long long bytes;
    unsigned off[OFFSETS], ld, lds, along, across;
    int data[SETS][N][WORDS];
};

/* Sets the base of the descriptor and the offsets of the loads. The first load of the thread begins at element
 * `along` of line `across`. rows: M or N; row0: the tile's first row. */
template <typename C>
g_DEV void g_copy_start(C &c, const char *first, unsigned long long ld, unsigned rows, unsigned row0, unsigned k,
                        unsigned along, unsigned across)
{
    const unsigned last = rows - C::WIDTH, from = row0 < last ? row0 : last;
    const unsigned long long at = C::TLU ? from : row0 * ld;
    const unsigned long long end = C::TLU ? (k - 1) * ld + rows : (rows - 1) * ld + k;
    c.base = (const char *)g_uniform64((unsigned long long)(first + at * C::BYTES));
    c.bytes = g_uniform64((end - at) * C::BYTES);
    c.ld = (unsigned)ld * C::BYTES;
    g_UNROLL for (int i = 0; i < C::OFFSETS; i++) {
        if constexpr (C::TLU) {
            const unsigned free = row0 + along + i * C::LSC;
            c.off[i] = ((free < last ? free : last) - from) * C::BYTES + across * c.ld;
        } else if constexpr (C::LIMITED) {
            const unsigned free = across + i * C::LSP, most = rows - 1 - row0;
            c.off[i] = along * C::BYTES + (free < most ? free : most) * c.ld;
        } else
            c.off[i] = along * C::BYTES + across * c.ld;
    }
    c.along = along, c.across = across;
}

/* Loads the bytes of a vector from byte AT on, in the widest pieces. */
template <typename C, int AT> g_DEV void g_copy_load_from(g_w4 d, int *to, int offset, int scalar)
{
    constexpr int left = C::WIDTH * C::BYTES - AT;
    constexpr int n = left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    if constexpr (left > 0) {
        if constexpr (n == 16) {
            const g_w4 v = g_raw_load16(d, offset + AT, scalar, C::POLICY);
            g_UNROLL for (int e = 0; e < 4; e++) to[AT / 4 + e] = v[e];
        } else if constexpr (n == 8) {
            const g_w2 v = g_raw_load8(d, offset + AT, scalar, C::POLICY);
            g_UNROLL for (int e = 0; e < 2; e++) to[AT / 4 + e] = v[e];
        } else if constexpr (n == 4)
            to[AT / 4] = g_raw_load4(d, offset + AT, scalar, C::POLICY);
        else if constexpr (n == 2)
            to[AT / 4] = g_raw_load2(d, offset + AT, scalar, C::POLICY);
        else
            to[AT / 4] = g_raw_load1(d, offset + AT, scalar, C::POLICY);
        g_copy_load_from<C, AT + n>(d, to, offset, scalar);
    }
}

template <typename C> g_DEV void g_copy_loads(C &c, int set)
{
    const g_w4 d = g_descriptor(c.base, c.bytes);
    g_UNROLL for (int j = 0; j < C::N; j++) {
        const int column = j % C::NLC, q = j / C::NLC, line = q % C::RUN + q / C::RUN * C::RUN * C::LSP;
        const int i = C::TLU ? column : C::LIMITED ? q : 0, immediate = C::TLU ? 0 : column * C::LSC * C::BYTES;
        const int scalar = C::LIMITED ? 0 : (int)(c.ld * line);
        g_copy_load_from<C, 0>(d, c.data[set][j], (int)c.off[i] + immediate, scalar);
    }
}

/* Fp16AltImpl: converts the loaded f16 elements to bf16. */
template <typename C> g_DEV void g_copy_to_bf16(C &c, int set)
{
    g_UNROLL for (int j = 0; j < C::N; j++)
        g_UNROLL for (int w = 0; w < C::WORDS; w++) c.data[set][j][w] = g_to_bf16x2(c.data[set][j][w]);
}

/* Moves each register set to the one before it. */
template <typename C> g_DEV void g_copy_shift_sets(C &c)
{
    g_UNROLL for (int s = 0; s + 1 < C::SETS; s++)
        g_UNROLL for (int j = 0; j < C::N; j++)
            g_UNROLL for (int e = 0; e < C::WORDS; e++) c.data[s][j][e] = c.data[s + 1][j][e];
}

/* Returns whether the fast loads cannot be used: offsets would exceed 2 GiB, or M or N is less than a vector. */
template <typename C> g_DEV int g_copy_is_slow(const C *, unsigned long long ld, unsigned rows)
{
    return ld > C::STRIDE_MOST || (C::TLU && rows < C::WIDTH);
}
