/* Measuring time before it begins. See forecast.h. */
#include "run/forecast.h"

enum { HISTORY_MAX = 2000 };
/* More between two ends is a pause between runs, not a measurement. */
static const double PAUSE_SECONDS = 300;
/* A race takes RACE_SECONDS per size after a first look at each kernel (option race-seconds of the client); a
 * look costs up to LOOK_SECONDS with its validation. */
static const double RACE_SECONDS = 2, LOOK_SECONDS = 0.1;

typedef struct {
    Eta *eta;
    bool has_last;
    int64_t last_id;
    double last_seconds, flops; /* of the row before, which is the later one */
} History;

/* Latest first: the time of a pair is that to the row before it in the store. */
static Err history_row(void *ctx, const DbRow *row)
{
    History *h = ctx;
    int64_t id = row_int(row, 0);
    double seconds = row_real(row, 1);
    double took = h->last_seconds - seconds;
    if (h->has_last && id == h->last_id - 1 && took >= 0 && took < PAUSE_SECONDS && h->flops > 0)
        eta_measured(h->eta, h->flops, took, true);
    h->has_last = true;
    h->last_id = id;
    h->last_seconds = seconds;
    h->flops = row_real(row, 2);
    return 0;
}

Err forecast_history(Store *s, int64_t setting, Eta *eta)
{
    History h = {.eta = eta};
    return db_each(
        s->db, history_row, &h,
        "SELECT m.id, (julianday(m.at) - 2440587.5) * 86400, p.flops FROM measurement m JOIN problem p"
        " ON p.id=m.problem WHERE m.setting=? ORDER BY m.id DESC LIMIT ?",
        "ii", setting, (int64_t)HISTORY_MAX);
}

typedef struct {
    double n, w, w_max;
} Pairs;

static Err pairs_row(void *ctx, const DbRow *row)
{
    Pairs *p = ctx;
    *p = (Pairs){row_real(row, 0), row_real(row, 1), row_real(row, 2)};
    return 0;
}

/* As if all kernels compiled. */
static Err group_expect(Run *r, const Group *g, Eta *eta)
{
    Pairs size = {0}, done = {0};
    double each = (double)g->n_variants * (double)r->config->globals.NumBenchmarks;
    TRY(db_each(r->store.db, pairs_row, &size,
                "SELECT count(*), coalesce(sum(q.flops), 0.0), coalesce(max(q.flops), 0.0) FROM size z JOIN"
                " problem q ON q.id=z.problem WHERE z.plan=?",
                "i", g->plan));
    TRY(db_each(
        r->store.db, pairs_row, &done,
        "SELECT count(*), coalesce(sum(q.flops), 0.0), 0.0 FROM candidate c JOIN size z ON z.plan=c.plan"
        " JOIN problem q ON q.id=z.problem JOIN measurement m ON m.kernel=c.kernel AND"
        " m.problem=z.problem AND m.setting=? WHERE c.plan=? AND m.run<?",
        "iii", g->setting, g->plan, r->config->globals.NumBenchmarks));
    double n = size.n * each - done.n, w = size.w * each - done.w;
    if (n <= 0) return 0;
    eta_expect(eta, n, w > 0 ? w / n : 0);
    if (size.w_max > eta->left_max) eta->left_max = size.w_max;
    return 0;
}

static bool is_race(const Run *r)
{
    const Globals *g = &r->config->globals;
    bool gpu =
        r->target->family != TARGET_HOST && !r->device.is_simulated && !str_eq_c(r->device.kind, "sim");
    return g->TimingMethod == 2 || (g->TimingMethod == 0 && (gpu || g->Peer));
}

Err forecast_measure(Run *r, EtaRange *out)
{
    Eta eta = {0};
    double sizes = 0;
    *out = (EtaRange){0, -1};
    if (r->o->compile_only || r->config->globals.GenerateSourcesAndExit) return 0;
    for (size_t i = 0; i < r->n_groups; i++) {
        const Group *g = &r->group[i];
        if (g->skip) continue;
        TRY(forecast_history(&r->store, g->setting, &eta));
        TRY(group_expect(r, g, &eta));
        sizes += (double)g->n_sizes * (double)r->config->globals.NumBenchmarks;
    }
    *out = eta_range(&eta, 0);
    if (out->hi < 0 && is_race(r))
        *out = (EtaRange){sizes * RACE_SECONDS * 0.5, sizes * RACE_SECONDS * 1.5 + eta.left_n * LOOK_SECONDS};
    return 0;
}
