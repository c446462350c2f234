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
