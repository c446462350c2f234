
/* Keeps accumulators b to end - 1 in accumulation registers (AGPRs) until their batch of stores. Without this
 * constraint LLVM copies all accumulators to VGPRs after the loop over K, and spills what exceeds the 256 VGPRs.
 * Only the first element of each accumulator vector names it, so that each is constrained once. */
g_DEV void g_acc_pin_batch(g_Acc &acc, int b, int end)
{
    g_UNROLL for (int i = b; i < end; i++) {
        const g_Place q = g_place(i);
        if (q.v == 0)
            g_UNROLL for (int part = 0; part < g_MI_PARTS; part++) asm volatile("" : "+a"(acc.c[part][q.t1][q.t0]));
    }
}
