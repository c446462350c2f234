/* Local memory is waited for, global loads stay in flight; the clobber keeps the compiler's order. */
g_DEV void g_barrier()
{
    asm volatile("s_wait_dscnt 0x0\n\ts_barrier_signal -1\n\ts_barrier_wait -1" ::: "memory");
}
