/* Programs as text: a malformed one gives an error of one line with its number; a right one gives a kernel.
 */
#include "test/support.h"

#include "base/hash.h"
#include "kernel/kernel.h"
#include "kernel/parse.h"
#include "space/derive.h"

static const char head[] = "program gfx906\ntitle t\n";

typedef struct {
    const char *text, *message;
} Row;

static const Row rows[] = {
    {"", "p: no 'program ARCHITECTURE'"},
    {"loop k step 1 at group {\n", "p:1: 'loop' before 'program ARCHITECTURE'"},
    {"program gfx000\n", "p:1: unknown architecture 'gfx000'"},
    {"program gfx906\nprogram gfx906\n", "p:2: a second program in one file"},
    {"program gfx906 x\n", "p:1: unexpected 'x'"},
    {"@tile %a : A global S[m 8, k 8]\ntile %a : A global S[m 8, k 8]\n",
     "p:4: there is a tile '%a' already"},
    {"@tile a : A global S[m 8, k 8]\n", "p:3: unknown word 'tile'"},
    {"@tile %a A global S[m 8, k 8]\n", "p:3: 'A' where ':' is expected"},
    {"@tile %a : Q global S[m 8, k 8]\n", "p:3: 'Q' is no operand: A, B, C, D, P for sums or E for vectors"},
    {"@tile %a : A shared S[m 8, k 8]\n", "p:3: 'shared' is no memory: global, local, register"},
    {"@tile %a : A global Q[m 8, k 8]\n", "p:3: 'Q' is no data type"},
    {"@tile %a : A global S[x 8, k 8]\n", "p:3: 'x' is no dimension: m, n, k"},
    {"@tile %a : A global S[m 0, k 8]\n", "p:3: '0' where a number from 1 up is expected"},
    {"@tile %a : A global S[m 99999999999, k 8]\n",
     "p:3: '99999999999' where a number from 1 up is expected"},
    {"@tile %a : A global S[m 8, k 8] wg_map<[1, 2] [3, 4]>\n", "p:3: '3' where 'of' is expected"},
    {"@tile %a : A global S[m 8, k 8] view rows\n", "p:3: no operand of a GEMM has the view 'rows'"},
    {"@init_tile %b\n", "p:3: there is no tile '%b'"},
    {"@init_tile b\n", "p:3: unexpected 'b'"},
    {"@loop q step 1 at group {\n}\n", "p:3: 'q' is no dimension: m, n, k"},
    {"@loop k step 0 at group {\n}\n", "p:3: '0' where a number from 1 up is expected"},
    {"@loop k step 1 at wave {\n}\n", "p:3: 'wave' is no level: group, block, subgroup, lane"},
    {"@loop k step 1 at group\n", "p:3: '' where '{' is expected"},
    {"@loop k step 1 at group {\n", "p:4: a loop is not closed"},
    {"@}\n", "p:3: '}' without a loop"},
    {"@loop k step 1 at group phase end {\n}\n", "p:3: 'end' is no phase: all, main, drain, rest"},
    {"@barrier by everyone\n", "p:3: 'everyone' is no role: all, producer, consumer"},
    {"@wait pending -1\n", "p:3: '-1' where a number from 0 up is expected"},
    {"@dance\n", "p:3: unknown word 'dance'"},
    {"@walk depth\n", "p:3: 'depth' has no value"},
    {"@walk width 3\n", "p:3: 'walk' has no 'width'"},
    {"@walk depth 3.5\n", "p:3: walk depth is '3.5', expected a number of 32 bits from 1 up"},
    {"@walk depth 0\n", "p:3: walk depth is '0', expected a number of 32 bits from 1 up"},
    {"@walk stagger_shift -1\n", "p:3: walk stagger_shift is '-1', expected a number of 32 bits from 0 up"},
    {"@walk mapping 1.5\n", "p:3: walk mapping is '1.5', expected a number of 32 bits"},
    {"@", "p: the program has no 'depth' in its clause 'walk'"},
    {"@walk depth 8 split 1\n", "p: the program has no 'ab' in its clause 'types'"},
    {"@walk persistent 2\n", "p:3: walk persistent is '2', expected 0 or 1"},
    {"@walk depth 8 split 1 stream_k 4\n", "p: walk stream_k 4, at most 3"},
    {"@walk depth 8 split 1 stream_k 1\n", "p: walk stream_k 1 needs persistent 1 and split 1, not 0 and 1"},
    {"@types ab Q\n", "p:3: types ab is no data type: 'Q'"},
};

