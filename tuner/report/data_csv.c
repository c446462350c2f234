/* The data of a report from CSV files: results of tuner and Tensile, tables with a row for each size
 * (peer.csv and the like), output of rocblas-bench and tuner-bench. See data.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/ranked.h"
#include "base/vec.h"
#include "fmt/csv.h"
#include "report/data.h"

enum { CSV_BYTES_MAX = 1 << 30 };

/* A group whose sizes are still being read. */
typedef struct {
    size_t group; /* of the data */
    VEC(ReportSize) size;
    VEC(ReportKernel) kernel;
    Map kernels; /* name to number in kernel + 1 */
} Growing;

typedef struct {
    ReportData *d;
    const char *path, *part;
    Str device;
    Csv csv;
    Arena row; /* reset for each row */
    VEC(Growing *) group;
    Map groups; /* name to number in group + 1 */
} Reading;

static Err out_of_memory(const Reading *r) { FAIL(ERR_FAILED, "%s: out of memory", r->path); }

/* ---- groups ---- */

static Err group_named(Reading *r, Str name, Growing **out)
{
    bool added;
    int64_t *number = map_put(&r->groups, name, &added);
    if (!number) return out_of_memory(r);
    if (!added) {
        *out = r->group.v[*number - 1];
        return ERR_OK;
    }
    ReportGroup *g = report_group_add(r->d);
    Growing *grow = ARENA_NEW(&r->d->arena, Growing);
    if (!g || !grow || !VEC_PUSH(&r->group, grow)) return out_of_memory(r);
    *number = (int64_t)r->group.n;
    g->name = arena_dup(&r->d->arena, name);
    g->arch = STR("");
    if (!g->name.s) return out_of_memory(r);
    g->type = report_type_of(g->name);
    grow->group = (size_t)(g - r->d->group);
    map_init(&grow->kernels);
    *out = grow;
    return ERR_OK;
}

static Err kernel_named(Reading *r, Growing *g, Str name, size_t *out)
{
    bool added;
    int64_t *number = map_put(&g->kernels, name, &added);
    if (!number) return out_of_memory(r);
    if (added) {
        ReportKernel k = {arena_dup(&r->d->arena, name), STR(""), STR("")};
        if (!k.name.s || !VEC_PUSH(&g->kernel, k)) return out_of_memory(r);
        *number = (int64_t)g->kernel.n;
    }
    *out = (size_t)*number - 1;
    return ERR_OK;
}

static Err size_add(Reading *r, Growing *g, Str numbers, double flops, ReportSize **out)
{
    Str copy = arena_dup(&r->d->arena, numbers);
    ReportSize z;
    if (!copy.s) return out_of_memory(r);
    report_size_init(&r->d->group[g->group], &z, copy, flops);
    if (!VEC_PUSH(&g->size, z)) return out_of_memory(r);
    *out = &g->size.v[g->size.n - 1];
    return ERR_OK;
}

static Err groups_finish(Reading *r)
{
    for (size_t i = 0; i < r->group.n; i++) {
        Growing *from = r->group.v[i];
        ReportGroup *g = &r->d->group[from->group];
        g->size = ARENA_ARRAY(&r->d->arena, from->size.n, ReportSize);
        g->kernel = ARENA_ARRAY(&r->d->arena, from->kernel.n, ReportKernel);
        if (!g->size || !g->kernel) return out_of_memory(r);
        if (from->size.n) memcpy(g->size, from->size.v, from->size.n * sizeof *g->size);
        if (from->kernel.n) memcpy(g->kernel, from->kernel.v, from->kernel.n * sizeof *g->kernel);
        g->n_sizes = from->size.n;
        g->n_kernels = from->kernel.n;
        report_ceilings(g, r->device, r->part);
    }
    return ERR_OK;
}

/* ---- numbers ---- */

/* NAN for an empty cell and for texts. */
static double real_of(Str cell)
{
    double v;
    Str text = str_trim(cell);
    return str_to_f64(text, &v) ? v : (double)NAN;
}

static void place_set(ReportSize *z, size_t kernel, double gflops, double ns, double lo, double hi, double n)
{
    if (isnan(ns) && gflops > 0) ns = z->flops / gflops;
    if (isnan(gflops) && ns > 0) gflops = z->flops / ns;
    if (!(ns > 0) || !(gflops > 0)) return;
    z->place[0] = (ReportPlace){kernel, ns, lo, hi, n > 0 && n < 1e9 ? (size_t)n : 0};
    z->gflops = gflops;
    z->n_places = 1;
    z->n_good = 1;
}

