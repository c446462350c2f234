/* tuner-bench --select-only: problem lines on stdin, or the problems of a file (--yaml), and one JSON line
 * for each on stdout with the chosen solution and, when asked, its launches. Problems of a file are printed
 * as such lines, with fused=SUFFIX where they have bias, activation or scale factors (problem/fused.h). A
 * line is `TYPE TA TB M N K BATCH LDA LDB LDC LDD ALPHA BETA [cd=1] [gb=1] [xf32=1] [fp16_alt=1|2|3]
 * [metric=cu|device]`; a leading dimension of 0 is the packed one; batch strides are leading dimension
 * times columns. Pointers are fixed: A 0x1000000000, B 0x2000000000, C 0x3000000000, D 0x4000000000 (C with
 * cd=1), workspace 0x5000000000; with gb=1 those of A, B, C, D are arrays of pointers at 0x6000000000,
 * 0x6100000000, ...; with cd=1 beside it D's array is C's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "client/bench/bench.h"

enum { LINE_BYTES = 1024, WORDS = 13, OPTIONS = 5 };

/* Letters of the input, output and compute type: HHS is half, half, float; F8B8SS has two input types. */
static const struct {
    const char *name;
    tuner_type a, b, out, compute;
} kinds[] = {
    {"S", TUNER_F32, TUNER_F32, TUNER_F32, TUNER_F32},
    {"D", TUNER_F64, TUNER_F64, TUNER_F64, TUNER_F64},
    {"C", TUNER_C32, TUNER_C32, TUNER_C32, TUNER_C32},
    {"Z", TUNER_C64, TUNER_C64, TUNER_C64, TUNER_C64},
    {"H", TUNER_F16, TUNER_F16, TUNER_F16, TUNER_F16},
    {"HHS", TUNER_F16, TUNER_F16, TUNER_F16, TUNER_F32},
    {"HSS", TUNER_F16, TUNER_F16, TUNER_F32, TUNER_F32},
    {"BBS", TUNER_BF16, TUNER_BF16, TUNER_BF16, TUNER_F32},
    {"BSS", TUNER_BF16, TUNER_BF16, TUNER_F32, TUNER_F32},
    {"I8", TUNER_I8, TUNER_I8, TUNER_I32, TUNER_I32},
    {"I8x4", TUNER_I8X4, TUNER_I8X4, TUNER_I32, TUNER_I32},
    {"F8SS", TUNER_F8, TUNER_F8, TUNER_F32, TUNER_F32},
    {"F8HS", TUNER_F8, TUNER_F8, TUNER_F16, TUNER_F32},
    {"F8F8S", TUNER_F8, TUNER_F8, TUNER_F8, TUNER_F32},
    {"B8SS", TUNER_BF8, TUNER_BF8, TUNER_F32, TUNER_F32},
    {"B8HS", TUNER_BF8, TUNER_BF8, TUNER_F16, TUNER_F32},
    {"B8B8S", TUNER_BF8, TUNER_BF8, TUNER_BF8, TUNER_F32},
    {"F8B8SS", TUNER_F8, TUNER_BF8, TUNER_F32, TUNER_F32},
    {"F8B8HS", TUNER_F8, TUNER_BF8, TUNER_F16, TUNER_F32},
    {"F8B8B8S", TUNER_F8, TUNER_BF8, TUNER_BF8, TUNER_F32},
    {"B8F8SS", TUNER_BF8, TUNER_F8, TUNER_F32, TUNER_F32},
    {"B8F8HS", TUNER_BF8, TUNER_F8, TUNER_F16, TUNER_F32},
    {"B8F8B8S", TUNER_BF8, TUNER_F8, TUNER_BF8, TUNER_F32},
};

typedef struct {
    tuner_gemm_desc g;
    const tuner_epilogue *epilogue; /* NULL: none */
    unsigned char alpha[16], beta[16];
} Request;

static void *pointer(uint64_t address)
{
    void *p;
    uintptr_t u = (uintptr_t)address;
    memcpy(&p, &u, sizeof p);
    return p;
}

static Err read_kind(Str word, tuner_gemm_desc *g)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq_c(word, kinds[i].name)) {
            g->a_type = kinds[i].a, g->b_type = kinds[i].b;
            g->c_type = g->d_type = kinds[i].out;
            g->compute_type = kinds[i].compute;
            return ERR_OK;
        }
    FAIL(ERR_INPUT, "type '%.*s' is not one of S D C Z H HHS HSS BBS BSS I8 I8x4 or F8SS B8HS F8B8B8S ...",
         STR_ARG(word));
}

static Err read_op(Str word, tuner_op *op)
{
    static const char ops[] = "NTC";
    const char *at = word.n == 1 ? strchr(ops, word.s[0]) : NULL;
    if (!at || !*at) FAIL(ERR_INPUT, "transpose '%.*s' is not N, T or C", STR_ARG(word));
    *op = (tuner_op)(at - ops);
    return ERR_OK;
}

