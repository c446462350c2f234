/* Configs: Tensile's own files expand as in Tensile, older forms are accepted with a notice, everything else
 * that is wrong gives one line with file and line. */
#include "test/support.h"

#include "base/hash.h"
#include "space/config.h"

typedef struct {
    Arena arena;
    Config *config;
    Err err;
} Read;

static Read read_text(const char *text, const ConfigOptions *o)
{
    Read r = {.err = 0};
    const NodeLimits limits = {.max_bytes = CONFIG_BYTES_MAX, .max_nodes = CONFIG_NODES_MAX};
    Node *root = NULL;
    arena_init(&r.arena, 0);
    r.err = yaml_parse(&r.arena, "c.yaml", str_from(text), &limits, &root);
    if (!r.err) r.err = config_from_node(&r.arena, "c.yaml", root, o, &r.config);
    return r;
}

static void done(Read *r) { arena_fini(&r->arena); }

/* ---- Tensile's files ---- */

static void add_group(Arena *a, const ProblemGroup *p, const SizeGroup *g, Buf *out)
{
    ProblemSize *list;
    size_t n;
    char hex[SHA256_HEX + 1];
    Buf text;
    buf_init(&text);
    if (out->n) buf_putc(out, '|');
    problem_type_name(&p->pt, out);
    assert_ok(problem_sizes_list(a, &g->sizes, SIZES_COUNT_MAX, &list, &n));
    for (size_t i = 0; i < n; i++) {
        if (i) buf_putc(&text, ' ');
        list[i].n = p->pt.TotalIndices + p->pt.NumIndicesLD; /* Tensile has no strides behind them */
        problem_size_print(&list[i], &text);
    }
    sha256_hex(buf_view(&text), hex);
    buf_printf(out, " %llu/%zu %.16s", (unsigned long long)size_group_permutations(g), n, hex);
    buf_fini(&text);
}

static void check_folder(const char *folder, int want_files)
{
    Arena a;
    arena_init(&a, 0);
    Str rest = str_trim(test_data(
            &a, arena_printf(&a, "tensile/%s.txt", strcmp(folder, "config") ? folder : "config-expanded").s)),
        line;
    int n = 0;
    while (str_split(&rest, '\n', &line)) {
        Str want = line, name;
        assert_true(str_split(&want, ' ', &name));
        const Str path = arena_printf(&a, "test/data/tensile/%s/%.*s", folder, STR_ARG(name));
        Config *c;
        Buf have;
        buf_init(&have);
        assert_ok(config_read(&a, path.s, NULL, &c));
        for (size_t i = 0; i < c->n_problems; i++)
            for (size_t j = 0; j < c->problem[i].n_size_groups; j++)
                add_group(&a, &c->problem[i], &c->problem[i].size_group[j], &have);
        if (!str_eq(buf_view(&have), want))
            fail_msg("%s:\n%s\nis not\n%.*s", path.s, buf_cstr(&have), STR_ARG(want));
        buf_fini(&have);
        n++;
    }
    assert_int_equal(n, want_files);
    arena_fini(&a);
}

static void test_tensile_files(void **state)
{
    (void)state;
    check_folder("config", 13);
}

/* Contractions and convolutions; what Tensile makes of them. */
static void test_contractions(void **state)
{
    (void)state;
    check_folder("config-contraction", 31);
}

/* Tensile refuses these two for LdsBlockSizePerPad; here it is one dimension that sets both of today's
 * parameters. */
