
static inline void g_store_result(g_TD *d, const g_TC *ab, g_TC r, g_TC q, const g_TD *c)
{
    g_TC vr = ab[0] * r - ab[1] * q, vi = ab[0] * q + ab[1] * r;
    if (ab[2] != 0 || ab[3] != 0) {
        const g_TC cr = c[0], ci = c[1];
        vr += ab[2] * cr - ab[3] * ci;
        vi += ab[2] * ci + ab[3] * cr;
    }
    d[0] = vr;
    d[1] = vi;
}
