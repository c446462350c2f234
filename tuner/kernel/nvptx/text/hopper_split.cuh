/* Kernels of hopper.cuh whose work-groups have parts of K of a tile.
 *
 * PARTIAL_SUMS: each warp group writes its sums to the workspace in the order of its registers, 16 bytes a thread,
 * waits a while for the other parts of the tile, adds a share of all parts' sums in their order and stores it.
 * A part that has waited in vain leaves its share to the last one that comes: nothing depends on others running.
 *
 * Clusters split K (CLUSTER_K): each work-group writes the sums of its part into its own
 * shared memory, in the ring's place, as columns of D; then each adds the parts of every CLUSTER_K-th column,
 * always in the order of the parts, from the shared memory of all of them, and stores what belongs to D. */

/* ---- through a workspace ---- */

FN void put_sums(g_TC *to, u32 a, u32 b, u32 c, u32 d)
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

/* From the L2 cache, which all processors share. */
FN void get_sums(const g_TC *from, u32 (&v)[4])
{
    asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "l"(from)
                 : "memory");
}

FN void fence_all() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/* Counts in; how many were there before. */
FN u32 count_in(u32 *counter)
{
    u32 before;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
    return before;
}

/* Waits, but not for ever, until the counter is n. A part may be of a work-group that begins when others end. */
FN bool wait_count(const u32 *counter, u32 n)
{
    const long long begin = clock64();
    u32 now;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    while (now != n && clock64() - begin < 40000);
    return now == n;
}

/* Sets a flag to `to` if it is `from`; true when it was. */
FN bool change_flag(u32 *flag, u32 from, u32 to)
{
    u32 before;
    asm volatile("fence.sc.gpu;\n\tatom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;\n\tfence.sc.gpu;"
                 : "=r"(before)
                 : "l"(flag), "r"(from), "r"(to)
                 : "memory");
    return before == from;
}

/* Whether x is true in any thread of the warp group, all of which come here. */
FN bool any_of_group(int id, bool x)
{
    u32 any;
    asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\t"
                 "bar.red.or.pred q, %2, 128, p;\n\tselp.b32 %0, 1, 0, q;\n\t}"
                 : "=r"(any)
                 : "r"((u32)x), "r"(id)
                 : "memory");
    return any;
}

/* A tile's sums and flags as a warp group sees them. */
struct PartialSums {
    g_TC *sums; /* of part 0, of this thread */
    u64 next, step; /* from there to part 0's place by number, and from one part to the next */
    u32 *flags; /* of part 0: the counter; a part's own: 1 its share is done by another, 2 is left to another */
    u64 next_flag, flag_step;
    u32 n;
    FN PartialSums(const Args &args, const WorkTile &p, u32 own, int w, int thread)
    {
        const u64 slot = p.slot * MULTICAST_WGS + own, number = p.next_slot * MULTICAST_WGS + own;
        sums = args.sums + slot * (M0 * M1) + (w * (RX * N_ACC / 4) * 128 + thread) * 4;
        next = (number - slot) * (M0 * M1), step = (u64)(SLOT_STEP * MULTICAST_WGS) * (M0 * M1);
        flags = args.flags + slot * 8 + w;
        next_flag = (number - slot) * 8, flag_step = SLOT_STEP * MULTICAST_WGS * 8;
        n = p.parts;
    }
    FN g_TC *of(u32 part) const { return part ? sums + next + part * step : sums; }
    FN u32 *flag(u32 part) const { return (part ? flags + next_flag + part * flag_step : flags) + 4; }
};

FN void store_one(g_TC sum, const Args &args, int m, int n, int batch)
{
    if (m >= (int)args.m || n >= (int)args.n) return;
    g_TC v = args.alpha * sum;
    if (READS && !g_is_zero(args.beta))
        v = g_madd(args.beta, g_to_c(args.c[batch * args.batch_c + n * args.ldc + m]), v);
    args.d[batch * args.batch_d + n * args.ldd + m] = g_from_c(v);
}

/* Adds and stores a part's share: every n-th run of four registers, the parts always in the same order. */
FN void store_share(const PartialSums &parts, u32 share, const Args &args, const WorkTile &p, int w, int thread)
{
    constexpr int BATCH = 8; /* loads at once */
    for (u32 run = share; run < RX * N_ACC / 4; run += parts.n) {
        g_TC sum[4];
        for (u32 first = 0; first < parts.n; first += BATCH) {
            u32 v[BATCH][4];
#pragma unroll
            for (u32 i = 0; i < BATCH; i++)
                if (first + i < parts.n) get_sums(parts.of(first + i) + run * 512, v[i]);
#pragma unroll
            for (u32 i = 0; i < BATCH; i++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    g_TC x;
                    if (first + i >= parts.n) continue;
                    from_word(v[i][e], x);
                    sum[e] = first + i ? sum[e] + x : x;
                }
        }
        const u32 r = run / (N_ACC / 4), j = run % (N_ACC / 4) * 4;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int x = (w * RX + r) * 64 + acc_row(thread, j + e), y = acc_col(thread, j + e);
            store_one(sum[e], args, p.m + (SWAP ? y : x), p.n + (SWAP ? x : y), p.batch);
        }
    }
}

/* The tile's other parts: each stores its share when the sums of all are there; the last one that comes those of
 * parts that no longer wait, too. */
