/* Unit tests of tensor maps: the key tensorMaps of a sizeMapping, and the bytes that a launch appends to its
 * arguments. */
#include "test/support.h"

#include <pthread.h>

#include "client/runtime/launch.h"
#include "client/runtime/map_cache.h"
#include "problem/datatype.h"

static const Hardware sm_90 = {{"sm_90", 5}, 132, false};

static Err parse(const char *operation, const char *maps, Library **lib)
{
    char text[2000];
    snprintf(
        text, sizeof text,
        "solutions:\n- name: K\n  index: 0\n  hardwarePredicate: {type: TruePred}\n  problemPredicate: "
        "{type: "
        "TruePred}\n  taskPredicate: {type: TruePred}\n  problemType: {operationIdentifier: %s, aType: Half, "
        "bType: Half, cType: Half, dType: Half, useBeta: true, highPrecisionAccumulate: true}\n"
        "  sizeMapping: {workGroup: [16, 8, 1], macroTile: [128, 128, 1], threadTile: [8, 16], depthU: 64,\n"
        "    staggerU: 0, globalSplitU: 1, staggerStrideShift: 0, workGroupMapping: 1, persistentKernel: 1,\n"
        "    persistentKernelAlongBatch: false, sourceKernel: true, globalAccumulation: 0,\n"
        "    workspaceSizePerElemC: 0, tensorMaps: %s}\n  debugKernel: false\n"
        "library: {type: Single, index: 0}\n",
        operation, maps);
    return library_parse("lib.yaml", str_from(text), NULL, &sm_90, lib);
}

static void refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"5", "expected a list"},
        {"[{tensor: E, box: [8, 8]}]", "tensor 'E' is not A, B, C or D"},
        {"[{box: [8, 8]}]", "no 'tensor'"},
        {"[{tensor: A}]", "no 'box'"},
        {"[{tensor: A, box: [8]}]", "box"},
        {"[{tensor: A, box: [8, 257]}]", "257"},
        {"[{tensor: A, box: [0, 8]}]", "box"},
        {"[{tensor: A, box: [8, 8], swizzle: 96}]", "swizzle 96, l2 128: expected 0, 32, 64 or 128"},
        {"[{tensor: A, box: [8, 8], swizzle: 16}]", "swizzle 16"},
        {"[{tensor: A, box: [8, 8], l2: 32}]", "l2 32"},
        {"[{tensor: A, box: [8, 8]}, {tensor: A, box: [8, 8]}, {tensor: A, box: [8, 8]}, {tensor: A, box: "
         "[8, "
         "8]}, {tensor: A, box: [8, 8]}]",
         "tensorMaps"},
        {"[], cluster: [4, 4]", "a cluster of 4 x 4 x 1 work-groups"},
        {"[], cluster: [2, 1, 8]", "a cluster of 2 x 1 x 8 work-groups"},
        {"[], cluster: [2]", "cluster"},
        {"[], cluster: [0, 1]", "cluster"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Library *lib;
        assert_int_equal(parse("Contraction_l_Ailk_Bljk_Cijk_Dijk", bad[i][0], &lib), ERR_INPUT);
        if (!strstr(err_message(), bad[i][1])) fail_msg("'%s' does not say '%s'", err_message(), bad[i][1]);
    }
}

typedef struct {
    TensorMap seen[TENSOR_MAPS_MAX];
    int n;
    bool fail;
} Encoder;

static Err encode(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES])
{
    Encoder *e = ctx;
    if (e->fail) FAIL(ERR_INPUT, "no");
    memset(out, 0x10 + e->n, TENSOR_MAP_BYTES);
    e->seen[e->n++] = *map;
    return ERR_OK;
}

static void check_map(const TensorMap *m, uint64_t address, uint64_t rows, uint64_t cols, uint64_t batch,
                      uint64_t ld, uint64_t stride)
{
    assert_int_equal(m->address, address);
    assert_int_equal(m->type, TYPE_H);
    assert_true(m->size[0] == rows && m->size[1] == cols && m->size[2] == batch);
    assert_true(m->stride[0] == 2 * ld && m->stride[1] == 2 * stride);
}

