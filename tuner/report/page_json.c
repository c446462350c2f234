/* The JSON of a report, which is also the data of its page. See page.h; the schema is in tuner/README.md. */
#include <math.h>
#include <time.h>

#include "base/version.h"
#include "measure/model_quality.h"
#include "report/json_parts.h"
#include "report/page.h"

static const char *const kinds[] = {"run", "results", "table", "bench"};

/* ---- runs ---- */

static void faults(Json *j, const ReportRun *r)
{
    json_array(j, "faults");
    for (size_t i = 0; i < r->n_faults; i++) {
        json_object(j, NULL);
        json_str(j, "kernel", r->fault[i].kernel);
        json_str(j, "size", r->fault[i].size);
        json_str(j, "status", r->fault[i].status);
        json_str(j, "detail", r->fault[i].detail);
        json_object_end(j);
    }
    json_array_end(j);
}

static void regrets(Json *j, const ReportRun *r)
{
    json_array(j, "regret");
    for (size_t i = 0; i < r->n_regrets; i++) {
        const Regret *g = &r->regret[i];
        json_object(j, NULL);
        json_str(j, "problem_type", g->type);
        json_str(j, "choice", g->choice);
        json_str(j, "size", g->numbers);
        json_bool(j, "aligned", g->aligned);
        json_real(j, "loss", g->loss);
        json_object_end(j);
    }
    json_array_end(j);
}

static void run(Json *j, const ReportRun *r)
{
    json_object(j, NULL);
    json_str(j, "path", r->path);
    json_cstr(j, "kind", kinds[r->kind]);
    json_str(j, "state", r->state);
    json_bool(j, "live", r->live);
    json_str(j, "detail", r->detail);
    json_str(j, "started", r->started);
    json_str(j, "ended", r->ended);
    json_str(j, "command", r->command);
    json_str(j, "device", r->device);
    json_str(j, "driver", r->driver);
    json_str(j, "arch", r->arch);
    json_busy(j, &r->busy, r->has_busy);
    json_array(j, "steps");
    for (size_t i = 0; i < r->n_steps; i++) {
        json_object(j, NULL);
        json_str(j, "name", r->step[i].name);
        json_real(j, "seconds", r->step[i].seconds);
        json_object_end(j);
    }
    json_array_end(j);
    json_searches(j, r->search, r->n_searches);
    faults(j, r);
    regrets(j, r);
    json_object_end(j);
}

/* ---- groups ---- */

