
static void g_finish(const g_TC *s, int64_t m, int64_t n, const g_TC *ab, const g_TD *c, int64_t row_c,
    int64_t column_c, g_TD *d, int64_t row_d, int64_t column_d)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            const g_TC *x = s + j * g_MR * g_PARTS + i;
            g_store_result(d + i * row_d + j * column_d, ab, x[0], x[g_MR * (g_PARTS - 1)],
                c + i * row_c + j * column_c);
        }
}
