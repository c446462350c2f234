/* tuner-bench --compare: opens the sides, checks and times them on every size. See compare.h. */
#include "client/bench/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "client/bench/bench_gpu.h"

/* A block of calls on the host is at least so long; a GPU's blocks are as long (BLOCK_NS). */
static const double HOST_BLOCK_NS = 1e6;
enum { ROUNDS_MIN = 6 }; /* fewer samples have no 95% interval */

/* ---- one size ---- */

static const char *keep(Compare *x, const char *text)
{
    const char *s = arena_dup(x->arena, str_from(text)).s;
    return s ? s : "out of memory";
}

/* What a library chooses for the case, or that it has nothing. */
static Err choose(Compare *x, size_t s, const CompareRow *r, CompareCell *cell)
{
    tuner_selection chosen;
    Err e = (Err)tuner_select_fused(x->side[s].lib, &r->c->g, x->side[s].epilogue, &chosen);
    if (e == (Err)TUNER_NO_SOLUTION) {
        cell->problem = keep(x, tuner_error_message());
        return ERR_OK;
    }
    TRY(e);
    cell->solution = chosen.kernel;
    cell->why = chosen.why;
    cell->index = chosen.solution_index;
    return ERR_OK;
}

static Err choose_peer(Compare *x, const CompareRow *r, CompareCell *cell)
{
    BenchSide *s = &x->side[SIDE_PEER];
    Buf algorithm;
    Err e = side_peer_problem(&x->bench, s, r->c);
    if (e) {
        cell->problem = keep(x, err_message());
        return e == ERR_INPUT ? ERR_OK : e;
    }
    if (x->bench.gpu) e = bench_gpu_peer_choose(x->bench.gpu, s);
    if (e == ERR_INPUT) {
        cell->problem = keep(x, err_message());
        return ERR_OK;
    }
    TRY(e);
    buf_init(&algorithm);
    s->peer->api->algo_name(s->peer, s->peer->algo, &algorithm);
    cell->solution = s->peer->version;
    cell->why = keep(x, buf_cstr(&algorithm));
    buf_fini(&algorithm);
    return ERR_OK;
}

/* After a fault on a GPU nothing runs any more in this process. */
static bool device_lost(const Compare *x)
{
    const Device *d = x->bench.gpu ? bench_gpu_device(x->bench.gpu) : NULL;
    return d && d->api->lost(d);
}

static Err check_side(Compare *x, size_t s, CompareRow *r, BenchData *d, Validator *v)
{
    CompareCell *cell = &r->side[s];
    TRY(data_restore(&x->bench, r->c, d));
    Err e = side_call(&x->side[s], &r->c->g);
    if (!e && x->bench.gpu) e = (Err)tuner_synchronize(x->side[SIDE_OLD].lib); /* the stream of all sides */
    if (e == ERR_FAILED && !device_lost(x)) {
        cell->problem = keep(x, err_message());
        return ERR_OK;
    }
    TRY(e);
    TRY(data_check(&x->bench, r->c, d, v, &cell->check));
    if (!cell->check.passed)
        cell->problem = arena_printf(x->arena, "the result is wrong: %s", cell->check.text).s;
    TRY_ALLOC(cell->problem);
    return ERR_OK;
}

/* The first library does not do the fused operations. */
static bool is_plain(const Compare *x, size_t s) { return s == SIDE_OLD && x->o->old_plain; }

/* The reference of a side: the same for all but a plain first library. Made when first needed. */
static Err reference(Compare *x, size_t s, const CompareRow *r, const BenchData *d, Validator *made[2],
                     Validator **out)
{
    Validator **v = &made[is_plain(x, s)];
    BenchData of = *d;
    if (is_plain(x, s)) of.epilogue = NULL;
    if (!*v) TRY(data_validator(&x->bench, r->c, &of, v));
    *out = *v;
    return ERR_OK;
}

static Err check_all(Compare *x, CompareRow *r, BenchData *d)
{
    Validator *made[2] = {NULL, NULL}, *v = NULL;
    Err e = ERR_OK;
    for (size_t s = 0; !e && s < x->n_sides; s++) {
        CompareCell *cell = &r->side[s];
        *cell = (CompareCell){.solution = "", .why = "", .problem = "", .index = -1};
        e = s == SIDE_PEER ? choose_peer(x, r, cell) : choose(x, s, r, cell);
        if (!e) e = reference(x, s, r, d, made, &v);
        if (!e && !*cell->problem) e = check_side(x, s, r, d, v);
    }
    for (int i = 0; i < 2; i++) validator_free(made[i]);
    return e;
}

static void busy_look(Compare *x)
{
    int ready = threads_ready();
    x->ready += ready;
    x->n_looks += ready > 0;
}

