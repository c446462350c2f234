/* tuner-bench: cases from options, YAML files and logs, with rocblas-bench's names. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "client/bench/bench.h"
#include "workload/workload.h"

enum { ERROR_BYTES = 2048 };

void case_init(BenchCase *c)
{
    *c = (BenchCase){.iters = 10, .cold_iters = 2, .rotating = -1, .fill = FILL_HPL, .seed = 1, .count = 1};
    c->fused.arg[1] = INFINITY; /* hipblaslt-bench's defaults: 0 and infinite */
    call_init(&c->call);
}

/* ---- options of the timing; those of the call are in problem/gemm_call.c ---- */

static Err read_fill(Str v, BenchFill *out)
{
    static const char *const names[FILL_COUNT] = {
        "rand_int", "trig_float", "hpl", "zero", "One", "Two", "Random", "RandomNarrow", "Uniform", "Normal"};
    for (int i = 0; i < FILL_COUNT; i++)
        if (str_eq_c(v, names[i])) {
            *out = (BenchFill)i;
            return ERR_OK;
        }
    FAIL(ERR_INPUT,
         "--initialization: '%.*s' is not one of rand_int trig_float hpl zero One Two Random RandomNarrow "
         "Uniform Normal",
         STR_ARG(v));
}

static Err read_timing(Str v, BenchMethod *out)
{
    if (!str_eq_c(v, "race") && !str_eq_c(v, "loop"))
        FAIL(ERR_INPUT, "--timing: '%.*s' is neither race nor loop", STR_ARG(v));
    *out = str_eq_c(v, "race") ? TIMING_RACE : TIMING_LOOP;
    return ERR_OK;
}

Err case_set(BenchCase *c, const char *name, Str value)
{
    int64_t n;
    if (strcmp(name, "call_count") == 0) {
        TRY(call_read_int(name, value, 1, &c->count));
        if (!c->iters_given) c->iters = c->count;
        return ERR_OK;
    }
    if (strcmp(name, "iters") == 0) return call_read_int("iters", value, 1, &c->iters);
    if (strcmp(name, "cold_iters") == 0) return call_read_int(name, value, 0, &c->cold_iters);
    if (strcmp(name, "rotating") == 0) return call_read_int(name, value, 0, &c->rotating);
    if (strcmp(name, "initialization") == 0) return read_fill(value, &c->fill);
    if (strcmp(name, "timing") == 0) return read_timing(value, &c->timing);
    if (strcmp(name, "verify") == 0 || strcmp(name, "norm_check") == 0) {
        TRY(call_read_int("verify", value, 0, &n));
        c->verify = n != 0;
        return ERR_OK;
    }
    bool known;
    TRY(bench_fused_set(&c->fused, name, value, &known));
    return known ? ERR_OK : call_set(&c->call, str_from(name), value);
}

static tuner_op tuner_op_of(char letter)
{
    return letter == 'N' ? TUNER_N : letter == 'T' ? TUNER_T : TUNER_C;
}

Err case_finish(BenchCase *c)
{
    const GemmCall *x = &c->call;
    tuner_gemm_desc *g = &c->g;
    TRY(call_finish(&c->call));
    *g = (tuner_gemm_desc){.trans_a = tuner_op_of(x->op[0]),
                           .trans_b = tuner_op_of(x->op[1]),
                           .a_type = (tuner_type)x->type[CALL_A],
                           .b_type = (tuner_type)x->type[CALL_B],
                           .c_type = (tuner_type)x->type[CALL_C],
                           .d_type = (tuner_type)x->type[CALL_D],
                           .compute_type = (tuner_type)x->type[CALL_COMPUTE],
                           .m = x->m,
                           .n = x->n,
                           .k = x->k,
                           .lda = x->ld[CALL_A],
                           .ldb = x->ld[CALL_B],
                           .ldc = x->ld[CALL_C],
                           .ldd = x->ld[CALL_D],
                           .stride_a = x->stride[CALL_A],
                           .stride_b = x->stride[CALL_B],
                           .stride_c = x->stride[CALL_C],
                           .stride_d = x->stride[CALL_D],
                           .batch = x->batch,
                           .pointer_arrays = x->batched,
                           .xf32 = x->xf32,
                           .fp16_alt = (uint16_t)(x->flags >> 2),
                           .solution_index = x->solution_index};
    return bench_fused_finish(c);
}

/* ---- YAML ---- */

