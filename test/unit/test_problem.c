/* Data types and problem types: names and derived keys as in Tensile's logic files, refusals with their
 * messages. */
#include "test/support.h"

#include "problem/problem.h"

static Node *parse(Arena *a, const char *text)
{
    Node *n;
    assert_ok(yaml_parse(a, "t.yaml", str_from(text), NULL, &n));
    return n;
}

static const char *read_config(const char *text, ProblemType *pt, char *name, size_t size)
{
    Arena a;
    arena_init(&a, 0);
    Notices notices;
    notices_init(&notices, &a);
    const Err err = problem_type_read("t.yaml", parse(&a, text), &(ProblemReadOptions){true, &notices}, pt);
    name[0] = 0;
    if (!err) {
        Buf b;
        buf_init(&b);
        problem_type_name(pt, &b);
        buf_putc(&b, ' ');
        problem_operation_identifier(pt, &b);
        for (size_t i = 0; i < notices.n; i++) buf_printf(&b, "\n%.*s", STR_ARG(notices.line[i]));
        snprintf(name, size, "%s", buf_cstr(&b));
        buf_fini(&b);
    }
    arena_fini(&a);
    return err ? err_message() : name;
}

static void test_types(void **state)
{
    (void)state;
    DataType t;
    for (int i = 0; i < TYPE_COUNT; i++) {
        const DataTypeInfo *d = type_info((DataType)i);
        assert_true(type_find(str_from(d->letter), &t) && t == (DataType)i);
        assert_true(type_find(str_from(d->name), &t) && t == (DataType)i);
        assert_true(type_find(str_from(d->enum_name), &t) && t == (DataType)i);
    }
    assert_true(type_find(STR("BFLOAT16"), &t) && t == TYPE_B);
    assert_true(type_find(STR("tensileDataTypeF8"), &t) && t == TYPE_F8);
    assert_true(type_find(STR("float"), &t) && t == TYPE_S);
    assert_true(type_find(STR("9"), &t) && t == TYPE_X);
    assert_false(type_find(STR("q"), &t));
    assert_false(type_find(STR("14"), &t));
    assert_false(type_from_int(-1, &t));
    assert_int_equal(type_unknown(STR("singel")), ERR_INPUT);
    assert_string_equal(err_message(), "unknown data type 'singel' (did you mean 'single'?)");
    assert_int_equal(type_unknown(STR("quaternion")), ERR_INPUT);
    assert_non_null(strstr(err_message(), "'quaternion', expected one of S (single), D (double), C "));
    assert_null(strstr(err_message(), "did you mean"));
    assert_int_equal(type_bytes(TYPE_Z), 16);
    assert_true(type_regs(TYPE_H) > 0.49 && type_regs(TYPE_H) < 0.51);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{DataType: s, TransposeB: false, Batched: true}",
         "Cijk_Ailk_Bljk_SB Contraction_l_Ailk_Bljk_Cijk_Dijk"},
        {"{DataType: 0, Batched: true}", "Cijk_Ailk_Bjlk_SB Contraction_l_Ailk_Bjlk_Cijk_Dijk"},
        {"{DataType: float, TransposeA: true, TransposeB: false, Batched: true}",
         "Cijk_Alik_Bljk_SB Contraction_l_Alik_Bljk_Cijk_Dijk"},
        {"{DataType: D, TransposeA: true, Batched: true}",
         "Cijk_Alik_Bjlk_DB Contraction_l_Alik_Bjlk_Cijk_Dijk"},
        {"{DataType: s, TransposeB: false}", "Cij_Aik_Bkj_SB Contraction_k_Aik_Bkj_Cij_Dij"},
        {"{DataType: h, TransposeB: false, Batched: true}",
         "Cijk_Ailk_Bljk_HB Contraction_l_Ailk_Bljk_Cijk_Dijk"},
        {"{DataType: h, DestDataType: s, ComputeDataType: s, HighPrecisionAccumulate: true, Batched: true}",
         "Cijk_Ailk_Bjlk_HSS_BH Contraction_l_Ailk_Bjlk_Cijk_Dijk"},
        {"{DataType: h, HighPrecisionAccumulate: true, Batched: true}",
         "Cijk_Ailk_Bjlk_HHS_BH Contraction_l_Ailk_Bjlk_Cijk_Dijk\n"
         "t.yaml:1: HighPrecisionAccumulate with ComputeDataType H: ComputeDataType S is meant (HHS)"},
        {"{DataType: I8, DestDataType: I, HighPrecisionAccumulate: true, Batched: true, TransposeB: false}",
         "Cijk_Ailk_Bljk_I8II_BH Contraction_l_Ailk_Bljk_Cijk_Dijk"},
        {"{DataType: s, UseBeta: false, Batched: true}",
         "Cijk_Ailk_Bjlk_S Contraction_l_Ailk_Bjlk_Cijk_Dijk"},
        {"{DataType: s, StridedBatched: false, Batched: true}",
         "Cijk_Ailk_Bjlk_SB_GB Contraction_l_Ailk_Bjlk_Cijk_Dijk"},
        {"{DataType: s, F32XdlMathOp: x, Batched: true}",
         "Cijk_Ailk_Bjlk_SB_MX Contraction_l_Ailk_Bjlk_Cijk_Dijk"},
        {"{DataType: c, ComplexConjugateA: true, TransposeB: false, Batched: true}",
         "Cijk_AilkC_Bljk_CB Contraction_l_AilkC_Bljk_Cijk_Dijk"},
        {"{DataType: h, DestDataType: s, ComputeDataType: s, HighPrecisionAccumulate: true, "
         "Fp16AltImpl: true, Fp16AltImplRound: true, Batched: true, UseInitialStridesAB: true, "
         "UseInitialStridesCD: true, StochasticRounding: true}",
         "Cijk_Ailk_Bjlk_HSS_BHRZIIc_SR Contraction_l_Ailk_Bjlk_Cijk_Dijk"},
        {"{OperationType: TensorContraction, DataType: s, NumIndicesC: 3, IndexAssignmentsA: [0, 3, 2], "
         "IndexAssignmentsB: [3, 1, 2], MirrorDimsB: [3]}",
         "Cijk_Ailk_BLjk_SB Contraction_l_Ailk_BLjk_Cijk_Dijk"},
        {"{DataType: s, UseInitialStrides: false, TransposeB: false}",
         "Cij_Aik_Bkj_SB Contraction_k_Aik_Bkj_Cij_Dij\n"
         "t.yaml:1: UseInitialStrides is now UseInitialStridesAB and UseInitialStridesCD"},
    };
    char name[512];
    ProblemType pt;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(read_config(cases[i].text, &pt, name, sizeof name), cases[i].want);
}

