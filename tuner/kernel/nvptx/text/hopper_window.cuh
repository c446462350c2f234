/* The producer of the kernels of hopper.cuh that load windows of pixels (problem/window.h). Those that slide are B: K
 * goes through the filter's taps, and for each through its channels, in whole chunks of DU. Per tap they are A: the
 * batch goes through the taps, K through the pixels. TMA reads zeros behind the last channel and image, and where a
 * pixel is beside the tensor (PTX ISA, "im2col mode"). In front stand
 *     PER_TAP
 *     PIXELS_APART              pixels from a work-group's part of a tile to the next one's
 *     MIRRORED_W MIRRORED_H     the other operand's taps go backwards
 */

/* One spatial dimension: output positions and taps; pixels from an output to the next, from the tensor's first
 * pixel to the first output's, from a tap to the next. */
struct Along {
    u32 outs, taps;
    int step, lower, dilation;
};

/* Strides of D or C between positions along W, along H, and between images. */
struct Apart {
    u64 w, h, image;
};

struct WindowArgs : Args {
    Along w, h;
    u32 chunks; /* of channels */
    Apart d_apart, c_apart;
};

/* Elements in front of (m, n), for windows that slide: TMA needs columns that follow one another, single stores do
 * not. */
FN u64 element_at(const WindowArgs &args, const Apart &apart, int m, int n, int batch)
{
    const u32 line = (u32)n / args.w.outs;
    return (u64)((u32)n % args.w.outs) * apart.w + (u64)(line % args.h.outs) * apart.h +
           (u64)(batch + line / args.h.outs) * apart.image + m;
}

FN g_TD *d_at(const Args &args, int m, int n, int batch)
{
    const WindowArgs &all = static_cast<const WindowArgs &>(args);
    if (PER_TAP) return args.d + (batch * args.batch_d + n * args.ldd + m);
    return args.d + element_at(all, all.d_apart, m, n, batch);
}

FN const g_TD *c_at(const Args &args, int m, int n, int batch)
{
    const WindowArgs &all = static_cast<const WindowArgs &>(args);
    if (PER_TAP) return args.c + (batch * args.batch_c + n * args.ldc + m);
    return args.c + element_at(all, all.c_apart, m, n, batch);
}

/* A tap, and the first pixel that is read at its distance. */
struct WindowPlace {
    int x, y, w, h, image;
    FN void set_tap(const WindowArgs &args, u32 tap) { x = tap % args.w.taps, y = tap / args.w.taps; }
    FN void set_pixel(const WindowArgs &args, u32 pixel, int batch)
    {
        const u32 line = pixel / args.w.outs;
        w = (int)(pixel % args.w.outs) * args.w.step + args.w.lower;
        h = (int)(line % args.h.outs) * args.h.step + args.h.lower;
        image = batch + line / args.h.outs;
    }
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

/* Fills a stage: waits until it is empty, gives its mbarrier the number of its bytes, and starts the TMA copies of
 * this work-group's parts of both tiles. k: first channel, or per tap first pixel; (tap_x, tap_y): of the other
 * operand; (w, h) of `image`: the first pixel, read (dx, dy) apart. Printed by hopper_load.c. */
FN void fill_stage(const Shared &shared, u32 stage, u32 phase, const Map &map_a, const Map &map_b, int m, int n,
                   int k, int tap_x, int tap_y, int w, int h, int image, int dx, int dy, int part_a, int part_b,
                   int mask_a, int mask_b);

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
    const u32 last_tap = args.w.taps * args.h.taps - 1, part = (PER_TAP ? rank_n : rank_m) * PIXELS_APART;
    Ring ring;
    for (Walk walk(args); !walk.done(); walk.next()) {
        const WorkTile p = walk.work_tile(args, rank);
        WindowPlace at;
        if (PER_TAP)
            at.set_tap(args, p.batch);
        else
            at.set_pixel(args, p.n + part, p.batch);
        u32 chunk = p.late;
        for (u32 i = 0; thread == 0 && i < p.count; i++, ring.next()) {
            u32 k = p.first + chunk * p.step;
            if (++chunk == p.count) chunk = 0;
            if (PER_TAP) {
                k *= DU;
                at.set_pixel(args, k + part, 0);
            } else {
                u32 tap = k / args.chunks;
                if (tap > last_tap) tap = last_tap; /* nothing to multiply: behind the channels */
                k = (k - tap * args.chunks) * DU;
                at.set_tap(args, tap);
            }
            const int tap_x = MIRRORED_W ? (int)args.w.taps - 1 - at.x : at.x;
            const int tap_y = MIRRORED_H ? (int)args.h.taps - 1 - at.y : at.y;
            fill_stage(shared, ring.stage, ring.phase, map_a, map_b, p.m, p.n, (int)k, tap_x, tap_y, at.w, at.h,
                       at.image, at.x * args.w.dilation, at.y * args.h.dilation, rank_n, rank_m, mask_a, mask_b);
        }
        if constexpr (CLUSTER_K > 1) {
            __syncwarp();
            cluster_sync(); /* the sums of all parts are written */
            cluster_sync(); /* and have been read: TMA may overwrite them */
        }
    }
}
