template <> struct g_Hint<2> {
    static g_DEV void load(g_Raw<16> &x, const void *p)
    {
        asm("ld.global.cs.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(x.v[0]), "=r"(x.v[1]), "=r"(x.v[2]), "=r"(x.v[3]) : "l"(p));
    }
    static g_DEV void load(g_Raw<8> &x, const void *p)
    {
        asm("ld.global.cs.v2.b32 {%0, %1}, [%2];" : "=r"(x.v[0]), "=r"(x.v[1]) : "l"(p));
    }
    static g_DEV void load(g_Raw<4> &x, const void *p)
    {
        asm("ld.global.cs.b32 %0, [%1];" : "=r"(x.v[0]) : "l"(p));
    }
    static g_DEV void load(g_Raw<2> &x, const void *p)
    {
        unsigned short h;
        asm("ld.global.cs.b16 %0, [%1];" : "=h"(h) : "l"(p));
        x.v[0] = h;
    }
    static g_DEV void load(g_Raw<1> &x, const void *p)
    {
        unsigned short h;
        asm("ld.global.cs.b8 %0, [%1];" : "=h"(h) : "l"(p));
        x.v[0] = h;
    }
    static g_DEV void store(void *p, const g_Raw<16> &x)
    {
        asm("st.global.cs.v4.b32 [%4], {%0, %1, %2, %3};" :: "r"(x.v[0]), "r"(x.v[1]), "r"(x.v[2]), "r"(x.v[3]), "l"(p) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<8> &x)
    {
        asm("st.global.cs.v2.b32 [%2], {%0, %1};" :: "r"(x.v[0]), "r"(x.v[1]), "l"(p) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<4> &x)
    {
        asm("st.global.cs.b32 [%1], %0;" :: "r"(x.v[0]), "l"(p) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<2> &x)
    {
        const unsigned short h = x.v[0];
        asm("st.global.cs.b16 [%1], %0;" :: "h"(h), "l"(p) : "memory");
    }
    static g_DEV void store(void *p, const g_Raw<1> &x)
    {
        const unsigned short h = x.v[0];
        asm("st.global.cs.b8 [%1], %0;" :: "h"(h), "l"(p) : "memory");
    }
};
