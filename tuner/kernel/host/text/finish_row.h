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
/* Transposes 16 vectors of 16 floats. */
static inline __attribute__((always_inline)) void g_turn(__m512 *v)
{
    __m512 t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 4) {
        v[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        v[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        v[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        v[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0xdd);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        v[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
        v[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
    }
}
/* g_finish_each of columns that follow each other in D, without C. */
static inline void g_finish_turned(const g_TC *s, int64_t m, int64_t n, const g_TC *ab, g_TD *d, const int64_t *row_d)
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
                if (x < rows) _mm512_mask_storeu_ps(d + row_d[i + x] + j, there, _mm512_mul_ps(alpha, v[x]));
        }
    }
}
#endif
