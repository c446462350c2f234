    unsigned id = g_group_x(), has_tile = 1, stores = 0;
    if (id >= n_ids) return;
    g_Acc acc;
    g_Out o;
    g_NOUNROLL while (has_tile | stores) {
