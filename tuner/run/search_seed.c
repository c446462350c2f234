/* The seed of a search. See search_seed.h. */
#include "run/search_seed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "logic/derive.h"
#include "logic/logic.h"
#include "measure/model.h"
#include "measure/model_store.h"
#include "problem/model_select.h"
#include "run/type_model.h"
#include "space/naming.h"

/* NEAREST rows of each size are tried; FILES of a directory are read, at most. */
enum { NEAREST = 2, FILES = 4096 };

typedef struct {
    double distance;
    const LogicSolution *solution;
} Near;

typedef struct {
    Run *r;
    const Group *g;
    const Deriver *deriver;
    size_t n_sizes;
    ModelDevice device;
    Near *near; /* [size][NEAREST] */
    SearchSeed *out;
} Reading;

/* Distances that are added to those of sizes: seeds of another type of as many bytes, and of another
 * transpose of A or of B. */
static const double OTHER_TYPE = 0.1, OTHER_TRANSPOSE = 0.25;

double search_seed_apart(const ProblemType *of, const ProblemType *pt)
{
    const int32_t types[][2] = {{of->DataType, pt->DataType},
                                {of->DestDataType, pt->DestDataType},
                                {of->ComputeDataType, pt->ComputeDataType}};
    double sum = 0;
    if (problem_type_equal(of, pt)) return 0;
    if (!problem_is_gemm(of) || !problem_is_gemm(pt)) return -1;
    if (of->TotalIndices != pt->TotalIndices || of->Batched != pt->Batched) return -1;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const DataTypeInfo *a = type_info((DataType)types[i][0]), *b = type_info((DataType)types[i][1]);
        if (a->bytes != b->bytes || a->integral != b->integral || a->complex != b->complex ||
            a->packing != b->packing)
            return -1;
        sum += a == b ? 0 : OTHER_TYPE;
    }
    sum += of->TransposeA == pt->TransposeA ? 0 : OTHER_TRANSPOSE;
    return sum + (of->TransposeB == pt->TransposeB ? 0 : OTHER_TRANSPOSE);
}

double search_seed_distance(const ProblemType *pt, const int64_t *a, const int64_t *b)
{
    double sum = 0;
    for (int32_t i = 0; i < pt->TotalIndices; i++) sum += fabs(log((double)a[i] / (double)b[i]));
    return sum;
}

/* Keeps the nearest rows, of a solution only its nearest, sorted. */
static void near_insert(Near *near, Near new)
{
    int n = 0;
    for (int i = 0; i < NEAREST && near[i].solution; i++) {
        if (near[i].solution == new.solution && near[i].distance <= new.distance) return;
        if (near[i].solution != new.solution) near[n++] = near[i];
    }
    for (int i = n; i < NEAREST; i++) near[i].solution = NULL;
    int at = n < NEAREST ? n : NEAREST;
    while (at > 0 && near[at - 1].distance > new.distance) at--;
    if (at == NEAREST) return;
    for (int i = NEAREST - 1; i > at; i--) near[i] = near[i - 1];
    near[at] = new;
}

static void row_note(Reading *x, const Logic *l, const LogicRow *row, double apart)
{
    const ProblemType *pt = &x->g->problem->pt;
    if (row->n < pt->TotalIndices) return;
    for (int32_t i = 0; i < pt->TotalIndices; i++)
        if (row->size[i] < 1) return;
    for (size_t z = 0; z < x->n_sizes; z++) {
        Near *near = &x->near[z * NEAREST];
        near_insert(near, (Near){apart + search_seed_distance(pt, x->g->size[z].v, row->size),
                                 &l->solution[row->solution]});
    }
}

/* The rates of a file whose kernels were measured on a device with these numbers. */
static void rates_note(Reading *x, const LogicSolution *s)
{
    const Node *list = logic_solution_kept(s, LOGIC_MODEL_KEY);
    double v[MODEL_ENTRY_NUMBERS];
    ModelEntry e;
    if (!list || list->kind != NODE_SEQ || list->n < MODEL_ENTRY_NUMBERS) return;
    for (size_t i = 0; i < MODEL_ENTRY_NUMBERS; i++)
        if (node_real(&list->item[i], x->r->o->seed_from, LOGIC_MODEL_KEY, &v[i])) {
            err_clear();
            return;
        }
    if (!model_entry_read(v, &e) || memcmp(&e.device, &x->device, sizeof e.device) != 0) return;
    x->out->rates[e.kernel.class] = e.rates;
    x->out->has_rates = true;
}

