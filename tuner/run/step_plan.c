/* Step: records in the store which kernels will be measured on which sizes in which setting.
 *
 * Kernels are identified by the hash of candidates.h and not by their names, which depend on the other
 * solutions of the benchmark. See run.h.
 */
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "measure/model.h"
#include "measure/model_store.h"
#include "measure/store_search.h"
#include "run/client_ini.h"

/* Appends " A=1,131072,64": a tensor's strides, where they do not follow from sizes and leading dimensions.
 */
static void strides_key(const ProblemType *pt, const ProblemSize *s, int tensor, Buf *out)
{
    ProblemSize plain = *s;
    int64_t given[INDEX_MAX], packed[INDEX_MAX];
    plain.extra = NULL;
    const int32_t n = size_strides(pt, s, tensor, given);
    size_strides(pt, &plain, tensor, packed);
    if (!memcmp(given, packed, (size_t)n * sizeof *given)) return;
    buf_printf(out, " %c=", "DCAB"[tensor]);
    for (int32_t i = 0; i < n; i++) buf_printf(out, "%s%" PRId64, i ? "," : "", given[i]);
}

/* Appends "Cijk_Ailk_Bljk_SB 64,64,1,64,64,64,64,64 A=1,64,0": problem type, sizes, and the strides and pads
 * that do not follow from them. The sizes end at the second blank. */
static void problem_key(const Group *g, const ProblemSize *s, Buf *out)
{
    const ProblemType *pt = &g->problem->pt;
    buf_reset(out);
    problem_type_name(pt, out);
    buf_putc(out, ' ');
    problem_size_print(s, out);
    if (!s->extra) return;
    for (int t = 0; t < 4; t++) strides_key(pt, s, t, out);
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < s->extra->n_pad[t]; i++)
            buf_printf(out, " pad%c%d=%" PRId64 ",%" PRId64, "AB"[t], i, s -> extra -> pad_start[t][i],
                       s -> extra -> pad_end[t][i]);
}

static double problem_flops(const ProblemType *pt, const ProblemSize *s)
{
    double flops = 2.0 * type_info((DataType)pt->DataType)->packing;
    for (int i = 0; i < pt->TotalIndices; i++) flops *= (double)s->v[i];
    return flops;
}

static Err sizes_store(Run *r, Group *g, Buf *key, Buf *plan)
{
    g->problem_id = ARENA_ARRAY(&r->arena, g->n_sizes, int64_t);
    TRY_ALLOC(g->problem_id);
    for (size_t i = 0; i < g->n_sizes; i++) {
        problem_key(g, &g->size[i], key);
        TRY(buf_check(key));
        TRY(store_problem(&r->store, buf_view(key), problem_flops(&g->problem->pt, &g->size[i]),
                          &g->problem_id[i]));
        ModelSize z = model_size(&g->problem->pt, &g->size[i], false);
        model_size_once(&g->problem->pt, &g->size[i], &z);
        TRY(store_model_size_add(&r->store, g->problem_id[i], &z));
        if (g->size[i].extra && g->size[i].extra->conv.n)
            TRY(store_conv_add(&r->store, g->problem_id[i], g->size[i].extra->conv));
        buf_printf(plan, "size %s\n", buf_cstr(key));
    }
    return 0;
}

/* Numbers for the performance model; kernels written by hand have none. */
static Err model_store(Run *r, const Variant *v)
{
    ModelKernel k;
    if (v->s.custom) return 0;
    if (model_kernel(&v->s, r->target, &k)) {
        err_clear();
        return 0;
    }
    return store_model_kernel_add(&r->store, v->kernel, &k);
}

