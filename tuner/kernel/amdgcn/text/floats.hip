g_DEV float g_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
g_DEV double g_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
g_DEV float g_h2f(unsigned short h)
{
    return (float)__builtin_bit_cast(_Float16, h);
}
g_DEV unsigned short g_f2h(float f)
{
    return __builtin_bit_cast(unsigned short, (_Float16)f);
}
g_DEV float g_b2f(unsigned short b)
{
    return __builtin_bit_cast(float, (unsigned)b << 16);
}
g_DEV unsigned short g_f2b(float f)
{
    const unsigned u = __builtin_bit_cast(unsigned, f);
    return (unsigned short)(f != f ? u >> 16 | 64u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
