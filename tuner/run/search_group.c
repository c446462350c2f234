/* The search of one size-group. See search_group.h. */
#include "run/search_group.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/spread.h"
#include "measure/predictor.h"
#include "measure/rounds.h"
#include "run/search_between.h"
#include "run/type_model.h"

static const char *method_name(int method)
{
    static const char *const names[] = {"exhaustive", "model", "random"};
    return names[method];
}

/* The text whose hash identifies a search: everything that decides what it does, except for its time budget,
 * because more time continues a search. */
static Err record_make(SearchGroup *x, Buf *text)
{
    Run *r = x->r;
    char hash[SHA256_HEX + 1];
    buf_printf(text,
               "search 1\ngroup %.*s\narch %s\nmethod %s\nsetting %" PRId64 "\nenvironment %" PRId64 "\n",
               STR_ARG(x->g->name), r->target->name, method_name(r->config->globals.SearchMethod),
               x->g->setting, r->environment);
    for (size_t z = 0; z < x->search.o.n_sizes; z++)
        buf_printf(text, "size %" PRId64 "\n", x->g->problem_id[z]);
    pool_identity(&x->space, text);
    search_seed_identity(&x->seed, text);
    TRY(buf_check(text));
    sha256_hex(buf_view(text), hash);
    Str key = arena_dup(&r->arena, (Str){hash, SHA256_HEX});
    TRY_ALLOC(key.s);
    x->record = (SearchRecord){.key = key,
                               .group = x->g->name,
                               .method = str_from(method_name(r->config->globals.SearchMethod)),
                               .n_permutations = x->pool.size,
                               .n_candidates = (int64_t)x->pool.n,
                               .n_sizes = (int64_t)x->search.o.n_sizes,
                               .sampled = !pool_is_whole(&x->pool)};
    TRY(store_search(&r->store, &x->record));
    return store_search_rounds(&r->store, &r->arena, x->record.id, &x->recorded, &x->n_recorded);
}

static Err record_open(SearchGroup *x)
{
    Buf text;
    buf_init(&text);
    Err e = record_make(x, &text);
    buf_fini(&text);
    return e;
}

/* Called while a search chooses, so that finished compilers are reaped and new ones start. */
static Err check(void *run)
{
    run_aside(run);
    return run_check();
}

/* ---- what all candidates of the pool have ---- */

enum { PART_ITEMS = 1 << 12 };

typedef struct {
    SearchGroup *x;
    uint64_t (*shown)[PARAM_WORDS]; /* of each part, by Namer */
    int64_t *permutation;           /* of each pair of the seed */
} PoolNotes;

/* Whether a pair of the seed has this kernel. */
static bool seed_has(const SearchSeed *seed, size_t i, Hash128 hash)
{
    return seed->pair[i].hash.lo == hash.lo && seed->pair[i].hash.hi == hash.hi;
}

/* The namer begins with the first candidate that has a name. */
static void namer_begin(SearchGroup *x)
{
    Solution s;
    Hash128 hash;
    for (size_t i = 0; i < x->pool.n && !x->namer.has_first; i++)
        if (pool_get(&x->pool, x->pool.item[i], &s, &hash)) namer_note(&x->namer, &s);
}

static Err notes_part(void *ctx, size_t part)
{
    const PoolNotes *p = ctx;
    const Pool *pool = &p->x->pool;
    Namer namer = p->x->namer;
    Solution s;
    Hash128 hash;
    for (size_t i = part * PART_ITEMS; i < (part + 1) * PART_ITEMS && i < pool->n; i++) {
        if (!pool_get(pool, pool->item[i], &s, &hash)) continue;
        namer_note(&namer, &s);
        for (size_t k = 0; k < p->x->seed.n; k++)
            if (seed_has(&p->x->seed, k, hash)) p->permutation[k] = pool->item[i];
    }
    memcpy(p->shown[part], namer.shown, sizeof namer.shown);
    return ERR_OK;
}

/* Names have the parameters that differ within the pool, so that they are the same in all rounds. Pairs of
 * the seed get their permutation. */
