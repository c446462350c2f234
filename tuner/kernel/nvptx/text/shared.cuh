template <int W> g_DEV void g_sts(g_u32 to, const g_u32 *v)
{
    if constexpr (W == 16)
        asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                     : "memory");
    else if constexpr (W == 8)
        asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(to), "r"(v[0]), "r"(v[1]) : "memory");
    else
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(v[0]) : "memory");
}
g_DEV void g_ldsm(g_u32 *d, g_u32 at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at) : "memory");
}
g_DEV void g_ldsm_t(g_u32 *d, g_u32 at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at) : "memory");
}
g_DEV void g_lds4(g_u32 *d, g_u32 at)
{
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at) : "memory");
}
g_DEV void g_lds1(g_u32 *d, g_u32 at) { asm volatile("ld.shared.u32 %0, [%1];" : "=r"(d[0]) : "r"(at) : "memory"); }
g_DEV void g_ldsd(double *d, g_u32 at) { asm volatile("ld.shared.f64 %0, [%1];" : "=d"(d[0]) : "r"(at) : "memory"); }