static void test_old_name_of_pair(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    Config *c;
    const char *path = "test/data/tensile/config/sgemm_example.yaml";
    assert_ok(config_read(&a, path, NULL, &c));
    const SizeGroup *g = &c->problem[0].size_group[0];
    assert_int_equal(size_group_permutations(g), 1536);
    assert_int_equal(g->sizes.count, 76);
    assert_int_equal(g->n_groups, 1);
    assert_int_equal(g->group[0].n, 3);
    assert_int_equal(g->group[0].entry[2].n, 2);
    assert_string_equal(g->group[0].entry[2].assign[0].param->name, "LdsBlockSizePerPadA");
    assert_string_equal(g->group[0].entry[2].assign[1].param->name, "LdsBlockSizePerPadB");
    assert_int_equal(g->group[0].entry[2].assign[1].value->integer, 64);
    assert_true(c->has_problems && c->has_logic && !c->has_client);
    assert_str(c->notices.line[c->notices.n - 1], "test/data/tensile/config/sgemm_example.yaml:58: "
                                                  "'LdsBlockSizePerPad' is now 'LdsBlockSizePerPadA' and "
                                                  "'LdsBlockSizePerPadB'");
    arena_fini(&a);
}

static void test_alternate(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    Config *c;
    const char *path = "test/data/tensile/config/alt_format_vega20_example.yaml";
    assert_int_equal(config_read(&a, path, NULL, &c), ERR_INPUT);
    assert_string_equal(err_message(),
                        "test/data/tensile/config/alt_format_vega20_example.yaml:1: this is the alternate "
                        "format: add --alternate-format");
    assert_ok(config_read(&a, path, &(ConfigOptions){.alternate = true}, &c));
    assert_int_equal(size_group_permutations(c->problem[0].size_group), 1536);
    assert_int_equal(c->problem[0].size_group->sizes.count, 0);
    assert_false(c->has_logic || c->has_client);
    char *dir = test_dir();
    const Str sizes = arena_printf(&a, "%s/sizes.yaml", dir);
    assert_ok(file_write(sizes.s, STR("- Exact: [64, 64, 1, 64]\n- Exact: [64, 32, 1, 64]\n")));
    assert_ok(config_read(&a, path, &(ConfigOptions){.alternate = true, .sizes_path = sizes.s}, &c));
    assert_int_equal(c->problem[0].size_group->sizes.count, 2);
    assert_false(c->has_logic);
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

/* ---- fork lists ---- */

static const char head[] = "BenchmarkProblems:\n- - {DataType: s, Batched: true}\n";

static Read read_group(const char *group)
{
    char text[8192];
    snprintf(text, sizeof text, "%s  - %s\n", head, group);
    return read_text(text, NULL);
}

static void test_fork_lists(void **state)
{
    (void)state;
    Read r = read_group(
        "{BenchmarkCommonParameters: [{DepthU: [8]}, {EdgeType: [ShiftPtr]}, {MacroTile: [[64, 64]]}],\n"
        "    ForkParameters: [{ThreadTile: [[4, 4], [8, 8]]}, {GlobalSplitU: [1, 4]}, {DepthU: [16, 32]},\n"
        "      {GlobalSplitU: [1, 2, 3]}, {Groups: [[{VectorWidth: 1, PrefetchGlobalRead: 0}, "
        "{VectorWidth: 2}], [{NumLoadsCoalescedA: 1}]]}]}");
    assert_ok(r.err);
    const SizeGroup *g = &r.config->problem[0].size_group[0];
    static const char *const names[] = {"EdgeType", "GlobalSplitU", "ThreadTile", "DepthU", "MacroTile"};
    static const size_t lengths[] = {1, 3, 2, 2, 1};
    assert_int_equal(g->n_params, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(g->param[i].param->name, names[i]);
        assert_int_equal(g->param[i].n, lengths[i]);
    }
    assert_int_equal(g->param[3].value[0]->integer, 16);
    assert_int_equal(g->n_groups, 2);
    assert_int_equal(g->group[0].n, 2);
    assert_int_equal(g->group[0].entry[0].n, 2);
    assert_int_equal(size_group_permutations(g), 24);
    assert_int_equal(g->sizes.count, 4);
    assert_ok(size_group_check(r.config, g));
    assert_int_equal(r.config->notices.n, 2); /* of Fork over Common none: that is what it is for */
    assert_str(r.config->notices.line[0], "c.yaml:5: 'GlobalSplitU' takes the place of that of line 4");
    assert_str(r.config->notices.line[1],
               "c.yaml:3: no ProblemSizes: as in Tensile, 64, 128, 256 and 448 in all dimensions");
    done(&r);
}

/* A fork of 10^12 points and more is read and counted, but not enumerated. */
static void test_large_fork(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    buf_puts(&b, head);
    buf_puts(&b, "  - ForkParameters:\n    - WorkGroupMapping: [1");
    for (int i = 2; i <= 1000; i++) buf_printf(&b, ", %d", i);
    buf_puts(&b, "]\n    - Groups:\n");
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 1000; i++)
            buf_printf(&b, "      %s- DepthU: %d\n", i ? "  " : "- ", 2 * (i % 500) + 4);
    }
    Read r = read_text(buf_cstr(&b), NULL);
    assert_ok(r.err);
    assert_true(size_group_permutations(r.config->problem[0].size_group) == UINT64_C(1000000000000));
    assert_int_equal(size_group_check(r.config, r.config->problem[0].size_group), ERR_INPUT);
    assert_string_equal(err_message(),
                        "c.yaml:3: the fork has 1000000000000 permutations, at most 1000000000 are "
                        "enumerated");
    done(&r);
    buf_fini(&b);
}

