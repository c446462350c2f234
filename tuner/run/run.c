/* The run as a list of steps. See run.h. */
#include "run/run.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/own.h"
#include "base/proc.h"
#include "measure/query.h"
#include "report/report.h"
#include "run/gather.h"
#include "run/hint.h"
#include "run/shard_run.h"
#include "run/metrics.h"

Err run_check(void)
{
    if (interrupted()) FAIL(ERR_FAILED, "interrupted");
    return 0;
}

void run_aside(Run *r)
{
    if (!r->aside.work || r->aside.e || r->aside.works) return;
    r->aside.works = true;
    r->aside.e = r->aside.work(r->aside.ctx);
    r->aside.works = false;
    if (r->aside.e) snprintf(r->aside.why, sizeof r->aside.why, "%s", err_message());
}

bool run_stop(Run *r, Err e, bool has_results)
{
    if (!e || !interrupted() || !has_results || r->stopped || r->shard) return false;
    interrupt_clear();
    r->stopped = true;
    store_rollback(&r->store);
    notice("interrupted: making a library of what is known (Ctrl-C again: without it)");
    return true;
}

Err run_path(Run *r, Str *out, const char *fmt, ...)
{
    char below[2048];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(below, sizeof below, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof below) FAIL(ERR_INPUT, "path is too long: '%.100s...'", below);
    *out = below[0] == '/' ? arena_dup(&r->arena, str_from(below)) : path_join(&r->arena, r->outdir, below);
    TRY_ALLOC(out->s);
    return 0;
}

