/* tuner-bench: cases from options and from YAML files, with rocblas-bench's names. */
#include <inttypes.h>
#include <string.h>

#include "base/fs.h"
#include "client/bench/bench.h"

void case_init(BenchCase *c)
{
    *c = (BenchCase){.iters = 10, .cold_iters = 2, .rotating = -1, .fill = FILL_HPL, .seed = 1};
    call_init(&c->call);
}

/* ---- options of the timing; those of the call are in problem/gemm_call.c ---- */

static Err read_int(const char *name, Str v, int64_t min, int64_t *out)
{
    if (!str_to_i64(v, out) || *out < min)
        FAIL(ERR_INPUT, "--%s: '%.*s' is not an integer from %" PRId64, name, STR_ARG(v), min);
    return ERR_OK;
}

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
    if (strcmp(name, "iters") == 0 || strcmp(name, "call_count") == 0)
        return read_int("iters", value, 1, &c->iters);
    if (strcmp(name, "cold_iters") == 0) return read_int(name, value, 0, &c->cold_iters);
    if (strcmp(name, "rotating") == 0) return read_int(name, value, 0, &c->rotating);
    if (strcmp(name, "initialization") == 0) return read_fill(value, &c->fill);
    if (strcmp(name, "timing") == 0) return read_timing(value, &c->timing);
    if (strcmp(name, "verify") == 0 || strcmp(name, "norm_check") == 0) {
        TRY(read_int("verify", value, 0, &n));
        c->verify = n != 0;
        return ERR_OK;
    }
    return call_set(&c->call, str_from(name), value);
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
    return ERR_OK;
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
        if (c->iters_given && strcmp(name, "call_count") == 0) continue;
        Err e = case_set(c, name, text);
        if (e) return err_context(e, "%s:%d: ", path, key->line);
    }
    Err e = case_finish(c);
    return e ? err_context(e, "%s:%d: ", path, map->line) : ERR_OK;
}

Err case_read_yaml(Arena *a, const char *path, const BenchCase *base, BenchCase **cases, size_t *n)
{
    Node *doc;
    TRY(yaml_read(a, path, NULL, &doc));
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
