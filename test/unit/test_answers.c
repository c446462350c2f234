/* The launcher against Tensile's host library: for every problem of test/data/tensile/answers, the chosen
 * solution can run it and gives the same kernels, grids and argument bytes. The solutions' predicates are
 * read from their printed form, written with predicate_emit into a library and read back, so that writer and
 * reader are in the loop. */
#include "test/support.h"

#include <inttypes.h>

#include "client/runtime/launch.h"
#include "fmt/write.h"
#include "problem/datatype.h"

/* ---- the files ---- */

static Str unzip(Arena *a, const char *name)
{
    const char *path = test_data_path(a, name);
    Str command = arena_printf(a, "gzip -dc '%s'", path);
    FILE *f = popen(command.s, "r");
    assert_non_null(f);
    size_t cap = 4 << 20, n;
    char *text = arena_alloc(a, cap);
    n = fread(text, 1, cap, f);
    assert_true(n > 0 && n < cap);
    assert_int_equal(pclose(f), 0);
    return (Str){text, n};
}

static const Node *get(const Node *n, const char *key)
{
    const Node *v = node_get(n, key);
    if (!v) fail_msg("no '%s'", key);
    return v;
}

static int64_t get_int(const Node *n, const char *key)
{
    int64_t v;
    assert_ok(node_int(get(n, key), "answers", key, INT64_MIN, INT64_MAX, &v));
    return v;
}

/* ---- predicates from their printed form: "And((Name(arguments), ...))" ---- */

static PredId pred_id(Str name)
{
    for (int i = 0; i < PRED_COUNT; i++)
        if (str_eq_c(name, pred_name((PredId)i))) return (PredId)i;
    fail_msg("predicate '%.*s'", STR_ARG(name));
    return PRED_TRUE;
}

/* The number after the last ':' or '=' of the n-th argument, or the argument itself. */
static Str argument(Str args, int n)
{
    Str part = STR_NULL;
    while (n-- >= 0) assert_true(str_split(&args, ',', &part));
    size_t colon = str_find(part, ':', 0), equals = str_find(part, '=', 0);
    if (colon < part.n) part = str_sub(part, colon + 1, part.n);
    if (equals < part.n) part = str_sub(part, equals + 1, part.n);
    return str_trim(part);
}

static int64_t number(Str args, int n)
{
    int64_t v = 0;
    if (!str_to_i64(argument(args, n), &v)) fail_msg("'%.*s' is no number", STR_ARG(args));
    return v;
}

static unsigned type(Str args, int n)
{
    DataType t = TYPE_S;
    if (!type_find(argument(args, n), &t)) fail_msg("type '%.*s'", STR_ARG(args));
    return t;
}

static void add_printed(PredList *l, Str name, Str args, uint32_t *types)
{
    PredId id = pred_id(name);
    switch (id) {
    case PRED_OPERATION:
        assert_ok(pred_add_operation(l, args));
        return;
    case PRED_TYPES:
        *types = types_pack(type(args, 0), type(args, 1), type(args, 2), type(args, 3));
        assert_ok(pred_add(l, id, 0, *types));
        return;
    case PRED_F32_XDL:
        assert_ok(pred_add(l, id, 0, type(args, 0)));
        return;
    case PRED_LANGUAGE:
        assert_ok(pred_add(l, id, 0, str_eq_c(args, "Assembly") ? LANGUAGE_ASSEMBLY : LANGUAGE_SOURCE));
        return;
    case PRED_UNIT:
        assert_ok(pred_add(l, id, 0, str_eq_c(args, "MFMA") ? UNIT_MFMA : UNIT_VALU));
        return;
    case PRED_LOAD_LIMIT:
        assert_ok(pred_add_limits(l, (int)number(args, 2), (int)number(args, 3), (int)number(args, 0),
                                  (int)number(args, 1)));
        return;
    default:
        break;
    }
    if (str_find(args, '=', 0) < args.n)
        assert_ok(pred_add(l, id, (int)number(args, 0), number(args, 1)));
    else
        assert_ok(pred_add(l, id, 0, number(args, 0)));
}

static const PredOp *printed_pred(Arena *a, Str text, uint32_t *types)
{
    PredList l = {.arena = a};
    const PredOp *p;
    assert_true(str_starts(text, "And((") && str_ends(text, "))"));
    text = str_sub(text, 5, text.n - 2);
    while (text.n) {
        size_t open = str_find(text, '(', 0), close = str_find(text, ')', open);
        assert_true(close < text.n);
        add_printed(&l, str_sub(text, 0, open), str_sub(text, open + 1, close), types);
        text = str_sub(text, close + 1, text.n);
        if (str_starts(text, ", ")) text = str_sub(text, 2, text.n);
    }
    assert_ok(pred_finish(&l, &p));
    return p;
}

