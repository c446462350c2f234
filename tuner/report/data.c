/* The data of a report: what all readers share. See data.h. */
#include "report/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "problem/part.h"
#include "problem/problem.h"

ReportRun *report_run_add(ReportData *d, SourceKind kind, Str path)
{
    ReportRun *run = arena_grow(&d->arena, d->run, d->n_runs, sizeof *run);
    Str copy = arena_dup(&d->arena, path);
    if (!run || !copy.s) return NULL;
    d->run = run;
    run += d->n_runs++;
    *run = (ReportRun){.kind = kind, .path = copy};
    return run;
}

ReportGroup *report_group_add(ReportData *d)
{
    ReportGroup *g = arena_grow(&d->arena, d->group, d->n_groups, sizeof *g);
    if (!g) return NULL;
    d->group = g;
    g += d->n_groups++;
    *g = (ReportGroup){.run = d->n_runs - 1, .peak_gflops = NAN, .dram_gbs = NAN};
    return g;
}

bool report_speeds_fit(ReportData *d, size_t n)
{
    if (n > REPORT_SPEEDS_MAX - d->n_pairs) return false;
    d->n_pairs += n;
    return true;
}

bool report_data_live(const ReportData *d)
{
    for (size_t i = 0; i < d->n_runs; i++)
        if (d->run[i].live) return true;
    return false;
}

/* ---- names of problem types ---- */

Str report_type_of(Str name)
{
    for (size_t i = 0; i < name.n; i++) {
        Str rest = str_sub(name, i, name.n);
        if (str_starts(rest, "_MT")) return str_sub(name, 0, i);
    }
    size_t n = name.n;
    while (n > 0 && name.s[n - 1] >= '0' && name.s[n - 1] <= '9') n--;
    return n > 1 && n < name.n && name.s[n - 1] == '_' ? str_sub(name, 0, n - 1) : name;
}

/* The part of a type's name after "Cijk_Ailk_Bljk_": "HHS_BH". */
static Str types_part(Str type)
{
    size_t at = 0;
    for (int i = 0; i < 3 && at < type.n; i++) at = str_find(type, '_', at) + 1;
    return str_sub(type, at, type.n);
}

/* The data types that a name's letters stand for: one, or three ("HHS") where they are mixed. */
static bool types_find(Str type, DataType *in, DataType *out, DataType *sum)
{
    Str part = types_part(type);
    size_t longest = 0;
    for (int i = 0; i < TYPE_COUNT; i++) {
        const char *one = type_letter((DataType)i);
        if (str_starts(part, one) && strlen(one) > longest) {
            longest = strlen(one);
            *in = *out = *sum = (DataType)i;
        }
        for (int d = 0; d < TYPE_COUNT; d++)
            for (int c = 0; c < TYPE_COUNT; c++) {
                char mixed[32];
                int n = snprintf(mixed, sizeof mixed, "%s%s%s_", one, type_letter((DataType)d),
                                 type_letter((DataType)c));
                if ((size_t)n <= longest || !str_starts(part, mixed)) continue;
                longest = (size_t)n;
                *in = (DataType)i, *out = (DataType)d, *sum = (DataType)c;
            }
    }
    return longest > 0;
}

/* ---- sizes ---- */

/* Index classes by the letters of "Cijk_Ailk_Bljk_...": M stands in C and A, N in C and B, the batch in all
 * three, K in A and B. Letters count from i. */
static char class_of(Str type, int index)
{
    bool in[3] = {false, false, false};
    Str rest = type, tensor;
    for (int t = 0; t < 3 && str_split(&rest, '_', &tensor); t++)
        for (size_t i = 1; i < tensor.n; i++) in[t] |= (tensor.s[i] | 0x20) == 'i' + index;
    return in[0] && in[1] && in[2] ? 'b' : in[0] && in[1] ? 'm' : in[0] ? 'n' : 'k';
}

void report_size_init(ReportGroup *g, ReportSize *z, Str numbers, double flops)
{
    Str rest = str_sub(numbers, 0, str_find(numbers, ' ', 0)), one;
    const Str tensors = g->type;
    int n_indices = 0;
    for (size_t i = 0, tensor = 0; i < tensors.n && tensor < 3; i++) {
        if (tensors.s[i] == '_') tensor++;
        int index = (tensors.s[i] | 0x20) - 'i';
        if (index >= n_indices && index < 16) n_indices = index + 1;
    }
    *z = (ReportSize){.numbers = numbers, .m = 1, .n = 1, .batch = 1, .k = 1, .gflops = NAN};
    for (int i = 0; i < n_indices && str_split(&rest, ',', &one); i++) {
        int64_t v;
        if (!str_to_i64(str_trim(one), &v) || v < 0) continue;
        char class = class_of(g->type, i);
        int64_t *to = class == 'm' ? &z->m : class == 'n' ? &z->n : class == 'k' ? &z->k : &z->batch;
        *to = v && *to > INT64_MAX / v ? INT64_MAX : *to * v;
    }
    if (!g->bytes_ab) {
        DataType in = TYPE_S, out = TYPE_S, sum = TYPE_S;
        types_find(g->type, &in, &out, &sum);
        g->bytes_ab = type_bytes(in);
        g->bytes_d = type_bytes(out);
    }
    const double m = (double)z->m, n = (double)z->n, k = (double)z->k, b = (double)z->batch;
    z->flops = isnan(flops) ? 2 * m * n * k * b : flops;
    z->bytes = b * ((m * k + k * n) * g->bytes_ab + m * n * g->bytes_d);
    z->versus.verdict = STATS_UNKNOWN;
}

