/* Kernels of hopper.cuh in which several work-groups split the K of a tile.
 *
 * PARTIAL_SUMS: each warp group writes its accumulators to the workspace in register order, 16 bytes a thread.
 *
 * With GlobalSplitU all parts of a tile end at about the same time. A warp group waits a limited time for the other
 * parts of the tile, adds its share of the tile over all parts, in the order of the parts, and stores it. A part
 * whose wait times out leaves its share to the part that arrives last, so that no work-group depends on another one
 * being resident.
 *
 * With StreamK the parts of a tile end at different times and each work-group has other tiles to go on with, so
 * that none waits: the part that arrives last adds up all parts and stores the tile.
 *
 * CLUSTER_K: see hopper_parts.c. */

/* ---- through a workspace ---- */

FN void put_sums(g_TC *to, u32 a, u32 b, u32 c, u32 d)
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

/* Loads through L2 only (.cg): L1 is not coherent between multiprocessors. */
FN void get_sums(const g_TC *from, u32 (&v)[4])
{
    asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "l"(from)
                 : "memory");
}

FN void fence_all() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/* Increments the counter, and returns its previous value. */
FN u32 count_in(u32 *counter)
{
    u32 before;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
    return before;
}

/* Waits until the counter is n, for at most LIMIT clock cycles: a part may belong to a work-group that only begins
 * when others end. Returns whether the counter reached n. */
template <int LIMIT = 40000> FN bool wait_count(const u32 *counter, u32 n)
{
    const long long begin = clock64();
    u32 now;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    while (now != n && clock64() - begin < LIMIT);
    return now == n;
}

/* Compare and swap of a flag. Returns whether it was `from`. */
FN bool change_flag(u32 *flag, u32 from, u32 to)
{
    u32 before;
    asm volatile("fence.sc.gpu;\n\tatom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;\n\tfence.sc.gpu;"
                 : "=r"(before)
                 : "l"(flag), "r"(from), "r"(to)
                 : "memory");
    return before == from;
}

/* Returns whether x is true in any thread of the warp group. All of its threads must call it. */
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

/* The workspace sums and flags of one tile, for one warp group. */
struct PartialSums {
    g_TC *sums; /* sums of part 0, at this thread's first run */
    u64 next, step; /* elements from there to where part 0 would be if it had a regular slot, and between parts */
    u32 *flags; /* counter of arrived parts, in part 0's slot */
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
    /* 1: the share of this part has been taken; 2: it is left to the last part */
    FN u32 *flag(u32 part) const { return (part ? flags + next_flag + part * flag_step : flags) + 4; }
};

/* Adds up and stores a share of the tile: every n-th run of four registers. Parts are always added in the same
 * order, so that results do not depend on timing. */
FN void store_share(const PartialSums &parts, u32 share, const Args &args, const g_Ops &ops, const WorkTile &p, int w,
                    int thread)
{
    constexpr int BATCH = 8; /* loads in flight */
    const bool reads = READS && !g_is_zero(args.beta);
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
            const int m = p.m + (SWAP ? y : x), n = p.n + (SWAP ? x : y);
            if (m < (int)args.m && n < (int)args.n) store_one(sum[e], args, ops, reads, m, n, p.batch);
        }
    }
}

/* Writes this part's sums to the workspace. */
FN void leave_sums(const g_TC (&acc)[RX][N_ACC], const PartialSums &parts, u32 part)
{
    constexpr int RUNS = RX * N_ACC / 4;
    static_assert(!PARTIAL_SUMS || N_ACC % 4 == 0, "runs of 4 sums");
    g_TC *to = parts.of(part);
#pragma unroll
    for (int v = 0; v < RUNS; v++) {
        const g_TC *x = &acc[v * 4 / N_ACC][v * 4 % N_ACC];
        put_sums(to + v * 512, word_of(x[0]), word_of(x[1]), word_of(x[2]), word_of(x[3]));
    }
    fence_all();
}

/* Adds the sums of one part to acc. */
FN void take_sums(g_TC (&acc)[RX][N_ACC], const g_TC *from)
{
    constexpr int RUNS = RX * N_ACC / 4, BATCH = RUNS % 16 == 0 ? 16 : RUNS % 4 == 0 ? 4 : RUNS; /* in flight */
#pragma unroll
    for (int first = 0; first < RUNS; first += BATCH) {
        u32 v[BATCH][4];
#pragma unroll
        for (int i = 0; i < BATCH; i++) get_sums(from + (first + i) * 512, v[i]);
#pragma unroll
        for (int i = 0; i < BATCH * 4; i++) {
            g_TC x;
            from_word(v[i / 4][i % 4], x);
            acc[(first * 4 + i) / N_ACC][(first * 4 + i) % N_ACC] += x;
        }
    }
}

/* Returns true in the part of a tile that arrives last, whose acc then has the sums of all parts. The others have
 * left theirs in the workspace. Two parts have the same sum in either order; more are added in their order. */