static void test_contraction(void **state)
{
    (void)state;
    ProblemType pt;
    char name[512];
    read_config(
        "{OperationType: TensorContraction, DataType: s, NumIndicesC: 4, IndexAssignmentsA: [4, 2, 0, 3, 5], "
        "IndexAssignmentsB: [1, 5, 4, 3]}",
        &pt, name, sizeof name);
    assert_string_equal(name, "Cijkl_Amkiln_Bjnml_SB Contraction_mn_Amkiln_Bjnml_Cijkl_Dijkl");
    assert_int_equal(pt.TotalIndices, 6);
    assert_int_equal(pt.NumIndicesFree, 3);
    assert_int_equal(pt.IndicesFree.v[2], 2);
    assert_int_equal(pt.NumIndicesBatch, 1);
    assert_int_equal(pt.IndexUnroll, 5);
    assert_int_equal(pt.IndexUnrollA, 4);
    assert_int_equal(pt.IndexUnrollB, 1);
    assert_int_equal(pt.Index01A, 2);
    assert_int_equal(pt.Index01B, 1);
    assert_int_equal(pt.Index0, 1);
    assert_int_equal(pt.Tensor0, 1);
    assert_int_equal(pt.TileA, 1);
    assert_int_equal(pt.TLUA, 1);
    assert_int_equal(pt.TLUB, 1);
    assert_int_equal(pt.NumIndicesLD, 0);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{DataType: q}",
         "t.yaml:1: DataType: unknown data type 'q', expected one of S (single), D (double), C "
         "(complexSingle), "
         "Z (complexDouble), H (half), 4xi8 (int8x4), I (int32), B (bfloat16), I8 (int8), X (xfloat32), F8 "
         "(float8), B8 (bfloat8), F8B8 (float8Bfloat8), B8F8 (bfloat8Float8)"},
        {"{DataType: dubble}", "t.yaml:1: DataType: unknown data type 'dubble' (did you mean 'double'?)"},
        {"{DataType: 14}", "t.yaml:1: DataType: data type number 14 is not in 0..13"},
        {"{TransposeA: true}", "t.yaml:1: ProblemType has no DataType"},
        {"{DataType: s,\n TransposA: true}",
         "t.yaml:2: unknown key 'TransposA' in ProblemType (did you mean 'TransposeA'?)"},
        {"{DataType: s, OperationType: GEMV}",
         "t.yaml:1: unknown OperationType 'GEMV' (legal: GEMM, TensorContraction, ConvolutionForward, "
         "ConvolutionBackwardData, ConvolutionBackwardWeights)"},
        {"{DataType: s, DestDataType: d}",
         "t.yaml:1: ProblemType: no GEMM has DataType S, DestDataType D, ComputeDataType D (legal are SSS "
         "DDD CCC "
         "ZZZ HHH HHS HSS BBS BSS I8-I-I 4xi8-I-I and 8-bit floats to S, H or 8 bits with compute S)"},
        {"{OperationType: TensorContraction, DataType: s, NumIndicesC: 3, IndexAssignmentsA: [0, 3], "
         "IndexAssignmentsB: [3, 1]}",
         "t.yaml:1: ProblemType: index 2 is in D, but neither in A nor in B"},
        {"{OperationType: TensorContraction, DataType: s, NumIndicesC: 2, IndexAssignmentsA: [0, 0], "
         "IndexAssignmentsB: [2, 1]}",
         "t.yaml:1: ProblemType: IndexAssignmentsA: index 0 is there twice"},
        {"{OperationType: TensorContraction, DataType: s, NumIndicesC: 2, IndexAssignmentsA: [0, 2, 3], "
         "IndexAssignmentsB: [2, 1]}",
         "t.yaml:1: ProblemType: index 3 is not in D, so both A and B must have it"},
        {"{OperationType: TensorContraction, DataType: s, IndexAssignmentsA: [0, 2], IndexAssignmentsB: [2, "
         "1], "
         "ZeroPadA: [[1, 2, 0, 0]]}",
         "t.yaml:1: ProblemType: ZeroPadA: index 1 is not in IndexAssignmentsA"},
    };
    char name[512];
    ProblemType pt;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(read_config(cases[i].text, &pt, name, sizeof name), cases[i].want);
}

