/* Makes the operand of a matrix instruction of the runs of elements that a lane has read. */
template <typename V, int N> struct g_RunsOf {
    V r[N];
};
template <typename O, typename V, int N> g_DEV O g_operand(const V (&run)[N])
{
    g_RunsOf<V, N> all;
    g_UNROLL for (int i = 0; i < N; i++) all.r[i] = run[i];
    return __builtin_bit_cast(O, all);
}
