/* Libraries: every kind of node, every distance by hand-made tables, the fast search against the literal one
 * on random tables, the cache, placeholders, damaged files. */
#include "test/lib_text.h"

#include <inttypes.h>
#include <math.h>

#include "problem/datatype.h"
#include "test/fuzz/emit_node.h"

/* ---- hand-made libraries ---- */

static void add_solutions(Buf *b, int n)
{
    buf_puts(b, "solutions:\n");
    for (int i = 0; i < n; i++) add_solution(b, i, "{type: TruePred}");
}

#define PROPS3 "{type: FreeSizeA, index: 0}, {type: FreeSizeB, index: 0}, {type: BoundSize, index: 0}"

static void add_matching(Buf *b, const char *distance, const char *rows)
{
    buf_printf(b, "library:\n  type: Matching\n  properties: [" PROPS3 "]\n  distance: %s\n  table:\n%s",
               distance, rows);
}

/* The same document in msgpack; false: it is no YAML. */
static bool to_msgpack(Str yaml, Buf *out)
{
    Arena a;
    Node *doc;
    NodeLimits limits = {.keep_duplicate_keys = true};
    arena_init(&a, 0);
    bool ok = yaml_parse(&a, "lib", yaml, &limits, &doc) == ERR_OK;
    if (ok) node_write(doc, emit_msgpack, out);
    arena_fini(&a);
    return ok;
}

/* Read as msgpack, whose tables go another way than YAML's, after a look at the YAML. */
static Library *parse(Buf *b)
{
    Library *lib;
    Buf msgpack;
    buf_init(&msgpack);
    assert_ok(library_parse("lib.yaml", buf_view(b), NULL, &gfx906, &lib));
    library_free(lib);
    assert_true(to_msgpack(buf_view(b), &msgpack));
    assert_ok(library_parse("lib.dat", buf_view(&msgpack), NULL, &gfx906, &lib));
    buf_fini(&msgpack);
    return lib;
}

static int64_t index_of(Library *lib, int64_t m, int64_t n, int64_t k)
{
    Selection s = choose(lib, m, n, k);
    return s.solution ? s.solution->index : -1;
}

typedef struct {
    int64_t m, n, k, index;
} Case;

static void check_table(const char *distance, const char *rows, const Case *cases, size_t n)
{
    Buf b;
    buf_init(&b);
    add_solutions(&b, 6);
    add_matching(&b, distance, rows);
    Library *lib = parse(&b);
    for (size_t i = 0; i < n; i++) {
        int64_t got = index_of(lib, cases[i].m, cases[i].n, cases[i].k);
        if (got != cases[i].index)
            fail_msg("%s: %" PRId64 "x%" PRId64 "x%" PRId64 " chose %" PRId64 ", wanted %" PRId64, distance,
                     cases[i].m, cases[i].n, cases[i].k, got, cases[i].index);
    }
    library_free(lib);
    buf_fini(&b);
}

#define CHECK_TABLE(distance, rows, ...)                                                                     \
    do {                                                                                                     \
        const Case cases_[] = {__VA_ARGS__};                                                                 \
        check_table(distance, rows, cases_, sizeof cases_ / sizeof *cases_);                                 \
    } while (0)

/* ---- distances ---- */

static const char corners[] = "  - {key: [100, 100, 100], index: 0, speed: 1.0}\n"
                              "  - {speed: 2, value: {type: Single, index: 1}, key: [100, 1000, 100]}\n"
                              "  - {key: [1000, 100, 100], index: 2, speed: 3.0}\n"
                              "  - {key: [1000, 1000, 1000], index: 3, speed: 4.0}\n";

static void euclidean(void **state)
{
    (void)state;
    CHECK_TABLE("Euclidean", corners, {100, 100, 100, 0}, {1000, 1000, 1000, 3}, {90, 900, 100, 1},
                {5000, 200, 1, 2}, {1, 1, 1, 0}, {9000, 9000, 9000, 3});
    /* a tie, both at distance 450^2: the right side comes first; the left side wins only when faster */
    CHECK_TABLE("Euclidean", corners, {550, 100, 100, 2});
    CHECK_TABLE(
        "Euclidean",
        "  - {key: [100, 1, 1], index: 0, speed: 9.0}\n  - {key: [300, 1, 1], index: 1, speed: 1.0}\n",
        {200, 1, 1, 1}); /* the search stops before the left one: 100^2 is not less than 100^2 */
    CHECK_TABLE(
        "Euclidean",
        "  - {key: [190, 1, 11], index: 0, speed: 9.0}\n  - {key: [210, 1, 11], index: 1, speed: 1.0}\n",
        {200, 1, 1, 0});     /* 100 < 200: compared, a tie, faster */
    CHECK_TABLE("Euclidean", /* equal keys: the fastest first, whatever the file's order */
                "  - {key: [8, 8, 8], index: 0, speed: 1.0}\n  - {key: [8, 8, 8], index: 1, speed: 5.0}\n",
                {8, 8, 8, 1}, {7, 8, 8, 1},
                {9, 8, 8, 0} /* leftward the slowest is met first, and the next cannot improve */);
}

