/* How far shards are. See shards.h. */
#include "report/shards.h"

#include <string.h>

#include "base/fs.h"
#include "measure/query.h"
#include "measure/shard.h"
#include "report/report.h"

typedef enum { NOT_STARTED, RUNNING, STOPPED, FINISHED, N_STATES } State;
static const char *const state_names[] = {"not started", "running", "stopped", "finished"};

typedef struct {
    State state;
    Str detail;              /* device of a finished one; why another one stopped */
    int64_t n_done, n_pairs; /* measured pairs of kernel and size, and all; 0: not planned yet */
    double seconds,
        seconds_of; /* of a running one: s since the first known end of a pair; pairs done since */
} Progressed;

static Err pairs_count(Store *s, Arena *a, Progressed *out)
{
    PlanView *plans;
    size_t n;
    TRY(plans_latest(s, a, &plans, &n));
    for (size_t i = 0; i < n; i++) {
        PairCount done;
        PairEnd *end;
        size_t n_ends, n_failed = 0;
        for (size_t c = 0; c < plans[i].n_candidates; c++)
            n_failed +=
                plans[i].candidate[c].compile != BUILD_OK && plans[i].candidate[c].compile != BUILD_NONE;
        TRY(query_measured_work(s, plans[i].id, plans[i].setting, plans[i].n_runs, &done));
        out->n_done += done.n;
        out->n_pairs += plan_pairs(&plans[i], (int64_t)n_failed);
        TRY(query_pair_ends(s, a, plans[i].setting, 1000, &end, &n_ends));
        if (n_ends < 2) continue;
        out->seconds += end[0].ended_s - end[n_ends - 1].ended_s;
        out->seconds_of += (double)(n_ends - 1);
    }
    return 0;
}

static Err store_look(Arena *a, const char *dir, Progressed *out)
{
    Store s;
    SessionRecord session;
    bool found;
    TRY(store_open(&s, dir, STORE_READ));
    Err e = query_last_session(&s, a, &session, &found);
    if (!e && found && out->state == STOPPED)
        out->detail = session.detail.n ? session.detail : STR("killed: run it again to continue");
    if (!e) e = pairs_count(&s, a, out);
    store_close(&s);
    return e;
}

static Err shard_look(Arena *a, const char *dir, const ShardPlan *p, size_t i, Progressed *out)
{
    ShardResult result;
    Str path = shard_dir(a, dir, i), db = STR_NULL, done = STR_NULL;
    if (path.s) db = path_join(a, path.s, "tuning.db"), done = path_join(a, path.s, SHARD_RESULT_FILE);
    TRY_ALLOC(db.s && done.s ? db.s : NULL);
    *out = (Progressed){.detail = STR("")};
    if (!file_exists(db.s)) return 0;
    out->state = store_at_work(path.s) ? RUNNING : file_exists(done.s) ? FINISHED : STOPPED;
    if (out->state == FINISHED) {
        TRY(shard_result_read(a, dir, p, i, &result));
        out->detail = arena_printf(a, "%.*s on %.*s", STR_ARG(result.device), STR_ARG(result.host));
        TRY_ALLOC(out->detail.s);
    }
    return store_look(a, path.s, out);
}

static void seconds_print(double s, FILE *f)
{
    if (s >= 3600)
        fprintf(f, "%.1f h", s / 3600);
    else if (s >= 60)
        fprintf(f, "%.0f min", s / 60);
    else
        fprintf(f, "%.0f s", s);
}

static double seconds_left(const Progressed *x)
{
    return x->seconds_of > 0 ? x->seconds / x->seconds_of * (double)(x->n_pairs - x->n_done) : 0;
}

static void shard_print(const ShardPlan *p, size_t i, const Progressed *x, FILE *f)
{
    fprintf(f, "%5zu  %-11s  %6zu sizes", i, state_names[x->state], p->shard[i].n_sizes);
    if (x->n_pairs) fprintf(f, "  measured %lld of %lld", (long long)x->n_done, (long long)x->n_pairs);
    if (x->state == RUNNING && seconds_left(x) > 0) {
        fprintf(f, ", about ");
        seconds_print(seconds_left(x), f);
        fprintf(f, " left");
    }
    if (x->detail.n) fprintf(f, "  %.*s", STR_ARG(x->detail));
    fprintf(f, "\n");
}

/* The line of an unreadable shard says why; the others are printed all the same. */
static Err shards_print(const char *dir, const ShardPlan *p, FILE *f)
{
    size_t count[N_STATES] = {0};
    double longest = 0;
    Arena one;
    Err e = 0;
    fprintf(f, "%zu shards for %.*s\n", p->n, STR_ARG(p->arch));
    arena_init(&one, 0);
    for (size_t i = 0; !e && i < p->n; i++) {
        Progressed x;
        arena_reset(&one);
        e = shard_look(&one, dir, p, i, &x);
        if (e == ERR_INPUT) x.detail = arena_dup(&one, str_from(err_message())), e = 0;
        if (e) break;
        count[x.state]++;
        if (x.state == RUNNING && seconds_left(&x) > longest) longest = seconds_left(&x);
        shard_print(p, i, &x, f);
    }
    arena_fini(&one);
    TRY(e);
    for (int s = 0; s < N_STATES; s++) fprintf(f, "%s%zu %s", s ? ", " : "", count[s], state_names[s]);
    if (longest > 0) {
        fprintf(f, "; those that run need at least ");
        seconds_print(longest, f);
    }
    fprintf(f, "\n");
    if (count[FINISHED]) fprintf(f, "tuner gather %s makes a library of what is finished\n", dir);
    return 0;
}

Err report_shards(const char *dir, FILE *f)
{
    Arena a;
    ShardPlan p;
    arena_init(&a, 0);
    Err e = shard_plan_read(&a, dir, &p);
    if (!e) e = shards_print(dir, &p, f);
    arena_fini(&a);
    return e;
}
