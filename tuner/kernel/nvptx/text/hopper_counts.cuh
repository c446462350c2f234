/* The counters of the parts of K of a tile, of kernels that need no launch to clear them (SelfResetCounters). They
 * are one word of 64 bits: */
enum : u64 {
    COUNT_ONE = 1,             /* 8 bits: parts whose sums are in the workspace */
    GONE_ONE = 256,            /* 8 bits: parts that will not read the word again */
    LEFT_BIT = 16,             /* 16 bits: parts that left their share to the last one that comes */
    WORD_VALID = 0x7fb1d2c3ull /* 32 bits: the word is valid. No sum of two floats looks like this: it is a NaN that
                                * arithmetic does not make. */
                 << 32
};

FN u64 word_now(const u64 *word)
{
    u64 now;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(word) : "memory");
    return now;
}

/* Makes the word valid, unless it was when read as `now`, or has been made so since. */
FN void word_begin(u64 *word, u64 now)
{
    if (now >> 32 != WORD_VALID >> 32)
        asm volatile("{\n\t.reg .b64 before;\n\tatom.relaxed.gpu.global.cas.b64 before, [%0], %1, %2;\n\t}" ::"l"(word),
                     "l"(now), "l"((u64)WORD_VALID)
                     : "memory");
}

FN u64 word_add(u64 *word, u64 x)
{
    u64 before;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(x) : "memory");
    return before;
}

/* Counts this part in. Returns the word's previous value. */
FN u64 word_count(u64 *word) { return word_add(word, COUNT_ONE); }

/* This part will not read the word again; it leaves the shares in the mask to the last part. Returns the word's
 * previous value. */
FN u64 word_leave(u64 *word, u32 shares) { return word_add(word, GONE_ONE + ((u64)shares << LEFT_BIT)); }

/* All parts are gone: the word as the next launch needs it. */
FN void word_reset(u64 *word)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"((u64)WORD_VALID) : "memory");
}

/* Waits until n parts are counted in, for at most LIMIT clock cycles, like the text for marks. If it returns true, the
 * sums of all parts may be read behind the next barrier by all threads that meet there: the load acquires them, and
 * a barrier passes on what a thread has acquired. */
template <int LIMIT = 40000> FN bool word_wait(const u64 *word, u32 n)
{
    const long long begin = clock64();
    u64 now;
    do
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(word) : "memory");
    while ((now & 255) != n && clock64() - begin < LIMIT);
    return (now & 255) == n;
}

/* Of previous values: whether all n parts had been counted in; whether all others had gone; the shares that were
 * left to a part that was counted in as the last one. */
FN bool all_counted(u64 word, u32 n) { return (word & 255) == n; }
FN bool others_gone(u64 word, u32 n) { return (word >> 8 & 255) == n - 1; }
FN u32 shares_left(u64 word, u32 n) { return (word & 255) == n - 1 ? (u32)(word >> LEFT_BIT & 0xffff) : 0; }
