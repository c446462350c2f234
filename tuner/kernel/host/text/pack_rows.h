
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

/* The elements of K that are packed: `n` taps, tap i has rows[i] rows, of which the first one is at[i] further in
 * memory and each of the others `step` further than the one before. kept[i * vectors + v]: the elements of vector v of
 * the panel that are inside the zero padding, as bits; the others are 0. */
typedef struct {
    int64_t n, step;
    const int64_t *rows, *at;
    const unsigned *kept;
} g_Taps;

#if g_MASKED_LOADS
/* Packs a vector of a panel whose elements lie in pieces. Callers give the numbers of pieces and steps as constants, so
 * that masks and addresses stay in registers. */
static inline __attribute__((always_inline)) void g_pack_pieces(const g_TI *p, const g_Taps *taps, const g_Line *line,
    int v, int pieces, int apart, int width, g_TC *restrict o)
{
    for (int64_t tap = 0; tap < taps->n; tap++) {
        const unsigned bits = taps->kept[tap * (width / g_VL) + v];
        const g_TI *from[g_PIECES];
        g_Lanes lanes[g_PIECES], behind[g_PIECES];
        for (int i = 0; i < pieces; i++) {
            const unsigned its = bits & line->lanes[i], each = apart == 2 ? _pdep_u32(its, 0x55555555u) : its;
            from[i] = p + taps->at[tap] + line->at[i];
            lanes[i] = (g_Lanes)each;
            behind[i] = (g_Lanes)(each >> g_VL % 32);
        }
        for (int64_t q = 0, n = taps->rows[tap], at = 0; q < n; q++, at += taps->step, o += width) {
            g_V x = {0};
            for (int i = 0; i < pieces && apart == 1; i++) x = (g_V)g_MM(mask_loadu)(x, lanes[i], from[i] + at);
#if g_EVEN_LOADS
            const __m512i even = g_VL == 8 ? _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14)
                                           : _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            for (int i = 0; i < pieces && apart == 2; i++)
                x = g_MM(or)(x, g_MM(permutex2var)(g_MM(maskz_loadu)(lanes[i], from[i] + at), even,
                    g_MM(maskz_loadu)(behind[i], from[i] + at + g_VL)));
#endif
            g_store(o, x);
        }
    }
}
#endif

/* The same of elements that lie apart, and where there are no masked loads. */
static inline __attribute__((always_inline)) void g_pack_apart(const g_TI *p, const g_Taps *taps, const int64_t *row,
    const g_Line *line, int v, int width, g_TC *restrict o)
{
    const int whole = line->step == 1 && line->n == 1;
    for (int64_t tap = 0; tap < taps->n; tap++) {
        const unsigned kept = taps->kept[tap * (width / g_VL) + v];
        const g_TI *from = p + taps->at[tap];
        for (int64_t q = 0; q < taps->rows[tap]; q++, from += taps->step, o += width) {
            if (kept == (1u << g_VL) - 1) {
                if (whole) g_store(o, g_load_in(from + row[0]));
                for (int i = 0; i < g_VL && !whole; i++) o[i] = g_in(from[row[i]]);
                continue;
            }
            g_store(o, g_set(0));
            for (unsigned bits = kept; bits; bits &= bits - 1)
                o[__builtin_ctz(bits)] = g_in(from[row[__builtin_ctz(bits)]]);
        }
    }
}

/* Packs a panel of whole vectors. */
static inline __attribute__((always_inline)) void g_pack_vectors(const g_TI *p, const g_Taps *taps, const int64_t *row,
    const g_Line *line, int width, g_TC *restrict o)
{
    for (int v = 0; v < width / g_VL; v++, line++, row += g_VL, o += g_VL) {
#if g_MASKED_LOADS
        if (line->step == 1 && line->n == 1) {
            g_pack_pieces(p, taps, line, v, 1, 1, width, o);
            continue;
        }
        if (line->step == 1) {
            line->n == 2   ? g_pack_pieces(p, taps, line, v, 2, 1, width, o)
            : line->n == 3 ? g_pack_pieces(p, taps, line, v, 3, 1, width, o)
                           : g_pack_pieces(p, taps, line, v, g_PIECES, 1, width, o);
            continue;
        }
        if (line->step == 2 && g_EVEN_LOADS) {
            line->n == 1   ? g_pack_pieces(p, taps, line, v, 1, 2, width, o)
            : line->n == 2 ? g_pack_pieces(p, taps, line, v, 2, 2, width, o)
            : line->n == 3 ? g_pack_pieces(p, taps, line, v, 3, 2, width, o)
                           : g_pack_pieces(p, taps, line, v, g_PIECES, 2, width, o);
            continue;
        }
#endif
        g_pack_apart(p, taps, row, line, v, width, o);
    }
}
