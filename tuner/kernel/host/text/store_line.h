/* Stores m sums to rows of D that follow each other, without C. The loop of a whole register tile has a constant
 * length, so that compilers make vectors of it. */
static inline void g_store_line(g_TD *restrict d, const g_TC *restrict s, const g_TC *ab, int64_t m)
{
    const g_TC without_c[2] = {ab[0], 0};
    if (m == g_MR) {
        for (int i = 0; i < g_MR; i++) g_store_result(d + i, without_c, s[i], s[i], d + i);
        return;
    }
    for (int64_t i = 0; i < m; i++) g_store_result(d + i, without_c, s[i], s[i], d + i);
}