static void malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena a;
        Program p;
        Buf text;
        arena_init(&a, 0);
        buf_init(&text);
        bool whole = rows[i].text[0] == '@';
        buf_printf(&text, "%s%s", whole ? head : "", rows[i].text + whole);
        err_clear();
        assert_int_equal(program_parse(&p, buf_view(&text), "p", &a), ERR_INPUT);
        if (strncmp(err_message(), rows[i].message, strlen(rows[i].message)))
            fail_msg("row %zu: '%s', expected '%s'", i, err_message(), rows[i].message);
        assert_null(strchr(err_message(), '\n'));
        buf_fini(&text);
        arena_fini(&a);
    }
}

static void deep(void **state)
{
    (void)state;
    Arena a;
    Program p;
    Buf text;
    arena_init(&a, 0);
    buf_init(&text);
    buf_puts(&text, head);
    for (int i = 0; i < 100; i++) buf_puts(&text, "loop k step 1 at group {\n");
    assert_int_equal(program_parse(&p, buf_view(&text), "p", &a), ERR_INPUT);
    assert_non_null(strstr(err_message(), "nested deeper than"));
    buf_fini(&text);
    arena_fini(&a);
}

/* Program of a host kernel of single precision with these transposes. */
static void host_program(bool ta, bool tb, bool packs, Buf *out)
{
    ProblemType pt;
    Solution s;
    Deriver d;
    Verdict v;
    const Target *t = target_find(STR("x86-64-v3"));
    assert_int_equal(problem_type_gemm(&pt, ta, tb, TYPE_S, TYPE_S, TYPE_S), 0);
    solution_init(&s, &pt);
    s.ThreadTile = intlist2(16, 6);
    s.WorkGroup = intlist3(4, 4, 1);
    s.DepthU = 64;
    s.HostPackA = s.HostPackB = packs;
    assert_int_equal(deriver_init(&d, &pt, t, NULL), 0);
    assert_true(solution_derive(&d, &s, &v));
    assert_int_equal(kernel_dump(&s, t, STR_NULL, out), 0);
}

/* Line of a text that begins so. */
static Str line_of(Str text, const char *begins)
{
    Str line;
    while (str_split(&text, '\n', &line))
        if (str_starts(line, begins)) return line;
    return STR_NULL;
}

/* program with another line in place of the one that begins so. */
static void with_line(Str program, Str instead, const char *begins, Buf *out)
{
    Str line;
    while (str_split(&program, '\n', &line)) {
        buf_str(out, str_starts(str_trim(line), begins) ? instead : line);
        buf_putc(out, '\n');
    }
}

/* The hash of the kernel of a program, without its title. */
static void kernel_of(Str program, Buf *out)
{
    Buf text;
    buf_init(&text);
    if (kernel_emit_text(program, "p", STR("k"), &text)) fail_msg("%s", err_message());
    Str content = kernel_content(buf_view(&text));
    assert_int_equal(content.n, CONTENT_HEX);
    buf_str(out, content);
    buf_fini(&text);
}

/* Host kernels take addresses from the views: with the other operand's view a program is the other kernel. */
static void views_decide(void **state)
{
    (void)state;
    static const char *const views[] = {"tile %a ", "tile %b "};
    for (int i = 0; i < 4; i++) {
        Buf b[5];
        for (int j = 0; j < 5; j++) buf_init(&b[j]);
        const bool of_b = i & 1, packs = i < 2 || !of_b;
        host_program(false, false, packs, &b[0]);
        host_program(!of_b, of_b, packs, &b[1]);
        with_line(buf_view(&b[0]), line_of(buf_view(&b[1]), views[of_b]), views[of_b], &b[2]);
        kernel_of(buf_view(&b[1]), &b[3]);
        kernel_of(buf_view(&b[2]), &b[4]);
        assert_true(str_eq(buf_view(&b[3]), buf_view(&b[4])));
        b[3].n = 0;
        kernel_of(buf_view(&b[0]), &b[3]);
        assert_false(str_eq(buf_view(&b[3]), buf_view(&b[4])));
        for (int j = 0; j < 5; j++) buf_fini(&b[j]);
    }
}

