
/* Keeps the sums in accumulation registers from stage to stage. Without this, compilers may carry them through the
 * loop over K in vector registers and copy them to and fro in each iteration; where they fill a file, they spill. */
g_DEV void g_acc_pin(g_Acc &acc)
{
    g_UNROLL for (int j = 0; j < g_MI_TILES_B; j++)
        g_UNROLL for (int i = 0; i < g_MI_TILES_A; i++)
            g_UNROLL for (int part = 0; part < g_MI_PARTS; part++) asm("" : "+a"(acc.c[part][j][i]));
}
