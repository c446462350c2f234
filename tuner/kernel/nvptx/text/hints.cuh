template <int HINT, typename V> g_DEV V g_load_nt(const V *p)
{
    enum { PIECE = alignof(V), N = sizeof(V) / PIECE };
    V x;
    g_UNROLL for (int i = 0; i < N; i++)
        g_Hint<HINT>::load(((g_Raw<PIECE> *)&x)[i], (const g_Raw<PIECE> *)p + i);
    return x;
}
template <int HINT, typename V> g_DEV void g_store_nt(V *p, V x)
{
    enum { PIECE = alignof(V), N = sizeof(V) / PIECE };
    g_UNROLL for (int i = 0; i < N; i++)
        g_Hint<HINT>::store((g_Raw<PIECE> *)p + i, ((const g_Raw<PIECE> *)&x)[i]);
}
