/* 8-bit floats of nvptx kernels: conversions to them are plain code, which is compiled for the CPU here and
 * compared with the client's reference; conversions from them are binary16's, which has all their numbers. */
#include <dlfcn.h>
#include <math.h>

#include "base/proc.h"
#include "client/worker/number.h"
#include "kernel/kernel.h"
#include "test/support.h"

typedef void Convert(int b8, const float *x, unsigned char *y, int n);

/* From `head` to the end of that function; it must be there. */
static void function_text(const char *text, const char *head, Buf *out)
{
    const char *at = strstr(text, head), *end = at ? strstr(at, "\n}\n") : NULL;
    if (!end) fail_msg("'%s' is not in the text", head);
    buf_printf(out, "%.*s", (int)(end + 3 - at), at);
}

static Convert *compile(bool clip, const char *dir)
{
    ProblemType pt;
    Buf text, c;
    char path[300], so[300];
    buf_init(&text);
    buf_init(&c);
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_F8B8, TYPE_B8, TYPE_S));
    pt.Fp32toFp8SWClip = clip;
    assert_ok(kernel_emit_post_gsu(&pt, target_find(STR("sm_90")), STR("Cijk_PostGSU2_VW2"), &text));
    buf_puts(&c, "#include <string.h>\n#define g_DEV static\n"
                 "static unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }\n"
                 "static float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }\n");
    function_text(buf_cstr(&text), "g_DEV unsigned char g_f_to_f8(float f)\n", &c);
    function_text(buf_cstr(&text), "g_DEV unsigned char g_f_to_b8(float f)\n", &c);
    buf_puts(&c, "void convert(int b8, const float *x, unsigned char *y, int n)\n{\n"
                 "    for (int i = 0; i < n; i++) y[i] = b8 ? g_f_to_b8(x[i]) : g_f_to_f8(x[i]);\n}\n");
    snprintf(path, sizeof path, "%s/f8_%d.c", dir, clip);
    snprintf(so, sizeof so, "%s/f8_%d.so", dir, clip);
    assert_ok(file_write(path, buf_view(&c)));
    const char *const argv[] = {"cc", "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-o", so, path, NULL};
    ProcResult result;
    assert_ok(proc_run(&(ProcSpec){.argv = argv, .stdout_path = "-", .stderr_path = "-"},
                       UINT64_C(60000000000), &result));
    assert_true(result.end == PROC_EXITED && result.code == 0);
    void *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!lib) fail_msg("%s", dlerror());
    Convert *f;
    *(void **)(void *)&f = dlsym(lib, "convert");
    assert_non_null(f);
    buf_fini(&c);
    buf_fini(&text);
    return f;
}

/* As the reference; without clip what rounds to more than the largest number is what infinity is. */
static uint8_t want(bool b8, bool clip, float x)
{
    uint8_t code, sign = signbit(x) ? 0x80 : 0;
    number_store(b8 ? TYPE_B8_OCP : TYPE_F8_OCP, &code, 0, x, 0);
    if (isnan(x)) return 0x7f | sign;
    bool over = b8 ? fabsf(x) >= 61440 : fabsf(x) > 464; /* ties go to the even code: 448's, infinity's */
    if (isinf(x) || (over && !clip)) return sign | (b8 ? 0x7c : 0x7f);
    return code;
}

/* All floats of 16 bits and what is next to them and to the middles between them: the results change nowhere
 * else. */
static void test_to_f8(void **state)
{
    (void)state;
    static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    enum { N = 65536 };
    static float x[N];
    static uint8_t y[N];
    char *dir = test_dir();
    for (int clip = 0; clip < 2; clip++) {
        Convert *convert = compile(clip, dir);
        for (int l = 0; l < 6; l++) {
            for (uint32_t i = 0; i < N; i++) memcpy(&x[i], &(uint32_t){i << 16 | low[l]}, 4);
            for (int b8 = 0; b8 < 2; b8++) {
                convert(b8, x, y, N);
                for (int i = 0; i < N; i++)
                    if (y[i] != want(b8, clip, x[i]))
                        fail_msg("%a to %s, clip %d: 0x%02x, not 0x%02x", (double)x[i], b8 ? "b8" : "f8",
                                 clip, y[i], want(b8, clip, x[i]));
            }
        }
    }
    assert_ok(dir_remove(dir));
    free(dir);
}

/* What cvt.rn.f16x2.e4m3x2 and bytes moved into the upper halves need: binary16 has all numbers of e4m3, and
 * e5m2 is its upper half. */
static void test_from_f8(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        double f8, b8, half, im;
        uint8_t code = (uint8_t)i;
        uint16_t upper = (uint16_t)(i << 8);
        numbers_load(TYPE_F8_OCP, &code, 0, 1, 1, &f8, &im);
        numbers_load(TYPE_B8_OCP, &code, 0, 1, 1, &b8, &im);
        numbers_load(TYPE_H, &upper, 0, 1, 1, &half, &im);
        assert_true(isnan(f8) ? (i & 127) == 127 : number_round(TYPE_H, f8) == f8);
        assert_true(isnan(b8) ? isnan(half) != 0 : half == b8 && signbit(half) == signbit(b8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_to_f8), cmocka_unit_test(test_from_f8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
