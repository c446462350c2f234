/* tuner_gemm_fused on a library of the host with kernels compiled here, one for each activation and direction
 * of the bias, with all kinds of scale factors: results against the reference, element by element; a kernel
 * that leaves the bias out is found; what is refused. */
#include "test/support.h"

#include <math.h>

#include "client/runtime/tuner.h"
#include "client/worker/reference.h"
#include "client/worker/validate.h"
#include "problem/target.h"

/* A naive kernel for each macro line that make_library adds. The operands stand behind the 96 bytes of the
 * arguments that every kernel in the Source form has. */
static const char kernels[] =
    "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    "typedef struct { float *d; const float *c, *a, *b; float alpha, beta; uint32_t d1, d2, c1, c2, a1, a2, "
    "b1, "
    "b2;\n"
    "  uint32_t m, n, batch, k, tiles0, tiles1; } Args;\n"
    "static float act(int kind, float x, const float *q)\n"
    "{ switch (kind) { case 1: return fabsf(x); case 2: return x >= q[0] ? fminf(x, q[1]) : 0;\n"
    "  case 3: return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));\n"
    "  case 4: return x >= 0 ? x : q[0] * x; case 5: return fmaxf(x, 0); case 6: return 1 / (1 + expf(-x));\n"
    "  case 7: return q[0] * tanhf(q[1] * x); case 8: return x / (1 + expf(-x));\n"
    "  case 9: return fmaxf(q[0], fminf(x, q[1])); } return x; }\n"
    "static const float *take(const char **at) { const float *p; memcpy(&p, *at, 8); *at += 8; return p; }\n"
    "static void run(const void *k, const uint32_t g[3], uint64_t f, uint64_t l, int bias, int kind, int ab, "
    "int "
    "cd, int sav, int wrong)\n"
    "{ const Args *p = k; const char *at = (const char *)k + 96; const float one = 1, *sa = &one, *sb = "
    "&one;\n"
    "  const float *sc = &one, *sd = &one, *sv = &one, *bs = 0; uint32_t step; float q[2];\n"
    "  if (ab) sa = take(&at), sb = take(&at);\n  if (cd) sc = take(&at), sd = take(&at);\n"
    "  if (sav) sv = take(&at);\n  if (bias) bs = take(&at);\n"
    "  if (bias) memcpy(&step, at, 4), at += 4;\n  memcpy(q, at, 8);\n"
    "  for (uint64_t w = f; w < l; w++) { uint32_t x = w % g[0], y = w / g[0] % g[1], z = w / g[0] / g[1];\n"
    "  for (uint32_t j = 16 * y; j < 16 * y + 16 && j < p->n; j++)\n"
    "  for (uint32_t i = 16 * x; i < 16 * x + 16 && i < p->m; i++) { float s = 0;\n"
    "   for (uint32_t u = 0; u < p->k; u++) s += p->a[i + u * p->a1 + z * p->a2] * p->b[u + j * p->b1 + z * "
    "p->b2];\n"
    "   s *= p->alpha * sa[ab == 2 ? i : 0] * sb[ab == 2 ? j : 0] * sv[sav == 1 ? i : sav == 2 ? j : 0];\n"
    "   if (p->beta != 0) s += *sc * p->beta * p->c[i + j * p->c1 + z * p->c2];\n"
    "   if (bias && !wrong) s += bs[(bias == 1 ? i : j) + (uint64_t)z * step];\n"
    "   p->d[i + (uint64_t)j * p->d1 + (uint64_t)z * p->d2] = *sd * act(kind, s, q); } } }\n"
    "#define K(name, ...) const uint64_t name##_local_bytes = 0; void name(const void *k, const uint32_t "
    "g[3],\\\n"
    "  uint64_t f, uint64_t l, void *s) { run(k, g, f, l, __VA_ARGS__); }\n";

enum { WRONG = ACTIVATION_COUNT * 2, ROWS }; /* the last one leaves the bias out */

static Fused row(int i)
{
    const int a = i / 2;
    if (i == WRONG) return (Fused){.bias = ALONG_N, .bias_type = TYPE_S, .scale_cd = true};
    return (Fused){.bias = i % 2 ? ALONG_N : ALONG_M,
                   .bias_type = TYPE_S,
                   .activation = (Activation)a,
                   .scale_ab = (ScaleAB)(i % 3),
                   .scale_cd = i % 4 == 3,
                   .scale_alpha = (Along)((i / 2) % 3)};
}

static void add_solution(Buf *yaml, Buf *source, int i)
{
    const Fused f = row(i);
    buf_printf(yaml, "- name: k%d\n  index: %d\n  hardwarePredicate: {type: TruePred}\n", i, i);
    buf_puts(yaml, "  problemPredicate: {type: And, value: [{type: StridedBatched, value: true},\n"
                   "    {type: TypesEqual, value: [Float, Float, Float, Float]}]}\n"
                   "  problemType: {operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk");
    fused_put(&f, yaml);
    buf_puts(
        yaml,
        ", aType: Float, bType: Float,\n    cType: Float, dType: Float, useBeta: true, "
        "highPrecisionAccumulate: false}\n  taskPredicate: {type: TruePred}\n  debugKernel: false\n"
        "  sizeMapping: {workGroup: [16, 16, 1], macroTile: [16, 16, 1], threadTile: [1, 1], depthU: 8,\n"
        "    staggerU: 0, globalSplitU: 1, staggerStrideShift: 0, workGroupMapping: 1, persistentKernel: 0,\n"
        "    persistentKernelAlongBatch: false, sourceKernel: true, globalAccumulation: 0,\n"
        "    workspaceSizePerElemC: 0}\n");
    buf_printf(source, "K(k%d, %d, %d, %d, %d, %d, %d)\n", i, (int)f.bias, (int)f.activation, (int)f.scale_ab,
               f.scale_cd, (int)f.scale_alpha, i == WRONG);
}

static tuner_library *open_library(const char *dir, const tuner_options *options)
{
    Arena a;
    Buf yaml, source;
    tuner_library *lib;
    const char *arch = target_host_level()->name;
    arena_init(&a, 0);
    buf_init(&yaml);
    buf_init(&source);
    buf_puts(&yaml, "solutions:\n");
    buf_puts(&source, kernels);
    for (int i = 0; i < ROWS; i++) add_solution(&yaml, &source, i);
    buf_puts(&yaml, "library:\n  type: ProblemMap\n  property: {type: OperationIdentifier}\n  map:\n");
    for (int i = 0; i < ROWS; i++) {
        const Fused f = row(i);
        buf_puts(&yaml, "    Contraction_l_Ailk_Bljk_Cijk_Dijk");
        fused_put(&f, &yaml);
        buf_printf(&yaml, ": {type: Single, index: %d}\n", i);
    }
    assert_ok(file_write(path_join(&a, dir, "TensileLibrary.yaml").s, buf_view(&yaml)));
    const char *c = path_join(&a, dir, "k.c").s;
    assert_ok(file_write(c, buf_view(&source)));
    assert_int_equal(
        system(arena_printf(&a, "cc -shared -fPIC -O1 -w -o %s/Kernels.so-000-%s.so %s -lm", dir, arch, c).s),
        0);
    if (tuner_open(&lib, dir, options)) fail_msg("%s", tuner_error_message());
    buf_fini(&yaml);
    buf_fini(&source);
    arena_fini(&a);
    return lib;
}

/* ---- results ---- */

enum { M = 37, N = 21, K = 19, BATCH = 3, LDC = M + 2, SA = M * K, SB = K * N, SC = LDC * N, VECTOR = 64 };

typedef struct {
    float a[SA * BATCH], b[SB * BATCH], c[SC * BATCH], d[SC * BATCH];
    float vector[FUSED_OPERANDS][VECTOR * BATCH];
    double value[FUSED_OPERANDS][VECTOR * BATCH];
    float alpha, beta;
    tuner_gemm_desc g;
    tuner_epilogue e;
} Data;

static float pattern(int i) { return (float)((i * 7919) % 13 - 6) / 8; }

static void fill(Data *x, const Fused *f)
{
    memset(x, 0, sizeof *x);
    for (int i = 0; i < SA * BATCH; i++) x->a[i] = pattern(i);
    for (int i = 0; i < SB * BATCH; i++) x->b[i] = pattern(i + 5);
    for (int i = 0; i < SC * BATCH; i++) x->c[i] = pattern(i + 9), x->d[i] = NAN;
    for (int o = 0; o < FUSED_OPERANDS; o++)
        for (int i = 0; i < VECTOR * BATCH; i++)
            x->value[o][i] = (double)(x->vector[o][i] = 1 + pattern(i + 3 * o) / 2);
    x->alpha = 0.5f, x->beta = 1.5f;
    x->g = (tuner_gemm_desc){.m = M, .n = N, .k = K, .batch = BATCH, .alpha = &x->alpha, .beta = &x->beta};
    x->g.a = x->a, x->g.b = x->b, x->g.c = x->c, x->g.d = x->d;
    x->g.lda = M, x->g.ldb = K, x->g.ldc = x->g.ldd = LDC;
    x->g.stride_a = SA, x->g.stride_b = SB, x->g.stride_c = x->g.stride_d = SC;
    x->e = (tuner_epilogue){.size = sizeof x->e,
                            .bias_along = (int32_t)f->bias,
                            .bias_stride = VECTOR,
                            .activation = (int32_t)f->activation,
                            .activation_arg = {0.25, 1.5},
                            .scale_ab = (int32_t)f->scale_ab,
                            .scale_cd = f->scale_cd,
                            .scale_alpha_along = (int32_t)f->scale_alpha};
    const void **const member[FUSED_OPERANDS] = {&x->e.scale_a, &x->e.scale_b,     &x->e.scale_c,
                                                 &x->e.scale_d, &x->e.scale_alpha, &x->e.bias};
    for (int o = 0; o < FUSED_OPERANDS; o++)
        if (fused_has(f, (FusedOperand)o)) *member[o] = x->vector[o];
}

static bool is_right(const Data *x, const Fused *f)
{
    FusedVectors v = {.op = *f, .bias_batch = x->e.bias_stride, .number = {0.25, 1.5}};
    for (int o = 0; o < FUSED_OPERANDS; o++) v.value[o] = x->value[o];
    const Gemm gemm = {.m = M,
                       .n = N,
                       .batch = BATCH,
                       .k = K,
                       .a = {.data = x->a, .row = 1, .col = M, .batch = SA},
                       .b = {.data = x->b, .row = 1, .col = K, .batch = SB},
                       .c = {.data = x->c, .row = 1, .col = LDC, .batch = SC},
                       .alpha = {(double)x->alpha, 0},
                       .beta = {(double)x->beta, 0},
                       .fused = f->bias ? &v : NULL};
    const Matrix d = {.data = x->d, .row = 1, .col = LDC, .batch = SC};
    const ValidateOptions all = {.n_validate = -1, .n_allocated = SC * BATCH, .n_threads = 1};
    Validator *validator;
    Check check;
    assert_ok(validator_new(&gemm, &all, &validator));
    assert_ok(validator_check(validator, &d, &check));
    assert_int_equal(check.n_checked, M * N * BATCH);
    validator_free(validator);
    return check.passed;
}

static Data x;

static void results(void **state)
{
    char *dir = test_dir();
    tuner_library *lib = open_library(dir, NULL);
    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (int shared = 0; shared < 2; shared++) {
            const Fused f = row(i);
            tuner_selection s;
            fill(&x, &f);
            if (shared) x.e.bias_stride = 0; /* one bias for all matrices */
            if (tuner_select_fused(lib, &x.g, &x.e, &s)) fail_msg("row %d: %s", i, tuner_error_message());
            assert_int_equal(s.solution_index, i);
            if (tuner_gemm_fused(lib, &x.g, &x.e)) fail_msg("row %d: %s", i, tuner_error_message());
            if (is_right(&x, &f) != (i != WRONG))
                fail_msg("row %d: the result is %s", i, i == WRONG ? "right" : "wrong");
        }
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

/* Without kernels for arrays of pointers each matrix is a call, with its own bias. */
static void arrays_of_pointers(void **state)
{
    char *dir = test_dir();
    tuner_library *lib = open_library(dir, NULL);
    const void *in[3][BATCH];
    void *out[BATCH];
    const Fused f = row(7);
    (void)state;
    fill(&x, &f);
    for (int b = 0; b < BATCH; b++) {
        in[0][b] = x.a + b * SA, in[1][b] = x.b + b * SB, in[2][b] = x.c + b * SC;
        out[b] = x.d + b * SC;
    }
    x.g.a = in[0], x.g.b = in[1], x.g.c = in[2], x.g.d = (void *)out;
    x.g.pointer_arrays = 1;
    if (tuner_gemm_fused(lib, &x.g, &x.e)) fail_msg("%s", tuner_error_message());
    assert_true(is_right(&x, &f));
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

/* ---- what is refused ---- */

static void refuse(tuner_library *lib, int status, const char *text)
{
    if ((int)tuner_gemm_fused(lib, &x.g, &x.e) != status)
        fail_msg("expected %d with '%s', not '%s'", status, text, tuner_error_message());
    if (!strstr(tuner_error_message(), text)) fail_msg("'%s' does not say '%s'", tuner_error_message(), text);
    assert_true(isnan(x.d[0])); /* D is unchanged */
}

#define REFUSE(change, status, text)                                                                         \
    do {                                                                                                     \
        fill(&x, &f);                                                                                        \
        change;                                                                                              \
        refuse(lib, status, text);                                                                           \
    } while (0)

static void refused(void **state)
{
    char *dir = test_dir();
    tuner_library *lib = open_library(dir, NULL);
    const Fused f = row(7); /* along N, clippedrelu's neighbour gelu, a vector for each side, scale C and D */
    tuner_selection s;
    (void)state;
    REFUSE(x.e.size = 0, TUNER_INPUT, "size is 0, expected sizeof(tuner_epilogue), 104");
    REFUSE(x.e.size = 96, TUNER_INPUT, "size is 96");
    REFUSE(x.e.size = 1 << 20, TUNER_INPUT, "size is 1048576");
    REFUSE(x.e.activation = 10, TUNER_INPUT, "activation is 10, expected 0 to 9");
    REFUSE(x.e.activation = -1, TUNER_INPUT, "activation is -1");
    REFUSE(x.e.bias_along = 3, TUNER_INPUT, "bias_along is 3, expected 0 to 2");
    REFUSE(x.e.scale_alpha_along = 4, TUNER_INPUT, "scale_alpha_along is 4");
    REFUSE(x.e.scale_ab = 3, TUNER_INPUT, "scale_ab is 3");
    REFUSE(x.e.scale_cd = 2, TUNER_INPUT, "scale_cd is 2");
    REFUSE(x.e.bias_type = 12, TUNER_INPUT, "bias type is 12");
    REFUSE(x.e.bias_stride = -1, TUNER_INPUT, "bias_stride is -1");
    REFUSE(x.e.bias = NULL, TUNER_INPUT, "tuner_epilogue.bias is a null pointer");
    REFUSE(x.e.scale_b = NULL, TUNER_INPUT, "tuner_epilogue.scale_b is a null pointer");
    REFUSE(x.e.scale_d = NULL, TUNER_INPUT, "tuner_epilogue.scale_d is a null pointer");
    REFUSE(x.e.scale_cd = 0, TUNER_INPUT, "tuner_epilogue.scale_c is given, but its operation is not wanted");
    REFUSE(x.e.bias_along = 0, TUNER_INPUT, "tuner_epilogue.bias is given");
    REFUSE(x.g.compute_type = TUNER_I32, TUNER_INPUT, "compute type i32_r has no fused operations");
    REFUSE(x.e.bias_type = TUNER_F16, TUNER_NO_SOLUTION, "has no solution for NN_BiasHN_");
    REFUSE(x.g.trans_a = TUNER_T, TUNER_NO_SOLUTION, "has no solution for TN_BiasSN_");
    REFUSE(x.g.solution_index = 1, TUNER_NO_SOLUTION, "solution 0 cannot run this problem");
    fill(&x, &f);
    assert_int_equal(tuner_gemm_fused(lib, &x.g, NULL), TUNER_NO_SOLUTION); /* a plain GEMM */
    assert_int_equal(tuner_gemm(lib, &x.g), TUNER_NO_SOLUTION);
    assert_int_equal(tuner_gemm_fused(lib, NULL, &x.e), TUNER_INPUT);
    assert_int_equal(tuner_gemm_fused(NULL, &x.g, &x.e), TUNER_INPUT);
    assert_int_equal(tuner_select_fused(lib, &x.g, &x.e, NULL), TUNER_INPUT);
    x.e.bias = x.e.scale_a = x.e.scale_b = x.e.scale_c = x.e.scale_d = x.e.scale_alpha = NULL;
    assert_int_equal(tuner_select_fused(lib, &x.g, &x.e, &s), TUNER_OK); /* a selection needs no pointers */
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

/* A program of a later header: members that this library does not know must ask for nothing. */
static void later_header(void **state)
{
    char *dir = test_dir();
    tuner_library *lib = open_library(dir, NULL);
    struct {
        tuner_epilogue known;
        uint64_t later;
    } e = {.later = 0};
    const Fused f = row(7);
    (void)state;
    fill(&x, &f);
    e.known = x.e;
    e.known.size = sizeof e;
    assert_int_equal(tuner_gemm_fused(lib, &x.g, &e.known), TUNER_OK);
    assert_true(is_right(&x, &f));
    e.later = 1;
    assert_int_equal(tuner_gemm_fused(lib, &x.g, &e.known), TUNER_INPUT);
    assert_non_null(
        strstr(tuner_error_message(), "size is 112, of which this library knows 104, and byte 104 is not 0"));
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results), cmocka_unit_test(arrays_of_pointers),
                                       cmocka_unit_test(refused), cmocka_unit_test(later_header)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
