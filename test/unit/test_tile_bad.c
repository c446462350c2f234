/* Programs over tiles that are malformed: a change of a right one each, told in one line with file, line and
 * numbers. */
#include "test/support.h"

#include "base/fs.h"
#include "kernel/kernel.h"
#include "kernel/parse.h"
#include "kernel/tile/interpret.h"

/* Lines 1 to 24. */
static const char right[] =
    "program any\n"
    "title t\n"
    "problem DataType s TransposeA False TransposeB False UseBeta False Batched True\n"
    "grid tile_m 32 tile_n 32\n"
    "param %M %N %K %lda %ldb %ldd %wg0 %wg1\n"
    "tile %a : A global S[k 16, m 32]\n"
    "tile %b : B global S[n 32, k 16]\n"
    "tile %d : D global S[n 32, m 32]\n"
    "tile %la : A local S[k 16, m 32]\n"
    "tile %lb : B local S[n 32, k 16]\n"
    "tile %acc : P register S[n 32, m 32] wg_map<[2, 1] of [16, 32]> sg_map<[8, 8] of [1, 2]>\n"
    "init_tile %a[0, %wg0 * 32] shape [%K, %M] strides [%lda, 1]\n"
    "init_tile %b[%wg1 * 32, 0] shape [%N, %K] strides [%ldb, 1]\n"
    "init_tile %d[%wg1 * 32, %wg0 * 32] shape [%N, %M] strides [%ldd, 1]\n"
    "fill_tile %acc by 0\n"
    "loop %k from 0 to %K step 16 {\n"
    "  load_tile %la <- %a\n"
    "  load_tile %lb <- %b\n"
    "  tile_mma %acc <- %lb, %la, %acc\n"
    "  update_tile_offset %a k + 16\n"
    "  update_tile_offset %b k + 16\n"
    "}\n"
    "scale_tile %acc by alpha\n"
    "store_tile %d <- %acc\n";

