/* Unit tests of the writers (YAML text as PyYAML's dump gives it, msgpack bytes) and of the msgpack reader.
 * The expected YAML was written by PyYAML 6.0 with default_flow_style=None. */
#include "test/support.h"

#include <float.h>
#include <math.h>

#include "fmt/node.h"
#include "fmt/real.h"
#include "fmt/write.h"

/* Writes with one kind of Emit into b and hands the same text to the caller. */
typedef Emit *Make(Buf *out);

static void finish(Emit *e)
{
    assert_ok(emit_finish(e));
    emit_free(e);
}

static void same(const Buf *b, const char *want)
{
    Str got = buf_view(b);
    if (str_eq_c(got, want)) return;
    fail_msg("got:\n%.*s\nexpected:\n%s", STR_ARG(got), want);
}

static void test_block(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    buf_puts(&b, "---\n");
    Emit *e = emit_yaml(&b);
    emit_seq(e, 5, false);
    emit_map(e, 1, true);
    emit_cstr(e, "MinimumRequiredVersion");
    emit_cstr(e, "4.44.0");
    emit_end(e);
    emit_cstr(e, "vega20");
    emit_seq(e, 3, true);
    emit_cstr(e, "Device 66a0");
    emit_int(e, -7);
    emit_null(e);
    emit_end(e);
    emit_seq(e, 2, false);
    emit_map(e, 4, false);
    emit_cstr(e, "ISA");
    emit_seq(e, 3, true);
    emit_int(e, 9);
    emit_int(e, 0);
    emit_int(e, 6);
    emit_end(e);
    emit_cstr(e, "List");
    emit_seq(e, 2, false);
    emit_seq(e, 0, false);
    emit_end(e);
    emit_seq(e, 1, false);
    emit_map(e, 0, false);
    emit_end(e);
    emit_end(e);
    emit_end(e);
    emit_cstr(e, "Nested");
    emit_map(e, 1, false);
    emit_cstr(e, "x");
    emit_seq(e, 1, false);
    emit_map(e, 1, true);
    emit_cstr(e, "y");
    emit_bool(e, true);
    emit_end(e);
    emit_end(e);
    emit_end(e);
    emit_cstr(e, "Value");
    emit_real(e, 120);
    emit_end(e);
    emit_seq(e, 1, true);
    emit_real(e, 1e20);
    emit_end(e);
    emit_end(e);
    emit_map(e, 0, false);
    emit_end(e);
    emit_end(e);
    finish(e);
    same(&b, "---\n- {MinimumRequiredVersion: 4.44.0}\n- vega20\n- [Device 66a0, -7, null]\n- - ISA: [9, 0, "
             "6]\n    List:\n"
             "    - []\n    - - {}\n    Nested:\n      x:\n      - {y: true}\n    Value: 120.0\n  - "
             "[1.0e+20]\n- {}\n");
    buf_fini(&b);
}

static void test_fold(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    Emit *e = emit_yaml(&b);
    emit_seq(e, 3, false);
    emit_seq(e, 24, true);
    for (int i = 0; i < 24; i++) emit_int(e, 100000 + i);
    emit_end(e);
    emit_cstr(
        e, "a long text with spaces in it is folded where the line has more than eighty columns and goes on");
    emit_map(e, 2, false);
    emit_cstr(e, "Key");
    emit_map(e, 5, true);
    for (int i = 0; i < 5; i++) {
        char key[32];
        snprintf(key, sizeof key, "GlobalParameter%d", i);
        emit_cstr(e, key);
        emit_cstr(e, "value: x");
    }
    emit_end(e);
    char key[131] = {0};
    memset(key, 'k', 130);
    emit_cstr(e, key);
    emit_seq(e, 1, true);
    emit_int(e, 1);
    emit_end(e);
    emit_end(e);
    emit_end(e);
    finish(e);
    same(&b,
         "- [100000, 100001, 100002, 100003, 100004, 100005, 100006, 100007, 100008, 100009,\n"
         "  100010, 100011, 100012, 100013, 100014, 100015, 100016, 100017, 100018, 100019,\n"
         "  100020, 100021, 100022, 100023]\n"
         "- a long text with spaces in it is folded where the line has more than eighty columns\n"
         "  and goes on\n"
         "- Key: {GlobalParameter0: 'value: x', GlobalParameter1: 'value: x', GlobalParameter2: 'value:\n"
         "      x', GlobalParameter3: 'value: x', GlobalParameter4: 'value: x'}\n"
         "  ? "
         "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
         "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n  : [1]\n");
    buf_fini(&b);
}

