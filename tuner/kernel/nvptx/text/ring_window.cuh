/* Pixels that stay in shared memory (KeepWindow): a work-group copies the pixels that its tile's outputs reach
 * once, and multiplies them from there, tap by tap. Filters go through a ring of stages of DepthU elements of
 * K. Constants: MT0 MT1 NT DU (ring.h); WAVE_M WAVE_N, the rows and columns of a warp; WAVES_M, warps along
 * rows; WIDE, elements of a piece of the filter; K_MAJOR, channels of the filter are contiguous, else its rows;
 * STAGES; LINE_BYTES STAGE_BYTES KEPT_BYTES (problem/keep.h). @wait_for_launches() waits for the launch before, if it may still run.
 *
 *     stages   K_MAJOR: a line of DepthU elements per row; else a line of rows per element of K
 *     kept     a @Ring for what is seldom or later, so that it needs no registers meanwhile
 *     table    for each step of K: bytes from an output's first pixel, elements from the filter's first one,
 *              the first channel
 *     lines    K_MAJOR: for each row, elements from the filter's first one to the row's first channel, and that
 *              channel, counted from those of the row's group
 *     pixels   lines of `pitch` bytes, which lie in rows of `cols` pixels
 *
 * A step is 16 channels of a tap. Rows and channels of all groups are counted through. The rows of a warp
 * read the same channels, those of their groups; elements of the filter are 0 where a row and a channel are of
 * different groups. Lines have an odd number of 16-byte chunks, so that ldmatrix has no bank conflicts. */
constexpr int @STEPS = @DU / 16; /* of a stage */
/* A divisor and 2^32 / divisor; the quotient is that or one more. */
struct @Divisor {
    @u32 d, m;
};
@DEV @Divisor @divisor(@u32 d) { return {d, 0xffffffffu / d}; }
@DEV int @quotient(@u32 n, const @Divisor &by)
{
    const @u32 q = (@u32)((@u64)n * by.m >> 32);
    return q + (n - q * by.d >= by.d);
}

struct @CopyA {
};
struct @CopyB {
};
struct @Ring {
    @u32 smem;
    int chunks, whole, wrap, tail;
    unsigned first, step;
    @Dims x;
    @Window w;
    @Divisor by_w, by_h, by_rows; /* columns and rows of outputs, rows of a group */
    int n0, last, m0, rows, channel0;     /* last: column of the tile; rows: of all groups */
    int per_tap, pieces;                  /* arguments: steps of a tap, pieces of 16 bytes of a pixel */
    int steps, n_chunks, start;           /* steps of all taps; chunks of the filter, the first one */
    int image, row_in_image, lead;        /* of the first output: its image, row and column */
    int image_rows, rest;                 /* rows of pixels of an image, of what is left of the first one */
    int cols, lines, pitch;
    const @T *a;
    @u32 table, line_table, pixels;
};
constexpr int @KEPT_AT = @STAGES * @STAGE_BYTES;
static_assert(sizeof(@Ring) <= @KEPT_BYTES, "there is room for it");

/* The first row of pixels that row r of outputs reads. */
@DEV int @pixel_row(const @Ring &g, int r)
{
    const int q = @quotient(r, g.by_h), image = q - g.image, row = r - q * g.w.outs_h;
    return image ? g.rest + (image - 1) * g.image_rows + row * g.w.step_h : (row - g.row_in_image) * g.w.step_h;
}
/* Bytes from the first pixel to the first one that column n reads. */
@DEV int @pixel_at(const @Ring &g, int n)
{
    n = n < g.last ? n : g.last;
    const int row = @quotient(n, g.by_w);
    return (@pixel_row(g, row) * g.cols + (n - row * g.w.outs_w - g.lead) * g.w.step_w) * g.pitch;
}
/* The first channel, of all groups, that the warp's rows from m on read. */
@DEV int @first_channel(const @Ring &g, int m) { return @quotient(g.m0 + m, g.by_rows) * g.w.channels & ~7; }

/* Rows that are none have channels that no group has. */
@DEV void @fill_lines(const @Ring &g, int tid)
{
    for (int m = tid; m < @MT0; m += @NT) {
        const int row = g.m0 + m, group = @quotient(row, g.by_rows);
        const int first = @first_channel(g, m / @WAVE_M * @WAVE_M) - group * g.w.channels;
        const int line = group * g.w.filter_group + (row - group * g.w.rows) * g.w.filter_row + first;
        const @u32 v[4] = {(@u32)line, (@u32)(row < g.rows ? first : -0x40000000), 0, 0};
        @sts<16>(g.line_table + m * 16, v);
    }
}
/* Entries behind the last step are read, but not used. */
@DEV void @fill_table(const @Ring &g, int tid)
{
    for (int s = tid; s < g.steps + @STEPS; s += @NT) {
        const int tap = s / g.per_tap, c = s % g.per_tap * 16, x = tap % g.w.taps_w, y = tap / g.w.taps_w;
        const @u32 at = (y * g.w.tap_h * g.cols + x * g.w.tap_w) * g.pitch + c * 2;
        const @u32 v[4] = {s < g.steps ? at : 0, (@u32)(x * g.w.filter_w + y * g.w.filter_h), (@u32)c, 0};
        @sts<16>(g.table + s * 16, v);
    }
}

