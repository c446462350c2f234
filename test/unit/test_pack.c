/* Unit tests of PackOperands: names of the kernels that copy operands, their arguments and workspace, and
 * when nothing is copied. */
#include "test/support.h"

#include "client/runtime/launch.h"
#include "kernel/helper.h"
#include "problem/datatype.h"
#include "problem/lines.h"
#include "space/wgmma.h"
#include "test/lib_window.h"

typedef struct {
    TensorMap seen[TENSOR_MAPS_MAX];
    int n;
} Encoder;

static Err encode(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES])
{
    Encoder *e = ctx;
    memset(out, 0, TENSOR_MAP_BYTES);
    e->seen[e->n++] = *map;
    return ERR_OK;
}

static const TensorMapSpec ab[] = {{.tensor = 0, .box = {32, 64}}, {.tensor = 1, .box = {32, 64}}};

static LibSolution solution(int32_t pack)
{
    static const PredOp always = {.id = PRED_TRUE, .span = 1};
    return (LibSolution){.name = "K",
                         .use_beta = true,
                         .strided_batched = true,
                         .hardware_ok = true,
                         .task_workspace = true,
                         .problem_pred = &always,
                         .n_cu = 132,
                         .map = {.work_group = {384, 1, 1},
                                 .macro_tile = {128, 128, 1},
                                 .depth_u = 32,
                                 .global_split_u = 1,
                                 .work_group_mapping = 1,
                                 .mapping_dim = -1,
                                 .persistent_kernel = 1,
                                 .persistent_along_batch = true,
                                 .source_kernel = true,
                                 .magic_div_alg = 1,
                                 .cluster = {1, 1, 1},
                                 .pack_operands = pack,
                                 .n_tensor_maps = 2,
                                 .tensor_map = ab}};
}

/* 100 x 50, K 30, of two matrices. */
static Contraction problem(bool ta, bool tb, int64_t lda, int64_t ldb, unsigned type)
{
    Contraction p;
    contraction_gemm(&p, ta, tb, 100, 50, 30, 2);
    contraction_strides(&p, lda, ldb, 100, 100, lda * (ta ? 100 : 30), ldb * (tb ? 30 : 50), 5000, 5000);
    contraction_types(&p, type, type, TYPE_S, TYPE_S, TYPE_S);
    return p;
}

static LaunchList launch(const Contraction *p, const LibSolution *s, Encoder *seen)
{
    static const float one = 1;
    const TensorMapEncoder maps = {encode, seen};
    const LaunchInputs in = {.a = (void *)0x1000,
                             .b = (void *)0x20000,
                             .c = (void *)0x30000,
                             .d = (void *)0x40000,
                             .workspace = (void *)0x50010,
                             .alpha = &one,
                             .beta = &one,
                             .maps = &maps};
    LaunchList list;
    *seen = (Encoder){0};
    assert_ok(launch_build(p, s, &in, &(LaunchHardware){.n_cu = 132}, &list));
    return list;
}

static PackArgs args_of(const KernelCall *call, int operand)
{
    PackArgs x;
    assert_int_equal(call->n_arg_bytes, 2 * sizeof x);
    memcpy(&x, call->args + (size_t)operand * sizeof x, sizeof x);
    return x;
}

static void names(void **state)
{
    (void)state;
    for (int bytes = 1; bytes <= 4; bytes *= 2) {
        const char *name = pack_kernel_name(bytes);
        assert_int_equal(pack_kernel_bytes(name, strlen(name)), bytes);
    }
    assert_string_equal(pack_kernel_name(4), "PackOperands_4");
    assert_null(pack_kernel_name(8));
    static const char *const bad[] = {"", "PackOperands_", "PackOperands_3", "PackOperands_44", "Cijk_S"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pack_kernel_bytes(bad[i], strlen(bad[i])), 0);
}

