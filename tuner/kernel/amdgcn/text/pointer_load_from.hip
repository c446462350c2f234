/* Loads the bytes of a vector from byte AT on, in the widest pieces, through a pointer: all of them are inside the
 * operand. */
template <typename V> g_DEV V g_load_at(const char *from, bool hint)
{
    typedef V Element __attribute__((aligned(sizeof(g_P))));
    const auto at = (__attribute__((address_space(1))) const Element *)(const void *)from;
    return hint ? __builtin_nontemporal_load(at) : *at;
}
template <typename C, int AT> g_DEV void g_copy_load_from(const char *base, int *to, int offset, int scalar)
{
    constexpr int left = C::WIDTH * C::BYTES - AT;
    constexpr int n = left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    constexpr bool hint = C::POLICY != 0;
    const char *from = base + (unsigned)scalar + ((unsigned)offset + AT);
    if constexpr (left > 0) {
        if constexpr (n == 16) {
            const g_w4 v = g_load_at<g_w4>(from, hint);
            g_UNROLL for (int e = 0; e < 4; e++) to[AT / 4 + e] = v[e];
        } else if constexpr (n == 8) {
            const g_w2 v = g_load_at<g_w2>(from, hint);
            g_UNROLL for (int e = 0; e < 2; e++) to[AT / 4 + e] = v[e];
        } else if constexpr (n == 4)
            to[AT / 4] = g_load_at<int>(from, hint);
        else if constexpr (n == 2)
            to[AT / 4] = g_load_at<unsigned short>(from, hint);
        else
            to[AT / 4] = g_load_at<unsigned char>(from, hint);
        g_copy_load_from<C, AT + n>(base, to, offset, scalar);
    }
}

