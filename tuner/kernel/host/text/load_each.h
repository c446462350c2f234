static inline g_V g_load_in(const g_TI *p)
{
    g_V v;
    for (int i = 0; i < g_VL; i++) v[i] = g_in(p[i]);
    return v;
}
