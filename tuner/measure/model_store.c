/* The performance model's part of the store. See model_store.h. */
#include "measure/model_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/db.h"

static const char kernel_table[] =
    "CREATE TABLE IF NOT EXISTS model_kernel(kernel INTEGER PRIMARY KEY REFERENCES kernel, numbers TEXT NOT "
    "NULL)";
static const char model_table[] =
    "CREATE TABLE IF NOT EXISTS model(key TEXT PRIMARY KEY, numbers TEXT NOT NULL) WITHOUT ROWID";

/* ---- lists of numbers as text ---- */

static Err numbers_read(Str text, const char *what, double *out, size_t n)
{
    Str rest = text, one;
    size_t i = 0;
    for (; i < n && str_split(&rest, ' ', &one); i++)
        if (!str_to_f64(one, &out[i]) || !isfinite(out[i])) break;
    if (i < n || rest.n)
        FAIL(ERR_INPUT, "the store is damaged: %s '%.*s', expected %zu numbers", what,
             text.n > 40 ? 40 : (int)text.n, text.s, n);
    return 0;
}

typedef struct {
    const char *what;
    double *out;
    size_t n;
    bool found;
} Row;

static Err row_take(void *ctx, const DbRow *row)
{
    Row *r = ctx;
    r->found = true;
    return numbers_read(row_text(row, 0), r->what, r->out, r->n);
}

/* ---- kernels ---- */

enum { N_INTS = MODEL_KERNEL_NUMBERS - 3 };
_Static_assert(offsetof(ModelKernel, rate) == N_INTS * 4, "the floats are the last members");

Err store_model_kernel_add(Store *s, int64_t kernel, const ModelKernel *k)
{
    int32_t v[N_INTS];
    Buf text;
    buf_init(&text);
    memcpy(v, k, sizeof v);
    for (int i = 0; i < N_INTS; i++) buf_printf(&text, "%d ", v[i]);
    buf_printf(&text, "%.6g %.6g %.6g", (double)k->rate, (double)k->peak, (double)k->local_bytes);
    Err e = buf_check(&text);
    if (!e) e = db_exec(s->db, kernel_table, "");
    if (!e)
        e = db_exec(s->db, "INSERT OR REPLACE INTO model_kernel VALUES(?, ?)", "is", kernel, buf_view(&text));
    buf_fini(&text);
    return e;
}

Err store_model_kernel_get(Store *s, int64_t kernel, ModelKernel *out, bool *found)
{
    double v[MODEL_KERNEL_NUMBERS];
    int32_t whole[N_INTS];
    Row r = {"numbers of a kernel", v, MODEL_KERNEL_NUMBERS, false};
    TRY(db_has_table(s->db, "model_kernel", found));
    if (!*found) return 0;
    TRY(db_each(s->db, row_take, &r, "SELECT numbers FROM model_kernel WHERE kernel=?", "i", kernel));
    *found = r.found;
    if (!r.found) return 0;
    for (int i = 0; i < MODEL_KERNEL_NUMBERS; i++)
        if (fabs(v[i]) > 1e9) FAIL(ERR_INPUT, "the store is damaged: %g in the numbers of a kernel", v[i]);
    for (int i = 0; i < N_INTS; i++) whole[i] = (int32_t)v[i];
    memcpy(out, whole, sizeof whole);
    out->rate = (float)v[N_INTS];
    out->peak = (float)v[N_INTS + 1];
    out->local_bytes = (float)v[N_INTS + 2];
    if (!model_kernel_ok(out)) FAIL(ERR_INPUT, "the store is damaged: numbers of a kernel out of bounds");
    return 0;
}

/* ---- fitted rates ---- */

enum { N_DEVICE = sizeof(ModelDevice) / sizeof(double), N_FIT = 3, N_CLASS = MODEL_N_RATES + N_FIT };
enum { N_MODEL = N_DEVICE + MODEL_CLASSES * N_CLASS };

Err store_model_add(Store *s, Str key, const ModelRecord *m)
{
    double device[N_DEVICE], rates[MODEL_N_RATES];
    Buf text;
    buf_init(&text);
    memcpy(device, &m->device, sizeof device);
    for (int i = 0; i < N_DEVICE; i++) buf_printf(&text, "%s%.9g", i ? " " : "", device[i]);
    for (int c = 0; c < MODEL_CLASSES; c++) {
        memcpy(rates, &m->rates[c], sizeof rates);
        for (int i = 0; i < MODEL_N_RATES; i++) buf_printf(&text, " %.9g", rates[i]);
        buf_printf(&text, " %zu %.6g %.6g", m->fit[c].n, m->fit[c].before, m->fit[c].after);
    }
    Err e = buf_check(&text);
    if (!e) e = db_exec(s->db, model_table, "");
    if (!e) e = db_exec(s->db, "INSERT OR REPLACE INTO model VALUES(?, ?)", "ss", key, buf_view(&text));
    buf_fini(&text);
    return e;
}

Err store_model_get(Store *s, Str key, ModelRecord *out, bool *found)
{
    double v[N_MODEL];
    Row r = {"rates of the performance model", v, N_MODEL, false};
    TRY(db_has_table(s->db, "model", found));
    if (!*found) return 0;
    TRY(db_each(s->db, row_take, &r, "SELECT numbers FROM model WHERE key=?", "s", key));
    *found = r.found;
    if (!r.found) return 0;
    for (int i = 0; i < N_DEVICE + MODEL_CLASSES * N_CLASS; i++)
        if (v[i] < 0 || v[i] > 1e18)
            FAIL(ERR_INPUT, "the store is damaged: %g in the rates of the model", v[i]);
    memcpy(&out->device, v, sizeof out->device);
    for (int c = 0; c < MODEL_CLASSES; c++) {
        const double *from = v + N_DEVICE + c * N_CLASS;
        memcpy(&out->rates[c], from, sizeof out->rates[c]);
        from += MODEL_N_RATES;
        out->fit[c] = (ModelFit){(size_t)from[0], from[1], from[2]};
    }
    return 0;
}

