/* Waits for local memory accesses (lgkmcnt or dscnt) but not for global loads, which stay in flight. The memory
 * clobber keeps the compiler from moving memory accesses across the barrier. */
g_DEV void g_barrier()
{
    asm volatile("s_wait_dscnt 0x0\n\ts_barrier_signal -1\n\ts_barrier_wait -1" ::: "memory");
}
