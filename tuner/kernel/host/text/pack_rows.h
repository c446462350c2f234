
/* Packs n rows of K of a panel of `width` elements: element i is p[row[i]], or 0 where its bit of `kept` is 0; the
 * next row of K is `step` further in memory. */
static inline __attribute__((always_inline)) void g_pack_each(const g_TI *p, const int64_t *row,
    const unsigned *kept, int width, int64_t step, int64_t n, g_TC *restrict o)
{
    int whole = 1;
    for (int i = 0; i < width; i++) whole &= (int)(kept[i / g_VL] >> i % g_VL & 1);
    for (int64_t q = 0; q < n && whole; q++, p += step, o += width)
#pragma GCC unroll 32
        for (int i = 0; i < width; i++) o[i] = g_in(p[row[i]]);
    for (int64_t q = 0; q < n && !whole; q++, p += step, o += width)
        for (int i = 0; i < width; i++) o[i] = kept[i / g_VL] >> i % g_VL & 1 ? g_in(p[row[i]]) : (g_TC)0;
}

/* A zero pad along which the elements of a run lie: element q of row i is inside where start <= at[i] + q * step < edge.
 * The step is 0 or above. */
typedef struct {
    const int64_t *at, start, edge, step;
} g_Pad;

/* g_pack_each for such a run: row by row, because the elements of a row follow each other in memory. */
static inline __attribute__((always_inline)) void g_pack_runs(const g_TI *p, const int64_t *row, const unsigned *kept,
    const g_Pad *pad, int width, int64_t step, int64_t n, g_TC *restrict o)
{
    for (int i = 0; i < width; i++) {
        const int64_t before = pad->start - pad->at[i], left = pad->edge - pad->at[i], each = pad->step > 0 ? pad->step : 1;
        int64_t first = before <= 0 ? 0 : pad->step > 0 ? (before + each - 1) / each : n;
        int64_t end = left <= 0 ? 0 : pad->step > 0 ? (left + each - 1) / each : n;
        if (end > n) end = n;
        if (!(kept[i / g_VL] >> i % g_VL & 1) || first > end) first = end = 0;
        for (int64_t q = 0; q < first; q++) o[q * width + i] = (g_TC)0;
        for (int64_t q = first; q < end; q++) o[q * width + i] = g_in(p[row[i] + q * step]);
        for (int64_t q = end; q < n; q++) o[q * width + i] = (g_TC)0;
    }
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
/* Packs a vector of a panel whose elements lie in pieces, `apart` elements from one to the next. They are picked out of
 * that many vectors of memory, of which only the lanes that are needed are read. Callers give the numbers of pieces and
 * steps as constants, so that masks and addresses stay in registers. */
static inline __attribute__((always_inline)) void g_pack_pieces(const g_TI *p, const g_Taps *taps, const g_Line *line,
    int v, int pieces, int apart, int width, g_TC *restrict o)
{
    const uint64_t spread = apart == 2 ? 0x5555555555555555u : apart == 3 ? 0x9249249249249249u : 0x1111111111111111u;
#if g_SPREAD_LOADS
    const __m512i lane = g_VL == 8 ? _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)
                                   : _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i from_lane = g_VL == 8 ? _mm512_mullo_epi64(lane, _mm512_set1_epi64(apart))
                                        : _mm512_mullo_epi32(lane, _mm512_set1_epi32(apart));
    const g_Lanes second = (g_Lanes)(UINT64_MAX << (2 * g_VL + apart - 1) / apart); /* lanes of vectors 2, 3 */
#endif
    for (int64_t tap = 0; tap < taps->n; tap++) {
        const unsigned bits = taps->kept[tap * (width / g_VL) + v];
        const g_TI *from[g_PIECES];
        g_Lanes lanes[g_PIECES][g_APART];
        for (int i = 0; i < pieces; i++) {
            const unsigned its = bits & line->lanes[i];
            const uint64_t each = apart > 1 ? _pdep_u64(its, spread) : its;
            from[i] = p + taps->at[tap] + line->at[i];
            for (int x = 0; x < apart; x++) lanes[i][x] = (g_Lanes)(each >> g_VL * x & ((1u << g_VL) - 1));
        }
        for (int64_t q = 0, n = taps->rows[tap], at = 0; q < n; q++, at += taps->step, o += width) {
            g_V x = {0};
            for (int i = 0; i < pieces && apart == 1; i++) x = (g_V)g_MM(mask_loadu)(x, lanes[i][0], from[i] + at);
#if g_SPREAD_LOADS
            for (int i = 0; i < pieces && apart > 1; i++) {
                const g_TI *y = from[i] + at;
                g_V its = g_MM(permutex2var)(g_MM(maskz_loadu)(lanes[i][0], y), from_lane,
                    g_MM(maskz_loadu)(lanes[i][1], y + g_VL));
                if (apart > 2)
                    its = g_MM(mask_mov)(its, second, g_MM(permutex2var)(g_MM(maskz_loadu)(lanes[i][2], y + 2 * g_VL),
                        from_lane, g_MM(maskz_loadu)(apart > 3 ? lanes[i][g_APART - 1] : 0, y + 3 * g_VL)));
                x = g_MM(or)(x, its);
            }
#endif
            g_store(o, x);
        }
    }
}

/* Picks the numbers of pieces. */
static inline __attribute__((always_inline)) void g_pack_step(const g_TI *p, const g_Taps *taps, const g_Line *line,
    int v, int apart, int width, g_TC *restrict o)
{
    line->n == 1   ? g_pack_pieces(p, taps, line, v, 1, apart, width, o)
    : line->n == 2 ? g_pack_pieces(p, taps, line, v, 2, apart, width, o)
    : line->n == 3 ? g_pack_pieces(p, taps, line, v, 3, apart, width, o)
                   : g_pack_pieces(p, taps, line, v, g_PIECES, apart, width, o);
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
        const int step = line->step;
        if (step == 1 || (step && g_SPREAD_LOADS)) {
            step == 1   ? g_pack_step(p, taps, line, v, 1, width, o)
            : step == 2 ? g_pack_step(p, taps, line, v, 2, width, o)
            : step == 3 ? g_pack_step(p, taps, line, v, 3, width, o)
                        : g_pack_step(p, taps, line, v, g_APART, width, o);
            continue;
        }
#endif
        g_pack_apart(p, taps, row, line, v, width, o);
    }
}
