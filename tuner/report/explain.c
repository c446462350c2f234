/* `tuner explain OUTDIR SIZE`: why a size has the winner that it has. See report.h. */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "measure/query.h"
#include "report/report.h"
#include "report/terms.h"
#include "report/text.h"
#include "report/wanted.h"
#include "report/winners.h"

enum { MAX_LOSERS = 25 };

static void times_print(const PlanView *p, const SizeRow *z, const Ranking *r, size_t candidate, FILE *f)
{
    const Result *x = &r->result[candidate];
    fprintf(f, "%9.4g GFlops  %10.2f us", gflops_of(z->flops, x->ns.median), x->ns.median * 1e-3);
    if (x->ns.n > 1)
        fprintf(f, " [%.2f, %.2f] at %.0f%%", x->ns.lo * 1e-3, x->ns.hi * 1e-3, x->ns.level * 100);
    fprintf(f, ", n=%zu  %.*s\n", x->ns.n, STR_ARG(p->candidate[candidate].name));
}

/* Registers, local memory, spills and occupancy of the kernel, where they were recorded. */
static Err facts_print(Store *s, Arena *a, const PlanView *p, size_t candidate, FILE *f)
{
    Str facts;
    bool found;
    TRY(store_code_get(s, a, p->candidate[candidate].kernel, p->environment, &facts, &found));
    if (found) fprintf(f, "             %.*s\n", STR_ARG(facts));
    return 0;
}

static Err losers_print(Store *s, const PlanView *p, const SizeRow *z, const Ranking *r, FILE *f)
{
    const size_t n = r->n_good;
    fprintf(f, "  slower:\n");
    for (size_t i = 2; i < n && i < MAX_LOSERS; i++) {
        const double ns = r->result[r->order[i]].ns.median;
        fprintf(f, "    %.3fx  ", ns / r->result[r->best].ns.median);
        times_print(p, z, r, r->order[i], f);
        TRY(terms_print(s, p, r->order[i], z, ns, f));
    }
    if (n <= 2) fprintf(f, "    none\n");
    if (n > MAX_LOSERS) fprintf(f, "    and %zu more\n", n - MAX_LOSERS);
    return 0;
}

/* The peer's time, and the winner's speed over it. */
static Err peer_print(Store *s, Arena *a, const PlanView *p, size_t size, const Ranking *r, FILE *f)
{
    Result peer;
    Str name;
    Comparison c;
    TRY(result_peer(s, a, p, size, &name, &peer));
    if (!peer.found) return 0;
    if (!peer.good) {
        fprintf(f, "  peer:      %.*s: %.*s\n", STR_ARG(peer.status), STR_ARG(peer.detail));
        return 0;
    }
    fprintf(f, "  peer:      %9.4g GFlops  %10.2f us [%.2f, %.2f], n=%zu  %.*s\n",
            gflops_of(p->size[size].flops, peer.ns.median), peer.ns.median * 1e-3, peer.ns.lo * 1e-3,
            peer.ns.hi * 1e-3, peer.ns.n, STR_ARG(name));
    if (r->best == SIZE_MAX) return 0;
    TRY(results_compare(a, &peer, &r->result[r->best], &c));
    fprintf(f, "  speed of the winner over the peer's: %.4f [%.4f, %.4f] at %.0f%%\n", c.ratio, c.lo, c.hi,
            c.level * 100);
    return 0;
}

static void failures_print(const PlanView *p, const Ranking *r, FILE *f)
{
    size_t shown = 0, n = 0;
    for (size_t i = 0; i < p->n_candidates; i++) {
        const Candidate *c = &p->candidate[i];
        const Result *x = &r->result[i];
        if (x->good) continue;
        if (n++ == 0) fprintf(f, "  out of the running:\n");
        if (shown++ >= MAX_LOSERS) continue;
        if (x->found)
            fprintf(f, "    %.*s%s%.*s  %.*s\n", STR_ARG(x->status), x->detail.n ? ": " : "",
                    STR_ARG(x->detail), STR_ARG(c->name));
        else if (c->compile != BUILD_NONE && c->compile != BUILD_OK)
            fprintf(f, "    compiler: %s (tuner log OUTDIR %.12s)  %.*s\n", build_outcome_name(c->compile),
                    c->hash.s, STR_ARG(c->name));
        else
            fprintf(f, "    not measured yet  %.*s\n", STR_ARG(c->name));
    }
    if (n > shown) fprintf(f, "    and %zu more\n", n - shown);
}