/* float NN: the copy of A has K contiguous; B is copied where its lines are not multiples of 16 bytes. */
static void transposed(void **state)
{
    (void)state;
    Encoder seen;
    LibSolution s = solution(PACK_A | PACK_B);
    Contraction p = problem(false, false, 101, 32, TYPE_S);
    LaunchList list = launch(&p, &s, &seen);
    assert_int_equal(list.n, 2);
    assert_true(list.call[0].role == CALL_PACK && list.call[1].role == CALL_MAIN);
    assert_string_equal(list.call[0].symbol, "PackOperands_4");
    PackArgs a = args_of(&list.call[0], 0), b = args_of(&list.call[0], 1);
    assert_true(a.to == 0x50100 && a.from == 0x1000 && a.ld == 404 && a.matrix == 404 * 30);
    assert_true(a.to_ld == 128 && a.to_matrix == 128 * 100 && a.line_bytes == 400 && a.lines == 30);
    assert_true(a.transposes == 1 && a.tiles == 2 && a.per_matrix == 2 && a.groups == 4);
    assert_int_equal(b.groups, 0);
    assert_true(list.call[0].num_work_groups[0] == 4 && list.call[0].work_group[0] == 256);
    const TensorMap *m = seen.seen;
    assert_true(m[0].address == 0x50100 && m[0].size[0] == 30 && m[0].size[1] == 100 && m[0].size[2] == 2);
    assert_true(m[0].stride[0] == 128 && m[0].stride[1] == 12800);
    assert_true(m[1].address == 0x20000 && m[1].size[0] == 30 && m[1].size[1] == 50 && m[1].stride[0] == 128);
    p.workspace_bytes = 2 * 12800 + 256;
    assert_int_equal(launch_workspace_bytes(&p, &s, NULL), p.workspace_bytes);
    assert_true(solution_can_solve(&s, &p));
    p.workspace_bytes--; /* too little: another solution's turn */
    assert_false(solution_can_solve(&s, &p));
    p = problem(false, false, 101, 31, TYPE_S);
    list = launch(&p, &s, &seen);
    b = args_of(&list.call[0], 1);
    assert_true(b.to == 0x50100 + 2 * 12800 && b.transposes == 0 && b.lines == 50 && b.line_bytes == 120);
    assert_true(b.ld == 124 && b.to_ld == 128 && b.groups == 2);
    assert_int_equal(list.call[0].num_work_groups[0], 6);
    s.map.pack_operands = PACK_A; /* and B as it lies */
    assert_false(tensor_maps_fit(&s, &p));
}

/* 16-bit elements stay as they lie; nothing is copied that fits. */
static void aligned(void **state)
{
    (void)state;
    Encoder seen;
    const LibSolution s = solution(PACK_A | PACK_B);
    Contraction p = problem(false, true, 104, 56, TYPE_H);
    LaunchList list = launch(&p, &s, &seen);
    assert_int_equal(list.n, 1);
    assert_true(seen.seen[0].address == 0x1000 && seen.seen[0].size[0] == 100 && seen.seen[0].size[1] == 30);
    assert_int_equal(launch_workspace_bytes(&p, &s, NULL), 0);
    p.unaligned = 1u << 1; /* the address of B */
    assert_true(tensor_maps_fit(&s, &p));
    list = launch(&p, &s, &seen);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.call[0].symbol, "PackOperands_2");
    assert_true(args_of(&list.call[0], 0).groups == 0);
    const PackArgs b = args_of(&list.call[0], 1);
    assert_true(b.transposes == 0 && b.lines == 30 && b.line_bytes == 100 && b.to_ld == 128);
    assert_true(seen.seen[1].address == 0x50100 && seen.seen[1].size[0] == 50 && seen.seen[1].size[1] == 30);
    const LibSolution none = solution(0);
    assert_false(tensor_maps_fit(&none, &p));
    p.unaligned = 0;
    assert_true(tensor_maps_fit(&none, &p));
}

/* A and B may be NULL; the maps then describe what a kernel would read. */
static void nothing_to_add(void **state)
{
    (void)state;
    Encoder seen;
    const LibSolution s = solution(PACK_A | PACK_B);
    for (int i = 0; i < 2; i++) {
        Contraction p = problem(false, false, 101, 31, TYPE_S);
        if (i) p.k = 0;
        if (!i) p.alpha = SCALAR_ZERO;
        const LaunchList list = launch(&p, &s, &seen);
        assert_int_equal(list.n, 1);
        assert_int_equal(launch_workspace_bytes(&p, &s, NULL), 0);
        assert_true(seen.seen[0].address == 0x40000 && seen.seen[0].size[0] == (i ? 1 : 30));
        assert_int_equal(seen.seen[0].size[1], 100);
    }
}

