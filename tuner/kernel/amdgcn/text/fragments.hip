
/* ---- fragments that are loaded without local memory ---- */

template <int WORDS> struct g_Words {
    int w[WORDS];
};
/* Returns the elements of a load. */
template <typename R> g_DEV R g_run_of(const int *w)
{
    if constexpr (sizeof(R) == 1)
        return __builtin_bit_cast(R, (unsigned char)w[0]);
    else if constexpr (sizeof(R) == 2)
        return __builtin_bit_cast(R, (unsigned short)w[0]);
    else {
        g_Words<sizeof(R) / 4> r;
        g_UNROLL for (int i = 0; i < (int)(sizeof(R) / 4); i++) r.w[i] = w[i];
        return __builtin_bit_cast(R, r);
    }
}
