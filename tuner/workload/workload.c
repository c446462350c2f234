/* Reading and merging of calls. See workload.h. */
#include "workload/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filemap.h"
#include "fmt/csv.h"

enum { COLUMNS_MAX = 64, SKIPS_MAX = 100 };
#define LOG_BYTES_MAX ((size_t)16 << 30)

void workload_init(Workload *w)
{
    *w = (Workload){.precision = TYPE_S};
    arena_init(&w->arena, 0);
    map_init(&w->index);
    map_init(&w->skip_index);
}

void workload_fini(Workload *w)
{
    map_fini(&w->index);
    map_fini(&w->skip_index);
    VEC_FINI(&w->call);
    VEC_FINI(&w->skip);
    arena_fini(&w->arena);
}

/* ---- merging ---- */

/* What makes two calls the same problem: all but alpha, beta and the strides of a single matrix. */
typedef struct {
    int64_t number[CALL_TYPES + 4 + 4 + 4];
    char op[2], flag[6];
} CallKey;

static CallKey key_of(const GemmCall *c)
{
    CallKey k;
    int n = 0;
    memset(&k, 0, sizeof k);
    for (int i = 0; i < CALL_TYPES; i++) k.number[n++] = (int64_t)c->type[i];
    k.number[n++] = c->m;
    k.number[n++] = c->n;
    k.number[n++] = c->k;
    k.number[n++] = c->batch;
    for (int i = 0; i < 4; i++) k.number[n++] = c->ld[i];
    for (int i = 0; i < 4; i++) k.number[n++] = c->batch > 1 && !c->batched ? c->stride[i] : 0;
    memcpy(k.op, c->op, sizeof k.op);
    k.flag[0] = (char)c->batched;
    k.flag[1] = (char)c->xf32;
    return k;
}

/* The entry of the key, made of `call` if it is new. */
static Err merge(Workload *w, Str key, const WorkloadCall *call, int64_t n, double seconds)
{
    bool added;
    int64_t *at = map_put(&w->index, key, &added);
    TRY_ALLOC(at);
    if (added) {
        *at = (int64_t)w->call.n;
        if (!VEC_PUSH(&w->call, *call)) FAIL(ERR_FAILED, "out of memory");
    }
    WorkloadCall *x = &w->call.v[*at];
    if (x->count > INT64_MAX / 2 - n || w->n_calls > INT64_MAX / 2 - n)
        FAIL(ERR_INPUT, "more than 2^62 calls");
    x->count += n;
    w->n_calls += n;
    if (seconds > 0) x->seconds = seconds;
    return ERR_OK;
}

Err workload_add(Workload *w, GemmCall *c, int64_t n, double seconds)
{
    if (c->m <= 0 || c->n <= 0 || c->k <= 0) FAIL(ERR_INPUT, "a size is 0");
    TRY(call_finish(c));
    const CallKey key = key_of(c);
    return merge(w, (Str){(const char *)&key, sizeof key}, &(WorkloadCall){.call = *c}, n, seconds);
}

static Err check_products(const ConvDesc *c)
{
    const int64_t n = conv_n_gemms(c);
    if (n > CONV_PRODUCTS_MAX)
        FAIL(ERR_INPUT, "backward data is %lld products, at most %lld are supported", (long long)n,
             (long long)CONV_PRODUCTS_MAX);
    return ERR_OK;
}

/* Adds the products of a convolution; dry: only checks that each is a GEMM. */
static Err add_products(Workload *w, const ConvDesc *c, int64_t n, bool dry)
{
    const int64_t n_gemms = conv_n_gemms(c);
    TRY(check_products(c));
    for (int64_t i = 0; i < n_gemms; i++) {
        ConvGemm g;
        GemmCall call;
        bool empty;
        conv_gemm(c, i, &g);
        TRY(conv_gemm_call(c, &g, &call, &empty));
        if (empty || dry) continue;
        TRY(workload_add(w, &call, n, 0));
        w->n_products += n;
    }
    return ERR_OK;
}

