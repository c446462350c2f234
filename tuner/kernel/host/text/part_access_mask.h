static inline g_V g_load_n(const g_TC *p, int64_t n)
{
    return (g_V)g_MM(maskz_loadu)((g_Mask)((1u << n) - 1u), p);
}
static inline void g_store_n(g_TC *p, g_V v, int64_t n)
{
    g_MM(mask_storeu)(p, (g_Mask)((1u << n) - 1u), (g_M)v);
}