static const char *const quoted[][2] = {{"plain", "plain"},
                                        {"True", "'True'"},
                                        {"", "''"},
                                        {"1", "'1'"},
                                        {"1e3", "1e3"},
                                        {"1.5", "'1.5'"},
                                        {"0x10", "'0x10'"},
                                        {"null", "'null'"},
                                        {"~", "'~'"},
                                        {"off", "'off'"},
                                        {"- x", "'- x'"},
                                        {"-x", "-x"},
                                        {"a: b", "'a: b'"},
                                        {"a:b", "a:b"},
                                        {"a #b", "'a #b'"},
                                        {"a#b", "a#b"},
                                        {"it's", "it's"},
                                        {"'q'", "'''q'''"},
                                        {"[x]", "'[x]'"},
                                        {"a,b", "a,b"},
                                        {"x ", "'x '"},
                                        {"=", "'='"},
                                        {"<<", "'<<'"},
                                        {"a\tb", "\"a\\tb\""},
                                        {"\xc3\xa9", "\"\\xE9\""},
                                        {"\xe2\x82\xac", "\"\\u20AC\""},
                                        {"\xff", "\"\\xFF\""},
                                        {"a\nb", "'a\n\n  b'"},
                                        {"2001-12-14", "'2001-12-14'"},
                                        {"%d", "'%d'"},
                                        {"---", "'---'"},
                                        {"1:30", "'1:30'"},
                                        {"?x", "?x"},
                                        {"? x", "'? x'"},
                                        {"@x", "'@x'"},
                                        {"x:", "'x:'"},
                                        {".inf", "'.inf'"},
                                        {"4.44.0", "4.44.0"},
                                        {"*x", "'*x'"},
                                        {"\xf0\x9f\x98\x80", "\"\\U0001F600\""}};

static void test_quotes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) {
        Buf b, want;
        buf_init(&b);
        buf_init(&want);
        Emit *e = emit_yaml(&b);
        emit_seq(e, 1, false);
        emit_cstr(e, quoted[i][0]);
        emit_end(e);
        finish(e);
        buf_printf(&want, "- %s\n", quoted[i][1]);
        same(&b, buf_cstr(&want));
        buf_fini(&b);
        buf_fini(&want);
    }
    Buf b; /* more is special in flow */
    buf_init(&b);
    Emit *e = emit_yaml(&b);
    emit_seq(e, 4, true);
    emit_cstr(e, "a,b");
    emit_cstr(e, "a:b");
    emit_cstr(e, "?x");
    emit_cstr(e, "x");
    emit_end(e);
    finish(e);
    same(&b, "['a,b', 'a:b', '?x', x]\n");
    buf_fini(&b);
}

static void test_reals(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } rows[] = {{0, "0.0"},
                {-0.0, "-0.0"},
                {120, "120.0"},
                {0.1, "0.1"},
                {1e15, "1000000000000000.0"},
                {1e16, "1e+16"},
                {9999999999999998.0, "9999999999999998.0"},
                {1e-4, "0.0001"},
                {1e-5, "1e-05"},
                {1.5e-7, "1.5e-07"},
                {5e-324, "5e-324"},
                {DBL_MAX, "1.7976931348623157e+308"},
                {0x1p-44, "5.684341886080802e-14"},
                {123456.75, "123456.75"},
                {-2.5, "-2.5"},
                {0.3, "0.3"},
                {0.1 + 0.2, "0.30000000000000004"},
                {(double)INFINITY, "inf"},
                {(double)-INFINITY, "-inf"},
                {(double)NAN, "nan"}};
    char text[REAL_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = real_text(rows[i].v, text);
        assert_int_equal(length, strlen(text));
        assert_string_equal(text, rows[i].text);
    }
    Buf b;
    buf_init(&b);
    Emit *e = emit_yaml(&b);
    emit_seq(e, 5, true);
    emit_real(e, (double)INFINITY);
    emit_real(e, (double)-INFINITY);
    emit_real(e, (double)NAN);
    emit_real(e, -1e-5);
    emit_real(e, 1.5e300);
    emit_end(e);
    finish(e);
    same(&b, "[.inf, -.inf, .nan, -1.0e-05, 1.5e+300]\n");
    buf_fini(&b);
}

static void test_msgpack(void **state)
{
    (void)state;
    static const unsigned char want[] =
        "\x82\xa1"
        "a\x9a\x00\x7f\xcc\x80\xcd\x01\x00\xce\x00\x01\x00\x00\xff\xd0\xdf\xd1\xff"
        "\x7f\xd2\xff\xff\x7f\xff\xd3\x80\x00\x00\x00\x00\x00\x00\x00\xa1"
        "b\x94\xc0\xc3\xc2\xcb"
        "\x3f\xf8\x00\x00\x00\x00\x00\x00";
    static const int64_t ints[] = {0, 127, 128, 256, 65536, -1, -33, -129, -32769, INT64_MIN};
    Buf b;
    buf_init(&b);
    Emit *e = emit_msgpack(&b);
    emit_map(e, 2, false);
    emit_cstr(e, "a");
    emit_seq(e, 10, true);
    for (size_t i = 0; i < 10; i++) emit_int(e, ints[i]);
    emit_end(e);
    emit_cstr(e, "b");
    emit_seq(e, 4, true);
    emit_null(e);
    emit_bool(e, true);
    emit_bool(e, false);
    emit_real(e, 1.5);
    emit_end(e);
    emit_end(e);
    finish(e);
    assert_int_equal(b.n, sizeof want - 1);
    assert_memory_equal(b.s, want, b.n);

    Arena a;
    arena_init(&a, 0);
    Node *n;
    assert_ok(msgpack_parse(&a, "x.dat", buf_view(&b), NULL, &n));
    const Node *list = node_get(n, "a");
    for (size_t i = 0; i < 10; i++) assert_true(node_at(list, i)->integer == ints[i]);
    assert_int_equal(node_at(node_get(n, "b"), 0)->kind, NODE_NULL);
    assert_true(node_at(node_get(n, "b"), 3)->real == 1.5);
    for (size_t cut = 0; cut < b.n; cut++) { /* every truncation is an error that names a byte */
        assert_int_equal(msgpack_parse(&a, "x.dat", str_sub(buf_view(&b), 0, cut), NULL, &n), ERR_INPUT);
        assert_non_null(strstr(err_message(), "x.dat: byte "));
    }
    arena_fini(&a);
    buf_fini(&b);
}