/* find is replaced by put; arch NULL: any. */
static const struct {
    const char *find, *put, *arch, *message;
} rows[] = {
    {"program any", "program gfx000", NULL, "p:1: unknown architecture 'gfx000'"},
    {"program any\n", "program sm_90\n", "gfx90a", "p: a program for sm_90, not for gfx90a"},
    {"problem DataType s", "problem DataType q", NULL, "p:3: "},
    {"problem DataType s", "problem Colour s", NULL, "p:3: "},
    {"problem DataType s", "problem UseBias 1 DataType s", NULL,
     "p: programs written by hand have no bias, activation and scale factors"},
    {"Batched True\n", "Batched\n", NULL, "p:3: 'Batched' has no value"},
    {"grid tile_m 32", "grid tile_m 0", NULL, "p:4: '0' where a number from 1 to 4096 is expected"},
    {"grid tile_m 32 tile_n 32\n", "\n", NULL,
     "p: no 'grid tile_m N tile_n N', the tile of D of a work-group"},
    {"param %M", "param %Q", NULL, "p:5: '%Q' is no argument: %M %N %K %lda %ldb %ldc %ldd %wg0 %wg1 %wg2"},
    {"param %M", "param %M %M", NULL, "p:5: there is a number '%M' already"},
    {"tile %la :", "tile %l+a :", NULL, "p:9: '%l+a' is no name of a tile: letters, digits and '_'"},
    {"k 16, m 32]\ntile %lb", "k 16, m 5000]\ntile %lb", NULL, "p:9: tile %la: a side of 5000, at most 4096"},
    {"k 16, m 32]\ntile %lb", "k 4096, m 4096]\ntile %lb", NULL,
     "p:9: tile %la: 4096 x 4096 elements, at most 1048576"},
    {"tile %la : A local S", "tile %la : A local D", NULL,
     "p:9: tile %la: a tile in local memory has type 'D', expected 'S' of A and B"},
    {"tile %d : D global S", "tile %d : D global H", NULL,
     "p:8: tile %d: a tile of D in memory has type 'H', expected 'S' of A, B, C or D"},
    {"tile %acc : P register S", "tile %acc : P register H", NULL,
     "p:11: tile %acc: a tile in registers has type 'H', expected 'S' of sums or 'S' of D"},
    {" wg_map<[2, 1] of [16, 32]> sg_map<[8, 8] of [1, 2]>", "", NULL,
     "p:11: tile %acc: a tile in registers needs a wg_map"},
    {"[16, 32]> sg_map", "[12, 32]> sg_map", NULL,
     "p:11: tile %acc: wg_map: 32 rows are no multiple of the 12 of its data"},
    {"wg_map<[2, 1] of [16, 32]>", "wg_map<[3, 1] of [16, 32]>", NULL,
     "p:11: tile %acc: wg_map: of 32 rows and layout * data = 3 * 16 = 48, neither is a multiple of the "
     "other"},
    {"sg_map<[8, 8] of [1, 2]>", "sg_map<[8, 8] of [1, 3]>", NULL,
     "p:11: tile %acc: sg_map: a subtile of 32 columns is no multiple of wi_layout * wi_data = 8 * 3 = 24"},
    {"sg_map<[8, 8] of [1, 2]>", "sg_map<[8, 8] of [1, 8]>", NULL,
     "p:11: tile %acc: sg_map: a subtile of 32 columns is no multiple of wi_layout * wi_data = 8 * 8 = 64"},
    {"local S[n 32, k 16]", "local S[n 32, k 16] wg_map<[4, 1] of [8, 16]>", NULL,
     "p:11: tile %acc: wg_map has 2 subgroups, another has 4"},
    {"wg_map<[2, 1] of [16, 32]>", "wg_map<[64, 32] of [16, 32]>", NULL,
     "p:11: tile %acc: a layout of 2048, at most 1024"},
    {"strides [%lda, 1]", "strides [1, %lda]", NULL,
     "p:12: strides[1] of %a is '%lda', expected 1: rows are contiguous"},
    {"%wg0 * 32] shape [%K", "%wg0 * 32 shape [%K", NULL, "p:12: 'shape' where ']' is expected"},
    {"[0, %wg0 * 32] shape [%K", "[0, %wg0 / 0] shape [%K", NULL,
     "p:12: '/' needs a number from 0 up and one from 1 up; here from 0 and from 0"},
    {"[0, %wg0 * 32] shape [%K", "[0, %M * %N * %K] shape [%K", NULL,
     "p:12: an expression can leave the range of 50 bits"},
    {"[0, %wg0 * 32] shape [%K", "[%k, 0] shape [%K", NULL,
     "p:12: there is no number '%k': param, let or a loop around names one"},
    {"fill_tile %acc by 0\n", "\n", NULL, "p:19: %acc may be read before it is written"},
    {"init_tile %b[%wg1 * 32, 0] shape [%N, %K] strides [%ldb, 1]\n", "\n", NULL,
     "p:18: %b may be read before it is initialised (init_tile)"},
    {"fill_tile %acc by 0", "fill_tile %acc by many", NULL, "p:15: 'many' where a finite number is expected"},
    {"step 16 {", "step 0 {", NULL, "p:16: '0' where a number from 1 to 2147483647 is expected"},
    {"step 16 {", "step 16", NULL, "p:16: '' where '{' is expected"},
    {"}\n", "\n", NULL, "p:25: a loop is not closed"},
    {"load_tile %la <- %a\n", "load_tile %la <- %b\n", NULL, "p:17: %b is [n 32, k 16], %la is [k 16, m 32]"},
    {"load_tile %la <- %a\n", "load_tile %la <- %a {transpose = [1, 0]}\n", NULL,
     "p:17: %a is [m 32, k 16] transposed, %la is [k 16, m 32]"},
    {"load_tile %la <- %a\n", "load_tile %la <- %a {transpose = [1, 1]}\n", NULL,
     "p:17: transpose is [1, 1], expected [1, 0] or [0, 1]"},
    {"load_tile %la <- %a\n", "load_tile %la <- %a {padding = inf}\n", NULL,
     "p:17: 'inf' where a finite number is expected"},
    {"load_tile %la <- %a\n", "load_tile %la <- %a {cached = 1}\n", NULL,
     "p:17: 'load_tile' has no attribute 'cached'"},
    {"load_tile %la <- %a\n", "load_tile %a <- %a\n", NULL, "p:17: load_tile to %a in global memory"},
    {"<- %lb, %la, %acc", "<- %la, %lb, %acc", NULL,
     "p:19: [n 32, m 32] <- [k 16, m 32], [n 32, k 16] is no product"},
    {"<- %lb, %la, %acc", "<- %lb, %la, %la", NULL,
     "p:19: tile_mma adds %la, expected the tile that it writes, %acc"},
    {"<- %lb, %la, %acc", "<- %b, %la, %acc", NULL, "p:19: %b is in global memory, expected local"},
    {"<- %lb, %la, %acc\n", "<- %lb, %la, %acc {mma = [7, 7, 7]}\n", "gfx90a",
     "p:19: gfx90a has no matrix instruction of 7 x 7 x 7 for type 'S'"},
    {"<- %lb, %la, %acc\n", "<- %lb, %la, %acc {mma = [32, 32, 2]}\n", "gfx906",
     "p:19: gfx906 has no matrix instruction of 32 x 32 x 2 for type 'S'"},
    {"%a k + 16", "%a n + 16", NULL, "p:20: 'n' is no side of %a: k, m"},
    {"scale_tile %acc by alpha", "scale_tile %acc by beta", NULL,
     "p:23: beta, and the problem has UseBeta 0"},
    {"store_tile %d <- %acc\n", "store_tile %d <- %acc {padding = 1}\n", NULL,
     "p:24: 'store_tile' has no attribute 'padding'"},
    {"store_tile %d <- %acc\n", "store_tile %a <- %acc\n", NULL, "p:24: store_tile to %a of A, expected D"},
    {"store_tile %d <- %acc\n", "\n", NULL, "p: no store_tile: the program writes nothing to D"},
    {"scale_tile %acc by alpha", "wait pending 0", NULL, "p:23: 'wait' is for generated programs"},
    {"k 16, m 32]\ntile %lb : B local S[n 32, k 16]", "k 512, m 32]\ntile %lb : B local S[n 32, k 16]", NULL,
     "p:17: %a is [k 16, m 32], %la is [k 512, m 32]"},
};

