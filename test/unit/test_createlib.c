/* createlib: libraries of host kernels in every mode, which libtuner opens, selects from and runs; metadata
 * of real logic files, whose solutions and tables libtuner's loader reads. */
#include "test/support.h"

#include "client/runtime/library.h"
#include "client/runtime/tuner.h"
#include "createlib/create_internal.h"
#include "fmt/node.h"
#include "logic/derive.h"

typedef struct {
    Arena a;
    char *dir;
    const char *arch; /* of this machine */
    ProblemType pt;
    Logic l;
} Fixture;

static void host_solution(Fixture *f, LogicSolution *s, int depth_u, int gsu)
{
    Deriver d;
    Verdict v;
    memset(s, 0, sizeof *s);
    solution_init(&s->s, &f->pt);
    s->s.DepthU = depth_u;
    s->s.GlobalSplitU = gsu;
    s->s.GlobalSplitUAlgorithm = gsu > 1 ? GSUA_MULTIPLE : GSUA_SINGLE;
    s->s.ThreadTile = intlist2(8, 4);
    s->s.WorkGroup = intlist3(8, 16, 1);
    assert_ok(deriver_init(&d, &f->pt, target_host_level(), NULL));
    if (!solution_derive(&d, &s->s, &v)) fail_msg("host solution: %s", rule_name(v.rule));
}

static int setup(void **state)
{
    static const int64_t sizes[3][4] = {{64, 64, 1, 64}, {128, 100, 1, 33}, {32, 16, 1, 2048}};
    Fixture *f = calloc(1, sizeof *f);
    arena_init(&f->a, 0);
    f->dir = test_dir();
    f->arch = target_host_level()->name;
    assert_ok(problem_type_gemm(&f->pt, false, true, TYPE_S, TYPE_S, TYPE_S));
    logic_init(&f->l);
    f->l.schedule = STR("host");
    f->l.arch = str_from(f->arch);
    f->l.pt = &f->pt;
    f->l.n_index_order = 4;
    memcpy(f->l.index_order, (int32_t[]){2, 3, 0, 1}, 4 * sizeof(int32_t));
    f->l.solution = ARENA_ARRAY(&f->a, 3, LogicSolution);
    f->l.n_solutions = 3;
    host_solution(f, &f->l.solution[0], 16, 1);
    host_solution(f, &f->l.solution[1], 32, 1);
    host_solution(f, &f->l.solution[2], 32, 4);
    f->l.row = ARENA_ARRAY(&f->a, 3, LogicRow);
    for (int i = 0; i < 3; i++)
        f->l.row[i] = (LogicRow){.size = sizes[i], .n = 4, .solution = i, .speed = 10.0 + i};
    f->l.n_rows = 3;
    assert_ok(dir_make(path_join(&f->a, f->dir, "logic").s));
    assert_ok(logic_write(&f->l, path_join(&f->a, f->dir, "logic/host_Cijk_Ailk_Bjlk_SB.yaml").s));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    assert_ok(dir_remove(f->dir));
    free(f->dir);
    arena_fini(&f->a);
    free(f);
    return 0;
}

static void options(Fixture *f, CreateOptions *o, const char *out)
{
    createlib_options_init(o);
    o->logic_path = path_join(&f->a, f->dir, "logic").s;
    o->output_path = path_join(&f->a, f->dir, out).s;
    o->cache_dir = path_join(&f->a, f->dir, "cache").s; /* one for all modes */
    o->jobs = 1;
    o->verbose = 0;
}

static bool has(Fixture *f, const char *out, const char *name)
{
    return file_exists(arena_printf(&f->a, "%s/%s/library/%s", f->dir, out, name).s);
}

/* C = A * B^T, m x n x k, through the library: right numbers, and the expected solution. */
static void run_gemm(tuner_library *lib, int m, int n, int k, const char *expected)
{
    float *a = malloc(sizeof(float) * (size_t)(m * k)), *b = malloc(sizeof(float) * (size_t)(n * k));
    float *c = calloc((size_t)(m * n), sizeof(float)), one = 1, zero = 0;
    for (int i = 0; i < m * k; i++) a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < n * k; i++) b[i] = (float)(i % 5 - 2);
    tuner_gemm_desc g = {.trans_b = TUNER_T,
                         .m = m,
                         .n = n,
                         .k = k,
                         .alpha = &one,
                         .beta = &zero,
                         .a = a,
                         .b = b,
                         .c = c,
                         .lda = m,
                         .ldb = n,
                         .ldc = m};
    tuner_selection sel;
    if (tuner_select(lib, &g, &sel)) fail_msg("select: %s", tuner_error_message());
    if (!strstr(sel.kernel, expected)) fail_msg("chose %s, expected %s", sel.kernel, expected);
    if (tuner_gemm(lib, &g)) fail_msg("gemm: %s", tuner_error_message());
    for (int i = 0; i < m; i += 5)
        for (int j = 0; j < n; j += 3) {
            float sum = 0;
            for (int l = 0; l < k; l++) sum += a[i + l * m] * b[j + l * n];
            if (c[i + j * m] != sum)
                fail_msg("C[%d,%d] is %g, expected %g", i, j, (double)c[i + j * m], (double)sum);
        }
    free(a);
    free(b);
    free(c);
}