static Err variants_store(Run *r, Group *g, Buf *plan)
{
    for (size_t i = 0; i < g->n_variants; i++) {
        Variant *v = &g->variant[i];
        TRY(store_kernel(&r->store, v->hash, v->name, &v->kernel));
        TRY(model_store(r, v));
        buf_printf(plan, "kernel %.*s %.*s%s\n", STR_ARG(v->hash), STR_ARG(v->name),
                   v->for_range ? " between" : "");
        if ((i & 63) == 0) TRY(run_check());
    }
    return 0;
}

static Err environment_store(Run *r)
{
    Buf text;
    buf_init(&text);
    buf_printf(&text, "toolchain=%s: %s\n%.*s\n", r->toolchain.program, r->toolchain.version,
               STR_ARG(r->toolchain.identity));
    Err e = buf_check(&text);
    if (!e) e = store_environment(&r->store, buf_view(&text), &r->environment);
    buf_fini(&text);
    return e;
}

static Err setting_store(Run *r, Group *g)
{
    const DeviceChoice *d = &r->device;
    const char *env = str_eq_c(d->kind, "sim") && !d->is_simulated ? getenv("TUNER_SIM") : NULL;
    Str sim = env ? str_from(env) : d->sim;
    /* Any device of this model: the number stays 0, which stores of one device have. */
    ClientIni ini = {.g = &r->config->globals, .pt = &g->problem->pt, .device = 0};
    Buf environment, key;
    buf_init(&environment);
    buf_init(&key);
    buf_printf(&environment, "device=%.*s: %.*s, %.*s, %" PRId64 " CUs\ntarget=%s\ntoolchain=%.*s\n",
               STR_ARG(d->kind), STR_ARG(d->name), STR_ARG(d->arch), d->n_cu, r->target->name,
               STR_ARG(r->toolchain.identity));
    if (sim.s) buf_printf(&environment, "sim=%.*s\n", STR_ARG(sim));
    if (g->round) buf_printf(&environment, "search=%" PRId64 "\n", g->round);
    Err e = buf_check(&environment);
    if (!e) e = client_ini_setting(&ini, buf_view(&environment), &key);
    if (!e) e = store_setting(&r->store, buf_view(&key), &g->setting);
    buf_fini(&environment);
    buf_fini(&key);
    return e;
}

static Err rejections_store(Run *r, const Group *g)
{
    Buf text;
    buf_init(&text);
    Err e = 0;
    for (int rule = RULE_NONE + 1; !e && rule < RULE_COUNT; rule++) {
        if (!g->rules.n[rule]) continue;
        buf_reset(&text);
        verdict_text(&g->example[rule], &text);
        e = buf_check(&text);
        if (!e)
            e = store_rejection_add(&r->store, g->plan, str_from(rule_name((RuleId)rule)), buf_view(&text),
                                    (int64_t)g->rules.n[rule]);
    }
    buf_fini(&text);
    return e;
}

/* Stores the solutions that the kernel writer refused as one row, because the table has one row per rule. */
static Err unwritten_store(Run *r, const Group *g)
{
    int64_t n = 0;
    for (size_t i = 0; i < g->n_unwritten; i++) n += (int64_t)g->unwritten[i].n;
    return n ? store_rejection_add(&r->store, g->plan, STR("kernel-writer"), g->unwritten[0].why, n) : 0;
}

/* Stores the number of pairs that the final race leaves out. */
static Err left_store(Run *r, const Group *g)
{
    int64_t n = 0;
    for (size_t z = 0; z < g->n_sizes; z++)
        for (size_t i = 0; i < g->n_variants; i++) n += !group_races(g, z, i);
    return n ? store_plan_left_add(&r->store, g->plan, n) : 0;
}

