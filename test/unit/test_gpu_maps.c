/* Programs of GPU kernels decide: another map, size, view or op gives another kernel, or one line that
 * refuses it; maps of another solution give the other solution's kernel. */
#include <ctype.h>

#include "base/hash.h"
#include "test/support.h"

#include "kernel/kernel.h"
#include "space/derive.h"

typedef struct {
    const char *arch, *problem, *solution;
} Kernel;

#define S_TYPE "{OperationType: GEMM, DataType: s, UseBeta: True, Batched: True, TransposeA: "
#define H_TYPE                                                                                               \
    "{OperationType: GEMM, DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: "      \
    "True, "                                                                                                 \
    "UseBeta: True, Batched: True, TransposeA: "
#define I_TYPE                                                                                               \
    "{OperationType: GEMM, DataType: i8, DestDataType: i, ComputeDataType: i, HighPrecisionAccumulate: "     \
    "True, UseBeta: True, Batched: True, TransposeA: "
#define NN "False, TransposeB: False}"
#define NT "False, TransposeB: True}"
#define TN "True, TransposeB: False}"
#define MFMA "KernelLanguage: Assembly, GlobalReadVectorWidth: 4, VectorWidth: 1, MatrixInstruction: "
#define DTV "KernelLanguage: Assembly, ExpandPointerSwap: 1, ScheduleIterAlg: 3, MatrixInstruction: "
#define RING "NvRing: 1, StaggerU: 0, PrefetchGlobalRead: 2, "

