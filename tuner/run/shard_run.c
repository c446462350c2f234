/* Runs one shard. See shard_run.h. */
#include "run/shard_run.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/own.h"
#include "base/version.h"
#include "measure/query.h"

_Static_assert(SHARD_GLOBALS_MAX <= (int)MAX_OVERRIDES, "all overrides of a plan fit into the options");

static Err text_of(Arena *a, Str s, const char **out)
{
    Str copy = arena_dup(a, s);
    TRY_ALLOC(copy.s);
    *out = s.n ? copy.s : NULL;
    return 0;
}

static Err globals_of(Arena *a, const ShardOptions *from, const Options *own, Options *out)
{
    for (size_t i = 0; i < from->n_globals; i++) {
        Override *x = &out->override[out->n_overrides++];
        const char *key = NULL;
        TRY(text_of(a, from->global[i].key, &key));
        TRY(text_of(a, from->global[i].value, &x->value));
        if (!key) FAIL(ERR_INPUT, SHARD_PLAN_FILE ": a global parameter without a name");
        if (!x->value) x->value = "";
        x->key = key;
        x->key_n = from->global[i].key.n;
    }
    if (own->n_overrides > MAX_OVERRIDES - out->n_overrides)
        FAIL(ERR_INPUT, "more than %d overrides, %d of them in " SHARD_PLAN_FILE, MAX_OVERRIDES,
             out->n_overrides);
    for (int i = 0; i < own->n_overrides; i++) out->override[out->n_overrides++] = own->override[i];
    return 0;
}

Err shard_options(Arena *a, const char *dir, const ShardPlan *p, const Options *own, Options *out)
{
    const ShardOptions *from = &p->options;
    *out = (Options){.simulate = from->simulate,
                     .alternate = from->alternate,
                     .allow_spills = from->allow_spills,
                     .jobs = own->jobs,
                     .device_kind = own->device_kind,
                     .has_device = own->has_device,
                     .device = own->device,
                     .devices = own->devices,
                     .client_path = own->client_path,
                     .no_cache = own->no_cache,
                     .n_given = own->n_given};
    memcpy(out->given, own->given, sizeof out->given);
    TRY(text_of(a, p->arch, &out->arch));
    TRY(text_of(a, from->part, &out->part));
    TRY(text_of(a, from->cc, &out->cc));
    TRY(text_of(a, from->cxx, &out->cxx));
    for (size_t i = 0; i < p->n_configs; i++) {
        Str path = path_join(a, dir, p->file[i].name.s);
        TRY_ALLOC(path.s);
        out->operand[out->n_operands++] = path.s;
    }
    return globals_of(a, from, own, out);
}

Err shard_version_check(const ShardPlan *p)
{
    if (str_eq_c(p->version, TUNER_VERSION)) return 0;
    FAIL(ERR_INPUT,
         "the shards were planned by tuner %.*s, this is %s, which may make other kernels: use one "
         "version for all",
         STR_ARG(p->version), TUNER_VERSION);
}

Err shard_sizes(Arena *a, const ShardPlan *p, size_t shard, SizesOnly *only)
{
    const Shard *s = &p->shard[shard];
    for (size_t i = 0; i < s->n_ranges; i++)
        only[s->range[i].group].n += (size_t)(s->range[i].last - s->range[i].first + 1);
    for (size_t g = 0; g < p->n_groups; g++) {
        only[g].n_all = (size_t)p->group_sizes[g];
        TRY_ALLOC(only[g].number = ARENA_ARRAY(a, only[g].n, int64_t));
        only[g].n = 0;
    }
    for (size_t i = 0; i < s->n_ranges; i++) {
        SizesOnly *x = &only[s->range[i].group];
        for (int64_t z = s->range[i].first; z <= s->range[i].last; z++) x->number[x->n++] = z;
    }
    return 0;
}

/* ---- the end of a shard ---- */

