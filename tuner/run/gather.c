/* Puts shards together. See gather.h. */
#include "run/gather.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/own.h"
#include "measure/query.h"
#include "measure/store_merge.h"
#include "run/gather_groups.h"
#include "run/shard_run.h"

/* ---- which shards fit ---- */

/* Appends a number to a list like "3, 17-20". *from: the first of the range at its end. */
static void number_add(Buf *list, size_t i, size_t *from, size_t *last)
{
    if (list->n && i == *last + 1) {
        *last = i;
        return;
    }
    if (list->n && *last > *from) buf_printf(list, "-%zu", *last);
    buf_printf(list, "%s%zu", list->n ? ", " : "", i);
    *from = *last = i;
}

static void numbers_end(Buf *list, size_t from, size_t last)
{
    if (list->n && last > from) buf_printf(list, "-%zu", last);
}

/* The properties of the device that must be equal in all shards, as text for comparison and messages. */
static Str device_text(Arena *a, const ShardResult *r)
{
    return arena_printf(a, "%.*s: %.*s, %.*s, %" PRId64 " CUs%s%.*s%s", STR_ARG(r->kind), STR_ARG(r->device),
                        STR_ARG(r->device_arch), r->n_cu, r->sim.n ? " (" : "", STR_ARG(r->sim),
                        r->sim.n ? ")" : "");
}

static bool same_device(const ShardResult *a, const ShardResult *b)
{
    return str_eq(a->kind, b->kind) && str_eq(a->device, b->device) &&
           str_eq(a->device_arch, b->device_arch) && str_eq(a->sim, b->sim) && a->n_cu == b->n_cu &&
           a->simulated == b->simulated;
}

static bool fits(const ShardResult *a, const ShardResult *b)
{
    return same_device(a, b) && str_eq(a->version, b->version) && str_eq(a->arch, b->arch) &&
           str_eq(a->toolchain, b->toolchain);
}

/* The first shard that most others fit. */
static size_t most_common(const GatheredShard *s, size_t n)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t alike = 0, before = 0;
        for (size_t k = 0; k < i && !before; k++) before = fits(&s[i].result, &s[k].result);
        for (size_t k = i; k < n && !before; k++) alike += fits(&s[i].result, &s[k].result);
        if (alike > most) most = alike, best = i;
    }
    return best;
}

static Err refuse(Run *r, size_t i, const ShardResult *one, const ShardResult *most)
{
    Str has = STR_NULL, want = STR_NULL;
    const char *what = "compiler";
    if (!same_device(one, most)) {
        what = "device";
        has = device_text(&r->arena, one);
        want = device_text(&r->arena, most);
    } else if (!str_eq(one->version, most->version)) {
        what = "tuner version";
        has = one->version, want = most->version;
    } else if (!str_eq(one->arch, most->arch)) {
        what = "architecture";
        has = one->arch, want = most->arch;
    } else {
        has = one->toolchain, want = most->toolchain;
    }
    has = str_sub(has, 0, str_find(has, '\n', 0));
    want = str_sub(want, 0, str_find(want, '\n', 0));
    warning("shard %zu is left out: its %s is '%.*s', expected '%.*s' as in the others", i, what,
            STR_ARG(has), STR_ARG(want));
    return 0;
}

/* Keeps the shards that fit the most common one. */
static Err choose(Run *r)
{
    Gathering *x = r->gather;
    size_t n = 0;
    if (!x->n) FAIL(ERR_FAILED, "none of the %zu shards in '%s' can be gathered", x->plan.n, x->dir);
    const ShardResult most = x->shard[most_common(x->shard, x->n)].result;
    for (size_t i = 0; i < x->n; i++) {
        if (fits(&x->shard[i].result, &most)) {
            x->shard[n++] = x->shard[i];
            continue;
        }
        x->n_refused++;
        TRY(refuse(r, x->shard[i].i, &x->shard[i].result, &most));
    }
    x->n = n;
    return 0;
}

