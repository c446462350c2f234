static inline g_V g_fma(g_V a, g_V b, g_V c) { return (g_V)g_MM(fmadd)(a, b, c); }
static inline g_V g_fnma(g_V a, g_V b, g_V c) { return (g_V)g_MM(fnmadd)(a, b, c); }