static void params(Json *j, const ReportGroup *g)
{
    json_array(j, "parameters");
    for (size_t i = 0; i < g->n_params; i++) {
        const ReportParam *p = &g->param[i];
        json_object(j, NULL);
        json_str(j, "name", p->name);
        json_array(j, "values");
        for (size_t v = 0; v < p->n_values; v++) {
            const ReportValue *x = &p->value[v];
            json_object(j, NULL);
            json_str(j, "value", x->text);
            json_int(j, "kernels", (int64_t)x->n_kernels);
            json_int(j, "sizes", (int64_t)x->n_sizes);
            json_int(j, "wins", (int64_t)x->n_wins);
            json_real(j, "mean_speed", x->mean_speed);
            json_real(j, "worst_speed", x->worst_speed);
            json_object_end(j);
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void kernels(Json *j, const ReportGroup *g)
{
    json_array(j, "kernels");
    for (size_t i = 0; i < g->n_kernels; i++) {
        json_object(j, NULL);
        json_str(j, "name", g->kernel[i].name);
        json_str(j, "compile", g->kernel[i].compile);
        json_str(j, "facts", g->kernel[i].facts);
        json_object_end(j);
    }
    json_array_end(j);
}

/* ---- sizes, as columns: a name once, not for each size ---- */

typedef enum {
    COLUMN_SIZE,
    COLUMN_M,
    COLUMN_N,
    COLUMN_BATCH,
    COLUMN_K,
    COLUMN_FLOPS,
    COLUMN_BYTES,
    COLUMN_KERNEL,
    COLUMN_GFLOPS,
    COLUMN_US,
    COLUMN_US_LO,
    COLUMN_US_HI,
    COLUMN_SAMPLES,
    COLUMN_EFFICIENCY,
    COLUMN_VERDICT,
    COLUMN_LEAD,
    COLUMN_LEAD_LO,
    COLUMN_LEAD_HI,
    COLUMN_GOOD,
    COLUMN_FAILED,
    COLUMN_MISSING,
    COLUMN_HELD_OUT,
    COLUMN_CALLS,
    COLUMN_SHARE,
    COLUMNS
} Column;
static const struct {
    const char *name;
    bool is_int;
} columns[COLUMNS] = {{"size", false},    {"m", true},           {"n", true},        {"batch", true},
                      {"k", true},        {"flops", false},      {"bytes", false},   {"kernel", true},
                      {"gflops", false},  {"us", false},         {"us_lo", false},   {"us_hi", false},
                      {"samples", true},  {"efficiency", false}, {"verdict", false}, {"lead", false},
                      {"lead_lo", false}, {"lead_hi", false},    {"good", true},     {"failed", true},
                      {"missing", true},  {"held_out", false},   {"calls", true},    {"share", false}};

/* What the comparison with the second place says: its time over the winner's, and the interval. */
static double lead(const ReportSize *z, Column c)
{
    const Comparison *v = &z->versus;
    const double plain = z->n_places > 1 ? z->place[1].ns / z->place[0].ns : (double)NAN;
    if (z->n_places < 2 || z->dropped || v->verdict == STATS_UNKNOWN)
        return c == COLUMN_LEAD ? plain : (double)NAN;
    return 1 / (c == COLUMN_LEAD ? v->ratio : c == COLUMN_LEAD_LO ? v->hi : v->lo);
}

static double real_cell(const ReportData *d, const ReportGroup *g, const ReportSize *z, Column c)
{
    const ReportPlace none = {.ns = NAN, .lo_ns = NAN, .hi_ns = NAN}, *first = z->n_places ? z->place : &none;
    switch (c) {
    case COLUMN_FLOPS:
        return z->flops;
    case COLUMN_BYTES:
        return z->bytes;
    case COLUMN_GFLOPS:
        return z->gflops;
    case COLUMN_US:
        return first->ns * 1e-3;
    case COLUMN_US_LO:
        return first->lo_ns * 1e-3;
    case COLUMN_US_HI:
        return first->hi_ns * 1e-3;
    case COLUMN_EFFICIENCY:
        return report_efficiency(g, z);
    case COLUMN_SHARE:
        return report_share(d, z);
    default:
        return lead(z, c);
    }
}

static int64_t int_cell(const ReportSize *z, Column c)
{
    const int64_t kernel = z->n_places ? (int64_t)z->place[0].kernel : -1;
    const int64_t samples = z->n_places ? (int64_t)z->place[0].n : 0;
    return c == COLUMN_M         ? z->m
           : c == COLUMN_N       ? z->n
           : c == COLUMN_BATCH   ? z->batch
           : c == COLUMN_K       ? z->k
           : c == COLUMN_KERNEL  ? kernel
           : c == COLUMN_SAMPLES ? samples
           : c == COLUMN_GOOD    ? (int64_t)z->n_good
           : c == COLUMN_FAILED  ? (int64_t)z->n_failed
           : c == COLUMN_MISSING ? (int64_t)z->n_missing
                                 : z->calls;
}

static void cell(Json *j, const ReportData *d, const ReportGroup *g, const ReportSize *z, Column c)
{
    if (c == COLUMN_SIZE)
        json_str(j, NULL, z->numbers);
    else if (c == COLUMN_VERDICT)
        json_cstr(j, NULL, z->dropped ? "dropped" : stats_verdict_name(z->versus.verdict));
    else if (c == COLUMN_HELD_OUT)
        json_bool(j, NULL, z->held_out);
    else if (columns[c].is_int)
        json_int(j, NULL, int_cell(z, c));
    else
        json_real(j, NULL, real_cell(d, g, z, c));
}

/* Times from elsewhere: null where no size has one. */
static void other(Json *j, const ReportGroup *g, const char *key, RatioOf of)
{
    static const char *const names[] = {"gflops", "ratio", "ratio_lo", "ratio_hi"};
    bool any = false;
    for (size_t z = 0; z < g->n_sizes; z++) {
        const ReportOther *o = report_other(&g->size[z], of);
        any |= o->found || o->why.n;
    }
    if (!any) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    for (int c = 0; c < 4; c++) {
        json_array(j, names[c]);
        for (size_t z = 0; z < g->n_sizes; z++) {
            const ReportOther *o = report_other(&g->size[z], of);
            const double v[] = {o->gflops, o->ratio.ratio, o->ratio.lo, o->ratio.hi};
            json_real(j, NULL, o->found ? v[c] : (double)NAN);
        }
        json_array_end(j);
    }
    json_array(j, "verdict");
    for (size_t z = 0; z < g->n_sizes; z++) {
        const ReportOther *o = report_other(&g->size[z], of);
        json_str(j, NULL, o->found ? str_from(stats_verdict_name(o->ratio.verdict)) : o->why);
    }
    json_array_end(j);
    json_array(j, "kernel");
    for (size_t z = 0; of == RATIO_BEFORE && z < g->n_sizes; z++) json_str(j, NULL, g->size[z].before.kernel);
    json_array_end(j);
    json_object_end(j);
}

/* [kernel, us, us_lo, us_hi, samples] of the first places of each size. */
static void races(Json *j, const ReportGroup *g)
{
    json_array(j, "races");
    for (size_t z = 0; z < g->n_sizes; z++) {
        const ReportSize *size = &g->size[z];
        json_array(j, NULL);
        for (size_t i = 0; i < size->n_places; i++) {
            const ReportPlace *p = &size->place[i];
            json_array(j, NULL);
            json_int(j, NULL, (int64_t)p->kernel);
            json_real(j, NULL, p->ns * 1e-3);
            json_real(j, NULL, p->lo_ns * 1e-3);
            json_real(j, NULL, p->hi_ns * 1e-3);
            json_int(j, NULL, (int64_t)p->n);
            json_array_end(j);
        }
        json_array_end(j);
    }
    json_array_end(j);
}

/* Of each size, each kernel's speed in parts of 10000 of the winner's; 0: failed, -1: not measured. */
static void speeds(Json *j, const ReportGroup *g)
{
    json_array(j, "speeds");
    for (size_t z = 0; z < g->n_sizes; z++) {
        if (!g->size[z].speed) {
            json_null(j, NULL);
            continue;
        }
        json_array(j, NULL);
        for (size_t k = 0; k < g->n_kernels; k++) json_int(j, NULL, g->size[z].speed[k]);
        json_array_end(j);
    }
    json_array_end(j);
}

static void group(Json *j, const ReportData *d, const ReportGroup *g)
{
    json_object(j, NULL);
    json_int(j, "run", (int64_t)g->run);
    json_str(j, "name", g->name);
    json_str(j, "problem_type", g->type);
    json_str(j, "arch", g->arch);
    json_bool(j, "per_cu", g->per_cu);
    json_int(j, "permutations", g->n_permutations);
    json_int(j, "valid", g->n_valid);
    json_int(j, "duplicates", g->n_duplicates);
    json_real(j, "peak_gflops", g->peak_gflops);
    json_real(j, "dram_gbs", g->dram_gbs);
    json_real(j, "cache_bytes", g->cache_bytes);
    kernels(j, g);
    params(j, g);
    json_rejections(j, g->rejection, g->n_rejections);
    json_statuses(j, g->status, g->n_statuses);
    json_object(j, "sizes");
    for (int c = 0; c < COLUMNS; c++) {
        json_array(j, columns[c].name);
        for (size_t z = 0; z < g->n_sizes; z++) cell(j, d, g, &g->size[z], (Column)c);
        json_array_end(j);
    }
    json_object_end(j);
    other(j, g, "peer", RATIO_PEER);
    other(j, g, "before", RATIO_BEFORE);
    races(j, g);
    speeds(j, g);
    json_object_end(j);
}

static void ratios(Json *j, const ReportData *d, const char *key, RatioOf of, Str name)
{
    const RatioSummary s = report_ratios(d, of);
    if (!name.n) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    json_str(j, "name", name);
    json_real(j, "geometric_mean", s.mean);
    json_int(j, "sizes", (int64_t)s.n);
    json_int(j, "slower", (int64_t)s.n_slower);
    json_int(j, "equal", (int64_t)s.n_equal);
    json_int(j, "faster", (int64_t)s.n_faster);
    json_int(j, "without", (int64_t)s.n_without);
    json_object_end(j);
}

void report_json(const ReportData *d, const PageOptions *o, Buf *out)
{
    Json j = json_to(out);
    char date[32];
    time_t now = time(NULL);
    struct tm tm;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    json_object(&j, NULL);
    json_format(&j, "tuner-report", 1);
    json_cstr(&j, "tuner", TUNER_VERSION);
    json_cstr(&j, "made", date);
    json_bool(&j, "live", o->live);
    json_int(&j, "reload_seconds", o->reload_s);
    ratios(&j, d, "peer", RATIO_PEER, d->peer);
    ratios(&j, d, "before", RATIO_BEFORE, d->before);
    json_real(&j, "seconds_of_calls", d->seconds > 0 ? d->seconds : (double)NAN);
    json_array(&j, "runs");
    for (size_t i = 0; i < d->n_runs; i++) run(&j, &d->run[i]);
    json_array_end(&j);
    json_array(&j, "groups");
    for (size_t i = 0; i < d->n_groups; i++) group(&j, d, &d->group[i]);
    json_array_end(&j);
    json_object_end(&j);
    buf_putc(out, '\n');
}

/* ---- numbers that several writers show ---- */

double report_efficiency(const ReportGroup *g, const ReportSize *z)
{
    if (!(g->peak_gflops > 0) || !(z->bytes > 0)) return (double)NAN;
    double ceiling = g->peak_gflops;
    if (g->dram_gbs > 0 && !g->per_cu && z->bytes > g->cache_bytes)
        ceiling = fmin(ceiling, g->dram_gbs * z->flops / z->bytes);
    return z->gflops / ceiling;
}

double report_share(const ReportData *d, const ReportSize *z)
{
    if (!(d->seconds > 0) || !z->calls || !z->n_places) return (double)NAN;
    return (double)z->calls * z->place[0].ns * 1e-9 / d->seconds;
}

RatioSummary report_ratios(const ReportData *d, RatioOf of)
{
    RatioSummary s = {.mean = NAN};
    double logs = 0, weights = 0;
    for (size_t i = 0; i < d->n_groups; i++)
        for (size_t z = 0; z < d->group[i].n_sizes; z++) {
            const ReportSize *size = &d->group[i].size[z];
            const ReportOther *o = report_other(size, of);
            if (!o->found || !(o->ratio.ratio > 0)) {
                s.n_without++;
                continue;
            }
            const double weight = d->seconds > 0 ? (double)size->calls : 1;
            logs += weight * log(o->ratio.ratio);
            weights += weight;
            s.n++;
            s.n_slower += o->ratio.verdict == STATS_SLOWER;
            s.n_faster += o->ratio.verdict == STATS_FASTER;
        }
    s.n_equal = s.n - s.n_slower - s.n_faster;
    if (weights > 0) s.mean = exp(logs / weights);
    return s;
}
