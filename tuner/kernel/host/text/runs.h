/* Columns of a block that follow each other along the fastest index of N, for instance pixels of a row of an
 * image: `n` of them from column `column` of the block on. Packed they lie one behind the other, and elements
 * of K `pitch` apart. at: the place of the first one in B, in B's zero pads, in D and in C. */
typedef struct {
    int64_t column, n, pitch, at[g_PLACES];
} g_Row;
/* What a packed row has: elements of B from `at` on, of n columns and k elements of K, of which those are not
 * 0 that are inside of a zero pad: columns first[0] .. last[0] - 1, positions first[1] .. last[1] - 1. It
 * lies at `slot`. */
typedef struct {
    int64_t at, n, k, first[2], last[2];
    int32_t slot, chunk;
} g_Memo;
/* The columns of a block as rows, the elements of K of a chunk as taps of tap_rows elements, and where the
 * packed block has the elements of row r and tap t: at slot[r * taps + t], or nowhere (-1) where all are in
 * the zero padding. Rows and taps that read the same elements share them. along, along_k: what places grow by
 * from one column of a row to the next, from one element of K of a tap to the next. */
typedef struct {
    int64_t taps, rows, chunk, listed, further, fetched, fetched_k, share, along_k, along[g_PLACES];
    const g_TI *p;
    int64_t tap_rows[g_KC];
    g_Row row[g_NC];
    g_Memo memo[g_MEMO], list[g_LIST]; /* list: rows whose elements share few cache lines */
    int32_t slot[(int64_t)g_NC * g_KC];
} g_Runs;
_Static_assert(sizeof(g_Runs) <= g_RUNS_BYTES, "the tables' room");

static void g_runs_open(g_Runs *x)
{
    memset(x->memo, 0, sizeof x->memo);
    x->chunk = x->listed = 0;
}

/* How many elements of the first digit of K a part has (g_taps), so that a chunk has all taps of a part where
 * it can: rows that several taps read are packed once for a chunk. */
static int64_t g_part(int digits, const int64_t *size)
{
    enum { LEAST = 8, USUAL = 32 }; /* elements of a tap, below which loops over K are short */
    int64_t others = 1, parts;
    for (int d = 1; d < digits; d++) others *= size[d];
    if (others < 1 || size[0] < 1) return 1;
    int64_t most = g_KC / others;
    if (most < LEAST && most < size[0]) most = USUAL;
    parts = (size[0] + most - 1) / most;
    return (size[0] + parts - 1) / parts;
}

/* Elements of K of a chunk: a part, where it is not too large. */
static int64_t g_depth(int digits, const int64_t *size)
{
    int64_t depth = g_part(digits, size);
    for (int d = 1; d < digits; d++) depth *= size[d];
    return depth > 0 && depth <= g_KC ? depth : g_KC;
}

/* Cuts columns first .. first + n - 1, numbers whose digits have those sizes, into rows. Digits of size 1 are
 * left out, and rows that go on where the row before ends are parts of it. */
static void g_cut(g_Runs *x, int digits, const int64_t *size, int64_t (*step)[g_DIGITS], int64_t first, int64_t n)
{
    int64_t its_size[g_DIGITS], its_step[g_PLACES][g_DIGITS], digit[g_DIGITS];
    int m = 0;
    for (int d = 0; d < digits; d++) {
        if (size[d] == 1 && (m || d + 1 < digits)) continue;
        its_size[m] = size[d];
        for (int p = 0; p < g_PLACES; p++) its_step[p][m] = step[p][d];
        m++;
    }
    for (int d = 0; d < m; d++) {
        digit[d] = d + 1 < m ? first % its_size[d] : first;
        first = d + 1 < m ? first / its_size[d] : 0;
    }
    for (int p = 0; p < g_PLACES; p++) x->along[p] = its_step[p][0];
    x->rows = 0;
    for (int64_t i = 0, run; i < n; i += run) {
        g_Row *r = &x->row[x->rows];
        int joins = x->rows > 0;
        run = m > 1 && n - i > its_size[0] - digit[0] ? its_size[0] - digit[0] : n - i;
        for (int p = 0; p < g_PLACES; p++) {
            r->at[p] = 0;
            for (int d = 0; d < m; d++) r->at[p] += digit[d] * its_step[p][d];
            joins = joins && r->at[p] == r[-1].at[p] + r[-1].n * x->along[p];
        }
        r->column = i, r->n = run;
        if (joins)
            r[-1].n += run;
        else
            x->rows++;
        digit[0] = 0;
        for (int d = 1; d < m && ++digit[d] == its_size[d] && d + 1 < m; d++) digit[d] = 0;
    }
}

static inline int64_t g_up(int64_t x, int64_t step) { return x <= 0 ? 0 : (x + step - 1) / step; }

