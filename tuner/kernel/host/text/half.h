static inline float g_h2f(uint16_t h)
{
    uint32_t s = (uint32_t)(h & 0x8000u) << 16, e = h >> 10 & 31u, m = h & 1023u, u;
    float f = (float)m * 0x1p-24f;
    memcpy(&u, &f, 4);
    if (e == 31) u = 0x7f800000u | m << 13;
    else if (e) u = (e + 112) << 23 | m << 13;
    u |= s;
    memcpy(&f, &u, 4);
    return f;
}
static inline uint16_t g_f2h(float f)
{
    uint32_t u, s, a;
    memcpy(&u, &f, 4);
    s = u >> 16 & 0x8000u;
    a = u & 0x7fffffffu;
    if (a > 0x7f800000u) return (uint16_t)(s | 0x7e00u | (a >> 13 & 0x3ffu));
    if (a >= 0x477ff000u) return (uint16_t)(s | 0x7c00u);
    if (a < 0x38800000u) {
        memcpy(&f, &a, 4);
        f += 0.5f;
        memcpy(&a, &f, 4);
        return (uint16_t)(s | (a - 0x3f000000u));
    }
    return (uint16_t)(s | ((a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13));
}