static void use_library(Fixture *f, const char *out)
{
    tuner_library *lib;
    Str path = arena_printf(&f->a, "%s/%s/library", f->dir, out);
    if (tuner_open(&lib, path.s, NULL)) fail_msg("%s: %s", out, tuner_error_message());
    run_gemm(lib, 64, 64, 64, "MT64x64x16_");
    run_gemm(lib, 128, 100, 33, "MT64x64x32_");
    run_gemm(lib, 32, 16, 2048, "GSU4");
    run_gemm(lib, 70, 61, 50, "MT64x64x16_"); /* nearest */
    tuner_close(lib);
}

static void test_merged(void **state)
{
    Fixture *f = *state;
    CreateOptions o;
    CreateReport r;
    options(f, &o, "merged");
    assert_ok(createlib_run(&o, &r));
    assert_int_equal(r.n_solutions, 3);
    assert_int_equal(r.n_left_out, 0);
    assert_int_equal(r.n_kernels, 3);
    assert_true(r.n_helpers >= 1);
    assert_true(has(f, "merged", "TensileLibrary.dat"));
    assert_true(has(f, "merged", arena_printf(&f->a, "Kernels.so-000-%s.so", f->arch).s));
    use_library(f, "merged");
    o.verify_manifest = true;
    assert_ok(createlib_run(&o, &r));
    assert_ok(dir_remove(arena_printf(&f->a, "%s/merged/library/TensileLibrary.dat", f->dir).s));
    assert_int_equal(createlib_run(&o, &r), ERR_FAILED);
}

static void test_modes(void **state)
{
    Fixture *f = *state;
    CreateOptions o;
    CreateReport r;
    options(f, &o, "yaml");
    o.format = LIBRARY_YAML;
    o.version = "1.2";
    assert_ok(createlib_run(&o, &r));
    assert_true(has(f, "yaml", "TensileLibrary.yaml"));
    use_library(f, "yaml");
    options(f, &o, "separate");
    o.separate_architectures = true;
    assert_ok(createlib_run(&o, &r));
    assert_true(has(f, "separate", arena_printf(&f->a, "TensileLibrary_%s.dat", f->arch).s));
    assert_true(r.n_compiled == 0 && r.n_cached > 0);
    use_library(f, "separate");
    options(f, &o, "files");
    o.merge_files = false;
    assert_ok(createlib_run(&o, &r));
    assert_true(r.n_files >= 4);
    use_library(f, "files");
    options(f, &o, "two");
    o.num_merged_files = 2;
    assert_ok(createlib_run(&o, &r));
    assert_true(has(f, "two", arena_printf(&f->a, "Kernels1.so-000-%s.so", f->arch).s));
    use_library(f, "two");
}

static void test_lazy(void **state)
{
    Fixture *f = *state;
    CreateOptions o;
    CreateReport r;
    options(f, &o, "lazy");
    o.lazy = true;
    assert_int_equal(createlib_run(&o, &r), ERR_INPUT); /* needs separate architectures */
    o.separate_architectures = o.write_master_index = true;
    assert_ok(createlib_run(&o, &r));
    const char *leaf = "TensileLibrary_Type_SS_Contraction_l_Ailk_Bjlk_Cijk_Dijk";
    assert_true(has(f, "lazy", arena_printf(&f->a, "TensileLibrary_lazy_%s.dat", f->arch).s));
    assert_true(has(f, "lazy", arena_printf(&f->a, "%s_%s.dat", leaf, f->arch).s));
    assert_true(has(f, "lazy", arena_printf(&f->a, "%s_%s.so", leaf, f->arch).s));
    assert_true(has(f, "lazy", "TensileMasterSolutionIndex.csv"));
    use_library(f, "lazy");
}

