/* libtuner: the log of calls by TUNER_LAYER, in rocBLAS's formats, which tuning tools read: bit 1 writes a
 * line with the arguments per call, bit 2 a rocblas-bench command line per call, bit 4 at close a YAML line
 * per distinct call with its count. The log is appended to TUNER_LOG_PATH or written to stderr. Without
 * TUNER_LAYER the variables of rocBLAS are used. Also writes the line per launch of --library-print-debug. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/runtime/tuner_priv.h"
#include "problem/datatype.h"
#include "problem/miopen.h"

enum { LINE_MAX_BYTES = 1024, PROFILE_MAX = 65536 };

struct Profile {
    tuner_gemm_desc g;
    Epilogue f;
    double alpha[2], beta[2];
    uint64_t count;
};

static const char *const type_names[] = {"f32_r", "f64_r",  "f32_c", "f64_c", "f16_r", "i8x4_r",
                                         "i32_r", "bf16_r", "i8_r",  "?",     "f8_r",  "bf8_r"};
static const char letters[] = "sdczh";
static const char *op_name(tuner_op op) { return op == TUNER_N ? "N" : op == TUNER_T ? "T" : "C"; }

static const char *type_name(tuner_type t)
{
    return (unsigned)t < sizeof type_names / sizeof *type_names ? type_names[t] : "?";
}

const char *tuner_type_word(unsigned type) { return type_name((tuner_type)type); }

/* Whether the call is one of BLAS's typed functions; others are logged as gemm_ex. */
static bool is_plain(const Profile *p)
{
    const tuner_gemm_desc *g = &p->g;
    return !fused_any(&p->f.op) && (unsigned)g->a_type <= TUNER_F16 && g->a_type == g->b_type &&
           g->a_type == g->c_type && g->a_type == g->d_type && g->a_type == g->compute_type &&
           (!g->d || g->d == g->c) && !g->fp16_alt;
}

static const char *batch_name(const tuner_gemm_desc *g)
{
    return g->pointer_arrays ? "_batched" : g->batch > 1 ? "_strided_batched" : "";
}

static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return h >> 15 ? -v : v;
}

static void scalar_value(tuner_type type, const void *value, double out[2])
{
    float f[2];
    int32_t i;
    uint16_t h;
    out[0] = out[1] = 0;
    if (!value) return;
    switch (type) {
    case TUNER_F64:
        memcpy(out, value, 8);
        return;
    case TUNER_C64:
        memcpy(out, value, 16);
        return;
    case TUNER_F32:
    case TUNER_C32:
        memcpy(f, value, type == TUNER_C32 ? 8 : 4);
        out[0] = (double)f[0];
        if (type == TUNER_C32) out[1] = (double)f[1];
        return;
    case TUNER_I32:
        memcpy(&i, value, 4);
        out[0] = i;
        return;
    case TUNER_F16:
        memcpy(&h, value, 2);
        out[0] = half_value(h);
        return;
    case TUNER_BF16:
    case TUNER_I8:
    case TUNER_I8X4:
    case TUNER_F8:
    case TUNER_BF8:
        return;
    }
}

/* ---- lines ---- */

typedef struct {
    char text[LINE_MAX_BYTES];
    size_t n;
} Line;

