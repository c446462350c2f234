/* `tuner status`, `tuner explain` and `tuner log` as JSON. See report.h; schemas: tuner/README.md. */
#include <math.h>

#include "measure/history.h"
#include "report/json_parts.h"
#include "report/report.h"
#include "report/wanted.h"

enum { FAILED_SHOWN = 1000, LOGS_SHOWN = 200 };

typedef struct {
    Store s;
    Arena a;
    Buf text;
    Json j;
    size_t n; /* records of the log */
} Answer;

/* ---- status ---- */

static Err session_put(Answer *x, const char *outdir)
{
    SessionTimes *all;
    size_t n;
    const bool live = store_at_work(outdir);
    TRY(query_sessions(&x->s, &x->a, &all, &n));
    json_bool(&x->j, "live", live);
    if (!n) {
        json_null(&x->j, "run");
        return ERR_OK;
    }
    const SessionTimes *last = &all[n - 1];
    json_object(&x->j, "run");
    json_str(&x->j, "state", session_state(last->state, live));
    json_str(&x->j, "command", last->command);
    json_str(&x->j, "started", last->started);
    json_str(&x->j, "ended", last->ended);
    json_str(&x->j, "detail", last->detail);
    json_object_end(&x->j);
    return ERR_OK;
}

static Err kernels_put(Answer *x, const PlanView *p, size_t *n_failed)
{
    FailedKernel *failed;
    size_t n, n_compiled = 0;
    *n_failed = 0;
    for (size_t i = 0; i < p->n_candidates; i++) {
        n_compiled += p->candidate[i].compile == BUILD_OK;
        *n_failed += p->candidate[i].compile != BUILD_OK && p->candidate[i].compile != BUILD_NONE;
    }
    json_int(&x->j, "kernels", (int64_t)p->n_candidates);
    json_int(&x->j, "compiled", (int64_t)n_compiled);
    json_int(&x->j, "compile_failed", (int64_t)*n_failed);
    TRY(query_failed_kernels(&x->s, &x->a, p, FAILED_SHOWN, &failed, &n));
    json_array(&x->j, "compile_failures");
    for (size_t i = 0; i < n; i++) {
        json_object(&x->j, NULL);
        json_str(&x->j, "kernel", failed[i].name);
        json_cstr(&x->j, "outcome", build_outcome_name(failed[i].outcome));
        json_object_end(&x->j);
    }
    json_array_end(&x->j);
    return ERR_OK;
}

static Err plan_put(Answer *x, const PlanView *p)
{
    Rejection *r;
    StatusCount *status;
    size_t n, n_failed;
    int64_t n_measured = 0;
    json_object(&x->j, NULL);
    json_str(&x->j, "name", p->group);
    json_str(&x->j, "arch", p->arch);
    json_int(&x->j, "permutations", p->n_permutations);
    json_int(&x->j, "valid", p->n_valid);
    json_int(&x->j, "duplicates", p->n_duplicates);
    json_int(&x->j, "sizes", (int64_t)p->n_sizes);
    TRY(query_rejections(&x->s, &x->a, p->id, &r, &n));
    json_rejections(&x->j, r, n);
    TRY(kernels_put(x, p, &n_failed));
    TRY(query_statuses(&x->s, &x->a, p, &status, &n));
    for (size_t i = 0; i < n; i++) n_measured += status[i].n;
    json_int(&x->j, "pairs", plan_pairs(p, (int64_t)n_failed));
    json_int(&x->j, "measured", n_measured);
    json_statuses(&x->j, status, n);
    json_object_end(&x->j);
    return ERR_OK;
}

static Err status_put(Answer *x, const char *outdir)
{
    PlanView *plan;
    SearchView *search;
    Busy busy;
    bool found;
    size_t n;
    json_format(&x->j, "tuner-status", 1);
    TRY(session_put(x, outdir));
    TRY(store_busy_last(&x->s, &busy, &found));
    json_busy(&x->j, &busy, found);
    TRY(query_searches(&x->s, &x->a, &search, &n));
    json_searches(&x->j, search, n);
    TRY(plans_latest(&x->s, &x->a, &plan, &n));
    json_array(&x->j, "groups");
    for (size_t i = 0; i < n; i++) TRY(plan_put(x, &plan[i]));
    json_array_end(&x->j);
    return ERR_OK;
}

