
/* ---- the tile of a work-group ---- */

struct g_Tile {
    const char *a, *b;
    g_Dims x;
    unsigned m, n, k, m0, n0;
    int slow;
};