/* Views and numbers that a host kernel cannot have. */
static void host_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *line, *instead, *why;
    } cases[] = {
        {"tile %a ", "tile %a : A global S[m 64, k 64]", "the view of A is none"},
        {"tile %d ",
         "tile %d : D global S[m 64, n 24] view m:size_m*stride_d1 n:size_n*1 | passthrough m -> m "
         "| passthrough n -> n",
         "the view of D runs along N"},
        {"tile vector", "tile vector 8 vectors 200000 rows 16 columns 200000 sums 1 unroll 1",
         "200000x200000 vectors"},
        {"tile vector", "tile vector 8 vectors 2 rows 2000000000 columns 6 sums 1 unroll 1",
         "2000000000 rows are not 2 vectors of 8 elements"},
        {"tile vector", "tile vector 12 vectors 2 rows 24 columns 6 sums 1 unroll 1",
         "vectors of 12 elements of 4 bytes are none of x86-64-v3"},
        {"loop k step 1 at lane", "loop k step 1 at lane unroll 1000000 {", "over 64 steps"},
        {"scale_tile", "scale_tile %acc by beta",
         ": this op of the epilogue, expected 'scale_tile %acc by alpha'"},
        {"scale_tile", "", "this epilogue is none of a host kernel"},
        {"add_tile", "add_tile %acc <- %acc, %reg_c by gamma", "'gamma' is no scalar: alpha, beta"},
        {"convert_tile", "", "expected 'convert_tile %reg_d <- %acc'"},
        {"store_tile", "", "end of the epilogue, expected 'store_tile %d <- %reg_d'"},
        {"store_tile", "atomic_add_tile %d <- %acc", "expected 'atomic_add_tile %d <- %acc'"},
        {"tile %reg_c ", "", "there is no tile '%reg_c'"},
        {"walk", "walk depth 64 split 1 persistent 1 batch_in_id 1 stream_k 1 mapping 8",
         "walk stream_k 1, but the epilogue stores one part"},
        {"tile %d ",
         "tile %d : D global H[m 64, n 24] view m:size_m*1 n:size_n*stride_d1 | passthrough m -> m "
         "| passthrough n -> n",
         "the place of the sums does not go with the types S and H"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf b[2], out;
        for (int j = 0; j < 2; j++) buf_init(&b[j]);
        buf_init(&out);
        host_program(false, false, true, &b[0]);
        with_line(buf_view(&b[0]), str_from(cases[i].instead), cases[i].line, &b[1]);
        assert_int_equal(kernel_emit_text(buf_view(&b[1]), "p", STR("k"), &out), ERR_INPUT);
        if (!strstr(err_message(), cases[i].why))
            fail_msg("'%s' does not say '%s'", err_message(), cases[i].why);
        for (int j = 0; j < 2; j++) buf_fini(&b[j]);
        buf_fini(&out);
    }
}

/* An epilogue that does not go with the rest of a GPU kernel's program. */
static void gpu_epilogue_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *instead, *why;
    } cases[] = {
        {"reduce_tile", "", "the epilogue adds up no parts across 'group', but across ''"},
        {"reduce_tile", "reduce_tile %acc across cluster", "no parts across 'group', but across 'cluster'"},
        {"reduce_tile", "reduce_tile %acc across moon", "'moon' is no place of parts: group, cluster, grid"},
        {"store_tile %d", "store_tile %d <- %reg_d parts", "guard of edges 0, expected 3"},
        {"walk", "walk depth 16 split 3 split_chunks_round_robin 1 mapping 8 staggers 1 stagger_shift 2",
         "walk split 3, but the epilogue stores one part"},
        {"scale_tile", "carry_tile %c <- %d", "this op of the epilogue, expected 'load_tile %reg_c <- %c'"},
        {"tile %d ",
         "tile %d : D global I8[m 32, n 32] view m:size_m*1 n:size_n*stride_d1 | passthrough m -> m "
         "| passthrough n -> n",
         "tile %reg_d"},
    };
    ProblemType pt;
    Solution s;
    Deriver d;
    Verdict v;
    Buf program, changed, out;
    const Target *t = target_find(STR("gfx906"));
    assert_int_equal(problem_type_gemm(&pt, false, true, TYPE_S, TYPE_S, TYPE_S), 0);
    solution_init(&s, &pt);
    s.ThreadTile = intlist2(4, 4), s.WorkGroup = intlist3(8, 8, 2), s.DepthU = 16;
    assert_int_equal(deriver_init(&d, &pt, t, NULL), 0);
    assert_true(solution_derive(&d, &s, &v));
    buf_init(&program);
    assert_int_equal(kernel_dump(&s, t, STR_NULL, &program), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_init(&changed);
        buf_init(&out);
        with_line(buf_view(&program), str_from(cases[i].instead), cases[i].line, &changed);
        assert_int_equal(kernel_emit_text(buf_view(&changed), "p", STR("k"), &out), ERR_INPUT);
        if (!strstr(err_message(), cases[i].why))
            fail_msg("'%s' does not say '%s'", err_message(), cases[i].why);
        buf_fini(&changed);
        buf_fini(&out);
    }
    buf_fini(&program);
}

