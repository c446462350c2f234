/* Lines of pixels that threads make (problem/lines.h). Beside the producer's first warp, which copies the other
 * operand, seven warps have a part in it. One goes ahead through blocks of LINE_PIXELS outputs (of a tile, or with
 * LINE_PER_TAP, of a few chunks of K): it lets the copy engine load the rows of the tensor that a block reads, and
 * notes where each output's lines begin. The makers copy lines from there to the stages. Beside the rows local memory
 * is zero, and rows of padding are read from zeros. In a stage a line of 128 bytes is an output's, in LINE_BLOCKS
 * blocks of LINE_ROWS outputs, swizzled as the copy engine does it. */
constexpr u32 LINE_LANES = 32, LINE_PAIR = 2; /* a unit of work: outputs of two for each lane, 8 pieces of each */
constexpr u32 LINE_GROUPS = (LINE_ROWS + LINE_LANES * LINE_PAIR - 1) / (LINE_LANES * LINE_PAIR);
constexpr u32 LINE_CHUNKS = LINE_PIXELS / LINE_ROWS; /* of a block, of those that follow one another */

/* Copies bytes, a multiple of 16, and counts them at the mbarrier. */
FN void copy_row(u32 to, const void *from, u32 bytes, u32 bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}
FN u32 line_word(u32 at)
{
    u32 v;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}
