/* Writes the plan and the results of shards. See shard.h. */
#include "base/version.h"
#include "fmt/write.h"
#include "measure/shard.h"

/* A file that was cut is still YAML: the last line has the hash of all before it. */
static void hash_put(Buf *out)
{
    char hash[SHA256_HEX + 1];
    sha256_hex(buf_view(out), hash);
    buf_printf(out, SHARD_HASH "%s\n", hash);
}

static void pair_str(Emit *e, const char *key, Str value)
{
    emit_cstr(e, key);
    emit_str(e, value);
}

static void pair_int(Emit *e, const char *key, int64_t value)
{
    emit_cstr(e, key);
    emit_int(e, value);
}

static void pair_bool(Emit *e, const char *key, bool value)
{
    emit_cstr(e, key);
    emit_bool(e, value);
}

static void options_emit(Emit *e, const ShardOptions *o)
{
    emit_map(e, 7, false);
    pair_bool(e, "simulate", o->simulate);
    pair_bool(e, "alternate-format", o->alternate);
    pair_bool(e, "allow-spills", o->allow_spills);
    pair_str(e, "part", o->part);
    pair_str(e, "c-compiler", o->cc);
    pair_str(e, "cxx-compiler", o->cxx);
    emit_cstr(e, "global-parameters");
    emit_seq(e, o->n_globals, false);
    for (size_t i = 0; i < o->n_globals; i++) {
        emit_seq(e, 2, true);
        emit_str(e, o->global[i].key);
        emit_str(e, o->global[i].value);
        emit_end(e);
    }
    emit_end(e);
    emit_end(e);
}

static void shard_emit(Emit *e, const Shard *s)
{
    emit_map(e, 2, false);
    emit_cstr(e, "seconds");
    emit_real(e, s->seconds);
    emit_cstr(e, "sizes");
    emit_seq(e, s->n_ranges, true);
    for (size_t i = 0; i < s->n_ranges; i++) {
        emit_seq(e, 3, true);
        emit_int(e, s->range[i].group);
        emit_int(e, s->range[i].first);
        emit_int(e, s->range[i].last);
        emit_end(e);
    }
    emit_end(e);
    emit_end(e);
}

static void plan_emit(Emit *e, const ShardPlan *p)
{
    emit_map(e, 8, false);
    pair_int(e, "tuner-shards", SHARD_FORMAT);
    pair_str(e, "version", p->version);
    pair_str(e, "architecture", p->arch);
    pair_int(e, "configs", (int64_t)p->n_configs);
    emit_cstr(e, "files");
    emit_seq(e, p->n_files, false);
    for (size_t i = 0; i < p->n_files; i++) {
        emit_seq(e, 2, true);
        emit_str(e, p->file[i].name);
        emit_str(e, p->file[i].hash);
        emit_end(e);
    }
    emit_end(e);
    emit_cstr(e, "options");
    options_emit(e, &p->options);
    emit_cstr(e, "groups");
    emit_seq(e, p->n_groups, false);
    for (size_t i = 0; i < p->n_groups; i++) {
        emit_seq(e, 2, true);
        emit_str(e, p->group[i]);
        emit_int(e, p->group_sizes[i]);
        emit_end(e);
    }
    emit_end(e);
    emit_cstr(e, "shards");
    emit_seq(e, p->n, false);
    for (size_t i = 0; i < p->n; i++) shard_emit(e, &p->shard[i]);
    emit_end(e);
    emit_end(e);
}

Err shard_plan_print(const ShardPlan *p, Buf *out)
{
    Emit *e = emit_yaml(out);
    if (!e) FAIL(ERR_FAILED, "out of memory for a plan of %zu shards", p->n);
    plan_emit(e, p);
    Err err = emit_finish(e);
    emit_free(e);
    if (!err) hash_put(out);
    return err ? err : buf_check(out);
}

static void group_emit(Emit *e, const ShardGroup *g)
{
    emit_map(e, 5, false);
    pair_int(e, "group", g->group);
    pair_int(e, "permutations", g->n_permutations);
    pair_int(e, "valid", g->n_valid);
    pair_int(e, "duplicates", g->n_duplicates);
    emit_cstr(e, "kernels");
    emit_seq(e, g->n_kernels, false);
    for (size_t i = 0; i < g->n_kernels; i++) {
        const ShardKernel *k = &g->kernel[i];
        const bool shared = !str_eq(k->name, k->kernel_name);
        emit_seq(e, shared ? 3 : 2, true);
        emit_int(e, k->permutation);
        emit_str(e, k->name);
        if (shared) emit_str(e, k->kernel_name);
        emit_end(e);
    }
    emit_end(e);
    emit_end(e);
}

Err shard_result_print(const ShardResult *r, Buf *out)
{
    Emit *e = emit_yaml(out);
    if (!e) FAIL(ERR_FAILED, "out of memory for the results of a shard");
    emit_map(e, 14, false);
    pair_int(e, "tuner-shard", SHARD_FORMAT);
    pair_str(e, "version", r->version);
    pair_str(e, "plan", r->plan);
    pair_int(e, "shard", r->shard);
    pair_str(e, "architecture", r->arch);
    pair_str(e, "toolchain", r->toolchain);
    pair_str(e, "kind", r->kind);
    pair_str(e, "device", r->device);
    pair_str(e, "device-architecture", r->device_arch);
    pair_int(e, "compute-units", r->n_cu);
    pair_bool(e, "simulated", r->simulated);
    pair_str(e, "sim", r->sim);
    pair_str(e, "host", r->host);
    emit_cstr(e, "groups");
    emit_seq(e, r->n_groups, false);
    for (size_t i = 0; i < r->n_groups; i++) group_emit(e, &r->group[i]);
    emit_end(e);
    emit_end(e);
    Err err = emit_finish(e);
    emit_free(e);
    if (!err) hash_put(out);
    return err ? err : buf_check(out);
}
