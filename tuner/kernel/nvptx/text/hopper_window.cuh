/* The producer of the kernels of hopper.cuh whose B has windows of pixels (problem/window.h): K goes through the
 * filter's elements, and for each through its channels, in whole chunks of DU. TMA reads zeros behind the last
 * channel, and where a pixel is beside the tensor (PTX ISA, "im2col mode"). In front stand
 *     MIRRORED_W MIRRORED_H     the filter's elements go backwards
 */

/* One spatial dimension: output positions and elements of the filter; pixels from an output to the next, from
 * the tensor's first pixel to the first output's, from an element to the next. */
struct Along {
    u32 outs, taps;
    int step, lower, dilation;
};

struct WindowArgs : Args {
    Along w, h;
    u32 chunks; /* of channels */
};

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

/* Fills a stage: waits until it is empty, tells its mbarrier how many bytes it gets, and starts the TMA copies of
 * this work-group's parts of both tiles. k: first channel; (tap_x, tap_y): element of the
 * filter; (w, h) of `image`: the
 * first pixel, read (dx, dy) apart. Printed by hopper_load.c. */
FN void fill_stage(const Shared &shared, u32 stage, u32 phase, const Map &map_a, const Map &map_b, int m, int k,
                   int tap_x, int tap_y, int w, int h, int image, int dx, int dy, int part_a, int part_b, int mask_a,
                   int mask_b);

FN void produce(const Args &all, const Map &map_a, const Map &map_b, const Shared &shared, int thread)
{
    const WindowArgs &args = static_cast<const WindowArgs &>(all);
    const u32 rank = cluster_rank();
    const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M % CLUSTER_N;
    const int first = rank / MULTICAST_WGS * MULTICAST_WGS;
    /* multicast masks: A is shared by the work-groups along N, B by those along M */
    int mask_a = 0, mask_b = 0;
    for (int i = 0; i < CLUSTER_N; i++) mask_a |= 1 << (first + i * CLUSTER_M + rank_m);
    for (int i = 0; i < CLUSTER_M; i++) mask_b |= 1 << (first + rank_n * CLUSTER_M + i);
    const u32 last_tap = args.w.taps * args.h.taps - 1;
    Ring ring;
    for (Walk walk(args); !walk.done(); walk.next()) {
        const WorkTile p = walk.work_tile(args, rank);
        /* the first pixel of this work-group's part of B; behind the last image there are zeros */
        const u32 pixel = p.n + rank_m * (M1 / CLUSTER_M), line = pixel / args.w.outs;
        const int image = p.batch + line / args.h.outs;
        const int w = (int)(pixel % args.w.outs) * args.w.step + args.w.lower;
        const int h = (int)(line % args.h.outs) * args.h.step + args.h.lower;
        u32 chunk = p.late;
        for (u32 i = 0; thread == 0 && i < p.count; i++, ring.next()) {
            const u32 at = p.first + chunk * p.step;
            u32 tap = at / args.chunks;
            if (++chunk == p.count) chunk = 0;
            if (tap > last_tap) tap = last_tap; /* nothing to multiply: behind the channels */
            const int k = (int)((at - tap * args.chunks) * DU);
            const int y = tap / args.w.taps, x = tap % args.w.taps;
            const int x_of_filter = MIRRORED_W ? (int)args.w.taps - 1 - x : x;
            const int y_of_filter = MIRRORED_H ? (int)args.h.taps - 1 - y : y;
            fill_stage(shared, ring.stage, ring.phase, map_a, map_b, p.m, k, x_of_filter, y_of_filter, w, h, image,
                       x * args.w.dilation, y * args.h.dilation, rank_n, rank_m, mask_a, mask_b);
        }
        if constexpr (CLUSTER_K > 1) {
            __syncwarp();
            cluster_sync(); /* the sums of all parts are written */
            cluster_sync(); /* and have been read: TMA may overwrite them */
        }
    }
}
