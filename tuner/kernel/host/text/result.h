
static inline g_TC g_result(const g_TC *ab, g_TC s, const g_TD *c)
{
    g_TC v = ab[0] * s;
    if (ab[1] != 0) v += ab[1] * g_from(*c);
    return v;
}
static inline void g_store_result(g_TD *d, const g_TC *ab, g_TC s, g_TC unused, const g_TD *c)
{
    (void)unused;
    *d = g_to(g_result(ab, s, c));
}
