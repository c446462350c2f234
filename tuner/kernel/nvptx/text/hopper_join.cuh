/* Instructions by which wgmma kernels add up parts of K through the workspace (hopper_join.c). */

FN void put_sums(g_TC *to, u32 a, u32 b, u32 c, u32 d)
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

/* Loads through L2 only (.cg): L1 is not coherent between multiprocessors. */
FN void get_sums(const g_TC *from, u32 (&v)[4])
{
    asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "l"(from)
                 : "memory");
}

FN void fence_all() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/* Increments the counter, and returns its previous value. */
FN u32 count_in(u32 *counter)
{
    u32 before;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
    return before;
}

/* Waits until the counter is n, for at most LIMIT clock cycles: a part may belong to a work-group that only begins
 * when others end. Returns whether the counter reached n. */
template <int LIMIT = 40000> FN bool wait_count(const u32 *counter, u32 n)
{
    const long long begin = clock64();
    u32 now;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    while (now != n && clock64() - begin < LIMIT);
    return now == n;
}

/* Compare and swap of a flag. Returns whether it was `from`. */
FN bool change_flag(u32 *flag, u32 from, u32 to)
{
    u32 before;
    asm volatile("fence.sc.gpu;\n\tatom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;\n\tfence.sc.gpu;"
                 : "=r"(before)
                 : "l"(flag), "r"(from), "r"(to)
                 : "memory");
    return before == from;
}

/* Returns whether x is true in any thread of the warp group. All of its threads must call it. The compiler
 * learns that a warp's threads have the same answer: otherwise it keeps the numbers of stages and tiles of the
 * whole kernel in registers of each thread, not of the warp. */
FN bool any_of_group(int id, bool x)
{
    u32 any;
    asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\t"
                 "bar.red.or.pred q, %2, 128, p;\n\tselp.b32 %0, 1, 0, q;\n\t}"
                 : "=r"(any)
                 : "r"((u32)x), "r"(id)
                 : "memory");
    return g_uniform(any);
}

/* The value of a flag, as others have left it. */
FN u32 flag_now(const u32 *flag) { return *(const volatile u32 *)flag; }
