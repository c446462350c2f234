
/* Accumulators that are not in accumulation registers need no constraint before a batch of stores. */
template <int b, int end> g_DEV void g_acc_pin_batch(g_Acc &) {}
