/* tuner-bench --compare: totals, the table, and the CSV and JSON files. See compare.h. */
#include "client/bench/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "fmt/csv.h"
#include "fmt/json.h"

/* Endings of columns and members by side; "_old" and "_new" as in the tables of before and after. */
static const char *const endings[SIDES] = {"old", "new", "peer"};

/* ---- totals ---- */

const char *compare_verdict(const Comparison *c)
{
    if (c->verdict == STATS_UNKNOWN) return "";
    return c->lo > 1 ? "faster" : c->hi < 1 ? "slower" : "same";
}

static double speed_of_round(const CompareRow *r, int over, size_t round)
{
    return r->side[over].ns[round] / r->side[SIDE_NEW].ns[round];
}

/* The weighted geometric mean over the sizes that have times of the side, round by round. */
static Err mean_over(const Compare *x, int over, Comparison *out)
{
    double weight = 0, *mean = ARENA_ARRAY(x->arena, x->n_rounds, double);
    Summary s;
    TRY_ALLOC(mean);
    *out = (Comparison){.verdict = STATS_UNKNOWN, .ratio = NAN, .lo = NAN, .hi = NAN};
    for (size_t i = 0; i < x->n_done; i++) {
        const CompareRow *r = &x->row[i];
        if (!r->side[over].ns || !r->side[SIDE_NEW].ns) continue;
        weight += (double)r->c->count;
        for (size_t k = 0; k < x->n_rounds; k++)
            mean[k] += (double)r->c->count * log(speed_of_round(r, over, k));
    }
    if (weight <= 0) return ERR_OK;
    for (size_t k = 0; k < x->n_rounds; k++) mean[k] = exp(mean[k] / weight);
    stats_summary(mean, x->n_rounds, 0.95, &s);
    *out = (Comparison){.verdict = STATS_TIE, .ratio = s.median, .lo = s.lo, .hi = s.hi, .level = s.level};
    return ERR_OK;
}

static void count_row(const Compare *x, const CompareRow *r, CompareTotal *t)
{
    for (size_t s = 0; s < x->n_sides; s++) {
        t->n_without[s] += !r->side[s].ns;
        t->n_wrong +=
            s != SIDE_PEER && *r->side[s].problem && !r->side[s].check.passed && *r->side[s].solution;
    }
    t->n_failed += r->failed;
    t->n_versus += r->versus.verdict != STATS_UNKNOWN;
    if (r->ratio.verdict == STATS_UNKNOWN) return;
    t->n_both++;
    t->n_faster += r->ratio.lo > 1;
    t->n_slower += r->ratio.hi < 1;
    t->calls += (double)r->c->count;
    for (int s = SIDE_OLD; s <= SIDE_NEW; s++)
        t->seconds[s] += (double)r->c->count * r->side[s].sum.median * 1e-9;
}

Err compare_total(const Compare *x, CompareTotal *t)
{
    *t = (CompareTotal){0};
    for (size_t i = 0; i < x->n_done; i++) count_row(x, &x->row[i], t);
    t->n_same = t->n_both - t->n_faster - t->n_slower;
    TRY(mean_over(x, SIDE_OLD, &t->mean));
    t->versus = (Comparison){.verdict = STATS_UNKNOWN, .ratio = NAN, .lo = NAN, .hi = NAN};
    return x->n_sides > SIDE_PEER ? mean_over(x, SIDE_PEER, &t->versus) : ERR_OK;
}

bool compare_busy(const Compare *x, char *text, size_t size)
{
    /* The threads of a kernel are at most as many as cores; any machine runs a little beside them. */
    Busy b = {.load = x->n_looks ? x->ready / (double)x->n_looks : (double)NAN,
              .n_cores = sysconf(_SC_NPROCESSORS_ONLN),
              .margin = 0.5};
    for (size_t i = 0; i < x->n_done; i++) {
        const Comparison *c = &x->row[i].ratio;
        if (c->verdict == STATS_UNKNOWN || x->n_rounds < COMPARE_ROUNDS)
            continue; /* intervals of few rounds are wide on any machine */
        b.n_sizes++;
        b.n_wide += c->hi - c->lo > BUSY_WIDTH * c->ratio;
    }
    text[0] = 0;
    return busy_text(&b, text, size);
}

/* ---- the table ---- */

