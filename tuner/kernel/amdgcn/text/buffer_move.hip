
g_DEV void g_copy_move(g_Copy &c, const g_Tile &, long long a, long long b)
{
    c.a.base += a;
    c.b.base += b;
}
