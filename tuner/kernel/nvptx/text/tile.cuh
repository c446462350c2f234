g_DEV void g_prefetch(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}
/* A vector at a 32-bit offset from an address that is the same in all threads. */
template <typename V> g_DEV V g_load_from(const char *base, unsigned offset) { return *(const V *)(base + offset); }
typedef unsigned int g_u32;
/* The address in shared memory of p, of which lds is the beginning. */
g_DEV g_u32 g_shared(const char *lds, const void *p)
{
    return (g_u32)__cvta_generic_to_shared(lds) + (g_u32)((const char *)p - lds);
}