/* Copies stand behind the parts of K. */
static void behind_parts(void **state)
{
    (void)state;
    Encoder seen;
    LibSolution s = solution(PACK_B);
    s.map.global_split_u = 2, s.map.global_accumulation = GLOBAL_ACC_MULTIPLE;
    s.map.workspace_bytes_per_c = 8;
    Contraction p = problem(true, true, 32, 51, TYPE_S);
    const LaunchList list = launch(&p, &s, &seen);
    assert_int_equal(list.n, 3);
    assert_true(list.call[0].role == CALL_PACK && list.call[2].role == CALL_POST_GSU);
    const uint64_t parts = 8 * 100 * 50 * 2, copy = 128 * 50 * 2;
    assert_int_equal(args_of(&list.call[0], 1).to, (0x50010 + parts + 255) / 256 * 256);
    assert_int_equal(launch_workspace_bytes(&p, &s, NULL), parts + copy + 256);
}

/* The helpers that a solution asks for, and their texts. */
static void helpers(void **state)
{
    (void)state;
    Arena arena;
    ProblemType pt;
    Solution s;
    HelperKernel h[HELPERS_MAX];
    size_t n;
    Buf text;
    arena_init(&arena, 0);
    problem_type_init(&pt);
    pt.DataType = pt.DestDataType = pt.ComputeDataType = TYPE_S;
    solution_init(&s, &pt);
    assert_ok(kernel_helpers(&arena, &s, h, &n));
    assert_int_equal(n, 0);
    s.PackOperands = PACK_B;
    assert_ok(kernel_helpers(&arena, &s, h, &n));
    assert_int_equal(n, 1);
    assert_true(h[0].kind == HELPER_PACK && str_eq(h[0].symbol, STR("PackOperands_4")));
    buf_init(&text);
    assert_ok(kernel_emit_helper(&pt, target_find(STR("sm_90a")), &h[0], &text));
    assert_non_null(strstr(buf_cstr(&text), "PackOperands_4(const Operand a, const Operand b)"));
    assert_int_equal(kernel_emit_helper(&pt, target_find(STR("gfx90a")), &h[0], &text), ERR_INPUT);
    assert_string_equal(err_message(), "kernels of gfx90a do not copy operands");
    assert_true(helper_serves(&(ProblemType){.ComputeDataType = TYPE_I}, &pt, target_find(STR("sm_90a")),
                              h[0].symbol)); /* tf32 and others share it */
    buf_fini(&text);
    arena_fini(&arena);
}

/* ---- convolutions ---- */

static LibSolution window_solution(int32_t pack, int32_t pack_batch)
{
    static const TensorMapSpec all[] = {{.tensor = 1, .box = {64, 64}},
                                        {.tensor = 0, .box = {64, 64}},
                                        {.tensor = 2, .box = {64, 64}},
                                        {.tensor = 3, .box = {64, 64}}};
    LibSolution s = solution(pack);
    s.map.depth_u = 64, s.map.macro_tile[0] = s.map.macro_tile[1] = 64;
    s.map.n_tensor_maps = 4, s.map.tensor_map = all, s.map.pack_batch_dims = pack_batch;
    return s;
}

/* The launch of a window whose A and B lie there, with the maps that it makes. */
static Err window_launch(const LibSolution *s, const Contraction *p, uintptr_t a, uintptr_t b, Encoder *seen,
                         LaunchList *list)
{
    static const unsigned char one[16] = {0, 0, 0x80, 0x3f};
    const TensorMapEncoder maps = {encode, seen};
    const LaunchInputs in = {.a = (void *)a,
                             .b = (void *)b,
                             .d = (void *)0x40000,
                             .workspace = (void *)0x50000,
                             .alpha = one,
                             .beta = one,
                             .maps = &maps};
    *seen = (Encoder){0};
    return launch_build(p, s, &in, &(LaunchHardware){.n_cu = 132}, list);
}

/* 7x7, stride 2, 3 channels: seven rows of a pixel, and lines of 7 pixels of 24 elements. */
static void lines_of_pixels(void **state)
{
    (void)state;
    IndexSizes x;
    Contraction p;
    Encoder e;
    LaunchList list;
    const LibSolution s = window_solution(PACK_A | PACK_B, 1);
    conv_of(3, 7, 2, 1, 20, &x, &p);
    assert_true(tensor_maps_fit(&s, &p));
    assert_ok(window_launch(&s, &p, 0x10002, 0x20006, &e, &list));
    assert_int_equal(list.n, 2);
    assert_string_equal(list.call[0].symbol, "PackWindow_2");
    /* 10 sevenfold rows of 25 pixels of 2 images, then 64 x 168 elements of the filter */
    assert_int_equal(list.call[0].num_work_groups[0], 2 * 10 + 64 * 168 / 256);
    const TensorMap *filter = &e.seen[0], *pixels = &e.seen[1];
    assert_true(pixels->pixels && pixels->address == 0x50000 && pixels->size[0] == 168);
    assert_true(pixels->size[1] == 10 && pixels->size[2] == 10 && pixels->size[3] == 2);
    assert_true(pixels->stride[0] == 96 && pixels->stride[1] == 1200 && pixels->stride[2] == 10 * 1200);
    assert_true(filter->size[0] == 168 && filter->size[1] == 1 && filter->size[2] == 1);
    assert_int_equal(filter->stride[2], 336);
    assert_true(launch_workspace_bytes(&p, &s, NULL) >= 2 * 10 * 1200 + 64 * 336);
    p.alpha = SCALAR_ZERO, p.k = 0; /* nothing is copied */
    assert_ok(window_launch(&s, &p, 0x10002, 0x20006, &e, &list));
    assert_int_equal(list.n, 1);
}