/* The device of a size, where the run had several: all its kernels are measured on one. */
static Err device_print(Store *s, Arena *a, const PlanView *p, size_t size, FILE *f)
{
    DeviceShare *d;
    size_t n;
    TRY(query_devices(s, a, p, 0, &d, &n));
    if (n < 2) return 0;
    TRY(query_devices(s, a, p, p->size[size].problem, &d, &n));
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%.*s%s", i ? ", " : "  measured on: ", STR_ARG(d[i].device), i + 1 == n ? "\n" : "");
    return 0;
}

static Err size_print(Store *s, Arena *a, const PlanView *p, size_t size, FILE *f)
{
    const SizeRow *z = &p->size[size];
    Ranking r;
    TRY(ranking_make(s, a, p, size, &r));
    fprintf(f, "%.*s  %.*s\n", STR_ARG(p->group), STR_ARG(z->key));
    if (z->conv.n) fprintf(f, "  convolution: %.*s\n", STR_ARG(z->conv));
    fprintf(f, "  tried: %zu candidates: %zu good, %zu out of the running, %zu without a measurement\n",
            p->n_candidates, r.n_good, r.n_failed, r.n_missing);
    TRY(device_print(s, a, p, size, f));
    if (r.best == SIZE_MAX) {
        fprintf(f, "  winner: none\n");
    } else {
        fprintf(f, "  winner:    ");
        times_print(p, z, &r, r.best, f);
        TRY(facts_print(s, a, p, r.best, f));
        TRY(terms_print(s, p, r.best, z, r.result[r.best].ns.median, f));
    }
    if (r.second != SIZE_MAX) {
        const Comparison *c = &r.versus;
        fprintf(f, "  runner-up: ");
        times_print(p, z, &r, r.second, f);
        TRY(facts_print(s, a, p, r.second, f));
        TRY(terms_print(s, p, r.second, z, r.result[r.second].ns.median, f));
        fprintf(f, "  winner against runner-up: %s, time ratio %.4f", stats_verdict_name(c->verdict),
                c->ratio);
        if (r.dropped)
            fprintf(f, " (it dropped out of the race)\n");
        else if (c->verdict == STATS_UNKNOWN)
            fprintf(f, " (too few samples to tell: raise SyncsPerBenchmark)\n");
        else
            fprintf(f, " [%.4f, %.4f] at %.0f%%\n", c->lo, c->hi, c->level * 100);
        TRY(losers_print(s, p, z, &r, f));
    }
    TRY(terms_source_print(s, p, f));
    TRY(peer_print(s, a, p, size, &r, f));
    failures_print(p, &r, f);
    fprintf(f, "  of %lld permutations %lld were valid; rejected before compiling:\n",
            (long long)p->n_permutations, (long long)p->n_valid);
    if (p->n_valid == p->n_permutations) fprintf(f, "    none\n");
    return rejections_print(s, a, p->id, f);
}

static Err explain(Store *s, Arena *a, const char *outdir, const char *text, FILE *f)
{
    Wanted w;
    PlanView *plans;
    size_t n, found = 0;
    if (text) TRY(wanted_parse(text, &w));
    TRY(plans_latest(s, a, &plans, &n));
    if (!n) FAIL(ERR_INPUT, "nothing was planned yet in '%s'", outdir);
    const WinnersOptions table = {.width = terminal_width(STDOUT_FILENO)};
    if (!text) return report_winners(s, plans, n, &table, f);
    for (size_t i = 0; i < n; i++)
        for (size_t z = 0; z < plans[i].n_sizes; z++)
            if (wanted_is(&plans[i].size[z], &w) && !size_seen_before(&plans[i], z)) {
                if (found++) fprintf(f, "\n");
                TRY(size_print(s, a, &plans[i], z, f));
            }
    if (!found) FAIL(ERR_INPUT, "'%s' has no size %s ('tuner explain OUTDIR' lists them)", outdir, text);
    return 0;
}

Err report_explain(const char *outdir, const char *size, FILE *f)
{
    Store s;
    Arena a;
    TRY(store_open(&s, outdir, STORE_READ));
    arena_init(&a, 0);
    FILE *text;
    Err e = text_open(f, &text);
    if (!e) e = text_close(text, explain(&s, &a, outdir, size, text));
    arena_fini(&a);
    store_close(&s);
    return e;
}
