#define g_copy_wait(n)

