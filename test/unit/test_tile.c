/* Programs over tiles that are written by hand: the ready ones (configs/tile) are read, printed, read again,
 * interpreted, and lowered to the host, where they run on operands between inaccessible pages. */
#include <dlfcn.h>

#include "base/fs.h"
#include "base/proc.h"
#include "kernel/kernel.h"
#include "kernel/parse.h"
#include "kernel/tile/interpret.h"
#include "test/unit/host_values.h"

static const char *const programs[] = {"plain",           "k_sliced",      "prefetching", "transposed_a",
                                       "padded",          "dual",          "wrapped",     "round_robin",
                                       "matrix_16x16x16", "matrix_16x8x16"};
enum { N_PROGRAMS = sizeof programs / sizeof *programs };

/* M, N, batch, K */
static const int sizes[][4] = {{64, 64, 1, 64}, {1, 1, 1, 1},    {100, 70, 2, 33},
                               {65, 130, 1, 1}, {3, 129, 1, 96}, {192, 128, 1, 95}};
static const int scalars[][2] = {{8, 0}, {8, 4}, {0, 8}, {-16, 12}}; /* eighths */

typedef void HostKernel(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last,
                        void *local);

static Str program_text(Arena *a, const char *name)
{
    char path[256];
    Str text;
    snprintf(path, sizeof path, "configs/tile/%s.tile", name);
    assert_ok(file_read(a, path, PARSE_MAX_BYTES, &text));
    return text;
}

static void round_trip(void **state)
{
    (void)state;
    for (int i = 0; i < N_PROGRAMS; i++) {
        Arena a;
        Program p, q;
        Buf one, two;
        arena_init(&a, 0);
        buf_init(&one);
        buf_init(&two);
        assert_ok(program_parse(&p, program_text(&a, programs[i]), programs[i], &a));
        program_dump(&p, &one);
        assert_ok(program_parse(&q, buf_view(&one), programs[i], &a));
        program_dump(&q, &two);
        assert_string_equal(buf_cstr(&one), buf_cstr(&two));
        buf_fini(&one);
        buf_fini(&two);
        arena_fini(&a);
    }
}

static void interpreted(void **state)
{
    (void)state;
    for (int i = 0; i < N_PROGRAMS; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            Arena a;
            Program p;
            TilePlan plan;
            InterpretResult r;
            InterpretRun run = {.m = sizes[s][0], .n = sizes[s][1], .k = sizes[s][3], .seed = s};
            run.alpha = scalars[s % 4][0] / 8.0, run.beta = scalars[s % 4][1] / 8.0;
            arena_init(&a, 0);
            assert_ok(program_parse(&p, program_text(&a, programs[i]), programs[i], &a));
            assert_ok(tile_plan(&p, NULL, programs[i], &plan));
            assert_ok(tile_interpret(&p, &plan, programs[i], &run, &r));
            if (r.wrong) fail_msg("%s: %lld wrong", programs[i], (long long)r.wrong);
            arena_fini(&a);
        }
}

/* ---- on GPUs ---- */

static void plan_of(Arena *a, const char *name, const char *arch, Program *p, TilePlan *plan)
{
    assert_ok(program_parse(p, program_text(a, name), name, a));
    assert_ok(tile_plan(p, target_find(str_from(arch)), name, plan));
}

/* Each element of a tile in registers has as many work-items as its map repeats it. */
static void check_held(const Program *p, const TilePlan *plan, int tile)
{
    enum { SIDE = 128 };
    static int16_t seen[SIDE][SIDE];
    const int32_t *size = p->tile[tile].size;
    const int32_t copies = plan->n_threads * plan->tile[tile].count / (size[0] * size[1]);
    Expr nodes[256];
    ExprPool pool;
    memset(seen, 0, sizeof seen);
    expr_pool_fixed(&pool, nodes, 256);
    const Expr *tid = expr_var(&pool, "tid", 0, 0, plan->n_threads - 1);
    const Expr *e = expr_var(&pool, "e", 1, 0, plan->tile[tile].count - 1), *at[2];
    for (int i = 0; i < 2; i++) at[i] = tile_held(&pool, p, plan, tile, i, tid, e);
    assert_false(pool.failed);
    for (int64_t t = 0; t < plan->n_threads; t++)
        for (int64_t i = 0; i < plan->tile[tile].count; i++) {
            int64_t v[] = {t, i}, place[2];
            for (int side = 0; side < 2; side++) {
                assert_true(expr_eval(at[side], v, &place[side]));
                assert_in_range(place[side], 0, size[side] - 1);
            }
            seen[place[0]][place[1]]++;
        }
    for (int r = 0; r < size[0]; r++)
        for (int c = 0; c < size[1]; c++) assert_int_equal(seen[r][c], copies);
}