static Err notes_make(SearchGroup *x)
{
    const size_t n_parts = (x->pool.n + PART_ITEMS - 1) / PART_ITEMS;
    const size_t shown_bytes = n_parts * sizeof(uint64_t[PARAM_WORDS]),
                 seed_bytes = x->seed.n * sizeof(int64_t);
    TRY(namer_init(&x->namer, &x->g->problem->pt));
    namer_begin(x);
    PoolNotes p = {x, spread_alloc(shown_bytes), spread_alloc(seed_bytes)};
    for (size_t i = 0; p.permutation && i < x->seed.n; i++) p.permutation[i] = x->seed.pair[i].permutation;
    Err e = p.shown && p.permutation ? ERR_OK
                                     : err_set(ERR_FAILED, "out of memory for %zu candidates", x->pool.n);
    if (!e)
        e = spread_run(&(Spread){
            .n = n_parts, .least = 2, .part = notes_part, .ctx = &p, .idle = check, .idle_ctx = x->r});
    for (size_t i = 0; !e && i < n_parts; i++) namer_join(&x->namer, p.shown[i]);
    for (size_t i = 0; !e && i < x->seed.n; i++) x->seed.pair[i].permutation = p.permutation[i];
    spread_free(p.shown, shown_bytes);
    spread_free(p.permutation, seed_bytes);
    x->g->namer = &x->namer;
    return e;
}

/* The most permutations that a search of a short TimeBudget derives, so that deriving and scoring take a few
 * percent of it. */
static uint64_t looks_most(const Globals *g)
{
    static const double LOOKS_OF_SECOND = 1.5e4, LEAST = 1 << 16;
    double seconds;
    if (g->SearchMethod != GLOBAL_SEARCH_MODEL || !time_parse(g->TimeBudget, &seconds) || seconds <= 0)
        return UINT64_MAX;
    return (uint64_t)fmax(LEAST, LOOKS_OF_SECOND * seconds);
}

static Err pool_make(SearchGroup *x)
{
    Run *r = x->r;
    Group *g = x->g;
    DeriveLimits limits = run_derive_limits(r);
    custom_folder_init(&x->folder, &r->arena, r->target, path_dir(str_from(r->config->path)));
    limits.custom = &x->folder.kernels;
    TRY(deriver_init(&x->deriver, &g->problem->pt, r->target, &limits));
    TRY(space_of_size_group(&x->space, r->config, &g->problem->pt, g->config));
    TRY(pool_init_some(&x->pool, &x->space, &x->deriver, looks_most(&r->config->globals), run_check));
    TRY(custom_folder_check(&x->folder));
    g->n_permutations = (uint64_t)x->pool.size;
    g->rules = x->pool.rules;
    g->n_duplicates = x->pool.n_duplicates;
    memcpy(g->example, x->pool.example, sizeof g->example);
    return 0;
}

/* Whether an earlier pair has this kernel, which has been looked for. */
static bool seed_known(const SearchSeed *seed, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (seed_has(seed, k, seed->pair[i].hash)) return true;
    return false;
}

/* Uses the pairs of the seed whose solutions are in the space. Where the pool is a sample, solutions that it
 * does not have are found by their values. */
static Err seed_use(SearchGroup *x, SearchOptions *o)
{
    SearchSeed *seed = &x->seed;
    SearchFirst *first = ARENA_ARRAY(&x->r->arena, seed->n + 1, SearchFirst);
    TRY_ALLOC(first);
    for (size_t i = 0; i < seed->n; i++) {
        SeedPair *p = &seed->pair[i];
        if (p->permutation < 0 && !seed_known(seed, i)) {
            const int64_t found = pool_find(&x->pool, &p->s, p->hash);
            for (size_t k = i; k < seed->n; k++)
                if (seed_has(seed, k, p->hash)) seed->pair[k].permutation = found;
        }
        TRY(check(x->r));
        if (p->permutation >= 0) first[o->n_first++] = (SearchFirst){p->permutation, p->size};
    }
    o->first = first;
    if (x->r->o->seed_from)
        notice("%.*s: --seed-from: %zu of %zu solutions for these sizes are in the space%s",
               STR_ARG(x->g->name), o->n_first, seed->n,
               seed->has_rates ? "; rates of the performance model are those of this device" : "");
    return 0;
}

