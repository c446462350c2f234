/* Which parameters change a kernel: every one is varied over several kernels of each family, and text, launch
 * and predicates are compared. What never changes them must be listed as such (effect.def, or the scope of
 * params.def), and nothing else may be. Such parameters make no candidates of their own. */
#include "test/support.h"
#include "test/unit/effect_bases.h"

#include "problem/problem.h"
#include "kernel/custom.h"
#include "run/candidates.h"
#include "space/derive.h"
#include "space/space.h"

typedef struct {
    Arena arena;
    Candidates candidates;
    ProblemType pt;
    Deriver deriver;
    Solution base, derived;
    char hash[CONTENT_HEX + 1];
    CustomFolder folder;
} Bench;

static Node *parse(Arena *a, const char *text)
{
    Node *n;
    assert_ok(yaml_parse(a, "t.yaml", str_from(text), NULL, &n));
    return n;
}

static void solution_set(Arena *a, const char *text, Solution *s)
{
    const Node *map = parse(a, text);
    for (size_t i = 0; i < map->n; i++) {
        const Param *p = param_find(map->item[2 * i].text);
        assert_non_null(p);
        assert_ok(param_parse_value(p, &map->item[2 * i + 1], s));
    }
}

static unsigned scope_of(TargetFamily f)
{
    return f == TARGET_HOST ? SCOPE_CPU : f == TARGET_NVPTX ? SCOPE_NV : SCOPE_AMD;
}

/* Derives and writes s; false when a rule or the writer rejects it, or derivation does not keep p's value (p
 * may be NULL). *same: it is like the base. */
static bool written(Bench *b, const Param *p, Solution *s, Verdict *v, bool *same)
{

    CandidateKind kind;
    char hash[CONTENT_HEX + 1];
    if (!solution_derive(&b->deriver, s, v)) return false;
    if (p && param_equal(p, s, &b->derived) && (p->scope & scope_of(b->deriver.target->family))) return false;
    assert_ok(candidates_add(&b->candidates, s, &kind, hash));
    if (kind == CANDIDATE_UNWRITTEN) return false;
    if (!b->hash[0]) memcpy(b->hash, hash, sizeof hash);
    *same = !strcmp(hash, b->hash);
    return true;
}

static void bench_init(Bench *b, const Base *from)
{
    const Target *t = target_find(str_from(from->arch));
    Verdict v;
    bool same;
    memset(b, 0, sizeof *b);
    custom_folder_init(&b->folder, &b->arena, t, STR("configs/tile"));
    const DeriveLimits limits = {.writer = true, .custom = &b->folder.kernels};
    arena_init(&b->arena, 0);
    assert_non_null(t);
    candidates_init(&b->candidates, t, &b->arena);
    assert_ok(problem_type_from_node(&b->arena, "t.yaml", parse(&b->arena, from->problem), &b->pt));
    assert_ok(deriver_init(&b->deriver, &b->pt, t, &limits));
    solution_init(&b->base, &b->pt);
    solution_set(&b->arena, from->solution, &b->base);
    Solution s = b->base;
    if (!written(b, NULL, &s, &v, &same)) {
        Buf why;
        buf_init(&why);
        verdict_text(&v, &why);
        fail_msg("%s %s %s: %s; %s", from->arch, from->problem, from->solution, buf_cstr(&why),
                 err_message());
    }
    b->derived = s;
}

static void bench_fini(Bench *b)
{
    candidates_fini(&b->candidates);
    arena_fini(&b->arena);
}

/* ---- values to try ---- */

enum { VALUES_MAX = 24 };

static size_t number_values(const Param *p, int64_t *out)
{
    size_t n = 0;
    static const int64_t some[] = {0,  1,  2,  3,  4,   5,   6,   8,    16,  32, 64,
                                   -1, 12, 24, 80, 128, 256, 512, 1024, -18, -2, -80};
    for (size_t i = 0; i < sizeof some / sizeof *some && n < VALUES_MAX; i++) {
        Solution s;
        solution_init(&s, NULL);
        const int64_t unit = p->kind == KIND_FLOAT ? 100 : 1;
        *(int32_t *)solution_field(&s, p) = (int32_t)(some[i] * unit);
        if (p->kind == KIND_BOOL && (some[i] < 0 || some[i] > 1)) continue;
        if (!param_legal(p, &s)) out[n++] = some[i] * unit;
    }
    return n;
}

