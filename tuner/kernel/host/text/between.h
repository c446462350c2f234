/* Whether the g_VL positions are in from .. below - 1, as bits. */
static inline unsigned g_between(const int64_t *at, int64_t from, int64_t below)
{
    unsigned bits = 0;
#if defined(__AVX512F__)
    if (g_VL % 8 == 0) {
        const __m512i first = _mm512_set1_epi64(from), edge = _mm512_set1_epi64(below);
        for (int i = 0; i < g_VL; i += 8) {
            const __m512i x = _mm512_loadu_si512(at + i);
            bits |= (unsigned)(_mm512_cmpge_epi64_mask(x, first) & _mm512_cmplt_epi64_mask(x, edge)) << i;
        }
        return bits;
    }
#endif
    for (int i = 0; i < g_VL; i++) bits |= (unsigned)((from <= at[i]) & (at[i] < below)) << i;
    return bits;
}
/* Returns the number of these bounds in the list of n bounds, behind which it puts new ones. */
static inline int64_t g_bounds(int64_t *from, int64_t *below, int64_t *n, int64_t its_from, int64_t its_below)
{
    int64_t i = *n - 1;
    while (i >= 0 && (from[i] != its_from || below[i] != its_below)) i--;
    if (i >= 0) return i;
    from[*n] = its_from, below[*n] = its_below;
    return (*n)++;
}