static const struct {
    const char *name, *arch;
    int m, n; /* of the instruction; 0: none */
} on_gpus[] = {{"plain", "gfx90a", 0, 0},
               {"wrapped", "sm_90", 0, 0},
               {"round_robin", "gfx1100", 0, 0},
               {"matrix_16x16x16", "gfx90a", 16, 16},
               {"matrix_16x16x16", "gfx1100", 16, 16},
               {"matrix_16x8x16", "sm_90", 16, 8}};

static void held(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof on_gpus / sizeof *on_gpus; i++) {
        Arena a;
        Program p;
        TilePlan plan;
        arena_init(&a, 0);
        plan_of(&a, on_gpus[i].name, on_gpus[i].arch, &p, &plan);
        for (int tile = 0; tile < p.n_tiles; tile++) {
            if (p.tile[tile].space != SPACE_REGISTER) continue;
            const MatrixInst *in = plan.tile[tile].inst;
            assert_int_equal(in ? in->m : 0, on_gpus[i].m);
            assert_int_equal(in ? in->n : 0, on_gpus[i].n);
            check_held(&p, &plan, tile);
        }
        arena_fini(&a);
    }
}

/* Loops whose loads can be under way early have two stages of local memory, where they fit. */
static void pipelined(void **state)
{
    (void)state;
    static const struct {
        const char *name, *find, *put;
        int stages;
        bool async;
    } rows[] = {{"plain", "by 0", "by 0", 2, false},
                {"matrix_16x8x16", "by 0", "by 0", 4, true},
                {"plain", "S[k 32, m 64] wg_map", "S[k 32, m 64] buffers 3 wg_map", 3, true},
                {"transposed_a", "H[k 32, m 64] wg_map", "H[k 32, m 64] buffers 3 wg_map", 2, false},
                {"dual", "by 0", "by 0", 2, false},
                {"plain", "step 32 {", "step 32 {\n  update_tile_offset %a k + 0", 1, false},
                {"plain", " wg_map<[4, 1] of [8, 64]> sg_map<[4, 16] of [1, 4]>", "", 2, false},
                {"plain", "%b k + 32", "%b k + %k", 1, false},
                {"plain", "loop", "load_tile %la <- %a\nload_tile %lb <- %b\nloop", 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena a;
        Program p;
        TilePlan plan;
        arena_init(&a, 0);
        Str text = arena_dup(&a, program_text(&a, rows[i].name));
        const char *at = strstr(text.s, rows[i].find);
        assert_non_null(at);
        text =
            arena_printf(&a, "%.*s%s%s", (int)(at - text.s), text.s, rows[i].put, at + strlen(rows[i].find));
        Err e = program_parse(&p, text, "p", &a);
        if (!e) e = tile_plan(&p, target_find(STR("sm_90")), "p", &plan);
        if (!e && plan.stages != rows[i].stages) fail_msg("'%s': %d stages", rows[i].put, plan.stages);
        assert_ok(e);
        assert_int_equal(plan.async, rows[i].async);
        arena_fini(&a);
    }
}

/* ---- on the host ---- */

typedef struct {
    const char *name;
    ProblemType pt;
    int32_t tile_m, tile_n;
    HostKernel *run;
    uint64_t local_bytes;
    int64_t m, n, batch, k, ld[4]; /* D C A B */
    Guarded mem[4];
    KernelArgs args;
} Case;

static int64_t columns(const Case *c, int t)
{
    return t < 2 ? c->n : t == 2 ? (c->pt.TransposeA ? c->m : c->k) : (c->pt.TransposeB ? c->k : c->n);
}

static int64_t rows(const Case *c, int t)
{
    return t < 2 ? c->m : t == 2 ? (c->pt.TransposeA ? c->k : c->m) : (c->pt.TransposeB ? c->n : c->k);
}

static DataType type_at(const Case *c, int t)
{
    return (DataType)(t < 2 ? c->pt.DestDataType : c->pt.DataType);
}

static void poison(const Case *c, int t)
{
    int64_t all = c->ld[t] * columns(c, t) * c->batch * type_bytes(type_at(c, t));
    memset(c->mem[t].data, 0xff, (size_t)all);
}

static void operands(Case *c, const int scalar[2])
{
    unsigned seed = 1;
    for (int t = 0; t < 4; t++) {
        c->ld[t] = rows(c, t) + t;
        int64_t all = c->ld[t] * columns(c, t) * c->batch - t; /* the last column ends with its rows */
        c->mem[t] = guarded_new((size_t)((all + t) * type_bytes(type_at(c, t))), true);
        poison(c, t);
        bool unread = t == 0 || (t == 1 && scalar[1] == 0) || (t > 1 && scalar[0] == 0);
        for (int64_t i = 0; i < all + t && !unread; i++) {
            seed = seed * 1103515245 + 12345;
            put(type_at(c, t), c->mem[t].data, i, (int)(seed >> 16) % 17 - 8);
        }
    }
}

static void launch(Case *c, const int scalar[2])
{
    c->args.n = 0;
    for (int t = 0; t < 4; t++) args_put(&c->args, &c->mem[t].data, 8);
    for (int i = 0; i < 2; i++) args_put(&c->args, &(float){(float)scalar[i] / 8}, 4);
    for (int t = 0; t < 4; t++) {
        args_put_u32(&c->args, c->ld[t]);
        args_put_u32(&c->args, c->ld[t] * columns(c, t));
    }
    args_put_u32(&c->args, c->m), args_put_u32(&c->args, c->n), args_put_u32(&c->args, c->batch),
        args_put_u32(&c->args, c->k);
    uint32_t grid[3] = {(uint32_t)((c->m + c->tile_m - 1) / c->tile_m),
                        (uint32_t)((c->n + c->tile_n - 1) / c->tile_n), (uint32_t)c->batch};
    Guarded local = guarded_new((c->local_bytes + 63) / 64 * 64, true);
    memset(local.data, 0x7f, c->local_bytes);
    c->run(c->args.bytes, grid, 0, (uint64_t)grid[0] * grid[1] * grid[2], local.data);
    guarded_free(&local);
}

static long double at(const Case *c, int t, int64_t i, int64_t j, int64_t z)
{
    return get(type_at(c, t), c->mem[t].data, i + j * c->ld[t] + z * c->ld[t] * columns(c, t));
}

static void compare(const Case *c, const int scalar[2])
{
    for (int64_t z = 0; z < c->batch; z++)
        for (int64_t j = 0; j < c->n; j++)
            for (int64_t i = 0; i < c->m; i++) {
                long double sum = 0, size = 0, old = 0;
                for (int64_t l = 0; l < c->k && scalar[0]; l++) {
                    long double x = c->pt.TransposeA ? at(c, 2, l, i, z) : at(c, 2, i, l, z);
                    x *= c->pt.TransposeB ? at(c, 3, j, l, z) : at(c, 3, l, j, z);
                    sum += x, size += fabsl(x);
                }
                if (scalar[1]) old = at(c, 1, i, j, z) * scalar[1] / 8;
                sum = sum * scalar[0] / 8 + old;
                size = size * fabs(scalar[0] / 8.0) + fabsl(old) + 1;
                long double got = at(c, 0, i, j, z);
                if (!(fabsl(got - sum) <= 4 * epsilon(type_at(c, 0)) * size))
                    fail_msg("%s: %d x %d x %d: D[%d, %d] is %Lg, expected %Lg", c->name, (int)c->m,
                             (int)c->n, (int)c->k, (int)i, (int)j, got, sum);
            }
    for (int64_t j = 0; j < columns(c, 0); j++) /* between columns nothing is written */
        for (int64_t i = c->m; i < c->ld[0]; i++) assert_true(isnan(at(c, 0, i, j, 0)));
}

static void run_program(Case *c)
{
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t x = 0; x < 4; x++) {
            c->m = sizes[s][0], c->n = sizes[s][1], c->batch = sizes[s][2], c->k = sizes[s][3];
            operands(c, scalars[x]);
            launch(c, scalars[x]);
            compare(c, scalars[x]);
            for (int t = 0; t < 4; t++) guarded_free(&c->mem[t]);
        }
}

