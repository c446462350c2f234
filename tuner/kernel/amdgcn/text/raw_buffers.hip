typedef int g_w2 __attribute__((ext_vector_type(2)));
typedef int g_w4 __attribute__((ext_vector_type(4)));
#define g_RAW(V, BYTES, SUFFIX) \
    extern "C" __attribute__((device)) V g_raw_load##BYTES(g_w4, int, int, int) \
        __asm("llvm.amdgcn.raw.buffer.load." SUFFIX); \
    extern "C" __attribute__((device)) void g_raw_store##BYTES(V, g_w4, int, int, int) \
        __asm("llvm.amdgcn.raw.buffer.store." SUFFIX);
g_RAW(unsigned char, 1, "i8")
g_RAW(unsigned short, 2, "i16")
g_RAW(int, 4, "i32")
g_RAW(g_w2, 8, "v2i32")
g_RAW(g_w4, 16, "v4i32")
/* Returns the descriptor (V#, see the ISA documents) of a raw buffer of `bytes`; at most 4 GiB are reachable from
 * its base. Global addresses have 48 bits, so that the bits above them, which are the stride, are 0. Masking them
 * would cost a copy of the descriptor in each iteration of the main loop. g_uniform64 states that the base is
 * uniform: otherwise old compilers keep it in VGPRs, and emit a waterfall loop at each load. */
g_DEV g_w4 g_descriptor(const char *base, unsigned long long bytes)
{
    const unsigned long long b = g_uniform64((unsigned long long)base);
    const g_w4 r = {(int)b, (int)(b >> 32), (int)(bytes >> 32 ? ~0u : (unsigned)bytes), g_BUFFER_FORMAT};
    return r;
}