static void other_distances(void **state)
{
    (void)state;
    CHECK_TABLE("Manhattan", corners, {100, 100, 100, 0}, {700, 700, 700, 3}, {1, 1, 1, 0},
                {120, 800, 90, 1});
    /* 1 + sum of |ln(p/q)|: 10 is as far from 1 as from 100, but 20 is nearer to 100 than to 1 */
    CHECK_TABLE(
        "Ratio",
        "  - {key: [1, 10, 10], index: 0, speed: 1.0}\n  - {key: [100, 10, 10], index: 1, speed: 1.0}\n",
        {20, 10, 10, 1}, {5, 10, 10, 0}, {100, 10, 10, 1});
    /* only proportions count: 2000x1000x1000 is like 2x1x1 */
    CHECK_TABLE("JSD",
                "  - {key: [20, 10, 10], index: 0, speed: 1.0}\n  - {key: [2000, 2000, 2000], index: 1, "
                "speed: 1.0}\n",
                {2000, 1000, 1000, 0}, {30, 30, 30, 1});
    CHECK_TABLE("Equality", corners, {100, 1000, 100, 1}, {100, 1000, 101, -1}, {9999, 1, 1, -1},
                {1, 1, 1, -1});
    Buf b;
    buf_init(&b);
    add_solutions(&b, 6);
    add_matching(&b, "Random", corners);
    Library *lib = parse(&b);
    assert_in_range(index_of(lib, 77, 77, 77), 0, 3);
    assert_int_equal(index_of(lib, 77, 77, 77), index_of(lib, 77, 77, 77));
    library_free(lib);
    buf_fini(&b);
}

static void grid_based(void **state)
{
    (void)state;
    static const char rows[] = "  - {key: [128, 128, 64], index: 0}\n  - {key: [128, 128, 1024], index: 1}\n"
                               "  - {key: [128, 256, 64], index: 2}\n  - {key: [512, 128, 64], index: 3}\n"
                               "  - {key: [512, 512, 64], index: 4}\n";
    /* least M not below, then least N not below, then nearest K */
    CHECK_TABLE("GridBased", rows, {100, 100, 60, 0}, {100, 100, 2000, 1}, {128, 129, 64, 2}, {129, 1, 64, 3},
                {200, 200, 64, 4}, {9999, 9999, 64, 4}, {128, 9999, 64, 2});
}

/* Solutions 0 and 1 ask for multiples; a nearest entry that cannot run gives way to the next nearest. */
static void unsuitable_entries(void **state)
{
    Buf b;
    (void)state;
    buf_init(&b);
    buf_puts(&b, "solutions:\n");
    add_solution(&b, 0, "{type: Free0SizeMultiple, index: 0, value: 4}");
    add_solution(&b, 1,
                 "{type: And, value: [{type: BoundSizeMultiple, index: -1, value: 2}, {type: BetaZero}]}");
    add_solution(&b, 2, "{type: Not, value: {type: SizeLessThan, index: 0, value: 50}}");
    add_matching(
        &b, "Euclidean",
        "  - {key: [100, 100, 100], index: 0, speed: 1.0}\n  - {key: [110, 100, 100], index: 1, speed: 1.0}\n"
        "  - {key: [500, 100, 100], index: 2, speed: 1.0}\n");
    Library *lib = parse(&b);
    assert_int_equal(index_of(lib, 100, 100, 100), 0);
    assert_int_equal(index_of(lib, 101, 100, 100), 2); /* 0: not a multiple; 1: beta is not zero */
    assert_int_equal(index_of(lib, 49, 100, 100), -1);
    Contraction p;
    Selection s;
    contraction_gemm(&p, false, false, 101, 100, 100, 1);
    p.beta = SCALAR_ZERO;
    assert_ok(library_select(lib, &p, &s));
    assert_int_equal(s.solution->index, 1);
    assert_int_equal(s.why, WHY_NEAREST);
    assert_true(s.distance == 81);
    assert_int_equal(s.key[0], 110);
    library_free(lib);
    buf_fini(&b);
}