static void test_old_forms(void **state)
{
    (void)state;
    static const char *const want[] = {
        "c.yaml:2: NewClient is no longer a parameter: there is one client",
        "c.yaml:3: PinClocks has no effect here: clocks are recorded, never changed",
        "c.yaml:10: 'PrefetchGlobalRead' now takes numbers: true is 1, false is 0",
        "c.yaml:11: 'DirectToLds' is now 'DirectToLdsA' and 'DirectToLdsB'",
        "c.yaml:14: sizes beside ProblemSizes: they now belong below it",
    };
    Read r = read_text(
        "GlobalParameters:\n  NewClient: 2\n  PinClocks: True\nBenchmarkProblems:\n"
        "- - {Batched: true, DataType: s, OperationType: GEMM, TransposeA: false, TransposeB: false}\n"
        "  - BenchmarkForkParameters: null\n    BenchmarkJoinParameters: null\n"
        "    InitialSolutionParameters: null\n    ForkParameters:\n"
        "    - PrefetchGlobalRead: [true, false]\n    - DirectToLds: [false]\n"
        "    BenchmarkFinalParameters:\n    - ProblemSizes:\n    - Exact: [ 5504, 5504, 1, 3104 ]\n"
        "    - Range: [ [64, 64, 64, 7000], [4], [1], [128] ]\n    JoinParameters: null\n",
        NULL);
    assert_ok(r.err);
    const SizeGroup *g = &r.config->problem[0].size_group[0];
    assert_int_equal(g->sizes.count, 1 + 15);
    assert_int_equal(g->n_params, 3);
    assert_int_equal(r.config->notices.n, 5);
    for (size_t i = 0; i < 5; i++) assert_str(r.config->notices.line[i], want[i]);
    done(&r);
}

/* ---- globals and logic ---- */