/* ---- ceilings ---- */

void report_ceilings(ReportGroup *g, Str device, const char *part)
{
    const Part *p = NULL;
    DataType in, out, sum;
    if (part && part_find(str_from(part), NULL, &p)) err_clear();
    for (size_t i = 0; !p && part_at(i); i++) {
        /* the text of a device: "cuda 0: NVIDIA H200, sm_90, 132 CUs" */
        Str rest = device, word;
        while (!p && str_split(&rest, ',', &word)) {
            size_t colon = str_find(word, ':', 0);
            Str name = str_trim(colon < word.n ? str_sub(word, colon + 1, word.n) : word);
            if (name.n && part_is_called(part_at(i), name)) p = part_at(i);
        }
    }
    if (!p) return;
    const Target *t = target_find(str_from(p->arch));
    const PartRates *r = t ? part_rates(p, t) : NULL;
    if (!r || !types_find(g->type, &in, &out, &sum)) return;
    const bool rounded = str_ends(g->type, "_MX");
    const double product = type_info(in)->complex ? 0.25 : 1; /* speeds count a complex product as one */
    const double cu_gflops =
        part_peak_rate(r, in, rounded ? TYPE_X : in, sum) * product * r->clock_mhz * 1e-3;
    g->peak_gflops = cu_gflops * (g->per_cu ? 1 : p->n_cu);
    g->dram_gbs = r->dram_gbs;
    if (!g->arch.n) g->arch = str_from(p->arch);
}

/* ---- reading ---- */

static Err path_read(ReportData *d, const char *path, const char *part)
{
    if (dir_exists(path)) return data_store_read(d, path);
    if (file_exists(path)) return data_csv_read(d, path, part);
    FAIL(ERR_INPUT, "'%s' is not there, expected the directory of a run or a CSV file with results", path);
}

static const int32_t *speeds_of(const void *ctx, size_t size)
{
    const ReportGroup *g = ctx;
    return g->size[size].speed;
}

static size_t winner_of(const void *ctx, size_t size)
{
    const ReportGroup *g = ctx;
    return g->size[size].n_places ? g->size[size].place[0].kernel : SIZE_MAX;
}

static Err group_finish(ReportData *d, ReportGroup *g)
{
    Str *name = ARENA_ARRAY(&d->arena, g->n_kernels, Str);
    TRY_ALLOC(name);
    for (size_t i = 0; i < g->n_kernels; i++) name[i] = g->kernel[i].name;
    TRY(params_of_names(&d->arena, g->type, name, g->n_kernels, &g->param, &g->n_params));
    return params_effects(&d->arena, g->param, g->n_params, g->n_kernels, g->n_sizes, speeds_of, winner_of,
                          g);
}

Err report_data_finish(ReportData *d)
{
    for (size_t i = 0; i < d->n_groups; i++) TRY(group_finish(d, &d->group[i]));
    return ERR_OK;
}

static Err all_read(ReportData *d, const char *const *path, size_t n, const char *part)
{
    for (size_t i = 0; i < n; i++) TRY(path_read(d, path[i], part));
    return ERR_OK;
}

static Err before_read(ReportData *d, const ReportInputs *in)
{
    ReportData before = {0};
    arena_init(&before.arena, 0);
    Err e = all_read(&before, &in->before, 1, in->part);
    if (!e) e = data_compare(d, &before, str_from(in->before));
    report_data_fini(&before);
    return e;
}

Err report_data_read(ReportData *d, const ReportInputs *in)
{
    *d = (ReportData){0};
    arena_init(&d->arena, 0);
    TRY(all_read(d, in->path, in->n_paths, in->part));
    TRY(report_data_finish(d));
    if (in->before) TRY(before_read(d, in));
    return in->n_logs ? data_calls(d, in->log, in->n_logs) : ERR_OK;
}

void report_data_fini(ReportData *d) { arena_fini(&d->arena); }
