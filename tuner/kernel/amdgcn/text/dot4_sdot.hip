g_DEV int g_dot4(int x, int y, int z)
{
    return __builtin_amdgcn_sdot4(x, y, z, false);
}