static Err add_whole(Workload *w, const ConvDesc *c, int64_t n, double seconds)
{
    ConvDesc *copy = ARENA_NEW(&w->arena, ConvDesc);
    _Static_assert(sizeof *copy != sizeof(CallKey), "keys of the two kinds differ by their lengths");
    TRY_ALLOC(copy);
    *copy = *c;
    return merge(w, (Str){(const char *)copy, sizeof *copy}, &(WorkloadCall){.conv = copy}, n, seconds);
}

Err workload_add_conv(Workload *w, const MiopenConv *c, int64_t n, double seconds)
{
    for (int i = 0; i < c->n; i++)
        TRY(w->as_convolution ? check_products(&c->conv[i]) : add_products(w, &c->conv[i], n, true));
    for (int i = 0; i < c->n; i++)
        TRY(w->as_convolution ? add_whole(w, &c->conv[i], n, seconds)
                              : add_products(w, &c->conv[i], n, false));
    w->n_epilogues += c->bias;
    if (!w->as_convolution) w->n_convolutions += c->n * n;
    return ERR_OK;
}

Err workload_skip(Workload *w, Str reason, Str file, int64_t line)
{
    bool added;
    if (w->skip.n >= SKIPS_MAX && !map_get(&w->skip_index, reason)) reason = STR("other reasons");
    int64_t *at = map_put(&w->skip_index, reason, &added);
    TRY_ALLOC(at);
    if (added) {
        WorkloadSkip s = {.reason = arena_dup(&w->arena, reason), .file = file, .line = line};
        TRY_ALLOC(s.reason.s);
        *at = (int64_t)w->skip.n;
        if (!VEC_PUSH(&w->skip, s)) FAIL(ERR_FAILED, "out of memory");
    }
    w->skip.v[*at].count++;
    w->n_skipped++;
    return ERR_OK;
}

/* ---- CSV ---- */

typedef struct {
    Str name[COLUMNS_MAX];
    size_t n;
    bool conv; /* of convolutions */
} Columns;

static bool has_column(const Columns *c, const char *a, const char *b)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq_c(c->name[i], a) || str_eq_c(c->name[i], b)) return true;
    return false;
}

/* True when the line names columns of sizes, of GEMMs or of convolutions. */
static bool read_header(Str line, Columns *out)
{
    Str rest = line, cell;
    out->n = 0;
    while (str_split(&rest, ',', &cell)) {
        if (out->n == COLUMNS_MAX) return false;
        out->name[out->n++] = str_trim(cell);
    }
    out->conv = str_eq_c(out->name[0], "base");
    return out->conv || (has_column(out, "M", "m") && has_column(out, "N", "n") && has_column(out, "K", "k"));
}

static Err read_conv_row(Workload *w, const Columns *columns, Str line)
{
    MiopenOptions o;
    MiopenConv c;
    int64_t count = 1;
    double seconds = 0;
    Str rest = line, cell;
    str_split(&rest, ',', &cell);
    if (!miopen_init(&o, str_trim(cell)))
        FAIL(ERR_INPUT, "base '%.*s' is no convolution", (int)(cell.n < 32 ? cell.n : 32), cell.s);
    for (size_t i = 1; i < columns->n; i++) {
        bool known = true;
        if (!str_split(&rest, ',', &cell)) FAIL(ERR_INPUT, "the row ends in the middle");
        Str name = columns->name[i];
        cell = str_trim(cell);
        if (cell.n == 0) continue;
        if (str_eq_c(name, "us")) {
            if (str_to_f64(cell, &seconds)) seconds *= 1e-6;
        } else if (str_eq_c(name, "call_count")) {
            TRY(workload_count(name, cell, &count));
        } else {
            TRY(miopen_set(&o, name, cell, &known));
        }
    }
    TRY(miopen_finish(&o, &c));
    return workload_add_conv(w, &c, count, c.n == 1 ? seconds : 0);
}