/* Rounds of one block of each side that is right. */
static Err time_all(Compare *x, CompareRow *r)
{
    BenchLane lane[SIDES] = {0};
    size_t with[SIDES], n = 0;
    Err e = ERR_OK;
    for (size_t s = 0; !e && s < x->n_sides; s++) {
        CompareCell *cell = &r->side[s];
        if (*cell->problem) continue;
        with[n++] = s;
        cell->ns = ARENA_ARRAY(x->arena, x->n_rounds, double);
        e = cell->ns ? lane_open(&x->bench, &x->side[s], r->c, HOST_BLOCK_NS, &lane[s])
                     : err_set(ERR_FAILED, "out of memory for %zu rounds", x->n_rounds);
    }
    for (size_t i = 0; !e && i < x->n_rounds; i++) {
        busy_look(x);
        for (size_t k = 0; !e && k < n; k++) {
            size_t s = with[(i + k) % n];
            e = lane_block(&x->bench, &lane[s], r->c, &r->side[s].ns[i]);
        }
    }
    for (size_t s = 0; s < x->n_sides; s++) lane_close(&x->bench, &lane[s]);
    return e;
}

static Err summarize(Compare *x, CompareRow *r)
{
    const CompareCell *before = &r->side[SIDE_OLD], *now = &r->side[SIDE_NEW], *peer = &r->side[SIDE_PEER];
    double *sorted = ARENA_ARRAY(x->arena, x->n_rounds, double);
    TRY_ALLOC(sorted);
    r->ratio = r->versus = (Comparison){.verdict = STATS_UNKNOWN, .ratio = NAN, .lo = NAN, .hi = NAN};
    for (size_t s = 0; s < x->n_sides; s++) {
        CompareCell *cell = &r->side[s];
        if (!cell->ns) continue;
        memcpy(sorted, cell->ns, x->n_rounds * sizeof *sorted);
        stats_summary(sorted, x->n_rounds, 0.95, &cell->sum);
    }
    if (before->ns && now->ns)
        TRY(stats_compare_paired(before->ns, now->ns, x->n_rounds, 0.95, 0, &r->ratio));
    if (x->n_sides > SIDE_PEER && peer->ns && now->ns)
        TRY(stats_compare_paired(peer->ns, now->ns, x->n_rounds, 0.95, 0, &r->versus));
    return ERR_OK;
}

static bool is_low(const Compare *x, const Comparison *c)
{
    return x->o->fail_below > 0 && c->verdict != STATS_UNKNOWN && c->hi < x->o->fail_below;
}

static Err run_size(Compare *x, CompareRow *r)
{
    unsigned char alpha[16], beta[16];
    BenchCase *c = r->c;
    BenchData d;
    case_scalars(c, alpha, beta);
    Err e = data_init(&x->bench, c, &d);
    for (size_t s = 0; s < x->n_sides; s++) x->side[s].epilogue = is_plain(x, s) ? NULL : d.epilogue;
    if (!e && x->bench.gpu) e = bench_gpu_load(x->bench.gpu, c, &d);
    if (!e) e = check_all(x, r, &d);
    if (!e) e = time_all(x, r);
    if (!e) e = summarize(x, r);
    if (x->bench.gpu) bench_gpu_unload(x->bench.gpu);
    data_fini(&d);
    return e;
}

/* ---- all sizes ---- */

static Err run_sizes(Compare *x)
{
    compare_header(x);
    for (; x->n_done < x->n && !interrupted(); x->n_done++) {
        CompareRow *r = &x->row[x->n_done];
        TRY(run_size(x, r));
        r->suspect = is_low(x, &r->ratio);
        compare_line(x, r);
    }
    for (size_t i = 0; i < x->n_done && x->n_done == x->n; i++) {
        CompareRow *r = &x->row[i];
        if (!r->suspect) continue;
        if (interrupted())
            FAIL(ERR_FAILED, "interrupted before all sizes below %g were timed again", x->o->fail_below);
        TRY(run_size(x, r));
        r->failed = is_low(x, &r->ratio);
        compare_line(x, r);
    }
    return ERR_OK;
}

static Err verdict(const Compare *x, const CompareTotal *t)
{
    if (x->n_done < x->n) FAIL(ERR_FAILED, "interrupted after %zu of %zu sizes", x->n_done, x->n);
    if (t->n_wrong) FAIL(ERR_FAILED, "%zu results are wrong or missing", t->n_wrong);
    if (t->n_failed)
        FAIL(ERR_FAILED, "%zu of %zu sizes are slower than %g of '%s'", t->n_failed, t->n_both,
             x->o->fail_below, x->name[SIDE_OLD]);
    if (t->n_without[SIDE_NEW])
        FAIL(ERR_PARTIAL, "%zu of %zu sizes have no solution in '%s'", t->n_without[SIDE_NEW], x->n,
             x->name[SIDE_NEW]);
    return ERR_OK;
}