static Str changed_in(Arena *a, const char *program, const char *find, const char *put)
{
    Str text = str_from(program);
    const char *at = strstr(program, find);
    if (!at) fail_msg("'%s' is not in the program", find);
    size_t n = (size_t)(at - program);
    return arena_printf(a, "%.*s%s%s", (int)n, text.s, put, at + strlen(find));
}

static Str changed(Arena *a, const char *find, const char *put) { return changed_in(a, right, find, put); }

static void malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena a;
        Program p;
        TilePlan plan;
        arena_init(&a, 0);
        const Target *t = rows[i].arch ? target_find(str_from(rows[i].arch)) : NULL;
        Err e = program_parse(&p, changed(&a, rows[i].find, rows[i].put), "p", &a);
        if (!e) e = tile_plan(&p, t, "p", &plan);
        if (e != ERR_INPUT) fail_msg("'%s' is accepted", rows[i].put);
        if (strchr(err_message(), '\n')) fail_msg("'%s': more than one line", err_message());
        if (strncmp(err_message(), rows[i].message, strlen(rows[i].message)))
            fail_msg("'%s': '%s', expected '%s'", rows[i].put, err_message(), rows[i].message);
        arena_fini(&a);
    }
}

static Err planned(Str text, const char *arch, Arena *a, Program *p, TilePlan *plan)
{
    TRY(program_parse(p, text, "p", a));
    return tile_plan(p, arch ? target_find(str_from(arch)) : NULL, "p", plan);
}

/* Changes of matrix_16x8x16.tile: find NULL: none. */
static const struct {
    const char *find, *put, *arch, *message;
} matrix_rows[] = {
    {NULL, NULL, "gfx90a", "p:29: gfx90a has no matrix instruction of 16 x 8 x 16 for type 'H'"},
    {"mma = [16, 8, 16]", "mma = [64, 64, 16]", "sm_90a",
     "p:29: wgmma 64 x 64 x 16 is not written for programs by hand: it takes operands by descriptors"},
    {"%acc : P register S[n 128, m 128] wg_map<[4, 2] of [32, 64]>",
     "%acc : P register S[n 128, m 128] wg_map<[4, 2] of [8, 64]>", "sm_90",
     "p:29: a subtile of %acc has 8 rows, no multiple of the 16 of the matrix instruction 16 x 8 x 16"},
    {"%acc : P register S[n 128, m 128] wg_map<[4, 2] of [32, 64]>",
     "%acc : P register S[n 128, m 128] wg_map<[4, 2] of [32, 4]>", "sm_90",
     "p:29: a subtile of %acc has 4 columns, no multiple of the 8 of the matrix instruction 16 x 8 x 16"},
    {"mma = [16, 8, 16]", "mma = [16, 8, 24]", NULL,
     "p:29: %lb has 32 of K, no multiple of the 24 of the matrix instruction 16 x 8 x 24"},
    {"mma = [16, 8, 16]", "mma = [16, 8, 24]", "x86-64-v3",
     "p:29: %lb has 32 of K, no multiple of the 24 of the matrix instruction 16 x 8 x 24"},
    {"%old : P register S[n 128, m 128] wg_map<[4, 2] of [32, 64]>",
     "%old : P register S[n 128, m 128] wg_map<[4, 2] of [32, 64]> sg_map<[8, 4] of [1, 1]>", "sm_90",
     "p:39: %old has an sg_map, and the matrix instruction 16 x 8 x 16 places its elements"},
    {"%la : A local H[k 32, m 128] buffers 4 wg_map<[1, 8] of [32, 16]>",
     "%la : A local H[k 32, m 128] wg_map<[1, 8] of [32, 16]> sg_map<[4, 16] of [8, 1]>", "sm_90",
     "p:29: the matrix instruction 16 x 8 x 16 has 32 lanes, the maps give a subgroup 64"},
    {"H[k 32, m 128] buffers 4", "H[k 32, m 128] buffers 9", NULL,
     "p:13: tile %la: buffers 9, at most 8 of a tile in local memory"},
    {"%acc : P register S[n 128, m 128]", "%acc : P register S[n 128, m 128] buffers 2", NULL,
     "p:15: tile %acc: buffers 2, at most 1 of a tile in register memory"},
    {"  update_tile_offset %a", "  tile_mma %old <- %lb, %la {mma = [16, 8, 8]}\n  update_tile_offset %a",
     "sm_90", "p:30: sm_90 has no matrix instruction of 16 x 8 x 8 for type 'H'"},
};

