/* Step: compares winners with the peer (--peer): writes OUTDIR/peer.csv and prints a summary. The winner is
 * the best by its samples; ratio is its speed over the peer's, from pairs of blocks that were timed side by
 * side. A size without a winner, or without a result of the peer, has a row too, with the reason in the last
 * column. See run.h.
 */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/own.h"
#include "run/client_ini.h"
#include "fmt/csv.h"
#include "measure/query.h"

enum { WORST_SHOWN = 5, REASONS_SHOWN = 8 };

typedef struct {
    Str group, size, peer;
    double ratio, lo, hi;
} PeerRow;

typedef struct {
    Run *r;
    Arena *a; /* reset for each size */
    Buf csv;
    PeerRow *row;
    size_t n, n_without_winner;
    struct {
        Str text;
        size_t n;
    } reason[REASONS_SHOWN]; /* why sizes with a winner have no result of the peer */
    size_t n_reasons, n_without_peer;
} Peers;

static void date_print(Buf *out)
{
    char text[32];
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "%Y-%m-%d", &tm);
    buf_puts(out, text);
}

static Err header(Peers *p)
{
    Run *r = p->r;
    Buf *out = &p->csv;
    Str driver;
    SessionRecord session;
    bool found;
    TRY(query_environment(&r->store, &r->arena, "driver", &driver));
    TRY(query_session(&r->store, &r->arena, r->session, &session, &found));
    buf_printf(out, "# device: %.*s\n# driver: %.*s\n# date: ", STR_ARG(r->device.text),
               STR_ARG(driver.n ? driver : STR("unknown")));
    date_print(out);
    buf_puts(out, "\n# command: ");
    if (found) buf_str(out, session.command);
    buf_puts(out,
             "\n# ratio: speed of ours over the peer's, median of n pairs of blocks taken side by side, 95% "
             "interval; times are medians of launches, operands not in the cache\n"
             "group,sizes,gflops,time_us,time_lo_us,time_hi_us,n,peer,peer_gflops,peer_time_us,ratio,"
             "ratio_lo,ratio_hi,clock_mhz,power_w,temp_c,throttle,runner_up,solution,no_ratio\n");
    return 0;
}

static void number(Buf *out, double x)
{
    if (isnan(x))
        csv_cell(out, false, STR(""));
    else
        csv_cell_f(out, false, "%.6g", x);
}

static void state_cells(Buf *out, const Result *x)
{
    const Sample *s = x->last;
    number(out, s ? s->clock_mhz : (double)NAN);
    number(out, s ? s->power_w : (double)NAN);
    number(out, s ? s->temp_c : (double)NAN);
    csv_cell_f(out, false, "%u", s ? s->throttle : 0);
}

/* "4096,4096,1,4096,..." of the key "Cijk_Ailk_Bljk_SB 4096,4096,1,4096,...". */
static Str sizes_of(Str key) { return str_sub(key, str_find(key, ' ', 0) + 1, key.n); }

static void empty_cells(Buf *out, int n)
{
    for (int i = 0; i < n; i++) csv_cell(out, false, STR(""));
}

static void peer_cells(Buf *out, const SizeRow *z, const Result *peer, Str name, const Comparison *c)
{
    csv_cell(out, false, name);
    number(out, gflops_of(z->flops, peer->ns.median));
    number(out, peer->ns.median / 1000);
    number(out, c->ratio);
    number(out, c->lo);
    number(out, c->hi);
}

static void winner_cells(Buf *out, const PlanView *plan, const SizeRow *z, const Result *ours)
{
    csv_cell(out, true, plan->group);
    csv_cell(out, false, sizes_of(z->key));
    if (!ours) {
        empty_cells(out, 5);
        return;
    }
    number(out, gflops_of(z->flops, ours->ns.median));
    number(out, ours->ns.median / 1000);
    number(out, ours->ns.lo / 1000);
    number(out, ours->ns.hi / 1000);
    csv_cell_f(out, false, "%zu", ours->ns.n);
}

/* peer: NULL if it has no result; c: NULL if there is no ratio, for the reason why. */
static void row_write(Peers *p, const PlanView *plan, size_t size, const Ranking *rank, const Result *peer,
                      Str name, const Comparison *c, Str why)
{
    static const Comparison none = {.ratio = NAN, .lo = NAN, .hi = NAN};
    const SizeRow *z = &plan->size[size];
    const Result *ours = rank->best == SIZE_MAX ? NULL : &rank->result[rank->best];
    Buf *out = &p->csv;
    winner_cells(out, plan, z, ours);
    if (peer)
        peer_cells(out, z, peer, name, c ? c : &none);
    else
        empty_cells(out, 6);
    if (ours)
        state_cells(out, ours);
    else
        empty_cells(out, 4);
    csv_cell(out, false,
             rank->second == SIZE_MAX               ? STR("none")
             : rank->versus.verdict == STATS_FASTER ? STR("slower")
                                                    : STR("tie"));
    csv_cell(out, false, ours ? plan->candidate[rank->best].name : STR(""));
    csv_cell(out, false, why);
    csv_end(out);
}

