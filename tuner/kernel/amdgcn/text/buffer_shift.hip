
/* Moves each register set to the one before it. */
template <typename C> g_DEV void g_copy_shift_sets(C &c)
{
    g_UNROLL for (int s = 0; s + 1 < C::SETS; s++)
        g_UNROLL for (int j = 0; j < C::N; j++)
            g_UNROLL for (int e = 0; e < C::WORDS; e++) c.data[s][j][e] = c.data[s + 1][j][e];
}
