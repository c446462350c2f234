
/* ---- the tile of a work-group ---- */

struct g_Tile {
    const char *a, *b;
    unsigned long long lda, ldb;
    unsigned m, n, k, m0, n0;
    int slow;
};