@DEV void @sts_half(@u32 to, unsigned short v)
{
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(v) : "memory");
}
@DEV unsigned short @lds_half(@u32 at)
{
    unsigned short v;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(at) : "memory");
    return v;
}
/* Copies a piece of the filter, or zeros. */
@DEV void @copy_piece(@u32 to, const @T *from, bool in)
{
    if constexpr (@WIDE > 1)
        @cpz<@WIDE * 2>(to, from, in ? @WIDE * 2 : 0);
    else {
        @sts_half(to, in ? *(const unsigned short *)from : 0);
    }
}
/* The chunk of the filter that is the i-th one of the work-group. Work-groups begin with different ones: all
 * would else read the same lines of the cache at the same time. */
@DEV int @turn(const @Ring &g, int i)
{
    const int chunk = g.start + i;
    return chunk < g.n_chunks ? chunk : chunk - g.n_chunks;
}
/* Copies the i-th chunk of the filter into its stage. */
@DEV void @copy_filter(const @Ring &g, int i_chunk, int tid)
{
    const int chunk = @turn(g, i_chunk), s0 = chunk * @STEPS, steps = g.steps - s0 < @STEPS ? g.steps - s0 : @STEPS;
    const @u32 stage = g.smem + i_chunk % @STAGES * @STAGE_BYTES, table = g.table + s0 * 16;
    if constexpr (@K_MAJOR) {
        constexpr int EACH = 16 / @WIDE, LINE = EACH * @STEPS, LINES = @NT / LINE;
        static_assert(@NT % LINE == 0, "a thread copies the same elements of each line");
        const int i = tid % LINE;
        if (i >= steps * EACH) return;
        @u32 t[4];
        @lds4(t, table + i / EACH * 16);
        const int c = (int)t[2] + i % EACH * @WIDE;
        const int from = (int)t[1] + c;
        @UNROLL for (int j = 0; j < (@MT0 + LINES - 1) / LINES; j++) {
            const int m = tid / LINE + j * LINES;
            if (@MT0 % LINES && m >= @MT0) break;
            @u32 line[4];
            @lds4(line, g.line_table + m * 16);
            @copy_piece(stage + m * @LINE_BYTES + i * (@WIDE * 2),
                        g.a + (from + (int)line[0]), (unsigned)((int)line[1] + c) < (unsigned)g.w.channels);
        }
    } else {
        constexpr int EACH = @MT0 / @WIDE;
        static_assert(@NT % EACH == 0, "a thread copies the same rows of each line");
        const int m = tid % EACH * @WIDE, row = g.m0 + m, group = @quotient(row, g.by_rows);
        const int first = @first_channel(g, m / @WAVE_M * @WAVE_M) - group * g.w.channels;
        const int from = group * g.w.filter_group + (row - group * g.w.rows);
        const int inside = row < g.rows ? g.w.channels : 0;
        constexpr int LINES = @NT / EACH;
        @UNROLL for (int j = 0; j < (@DU + LINES - 1) / LINES; j++) {
            const int k = tid / EACH + j * LINES;
            if (k >= steps * 16) break;
            @u32 t[4];
            @lds4(t, table + k / 16 * 16);
            const int c = first + (int)t[2] + k % 16;
            @copy_piece(stage + k * @LINE_BYTES + m * 2,
                        g.a + (from + (int)t[1] + c * g.w.filter_channel), (unsigned)c < (unsigned)inside);
        }
    }
}
@DEV void @copy_pixels(const @Ring &g, const @T *b, int tid)
{
    const int lane = tid % 32, row_pieces = g.cols * g.pieces, by_col = 32 / g.pieces, by_piece = 32 % g.pieces;
    const int channels = g.w.groups * g.w.channels - g.channel0;
    b += g.channel0;
    for (int line = tid / 32; line < g.lines; line += @NT / 32) {
        int image = g.image, row = g.row_in_image * g.w.step_h + line;
        if (line >= g.rest) {
            image += 1 + (line - g.rest) / g.image_rows;
            row = (line - g.rest) % g.image_rows;
        }
        const int y = row * g.w.pixel_h;
        const bool in_y = y >= g.w.top && y < g.w.bottom;
        const @T *const from = b + image * g.w.pixel_image + y;
        int col = lane / g.pieces, piece = lane % g.pieces;
        _Pragma("unroll 4") for (int i = lane; i < row_pieces; i += 32) {
            const int x = (g.lead * g.w.step_w + col) * g.w.pixel_w;
            const bool in = in_y && x >= g.w.left && x < g.w.right && piece * 8 < channels;
            @cpz<16>(g.pixels + (line * g.cols + col) * g.pitch + piece * 16, from + x + piece * 8, in ? 16 : 0);
            col += by_col;
            piece += by_piece;
            if (piece >= g.pieces) {
                piece -= g.pieces;
                col++;
            }
        }
    }
}

