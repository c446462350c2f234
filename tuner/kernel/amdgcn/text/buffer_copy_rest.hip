/* Fp16AltImpl: converts the loaded f16 elements to bf16. */
template <typename C> g_DEV void g_copy_to_bf16(C &c, int set)
{
    g_UNROLL for (int j = 0; j < C::N; j++)
        g_UNROLL for (int w = 0; w < C::WORDS; w++) c.data[set][j][w] = g_to_bf16x2(c.data[set][j][w]);
}

/* Returns whether the fast loads cannot be used: offsets would exceed 2 GiB, or M or N is less than a vector. */
template <typename C> g_DEV int g_copy_is_slow(const C *, unsigned long long ld, unsigned rows)
{
    return ld > C::STRIDE_MOST || (C::TLU && rows < C::WIDTH);
}
