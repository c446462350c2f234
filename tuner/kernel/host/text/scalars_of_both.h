
static inline int g_scalars_of_both(const char *p, g_TC *ab)
{
    const uint64_t values = g_word(p, 4);
    const int is_float = g_word(p + 4, 4) == 0;
    ab[0] = is_float ? 1 : g_from((g_TD)values);
    ab[1] = is_float ? 0 : g_from((g_TD)(values >> 16));
    return is_float;
}