static void set_sizes(tuner_gemm_desc *g, const int64_t v[8])
{
    bool ta = g->trans_a != TUNER_N, tb = g->trans_b != TUNER_N;
    g->m = v[0];
    g->n = v[1];
    g->k = v[2];
    g->batch = v[3];
    g->lda = v[4] ? v[4] : ta ? g->k : g->m;
    g->ldb = v[5] ? v[5] : tb ? g->n : g->k;
    g->ldc = v[6] ? v[6] : g->m;
    g->ldd = v[7] ? v[7] : g->m;
    g->stride_a = g->lda * (ta ? g->m : g->k);
    g->stride_b = g->ldb * (tb ? g->k : g->n);
    g->stride_c = g->ldc * g->n;
    g->stride_d = g->ldd * g->n;
}

/* *same: C and D are one matrix. */
static Err read_option(Str word, tuner_gemm_desc *g, bool *same)
{
    if (str_eq_c(word, "cd=1"))
        *same = true;
    else if (str_eq_c(word, "gb=1"))
        g->pointer_arrays = 1;
    else if (str_eq_c(word, "xf32=1"))
        g->xf32 = 1;
    else if (str_starts(word, "fp16_alt=") && word.n == 10 && word.s[9] >= '1' && word.s[9] <= '3')
        g->fp16_alt = (uint16_t)(word.s[9] - '0');
    else if (str_eq_c(word, "metric=cu"))
        g->metric = TUNER_METRIC_CU;
    else if (str_eq_c(word, "metric=device"))
        g->metric = TUNER_METRIC_DEVICE;
    else
        FAIL(ERR_INPUT, "'%.*s' is none of cd=1, gb=1, xf32=1, fp16_alt=1, 2 or 3, metric=cu, metric=device",
             STR_ARG(word));
    return ERR_OK;
}

/* same: C and D are one matrix. */
static void finish(Request *r, const double alpha[2], const double beta[2], bool same)
{
    scalar_bytes(r->g.compute_type, alpha, r->alpha);
    scalar_bytes(r->g.compute_type, beta, r->beta);
    uint64_t first = r->g.pointer_arrays ? 0x6000000000 : 0x1000000000;
    uint64_t step = r->g.pointer_arrays ? 0x100000000 : 0x1000000000;
    r->g.a = pointer(first);
    r->g.b = pointer(first + step);
    r->g.c = pointer(first + 2 * step);
    r->g.d = pointer(first + (same ? 2 : 3) * step);
}

static Err read_request(Str line, Request *r)
{
    Str word[WORDS + OPTIONS], rest = line, part;
    int64_t v[8];
    double alpha[2] = {0, 0}, beta[2] = {0, 0};
    int n = 0;
    while (str_split(&rest, ' ', &part)) {
        if (part.n == 0) continue;
        if (n == WORDS + OPTIONS) FAIL(ERR_INPUT, "more than %d words", WORDS + OPTIONS);
        word[n++] = part;
    }
    if (n < WORDS) FAIL(ERR_INPUT, "%d words, expected TYPE TA TB M N K BATCH LDA LDB LDC LDD ALPHA BETA", n);
    *r = (Request){0};
    TRY(read_kind(word[0], &r->g));
    TRY(read_op(word[1], &r->g.trans_a));
    TRY(read_op(word[2], &r->g.trans_b));
    for (int i = 0; i < 8; i++)
        if (!str_to_i64(word[3 + i], &v[i]) || v[i] < 0 || v[i] >= INT64_C(1) << 32)
            FAIL(ERR_INPUT, "'%.*s' is not a size", STR_ARG(word[3 + i]));
    if (!str_to_f64(word[11], &alpha[0]) || !str_to_f64(word[12], &beta[0]))
        FAIL(ERR_INPUT, "'%.*s' or '%.*s' is not a number", STR_ARG(word[11]), STR_ARG(word[12]));
    bool same = false;
    for (int i = WORDS; i < n; i++) TRY(read_option(word[i], &r->g, &same));
    set_sizes(&r->g, v);
    finish(r, alpha, beta, same);
    return ERR_OK;
}

typedef struct {
    size_t n;
} Printer;

static void print_launch(void *ctx, const tuner_launch *l)
{
    Printer *p = ctx;
    printf("%s{\"kernel\":\"%s\",\"workGroupSize\":[%u,%u,%u],\"numWorkGroups\":[%u,%u,%u],\"argBytes\":%u,"
           "\"hex\":\"",
           p->n++ ? "," : "", l->kernel, l->work_group[0], l->work_group[1], l->work_group[2],
           l->num_work_groups[0], l->num_work_groups[1], l->num_work_groups[2], l->n_arg_bytes);
    for (uint32_t i = 0; i < l->n_arg_bytes; i++) printf("%02x", l->args[i]);
    printf("\"}");
}

