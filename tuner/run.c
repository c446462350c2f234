/* The run as a list of steps. See run.h. */
#include "run.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/proc.h"
#include "report.h"

Err run_check(void)
{
    if (interrupted()) FAIL(ERR_FAILED, "interrupted");
    return 0;
}

Err run_path(Run *r, Str *out, const char *fmt, ...)
{
    char below[2048];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(below, sizeof below, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof below) FAIL(ERR_INPUT, "path is too long: '%.100s...'", below);
    *out = path_join(&r->arena, r->outdir, below);
    TRY_ALLOC(out->s);
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
        override[i] = (ConfigOverride){{o->override[i].key, o->override[i].key_n}, str_from(o->override[i].value)};
    ConfigOptions c = {.alternate = o->alternate, .override = override, .n_overrides = (size_t)o->n_overrides};
    if (n_configs > 2 || (n_configs == 2 && !o->alternate))
        FAIL(ERR_INPUT, "%d configs, expected one (two with --alternate-format: settings, then sizes)", n_configs);
    if (n_configs == 2) c.sizes_path = o->operand[1];
    r->o = o;
    TRY(config_read(&r->arena, o->operand[0], &c, &r->config));
    if (o->has_device) r->config->globals.Device = o->device;
    log_set_level((int)r->config->globals.PrintLevel);
    notices_print(r->config);
    return 0;
}

static Err session_command(const Options *o, Buf *out)
{
    buf_puts(out, "tuner");
    for (int i = 0; i < o->n_operands; i++) buf_printf(out, " %s", o->operand[i]);
    if (o->arch) buf_printf(out, " --arch %s", o->arch);
    return buf_check(out);
}

static Err session_begin(Run *r)
{
    Buf command;
    buf_init(&command);
    Err e = session_command(r->o, &command);
    if (!e) e = store_session_begin(&r->store, buf_view(&command), &r->session);
    buf_fini(&command);
    return e;
}

/* The benchmark: everything up to 2_BenchmarkData. */
static Err run_benchmark(Run *r)
{
    TRY(step_fork(r));
    TRY(step_plan(r));
    if (r->config->globals.GenerateSourcesAndExit) return 0;
    TRY(step_build(r));
    TRY(step_write(r));
    TRY(step_measure(r));
    return step_export(r);
}

static Err run_steps(Run *r)
{
    const Config *c = r->config;
    TRY(session_begin(r));
    if (c->has_problems) TRY(run_benchmark(r));
    if (c->globals.GenerateSourcesAndExit) return 0;
    if (c->has_logic) TRY(step_analyze(r));
    if (c->has_client) TRY(step_pack(r));
    return step_finish(r);
}

/* Ends the session in the store and says how to go on. The message of the error is kept. */
static void run_ended(Run *r, Err e)
{
    char why[512] = "";
    if (e) snprintf(why, sizeof why, "%s", err_message());
    bool stopped = interrupted();
    if (r->session) {
        store_rollback(&r->store);
        const char *state = !e ? "done" : stopped ? "interrupted" : "failed";
        Err ended = store_session_end(&r->store, r->session, str_from(state), str_from(why));
        if (ended) verbose("%s", err_message());
    }
    if (!e) return;
    if (stopped)
        err_set(e, "interrupted; nothing is lost: run the same command again to continue, or 'tuner status %s'",
                r->outdir);
    else
        err_set(e, "%s", why);
}

Err run_pipeline(const Options *o)
{
    Run r = {.store.lock_fd = -1, .started_ns = clock_ns()};
    arena_init(&r.arena, 0);
    r.outdir = o->operand[o->n_operands - 1];
    Err e = run_config(&r, o, o->n_operands - 1);
    if (!e) e = step_device(&r);
    if (!e) e = store_open(&r.store, r.outdir, DB_WRITE);
    if (!e) e = run_steps(&r);
    run_ended(&r, e);
    store_close(&r.store);
    arena_fini(&r.arena);
    return e;
}