static void test_embedded(void **state)
{
    Fixture *f = *state;
    CreateOptions o;
    CreateReport r;
    Str text;
    options(f, &o, "embedded");
    o.metadata_only = true;
    o.embed_library = "my_library";
    o.embed_key = "k1";
    assert_ok(createlib_run(&o, &r));
    assert_ok(
        file_read(&f->a, arena_printf(&f->a, "%s/embedded/library/my_library.c", f->dir).s, 1 << 20, &text));
    assert_non_null(strstr(text.s, "const size_t my_library_n_files = 1;"));
    assert_non_null(
        strstr(text.s, "{\"my_library\", \"k1\", \"TensileLibrary.dat\", data_0, sizeof data_0},"));
    o.embed_library = "not-a-name";
    assert_int_equal(createlib_run(&o, &r), ERR_INPUT);
}

/* A damaged solution is left out with its reason; strict refuses. */
static void test_left_out(void **state)
{
    Fixture *f = *state;
    CreateOptions o;
    CreateReport r;
    Str report;
    f->l.solution[1].s.VectorWidth = 3;
    assert_ok(logic_write(&f->l, path_join(&f->a, f->dir, "logic/host_Cijk_Ailk_Bjlk_SB.yaml").s));
    options(f, &o, "left");
    assert_int_equal(createlib_run(&o, &r), ERR_PARTIAL);
    assert_int_equal(r.n_left_out, 1);
    assert_ok(file_read(&f->a,
                        arena_printf(&f->a, "%s/left/library/TensileCreateLibrary.report.csv", f->dir).s,
                        1 << 20, &report));
    assert_non_null(strstr(report.s, ",1,,"));
    Hardware hw = {.arch = str_from(f->arch), .n_cu = 1};
    Library *lib;
    assert_ok(library_open(arena_printf(&f->a, "%s/left/library/TensileLibrary.dat", f->dir).s, &hw, &lib));
    assert_int_equal(library_n_solutions(lib), 2);
    library_free(lib);
    o.strict = true;
    assert_int_equal(createlib_run(&o, &r), ERR_FAILED);
    assert_non_null(strstr(err_message(), "host_Cijk_Ailk_Bjlk_SB.yaml:"));
}

static void test_metadata_of_real_logic(void **state)
{
    Fixture *f = *state;
    static const struct {
        const char *file, *arch;
        size_t n_solutions;
        int64_t first_index; /* with separate architectures */
    } files[] = {
        {"vega20_Cijk_Ailk_Bjlk_ZB", "gfx906", 20, 605552640},
        {"arcturus_Cijk_Alik_Bjlk_SB", "gfx908", 82, 606076928},
        {"hip_Cijk_Ailk_Bljk_I8II_BH", "gfx906", 11, 0},
        {"r9nano_Cijk_Ailk_Bjlk_SB", "gfx803", 40, 0x803LL << 18},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CreateOptions o;
        CreateReport r;
        Library *lib;
        Hardware hw = {.arch = str_from(files[i].arch), .n_cu = 60};
        options(f, &o, files[i].file);
        o.runtime = CREATE_HIP;
        o.logic_path = test_data_path(&f->a, arena_printf(&f->a, "tensile/logic/%s.yaml", files[i].file).s);
        o.metadata_only = o.separate_architectures = true;
        o.architecture = files[i].arch;
        assert_ok(createlib_run(&o, &r));
        Str path =
            arena_printf(&f->a, "%s/%s/library/TensileLibrary_%s.dat", f->dir, files[i].file, files[i].arch);
        assert_ok(library_open(path.s, &hw, &lib));
        assert_int_equal(library_n_solutions(lib), files[i].n_solutions);
        assert_non_null(library_solution_by_index(lib, files[i].first_index));
        assert_int_equal(library_names_arch(lib), i != 2);
        library_free(lib);
    }
}

/* The measured line of a solution goes from the logic file to the library as it stands; the files behind
 * placeholders have no version. */
static void test_linear_model(void **state)
{
    Fixture *f = *state;
    CreateOptions o;
    CreateReport r;
    Str text;
    options(f, &o, "model");
    o.runtime = CREATE_HIP;
    o.logic_path = test_data_path(&f->a, "tensile/logic/arcturus_Cijk_Alik_Bjlk_SB.yaml");
    o.metadata_only = o.separate_architectures = o.lazy = true;
    o.format = LIBRARY_YAML;
    o.architecture = "gfx908";
    o.version = "4.44.0";
    assert_ok(createlib_run(&o, &r));
    const char *leaf = "TensileLibrary_Type_SS_Contraction_l_Alik_Bjlk_Cijk_Dijk_gfx908";
    Str path = arena_printf(&f->a, "%s/model/library/%s.yaml", f->dir, leaf);
    assert_ok(file_read(&f->a, path.s, 1 << 24, &text));
    assert_non_null(strstr(text.s, "linearModel: {intercept: 37.705662415133105, max: 27804, "
                                   "slope: 0.31046307153616026}\n"));
    assert_null(strstr(text.s, "linearModel: {}"));
    assert_null(strstr(text.s, "version:"));
    path = arena_printf(&f->a, "%s/model/library/TensileLibrary_lazy_gfx908.yaml", f->dir);
    assert_ok(file_read(&f->a, path.s, 1 << 24, &text));
    assert_non_null(strstr(text.s, "version: 4.44.0\n"));
}