/* Cases of a file, with their calls as weights; those with nothing to compute are left out. */
static Err read_sizes(Compare *x, const BenchCase *base)
{
    BenchCase *c, all = *base;
    size_t n, n_empty = 0;
    all.iters_given = true; /* a file's call_count is a weight and not a number of rounds */
    all.verify = true;
    TRY(case_read_file(x->arena, x->o->file, &all, &c, &n));
    x->row = ARENA_ARRAY(x->arena, n, CompareRow);
    TRY_ALLOC(x->row);
    for (size_t i = 0; i < n; i++) {
        bool empty = c[i].g.m == 0 || c[i].g.n == 0 || c[i].g.k == 0 || c[i].g.batch == 0;
        n_empty += empty;
        c[i].verify = true;
        if (!empty) x->row[x->n++].c = &c[i];
    }
    if (n_empty) notice("%s: left out: %zu with a size of 0", x->o->file, n_empty);
    if (x->n == 0) FAIL(ERR_INPUT, "%s: every GEMM has a size of 0", x->o->file);
    return ERR_OK;
}

/* An error ends the comparison; what was compared before is written. */
static Err stopped_at(Compare *x, Err e)
{
    CompareTotal t;
    char why[2048];
    snprintf(why, sizeof why, "%s", err_message());
    if (x->n_done > 0 && !compare_total(x, &t)) {
        compare_summary(x, &t);
        if (compare_files(x, &t)) warning("%s", err_message());
    }
    FAIL(e, "%s", why);
}

static Err run(Compare *x)
{
    CompareTotal t;
    interrupt_init();
    Err stopped = run_sizes(x);
    if (stopped) return stopped_at(x, stopped);
    TRY(compare_total(x, &t));
    compare_summary(x, &t);
    TRY(compare_files(x, &t));
    return verdict(x, &t);
}

/* ---- opening ---- */

static Err open_peer(Compare *x, Device **device)
{
    const DeviceOptions one_thread = {.n_threads = 1}; /* the device only says where the peer runs */
    *device = NULL;
    if (!x->o->peer) return ERR_OK;
    Device *d = x->bench.gpu ? bench_gpu_device(x->bench.gpu) : NULL;
    if (!d) {
        TRY(device_host.open(0, &one_thread, device));
        d = *device;
    }
    TRY(peer_open(x->o->peer, d, x->bench.n_threads, &x->side[SIDE_PEER].peer));
    x->name[SIDE_PEER] = x->side[SIDE_PEER].peer->version;
    x->n_sides = SIDES;
    return ERR_OK;
}

static Err open_libraries(Compare *x, const tuner_options *options)
{
    const char *device[2];
    for (int s = SIDE_OLD; s <= SIDE_NEW; s++) {
        TRY((Err)tuner_open(&x->side[s].lib, x->o->library[s], options));
        x->name[s] = tuner_library_path(x->side[s].lib);
        device[s] = tuner_library_device(x->side[s].lib);
    }
    if (strcmp(device[SIDE_OLD], device[SIDE_NEW]))
        FAIL(ERR_INPUT, "'%s' would run on %s, '%s' on %s: expected libraries for one device (--device)",
             x->name[SIDE_OLD], device[SIDE_OLD], x->name[SIDE_NEW], device[SIDE_NEW]);
    return ERR_OK;
}

static Err open_all(Compare *x, const tuner_options *options, int n_threads, Device **host)
{
    TRY(open_libraries(x, options));
    TRY(bench_open(&x->bench, x->side[SIDE_OLD].lib, n_threads));
    TRY(bench_gpu_join(x->bench.gpu, x->side[SIDE_NEW].lib));
    return open_peer(x, host);
}

Err bench_compare(Arena *a, const CompareOptions *o, const tuner_options *options, int n_threads,
                  const BenchCase *base)
{
    Compare x = {.arena = a, .o = o, .n_sides = SIDE_PEER};
    Device *host = NULL;
    x.n_rounds = base->iters_given ? (size_t)base->iters : COMPARE_ROUNDS;
    if (x.n_rounds < ROUNDS_MIN || x.n_rounds > 1 << 16)
        FAIL(ERR_INPUT, "--iters: %zu rounds, expected %d to %d with --compare", x.n_rounds, ROUNDS_MIN,
             1 << 16);
    TRY(read_sizes(&x, base));
    for (int s = SIDE_OLD; s <= SIDE_NEW; s++) x.name[s] = o->library[s];
    Err e = open_all(&x, options, n_threads, &host);
    if (!e) e = run(&x);
    peer_close(x.side[SIDE_PEER].peer);
    if (host) host->api->close(host);
    bench_fini(&x.bench);
    for (int s = SIDE_OLD; s <= SIDE_NEW; s++)
        if (x.side[s].lib) tuner_close(x.side[s].lib);
    return e;
}