static const Kernel kernels[] = {
    {"gfx906", S_TYPE NN, "{WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16}"},
    {"gfx906", S_TYPE TN, "{WorkGroup: [8, 8, 4], ThreadTile: [4, 4], DepthU: 32, PrefetchGlobalRead: 1}"},
    {"gfx906", S_TYPE NT,
     "{WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16, BufferLoad: False, "
     "VectorWidth: 2, WaveSeparateGlobalReadA: 1, ThreadSeparateGlobalReadB: 1}"},
    {"gfx906", H_TYPE NT, "{WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16}"},
    {"gfx90a", H_TYPE TN, "{" MFMA "[32, 32, 8, 1, 1, 2, 2, 2, 2], DepthU: 32}"},
    {"gfx90a", H_TYPE NT, "{" MFMA "[16, 16, 16, 1, 1, 4, 2, 2, 2], DepthU: 32, SourceSwap: True}"},
    {"gfx90a", S_TYPE NT, "{" MFMA "[4, 4, 1, 16, 4, 2, 2, 2, 1], DepthU: 16, PrefetchGlobalRead: 0}"},
    {"gfx90a", S_TYPE NN,
     "{" DTV "[16, 16, 4, 1, 1, 2, 4, 4, 1], DepthU: 16, VectorWidth: 2, PrefetchGlobalRead: 2, "
     "TransposeLDS: 1, DirectToVgprA: true}"},
    {"gfx90a", S_TYPE NT,
     "{" DTV "[16, 16, 4, 1, 1, 2, 2, 1, 1], DepthU: 16, VectorWidth: 2, VectorWidthB: 2, "
     "DirectToVgprA: true, DirectToVgprB: true}"},
    {"gfx1100", H_TYPE NN,
     "{" MFMA "[16, 16, 16, 1, 1, 2, 2, 2, 2], DepthU: 32, WavefrontSize: 32, StoreVectorWidth: 1}"},
    {"sm_90", S_TYPE TN, "{NvRing: 0, WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16}"},
    {"sm_90", S_TYPE NN, "{" RING "WorkGroup: [8, 16, 1], ThreadTile: [8, 4], DepthU: 16}"},
    {"sm_90", S_TYPE TN, "{" RING "WorkGroup: [8, 8, 2], ThreadTile: [4, 4], DepthU: 16}"},
    {"sm_90", H_TYPE TN, "{" RING "MatrixInstruction: [16, 8, 16, 1, 1, 2, 4, 2, 2], DepthU: 32}"},
    {"sm_90", I_TYPE NT, "{" RING "MatrixInstruction: [16, 8, 32, 1, 1, 2, 4, 2, 2], DepthU: 64}"},
    {"sm_90", S_TYPE TN,
     "{WorkGroup: [8, 1, 16], ThreadTile: [4, 2], DepthU: 128, StaggerU: 0, DirectToVgprA: true, "
     "DirectToVgprB: true}"},
    {"sm_90", S_TYPE NT,
     "{WorkGroup: [8, 1, 16], ThreadTile: [4, 2], DepthU: 128, StaggerU: 0, DirectToVgprA: true, "
     "DirectToVgprB: true, PrefetchGlobalRead: 1}"},
    {"sm_90a", H_TYPE NT,
     "{StaggerU: 0, PersistentKernel: 1, PersistentKernelAlongBatch: True, "
     "MatrixInstruction: [256, 64, 16, 1, 1, 1, 1, 1, 2]}"},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

static const Node *map_of(Arena *a, const char *text)
{
    Node *n;
    assert_ok(yaml_parse(a, "case", str_from(text), NULL, &n));
    return n;
}

/* The program of a kernel behind all passes. */
static void program_of(const Kernel *k, Buf *out)
{
    Arena a;
    ProblemType pt;
    Solution s;
    Deriver d;
    Verdict v;
    const Target *t = target_find(str_from(k->arch));
    const ProblemReadOptions o = {.strict = true};
    const DeriveLimits limits = {.source_matrix = true, .writer = true};
    arena_init(&a, 0);
    assert_ok(problem_type_read("case", map_of(&a, k->problem), &o, &pt));
    assert_ok(deriver_init(&d, &pt, t, &limits));
    solution_init(&s, &pt);
    const Node *given = map_of(&a, k->solution);
    for (size_t i = 0; i < given->n; i++) {
        const Param *p = param_find(given->item[2 * i].text);
        assert_non_null(p);
        assert_ok(param_parse_value(p, &given->item[2 * i + 1], &s));
        solution_mark(&s, (ParamId)p->id);
    }
    if (!solution_derive(&d, &s, &v)) {
        verdict_text(&v, out);
        fail_msg("%s %s: %s", k->arch, k->solution, buf_cstr(out));
    }
    assert_ok(kernel_dump(&s, t, STR_NULL, out));
    arena_fini(&a);
}

/* The hash of the text without its title; false: it is refused by one line. */
static bool content_of(Str program, char hash[CONTENT_HEX + 1])
{
    Buf text;
    buf_init(&text);
    err_clear();
    const Err e = kernel_emit_text(program, "p", STR("k"), &text);
    if (e) {
        if (e != ERR_INPUT || strchr(err_message(), '\n')) fail_msg("error %d: %s", (int)e, err_message());
        hash[0] = 0;
    } else {
        const Str content = kernel_content(buf_view(&text));
        assert_int_equal(content.n, CONTENT_HEX);
        memcpy(hash, content.s, CONTENT_HEX);
        hash[CONTENT_HEX] = 0;
    }
    buf_fini(&text);
    return !e;
}

typedef struct {
    int changed, refused;
    char first[CONTENT_HEX + 1];
} Count;

/* The program with `is` characters from `at` on replaced. */
static void replaced(Str program, size_t at, size_t is, const char *by, Count *n)
{
    Buf text;
    char hash[CONTENT_HEX + 1];
    buf_init(&text);
    buf_str(&text, str_sub(program, 0, at));
    buf_puts(&text, by);
    buf_str(&text, str_sub(program, at + is, program.n));
    if (!content_of(buf_view(&text), hash))
        n->refused++;
    else if (strcmp(hash, n->first))
        n->changed++;
    else {
        size_t from = at, to = at;
        while (from && program.s[from - 1] != '\n') from--;
        while (to < program.n && program.s[to] != '\n') to++;
        fail_msg("'%s' at column %zu of '%.*s' makes no difference", by, at - from + 1, (int)(to - from),
                 program.s + from);
    }
    buf_fini(&text);
}

/* Every number of tiles, views left out, and of ops. */
static void numbers_decide(const Kernel *k, Count *n)
{
    Buf b;
    buf_init(&b);
    program_of(k, &b);
    const Str program = buf_view(&b);
    assert_true(content_of(program, n->first));
    bool inside = false, view = false;
    for (size_t i = 0; i < program.n; i++) {
        if (!i || program.s[i - 1] == '\n') {
            const Str rest = str_sub(program, i, program.n);
            inside = inside || str_starts(rest, "tile %");
            view = false;
        }
        if (program.s[i] == ':' && i && isalpha((unsigned char)program.s[i - 1])) view = true;
        if (!inside || view || !isdigit((unsigned char)program.s[i]) || !strchr(" [+", program.s[i - 1]))
            continue;
        size_t end = i;
        while (isdigit((unsigned char)program.s[end])) end++;
        int64_t was;
        assert_true(str_to_i64(str_sub(program, i, end), &was));
        const int64_t other[] = {was * 2, was / 2, was + 1, 1 << 30};
        for (int j = 0; j < 4; j++) {
            char text[32];
            if (other[j] == was) continue;
            snprintf(text, sizeof text, "%lld", (long long)other[j]);
            replaced(program, i, end - i, text, n);
        }
        i = end - 1;
    }
    /* words */
    static const char *const words[][2] = {{" by_columns", ""},
                                           {" guard m", ""},
                                           {" by producer", ""},
                                           {" by consumer", ""},
                                           {"%acc <- %reg_a, %reg_b", "%acc <- %reg_b, %reg_a"}};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t i = 0; i < program.n; i++)
            if (str_starts(str_sub(program, i, program.n), words[w][0]))
                replaced(program, i, strlen(words[w][0]), words[w][1], n);
    buf_fini(&b);
}

