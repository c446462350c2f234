
/* ---- loads that write local memory (DirectToLds) ---- */

/* Cache policy bits as the assembler spells them. */
#if __gfx940__ || __gfx941__ || __gfx942__ || __gfx950__
#define g_POLICY_1 " sc0"
#define g_POLICY_2 " nt"
#define g_POLICY_16 " sc1"
#else
#define g_POLICY_1 " glc"
#define g_POLICY_2 " slc"
#define g_POLICY_16 ""
#endif
/* m0 has the address in local memory of lane 0; each lane writes its bytes behind those of the lane before it. A
 * wait state must follow the write of m0 (ISA documents, manually inserted wait states). The compiler does not
 * count these loads: g_copy_wait waits for them. */
#define g_TO_LOCAL(WORDS, POLICY) \
    asm volatile("s_add_u32 m0, %0, %4\n\ts_nop 0\n\tbuffer_load_dword" WORDS " %1, %2, %3 offen" POLICY " lds" \
                 ::"s"(at), "v"(offset), "s"(d), "s"(scalar), "n"(AT) : "memory", "scc")
#define g_TO_LOCAL_BY_POLICY(WORDS) \
    do { \
        if constexpr (POLICY == 0) g_TO_LOCAL(WORDS, ""); \
        if constexpr (POLICY == 1) g_TO_LOCAL(WORDS, g_POLICY_1); \
        if constexpr (POLICY == 2) g_TO_LOCAL(WORDS, g_POLICY_2); \
        if constexpr (POLICY == 3) g_TO_LOCAL(WORDS, g_POLICY_1 g_POLICY_2); \
        if constexpr (POLICY == 16) g_TO_LOCAL(WORDS, g_POLICY_16); \
        if constexpr (POLICY == 17) g_TO_LOCAL(WORDS, g_POLICY_1 g_POLICY_16); \
        if constexpr (POLICY == 18) g_TO_LOCAL(WORDS, g_POLICY_2 g_POLICY_16); \
        if constexpr (POLICY == 19) g_TO_LOCAL(WORDS, g_POLICY_1 g_POLICY_2 g_POLICY_16); \
    } while (0)
/* Loads BYTES bytes of each lane to its place in local memory; lane 0's is AT bytes behind `to`. */
template <int BYTES, int POLICY, int AT>
g_DEV void g_load_to_local(g_w4 d, unsigned offset, unsigned scalar_offset, char *to)
{
    const unsigned at = g_uniform((unsigned)(__attribute__((address_space(3))) char *)to);
    const unsigned scalar = g_uniform(scalar_offset);
    if constexpr (BYTES == 4) g_TO_LOCAL_BY_POLICY("");
    if constexpr (BYTES == 12) g_TO_LOCAL_BY_POLICY("x3");
    if constexpr (BYTES == 16) g_TO_LOCAL_BY_POLICY("x4");
}
/* Waits until at most N of this wave's loads are under way. */
template <int N> g_DEV void g_loads_arrived() { asm volatile("s_waitcnt vmcnt(%0)" ::"n"(N) : "memory"); }