@DEV void @begin(@CopyA &, @CopyB &, @Ring &g, const @T *a, const @T *b, int m, int n, int m0, int n0, int tid)
{
    g.steps = 0;
    if (!g.chunks) {
        @wait_for_launches();
        return;
    }
    g.w = @window(g.x);
    g.m0 = m0, g.n0 = n0, g.rows = m;
    g.last = (n0 + @MT1 < n ? n0 + @MT1 : n) - 1;
    g.by_w = @divisor(g.w.outs_w), g.by_h = @divisor(g.w.outs_h), g.by_rows = @divisor(g.w.rows);
    const int first_row = @quotient(n0, g.by_w), last_row = @quotient(g.last, g.by_w);
    g.image = @quotient(first_row, g.by_h), g.row_in_image = first_row - g.image * g.w.outs_h;
    const int reach_w = (g.w.taps_w - 1) * g.w.tap_w + 1, reach_h = (g.w.taps_h - 1) * g.w.tap_h + 1;
    g.image_rows = (g.w.outs_h - 1) * g.w.step_h + reach_h;
    g.rest = g.image_rows - g.row_in_image * g.w.step_h;
    const bool one_row = last_row == first_row;
    g.lead = one_row ? n0 - first_row * g.w.outs_w : 0;
    g.cols = (one_row ? g.last - n0 : g.w.outs_w - 1) * g.w.step_w + reach_w;
    g.lines = @pixel_row(g, last_row) + reach_h;
    g.pitch = (g.pieces | 1) * 16;
    g.channel0 = @first_channel(g, 0);
    g.steps = g.w.taps_w * g.w.taps_h * g.per_tap;
    g.n_chunks = (g.steps + @STEPS - 1) / @STEPS;
    g.start = (n0 / @MT1 + m0 / @MT0) % g.n_chunks;
    g.table = g.smem + @KEPT_AT + @KEPT_BYTES;
    g.line_table = g.table + (g.steps + @STEPS) * 16;
    g.pixels = g.line_table + (@K_MAJOR ? @MT0 * 16 : 0);
    g.a = a;
    @fill_table(g, tid);
    if constexpr (@K_MAJOR) @fill_lines(g, tid);
    @wait_for_launches();
    @copy_pixels(g, b, tid);
    @barrier();
    @UNROLL for (int chunk = 0; chunk < @STAGES - 1; chunk++) {
        if (chunk < g.n_chunks) @copy_filter(g, chunk, tid);
        @commit();
    }
}

@DEV void @keep(const @Ring &g, char *lds, int tid)
{
    if (tid == 0) *(@Ring *)(lds + @KEPT_AT) = g;
}

/* The fragments of step `step` of a stage. `filter`: the lane's place in it; `entry`: of the stage's first
 * step in the table. */
@DEV void @load_step(@Frag &f, const @u32 *pixels, @u32 filter, @u32 entry, int step)
{
    @u32 t[1];
    @lds1(t, entry + step * 16);
    @UNROLL for (int i = 0; i < @WAVE_N / 16; i++) @ldsm(f.x[i], pixels[i] + t[0]);
    @UNROLL for (int j = 0; j < @WAVE_M / 16; j++)
        if constexpr (@K_MAJOR)
            @ldsm(f.y[j * 2], filter + j * 16 * @LINE_BYTES + step * 32);
        else
            @ldsm_t(f.y[j * 2], filter + step * 16 * @LINE_BYTES + j * 32);
}

/* The sum of row m and column n of the tile by its own group's elements alone: zeros in place of other groups'
 * make a sum NaN where their pixels are infinite or NaN. */
