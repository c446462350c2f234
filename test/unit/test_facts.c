/* Unit tests of the facts that are read from code objects: of real compilers' objects, where this machine has
 * them, of objects cut short and damaged everywhere, and of ones made by hand. */
#include "test/support.h"

#include <sys/stat.h>

#include "base/proc.h"
#include "build/build.h"
#include "build/facts.h"
#include "build/loops.h"

typedef struct {
    Arena arena;
    char *dir;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, 0);
    f->dir = test_dir();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    assert_ok(dir_remove(f->dir));
    free(f->dir);
    arena_fini(&f->arena);
    free(f);
    return 0;
}

/* Object of a text, NULL where there is no compiler for the architecture. */
static Str object_of(Fixture *f, const char *arch, const char *source)
{
    Toolchain t;
    Str object;
    if (toolchain_find(&f->arena, target_find(str_from(arch)), NULL, NULL, &t)) {
        print_message("skipped: %s: %s\n", arch, err_message());
        return STR_NULL;
    }
    BuildJob job = {.symbol = STR("k"), .source = str_from(source)};
    BuildOptions o = {.toolchain = &t, .cache_dir = path_join(&f->arena, f->dir, "cache").s};
    assert_ok(build_run(&f->arena, &o, &job, 1, NULL));
    if (job.status) fail_msg("%s: %.*s", arch, STR_ARG(job.why));
    assert_ok(file_read(&f->arena, job.object_path.s, 1 << 24, &object));
    return object;
}

static Err facts(Fixture *f, Str object, const char *arch, const char *symbol, CodeFacts *out)
{
    return code_facts_read(&f->arena, object, target_find(str_from(arch)), str_from(symbol), out);
}

/* 8 KiB of local memory, 256 threads; a second kernel that has to spill. */
static const char amd_text[] =
    "#define KERNEL extern \"C\" __attribute__((global)) void\n"
    "KERNEL __attribute__((amdgpu_flat_work_group_size(256, 256))) small(float *d, const float *a, int n)\n"
    "{ static __attribute__((shared)) float l[2048]; unsigned t = __builtin_amdgcn_workitem_id_x();\n"
    "  l[t] = a[t]; __builtin_amdgcn_s_barrier(); d[t] = l[(t + n) & 255]; }\n"
    "KERNEL __attribute__((amdgpu_flat_work_group_size(256, 256), amdgpu_num_vgpr(32)))\n"
    "spill(float *d, const float *a, int n)\n"
    "{ unsigned t = __builtin_amdgcn_workitem_id_x(); float x[96];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 96; i++) x[i] = a[i * n + t];\n"
    "  for (int k = 0; k < n; k++)\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 96; i++) x[i] = x[i] * x[(i + 7) % 96] + a[k];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 96; i++) d[i * n + t] = x[i]; }\n";

static void amd_one(Fixture *f, const char *arch, int waves)
{
    CodeFacts x;
    Str object = object_of(f, arch, amd_text);
    if (!object.s) return;
    assert_ok(facts(f, object, arch, "small", &x));
    assert_true(x.vgpr > 0 && x.vgpr < 32 && x.sgpr > 0);
    assert_int_equal(x.lds, 8192);
    assert_int_equal(x.scratch, 0);
    assert_true(x.kernarg >= 20 && x.kernarg <= 24);
    assert_int_equal(x.threads, 256);
    assert_true(x.bytes > 16);
    if (x.waves != waves) fail_msg("%s: %d waves, expected %d", arch, (int)x.waves, waves);
    assert_false(code_facts_spill(&x));
    assert_ok(code_facts_check(&x, target_find(str_from(arch))));
    assert_ok(facts(f, object, arch, "spill", &x));
    assert_true(x.vgpr_spills > 0 && x.scratch > 0 && code_facts_spill(&x));
    assert_int_equal(facts(f, object, arch, "smal", &x), ERR_INPUT);
    assert_string_equal(err_message(), "no kernel 'smal' in it");
    const char *other = strcmp(arch, "gfx900") ? "gfx900" : "gfx906";
    assert_int_equal(facts(f, object, other, "small", &x), ERR_INPUT);
    assert_non_null(strstr(err_message(), "a code object for 'amdgcn-amd-amdhsa--"));
    assert_int_equal(facts(f, object, "sm_90", "small", &x), ERR_INPUT);
    assert_non_null(strstr(err_message(), "of another machine (224, expected 190 for sm_90)"));
}