static void *compile(const Target *t, const char *dir)
{
    char path[512], so[512], march[64];
    Buf text;
    Arena a;
    arena_init(&a, 0);
    buf_init(&text);
    for (int i = 0; i < N_PROGRAMS; i++)
        assert_ok(
            kernel_emit_hand(program_text(&a, programs[i]), programs[i], t, str_from(programs[i]), &text));
    snprintf(path, sizeof path, "%s/%s.c", dir, t->name);
    snprintf(so, sizeof so, "%s/%s.so", dir, t->name);
    snprintf(march, sizeof march, "-march=%s", t->name);
    assert_ok(file_write(path, buf_view(&text)));
    buf_fini(&text);
    arena_fini(&a);
    const char *const argv[] = {
        "cc",    "-O1",     "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-unused-function",
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

static void on_the_host(void **state)
{
    (void)state;
    for (int level = 2; level <= 4; level++) {
        char name[80], *dir = test_dir();
        snprintf(name, sizeof name, "x86-64-v%d", level);
        void *lib = compile(target_find(str_from(name)), dir);
        for (int i = 0; lib && i < N_PROGRAMS; i++) {
            Arena a;
            Program p;
            Case c = {.name = programs[i]};
            arena_init(&a, 0);
            assert_ok(program_parse(&p, program_text(&a, programs[i]), programs[i], &a));
            c.pt = p.hand->type, c.tile_m = p.hand->tile_m, c.tile_n = p.hand->tile_n;
            *(void **)(void *)&c.run = dlsym(lib, programs[i]);
            snprintf(name, sizeof name, "%s_local_bytes", programs[i]);
            c.local_bytes = *(const uint64_t *)dlsym(lib, name);
            run_program(&c);
            arena_fini(&a);
        }
        if (lib) dlclose(lib);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(interpreted), cmocka_unit_test(held),
        cmocka_unit_test(pipelined),  cmocka_unit_test(on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
