
/* One local memory read of a lane: N elements, consecutive along K or of interleaved tiles. */
template <int N, int ALIGN> struct __attribute__((aligned(ALIGN))) g_RunOf {
    g_T x[N];
};
/* The fragments of an operand in one step of KS elements of K. K_MAJOR: runs of RUN elements of K for each tile;
 * otherwise, for each element of K, runs of VEC interleaved tiles. */
template <bool K_MAJOR_, bool CONJUGATE_, int TILES, int VEC_, int KS, int RUN_, int ALIGN> struct g_FragmentsOf {
    static constexpr bool K_MAJOR = K_MAJOR_, CONJUGATE = CONJUGATE_;
    static constexpr int VEC = VEC_, RUN = RUN_;
    typedef g_RunOf<K_MAJOR_ ? RUN_ : VEC_, ALIGN> Run;
    Run r[K_MAJOR_ ? TILES : TILES / VEC_][K_MAJOR_ ? KS / RUN_ : KS];
};
template <typename F, int N> struct g_Runs {
    typename F::Run r[N];
};
template <typename O, int N> struct g_Operands {
    O o[N];
};

/* Returns element k of tile t. */
template <typename F> g_DEV g_T g_element(const F &f, int t, int k)
{
    if constexpr (F::K_MAJOR)
        return f.r[t][k / F::RUN].x[k % F::RUN];
    else
        return f.r[t / F::VEC][k].x[t % F::VEC];
}

/* Returns the operand of instruction e of a step, KPL elements of K. COMPLEX: part 0 is the real and part 1 the
 * imaginary part. */
template <typename O, int KPL, bool COMPLEX, typename F> g_DEV O g_operand(const F &f, int t, int e, int part)
{
    if constexpr (COMPLEX) {
        const auto x = g_element(f, t, e);
        return part ? F::CONJUGATE ? -x.im : x.im : x.re;
    } else if constexpr (KPL == 1)
        return g_element(f, t, e);
    else if constexpr (!F::K_MAJOR) {
        O o;
        g_UNROLL for (int k = 0; k < KPL; k++) o[k] = g_element(f, t, e * KPL + k);
        return o;
    } else if constexpr (KPL >= F::RUN) {
        constexpr int n = KPL / F::RUN;
        g_Runs<F, n> o;
        g_UNROLL for (int k = 0; k < n; k++) o.r[k] = f.r[t][e * n + k];
        return __builtin_bit_cast(O, o);
    } else {
        constexpr int n = F::RUN / KPL;
        return __builtin_bit_cast(g_Operands<O, n>, f.r[t][e / n]).o[e % n];
    }
}

/* Where an accumulator is: tile t0 along M, tile t1 along N, element v of the tile. */
struct g_Place {
    int t0, t1, v;
};
struct g_Acc {
    g_AccV c[g_MI_PARTS][g_MI_TILES_B][g_MI_TILES_A];
};
