/* Library: the search through the nodes for the solution of a problem, decision trees, and the cache of
 * selections. */
#include <math.h>
#include <string.h>

#include "client/runtime/launch.h"
#include "client/runtime/library_priv.h"

/* ---- nodes ---- */

static float granularity(float x) { return x / ceilf(x); }

static float tiles_per_cu(const Feature *f, const Contraction *p)
{
    return ceilf((float)p->m * f->mt0) * ceilf((float)p->n * f->mt1) * f->cus;
}

static float feature_value(const Feature *f, const Contraction *p)
{
    switch (f->kind) {
    case FEATURE_PROPERTY:
        return (float)property_value(&f->prop, p);
    case FEATURE_TILE0:
        return granularity((float)p->m * f->mt0);
    case FEATURE_TILE1:
        return granularity((float)p->n * f->mt1);
    case FEATURE_CU:
        return granularity(tiles_per_cu(f, p));
    case FEATURE_WAVES:
        return ceilf(tiles_per_cu(f, p)) * f->waves;
    case FEATURE_SCALE:
        return (float)((uint64_t)p->n * (uint64_t)p->n * (uint64_t)p->batch);
    }
    return 0;
}

static bool tree_says_yes(const Tree *t, const float *feature)
{
    int32_t at = 0;
    while (at >= 0)
        at = feature[t->node[at].feature] <= t->node[at].threshold ? t->node[at].next_lte
                                                                   : t->node[at].next_gt;
    return at == -2;
}

/* The first tree whose solution can run and which says yes; else nullValue. */
Err forest_find(Library *lib, const Forest *f, const Contraction *p, Selection *out)
{
    float feature[TREE_FEATURES_MAX];
    for (size_t i = 0; i < f->n_features; i++) feature[i] = feature_value(&f->feature[i], p);
    for (size_t i = 0; i < f->n_trees; i++) {
        if (!tree_says_yes(&f->tree[i], feature)) continue;
        TRY(node_find(lib, f->tree[i].value, p, out));
        if (out->solution) {
            out->why = WHY_TREE;
            return ERR_OK;
        }
    }
    return f->null_value ? node_find(lib, f->null_value, p, out) : ERR_OK;
}

/* A library has a performance model beside decision trees or tables of sections where the model lost less on
 * sizes that were left out: they are for readers that do not know the model, and trees for those who ask for
 * them. The table with the model has the rows of all sections. */
static bool model_instead(const LibNode *n, const LibRow *row, const Contraction *p)
{
    const bool is_trees = row->node->kind == LIB_TREES && p->metric != METRIC_EXPERIMENTAL_DTREE;
    const bool is_section = row->node->kind == LIB_MATCHING && !row->node->table.model &&
                            row->node->table.distance != DIST_EQUALITY;
    if (!is_trees && !is_section) return false;
    for (size_t i = 0; i < n->rows.n; i++) {
        const LibNode *other = n->rows.row[i].node;
        if (other->kind == LIB_MATCHING && other->table.model) return true;
    }
    return false;
}