/* A full map as in a logic file: derived keys agree, or the file is refused. */
static void test_full_map(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    ProblemType pt, again;
    assert_ok(problem_type_gemm(&pt, true, false, TYPE_H, TYPE_H, TYPE_S));
    Buf b;
    buf_init(&b);
    const PtKey *k;
    for (size_t i = 0; (k = problem_key_at(i)); i++) {
        buf_printf(&b, "%s: ", k->name);
        problem_key_print(k, &pt, &b);
        buf_putc(&b, '\n');
    }
    buf_puts(&b, "SomeFutureKey: 7\n");
    assert_ok(problem_type_from_node(&a, "l.yaml", parse(&a, buf_cstr(&b)), &again));
    assert_true(problem_type_equal(&pt, &again));
    assert_true(problem_type_hash(&pt) == problem_type_hash(&again));
    buf_puts(&b, "");
    char *tlu = strstr(b.s, "TLUA: false");
    assert_non_null(tlu);
    memcpy(tlu, "TLUA: true ", 11);
    assert_int_equal(problem_type_from_node(&a, "l.yaml", parse(&a, buf_cstr(&b)), &again), ERR_INPUT);
    assert_string_equal(err_message(), "l.yaml:45: TLUA is true, but the other keys make it false");
    again = pt;
    again.Batched = 0;
    assert_false(problem_type_equal(&pt, &again));
    buf_fini(&b);
    arena_fini(&a);
}

static void test_keys_sorted(void **state)
{
    (void)state;
    for (size_t i = 1; problem_key_at(i); i++)
        assert_true(strcmp(problem_key_at(i - 1)->name, problem_key_at(i)->name) < 0);
    assert_null(problem_key_find(STR("Nothing")));
}

static void test_notices(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    Notices n;
    notices_init(&n, &a);
    for (int i = 0; i < 300; i++) notices_add(&n, "f:%d: x", i / 2 * 2);
    assert_int_equal(n.n, 150);
    for (int i = 0; i < 100; i++) notices_add(&n, "g:%d: x", i);
    assert_int_equal(n.n, NOTICES_MAX);
    assert_int_equal(n.dropped, 50);
    assert_str(n.line[199], "g:49: x");
    notices_add(NULL, "nothing");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),    cmocka_unit_test(test_names),    cmocka_unit_test(test_contraction),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_full_map), cmocka_unit_test(test_keys_sorted),
        cmocka_unit_test(test_notices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
