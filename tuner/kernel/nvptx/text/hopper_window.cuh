/* Boxes of windows of pixels (problem/window.h). Those that slide are B: K goes through the filter's taps, and for
 * each through its channels. Per tap they are A: the batch goes through the taps, K through the pixels. TMA reads
 * zeros behind the last channel and image, and where a pixel is beside the tensor (PTX ISA, "im2col mode"). */

/* A box of a tensor of four dimensions. */
FN void load_box(u32 to, const Map &map, u32 bar, int c0, int c1, int c2, int c3)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
                 "l"(&map), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
                 : "memory");
}

FN void load_box_shared(u32 to, const Map &map, u32 bar, int c0, int c1, int c2, int c3, int mask)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(to),
        "l"(&map), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "h"((unsigned short)mask)
        : "memory");
}

/* Pixels from that one on, each read (x, y) pixels apart from itself. */
FN void load_box(u32 to, const Map &map, u32 bar, int channel, int w, int h, int image, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(to),
                 "l"(&map), "r"(bar), "r"(channel), "r"(w), "r"(h), "r"(image), "h"((unsigned short)x),
                 "h"((unsigned short)y)
                 : "memory");
}

FN void load_box_shared(u32 to, const Map &map, u32 bar, int channel, int w, int h, int image, int x, int y, int mask)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(to),
        "l"(&map), "r"(bar), "r"(channel), "r"(w), "r"(h), "r"(image), "h"((unsigned short)x), "h"((unsigned short)y),
        "h"((unsigned short)mask)
        : "memory");
}