FN bool join_sums(g_TC (&acc)[RX][N_ACC], const Args &args, const WorkTile &p, u32 rank, int wg, int thread)
{
    const int w = PINGPONG ? 0 : wg, bar = 1 + wg;
    const PartialSums parts(args, p, rank % MULTICAST_WGS, w, thread);
    bool last = thread == 0 && parts.n == 2 && wait_count<0>(parts.flags, 1);
    last = any_of_group(bar, last);
    if (!last) {
        leave_sums(acc, parts, p.part);
        group_sync(bar);
        last = any_of_group(bar, thread == 0 && count_in(parts.flags) == parts.n - 1);
    }
    if (!last) return false;
    fence_all();
    u32 q = 1 - p.part, end = q + 1;
    if (parts.n > 2) {
        q = 0, end = parts.n;
#pragma unroll
        for (int r = 0; r < RX; r++)
#pragma unroll
            for (int i = 0; i < N_ACC; i++) acc[r][i] = 0;
    }
#pragma unroll 1
    for (; q < end; q++) take_sums(acc, parts.of(q));
    return true;
}

/* Writes this part's sums, then stores its share when the sums of all parts are written. The part that arrives last
 * also stores the shares of parts whose wait timed out. */
FN void add_sums(g_TC (&acc)[RX][N_ACC], const Args &args, const g_Ops &ops, const WorkTile &p, u32 rank, int wg,
                 int thread)
{
    const int w = PINGPONG ? 0 : wg, bar = 1 + wg;
    const PartialSums parts(args, p, rank % MULTICAST_WGS, w, thread);
    leave_sums(acc, parts, p.part);
    group_sync(bar);
    bool last = false, all = false;
    if (thread == 0) {
        last = count_in(parts.flags) == parts.n - 1;
        all = last || wait_count(parts.flags, parts.n);
        if (!all) { /* leave the share to the last part, unless that has just arrived */
            change_flag(parts.flag(p.part), 0, 2);
            all = wait_count(parts.flags, parts.n) && change_flag(parts.flag(p.part), 2, 1);
        }
    }
    all = any_of_group(bar, all);
    last = any_of_group(bar, last);
    fence_all();
    if (all) store_share(parts, p.part, args, ops, p, w, thread);
    if (!last) return;
    bool left = false;
    for (u32 q = thread; q < parts.n; q += 128) left = left || *(volatile const u32 *)parts.flag(q) == 2;
    if (!any_of_group(bar, left)) return;
    for (u32 q = 0; q < parts.n; q++) {
        const bool mine = thread == 0 && change_flag(parts.flag(q), 2, 1);
        if (any_of_group(bar, mine)) {
            fence_all();
            store_share(parts, q, args, ops, p, w, thread);
        }
    }
}

/* ---- through the shared memory of a cluster ---- */

FN void store_two(u32 at, u32 a, u32 b)
{
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
}

/* Loads 16 bytes from the shared memory of work-group `rank` of the cluster (distributed shared memory). */
FN void load_remote(u32 at, u32 rank, u32 (&v)[4])
{
    asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %4, %5;\n\t"
                 "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [remote];\n\t}"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(at), "r"(rank)
                 : "memory");
}

struct alignas(4 * sizeof(g_TD)) Four {
    g_TD v[4];
};

/* Stores the results of rows m to m + 3 of a column, as one vector where it is aligned and inside D. */
FN void store_four(const g_TC (&sum)[4], const Args &args, const g_Ops &ops, int m, int n, int batch)
{
    if (m >= (int)args.m || n >= (int)args.n) return;
    const bool reads = READS && !g_is_zero(args.beta);
    g_TD *d = d_at(args, m, n, batch);
    const g_TD *c = c_at(args, m, n, batch);
    const u64 address_bits = (u64)d | (reads ? (u64)c : 0);
    g_OfRow rows[4];
    g_OfCol of_col;
    if (FUSED) g_rows<4>(ops, m, g_rows_whole<4>(ops, m, 4), rows), g_cols<1>(ops, n, false, &of_col);
    if (M_CONTIGUOUS && m + 4 <= (int)args.m && address_bits % sizeof(Four) == 0) {
        Four out, old;
        if (reads) old = *(const Four *)c;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const g_TC v = g_scaled(ops, sum[e]);
            out.v[e] = g_from_c(g_combined(ops, v, old.v[e], reads, rows[e], of_col));
        }
        *(Four *)d = out;
    } else {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (m + e >= (int)args.m) break;
            const g_TC v = g_scaled(ops, sum[e]);
            g_TD old;
            if (reads) old = c[g_c_at_m(e, args.ldc)];
            d[g_d_at_m(e, args.ldd)] = g_from_c(g_combined(ops, v, old, reads, rows[e], of_col));
        }
    }
}
