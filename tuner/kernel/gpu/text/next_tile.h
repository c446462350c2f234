    unsigned id = g_group_x(), more = 1, stores = 0;
    if (id >= n_ids) return;
    g_Acc acc;
    g_Out o;
    g_Tile last;
    g_NOUNROLL while (more | stores) {
