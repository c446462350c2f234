/* Copies A and B into the workspace, so that lines begin at multiples of 128 bytes and, where wgmma takes nothing
 * else, K is contiguous (problem/pack.h). A work-group copies 64 lines of 256 bytes.
 *
 * The text stands behind T_BYTES, the bytes of an element, and in front of the kernel function.
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

/* Lines that may need shifts are copied in two parts: half the registers, so more work-groups at a time. */
constexpr int PARTS = T_BYTES == 4 ? 1 : 2;
constexpr int LINES = 64, WORDS = 64, WARPS = 8, EACH = LINES / WARPS / PARTS, HALVES = WORDS / 32;
/* A line of a tile in shared memory: lines 4, 8 or 16 apart lie in different banks. */
constexpr int PITCH = WORDS + 1;

/* Bytes at to at + 3 of a line of which n bytes are left; zeros behind its end. */
FN u32 word_of_bytes(const u8 *line, int n, int at)
{
    u32 word = 0;
    for (int i = 0; i < 4; i++)
        if (at + i < n) word |= (u32)line[at + i] << 8 * i;
    return word;
}

struct Tile {
    const u8 *from; /* first byte */
    u8 *to;         /* the copy's matrix */
    u32 line;       /* first one */
    u64 at;         /* first byte of the lines */
    int lines;      /* lines, and bytes of each, which there are; maybe more than the tile has */
    int bytes;
};

/* A thread's words of a part: of EACH lines, words lane and lane + 32. A line may begin anywhere: its words
 * are shifted out of the aligned ones that they lie in, or where those are not all the line's, made of bytes. */
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

/* 16 bytes of the copy: an element of the tile's lines, from line `line` of the tile on. */
FN void store_vector(const Operand &o, const Tile &t, int element, int line, const Vector &v)
{
    if (element * T_BYTES < t.bytes && line < t.lines)
        *(Vector *)(t.to + (t.at / T_BYTES + element) * o.to_ld + (u64)(t.line + line) * T_BYTES) = v;
}

/* Of 4-byte elements. Lanes: 8 vectors of a line of the copy, 4 lines. */
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

/* Of 1-byte elements, a word's four at once. Lanes: 2 vectors of a line of the copy, 16 words. */
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
    t.bytes = at_most(o.line_bytes - t.at, WORDS * 4 + 8); /* a word's aligned ones end up to 7 behind */
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

/* The operand of a work-group; of what is in registers, not of an address. */
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
    const bool first = blockIdx.x < a.groups;
    pack_operand(choose(a, b, first), first ? blockIdx.x : blockIdx.x - a.groups, tile);
}
