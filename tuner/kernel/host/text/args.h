
typedef struct {
    uint64_t d, c, a, b, w;
    int64_t offd, offc, offa, offb;
    int64_t ldd, ldc, lda, ldb, ldw, batchd, batchc, batcha, batchb, batchw, m, n, batch, k, gsu;
    g_TC ab[2 * g_PARTS];
} g_Args;
static inline uint64_t g_word(const char *p, size_t bytes)
{
    uint64_t x = 0;
    memcpy(&x, p, bytes);
    return x;
}
static inline g_TC g_real(const char *p)
{
    g_TC x;
    memcpy(&x, p, sizeof x);
    return x;
}
