/* tuner-bench: matrices, how they are filled, and the check against a reference of higher precision. See
 * bench.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "client/bench/bench_gpu.h"
#include "client/worker/init.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

void scalar_bytes(tuner_type type, const double value[2], unsigned char out[16])
{
    memset(out, 0, 16);
    number_store((DataType)type, out, 0, value[0], value[1]);
}

void case_scalars(BenchCase *c, unsigned char alpha[16], unsigned char beta[16])
{
    scalar_bytes(c->g.compute_type, c->call.alpha, alpha);
    scalar_bytes(c->g.compute_type, c->call.beta, beta);
    c->g.alpha = alpha;
    c->g.beta = beta;
}

static DataType type_of(const Bench *b, tuner_type t) { return type_in_format((DataType)t, b->f8); }

/* ---- blocks ---- */

static double value(const BenchBlock *b, uint64_t i)
{
    bool whole = type_info(b->type)->integral;
    if (b->fill == FILL_TRIG_FLOAT && !whole) return sin((double)i);
    uint64_t r = random_at(b->seed * 1000003 + 17, i);
    if (b->fill == FILL_HPL && !whole) return (double)(r >> 11) * 0x1p-53 - 0.5;
    return 1 + (double)(r % 10);
}

enum { CHUNK = 1 << 16 };

static int64_t block_elements(const BenchBlock *b) { return BENCH_PERIOD / type_bytes(b->type); }

static void fill_task(void *ctx, int64_t task)
{
    BenchBlock *b = ctx;
    int64_t from = task * CHUNK, n = block_elements(b), to = from + CHUNK < n ? from + CHUNK : n;
    for (int64_t i = from; i < to; i++)
        number_store(b->type, b->data, i, value(b, 2 * (uint64_t)i), value(b, 2 * (uint64_t)i + 1));
}

static void block_free(BenchBlock *b)
{
    if (b->data && b->fd >= 0) munmap(b->data, BENCH_PERIOD);
    if (b->data && b->fd < 0) free(b->data);
    if (b->data && b->fd >= 0) close(b->fd);
    *b = (BenchBlock){.fd = -1};
}

