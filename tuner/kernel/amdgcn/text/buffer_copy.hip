
/* ---- copy: buffer loads, registers, local memory ---- */

/* The loads that one thread makes of one operand.
 *     TLU_         the free dimension is contiguous in memory; otherwise K is
 *     WIDTH_       elements of a load, BYTES_ bytes each
 *     N_ OFFSETS_  loads; vector offsets, of which there are fewer where loads differ by scalar offsets or immediates
 *     LINES_       lines that a stage covers, for the limit of the stride
 *     SETS_        register sets; POLICY_: cache policy operand of the buffer loads
 * base, bytes: of the descriptor; ld: bytes between lines; off: offsets of the loads; lds: where the first one is
 * written in local memory; along, across: its first element. */
template <bool TLU_, int BYTES_, int WIDTH_, int N_, int OFFSETS_, int LINES_, int SETS_, int POLICY_> struct g_CopyOf {
    static constexpr bool TLU = TLU_;
    static constexpr int BYTES = BYTES_, WIDTH = WIDTH_, N = N_, WORDS = (WIDTH * BYTES + 3) / 4;
    static constexpr int SETS = SETS_, POLICY = POLICY_;
    static constexpr unsigned STRIDE_MOST = 0x7fff0000 / BYTES / LINES_;
    const char *base;
    unsigned long long bytes;
    unsigned off[OFFSETS_], ld, lds, along, across;
    int data[SETS][N][WORDS];
};

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

/* Fp16AltImpl: converts the loaded f16 elements to bf16. */
template <typename C> g_DEV void g_copy_to_bf16(C &c, int set)
{
    g_UNROLL for (int j = 0; j < C::N; j++)
        g_UNROLL for (int w = 0; w < C::WORDS; w++) c.data[set][j][w] = g_to_bf16x2(c.data[set][j][w]);
}

/* Returns whether the fast loads cannot be used: offsets would exceed 2 GiB, or M or N is less than a vector. */
template <typename C> g_DEV int g_copy_is_slow(const C *, unsigned long long ld, unsigned rows)
{
    return ld > C::STRIDE_MOST || (C::TLU && rows < C::WIDTH);
}
