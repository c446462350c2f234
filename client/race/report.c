/* Log rows are printed at once; result cells are kept in memory and their files written whole. The formats
 * are those of Tensile's client. See report.h. */
#include "client/race/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/vec.h"
#include "fmt/csv.h"

static const char log_header[] = "run,problem-progress,solution-progress,operation,problem-sizes,solution,"
                                 "validation,time-us,%s,empty,total-gran,"
                                 "tiles-per-cu,num-cus,tile0-gran,tile1-gran,cu-gran,wave-gran,mem-read-"
                                 "bytes,mem-write-bytes,temp-edge,clock-sys,"
                                 "clock-soc,clock-mem,fan-rpm,hardware-samples,gfx-frequency(median),power("
                                 "median),hotspot-temperature(median),"
                                 "enqueue-time\n";

enum { CELL_EMPTY, CELL_BAD, CELL_VALUE };

typedef struct {
    double value;
    unsigned char state;
} Cell;

/* A row of the results CSV. */
typedef struct {
    int64_t p, benchmark;
    Cell *cell; /* per column, n_cells of them */
    size_t n_cells;
    double best, best_time_us; /* best < 0: none yet */
    size_t winner;             /* column */
    int64_t winner_index;      /* the solution's index in its logic file or library */
    double freq, power, temp;
    ReportPeer peer; /* name NULL: none */
} Line;

struct Report {
    const Session *s;
    const RunPlan *plan;
    FILE *log_file;
    VEC(Line) lines;
    VEC(const char *) columns; /* kernel names in first-run order */
    int64_t *column_of;        /* per solution: column, -1 none */
};

static Err print_log(Report *r, const Buf *b)
{
    TRY(buf_check(b));
    if (fwrite(b->s, 1, b->n, stdout) != b->n || fflush(stdout))
        FAIL(ERR_FAILED, "cannot write the log: %s", strerror(errno));
    if (r->log_file && (fwrite(b->s, 1, b->n, r->log_file) != b->n || fflush(r->log_file)))
        FAIL(ERR_FAILED, "%s: %s", r->s->o.log_file, strerror(errno));
    return 0;
}

Err report_new(const Session *s, const RunPlan *plan, Report **out)
{
    *out = NULL;
    Report *r = calloc(1, sizeof *r);
    size_t n = library_n_solutions(s->library);
    if (r) r->column_of = malloc((n + 1) * sizeof *r->column_of);
    if (!r || !r->column_of) {
        free(r);
        FAIL(ERR_FAILED, "out of memory for results of %zu solutions", n);
    }
    r->s = s;
    r->plan = plan;
    for (size_t i = 0; i <= n; i++) r->column_of[i] = -1;
    Err e = 0;
    if (s->o.log_file[0] && !(r->log_file = fopen(s->o.log_file, s->o.log_append ? "ae" : "we")))
        e = err_set(ERR_FAILED, "%s: %s", s->o.log_file, strerror(errno));
    Buf b;
    buf_init(&b);
    buf_printf(&b, log_header, s->o.cu_efficiency ? "gflops-per-cu" : "gflops");
    if (!e) e = print_log(r, &b);
    buf_fini(&b);
    if (e)
        report_free(r);
    else
        *out = r;
    return e;
}

void report_free(Report *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->lines.n; i++) free(r->lines.v[i].cell);
    VEC_FINI(&r->lines);
    VEC_FINI(&r->columns);
    if (r->log_file) fclose(r->log_file);
    free(r->column_of);
    free(r);
}

/* ---- log ---- */

static LogLevel level_of(RunStatus s)
{
    switch (s) {
    case RUN_FAILED:
    case RUN_INVALID:
    case RUN_CRASHED:
    case RUN_TIMEOUT:
        return LEVEL_ERROR;
    case RUN_WRONG_HARDWARE:
    case RUN_DID_NOT_SATISFY_ASSERTS:
    case RUN_SKIPPED:
        return LEVEL_TERSE;
    default:
        return LEVEL_NORMAL;
    }
}

static void number_cell(Buf *b, double x) { csv_cell_f(b, false, "%.6g", x); }

/* The cell is empty where the device has no such sensor. */
static void sensor_cell(Buf *b, double x)
{
    if (isnan(x))
        csv_cell(b, false, STR(""));
    else
        number_cell(b, x);
}

