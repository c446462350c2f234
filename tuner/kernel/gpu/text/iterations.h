/* Returns the number of iterations of a loop. */
g_DEV long long g_iterations(long long from, long long to, long long step)
{
    return from < to ? (to - from + step - 1) / step : 0;
}
/* Returns how many of the first iterations only access elements in [0, end). An iteration accesses `size` elements;
 * the first one begins at `at`, and each begins `by` elements after the one before. */
g_DEV long long g_iterations_inside(long long iterations, long long at, long long size, long long end, long long by)
{
    const long long room = end - size - at;
    if (at < 0 || room < 0) return 0;
    if (by == 0) return iterations;
    return room / by < iterations ? room / by + 1 < iterations ? room / by + 1 : iterations : iterations;
}