static void add(Line *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add(Line *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(l->text + l->n, sizeof l->text - l->n, fmt, ap);
    va_end(ap);
    if (n > 0) l->n = l->n + (size_t)n < sizeof l->text ? l->n + (size_t)n : sizeof l->text - 1;
}

/* One option of an epilogue: of a command line or of a YAML map. */
static void add_option(Line *l, bool yaml, const char *name, const char *value)
{
    add(l, yaml ? ", %s: %s" : " --%s %s", name, value);
}

/* An epilogue with hipblaslt-bench's names, and tuner-bench's for what that does not have. */
static void add_epilogue(Line *l, const Profile *p, bool yaml)
{
    const Epilogue *f = &p->f;
    const char *scale = f->op.scale_ab == SCALE_AB_VECTOR ? "2" : "1";
    char number[32];
    if (f->op.bias) {
        add_option(l, yaml, "bias_vector", "1");
        add_option(l, yaml, "bias_type", type_name((tuner_type)f->op.bias_type));
        if (f->op.bias == ALONG_N) add_option(l, yaml, "bias_dim", "N");
    }
    if (f->op.activation) add_option(l, yaml, "activation_type", activation_name(f->op.activation));
    for (int i = 0; i < activation_numbers(f->op.activation); i++) {
        snprintf(number, sizeof number, "%.17g", f->arg[i]);
        add_option(l, yaml, i ? "activation_arg2" : "activation_arg1", number);
    }
    if (f->op.scale_ab) {
        add_option(l, yaml, "scaleA", scale);
        add_option(l, yaml, "scaleB", scale);
    }
    if (f->op.scale_cd) {
        add_option(l, yaml, "scaleC", "1");
        add_option(l, yaml, "scaleD", "1");
    }
    if (f->op.scale_alpha) add_option(l, yaml, "scaleAlpha_vector", "1");
    if (f->op.scale_alpha == ALONG_N) add_option(l, yaml, "scaleAlpha_dim", "N");
}

static void line_trace(Line *l, const Profile *p)
{
    const tuner_gemm_desc *g = &p->g;
    char suffix[FUSED_SUFFIX_MAX];
    const int n_suffix = (int)fused_suffix(&p->f.op, suffix);
    add(l, "tuner_gemm%s%s,%s,%s,%s,%s,%s,%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64, n_suffix ? "_fused" : "",
        batch_name(g), type_name(g->a_type), type_name(g->b_type), type_name(g->c_type), type_name(g->d_type),
        type_name(g->compute_type), op_name(g->trans_a), op_name(g->trans_b), g->m, g->n, g->k);
    add(l, ",%g,%p,%" PRId64 ",%p,%" PRId64 ",%g,%p,%" PRId64 ",%p,%" PRId64 ",%" PRId64, p->alpha[0], g->a,
        g->lda, g->b, g->ldb, p->beta[0], g->c, g->ldc, g->d, g->ldd, g->batch ? g->batch : 1);
    if (n_suffix) add(l, ",%.*s", n_suffix - 1, suffix + 1);
    add(l, "\n");
}

static void line_bench(Line *l, const Profile *p)
{
    const tuner_gemm_desc *g = &p->g;
    bool plain = is_plain(p), strided = g->batch > 1 && !g->pointer_arrays;
    add(l, "%s -f gemm%s%s", fused_any(&p->f.op) ? "tuner-bench" : "rocblas-bench", batch_name(g),
        plain ? "" : "_ex");
    if (plain) add(l, " -r %s", type_name(g->a_type));
    add(l, " --transposeA %s --transposeB %s -m %" PRId64 " -n %" PRId64 " -k %" PRId64 " --alpha %.17g",
        op_name(g->trans_a), op_name(g->trans_b), g->m, g->n, g->k, p->alpha[0]);
    if (p->alpha[1] != 0) add(l, " --alphai %.17g", p->alpha[1]);
    if (!plain) add(l, " --a_type %s", type_name(g->a_type));
    add(l, " --lda %" PRId64, g->lda);
    if (strided) add(l, " --stride_a %" PRId64, g->stride_a);
    if (!plain) add(l, " --b_type %s", type_name(g->b_type));
    add(l, " --ldb %" PRId64, g->ldb);
    if (strided) add(l, " --stride_b %" PRId64, g->stride_b);
    add(l, " --beta %.17g", p->beta[0]);
    if (p->beta[1] != 0) add(l, " --betai %.17g", p->beta[1]);
    if (!plain) add(l, " --c_type %s", type_name(g->c_type));
    add(l, " --ldc %" PRId64, g->ldc);
    if (strided) add(l, " --stride_c %" PRId64, g->stride_c);
    if (!plain) {
        add(l, " --d_type %s --ldd %" PRId64, type_name(g->d_type), g->d ? g->ldd : g->ldc);
        if (strided) add(l, " --stride_d %" PRId64, g->d ? g->stride_d : g->stride_c);
    }
    if (g->batch > 1 || g->pointer_arrays) add(l, " --batch_count %" PRId64, g->batch ? g->batch : 1);
    if (!plain)
        add(l, " --compute_type %s --algo 0 --solution_index %" PRId64 " --flags %u",
            type_name(g->compute_type), g->solution_index, g->fp16_alt << 2);
    add_epilogue(l, p, false);
    add(l, "\n");
}

static void line_profile(Line *l, const Profile *p)
{
    const tuner_gemm_desc *g = &p->g;
    bool plain = is_plain(p), strided = g->batch > 1 && !g->pointer_arrays;
    if (plain)
        add(l, "- { rocblas_function: \"rocblas_%cgemm%s\"", letters[g->a_type], batch_name(g));
    else
        add(l,
            "- { rocblas_function: \"rocblas_gemm%s_ex\", a_type: \"%s\", b_type: \"%s\", c_type: \"%s\", "
            "d_type: \"%s\", compute_type: \"%s\"",
            batch_name(g), type_name(g->a_type), type_name(g->b_type), type_name(g->c_type),
            type_name(g->d_type), type_name(g->compute_type));
    add(l, ", transA: '%s', transB: '%s', M: %" PRId64 ", N: %" PRId64 ", K: %" PRId64 ", alpha: %.17g",
        op_name(g->trans_a), op_name(g->trans_b), g->m, g->n, g->k, p->alpha[0]);
    if (p->alpha[1] != 0) add(l, ", alphai: %.17g", p->alpha[1]);
    add(l, ", lda: %" PRId64, g->lda);
    if (strided) add(l, ", stride_a: %" PRId64, g->stride_a);
    add(l, ", ldb: %" PRId64, g->ldb);
    if (strided) add(l, ", stride_b: %" PRId64, g->stride_b);
    add(l, ", beta: %.17g", p->beta[0]);
    if (p->beta[1] != 0) add(l, ", betai: %.17g", p->beta[1]);
    add(l, ", ldc: %" PRId64, g->ldc);
    if (strided) add(l, ", stride_c: %" PRId64, g->stride_c);
    if (!plain) add(l, ", ldd: %" PRId64, g->d ? g->ldd : g->ldc);
    if (!plain && strided) add(l, ", stride_d: %" PRId64, g->d ? g->stride_d : g->stride_c);
    if (g->batch > 1 || g->pointer_arrays) add(l, ", batch_count: %" PRId64, g->batch ? g->batch : 1);
    if (g->fp16_alt) add(l, ", flags: %u", g->fp16_alt << 2);
    add_epilogue(l, p, true);
    add(l, ", call_count: %" PRIu64 " }\n", p->count);
}

static void put(CallLog *log, LogLayer layer, void (*form)(Line *, const Profile *), const Profile *p)
{
    Line l = {.n = 0};
    form(&l, p);
    if (write(log->fd[layer], l.text, l.n) < 0) log->layer &= ~(1 << layer); /* the reader is gone */
}

/* ---- profile ---- */

static bool same_epilogue(const Epilogue *x, const Epilogue *y)
{
    return x->op.bias == y->op.bias && x->op.scale_alpha == y->op.scale_alpha &&
           x->op.bias_type == y->op.bias_type && x->op.activation == y->op.activation &&
           x->op.scale_ab == y->op.scale_ab && x->op.scale_cd == y->op.scale_cd &&
           memcmp(x->arg, y->arg, sizeof x->arg) == 0;
}

/* Whether two calls are equal but for their pointers. */
static bool same_call(const Profile *a, const Profile *b)
{
    const tuner_gemm_desc *x = &a->g, *y = &b->g;
    return x->trans_a == y->trans_a && x->trans_b == y->trans_b && x->a_type == y->a_type &&
           x->b_type == y->b_type && x->c_type == y->c_type && x->d_type == y->d_type &&
           x->compute_type == y->compute_type && x->m == y->m && x->n == y->n && x->k == y->k &&
           x->lda == y->lda && x->ldb == y->ldb && x->ldc == y->ldc && x->ldd == y->ldd &&
           x->stride_a == y->stride_a && x->stride_b == y->stride_b && x->stride_c == y->stride_c &&
           x->stride_d == y->stride_d && x->batch == y->batch && x->pointer_arrays == y->pointer_arrays &&
           x->fp16_alt == y->fp16_alt && same_epilogue(&a->f, &b->f) &&
           memcmp(a->alpha, b->alpha, sizeof a->alpha) == 0 && memcmp(a->beta, b->beta, sizeof a->beta) == 0;
}

static void profile_count(CallLog *log, const Profile *p)
{
    for (size_t i = 0; i < log->profile.n; i++)
        if (same_call(&log->profile.v[i], p)) {
            log->profile.v[i].count++;
            return;
        }
    if (log->profile.n < PROFILE_MAX)
        (void)VEC_PUSH(&log->profile, *p); /* out of memory: it is not counted */
}

/* ---- the log ---- */

/* Variables for trace, bench and profile: bits 0, 1, 2 of the layer. */
static const char *const layer_paths[LOG_LAYERS] = {"ROCBLAS_LOG_TRACE_PATH", "ROCBLAS_LOG_BENCH_PATH",
                                                    "ROCBLAS_LOG_PROFILE_PATH"};

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

/* The variable for the file of one layer comes before the one for all layers. */
static Err open_layer(CallLog *log, int layer, bool rocblas)
{
    const char *variable = rocblas ? layer_paths[layer] : "TUNER_LOG_PATH", *path = value_of(variable);
    if (!path && rocblas) path = value_of(variable = "ROCBLAS_LOG_PATH");
    if (!path) {
        log->fd[layer] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
        if (log->fd[layer] < 0) log->layer &= ~(1 << layer); /* stderr is closed */
        return ERR_OK;
    }
    log->fd[layer] = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log->fd[layer] < 0)
        FAIL(ERR_FAILED, "cannot write the log '%s' (%s): %s", path, variable, strerror(errno));
    return ERR_OK;
}