static Err read_map(const char *path, const Node *map, BenchCase *c)
{
    TRY(node_map(map, path, "problem"));
    const Node *function = node_get(map, "rocblas_function"); /* its letter comes before explicit types */
    if (function) TRY(case_set(c, "rocblas_function", function->text));
    for (size_t i = 0; i < map->n; i++) {
        const Node *key = &map->item[2 * i], *value = &map->item[2 * i + 1];
        char name[64];
        Str text;
        if (value == function) continue;
        if (key->text.n >= sizeof name)
            FAIL(ERR_INPUT, "%s:%d: option '%.*s' is not supported", path, key->line, STR_ARG(key->text));
        memcpy(name, key->text.s, key->text.n);
        name[key->text.n] = 0;
        TRY(node_str(value, path, name, &text));
        Err e = case_set(c, name, text);
        if (e) return err_context(e, "%s:%d: ", path, key->line);
    }
    Err e = case_finish(c);
    return e ? err_context(e, "%s:%d: ", path, map->line) : ERR_OK;
}

static Err take_yaml(Arena *a, const char *path, const Node *doc, const BenchCase *base, BenchCase **cases,
                     size_t *n)
{
    TRY(node_seq(doc, path, "list of problems", 1, 1 << 20));
    *cases = ARENA_ARRAY(a, doc->n, BenchCase);
    TRY_ALLOC(*cases);
    *n = doc->n;
    for (size_t i = 0; i < doc->n; i++) {
        (*cases)[i] = *base;
        TRY(read_map(path, node_at(doc, i), &(*cases)[i]));
    }
    return ERR_OK;
}

/* ---- logs ---- */

static Err take_workload(Arena *a, const char *path, const Workload *w, const BenchCase *base,
                         BenchCase **cases, size_t *n)
{
    const WorkloadSkip *skip = w->skip.v;
    if (w->call.n == 0)
        FAIL(ERR_INPUT,
             "%s: no line is a call of a GEMM (%" PRId64 " lines read, %" PRId64 " left out%s%.*s)", path,
             w->n_lines, w->n_skipped, w->skip.n ? ": " : "", w->skip.n ? (int)skip->reason.n : 0,
             w->skip.n ? skip->reason.s : "");
    for (size_t i = 0; i < w->skip.n; i++)
        notice("%.*s:%" PRId64 ": left out: %.*s (%" PRId64 " in all)", STR_ARG(skip[i].file), skip[i].line,
               STR_ARG(skip[i].reason), skip[i].count);
    if (w->n_epilogues)
        notice("%s: %" PRId64 " calls with bias or activation are taken as plain GEMMs", path,
               w->n_epilogues);
    *cases = ARENA_ARRAY(a, w->call.n, BenchCase);
    TRY_ALLOC(*cases);
    *n = w->call.n;
    for (size_t i = 0; i < *n; i++) {
        BenchCase *c = &(*cases)[i];
        *c = *base;
        c->call = w->call.v[i].call;
        c->call.solution_index = base->call.solution_index;
        c->count = w->call.v[i].count;
        if (!c->iters_given) c->iters = c->count;
        TRY(case_finish(c));
    }
    return ERR_OK;
}

/* By its name, or because its first line that is no remark begins an item of a list. */
static bool looks_like_yaml(const char *path)
{
    Str name = str_from(path);
    char line[64];
    bool yes = str_ends(name, ".yaml") || str_ends(name, ".yml"), begins = true, found = false;
    FILE *f = yes ? NULL : fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        Str text = str_trim(str_from(line));
        found = begins && text.n && text.s[0] != '#';
        yes = found && text.s[0] == '-' && (text.n == 1 || text.s[1] == ' ' || text.s[1] == '-');
        begins = strchr(line, '\n') != NULL;
    }
    if (f) fclose(f);
    return yes;
}

/* A profile that is cut in the middle of a line is no YAML any more, but a log. */
Err case_read_file(Arena *a, const char *path, const BenchCase *base, BenchCase **cases, size_t *n)
{
    Workload w;
    Node *doc;
    char why[ERROR_BYTES] = "";
    if (looks_like_yaml(path)) {
        if (!yaml_read(a, path, NULL, &doc)) return take_yaml(a, path, doc, base, cases, n);
        snprintf(why, sizeof why, "%s", err_message());
    }
    workload_init(&w);
    Err e = workload_read(&w, path);
    if (*why && (e || w.call.n == 0))
        e = err_set(ERR_INPUT, "%s", why);
    else if (!e)
        e = take_workload(a, path, &w, base, cases, n);
    workload_fini(&w);
    return e;
}