/* ---- the fast search equals the literal one ---- */

static uint64_t rng(uint64_t *s)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *s >> 33;
}

typedef struct {
    int64_t key[3];
    double speed;
    int index;
} Row;

static int row_compare(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
    return x->speed > y->speed ? -1 : x->speed < y->speed ? 1 : x->index - y->index;
}

static double row_distance(const Row *r, const int64_t p[3], bool manhattan)
{
    double d = 0;
    for (int i = 0; i < 3; i++) {
        double x = (double)(p[i] - r->key[i]);
        d += manhattan ? fabs(x) : x * x;
    }
    return d;
}

/* Tensile's scan, written down once more. Solution i can run when m % (1 + i % 3) == 0. */
static int literal(const Row *row, size_t n, const int64_t p[3], bool manhattan)
{
    size_t start = 0;
    double best = INFINITY, speed = 0;
    int found = -1;
    Row key = {{p[0], p[1], p[2]}, INFINITY, -1};
    while (start < n && row_compare(&row[start], &key) < 0) start++;
    for (int side = 0; side < 2; side++)
        for (size_t i = side ? start - 1 : start; i < n; i += side ? SIZE_MAX : 1) {
            double d0 = (double)(p[0] - row[i].key[0]), d = row_distance(&row[i], p, manhattan);
            bool same = memcmp(row[i].key, p, sizeof row[i].key) == 0;
            if (found >= 0 && !((manhattan ? fabs(d0) : d0 * d0) < best || same)) break;
            if ((d < best || (d == best && row[i].speed > speed)) && p[0] % (1 + row[i].index % 3) == 0) {
                best = d;
                speed = row[i].speed;
                found = row[i].index;
            }
        }
    return found;
}

static void fast_equals_literal(void **state)
{
    enum { N = 300, INDICES = 12 };
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < 40; round++) {
        bool manhattan = round & 1;
        int64_t range = round < 20 ? 12 : 3000; /* dense tables have many ties */
        Row row[N];
        Buf b;
        buf_init(&b);
        buf_puts(&b, "solutions:\n");
        for (int i = 0; i < INDICES; i++) {
            char pred[80];
            snprintf(pred, sizeof pred, "{type: Free0SizeMultiple, index: 0, value: %d}", 1 + i % 3);
            add_solution(&b, i, pred);
        }
        buf_printf(&b, "library: {type: Matching, properties: [" PROPS3 "], distance: %s, table: [",
                   manhattan ? "Manhattan" : "Euclidean");
        size_t n = 1 + rng(&seed) % N;
        for (size_t i = 0; i < n; i++) {
            row[i] = (Row){{1 + (int64_t)(rng(&seed) % (uint64_t)range),
                            1 + (int64_t)(rng(&seed) % (uint64_t)range),
                            1 + (int64_t)(rng(&seed) % (uint64_t)range)},
                           (double)(rng(&seed) % 5) + 1,
                           (int)(rng(&seed) % INDICES)};
            for (size_t j = 0; j < i; j++) /* no order of their own: see library_sort.c */
                if (memcmp(row[j].key, row[i].key, sizeof row[i].key) == 0 && row[j].speed >= row[i].speed)
                    row[i].speed = row[j].speed + 1;
            buf_printf(&b, "{key: [%" PRId64 ", %" PRId64 ", %" PRId64 "], index: %d, speed: %g},\n",
                       row[i].key[0], row[i].key[1], row[i].key[2], row[i].index, row[i].speed);
        }
        buf_puts(&b, "]}\n");
        Library *lib = parse(&b);
        /* equal keys and speeds keep the file's order: give the literal scan the same order */
        for (size_t i = 1; i < n; i++)
            for (size_t j = i; j && memcmp(row[j - 1].key, row[j].key, sizeof row[j].key) != 0
                                   ? row_compare(&row[j - 1], &row[j]) > 0
                                   : j && row[j - 1].speed < row[j].speed;
                 j--) {
                Row t = row[j];
                row[j] = row[j - 1];
                row[j - 1] = t;
            }
        for (int q = 0; q < 400; q++) {
            int64_t p[3];
            for (int d = 0; d < 3; d++) p[d] = 1 + (int64_t)(rng(&seed) % (uint64_t)(range + 3));
            int want = literal(row, n, p, manhattan);
            int64_t got = index_of(lib, p[0], p[1], p[2]);
            if (got != want)
                fail_msg("round %d: %" PRId64 "x%" PRId64 "x%" PRId64 " chose %" PRId64 ", wanted %d", round,
                         p[0], p[1], p[2], got, want);
        }
        library_free(lib);
        buf_fini(&b);
    }
}

