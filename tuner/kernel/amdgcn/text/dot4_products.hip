g_DEV int g_dot4(int x, int y, int z)
{
    for (int i = 0; i < 4; i++) z += __builtin_amdgcn_sbfe(x, i * 8, 8) * __builtin_amdgcn_sbfe(y, i * 8, 8);
    asm("" : "+v"(z)); /* without this LLVM reassociates sums of hundreds of products, which takes minutes */
    return z;
}