static void log_row(const Report *r, const ReportRow *row, Buf *b)
{
    const PlanItem *item = row->item;
    const Problem *p = &r->s->problems.v[item->p];
    Buf sizes;
    buf_init(&sizes);
    problem_sizes_text(p, &sizes);
    csv_cell_f(b, true, "%lld", (long long)item->benchmark);
    csv_cell_f(b, false, "%lld/%lld", (long long)item->p, (long long)r->s->problems.n - 1);
    csv_cell_f(b, false, "%lld/%lld", (long long)item->s_position, (long long)item->s_last);
    csv_cell(b, false, str_from(r->s->problems.identifier));
    csv_cell(b, false, buf_view(&sizes));
    csv_cell(b, false, str_from(row->solution));
    csv_cell(b, false, str_from(run_status_column(row->status)));
    number_cell(b, row->time_us);
    number_cell(b, row->gflops);
    csv_cell(b, false, STR(""));
    const Granularity *g = &row->gran;
    const double model[] = {g->total, g->tiles_per_cu, (double)r->s->props.n_cu,
                            g->tile0, g->tile1,        g->cu,
                            g->wave,  g->read_bytes,   g->write_bytes};
    for (size_t i = 0; i < sizeof model / sizeof *model; i++) number_cell(b, model[i]);
    const double sensors[] = {row->mean.temp_c, row->mean.clock_sys_mhz, row->mean.clock_soc_mhz,
                              row->mean.clock_mem_mhz, row->mean.fan_rpm};
    for (size_t i = 0; i < sizeof sensors / sizeof *sensors; i++) sensor_cell(b, sensors[i]);
    if (row->n_readings)
        csv_cell_f(b, false, "%lld", (long long)row->n_readings);
    else
        csv_cell(b, false, STR(""));
    sensor_cell(b, row->median.clock_sys_mhz);
    sensor_cell(b, row->median.power_w);
    sensor_cell(b, row->median.hotspot_c);
    sensor_cell(b, row->enqueue_us);
    csv_end(b);
    buf_fini(&sizes);
}

/* ---- results ---- */

static Err find_line(Report *r, const PlanItem *item, Line **out)
{
    bool merge = r->s->o.merge_problems || r->s->o.plan_file[0];
    for (size_t i = r->lines.n; i-- > 0;) {
        Line *l = &r->lines.v[i];
        if (l->p == item->p && (merge || l->benchmark == item->benchmark)) {
            *out = l;
            return 0;
        }
        if (!merge) break; /* rows are in the order of problems */
    }
    Line line = {.p = item->p, .benchmark = item->benchmark, .best = -1, .best_time_us = INFINITY};
    line.freq = line.power = line.temp = NAN;
    if (!VEC_PUSH(&r->lines, line)) FAIL(ERR_FAILED, "out of memory for %zu result rows", r->lines.n);
    *out = &r->lines.v[r->lines.n - 1];
    return 0;
}

static Err find_cell(Report *r, Line *l, const ReportRow *row, size_t *column)
{
    if (r->column_of[row->s] < 0) {
        if (!VEC_PUSH(&r->columns, row->solution))
            FAIL(ERR_FAILED, "out of memory for %zu columns", r->columns.n);
        r->column_of[row->s] = (int64_t)r->columns.n - 1;
    }
    *column = (size_t)r->column_of[row->s];
    if (*column >= l->n_cells) {
        size_t n = *column + 1 > 2 * l->n_cells ? *column + 1 : 2 * l->n_cells;
        Cell *cell = realloc(l->cell, n * sizeof *cell);
        if (!cell) FAIL(ERR_FAILED, "out of memory for %zu cells", n);
        memset(cell + l->n_cells, 0, (n - l->n_cells) * sizeof *cell);
        l->cell = cell;
        l->n_cells = n;
    }
    return 0;
}

static void keep_winner(Report *r, Line *l, const ReportRow *row, size_t column)
{
    if (!run_status_good(row->status) || isnan(row->gflops)) return;
    if (row->time_us < l->best_time_us) l->best_time_us = row->time_us;
    if (row->gflops <= l->best) return; /* of equal ones the first is kept */
    const LibSolution *s = library_solution(r->s->library, (size_t)row->s);
    l->best = row->gflops;
    l->winner = column;
    l->winner_index = s->logic_index >= 0 ? s->logic_index : s->index;
    l->freq = row->median.clock_sys_mhz;
    l->power = row->median.power_w;
    l->temp = row->median.temp_c;
}

static Err keep_cell(Report *r, const ReportRow *row, bool *new_winner)
{
    Line *l = NULL;
    size_t column = 0;
    TRY(find_line(r, row->item, &l));
    TRY(find_cell(r, l, row, &column));
    Cell *c = &l->cell[column], now = {row->gflops, CELL_VALUE};
    if (row->status == RUN_SKIPPED)
        now.value = NAN;
    else if (!run_status_good(row->status))
        now = (Cell){-1, CELL_BAD};
    /* Merged rows keep the larger value, compared as integers as Tensile does. */
    bool keep_old = r->s->o.merge_problems && c->state == CELL_VALUE && now.state == CELL_VALUE &&
                    trunc(c->value) >= trunc(now.value);
    if (!keep_old) *c = now;
    double before = l->best;
    keep_winner(r, l, row, column);
    *new_winner = l->best > before;
    return 0;
}

Err report_row(Report *r, const ReportRow *row)
{
    bool new_winner;
    TRY(keep_cell(r, row, &new_winner));
    if (level_of(row->status) > r->s->o.log_level) return 0;
    if (r->s->o.winners_only && !new_winner && run_status_good(row->status)) return 0;
    Buf b;
    buf_init(&b);
    log_row(r, row, &b);
    Err e = print_log(r, &b);
    buf_fini(&b);
    return e;
}

