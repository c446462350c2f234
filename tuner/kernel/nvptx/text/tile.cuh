g_DEV void g_prefetch(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}
/* Loads a vector at a 32-bit byte offset from an address that is uniform across the work-group. */
template <typename V> g_DEV V g_load_from(const char *base, unsigned offset) { return *(const V *)(base + offset); }
typedef unsigned int g_u32;
/* Returns the shared-memory address of p, a generic pointer into the buffer that begins at lds. */
g_DEV g_u32 g_shared(const char *lds, const void *p)
{
    return (g_u32)__cvta_generic_to_shared(lds) + (g_u32)((const char *)p - lds);
}
