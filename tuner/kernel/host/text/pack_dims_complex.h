
/* Packs a contraction's operand of complex numbers, element by element: panels of `width` rows, of A the real
 * parts of a row and then the imaginary ones, of B pairs. Elements in the zero padding, and rows behind n, are
 * 0. sign: of the imaginary part. */
struct g_Run {
    int64_t n, step, moves[6], edge[6];
};
typedef void g_Coordinate(const struct g_Dims *, int64_t, int64_t *, int64_t *);
typedef void g_RunOf(const struct g_Dims *, int64_t, struct g_Run *);

#define g_INLINED static inline __attribute__((always_inline))

g_INLINED void g_pack_complex(const struct g_Dims *x, const g_TI *p, int64_t from, int64_t n, int64_t k0, int64_t k,
                              g_TC *restrict o, const int width, const int pads, g_Coordinate *side,
                              g_Coordinate *sum, g_RunOf *run_of, const int sign, const int apart, const int part)
{
    struct g_Run run;
    for (int64_t panel = 0; panel < n; panel += width)
        for (int64_t q = 0; q < k; q++, o += 2 * width) {
            int64_t at, here[6];
            sum(x, k0 + q, &at, here);
            run_of(x, k0 + q, &run);
            for (int i = 0; i < width; i++) {
                int64_t row, place[6];
                int inside = panel + i < n;
                if (inside) side(x, from + panel + i, &row, place);
                for (int z = 0; z < pads && inside; z++)
                    inside = (uint64_t)(place[z] + here[z]) < (uint64_t)run.edge[z];
                o[i * apart] = inside ? p[row + at] : 0;
                o[i * apart + part] = inside ? (g_TC)sign * p[row + at + 1] : 0;
            }
        }
}

g_INLINED void g_pack_parts(const struct g_Dims *x, const g_TI *p, int64_t from, int64_t n, int64_t k0, int64_t k,
                            g_TC *restrict o, const int width, const int pads, g_Coordinate *side,
                            g_Coordinate *sum, g_RunOf *run_of, const int sign)
{
    g_pack_complex(x, p, from, n, k0, k, o, width, pads, side, sum, run_of, sign, 1, width);
}

g_INLINED void g_pack_pairs(const struct g_Dims *x, const g_TI *p, int64_t from, int64_t n, int64_t k0, int64_t k,
                            g_TC *restrict o, const int width, const int pads, g_Coordinate *side,
                            g_Coordinate *sum, g_RunOf *run_of, const int sign)
{
    g_pack_complex(x, p, from, n, k0, k, o, width, pads, side, sum, run_of, sign, 2, 1);
}