/* Sets value number i; false after the last one. */
static bool value_set(Arena *a, const Param *p, size_t i, Solution *s)
{
    static const char *const lists[] = {"[8, 8, 1]",
                                        "[16, 8, 1]",
                                        "[8, 8, 2]",
                                        "[256, 1, 1]",
                                        "[2, 1]",
                                        "[4, 4]",
                                        "[8, 4]",
                                        "[2, 2]",
                                        "[32, 32, 8, 1, 1, 1, 1, 2, 2]",
                                        "[64, 64]",
                                        "[16, 16, 16, 1, 1, 2, 2, 2, 2]",
                                        "[16, 8, 4, 1, 1, 4, 4, 2, 2]"};
    static const char *const maps[] = {"{0: 1}", "{0: 8}", "{1: 8}", "{2: 8}", "{3: 64}"};
    int64_t v[VALUES_MAX];
    switch ((ParamKind)p->kind) {
    case KIND_BOOL:
    case KIND_INT:
    case KIND_FLOAT:
    case KIND_ENUM:
        if (i >= number_values(p, v)) return false;
        *(int32_t *)solution_field(s, p) = (int32_t)v[i];
        break;
    case KIND_LIST:
        if (i >= sizeof lists / sizeof *lists) return false;
        assert_ok(param_parse_value(p, parse(a, lists[i]), s));
        if (param_legal(p, s)) *s = (Solution){.pt = NULL};
        break;
    case KIND_MAP:
        if (i >= sizeof maps / sizeof *maps) return false;
        assert_ok(param_parse_value(p, parse(a, maps[i]), s));
        break;
    case KIND_STR:
        if (i > 0) return false;
        *(Str *)solution_field(s, p) = STR("plain");
        break;
    case KIND_CHARS:
        return false;
    }
    solution_mark(s, (ParamId)p->id);
    return true;
}

typedef struct {
    size_t valid, changed; /* values that gave a kernel; kernels that were another */
} Effect;

static void vary(Bench *b, const Param *p, Effect *e)
{
    for (size_t i = 0; !e->changed; i++) {
        Solution s = b->base;
        Verdict v;
        bool same;
        if (!value_set(&b->arena, p, i, &s)) break;
        if (!s.pt || param_equal(p, &s, &b->base)) continue;
        if (!written(b, p, &s, &v, &same)) continue;
        e->valid++;
        e->changed += !same;
    }
}

static bool settable(const Param *p, TargetFamily family)
{
    if (p->group == GROUP_HOST) return family == TARGET_HOST;
    if (p->group == GROUP_NV) return family == TARGET_NVPTX;
    return p->group == GROUP_FORK || p->group == GROUP_EXTRA;
}

/* Rejected in some place of the family: test_only. */
static bool is_limited(const Param *p, TargetFamily family)
{
    if (family == TARGET_NVPTX)
        return param_only(p, ONLY_RING) || param_only(p, ONLY_DIRECT) || param_only(p, ONLY_NV);
    return param_only(p, family == TARGET_HOST ? ONLY_CPU : ONLY_AMD);
}

static void check_family(TargetFamily family)
{
    static Effect effect[PARAM_COUNT];
    size_t bad = 0;
    memset(effect, 0, sizeof effect);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        Bench b;
        if (target_find(str_from(bases[i].arch))->family != family) continue;
        bench_init(&b, &bases[i]);
        for (int id = 0; id < PARAM_COUNT; id++)
            if (settable(param_at((ParamId)id), family)) vary(&b, param_at((ParamId)id), &effect[id]);
        bench_fini(&b);
    }
    for (int id = 0; id < PARAM_COUNT; id++) {
        const Param *p = param_at((ParamId)id);
        const bool listed = param_no_effect(p, scope_of(family)), limited = is_limited(p, family);
        if (!settable(p, family) || limited || param_has_one_value(p)) continue;
        /* no solution has kernels with both: an operand with K strided needs it or a copy (test_nvptx.c) */
        if (id == PARAM_RowsFromRegisters) continue;
        /* of kernels of convolutions alone (golden conv_cpu) */
        if (id == PARAM_HostDirectConv) continue;
        if (effect[id].valid ? listed == !effect[id].changed : listed) continue;
        print_error("%s: %zu values give kernels, %s, but %s\n", p->name, effect[id].valid,
                    effect[id].changed ? "one of them another" : "all the same",
                    listed ? "it is listed as without effect" : "it is listed nowhere");
        bad++;
    }
    assert_int_equal(bad, 0);
}

