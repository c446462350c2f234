/* Arguments of a kernel with fused operations. A scale is a vector or points to a single number. */
typedef struct {
    g_Args args;
    const g_TC *scale_a, *scale_b, *scale_c, *scale_d, *scale_alpha;
    const g_TB *bias;
    int64_t bias_batch;
    g_TC number[2];
    int32_t is_part; /* of a tile: sums are stored as they are */
} g_Fused;
/* e^x in double precision: x = k ln 2 + r, with ln 2 in two parts (Cody and Waite); a Taylor polynomial of r; the
 * factor 2^k in two steps, so that results may be denormal. */
static inline double g_exp(double x)
{
    double k, r, p, half[2];
    uint64_t bits;
    if (!(x < 709.79)) return x * 1e300;
    if (x < -746) return 0;
    k = x * 1.4426950408889634;
    k = (double)(int64_t)(k < 0 ? k - 0.5 : k + 0.5);
    r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10;
    p = 1.0 + r / 13;
    for (int i = 12; i > 0; i--) p = 1.0 + r / i * p;
    for (int i = 0; i < 2; i++) {
        const int64_t e = i ? (int64_t)k - (int64_t)k / 2 : (int64_t)k / 2;
        bits = (uint64_t)(e + 1023) << 52;
        memcpy(&half[i], &bits, 8);
    }
    return p * half[0] * half[1];
}
static inline double g_tanh(double x)
{
    const double e = g_exp(-2 * (x < 0 ? -x : x)), t = (1 - e) / (1 + e);
    return x < 0 ? -t : t;
}
static inline double g_sigmoid(double x) { return 1 / (1 + g_exp(-x)); }
