/* Copies the operands of windows into the workspace: pixels of few channels as lines, filters as lines or blocks
 * (problem/pack.h has what they are, and every field). Elements are copied as they are, whatever their type.
 *
 * The text stands after the constant T_BYTES, the bytes of an element, and before the kernel function.
 */
typedef unsigned u32;
typedef unsigned long long u64;
#define FN __device__ __forceinline__

template <int BYTES> struct Word;
template <> struct Word<1> { typedef unsigned char type; };
template <> struct Word<2> { typedef unsigned short type; };
template <> struct Word<4> { typedef unsigned type; };
typedef Word<T_BYTES>::type Element;

constexpr int PIECE = 8 / T_BYTES, THREADS = 256;
struct alignas(8) Piece {
    Element v[PIECE];
};

/* PackPixels, PackTaps, PackFilter */
struct Pixels {
    Element *to;
    const Element *from;
    u64 from_w, from_h, from_image, to_row, to_image;
    int left, top, width, height;
    u32 channels, fold, step, apart, pieces, pieces_of_pixel, rows, blocks;
};
struct Taps {
    u32 block, step, apart, mirrored, taps, unused;
};
struct Filter {
    Element *to;
    const Element *from;
    u64 from_channel, from_x, from_y, from_row, from_group, to_channel, to_x, to_y, to_row;
    u32 line, pixel, channels, taps_x, taps_y, rows, merged, fold, filter_y, elements, blocks, unused;
    Taps w, h;
};

/* Makes a row of pixels, each with the channels of `fold` rows of the tensor, then zeros. A thread makes the same
 * piece of several pixels, so that it finds rows and channels once. */
FN void pack_pixels(const Pixels &o, u32 block)
{
    const u32 image = block / o.rows, row = block % o.rows, n = o.pieces / o.pieces_of_pixel;
    const u32 wide = o.pieces_of_pixel < THREADS ? o.pieces_of_pixel : THREADS, pixels = THREADS / wide;
    if (threadIdx.x >= wide * pixels) return;
    for (u32 q = threadIdx.x % wide; q < o.pieces_of_pixel; q += wide) {
        const Element *from[PIECE];
        bool has[PIECE];
#pragma unroll
        for (int e = 0; e < PIECE; e++) {
            const u32 r = (q * PIECE + e) / o.channels, c = (q * PIECE + e) % o.channels;
            const int h = (int)(row * o.step + r * o.apart) - o.top;
            has[e] = r < o.fold && h >= 0 && h < o.height;
            from[e] = o.from + image * o.from_image + (has[e] ? h * o.from_h + c : 0);
        }
        Element *to = o.to + image * o.to_image + row * o.to_row + q * PIECE;
        for (u32 pixel = threadIdx.x / wide; pixel < n; pixel += pixels) {
            const int w = (int)pixel - o.left;
            const bool inside = w >= 0 && w < o.width;
            Piece piece;
#pragma unroll
            for (int e = 0; e < PIECE; e++) piece.v[e] = inside && has[e] ? from[e][w * o.from_w] : 0;
            *(Piece *)(to + (u64)pixel * o.pieces_of_pixel * PIECE) = piece;
        }
    }
}

/* The filter's tap that is tap u of the copy for an output of a block; false: it is none. */
FN bool find_tap(const Taps &o, u32 output, u32 u, u32 &tap)
{
    const u32 from = (o.mirrored ? o.block - 1 - output : output) * o.step;
    if (o.block == 1) return tap = u, true;
    if (u < from || (u - from) % o.apart) return false;
    return (tap = (u - from) / o.apart) < o.taps;
}

/* Makes an element of the filter. A slot is one of the rows that share a pixel, or one of the groups that became
 * one. */
FN void pack_filter(const Filter &o, u32 i)
{
    if (i >= o.elements) return;
    const u32 channel = i % o.line, tap = i / o.line % (o.taps_x * o.taps_y), row = i / o.line / (o.taps_x * o.taps_y);
    const u32 outputs = o.w.block * o.h.block, output = row / o.rows % outputs, group = row / o.rows / outputs;
    u32 tap_x = 0, tap_y = 0;
    const bool has_x = find_tap(o.w, output % o.w.block, tap % o.taps_x, tap_x);
    const bool has_y = find_tap(o.h, output / o.w.block, tap / o.taps_x, tap_y), has = has_x && has_y;
    const u32 in_pixel = channel % o.pixel, slot = in_pixel / o.channels;
    const u32 x = tap_x + channel / o.pixel, y = o.merged ? tap_y : tap_y * o.fold + slot;
    const bool is_there = has && (o.merged ? slot == group % o.merged : slot < o.fold && y < o.filter_y);
    const Element *from = o.from + group * o.from_group + row % o.rows * o.from_row;
    from += x * o.from_x + y * o.from_y + in_pixel % o.channels * o.from_channel;
    const u64 to = row * o.to_row + tap / o.taps_x * o.to_y + tap % o.taps_x * o.to_x + channel * o.to_channel;
    o.to[to] = is_there ? *from : 0;
}

FN void pack(const Pixels &pixels, const Filter &filter)
{
    wait_for_previous();
    if (blockIdx.x < pixels.blocks)
        pack_pixels(pixels, blockIdx.x);
    else
        pack_filter(filter, (blockIdx.x - pixels.blocks) * THREADS + threadIdx.x);
}
