g_DEV int g_copy_slow(const g_Tile &t)
{
    return g_copy_is_slow((const g_CopyA *)0, t.lda, t.m) | g_copy_is_slow((const g_CopyB *)0, t.ldb, t.n);
}
