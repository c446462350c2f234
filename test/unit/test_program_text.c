/* Programs as text: what is malformed is told in one line with its number; what is right gives a kernel. */
#include "test/support.h"

#include "kernel/kernel.h"
#include "kernel/parse.h"

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
    {"@tile %a : Q global S[m 8, k 8]\n", "p:3: 'Q' is no operand: A, B, C, D or P for sums"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(malformed), cmocka_unit_test(deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