/* ---- results: a column for each solution ---- */

typedef struct {
    size_t size[16], n_size, flops, first; /* columns */
    bool per_cu;
} ResultColumns;

/* Columns that are neither sizes nor solutions begin with one of these. */
static bool is_other_column(Str name)
{
    static const char *const known[] = {"LDA", "LDB", "LDC", "LDD", "Winner", "TotalFlops", "GFlops"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts(name, known[i])) return true;
    return name.n == 0;
}

static bool results_columns(const Str *cell, size_t n, ResultColumns *c)
{
    *c = (ResultColumns){.flops = SIZE_MAX, .first = 1};
    if (n < 4 || !str_starts(str_trim(cell[0]), "GFlops")) return false;
    c->per_cu = str_eq_c(str_trim(cell[0]), "GFlopsPerCU");
    for (size_t i = 1; i < n; i++) {
        Str name = str_trim(cell[i]);
        bool size = str_starts(name, "Size") || str_starts(name, "LD");
        if (size && c->n_size < 16) c->size[c->n_size++] = i;
        if (str_eq_c(name, "TotalFlops")) c->flops = i;
        if (size || is_other_column(name)) c->first = i + 1;
    }
    return c->n_size > 0 && c->flops != SIZE_MAX;
}

/* The speeds of a row: places, counts, and the table of all. */
static Err speeds_take(Reading *r, const Str *cell, size_t n, ReportSize *z, bool per_cu)
{
    Ranked *speed = ARENA_ARRAY(&r->row, n, Ranked);
    if (!speed) return out_of_memory(r);
    for (size_t k = 0; k < n; k++) {
        double v = real_of(cell[k]);
        z->n_good += v > 0;
        z->n_missing += isnan(v) ? 1 : 0;
        z->n_failed += v <= 0;
        speed[k] = (Ranked){isnan(v) ? -1 : v > 0 ? v : 0, k};
    }
    if (report_speeds_fit(r->d, n)) {
        z->speed = ARENA_ARRAY(&r->d->arena, n, int32_t);
        if (!z->speed) return out_of_memory(r);
        double best = 0;
        for (size_t k = 0; k < n; k++) best = fmax(best, speed[k].value);
        for (size_t k = 0; k < n; k++)
            z->speed[k] = speed[k].value > 0 ? (int32_t)fmax(1, round(1e4 * speed[k].value / best))
                                             : (int32_t)speed[k].value;
    }
    qsort(speed, n, sizeof *speed, ranked_falling);
    while (z->n_places < n && z->n_places < REPORT_PLACES && speed[z->n_places].value > 0) {
        const double ns = per_cu ? (double)NAN : z->flops / speed[z->n_places].value;
        z->place[z->n_places] = (ReportPlace){speed[z->n_places].index, ns, NAN, NAN, 0};
        z->n_places++;
    }
    if (z->n_places) z->gflops = speed[0].value;
    if (z->n_places > 1) {
        z->versus.ratio = speed[1].value / speed[0].value;
        z->versus.lo = z->versus.hi = (double)NAN;
    }
    return ERR_OK;
}

static Err results_row(Reading *r, Growing *g, const ResultColumns *c, const Str *cell, size_t n,
                       size_t width)
{
    Buf numbers;
    ReportSize *z;
    if (n != width)
        FAIL(ERR_INPUT, "%s:%d: a row of %zu cells, expected %zu", r->path, r->csv.line, n, width);
    buf_init(&numbers);
    for (size_t i = 0; i < c->n_size; i++) {
        int64_t v;
        if (!str_to_i64(str_trim(cell[c->size[i]]), &v) || v < 0) {
            buf_fini(&numbers);
            FAIL(ERR_INPUT, "%s:%d: '%.*s' in the place of a size", r->path, r->csv.line,
                 STR_ARG(str_sub(cell[c->size[i]], 0, 40)));
        }
        buf_printf(&numbers, "%s%lld", i ? "," : "", (long long)v);
    }
    Err e = size_add(r, g, buf_view(&numbers), real_of(cell[c->flops]), &z);
    buf_fini(&numbers);
    return e ? e : speeds_take(r, cell + c->first, n - c->first, z, c->per_cu);
}

