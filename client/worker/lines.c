/* Loops over lines of doubles. See lines.h. */
#include "client/worker/lines.h"

#include <math.h>

typedef double Vec __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

#define AT(x, i) (*(const Vec *)(const void *)&(x)[i])
#define TO(x, i) (*(Vec *)(void *)&(x)[i])

CLONES void line_add(double *to, double factor, const double *x, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) TO(to, i) += factor * AT(x, i);
    for (; i < n; i++) to[i] += factor * x[i];
}

CLONES void line_add_squares(double *to, const double *x, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) TO(to, i) += AT(x, i) * AT(x, i);
    for (; i < n; i++) to[i] += x[i] * x[i];
}

CLONES void line_add_lanes(double *to, const double *x, int64_t n)
{
    Vec s0 = AT(to, 0), s1 = {0}, s2 = {0}, s3 = {0};
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        s0 += AT(x, i) * AT(x, i);
        s1 += AT(x, i + LANES) * AT(x, i + LANES);
        s2 += AT(x, i + 2 * LANES) * AT(x, i + 2 * LANES);
        s3 += AT(x, i + 3 * LANES) * AT(x, i + 3 * LANES);
    }
    for (; i < n; i += LANES) s0 += AT(x, i) * AT(x, i);
    TO(to, 0) = s0 + s1 + (s2 + s3);
}

CLONES double line_dot(const double *x, const double *y, int64_t n)
{
    Vec s0 = {0}, s1 = {0};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        s0 += AT(x, i) * AT(y, i);
        s1 += AT(x, i + LANES) * AT(y, i + LANES);
    }
    s0 += s1;
    double sum = 0;
    for (; i < n; i++) sum += x[i] * y[i];
    for (int l = 0; l < LANES; l++) sum += s0[l];
    return sum;
}

CLONES double line_max(const double *x, int64_t n)
{
    Vec most = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const Mask more = AT(x, i) > most;
        most = (Vec)(((Mask)AT(x, i) & more) | ((Mask)most & ~more));
    }
    double max = 0;
    for (; i < n; i++) max = x[i] > max ? x[i] : max;
    for (int l = 0; l < LANES; l++) max = most[l] > max ? most[l] : max;
    return max;
}

/* Numbers of WHOLE and more are integers; adding it rounds smaller ones. */
CLONES bool line_is_integral(const double *x, int64_t n)
{
    static const double WHOLE = 0x1p52;
    static const int64_t NOT_SIGN = INT64_MAX;
    Mask bad = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const Vec size = (Vec)((Mask)AT(x, i) & NOT_SIGN);
        bad |= ~(Mask)(size >= WHOLE) & (Mask)(size + WHOLE - WHOLE != size);
    }
    int64_t any = 0;
    for (int l = 0; l < LANES; l++) any |= bad[l];
    for (; i < n && !any; i++) {
        const double size = fabs(x[i]);
        any = !(size >= WHOLE || size + WHOLE - WHOLE == size);
    }
    return !any;
}
