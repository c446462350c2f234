/* Libraries in msgpack: the walk over the bytes against the reading of whole documents on intact and on
 * damaged files, solutions and tables that are read later, files that change while they are open. */
#include "test/support.h"

#include <unistd.h>

#include "client/runtime/library_priv.h"
#include "problem/datatype.h"
#include "test/fuzz/emit_node.h"

static const Hardware gfx906 = {STR("gfx906"), 60, false};

/* Predicates of every kind of operand; the fields of some in another order than writers have. */
static const char *const predicates[] = {
    "{type: TruePred}",
    "{type: And, value: [{index: 0, type: StrideAEqual, value: 1}, {type: OperationIdentifierEqual, value: "
    "Contraction_l_Ailk_Bljk_Cijk_Dijk}, {type: StridedBatched, value: true}, {type: TypesEqual, value: "
    "[Float, "
    "Float, Float, Float]}, {type: F32XdlMathOp, value: Float}, {type: LeadingFree0SizesGreaterOrEqual, "
    "value: "
    "2}, {type: KernelLanguageCompatible, value: Assembly}, {type: ArithmeticUnitCompatible, value: VALU}, "
    "{type: "
    "BufferLoadOffsetLimitCheck, value: {DUorMT0: 8, DUorMT1: 8, ShiftPtrElemA: 2, ShiftPtrElemB: 2}}]}",
    "{type: And, value: [{index: 0, type: StrideAEqual, value: 1}, {type: OperationIdentifierEqual, value: "
    "Contraction_l_Ailk_Bljk_Cijk_Dijk}, {type: AIGreaterThanEqual, value: 0.5}, {type: StridedBatched, "
    "value: "
    "true}, {type: AlphaValue, value: Any}, {type: KernelLanguageCompatible, value: Assembly}]}",
    "{value: [{value: 9, type: SizeLessThan, index: 0}, {type: Not, value: {type: SizeInRange, index: 3, "
    "value: "
    "{min: 10, max: 20}}}, {type: Fp16AltImpl, value: false}], type: Or}",
    "{type: Not, value: {type: BetaOne}}",
    "{type: And, value: []}",
};
enum { N_SOLUTIONS = sizeof predicates / sizeof *predicates };

static void add_solution(Buf *b, int64_t index, const char *pred)
{
    buf_printf(b,
               "- name: K%d\n  index: %d\n  hardwarePredicate: %s\n  problemPredicate: %s\n  debugKernel: "
               "false\n  ideals: {}\n  libraryLogicIndex: 3\n  taskPredicate: {type: %s}\n",
               (int)index, (int)index,
               index % 3 == 2 ? "{type: AMDGPU, value: {type: Processor, value: gfx906}}"
                              : "{type: TruePred}",
               pred, index % 2 ? "WorkspaceCheck" : "TruePred");
    buf_printf(
        b,
        "  problemType: {aType: Float, bType: Float, cType: Float, dType: Float, highPrecisionAccumulate: "
        "false,\n    operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk, useBeta: true}\n"
        "  sizeMapping: {depthU: %d, globalAccumulation: 0, globalSplitU: 1, macroTile: [64, 64, 1],\n"
        "    persistentKernel: 0, persistentKernelAlongBatch: false, preloadKernargs: 0, sourceKernel: "
        "true,\n"
        "    staggerStrideShift: 2, staggerU: 32, %s threadTile: [4, 4], workGroup: [16, 16, 1],\n"
        "    workGroupMapping: -8, workspaceSizePerElemC: 0}\n",
        8 + (int)index, index == 4 ? "tensorMaps: [{tensor: B, box: [64, 32], swizzle: 64}]," : "");
}

#define PROPS "[{type: FreeSizeA, index: 0}, {type: FreeSizeB, index: 0}, {type: BoundSize, index: 0}]"

