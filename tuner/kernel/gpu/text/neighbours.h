/* Neighbours of a vector along M or N, which are loaded at once where they are aligned. */
template <int N, typename T> struct alignas((N * sizeof(T) & -(N * sizeof(T))) < 16 ? (N * sizeof(T) & -(N * sizeof(T))) : 16) g_Neighbours {
    T v[N];
};
template <int N, typename T> g_DEV bool g_is_aligned(const T *p)
{
    return (unsigned long long)p % alignof(g_Neighbours<N, T>) == 0;
}
/* Loads N elements from element `at` on into a field of to[0] .. to[N - 1]. whole: all of them exist, and are aligned.
 * last: the last element that exists. */
template <int N, typename S, typename T>
g_DEV void g_load_neighbours(S *to, T S::*field, const T *from, unsigned at, unsigned last, bool whole)
{
    if (whole) {
        const g_Neighbours<N, T> x = *(const g_Neighbours<N, T> *)(from + at);
        g_UNROLL for (int i = 0; i < N; i++) to[i].*field = x.v[i];
    } else
        g_UNROLL for (int i = 0; i < N; i++) to[i].*field = from[at + i < last ? at + i : last];
}
