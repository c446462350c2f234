/* Copies A and B into the workspace, so that lines (rows of contiguous elements) begin at multiples of 128 bytes.
 * For types of 1 and 4 bytes, whose wgmma needs contiguous K, it also transposes them (problem/pack.h). A
 * work-group copies a tile of 64 lines of 256 bytes.
 *
 * The text stands after the constant T_BYTES, the bytes of an element, and before the kernel function.
 */
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned char u8;
#define FN __device__ __forceinline__

/* PackArgs */
struct Operand {
    u8 *to;
    const u8 *from;
    u64 ld, matrix, to_ld, to_matrix, line_bytes;
    u32 lines, transposes, tiles, per_matrix, groups, unused;
};

struct alignas(16) Vector {
    u32 v[4];
};

/* Tiles of elements below 4 bytes, whose words may need shifts, are copied in two parts: half the registers, and
 * so a higher occupancy. */
constexpr int PARTS = T_BYTES == 4 ? 1 : 2;
constexpr int LINES = 64, WORDS = 64, WARPS = 8, EACH = LINES / WARPS / PARTS, HALVES = WORDS / 32;
/* Words from one line of a tile in shared memory to the next. It is odd, so that lines 4, 8 or 16 apart are in
 * different banks. */
constexpr int PITCH = WORDS + 1;

/* Returns bytes `at` to at + 3 of a line as a word. Bytes from n on are past its end, and are zero. */
FN u32 word_of_bytes(const u8 *line, int n, int at)
{
    u32 word = 0;
    for (int i = 0; i < 4; i++)
        if (at + i < n) word |= (u32)line[at + i] << 8 * i;
    return word;
}

struct Tile {
    const u8 *from; /* first byte of the tile in the operand */
    u8 *to;         /* the matrix of the copy */
    u32 line;       /* number of the first line */
    u64 at;         /* offset of the tile in its lines, in bytes */
    int lines;      /* lines of the tile inside the matrix, and bytes of each, at most 8 past the tile */
    int bytes;
};

/* Loads a thread's words of a part: words lane and lane + 32 of EACH lines. Lines need not be aligned to words: a
 * word is shifted out of the two aligned words around it. Where these are not inside the line, it is loaded byte
 * by byte. */
FN void load_words(const Operand &o, const Tile &t, int part, u32 (&word)[EACH][HALVES])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 low[EACH][HALVES], high[EACH][HALVES];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int number = (part * EACH + i) * WARPS + warp;
        const u8 *line = t.from + number * o.ld;
        const int off = T_BYTES < 4 ? (int)((u64)line & 3) : 0;
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            const int at = (lane + 32 * h) * 4 - off;
            const bool there = number < t.lines && (at >= 0 || t.at);
            low[i][h] = there && at + 4 <= t.bytes ? *(const u32 *)(line + at) : 0;
            high[i][h] = off && there && at + 8 <= t.bytes ? *(const u32 *)(line + at + 4) : 0;
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int number = (part * EACH + i) * WARPS + warp;
        const u8 *line = t.from + number * o.ld;
        const int off = T_BYTES < 4 ? (int)((u64)line & 3) : 0;
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            const int at = (lane + 32 * h) * 4;
            word[i][h] = (u32)(((u64)high[i][h] << 32 | low[i][h]) >> 8 * off);
            if (T_BYTES == 4 || number >= t.lines || at >= t.bytes) continue;
            if ((at < off && !t.at) || at - off + (off ? 8 : 4) > t.bytes)
                word[i][h] = word_of_bytes(line, t.bytes, at);
        }
    }
}

FN void store_lines(const Operand &o, const Tile &t, int part, const u32 (&word)[EACH][HALVES])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            const int number = (part * EACH + i) * WARPS + warp, at = (lane + 32 * h) * 4;
            if (number < t.lines && at < t.bytes)
                *(u32 *)(t.to + (t.line + number) * o.to_ld + t.at + at) = word[i][h];
        }
}

/* Stores 16 bytes of the transposed copy: element number `element` of the tile's lines from `line` on. */
FN void store_vector(const Operand &o, const Tile &t, int element, int line, const Vector &v)
{
    if (element * T_BYTES < t.bytes && line < t.lines)
        *(Vector *)(t.to + (t.at / T_BYTES + element) * o.to_ld + (u64)(t.line + line) * T_BYTES) = v;
}