/* An anonymous file that matrices map; without one plain memory, of which matrices are copies. */
static Err block_memory(BenchBlock *b)
{
    b->fd = memfd_create("tuner-bench", MFD_CLOEXEC);
    if (b->fd >= 0 && ftruncate(b->fd, BENCH_PERIOD) == 0) {
        b->data = mmap(NULL, BENCH_PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
        if (b->data != MAP_FAILED) return ERR_OK;
    }
    if (b->fd >= 0) close(b->fd);
    b->fd = -1;
    b->data = malloc(BENCH_PERIOD);
    TRY_ALLOC(b->data);
    return ERR_OK;
}

static Err block_get(Bench *bench, DataType type, BenchFill fill, uint64_t seed, const BenchBlock **out)
{
    static const InitType how[FILL_COUNT] = {[FILL_ZERO] = INIT_ZERO,
                                             [FILL_ONE] = INIT_ONE,
                                             [FILL_TWO] = INIT_TWO,
                                             [FILL_RANDOM] = INIT_RANDOM,
                                             [FILL_RANDOM_NARROW] = INIT_RANDOM_NARROW,
                                             [FILL_UNIFORM] = INIT_UNIFORM,
                                             [FILL_NORMAL] = INIT_NORMAL};
    for (int i = 0; i < BENCH_BLOCKS; i++) {
        const BenchBlock *b = *out = &bench->block[i];
        if (b->data && b->type == type && b->fill == fill && b->seed == seed) return ERR_OK;
    }
    BenchBlock *b = &bench->block[bench->next_block++ % BENCH_BLOCKS];
    block_free(b);
    *b = (BenchBlock){.type = type, .fill = fill, .seed = seed};
    TRY(block_memory(b));
    *out = b;
    int64_t n = block_elements(b);
    if (fill < FILL_ZERO) {
        parallel_for((n + CHUNK - 1) / CHUNK, bench->n_threads, fill_task, b);
        return ERR_OK;
    }
    const Tensor line = {.type = type, .size = {n, 1, 1}, .stride = {1, n, n}, .n_elements = n};
    init_tensor(&line, how[fill], seed, bench->n_threads, b->data);
    return ERR_OK;
}

void bench_fini(Bench *b)
{
    bench_gpu_close(b->gpu);
    if (b->host) b->host->api->close(b->host);
    b->host = NULL;
    for (int i = 0; i < BENCH_BLOCKS; i++) block_free(&b->block[i]);
    free(b->result);
    b->result = NULL;
}

/* ---- matrices ---- */

/* Maps the block's memory repeatedly, from its byte `at` on; NULL when that fails. */
static void *map_block(const BenchBlock *b, size_t at, size_t bytes)
{
    if (b->fd < 0) return NULL;
    char *base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    for (size_t done = 0; done < bytes; at = 0) {
        size_t left = bytes - done, part = BENCH_PERIOD - at;
        if (part > left) part = left;
        if (mmap(base + done, part, PROT_READ, MAP_SHARED | MAP_FIXED, b->fd, (off_t)at) == MAP_FAILED) {
            munmap(base, bytes);
            return NULL;
        }
        done += part;
    }
    return base;
}

typedef struct {
    const BenchBlock *block;
    size_t at, bytes;
    char *to;
} Copy;

enum { COPY_BYTES = 1 << 20 };

static void copy_task(void *ctx, int64_t task)
{
    const Copy *c = ctx;
    size_t from = (size_t)task * COPY_BYTES, n = c->bytes - from < COPY_BYTES ? c->bytes - from : COPY_BYTES;
    for (size_t done = 0, part; done < n; done += part) {
        size_t at = (c->at + from + done) % BENCH_PERIOD;
        part = BENCH_PERIOD - at < n - done ? BENCH_PERIOD - at : n - done;
        memcpy(c->to + from + done, (const char *)c->block->data + at, part);
    }
}

/* Memory with a copy of the block's data; block NULL: memory for D, poisoned. */
static void *new_memory(const BenchBlock *block, size_t at, size_t bytes, int n_threads)
{
    void *out;
    if (posix_memalign(&out, BENCH_PAGE, bytes + 64)) return NULL;
    Copy c = {block, at, bytes, out};
    if (block)
        parallel_for((int64_t)((bytes + COPY_BYTES - 1) / COPY_BYTES), n_threads, copy_task, &c);
    else
        memset(out, 0xff, bytes);
    return out;
}

typedef struct {
    DataType type;
    int64_t rows, cols, ld, stride, batch;
} Shape;

static size_t shape_bytes(const Shape *s)
{
    uint64_t n;
    int64_t last = s->ld * (s->cols > 0 ? s->cols - 1 : 0) + s->rows;
    if (__builtin_mul_overflow((uint64_t)s->stride, (uint64_t)(s->batch - 1), &n) ||
        __builtin_add_overflow(n, (uint64_t)last, &n) || n > UINT64_C(1) << 44)
        return SIZE_MAX;
    return (size_t)n * (size_t)type_bytes(s->type);
}

/* Each matrix begins at another offset of its block. */
static size_t shift(int i) { return (size_t)i * (BENCH_PERIOD / BENCH_PAGE / MATRICES) * BENCH_PAGE; }

static size_t whole_pages(size_t bytes)
{
    return bytes ? (bytes + BENCH_PAGE - 1) / BENCH_PAGE * BENCH_PAGE : BENCH_PAGE;
}

/* Matrices that kernels of the host use have memory of their own; the others are mapped where possible. */
static Err make(Bench *b, const BenchCase *c, const Shape *s, int i, BenchData *d)
{
    const BenchBlock *block = NULL;
    size_t bytes = d->bytes[i] = shape_bytes(s);
    if (bytes == SIZE_MAX)
        FAIL(ERR_FAILED, "out of memory for a matrix of %lld x %lld, batch %lld", (long long)s->rows,
             (long long)s->cols, (long long)s->batch);
    if (i == 3 && b->gpu) return ERR_OK;
    if (i < 3) TRY(block_get(b, type_value(s->type), c->fill, c->seed, &block));
    if (b->gpu) d->at[i] = map_block(block, shift(i), whole_pages(bytes));
    d->mapped[i] = d->at[i] != NULL;
    if (!d->at[i]) d->at[i] = new_memory(block, shift(i), bytes, b->n_threads);
    if (!d->at[i])
        FAIL(ERR_FAILED, "out of memory for a matrix of %lld x %lld, batch %lld", (long long)s->rows,
             (long long)s->cols, (long long)s->batch);
    if (i != 2 || b->gpu || c->call.ex || !c->verify) return ERR_OK;
    d->before = map_block(block, shift(i), whole_pages(bytes));
    d->mapped_before = d->before != NULL;
    if (!d->before) d->before = new_memory(block, shift(i), bytes, b->n_threads);
    TRY_ALLOC(d->before);
    return ERR_OK;
}

static Err point(BenchCase *c, BenchData *d)
{
    tuner_gemm_desc *g = &c->g;
    size_t n = (size_t)g->batch;
    const int64_t stride[MATRICES] = {g->stride_a, g->stride_b, g->stride_c, g->stride_d};
    const tuner_type type[MATRICES] = {g->a_type, g->b_type, g->c_type, g->d_type};
    d->pointers = calloc(MATRICES * n, sizeof *d->pointers);
    TRY_ALLOC(d->pointers);
    for (size_t k = 0; k < MATRICES; k++)
        for (size_t b = 0; d->at[k] && b < n; b++)
            d->pointers[k * n + b] =
                (char *)d->at[k] + b * (size_t)stride[k] * (size_t)type_bytes((DataType)type[k]);
    g->a = d->pointers;
    g->b = d->pointers + n;
    g->c = d->pointers + 2 * n;
    g->d = d->at[3] ? d->pointers + 3 * n : NULL;
    return ERR_OK;
}

Err data_init(Bench *b, BenchCase *c, BenchData *d)
{
    tuner_gemm_desc *g = &c->g;
    bool ta = g->trans_a != TUNER_N, tb = g->trans_b != TUNER_N;
    const Shape shape[MATRICES] = {
        {type_of(b, g->a_type), ta ? g->k : g->m, ta ? g->m : g->k, g->lda, g->stride_a, g->batch},
        {type_of(b, g->b_type), tb ? g->n : g->k, tb ? g->k : g->n, g->ldb, g->stride_b, g->batch},
        {type_of(b, g->c_type), g->m, g->n, g->ldc, g->stride_c, g->batch},
        {type_of(b, g->d_type), g->m, g->n, g->ldd, g->stride_d, g->batch},
    };
    *d = (BenchData){0};
    for (int i = 0; i < (c->call.ex ? MATRICES : 3); i++) TRY(make(b, c, &shape[i], i, d));
    g->a = d->at[0];
    g->b = d->at[1];
    g->c = d->at[2];
    g->d = d->at[3];
    TRY(bench_fused_init(b, c, d));
    return c->call.batched && !b->gpu ? point(c, d) : ERR_OK;
}

static void memory_free(void *at, bool mapped, size_t bytes)
{
    if (at && mapped)
        munmap(at, whole_pages(bytes));
    else
        free(at);
}

void data_fini(BenchData *d)
{
    for (int i = 0; i < MATRICES; i++) memory_free(d->at[i], d->mapped[i], d->bytes[i]);
    memory_free(d->before, d->mapped_before, d->bytes[2]);
    free(d->pointers);
    bench_fused_fini(d);
    *d = (BenchData){0};
}

/* ---- the check ---- */

static Matrix matrix(DataType type, const void *data, tuner_op op, int64_t ld, int64_t stride)
{
    return (Matrix){.type = type,
                    .data = data,
                    .row = op == TUNER_N ? 1 : ld,
                    .col = op == TUNER_N ? ld : 1,
                    .batch = stride,
                    .conj = op == TUNER_C && type_info(type)->complex};
}

/* Beside the product check, single elements are compared: as many as cost this number of multiply-adds. */
static const double SAMPLE_WORK = 0x1p24;
enum { SAMPLE_MIN = 64, SAMPLE_MAX = 1 << 14 };

Err data_validator(const Bench *b, const BenchCase *c, const BenchData *d, Validator **out)
{
    const tuner_gemm_desc *g = &c->g;
    Gemm x = {.m = g->m, .n = g->n, .batch = g->batch};
    *out = NULL;
    if (g->m == 0 || g->n == 0) return ERR_OK;
    x.k = g->k * type_info(type_of(b, g->a_type))->packing;
    x.a = matrix(type_of(b, g->a_type), d->at[0], g->trans_a, g->lda, g->stride_a);
    x.b = matrix(type_of(b, g->b_type), d->at[1], g->trans_b, g->ldb, g->stride_b);
    x.b.packed_rows = true;
    x.c = matrix(type_of(b, g->c_type), d->before ? d->before : d->at[2], TUNER_N, g->ldc, g->stride_c);
    memcpy(x.alpha, c->call.alpha, sizeof x.alpha);
    memcpy(x.beta, c->call.beta, sizeof x.beta);
    x.compute = (DataType)g->compute_type;
    x.fused = d->epilogue ? &d->fused.vectors : NULL;
    x.out = type_of(b, c->call.ex ? g->d_type : g->c_type);
    double sample = SAMPLE_WORK / (double)(x.k > 0 ? x.k : 1);
    int64_t n = sample < SAMPLE_MIN ? SAMPLE_MIN : sample > SAMPLE_MAX ? SAMPLE_MAX : (int64_t)sample;
    ValidateOptions o = {.n_validate = n,
                         .n_allocated = g->m * g->n * g->batch,
                         .n_threads = b->n_threads,
                         .input_bits =
                             number_input_bits(type_of(b, g->a_type), g->xf32 != 0, g->fp16_alt != 0)};
    return validator_new(&x, &o, out);
}

static void touch_task(void *ctx, int64_t task) { ((char *)ctx)[task * BENCH_PAGE] = 0; }

/* Grows the buffer for the result; all threads touch its new pages. */
static Err result_room(Bench *b, size_t bytes)
{
    if (bytes <= b->result_bytes) return ERR_OK;
    free(b->result);
    b->result_bytes = 0;
    b->result = malloc(bytes);
    TRY_ALLOC(b->result);
    b->result_bytes = bytes;
    parallel_for((int64_t)(bytes / BENCH_PAGE), b->n_threads, touch_task, b->result);
    return ERR_OK;
}

Err data_check(Bench *b, const BenchCase *c, const BenchData *d, Validator *v, Check *out)
{
    const tuner_gemm_desc *g = &c->g;
    bool ex = c->call.ex;
    const void *result = ex ? d->at[3] : d->at[2];
    *out = (Check){.passed = true, .covered = true};
    if (!v) return ERR_OK; /* D is empty */
    if (b->gpu) {
        TRY(result_room(b, bench_gpu_result_bytes(c, d)));
        TRY(bench_gpu_result(b->gpu, c, d, b->result));
        result = b->result;
    }
    Matrix got = matrix(type_of(b, ex ? g->d_type : g->c_type), result, TUNER_N, ex ? g->ldd : g->ldc,
                        ex ? g->stride_d : g->stride_c);
    return validator_check(v, &got, out);
}

Err data_restore(Bench *b, const BenchCase *c, BenchData *d)
{
    if (b->gpu) return bench_gpu_restore(b->gpu, d);
    if (c->call.ex)
        memset(d->at[3], 0xff, d->bytes[3]);
    else if (d->before)
        memcpy(d->at[2], d->before, d->bytes[2]);
    return ERR_OK;
}