static void test_bad_linear_model(void **state)
{
    Fixture *f = *state;
    static const char *const bad[] = {"{slope: fast}", "[1, 2]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CreateOptions o;
        CreateReport r;
        Node *value;
        assert_ok(yaml_parse(&f->a, "model", str_from(bad[i]), &(NodeLimits){0}, &value));
        LogicKept kept = {STR("LinearModel"), value};
        f->l.solution[0].kept = &kept;
        f->l.solution[0].n_kept = 1;
        assert_ok(logic_write(&f->l, path_join(&f->a, f->dir, "logic/host_Cijk_Ailk_Bjlk_SB.yaml").s));
        options(f, &o, "bad");
        o.runtime = CREATE_HOST;
        o.metadata_only = true;
        assert_int_equal(createlib_run(&o, &r), ERR_INPUT);
        assert_non_null(strstr(err_message(), "LinearModel"));
        assert_non_null(strstr(err_message(), "host_Cijk_Ailk_Bjlk_SB.yaml:"));
    }
}

/* A decision tree file: M at most 100 takes solution 1 by the tree, larger ones the fallback, outside the
 * region nothing. */
static void test_trees(void **state)
{
    Fixture *f = *state;
    CreateOptions o;
    CreateReport r;
    Library *lib;
    Node *trees;
    Hardware hw = {.arch = str_from(f->arch), .n_cu = 1};
    static const char text[] =
        "- features: [{type: FreeSizeA, index: 0}]\n"
        "  region: [{type: SizeInRange, index: 0, value: {min: 0, max: 1000}}]\n"
        "  trees: [{solution: 1, tree: [{featureIdx: 0, threshold: 100.5, nextIdxLTE: -2, nextIdxGT: -1}]}]\n"
        "  fallback: 0\n";
    assert_ok(yaml_parse(&f->a, "trees", STR(text), NULL, &trees));
    f->l.trees = trees;
    f->l.dict = true;
    f->l.n_rows = 0;
    assert_ok(logic_write(&f->l, path_join(&f->a, f->dir, "logic/host_Cijk_Ailk_Bjlk_SB.yaml").s));
    options(f, &o, "trees");
    o.metadata_only = true;
    assert_ok(createlib_run(&o, &r));
    assert_ok(library_open(path_join(&f->a, o.output_path, "library/TensileLibrary.dat").s, &hw, &lib));
    static const struct {
        int64_t m, index;
    } cases[] = {{64, 1}, {100, 1}, {101, 0}, {999, 0}, {1000, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Contraction p;
        Selection sel;
        contraction_gemm(&p, false, true, cases[i].m, 64, 64, 1);
        contraction_types(&p, TYPE_S, TYPE_S, TYPE_S, TYPE_S, TYPE_S);
        contraction_strides(&p, cases[i].m, 64, cases[i].m, cases[i].m, 0, 0, 0, 0);
        assert_ok(library_select(lib, &p, &sel));
        assert_int_equal(sel.solution ? sel.solution->index : -1, cases[i].index);
    }
    library_free(lib);
}

typedef struct {
    int64_t m, n, batch, index;
} SectionCase;

/* The solutions that a library of three rows with K = 2048, one of them predicted, has for other sizes. */
static void sections_check(Fixture *f, const char *name, const int64_t sizes[3][4], const SectionCase *cases,
                           size_t n_cases)
{
    CreateOptions o;
    CreateReport r;
    Library *lib;
    Hardware hw = {.arch = str_from(f->arch), .n_cu = 1};
    for (int i = 0; i < 3; i++) f->l.row[i].size = sizes[i];
    f->l.distance = STR("Ratio");
    f->l.n_elements = 13;
    assert_ok(logic_solution_lists(&f->a, &f->l.solution[1], LOGIC_PREDICTED_KEY, sizes[1], 1, 4));
    assert_ok(logic_write(&f->l, path_join(&f->a, f->dir, "logic/host_Cijk_Ailk_Bjlk_SB.yaml").s));
    options(f, &o, name);
    o.metadata_only = true;
    assert_ok(createlib_run(&o, &r));
    assert_ok(library_open(path_join(&f->a, o.output_path, "library/TensileLibrary.dat").s, &hw, &lib));
    for (size_t i = 0; i < n_cases; i++) {
        const int64_t m = cases[i].m, n = cases[i].n;
        Contraction p;
        Selection sel;
        contraction_gemm(&p, false, true, m, n, 2048, cases[i].batch);
        contraction_types(&p, TYPE_S, TYPE_S, TYPE_S, TYPE_S, TYPE_S);
        contraction_strides(&p, m, n, m, m, m * 2048, n * 2048, m * n, m * n);
        assert_ok(library_select(lib, &p, &sel));
        if (!sel.solution || sel.solution->index != cases[i].index)
            fail_msg("%s, case %zu: solution %lld", name, i,
                     sel.solution ? (long long)sel.solution->index : -1);
    }
    library_free(lib);
}

/* A table with predicted rows: a size takes the nearest row of those that are aligned and as thin as it is,
 * and have one batch or several, whatever row is nearer; one without such rows takes those that need less,
 * else any. */
static void test_sections(void **state)
{
    static const int64_t sizes[3][4] = {{64, 64, 1, 2048}, {255, 255, 1, 2048}, {64, 64, 16, 2048}};
    static const SectionCase cases[] = {{64, 64, 1, 0}, {12, 20, 1, 0}, {260, 260, 1, 1}, {65, 63, 1, 1},
                                        {68, 64, 1, 1}, {64, 67, 1, 1}, {64, 64, 2, 2},   {8, 8, 2, 2}};
    sections_check(*state, "sections", sizes, cases, sizeof cases / sizeof *cases);
}

/* The number of properties of a table with so many entries; 0: there is none in the node. */
static size_t key_of_table(const Node *n, size_t n_entries)
{
    const Node *table = n->kind == NODE_MAP ? node_get(n, "table") : NULL,
               *properties = table ? node_get(n, "properties") : NULL;
    size_t found = properties && table->n == n_entries ? properties->n : 0;
    const size_t n_items = n->kind == NODE_MAP ? 2 * n->n : n->kind == NODE_SEQ ? n->n : 0;
    for (size_t i = 0; i < n_items && !found; i++) found = key_of_table(&n->item[i], n_entries);
    return found;
}

static size_t key_of_whole_table(Fixture *f, const char *name)
{
    Str data;
    Node *n;
    const char *path = arena_printf(&f->a, "%s/%s/library/TensileLibrary.dat", f->dir, name).s;
    assert_ok(file_read(&f->a, path, 1 << 24, &data));
    assert_ok(msgpack_parse(&f->a, path, data, NULL, &n));
    return key_of_table(n, 3);
}

/* Keys of batched sections have the batch count, too, and so have those of the whole table behind them, which
 * readers of the performance model ask alone. */
static void test_batched_sections(void **state)
{
    static const int64_t sizes[3][4] = {{60, 60, 256, 2048}, {255, 255, 1, 2048}, {64, 64, 16, 2048}};
    static const SectionCase cases[] = {{60, 60, 20, 2}, {64, 64, 200, 0}, {260, 260, 1, 1}};
    static const int64_t one[3][4] = {{60, 60, 1, 2048}, {255, 255, 1, 2048}, {64, 64, 1, 2048}};
    static const SectionCase case_one[] = {{60, 60, 1, 0}};
    sections_check(*state, "batched", sizes, cases, sizeof cases / sizeof *cases);
    assert_int_equal(key_of_whole_table(*state, "batched"), 4);
    sections_check(*state, "one", one, case_one, 1);
    assert_int_equal(key_of_whole_table(*state, "one"), 3);
}

static void test_index_base(void **state)
{
    (void)state;
    assert_int_equal(create_index_base(STR("gfx906")), 605552640);
    assert_int_equal(create_index_base(STR("gfx90a")), 0x90aLL << 18);
    assert_int_equal(create_index_base(STR("fallback")), 0);
    assert_int_equal(create_index_base(STR("x86-64-v3")), 0x1b03LL << 18);
    assert_int_equal(create_index_base(STR("sm_90")), 0x1c5aLL << 18);
    assert_true(create_index_base(STR("sm_120")) + 200000 < INT32_MAX);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_index_base),   TEST(test_metadata_of_real_logic),
        TEST(test_linear_model), TEST(test_bad_linear_model),
        TEST(test_merged),       TEST(test_modes),
        TEST(test_lazy),         TEST(test_embedded),
        TEST(test_left_out),     TEST(test_trees),
        TEST(test_sections),     TEST(test_batched_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