static Err results_read(Reading *r, const ResultColumns *c, const Str *header, size_t width)
{
    Growing *g;
    size_t at, n;
    Str *cell;
    TRY(group_named(r, path_stem(str_from(r->path)), &g));
    for (size_t i = c->first; i < width; i++) {
        TRY(kernel_named(r, g, str_trim(header[i]), &at));
        if (at != i - c->first)
            FAIL(ERR_INPUT, "%s: two columns have the name '%.*s'", r->path,
                 STR_ARG(str_sub(str_trim(header[i]), 0, 200)));
    }
    ReportGroup *group = &r->d->group[g->group];
    if (g->kernel.n) group->type = report_type_of(g->kernel.v[0].name);
    group->per_cu = c->per_cu;
    for (;;) {
        arena_reset(&r->row);
        TRY(csv_row(&r->csv, &r->row, &cell, &n));
        if (!n) return ERR_OK;
        TRY(results_row(r, g, c, cell, n, width));
    }
}

/* ---- tables: a row for each size ---- */

/* Columns of a table. A column may have several names; the first one that the header has counts. */
enum {
    T_GROUP,
    T_SIZES,
    T_GFLOPS,
    T_TIME,
    T_LO,
    T_HI,
    T_N,
    T_PEER,
    T_PEER_GFLOPS,
    T_PEER_TIME,
    T_RATIO,
    T_RATIO_LO,
    T_RATIO_HI,
    T_SOLUTION,
    T_RUNNER_UP,
    T_WHY,
    T_COLUMNS
};
static const char *const table_names[T_COLUMNS][2] = {{"group"},       {"sizes"},
                                                      {"gflops"},      {"time_us"},
                                                      {"time_lo_us"},  {"time_hi_us"},
                                                      {"n"},           {"peer"},
                                                      {"peer_gflops"}, {"peer_time_us"},
                                                      {"ratio"},       {"ratio_lo"},
                                                      {"ratio_hi"},    {"solution", "kernel"},
                                                      {"runner_up"},   {"no_ratio", "no_peer"}};

static bool table_columns(const Str *cell, size_t n, size_t at[T_COLUMNS])
{
    for (int t = 0; t < T_COLUMNS; t++) {
        at[t] = SIZE_MAX;
        for (int name = 1; name >= 0; name--)
            for (size_t i = 0; i < n && table_names[t][name]; i++)
                if (str_eq_c(str_trim(cell[i]), table_names[t][name])) at[t] = i;
    }
    return at[T_GROUP] != SIZE_MAX && at[T_SIZES] != SIZE_MAX &&
           (at[T_GFLOPS] != SIZE_MAX || at[T_TIME] != SIZE_MAX);
}

static Str cell_at(const Str *cell, size_t n, size_t at) { return at < n ? str_trim(cell[at]) : STR(""); }

static Err table_peer(Reading *r, const Str *cell, size_t n, const size_t at[T_COLUMNS], ReportSize *z)
{
    ReportOther *p = &z->peer;
    Str name = cell_at(cell, n, at[T_PEER]), why = cell_at(cell, n, at[T_WHY]);
    p->gflops = real_of(cell_at(cell, n, at[T_PEER_GFLOPS]));
    p->ns = real_of(cell_at(cell, n, at[T_PEER_TIME])) * 1e3;
    p->ratio = (Comparison){STATS_UNKNOWN, real_of(cell_at(cell, n, at[T_RATIO])),
                            real_of(cell_at(cell, n, at[T_RATIO_LO])),
                            real_of(cell_at(cell, n, at[T_RATIO_HI])), 0.95};
    p->found = p->gflops > 0;
    if (p->ratio.lo > 1) p->ratio.verdict = STATS_FASTER;
    if (p->ratio.hi < 1) p->ratio.verdict = STATS_SLOWER;
    if (p->ratio.lo <= 1 && p->ratio.hi >= 1) p->ratio.verdict = STATS_TIE;
    if (why.n && !(p->why = arena_dup(&r->d->arena, why)).s) return out_of_memory(r);
    if (name.n && !r->d->peer.n && !(r->d->peer = arena_dup(&r->d->arena, name)).s) return out_of_memory(r);
    return ERR_OK;
}