FN void store_piece(u32 at, u32 a, u32 b, u32 c, u32 d)
{
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
FN void store_place(u32 at, u32 a, u32 b)
{
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
}
FN void load_place(u32 at, u32 &a, u32 &b)
{
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
}

/* All threads of the work-group make the local memory of rows zero. */
FN void lines_clear(const Shared &shared)
{
    for (u32 at = threadIdx.x * 16; at < LINE_LOCAL_BYTES; at += LINE_THREADS * 16)
        store_piece(shared.lines() + at, 0, 0, 0, 0);
    proxy_fence();
}
FN u32 block_places(const Shared &shared, u32 buffer) { return shared.lines() + 128 + buffer * LINE_PIXELS * 8; }
FN u32 line_rows(const Shared &shared, u32 buffer)
{
    return shared.lines() + 128 + LINE_PIXELS * 16 + buffer * LINE_ROWS_BYTES;
}

/* ---- blocks of outputs ---- */

/* Chunks of a tile in their order, which may begin in the middle (StaggerU). */
struct LineChunks {
    u32 chunk, first; /* the next one; the first chunk of the block */
    bool is_first;
};
FN u32 chunk_of(const LineChunks &c, const WorkTile &p) { return p.first + c.chunk * p.step; }
/* Whether the chunk begins a block. */
FN bool begins_block(LineChunks &c, const WorkTile &p)
{
    const u32 of_k = chunk_of(c, p);
    const bool is = c.is_first || (LINE_PER_TAP && of_k - c.first >= LINE_CHUNKS);
    if (is) c.first = of_k, c.is_first = false;
    return is;
}
FN void next_chunk(LineChunks &c, const WorkTile &p) { c.chunk = c.chunk + 1 == p.count ? 0 : c.chunk + 1; }

/* The first output of a tile that is a block; the first piece of a chunk or, per tap, of a tile's lines; the place of
 * a chunk's first output. */
FN u32 first_output(const WindowArgs &args, const WorkTile &p)
{
    return p.batch * (args.line_outs_w * args.line_outs_h) + p.n;
}
FN u32 first_piece(const LineChunks &c, const WorkTile &p)
{
    return LINE_PER_TAP ? p.m / 8 : chunk_of(c, p) * (LINE_DEPTH / 8);
}
FN u32 line_places(const Shared &shared, u32 buffer, const LineChunks &c, const WorkTile &p)
{
    return block_places(shared, buffer) + (LINE_PER_TAP ? (chunk_of(c, p) - c.first) * (LINE_ROWS * 8) : 0);
}

/* The first row that an output reads. */
FN u32 line_row(const WindowArgs &args, u32 pixel)
{
    const u32 row = pixel / args.line_outs_w;
    return row / args.line_outs_h * args.line_rows + row % args.line_outs_h * args.line_step_h;
}

/* What a lane of the warp that loads a block does for it, found before the block's buffer is free: the first output
 * that it notes, and the first row that it loads. Rows are counted from row `from` on, and there are n. */
struct LineBlock {
    u32 from, n;
    u32 pixel, w, h, row; /* of the output: its number, its place in the image, its first row */
    u32 image, of_image;  /* of the row: its image, and its number there */
};
FN LineBlock block_of(const WindowArgs &args, u32 first, u32 lane)
{
    const u32 end = first + LINE_PIXELS < args.line_pixels ? first + LINE_PIXELS : args.line_pixels;
    const u32 from = line_row(args, first), pixel = first + lane;
    return {from,
            first < end ? line_row(args, end - 1) + args.line_reach - from : 0,
            pixel,
            pixel % args.line_outs_w,
            pixel / args.line_outs_w % args.line_outs_h,
            line_row(args, pixel) - from,
            (from + lane) / args.line_rows,
            (from + lane) % args.line_rows};
}

/* Starts the copies of the rows that a block reads. Returns their bytes. */
FN u32 load_rows(const WindowArgs &args, const Shared &shared, u32 buffer, const LineBlock &b, u32 lane)
{
    const u32 bar = shared.rows_full(buffer), to = line_rows(shared, buffer) + args.line_left;
    u32 image = b.image, of_image = b.of_image, n = 0;
    for (u32 at = 0; at < b.n; at += LINE_LANES) {
        if (at) image = (b.from + at + lane) / args.line_rows, of_image = (b.from + at + lane) % args.line_rows;
        const u32 h = of_image - args.line_top;
        const bool is_there = at + lane < b.n && h < args.line_height;
        if (is_there)
            copy_row(to + (at + lane) * args.line_pitch,
                     args.line_from + ((u64)image * args.line_from_image + (u64)h * args.line_from_h),
                     args.line_row_bytes, bar);
        n += __popc(__ballot_sync(0xffffffffu, is_there));
    }
    return n * args.line_row_bytes;
}

/* Writes where the lines of each output of a block begin, and which row of its image the first one is. */
FN void find_places(const WindowArgs &args, const Shared &shared, u32 buffer, const LineBlock &b, u32 lane)
{
    const u32 rows = line_rows(shared, buffer) + args.line_start, places = block_places(shared, buffer);
    u32 pixel = b.pixel, w = b.w, h = b.h, row = b.row;
    for (u32 r = lane; r < LINE_PIXELS; r += LINE_LANES) {
        store_place(places + r * 8, rows + row * args.line_pitch + w * args.line_step,
                    pixel < args.line_pixels ? h * args.line_step_h - args.line_top : 0x80000000);
        pixel += LINE_LANES, w += LINE_LANES;
        while (w >= args.line_outs_w) {
            w -= args.line_outs_w;
            row += args.line_step_h;
            if (++h == args.line_outs_h) h = 0, row += args.line_reach - args.line_step_h;
        }
    }
}

/* ---- lines ---- */

/* Of a line's last piece the elements behind its end are those of other taps: they become 0. */
FN u32 line_mask(u32 word, u32 tail) { return tail >= 2 * word + 2 ? ~0u : tail > 2 * word ? 0xffffu : 0; }

/* Makes this warp's part of a stage: outputs from place `places` on, from piece number `piece` of all lines on. unit:
 * the warp's first one, and then that in the next stage. */
FN void fill_lines(const WindowArgs &args, u32 zeros, u32 places, u32 tile, u32 piece, u32 &unit, u32 lane)
{
    enum { TOGETHER = 4, WORDS = 5 };
    const u32 apart = args.line_apart * args.line_pitch;
    for (; unit < LINE_BLOCKS * LINE_GROUPS; unit += LINE_MAKERS) {
        const u32 block = unit / LINE_GROUPS, r = unit % LINE_GROUPS * (LINE_LANES * LINE_PAIR) + lane;
        u32 place[LINE_PAIR], top[LINE_PAIR], which[LINE_PAIR];
        g_UNROLL for (u32 q = 0; q < LINE_PAIR; q++) {
            const u32 own = r + q * LINE_LANES;
            load_place(places + (LINE_ROWS % (LINE_LANES * LINE_PAIR) == 0 || own < LINE_ROWS ? own : 0) * 8, place[q],
                       top[q]);
            which[q] = place[q] & 2 ? 0x5432 : 0x3210, place[q] &= ~3u;
        }
        const u32 to = tile + (block * LINE_ROWS + r) * 128 + r % 8 * 16;
        u32 line = (piece + block * 8) / args.line_pieces, j = (piece + block * 8) % args.line_pieces;
        g_UNROLL for (u32 i = 0; i < 8; i += TOGETHER) {
            u32 word[TOGETHER][LINE_PAIR][WORDS];
            bool last[TOGETHER];
            g_UNROLL for (u32 k = 0; k < TOGETHER; k++) {
                const u32 at = line * apart + j * 16, below = line * args.line_apart;
                const u32 height = line < args.line_taps ? args.line_height : 0;
                g_UNROLL for (u32 q = 0; q < LINE_PAIR; q++) {
                    const u32 from = top[q] + below < height ? place[q] + at : zeros;
                    g_UNROLL for (u32 n = 0; n < WORDS; n++) word[k][q][n] = line_word(from + n * 4);
                }
                last[k] = j + 1 == args.line_pieces;
                if (++j == args.line_pieces) j = 0, line++;
            }
            g_UNROLL for (u32 k = 0; k < TOGETHER; k++)
                g_UNROLL for (u32 q = 0; q < LINE_PAIR; q++) {
                    u32 v[4];
                    g_UNROLL for (u32 n = 0; n < 4; n++)
                        v[n] = __byte_perm(word[k][q][n], word[k][q][n + 1], which[q]);
                    if (last[k])
                        g_UNROLL for (u32 n = 0; n < 4; n++) v[n] &= line_mask(n, args.line_tail);
                    if (LINE_ROWS % (LINE_LANES * LINE_PAIR) == 0 || r + q * LINE_LANES < LINE_ROWS)
                        store_piece((to + q * LINE_LANES * 128) ^ (i + k) * 16, v[0], v[1], v[2], v[3]);
                }
        }
    }
    unit -= LINE_BLOCKS * LINE_GROUPS;
}
