
/* Accumulators that are not in accumulation registers need no constraint before a batch of stores. */
g_DEV void g_acc_pin_batch(g_Acc &, int, int) {}
