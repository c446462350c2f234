
/* Copies of 16-bit operands of any alignment (GlobalReadVectorWidth 1). cp.async copies at least 4 bytes
   (PTX ISA), so adjacent threads load adjacent pairs of elements into registers, and store them to shared
   memory one chunk later. Aligned pairs are loaded as one word (lo), others as two elements (lo and hi);
   byte_select is the selector of __byte_perm that makes the word of both. */
template <class L>
struct g_RegisterCopy : g_Copy<L> {
    static constexpr bool VIA_REGISTERS = true;
    g_u32 lo[L::N], hi[L::N], byte_select;
    g_FN void set_aligned(bool words) { byte_select = words ? 0x3210 : 0x5410; }
    /* Stores the loaded chunk to a stage. */
    g_FN void store_stage(g_u32 stage) const
    {
        g_UNROLL for (int i = 0; i < L::N; i++) {
            const g_u32 v = __byte_perm(lo[i], hi[i], byte_select);
            if (this->in_tile(i)) g_sts<4>(stage + this->shared_offset(i), &v);
        }
    }
    /* Loads a chunk that lies inside the operand. */
    g_FN void load_whole()
    {
        const char *q = this->p;
        const bool words = byte_select == 0x3210;
        g_UNROLL for (int i = 0; i < L::N; i++) {
            const int pass = i % L::PASSES;
            const char *at = q + pass * (L::PASS_COLS * L::CW);
            if (!this->in_tile(i)) continue;
            if (words) lo[i] = *(const g_u32 *)at;
            else lo[i] = *(const unsigned short *)at, hi[i] = *(const unsigned short *)(at + 2);
            if (pass == L::PASSES - 1) q += this->row_step;
        }
    }
    /* Loads a chunk that has k_left elements of K; elements outside are zero. */
    g_FN void load(bool whole, int k_left)
    {
        if (whole) return load_whole();
        const char *q = this->p;
        const bool words = byte_select == 0x3210;
        g_UNROLL for (int i = 0; i < L::N; i++) {
            const int n = this->valid(i, k_left), pass = i % L::PASSES;
            const char *at = q + pass * (L::PASS_COLS * L::CW);
            g_u32 x = 0, y = 0;
            if (n > 0) x = *(const unsigned short *)at;
            if (n > 1) y = *(const unsigned short *)(at + 2);
            lo[i] = words ? x | y << 16 : x, hi[i] = y;
            if (pass == L::PASSES - 1) q += this->row_step;
        }
    }
};