/* Keeps a ratio for the summary. */
static Err ratio_add(Peers *p, const PlanView *plan, size_t size, Str name, const Comparison *c)
{
    PeerRow row = {.ratio = c->ratio, .lo = c->lo, .hi = c->hi};
    row.group = arena_dup(&p->r->arena, plan->group);
    row.size = arena_dup(&p->r->arena, sizes_of(plan->size[size].key));
    row.peer = arena_dup(&p->r->arena, name);
    if (!row.group.s || !row.size.s || !row.peer.s) FAIL(ERR_FAILED, "out of memory for %zu rows", p->n);
    p->row[p->n++] = row;
    return 0;
}

/* Counts a size without a result of the peer by the reason; reasons beyond the table only in the total. */
static Err reason_add(Peers *p, Str why)
{
    size_t i = 0;
    p->n_without_peer++;
    while (i < p->n_reasons && !str_eq(p->reason[i].text, why)) i++;
    if (i == REASONS_SHOWN) return 0;
    if (i == p->n_reasons) {
        p->reason[i].text = arena_dup(&p->r->arena, why);
        if (!p->reason[i].text.s) FAIL(ERR_FAILED, "out of memory for a reason");
        p->n_reasons++;
    }
    p->reason[i].n++;
    return 0;
}

static Err size_row(Peers *p, const PlanView *plan, size_t size)
{
    Ranking rank;
    Result peer;
    Str name;
    arena_reset(p->a);
    TRY(ranking_make(&p->r->store, p->a, plan, size, &rank));
    TRY(result_peer(&p->r->store, p->a, plan, size, &name, &peer));
    bool won = rank.best != SIZE_MAX;
    Comparison c;
    if (won && peer.good) {
        TRY(results_compare(p->a, &peer, &rank.result[rank.best], &c));
        row_write(p, plan, size, &rank, &peer, name, &c, STR(""));
        return ratio_add(p, plan, size, name, &c);
    }
    Str why = !won            ? STR("no winner")
              : !peer.found   ? STR("no peer: not measured")
              : peer.detail.n ? peer.detail
                              : peer.status;
    if (won)
        TRY(reason_add(p, why));
    else
        p->n_without_winner++;
    row_write(p, plan, size, &rank, peer.good ? &peer : NULL, name, NULL, why);
    return 0;
}

static Err rows(Peers *p)
{
    Run *r = p->r;
    size_t n = 0;
    for (size_t i = 0; i < r->n_groups; i++) n += r->group[i].skip ? 0 : r->group[i].n_sizes;
    p->row = ARENA_ARRAY(&r->arena, n, PeerRow);
    TRY_ALLOC(p->row);
    for (size_t i = 0; i < r->n_groups; i++) {
        PlanView plan;
        if (r->group[i].skip) continue;
        TRY(plan_load(&r->store, &r->arena, r->group[i].plan, &plan));
        for (size_t z = 0; z + r->group[i].n_held_out < plan.n_sizes; z++) TRY(size_row(p, &plan, z));
    }
    return 0;
}

static int by_ratio(const void *a, const void *b)
{
    const PeerRow *x = a, *y = b;
    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

static void without(const Peers *p)
{
    if (p->n_without_winner) printf("no winner: %zu sizes\n", p->n_without_winner);
    if (p->n_without_peer) printf("no peer: %zu sizes\n", p->n_without_peer);
    for (size_t i = 0; i < p->n_reasons; i++)
        printf("  %6zu  %.*s\n", p->reason[i].n, STR_ARG(p->reason[i].text));
}

static void summary(Peers *p)
{
    double logs = 0;
    if (p->n == 0) {
        printf("\npeer: no size has both a winner and a time of %s\n", peer_name(p->r->config->globals.Peer));
        without(p);
        return;
    }
    for (size_t i = 0; i < p->n; i++) logs += log(p->row[i].ratio);
    qsort(p->row, p->n, sizeof *p->row, by_ratio);
    printf("\nspeed over %.*s: geometric mean %.3f of %zu sizes; the least:\n", STR_ARG(p->row[0].peer),
           exp(logs / (double)p->n), p->n);
    for (size_t i = 0; i < p->n && i < WORST_SHOWN; i++)
        printf("  %.3f [%.3f, %.3f]  %.*s %.*s\n", p->row[i].ratio, p->row[i].lo, p->row[i].hi,
               STR_ARG(p->row[i].group), STR_ARG(p->row[i].size));
    without(p);
}

/* Removes the table of an earlier run, whose winners may be different ones. A file that tuner did not write
 * stays. */
static Err stale_remove(Run *r, const char *path)
{
    Str text;
    if (!file_exists(path) || file_read(&r->arena, path, 64 << 20, &text)) return ERR_OK;
    if (!str_starts(text, "# device: ") || unlink(path)) return ERR_OK;
    notice("peer.csv of an earlier run was removed: its winners may differ (--peer writes it again)");
    return ERR_OK;
}

Err step_peer(Run *r)
{
    Arena a;
    Peers p = {.r = r, .a = &a};
    Str path;
    TRY(run_path(r, &path, "peer.csv"));
    if (!r->config->globals.Peer) return stale_remove(r, path.s);
    arena_init(&a, 0);
    buf_init(&p.csv);
    Err e = header(&p);
    if (!e) e = rows(&p);
    if (!e) e = buf_check(&p.csv);
    if (!e) e = path_no_link(path.s);
    if (!e) e = file_write(path.s, buf_view(&p.csv));
    if (!e) summary(&p);
    fflush(stdout);
    buf_fini(&p.csv);
    arena_fini(&a);
    return e;
}
