g_DEV g_TC g_acc_get(const g_Acc &acc, int i) { return acc.get(i / g_RUN, i % g_RUN); }
g_DEV void g_acc_set(g_Acc &acc, int i, g_TC x) { acc.set(i / g_RUN, i % g_RUN, x); }