/* Reads the layer. TUNER_LAYER must be valid; ROCBLAS_LAYER may be any number, because rocBLAS accepts any
 * and has other layers above 4. */
static Err read_layer(const char *own, int *layer)
{
    int64_t bits;
    *layer = 0;
    if (!own) {
        const char *rocblas = value_of("ROCBLAS_LAYER");
        if (rocblas) *layer = (int)(strtol(rocblas, NULL, 0) & 7);
        return ERR_OK;
    }
    if (!str_to_i64(str_from(own), &bits) || bits < 0 || bits > 7)
        FAIL(ERR_INPUT,
             "TUNER_LAYER is '%s', expected the sum of 1 (calls), 2 (rocblas-bench lines), 4 (profile)", own);
    *layer = (int)bits;
    return ERR_OK;
}

Err log_open(CallLog *log)
{
    const char *own = value_of("TUNER_LAYER");
    TRY(read_layer(own, &log->layer));
    for (int i = 0; i < LOG_LAYERS; i++)
        if (log->layer >> i & 1) TRY(open_layer(log, i, !own));
    return ERR_OK;
}

void log_close(CallLog *log)
{
    for (size_t i = 0; i < log->profile.n; i++) put(log, LOG_PROFILE, line_profile, &log->profile.v[i]);
    VEC_FINI(&log->profile);
    for (int i = 0; i < LOG_LAYERS; i++)
        if (log->fd[i] >= 0) close(log->fd[i]);
}