Err group_give_up(Run *r, Group *g, Err code, const char *fmt, ...)
{
    char why[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    g->skip = g->given_up = true;
    r->n_given_up++;
    if (r->n_given_up == r->n_groups) FAIL(code, "%s", why);
    warning("%s", why);
    return 0;
}

static void notices_print(const Config *c)
{
    for (size_t i = 0; i < c->notices.n; i++) notice("%.*s", STR_ARG(c->notices.line[i]));
    if (c->notices.dropped) notice("and %zu more remarks", c->notices.dropped);
}

Err run_config(Run *r, const Options *o, int n_configs)
{
    ConfigOverride override[MAX_OVERRIDES];
    for (int i = 0; i < o->n_overrides; i++)
        override[i] =
            (ConfigOverride){{o->override[i].key, o->override[i].key_n}, str_from(o->override[i].value)};
    ConfigOptions c = {
        .alternate = o->alternate, .override = override, .n_overrides = (size_t)o->n_overrides};
    if (n_configs > 2 || (n_configs == 2 && !o->alternate))
        FAIL(ERR_INPUT, "%d configs, expected one (two with --alternate-format: settings, then sizes)",
             n_configs);
    if (n_configs == 2) c.sizes_path = o->operand[1];
    r->o = o;
    TRY(config_read(&r->arena, o->operand[0], &c, &r->config));
    if (o->has_device) r->config->globals.Device = o->device;
    log_set_level((int)r->config->globals.PrintLevel);
    notices_print(r->config);
    return 0;
}

static Err session_command(const Run *r, Buf *out)
{
    const Options *o = r->o;
    const Gathering *x = r->gather;
    buf_puts(out, r->shard ? "tuner run-shard " : x ? "tuner gather " : "tuner");
    if (r->shard || x) {
        shell_word(str_from(x ? x->dir : r->shard->dir), out);
        if (r->shard) buf_printf(out, " %zu", r->shard->i);
    } else {
        for (int i = 0; i <= o->n_operands; i++) {
            buf_putc(out, ' ');
            shell_word(str_from(i < o->n_operands ? o->operand[i] : r->outdir), out);
        }
    }
    options_words(o, out);
    if (x) buf_printf(out, ": %zu of %zu shards", x->n, x->plan.n);
    if (x && x->n_missing) buf_printf(out, ", without %.*s", (int)x->missing.n, x->missing.s);
    return buf_check(out);
}

static Err session_begin(Run *r)
{
    Buf command;
    buf_init(&command);
    Err e = session_command(r, &command);
    if (!e) e = store_session_begin(&r->store, buf_view(&command), &r->session);
    buf_fini(&command);
    return e;
}

/* Warns when the store has results of another device only. These are not used, and stay. */
static Err other_device_report(Run *r)
{
    Str other;
    if (r->gather || r->o->compile_only || r->config->globals.GenerateSourcesAndExit) return 0;
    TRY(query_other_device(&r->store, &r->arena, r->device.name, &other));
    if (other.s)
        warning("'%s' has results of another device, %.*s: all is measured again on '%.*s'",
                store_path(&r->store), STR_ARG(other), STR_ARG(r->device.name));
    return 0;
}

/* Removes the temporary files of a killed run's file_write. */
static Err leftovers_remove(Run *r)
{
    const Globals *g = &r->config->globals;
    const Str below[] = {g->BenchmarkProblemsPath, g->BenchmarkDataPath, g->LibraryLogicPath,
                         g->LibraryClientPath};
    TRY(temporaries_remove(r->outdir, STR(""), false));
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        TRY(temporaries_remove(r->outdir, below[i], true));
    return 0;
}

static Err step(Run *r, const char *name, Err (*run)(Run *))
{
    uint64_t start = clock_ns();
    TRY(run_check());
    metrics_step(r, name);
    TRY(run(r));
    return store_step_add(&r->store, r->session, str_from(name), clock_ns() - start);
}

/* A step after the measurements. The first interrupt does not end it, so that a library is made of the
 * results. */
static Err step_kept(Run *r, const char *name, Err (*run)(Run *))
{
    Err e = step(r, name, run);
    if (!run_stop(r, e ? e : run_check(), r->n_measured > 0)) return e;
    return e ? step(r, name, run) : 0;
}

static bool sweeps_orders(const Run *r)
{
    const Globals *g = &r->config->globals;
    return g->WorkGroupMappingSweep > 0 && !r->o->compile_only && !g->GenerateSourcesAndExit && !r->stopped;
}

/* The benchmark: everything up to 2_BenchmarkData. */
static Err run_benchmark(Run *r)
{
    TRY(r->gather ? step(r, "gather", step_gather) : step(r, "fork", step_fork));
    if (run_searches(r) && !r->gather) TRY(step(r, "search", step_search));
    if (sweeps_orders(r)) {
        Err e = step(r, "order", step_order);
        if (!run_stop(r, e, r->n_measured > 0)) TRY(e);
    }
    TRY(step(r, "plan", step_plan));
    if (r->gather) TRY(gather_planned(r));
    TRY(step(r, "build", step_build));
    if (r->config->globals.GenerateSourcesAndExit) return 0;
    TRY(step(r, "write", step_write));
    if (r->o->compile_only) return 0;
    if (!r->stopped && !r->gather) {
        Err e = run_searches(r) ? step(r, "fill", step_fill) : ERR_OK;
        if (!run_stop(r, e, r->n_measured > 0)) TRY(e);
        if (!r->stopped) e = step(r, "measure", step_final);
        if (!run_stop(r, e, r->n_measured > 0)) TRY(e);
        if (r->stopped) TRY(final_fill(r));
    }
    if (r->config->globals.MaxLoss > 0 && !r->shard) TRY(step_kept(r, "cover", step_cover));
    return step_kept(r, "export", step_export);
}

/* Reports a missing logic folder before hours of measuring. */
static Err check_logic_there(Run *r)
{
    Str dir;
    const Config *c = r->config;
    if (!c->has_client || c->has_logic || r->o->compile_only) return 0;
    TRY(run_path(r, &dir, "%.*s", STR_ARG(c->globals.LibraryLogicPath)));
    if (dir_exists(dir.s)) return 0;
    FAIL(ERR_INPUT, "%s: LibraryClient packs the logic files of '%s', which is not there: add LibraryLogic",
         c->path, dir.s);
}

/* True when the logic folder has files, from an earlier run or from the user. */
static bool has_logic_files(Run *r)
{
    Str dir, *names;
    size_t n = 0;
    return !run_path(r, &dir, "%.*s", STR_ARG(r->config->globals.LibraryLogicPath)) && dir_exists(dir.s) &&
           !dir_list(&r->arena, dir.s, ".yaml", true, &names, &n) && n > 0;
}

static Err given_up_check(const Run *r)
{
    if (!r->n_given_up) return 0;
    FAIL(ERR_PARTIAL, "%zu of %zu size-groups have no kernels", r->n_given_up, r->n_groups);
}

static Err run_steps(Run *r)
{
    const Config *c = r->config;
    TRY(check_logic_there(r));
    TRY(session_begin(r));
    TRY(other_device_report(r));
    TRY(metrics_begin(r));
    TRY(leftovers_remove(r));
    if (c->has_problems) TRY(run_benchmark(r));
    if (r->shard) {
        TRY(shard_finish(r));
        return given_up_check(r);
    }
    if (c->globals.GenerateSourcesAndExit) return 0;
    if (r->o->compile_only) {
        if (c->has_client && has_logic_files(r)) TRY(step(r, "pack", step_pack));
        notice("nothing was measured (--compile-only): the kernels are in %s/%.*s", r->outdir,
               STR_ARG(c->globals.BenchmarkProblemsPath));
        return given_up_check(r);
    }
    if (c->has_logic) TRY(step_kept(r, "analyze", step_analyze));
    if (c->has_client) TRY(step_kept(r, "pack", step_pack));
    if (c->has_problems) TRY(step(r, "peer", step_peer));
    Err e = step(r, "finish", step_finish);
    if (r->stopped) FAIL(ERR_FAILED, "interrupted");
    TRY(e);
    return given_up_check(r);
}

/* Ends the session in the store and adds to the message how to continue. */
static void run_ended(Run *r, Err e)
{
    char why[512] = "";
    if (e) snprintf(why, sizeof why, "%s", err_message());
    bool stopped = interrupted() || r->stopped;
    if (r->session) {
        store_rollback(&r->store);
        const char *state = !e ? "done" : stopped ? "interrupted" : "failed";
        Err ended = store_session_end(&r->store, r->session, str_from(state), str_from(why));
        if (ended) verbose("%s", err_message());
        metrics_end(r, state);
    }
    if (!e) return;
    if (stopped)
        err_set(
            e, "interrupted; nothing is lost%s: run the same command again to continue, or 'tuner status %s'",
            r->stopped && !interrupted() && r->config->has_client ? ", and the library has what is known"
                                                                  : "",
            r->outdir);
    else
        err_set(e, "%s", why);
}

void run_init(Run *r)
{
    *r = (Run){.store.lock_fd = -1, .started_ns = clock_ns()};
    arena_init(&r->arena, 0);
}

void run_fini(Run *r)
{
    pch_fini(&r->pch);
    arena_fini(&r->arena);
}

Err run_with(Run *r, const Options *o)
{
    Err e = run_config(r, o, o->n_operands);
    /* Shards are put together by permutations of the config, which a sweep's orders are not; tuner shard says
     * so to the user. */
    if (!e && (r->shard || r->gather)) r->config->globals.WorkGroupMappingSweep = 0;
    if (!e) e = step_device(r);
    if (!e) e = store_open(&r->store, r->outdir, STORE_WRITE);
    if (!e) e = run_steps(r);
    run_ended(r, e);
    store_close(&r->store);
    return e;
}

Err run_pipeline(const Options *o)
{
    Run r;
    Options configs = *o;
    run_init(&r);
    r.outdir = o->operand[--configs.n_operands];
    Err e = run_with(&r, &configs);
    run_fini(&r);
    return e;
}