/* ---- values that are rejected ---- */

static unsigned place_of(const Bench *b)
{
    TargetFamily f = b->deriver.target->family;
    if (f == TARGET_HOST) return ONLY_CPU;
    if (f == TARGET_AMDGCN) return ONLY_AMD;
    if (b->derived.RingStages > 0) return ONLY_WGMMA;
    if (b->derived.DirectToVgprA) return ONLY_DIRECT;
    return b->derived.NvRing == 1 ? ONLY_RING : ONLY_NV;
}

/* Tries the values that the row of p excludes on one base: n_rejected counts them, by_rule those that the
 * row's own rule rejects, as other rules may come first. */
typedef struct {
    size_t n_rejected, by_rule;
} Excluded;

static void exclude(Bench *b, const Param *p, const ParamOnly *row, Excluded *e, size_t *bad)
{
    for (size_t i = 0;; i++) {
        Solution s = b->base;
        Verdict v;
        if (!value_set(&b->arena, p, i, &s)) break;
        if (!s.pt) continue;
        bool number = p->kind != KIND_STR && p->kind != KIND_LIST;
        int32_t value = number ? *(const int32_t *)solution_field_const(&s, p) : 1;
        if (value == row->value[0] || value == row->value[1]) continue;
        /* a ring that is not asked for may give way, and derivation may take the value back */
        bool valid = solution_derive(&b->deriver, &s, &v) && (place_of(b) != ONLY_RING || s.NvRing);
        int32_t kept = number ? *(const int32_t *)solution_field_const(&s, p) : 1;
        if (valid && kept != row->value[0] && kept != row->value[1]) {
            print_error("%s %d on %s: accepted, but the table has only %d and %d\n", p->name, value,
                        b->deriver.target->name, row->value[0], row->value[1]);
            ++*bad;
        }
        e->n_rejected += v.rule != RULE_NONE;
        e->by_rule += v.rule == row->rule && (row->elsewhere || (v.arg[0] == p->id && v.arg[1] == value));
    }
}

/* What the table says is rejected is rejected, by that rule and with that value; a parameter without a row is
 * honoured: some value gives another kernel. */
static void test_only(void **state)
{
    (void)state;
    static Excluded excluded[PARAM_COUNT][ONLY_CPU + 1];
    size_t bad = 0, n_rows = 0, n_by_rule = 0;
    memset(excluded, 0, sizeof excluded);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        Bench b;
        bench_init(&b, &bases[i]);
        for (int id = 0; id < PARAM_COUNT; id++) {
            const Param *p = param_at((ParamId)id);
            const ParamOnly *row = param_only(p, place_of(&b));
            if (row) exclude(&b, p, row, &excluded[id][place_of(&b)], &bad);
        }
        bench_fini(&b);
    }
    for (int id = 0; id < PARAM_COUNT; id++)
        for (unsigned where = ONLY_AMD; where <= ONLY_CPU; where++) {
            const Excluded *e = &excluded[id][where];
            if (!param_only(param_at((ParamId)id), where)) continue;
            n_rows++;
            n_by_rule += e->by_rule > 0;
            if (e->n_rejected) continue;
            print_error("%s: no value was rejected (place %u)\n", param_at((ParamId)id)->name, where);
            bad++;
        }
    assert_true(n_by_rule * 4 >= n_rows * 3);
    assert_int_equal(bad, 0);
}

