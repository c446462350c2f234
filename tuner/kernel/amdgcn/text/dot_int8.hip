g_DEV g_TC g_dot(int a, int b, g_TC c) { return g_dot4(a, b, c); }
