static inline g_V g_load_in(const g_TI *p) { return g_load(p); }
