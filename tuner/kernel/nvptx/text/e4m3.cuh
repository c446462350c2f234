g_DEV float g_f8_to_f(unsigned char x)
{
    float f;
    asm("{ .reg .b32 pair; .reg .b16 h, rest; cvt.rn.f16x2.e4m3x2 pair, %1; mov.b32 {h, rest}, pair; cvt.f32.f16 %0, h; }"
        : "=f"(f) : "h"((unsigned short)x));
    return f;
}
