/* A store past the caches where the vector is aligned: lines of D are then not read before they are written. */
static inline void g_stream(g_TC *p, g_V v)
{
    if ((uintptr_t)p % sizeof v) g_store(p, v);
    else g_MM(stream)(p, v);
}
