/* Loads the bytes of a vector from byte AT on, in the widest pieces. */
template <typename C, int AT> g_DEV void g_copy_load_from(g_w4 d, int *to, int offset, int scalar)
{
    constexpr int left = C::WIDTH * C::BYTES - AT;
    constexpr int n = left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    if constexpr (left > 0) {
        if constexpr (n == 16) {
            const g_w4 v = g_raw_load16(d, offset + AT, scalar, C::POLICY);
            g_UNROLL for (int e = 0; e < 4; e++) to[AT / 4 + e] = v[e];
        } else if constexpr (n == 8) {
            const g_w2 v = g_raw_load8(d, offset + AT, scalar, C::POLICY);
            g_UNROLL for (int e = 0; e < 2; e++) to[AT / 4 + e] = v[e];
        } else if constexpr (n == 4)
            to[AT / 4] = g_raw_load4(d, offset + AT, scalar, C::POLICY);
        else if constexpr (n == 2)
            to[AT / 4] = g_raw_load2(d, offset + AT, scalar, C::POLICY);
        else
            to[AT / 4] = g_raw_load1(d, offset + AT, scalar, C::POLICY);
        g_copy_load_from<C, AT + n>(d, to, offset, scalar);
    }
}

