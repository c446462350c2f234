
g_DEV void g_copy_move(g_Copy &c, const g_Tile &, long long a, long long b)
{
    c.a.base += a;
    c.b.base += b;
}
g_DEV void g_copy_load(g_Copy &c, int set, char *)
{
    g_copy_loads(c.a, set);
    g_copy_loads(c.b, set);
}
g_DEV void g_copy_shift(g_Copy &c)
{
    g_copy_shift_sets(c.a);
    g_copy_shift_sets(c.b);
}
g_DEV int g_copy_slow(const g_Tile &t)
{
    return g_copy_is_slow((const g_CopyA *)0, t.lda, t.m) | g_copy_is_slow((const g_CopyB *)0, t.ldb, t.n);
}
#define g_copy_wait(n)

