/* Turns of a loop. */
g_DEV long long g_turns(long long from, long long to, long long step)
{
    return from < to ? (to - from + step - 1) / step : 0;
}
/* The first of these turns in which `size` elements from `at` on, `by` further in each turn, are below `end`. */
g_DEV long long g_turns_inside(long long turns, long long at, long long size, long long end, long long by)
{
    const long long room = end - size - at;
    if (at < 0 || room < 0) return 0;
    if (by == 0) return turns;
    return room / by < turns ? room / by + 1 < turns ? room / by + 1 : turns : turns;
}