/* The answer repeats the input line, so that answers can be joined with their problems. */
static void print_line(Str line)
{
    printf("{\"line\":\"");
    for (size_t i = 0; i < line.n; i++)
        if (line.s[i] == '\t' || line.s[i] == '\r')
            printf("\\%c", line.s[i] == '\t' ? 't' : 'r');
        else
            putchar(line.s[i]);
    printf("\",\"best\":");
}

static Err answer(tuner_library *lib, Str line, Request *r, bool launches)
{
    tuner_selection s;
    r->g.alpha = r->alpha;
    r->g.beta = r->beta;
    if (r->epilogue && launches)
        FAIL(ERR_INPUT, "--launches: not for problems with bias, activation or scale factors");
    Err e = (Err)tuner_select_fused(lib, &r->g, r->epilogue, &s);
    if (e && e != (Err)TUNER_NO_SOLUTION) return e;
    print_line(line);
    if (e) {
        puts("null}");
        return ERR_OK;
    }
    printf("{\"index\":%" PRId64
           ",\"kernel\":\"%s\",\"why\":\"%s\",\"distance\":%.17g,\"workspace\":%" PRIu64,
           s.solution_index, s.kernel, s.why, s.distance, s.workspace_bytes);
    tuner_mapping m;
    const char *from;
    if (!r->epilogue && !tuner_select_mapping(lib, &r->g, &m, &from) && m.wgm)
        printf(",\"mapping\":{\"wgm\":%d,\"xcc\":%d,\"group\":%d,\"chunk\":%d,\"from\":\"%s\"}", m.wgm, m.xcc,
               m.group, m.chunk, from);
    if (launches) {
        Printer p = {0};
        printf(",\"calls\":[");
        TRY((Err)tuner_launches(lib, &r->g, pointer(0x5000000000), print_launch, &p));
        printf("]");
    }
    puts("}}");
    return ERR_OK;
}

Err bench_select(tuner_library *lib, bool launches)
{
    char text[LINE_BYTES];
    for (int number = 1; fgets(text, sizeof text, stdin); number++) {
        Str line = str_from(text);
        if (strlen(text) == sizeof text - 1 && text[sizeof text - 2] != '\n')
            FAIL(ERR_INPUT, "line %d: longer than %d bytes", number, LINE_BYTES);
        if (line.n && line.s[line.n - 1] == '\n') line.n--;
        if (str_trim(line).n == 0 || str_trim(line).s[0] == '#') continue;
        for (size_t i = 0; i < line.n; i++)
            if ((line.s[i] < ' ' && line.s[i] != '\t' && line.s[i] != '\r') || line.s[i] == '"' ||
                line.s[i] == '\\')
                FAIL(ERR_INPUT, "line %d: character %d is not allowed", number, line.s[i]);
        Request r;
        Err e = read_request(str_trim(line), &r);
        if (!e) e = answer(lib, line, &r, launches);
        if (e) return err_context(e, "line %d: ", number);
    }
    return ERR_OK;
}

/* The case as a line of stdin; types that have no letters there as their words. */
static void case_line(const BenchCase *c, Buf *out)
{
    const tuner_gemm_desc *g = &c->g;
    const char *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].a == g->a_type && kinds[i].b == g->b_type && kinds[i].out == g->c_type &&
            kinds[i].out == g->d_type && kinds[i].compute == g->compute_type)
            kind = kinds[i].name;
    if (kind)
        buf_puts(out, kind);
    else
        for (int i = 0; i < CALL_TYPES; i++)
            buf_printf(out, "%s%s", i ? "," : "", call_type_name(c->call.type[i]));
    buf_printf(out, " %c %c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, c->call.op[0], c->call.op[1], g->m,
               g->n, g->k, g->batch);
    buf_printf(out, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, g->lda, g->ldb, g->ldc, g->ldd);
    buf_printf(out, " %g %g", c->call.alpha[0], c->call.beta[0]);
    if (!c->call.ex) buf_puts(out, " cd=1");
    if (g->pointer_arrays) buf_puts(out, " gb=1");
    if (g->xf32) buf_puts(out, " xf32=1");
    if (g->fp16_alt) buf_printf(out, " fp16_alt=%u", g->fp16_alt);
    if (fused_any(&c->fused.op)) buf_puts(out, " fused=");
    fused_put(&c->fused.op, out);
}

Err bench_select_cases(tuner_library *lib, const BenchCase *cases, size_t n, bool launches)
{
    Err e = ERR_OK;
    Buf line;
    buf_init(&line);
    for (size_t i = 0; !e && i < n; i++) {
        tuner_epilogue epilogue;
        Request r = {.g = cases[i].g};
        bench_epilogue(&cases[i], &epilogue);
        if (fused_any(&cases[i].fused.op)) r.epilogue = &epilogue;
        finish(&r, cases[i].call.alpha, cases[i].call.beta, !cases[i].call.ex);
        buf_reset(&line);
        case_line(&cases[i], &line);
        e = buf_check(&line);
        if (!e) e = answer(lib, buf_view(&line), &r, launches);
    }
    buf_fini(&line);
    return e;
}
