
static inline g_TC g_result(const g_TC *ab, g_TC s, const g_TD *c)
{
    g_TC v = ab[0] * s;
    if (ab[1] != 0) v += ab[1] * g_from(*c);
    return v;
}