/* step: between the indices of solutions. */
static void add_library(Buf *b, int step)
{
    buf_puts(b, "library:\n  type: Problem\n  rows:\n");
    buf_printf(b,
               "  - predicate: {type: SizeEqual, index: 0, value: 3}\n    library: {type: DecisionTree, "
               "features: [{type: FreeSizeA, index: 0}], trees: [{tree: [{featureIdx: 0, threshold: 50, "
               "nextIdxLTE: -2, nextIdxGT: -1}], value: {type: Single, index: %d}}], nullValue: ~}\n",
               step);
    buf_puts(b,
             "  - predicate: {type: SizeEqual, index: 1, value: 5}\n    library: {type: Matching, distance: "
             "GridBased, properties: " PROPS ", table: [{index: 0, key: [64, 64, 8], speed: 5.5}]}\n");
    buf_puts(b, "  - predicate: {type: TruePred}\n    library:\n      type: Matching\n      distance: "
                "Euclidean\n      properties: " PROPS "\n      table:\n");
    for (int i = 0; i < 40; i++)
        buf_printf(b, "      - {index: %d, key: [%d, %d, %d], speed: %d.25}\n", i % N_SOLUTIONS * step,
                   1 + i * 7 % 90, 1 + i * 11 % 80, 1 + i * 5 % 70, i);
    buf_puts(b, "      - {speed: 2, value: {type: Single, index: 0}, key: [100, 1000, 100]}\n");
}

static void pack(const Buf *yaml, Buf *out)
{
    Arena a;
    Node *doc;
    arena_init(&a, 0);
    assert_ok(yaml_parse(&a, "lib", buf_view(yaml), NULL, &doc));
    node_write(doc, emit_msgpack, out);
    arena_fini(&a);
}

static void make(Buf *out, int step)
{
    Buf b;
    buf_init(&b);
    buf_puts(&b, "solutions:\n");
    for (int i = 0; i < N_SOLUTIONS; i++) add_solution(&b, i * step, predicates[i]);
    add_library(&b, step);
    pack(&b, out);
    buf_fini(&b);
}

/* The same document with one more key, which the walk does not know: it is read as a whole. */
static void with_key(Str packed, Buf *out)
{
    buf_init(out);
    buf_str(out, packed);
    out->s[0]++;
    buf_add(out, "\xa1x\xc0", 3);
}

static bool was_walked(const Library *lib) { return lib->chunks.v[0]->data.s != NULL; }

static void same_solution(const LibSolution *x, const LibSolution *y)
{
    assert_non_null(x);
    assert_non_null(y);
    assert_string_equal(x->name, y->name);
    assert_int_equal(x->index, y->index);
    assert_int_equal(x->number, y->number);
    assert_int_equal(x->types, y->types);
    assert_int_equal(x->hardware_ok, y->hardware_ok);
    assert_int_equal(x->task_workspace, y->task_workspace);
    assert_string_equal(x->beta_only, y->beta_only);
    SizeMapping mx = x->map, my = y->map;
    assert_int_equal(mx.n_tensor_maps, my.n_tensor_maps);
    for (int i = 0; i < mx.n_tensor_maps; i++)
        assert_memory_equal(&mx.tensor_map[i], &my.tensor_map[i], sizeof *mx.tensor_map);
    mx.tensor_map = my.tensor_map = NULL;
    assert_memory_equal(&mx, &my, sizeof mx);
    assert_int_equal(x->problem_pred->span, y->problem_pred->span);
}