static Err table_row(Reading *r, const Str *cell, size_t n, const size_t at[T_COLUMNS])
{
    Growing *g;
    ReportSize *z;
    size_t kernel = 0;
    Str solution = cell_at(cell, n, at[T_SOLUTION]), other = cell_at(cell, n, at[T_RUNNER_UP]);
    TRY(group_named(r, cell_at(cell, n, at[T_GROUP]), &g));
    TRY(size_add(r, g, cell_at(cell, n, at[T_SIZES]), (double)NAN, &z));
    if (solution.n) TRY(kernel_named(r, g, solution, &kernel));
    place_set(z, kernel, real_of(cell_at(cell, n, at[T_GFLOPS])), real_of(cell_at(cell, n, at[T_TIME])) * 1e3,
              real_of(cell_at(cell, n, at[T_LO])) * 1e3, real_of(cell_at(cell, n, at[T_HI])) * 1e3,
              real_of(cell_at(cell, n, at[T_N])));
    z->n_failed = z->n_places == 0;
    z->versus.verdict = str_eq_c(other, "slower") ? STATS_FASTER
                        : str_eq_c(other, "tie")  ? STATS_TIE
                                                  : STATS_UNKNOWN;
    z->versus.ratio = z->versus.lo = z->versus.hi = (double)NAN;
    return table_peer(r, cell, n, at, z);
}

static Err table_read(Reading *r, const size_t at[T_COLUMNS])
{
    Str *cell;
    size_t n;
    for (;;) {
        arena_reset(&r->row);
        TRY(csv_row(&r->csv, &r->row, &cell, &n));
        if (!n) return ERR_OK;
        if (cell_at(cell, n, at[T_SIZES]).n == 0)
            FAIL(ERR_INPUT, "%s:%d: a row without sizes", r->path, r->csv.line);
        TRY(table_row(r, cell, n, at));
    }
}

/* ---- output of rocblas-bench: a header and a row for each call, between other lines ---- */

enum { B_TA, B_TB, B_M, B_N, B_K, B_BATCH, B_LDA, B_LDB, B_LDC, B_LDD, B_GFLOPS, B_US, B_COLUMNS };
static const char *const bench_names[B_COLUMNS] = {
    "transA", "transB", "M", "N", "K", "batch_count", "lda", "ldb", "ldc", "ldd", "rocblas-Gflops", "us"};

static Err bench_row(Reading *r, const Str cell[B_COLUMNS])
{
    Growing *g;
    ReportSize *z;
    char name[64], numbers[200];
    int64_t v[B_COLUMNS] = {0};
    v[B_BATCH] = 1;
    for (int i = B_M; i <= B_LDD; i++)
        if (cell[i].n && (!str_to_i64(cell[i], &v[i]) || v[i] < 0))
            FAIL(ERR_INPUT, "%s:%d: '%.*s' in the place of %s", r->path, r->csv.line,
                 STR_ARG(str_sub(cell[i], 0, 40)), bench_names[i]);
    snprintf(name, sizeof name, "Cijk_A%s_B%s", str_eq_c(cell[B_TA], "N") ? "ilk" : "lik",
             str_eq_c(cell[B_TB], "N") ? "ljk" : "jlk");
    snprintf(numbers, sizeof numbers, "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld", (long long)v[B_M],
             (long long)v[B_N], (long long)v[B_BATCH], (long long)v[B_K],
             (long long)(v[B_LDD] ? v[B_LDD] : v[B_LDC]), (long long)v[B_LDC], (long long)v[B_LDA],
             (long long)v[B_LDB]);
    TRY(group_named(r, str_from(name), &g));
    TRY(size_add(r, g, str_from(numbers), (double)NAN, &z));
    place_set(z, 0, real_of(cell[B_GFLOPS]), real_of(cell[B_US]) * 1e3, NAN, NAN, 0);
    z->n_failed = z->n_places == 0;
    size_t kernel;
    return kernel_named(r, g, STR("library"), &kernel);
}