/* "f32_r", or the types of A, D and the sums where they differ; with the suffix of fused operations. */
static void types_text(const BenchCase *x, Buf *out)
{
    const GemmCall *c = &x->call;
    const DataType *t = c->type;
    bool same = t[CALL_A] == t[CALL_B] && t[CALL_A] == t[CALL_D] && t[CALL_A] == t[CALL_COMPUTE];
    buf_puts(out, call_type_name(t[CALL_A]));
    if (t[CALL_B] != t[CALL_A]) buf_printf(out, ",%s", call_type_name(t[CALL_B]));
    if (!same) buf_printf(out, ">%s,%s", call_type_name(t[CALL_D]), call_type_name(t[CALL_COMPUTE]));
    if (c->xf32) buf_puts(out, ",xf32");
    fused_put(&x->fused.op, out);
}

void compare_header(const Compare *x)
{
    printf("old: %s\nnew: %s\n", x->name[SIDE_OLD], x->name[SIDE_NEW]);
    if (x->n_sides > SIDE_PEER) printf("peer: %s\n", x->name[SIDE_PEER]);
    printf("device: %s; %zu rounds of one block of each; ratio: speed of new over old, 95%% interval\n\n",
           tuner_library_device(x->side[SIDE_OLD].lib), x->n_rounds);
    printf("%-2s %-8s %7s %7s %7s %6s %8s %11s %11s %-25s %-6s%s\n", "", "type", "M", "N", "K", "batch",
           "calls", "us old", "us new", " ratio", "", x->n_sides > SIDE_PEER ? "     us peer  new/peer" : "");
    fflush(stdout);
}

static void time_print(const CompareCell *cell)
{
    if (cell->ns)
        printf(" %11.5g", cell->sum.median / 1000);
    else
        printf(" %11s", "-");
}

void compare_line(const Compare *x, const CompareRow *r)
{
    const GemmCall *c = &r->c->call;
    char ratio[64] = " -";
    Buf types;
    buf_init(&types);
    types_text(r->c, &types);
    printf("%c%c %-8s %7" PRId64 " %7" PRId64 " %7" PRId64 " %6" PRId64 " %8" PRId64, c->op[0], c->op[1],
           buf_cstr(&types), c->m, c->n, c->k, c->batch, r->c->count);
    buf_fini(&types);
    for (int s = SIDE_OLD; s <= SIDE_NEW; s++) time_print(&r->side[s]);
    if (r->ratio.verdict != STATS_UNKNOWN)
        snprintf(ratio, sizeof ratio, " %.4f [%.4f, %.4f]", r->ratio.ratio, r->ratio.lo, r->ratio.hi);
    printf(" %-25s %-6s", ratio, compare_verdict(&r->ratio));
    if (x->n_sides > SIDE_PEER) {
        time_print(&r->side[SIDE_PEER]);
        if (r->versus.verdict != STATS_UNKNOWN) printf("  %.4f", r->versus.ratio);
    }
    if (r->failed)
        printf("  FAILED: below %g twice", x->o->fail_below);
    else if (r->suspect)
        printf("  below %g", x->o->fail_below);
    puts("");
    for (size_t s = 0; s < x->n_sides; s++)
        if (*r->side[s].problem) printf("   %s: %s\n", endings[s], r->side[s].problem);
    fflush(stdout);
}

static void mean_print(const char *what, const Comparison *c, size_t n)
{
    if (n == 0) return;
    printf("%s: geometric mean %.4f [%.4f, %.4f], weighted by calls, of %zu size%s\n", what, c->ratio, c->lo,
           c->hi, n, n == 1 ? "" : "s");
}

void compare_summary(const Compare *x, const CompareTotal *t)
{
    char busy[256];
    printf("\n%zu sizes: %zu faster, %zu the same, %zu slower", x->n_done, t->n_faster, t->n_same,
           t->n_slower);
    for (size_t s = 0; s < x->n_sides; s++)
        if (t->n_without[s]) printf(", %zu without a time of %s", t->n_without[s], endings[s]);
    puts("");
    mean_print("new over old", &t->mean, t->n_both);
    mean_print("new over peer", &t->versus, t->n_versus);
    if (t->n_both)
        printf("all %.0f calls: %.5g ms old, %.5g ms new\n", t->calls, t->seconds[SIDE_OLD] * 1e3,
               t->seconds[SIDE_NEW] * 1e3);
    if (x->o->fail_below > 0)
        printf("below %g, twice: %zu size%s\n", x->o->fail_below, t->n_failed, t->n_failed == 1 ? "" : "s");
    fflush(stdout);
    if (compare_busy(x, busy, sizeof busy)) warning("%s", busy);
}

/* ---- files ---- */

static void cell_real(Buf *out, double v)
{
    if (isfinite(v))
        csv_cell_f(out, false, "%.6g", v);
    else
        csv_cell(out, false, STR(""));
}

