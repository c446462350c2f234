g_DEV g_TC g_madd(g_TC x, g_TC y, g_TC z) { return x * y + z; }