/* The texts of the table. */
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned family;
        const char *text;
    } cases[] = {
        {"ThreadTile", SCOPE_AMD, "honoured"},
        {"ScheduleIterAlg", SCOPE_CPU, "hint: it has no meaning there"},
        {"ClusterLocalRead", SCOPE_AMD, "hint: the compiler orders instructions"},
        {"StreamK", SCOPE_AMD, "honoured"},
        {"StreamK", SCOPE_CPU, "honoured"},
        {"DebugStreamK", SCOPE_AMD, "only 0 (stream-k-debug)"},
        {"WorkGroupMappingType", SCOPE_NV, "honoured; by wgmma only B (wg-value)"},
        {"DirectToLdsA", SCOPE_AMD, "honoured"},
        {"PackBatchDims", SCOPE_NV,
         "honoured; by wgmma only 0 and 1 (wg-value); "
         "without local memory only 0 (direct-value)"},
        {"VectorStore", SCOPE_NV,
         "honoured; with the ring only -1 and 1 (nv-value); by wgmma hint: EngineStore decides; "
         "without local memory only -1 and 1 (direct-value)"},
        {"CustomKernelName", SCOPE_NV, "honoured"},
        {"PrefetchGlobalRead", SCOPE_NV,
         "honoured; by wgmma hint: RingStages decides; without local memory only 0 and 1 (direct-value)"},
        {"HostPackA", SCOPE_CPU, "honoured"},
        {"HostPackA", SCOPE_NV, "-"},
        {"NvRing", SCOPE_AMD, "-"},
    };
    Buf b;
    buf_init(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&b);
        param_effect_print(param_find(str_from(cases[i].name)), cases[i].family, &b);
        assert_string_equal(buf_cstr(&b), cases[i].text);
    }
    buf_fini(&b);
}

/* Candidates of a fork over everything that has no effect on gfx906: one for each ThreadTile. */
static void test_fold(void **state)
{
    (void)state;
    static const char *const fork[][2] = {{"DisableKernelPieces", "[0, 1, -1]"},
                                          {"DisableAtomicFail", "[false, true]"},
                                          {"CheckTensorDimAsserts", "[false, true]"},
                                          {"CheckDimOverflow", "[0, 1]"},
                                          {"ThreadTile", "[[4, 4], [4, 8]]"}};
    const Base base = {"gfx906", SGEMM, "{" TILE "}"};
    Bench b;
    bench_init(&b, &base);
    Space space;
    Fork f;
    bool more = true, kept;
    size_t n_valid = 0;
    assert_ok(space_init(&space, &b.pt));
    space.base = b.base;
    for (size_t i = 0; i < sizeof fork / sizeof *fork; i++) {
        const Param *p = param_find(str_from(fork[i][0]));
        const Node *list = parse(&b.arena, fork[i][1]);
        assert_ok(space_param(&space, p));
        for (size_t k = 0; k < list->n; k++) {
            Solution value = b.base;
            assert_ok(param_parse_value(p, &list->item[k], &value));
            assert_ok(space_value(&space, &value));
        }
    }
    assert_ok(space_seal(&space));
    assert_ok(fork_init(&f, &space, &b.deriver));
    candidates_fini(&b.candidates);
    candidates_init(&b.candidates, b.deriver.target, &b.arena);
    while (fork_step(&f, &more, &kept), more) {
        CandidateKind kind;
        char hash[CONTENT_HEX + 1];
        if (!kept) continue;
        n_valid++;
        assert_ok(candidates_add(&b.candidates, &f.solution, &kind, hash));
        assert_true(kind != CANDIDATE_UNWRITTEN);
    }
    assert_int_equal(n_valid, 48);
    assert_int_equal(b.candidates.n_written, 2);
    assert_int_equal(b.candidates.n_same, 46);
    fork_fini(&f);
    space_fini(&space);
    bench_fini(&b);
}

