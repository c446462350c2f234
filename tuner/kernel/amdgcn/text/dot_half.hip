typedef _Float16 g_pair __attribute__((ext_vector_type(2)));
g_DEV g_TC g_dot(int a, int b, g_TC c)
{
    return __builtin_amdgcn_fdot2(__builtin_bit_cast(g_pair, a), __builtin_bit_cast(g_pair, b), c, false);
}