/* All solutions and the answers to some problems. */
static void same_libraries(Library *walked, Library *whole)
{
    Contraction p;
    Selection x, y;
    for (int i = 0; i < 120; i++) {
        contraction_gemm(&p, false, false, 1 + i * 13 % 110, 1 + i % 9, 1 + i * 29 % 100, 1 + i % 2);
        Err ex = library_select_uncached(walked, &p, &x), ey = library_select_uncached(whole, &p, &y);
        assert_int_equal(ex, ey);
        if (ex) continue;
        assert_int_equal(x.solution ? x.solution->index : -1, y.solution ? y.solution->index : -1);
        x.solution = y.solution = NULL;
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_int_equal(library_n_solutions(walked), library_n_solutions(whole));
    for (size_t i = 0; i < library_n_solutions(walked); i++) {
        const LibSolution *s = library_solution(walked, i);
        same_solution(s, library_solution(whole, i));
        assert_ptr_equal(s, library_solution_by_index(walked, s->index));
    }
}

/* 1: both accept it; 0: both refuse it. */
static int check_one(Str packed)
{
    Buf whole;
    Library *x, *y;
    with_key(packed, &whole);
    Err ex = library_parse("lib", packed, NULL, &gfx906, &x);
    Err ey = library_parse("lib", buf_view(&whole), NULL, &gfx906, &y);
    if (!ex != !ey) fail_msg("walked: %d, whole: %d (%s)", ex, ey, err_message());
    if (!ex) {
        assert_false(was_walked(y));
        same_libraries(x, y);
    }
    library_free(x);
    library_free(y);
    buf_fini(&whole);
    return !ex;
}

static void intact(void **state)
{
    (void)state;
    for (int step = 1; step < 8; step += 6) { /* indices that follow each other, and others */
        Buf b;
        Library *lib;
        buf_init(&b);
        make(&b, step);
        assert_ok(library_parse("lib", buf_view(&b), NULL, &gfx906, &lib));
        assert_true(was_walked(lib));
        assert_int_equal(lib->chunks.v[0]->index != NULL, step > 1);
        for (size_t i = 0; i < N_SOLUTIONS; i++) assert_null(atomic_load(&lib->chunks.v[0]->solution[i]));
        library_free(lib);
        assert_int_equal(check_one(buf_view(&b)), 1);
        buf_fini(&b);
    }
}

static void damaged(void **state)
{
    Buf b;
    size_t n_good = 0, n = 0;
    (void)state;
    buf_init(&b);
    make(&b, 1);
    char *text = malloc(b.n);
    for (size_t i = 1; i < b.n; i++)
        for (int bit = (int)(i % 3); bit < 8; bit += 3) {
            memcpy(text, b.s, b.n);
            text[i] = (char)(text[i] ^ 1 << bit);
            n_good += (size_t)check_one((Str){text, b.n});
            n++;
        }
    assert_in_range(n_good, n / 10, n - n / 10);
    for (size_t cut = 0; cut < b.n; cut++) {
        Library *lib;
        memcpy(text, b.s, b.n);
        char *exact = malloc(cut + 1); /* its end is where the sanitizer sees it */
        memcpy(exact, b.s, cut);
        assert_int_not_equal(library_parse("lib", (Str){exact, cut}, NULL, &gfx906, &lib), ERR_OK);
        free(exact);
    }
    free(text);
    buf_fini(&b);
}

/* ---- several threads ---- */

static void *select_all(void *lib)
{
    Contraction p;
    Selection s;
    for (int i = 0; i < 120; i++) {
        contraction_gemm(&p, false, false, 1 + i * 13 % 110, 1 + i % 9, 1 + i * 29 % 100, 1);
        if (library_select(lib, &p, &s)) return lib;
    }
    for (size_t i = 0; i < N_SOLUTIONS; i++)
        if (library_solution(lib, i)->number != i) return lib;
    return NULL;
}

/* All at once read what is read on first use. */
static void from_threads(void **state)
{
    Buf b;
    (void)state;
    buf_init(&b);
    make(&b, 1);
    for (int round = 0; round < 20; round++) {
        Library *lib;
        pthread_t thread[4];
        void *bad;
        assert_ok(library_parse("lib", buf_view(&b), NULL, &gfx906, &lib));
        for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, select_all, lib), 0);
        for (int i = 0; i < 4; i++) {
            pthread_join(thread[i], &bad);
            assert_null(bad);
        }
        library_free(lib);
    }
    buf_fini(&b);
}

/* ---- files that change ---- */

static const char *write_library(Arena *a, const char *dir)
{
    Buf b;
    buf_init(&b);
    make(&b, 1);
    const char *path = path_join(a, dir, "TensileLibrary.dat").s;
    assert_ok(file_write(path, buf_view(&b)));
    buf_fini(&b);
    return path;
}

static void changed(void **state)
{
    Arena a;
    Library *lib;
    Contraction p;
    Selection s;
    (void)state;
    arena_init(&a, 0);
    char *dir = test_dir();
    contraction_gemm(&p, false, false, 60, 60, 60, 1);
    const char *path = write_library(&a, dir);
    assert_ok(library_open(path, &gfx906, &lib));
    assert_ok(truncate(path, 100)); /* in place: the rest of the file is gone */
    assert_int_equal(library_select(lib, &p, &s), ERR_FAILED);
    assert_non_null(strstr(err_message(), "has changed since it was opened"));
    assert_null(library_solution(lib, 0));
    library_free(lib);
    path = write_library(&a, dir);
    assert_ok(library_open(path, &gfx906, &lib));
    assert_ok(file_write(path, STR("another file"))); /* renamed over it: the old one is still there */
    assert_ok(library_select(lib, &p, &s));
    assert_non_null(s.solution);
    library_free(lib);
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intact),
        cmocka_unit_test(damaged),
        cmocka_unit_test(from_threads),
        cmocka_unit_test(changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
