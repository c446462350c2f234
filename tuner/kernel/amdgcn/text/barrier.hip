/* Local memory is waited for, global loads stay in flight; the clobber keeps the compiler's order. */
g_DEV void g_barrier() { asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory"); }