/* ---- nodes ---- */

static const char hierarchy[] =
    "library:\n  type: Hardware\n  rows:\n"
    "  - predicate: {type: AMDGPU, value: {type: And, value: [{type: Processor, value: gfx906}, {type: "
    "CUCount, value: 64}]}}\n"
    "    library: {type: Single, index: 0}\n"
    "  - predicate: {type: AMDGPU, value: {type: Processor, value: gfx906}}\n"
    "    library:\n      type: ProblemMap\n      property: {type: OperationIdentifier}\n      map:\n"
    "        Contraction_l_Ailk_Bljk_Cijk_Dijk:\n          type: Problem\n          rows:\n"
    "          - predicate: {type: CUEfficiency}\n            library: {type: Problem, rows: []}\n"
    "          - predicate: {type: TypesEqual, value: [Float, Float, Float, Float]}\n"
    "            library:\n              type: Problem\n              rows:\n"
    "              - predicate: {type: EqualityMatching}\n"
    "                library: {type: Matching, properties: [" PROPS3 "], distance: Equality,\n"
    "                  table: [{key: [5, 5, 5], index: 1, speed: 2.5}]}\n"
    "              - predicate: {type: SizeInRange, index: 0, value: {min: 10, max: 20}}\n"
    "                library: {type: Single, index: 2}\n"
    "              - predicate: {type: Or, value: [{type: BatchSizeEqual, index: 0, value: 7}, {type: "
    "SizeEqual, index: 3, value: 99}]}\n"
    "                library: {type: GranularitySelection, indices: [4, 3], exact: {}}\n"
    "  - predicate: {type: AMDGPU, value: {type: Processor, value: gfx1234}}\n"
    "    library: {type: Unheard, of: [1, 2]}\n"
    "  - predicate: {type: TruePred}\n    library: {type: Single, index: 5}\n";

static void nodes(void **state)
{
    Buf b;
    (void)state;
    buf_init(&b);
    add_solutions(&b, 6);
    buf_puts(&b, hierarchy);
    Library *lib = parse(&b);
    assert_true(library_names_arch(lib));
    Selection s = choose(lib, 5, 5, 5);
    assert_int_equal(s.solution->index, 1);
    assert_int_equal(s.why, WHY_EXACT);
    assert_false(s.fallback);
    assert_true(s.speed == 2.5);
    assert_int_equal(index_of(lib, 10, 5, 5), 2);
    assert_int_equal(index_of(lib, 19, 5, 5), 2);
    assert_int_equal(index_of(lib, 1, 1, 99), 3); /* equal granularity: the lowest index */
    s = choose(lib, 20, 5, 5); /* nothing in gfx906's rows: on to the next row that holds */
    assert_int_equal(s.solution->index, 5);
    assert_int_equal(s.why, WHY_ROW);
    assert_true(s.fallback);
    Contraction p;
    contraction_gemm(&p, true, false, 5, 5, 5, 1);
    assert_ok(library_select(lib, &p, &s));
    assert_int_equal(s.solution->index, 5); /* no such operation in the map */
    library_free(lib);
    buf_fini(&b);
}

static void trees(void **state)
{
    Buf b;
    (void)state;
    buf_init(&b);
    add_solutions(&b, 3);
    buf_puts(&b, "library:\n  type: DecisionTree\n  features: [{type: FreeSizeA, index: 0}, {type: "
                 "BoundSize, index: 0},\n"
                 "    {type: Tile0Granularity, value: 0.015625},\n"
                 "    {type: CUGranularity, value: {mt0: 0.015625, mt1: 0.015625, cus: 0.1}}]\n"
                 "  trees:\n"
                 "  - {tree: [{featureIdx: 0, threshold: 100.0, nextIdxLTE: 1, nextIdxGT: -1},\n"
                 "            {featureIdx: 1, threshold: 10.0, nextIdxLTE: -2, nextIdxGT: -1}], value: "
                 "{type: Single, index: 0}}\n"
                 "  - {tree: [{featureIdx: 2, threshold: 0.9, nextIdxLTE: -1, nextIdxGT: -2}], value: {type: "
                 "Single, index: 1}}\n"
                 "  nullValue: {type: Single, index: 2}\n");
    Library *lib = parse(&b);
    assert_int_equal(index_of(lib, 100, 1, 10), 0);
    assert_int_equal(index_of(lib, 100, 1, 11), 2); /* 100/64 tiles: granularity 0.78 */
    assert_int_equal(index_of(lib, 128, 1, 1), 1);
    assert_int_equal(choose(lib, 100, 1, 10).why, WHY_TREE);
    library_free(lib);
    buf_fini(&b);
}