/* What cannot be honoured is rejected, with the reason. */
static void test_rejected(void **state)
{
    (void)state;
    static const struct {
        Base base;
        const char *why;
    } cases[] = {
        {{"x86-64-v3", SGEMM, "{PackBatchDims: 1, GlobalSplitU: 2}"},
         "host kernels of contractions that are no GEMM have GlobalSplitU 1 and StreamK 0, not 2 and 0"},
        {{"x86-64-v3", SGEMM, "{WorkGroupMappingType: Z, WorkGroupMapping: 2}"},
         "WorkGroupMappingType Z with WorkGroupMapping 2 needs a grid of powers of 2, which hosts do not "
         "launch"},
        {{"gfx1100", SGEMM,
          "{KernelLanguage: Assembly, GlobalReadVectorWidth: 1, VectorWidth: 1, DirectToLdsA: true}"},
         "DirectToLdsA: the architecture has no loads of 4 bytes into local memory"},
        {{"x86-64-v3", SGEMM, "{CustomKernelName: x}"},
         "CustomKernelName names no program (NAME.tile) in the config's folder"},
        {{"sm_90", SGEMM, "{CustomKernelName: x}"},
         "CustomKernelName names no program (NAME.tile) in the config's folder"},
        {{"gfx90a", SGEMM, "{CustomKernelName: x}"},
         "CustomKernelName names no program (NAME.tile) in the config's folder"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool host = cases[i].base.arch[0] == 'x';
        const Base base = {cases[i].base.arch, SGEMM,
                           host ? "{WorkGroup: [4, 8, 1], ThreadTile: [8, 4], DepthU: 32}" : "{" TILE "}"};
        Bench b;
        Verdict v;
        Buf why;
        bench_init(&b, &base);
        Solution s = b.base;
        solution_set(&b.arena, cases[i].base.solution, &s);
        assert_false(solution_derive(&b.deriver, &s, &v));
        buf_init(&why);
        verdict_text(&v, &why);
        assert_string_equal(buf_cstr(&why), cases[i].why);
        buf_fini(&why);
        bench_fini(&b);
    }
}

/* ---- kinds of nvptx kernels ---- */

/* Counts the values of p that kernels of the base's kind accept, also those that derivation takes back, and
 * those that give another kernel. */
static void vary_kind(Bench *b, const Param *p, Effect *e)
{
    const unsigned place = place_of(b);
    for (size_t i = 0; !e->changed; i++) {
        Solution s = b->base, d;
        Verdict v;
        bool same;
        if (!value_set(&b->arena, p, i, &s)) break;
        if (!s.pt || param_equal(p, &s, &b->base)) continue;
        d = s;
        Bench other = *b;
        if (!solution_derive(&b->deriver, &d, &v)) continue;
        other.derived = d;
        if (place_of(&other) != place || param_only(p, place)) continue;
        if (!written(b, NULL, &s, &v, &same)) continue;
        e->valid++;
        e->changed += !same;
    }
}

/* In kernels of one kind (with the ring, by wgmma, without local memory) what is accepted and never gives
 * another kernel is listed as a hint there, and nothing else is. */
static void test_kinds(void **state)
{
    (void)state;
    static Effect effect[ONLY_CPU + 1][PARAM_COUNT];
    static const unsigned places[] = {ONLY_RING, ONLY_WGMMA, ONLY_DIRECT};
    size_t bad = 0;
    memset(effect, 0, sizeof effect);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        Bench b;
        if (target_find(str_from(bases[i].arch))->family != TARGET_NVPTX) continue;
        bench_init(&b, &bases[i]);
        for (int id = 0; id < PARAM_COUNT; id++) {
            const Param *p = param_at((ParamId)id);
            if (settable(p, TARGET_NVPTX)) vary_kind(&b, p, &effect[place_of(&b)][id]);
        }
        bench_fini(&b);
    }
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        for (int id = 0; id < PARAM_COUNT; id++) {
            const Param *p = param_at((ParamId)id);
            const Effect *e = &effect[places[k]][id];
            const bool listed = param_hint(p, places[k]) != NULL;
            if (id == PARAM_NvRing) continue; /* another value gives a kernel of another kind */
            if (!settable(p, TARGET_NVPTX) || param_has_one_value(p) || param_no_effect(p, SCOPE_NV))
                continue;
            if (e->valid ? listed == !e->changed : !listed) continue;
            print_error("%s (place %u): %zu values are accepted, %s, but %s\n", p->name, places[k], e->valid,
                        e->changed ? "one gives another kernel" : "all give the same kernel",
                        listed ? "it is listed as a hint" : "it is not listed as a hint");
            bad++;
        }
    assert_int_equal(bad, 0);
}

static void test_amdgcn(void **state)
{
    (void)state;
    check_family(TARGET_AMDGCN);
}

static void test_nvptx(void **state)
{
    (void)state;
    check_family(TARGET_NVPTX);
}

static void test_host(void **state)
{
    (void)state;
    check_family(TARGET_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amdgcn),   cmocka_unit_test(test_nvptx), cmocka_unit_test(test_host),
        cmocka_unit_test(test_only),     cmocka_unit_test(test_texts), cmocka_unit_test(test_fold),
        cmocka_unit_test(test_rejected), cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
