/* The compiler does not know which address this is: sums of it and of multiples of a leading dimension stay
 * one multiplication each. */
template <typename T> g_DEV void g_keep_address(T *&p) { asm("" : "+l"(p)); }

/* The compiler does not know which number this is: what it computes from it is not kept for later uses. */
g_DEV void g_keep_number(int &x) { asm("" : "+r"(x)); }

/* The bits of a result. */
template <typename T, int BYTES = (int)sizeof(T)> union g_Bits;
template <typename T> union g_Bits<T, 1> {
    T x;
    unsigned char v;
};
template <typename T> union g_Bits<T, 2> {
    T x;
    unsigned short v;
};
template <typename T> union g_Bits<T, 4> {
    T x;
    unsigned v;
};
template <typename T> union g_Bits<T, 8> {
    T x;
    unsigned long long v;
};

/* Loads and stores as instructions with a predicate (in PTX '@', which stands twice in this file). The
 * compiler makes a branch of an `if`. */
template <typename T> g_DEV T g_load_if(bool in, const T *from)
{
    g_Bits<T> b;
    if constexpr (sizeof(T) == 1) {
        unsigned short v;
        asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.b16 %0, 0; @@p ld.global.b8 %0, [%1]; }" : "=&h"(v) : "l"(from), "r"((int)in));
        b.v = (unsigned char)v;
    }
    if constexpr (sizeof(T) == 2)
        asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.b16 %0, 0; @@p ld.global.b16 %0, [%1]; }" : "=&h"(b.v) : "l"(from), "r"((int)in));
    if constexpr (sizeof(T) == 4)
        asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.b32 %0, 0; @@p ld.global.b32 %0, [%1]; }" : "=&r"(b.v) : "l"(from), "r"((int)in));
    if constexpr (sizeof(T) == 8)
        asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.b64 %0, 0; @@p ld.global.b64 %0, [%1]; }" : "=&l"(b.v) : "l"(from), "r"((int)in));
    return b.x;
}
template <typename T> g_DEV void g_store_if(bool in, T *to, T x)
{
    g_Bits<T> b;
    b.x = x;
    if constexpr (sizeof(T) == 1)
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @@p st.global.b8 [%0], %1; }" ::"l"(to), "h"((unsigned short)b.v), "r"((int)in) : "memory");
    if constexpr (sizeof(T) == 2)
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @@p st.global.b16 [%0], %1; }" ::"l"(to), "h"(b.v), "r"((int)in) : "memory");
    if constexpr (sizeof(T) == 4)
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @@p st.global.b32 [%0], %1; }" ::"l"(to), "r"(b.v), "r"((int)in) : "memory");
    if constexpr (sizeof(T) == 8)
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @@p st.global.b64 [%0], %1; }" ::"l"(to), "l"(b.v), "r"((int)in) : "memory");
}
