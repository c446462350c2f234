/* Instructions and conversions by which wgmma kernels write results to slices in shared memory. */

FN void store_matrices(u32 at, u32 a, u32 b, u32 c, u32 d)
{
    if constexpr (SWAP)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a),
                     "r"(b), "r"(c), "r"(d)
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                     "r"(a), "r"(b), "r"(c), "r"(d)
                     : "memory");
}

FN void load_matrices(u32 at, u32 (&v)[4])
{
    if constexpr (SWAP)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at)
                     : "memory");
}

FN void store_matrices_2(u32 at, u32 a, u32 b)
{
    if constexpr (SWAP)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b)
                     : "memory");
}

FN void load_matrices_2(u32 at, u32 (&v)[4])
{
    if constexpr (SWAP)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(v[0]), "=r"(v[1])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(v[0]), "=r"(v[1])
                     : "r"(at)
                     : "memory");
}

FN u32 pair(float lo, float hi)
{
    u32 p;
    if constexpr (PAIR_BF16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(p) : "f"(hi), "f"(lo));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(p) : "f"(hi), "f"(lo));
    return p;
}

/* Those of two results that are above zero; zero in place of others, and of NaN. */
FN u32 relu_pair(u32 p)
{
    u32 r;
    if constexpr (PAIR_BF16)
        asm("max.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(p), "r"(0));
    else
        asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(p), "r"(0));
    return r;
}

/* Two neighbours of type T that lane `lane` has at x. All lanes of a warp call it. */
template <typename T> FN void from_lane(const T *x, int lane, T *to)
{
    u32 word[(2 * sizeof(T) + 3) / 4] = {};
    memcpy(word, x, 2 * sizeof(T));
    g_UNROLL for (u32 &w : word) w = __shfl_sync(0xffffffffu, w, lane);
    memcpy(to, word, 2 * sizeof(T));
}

FN void store_word(u32 at, u32 v) { asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }
FN u32 load_word(u32 at)
{
    u32 v;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
    return v;
}
FN u32 word_of(float v) { return __float_as_uint(v); }
FN u32 word_of(int v) { return (u32)v; }
FN void from_word(u32 w, float &v) { v = __uint_as_float(w); }
FN void from_word(u32 w, int &v) { v = (int)w; }
