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

static void test_aliases(void **state)
{
    (void)state;
    const Node *n = parse("a: &x [1, &y 2]\nb: *x\nc: {d: *y}\n");
    const Node *a = node_get(n, "a"), *b = node_get(n, "b");
    assert_true(node_equal(a, b) && a->item == b->item && b->line == 2);
    assert_int_equal(node_get(node_get(n, "c"), "d")->integer, 2);

    Buf bomb; /* a billion laughs: counted, not expanded */
    buf_init(&bomb);
    buf_puts(&bomb, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 30; i++) {
        buf_printf(&bomb, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) buf_printf(&bomb, "%s*a%d", k ? "," : "", i - 1);
        buf_puts(&bomb, "]\n");
    }
    refuse(buf_view(&bomb), NULL, "t.yaml:8: more than 50000000 nodes, counting each use");
    assert_true(arena.used_bytes < 100000);
    buf_reset(&bomb); /* depth through aliases */
    buf_puts(&bomb, "a0: &a0 [x]\n");
    for (int i = 1; i < 100; i++) buf_printf(&bomb, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    refuse(buf_view(&bomb), NULL, "nested deeper than 64 levels by alias");
    buf_fini(&bomb);
}

static void test_large(void **state)
{
    (void)state;
    enum { MEGABYTES = 100 };
    size_t n = (size_t)MEGABYTES << 20;
    char *text = malloc(n);
    assert_non_null(text);
    static const char *const units[] = {"[", "- ", "{a: "};
    for (size_t u = 0; u < 3; u++) {
        for (size_t i = 0, k = strlen(units[u]); i < n; i++) text[i] = units[u][i % k];
        uint64_t start = clock_ns();
        refuse((Str){text, n}, NULL, "t.yaml:1: nested deeper than 64 levels");
        assert_true(clock_ns() - start < 1000000000);
        assert_true(arena.used_bytes < 1000000);
    }
    free(text);
    Buf b; /* many keys */
    buf_init(&b);
    for (int i = 0; i < 20000; i++) buf_printf(&b, "key%d: %d\n%d: 1\n", i, i, i);
    assert_int_equal(parse(buf_cstr(&b))->n, 40000);
    buf_puts(&b, "key777: 1\n");
    refuse(buf_view(&b), NULL, "t.yaml:40001: duplicate key 'key777' (first at line 1555)");
    Node *out;
    assert_ok(yaml_parse(&arena, "t.yaml", buf_view(&b), &(NodeLimits){.keep_duplicate_keys = true}, &out));
    assert_int_equal(out->n, 40001);
    buf_fini(&b);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    Str text = STR("a: [1, \"x\\ty\", {b: &x [1, 2]}]\nc: *x\nd: 'it''s'\n");
    for (size_t limit = 1; limit < 5000; limit += 8) {
        Arena small;
        Node *out;
        arena_init(&small, limit);
        Err e = yaml_parse(&small, "t.yaml", text, NULL, &out);
        if (e) assert_non_null(strstr(err_message(), "t.yaml: out of memory"));
        arena_fini(&small);
        if (!e) return;
        assert_int_equal(e, ERR_FAILED);
    }
    fail();
}

static void wrong(Err e, const char *message)
{
    if (e != ERR_INPUT || strcmp(err_message(), message)) fail_msg("error %d: '%s'", e, err_message());
}

static void test_access(void **state)
{
    (void)state;
    int64_t i;
    double d;
    bool b;
    Str s;
    const Node *n = parse("a: 5\nb: true\nc: 1.5\nd: text\ne: [1, 2]\nf: {x: 1}\ng:\nh: 2\n");
    assert_ok(node_int(node_get(n, "a"), "f", "A", 0, 9, &i));
    assert_int_equal(i, 5);
    wrong(node_int(node_get(n, "a"), "f", "A", 6, 9, &i), "f:1: A: expected an integer in 6..9, found 5");
    wrong(node_int(node_get(n, "d"), "f", "D", 0, 9, &i), "f:4: D: expected an integer, found 'text'");
    wrong(node_int(node_get(n, "b"), "f", "B", 0, 9, &i), "f:2: B: expected an integer, found true");
    wrong(node_int(node_get(n, "zz"), "f", "Z", 0, 9, &i), "f: Z: expected an integer, found nothing");
    assert_ok(node_bool(node_get(n, "b"), "f", "B", &b));
    assert_true(b);
    wrong(node_bool(node_get(n, "h"), "f", "H", &b), "f:8: H: expected a boolean, found 2");
    assert_ok(node_real(node_get(n, "c"), "f", "C", &d));
    assert_true(d == 1.5);
    assert_ok(node_real(node_get(n, "a"), "f", "A", &d));
    assert_true(d == 5);
    wrong(node_real(node_get(n, "g"), "f", "G", &d), "f:7: G: expected a number, found null");
    assert_ok(node_str(node_get(n, "c"), "f", "C", &s));
    assert_str(s, "1.5");
    wrong(node_str(node_get(n, "e"), "f", "E", &s), "f:5: E: expected a string, found a list");
    assert_ok(node_seq(node_get(n, "e"), "f", "E", 2, 2));
    wrong(node_seq(node_get(n, "e"), "f", "E", 3, 3), "f:5: E: expected a list of 3 items, found 2");
    wrong(node_seq(node_get(n, "e"), "f", "E", 3, SIZE_MAX),
          "f:5: E: expected a list of at least 3 items, found 2");
    wrong(node_seq(node_get(n, "f"), "f", "F", 3, 3), "f:6: F: expected a list, found a map");
    assert_ok(node_map(node_get(n, "f"), "f", "F"));
    wrong(node_map(node_get(n, "c"), "f", "C"), "f:3: C: expected a map, found 1.5");
}

static void test_equal(void **state)
{
    (void)state;
    assert_true(node_equal(parse("{a: 1, b: [x, ~], c: .nan}"), parse("c: .NaN\nb: ['x', null]\na: 1.0\n")));
    assert_false(node_equal(parse("{a: 1}"), parse("{a: 2}")));
    assert_false(node_equal(parse("{a: 1}"), parse("{b: 1}")));
    assert_false(node_equal(parse("{a: 1}"), parse("{a: '1'}")));
    assert_false(node_equal(parse("[1, 2]"), parse("[2, 1]")));
    assert_false(node_equal(parse("[1]"), parse("[1, 2]")));
}

static void test_file(void **state)
{
    (void)state;
    char *dir = test_dir();
    Str path = path_join(&arena, dir, "x.yaml");
    Node *n;
    assert_ok(file_write(path.s, STR("a: 1\n")));
    assert_ok(yaml_read(&arena, path.s, NULL, &n));
    assert_int_equal(node_get(n, "a")->integer, 1);
    assert_int_equal(yaml_read(&arena, dir, NULL, &n), ERR_INPUT);
    assert_int_equal(yaml_read(&arena, "/nonexistent.yaml", NULL, &n), ERR_INPUT);
    assert_non_null(strstr(err_message(), "/nonexistent.yaml"));
    assert_ok(dir_remove(dir));
    free(dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_scalars), TEST(test_structure), TEST(test_refused),
                                       TEST(test_aliases), TEST(test_large),     TEST(test_out_of_memory),
                                       TEST(test_access),  TEST(test_equal),     TEST(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
