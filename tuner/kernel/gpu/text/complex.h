g_DEV g_TC g_to_c(g_TD x) { const g_TC y = {x.re, x.im}; return y; }
g_DEV g_TD g_from_c(g_TC x) { const g_TD y = {x.re, x.im}; return y; }
g_DEV g_TC g_from_s(g_TS x) { const g_TC y = {x.re, x.im}; return y; }
g_DEV g_TS g_to_s(g_TC x) { const g_TS y = {x.re, x.im}; return y; }
g_DEV g_TC g_zero() { const g_TC y = {0, 0}; return y; }
g_DEV bool g_is_zero(g_TC x) { return x.re == 0 && x.im == 0; }
g_DEV g_TC g_add(g_TC x, g_TC y) { const g_TC z = {x.re + y.re, x.im + y.im}; return z; }
g_DEV g_TC g_mul(g_TC x, g_TC y)
{
    const g_TC z = {g_fma(x.re, y.re, -(x.im * y.im)), g_fma(x.re, y.im, x.im * y.re)};
    return z;
}
g_DEV g_TC g_madd(g_TC x, g_TC y, g_TC z)
{
    const g_TC r = {g_fma(-x.im, y.im, g_fma(x.re, y.re, z.re)),
                   g_fma(x.im, y.re, g_fma(x.re, y.im, z.im))};
    return r;
}
