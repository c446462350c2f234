/* Stores sums of n columns of a row and of m rows of D, which lie column by column, each with g_MR rows. c, d: places of
 * the columns' first element; row_c, row_d: of the rows, behind it; lines: D's rows (and C's) follow each other in
 * memory; along_c, along_d: from one column to the next. */
static inline void g_finish_each(const g_TC *s, int64_t m, int64_t n, const g_TC *ab, const g_TD *c, g_TD *d,
    const int64_t *row_c, const int64_t *row_d, int64_t along_c, int64_t along_d)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            g_store_result(d + row_d[i] + j * along_d, ab, s[j * g_MR + i], 0, c + row_c[i] + j * along_c);
}
#if g_TURNS
/* Stores the elements of the mask to d[0], d[along], ..; along is 1 or 2. */
static inline __attribute__((always_inline)) void g_store_along(g_TD *d, __mmask16 there, __m512 v, int along)
{
    if (along == 1) {
        _mm512_mask_storeu_ps(d, there, v);
        return;
    }
    const uint32_t bits = _pdep_u32(there, 0x55555555u);
    _mm512_mask_storeu_ps(d, (__mmask16)bits, _mm512_maskz_expand_ps(0x5555, v));
    _mm512_mask_storeu_ps(d + 16, (__mmask16)(bits >> 16),
        _mm512_maskz_expand_ps(0x5555, _mm512_shuffle_f32x4(v, v, 0x4e)));
}
/* g_finish_each without C, of columns that lie 1 or 2 elements apart in D. */
static inline __attribute__((always_inline)) void g_finish_along(const g_TC *s, int64_t m, int64_t n, const g_TC *ab,
    g_TD *d, const int64_t *row_d, int along)
{
    const __m512 alpha = _mm512_set1_ps(ab[0]);
    for (int64_t j = 0; j < n; j += 16) {
        const int64_t left = n - j < 16 ? n - j : 16;
        const __mmask16 there = (__mmask16)((1u << left) - 1);
        for (int64_t i = 0; i < m; i += 16) {
            __m512 v[16];
#pragma GCC unroll 16
            for (int x = 0; x < 16; x++)
                v[x] = x < left ? _mm512_loadu_ps(s + (j + x) * g_MR + i) : _mm512_setzero_ps();
            g_turn(v);
            const int rows = m - i < 16 ? (int)(m - i) : 16;
#pragma GCC unroll 16
            for (int x = 0; x < 16; x++)
                if (x < rows) g_store_along(d + row_d[i + x] + j * along, there, _mm512_mul_ps(alpha, v[x]), along);
        }
    }
}
static __attribute__((noinline)) void g_finish_turned(const g_TC *s, int64_t m, int64_t n, const g_TC *ab, g_TD *d, const int64_t *row_d,
    int64_t along)
{
    if (along == 1)
        g_finish_along(s, m, n, ab, d, row_d, 1);
    else
        g_finish_along(s, m, n, ab, d, row_d, 2);
}
#endif
