static inline g_V g_load_in(const g_TI *p)
{
    typedef g_TI I __attribute__((vector_size(g_VL * sizeof(g_TI)), aligned(sizeof(g_TI)), may_alias));
    typedef g_TW W __attribute__((vector_size(g_VL * sizeof(g_TW))));
    return (g_V)(__builtin_convertvector(*(const I *)p, W) << g_SHIFT);
}