static uint32_t word(const uint8_t *at)
{
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* 7x7, stride 2, 3 channels: the kernel makes seven lines of 21 elements in three pieces from rows of 24
 * pixels. The filter alone is copied; the numbers stand in front of the tensor maps. */
static void lines_by_kernel(void **state)
{
    enum { MAP_ALIGN = 64 };
    static const uint32_t number[LINE_ARGS] = {
        [0] = 24 * 6, [1] = 32, [2] = 208, [3] = 32 - 18, [4] = 12,          [5] = 29,  [6] = 2,
        [7] = 1,      [8] = 7,  [9] = 3,   [10] = 24,     [11] = 12,         [12] = 12, [13] = 2 * 144,
        [14] = 3,     [15] = 7, [16] = 5,  [17] = 24 * 3, [18] = 24 * 24 * 3};
    (void)state;
    IndexSizes x;
    Contraction p;
    Encoder e;
    LaunchList list;
    const LibSolution s = window_solution(PACK_LINES | PACK_A | PACK_B, 1);
    conv_of(3, 7, 2, 1, 24, &x, &p);
    assert_true(tensor_maps_fit(&s, &p));
    assert_ok(window_launch(&s, &p, 0x10000, 0x20006, &e, &list));
    assert_int_equal(list.n, 2);
    assert_string_equal(list.call[0].symbol, "PackWindow_2");
    assert_int_equal(list.call[0].num_work_groups[0], 64 * 7 * 24 / 256);
    assert_true(e.seen[0].size[0] == 168 && e.seen[0].stride[2] == 336);
    const uint32_t maps_at = list.call[1].n_arg_bytes - 4 * TENSOR_MAP_BYTES;
    uint32_t at = maps_at - 4 * LINE_ARGS;
    while (at > maps_at - 4 * LINE_ARGS - MAP_ALIGN && memcmp(list.call[1].args + at, number, sizeof number))
        at -= 4;
    for (int i = 0; i < LINE_ARGS; i++) assert_int_equal(word(list.call[1].args + at + 4 * i), number[i]);
    p.unaligned = 1; /* rows are copied by the engine; the filter may lie anywhere */
    assert_false(tensor_maps_fit(&s, &p));
    p.unaligned = 2;
    assert_true(tensor_maps_fit(&s, &p));
    conv_of(3, 7, 2, 1, 20, &x, &p); /* rows of 120 bytes */
    assert_false(tensor_maps_fit(&s, &p));
    conv_of(40, 7, 2, 1, 64, &x, &p); /* rows of 5 KiB: those of 64 outputs do not fit */
    assert_false(tensor_maps_fit(&s, &p));
    conv_of(3, 7, 2, 1, 24, &x, &p); /* K is 0: there are no rows */
    p.alpha = SCALAR_ZERO, p.k = 0;
    assert_ok(window_launch(&s, &p, 0x10000, 0x20006, &e, &list));
    assert_int_equal(list.n, 1);
    at -= maps_at - (list.call[0].n_arg_bytes - 4 * TENSOR_MAP_BYTES);
    assert_int_equal(word(list.call[0].args + at + 4 * 10), 0);
}

/* Several taps of a stage: lines of 10 outputs are counted as 11, of which D has 10. */
static void wide_lines(void **state)
{
    (void)state;
    IndexSizes x;
    Contraction p;
    Encoder e;
    LaunchList list;
    LibSolution s = window_solution(0, 1);
    s.map.window_taps = 3, s.map.persistent_kernel = 1, s.map.persistent_along_batch = true;
    s.map.n_tensor_maps = 2;
    conv_of(64, 3, 1, 1, 10, &x, &p);
    assert_true(tensor_maps_fit(&s, &p));
    assert_int_equal(launch_workspace_bytes(&p, &s, NULL), 0);
    assert_ok(window_launch(&s, &p, 0x10000, 0x20000, &e, &list));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.call[0].num_work_groups[0], 4); /* 2 * 10 * 11 outputs in tiles of 64 */
    const TensorMap *pixels = &e.seen[1];
    assert_true(pixels->pixels && pixels->size[1] == 10 && pixels->lower[0] == -1 && pixels->upper[0] == 0);
    assert_true(pixels->lower[1] == -1 && pixels->upper[1] == -1);
    p.unaligned = 8; /* D is stored in vectors */
    assert_false(tensor_maps_fit(&s, &p));
    conv_of(64, 5, 1, 1, 10, &x, &p);
    assert_false(tensor_maps_fit(&s, &p)); /* 5 taps are no multiple of 3 */
    conv_of(64, 3, 2, 1, 10, &x, &p);
    assert_false(tensor_maps_fit(&s, &p));
    assert_int_equal(window_launch(&s, &p, 0x10000, 0x20000, &e, &list), ERR_INPUT);
    conv_of(128, 3, 1, 2, 10, &x, &p);
    assert_false(tensor_maps_fit(&s, &p)); /* groups */
}