/* ---- a library of them ---- */

static void emit_ints(Emit *e, const char *key, const Node *n, const char *from)
{
    const Node *list = get(n, from);
    emit_cstr(e, key);
    emit_seq(e, list->n, true);
    for (size_t i = 0; i < list->n; i++) emit_int(e, list->item[i].integer);
    emit_end(e);
}

static void emit_flag(Emit *e, const char *key, bool v)
{
    emit_cstr(e, key);
    emit_bool(e, v);
}

static void emit_mapping(Emit *e, const Node *n)
{
    static const char *const ints[][2] = {{"depthU", "depthU"},
                                          {"globalSplitU", "gsu"},
                                          {"staggerU", "staggerU"},
                                          {"staggerStrideShift", "staggerStrideShift"},
                                          {"workGroupMapping", "wgm"},
                                          {"persistentKernel", "persistent"},
                                          {"streamK", "streamK"},
                                          {"packBatchDims", "packBatchDims"},
                                          {"packSummationDims", "packSummationDims"},
                                          {"magicDivAlg", "magicDivAlg"},
                                          {"globalAccumulation", "globalAccumulation"},
                                          {"workspaceSizePerElemC", "workspacePerElemC"}};
    emit_map(e, 18, false);
    emit_ints(e, "workGroup", n, "workGroup");
    emit_ints(e, "macroTile", n, "macroTile");
    emit_ints(e, "threadTile", n, "threadTile");
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        emit_cstr(e, ints[i][0]);
        emit_int(e, get_int(n, ints[i][1]));
    }
    emit_flag(e, "persistentKernelAlongBatch", false);
    emit_flag(e, "sourceKernel", get_int(n, "source"));
    emit_flag(e, "preloadKernargs", get_int(n, "preloadKernargs"));
    emit_end(e);
}

static void emit_type(Emit *e, const Node *n, uint32_t types)
{
    static const char *const keys[] = {"aType", "bType", "cType", "dType"};
    emit_map(e, 8, false);
    emit_cstr(e, "operationIdentifier");
    emit_str(e, get(n, "operation")->text);
    for (int i = 0; i < 4; i++) {
        emit_cstr(e, keys[i]);
        emit_cstr(e, type_enum_name((DataType)(types >> (8 * i) & 0xff)));
    }
    emit_flag(e, "useBeta", get_int(n, "useBeta"));
    emit_flag(e, "highPrecisionAccumulate", get_int(n, "hpa"));
    emit_flag(e, "stridedBatched", get_int(n, "stridedBatched"));
    emit_end(e);
}

static void emit_true(Emit *e)
{
    emit_map(e, 1, true);
    emit_cstr(e, "type");
    emit_cstr(e, "TruePred");
    emit_end(e);
}

static void emit_solution(Emit *e, Arena *a, const Node *n)
{
    uint32_t types = 0;
    const PredOp *pred = printed_pred(a, get(n, "problem")->text, &types);
    emit_map(e, 8, false);
    emit_cstr(e, "name");
    emit_str(e, get(n, "kernel")->text);
    emit_cstr(e, "index");
    emit_int(e, get_int(n, "index"));
    emit_cstr(e, "libraryLogicIndex");
    emit_int(e, get_int(n, "logicIndex"));
    emit_cstr(e, "hardwarePredicate");
    emit_true(e);
    emit_cstr(e, "problemPredicate");
    predicate_emit(e, pred);
    emit_cstr(e, "taskPredicate");
    emit_map(e, 1, true);
    emit_cstr(e, "type");
    emit_str(e, get(n, "task")->text);
    emit_end(e);
    emit_cstr(e, "problemType");
    emit_type(e, n, types);
    emit_cstr(e, "sizeMapping");
    emit_mapping(e, n);
    emit_end(e);
}

/* {solutions: [...], library: {type: Problem, rows: []}} */
static Library *library_of(Arena *a, const char *file, Str lines, Emit *(*writer)(Buf *))
{
    Buf out;
    Str rest = lines, line;
    Hardware hw = {STR("gfx90a"), 104, false};
    Library *lib;
    size_t n = 0;
    for (size_t i = 0; i < lines.n; i++) n += lines.s[i] == '\n';
    buf_init(&out);
    Emit *e = writer(&out);
    emit_map(e, 2, false);
    emit_cstr(e, "solutions");
    emit_seq(e, n, false);
    while (str_split(&rest, '\n', &line)) {
        Node *node;
        if (line.n == 0) continue;
        assert_ok(yaml_parse(a, file, line, NULL, &node));
        emit_solution(e, a, node);
    }
    emit_end(e);
    emit_cstr(e, "library");
    emit_map(e, 2, false);
    emit_cstr(e, "type");
    emit_cstr(e, "Problem");
    emit_cstr(e, "rows");
    emit_seq(e, 0, true);
    emit_end(e);
    emit_end(e);
    emit_end(e);
    assert_ok(emit_finish(e));
    emit_free(e);
    assert_ok(library_parse(file, buf_view(&out), NULL, &hw, &lib));
    assert_int_equal(library_n_solutions(lib), n);
    buf_fini(&out);
    return lib;
}