static Err model_make(SearchGroup *x, size_t n_sizes, SearchModel *out)
{
    const Run *r = x->r;
    const ProblemType *pt = &x->g->problem->pt;
    PredictorOptions o = {.target = r->target,
                          .pt = pt,
                          .size = x->g->size,
                          .n_sizes = n_sizes,
                          .beta = pt->UseBeta && r->config->globals.DataInitTypeBeta != 0,
                          .max_workspace = r->config->globals.MaxWorkspaceSize};
    run_model_device(r, &o.device);
    memcpy(o.rates, x->seed.rates, sizeof o.rates);
    return predictor_init(&o, out);
}

Err search_group_init(SearchGroup *x, Run *r, Group *g)
{
    static const SearchMethod method[] = {[GLOBAL_SEARCH_EXHAUSTIVE] = SEARCH_EXHAUSTIVE,
                                          [GLOBAL_SEARCH_MODEL] = SEARCH_MODEL,
                                          [GLOBAL_SEARCH_RANDOM] = SEARCH_RANDOM};
    x->r = r;
    x->g = g;
    candidates_init(&x->candidates, r->target, &r->arena);
    map_init(&x->names);
    TRY(pool_make(x));
    if (x->pool.n == 0 || g->n_sizes == g->n_held_out) {
        x->finished = true;
        return x->pool.n ? 0 : group_none_valid(r, g);
    }
    TRY(search_between_add(r, g));
    x->n_own = g->n_sizes - g->n_held_out - g->n_between;
    SearchOptions o = {.pool = &x->pool,
                       .method = method[r->config->globals.SearchMethod],
                       .pt = &g->problem->pt,
                       .size = g->size,
                       .n_sizes = g->n_sizes - g->n_held_out, /* a search does not see held-out sizes */
                       .seed = 1,
                       .graphs = target_family(r->target)->is_gpu,
                       .check = check,
                       .check_ctx = r};
    TRY(search_between_weights(r, g, &o.weight));
    TRY(search_seed_read(r, g, &x->deriver, o.n_sizes, &x->seed));
    TRY(notes_make(x));
    TRY(seed_use(x, &o));
    TRY(model_make(x, o.n_sizes, &o.model));
    TRY(search_init(&x->search, &o));
    TRY(group_identify(r, g));
    return record_open(x);
}

void search_group_fini(SearchGroup *x)
{
    predictor_fini(&x->search.o.model);
    search_fini(&x->search);
    pool_fini(&x->pool);
    space_fini(&x->space);
    candidates_fini(&x->candidates);
    map_fini(&x->names);
    VEC_FINI(&x->made);
    VEC_FINI(&x->now.batch);
    VEC_FINI(&x->next.batch);
    VEC_FINI(&x->after.batch);
    VEC_FINI(&x->setting);
}

uint32_t search_group_candidate(const SearchGroup *x, const Variant *v)
{
    for (uint32_t c = 0; c < x->search.known.n; c++)
        if (x->search.known.v[c].permutation == v->permutation) return c;
    return UINT32_MAX;
}

/* ---- rounds ---- */