/* ---- lazy ---- */

static void placeholders(void **state)
{
    char *dir = test_dir();
    Arena a;
    Buf b;
    Library *lib;
    Contraction p;
    Selection s;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b);
    buf_puts(
        &b,
        "solutions: []\nlibrary: {type: Problem, rows: [\n"
        "{predicate: {type: SizeEqual, index: 0, value: 1}, library: {type: Placeholder, value: first}},\n"
        "{predicate: {type: SizeEqual, index: 0, value: 2}, library: {type: Placeholder, value: "
        "missing}}]}\n");
    const char *path = path_join(&a, dir, "TensileLibrary_lazy_gfx906.yaml").s;
    assert_ok(file_write(path, buf_view(&b)));
    buf_reset(&b);
    add_solutions(&b, 2);
    buf_puts(&b, "library: {type: Single, index: 1}\n");
    assert_ok(file_write(path_join(&a, dir, "first.yaml").s, buf_view(&b)));
    assert_ok(library_open(path, &gfx906, &lib));
    assert_int_equal(library_n_solutions(lib), 0);
    assert_int_equal(index_of(lib, 1, 1, 1), 1);
    assert_int_equal(library_n_solutions(lib), 2);
    contraction_gemm(&p, false, false, 1, 1, 1, 1);
    assert_ok(library_select(lib, &p, &s));
    assert_string_equal(library_code_object(lib, s.solution->code_object), "first");
    contraction_gemm(&p, false, false, 2, 1, 1, 1);
    assert_int_not_equal(library_select(lib, &p, &s), ERR_OK);
    assert_non_null(strstr(err_message(), "missing.yaml"));
    assert_int_equal(index_of(lib, 3, 1, 1), -1);
    library_free(lib);
    assert_ok(dir_remove(dir));
    free(dir);
    buf_fini(&b);
    arena_fini(&a);
}

/* ---- damaged files ---- */

static void refuse(const char *text, const char *words)
{
    Library *lib;
    Err e = library_parse("lib.yaml", str_from(text), NULL, &gfx906, &lib);
    if (!e) fail_msg("accepted: %s", text);
    if (!strstr(err_message(), words)) fail_msg("'%s' does not say '%s'", err_message(), words);
    assert_null(lib);
    Buf msgpack;
    buf_init(&msgpack);
    if (str_starts(str_from(text), "solutions:") && to_msgpack(str_from(text), &msgpack)) {
        e = library_parse("lib.dat", buf_view(&msgpack), NULL, &gfx906, &lib);
        if (!e) fail_msg("accepted in msgpack: %s", text);
        if (!strstr(err_message(), words)) fail_msg("msgpack: '%s' does not say '%s'", err_message(), words);
    }
    buf_fini(&msgpack);
}

static void refuse_library(const char *library, const char *words)
{
    Buf b;
    buf_init(&b);
    add_solutions(&b, 2);
    buf_printf(&b, "library: %s\n", library);
    refuse(buf_cstr(&b), words);
    buf_fini(&b);
}

