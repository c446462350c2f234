
static inline int g_scalars_of_both(const char *p, g_TC *ab)
{
    const uint32_t values = g_u32(p);
    const int is_float = g_u32(p + 4) == 0;
    ab[0] = is_float ? 1 : g_from((g_TD)values);
    ab[1] = is_float ? 0 : g_from((g_TD)(values >> 16));
    return is_float;
}
