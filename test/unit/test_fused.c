/* Fused operations: names, identifiers and problem types; the reference's meaning of the activations. */
#include <math.h>

#include "test/support.h"

#include "fmt/node.h"
#include "problem/problem.h"

static const Fused rows[] = {
    {.bias = ALONG_M, .bias_type = TYPE_S},
    {.bias = ALONG_N, .bias_type = TYPE_H, .activation = ACTIVATION_GELU},
    {.activation = ACTIVATION_RELU},
    {.scale_ab = SCALE_AB_SCALAR, .scale_cd = true},
    {.scale_ab = SCALE_AB_VECTOR, .scale_alpha = ALONG_N},
    {.bias = ALONG_M,
     .bias_type = TYPE_B,
     .activation = ACTIVATION_CLAMP,
     .scale_ab = SCALE_AB_VECTOR,
     .scale_cd = true,
     .scale_alpha = ALONG_M},
};

/* A suffix is read as it was written; others are none. */
static void names(void **state)
{
    static const char *const text[] = {"_BiasS",   "_BiasHN_GELU", "_RELU",
                                       "_SAB_SCD", "_SABV_SAVN",   "_BiasB_CLAMP_SABV_SCD_SAV"};
    static const char *const none[] = {"RELU",   "_",     "_Relu",       "_RELU_RELU", "_SCD_SAB",
                                       "_BiasQ", "_Bias", "_RELU_BiasS", "_RELU_"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buf b;
        Fused f;
        buf_init(&b);
        fused_put(&rows[i], &b);
        assert_string_equal(buf_cstr(&b), text[i]);
        assert_true(fused_read(buf_view(&b), &f));
        assert_memory_equal(&f, &rows[i], sizeof f);
        buf_reset(&b);
        buf_printf(&b, "Contraction_l_Ailk_Bljk_Cijk_Dijk%s", text[i]);
        Str identifier = buf_view(&b);
        assert_true(fused_of_identifier(&identifier, &f));
        assert_memory_equal(&f, &rows[i], sizeof f);
        assert_true(str_eq_c(identifier, "Contraction_l_Ailk_Bljk_Cijk_Dijk"));
        buf_fini(&b);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        Fused f;
        if (fused_read(str_from(none[i]), &f)) fail_msg("'%s' was read", none[i]);
    }
}

static void activations(void **state)
{
    static const double number[] = {0.25, 1.5};
    static const struct {
        Activation a;
        double x, y;
    } values[] = {
        {ACTIVATION_NONE, -2, -2},        {ACTIVATION_ABS, -2, 2},          {ACTIVATION_RELU, -2, 0},
        {ACTIVATION_RELU, 3, 3},          {ACTIVATION_LEAKYRELU, -2, -0.5}, {ACTIVATION_CLIPPEDRELU, 0.2, 0},
        {ACTIVATION_CLIPPEDRELU, 2, 1.5}, {ACTIVATION_CLAMP, -2, 0.25},     {ACTIVATION_CLAMP, 2, 1.5},
        {ACTIVATION_SIGMOID, 0, 0.5},     {ACTIVATION_TANH, 1, 0.22628706}, {ACTIVATION_SILU, 1, 0.73105858},
        {ACTIVATION_GELU, 1, 0.84119199}};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(fabs(activation_of(values[i].a, values[i].x, number) - values[i].y) < 1e-7);
}

/* Maps of configs: what they give, or the message. */
static void problem_types(void **state)
{
    static const struct {
        const char *keys, *answer;
    } cases[] = {
        {"DataType: s, UseBias: 1", "_BiasS"},
        {"DataType: h, ComputeDataType: s, HighPrecisionAccumulate: true, UseBias: 2, BiasDataTypeList: [s]",
         "_BiasSN"},
        {"DataType: s, Activation: true, ActivationType: relu", "_RELU"},
        {"DataType: s, ActivationType: gelu, UseScaleAB: Vector", "_GELU_SABV"},
        {"DataType: s, Activation: false, ActivationType: relu", ""},
        {"DataType: s, Activation: true", "p:1: Activation without an ActivationType"},
        {"DataType: s, ActivationType: hipblaslt_all", "p:1: ActivationType 'hipblaslt_all', expected none"},
        {"DataType: s, UseBias: 3", "UseBias 3: a kernel has a vector along M (1) or along N (2)"},
        {"DataType: s, UseScaleAlphaVec: 3", "UseScaleAlphaVec 3: a kernel has"},
        {"DataType: s, UseScaleAB: Row", "p:1: UseScaleAB 'Row', expected '', Scalar or Vector"},
        {"DataType: s, UseBias: 1, BiasDataTypeList: [s, h]", "BiasDataTypeList has 2 types"},
        {"DataType: s, UseBias: 1, BiasDataTypeList: [h]", "a bias of type H, expected S or S"},
        {"DataType: c, UseBias: 1", "fused operations compute in S or D, not in C"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena a;
        Buf text, name;
        Node *n;
        ProblemType pt;
        arena_init(&a, 0);
        buf_init(&text);
        buf_init(&name);
        buf_printf(&text, "{%s}", cases[i].keys);
        assert_int_equal(yaml_parse(&a, "p", buf_view(&text), NULL, &n), 0);
        const ProblemReadOptions strict = {.strict = true};
        if (problem_type_read("p", n, &strict, &pt)) {
            if (!strstr(err_message(), cases[i].answer))
                fail_msg("'%s' does not say '%s'", err_message(), cases[i].answer);
        } else {
            const Fused f = problem_fused(&pt);
            fused_put(&f, &name);
            assert_string_equal(buf_cstr(&name), cases[i].answer);
        }
        buf_fini(&name);
        buf_fini(&text);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(activations),
                                       cmocka_unit_test(problem_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
