typedef g_TC g_V __attribute__((vector_size(g_VL * sizeof(g_TC))));
typedef g_TC g_VU __attribute__((vector_size(g_VL * sizeof(g_TC)), aligned(sizeof(g_TC)), may_alias));
static inline g_V g_load(const g_TC *p) { return *(const g_VU *)p; }
static inline void g_store(g_TC *p, g_V v) { *(g_VU *)p = v; }
static inline g_V g_set(g_TC x) { return (g_V)g_MM(set1)(x); }