static void test_globals(void **state)
{
    (void)state;
    const ConfigOverride over[] = {{STR("KernelTime"), STR("True")}, {STR("NumBenchmarks"), STR("7")}};
    Read r = read_text(
        "GlobalParameters: {MinimumRequiredVersion: 4.14.0, NumBenchmarks: 3, LibraryFormat: yaml,\n"
        "  numWarmups: 1, PerfModelL2WriteHits: 0.5, CSVExportWinner: 1, EmbedLibrary: None}\n"
        "LibraryLogic:\n",
        &(ConfigOptions){.override = over, .n_overrides = 2});
    assert_ok(r.err);
    const Globals *g = &r.config->globals;
    assert_true(g->KernelTime && g->CSVExportWinner);
    assert_int_equal(g->NumBenchmarks, 7);
    assert_int_equal(g->LibraryFormat, FORMAT_YAML);
    assert_int_equal(g->NumElementsToValidate, 128);
    assert_int_equal(g->MaxWorkspaceSize, 32 << 20);
    assert_str(g->EmbedLibrary, "");
    assert_str(g->LibraryLogicPath, "3_LibraryLogic");
    assert_true(g->PerfModelL2WriteHits == 0.5);
    assert_int_equal(r.config->notices.n, 1);
    assert_str(r.config->notices.line[0],
               "c.yaml:2: unknown global parameter 'numWarmups' is not used (did you mean 'NumWarmups'?)");
    assert_true(r.config->has_logic);
    assert_false(r.config->has_problems || r.config->has_client);
    assert_str(r.config->logic.ScheduleName, "Tensile");
    assert_str(r.config->logic.ArchitectureName, "gfx000");
    assert_str(r.config->logic.DeviceNames[0], "fallback");
    done(&r);
}

static void test_logic(void **state)
{
    (void)state;
    Read r = read_text("LibraryLogic: {ScheduleName: aldebaran, DeviceNames: [Device 0050, Device 740c],\n"
                       "  ArchitectureName: {Architecture: gfx90a, CUCount: 104, IsAPU: 0}}",
                       NULL);
    assert_ok(r.err);
    assert_str(r.config->logic.ArchitectureName, "gfx90a");
    assert_int_equal(r.config->logic.CUCount, 104);
    assert_int_equal(r.config->logic.IsAPU, 0);
    assert_int_equal(r.config->logic.n_DeviceNames, 2);
    assert_str(r.config->logic.DeviceNames[1], "Device 740c");
    done(&r);
    static const char *const names[] = {"x86-64-v4", "host", "sm_90", "fallback"};
    for (size_t i = 0; i < 4; i++) {
        char text[128];
        snprintf(text, sizeof text, "LibraryLogic: {ArchitectureName: %s}", names[i]);
        r = read_text(text, NULL);
        assert_ok(r.err);
        assert_str(r.config->logic.ArchitectureName, names[i]);
        assert_int_equal(r.config->notices.n, 0);
        done(&r);
    }
    r = read_text("LibraryLogic: {ArchitectureName: gfx9999}", NULL);
    assert_ok(r.err);
    assert_str(r.config->notices.line[0],
               "c.yaml:1: ArchitectureName 'gfx9999' is not an architecture that is known "
               "here");
    done(&r);
}

/* Every row of the table prints its default and reads it back. */
static void test_globals_table(void **state)
{
    (void)state;
    Arena a;
    Globals g, back;
    Buf have, want;
    const GlobalKey *k;
    arena_init(&a, 0);
    buf_init(&have);
    buf_init(&want);
    globals_init(&g);
    for (size_t i = 0; (k = global_key_at(i)); i++) {
        globals_init(&back);
        buf_reset(&have);
        buf_reset(&want);
        global_print(k, &g, &want);
        if (want.n) assert_ok(globals_set(&a, "o", str_from(k->name), buf_view(&want), NULL, &back));
        global_print(k, &back, &have);
        assert_true(str_eq(buf_view(&have), buf_view(&want)));
        assert_ptr_equal(global_key_find(str_from(k->name)), k);
    }
    buf_fini(&have);
    buf_fini(&want);
    arena_fini(&a);
}

/* ---- bad input ---- */

static void refused(const char *text, const char *want)
{
    Read r = read_text(text, NULL);
    if (!r.err) fail_msg("accepted: %s", text);
    assert_string_equal(err_message(), want);
    assert_int_equal(r.err, ERR_INPUT);
    done(&r);
}

