g_DEV int g_mad24(int x, int y, int z) { return x * y + z; }
template <typename N> g_DEV void g_atomic_add(N *p, N x)
{
    __atomic_fetch_add(p, x, __ATOMIC_RELAXED);
}
g_DEV unsigned g_cas32(unsigned *p, unsigned expected, unsigned desired)
{
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <typename V> g_DEV V *g_pointer(V *const *table, unsigned z)
{
    return (V *)((__attribute__((address_space(1))) V *const *)(const void *)table)[z];
}
template <typename V> g_DEV V g_load_nt(const V *p) { return __builtin_nontemporal_load(p); }
template <typename V> g_DEV void g_store_nt(V *p, V x) { __builtin_nontemporal_store(x, p); }
template <typename P, int N, int ALIGN> g_DEV g_VectorOf<P, N, ALIGN> g_load_nt(const g_VectorOf<P, N, ALIGN> *p)
{
    g_VectorOf<P, N, ALIGN> r;
    g_UNROLL for (int i = 0; i < N; i++) r.v[i] = __builtin_nontemporal_load(&p->v[i]);
    return r;
}
template <typename P, int N, int ALIGN> g_DEV void g_store_nt(g_VectorOf<P, N, ALIGN> *p, g_VectorOf<P, N, ALIGN> x)
{
    g_UNROLL for (int i = 0; i < N; i++) __builtin_nontemporal_store(x.v[i], &p->v[i]);
}