FN void add_sums(g_TC (&acc)[RX][N_ACC], const Args &args, const WorkTile &p, u32 rank, int wg, int thread)
{
    constexpr int RUNS = RX * N_ACC / 4;
    static_assert(!PARTIAL_SUMS || N_ACC % 4 == 0, "runs of 4 sums");
    const int w = PINGPONG ? 0 : wg, bar = 1 + wg;
    const PartialSums parts(args, p, rank % MULTICAST_WGS, w, thread);
    g_TC *to = parts.of(p.part);
#pragma unroll
    for (int v = 0; v < RUNS; v++) {
        const g_TC *x = &acc[v * 4 / N_ACC][v * 4 % N_ACC];
        put_sums(to + v * 512, word_of(x[0]), word_of(x[1]), word_of(x[2]), word_of(x[3]));
    }
    fence_all();
    group_sync(bar);
    bool last = false, all = false;
    if (thread == 0) {
        last = count_in(parts.flags) == parts.n - 1;
        all = last || wait_count(parts.flags, parts.n);
        if (!all) { /* leave it to the last one, unless that has come just now */
            change_flag(parts.flag(p.part), 0, 2);
            all = wait_count(parts.flags, parts.n) && change_flag(parts.flag(p.part), 2, 1);
        }
    }
    all = any_of_group(bar, all);
    last = any_of_group(bar, last);
    fence_all();
    if (all) store_share(parts, p.part, args, p, w, thread);
    if (!last) return;
    bool left = false;
    for (u32 q = thread; q < parts.n; q += 128) left = left || *(volatile const u32 *)parts.flag(q) == 2;
    if (!any_of_group(bar, left)) return;
    for (u32 q = 0; q < parts.n; q++) {
        const bool mine = thread == 0 && change_flag(parts.flag(q), 2, 1);
        if (any_of_group(bar, mine)) {
            fence_all();
            store_share(parts, q, args, p, w, thread);
        }
    }
}

/* ---- through the shared memory of a cluster ---- */

/* Elements from one column to the next: writes of the instruction's fragments meet all banks. */
constexpr int PITCH = M0 + (SWAP ? 8 : 4);
static_assert(CLUSTER_K == 1 || M1 * PITCH * 4 <= STAGES * STAGE, "the ring's place");
static_assert(CLUSTER_K == 1 || (M1 % CLUSTER_K == 0 && !PINGPONG), "columns of a part");

FN void store_two(u32 at, u32 a, u32 b)
{
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
}

/* 16 bytes of the shared memory of work-group `rank` of the cluster. */
FN void load_remote(u32 at, u32 rank, u32 (&v)[4])
{
    asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %4, %5;\n\t"
                 "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [remote];\n\t}"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(at), "r"(rank)
                 : "memory");
}

FN void write_sums(g_TC (&acc)[RX][N_ACC], u32 base, int wg, int thread)
{
#pragma unroll
    for (int r = 0; r < RX; r++)
#pragma unroll
        for (int j = 0; j < N_ACC; j += 2) {
            const u32 x = (wg * RX + r) * 64 + acc_row(thread, j), y = acc_col(thread, j);
            const u32 to = base + (SWAP ? x * PITCH + y : y * PITCH + x) * 4;
            if constexpr (SWAP) {
                store_two(to, word_of(acc[r][j]), word_of(acc[r][j + 1]));
            } else {
                store_word(to, word_of(acc[r][j]));
                store_word(to + PITCH * 4, word_of(acc[r][j + 1]));
            }
        }
}

struct alignas(4 * sizeof(g_TD)) Four {
    g_TD v[4];
};

/* Four sums of rows m, m + 1, ... of a column. */
FN void store_four(const g_TC (&sum)[4], const Args &args, int m, int n, int batch)
{
    if (m >= (int)args.m || n >= (int)args.n) return;
    const bool reads = READS && !g_is_zero(args.beta);
    g_TD *d = args.d + (batch * args.batch_d + n * args.ldd + m);
    const g_TD *c = args.c + (batch * args.batch_c + n * args.ldc + m);
    const u64 address_bits = (u64)d | (reads ? (u64)c : 0);
    if (m + 4 <= (int)args.m && address_bits % sizeof(Four) == 0) {
        Four out, old;
        if (reads) old = *(const Four *)c;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            g_TC v = args.alpha * sum[e];
            if (reads) v = g_madd(args.beta, g_to_c(old.v[e]), v);
            out.v[e] = g_from_c(v);
        }
        *(Four *)d = out;
    } else {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (m + e >= (int)args.m) break;
            g_TC v = args.alpha * sum[e];
            if (reads) v = g_madd(args.beta, g_to_c(c[e]), v);
            d[e] = g_from_c(v);
        }
    }
}

FN void add_parts(g_TC (&acc)[RX][N_ACC], const Args &args, const Shared &shared, const WorkTile &p, u32 rank, int wg,
                  int thread)
{
    constexpr int RUNS = M0 / 4, THREADS = CONSUMERS * 128;
    consumers_sync(); /* no warp group multiplies what stands in the ring */
    write_sums(acc, shared.base, wg, thread);
    cluster_sync();
    for (int i = wg * 128 + thread; i < RUNS * (M1 / CLUSTER_K); i += THREADS) {
        const int m = i % RUNS * 4, n = i / RUNS * CLUSTER_K + p.part;
        u32 v[CLUSTER_K][4];
        g_TC sum[4];
#pragma unroll
        for (int q = 0; q < CLUSTER_K; q++)
            load_remote(shared.base + (n * PITCH + m) * 4, q * MULTICAST_WGS + rank % MULTICAST_WGS, v[q]);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            from_word(v[0][e], sum[e]);
#pragma unroll
            for (int q = 1; q < CLUSTER_K; q++) {
                g_TC x;
                from_word(v[q][e], x);
                sum[e] += x;
            }
        }
        store_four(sum, args, p.m + m, p.n + n, p.batch);
    }
    proxy_fence();
    cluster_sync();
}
