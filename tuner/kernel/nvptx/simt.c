/* Thread tiles: fused multiply-adds of vectors from shared memory, in which K is the slow dimension of both
 * operands. A warp's lanes form NvLanesM rows along M; a thread has runs of 16 bytes, lanes * run apart. */
#include "kernel/nvptx/ring.h"

static const char text[] =
    "\n"
    "/* ---- multiply: fused multiply-adds on thread tiles, in runs of 16 bytes ---- */\n"
    "\n"
    "constexpr int @VE = 16 / sizeof(@T);\n"
    "constexpr int @W0 = @WG0 / @LM, @LN = 32 / @LM, @W1 = @WG1 / @LN;\n"
    "constexpr int @KS = @DU / @LSU, @N_RUN = @TT0 * @TT1 / @VE, @RUN = @VE;\n"
    "struct @Frag {\n"
    "    @T a[@TT0], b[@TT1];\n"
    "};\n"
    "struct @Acc {\n"
    "    @TC v[@TT0 * @TT1];\n"
    "    int m, n;\n"
    "    @u32 a, b;\n"
    "    @FN void init(int tid)\n"
    "    {\n"
    "        const int lane = tid & 31, wave = tid >> 5;\n"
    "        m = (wave % @W0 * @LM * @TT0) + lane % @LM * @VE;\n"
    "        n = (wave / @W0 % @W1 * @LN * @TT1) + lane / @LM * @VE;\n"
    "        a = m * sizeof(@T), b = n * sizeof(@T);\n"
    "        /* of LSU neighbours along K, each part of the work-group takes one */\n"
    "        if (@LSU > 1) a += wave / (@W0 * @W1) * @LA::ROWB, b += wave / (@W0 * @W1) * @LB::ROWB;\n"
    "        @UNROLL for (int i = 0; i < @TT0 * @TT1; i++) v[i] = @zero();\n"
    "    }\n"
    "    template <class L, int N> @FN void read(@T *f, @u32 at, int lanes, int ks) const\n"
    "    {\n"
    "        const int turn = L::TURN ? L::turn(ks * @LSU) : 0;\n"
    "        @UNROLL for (int i = 0; i < N / @VE; i++) {\n"
    "            @T u[@VE];\n"
    "            @lds4((@u32 *)u, at + ks * @LSU * L::ROWB + i * lanes * 16);\n"
    "            @UNROLL for (int e = 0; e < @VE; e++) f[i * @VE + (e ^ turn)] = u[e];\n"
    "        }\n"
    "    }\n"
    "    @FN void load(@Frag &f, @u32 sa, @u32 sb, int ks) const\n"
    "    {\n"
    "        read<@LA, @TT0>(f.a, sa + a, @LM, ks);\n"
    "        read<@LB, @TT1>(f.b, sb + b, @LN, ks);\n"
    "    }\n"
    "    @FN void mac(const @Frag &f)\n"
    "    {\n"
    "        @UNROLL for (int j = 0; j < @TT1; j++)\n"
    "            @UNROLL for (int ii = 0; ii < @TT0; ii++) {\n"
    "                const int i = j & 1 ? @TT0 - 1 - ii : ii;\n"
    "                v[j * @TT0 + i] = @madd(@take_a(f.a[i]), @take_b(f.b[j]), v[j * @TT0 + i]);\n"
    "            }\n"
    "    }\n"
    "    static constexpr int PER = @TT0 / @VE;\n"
    "    @FN int row(int r) const { return m + r % PER * @LM * @VE; }\n"
    "    @FN int col(int r) const\n"
    "    {\n"
    "        const int j = r / PER;\n"
    "        return n + j / @VE * @LN * @VE + j % @VE;\n"
    "    }\n"
    "    @FN @TC get(int r, int e) const { return v[r / PER * @TT0 + r % PER * @VE + e]; }\n"
    "    /* parts of the tile that go through shared memory together: rows of it, and their columns of D */\n"
    "    static constexpr int PARTS = @TT1 / @VE;\n"
    "    @FN int part(int r) const { return r / PER / @VE; }\n"
    "    @FN int slot(int r) const\n"
    "    {\n"
    "        return n / (@LN * @TT1) * (@LN * @VE) + n % (@LN * @TT1) + r / PER % @VE;\n"
    "    }\n"
    "    static @FN int column(int part, int slot)\n"
    "    {\n"
    "        return slot / (@LN * @VE) * (@LN * @TT1) + part * (@LN * @VE) + slot % (@LN * @VE);\n"
    "    }\n"
    "};\n";

void ring_simt_emit(const GpuPlan *p, Buf *out)
{
    for (int i = 0; i < 2; i++)
        if (p->in.parts == 2)
            buf_printf(out, "@DEV @TC @take_%c(@T x) { const @TC y = {x.re, %sx.im}; return y; }\n",
                       p->op[i].name, p->op[i].conj ? "-" : "");
        else
            buf_printf(out, "@DEV @TC @take_%c(@T x) { return x; }\n", p->op[i].name);
    buf_puts(out, text);
}
