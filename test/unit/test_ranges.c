/* The ranges of the ready configs for the H200 have every kernel of the lists that a person chose for the
 * same types, test/data/search/h200_*_list.yaml: what a search is compared with is within its reach. */
#include "test/support.h"

#include <inttypes.h>

#include "measure/pool.h"
#include "space/config.h"
#include "space/naming.h"

/* Permutations of the ranges that one kernel of a list is compared with, at most; dimensions of a space. */
enum { LOOKS = 1 << 20, DIMS = 160 };

typedef struct {
    const ProblemType *pt;
    Deriver deriver;
    Space space;
} Side;

static void side_open(Side *x, const Config *c, const Target *t, const ProblemGroup *group,
                      const SizeGroup *sizes)
{
    const Globals *g = &c->globals;
    DeriveLimits limits = {.max_lds_bytes = g->MaxLDS,
                           .device_lds_bytes = g->DeviceLDS,
                           .max_depth_u = (int32_t)g->MaxDepthU,
                           .unroll_loop_efficiency = g->UnrollLoopEfficiencyEnable,
                           .source_matrix = g->SourceMatrixInstructions,
                           .writer = true};
    x->pt = &group->pt;
    assert_ok(deriver_init(&x->deriver, x->pt, t, &limits));
    assert_ok(space_of_size_group(&x->space, c, x->pt, sizes));
}

static bool derive(const Side *x, int64_t permutation, Solution *raw, Hash128 *hash)
{
    Verdict v;
    space_get(&x->space, permutation, raw);
    Solution s = *raw;
    if (!solution_derive(&x->deriver, &s, &v)) return false;
    *hash = solution_hash(&s);
    return true;
}

/* Whether a choice sets what a solution has. */
static bool holds(const Choice *c, const Solution *s)
{
    const char *from = c->bytes;
    for (size_t i = 0; i < c->n_set; i++) {
        const Param *p = param_at(c->set[i]);
        if (memcmp(solution_field_const(s, p), from, param_size(p))) return false;
        from += param_size(p);
    }
    return true;
}

/* The choices of a dimension that come into question: those that set what the list states, else all. Space
 * for all of them. */
static size_t choices_of(const Dimension *dim, const Solution *raw, size_t *choice)
{
    size_t n = 0;
    for (size_t c = 0; c < dim->choice.n; c++)
        if (holds(&dim->choice.v[c], raw)) choice[n++] = c;
    if (n) return n;
    for (size_t c = 0; c < dim->choice.n; c++) choice[c] = c;
    return dim->choice.n;
}

/* Whether the ranges have a kernel that a list states as `raw`. */
static bool has(const Side *x, const Solution *raw, Hash128 want)
{
    size_t n[DIMS], *choice[DIMS];
    const size_t n_dims = x->space.dim.n < DIMS ? x->space.dim.n : DIMS;
    int64_t looks = 1;
    bool found = false;
    for (size_t d = 0; d < n_dims; d++) {
        const Dimension *dim = &x->space.dim.v[d];
        choice[d] = calloc(dim->choice.n + 1, sizeof *choice[d]);
        n[d] = choice[d] ? choices_of(dim, raw, choice[d]) : 0;
        looks = looks < LOOKS ? looks * (int64_t)n[d] : LOOKS;
    }
    for (int64_t i = 0; i < looks && !found; i++) {
        Solution s;
        Hash128 hash;
        int64_t p = 0, step = 1, rest = i;
        for (size_t d = 0; d < n_dims; d++) {
            p += step * (int64_t)choice[d][rest % (int64_t)n[d]];
            rest /= (int64_t)n[d], step *= (int64_t)x->space.dim.v[d].choice.n;
        }
        found = derive(x, p, &s, &hash) && hash.lo == want.lo && hash.hi == want.hi;
    }
    for (size_t d = 0; d < n_dims; d++) free(choice[d]);
    return found;
}

static bool has_any(const Side *ranges, size_t n, const Solution *raw, Hash128 want)
{
    for (size_t i = 0; i < n; i++)
        if (has(&ranges[i], raw, want)) return true;
    return false;
}

