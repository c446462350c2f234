/* OpenMetrics file of a run. See metrics.h. Format: https://prometheus.io/docs/specs/om/open_metrics_spec/ */
#include "run/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fs.h"
#include "base/version.h"

static const uint64_t INTERVAL_NS = 5000000000;

/* A family: its HELP and TYPE lines, and UNIT where the name has one. */
static void family(Buf *out, const char *name, const char *type, const char *unit, const char *help)
{
    buf_printf(out, "# TYPE %s %s\n", name, type);
    if (unit) buf_printf(out, "# UNIT %s %s\n", name, unit);
    buf_printf(out, "# HELP %s %s\n", name, help);
}

/* The value of a label: backslash, quote and line end are escaped, other control characters left out. */
static void label(Buf *out, const char *name, Str value)
{
    buf_printf(out, "%s=\"", name);
    for (size_t i = 0; i < value.n; i++) {
        const char c = value.s[i];
        if (c == '\n')
            buf_puts(out, "\\n");
        else if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if ((unsigned char)c >= ' ' && (unsigned char)c < 0x7f)
            buf_putc(out, c);
    }
    buf_putc(out, '"');
}

static void counter(Buf *out, const char *name, const char *help, size_t n)
{
    family(out, name, "counter", NULL, help);
    buf_printf(out, "%s_total %zu\n", name, n);
}

static void step_put(const Run *r, Buf *out)
{
    const Progress *p = &r->metrics.progress;
    const Str step = str_from(r->metrics.step ? r->metrics.step : "start");
    family(out, "tuner_step", "info", NULL, "The step that works now.");
    buf_puts(out, "tuner_step_info{");
    label(out, "step", step);
    buf_puts(out, "} 1\n");
    if (!p->step) return; /* no long step has begun */
    const struct {
        const char *name, *help;
        uint64_t value;
    } gauge[] = {
        {"tuner_work_done", "Kernels built, or pairs of kernel and size measured, by kind of work.", p->done},
        {"tuner_work_planned", "All of them.", p->total}};
    for (int i = 0; i < 2; i++) {
        family(out, gauge[i].name, "gauge", NULL, gauge[i].help);
        buf_printf(out, "%s{", gauge[i].name);
        label(out, "work", str_from(p->step));
        buf_printf(out, "} %" PRIu64 "\n", gauge[i].value);
    }
    if (p->eta_hi < 0 || p->done >= p->total) return;
    family(out, "tuner_remaining_seconds", "gauge", "seconds",
           "Estimate of the time that this work still takes.");
    buf_printf(out,
               "tuner_remaining_seconds{bound=\"low\"} %.6g\ntuner_remaining_seconds{bound=\"high\"} %.6g\n",
               p->eta_lo, p->eta_hi);
}

void metrics_text(const Run *r, const char *state, Buf *out)
{
    static const char *const states[] = {"running", "done", "interrupted", "failed"};
    family(out, "tuner_run", "info", NULL, "What runs.");
    buf_puts(out, "tuner_run_info{version=\"" TUNER_VERSION "\",");
    label(out, "output", str_from(r->outdir));
    buf_putc(out, ',');
    label(out, "device", r->device.text.s ? r->device.text : STR(""));
    buf_puts(out, "} 1\n");
    family(out, "tuner_run_state", "stateset", NULL, "Whether the run works, or how it ended.");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        buf_printf(out, "tuner_run_state{tuner_run_state=\"%s\"} %d\n", states[i], !strcmp(state, states[i]));
    family(out, "tuner_run_elapsed_seconds", "gauge", "seconds", "Time since the start of the program.");
    buf_printf(out, "tuner_run_elapsed_seconds %.3f\n", (double)(clock_ns() - r->started_ns) * 1e-9);
    step_put(r, out);
    counter(out, "tuner_measurements_wrong", "Measurements with wrong results.", r->n_wrong);
    counter(out, "tuner_measurements_faulted", "Measurements that crashed, hung or could not run.",
            r->n_faults);
    counter(out, "tuner_kernels_spilled", "Kernels left out because they spill registers.", r->n_spilled);
    counter(out, "tuner_groups_given_up", "Size groups without kernels.", r->n_given_up);
    family(out, "tuner_groups", "gauge", NULL, "Size groups of the config.");
    buf_printf(out, "tuner_groups %zu\n", r->n_groups);
    if (r->load > 0) {
        family(out, "tuner_load", "gauge", NULL, "Highest load average while kernels were timed.");
        buf_printf(out, "tuner_load %.3g\n", r->load);
    }
    buf_puts(out, "# EOF\n");
}

static Err write_now(Run *r, const char *state)
{
    Buf text;
    buf_init(&text);
    metrics_text(r, state, &text);
    Err e = buf_check(&text);
    if (!e) e = file_write_unsynced(r->o->metrics, buf_view(&text));
    buf_fini(&text);
    r->metrics.written_ns = clock_ns();
    return e;
}

/* A file that can no longer be written does not end the run: the warning comes once. */
static void write_quietly(Run *r, const char *state)
{
    if (!write_now(r, state) || r->metrics.failed) return;
    warning("--metrics: %s", err_message());
    r->metrics.failed = true;
}

static void progress_seen(void *ctx, const Progress *p)
{
    Run *r = ctx;
    r->metrics.progress = *p;
    if (clock_ns() - r->metrics.written_ns >= INTERVAL_NS) write_quietly(r, "running");
}

Err metrics_begin(Run *r)
{
    if (!r->o->metrics) return ERR_OK;
    TRY(write_now(r, "running"));
    progress_observe(progress_seen, r);
    return ERR_OK;
}

void metrics_step(Run *r, const char *name)
{
    r->metrics.step = name;
    if (r->o->metrics) write_quietly(r, "running");
}

void metrics_end(Run *r, const char *state)
{
    if (!r->o->metrics) return;
    progress_observe(NULL, NULL);
    write_quietly(r, state);
}