/* Which elements of a row and a tap are inside all zero pads. Returns 0 where none is. */
static inline int g_inside(const g_Runs *x, const g_Row *r, const int64_t *at_tap, const int64_t *along_k,
    const int64_t *start, const int64_t *edge, g_Memo *m)
{
    m->first[0] = 0, m->last[0] = r->n, m->first[1] = INT64_MIN, m->last[1] = INT64_MAX;
    for (int p = 1; p <= g_PADS; p++) {
        const int64_t at = r->at[p] + at_tap[p], along = x->along[p];
        const int64_t first = start[p - 1] - at, last = edge[p - 1] - at;
        if (last <= 0 || first > (r->n - 1) * along + (m->k - 1) * along_k[p]) return 0;
        if (along_k[p]) {
            m->first[1] = first, m->last[1] = last;
        } else if (along) {
            const int64_t from = along == 1 ? first : g_up(first, along), to = along == 1 ? last : g_up(last, along);
            if (from > m->first[0]) m->first[0] = from;
            if (to < m->last[0]) m->last[0] = to;
        }
    }
    return m->first[0] < m->last[0];
}

/* Packs a row of which the same columns are inside for all elements of K. */
static inline __attribute__((always_inline)) void g_pack_row(const g_TI *p, const g_Memo *m, int64_t along,
    int64_t along_k, g_TC *restrict o)
{
    const int64_t n = m->n, first = m->first[0], last = m->last[0];
#if g_MASKED_LOADS
    enum { VECTORS = 8 };
    const int has_vectors = along >= 1 && along <= (g_SPREAD_LOADS ? g_APART : 1);
    for (int64_t part = 0; part < n && has_vectors; part += VECTORS * g_VL) {
        unsigned there[VECTORS], kept[VECTORS];
        int vectors = 0;
        for (int64_t j = part; j < n && vectors < VECTORS; j += g_VL, vectors++) {
            const int64_t left = n - j, before = first - j, below = last - j;
            const unsigned all = left >= g_VL ? (1u << g_VL) - 1 : (1u << left) - 1;
            there[vectors] = all;
            kept[vectors] = below >= g_VL ? all : below <= 0 ? 0 : all & ((1u << below) - 1);
            if (before > 0) kept[vectors] &= before >= g_VL ? 0 : ~0u << before;
        }
        const g_TI *from = p + part * along;
        g_TC *to = o + part;
        for (int64_t q = 0; q < m->k; q++, from += along_k, to += n)
            for (int v = 0; v < vectors; v++)
                g_MM(mask_storeu)(to + v * g_VL, (g_Lanes)there[v], g_elements(from + v * g_VL * along, along, kept[v]));
    }
    if (has_vectors) return;
#endif
    for (int64_t q = 0; q < m->k; q++, p += along_k, o += n) {
        for (int64_t j = 0; j < first; j++) o[j] = 0;
        for (int64_t j = first; j < last; j++) o[j] = g_in(p[j * along]);
        for (int64_t j = last; j < n; j++) o[j] = 0;
    }
}

/* Packs a row whose columns and elements of K are windows of the same elements of memory, `pitch` apart. */
static inline void g_pack_window(const g_TI *p, const g_Memo *m, int64_t pitch, g_TC *restrict o)
{
    const int64_t n = (m->k - 1) * pitch + m->n;
    const int64_t first = m->first[1] < 0 ? 0 : m->first[1] > n ? n : m->first[1];
    const int64_t last = m->last[1] > n ? n : m->last[1];
    for (int64_t j = 0; j < first; j++) o[j] = 0;
    for (int64_t j = first; j < last; j++) o[j] = g_in(p[j]);
    for (int64_t j = last; j < n; j++) o[j] = 0;
}

/* Packs a row element by element: with the zero pad whose position grows along columns and along K. */
static inline void g_pack_corner(const g_TI *p, const g_Memo *m, int64_t along, int64_t along_k, int64_t of_column,
    int64_t of_k, g_TC *restrict o)
{
    for (int64_t q = 0; q < m->k; q++, p += along_k, o += m->n)
        for (int64_t j = 0; j < m->n; j++) {
            const int64_t at = j * of_column + q * of_k;
            const int is_in = m->first[0] <= j && j < m->last[0] && m->first[1] <= at && at < m->last[1];
            o[j] = is_in ? g_in(p[j * along]) : (g_TC)0;
        }
}

/* Notes a packed row, unless it begins near the one before, whose cache lines it shares. */
static inline void g_list(g_Runs *x, const g_Memo *m)
{
    const g_Memo *before = &x->list[x->listed - 1];
    const int64_t from = x->listed ? m->at - before->at : INT64_MAX;
    if (x->listed == g_LIST || (-16 < from && from < 16)) return;
    x->list[x->listed++] = *m;
}

/* Packs all rows of the block for all taps of the chunk. at: of the taps, in B and in its zero pads; along_k:
 * the same from one element of K to the next; start, edge: of the pads. */
