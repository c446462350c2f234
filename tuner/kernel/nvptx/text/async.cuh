template <int W> g_DEV void g_cp(g_u32 to, const void *from)
{
    if constexpr (W == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(W) : "memory");
}
template <int W> g_DEV void g_cpz(g_u32 to, const void *from, int bytes)
{
    if constexpr (W == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(W), "r"(bytes)
                     : "memory");
}
g_DEV void g_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> g_DEV void g_arrived() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
