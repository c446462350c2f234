static inline g_V g_fma(g_V a, g_V b, g_V c) { return c + a * b; }
static inline g_V g_fnma(g_V a, g_V b, g_V c) { return c - a * b; }