static double gflops_of(const CompareRow *r, const CompareCell *cell)
{
    return cell->ns ? case_flops(r->c) / cell->sum.median : NAN;
}

static double us_of(const CompareCell *cell, double ns) { return cell->ns ? ns / 1000 : NAN; }

/* The problem type as files of tuner name it: "Cijk_Ailk_Bljk_SB". */
static void csv_group(const BenchCase *c, Buf *out)
{
    ProblemType pt;
    Buf name;
    buf_init(&name);
    if (!call_problem_type(&c->call, &pt)) problem_type_name(&pt, &name);
    fused_put(&c->fused.op, &name);
    csv_cell(out, false, buf_view(&name));
    buf_fini(&name);
}

/* The columns of the problem are those of `tuner sizes --csv`, so that the file can be compared again. */
static void csv_problem(const CompareRow *r, Buf *out)
{
    const GemmCall *c = &r->c->call;
    buf_printf(out, "%c,%c,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, c->op[0], c->op[1], c->m, c->n,
               c->k, c->batch);
    for (int i = 0; i < 4; i++) buf_printf(out, ",%" PRId64, c->ld[i]);
    for (int i = 0; i < 4; i++) buf_printf(out, ",%" PRId64, c->stride[i]);
    for (int i = 0; i < CALL_TYPES; i++) buf_printf(out, ",%s", call_type_name(c->type[i]));
    buf_printf(out, ",%d,%" PRId64, c->xf32, r->c->count);
    csv_group(r->c, out);
}

static void csv_side(const CompareRow *r, const CompareCell *cell, Buf *out)
{
    cell_real(out, us_of(cell, cell->sum.median));
    cell_real(out, us_of(cell, cell->sum.lo));
    cell_real(out, us_of(cell, cell->sum.hi));
    cell_real(out, gflops_of(r, cell));
    csv_cell(out, false, str_from(cell->solution));
    csv_cell(out, false, str_from(cell->why));
}

static void csv_ratio(const Comparison *c, Buf *out)
{
    cell_real(out, c->ratio);
    cell_real(out, c->lo);
    cell_real(out, c->hi);
}

static void csv_text(const Compare *x, Buf *out)
{
    char busy[256];
    buf_printf(out, "# tuner-bench --compare 1\n# old: %s\n# new: %s\n# device: %s\n", x->name[SIDE_OLD],
               x->name[SIDE_NEW], tuner_library_device(x->side[SIDE_OLD].lib));
    if (x->n_sides > SIDE_PEER) buf_printf(out, "# peer: %s\n", x->name[SIDE_PEER]);
    if (compare_busy(x, busy, sizeof busy)) buf_printf(out, "# warning: %s\n", busy);
    buf_puts(out,
             "transA,transB,M,N,K,batch_count,lda,ldb,ldc,ldd,stride_a,stride_b,stride_c,stride_d,a_type,"
             "b_type,c_type,d_type,compute_type,math_mode,call_count,group");
    for (size_t s = 0; s < x->n_sides; s++)
        buf_printf(out, ",us_%s,us_lo_%s,us_hi_%s,gflops_%s,solution_%s,why_%s", endings[s], endings[s],
                   endings[s], endings[s], endings[s], endings[s]);
    buf_puts(out, ",ratio,ratio_lo,ratio_hi,verdict,failed");
    if (x->n_sides > SIDE_PEER) buf_puts(out, ",ratio_peer,ratio_peer_lo,ratio_peer_hi");
    /* last, as their texts may have commas, which simple readers do not expect */
    for (size_t s = 0; s < x->n_sides; s++) buf_printf(out, ",problem_%s", endings[s]);
    buf_putc(out, '\n');
    for (size_t i = 0; i < x->n_done; i++) {
        const CompareRow *r = &x->row[i];
        csv_problem(r, out);
        for (size_t s = 0; s < x->n_sides; s++) csv_side(r, &r->side[s], out);
        csv_ratio(&r->ratio, out);
        csv_cell(out, false, str_from(compare_verdict(&r->ratio)));
        csv_cell_f(out, false, "%d", r->failed);
        if (x->n_sides > SIDE_PEER) csv_ratio(&r->versus, out);
        for (size_t s = 0; s < x->n_sides; s++) csv_cell(out, false, str_from(r->side[s].problem));
        csv_end(out);
    }
}

static void json_ratio(Json *j, const char *key, const Comparison *c)
{
    json_object(j, key);
    json_real(j, "ratio", c->ratio);
    json_real(j, "lo", c->lo);
    json_real(j, "hi", c->hi);
    json_object_end(j);
}