static void test_amd(void **state)
{
    /* 8 KiB a work-group: 8 of 4 waves in 64 KiB, 16 of 8 waves in 128 KiB */
    amd_one(*state, "gfx906", 8);
    amd_one(*state, "gfx90a", 8);
    amd_one(*state, "gfx1030", 16);
    amd_one(*state, "gfx1100", 16);
}

static const char nv_text[] =
    "extern \"C\" __global__ void __launch_bounds__(256) small(float *d, const float *a, int n)\n"
    "{ __shared__ float l[2048]; unsigned t = threadIdx.x; l[t] = a[t]; __syncthreads();\n"
    "  d[t] = l[(t + n) & 255]; }\n"
    "extern \"C\" __device__ unsigned int small_dynamic_lds = 1024;\n"
    "extern \"C\" __global__ void __launch_bounds__(1024) spill(float *d, const float *a, int n)\n"
    "{ unsigned t = threadIdx.x; float x[128];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 128; i++) x[i] = a[i * n + t];\n"
    "  for (int k = 0; k < n; k++)\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 128; i++) x[i] = x[i] * x[(i + 7) & 127] + a[k];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 128; i++) d[i * n + t] = x[i]; }\n";

static void test_nv(void **state)
{
    Fixture *f = *state;
    CodeFacts x;
    static const char *const archs[] = {"sm_80", "sm_90"};
    for (int i = 0; i < 2; i++) {
        Str object = object_of(f, archs[i], nv_text);
        if (!object.s) skip();
        assert_ok(facts(f, object, archs[i], "small", &x));
        assert_true(x.vgpr >= 8 && x.vgpr <= 32);
        assert_int_equal(x.lds, 8192 + 1024);
        assert_int_equal(x.scratch, 0);
        assert_int_equal(x.kernarg, 20);
        assert_int_equal(x.threads, 256);
        assert_int_equal(x.waves, 16);
        assert_true(x.instructions > 8 && x.bytes == 16 * x.instructions);
        assert_ok(facts(f, object, archs[i], "spill", &x));
        assert_int_equal(x.vgpr, 64); /* what 1024 threads can have */
        assert_true(x.scratch > 0 && code_facts_spill(&x));
        assert_int_equal(x.waves, 8);
        assert_int_equal(facts(f, object, archs[i], "none", &x), ERR_INPUT);
        assert_string_equal(err_message(), "no kernel 'none' in it");
        assert_int_equal(facts(f, object, archs[!i], "small", &x), ERR_INPUT);
        assert_non_null(strstr(err_message(), i ? "a cubin for sm_90, expected sm_80" : "a cubin for sm_80"));
        assert_int_equal(facts(f, object, "gfx906", "small", &x), ERR_INPUT);
    }
}

/* Every prefix, and every byte of the headers changed: an error or other facts, never a fault. */
static void damage(Fixture *f, Str object, const char *arch)
{
    CodeFacts x;
    Arena a;
    size_t n_failed = 0;
    for (size_t i = 0; i < object.n; i += i < 4096 ? 1 : 97) {
        char *copy = malloc(object.n), *cut = malloc(i + 1);
        arena_init(&a, 0);
        memcpy(copy, object.s, object.n);
        memcpy(cut, object.s, i);
        copy[i] = (char)~copy[i];
        const Target *t = target_find(str_from(arch));
        n_failed += code_facts_read(&a, (Str){copy, object.n}, t, STR("small"), &x) != 0;
        n_failed += code_facts_read(&a, (Str){cut, i}, t, STR("small"), &x) != 0;
        arena_fini(&a);
        free(copy);
        free(cut);
    }
    assert_true(n_failed > 100);
    (void)f;
}

static void test_damaged(void **state)
{
    Fixture *f = *state;
    Str amd = object_of(f, "gfx906", amd_text), nv = object_of(f, "sm_90", nv_text);
    if (amd.s) damage(f, amd, "gfx906");
    if (nv.s) damage(f, nv, "sm_90");
    CodeFacts x;
    assert_int_equal(facts(f, STR(""), "gfx906", "k", &x), ERR_INPUT);
    assert_string_equal(err_message(), "no ELF file (0 bytes)");
    assert_int_equal(facts(f,
                           STR("#!/bin/sh\necho garbage that is long enough to be a header of an ELF file"),
                           "sm_90", "k", &x),
                     ERR_INPUT);
    assert_non_null(strstr(err_message(), "no ELF file"));
}