static void test_bad_structure(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "c.yaml:1: the document is empty"},
        {"# a comment\n", "c.yaml:1: the document is empty"},
        {"~", "c.yaml: the config is empty"},
        {"[1, 2]", "c.yaml:1: the config: expected a map, found a list"},
        {"GlobalParameters: {}",
         "c.yaml:1: nothing to do: no BenchmarkProblems, LibraryLogic or LibraryClient"},
        {"BenchmarkProblem: []", "c.yaml:1: unknown key 'BenchmarkProblem' in the config (did you mean "
                                 "'BenchmarkProblems'?)"},
        {"BenchmarkProblems: []", "c.yaml:1: BenchmarkProblems: expected a list of 1 to 4096 items, found 0"},
        {"BenchmarkProblems:\n", "c.yaml:1: BenchmarkProblems: expected a list, found null"},
        {"BenchmarkProblems:\n- {DataType: s}\n", "c.yaml:2: a problem group: expected a list, found a map"},
        {"BenchmarkProblems:\n- - DataType: q\n",
         "c.yaml:2: DataType: unknown data type 'q', expected one of S (single), D (double), C "
         "(complexSingle), Z (complexDouble), H (half), 4xi8 (int8x4), I (int32), B (bfloat16), I8 (int8), X "
         "(xfloat32), F8 (float8), B8 (bfloat8), F8B8 (float8Bfloat8), B8F8 (bfloat8Float8)"},
        {"GlobalParameters: {MinimumRequiredVersion: 5.0.0}\nLibraryLogic:\n",
         "c.yaml:1: MinimumRequiredVersion 5.0.0: files that need Tensile 4.0.0 to 4.44.0 are read"},
        {"GlobalParameters: {MinimumRequiredVersion: 4.44.1}\nLibraryLogic:\n",
         "c.yaml:1: MinimumRequiredVersion 4.44.1: files that need Tensile 4.0.0 to 4.44.0 are read"},
        {"GlobalParameters: {MinimumRequiredVersion: 4.14}\nLibraryLogic:\n",
         "c.yaml:1: MinimumRequiredVersion '4.14' is not major.minor.patch"},
        {"GlobalParameters:\n  DataInitTypeBeta: 8\nLibraryLogic:\n",
         "c.yaml:2: DataInitTypeBeta: '8' is not legal (legal: 0..7 16..20)"},
        {"GlobalParameters:\n  LibraryFormat: json\nLibraryLogic:\n",
         "c.yaml:2: LibraryFormat: 'json' is not legal (legal: yaml msgpack)"},
        {"GlobalParameters:\n  KernelTime: maybe\nLibraryLogic:\n",
         "c.yaml:2: KernelTime: expected a boolean, found 'maybe'"},
        {"LibraryLogic: {ScheduleNam: x}",
         "c.yaml:1: unknown key 'ScheduleNam' in LibraryLogic (did you mean 'ScheduleName'?)"},
        {"LibraryLogic: {ScheduleName: ../x}", "c.yaml:1: ScheduleName '../x' cannot be part of a file name"},
        {"LibraryLogic: {SolutionImportanceMin: 2}", "c.yaml:1: SolutionImportanceMin 2 is not in 0..1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(cases[i].text, cases[i].want);
}

