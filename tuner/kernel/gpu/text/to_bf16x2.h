g_DEV int g_to_bf16x2(int w)
{
    return (int)((unsigned)g_to_bf16((unsigned short)((unsigned)w >> 16)) << 16 |
                 g_to_bf16((unsigned short)w));
}