@DEV float @own_sum(const @Ring &g, int m, int n)
{
    const int row = g.m0 + m, group = @quotient(row, g.by_rows);
    const @u32 pixel = g.pixels + @pixel_at(g, g.n0 + n) + (group * g.w.channels - g.channel0) * 2;
    const unsigned short *const filter = (const unsigned short *)g.a + group * g.w.filter_group +
                                         (row - group * g.w.rows) * g.w.filter_row;
    float sum = 0;
    if (row >= g.rows) return sum;
    for (int tap = 0; tap < g.w.taps_w * g.w.taps_h; tap++) {
        @u32 t[4];
        @lds4(t, g.table + tap * g.per_tap * 16);
        for (int c = 0; c < g.w.channels; c++)
            sum = @fma(@element(filter[(int)t[1] + c * g.w.filter_channel]),
                       @element(@lds_half(pixel + t[0] + c * 2)), sum);
    }
    return sum;
}

/* The steps of the i-th chunk, and the copy of one into the stage before, which the products of the first step
 * hide. ALL: no step is behind the last one; next: the entry of the next chunk. */
template <bool ALL>
@DEV void @chunk_steps(@Acc &c, @Frag *f, const @Ring &g, const @u32 *pixels, @u32 own, @u32 &filter, @u32 &entry,
                       int i, @u32 next, int left, int tid)
{
    @UNROLL for (int s = 0; s < @STEPS; s++) {
        if (s == @STEPS - 1) {
            @arrived<@STAGES - 2>();
            @barrier();
            filter = own + (i + 1) % @STAGES * @STAGE_BYTES;
            entry = next;
            @load_step(f[(s + 1) % 2], pixels, filter, entry, 0);
        } else
            @load_step(f[(s + 1) % 2], pixels, filter, entry, s + 1);
        if (ALL || s < left) c.mac(f[s % 2]);
        if (s == 0) {
            if (i + @STAGES - 1 < g.n_chunks) @copy_filter(g, i + @STAGES - 1, tid);
            @commit();
        }
    }
}

@DEV void @main_loop(@Acc &c, @CopyA &, @CopyB &, @Ring &g)
{
    if (!g.steps) return;
    @u32 pixels[@WAVE_N / 16];
    @Frag f[2];
    const int tid = @tid(), lane = tid % 32, wave = tid / 32;
    const int m = wave % @WAVES_M * @WAVE_M, n = wave / @WAVES_M * @WAVE_N;
    @UNROLL for (int i = 0; i < @WAVE_N / 16; i++)
        pixels[i] = g.pixels + @pixel_at(g, g.n0 + n + i * 16 + lane % 16) + lane / 16 * 16 +
                    (@first_channel(g, m) - g.channel0) * 2;
    const int row = lane % 8, second = lane / 8 % 2 * 8, third = lane / 16 * 8;
    const @u32 own = g.smem + (@K_MAJOR ? (m + row + third) * @LINE_BYTES + second * 2
                                        : (row + second) * @LINE_BYTES + (m + third) * 2);
    @arrived<@STAGES - 2>();
    @barrier();
    @u32 filter = own, entry = g.table + @turn(g, 0) * (@STEPS * 16);
    @load_step(f[0], pixels, filter, entry, 0);
    @NOUNROLL for (int i = 0; i < g.n_chunks; i++) {
        const int left = g.steps - @turn(g, i) * @STEPS;
        const @u32 next = g.table + (i + 1 < g.n_chunks ? @turn(g, i + 1) : 0) * (@STEPS * 16);
        if (left >= @STEPS)
            @chunk_steps<true>(c, f, g, pixels, own, filter, entry, i, next, left, tid);
        else
            @chunk_steps<false>(c, f, g, pixels, own, filter, entry, i, next, left, tid);
    }
}

/* Makes sums that are NaN again. The sums are in registers: which one it is decides what is selected, so that
 * the text of own_sum stands here once. */
@DEV void @mend(@Acc &c, const char *lds)
{
    const @Ring &g = *(const @Ring *)(lds + @KEPT_AT);
    bool any = false;
    @UNROLL for (int r = 0; r < @N_RUN; r++)
        @UNROLL for (int e = 0; e < 2; e++) any |= c.get(r, e) != c.get(r, e);
    if (@SELDOM(any) && g.w.groups > 1)
        @NOUNROLL for (int i = 0; i < @N_RUN * 2; i++) {
            float x = 0;
            @UNROLL for (int r = 0; r < @N_RUN; r++)
                @UNROLL for (int e = 0; e < 2; e++) x = i == r * 2 + e ? c.get(r, e) : x;
            if (x == x) continue;
            x = @own_sum(g, c.row(i / 2) + i % 2, c.col(i / 2));
            @UNROLL for (int r = 0; r < @N_RUN; r++)
                @UNROLL for (int e = 0; e < 2; e++) c.set(r, e, i == r * 2 + e ? x : c.get(r, e));
        }
}