static Err shards_find(Run *r)
{
    Gathering *x = r->gather;
    size_t from = 0, last = 0;
    TRY_ALLOC(x->shard = ARENA_ARRAY(&r->arena, x->plan.n, GatheredShard));
    for (size_t i = 0; i < x->plan.n; i++) {
        Str dir = shard_dir(&r->arena, x->dir, i), path = STR_NULL;
        if (dir.s) path = path_join(&r->arena, dir.s, SHARD_RESULT_FILE);
        TRY_ALLOC(path.s);
        if (!file_exists(path.s)) {
            x->n_missing++;
            number_add(&x->missing, i, &from, &last);
            continue;
        }
        GatheredShard *s = &x->shard[x->n];
        s->i = i;
        Err e = shard_result_read(&r->arena, x->dir, &x->plan, i, &s->result);
        if (!e) e = s->result.n_groups ? 0 : err_set(ERR_INPUT, "%s: it has no size-group", path.s);
        if (e == ERR_FAILED) return e;
        if (e) warning("shard %zu is left out: %s", i, err_message());
        x->n_refused += e != 0;
        x->n += e == 0;
    }
    numbers_end(&x->missing, from, last);
    if (x->n_missing)
        warning("%zu of %zu shards are not finished: %s ('tuner run-shard %s I' runs one, 'tuner status %s' "
                "says how far they are)",
                x->n_missing, x->plan.n, buf_cstr(&x->missing), x->dir, x->dir);
    return buf_check(&x->missing);
}

/* ---- their stores and caches ---- */

/* Links or copies the files of a shard's object cache that are not there yet. */
static Err cache_import(Arena *a, const char *from, const char *to)
{
    Str *name;
    size_t n;
    if (!dir_exists(from)) return 0;
    TRY(dir_list(a, from, "", true, &name, &n));
    for (size_t i = 0; i < n; i++) {
        Str have = path_join(a, from, name[i].s), want = path_join(a, to, name[i].s);
        TRY_ALLOC(have.s && want.s ? have.s : NULL);
        if (name[i].s[0] == '.' || file_exists(want.s)) continue;
        Str dir = arena_dup(a, path_dir(want));
        TRY_ALLOC(dir.s);
        TRY(path_no_link(have.s));
        TRY(dir_make(dir.s));
        if (link(have.s, want.s) && errno != EEXIST) TRY(file_copy(have.s, want.s, SIZE_MAX / 2));
        if ((i & 63) == 0) TRY(run_check());
    }
    return 0;
}

static Err cache_take(Run *r, Arena *a, const char *shard)
{
    Str to, from, below = r->config->globals.ClientBuildPath;
    if (below.n && below.s[0] == '/') return 0; /* one folder for all */
    TRY(run_path(r, &to, "%.*s/cache", STR_ARG(below)));
    from = arena_printf(a, "%s/%.*s/cache", shard, STR_ARG(below));
    TRY_ALLOC(from.s);
    return cache_import(a, from.s, to.s);
}

static Err shard_take(Run *r, Arena *a, size_t i, MergeCount *sum)
{
    Store from;
    MergeCount count;
    Str dir = shard_dir(a, r->gather->dir, i);
    TRY_ALLOC(dir.s);
    TRY(store_open(&from, dir.s, STORE_READ));
    Err e = store_begin(&r->store);
    if (!e) e = store_merge(&r->store, &from, run_check, &count);
    store_close(&from);
    if (!e) e = store_commit(&r->store);
    if (e) return e;
    sum->n_measurements += count.n_measurements;
    sum->n_compiles += count.n_compiles;
    return cache_take(r, a, dir.s);
}

/* A shard whose store is damaged is left out. */
static Err shards_take(Run *r)
{
    Gathering *x = r->gather;
    MergeCount sum = {0};
    Progress progress;
    Arena a;
    Err e = 0;
    size_t kept = 0;
    const size_t n = x->n;
    progress_init(&progress, "gather", n, 0);
    arena_init(&a, 0);
    for (size_t i = 0; !e && i < n; i++) {
        arena_reset(&a);
        e = run_check();
        if (!e) e = shard_take(r, &a, x->shard[i].i, &sum);
        if (!e) x->shard[kept++] = x->shard[i];
        if (e == ERR_INPUT) {
            store_rollback(&r->store);
            warning("shard %zu is left out: %s", x->shard[i].i, err_message());
            x->n_refused++;
            e = 0;
        }
        if (!e) progress_step(&progress, i + 1, "%" PRId64 " new measurements", sum.n_measurements);
    }
    arena_fini(&a);
    TRY(e);
    x->n = kept;
    progress_done(&progress, "%" PRId64 " new measurements", sum.n_measurements);
    if (!kept) FAIL(ERR_FAILED, "none of the %zu shards in '%s' can be gathered", x->plan.n, x->dir);
    return 0;
}