/* Sets the cells of a row by its header; false when the columns are not those of a call. */
static bool bench_cells(Str header, Str row, Str cell[B_COLUMNS])
{
    Str name, value;
    for (int i = 0; i < B_COLUMNS; i++) cell[i] = STR("");
    while (header.n && row.n && str_split(&header, ',', &name) && str_split(&row, ',', &value))
        for (int i = 0; i < B_COLUMNS; i++)
            if (str_eq_c(str_trim(name), bench_names[i])) cell[i] = str_trim(value);
    return cell[B_M].n && cell[B_N].n && cell[B_K].n && cell[B_US].n;
}

static Err bench_read(Reading *r, Str text)
{
    Str header = STR(""), line;
    r->csv.line = 0;
    while (text.n && str_split(&text, '\n', &line)) {
        Str cell[B_COLUMNS];
        r->csv.line++;
        line = str_trim(line);
        if (str_starts(line, "transA,transB,")) {
            header = line;
        } else if (header.n && line.n > 1 && strchr("NTC", line.s[0]) && line.s[1] == ',' &&
                   bench_cells(header, line, cell)) {
            TRY(bench_row(r, cell));
        }
    }
    return ERR_OK;
}

/* ---- files ---- */

static bool is_bench(Str text)
{
    Str line;
    for (int i = 0; i < 1000 && text.n && str_split(&text, '\n', &line); i++)
        if (str_starts(str_trim(line), "transA,transB,")) return true;
    return false;
}

/* Skips the lines of remarks in front and takes the device and the command from them. */
static void remarks_take(Reading *r, ReportRun *run, Str *text)
{
    Str line;
    while (str_starts(*text, "#")) {
        if (!str_split(text, '\n', &line)) return;
        r->csv.line++;
        const struct {
            const char *word;
            Str *to;
        } remark[] = {{"# device: ", &run->device},
                      {"# driver: ", &run->driver},
                      {"# date: ", &run->started},
                      {"# command: ", &run->command}};
        for (size_t i = 0; i < sizeof remark / sizeof *remark; i++)
            if (str_starts(line, remark[i].word))
                *remark[i].to = str_trim(str_sub(line, strlen(remark[i].word), line.n));
    }
}

static Err file_take(Reading *r, ReportRun *run, Str text)
{
    size_t n, at[T_COLUMNS];
    Str *cell;
    ResultColumns results;
    if (is_bench(text)) {
        run->kind = SOURCE_BENCH;
        return bench_read(r, text);
    }
    int before = 0;
    Str rest = text;
    remarks_take(r, run, &rest);
    before = r->csv.line;
    r->device = run->device;
    csv_init(&r->csv, r->path, rest);
    r->csv.line = before;
    Arena header;
    arena_init(&header, 0);
    Err e = csv_row(&r->csv, &header, &cell, &n);
    if (!e && n && results_columns(cell, n, &results)) {
        run->kind = SOURCE_RESULTS;
        e = results_read(r, &results, cell, n);
    } else if (!e && n && table_columns(cell, n, at)) {
        run->kind = SOURCE_PEER;
        e = table_read(r, at);
    } else if (!e) {
        e = err_set(ERR_INPUT,
                    "%s: no results: the first line has neither 'GFlops,SizeI,..' (results CSV), nor columns "
                    "'group' and 'sizes' (peer.csv), nor is it output of rocblas-bench",
                    r->path);
    }
    arena_fini(&header);
    return e;
}

Err data_csv_take(ReportData *d, const char *path, const char *part, Str text)
{
    Reading r = {.d = d, .path = path, .part = part, .device = STR("")};
    ReportRun *run = report_run_add(d, SOURCE_RESULTS, str_from(path));
    if (!run) return out_of_memory(&r);
    arena_init(&r.row, 0);
    map_init(&r.groups);
    Err e = file_take(&r, run, text);
    if (!e && !r.group.n) e = err_set(ERR_INPUT, "%s: no results: no row has a size", path);
    if (!e) e = groups_finish(&r);
    for (size_t i = 0; i < r.group.n; i++) {
        VEC_FINI(&r.group.v[i]->size);
        VEC_FINI(&r.group.v[i]->kernel);
        map_fini(&r.group.v[i]->kernels);
    }
    VEC_FINI(&r.group);
    map_fini(&r.groups);
    arena_fini(&r.row);
    return e;
}

Err data_csv_read(ReportData *d, const char *path, const char *part)
{
    Str text;
    TRY(file_read(&d->arena, path, CSV_BYTES_MAX, &text));
    return data_csv_take(d, path, part, text);
}
