static inline g_V g_load_n(const g_TC *p, int64_t n)
{
    g_V v = {0};
    memcpy(&v, p, (size_t)n * sizeof(g_TC));
    return v;
}
static inline void g_store_n(g_TC *p, g_V v, int64_t n)
{
    memcpy(p, &v, (size_t)n * sizeof(g_TC));
}