/* The compiler of this machine must be that of the shards, because it is part of a kernel's key in the
 * store. */
static Err toolchain_fits(const Run *r)
{
    const ShardResult *s = &r->gather->shard[0].result;
    if (str_eq(s->toolchain, r->toolchain.identity)) return 0;
    FAIL(ERR_FAILED,
         "the shards were compiled by '%.*s', this machine has '%.*s': gather where the same "
         "compiler is installed",
         STR_ARG(str_sub(s->toolchain, 0, str_find(s->toolchain, '\n', 0))),
         STR_ARG(str_sub(r->toolchain.identity, 0, str_find(r->toolchain.identity, '\n', 0))));
}

Err step_gather(Run *r)
{
    TRY(toolchain_fits(r));
    TRY(shards_take(r));
    return gather_groups(r);
}

void gather_device(Run *r)
{
    const ShardResult *s = &r->gather->shard[0].result;
    r->device = (DeviceChoice){.kind = s->kind,
                               .name = s->device,
                               .arch = s->device_arch,
                               .n_cu = s->n_cu,
                               .is_simulated = s->simulated,
                               .sim = s->sim.n ? s->sim : STR_NULL,
                               .text = device_text(&r->arena, s)};
}

/* The rejections of a group are those of any shard that has it, because all shards fork the same space. */
Err gather_planned(Run *r)
{
    const Gathering *x = r->gather;
    for (size_t i = 0; i < r->n_groups; i++) {
        const Group *g = &r->group[i];
        const size_t whole = x->of_group[i];
        PairCount done;
        Store from;
        if (g->skip) continue;
        TRY(query_measured_work(&r->store, g->plan, g->setting, r->config->globals.NumBenchmarks, &done));
        r->n_measured += (size_t)done.n;
        for (size_t k = 0; k < x->n; k++) {
            Str dir = shard_dir(&r->arena, x->dir, x->shard[k].i);
            bool has = false;
            for (size_t m = 0; m < x->shard[k].result.n_groups; m++)
                has = has || x->shard[k].result.group[m].group == (int64_t)whole;
            if (!has) continue;
            TRY_ALLOC(dir.s);
            TRY(store_open(&from, dir.s, STORE_READ));
            Err e = store_merge_rejections(&r->store, g->plan, &from, x->plan.group[whole]);
            store_close(&from);
            TRY(e);
            break;
        }
    }
    return 0;
}

/* ---- the command ---- */

static Err outcome(const Gathering *x)
{
    if (!x->n_missing && !x->n_refused) return 0;
    FAIL(ERR_PARTIAL, "gathered %zu of %zu shards%s%.*s%s; gather again when the others are finished", x->n,
         x->plan.n, x->n_missing ? ", without " : "", (int)x->missing.n, x->n_missing ? x->missing.s : "",
         x->n_refused ? "; some do not fit, see the warnings above" : "");
}

static Err gather(Run *r, Gathering *x, const Options *o, Options *q)
{
    TRY(shard_plan_read(&r->arena, x->dir, &x->plan));
    TRY(shard_version_check(&x->plan));
    TRY(shard_options(&r->arena, x->dir, &x->plan, o, q));
    r->gather = x;
    TRY(shards_find(r));
    TRY(choose(r));
    Str out = path_join(&r->arena, x->dir, "gathered");
    TRY_ALLOC(out.s);
    r->outdir = o->gather_out ? o->gather_out : out.s;
    TRY(run_with(r, q));
    return outcome(x);
}

Err gather_command(const Options *o)
{
    Run r;
    Options q;
    Gathering x = {.dir = o->operand[0]};
    buf_init(&x.missing);
    run_init(&r);
    Err e = gather(&r, &x, o, &q);
    run_fini(&r);
    buf_fini(&x.missing);
    return e;
}