static void matrix(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof matrix_rows / sizeof *matrix_rows; i++) {
        Arena a;
        Program p;
        TilePlan plan;
        Str text;
        const char *arch = matrix_rows[i].arch, *find = matrix_rows[i].find;
        arena_init(&a, 0);
        assert_ok(file_read(&a, "configs/tile/matrix_16x8x16.tile", PARSE_MAX_BYTES, &text));
        text = arena_dup(&a, text); /* ends with NUL */
        if (find) text = changed_in(&a, text.s, find, matrix_rows[i].put);
        Err e = program_parse(&p, text, "p", &a);
        if (!e) e = tile_plan(&p, arch ? target_find(str_from(arch)) : NULL, "p", &plan);
        if (e != ERR_INPUT) fail_msg("%s is accepted", matrix_rows[i].message);
        assert_string_equal(err_message(), matrix_rows[i].message);
        arena_fini(&a);
    }
}

/* Local memory and registers against the target. */
static void too_large(void **state)
{
    (void)state;
    Arena a;
    Program p;
    TilePlan plan;
    arena_init(&a, 0);
    Str text = str_from("program any\ntitle t\nproblem DataType s\ngrid tile_m 256 tile_n 256\n"
                        "tile %la : A local S[k 128, m 256]\n"
                        "tile %acc : P register S[n 256, m 256] wg_map<[2, 1] of [128, 256]>\n"
                        "tile %d : D global S[n 256, m 256]\n"
                        "init_tile %d[0, 0] shape [1, 1] strides [1, 1]\nfill_tile %acc by 1\n"
                        "store_tile %d <- %acc\n");
    assert_int_equal(planned(text, "gfx90a", &a, &p, &plan), ERR_INPUT);
    assert_string_equal(err_message(), "p: the local tiles need 131072 bytes, gfx90a has 65536");
    assert_int_equal(planned(text, "sm_90", &a, &p, &plan), ERR_INPUT);
    assert_string_equal(err_message(),
                        "p:6: tile %acc: with it a work-item needs 1024 registers for tiles, sm_90 has 255");
    assert_ok(planned(text, "x86-64-v3", &a, &p, &plan));
    arena_fini(&a);
}

/* What only a run shows. */
static void out_of_bounds(void **state)
{
    (void)state;
    Arena a;
    Program p;
    TilePlan plan;
    InterpretResult r;
    InterpretRun run = {.m = 40, .n = 40, .k = 20, .alpha = 1};
    arena_init(&a, 0);
    assert_ok(planned(str_from(right), NULL, &a, &p, &plan));
    assert_ok(tile_interpret(&p, &plan, "p", &run, &r));
    assert_int_equal(r.wrong, 0);
    assert_ok(planned(changed(&a, "shape [%K, %M]", "shape [%K + 1, %M]"), NULL, &a, &p, &plan));
    assert_int_equal(tile_interpret(&p, &plan, "p", &run, &r), ERR_INPUT);
    assert_string_equal(err_message(), "p:17: %a: row 20, column 0 is element 860 of A, which has 857");
    assert_ok(planned(changed(&a, "by alpha", "by 2"), NULL, &a, &p, &plan));
    assert_ok(tile_interpret(&p, &plan, "p", &run, &r));
    assert_true(r.wrong > 0);
    assert_ok(planned(changed(&a, "step 16", "step 1"), NULL, &a, &p, &plan));
    run.steps = 1000;
    assert_int_equal(tile_interpret(&p, &plan, "p", &run, &r), ERR_INPUT);
    assert_non_null(strstr(err_message(), "takes too many operations"));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(malformed), cmocka_unit_test(matrix),
                                       cmocka_unit_test(too_large), cmocka_unit_test(out_of_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