/* Names a kernel by its tile and by what the ranges do not state of it. */
static void missing_print(const Side *ranges, const Solution *raw, const Solution *derived)
{
    Buf text;
    bool varies[PARAM_COUNT] = {0};
    buf_init(&text);
    for (size_t d = 0; d < ranges->space.dim.n; d++) {
        const Dimension *dim = &ranges->space.dim.v[d];
        bool any = false;
        for (size_t c = 0; c < dim->choice.n; c++)
            for (size_t i = 0; i < dim->choice.v[c].n_set; i++) varies[dim->choice.v[c].set[i]] = true;
        for (size_t c = 0; c < dim->choice.n; c++) any = any || holds(&dim->choice.v[c], raw);
        for (size_t i = 0; !any && i < dim->choice.v[0].n_set; i++) {
            const Param *p = param_at(dim->choice.v[0].set[i]);
            buf_printf(&text, " %s=", p->name);
            param_print(p, raw, &text);
        }
    }
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at((ParamId)i);
        if (varies[i] || !memcmp(solution_field_const(raw, p), solution_field_const(&ranges->space.base, p),
                                 param_size(p)))
            continue;
        buf_printf(&text, " %s=", p->name);
        param_print(p, raw, &text);
    }
    print_message("  not in the ranges: %" PRId32 "x%" PRId32 "x%" PRId32 ", which have no%s\n",
                  derived->MacroTile0, derived->MacroTile1, derived->DepthU,
                  text.n ? buf_cstr(&text) : " such combination");
    buf_fini(&text);
}

/* The kernels of a list's size-group that no size-group of the ranges has. */
static size_t missing_of(const Side *list, const Side *ranges, size_t n_ranges, size_t *n)
{
    int64_t size;
    size_t missing = 0;
    assert_ok(space_size(&list->space, &size));
    for (int64_t p = 0; p < size; p++) {
        Solution raw, derived;
        Hash128 hash;
        Verdict v;
        if (!derive(list, p, &raw, &hash)) continue;
        ++*n;
        if (has_any(ranges, n_ranges, &raw, hash)) continue;
        derived = raw;
        solution_derive(&list->deriver, &derived, &v);
        missing_print(&ranges[0], &raw, &derived);
        missing++;
    }
    return missing;
}

static size_t missing_of_type(const Config *list, const Config *ranges, size_t i, size_t *n)
{
    enum { GROUPS = 16 };
    const Target *t = target_find(STR("sm_90a"));
    Side side[GROUPS], one;
    const ProblemGroup *in = &list->problem[i], *of = &ranges->problem[i];
    size_t missing = 0;
    assert_true(of->n_size_groups <= GROUPS);
    for (size_t k = 0; k < of->n_size_groups; k++) side_open(&side[k], ranges, t, of, &of->size_group[k]);
    for (size_t k = 0; k < in->n_size_groups; k++) {
        side_open(&one, list, t, in, &in->size_group[k]);
        missing += missing_of(&one, side, of->n_size_groups, n);
        space_fini(&one.space);
    }
    for (size_t k = 0; k < of->n_size_groups; k++) space_fini(&side[k].space);
    return missing;
}

static void lists_are_within(void **state)
{
    (void)state;
    static const char *const types[] = {"hgemm", "bf16", "tf32", "int8", "fp8", "sgemm", "dgemm"};
    size_t missing = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char path[2][64];
        Config *list, *ranges;
        Arena a;
        size_t n = 0;
        arena_init(&a, 0);
        snprintf(path[0], sizeof path[0], "test/data/search/h200_%s_list.yaml", types[i]);
        snprintf(path[1], sizeof path[1], "configs/h200_%s.yaml", types[i]);
        assert_ok(config_read(&a, path[0], NULL, &list));
        assert_ok(config_read(&a, path[1], NULL, &ranges));
        assert_int_equal(list->n_problems, ranges->n_problems);
        for (size_t k = 0; k < list->n_problems; k++) missing += missing_of_type(list, ranges, k, &n);
        print_message("%s: %zu kernels\n", path[0], n);
        assert_true(n > 50);
        arena_fini(&a);
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_within)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