/* ---- the matrix ---- */

ModelSize model_size_of_key(Str key, int32_t bytes_ab, int32_t bytes_d)
{
    int64_t v[8] = {1, 1, 1, 1};
    Str rest = size_numbers(key), part;
    int n = 0;
    while (n < 8 && str_split(&rest, ',', &part) && str_to_i64(part, &v[n])) n++;
    ModelSize z = {(double)v[0], (double)v[1], (double)v[3], (double)v[2], 16, 16, 16, false, 0, 0};
    if (n == 8) { /* M, N, batch, K, LDD, LDC, LDA, LDB */
        z.align_d = model_align(v[4] * bytes_d);
        z.align_a = model_align(v[6] * bytes_ab);
        z.align_b = model_align(v[7] * bytes_ab);
    }
    return z;
}

static const char size_table[] =
    "CREATE TABLE IF NOT EXISTS model_size(problem INTEGER PRIMARY KEY REFERENCES problem, numbers TEXT NOT "
    "NULL)";

/* M, N, K, batch, alignments of A, B and D in bytes, distinct parts of A and B. */
enum { N_SIZE = 9 };

Err store_model_size_add(Store *s, int64_t problem, const ModelSize *z)
{
    Buf text;
    buf_init(&text);
    buf_printf(&text, "%.17g %.17g %.17g %.17g %d %d %d %.17g %.17g", z->m, z->n, z->k, z->batch, z->align_a,
               z->align_b, z->align_d, z->once_a, z->once_b);
    Err e = buf_check(&text);
    if (!e) e = db_exec(s->db, size_table, "");
    if (!e)
        e = db_exec(s->db, "INSERT OR REPLACE INTO model_size VALUES(?, ?)", "is", problem, buf_view(&text));
    buf_fini(&text);
    return e;
}

Err store_model_size_get(Store *s, const SizeRow *row, int32_t bytes_ab, int32_t bytes_d, ModelSize *out)
{
    double v[N_SIZE];
    Row r = {"size of a problem", v, N_SIZE, false};
    bool has;
    *out = model_size_of_key(row->key, bytes_ab, bytes_d);
    TRY(db_has_table(s->db, "model_size", &has));
    if (!has) return 0;
    TRY(db_each(s->db, row_take, &r, "SELECT numbers FROM model_size WHERE problem=?", "i", row->problem));
    if (!r.found) return 0;
    for (int i = 0; i < N_SIZE; i++)
        if (v[i] < (i < 7) || v[i] > (i >= 4 && i < 7 ? MODEL_ALIGN_MAX : 1e18))
            FAIL(ERR_INPUT, "the store is damaged: %g in the size of a problem", v[i]);
    *out = (ModelSize){.m = v[0],
                       .n = v[1],
                       .k = v[2],
                       .batch = v[3],
                       .align_a = (int32_t)v[4],
                       .align_b = (int32_t)v[5],
                       .align_d = (int32_t)v[6],
                       .once_a = v[7],
                       .once_b = v[8]};
    return 0;
}

/* The median; the least time where other work disturbed the samples. */
static double time_of(const Result *r)
{
    bool wide = r->ns.n > 2 && r->ns.max - r->ns.min > 2 * BUSY_WIDTH * r->ns.median;
    return wide && r->round[0] == 0 ? r->ns.min : r->ns.median;
}

Err model_matrix_load(Store *s, Arena *a, const PlanView *p, ModelMatrix *out)
{
    size_t nk = p->n_candidates, nz = p->n_sizes;
    *out = (ModelMatrix){.n_kernels = nk, .n_sizes = nz};
    TRY_ALLOC(out->kernel = ARENA_ARRAY(a, nk + 1, ModelKernel));
    TRY_ALLOC(out->known = ARENA_ARRAY(a, nk + 1, bool));
    TRY_ALLOC(out->size = ARENA_ARRAY(a, nz + 1, ModelSize));
    TRY_ALLOC(out->seconds = ARENA_ARRAY(a, nk * nz + 1, double));
    int32_t ab = 4, d = 4;
    for (size_t k = 0; k < nk; k++) {
        TRY(store_model_kernel_get(s, p->candidate[k].kernel, &out->kernel[k], &out->known[k]));
        if (out->known[k]) ab = out->kernel[k].bytes_ab, d = out->kernel[k].bytes_d;
    }
    Arena scratch;
    arena_init(&scratch, 0);
    Err e = 0;
    for (size_t z = 0; !e && z < nz; z++) {
        Result *r;
        e = store_model_size_get(s, &p->size[z], ab, d, &out->size[z]);
        out->size[z].once_a = out->size[z].once_b = 0; /* libraries, whose model this fits, have none */
        if (!e) e = results_get(s, &scratch, p, z, &r);
        for (size_t k = 0; !e && k < nk; k++)
            out->seconds[z * nk + k] = r[k].good ? time_of(&r[k]) * 1e-9 : 0;
        arena_reset(&scratch);
    }
    arena_fini(&scratch);
    return e;
}