static void test_text(void **state)
{
    (void)state;
    CodeFacts x, y;
    Buf b;
    buf_init(&b);
    code_facts_init(&x);
    code_facts_print(&x, &b);
    assert_int_equal(b.n, 0);
    x.vgpr = 64;
    x.loop_fma = 512;
    x.scratch = 0;
    code_facts_print(&x, &b);
    assert_string_equal(buf_cstr(&b), "vgpr=64 scratch=0 loop_fma=512");
    code_facts_parse(STR("vgpr=64 scratch=0 new=7 loop_fma=512 sgpr=x"), &y);
    assert_memory_equal(&x, &y, sizeof x);
    const Target *t = target_find(STR("gfx906"));
    assert_ok(code_facts_check(&x, t));
    x.lds = 65537;
    assert_int_equal(code_facts_check(&x, t), ERR_INPUT);
    assert_string_equal(err_message(), "65537 bytes of local memory, gfx906 has 65536 for a work-group");
    x.lds = 0;
    x.vgpr = 257;
    assert_int_equal(code_facts_check(&x, t), ERR_INPUT);
    assert_string_equal(err_message(), "257 vector registers, gfx906 has 256");
    x.vgpr = 128;
    x.threads = 1024;
    x.waves = 0;
    assert_int_equal(code_facts_check(&x, t), ERR_INPUT);
    buf_fini(&b);
}

typedef struct {
    int n;
    CodeFacts one, two;
} LoopsSeen;

static Err loops_see(void *user, Str symbol, const CodeFacts *x)
{
    LoopsSeen *seen = user;
    seen->n++;
    if (str_eq_c(symbol, "one")) seen->one = *x;
    if (str_eq_c(symbol, "two")) seen->two = *x;
    return str_eq_c(symbol, "stop") ? err_set(ERR_FAILED, "stopped") : ERR_OK;
}

/* An outer loop around the main loop, a tail loop, a branch forward; then a kernel without a loop. */
static const char disassembly[] =
    "\nk.co:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n0000000000001900 <one>:\n"
    "\ts_load_dword s0, s[4:5], 0x10    // 000000001900: C0020002 00000010\n"
    "\ts_cbranch_scc1 4                 // 000000001908: BF850004 <one+0x40>\n"
    "\tv_mfma_f32_32x32x8_f16 a[0:15]   // 000000001910: D3CC0000\n"
    "\tv_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6 // 000000001918: C8000000\n"
    "\tv_fma_f32 v0, v1, v2, v0         // 000000001920: D1CB0000\n"
    "\ts_cbranch_scc0 65530             // 000000001928: BF84FFFA <one+0x10>\n"
    "\tv_fma_f32 v0, v1, v2, v0         // 000000001930: D1CB0000\n"
    "\ts_cbranch_scc0 65530             // 000000001938: BF84FFFA <one+0x30>\n"
    "\ts_branch 65520                   // 000000001940: BF82FFF0 <one>\n"
    "\ts_endpgm                         // 000000001948: BF810000\n\n"
    "0000000000002000 <two>:\n\ts_endpgm // 000000002000: BF810000\n";

static const char *disassembler(Fixture *f, const char *text)
{
    Str path = path_join(&f->arena, f->dir, "objdump");
    assert_ok(file_write(path.s, arena_printf(&f->arena, "#!/bin/sh\ncat <<'E'\n%s\nE\n", text)));
    assert_int_equal(chmod(path.s, 0755), 0);
    return path.s;
}

static void test_loops(void **state)
{
    Fixture *f = *state;
    LoopsSeen seen = {0};
    Toolchain t = {.disassembler = NULL};
    const char *text = path_join(&f->arena, f->dir, "text").s;
    assert_ok(code_loops(&t, "k.co", text, loops_see, &seen));
    assert_int_equal(seen.n, 0);
    t.disassembler = disassembler(f, disassembly);
    assert_ok(code_loops(&t, "k.co", text, loops_see, &seen));
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.one.instructions, 10);
    assert_int_equal(seen.one.loop, 4);
    assert_int_equal(seen.one.loop_matrix, 1);
    assert_int_equal(seen.one.loop_fma, 3);
    assert_int_equal(seen.two.instructions, 1);
    assert_int_equal(seen.two.loop + seen.two.loop_fma + seen.two.loop_matrix, 0);
    assert_false(file_exists(text));
    t.disassembler = disassembler(f, "garbage\n<>:\n>:\n0 <x>:\n\ts_branch // < +\n0000000000000000 <stop>:\n"
                                     "\ts_branch 1 // 0: 0 <stop+0xffffffffffffffff>\n\n");
    assert_int_equal(code_loops(&t, "k.co", text, loops_see, &seen), ERR_FAILED);
    assert_string_equal(err_message(), "stopped");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_amd), TEST(test_nv), TEST(test_damaged), TEST(test_text),
                                       TEST(test_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
