/* Packs n rows of K of a panel of `width` elements: element i is p[row[i]], or 0 where its bit of `kept` is 0; the
 * next row of K is `step` further in memory. */
static inline __attribute__((always_inline)) void g_pack_each(const g_TI *p, const int64_t *row,
    const unsigned *kept, int width, int64_t step, int64_t n, g_TC *restrict o)
{
    int whole = 1;
    for (int i = 0; i < width; i++) whole &= (int)(kept[i / g_VL] >> i % g_VL & 1);
    for (int64_t q = 0; q < n && whole; q++, p += step, o += width)
        for (int i = 0; i < width; i++) o[i] = g_in(p[row[i]]);
    for (int64_t q = 0; q < n && !whole; q++, p += step, o += width)
        for (int i = 0; i < width; i++) o[i] = kept[i / g_VL] >> i % g_VL & 1 ? g_in(p[row[i]]) : (g_TC)0;
}

#if g_MASKED_LOADS
/* Elements of which those with a bit are read, each `step` behind the one before; the others are 0. */
static inline g_V g_load_bits(const g_TI *p, int step, unsigned bits)
{
#if g_EVEN_LOADS
    if (step == 2) {
        const unsigned each = _pdep_u32(bits, 0x55555555u), all = (1u << g_VL) - 1;
        const __m512i even = g_VL == 8 ? _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14)
                                       : _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        return (g_V)g_MM(permutex2var)(g_MM(maskz_loadu)((g_Lanes)(each & all), p), even,
            g_MM(maskz_loadu)((g_Lanes)(each >> g_VL & all), p + g_VL));
    }
#endif
    return (g_V)g_MM(maskz_loadu)((g_Lanes)bits, p);
}
#endif

/* g_VL elements that lie in pieces. */
static inline void g_pack_line(const g_TI *p, const int64_t *row, const g_Line *line, unsigned bits, g_TC *restrict o)
{
#if g_MASKED_LOADS
    if (line->step == 1 || g_EVEN_LOADS) {
        g_V v = g_load_bits(p + row[0], line->step, line->n > 1 ? bits & ((1u << line->first[1]) - 1) : bits);
        for (int i = 1; i < line->n; i++) {
            const int first = line->first[i], end = i + 1 < line->n ? line->first[i + 1] : g_VL;
            v += g_load_bits(p + row[first] - first * line->step, line->step,
                bits & ((1u << end) - 1) & ~((1u << first) - 1));
        }
        g_store(o, v);
        return;
    }
#endif
    g_store(o, g_set(0));
    for (; bits; bits &= bits - 1) o[__builtin_ctz(bits)] = g_in(p[row[__builtin_ctz(bits)]]);
}

/* The same of elements that lie apart. */
static inline void g_pack_apart(const g_TI *p, const int64_t *row, unsigned bits, g_TC *restrict o)
{
    if (bits == (1u << g_VL) - 1) {
        for (int i = 0; i < g_VL; i++) o[i] = g_in(p[row[i]]);
        return;
    }
    g_store(o, g_set(0));
    for (; bits; bits &= bits - 1) o[__builtin_ctz(bits)] = g_in(p[row[__builtin_ctz(bits)]]);
}

/* g_pack_each for panels of whole vectors. */
static inline __attribute__((always_inline)) void g_pack_vectors(const g_TI *p, const int64_t *row,
    const g_Line *line, const unsigned *kept, int width, int64_t step, int64_t n, g_TC *restrict o)
{
    const unsigned all = (1u << g_VL) - 1;
    int whole = 1;
    for (int v = 0; v < width / g_VL; v++) whole &= (line[v].step == 1) & (line[v].n == 1) & (kept[v] == all);
    for (int64_t q = 0; q < n && whole; q++, p += step, o += width)
        for (int v = 0; v < width; v += g_VL) g_store(o + v, g_load_in(p + row[v]));
    for (int v = 0; v < width && !whole; v += g_VL) {
        const unsigned bits = kept[v / g_VL];
        const g_Line its = line[v / g_VL];
        const g_TI *from = p;
        g_TC *to = o + v;
        if (!bits)
            for (int64_t q = 0; q < n; q++, to += width) g_store(to, g_set(0));
        else if (!its.step)
            for (int64_t q = 0; q < n; q++, to += width, from += step) g_pack_apart(from, row + v, bits, to);
        else if (its.step == 1 && its.n == 1 && bits == all)
            for (int64_t q = 0; q < n; q++, to += width, from += step) g_store(to, g_load_in(from + row[v]));
        else
            for (int64_t q = 0; q < n; q++, to += width, from += step) g_pack_line(from, row + v, &its, bits, to);
    }
}
