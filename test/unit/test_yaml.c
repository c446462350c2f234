/* Unit tests of the YAML reader and of node access. */
#include "test/support.h"

#include <math.h>
#include <unistd.h>

#include "fmt/node.h"

static Arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

static Node *parse(const char *text)
{
    Node *n = NULL;
    assert_ok(yaml_parse(&arena, "t.yaml", str_from(text), NULL, &n));
    return n;
}

static void refuse(Str text, const NodeLimits *limits, const char *message)
{
    Node *n = NULL;
    Err e = yaml_parse(&arena, "t.yaml", text, limits, &n);
    if (e != ERR_INPUT || !strstr(err_message(), message))
        fail_msg("error %d: '%s', expected '%s'", e, err_message(), message);
}

static void test_scalars(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        NodeKind kind;
        double value;
    } rows[] = {{"true", NODE_BOOL, 1},
                {"Yes", NODE_BOOL, 1},
                {"OFF", NODE_BOOL, 0},
                {"tRue", NODE_STR, 0},
                {"y", NODE_STR, 0},
                {"~", NODE_NULL, 0},
                {"NULL", NODE_NULL, 0},
                {"nUll", NODE_STR, 0},
                {"0", NODE_INT, 0},
                {"-12", NODE_INT, -12},
                {"+1_000", NODE_INT, 1000},
                {"0x1F", NODE_INT, 31},
                {"010", NODE_INT, 8},
                {"09", NODE_STR, 0},
                {"0b101", NODE_INT, 5},
                {"1:30", NODE_INT, 90},
                {"1:60", NODE_STR, 0},
                {"-1:30", NODE_INT, -90},
                {"1e3", NODE_STR, 0},
                {"1.e+3", NODE_FLOAT, 1e3},
                {"1.5e3", NODE_STR, 0},
                {"1.0", NODE_FLOAT, 1},
                {"-.5", NODE_STR, 0},
                {".5", NODE_FLOAT, 0.5},
                {"1_0.5", NODE_FLOAT, 10.5},
                {".inf", NODE_FLOAT, (double)INFINITY},
                {"-.Inf", NODE_FLOAT, (double)-INFINITY},
                {"1:30.5", NODE_FLOAT, 90.5},
                {"'1'", NODE_STR, 0},
                {"\"true\"", NODE_STR, 0},
                {"0x_", NODE_STR, 0},
                {"9223372036854775807", NODE_INT, 9223372036854775807.0},
                {"-9223372036854775808", NODE_INT, -9223372036854775808.0},
                {"9223372036854775808", NODE_FLOAT, 9223372036854775808.0},
                {"99999999999999999999999", NODE_FLOAT, 99999999999999999999999.0},
                {"!!str 1", NODE_STR, 0},
                {"!!float 1", NODE_FLOAT, 1},
                {"! 1", NODE_STR, 0},
                {"2001-12-14", NODE_STR, 0},
                {"0x1.8p3", NODE_STR, 0},
                {"1.2.3", NODE_STR, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Node *n = parse(rows[i].text);
        double v = n->kind == NODE_BOOL ? n->boolean : n->kind == NODE_INT ? (double)n->integer : 0;
        if (n->kind == NODE_FLOAT) v = n->real;
        if (n->kind != rows[i].kind || v != rows[i].value)
            fail_msg("'%s' is %s %g", rows[i].text, node_kind_name(n->kind), v);
    }
    assert_true(isnan(parse(".NaN")->real));
}

static void test_structure(void **state)
{
    (void)state;
    const Node *n = parse("# comment\nA: [1, two, 'th''ree', \"f\\tour\"]\n"
                          "B:\n  - {x: 1,\n y: }\n  - |\n    text\n    more\n");
    assert_int_equal(n->kind, NODE_MAP);
    assert_int_equal(n->n, 2);
    const Node *a = node_get(n, "A"), *b = node_get(n, "B");
    assert_true(a && a->kind == NODE_SEQ && a->n == 4 && a->line == 2 && a->item[0].integer == 1);
    assert_str(a->item[1].text, "two");
    assert_str(a->item[2].text, "th'ree");
    assert_str(a->item[3].text, "f\tour");
    assert_int_equal(b->line, 4);
    assert_int_equal(node_get(node_at(b, 0), "y")->kind, NODE_NULL);
    assert_int_equal(node_get(node_at(b, 0), "y")->line, 5);
    assert_str(node_at(b, 1)->text, "text\nmore\n");
    assert_null(node_at(b, 2));
    assert_null(node_get(b, "A"));
    assert_null(node_get(n, "C"));
    assert_null(node_get(NULL, "C"));
}

static void test_refused(void **state)
{
    (void)state;
    refuse(STR(""), NULL, "t.yaml:1: the document is empty");
    refuse(STR("a: 1\nb: 2\na: 3\n"), NULL, "t.yaml:3: duplicate key 'a' (first at line 1)");
    refuse(STR("a: 1\n---\nb: 2\n"), NULL, "t.yaml:2: a second document");
    refuse(STR("a: &x [*x]\n"), NULL, "t.yaml:1: alias '*x' stands inside its own anchor");
    refuse(STR("a: *x\n"), NULL, "t.yaml:1: alias '*x' has no anchor");
    refuse(STR("a: &x 1\nb: &x 2\n"), NULL, "t.yaml:2: anchor 'x' is defined twice");
    refuse(STR("a: &x {b: 1}\nc:\n  <<: *x\n"), NULL, "t.yaml:3: merge key '<<'");
    refuse(STR("[1, 2]: 3\n"), NULL, "t.yaml:1: a list as a key");
    refuse(STR("a: !!python/name:os.system x\n"), NULL, "t.yaml:1: tag ");
    refuse(STR("a: !!int x\n"), NULL, "t.yaml:1: tag ");
    refuse(STR("a: [1, 2\nb: 3\n"), NULL, "t.yaml:2: ");
    refuse(STR("a:\n  - 'cut in the mid"), NULL, "t.yaml:2: ");
    refuse(STR("a: 1\nb: \xff\xfe\n"), NULL, "t.yaml:2: not YAML text: ");
    refuse(STR("\x7f"
               "ELF\2\1\1\0\0\0"),
           NULL, "t.yaml:1: not YAML text: ");
    refuse(STR("a: 1"), &(NodeLimits){.max_bytes = 3}, "t.yaml: 4 bytes, more than the limit of 3");
    refuse(STR("[1, 2, 3]"), &(NodeLimits){.max_nodes = 3}, "t.yaml:1: more than 3 nodes");
    refuse(STR("[[\n[1]]]"), &(NodeLimits){.max_depth = 2}, "t.yaml:2: nested deeper than 2 levels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_scalars, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_structure, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_refused, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
