/* Host kernels on the machine: emits, compiles and runs them over types, transposes, edges, splits, batches,
 * strides and scalars, with every operand between inaccessible pages and D poisoned, against sums in long
 * double. A row of `kernels` is one kernel; all of one level are compiled as one file, so that the compiler
 * starts rarely.
 */
#include <dlfcn.h>

#include "base/proc.h"
#include "kernel/kernel.h"
#include "space/derive.h"
#include "test/unit/host_values.h"

typedef struct {
    int level;
    DataType in, out, compute;
    int ta, tb;
    int vw, tt0, tt1, wg0, wg1, lsu, du, rep_m, rep_n, pack_a, pack_b;
    int gsu, wgm, unroll, plr, pgr;
    int flags;
} Row;

#define SSS TYPE_S, TYPE_S, TYPE_S
#define DDD TYPE_D, TYPE_D, TYPE_D
#define CCC TYPE_C, TYPE_C, TYPE_C
#define ZZZ TYPE_Z, TYPE_Z, TYPE_Z
#define HHS TYPE_H, TYPE_H, TYPE_S
#define HSS TYPE_H, TYPE_S, TYPE_S
#define HHH TYPE_H, TYPE_H, TYPE_H
#define BBS TYPE_B, TYPE_B, TYPE_S
#define BSS TYPE_B, TYPE_S, TYPE_S
#define I8I TYPE_I8, TYPE_I, TYPE_I