/* ---- problems ---- */

typedef struct {
    unsigned a, b, c, d, compute;
} Types;

static Types types_of(const char *name, Str type)
{
    if (str_eq_c(type, "I8x4")) return (Types){TYPE_4XI8, TYPE_4XI8, TYPE_I, TYPE_I, TYPE_I};
    if (str_eq_c(type, "I8")) return (Types){TYPE_I8, TYPE_I8, TYPE_I, TYPE_I, TYPE_I};
    if (strstr(name, "HSS")) return (Types){TYPE_H, TYPE_H, TYPE_S, TYPE_S, TYPE_S};
    if (strstr(name, "HHS")) return (Types){TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S};
    if (strstr(name, "BBS")) return (Types){TYPE_B, TYPE_B, TYPE_B, TYPE_B, TYPE_S};
    DataType t = TYPE_S;
    if (!type_find(type, &t)) fail_msg("type '%.*s'", STR_ARG(type));
    return (Types){t, t, t, t, t};
}

static uint16_t half_of(double v)
{
    /* exact for the small values of the lines */
    uint16_t sign = v < 0 ? 0x8000 : 0, e = 15;
    if (v == 0) return sign;
    v = v < 0 ? -v : v;
    for (; v >= 2; v /= 2) e++;
    for (; v < 1; v *= 2) e--;
    return (uint16_t)(sign | e << 10 | (uint16_t)((v - 1) * 1024));
}

static void scalar_of(unsigned compute, double v, unsigned char out[16])
{
    float f = (float)v;
    int32_t i = (int32_t)v;
    uint16_t h = half_of(v);
    memset(out, 0, 16);
    if (compute == TYPE_D || compute == TYPE_Z)
        memcpy(out, &v, 8);
    else if (compute == TYPE_H)
        memcpy(out, &h, 2);
    else if (compute == TYPE_I)
        memcpy(out, &i, 4);
    else
        memcpy(out, &f, 4);
}

static uint8_t kind_of(double v)
{
    return v == 0 ? SCALAR_ZERO : v == 1 ? SCALAR_ONE : v == -1 ? SCALAR_NEG_ONE : SCALAR_ANY;
}

typedef struct {
    Contraction p;
    unsigned char alpha[16], beta[16];
    bool same; /* C and D are one buffer */
} Problem;

static void problem_of(const char *name, Str line, Problem *out)
{
    Str word[14], rest = line;
    int64_t v[8];
    double alpha = 0, beta = 0;
    int n = 0;
    while (n < 14 && str_split(&rest, ' ', &word[n])) n++;
    assert_true(n >= 13);
    Types t = types_of(name, word[0]);
    for (int i = 0; i < 8; i++) assert_true(str_to_i64(word[3 + i], &v[i]));
    assert_true(str_to_f64(word[11], &alpha) && str_to_f64(word[12], &beta));
    bool ta = word[1].s[0] == 'T', tb = word[2].s[0] == 'T';
    const int64_t packed[4] = {ta ? v[2] : v[0], tb ? v[1] : v[2], v[0], v[0]}; /* 0 stands for it */
    for (int i = 0; i < 4; i++)
        if (v[4 + i] == 0) v[4 + i] = packed[i];
    Contraction *p = &out->p;
    contraction_gemm(p, ta, tb, v[0], v[1], v[2], v[3]);
    contraction_strides(p, v[4], v[5], v[6], v[7], v[4] * (ta ? v[0] : v[2]), v[5] * (tb ? v[2] : v[1]),
                        v[6] * v[1], v[7] * v[1]);
    contraction_types(p, t.a, t.b, t.c, t.d, t.compute);
    out->same = p->c_equals_d = n == 14 && str_eq_c(word[13], "cd=1");
    p->alpha = kind_of(alpha);
    p->beta = kind_of(beta);
    if (p->alpha == SCALAR_ZERO) p->k = 0;
    scalar_of(t.compute, alpha, out->alpha);
    scalar_of(t.compute, beta, out->beta);
}

