
/* Batches take the sums where they are. */
template <int b, int end> g_DEV void g_acc_pin_batch(g_Acc &) {}