static int by_candidate(const void *a, const void *b)
{
    const SearchPair *x = a, *y = b;
    if (x->candidate != y->candidate) return x->candidate < y->candidate ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static void batch_print(const SearchGroup *x, Buf *out)
{
    const SearchBatch *b = &x->after.batch;
    for (size_t i = 0; i < b->n; i++) {
        if (i == 0 || b->v[i].candidate != b->v[i - 1].candidate)
            buf_printf(out, "%s%" PRId64 ":", i ? ";" : "", x->search.known.v[b->v[i].candidate].permutation);
        else
            buf_putc(out, ',');
        buf_printf(out, "%s%u", b->v[i].again ? "+" : "", b->v[i].size);
    }
}

static Err bad_round(const SearchGroup *x, Str part)
{
    FAIL(ERR_INPUT, "'%s' is damaged: round %zu of a search has '%.*s', expected PERMUTATION:SIZE,SIZE",
         store_path(&x->r->store), x->n_rounds, (int)(part.n < 40 ? part.n : 40), part.s);
}

static Err part_parse(SearchGroup *x, Str part)
{
    int64_t permutation, size;
    uint32_t candidate;
    const size_t colon = str_find(part, ':', 0);
    Str sizes = str_sub(part, colon + 1, part.n), word;
    if (colon >= part.n || !str_to_i64(str_sub(part, 0, colon), &permutation)) return bad_round(x, part);
    TRY(search_candidate(&x->search, permutation, &candidate));
    while (str_split(&sizes, ',', &word)) {
        const bool again = word.n && word.s[0] == '+';
        if (!str_to_i64(str_sub(word, again, word.n), &size) || size < 0 ||
            size >= (int64_t)x->search.o.n_sizes)
            return bad_round(x, part);
        SearchPair pair = {candidate, (uint32_t)size, again};
        if (!VEC_PUSH(&x->after.batch, pair)) FAIL(ERR_FAILED, "out of memory for a round");
    }
    return 0;
}

/* Candidates get their numbers in the order of the batch, as when it was chosen. */
static Err batch_replay(SearchGroup *x, Str pairs)
{
    Str part;
    while (str_split(&pairs, ';', &part)) TRY(part_parse(x, part));
    search_replay(&x->search, &x->after.batch);
    return 0;
}

static Err batch_record(SearchGroup *x, double seconds)
{
    Buf text;
    buf_init(&text);
    batch_print(x, &text);
    Err e = buf_check(&text);
    if (!e)
        e = store_search_round_add(&x->r->store, x->record.id, (int64_t)x->n_rounds,
                                   &(SearchRound){buf_view(&text), seconds});
    buf_fini(&text);
    return e;
}

/* Whether there may be pairs for which the seconds of the round were too few. */
static bool lacks_time(const SearchGroup *x, const SearchQuota *q)
{
    static const double WORTH = 1e-3;
    return q->per_size && q->seconds > 0 && search_hope(&x->search) > WORTH;
}

Err search_group_choose(SearchGroup *x, const SearchQuota *q, double seconds, size_t *n)
{
    SearchBatch *b = &x->after.batch;
    const SearchBatch *flight = &x->next.batch;
    *n = b->n = 0;
    x->after.n_before = x->search.known.n;
    if (x->finished) return 0;
    if (x->n_rounds < x->n_recorded) {
        TRY(batch_replay(x, x->recorded[x->n_rounds].pairs));
    } else if (q->per_size) {
        TRY(search_next(&x->search, q, flight, b));
        qsort(b->v, b->n, sizeof *b->v, by_candidate);
        if (b->n) TRY(batch_record(x, seconds));
    }
    *n = b->n;
    x->finished = b->n == 0 && flight->n == 0 && !lacks_time(x, q);
    x->n_rounds += b->n > 0;
    return 0;
}

void search_group_rest(SearchGroup *x)
{
    x->after.batch.n = 0;
    x->after.known = true;
}

Err search_group_make(SearchGroup *x, uint32_t c)
{
    Solution s;
    Hash128 unused;
    CandidateKind kind;
    char hash[CONTENT_HEX + 1];
    bool added;
    Variant none = {0};
    while (x->made.n <= c)
        if (!VEC_PUSH(&x->made, none)) FAIL(ERR_FAILED, "out of memory for %u candidates", c);
    Variant *v = &x->made.v[c];
    if (v->hash.s || x->search.known.v[c].failed) return 0;
    if (!pool_get(&x->pool, x->search.known.v[c].permutation, &s, &unused)) BUG("a candidate is not valid");
    TRY(candidates_add(&x->candidates, &s, &kind, hash));
    if (kind != CANDIDATE_NEW) return search_failed(&x->search, c), 0;
    *v = (Variant){.s = s,
                   .hash = arena_dup(&x->r->arena, (Str){hash, CONTENT_HEX}),
                   .permutation = x->search.known.v[c].permutation};
    TRY_ALLOC(v->hash.s);
    Group one = {.variant = v, .n_variants = 1, .namer = &x->namer, .problem = x->g->problem};
    TRY(group_names(x->r, &one));
    if (!map_put(&x->names, v->name, &added)) FAIL(ERR_FAILED, "out of memory for names");
    if (added) return 0;
    verbose("%.*s: another kernel has this name; left out", STR_ARG(v->name));
    v->hash = STR_NULL;
    return search_failed(&x->search, c), 0;
}

Err search_group_variants(SearchGroup *x, Group *g, const uint32_t *candidate, size_t n)
{
    g->variant = ARENA_ARRAY(&x->r->arena, n, Variant);
    TRY_ALLOC(g->variant);
    g->n_variants = n;
    for (size_t i = 0; i < n; i++) g->variant[i] = x->made.v[candidate[i]];
    return 0;
}

/* Whether the store has all results of a round; a kernel that failed to compile needs none. */
static Err round_known(SearchGroup *x, const Group *g, bool *known)
{
    Run *r = x->r;
    *known = true;
    for (size_t i = 0; *known && i < g->n_variants; i++) {
        bool all = true, found;
        for (size_t z = 0; all && z < g->n_sizes; z++) {
            MeasureKey key = {g->variant[i].kernel, g->problem_id[z], g->setting, 0};
            if (g->wanted[z * g->n_variants + i]) TRY(store_measured(&r->store, &key, &all));
        }
        if (all) continue;
        Compile compile;
        TRY(store_compile_get(&r->store, &r->arena, g->variant[i].kernel, r->environment, &compile, &found));
        *known = found && compile.outcome != BUILD_OK && !r->o->no_cache;
    }
    return 0;
}

/* The candidates of the next round that can be written. */
static Err variants_of(SearchGroup *x)
{
    const SearchBatch *b = &x->after.batch;
    uint32_t *list = x->after.of_variant = ARENA_ARRAY(&x->r->arena, b->n, uint32_t);
    TRY_ALLOC(list);
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (i && b->v[i].candidate == b->v[i - 1].candidate) continue;
        TRY(search_group_make(x, b->v[i].candidate));
        if (!x->search.known.v[b->v[i].candidate].failed) list[n++] = b->v[i].candidate;
        TRY(check(x->r));
    }
    return search_group_variants(x, x->after.g, list, n);
}