/* ---- explain ---- */

static void times_put(Answer *x, const SizeRow *z, const Result *r)
{
    json_real(&x->j, "gflops", gflops_of(z->flops, r->ns.median));
    json_real(&x->j, "us", r->ns.median * 1e-3);
    json_real(&x->j, "us_lo", r->ns.n > 1 ? r->ns.lo * 1e-3 : (double)NAN);
    json_real(&x->j, "us_hi", r->ns.n > 1 ? r->ns.hi * 1e-3 : (double)NAN);
    json_real(&x->j, "level", r->ns.level);
    json_int(&x->j, "samples", (int64_t)r->ns.n);
}

static void comparison_put(Answer *x, const char *key, const Comparison *c)
{
    json_object(&x->j, key);
    json_cstr(&x->j, "verdict", stats_verdict_name(c->verdict));
    json_real(&x->j, "ratio", c->ratio);
    json_real(&x->j, "ratio_lo", c->verdict == STATS_UNKNOWN ? (double)NAN : c->lo);
    json_real(&x->j, "ratio_hi", c->verdict == STATS_UNKNOWN ? (double)NAN : c->hi);
    json_real(&x->j, "level", c->level);
    json_object_end(&x->j);
}

/* The good ones, fastest first, at most max. */
static Err candidates_put(Answer *x, Arena *a, const PlanView *p, const SizeRow *z, const Ranking *rank,
                          size_t max)
{
    json_array(&x->j, "candidates");
    for (size_t i = 0; i < rank->n_good && i < max; i++) {
        const Candidate *c = &p->candidate[rank->order[i]];
        Str facts;
        bool found;
        TRY(store_code_get(&x->s, a, c->kernel, p->environment, &facts, &found));
        json_object(&x->j, NULL);
        json_str(&x->j, "kernel", c->name);
        times_put(x, z, &rank->result[rank->order[i]]);
        json_str(&x->j, "facts", found ? facts : STR(""));
        json_object_end(&x->j);
    }
    json_array_end(&x->j);
    return ERR_OK;
}

static void failures_put(Answer *x, const PlanView *p, const Ranking *rank)
{
    json_array(&x->j, "failures");
    for (size_t i = 0; i < p->n_candidates; i++) {
        const Candidate *c = &p->candidate[i];
        const Result *r = &rank->result[i];
        const bool compiler = c->compile != BUILD_NONE && c->compile != BUILD_OK;
        if (r->good || (!r->found && !compiler)) continue;
        json_object(&x->j, NULL);
        json_str(&x->j, "kernel", c->name);
        json_str(&x->j, "status", r->found ? r->status : STR("compiler"));
        json_str(&x->j, "detail", r->found ? r->detail : str_from(build_outcome_name(c->compile)));
        json_object_end(&x->j);
    }
    json_array_end(&x->j);
}

static Err peer_put(Answer *x, Arena *a, const PlanView *p, size_t size, const Ranking *rank)
{
    Result peer;
    Str name;
    Comparison c;
    TRY(result_peer(&x->s, a, p, size, &name, &peer));
    if (!peer.found) {
        json_null(&x->j, "peer");
        return ERR_OK;
    }
    json_object(&x->j, "peer");
    json_str(&x->j, "name", name);
    json_str(&x->j, "status", peer.status);
    json_str(&x->j, "detail", peer.detail);
    if (peer.good) times_put(x, &p->size[size], &peer);
    if (peer.good && rank->best != SIZE_MAX) {
        TRY(results_compare(a, &peer, &rank->result[rank->best], &c));
        comparison_put(x, "versus", &c);
    }
    json_object_end(&x->j);
    return ERR_OK;
}

