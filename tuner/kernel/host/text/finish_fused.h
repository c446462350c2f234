
static void g_finish(const g_TC *s, int64_t m, int64_t n, const g_TC *ab, const g_TD *c, int64_t row_c,
    int64_t column_c, g_TD *d, int64_t row_d, int64_t column_d, const g_Fused *f, int64_t row, int64_t column,
    int64_t matrix)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            d[i * row_d + j * column_d] =
                g_to(g_result(ab, s[j * g_MR + i], c + i * row_c + j * column_c, f, row + i, column + j, matrix));
}