void log_call(CallLog *log, const tuner_gemm_desc *g, const Epilogue *f)
{
    Profile p = {.g = *g, .f = *f, .count = 1};
    scalar_value(g->compute_type, g->alpha, p.alpha);
    scalar_value(g->compute_type, g->beta, p.beta);
    pthread_mutex_lock(&log->lock);
    if (log->layer & 1) put(log, LOG_TRACE, line_trace, &p);
    if (log->layer & 2) put(log, LOG_BENCH, line_bench, &p);
    if (log->layer & 4) profile_count(log, &p);
    pthread_mutex_unlock(&log->lock);
}

/* The line of one layer: a call, or one of MIOpenDriver that tuner sizes and tuner-bench conv read. */
static void put_conv(CallLog *log, LogLayer layer, const ConvDesc *c)
{
    Buf line;
    buf_init(&line);
    buf_puts(&line, layer == LOG_TRACE ? "tuner_conv2d," : "./bin/MIOpenDriver ");
    layer == LOG_TRACE ? conv_desc_print(c, &line) : miopen_print(c, &line);
    buf_putc(&line, '\n');
    if (!line.failed && write(log->fd[layer], line.s, line.n) < 0) log->layer &= ~(1 << layer);
    buf_fini(&line);
}

void log_conv(CallLog *log, const ConvDesc *c)
{
    pthread_mutex_lock(&log->lock);
    if (log->layer & 1) put_conv(log, LOG_TRACE, c);
    if (log->layer & 2) put_conv(log, LOG_BENCH, c);
    pthread_mutex_unlock(&log->lock);
}

void log_launch(const tuner_library *t, const KernelCall *call)
{
    Line l = {.n = 0};
    const uint32_t *n = call->num_work_groups, *size = call->work_group;
    add(&l, "tuner: %s: %s, %u x %u x %u work-groups of %u x %u x %u, %u bytes of arguments\n", t->path,
        call->symbol, n[0], n[1], n[2], size[0], size[1], size[2], call->n_arg_bytes);
    if (write(STDERR_FILENO, l.text, l.n) < 0) return; /* stderr is closed */
}
