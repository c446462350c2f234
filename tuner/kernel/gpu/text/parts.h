
/* ---- parts of a tile ---- */

/* Several work-groups split the K of a tile into parts. All but the last one to arrive write their sums to the
 * workspace. The last one adds the sums of all parts, in the order of the parts, and stores the results. No
 * work-group waits for one that has not arrived yet.
 *
 * A tile of n parts has n - 1 slots for sums, and a flag of 32 bits for each slot, initially 0. The upper half of
 * the first flag counts the parts that have arrived, and a part takes the slot with its number in that order. The
 * lower half of a slot's flag is set to the number of its part plus 1 when the sums are written. */
struct alignas(sizeof(g_TC) * g_PARTS_RUN) g_PartSums {
    g_TC v[g_PARTS_RUN];
};

/* Adds up a batch of accumulators, b to end - 1, of a thread over all parts. flags: the upper half of flag i has the
 * slot of the i-th other part. */
template <int b> g_DEV void g_add_parts(g_Acc &acc, const g_PartSums *sums, const unsigned *flags, unsigned parts, unsigned part)
{
    constexpr int end = b + g_PARTS_BATCH < g_PARTS_N ? b + g_PARTS_BATCH : g_PARTS_N;
    g_PartSums x[(end - b) / g_PARTS_RUN], y[(end - b) / g_PARTS_RUN];
    g_NOUNROLL for (unsigned q = 0; q < parts; q++) {
        if (q == part)
            g_UNROLL for (int i = b; i < end; i++) y[(i - b) / g_PARTS_RUN].v[i % g_PARTS_RUN] = g_acc_get(acc, i);
        else {
            const unsigned other = q > part ? q - 1 : q;
            unsigned slot = 0;
            if (parts > 2) slot = ((g_flag(flags + other) >> 16) - (other ? 0 : parts)) & 0xffff;
            const g_PartSums *const from = sums + (unsigned long long)slot * g_PARTS_SLOT;
            g_UNROLL for (int i = b; i < end; i += g_PARTS_RUN)
                y[(i - b) / g_PARTS_RUN] = from[i / g_PARTS_RUN * g_PARTS_THREADS];
        }
        g_UNROLL for (int i = 0; i < (end - b) / g_PARTS_RUN; i++)
            g_UNROLL for (int e = 0; e < g_PARTS_RUN; e++)
                x[i].v[e] = q ? g_add(x[i].v[e], y[i].v[e]) : y[i].v[e];
    }
    g_UNROLL for (int i = b; i < end; i++) g_acc_set(acc, i, x[(i - b) / g_PARTS_RUN].v[i % g_PARTS_RUN]);
}

/* Writes all accumulators of a thread, batch by batch, to the slot that begins at sums. */
template <int b> g_DEV void g_leave_all(const g_Acc &acc, g_PartSums *sums)
{
    if constexpr (b < g_PARTS_N) {
        constexpr int end = b + g_PARTS_BATCH < g_PARTS_N ? b + g_PARTS_BATCH : g_PARTS_N;
        g_UNROLL for (int i = b; i < end; i += g_PARTS_RUN) {
            g_PartSums x;
            g_UNROLL for (int e = 0; e < g_PARTS_RUN; e++) x.v[e] = g_acc_get(acc, i + e);
            sums[i / g_PARTS_RUN * g_PARTS_THREADS] = x;
        }
        g_leave_all<b + g_PARTS_BATCH>(acc, sums);
    }
}

template <int b> g_DEV void g_add_all(g_Acc &acc, const g_PartSums *sums, const unsigned *flags, unsigned parts, unsigned part)
{
    if constexpr (b < g_PARTS_N) {
        g_add_parts<b>(acc, sums, flags, parts, part);
        g_add_all<b + g_PARTS_BATCH>(acc, sums, flags, parts, part);
    }
}

/* all, flags: sums and flag of the tile's first slot. Returns true in the part that arrives last; acc then has the
 * sums of all parts. */
g_DEV bool g_join(g_Acc &acc, g_TC *all, unsigned *flags, unsigned parts, unsigned part, char *lds, unsigned tid)
{
    unsigned *const shared = (unsigned *)lds;
    g_PartSums *const sums = (g_PartSums *)all + tid;
    const bool holds = tid < g_PARTS_THREADS;
    g_barrier();
    if (tid == 0) *shared = g_count_in(flags, 1u << 16) >> 16;
    g_barrier();
    const unsigned place = g_uniform(*shared);
    if (place + 1 < parts) {
        if (holds) g_leave_all<0>(acc, sums + (unsigned long long)place * g_PARTS_SLOT);
        g_release();
        g_barrier();
        if (tid == 0) g_count_in(flags + place, part + 1);
        return false;
    }
    /* all other parts have arrived, and set their flags without waiting for anybody */
    g_NOUNROLL for (unsigned slot = tid; slot + 1 < parts; slot += g_PARTS_GROUP) {
        unsigned number;
        do
            number = g_flag(flags + slot) & 0xffff;
        while (number == 0);
        /* The flag of a slot has the number of its part. This stores the inverse, the slot of each part, in the upper
         * halves. */
        number = number - 1 > part ? number - 2 : number - 1;
        if (parts > 2) g_count_in(flags + number, slot << 16);
    }
    g_release();
    g_barrier();
    g_acquire();
    if (holds) g_add_all<0>(acc, sums, flags, parts, part);
    return true;
}
