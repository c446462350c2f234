
/* ---- compute: runs of K from local memory, dot products ---- */

/* A run of consecutive elements along K, as words of a dot product instruction. */
struct __attribute__((aligned(g_DOT_WORDS * 4))) g_Run {
    int w[g_DOT_WORDS];
};
struct g_Acc {
    g_TC v[g_DOT_ROWS * g_DOT_COLUMNS];
};
struct g_Frag {
    g_Run a[g_DOT_ROWS], b[g_DOT_COLUMNS];
};
g_DEV void g_frag_mac(g_Acc &acc, const g_Frag &f)
{
    g_UNROLL for (int u = 0; u < g_DOT_WORDS; u++)
        g_UNROLL for (int j = 0; j < g_DOT_COLUMNS; j++)
            g_UNROLL for (int i = 0; i < g_DOT_ROWS; i++) {
                g_TC *c = &acc.v[j * g_DOT_ROWS + i];
                *c = g_dot(f.a[i].w[u], f.b[j].w[u], *c);
            }
}
g_DEV void g_acc_zero(g_Acc &acc)
{
    g_UNROLL for (int i = 0; i < g_DOT_ROWS * g_DOT_COLUMNS; i++) acc.v[i] = 0;
}
g_DEV g_TC g_acc_get(const g_Acc &acc, int i) { return acc.v[i]; }
g_DEV void g_acc_set(g_Acc &acc, int i, g_TC x) { acc.v[i] = x; }
