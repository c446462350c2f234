g_DEV g_TC g_zero() { return 0; }
g_DEV bool g_is_zero(g_TC x) { return x == 0; }
g_DEV g_TC g_add(g_TC x, g_TC y) { return x + y; }
g_DEV g_TC g_mul(g_TC x, g_TC y) { return x * y; }