/* Fused operations that a kernel cannot have, or would not do. */
static void fused_refused(void **state)
{
    (void)state;
    static const struct {
        const char *target, *line, *instead, *why;
    } cases[] = {
        {"gfx906", "tile %bias", "tile %bias : E global H[m 64, k 1]",
         "p: tile %bias has type H, expected S or S"},
        {"gfx906", "walk", "walk depth 16 split 3 mapping 8",
         "p: walk split 3, stream_k 0: fused operations need whole sums"},
        {"x86-64-v3", "walk", "walk depth 16 split 3 mapping 8",
         "p: walk split 3, stream_k 0: fused operations need whole sums"},
        {"sm_80", "walk", "walk depth 16 split 3 mapping 8",
         "p: walk split 3, stream_k 0: fused operations need whole sums"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Target *t = target_find(str_from(cases[i].target));
        ProblemType pt;
        Solution s;
        Deriver d;
        Verdict v;
        Buf b[3];
        for (int j = 0; j < 3; j++) buf_init(&b[j]);
        assert_int_equal(problem_type_gemm(&pt, false, true, TYPE_S, TYPE_S, TYPE_S), 0);
        pt.UseBias = 1;
        assert_int_equal(problem_type_derive(&pt), 0);
        solution_init(&s, &pt);
        s.ThreadTile = t->family == TARGET_HOST ? intlist2(16, 6) : intlist2(4, 4);
        s.WorkGroup = t->family == TARGET_HOST ? intlist3(4, 4, 1) : intlist3(16, 16, 1);
        s.DepthU = 16;
        assert_int_equal(deriver_init(&d, &pt, t, NULL), 0);
        assert_true(solution_derive(&d, &s, &v));
        assert_int_equal(kernel_dump(&s, t, STR_NULL, &b[0]), 0);
        with_line(buf_view(&b[0]), str_from(cases[i].instead), cases[i].line, &b[1]);
        assert_int_equal(kernel_emit_text(buf_view(&b[1]), "p", STR("k"), &b[2]), ERR_INPUT);
        if (!strstr(err_message(), cases[i].why))
            fail_msg("'%s' does not say '%s'", err_message(), cases[i].why);
        for (int j = 0; j < 3; j++) buf_fini(&b[j]);
    }
}

/* A kernel that is named after its text has the text that it has under that name. */
static void unnamed(void **state)
{
    (void)state;
    static const char *const targets[] = {"x86-64-v3", "gfx90a", "sm_90"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const Target *t = target_find(str_from(targets[i]));
        ProblemType pt;
        Solution s;
        Deriver d;
        Verdict v;
        Buf b[3];
        char symbol[KERNEL_SYMBOL_BYTES], hash[CONTENT_HEX + 1];
        for (int j = 0; j < 3; j++) buf_init(&b[j]);
        assert_int_equal(problem_type_gemm(&pt, false, true, TYPE_S, TYPE_S, TYPE_S), 0);
        solution_init(&s, &pt);
        s.ThreadTile = i ? intlist2(4, 4) : intlist2(16, 6);
        s.WorkGroup = i ? intlist3(16, 16, 1) : intlist3(4, 4, 1);
        s.DepthU = 16;
        assert_int_equal(deriver_init(&d, &pt, t, NULL), 0);
        assert_true(solution_derive(&d, &s, &v));
        assert_int_equal(kernel_emit_unnamed(&s, t, &b[0], symbol), 0);
        assert_int_equal(kernel_emit(&s, t, str_from(symbol), &b[1]), 0);
        assert_int_equal(kernel_emit(&s, t, STR("kernel"), &b[2]), 0);
        assert_true(str_eq(buf_view(&b[0]), buf_view(&b[1])));
        content_hex(buf_view(&b[2]), hash);
        assert_memory_equal(symbol, "kernel_", 7);
        assert_memory_equal(symbol + 7, hash, sizeof hash);
        assert_null(memchr(b[0].s, 1, b[0].n));
        for (int j = 0; j < 3; j++) buf_fini(&b[j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(malformed),    cmocka_unit_test(deep),
                                       cmocka_unit_test(views_decide), cmocka_unit_test(host_refuses),
                                       cmocka_unit_test(unnamed),      cmocka_unit_test(gpu_epilogue_refused),
                                       cmocka_unit_test(fused_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