static Err wanted_make(SearchGroup *x)
{
    Group *g = x->after.g;
    const SearchBatch *b = &x->after.batch;
    const uint32_t *list = x->after.of_variant;
    const size_t n = g->n_variants;
    bool *wanted = ARENA_ARRAY(&x->r->arena, n * g->n_sizes, bool);
    TRY_ALLOC(wanted);
    for (size_t i = 0, at = 0; i < b->n; i++) {
        while (at < n && list[at] < b->v[i].candidate) at++;
        if (at < n && list[at] == b->v[i].candidate) wanted[b->v[i].size * n + at] = true;
    }
    g->wanted = wanted;
    return 0;
}

/* Orders the round's sizes by expected gain per second; held-out sizes, which have no pairs, are last. */
static Err order_make(SearchGroup *x)
{
    Group *g = x->after.g;
    uint32_t *order = ARENA_ARRAY(&x->r->arena, g->n_sizes, uint32_t);
    TRY_ALLOC(order);
    for (uint32_t z = 0; z < g->n_sizes; z++) order[z] = z;
    g->order = order;
    return search_order(&x->search, &x->after.batch, order);
}

Err search_group_prepare(SearchGroup *x)
{
    Group *g;
    x->after.known = true;
    if (!x->after.batch.n) return 0;
    TRY_ALLOC(x->after.g = g = ARENA_NEW(&x->r->arena, Group));
    *g = *x->g;
    g->skip = false;
    g->helper = NULL, g->column = NULL, g->code_object = NULL;
    g->n_helpers = g->n_columns = g->n_code_objects = 0;
    g->round = (int64_t)x->n_rounds;
    TRY(order_make(x));
    TRY(variants_of(x));
    TRY(wanted_make(x));
    x->r->config->globals.Peer = search_group_peer(x, g);
    TRY(group_identify(x->r, g));
    x->r->config->globals.Peer = 0;
    if (!VEC_PUSH(&x->setting, g->setting)) FAIL(ERR_FAILED, "out of memory for %zu rounds", x->n_rounds);
    for (size_t i = 0; i < g->n_variants; i++)
        x->made.v[x->after.of_variant[i]].kernel = g->variant[i].kernel;
    return round_known(x, g, &x->after.known);
}

