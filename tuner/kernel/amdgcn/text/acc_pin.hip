
/* Keeps the accumulators in accumulation registers (AGPRs) from stage to stage. Without this constraint LLVM may
 * carry them through the loop over K in vector registers (VGPRs) and copy them in each iteration, or spill them when
 * they fill the register file. */
g_DEV void g_acc_pin(g_Acc &acc)
{
    g_UNROLL for (int j = 0; j < g_MI_TILES_B; j++)
        g_UNROLL for (int i = 0; i < g_MI_TILES_A; i++)
            g_UNROLL for (int part = 0; part < g_MI_PARTS; part++) asm("" : "+a"(acc.c[part][j][i]));
}