static const Row kernels[] = {
#include "test/unit/host_kernels.def"
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

/* M, N, batch, K and what is added to each leading dimension and batch stride. */
static const int sizes[][5] = {
    {1, 1, 1, 1, 0},    {3, 5, 2, 7, 0},     {33, 7, 1, 16, 1},  {48, 12, 3, 31, 0}, {16, 8, 1, 0, 0},
    {31, 50, 2, 33, 5}, {100, 37, 1, 24, 0}, {7, 26, 1, 130, 3}, {130, 3, 1, 47, 2}, {32, 32, 1, 48, 0}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

typedef void HostKernel(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last,
                        void *local);

/* ---- one problem ---- */

typedef struct {
    const Row *row;
    ProblemType pt;
    Solution s;
    HostKernel *main, *beta_only, *post;
    uint64_t local_bytes;
    int64_t m, n, batch, k, ld[4], stride[4]; /* D C A B */
    Guarded mem[4], pointers[4], workspace;
    int64_t elements[4];
    KernelArgs args;
} Run;

static void arg_pointer(Run *r, const void *p) { args_put(&r->args, &p, sizeof p); }

static void arg_scalar(Run *r, const int eighths[2])
{
    DataType t = (DataType)r->pt.ComputeDataType;
    char value[16];
    for (int i = 0; i < parts_of(t); i++) put(t, value, i, eighths[i]);
    args_put(&r->args, value, (size_t)type_bytes(t));
}

static const void *operand(const Run *r, int t)
{
    return r->pt.StridedBatched ? r->mem[t].data : r->pointers[t].data;
}

static bool splits(const Run *r) { return r->row->gsu > 1 && !(r->row->flags & JOIN); }
static bool accumulates(const Run *r)
{
    return splits(r) && ((r->row->flags & MULTI) || r->pt.ComputeDataType != r->pt.DestDataType);
}

static void stride_args(Run *r, int64_t ld, int64_t batch)
{
    args_put_u32(&r->args, ld);
    if (r->pt.NumIndicesC > 2) args_put_u32(&r->args, batch);
}

static void size_args(Run *r)
{
    args_put_u32(&r->args, r->m);
    args_put_u32(&r->args, r->n);
    if (r->pt.NumIndicesC > 2) args_put_u32(&r->args, r->batch);
}

static uint32_t ceil_div(int64_t a, int64_t b) { return (uint32_t)((a + b - 1) / b); }

static void run_groups(const Run *r, HostKernel *kernel, const uint32_t grid[3], uint64_t local_bytes)
{
    uint64_t all = (uint64_t)grid[0] * grid[1] * grid[2], half = all / 2;
    for (int part = 1; part >= 0; part--) { /* ranges in any order, each with local memory of its own */
        Guarded local = guarded_new((local_bytes + 63) / 64 * 64, true);
        memset(local.data, 0x7f, local_bytes);
        kernel(r->args.bytes, grid, part ? half : 0, part ? all : half, local.data);
        guarded_free(&local);
    }
}

/* General batched operands start two elements after their pointers. */
static void offsets(Run *r, int n)
{
    for (int i = 0; i < n && !r->pt.StridedBatched; i++) args_put(&r->args, &(uint64_t){2}, 8);
}

/* Slots of parts of tiles, and the bytes of their sums. */
static uint64_t slots_of(const Run *r)
{
    uint64_t tiles = (uint64_t)ceil_div(r->m, r->s.MacroTile0) * ceil_div(r->n, r->s.MacroTile1);
    if (!(r->row->flags & PARTS)) return 0;
    return r->row->flags & STREAMS ? 2 * GROUPS : tiles * (uint64_t)(r->batch * r->row->gsu);
}
static size_t sum_bytes(const Run *r)
{
    return slots_of(r) * (size_t)r->s.MacroTile0 * (size_t)r->s.MacroTile1 *
           (size_t)type_bytes((DataType)r->pt.ComputeDataType);
}

/* The workspace: sums are poisoned, flags are 0. */
static void parts_new(Run *r, bool at_end)
{
    const size_t flags = slots_of(r) * 8 * 4;
    r->workspace = guarded_new(sum_bytes(r) + flags, at_end);
    memset(r->workspace.data, 0xff, sum_bytes(r));
    memset(r->workspace.data + sum_bytes(r), 0, flags);
}

static void launch_main(Run *r, const int alpha[2], const int beta[2])
{
    bool acc = accumulates(r);
    r->args.n = 0;
    for (int t = 0; t < 4; t++)
        arg_pointer(r, acc && t < 2 ? (const void *)r->workspace.data : operand(r, t));
    if (r->row->flags & PARTS) {
        arg_pointer(r, r->workspace.data);
        arg_pointer(r, r->workspace.data + sum_bytes(r));
    }
    offsets(r, 4);
    arg_scalar(r, alpha);
    if (r->pt.UseBeta) arg_scalar(r, beta);
    for (int t = 0; t < 4; t++) {
        if (acc && t < 2)
            stride_args(r, r->m, r->m * r->n);
        else
            stride_args(r, r->ld[t], r->stride[t]);
    }
    size_args(r);
    args_put_u32(&r->args, r->k);
    uint32_t grid[3];
    grid[0] = ceil_div(r->m, r->s.MacroTile0),
    grid[1] = ceil_div(r->n, r->s.MacroTile1) * (uint32_t)r->row->gsu;
    grid[2] = (uint32_t)r->batch;
    const int flags = r->row->flags;
    if (flags & (PERSISTENT | STREAMS)) grid[0] = GROUPS, grid[1] = 1;
    if (flags & (ALONG_BATCH | STREAMS)) grid[2] = 1;
    run_groups(r, r->main, grid, r->local_bytes);
}

static void launch_beta_only(Run *r, const int beta[2])
{
    bool acc = accumulates(r);
    int64_t ldd = acc ? r->m : r->ld[0], strided = acc ? r->m * r->n : r->stride[0];
    r->args.n = 0;
    arg_pointer(r, acc ? (const void *)r->workspace.data : operand(r, 0));
    arg_pointer(r, operand(r, 1));
    offsets(r, 2);
    stride_args(r, r->n == 1 ? 0 : ldd, r->batch == 1 ? 0 : strided);
    stride_args(r, r->n == 1 ? 0 : r->ld[1], r->batch == 1 ? 0 : r->stride[1]);
    size_args(r);
    arg_scalar(r, beta);
    uint32_t grid[3] = {ceil_div(r->m * r->n * r->batch, KERNEL_HELPER_GROUP), 1, 1};
    run_groups(r, r->beta_only, grid, 0);
}

/* What the launcher asks for where sums are half, or half's are SingleBuffer's: one kernel for both, no
 * vectors. */
static bool has_plain_post(const Row *w)
{
    return w->out == TYPE_H && (w->compute == TYPE_H || !(w->flags & MULTI));
}
static const char *post_name(const Row *w) { return has_plain_post(w) ? "PostGSU" : "PostGSU_VW2"; }

static void launch_post(Run *r, const int alpha[2], const int beta[2])
{
    static const int one[2] = {8, 0}, zero[2] = {0, 0}, int_one[2] = {1, 0};
    bool multi = r->row->flags & MULTI;
    r->args.n = 0;
    arg_pointer(r, operand(r, 0));
    arg_pointer(r, r->workspace.data);
    arg_pointer(r, operand(r, 1));
    offsets(r, 2);
    arg_scalar(r, multi ? alpha : r->pt.ComputeDataType == TYPE_I ? int_one : one);
    arg_scalar(r, multi ? beta : zero);
    stride_args(r, r->ld[0], r->stride[0]);
    stride_args(r, r->m, r->m * r->n);
    stride_args(r, r->ld[1], r->stride[1]);
    size_args(r);
    args_put_u32(&r->args, multi ? r->row->gsu : 1);
    int per_group = KERNEL_HELPER_GROUP * (has_plain_post(r->row) ? 1 : 2);
    uint32_t grid[3] = {ceil_div(r->m * r->n * r->batch, per_group), 1, 1};
    run_groups(r, r->post, grid, 0);
}

/* Element (i, l) of op(A) or (l, j) of op(B), parts in v. */
static void element(const Run *r, int t, int64_t row, int64_t col, int64_t batch, long double v[2])
{
    bool trans = t == 2 ? r->row->ta : r->row->tb, conj = r->row->flags & (t == 2 ? CONJ_A : CONJ_B);
    DataType type = r->row->in;
    int64_t at = batch * r->stride[t] + (trans ? col + row * r->ld[t] : row + col * r->ld[t]);
    if (!r->pt.StridedBatched) at += 2;
    int parts = parts_of(type);
    v[0] = get(type, r->mem[t].data, at * parts);
    v[1] = parts == 2 ? get(type, r->mem[t].data, at * parts + 1) : 0;
    if (conj) v[1] = -v[1];
}

/* Exact sum of one element in v, and the sum of absolute values. */
static long double reference(const Run *r, int64_t i, int64_t j, int64_t b, long double v[2])
{
    long double size = 0;
    v[0] = v[1] = 0;
    for (int64_t l = 0; l < r->k; l++) {
        long double x[2], y[2];
        element(r, 2, i, l, b, x);
        element(r, 3, l, j, b, y);
        v[0] += x[0] * y[0] - x[1] * y[1];
        v[1] += x[0] * y[1] + x[1] * y[0];
        size += (fabsl(x[0]) + fabsl(x[1])) * (fabsl(y[0]) + fabsl(y[1]));
    }
    return size;
}

static void check_d(const Run *r, const void *c, const int alpha[2], const int beta[2], int index)
{
    DataType type = r->row->out, compute = (DataType)r->pt.ComputeDataType;
    int parts = parts_of(type);
    long double unit = compute == TYPE_I ? 1 : 0.125L,
                a[2] = {alpha[0] * unit, parts == 2 ? alpha[1] * unit : 0};
    long double be[2] = {beta[0] * unit, parts == 2 ? beta[1] * unit : 0};
    bool reads_c = beta[0] || (parts == 2 && beta[1]);
    int64_t shift = r->pt.StridedBatched ? 0 : 2;
    for (int64_t b = 0; b < r->batch; b++)
        for (int64_t j = 0; j < r->n; j++)
            for (int64_t i = 0; i < r->m; i++) {
                long double v[2], size = reference(r, i, j, b, v), want[2], cv[2] = {0, 0};
                int64_t at = shift + i + j * r->ld[0] + b * r->stride[0];
                int64_t at_c = shift + i + j * r->ld[1] + b * r->stride[1];
                for (int p = 0; p < parts && reads_c; p++) cv[p] = get(type, c, at_c * parts + p);
                want[0] = a[0] * v[0] - a[1] * v[1] + be[0] * cv[0] - be[1] * cv[1];
                want[1] = a[0] * v[1] + a[1] * v[0] + be[0] * cv[1] + be[1] * cv[0];
                long double sum_eps =
                    epsilon(compute) > epsilon(type) || type == TYPE_I ? epsilon(type) : epsilon(compute);
                if (compute == TYPE_H) sum_eps = r->row->gsu > 1 ? epsilon(TYPE_H) : epsilon(TYPE_S);
                long double slack = sum_eps * (size * (fabsl(a[0]) + fabsl(a[1])) * 2 + 4) +
                                    epsilon(type) * (fabsl(want[0]) + fabsl(want[1]) + 1);
                for (int p = 0; p < parts; p++) {
                    long double got = get(type, r->mem[0].data, at * parts + p);
                    if (!(fabsl(got - want[p]) <= slack))
                        fail_msg("kernel row %d, %lldx%lldx%lld batch %lld: D[%lld,%lld,%lld] part %d is "
                                 "%Lg, not %Lg",
                                 index, (long long)r->m, (long long)r->n, (long long)r->k,
                                 (long long)r->batch, (long long)i, (long long)j, (long long)b, p, got,
                                 want[p]);
                }
            }
}

/* What lies between D's columns must be as it was. */
static void check_gaps(const Run *r, int index)
{
    int bytes = type_bytes(r->row->out);
    int64_t shift = r->pt.StridedBatched ? 0 : 2;
    for (int64_t at = 0; at < r->elements[0]; at++) {
        int64_t x = at - shift, b = x / r->stride[0], rest = x % r->stride[0];
        if (b >= r->batch) b = r->batch - 1, rest = x - b * r->stride[0];
        if (x >= 0 && rest % r->ld[0] < r->m && rest / r->ld[0] < r->n) continue;
        for (int q = 0; q < bytes; q++)
            if ((unsigned char)r->mem[0].data[at * bytes + q] != 0xff)
                fail_msg("kernel row %d, %lldx%lldx%lld: wrote outside D at element %lld", index,
                         (long long)r->m, (long long)r->n, (long long)r->k, (long long)at);
    }
}

static void operand_new(Run *r, int t, int64_t rows, int64_t cols, int pad, bool at_end, unsigned *seed)
{
    DataType type = t < 2 ? r->row->out : r->row->in;
    int64_t shift = r->pt.StridedBatched ? 0 : 2;
    r->ld[t] = rows + pad * (t + 1);
    r->stride[t] = r->ld[t] * cols + pad;
    r->elements[t] =
        rows && cols ? shift + (r->batch - 1) * r->stride[t] + (cols - 1) * r->ld[t] + rows : shift;
    r->mem[t] = guarded_new((size_t)(r->elements[t] * type_bytes(type)), at_end);
    for (int64_t i = 0; i < r->elements[t] * parts_of(type); i++) {
        *seed = *seed * 1664525u + 1013904223u;
        put(type, r->mem[t].data, i, (int)(*seed >> 16 & 31) - 16);
    }
    r->pointers[t] = guarded_new((size_t)r->batch * sizeof(void *), true);
    for (int64_t b = 0; b < r->batch; b++)
        ((void **)(void *)r->pointers[t].data)[b] = r->mem[t].data + b * r->stride[t] * type_bytes(type);
}

static void run_size(Run *r, const int *size, bool at_end, const int alpha[2], const int beta[2], int index)
{
    unsigned seed = (unsigned)(size[0] * 7 + size[1] * 3 + size[3]);
    bool flat = r->row->flags & FLAT;
    r->m = size[0], r->n = size[1], r->batch = flat ? 1 : size[2], r->k = size[3];
    operand_new(r, 0, r->m, r->n, size[4], at_end, &seed);
    operand_new(r, 1, r->m, r->n, size[4], at_end, &seed);
    operand_new(r, 2, r->row->ta ? r->k : r->m, r->row->ta ? r->m : r->k, size[4], at_end, &seed);
    operand_new(r, 3, r->row->tb ? r->n : r->k, r->row->tb ? r->k : r->n, size[4], at_end, &seed);
    memset(r->mem[0].data, 0xff, (size_t)(r->elements[0] * type_bytes(r->row->out)));
    static const int zero[2] = {0, 0};
    if (!r->pt.UseBeta) beta = zero;
    bool reads_c = beta[0] || beta[1];
    if (!reads_c) memset(r->mem[1].data, 0xff, (size_t)(r->elements[1] * type_bytes(r->row->out)));
    size_t ws = (size_t)(r->m * r->n * r->batch * type_bytes((DataType)r->pt.ComputeDataType)) *
                (size_t)(r->row->flags & MULTI ? r->row->gsu : 1);
    if (r->row->flags & PARTS)
        parts_new(r, at_end);
    else
        r->workspace = guarded_new(accumulates(r) ? ws : 0, at_end);
    if (accumulates(r)) memset(r->workspace.data, 0xff, ws);
    if (splits(r) && !(r->row->flags & MULTI)) launch_beta_only(r, beta);
    launch_main(r, alpha, beta);
    if (accumulates(r)) launch_post(r, alpha, beta);
    check_d(r, r->mem[1].data, alpha, beta, index);
    check_gaps(r, index);
    for (int t = 0; t < 4; t++) guarded_free(&r->mem[t]), guarded_free(&r->pointers[t]);
    guarded_free(&r->workspace);
}

static void run_kernel(Run *r, int index)
{
    static const int scalars[][4] = {{8, 0, 0, 0}, {12, -4, -4, 8}, {-8, 8, 8, 0}};
    static const int whole[][4] = {{1, 0, 0, 0}, {3, 0, -2, 0}, {-1, 0, 1, 0}};
    bool integer = r->pt.ComputeDataType == TYPE_I;
    for (int i = 0; i < N_SIZES; i++)
        for (int at_end = 0; at_end < 2; at_end++) {
            int size[5];
            memcpy(size, sizes[i], sizeof size);
            if (r->row->flags & NO_EDGES) size[0] = (size[0] + 15) / 16 * 16, size[1] = (size[1] + 3) / 4 * 4;
            const int *sc = integer ? whole[(i + at_end) % 3] : scalars[(i + at_end) % 3];
            run_size(r, size, at_end, sc, sc + 2, index);
        }
}

/* ---- building ---- */

static void row_solution(const Row *w, ProblemType *pt, Solution *s)
{
    assert_ok(problem_type_gemm(pt, w->ta, w->tb, w->in, w->out, w->compute));
    if (w->flags & FLAT) {
        pt->Batched = 0;
        pt->NumIndicesC = 2;
    }
    if (w->flags & GB) pt->StridedBatched = 0;
    if (w->flags & NO_BETA) pt->UseBeta = 0;
    pt->ComplexConjugateA = (w->flags & CONJ_A) != 0;
    pt->ComplexConjugateB = (w->flags & CONJ_B) != 0;
    solution_init(s, pt);
    s->VectorWidth = w->vw;
    s->ThreadTile = intlist2(w->tt0, w->tt1);
    s->WorkGroup = intlist3(w->wg0, w->wg1, w->lsu);
    s->DepthU = w->du;
    s->HostRepeatM = w->rep_m, s->HostRepeatN = w->rep_n;
    s->HostPackA = w->pack_a, s->HostPackB = w->pack_b;
    s->HostKeepB = w->flags & KEEP_B ? 2 : 0;
    s->HostReadAheadA = (w->flags & READ_AHEAD) != 0;
    s->HostStreamD = (w->flags & STREAM_D) != 0;
    s->GlobalSplitU = w->gsu;
    s->GlobalSplitUAlgorithm = w->flags & MULTI  ? GSUA_MULTIPLE
                               : w->flags & JOIN ? GSUA_SINGLE_KERNEL
                                                 : GSUA_SINGLE;
    s->PersistentKernel = (w->flags & PERSISTENT) != 0;
    s->PersistentKernelAlongBatch = (w->flags & ALONG_BATCH) != 0;
    s->StreamK = w->flags & STREAM_1 ? 1 : w->flags & STREAM_2 ? 2 : w->flags & STREAM_3 ? 3 : 0;
    if (w->flags & PARTS) {
        s->GlobalAccumulation = GACC_PARTIALS;
        s->WorkspaceSizePerElemC = type_bytes(w->compute) * (w->flags & JOIN ? w->gsu : 2);
    }
    s->GlobalSplitUSummationAssignmentRoundRobin = !(w->flags & CHUNK_BLOCKS);
    s->GlobalSplitUWorkGroupMappingRoundRobin = (w->flags & GROUP_RR) != 0;
    s->WorkGroupMapping = w->wgm;
    s->WorkGroupMappingType = w->flags & Z_ORDER ? WGMT_Z : WGMT_B;
    s->InnerUnroll = w->unroll;
    s->PrefetchLocalRead = w->plr, s->PrefetchGlobalRead = w->pgr;
    s->MacroTile0 = w->wg0 * w->tt0 * w->rep_m;
    s->MacroTile1 = w->wg1 * w->tt1 * w->rep_n;
    if (w->flags & NO_EDGES) {
        s->EdgeType = EDGE_NONE;
        s->AssertFree0ElementMultiple = 16, s->AssertFree1ElementMultiple = 4;
    }
}

static Str symbol_of(char text[64], int index, const char *what)
{
    snprintf(text, 64, "row%d_%s", index, what);
    return str_from(text);
}

/* All kernels of a level in one file; NULL when the machine cannot run them. */
static void *build_level(const Target *t, const char *dir, const char *cc)
{
    char path[512], so[512], march[64], name[64];
    Buf text;
    buf_init(&text);
    for (int i = 0; i < N_KERNELS; i++) {
        ProblemType pt;
        Solution s;
        if (kernels[i].level != t->isa[0]) continue;
        row_solution(&kernels[i], &pt, &s);
        assert_ok(kernel_emit(&s, t, symbol_of(name, i, "main"), &text));
        if (kernels[i].gsu < 2 || kernels[i].flags & JOIN) continue;
        bool ga = (kernels[i].flags & MULTI) || pt.ComputeDataType != pt.DestDataType;
        assert_ok(kernel_emit_beta_only(&pt, t, ga, symbol_of(name, i, "beta"), &text));
        assert_ok(kernel_emit_post_gsu(&pt, t, symbol_of(name, i, post_name(&kernels[i])), &text));
    }
    snprintf(path, sizeof path, "%s/%s.c", dir, t->name);
    snprintf(so, sizeof so, "%s/%s.so", dir, t->name);
    snprintf(march, sizeof march, "-march=%s", t->name);
    assert_ok(file_write(path, buf_view(&text)));
    buf_fini(&text);
    const char *const argv[] = {
        cc,      "-O1",     "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-unused-function",
        "-fPIC", "-shared", march,   "-o",      so,        path,         NULL};
    ProcSpec spec = {.argv = argv, .stdout_path = "-", .stderr_path = "-"};
    ProcResult result;
    assert_ok(proc_run(&spec, UINT64_C(300000000000), &result));
    assert_int_equal(result.end, PROC_EXITED);
    assert_int_equal(result.code, 0);
    if (t->isa[0] > target_host_level()->isa[0]) return NULL;
    void *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!lib) fail_msg("%s", dlerror());
    return lib;
}

static HostKernel *kernel_of(void *lib, int index, const char *what)
{
    char name[64];
    HostKernel *f;
    symbol_of(name, index, what);
    *(void **)(void *)&f = dlsym(lib, name);
    return f;
}

static void test_level(int level, const char *cc)
{
    char name[32], *dir = test_dir();
    snprintf(name, sizeof name, "x86-64-v%d", level);
    void *lib = build_level(target_find(str_from(name)), dir, cc);
    for (int i = 0; lib && i < N_KERNELS; i++) {
        if (kernels[i].level != level) continue;
        Run r = {.row = &kernels[i]};
        char local[80];
        row_solution(&kernels[i], &r.pt, &r.s);
        r.main = kernel_of(lib, i, "main");
        assert_non_null(r.main);
        snprintf(local, sizeof local, "row%d_main_local_bytes", i);
        r.local_bytes = *(const uint64_t *)dlsym(lib, local);
        r.beta_only = kernel_of(lib, i, "beta");
        r.post = kernel_of(lib, i, post_name(&kernels[i]));
        run_kernel(&r, i);
    }
    if (lib) dlclose(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

static void test_v4(void **state) { (void)state, test_level(4, "cc"); }
static void test_v3(void **state) { (void)state, test_level(3, "cc"); }
static void test_v2(void **state) { (void)state, test_level(2, "cc"); }

static void test_clang(void **state)
{
    Arena a;
    (void)state;
    arena_init(&a, 0);
    bool there = proc_which(&a, "clang").s != NULL;
    arena_fini(&a);
    if (!there) {
        print_message("skipped: host kernels under clang: no clang here\n");
        skip();
    }
    for (int level = 2; level <= 4; level++) test_level(level, "clang");
}

/* What the rules accept is what the lowering can do, with the same macro tile and buffers. */
static void test_rules_agree(void **state)
{
    (void)state;
    for (int i = 0; i < N_KERNELS; i++) {
        char name[32];
        ProblemType pt;
        Solution s, derived;
        Deriver d;
        Verdict v;
        Buf text;
        row_solution(&kernels[i], &pt, &s);
        pt.HighPrecisionAccumulate = pt.DataType != pt.ComputeDataType;
        derived = s;
        snprintf(name, sizeof name, "x86-64-v%d", kernels[i].level);
        assert_ok(deriver_init(&d, &pt, target_find(str_from(name)), NULL));
        buf_init(&text);
        if (!solution_derive(&d, &derived, &v)) {
            verdict_text(&v, &text);
            fail_msg("kernel row %d: %s", i, buf_cstr(&text));
        }
        assert_int_equal(derived.MacroTile0, s.MacroTile0);
        assert_int_equal(derived.MacroTile1, s.MacroTile1);
        assert_ok(kernel_emit(&derived, target_find(str_from(name)), STR("x"), &text));
        buf_fini(&text);
    }
}

/* Equal input gives equal bytes, whatever was emitted before. */
static void test_same_bytes(void **state)
{
    (void)state;
    ProblemType pt;
    Solution s;
    Buf a, b;
    buf_init(&a);
    buf_init(&b);
    row_solution(&kernels[0], &pt, &s);
    assert_ok(kernel_emit(&s, target_find(STR("x86-64-v4")), STR("x"), &a));
    row_solution(&kernels[20], &pt, &s);
    assert_ok(kernel_emit(&s, target_find(STR("x86-64-v4")), STR("x"), &b));
    buf_reset(&b);
    row_solution(&kernels[0], &pt, &s);
    assert_ok(kernel_emit(&s, target_find(STR("x86-64-v4")), STR("x"), &b));
    assert_true(str_eq(buf_view(&a), buf_view(&b)));
    buf_fini(&a);
    buf_fini(&b);
}

static void refused(const Row *w, const char *target, const char *why)
{
    ProblemType pt;
    Solution s;
    Buf out;
    buf_init(&out);
    row_solution(w, &pt, &s);
    assert_int_equal(kernel_emit(&s, target_find(str_from(target)), STR("x"), &out), ERR_INPUT);
    if (!strstr(err_message(), why)) fail_msg("'%s' does not say '%s'", err_message(), why);
    buf_fini(&out);
}

/* What cannot be honoured is refused with its value, never dropped. */
static void test_refusals(void **state)
{
    (void)state;
    Row w = kernels[0];
    refused(&w, "gfx90a", "with 0 threads is empty");
    refused(&w, "x86-64-v3", "VectorWidth 16 needs 512-bit vectors");
    w.tt1 = 20;
    refused(&w, "x86-64-v4", "register tile of 40 vectors");
    w = kernels[0];
    w.flags = STREAM_1, w.gsu = 2;
    refused(&w, "x86-64-v4", "StreamK 1 have GlobalSplitU 1, not 2");
    w = kernels[2];
    w.pack_a = 0;
    refused(&w, "x86-64-v4", "HostPackA 0");
    w = kernels[0];
    w.vw = 2;
    refused(&w, "x86-64-v4", "VectorWidth 2");
    w = kernels[0];
    w.du = 1 << 20, w.wg1 = 1000;
    refused(&w, "x86-64-v4", "256 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_rules_agree),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_v4),
        cmocka_unit_test(test_v3),         cmocka_unit_test(test_v2),
        cmocka_unit_test(test_clang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