static Err group_result(Run *r, const Group *g, ShardGroup *out)
{
    *out = (ShardGroup){.group = g - r->group,
                        .n_permutations = (int64_t)g->n_permutations,
                        .n_valid = (int64_t)g->rules.n[RULE_NONE],
                        .n_duplicates = (int64_t)g->n_duplicates};
    if (g->given_up) return 0;
    TRY_ALLOC(out->kernel = ARENA_ARRAY(&r->arena, g->n_variants, ShardKernel));
    for (size_t i = 0; i < g->n_variants; i++)
        out->kernel[i] = (ShardKernel){
            .permutation = g->variant[i].permutation,
            .name = g->variant[i].name,
            .kernel_name = g->variant[i].kernel_name,
        };
    out->n_kernels = g->n_variants;
    return 0;
}

static Err result_write(Run *r, const ShardResult *result)
{
    Buf text;
    Str path = path_join(&r->arena, r->outdir, SHARD_RESULT_FILE);
    TRY_ALLOC(path.s);
    buf_init(&text);
    Err e = shard_result_print(result, &text);
    if (!e) e = path_no_link(path.s);
    if (!e) e = file_write(path.s, buf_view(&text));
    buf_fini(&text);
    return e;
}

Err shard_finish(Run *r)
{
    char host[256] = "";
    const DeviceChoice *d = &r->device;
    gethostname(host, sizeof host - 1);
    ShardResult result = {.plan = r->shard->plan.id,
                          .shard = (int64_t)r->shard->i,
                          .version = STR(TUNER_VERSION),
                          .arch = str_from(r->target->name),
                          .toolchain = r->toolchain.identity,
                          .kind = d->kind,
                          .device = d->name,
                          .device_arch = d->arch,
                          .sim = d->sim.s ? d->sim : STR(""),
                          .simulated = d->is_simulated,
                          .n_cu = d->n_cu,
                          .host = str_from(host)};
    FaultCount bad;
    size_t n_sizes = 0;
    TRY_ALLOC(result.group = ARENA_ARRAY(&r->arena, r->n_groups, ShardGroup));
    for (size_t i = 0; i < r->n_groups; i++) {
        if (!r->group[i].n_sizes) continue;
        TRY(group_result(r, &r->group[i], &result.group[result.n_groups++]));
        n_sizes += r->group[i].n_sizes;
    }
    TRY(result_write(r, &result));
    TRY(query_session_faults(&r->store, r->session, &bad));
    notice("shard %zu of %zu is finished: %zu sizes on %.*s; %" PRId64
           " measurements gave wrong results, %" PRId64 " crashed, hung or could not run",
           r->shard->i, r->shard->plan.n, n_sizes, STR_ARG(d->name), bad.n_wrong, bad.n_faulted);
    return 0;
}

/* ---- the command ---- */

static Err number_parse(const ShardPlan *p, const char *text, size_t *out)
{
    int64_t i;
    if (!str_to_i64(str_from(text), &i) || i < 0 || (uint64_t)i >= p->n)
        FAIL(ERR_INPUT, "'%s' is no shard: expected a number from 0 to %zu", text, p->n - 1);
    *out = (size_t)i;
    return 0;
}

static Err run_shard(Run *r, ShardRun *s, const Options *o, Options *q)
{
    TRY(shard_plan_read(&r->arena, s->dir, &s->plan));
    TRY(shard_version_check(&s->plan));
    TRY(number_parse(&s->plan, o->operand[1], &s->i));
    TRY(shard_options(&r->arena, s->dir, &s->plan, o, q));
    SizesOnly *only = ARENA_ARRAY(&r->arena, s->plan.n_groups, SizesOnly);
    TRY_ALLOC(only);
    TRY(shard_sizes(&r->arena, &s->plan, s->i, only));
    r->only = only;
    r->n_only = s->plan.n_groups;
    r->shard = s;
    r->outdir = shard_dir(&r->arena, s->dir, s->i).s;
    TRY_ALLOC(r->outdir);
    return run_with(r, q);
}

Err run_shard_command(const Options *o)
{
    Run r;
    Options q;
    ShardRun s = {.dir = o->operand[0]};
    run_init(&r);
    Err e = run_shard(&r, &s, o, &q);
    run_fini(&r);
    return e;
}