static void refused(void **state)
{
    (void)state;
    refuse("", "empty");
    refuse("42\n", "expected a map");
    refuse("solutions: []\n", "library");
    refuse("\x82\xa9solutions\x90", "lib.yaml");
    refuse_library("{type: Nothing}", "'Nothing' is unknown");
    refuse_library("{type: Single, index: 2}", "solution index 2 is not in the file");
    refuse_library("{type: Single, index: -1}", "solution index");
    refuse_library("{type: Single}", "no index");
    refuse_library("{rows: []}", "no type");
    refuse_library(
        "{type: Problem, rows: [{predicate: {type: Whatever}, library: {type: Single, index: 0}}]}",
        "'Whatever' is unknown");
    refuse_library("{type: Problem, rows: [{predicate: {type: SizeEqual, index: 0}, library: {type: Single, "
                   "index: 0}}]}",
                   "no value");
    refuse_library("{type: Matching, properties: [" PROPS3
                   "], distance: Euclidean, table: [{key: [1, 2], index: 0, speed: 1}]}",
                   "key");
    refuse_library("{type: Matching, properties: [" PROPS3 "], distance: Near, table: []}",
                   "'Near' is unknown");
    refuse_library("{type: Matching, properties: [" PROPS3
                   "], distance: Euclidean, table: [{key: [1, 2, 3], index: 9, speed: 1}]}",
                   "solution index 9");
    refuse_library("{type: Matching, properties: [" PROPS3
                   "], distance: Euclidean, table: [{key: [1, 2, 3], index: 0, speed: .nan}]}",
                   "not a number");
    refuse_library("{type: Matching, properties: [" PROPS3
                   "], distance: Euclidean, table: [{key: [1, 2, 3], index: 0}, {key: [1, 2, 3], index: 0, "
                   "index: 1}]}",
                   "duplicate key 'index'");
    refuse_library("{type: Matching, properties: [" PROPS3
                   "], distance: Euclidean, table: [{key: [1, 2, 3], speed: 1}]}",
                   "neither an index nor a value");
    refuse_library(
        "{type: DecisionTree, features: [{type: FreeSizeA, index: 0}], trees: [{tree: [{featureIdx: 0, "
        "threshold: 1, nextIdxLTE: 0, nextIdxGT: -1}], value: {type: Single, index: 0}}], nullValue: ~}",
        "goes back");
    refuse_library(
        "{type: DecisionTree, features: [{type: FreeSizeA, index: 0}], trees: [{tree: [{featureIdx: 1, "
        "threshold: 1, nextIdxLTE: -2, nextIdxGT: -1}], value: {type: Single, index: 0}}], nullValue: ~}",
        "featureIdx");
    refuse_library("{type: Placeholder, value: ../../etc/passwd}", "not a file name");
    Buf b;
    buf_init(&b);
    buf_puts(&b, "solutions:\n");
    add_solution(&b, 3, "{type: TruePred}");
    add_solution(&b, 3, "{type: TruePred}");
    buf_puts(&b, "library: {type: Single, index: 3}\n");
    refuse(buf_cstr(&b), "occurs twice");
    buf_reset(&b);
    add_solutions(&b, 1);
    buf_puts(&b, "library: ");
    for (int i = 0; i < 30; i++)
        buf_puts(&b, "{type: Problem, rows: [{predicate: {type: TruePred}, library: ");
    buf_puts(&b, "{type: Single, index: 0}");
    for (int i = 0; i < 30; i++) buf_puts(&b, "}]}");
    refuse(buf_cstr(&b), "deep");
    buf_fini(&b);
}

/* Every truncation and every flipped bit either loads or gives one error; nothing else happens (run under
 * ASan too). */
static void every_bit(void **state)
{
    Buf b, msgpack;
    Library *lib;
    (void)state;
    buf_init(&b);
    add_solutions(&b, 1);
    buf_puts(&b, hierarchy);
    buf_init(&msgpack);
    assert_true(to_msgpack(buf_view(&b), &msgpack));
    for (int form = 0; form < 2; form++) {
        const Buf *from = form ? &msgpack : &b;
        size_t n_bad = 0;
        for (size_t i = 0; i < from->n; i += 3 - 2 * (size_t)form) {
            char *text = malloc(from->n);
            memcpy(text, from->s, from->n);
            text[i] = (char)(text[i] ^ 1 << (i % 7));
            n_bad += library_parse("bits", (Str){text, from->n}, NULL, &gfx906, &lib) != ERR_OK;
            library_free(lib);
            n_bad += library_parse("cut", (Str){text, i}, NULL, &gfx906, &lib) != ERR_OK;
            library_free(lib);
            free(text);
        }
        assert_true(n_bad > from->n / 3);
    }
    buf_fini(&msgpack);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(euclidean),
        cmocka_unit_test(other_distances),
        cmocka_unit_test(grid_based),
        cmocka_unit_test(unsuitable_entries),
        cmocka_unit_test(fast_equals_literal),
        cmocka_unit_test(nodes),
        cmocka_unit_test(trees),
        cmocka_unit_test(placeholders),
        cmocka_unit_test(refused),
        cmocka_unit_test(every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
