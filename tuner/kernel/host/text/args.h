
typedef struct {
    void *d, *c, *a, *b, *w;
    int64_t offd, offc, offa, offb;
    int64_t ldd, ldc, lda, ldb, ldw, batchd, batchc, batcha, batchb, batchw, m, n, batch, k, gsu;
    g_TC ab[2 * g_PARTS];
} g_Args;
static inline void *g_pointer(const char *p)
{
    void *x;
    memcpy(&x, p, sizeof x);
    return x;
}
static inline uint16_t g_u16(const char *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return x;
}
static inline uint32_t g_u32(const char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}
static inline int64_t g_i64(const char *p)
{
    int64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}
static inline g_TC g_real(const char *p)
{
    g_TC x;
    memcpy(&x, p, sizeof x);
    return x;
}
