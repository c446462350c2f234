
/* Packs a contraction's operand: panels of `width` rows, in a panel a row of D's side after another for each
 * element of K. Elements in the zero padding, and rows behind n, are 0. */
struct g_Run {
    int64_t n, step, moves[6], edge[6];
};
typedef void g_Coordinate(const struct g_Dims *, int64_t, int64_t *, int64_t *);
typedef void g_RunOf(const struct g_Dims *, int64_t, struct g_Run *);
struct g_Rows {
    int64_t n, at[g_ROWS_MAX], place[6][g_ROWS_MAX], low[6], high[6];
    int together; /* all there, and neighbours in memory */
};
static const g_TI g_nothing[g_RUN_MAX];

#define g_INLINED static inline __attribute__((always_inline))

g_INLINED void g_rows(const struct g_Dims *x, int64_t from, int64_t n, const int width, const int pads,
                      g_Coordinate *side, struct g_Rows *r)
{
    r->n = n < width ? n : width;
    for (int i = 0; i < r->n; i++) {
        int64_t place[6];
        side(x, from + i, &r->at[i], place);
        for (int z = 0; z < pads; z++) {
            r->place[z][i] = place[z];
            r->low[z] = i == 0 || place[z] < r->low[z] ? place[z] : r->low[z];
            r->high[z] = i == 0 || place[z] > r->high[z] ? place[z] : r->high[z];
        }
    }
    r->together = r->n == width;
    for (int i = 1; i < r->n; i++) r->together &= r->at[i] == r->at[0] + i;
}

g_INLINED int g_is_inside(const struct g_Rows *r, int i, const struct g_Run *run, const int64_t *here, const int pads)
{
    int inside = 1;
    for (int z = 0; z < pads; z++) inside &= (uint64_t)(r->place[z][i] + here[z]) < (uint64_t)run->edge[z];
    return inside;
}

/* Where K runs through memory: each row of a run is inside or outside as a whole, unless the run itself moves
 * along a padded dimension. */
g_INLINED void g_pack_runs(const struct g_Dims *x, const g_TI *p, int64_t from, int64_t n, int64_t k0, int64_t k,
                           g_TC *restrict o, const int width, const int pads, g_Coordinate *side,
                           g_Coordinate *sum, g_RunOf *run_of)
{
    const int stripe = width % 8 == 0 ? 8 : width % 6 == 0 ? 6 : width % 4 == 0 ? 4 : width % 2 == 0 ? 2 : 1;
    struct g_Rows r;
    struct g_Run run;
    for (int64_t panel = 0; panel < n; panel += width) {
        g_rows(x, from + panel, n - panel, width, pads, side, &r);
        for (int64_t q = 0, m; q < k; q += m) {
            int64_t at, here[6];
            int moves = 0;
            sum(x, k0 + q, &at, here);
            run_of(x, k0 + q, &run);
            for (int z = 0; z < pads; z++) moves |= run.moves[z] != 0;
            m = moves ? 1 : run.n < k - q ? run.n : k - q;
            for (int i = 0; i < width; i += stripe) {
                const g_TI *e[8];
                g_TC *to = o + q * width + i;
                for (int j = 0; j < stripe; j++)
                    e[j] = i + j < r.n && g_is_inside(&r, i + j, &run, here, pads) ? p + r.at[i + j] + at : g_nothing;
                if (run.step == 1 || m == 1) {
                    for (int64_t c = 0; c < m; c++, to += width)
                        for (int j = 0; j < stripe; j++) to[j] = g_in(e[j][c]);
                } else {
                    for (int64_t c = 0; c < m; c++, to += width)
                        for (int j = 0; j < stripe; j++) to[j] = g_in(e[j] == g_nothing ? 0 : e[j][c * run.step]);
                }
            }
        }
        o += k * width;
    }
}

/* Elsewhere: row after row of the packed panel. */
g_INLINED void g_pack_rows(const struct g_Dims *x, const g_TI *p, int64_t from, int64_t n, int64_t k0, int64_t k,
                           g_TC *restrict o, const int width, const int pads, g_Coordinate *side,
                           g_Coordinate *sum, g_RunOf *run_of)
{
    struct g_Rows r;
    struct g_Run run;
    for (int64_t panel = 0; panel < n; panel += width) {
        g_rows(x, from + panel, n - panel, width, pads, side, &r);
        for (int64_t q = 0, m; q < k; q += m) {
            int64_t at, here[6];
            sum(x, k0 + q, &at, here);
            run_of(x, k0 + q, &run);
            m = run.n < k - q ? run.n : k - q;
            for (int64_t c = 0; c < m; c++, o += width, at += run.step) {
                int all = 1;
                for (int z = 0; z < pads; z++) all &= r.low[z] + here[z] >= 0 && r.high[z] + here[z] < run.edge[z];
                if (all && r.together) {
                    const g_TI *e = p + r.at[0] + at;
                    for (int i = 0; i < width; i++) o[i] = g_in(e[i]);
                } else if (all) {
                    for (int i = 0; i < r.n; i++) o[i] = g_in(p[r.at[i] + at]);
                } else {
                    for (int i = 0; i < r.n; i++)
                        o[i] = g_is_inside(&r, i, &run, here, pads) ? g_in(p[r.at[i] + at]) : 0;
                }
                for (int64_t i = r.n; i < width; i++) o[i] = 0;
                for (int z = 0; z < pads; z++) here[z] += run.moves[z];
            }
        }
    }
}