size_t search_group_new_kernels(const SearchGroup *x)
{
    size_t n = 0;
    for (size_t i = 0; x->after.batch.n && i < x->after.g->n_variants; i++)
        n += x->after.of_variant[i] >= x->after.n_before;
    return n;
}

/* Moves a round and leaves an empty one, which keeps the memory of the list. */
static void turn_move(SearchTurn *to, SearchTurn *from)
{
    const SearchBatch empty = to->batch;
    *to = *from;
    *from = (SearchTurn){.batch = empty};
    from->batch.n = 0;
}

void search_group_queue(SearchGroup *x) { turn_move(&x->next, &x->after); }

void search_group_advance(SearchGroup *x)
{
    turn_move(&x->now, &x->next);
    turn_move(&x->next, &x->after);
    if (x->now.batch.n) *x->g = *x->now.g;
    x->g->skip = x->g->skip || x->now.batch.n == 0 || x->now.known || x->g->n_variants == 0;
}

/* ---- results ---- */

/* The candidate that is measured again on a size in this round; UINT32_MAX: none. */
static uint32_t anchor_of(const SearchGroup *x, uint32_t z)
{
    for (size_t i = 0; i < x->now.batch.n; i++)
        if (x->now.batch.v[i].again && x->now.batch.v[i].size == z) return x->now.batch.v[i].candidate;
    return UINT32_MAX;
}

/* Takes the results of a size in this round. Where the round measured an earlier candidate once more, times
 * are scaled by its ratio, so that drift between rounds does not count. */
static Err size_results(SearchGroup *x, uint32_t z, Arena *a)
{
    const Group *g = x->g;
    const size_t n = g->n_variants;
    const uint32_t anchor = anchor_of(x, z);
    int64_t *kernel = ARENA_ARRAY(a, n + 1, int64_t);
    double *ns = ARENA_ARRAY(a, n + 1, double);
    Result *r;
    size_t again = SIZE_MAX;
    TRY_ALLOC(kernel);
    TRY_ALLOC(ns);
    for (size_t i = 0; i < n; i++) {
        kernel[i] = g->variant[i].kernel;
        if (x->now.of_variant[i] == anchor) again = i;
    }
    const RoundSize size = {g->setting, g->problem_id[z], kernel, &g->wanted[z * n], n};
    TRY(round_results(&x->r->store, a, &size, &r));
    round_times(r, n, again, again == SIZE_MAX ? 0 : search_value(&x->search, anchor, z), ns);
    for (size_t i = 0; i < n; i++)
        if (ns[i] > 0 && i != again) search_result(&x->search, x->now.of_variant[i], z, ns[i]);
    return 0;
}

/* Takes the peer's time of a size, which the first round measures. */
static Err peer_result(SearchGroup *x, uint32_t z, Arena *a)
{
    SizeRow size = {.problem = x->g->problem_id[z]};
    const PlanView p = {.setting = x->g->setting, .n_runs = 1, .size = &size, .n_sizes = 1};
    Result peer;
    Str name;
    if (!search_group_peer(x, x->g)) return 0;
    TRY(result_peer(&x->r->store, a, &p, 0, &name, &peer));
    if (peer.good) search_peer(&x->search, z, peer.ns.median);
    return 0;
}

/* Kernels of the round that were not compiled. */
static Err failed_note(SearchGroup *x)
{
    for (size_t i = 0; i < x->g->n_variants; i++) {
        Compile c;
        bool found;
        TRY(store_compile_get(&x->r->store, &x->r->arena, x->g->variant[i].kernel, x->r->environment, &c,
                              &found));
        if (found && c.outcome != BUILD_OK) search_failed(&x->search, x->now.of_variant[i]);
    }
    return 0;
}

Err search_group_results(SearchGroup *x)
{
    Arena a;
    x->g->skip = x->g->given_up;
    if (!x->now.batch.n) return 0;
    arena_init(&a, 0);
    Err e = failed_note(x);
    for (uint32_t z = 0; !e && z < x->search.o.n_sizes; z++) {
        arena_reset(&a);
        e = size_results(x, z, &a);
        if (!e) e = peer_result(x, z, &a);
    }
    arena_fini(&a);
    x->now.batch.n = 0;
    return e;
}