static void json_side(Json *j, const CompareRow *r, const CompareCell *cell, const char *key)
{
    json_object(j, key);
    json_real(j, "us", us_of(cell, cell->sum.median));
    json_real(j, "us_lo", us_of(cell, cell->sum.lo));
    json_real(j, "us_hi", us_of(cell, cell->sum.hi));
    json_real(j, "gflops", gflops_of(r, cell));
    json_cstr(j, "solution", cell->solution);
    json_int(j, "solution_index", cell->index);
    json_cstr(j, "why", cell->why);
    json_cstr(j, "problem", cell->problem);
    json_object_end(j);
}

static void json_fused(Json *j, const Fused *op)
{
    Buf suffix;
    buf_init(&suffix);
    fused_put(op, &suffix);
    json_cstr(j, "fused", buf_cstr(&suffix));
    buf_fini(&suffix);
}

static void json_row(const Compare *x, const CompareRow *r, Json *j)
{
    const GemmCall *c = &r->c->call;
    const char op[2][2] = {{c->op[0], 0}, {c->op[1], 0}};
    static const char *const types[CALL_TYPES] = {"a_type", "b_type", "c_type", "d_type", "compute_type"};
    static const char *const lds[] = {"lda", "ldb", "ldc", "ldd"};
    json_object(j, NULL);
    json_cstr(j, "transA", op[0]);
    json_cstr(j, "transB", op[1]);
    json_int(j, "M", c->m);
    json_int(j, "N", c->n);
    json_int(j, "K", c->k);
    json_int(j, "batch_count", c->batch);
    for (int i = 0; i < 4; i++) json_int(j, lds[i], c->ld[i]);
    for (int i = 0; i < CALL_TYPES; i++) json_cstr(j, types[i], call_type_name(c->type[i]));
    json_int(j, "call_count", r->c->count);
    if (fused_any(&r->c->fused.op)) json_fused(j, &r->c->fused.op);
    for (size_t s = 0; s < x->n_sides; s++) json_side(j, r, &r->side[s], endings[s]);
    json_ratio(j, "new_over_old", &r->ratio);
    json_cstr(j, "verdict", compare_verdict(&r->ratio));
    json_bool(j, "failed", r->failed);
    if (x->n_sides > SIDE_PEER) json_ratio(j, "new_over_peer", &r->versus);
    json_object_end(j);
}

static void json_total(const Compare *x, const CompareTotal *t, Json *j)
{
    json_object(j, "total");
    json_int(j, "sizes", (int64_t)x->n_done);
    json_int(j, "faster", (int64_t)t->n_faster);
    json_int(j, "same", (int64_t)t->n_same);
    json_int(j, "slower", (int64_t)t->n_slower);
    json_int(j, "failed", (int64_t)t->n_failed);
    json_int(j, "wrong", (int64_t)t->n_wrong);
    json_ratio(j, "new_over_old", &t->mean);
    if (x->n_sides > SIDE_PEER) json_ratio(j, "new_over_peer", &t->versus);
    json_real(j, "seconds_old", t->seconds[SIDE_OLD]);
    json_real(j, "seconds_new", t->seconds[SIDE_NEW]);
    json_object_end(j);
}

static void json_text(const Compare *x, const CompareTotal *t, Buf *out)
{
    Json j = json_to(out);
    char busy[256];
    json_object(&j, NULL);
    json_int(&j, "tuner-bench --compare", 1);
    for (size_t s = 0; s < x->n_sides; s++) json_cstr(&j, endings[s], x->name[s]);
    json_cstr(&j, "device", tuner_library_device(x->side[SIDE_OLD].lib));
    json_int(&j, "rounds", (int64_t)x->n_rounds);
    json_real(&j, "fail_below", x->o->fail_below);
    compare_busy(x, busy, sizeof busy);
    json_cstr(&j, "warning", busy);
    json_array(&j, "sizes");
    for (size_t i = 0; i < x->n_done; i++) json_row(x, &x->row[i], &j);
    json_array_end(&j);
    json_total(x, t, &j);
    json_object_end(&j);
    buf_putc(out, '\n');
}

Err compare_files(const Compare *x, const CompareTotal *t)
{
    Buf text;
    Err e = ERR_OK;
    buf_init(&text);
    if (x->o->csv) {
        csv_text(x, &text);
        e = buf_check(&text);
        if (!e) e = file_write(x->o->csv, buf_view(&text));
        buf_reset(&text);
    }
    if (!e && x->o->json) {
        json_text(x, t, &text);
        e = buf_check(&text);
        if (!e) e = file_write(x->o->json, buf_view(&text));
    }
    buf_fini(&text);
    return e;
}
