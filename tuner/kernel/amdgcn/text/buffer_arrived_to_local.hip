#define g_copy_wait(n) g_loads_arrived<((n) * g_LOADS_TO_LOCAL < g_LOADS_MOST ? (n) * g_LOADS_TO_LOCAL : g_LOADS_MOST)>()