/* Stores the transposed tile of 4-byte elements. A warp stores 8 vectors in each of 4 lines of the copy. */
FN void store_across_words(const Operand &o, const Tile &t, const u32 *tile)
{
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        const u32 id = threadIdx.x + i * 32 * WARPS;
        const u32 line = ((id & 7) | (id >> 5 & 1) << 3) * 4, column = (id >> 3 & 3) | id >> 6 << 2;
        Vector v;
#pragma unroll
        for (u32 j = 0; j < 4; j++) v.v[j] = tile[(line + j) * PITCH + column];
        store_vector(o, t, column, line, v);
    }
}

/* Stores the transposed tile of 1-byte elements, in blocks of 4x4 bytes. A warp has 2 vectors of 16 words each. */
FN void store_across_bytes(const Operand &o, const Tile &t, const u32 *tile)
{
    const u32 id = threadIdx.x;
    const u32 line = ((id & 1) | (id >> 5 & 1) << 1) * 16, column = (id >> 1 & 15) | id >> 6 << 4;
    Vector v[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        u32 w[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) w[j] = tile[(line + 4 * i + j) * PITCH + column];
        const u32 low01 = __byte_perm(w[0], w[1], 0x5140), low23 = __byte_perm(w[2], w[3], 0x5140);
        const u32 high01 = __byte_perm(w[0], w[1], 0x7362), high23 = __byte_perm(w[2], w[3], 0x7362);
        v[0].v[i] = __byte_perm(low01, low23, 0x5410);
        v[1].v[i] = __byte_perm(low01, low23, 0x7632);
        v[2].v[i] = __byte_perm(high01, high23, 0x5410);
        v[3].v[i] = __byte_perm(high01, high23, 0x7632);
    }
#pragma unroll
    for (u32 e = 0; e < 4; e++) store_vector(o, t, column * 4 + e, line, v[e]);
}

FN void keep_lines(int part, const u32 (&word)[EACH][HALVES], u32 *tile)
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int h = 0; h < HALVES; h++)
            tile[((part * EACH + i) * WARPS + threadIdx.x / 32) * PITCH + threadIdx.x % 32 + 32 * h] = word[i][h];
}

FN int at_most(u64 n, int most) { return n < most ? (int)n : most; }

FN void pack_operand(const Operand &o, u32 group, u32 *tile)
{
    const u32 batch = group / o.per_matrix, in_matrix = group % o.per_matrix;
    Tile t;
    t.line = in_matrix / o.tiles * LINES;
    t.at = (u64)(in_matrix % o.tiles) * (WORDS * 4);
    t.from = o.from + batch * o.matrix + t.line * o.ld + t.at;
    t.to = o.to + batch * o.to_matrix;
    t.lines = at_most(o.lines - t.line, LINES);
    /* the two aligned words around a word end up to 7 bytes after its first byte */
    t.bytes = at_most(o.line_bytes - t.at, WORDS * 4 + 8);
    const bool across = T_BYTES != 2 && o.transposes;
    for (int part = 0; part < PARTS; part++) {
        u32 word[EACH][HALVES];
        load_words(o, t, part, word);
        if (across)
            keep_lines(part, word, tile);
        else
            store_lines(o, t, part, word);
    }
    if (!across) return;
    __syncthreads();
    if constexpr (T_BYTES == 4)
        store_across_words(o, t, tile);
    else
        store_across_bytes(o, t, tile);
}

/* Selects the operand of a work-group field by field. Selecting a pointer would make the compiler copy both to
 * local memory. */
FN Operand choose(const Operand &a, const Operand &b, bool first)
{
    Operand o;
    o.to = first ? a.to : b.to;
    o.from = first ? a.from : b.from;
    o.ld = first ? a.ld : b.ld;
    o.matrix = first ? a.matrix : b.matrix;
    o.to_ld = first ? a.to_ld : b.to_ld;
    o.to_matrix = first ? a.to_matrix : b.to_matrix;
    o.line_bytes = first ? a.line_bytes : b.line_bytes;
    o.lines = first ? a.lines : b.lines;
    o.transposes = first ? a.transposes : b.transposes;
    o.tiles = first ? a.tiles : b.tiles;
    o.per_matrix = first ? a.per_matrix : b.per_matrix;
    return o;
}

FN void pack(const Operand &a, const Operand &b)
{
    __shared__ u32 tile[LINES * PITCH];
    wait_for_previous();
    const bool first = blockIdx.x < a.groups;
    pack_operand(choose(a, b, first), first ? blockIdx.x : blockIdx.x - a.groups, tile);
}
