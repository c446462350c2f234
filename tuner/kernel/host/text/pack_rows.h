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

/* g_VL elements that follow each other, of which those with a bit are read; the others are 0. */
static inline void g_pack_line(const g_TI *p, unsigned bits, g_TC *restrict o)
{
#if g_MASKED_LOADS
    g_store(o, (g_V)g_MM(maskz_loadu)((g_Lanes)bits, p));
#else
    g_store(o, g_set(0));
    for (; bits; bits &= bits - 1) o[__builtin_ctz(bits)] = g_in(p[__builtin_ctz(bits)]);
#endif
}

/* The same of every second element. */
static inline void g_pack_second(const g_TI *p, unsigned bits, g_TC *restrict o)
{
#if g_EVEN_LOADS
    const unsigned each = _pdep_u32(bits, 0x55555555u), all = (1u << g_VL) - 1;
    const __m512i even = g_VL == 8 ? _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14)
                                   : _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    g_store(o, (g_V)g_MM(permutex2var)(g_MM(maskz_loadu)((g_Lanes)(each & all), p), even,
                   g_MM(maskz_loadu)((g_Lanes)(each >> g_VL & all), p + g_VL)));
#else
    g_store(o, g_set(0));
    for (; bits; bits &= bits - 1) o[__builtin_ctz(bits)] = g_in(p[2 * __builtin_ctz(bits)]);
#endif
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

/* g_pack_each for panels of whole vectors. line[v]: as g_panel has it. */
static inline __attribute__((always_inline)) void g_pack_vectors(const g_TI *p, const int64_t *row,
    const int *line, const unsigned *kept, int width, int64_t step, int64_t n, g_TC *restrict o)
{
    const unsigned all = (1u << g_VL) - 1;
    int whole = 1;
    for (int v = 0; v < width / g_VL; v++) whole &= (line[v] == 1) & (kept[v] == all);
    for (int64_t q = 0; q < n && whole; q++, p += step, o += width)
        for (int v = 0; v < width; v += g_VL) g_store(o + v, g_load_in(p + row[v]));
    for (int v = 0; v < width && !whole; v += g_VL) {
        const unsigned bits = kept[v / g_VL];
        const g_TI *from = p;
        g_TC *to = o + v;
        if (!bits)
            for (int64_t q = 0; q < n; q++, to += width) g_store(to, g_set(0));
        else if (!line[v / g_VL])
            for (int64_t q = 0; q < n; q++, to += width, from += step) g_pack_apart(from, row + v, bits, to);
        else if (line[v / g_VL] == 2)
            for (int64_t q = 0; q < n; q++, to += width, from += step) g_pack_second(from + row[v], bits, to);
        else if (bits == all)
            for (int64_t q = 0; q < n; q++, to += width, from += step) g_store(to, g_load_in(from + row[v]));
        else
            for (int64_t q = 0; q < n; q++, to += width, from += step) g_pack_line(from + row[v], bits, to);
    }
}