static void maps_decide(void **state)
{
    (void)state;
    for (int i = 0; i < N_KERNELS; i++) {
        Count n = {0};
        numbers_decide(&kernels[i], &n);
        if (n.refused < 20) fail_msg("%s: %d changes are refused", kernels[i].solution, n.refused);
    }
}

/* to: from, with the lines of other that begin so. */
static void with_lines(Str from, Str other, const char *const *begins, int n, Buf *to)
{
    Str line;
    while (str_split(&from, '\n', &line)) {
        Str rest = other, its, found = line;
        for (int i = 0; i < n; i++)
            if (str_starts(str_trim(line), begins[i]))
                while (str_split(&rest, '\n', &its))
                    if (str_starts(str_trim(its), begins[i])) found = its;
        buf_str(to, found);
        buf_putc(to, '\n');
    }
}

/* Pairs of solutions whose programs differ in maps, loops over steps and views alone. */
static void maps_are_the_kernel(void **state)
{
    (void)state;
    static const char *const lines[] = {"tile %reg_",   "tile %acc",     "tile %local_",
                                        "tile %fetch_", "loop k step",   "tile_mma %acc",
                                        "tile %reg_b",  "tile %local_b", "tile %fetch_b"};
    static const char *const sums[] = {"tile %reg_a", "tile %reg_b", "tile %acc", "tile_mma %acc"};
    static const Kernel pairs[][2] = {
        {{"gfx906", S_TYPE NN, "{WorkGroup: [16, 16, 1], ThreadTile: [4, 4], VectorWidth: 2, DepthU: 16}"},
         {"gfx906", S_TYPE NN, "{WorkGroup: [8, 32, 1], ThreadTile: [8, 2], VectorWidth: 2, DepthU: 16}"}},
        {{"gfx906", S_TYPE NN, "{WorkGroup: [16, 16, 1], ThreadTile: [4, 4], VectorWidth: 2, DepthU: 16}"},
         {"gfx906", S_TYPE NN, "{WorkGroup: [8, 32, 1], ThreadTile: [8, 2], VectorWidth: 2, DepthU: 16}"}},
        {{"sm_90", S_TYPE NN, "{" RING "WorkGroup: [8, 16, 1], ThreadTile: [8, 4], DepthU: 16, NvLanesM: 4}"},
         {"sm_90", S_TYPE NN,
          "{" RING "WorkGroup: [8, 16, 1], ThreadTile: [8, 4], DepthU: 16, NvLanesM: 8}"}},
        {{"sm_90", H_TYPE TN, "{" RING "MatrixInstruction: [16, 8, 16, 1, 1, 2, 4, 2, 2], DepthU: 32}"},
         {"sm_90", H_TYPE TN, "{" RING "MatrixInstruction: [16, 8, 16, 1, 1, 4, 2, 1, 4], DepthU: 32}"}},
    };
    (void)lines;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Buf b[3];
        char hash[3][CONTENT_HEX + 1];
        for (int j = 0; j < 3; j++) buf_init(&b[j]);
        for (int j = 0; j < 2; j++) program_of(&pairs[i][j], &b[j]);
        with_lines(buf_view(&b[0]), buf_view(&b[1]), sums, 4, &b[2]);
        for (int j = 0; j < 3; j++)
            if (!content_of(buf_view(&b[j]), hash[j])) fail_msg("pair %zu: %s", i, err_message());
        assert_string_not_equal(hash[0], hash[1]);
        if (strcmp(hash[1], hash[2])) fail_msg("pair %zu: the maps do not make the other kernel", i);
        for (int j = 0; j < 3; j++) buf_fini(&b[j]);
    }
}

/* Numbers that would take memory or time without end are refused. */
static void bounds(void **state)
{
    (void)state;
    for (int i = 0; i < N_KERNELS; i++) {
        Buf b, text;
        char hash[CONTENT_HEX + 1];
        buf_init(&b);
        buf_init(&text);
        program_of(&kernels[i], &b);
        const Str program = buf_view(&b);
        const char *word = strstr(buf_cstr(&b), " prefetch ");
        if (word) {
            size_t at = (size_t)(word - b.s) + strlen(" prefetch "), end = at;
            while (isdigit((unsigned char)program.s[end])) end++;
            buf_str(&text, str_sub(program, 0, at));
            buf_puts(&text, "2147483647");
            buf_str(&text, str_sub(program, end, program.n));
            assert_false(content_of(buf_view(&text), hash));
            assert_non_null(strstr(err_message(), "prefetch 2147483647, at most 16"));
        }
        buf_fini(&text);
        buf_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_decide), cmocka_unit_test(maps_are_the_kernel),
                                       cmocka_unit_test(bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
