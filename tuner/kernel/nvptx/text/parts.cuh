/* Flags in memory that work-groups share. */
g_DEV unsigned g_count_in(unsigned *flag, unsigned n) { return atomicAdd(flag, n); }
g_DEV unsigned g_flag(const unsigned *flag) { return *(const volatile unsigned *)flag; }
/* What this thread has written is seen by those that see a flag that is set behind it. */
g_DEV void g_release() { __threadfence(); }
g_DEV void g_acquire() { __threadfence(); }
