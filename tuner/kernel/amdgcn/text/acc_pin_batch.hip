
/* Keeps the sums of accumulators b to end - 1 in accumulation registers up to here. Without this, compilers copy
 * all sums to vector registers behind the loop over K; where they fill a file of 256, they spill what is left. A
 * batch then copies only its own. Each sum comes by once on the way through the batches. */
template <int b, int end> g_DEV void g_acc_pin_batch(g_Acc &acc)
{
    g_UNROLL for (int i = b; i < end; i++) {
        const g_Place q = g_place(i);
        if (q.v == 0)
            g_UNROLL for (int part = 0; part < g_MI_PARTS; part++) asm volatile("" : "+a"(acc.c[part][q.t1][q.t0]));
    }
}
