g_DEV g_TC g_tanh(g_TC x)
{
    const g_TC e = g_exp(-2 * (x < 0 ? -x : x)), t = (1 - e) / (1 + e);
    return x < 0 ? -t : t;
}
g_DEV g_TC g_sigmoid(g_TC x) { return 1 / (1 + g_exp(-x)); }