/* whole: with all candidates and reasons; else the winner and counts. */
static Err size_put(Answer *x, Arena *a, const PlanView *p, size_t size, bool whole)
{
    Ranking rank;
    const SizeRow *z = &p->size[size];
    TRY(ranking_make(&x->s, a, p, size, &rank));
    json_object(&x->j, NULL);
    json_str(&x->j, "group", p->group);
    json_str(&x->j, "size", size_numbers(z->key));
    if (z->conv.n) json_str(&x->j, "convolution", z->conv);
    json_str(&x->j, "key", z->key);
    json_real(&x->j, "flops", z->flops);
    json_int(&x->j, "tried", (int64_t)p->n_candidates);
    json_int(&x->j, "good", (int64_t)rank.n_good);
    json_int(&x->j, "failed", (int64_t)rank.n_failed);
    json_int(&x->j, "missing", (int64_t)rank.n_missing);
    json_bool(&x->j, "dropped", rank.dropped);
    comparison_put(x, "versus", &rank.versus);
    TRY(candidates_put(x, a, p, z, &rank, whole ? SIZE_MAX : 1));
    if (whole) failures_put(x, p, &rank);
    TRY(peer_put(x, a, p, size, &rank));
    json_object_end(&x->j);
    return ERR_OK;
}

static Err explain_put(Answer *x, const char *outdir, const char *size)
{
    Wanted w;
    PlanView *plan;
    size_t n, n_found = 0;
    Arena a;
    Err e = ERR_OK;
    if (size) TRY(wanted_parse(size, &w));
    TRY(plans_latest(&x->s, &x->a, &plan, &n));
    if (!n) FAIL(ERR_INPUT, "nothing was planned yet in '%s'", outdir);
    json_format(&x->j, "tuner-explain", 1);
    json_array(&x->j, "sizes");
    arena_init(&a, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t z = 0; !e && z < plan[i].n_sizes; z++) {
            if (size && (!wanted_is(&plan[i].size[z], &w) || size_seen_before(&plan[i], z))) continue;
            n_found++;
            arena_reset(&a);
            e = size_put(x, &a, &plan[i], z, size != NULL);
        }
    arena_fini(&a);
    TRY(e);
    if (size && !n_found)
        FAIL(ERR_INPUT, "'%s' has no size %s ('tuner explain OUTDIR' lists them)", outdir, size);
    json_array_end(&x->j);
    return ERR_OK;
}

/* ---- log ---- */

static Err compile_put(void *ctx, const CompileRecord *c)
{
    Answer *x = ctx;
    x->n++;
    json_object(&x->j, NULL);
    json_str(&x->j, "kernel", c->name);
    json_str(&x->j, "source", c->hash);
    json_str(&x->j, "ended", c->ended);
    json_cstr(&x->j, "outcome", build_outcome_name(c->outcome));
    json_real(&x->j, "seconds", c->seconds);
    json_str(&x->j, "log", c->log);
    json_object_end(&x->j);
    return buf_check(x->j.out);
}

static Err log_put(Answer *x, const char *outdir, const char *kernel)
{
    FaultRecord *fault;
    size_t n;
    json_format(&x->j, "tuner-log", 1);
    json_array(&x->j, "compiles");
    TRY(query_compiles(&x->s, str_from(kernel), LOGS_SHOWN, compile_put, x));
    json_array_end(&x->j);
    TRY(query_faults(&x->s, &x->a, str_from(kernel), LOGS_SHOWN, &fault, &n));
    json_array(&x->j, "faults");
    for (size_t i = 0; i < n; i++) {
        json_object(&x->j, NULL);
        json_str(&x->j, "kernel", fault[i].kernel);
        json_str(&x->j, "size", fault[i].problem);
        json_str(&x->j, "status", fault[i].status);
        json_str(&x->j, "detail", fault[i].detail);
        json_object_end(&x->j);
    }
    json_array_end(&x->j);
    if (!x->n && !n) FAIL(ERR_INPUT, "no kernel of '%s' has '%s' in its name or hash", outdir, kernel);
    return ERR_OK;
}

Err report_query_json(ReportQuery what, const char *outdir, const char *operand, FILE *f)
{
    Answer x = {.n = 0};
    TRY(store_open(&x.s, outdir, STORE_READ));
    arena_init(&x.a, 0);
    buf_init(&x.text);
    x.j = json_to(&x.text);
    json_object(&x.j, NULL);
    Err e = what == REPORT_STATUS    ? status_put(&x, outdir)
            : what == REPORT_EXPLAIN ? explain_put(&x, outdir, operand)
                                     : log_put(&x, outdir, operand);
    json_object_end(&x.j);
    buf_putc(&x.text, '\n');
    if (!e) e = buf_check(&x.text);
    if (!e) fwrite(x.text.s, 1, x.text.n, f);
    buf_fini(&x.text);
    arena_fini(&x.a);
    store_close(&x.s);
    return e;
}
