/* Flags in global memory, by which the work-groups of a tile synchronise (gpu/parts.c). count_in adds n
   and returns the previous value. */
g_DEV unsigned g_count_in(unsigned *flag, unsigned n) { return atomicAdd(flag, n); }
g_DEV unsigned g_flag(const unsigned *flag) { return *(const volatile unsigned *)flag; }
/* Writes before g_release() are visible after g_acquire() to a thread that has seen a flag set in between. */
g_DEV void g_release() { __threadfence(); }
g_DEV void g_acquire() { __threadfence(); }