static void test_bad_groups(void **state)
{
    (void)state;
    static const struct {
        const char *group, *want;
    } cases[] = {
        {"{ForkParameters: [{GlobalSplitUCoalesced: [8]}]}",
         "c.yaml:3: unknown parameter 'GlobalSplitUCoalesced' in ForkParameters: Tensile 4.44 has no such "
         "parameter; "
         "MultipleBuffer and MultipleBufferSingleKernel of GlobalSplitUAlgorithm write the parts of K in "
         "whole vectors"},
        {"{ForkParameters: [{DepthV: [8]}]}",
         "c.yaml:3: unknown parameter 'DepthV' in ForkParameters (did you mean 'DepthU'?)"},
        {"{BenchmarkCommonParameters: [{Groups: []}]}",
         "c.yaml:3: unknown parameter 'Groups' in BenchmarkCommonParameters"},
        {"{ForkParameters: [{Groups: [[{DepthV: 8}]]}]}",
         "c.yaml:3: unknown parameter 'DepthV' in Groups (did you mean 'DepthU'?)"},
        {"{ForkParameters: [{DepthU: [1]}]}",
         "c.yaml:3: ForkParameters: 'DepthU' cannot be '1'; legal: -16..-1 2..1024"},
        {"{ForkParameters: [{KernelLanguage: [Basic]}]}",
         "c.yaml:3: ForkParameters: 'KernelLanguage' cannot be 'Basic'; legal: Source Assembly"},
        {"{ForkParameters: [{DepthU: 16}]}",
         "c.yaml:3: 'DepthU' in ForkParameters must be a list of values, like [16]"},
        {"{ForkParameters: [{DepthU: }]}", "c.yaml:3: 'DepthU' in ForkParameters has no values"},
        {"{ForkParameters: [{DepthU: []}]}",
         "c.yaml:3: DepthU: expected a list of 1 to 65536 items, found 0"},
        {"{ForkParameters: {DepthU: [16]}}", "c.yaml:3: ForkParameters: expected a list, found a map"},
        {"{ForkParameters: [{NumThreads: [256]}]}",
         "c.yaml:3: 'NumThreads' in ForkParameters is derived from other parameters and cannot be set"},
        {"{JoinParameters: [MacroTile]}", "c.yaml:3: benchmark step 'JoinParameters' is no longer supported"},
        {"{ForkParameter: []}",
         "c.yaml:3: unknown key 'ForkParameter' in a size-group (did you mean 'ForkParameters'?)"},
        {"{BenchmarkFinalParameters: [{ProblemSizes: [{Exact: [0, 1, 1, 1]}]}]}",
         "c.yaml:3: Exact: size 0 of index 0 ('i') is not in 1..2147483647"},
        {"{BenchmarkFinalParameters: [{ProblemSizes: [{Range: [[1, 1, 1000000], [1, 1, 1000000], [1], "
         "[1]]}]}]}",
         "c.yaml:3: Range has 1000000000000 problem sizes, at most 1000000 are allowed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Read r = read_group(cases[i].group);
        if (!r.err) fail_msg("accepted: %s", cases[i].group);
        assert_string_equal(err_message(), cases[i].want);
        assert_int_equal(r.err, ERR_INPUT);
        done(&r);
    }
}

/* What Tensile reads, each with a notice: duplicate keys, leading dimensions below the least, keys that it
 * does not read, strides after the last index, no sizes. */
static void test_as_tensile(void **state)
{
    (void)state;
    static const char text[] = "GlobalParameters: {NumBenchmarks: 2, SleepPercent: 1}\n"
                               "GlobalParameters: {NumBenchmarks: 3}\n"
                               "BenchmarkProblems:\n"
                               "- - {DataType: d, Batched: true, TransposeB: false, DataType: s}\n"
                               "  - OptNoLoadLoop: 0\n"
                               "    BenchmarkFinalParameters:\n"
                               "    - ProblemSizes:\n"
                               "      - Exact: [64, 32, 1, 16, 64, 64, 8, 16]\n"
                               "      - Exact: [64, 32, 1, 16, 64, 64, 70, 15]\n"
                               "      - Exact: {sizes: [64, 32, 2, 16], stridesA: [1, 65, 2000, 7]}\n"
                               "  - BenchmarkFinalParameters:\n"
                               "    - ProblemSizes:\n";
    static const char *const notices[] = {
        "c.yaml:4: key 'DataType' takes the place of that of line 4",
        "c.yaml:2: key 'GlobalParameters' takes the place of that of line 1",
        "c.yaml:5: key 'OptNoLoadLoop' in a size-group has no effect, as in Tensile",
        "c.yaml:10: stridesA: A has 3 indices: strides after these have no effect",
        "c.yaml:8: Exact: leading dimension LDA 8 is below the least, 64, which takes its place, as in "
        "Tensile, "
        "and of 1 more",
        "c.yaml:12: ProblemSizes is empty: as in Tensile, nothing is measured",
    };
    Arena a;
    arena_init(&a, 0);
    char *dir = test_dir();
    const Str path = arena_printf(&a, "%s/c.yaml", dir);
    assert_ok(file_write(path.s, str_from(text)));
    Config *c;
    assert_ok(config_read(&a, path.s, NULL, &c));
    assert_int_equal(c->globals.NumBenchmarks, 3);
    assert_true(c->globals.SleepPercent != 1); /* it was in the map that was replaced */
    assert_int_equal(c->problem[0].pt.DataType, TYPE_S);
    const SizeGroup *g = c->problem[0].size_group;
    assert_int_equal(g[0].sizes.n_exacts, 3);
    assert_int_equal(size_ld(&c->problem[0].pt, &g[0].sizes.exact[0], LD_A), 64);
    assert_int_equal(size_ld(&c->problem[0].pt, &g[0].sizes.exact[1], LD_A), 70);
    assert_int_equal(size_ld(&c->problem[0].pt, &g[0].sizes.exact[1], LD_B), 16);
    assert_int_equal(g[0].sizes.exact[2].extra->n_stride[LD_A], 3);
    assert_int_equal(g[1].sizes.count, 0);
    for (size_t i = 0; i < c->notices.n; i++) {
        const Str line = c->notices.line[i];
        assert_true(i < sizeof notices / sizeof *notices);
        assert_str(str_sub(line, path.n - 6, line.n), notices[i]);
    }
    assert_int_equal(c->notices.n, sizeof notices / sizeof *notices);
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

static void test_c_equal_d(void **state)
{
    (void)state;
    refused("GlobalParameters: {CEqualD: true}\nBenchmarkProblems:\n- - {DataType: s, Batched: true}\n"
            "  - BenchmarkFinalParameters:\n    - ProblemSizes:\n      - Exact: [8, 8, 1, 8, 9, 8, 8, 8]\n",
            "c.yaml:4: CEqualD needs LDD equal to LDC, a size has 9 and 8");
}

/* Documents that are meant to hurt: each gives one line and little memory. */
static void test_hostile(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    for (int i = 0; i < 100000; i++) buf_putc(&b, '[');
    Read r = read_text(buf_cstr(&b), NULL);
    assert_int_equal(r.err, ERR_INPUT);
    assert_string_equal(err_message(), "c.yaml:1: nested deeper than 64 levels");
    done(&r);
    buf_reset(&b);
    buf_puts(&b, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++)
        buf_printf(&b, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    r = read_text(buf_cstr(&b), NULL);
    assert_int_equal(r.err, ERR_INPUT);
    assert_non_null(strstr(err_message(), "4000000"));
    done(&r);
    buf_reset(&b);
    for (int i = 0; i < 4096; i++) buf_putc(&b, (char)(i * 37 + 128));
    r = read_text(buf_cstr(&b), NULL);
    assert_int_equal(r.err, ERR_INPUT);
    assert_true(str_starts(str_from(err_message()), "c.yaml"));
    done(&r);
    buf_fini(&b);
    Arena a;
    Config *c;
    arena_init(&a, 0);
    assert_int_equal(config_read(&a, "test/data/no-such-file.yaml", NULL, &c), ERR_INPUT);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensile_files),
        cmocka_unit_test(test_contractions),
        cmocka_unit_test(test_old_name_of_pair),
        cmocka_unit_test(test_alternate),
        cmocka_unit_test(test_fork_lists),
        cmocka_unit_test(test_large_fork),
        cmocka_unit_test(test_old_forms),
        cmocka_unit_test(test_globals),
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_globals_table),
        cmocka_unit_test(test_bad_structure),
        cmocka_unit_test(test_bad_groups),
        cmocka_unit_test(test_c_equal_d),
        cmocka_unit_test(test_as_tensile),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
