/* Unit tests of the CSV and ini readers and of the CSV writer. */
#include "test/support.h"

#include "fmt/csv.h"
#include "fmt/ini.h"

static void test_csv_rows(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    static const char *const want[][4] = {
        {"a", "b c", ""}, {"x\ny", "say \"hi\"", ""}, {"", "", "", "end"}, {"1", " 2"}, {""}, {"last"}};
    static const size_t cells_in[] = {2, 3, 4, 2, 1, 1};
    static const int line_of[] = {1, 5, 6, 7, 9, 10};
    Csv c;
    csv_init(&c, "t.csv",
             STR("\xef\xbb\xbf"
                 "a,b c\r\n\n\n\"x\ny\",\"say \"\"hi\"\"\",\n,,,end\n1, 2\n\n\"\"\nlast"));
    for (size_t row = 0; row < 6; row++) {
        Str *cells;
        size_t n;
        assert_ok(csv_row(&c, &a, &cells, &n));
        assert_int_equal(n, cells_in[row]);
        assert_int_equal(c.line, line_of[row]);
        for (size_t i = 0; i < n; i++) assert_str(cells[i], want[row][i]);
    }
    Str *cells;
    size_t n;
    assert_ok(csv_row(&c, &a, &cells, &n));
    assert_int_equal(n, 0);
    assert_ok(csv_row(&c, &a, &cells, &n));
    assert_int_equal(n, 0);
    arena_fini(&a);
}

static void csv_refuse(const char *text, size_t max_cells, size_t limit, Err want, const char *message)
{
    Arena a;
    arena_init(&a, limit);
    Csv c;
    csv_init(&c, "t.csv", str_from(text));
    c.max_cells = max_cells;
    Str *cells;
    size_t n = 1;
    Err e = 0;
    while (!e && n) e = csv_row(&c, &a, &cells, &n);
    if (e != want || !strstr(err_message(), message)) fail_msg("error %d: '%s'", e, err_message());
    arena_fini(&a);
}

static void test_csv_refused(void **state)
{
    (void)state;
    csv_refuse("a\n\"b", 0, 0, ERR_INPUT, "t.csv:2: a quoted cell is not closed");
    csv_refuse("a\n\"b\"c,d\n", 0, 0, ERR_INPUT, "t.csv:2: text after the closing quote");
    csv_refuse("a,b\na,b,c\n", 2, 0, ERR_INPUT, "t.csv:2: more than 2 cells");
    csv_refuse("a,b,c,d,e\n", 0, 32, ERR_FAILED, "t.csv:1: out of memory");
    csv_refuse("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\"\"\n", 0, 32, ERR_FAILED,
               "t.csv:1: out of memory");
}

static void test_csv_write(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    csv_cell(&b, true, STR("a"));
    csv_cell(&b, false, STR("x,y"));
    csv_cell(&b, false, STR("say \"hi\"\n"));
    csv_cell(&b, false, STR(""));
    csv_cell_f(&b, false, "%d,%s", 7, "z");
    csv_cell_f(&b, false, "%600d", 1);
    csv_end(&b);
    csv_cell(&b, true, STR(""));
    csv_end(&b);
    csv_cell(&b, true, STR("\xef\xbb\xbf"));
    csv_end(&b);
    assert_ok(buf_check(&b));
    assert_true(str_starts(buf_view(&b), "a,\"x,y\",\"say \"\"hi\"\"\n\",,\"7,z\",  "));
    assert_true(str_ends(buf_view(&b), " 1\n\"\"\n\"\xef\xbb\xbf\"\n"));
    Arena a;
    arena_init(&a, 0);
    Csv c;
    csv_init(&c, "t.csv", buf_view(&b));
    Str *cells;
    size_t n;
    assert_ok(csv_row(&c, &a, &cells, &n));
    assert_int_equal(n, 6);
    assert_str(cells[2], "say \"hi\"\n");
    assert_int_equal(cells[5].n, 600);
    arena_fini(&a);
    buf_fini(&b);
}

static void test_ini(void **state)
{
    (void)state;
    Arena a;
    Ini ini;
    arena_init(&a, 0);
    assert_ok(ini_parse(&a, "t.ini", STR("# c\n; c\n\n a = 1 = 2 \r\nb=\na=3"), &ini));
    assert_int_equal(ini.n, 3);
    assert_str(ini.line[0].key, "a");
    assert_str(ini.line[0].value, "1 = 2");
    assert_int_equal(ini.line[0].line, 4);
    assert_str(ini.line[1].value, "");
    assert_str(ini.line[2].value, "3");
    assert_ok(ini_parse(&a, "t.ini", STR(""), &ini));
    assert_int_equal(ini.n, 0);
    static const char *const bad[][2] = {{"a=1\n[s]\n", "t.ini:2: sections are not supported: '[s]'"},
                                         {"a=1\nb\n", "t.ini:2: expected 'key=value', found 'b'"},
                                         {" =1\n", "t.ini:1: no key before '='"}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ini_parse(&a, "t.ini", str_from(bad[i][0]), &ini), ERR_INPUT);
        assert_non_null(strstr(err_message(), bad[i][1]));
    }
    assert_int_equal(ini_parse(&a, "t.ini", STR("a=\0x\n"), &ini), ERR_INPUT);
    arena_fini(&a);
    arena_init(&a, 32);
    assert_int_equal(ini_parse(&a, "t.ini", STR("a=1\nb=2\n"), &ini), ERR_FAILED);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv_rows), cmocka_unit_test(test_csv_refused),
                                       cmocka_unit_test(test_csv_write), cmocka_unit_test(test_ini)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