/* C = A^T * B of 100 x 50, K 30, batch 3, with offsets; maps of B, A and D. */
static void appended(void **state)
{
    (void)state;
    Library *lib;
    LaunchList list;
    Encoder seen = {0};
    const TensorMapEncoder maps = {encode, &seen};
    float one = 1;
    assert_ok(parse(
        "Contraction_l_Alik_Bljk_Cijk_Dijk",
        "[{tensor: B, box: [64, 128], swizzle: 128}, {tensor: A, box: [32, 16], l2: 256}, {tensor: D, box: "
        "[8, 4], l2: 0}]",
        &lib));
    Contraction p = {
        .m = 100, .n = 50, .k = 30, .batch = 3, .trans_a = true, .batched = true, .strided_batched = true};
    contraction_strides(&p, 32, 40, 104, 112, 3200, 2000, 5200, 5600);
    contraction_types(&p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
    LaunchInputs in = {.a = (void *)0x1000, .b = (void *)0x2000, .c = (void *)0x3000, .d = (void *)0x4000};
    in.alpha = in.beta = &one;
    in.offset_b = 8;
    in.maps = &maps;
    const LaunchHardware hw = {.n_cu = 132};
    const LibSolution *s = library_solution(lib, 0);
    assert_ok(launch_build(&p, s, &in, &hw, &list));
    assert_int_equal(list.n, 1);
    const KernelCall *c = &list.call[0];
    assert_int_equal(seen.n, 3);
    assert_int_equal(c->n_arg_bytes, 128 + 3 * 128);
    for (int i = 0; i < 3; i++)
        assert_true(c->args[128 + 128 * i] == 0x10 + i && c->args[255 + 128 * i] == 0x10 + i);
    for (int i = 96; i < 128; i++) assert_int_equal(c->args[i], 0); /* alignment */
    check_map(&seen.seen[0], 0x2010, 30, 50, 3, 40, 2000);
    check_map(&seen.seen[1], 0x1000, 30, 100, 3, 32, 3200);
    check_map(&seen.seen[2], 0x4000, 100, 50, 3, 112, 5600);
    assert_true(seen.seen[0].box[0] == 64 && seen.seen[0].box[1] == 128 && seen.seen[0].box[2] == 1);
    assert_true(seen.seen[0].swizzle == 128 && seen.seen[0].l2 == 128 && seen.seen[1].l2 == 256);
    assert_true(seen.seen[2].l2 == 0);
    seen.fail = true;
    assert_int_equal(launch_build(&p, s, &in, &hw, &list), ERR_INPUT);
    assert_string_equal(err_message(), "kernel K: tensor map of B: no");
    in.maps = NULL; /* selection without a device: zeros */
    assert_ok(launch_build(&p, s, &in, &hw, &list));
    assert_int_equal(list.call[0].n_arg_bytes, 512);
    assert_int_equal(list.call[0].args[300], 0);
    library_free(lib);
}

/* Which problems the copy engine can do, and the map that it gets where K is 0. */
static void fits(void **state)
{
    (void)state;
    Library *lib;
    LaunchList list;
    Encoder seen = {0};
    const TensorMapEncoder maps = {encode, &seen};
    float one = 1;
    assert_ok(parse("Contraction_l_Alik_Bljk_Cijk_Dijk",
                    "[{tensor: A, box: [64, 128], swizzle: 128}, {tensor: B, box: [64, 128]}, {tensor: D, "
                    "box: [64, 64]}]",
                    &lib));
    const LibSolution *s = library_solution(lib, 0);
    const struct {
        int64_t m, k, batch, lda, ldd, stride_a;
        bool fits;
    } cases[] = {
        {104, 30, 1, 32, 104, 3328, true},  {104, 30, 1, 31, 104, 3328, false}, /* rows of 62 bytes */
        {104, 30, 1, 32, 108, 3328, false}, {104, 30, 3, 32, 104, 3328, true},
        {104, 30, 3, 32, 104, 3329, false}, {104, 30, 1, 32, 104, 3329, true}, /* one matrix */
        {100, 30, 1, 32, 104, 3328, false}, /* a store writes 16 bytes whole, columns of D have 200 */
        {104, 0, 1, 1, 104, 104, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Contraction p = {.m = cases[i].m, .n = 50, .k = cases[i].k, .batch = cases[i].batch};
        p.trans_a = p.batched = p.strided_batched = true;
        contraction_strides(&p, cases[i].lda, 40, cases[i].ldd, cases[i].ldd, cases[i].stride_a, 2000, 5600,
                            5600);
        contraction_types(&p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
        assert_int_equal(tensor_maps_fit(s, &p), cases[i].fits);
        LibSolution of_pointers = *s;
        of_pointers.strided_batched = false;
        assert_false(tensor_maps_fit(&of_pointers, &p)); /* another solution is chosen */
        if (cases[i].k) continue;
        LaunchInputs in = {.d = (void *)0x4008, .alpha = &one, .beta = &one, .maps = &maps};
        assert_ok(launch_build(&p, s, &in, &(LaunchHardware){.n_cu = 132}, &list));
        check_map(&seen.seen[0], 0x4000, 1, 104, 1, 8, 8 * 104);
    }
    library_free(lib);
}

/* Persistent work-groups in clusters: whole ones, and one for tiles that hang over D's edge. */
static void clusters(void **state)
{
    (void)state;
    Library *lib;
    float one = 1;
    assert_ok(parse("Contraction_l_Alik_Bljk_Cijk_Dijk", "[], cluster: [2, 2]", &lib));
    LibSolution s = *library_solution(lib, 0);
    assert_true(s.map.cluster[0] == 2 && s.map.cluster[1] == 2);
    s.map.macro_tile[0] = s.map.macro_tile[1] = 64;
    s.map.persistent_along_batch = true;
    const struct {
        int64_t m, n, batch;
        uint32_t groups;
    } cases[] = {{64, 64, 1, 4}, {192, 64, 1, 8}, {192, 192, 3, 48}, {4096, 4096, 1, 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Contraction p = {.m = cases[i].m, .n = cases[i].n, .k = 64, .batch = cases[i].batch};
        p.trans_a = p.batched = p.strided_batched = true;
        contraction_strides(&p, 64, 64, p.m, p.m, 64 * p.m, 64 * p.n, p.m * p.n, p.m * p.n);
        contraction_types(&p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
        LaunchList list;
        LaunchInputs in = {.alpha = &one, .beta = &one};
        assert_ok(launch_build(&p, &s, &in, &(LaunchHardware){.n_cu = 130}, &list));
        assert_int_equal(list.call[0].num_work_groups[0], cases[i].groups);
        assert_int_equal(list.call[0].num_work_groups[1], 1);
    }
    library_free(lib);
}

/* ---- the cache of encoded maps ---- */

typedef struct {
    atomic_int n;
    bool fail;
} Counter;

/* The map's address, in all words. */
static Err encode_address(void *ctx, const TensorMap *m, unsigned char out[TENSOR_MAP_BYTES])
{
    Counter *c = ctx;
    if (c->fail) FAIL(ERR_INPUT, "refused");
    atomic_fetch_add(&c->n, 1);
    for (size_t i = 0; i < TENSOR_MAP_BYTES; i += 8) memcpy(out + i, &m->address, 8);
    return ERR_OK;
}

static void check_encoded(MapCache *cache, const TensorMapEncoder *e, uint64_t address)
{
    unsigned char out[TENSOR_MAP_BYTES];
    uint64_t got[TENSOR_MAP_BYTES / 8];
    const TensorMap m = {.address = address, .size = {64, 64, 1}, .stride = {128, 8192}, .box = {64, 64, 1}};
    assert_ok(map_cache_encode(cache, e, &m, out));
    memcpy(got, out, sizeof got);
    for (size_t i = 0; i < TENSOR_MAP_BYTES / 8; i++) assert_true(got[i] == address);
}

/* Repeated maps are encoded once, others and refused ones each time, and more than there is room for are
 * right all the same. */
static void cached(void **state)
{
    (void)state;
    static MapCache cache;
    Counter n = {0};
    unsigned char out[TENSOR_MAP_BYTES];
    const TensorMapEncoder e = {encode_address, &n};
    for (int i = 0; i < 1000; i++)
        for (uint64_t t = 1; t <= 4; t++) check_encoded(&cache, &e, t << 21);
    assert_int_equal(n.n, 4);
    TensorMap m = {.address = 1 << 21, .size = {64, 64, 1}, .stride = {128, 8192}, .box = {64, 64, 1}};
    uint32_t *const fields[] = {&m.swizzle, &m.l2, &m.box[0], &m.box[1]};
    for (size_t i = 0; i < 4; i++) { /* each field tells maps apart */
        *fields[i] += 32;
        assert_ok(map_cache_encode(&cache, &e, &m, out));
        assert_int_equal(n.n, 5 + (int)i);
    }
    m.size[2] = 2, n.fail = true;
    assert_int_equal(map_cache_encode(&cache, &e, &m, out), ERR_INPUT);
    n.fail = false;
    assert_ok(map_cache_encode(&cache, &e, &m, out));
    assert_int_equal(n.n, 9);
    for (int turn = 0; turn < 2; turn++)
        for (uint64_t i = 1; i < 4000; i++) check_encoded(&cache, &e, i * 256);
    assert_true(n.n > 4000);
}

typedef struct {
    MapCache *cache;
    TensorMapEncoder e;
    uint64_t first;
    bool wrong;
} Caller;

static void *call_often(void *arg)
{
    Caller *c = arg;
    unsigned char out[TENSOR_MAP_BYTES];
    for (uint64_t i = 0; i < 20000; i++) {
        const TensorMap m = {.address = ((c->first + i) % 600 + 1) * 256, .box = {64, 64, 1}};
        uint64_t got[TENSOR_MAP_BYTES / 8];
        c->wrong |= map_cache_encode(c->cache, &c->e, &m, out) != ERR_OK;
        memcpy(got, out, sizeof got);
        for (size_t k = 0; k < TENSOR_MAP_BYTES / 8; k++) c->wrong |= got[k] != m.address;
    }
    return NULL;
}

/* Threads that replace each other's entries get whole maps of their own matrices. */
static void cached_by_threads(void **state)
{
    (void)state;
    static MapCache cache;
    Counter n = {0};
    Caller caller[4];
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        caller[i] = (Caller){&cache, {encode_address, &n}, (uint64_t)i * 150, false};
        assert_int_equal(pthread_create(&thread[i], NULL, call_often, &caller[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_false(caller[i].wrong);
    }
}

/* Clusters whose work-groups have parts of K, for launches that may begin early. */
static void parts_of_k(void **state)
{
    (void)state;
    Library *lib;
    LaunchList list;
    float one = 1;
    assert_ok(
        parse("Contraction_l_Alik_Bljk_Cijk_Dijk", "[], cluster: [1, 2, 4], dependentLaunch: true", &lib));
    LibSolution s = *library_solution(lib, 0);
    assert_true(s.map.cluster[2] == 4 && s.map.dependent_launch);
    s.map.macro_tile[0] = s.map.macro_tile[1] = 64;
    s.map.persistent_along_batch = true;
    LaunchInputs in = {.alpha = &one, .beta = &one};
    Contraction p = {.m = 128, .n = 192, .k = 64, .batch = 1};
    p.trans_a = p.batched = p.strided_batched = true;
    contraction_strides(&p, 64, 64, p.m, p.m, 64 * p.m, 64 * p.n, p.m * p.n, p.m * p.n);
    contraction_types(&p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
    assert_ok(launch_build(&p, &s, &in, &(LaunchHardware){.n_cu = 130}, &list));
    assert_true(list.n == 1 && list.call[0].dependent);
    assert_int_equal(list.call[0].num_work_groups[0], 2 * 4 * 4); /* an edge of tiles, times the parts */
    assert_int_equal(launch_workspace_bytes(&p, &s, &(LaunchHardware){.n_cu = 130}), 0);
    assert_ok(launch_build(&p, &s, &in, &(LaunchHardware){.n_cu = 5}, &list));
    assert_int_equal(list.call[0].num_work_groups[0], 8); /* a whole cluster */
    library_free(lib);
}

/* Parts of tiles whose sums lie in a workspace: its bytes, the flags behind the sums, the call that sets them
 * to 0 where tiles have parts at all. */
static void sums_in_workspace(void **state)
{
    (void)state;
    Library *lib;
    LaunchList list;
    float one = 1;
    const LaunchHardware hw = {.n_cu = 11};
    assert_ok(parse("Contraction_l_Alik_Bljk_Cijk_Dijk", "[], cluster: [2, 1, 1]", &lib));
    LibSolution s = *library_solution(lib, 0);
    s.map.macro_tile[0] = s.map.macro_tile[1] = 64, s.map.source_kernel = true;
    s.map.persistent_along_batch = true, s.map.global_accumulation = GLOBAL_ACC_PARTIALS;
    LaunchInputs in = {.alpha = &one, .beta = &one, .workspace = (void *)0x10000};
    Contraction p = {.m = 192, .n = 192, .k = 64, .batch = 1};
    p.trans_a = p.batched = p.strided_batched = true;
    contraction_strides(&p, 64, 64, p.m, p.m, 64 * p.m, 64 * p.n, p.m * p.n, p.m * p.n);
    contraction_types(&p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
    /* MultipleBufferSingleKernel of 3 parts: tiles of whole clusters */
    s.map.global_split_u = 3, s.map.workspace_bytes_per_c = 12;
    const uint64_t sums = 4 * 3 * 3 * 64 * 64 * 4;
    assert_int_equal(launch_workspace_bytes(&p, &s, &hw), sums + 4 * 3 * 3 * 32);
    assert_ok(launch_build(&p, &s, &in, &hw, &list));
    assert_true(list.n == 2 && list.call[0].role == CALL_STREAMK_INIT && list.call[1].role == CALL_MAIN);
    uint64_t at[2];
    memcpy(at, list.call[0].args, sizeof at);
    assert_int_equal(at[0], 0x10000 + sums);
    assert_int_equal((uint32_t)at[1], 4 * 3 * 3 * 8);
    memcpy(at, list.call[1].args + 32, sizeof at);
    assert_true(at[0] == 0x10000 && at[1] == 0x10000 + sums);
    /* stream-K: two slots of each work-group of whole clusters */
    s.map.global_split_u = 1, s.map.workspace_bytes_per_c = 8;
    s.map.persistent_kernel = 0, s.map.stream_k = 2;
    const LaunchHardware all = {.n_cu = 11, .streamk_fixed_grid = 11};
    assert_ok(launch_build(&p, &s, &in, &hw, &list)); /* a tile each: K is too short for shares of tiles */
    assert_int_equal(list.call[list.n - 1].num_work_groups[0], 8);
    assert_int_equal(launch_workspace_bytes(&p, &s, &all), 10 * (64 * 64 * 8 + 2 * 32));
    assert_ok(launch_build(&p, &s, &in, &all, &list));
    assert_true(list.n == 2 && list.call[1].num_work_groups[0] == 10 && list.call[1].num_work_groups[2] == 1);
    p.n = 64 * 5; /* 20 tiles of whole clusters go evenly into 5, but fewer clusters may run at once */
    assert_int_equal(launch_workspace_bytes(&p, &s, &all), 10 * (64 * 64 * 8 + 2 * 32));
    assert_ok(launch_build(&p, &s, &in, &all, &list));
    assert_true(list.n == 2 && list.call[0].role == CALL_STREAMK_INIT);
    p.n = 64 * 11, s.map.cluster[0] = 1; /* without clusters as many run as are launched: no tile has parts */
    assert_int_equal(launch_workspace_bytes(&p, &s, &all), 11 * 64 * 64 * 8);
    assert_ok(launch_build(&p, &s, &in, &all, &list));
    assert_int_equal(list.n, 1);
    /* equal parts of the tiles that do not fill a round, where they pay: 3 tiles on 7 work-groups, 8 on 7 */
    s.map.depth_u = 16, s.map.stream_k_part = 4, s.map.stream_k_fix = 10,
    s.map.cluster[0] = s.map.cluster[1] = 1;
    const LaunchHardware seven = {.n_cu = 7};
    for (int64_t k = 32; k <= 64; k += 32) /* 2 parts save half of K, and cost 10 + 2 * 4 */
        for (int64_t rows = 3; rows <= 8; rows += 5) {
            const bool cut = k == 64, all_run = rows == 8;
            p.m = 64, p.n = 64 * rows, p.k = k;
            assert_ok(launch_build(&p, &s, &in, &seven, &list));
            assert_int_equal(list.n, cut ? 2 : 1);
            assert_int_equal(list.call[list.n - 1].num_work_groups[0], all_run ? 7 : cut ? 6 : 3);
            assert_int_equal(launch_workspace_bytes(&p, &s, &seven) > 0, cut);
        }
    library_free(lib);
}

/* A stream-K kernel whose tiles of 64x64 are cut into equal parts of K where that pays. Of the cost of a cut
 * only that of each part is set. */
static LibSolution stream_kernel(void)
{
    LibSolution s = {.name = "k", .map.mapping_dim = -1};
    s.map.macro_tile[0] = s.map.macro_tile[1] = 64, s.map.depth_u = 16;
    s.map.work_group[0] = s.map.work_group[1] = 8, s.map.work_group[2] = s.map.global_split_u = 1;
    s.map.source_kernel = s.strided_batched = true;
    s.map.stream_k = 3, s.map.global_accumulation = GLOBAL_ACC_PARTIALS, s.map.workspace_bytes_per_c = 8;
    s.map.stream_k_part = 4;
    return s;
}

/* Stream-K of kernels without warp groups: all tiles in equal parts, or whole, as work-groups for the
 * hardware to hand out. */
static void even_parts(void **state)
{
    (void)state;
    LibSolution s = stream_kernel();
    Contraction p;
    LaunchList list;
    s.map.stream_k_fix = 14, s.map.stream_k_blocks = 2;
    contraction_gemm(&p, false, false, 64, 64, 64, 1);
    contraction_types(&p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
    static const float one = 1;
    const LaunchInputs in = {.workspace = (void *)0x10000, .alpha = &one, .beta = &one};
    const LaunchHardware seven = {.n_cu = 7};
    for (int64_t k = 32; k <= 64; k += 32) /* 3 tiles of 4 chunks: 4 parts save 48, and cost 14 + 4 */
        for (int64_t rows = 3; rows <= 14; rows += 11) {
            const bool cut = k == 64 && rows == 3;
            p.m = 64, p.n = 64 * rows, p.k = k;
            assert_ok(launch_build(&p, &s, &in, &seven, &list));
            assert_int_equal(list.n, cut ? 2 : 1);
            assert_int_equal(list.call[list.n - 1].num_work_groups[0], cut ? 4 : 1);
            assert_int_equal(list.call[list.n - 1].num_work_groups[1], rows);
            assert_int_equal(launch_workspace_bytes(&p, &s, &seven) > 0, cut);
        }
}

/* Clusters of stream-K kernels have flags where some number of clusters would cut tiles, K of 34 and more,
 * though 7 tiles on 7 clusters are not cut: fewer may run at once. */
static void cuts_of_clusters(void **state)
{
    (void)state;
    LibSolution s = stream_kernel();
    Contraction p;
    LaunchList list;
    s.map.stream_k_fix = 10, s.map.cluster[0] = 1, s.map.cluster[1] = 2;
    static const float one = 1;
    const LaunchInputs in = {.workspace = (void *)0x10000, .alpha = &one, .beta = &one};
    const LaunchHardware fourteen = {.n_cu = 14};
    for (int64_t k = 33; k <= 34; k++) {
        contraction_gemm(&p, false, false, 64, 64 * 14, k, 1);
        contraction_types(&p, TYPE_H, TYPE_H, TYPE_H, TYPE_H, TYPE_S);
        assert_ok(launch_build(&p, &s, &in, &fourteen, &list));
        assert_int_equal(list.n, k == 33 ? 1 : 2);
        assert_int_equal(launch_workspace_bytes(&p, &s, &fourteen) > 0, k == 34);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused),    cmocka_unit_test(appended),
                                       cmocka_unit_test(fits),       cmocka_unit_test(clusters),
                                       cmocka_unit_test(cached),     cmocka_unit_test(cached_by_threads),
                                       cmocka_unit_test(parts_of_k), cmocka_unit_test(sums_in_workspace),
                                       cmocka_unit_test(even_parts), cmocka_unit_test(cuts_of_clusters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
