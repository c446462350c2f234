/* Fragments of small elements that lie across K in local memory: the elements of an instruction's operand are packed
 * behind the reads. */
template <bool K_MAJOR_, bool CONJUGATE_, int TILES, int VEC_, int KS, int RUN_, int ALIGN>
struct g_FragmentsAcross : g_FragmentsOf<K_MAJOR_, CONJUGATE_, TILES, VEC_, KS, RUN_, ALIGN> {
};
template <int N> struct g_Elements {
    g_T x[N];
};
template <typename O, int KPL, bool COMPLEX, bool K_MAJOR, bool CONJUGATE, int TILES, int VEC, int KS, int RUN, int ALIGN>
g_DEV O g_operand(const g_FragmentsAcross<K_MAJOR, CONJUGATE, TILES, VEC, KS, RUN, ALIGN> &f, int t, int e, int)
{
    g_Elements<KPL> o;
    g_UNROLL for (int k = 0; k < KPL; k++) o.x[k] = g_element(f, t, e * KPL + k);
    return __builtin_bit_cast(O, o);
}

