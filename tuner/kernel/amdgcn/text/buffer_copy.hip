
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