static Err read_row(Workload *w, const Columns *columns, Str line)
{
    GemmCall c;
    int64_t count = 1;
    double seconds = 0;
    Str rest = line, cell;
    call_init(&c);
    for (int i = 0; i < CALL_TYPES; i++) c.type[i] = w->precision;
    w->precision_used |= !has_column(columns, "a_type", "precision");
    for (size_t i = 0; i < columns->n; i++) {
        if (!str_split(&rest, ',', &cell)) FAIL(ERR_INPUT, "the row ends in the middle");
        Str name = columns->name[i];
        cell = str_trim(cell);
        if (cell.n == 0) continue;
        if (str_eq_c(name, "us")) {
            if (str_to_f64(cell, &seconds)) seconds *= 1e-6;
        } else {
            TRY(workload_option(w, &c, name, cell, &count));
        }
    }
    c.strided = c.batch > 1;
    return workload_add(w, &c, count, seconds);
}

/* ---- files ---- */

typedef struct {
    Str text; /* unread */
    Str name;
    int64_t line;
    bool csv, first;
    Columns columns;
} Log;

static Err take_line(Workload *w, Log *log, Str line, bool complete, Buf *reason)
{
    LineKind kind = LINE_CALL;
    Err e;
    buf_reset(reason);
    if (log->first && str_trim(line).n && line.s[0] != '#') {
        log->first = false;
        log->csv = read_header(line, &log->columns);
        if (log->csv) return ERR_OK;
    }
    if (log->csv && (str_trim(line).n == 0 || line.s[0] == '#')) return ERR_OK;
    if (log->csv && str_starts(line, "base,") && read_header(line, &log->columns)) return ERR_OK;
    e = !log->csv           ? workload_line(w, line, reason, &kind)
        : log->columns.conv ? read_conv_row(w, &log->columns, line)
                            : read_row(w, &log->columns, line);
    if (e == ERR_INPUT) {
        buf_reset(reason);
        buf_puts(reason, complete ? err_message() : "the log ends in the middle of a line");
        err_clear();
        kind = LINE_SKIPPED;
    } else if (e) {
        return e;
    }
    TRY(buf_check(reason));
    return kind == LINE_SKIPPED ? workload_skip(w, buf_view(reason), log->name, log->line) : ERR_OK;
}

static Err take_text(Workload *w, Log *log, bool at_end)
{
    Buf reason;
    Err e = ERR_OK;
    buf_init(&reason);
    while (!e && log->text.n) {
        const char *end = memchr(log->text.s, '\n', log->text.n);
        if (!end && !at_end) break;
        size_t n = end ? (size_t)(end - log->text.s) : log->text.n;
        Str line = {log->text.s, n && log->text.s[n - 1] == '\r' ? n - 1 : n};
        log->text = str_sub(log->text, n + (end != NULL), log->text.n);
        log->line++;
        w->n_lines++;
        e = take_line(w, log, line, end != NULL, &reason);
    }
    buf_fini(&reason);
    return e;
}

static Err read_stream(Workload *w, Log *log)
{
    enum { CHUNK = 1 << 20 };
    Buf b;
    Err e = ERR_OK;
    size_t n;
    char *chunk = arena_alloc(&w->arena, CHUNK);
    TRY_ALLOC(chunk);
    buf_init(&b);
    while (!e && (n = fread(chunk, 1, CHUNK, stdin)) > 0) {
        buf_add(&b, chunk, n);
        e = buf_check(&b);
        log->text = buf_view(&b);
        if (!e) e = take_text(w, log, false);
        size_t rest = log->text.n; /* a line that has not ended yet */
        if (!e && rest > LOG_BYTES_MAX >> 4) e = err_set(ERR_INPUT, "standard input: a line is too long");
        if (rest) memmove(b.s, log->text.s, rest);
        b.n = rest;
    }
    log->text = buf_view(&b);
    if (!e && ferror(stdin)) e = err_set(ERR_FAILED, "cannot read standard input: %s", strerror(errno));
    if (!e) e = take_text(w, log, true);
    buf_fini(&b);
    return e;
}

Err workload_read(Workload *w, const char *path)
{
    Log log = {.name = arena_dup(&w->arena, str_from(path)), .first = true};
    FileMap map;
    TRY_ALLOC(log.name.s);
    if (strcmp(path, "-") == 0) return read_stream(w, &log);
    TRY(filemap_open(path, LOG_BYTES_MAX, &map));
    log.text = map.data;
    Err e = take_text(w, &log, true);
    filemap_close(&map);
    return e;
}