Err report_peer(Report *r, const ReportPeer *peer)
{
    Line *l = NULL;
    TRY(find_line(r, peer->item, &l));
    l->peer = *peer;
    return 0;
}

static void peer_cells(const Line *l, Buf *b)
{
    const ReportPeer *p = &l->peer;
    const double x[] = {p->time_us, p->gflops, p->ratio, p->lo, p->hi};
    csv_cell(b, false, p->name ? str_from(p->name) : STR(""));
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) sensor_cell(b, p->name ? x[i] : (double)NAN);
}

static void results_header(const Report *r, Buf *b)
{
    static const char *const more[] = {"LDD", "LDC", "LDA", "LDB", "WinnerFreq"};
    static const char *const extra[] = {"WinnerGFlops", "WinnerTimeUS", "WinnerIdx", "WinnerName"};
    static const char *const peer[] = {"Peer", "PeerTimeUS", "PeerGFlops", "Ratio", "RatioLow", "RatioHigh"};
    static const char *const last[] = {"TotalFlops", "WinnerPower", "WinnerTemperature"};
    csv_cell(b, true, str_from(r->s->o.cu_efficiency ? "GFlopsPerCU" : "GFlops"));
    for (int i = 0; i < r->s->problems.n_sizes; i++) csv_cell_f(b, false, "Size%c", 'I' + i);
    for (size_t i = r->s->problems.v->n_ld ? 0 : 4; i < 5; i++) csv_cell(b, false, str_from(more[i]));
    for (size_t i = 0; r->s->o.extra_cols && i < 4; i++) csv_cell(b, false, str_from(extra[i]));
    for (size_t i = 0; r->s->o.peer[0] && i < 6; i++) csv_cell(b, false, str_from(peer[i]));
    for (size_t i = 0; i < 3; i++) csv_cell(b, false, str_from(last[i]));
    for (size_t i = 0; i < r->columns.n; i++) csv_cell(b, false, str_from(r->columns.v[i]));
    csv_end(b);
}

static void results_line(const Report *r, const Line *l, Buf *b)
{
    const Problem *p = &r->s->problems.v[l->p];
    csv_cell_f(b, true, "%lld", (long long)l->p);
    for (int i = 0; i < p->n_sizes; i++) csv_cell_f(b, false, "%lld", (long long)p->size[i]);
    for (int i = 0; i < p->n_ld; i++) csv_cell_f(b, false, "%lld", (long long)p->ld[i]);
    sensor_cell(b, l->freq);
    if (r->s->o.extra_cols && l->best >= 0) {
        number_cell(b, l->best);
        number_cell(b, l->best_time_us);
        csv_cell_f(b, false, "%zu", l->winner);
        csv_cell(b, false, str_from(r->columns.v[l->winner]));
    } else if (r->s->o.extra_cols) {
        static const char *const none[] = {"-1", "nan", "-1", ""};
        for (size_t i = 0; i < 4; i++) csv_cell(b, false, str_from(none[i]));
    }
    if (r->s->o.peer[0]) peer_cells(l, b);
    csv_cell_f(b, false, "%.0f", problem_flops(p));
    sensor_cell(b, l->power);
    sensor_cell(b, l->temp);
    for (size_t i = 0; i < r->columns.n; i++) {
        Cell c = i < l->n_cells ? l->cell[i] : (Cell){0};
        if (c.state == CELL_EMPTY)
            csv_cell(b, false, STR(""));
        else
            number_cell(b, c.value);
    }
    csv_end(b);
}

static void update_lines(const Report *r, const Line *l, Buf *b)
{
    const Problem *p = &r->s->problems.v[l->p];
    buf_puts(b, l->best >= 0 ? "  - - [" : "# [");
    for (int i = 0; i < p->n_sizes; i++) buf_printf(b, "%s%lld", i ? ", " : "", (long long)p->size[i]);
    buf_puts(b, "]\n");
    if (l->best < 0) return;
    buf_printf(b, "    - [%lld, %.6g]", (long long)l->winner_index, l->best);
    if (r->s->o.update_comment) buf_printf(b, " # %s", r->columns.v[l->winner]);
    buf_putc(b, '\n');
}

static Err write_buf(const char *path, const Buf *b)
{
    TRY(buf_check(b));
    return file_write(path, buf_view(b));
}

static Err files_write(Report *r, bool last)
{
    Buf b;
    buf_init(&b);
    Err e = 0;
    if (r->s->o.results_file[0] && (last || !file_is_special(r->s->o.results_file))) {
        results_header(r, &b);
        for (size_t i = 0; i < r->lines.n; i++) results_line(r, &r->lines.v[i], &b);
        e = write_buf(r->s->o.results_file, &b);
    }
    if (!e && r->s->o.update_file[0] && (last || !file_is_special(r->s->o.update_file))) {
        buf_reset(&b);
        for (size_t i = 0; i < r->lines.n; i++) update_lines(r, &r->lines.v[i], &b);
        e = write_buf(r->s->o.update_file, &b);
    }
    buf_fini(&b);
    return e;
}

Err report_write(Report *r) { return files_write(r, true); }

Err report_checkpoint(Report *r) { return files_write(r, false); }