static void to_hex(const unsigned char *bytes, uint32_t n, char *out)
{
    for (uint32_t i = 0; i < n; i++) sprintf(out + 2 * i, "%02x", bytes[i]);
    out[2 * n] = 0;
}

static void compare_call(const KernelCall *got, const Node *want, Str line)
{
    static const char *const keys[] = {"workGroupSize", "numWorkGroups"};
    char hex[2 * LAUNCH_ARGS_MAX + 1];
    to_hex(got->args, got->n_arg_bytes, hex);
    if (!str_eq_c(get(want, "kernel")->text, got->symbol))
        fail_msg("%.*s: kernel %s, wanted %.*s", STR_ARG(line), got->symbol,
                 STR_ARG(get(want, "kernel")->text));
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < 3; i++) {
            int64_t has = k ? got->num_work_groups[i] : got->work_group[i],
                    needs = get(want, keys[k])->item[i].integer;
            if (has != needs)
                fail_msg("%.*s: %s[%zu] %" PRId64 ", wanted %" PRId64, STR_ARG(line), keys[k], i, has, needs);
        }
    if (!str_eq_c(get(want, "hex")->text, hex))
        fail_msg("%.*s: %s\n has   %s\n wants %.*s", STR_ARG(line), got->symbol, hex,
                 STR_ARG(get(want, "hex")->text));
}

static void compare(const char *name, Library *lib, const Node *answer, int64_t n_cu, size_t *n_calls)
{
    Problem pr;
    LaunchList list;
    Str line = get(answer, "line")->text;
    const Node *best = get(answer, "best");
    LaunchHardware hw = {.n_cu = n_cu};
    problem_of(name, line, &pr);
    if (best->kind == NODE_NULL) return;
    const LibSolution *s = library_solution_by_index(lib, get_int(best, "index"));
    assert_non_null(s);
    if (!solution_can_solve(s, &pr.p)) {
        Buf why;
        buf_init(&why);
        pred_why_not(s->problem_pred, &pr.p, &why);
        fail_msg("%.*s: solution %" PRId64 " cannot run it: %s", STR_ARG(line), s->index, buf_cstr(&why));
    }
    LaunchInputs in = {.a = (void *)(uintptr_t)0x1000000000,
                       .b = (void *)(uintptr_t)0x2000000000,
                       .c = (void *)(uintptr_t)0x3000000000,
                       .d = (void *)(uintptr_t)(pr.same ? 0x3000000000 : 0x4000000000),
                       .workspace = (void *)(uintptr_t)0x5000000000,
                       .alpha = pr.alpha,
                       .beta = pr.beta};
    assert_ok(launch_build(&pr.p, s, &in, &hw, &list));
    const Node *calls = get(best, "calls");
    if (calls->n != list.n) fail_msg("%.*s: %u calls, wanted %zu", STR_ARG(line), list.n, calls->n);
    for (uint32_t i = 0; i < list.n; i++, ++*n_calls) compare_call(&list.call[i], &calls->item[i], line);
    assert_int_equal(launch_workspace_bytes(&pr.p, s, &hw), get_int(best, "workspace"));
}

static void one_file(const char *name, int64_t n_cu, Emit *(*writer)(Buf *))
{
    Arena a;
    char path[256];
    size_t n_calls = 0;
    arena_init(&a, 0);
    snprintf(path, sizeof path, "tensile/answers/s-%s.solutions.jsonl.gz", name);
    Library *lib = library_of(&a, name, unzip(&a, path), writer);
    snprintf(path, sizeof path, "tensile/answers/s-%s.answers.jsonl.gz", name);
    Str rest = unzip(&a, path), line;
    while (str_split(&rest, '\n', &line)) {
        Node *node;
        if (line.n == 0) continue;
        assert_ok(yaml_parse(&a, name, line, NULL, &node));
        compare(name, lib, node, n_cu, &n_calls);
    }
    print_message("%s: %zu launches equal\n", name, n_calls);
    assert_true(n_calls >= 50);
    library_free(lib);
    arena_fini(&a);
}

static void answers_are_equal(void **state)
{
    static const struct {
        const char *name;
        int64_t n_cu;
    } files[] = {
        {"942-HSS-TN", 304},      {"aldebaran-BBS-TT", 104},
        {"aldebaran-DB-TT", 104}, {"aldebaran-HHS-NN-equality", 104},
        {"arcturus-SB-TT", 120},  {"hip-I8II-NN", 60},
        {"r9nano-SB-NT", 64},     {"vega10-HB-NN", 64},
        {"vega20-4xi8-TT", 60},   {"vega20-ZB-NT", 60},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        one_file(files[i].name, files[i].n_cu, i % 2 ? emit_yaml : emit_msgpack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