static void g_share(const g_TI *p, g_Runs *x, int64_t (*at)[g_KC], const int64_t *along_k, const int64_t *start,
    const int64_t *edge, g_TC *restrict o)
{
    int64_t used = 0;
    x->listed = 0;
    int along_pad = 0, windows = x->along[0] == 1 && along_k[0] > 0;
    for (int i = 1; i <= g_PADS; i++) {
        if (along_k[i]) along_pad = i;
        windows = windows && ((!x->along[i] && !along_k[i]) || (x->along[i] == 1 && along_k[i] == along_k[0]));
    }
    x->chunk = x->chunk < INT32_MAX ? x->chunk + 1 : 1;
    for (int64_t r = 0; r < x->rows; r++) {
        g_Row *row = &x->row[r];
        const int window = windows && along_k[0] <= row->n;
        row->pitch = window ? along_k[0] : row->n;
        for (int64_t t = 0; t < x->taps; t++) {
            int64_t at_tap[g_PLACES];
            int32_t *slot = &x->slot[r * x->taps + t];
            for (int i = 0; i <= g_PADS; i++) at_tap[i] = at[i][t];
            g_Memo m = {.at = row->at[0] + at_tap[0], .n = row->n, .k = x->tap_rows[t], .chunk = (int32_t)x->chunk};
            if (!g_inside(x, row, at_tap, along_k, start, edge, &m)) {
                *slot = -1;
                continue;
            }
            g_Memo *its = &x->memo[((uint64_t)m.at * 0x9e3779b97f4a7c15u >> 32) % g_MEMO];
            if (its->chunk == m.chunk && its->at == m.at && its->n == m.n && its->k == m.k &&
                its->first[0] == m.first[0] && its->last[0] == m.last[0] && its->first[1] == m.first[1] &&
                its->last[1] == m.last[1]) {
                *slot = its->slot;
                continue;
            }
            m.slot = *slot = (int32_t)used;
            *its = m;
            if (window)
                g_pack_window(p + m.at, &m, row->pitch, o + used);
            else if (along_pad)
                g_pack_corner(p + m.at, &m, x->along[0], along_k[0], x->along[along_pad], along_k[along_pad], o + used);
            else if (x->along[0] == 1)
                g_pack_row(p + m.at, &m, 1, along_k[0], o + used);
            else if (x->along[0] == 2)
                g_pack_row(p + m.at, &m, 2, along_k[0], o + used);
            else
                g_pack_row(p + m.at, &m, x->along[0], along_k[0], o + used);
            used += (m.k - 1) * row->pitch + m.n;
            g_list(x, &m);
        }
    }
    x->p = p;
    x->along_k = along_k[0];
}

/* The place of a column. */
static int64_t g_place(int digits, const int64_t *size, const int64_t *step, int64_t column)
{
    int64_t at = 0;
    for (int d = 0; d < digits; d++) {
        at += (d + 1 < digits ? column % size[d] : column) * step[d];
        if (d + 1 < digits) column /= size[d];
    }
    return at;
}

/* Begins to prefetch what the next chunk of K packs, or behind the last one the next block of columns: about
 * what this one has packed, but `further` elements behind it. Columns: n from `first` on; tap: where the
 * chunk's first tap is. */
static void g_fetch_open(g_Runs *x, int is_last, int digits, const int64_t *size, const int64_t *step, int64_t first,
    int64_t n, int64_t tap)
{
    int64_t lines = 0, pieces = 0;
    for (int64_t i = 0; i < x->listed; i++) lines += x->list[i].k;
    for (int64_t r = 0; r < x->rows; r++) pieces += (x->row[r].n + g_NR - 1) / g_NR;
    x->further = is_last ? g_place(digits, size, step, first + n) - g_place(digits, size, step, first) - tap
                         : x->along_k * (x->taps ? x->tap_rows[0] : 0);
    x->fetched = x->fetched_k = 0;
    x->share = (lines + pieces - 1) / (pieces > 0 ? pieces : 1);
}

/* Prefetches the share of a register tile. */
static inline void g_fetch(g_Runs *x)
{
    enum { TO_READ = 0, SECOND_LEVEL = 2, LINE = 64 / sizeof(g_TI) };
    for (int64_t left = x->share; left > 0 && x->fetched < x->listed; left--) {
        const g_Memo *m = &x->list[x->fetched];
        const g_TI *from = x->p + m->at + x->further + x->fetched_k * x->along_k;
        const int64_t n = (m->n - 1) * x->along[0] + 1;
        for (int64_t j = 0; j < n; j += LINE) __builtin_prefetch(from + j, TO_READ, SECOND_LEVEL);
        __builtin_prefetch(from + n - 1, TO_READ, SECOND_LEVEL);
        if (++x->fetched_k < m->k) continue;
        x->fetched_k = 0;
        x->fetched++;
    }
}