static void refuse(Str data, const NodeLimits *limits, size_t arena_limit, Err want, const char *message)
{
    Arena a;
    Node *n;
    arena_init(&a, arena_limit);
    Err e = msgpack_parse(&a, "x.dat", data, limits, &n);
    if (e != want || !strstr(err_message(), message))
        fail_msg("error %d: '%s', expected '%s'", e, err_message(), message);
    arena_fini(&a);
}

static void test_msgpack_refused(void **state)
{
    (void)state;
    refuse(STR(""), NULL, 0, ERR_INPUT, "x.dat: byte 0: the file ends");
    refuse(STR("\x90\x01"), NULL, 0, ERR_INPUT, "x.dat: byte 1: 1 bytes after the end");
    refuse(STR("\x91\xc1"), NULL, 0, ERR_INPUT, "x.dat: byte 1: object type 0xc1 (never used)");
    refuse(STR("\x91\xc4\x00"), NULL, 0, ERR_INPUT, "x.dat: byte 1: object type 0xc4 (binary");
    refuse(STR("\xdd\xff\xff\xff\xff\x00"), NULL, 0, ERR_INPUT,
           "a list of 4294967295 items, but only 1 bytes follow");
    refuse(STR("\xdf\x80\x00\x00\x00\x00"), NULL, 0, ERR_INPUT, "a map of 2147483648 items");
    refuse(STR("\xdb\xff\xff\xff\xff"
               "ab"),
           NULL, 0, ERR_INPUT, "byte 0: a string of 4294967295 bytes");
    refuse(STR("\x81\x90\x00"), NULL, 0, ERR_INPUT, "byte 1: a list or map as a key");
    refuse(STR("\x82\xa1"
               "a\x00\xa1"
               "a\x01"),
           NULL, 0, ERR_INPUT, "x.dat: duplicate key 'a'");
    refuse(STR("\x91\x91\x91\x00"), &(NodeLimits){.max_depth = 2}, 0, ERR_INPUT,
           "byte 2: nested deeper than 2 levels");
    refuse(STR("\x93\x01\x02\x03"), &(NodeLimits){.max_nodes = 3}, 0, ERR_INPUT, "byte 0: more than 3 nodes");
    refuse(STR("\x93\x01\x02\x03"), &(NodeLimits){.max_bytes = 3}, 0, ERR_INPUT,
           "4 bytes, more than the limit of 3");
    refuse(STR("\x93\x01\x02\x03"), NULL, 100, ERR_FAILED, "x.dat: out of memory");
    refuse(STR("\x93\x01\x02\x03"), NULL, 16, ERR_FAILED, "x.dat: out of memory");
}

static void misuse(Make *make, int what, const char *message)
{
    Buf b;
    buf_init(&b);
    Emit *e = make(&b);
    emit_seq(e, 2, false);
    if (what == 0) emit_int(e, 1), emit_end(e);
    if (what == 1) emit_int(e, 1), emit_int(e, 2), emit_int(e, 3);
    if (what == 2) emit_int(e, 1);
    if (what == 3) emit_int(e, 1), emit_int(e, 2), emit_end(e), emit_end(e);
    if (what == 4) emit_int(e, 1), emit_int(e, 2), emit_end(e), emit_int(e, 3);
    assert_int_equal(emit_finish(e), ERR_FAILED);
    assert_non_null(strstr(err_message(), message));
    emit_free(e);
    buf_fini(&b);
}

static void test_misuse(void **state)
{
    (void)state;
    static const char *const messages[] = {"fewer items", "more items", "an unfinished document",
                                           "an end without a beginning", "a second document"};
    for (int i = 0; i < 5; i++) {
        misuse(emit_yaml, i, messages[i]);
        misuse(emit_msgpack, i, messages[i]);
    }
    assert_int_equal(emit_finish(NULL), ERR_FAILED);
    emit_int(NULL, 1);
    emit_end(NULL);
    emit_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_block),   cmocka_unit_test(test_fold),
                                       cmocka_unit_test(test_quotes),  cmocka_unit_test(test_reals),
                                       cmocka_unit_test(test_msgpack), cmocka_unit_test(test_msgpack_refused),
                                       cmocka_unit_test(test_misuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
