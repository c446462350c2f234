
#if g_MASKED_LOADS
/* The g_VL elements p[0], p[along], .. of which the bits of kept say which are read; the others are 0. */
static inline __attribute__((always_inline)) g_V g_elements(const g_TI *p, int64_t along, unsigned kept)
{
#if g_SPREAD_LOADS
    if (along > 1) {
        const uint64_t spread = along == 2 ? 0x5555555555555555u : along == 3 ? 0x9249249249249249u : 0x1111111111111111u;
        const __m512i lane = g_VL == 8 ? _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)
                                       : _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const __m512i from = g_VL == 8 ? _mm512_mullo_epi64(lane, _mm512_set1_epi64(along))
                                       : _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)along));
        const uint64_t bits = _pdep_u64(kept, spread);
        enum { ALL = (1u << g_VL) - 1 };
        const g_V x = g_MM(permutex2var)(g_MM(maskz_loadu)((g_Lanes)(bits & ALL), p), from,
            g_MM(maskz_loadu)((g_Lanes)(bits >> g_VL & ALL), p + g_VL));
        if (along == 2) return x;
        const g_Lanes second = (g_Lanes)(UINT64_MAX << (2 * g_VL + along - 1) / along); /* lanes of vectors 2, 3 */
        return g_MM(mask_mov)(x, second,
            g_MM(permutex2var)(g_MM(maskz_loadu)((g_Lanes)(bits >> 2 * g_VL & ALL), p + 2 * g_VL), from,
                g_MM(maskz_loadu)((g_Lanes)(bits >> 3 * g_VL & ALL), p + 3 * g_VL)));
    }
#endif
    (void)along;
    return g_MM(maskz_loadu)((g_Lanes)kept, p);
}
#endif

#if g_TURNED_LOADS
/* The lowest n of 16 bits; n < 0: none. */
static inline unsigned g_first_bits(int64_t n)
{
    n = n < 0 ? 0 : n > 16 ? 16 : n;
    return _bzhi_u32(0xffff, (unsigned)n);
}
/* Packs n rows of K of up to 16 elements i of a panel, which lie along K in memory, `step` (1 or 2) apart: elements
 * first[i] .. end[i] - 1 of p[row[i]] .., and 0 elsewhere. */
static inline __attribute__((always_inline)) void g_pack_turned(const g_TI *p, const int64_t *row, int elements,
    const int64_t *first, const int64_t *end, int step, int64_t n, int width, g_TC *restrict o)
{
    const __mmask16 there = (__mmask16)((1u << elements) - 1);
    int64_t from = 0, below = n; /* where all of them are inside */
    for (int i = 0; i < elements; i++) {
        if (first[i] > from) from = first[i];
        if (end[i] < below) below = end[i];
    }
    for (int64_t q = 0; q < n; q += 16) {
        __m512 v[16];
        const int whole = from <= q && (below >= q + 16 || below == n);
        const unsigned all = g_first_bits(n - q);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            const unsigned kept = whole ? all : g_first_bits(end[i] - q) & ~g_first_bits(first[i] - q);
            v[i] = i < elements ? (__m512)g_elements(p + row[i] + q * step, step, kept) : _mm512_setzero_ps();
        }
        g_turn(v);
        const int64_t rows = n - q < 16 ? n - q : 16;
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            if (i < rows) _mm512_mask_storeu_ps(o + (q + i) * width, there, v[i]);
    }
}
#endif

/* Packs n rows of K of a panel of `width` elements: element i is p[row[i]], or 0 where its bit of `kept` is 0; the
 * next row of K is `step` further in memory. */
