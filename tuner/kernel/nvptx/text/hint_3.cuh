template <> struct g_Hint<3> {
    static g_DEV void load(g_Raw<16> &x, const void *p)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm("ld.global.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;" : "=r"(x.v[0]), "=r"(x.v[1]), "=r"(x.v[2]), "=r"(x.v[3]) : "l"(p), "l"(policy));
    }
    static g_DEV void load(g_Raw<8> &x, const void *p)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm("ld.global.L1::no_allocate.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;" : "=r"(x.v[0]), "=r"(x.v[1]) : "l"(p), "l"(policy));
    }
    static g_DEV void load(g_Raw<4> &x, const void *p)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm("ld.global.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(x.v[0]) : "l"(p), "l"(policy));
    }
    static g_DEV void load(g_Raw<2> &x, const void *p)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        unsigned short h;
        asm("ld.global.L1::no_allocate.L2::cache_hint.b16 %0, [%1], %2;" : "=h"(h) : "l"(p), "l"(policy));
        x.v[0] = h;
    }
    static g_DEV void load(g_Raw<1> &x, const void *p)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        unsigned short h;
        asm("ld.global.L1::no_allocate.L2::cache_hint.b8 %0, [%1], %2;" : "=h"(h) : "l"(p), "l"(policy));
        x.v[0] = h;
    }
    static g_DEV void store(void *p, const g_Raw<16> &x)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm("st.global.L1::no_allocate.L2::cache_hint.v4.b32 [%4], {%0, %1, %2, %3}, %5;" :: "r"(x.v[0]), "r"(x.v[1]), "r"(x.v[2]), "r"(x.v[3]), "l"(p), "l"(policy) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<8> &x)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm("st.global.L1::no_allocate.L2::cache_hint.v2.b32 [%2], {%0, %1}, %3;" :: "r"(x.v[0]), "r"(x.v[1]), "l"(p), "l"(policy) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<4> &x)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm("st.global.L1::no_allocate.L2::cache_hint.b32 [%1], %0, %2;" :: "r"(x.v[0]), "l"(p), "l"(policy) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<2> &x)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        const unsigned short h = x.v[0];
        asm("st.global.L1::no_allocate.L2::cache_hint.b16 [%1], %0, %2;" :: "h"(h), "l"(p), "l"(policy) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<1> &x)
    {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        const unsigned short h = x.v[0];
        asm("st.global.L1::no_allocate.L2::cache_hint.b8 [%1], %0, %2;" :: "h"(h), "l"(p), "l"(policy) : "memory");
    }
};
