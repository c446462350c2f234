/* Prefetches a cache line by a load whose result is not used. */
template <typename V> g_DEV void g_prefetch(const V *p)
{
    const unsigned char x = *(const volatile unsigned char *)p;
    asm volatile("" ::"v"((int)x));
}
/* Loads a vector at a 32-bit offset from a uniform address. A buffer load adds base and offset without vector
 * arithmetic. */
template <typename V> g_DEV V g_load_from(const char *base, unsigned offset)
{
    const g_w4 d = g_descriptor(base, ~0ull);
    if constexpr (sizeof(V) == 16)
        return __builtin_bit_cast(V, g_raw_load16(d, (int)offset, 0, 0));
    else if constexpr (sizeof(V) == 8)
        return __builtin_bit_cast(V, g_raw_load8(d, (int)offset, 0, 0));
    else if constexpr (sizeof(V) == 4)
        return __builtin_bit_cast(V, g_raw_load4(d, (int)offset, 0, 0));
    else if constexpr (sizeof(V) == 2)
        return __builtin_bit_cast(V, g_raw_load2(d, (int)offset, 0, 0));
    else
        return __builtin_bit_cast(V, g_raw_load1(d, (int)offset, 0, 0));
}