static inline __attribute__((always_inline)) void g_pack_each(const g_TI *p, const int64_t *row,
    const unsigned *kept, int width, int64_t step, int64_t n, g_TC *restrict o)
{
    int whole = 1;
#if g_TURNED_LOADS
    if (step == 1 || step == 2) {
        for (int i = 0; i < width; i += 16) {
            const int64_t none[16] = {0};
            int64_t end[16];
            for (int x = 0; x < 16; x++) end[x] = i + x < width && kept[i / g_VL] >> x & 1 ? n : 0;
            step == 1 ? g_pack_turned(p, row + i, width - i < 16 ? width - i : 16, none, end, 1, n, width, o + i)
                      : g_pack_turned(p, row + i, width - i < 16 ? width - i : 16, none, end, 2, n, width, o + i);
        }
        return;
    }
#endif
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
#if g_TURNED_LOADS
    enum { WIDEST = 512 }; /* 32 registers of vectors */
    int64_t firsts[WIDEST], ends[WIDEST];
#endif
    for (int i = 0; i < width; i++) {
        const int64_t before = pad->start - pad->at[i], left = pad->edge - pad->at[i], each = pad->step > 0 ? pad->step : 1;
        int64_t first = before <= 0 ? 0 : pad->step == 1 ? before : pad->step > 0 ? (before + each - 1) / each : n;
        int64_t end = left <= 0 ? 0 : pad->step == 1 ? left : pad->step > 0 ? (left + each - 1) / each : n;
        if (end > n) end = n;
        if (!(kept[i / g_VL] >> i % g_VL & 1) || first > end) first = end = 0;
#if g_TURNED_LOADS
        firsts[i] = first, ends[i] = end;
        if (step == 1 || step == 2) continue;
#endif
        for (int64_t q = 0; q < first; q++) o[q * width + i] = (g_TC)0;
        for (int64_t q = first; q < end; q++) o[q * width + i] = g_in(p[row[i] + q * step]);
        for (int64_t q = end; q < n; q++) o[q * width + i] = (g_TC)0;
    }
#if g_TURNED_LOADS
    for (int i = 0; i < width && (step == 1 || step == 2); i += 16) {
        const int elements = width - i < 16 ? width - i : 16;
        step == 1 ? g_pack_turned(p, row + i, elements, firsts + i, ends + i, 1, n, width, o + i)
                  : g_pack_turned(p, row + i, elements, firsts + i, ends + i, 2, n, width, o + i);
    }
#endif
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

#if g_TURNED_LOADS
/* Packs a vector of a panel whose elements each have all elements of K of the taps in one piece of memory, with the taps
 * as its fastest index, as a filter in KCYX has them. Returns whether they lie so. */
static __attribute__((noinline)) int g_pack_pieces_of_k(const g_TI *p, const g_Taps *taps, const int64_t *row, int v, int width, g_TC *restrict o)
{
    const int64_t n = taps->n, k = n ? taps->rows[0] : 0;
    const unsigned kept = n ? taps->kept[v] : 0;
    int64_t first = n ? taps->at[0] : 0;
    int16_t tap_of[g_KC];
    if (!n || taps->step != n) return 0;
    for (int64_t i = 0; i < n; i++) {
        if (taps->at[i] < first) first = taps->at[i];
        tap_of[i] = -1;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = taps->at[i] - first;
        if (at >= n || tap_of[at] >= 0 || taps->rows[i] != k || taps->kept[i * (width / g_VL) + v] != kept) return 0;
        tap_of[at] = (int16_t)i;
    }
    for (int64_t at = 0, tap = 0, q = 0; at < n * k; at += 16) {
        const unsigned there = g_first_bits(n * k - at);
        __m512 x[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            x[i] = _mm512_maskz_loadu_ps((__mmask16)(kept >> i & 1 ? there : 0), p + first + row[i] + at);
        g_turn(x);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            if (at + i >= n * k) break;
            _mm512_storeu_ps(o + (tap_of[tap] * k + q) * width, x[i]);
            if (++tap == n) tap = 0, q++;
        }
    }
    return 1;
}
#endif

/* The same of elements that lie apart, and where there are no masked loads. */
static inline __attribute__((always_inline)) void g_pack_apart(const g_TI *p, const g_Taps *taps, const int64_t *row,
    const g_Line *line, int v, int width, g_TC *restrict o)
{
    const int whole = line->step == 1 && line->n == 1;
#if g_TURNED_LOADS
    if (!whole && g_pack_pieces_of_k(p, taps, row, v, width, o)) return;
#endif
    for (int64_t tap = 0; tap < taps->n; tap++) {
        const unsigned kept = taps->kept[tap * (width / g_VL) + v];
        const g_TI *from = p + taps->at[tap];
#if g_TURNED_LOADS
        if (!whole && taps->step == 1) {
            const int64_t n = taps->rows[tap], none[16] = {0};
            int64_t end[16];
            for (int x = 0; x < 16; x++) end[x] = kept >> x & 1 ? n : 0;
            g_pack_turned(from, row, 16, none, end, 1, n, width, o);
            o += n * width;
            continue;
        }
#endif
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