/* The key is a hash of the whole plan, so rows that differ mean a damaged store. */
static Err plan_same(Run *r, const Group *g)
{
    Arena a;
    PlanView p;
    arena_init(&a, 0);
    Err e = plan_load(&r->store, &a, g->plan, &p);
    bool same = !e && p.n_candidates == g->n_variants && p.n_sizes == g->n_sizes && p.setting == g->setting &&
                p.environment == r->environment && p.n_runs == r->config->globals.NumBenchmarks &&
                str_eq(p.group, g->name);
    for (size_t i = 0; same && i < g->n_variants; i++) same = p.candidate[i].kernel == g->variant[i].kernel;
    for (size_t i = 0; same && i < g->n_sizes; i++) same = p.size[i].problem == g->problem_id[i];
    if (!e && !same)
        e = err_set(ERR_INPUT,
                    "'%s' is damaged: plan %" PRId64 " has %zu candidates, %zu sizes and %" PRId64
                    " runs, expected those of %.*s: %zu, %zu and %" PRId64,
                    store_path(&r->store), g->plan, p.n_candidates, p.n_sizes, p.n_runs, STR_ARG(g->name),
                    g->n_variants, g->n_sizes, r->config->globals.NumBenchmarks);
    arena_fini(&a);
    return e;
}

static Err plan_store(Run *r, Group *g, Str content)
{
    char key[SHA256_HEX + 1];
    bool added;
    sha256_hex(content, key);
    PlanRecord p = {.key = str_from(key),
                    .group = g->name,
                    .arch = str_from(r->target->name),
                    .setting = g->setting,
                    .environment = r->environment,
                    .n_permutations = (int64_t)g->n_permutations,
                    .n_valid = (int64_t)g->rules.n[RULE_NONE],
                    .n_duplicates = (int64_t)g->n_duplicates,
                    .n_runs = r->config->globals.NumBenchmarks};
    TRY(store_plan(&r->store, &p, &g->plan, &added));
    if (!added) return plan_same(r, g);
    for (size_t i = 0; i < g->n_variants; i++)
        TRY(store_candidate_add(&r->store, g->plan, (int64_t)i, g->variant[i].kernel, g->variant[i].name));
    for (size_t i = 0; i < g->n_sizes; i++)
        TRY(store_size_add(&r->store, g->plan, (int64_t)i, g->problem_id[i]));
    TRY(rejections_store(r, g));
    TRY(left_store(r, g));
    return unwritten_store(r, g);
}

Err group_identify(Run *r, Group *g)
{
    Buf key, unused;
    buf_init(&key);
    buf_init(&unused);
    Err e = store_begin(&r->store);
    if (!e && !r->environment) e = environment_store(r);
    if (!e) e = setting_store(r, g);
    if (!e) e = sizes_store(r, g, &key, &unused);
    if (!e) e = variants_store(r, g, &unused);
    if (!e) e = store_commit(&r->store);
    buf_fini(&key);
    buf_fini(&unused);
    return e;
}

static Err group_plan(Run *r, Group *g, Buf *scratch, Buf *content)
{
    TRY(setting_store(r, g));
    buf_reset(content);
    buf_printf(content,
               "group %.*s\narch %s\nsetting %" PRId64 "\nenvironment %" PRId64 "\nruns %" PRId64
               "\npermutations %" PRIu64 "\n",
               STR_ARG(g->name), r->target->name, g->setting, r->environment,
               r->config->globals.NumBenchmarks, g->n_permutations);
    TRY(sizes_store(r, g, scratch, content));
    TRY(variants_store(r, g, content));
    TRY(buf_check(content));
    return plan_store(r, g, buf_view(content));
}

Err step_plan(Run *r)
{
    Buf scratch, content;
    buf_init(&scratch);
    buf_init(&content);
    Err e = store_begin(&r->store);
    if (!e) e = environment_store(r);
    for (size_t i = 0; !e && i < r->n_groups; i++) {
        if (r->group[i].skip) continue;
        e = group_plan(r, &r->group[i], &scratch, &content);
        if (!e && !r->group[i].skip)
            e = store_session_plan(&r->store, r->session, (int64_t)i, r->group[i].plan);
    }
    if (!e) e = store_commit(&r->store);
    buf_fini(&scratch);
    buf_fini(&content);
    return e;
}