/* 32 groups of 4 channels are 2 of 64; 3 groups of 3 cannot be read. */
static void blocks_of_groups(void **state)
{
    (void)state;
    IndexSizes x;
    Contraction p;
    Encoder e;
    LaunchList list;
    const LibSolution s = window_solution(PACK_B, 0), plain = window_solution(0, 0);
    conv_of(128, 3, 1, 32, 10, &x, &p);
    assert_false(tensor_maps_fit(&plain, &p)); /* a chunk of channels would have those of other groups */
    assert_true(tensor_maps_fit(&s, &p));
    assert_ok(window_launch(&s, &p, 0x10000, 0x20006, &e, &list));
    assert_int_equal(list.n, 2);
    assert_int_equal(list.call[0].num_work_groups[0], 128 * 9 * 64 / 256);
    assert_true(e.seen[0].address == 0x50000 && e.seen[0].size[0] == 64 && e.seen[0].size[3] == 128);
    assert_true(e.seen[1].address == 0x10000 && e.seen[1].size[0] == 128);
    assert_true(e.seen[3].size[0] == 64 && e.seen[3].size[2] == 2 && e.seen[3].stride[1] == 128);
    conv_of(9, 3, 1, 3, 10, &x, &p);
    assert_false(tensor_maps_fit(&s, &p));
    assert_int_equal(window_launch(&s, &p, 0x10000, 0x20006, &e, &list), ERR_INPUT);
}

/* With alpha 0, which the phases of backward data have that no tap reaches, kernels of windows look for a
 * chunk behind all that is there: they get the sizes of the tensors, not 0 for K. Results that are stored
 * element by element may lie anywhere. */
static void no_taps(void **state)
{
    (void)state;
    IndexSizes x;
    Contraction p;
    Encoder e;
    LaunchList with, without;
    LibSolution s = window_solution(0, 1);
    conv_of(64, 1, 1, 1, 10, &x, &p);
    assert_ok(window_launch(&s, &p, 0x10000, 0x20000, &e, &with));
    p.alpha = SCALAR_ZERO, p.k = 0;
    assert_ok(window_launch(&s, &p, 0x10000, 0x20000, &e, &without));
    const uint32_t n = with.call[0].n_arg_bytes;
    assert_int_equal(n, without.call[0].n_arg_bytes);
    assert_memory_equal(with.call[0].args, without.call[0].args, n - 4 * TENSOR_MAP_BYTES);
    p.unaligned = 8; /* D */
    assert_false(tensor_maps_fit(&s, &p));
    s.map.n_tensor_maps = 2;
    assert_true(tensor_maps_fit(&s, &p));
    p.unaligned = 1;
    assert_false(tensor_maps_fit(&s, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),           cmocka_unit_test(transposed),
                                       cmocka_unit_test(aligned),         cmocka_unit_test(nothing_to_add),
                                       cmocka_unit_test(behind_parts),    cmocka_unit_test(helpers),
                                       cmocka_unit_test(lines_of_pixels), cmocka_unit_test(lines_by_kernel),
                                       cmocka_unit_test(wide_lines),      cmocka_unit_test(blocks_of_groups),
                                       cmocka_unit_test(no_taps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