static Err rows_find(Library *lib, const LibNode *n, const Contraction *p, Selection *out)
{
    for (size_t i = 0; i < n->rows.n; i++) {
        const LibRow *row = &n->rows.row[i];
        if (model_instead(n, row, p)) continue;
        if (row->pred && !pred_holds(row->pred, p)) continue;
        TRY(node_find(lib, row->node, p, out));
        if (out->solution) {
            out->fallback |= row->fallback;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static Err operation_node_find(Library *lib, const LibNode *n, const Contraction *p, Selection *out)
{
    size_t lo = 0, hi = n->map.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (n->map.entry[mid].operation < p->operation)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == n->map.n || n->map.entry[lo].operation != p->operation) return ERR_OK;
    return node_find(lib, n->map.entry[lo].node, p, out);
}

/* The share of the device that a solution uses: the filled part of its tiles times the filled part of the
 * last wave of work-groups. */
static double total_granularity(const LibSolution *s, const Contraction *p)
{
    double t0 = (double)p->m / s->map.macro_tile[0], t1 = (double)p->n / s->map.macro_tile[1];
    double rounds =
        ceil(t0) * ceil(t1) * (double)p->batch * s->map.global_split_u / (double)(s->n_cu ? s->n_cu : 1);
    return t0 / ceil(t0) * (t1 / ceil(t1)) * (rounds / ceil(rounds));
}

static Err granularity_find(Library *lib, const LibNode *n, const Contraction *p, Selection *out)
{
    const int64_t size[4] = {p->m, p->n, p->batch, p->k};
    SolutionChunk *chunk = n->granularity.chunk;
    const LibSolution *s;
    double best = -1;
    for (size_t i = 0; i < n->granularity.n_exact; i++) {
        const ExactSize *e = &n->granularity.exact[i];
        if (memcmp(e->size, size, sizeof size) != 0) continue;
        TRY(solution_of(lib, chunk, e->solution, &s));
        if (solution_can_solve(s, p)) {
            *out = (Selection){.solution = s, .why = WHY_EXACT, .n_key = 4};
            memcpy(out->key, size, sizeof size);
            return ERR_OK;
        }
    }
    for (size_t i = 0; i < n->granularity.n; i++) {
        TRY(solution_of(lib, chunk, n->granularity.solution[i], &s));
        double g = total_granularity(s, p);
        if (g > best && solution_can_solve(s, p)) {
            best = g;
            *out = (Selection){.solution = s, .why = WHY_GRANULARITY};
        }
    }
    return ERR_OK;
}

static Err single_find(Library *lib, const SolutionRef *ref, const Contraction *p, Selection *out)
{
    const LibSolution *s;
    TRY(solution_of(lib, ref->chunk, ref->at, &s));
    if (!solution_can_solve(s, p)) return ERR_OK;
    out->solution = s;
    out->why = WHY_ROW;
    return ERR_OK;
}

static Err matching_find(Library *lib, Table *t, const Contraction *p, Selection *out)
{
    if (!atomic_load_explicit(&t->ready, memory_order_acquire)) TRY(table_use(lib, t));
    return table_find(lib, t, p, out);
}

Err node_find(Library *lib, LibNode *n, const Contraction *p, Selection *out)
{
    LibNode *loaded;
    switch (n->kind) {
    case LIB_SINGLE:
        return single_find(lib, &n->single, p, out);
    case LIB_ROWS:
        return rows_find(lib, n, p, out);
    case LIB_BY_OPERATION:
        return operation_node_find(lib, n, p, out);
    case LIB_MATCHING:
        return matching_find(lib, &n->table, p, out);
    case LIB_TREES:
        return forest_find(lib, &n->forest, p, out);
    case LIB_GRANULARITY:
        return granularity_find(lib, n, p, out);
    case LIB_PLACEHOLDER:
        break;
    }
    loaded = atomic_load_explicit(&n->placeholder.loaded, memory_order_acquire);
    if (!loaded) {
        TRY(placeholder_load(lib, n));
        loaded = atomic_load_explicit(&n->placeholder.loaded, memory_order_acquire);
    }
    return node_find(lib, loaded, p, out);
}

/* ---- selection ---- */

Err library_select_uncached(Library *lib, const Contraction *p, Selection *out)
{
    memset(out, 0, sizeof *out);
    TRY(node_find(lib, lib->root, p, out));
    if (!out->solution) memset(out, 0, sizeof *out);
    return ERR_OK;
}

enum { KEY_WORDS = sizeof(Contraction) / 8, ANSWER_WORDS = CACHE_WORDS - KEY_WORDS };

/* A sequence lock. Words are acquired and released one by one, so that a reader that sees a new word also
 * sees the odd sequence number. Fences would do the same, but ThreadSanitizer does not support them; on x86
 * all of these are plain moves. */
static bool cache_get(CacheSlot *slot, const uint64_t *key, Selection *out)
{
    uint64_t answer[ANSWER_WORDS], differs = 0;
    uint32_t seq = atomic_load_explicit(&slot->seq, memory_order_acquire);
    if (seq == 0 || seq & 1) return false;
    for (int i = 0; i < KEY_WORDS; i++)
        differs |= atomic_load_explicit(&slot->word[i], memory_order_acquire) ^ key[i];
    if (differs) return false;
    for (int i = 0; i < ANSWER_WORDS; i++)
        answer[i] = atomic_load_explicit(&slot->word[KEY_WORDS + i], memory_order_acquire);
    if (atomic_load_explicit(&slot->seq, memory_order_relaxed) != seq) return false;
    memcpy(out, answer, sizeof *out);
    return true;
}

static void cache_put(CacheSlot *slot, const uint64_t *key, const Selection *s)
{
    uint64_t answer[ANSWER_WORDS] = {0};
    uint32_t seq = atomic_load_explicit(&slot->seq, memory_order_relaxed);
    if (seq & 1 || !atomic_compare_exchange_strong(&slot->seq, &seq, seq + 1)) return; /* another writer */
    memcpy(answer, s, sizeof *s);
    for (int i = 0; i < KEY_WORDS; i++) atomic_store_explicit(&slot->word[i], key[i], memory_order_release);
    for (int i = 0; i < ANSWER_WORDS; i++)
        atomic_store_explicit(&slot->word[KEY_WORDS + i], answer[i], memory_order_release);
    atomic_store_explicit(&slot->seq, seq + 2, memory_order_release);
}

/* Four independent lanes take half the time of a general hash on these 22 words. Keys are compared in full,
 * so a collision costs a miss and never gives a wrong solution. */
static uint64_t key_hash(const uint64_t *key)
{
    uint64_t h[4] = {1, 2, 3, 4};
    for (int i = 0; i < KEY_WORDS; i++) h[i & 3] = (h[i & 3] ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t all = (h[0] ^ h[1] >> 32) * UINT64_C(0xbf58476d1ce4e5b9) + (h[2] ^ h[3] >> 32);
    all = (all ^ all >> 29 ^ h[1] ^ h[3]) * UINT64_C(0x94d049bb133111eb);
    return all ^ all >> 32;
}

Err library_select(Library *lib, const Contraction *p, Selection *out)
{
    uint64_t key[KEY_WORDS];
    if (p->dims) { /* the cache compares bytes, and sizes are elsewhere */
        TRY(library_select_uncached(lib, p, out));
        if (out->solution) out->mapping_source = launch_mapping(out->solution, p, &out->mapping);
        return ERR_OK;
    }
    memcpy(key, p, sizeof *p);
    uint64_t hash = key_hash(key);
    CacheSlot *first = &lib->cache[hash % CACHE_SLOTS], *second = &lib->cache[(hash % CACHE_SLOTS) ^ 1];
    if (cache_get(first, key, out) || cache_get(second, key, out)) return ERR_OK;
    TRY(library_select_uncached(lib, p, out));
    if (out->solution) out->mapping_source = launch_mapping(out->solution, p, &out->mapping);
    /* an empty slot of the two, else one by a bit of the hash that the slot number does not use */
    CacheSlot *to = atomic_load_explicit(&first->seq, memory_order_relaxed) == 0 ? first
                    : hash >> 63                                                 ? first
                                                                                 : second;
    cache_put(to, key, out);
    return ERR_OK;
}