static Err file_take(Reading *x, const char *path)
{
    Logic *l = ARENA_NEW(&x->r->arena, Logic);
    TRY_ALLOC(l);
    TRY(logic_read(&x->r->arena, path, NULL, l));
    const double apart = search_seed_apart(l->pt, &x->g->problem->pt);
    if (apart < 0) return ERR_OK;
    if (!str_eq_c(l->arch, x->r->target->name)) {
        warning("--seed-from %s: not used: it is logic for %.*s, expected %s", path, STR_ARG(l->arch),
                x->r->target->name);
        return ERR_OK;
    }
    for (size_t i = 0; i < l->n_rows; i++) row_note(x, l, &l->row[i], apart);
    for (size_t i = 0; apart == 0 && i < l->n_solutions; i++) rates_note(x, &l->solution[i]);
    x->out->n_solutions += l->n_solutions;
    return ERR_OK;
}

static Err files_take(Reading *x)
{
    const char *from = x->r->o->seed_from;
    Str *name, dir = path_join(&x->r->arena, from, "3_LibraryLogic");
    size_t n;
    TRY_ALLOC(dir.s);
    if (!dir_exists(from)) return file_take(x, from);
    if (!dir_exists(dir.s)) dir = str_from(from);
    TRY(dir_list(&x->r->arena, dir.s, ".yaml", true, &name, &n));
    if (!n || n > FILES)
        FAIL(ERR_INPUT, "--seed-from %s: %zu logic files, expected an output directory, or 1 to %d files",
             from, n, FILES);
    for (size_t i = 0; i < n; i++) {
        Str path = path_join(&x->r->arena, dir.s, name[i].s);
        TRY_ALLOC(path.s);
        TRY(file_take(x, path.s));
    }
    return ERR_OK;
}

/* The rates that the run of an output directory fitted, if that was on this device. */
static Err store_rates(Reading *x)
{
    const char *from = x->r->o->seed_from;
    Store s = {.lock_fd = -1};
    ModelRecord record;
    bool found = false;
    Buf key;
    Str file = path_join(&x->r->arena, from, "tuning.db");
    TRY_ALLOC(file.s);
    if (!dir_exists(from) || !file_exists(file.s)) return ERR_OK;
    buf_init(&key);
    Err e = type_model_key(x->r, &x->g->problem->pt, &key);
    if (!e) e = store_open(&s, from, STORE_READ);
    if (!e) e = store_model_get(&s, buf_view(&key), &record, &found);
    store_close(&s);
    buf_fini(&key);
    if (!e && !found)
        warning("--seed-from %s: it has no rates of the performance model for this device and problem type",
                from);
    if (e || !found) return e;
    memcpy(x->out->rates, record.rates, sizeof record.rates);
    x->out->has_rates = true;
    return ERR_OK;
}

static Err pairs_make(Reading *x)
{
    LogicKeys keys;
    Buf why;
    SearchSeed *out = x->out;
    logic_keys_init(&keys);
    buf_init(&why);
    TRY_ALLOC(out->pair = ARENA_ARRAY(&x->r->arena, x->n_sizes * NEAREST + 1, SeedPair));
    for (int i = 0; i < NEAREST; i++)
        for (uint32_t z = 0; z < x->n_sizes; z++) {
            SeedPair *p = &out->pair[out->n];
            const LogicSolution *s = x->near[z * NEAREST + (size_t)i].solution;
            *p = (SeedPair){.size = z, .permutation = -1};
            if (!s || !logic_solution_derive(&keys, s, x->deriver, &p->s, &why)) continue;
            p->hash = solution_hash(&p->s);
            out->n++;
        }
    buf_fini(&why);
    return ERR_OK;
}

Err search_seed_read(Run *r, const Group *g, const Deriver *deriver, size_t n_sizes, SearchSeed *out)
{
    Reading x = {.r = r, .g = g, .deriver = deriver, .n_sizes = n_sizes, .out = out};
    *out = (SearchSeed){0};
    model_rates_typical(out->rates);
    if (!r->o->seed_from) return ERR_OK;
    run_model_device(r, &x.device);
    TRY_ALLOC(x.near = ARENA_ARRAY(&r->arena, n_sizes * NEAREST + 1, Near));
    TRY(files_take(&x));
    TRY(store_rates(&x));
    if (!out->n_solutions)
        warning("--seed-from %s: it has no solutions for %.*s", r->o->seed_from, STR_ARG(g->name));
    return pairs_make(&x);
}

void search_seed_identity(const SearchSeed *s, Buf *out)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->pair[i].permutation >= 0)
            buf_printf(out, "seed %lld %u\n", (long long)s->pair[i].permutation, s->pair[i].size);
    for (int c = 0; s->has_rates && c < MODEL_CLASSES; c++) {
        double v[MODEL_N_RATES];
        memcpy(v, &s->rates[c], sizeof v);
        for (int i = 0; i < MODEL_N_RATES; i++) buf_printf(out, "%s%.9g", i ? " " : "rates ", v[i]);
        buf_putc(out, '\n');
    }
}
