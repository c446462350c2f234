/* The parser of command lines, and the texts that are made from the same tables. */
#include "test/support.h"

#include <limits.h>

#include "base/cli.h"

typedef struct {
    bool flag, clear;
    const char *text;
    int64_t big;
    int32_t small;
    double real;
    int word;
    char seen[128];
} Target;

static Err note(void *target, const CliOption *o, const char *value)
{
    Target *t = target;
    size_t n = strlen(t->seen);
    snprintf(t->seen + n, sizeof t->seen - n, "%s=%s;", o->name, value ? value : "-");
    return ERR_OK;
}

static const CliOption options[] = {
    {.name = "flag", .letter = 'f', .offset = offsetof(Target, flag), .help = "sets [it]: it's a 'flag'"},
    {.name = "no-flag", .kind = CLI_CLEAR, .offset = offsetof(Target, clear), .help = "clears"},
    {.name = "text",
     .letter = 't',
     .kind = CLI_TEXT,
     .arg = "FILE",
     .offset = offsetof(Target, text),
     .help = "a file"},
    {.name = "big", .kind = CLI_INT, .arg = "N", .offset = offsetof(Target, big), .help = "any integer"},
    {.name = "small",
     .letter = 's',
     .kind = CLI_INT32,
     .arg = "N",
     .min = -2,
     .max = 7,
     .offset = offsetof(Target, small),
     .help = "-2 to 7"},
    {.name = "real",
     .kind = CLI_REAL,
     .arg = "X",
     .max = INT64_MAX,
     .offset = offsetof(Target, real),
     .help = "from 0"},
    {.name = "word",
     .kind = CLI_WORD,
     .arg = "W",
     .words = "one Two three",
     .offset = offsetof(Target, word),
     .help = "a word"},
    {.name = "maybe",
     .kind = CLI_CALL,
     .set = note,
     .takes = CLI_OPTIONAL_WORD,
     .arg = "W",
     .words = "yes no",
     .help = "optional"},
    {.name = "equals",
     .kind = CLI_CALL,
     .set = note,
     .takes = CLI_BEHIND_EQUALS,
     .arg = "P",
     .help = "optional"},
    {.name = "set",
     .alias = "put place",
     .kind = CLI_CALL,
     .set = note,
     .takes = CLI_ASSIGNMENTS,
     .arg = "K=V",
     .help = "many"},
    {.name = "next",
     .kind = CLI_CALL,
     .set = note,
     .takes = CLI_NOT_AN_OPTION,
     .arg = "V",
     .help = "no option"},
    {.name = "old", .kind = CLI_IGNORED, .arg = "DIR", .help = "of no use"},
};
static const CliOption list_options[] = {
    {.name = "long", .letter = 'l', .offset = offsetof(Target, flag), .help = "more"}};
static const CliCommand run = {.name = "run", .operands = "IN OUT", .help = "runs", .max = 3};
static const CliCommand list = {
    .name = "list", .operands = "[DIR]", .help = "lists", .max = 1, .option = list_options, .n_options = 1};
static const CliCommand *const commands[] = {&run, &list};
static const CliCommand *const others[] = {&list, &run};
static const CliProgram program = {"prog",
                                   "does things",
                                   commands,
                                   2,
                                   true,
                                   options,
                                   sizeof options / sizeof *options,
                                   "exit codes: 0\n  kept   as it is\n",
                                   NULL,
                                   NULL};
static const CliProgram strict = {"strict", "does things", others, 2, false, options, 2, NULL, NULL, NULL};

static Target target;
static CliLine line;
static char *words[24];

static Err parse(const CliProgram *p, int n, const char *const *argv)
{
    words[0] = (char *)(uintptr_t) "prog";
    for (int i = 0; i < n; i++) words[i + 1] = (char *)(uintptr_t)argv[i];
    target = (Target){.clear = true};
    return cli_parse(p, &target, n + 1, words, &line);
}
#define PARSE(p, ...)                                                                                        \
    parse((p), (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__})
#define REFUSED(message, ...)                                                                                \
    do {                                                                                                     \
        assert_int_equal(PARSE(&program, __VA_ARGS__), ERR_INPUT);                                           \
        assert_string_equal(err_message(), message);                                                         \
    } while (0)

static void test_values(void **state)
{
    (void)state;
    assert_ok(PARSE(&program, "in", "-f", "--no-flag", "--text=a=b", "-s-1", "--big", "-5", "out", "--real",
                    "1e3", "--word", "two"));
    assert_true(line.command == &run && line.n_operands == 2 && !line.done);
    assert_string_equal(line.operand[0], "in");
    assert_string_equal(line.operand[1], "out");
    assert_true(target.flag && !target.clear && target.big == -5 && target.small == -1 &&
                target.real == 1000);
    assert_string_equal(target.text, "a=b");
    assert_int_equal(target.word, 1);
    assert_ok(PARSE(&program, "--maybe", "yes", "--maybe", "x", "--maybe=no", "--equals", "y", "--equals=z"));
    assert_string_equal(target.seen, "maybe=yes;maybe=-;maybe=no;equals=-;equals=z;");
    assert_int_equal(line.n_operands, 2);
    assert_ok(PARSE(&program, "--put", "a=1", "b=2", "c", "--place=d=3", "--old", "x", "--text", "-"));
    assert_string_equal(target.seen, "set=a=1;set=b=2;set=d=3;");
    assert_int_equal(line.n_operands, 1);
    assert_ok(PARSE(&program, "-", "--", "-f", "--help"));
    assert_true(line.n_operands == 3 && !target.flag && !line.done);
    assert_ok(PARSE(&program, "-tfile", "-t", "--flag", "-s=3"));
    assert_string_equal(target.text, "--flag");
    assert_true(!target.flag && target.small == 3);
}

static void test_commands(void **state)
{
    (void)state;
    assert_ok(PARSE(&program, "list", "-l", "dir"));
    assert_true(line.command == &list && target.flag && line.n_operands == 1);
    assert_ok(PARSE(&program, "run", "list", "out"));
    assert_true(line.command == &run && line.n_operands == 2);
    REFUSED("unknown command 'lsit' (did you mean 'list'?)", "lsit", "x");
    assert_ok(PARSE(&program, "./lsit", "x")); /* a file's name, not a command */
    assert_ok(PARSE(&program, "config", "x"));
    assert_int_equal(PARSE(&strict, "remove"), ERR_INPUT);
    assert_string_equal(err_message(), "unknown command 'remove' (see strict --help)");
    assert_int_equal(PARSE(&strict, "--flag"), ERR_INPUT);
    assert_string_equal(err_message(), "usage: strict COMMAND ... (see strict --help)");
    assert_int_equal(PARSE(&strict, "list", "a", "b"), ERR_INPUT);
    assert_string_equal(err_message(), "usage: strict list [DIR] (see strict list --help)");
}

static void test_errors(void **state)
{
    (void)state;
    REFUSED("unknown option '--flg' (did you mean '--flag'?)", "--flg");
    REFUSED("unknown option '--Text' (did you mean '--text'?)", "--Text=x");
    REFUSED("unknown option '--hel' (did you mean '--help'?)", "--hel");
    REFUSED("unknown option '--completely-different' (see prog --help)", "--completely-different");
    REFUSED("unknown option '-x' (see prog --help)", "-x");
    REFUSED("option '--flag=1' takes no value", "--flag=1");
    REFUSED("option '--text' needs a value (FILE)", "--text");
    REFUSED("option '--next' needs a value (V)", "--next", "--flag");
    REFUSED("--small: expected an integer from -2 to 7, found '8'", "--small", "8");
    REFUSED("--small: expected an integer from -2 to 7, found '99999999999'", "-s99999999999");
    REFUSED("--big: expected an integer, found '1.5'", "--big", "1.5");
    REFUSED("--real: expected a number from 0, found '-1'", "--real", "-1");
    REFUSED("--real: expected a number from 0, found 'nan'", "--real", "nan");
    REFUSED("--word: expected one, Two or three, found 'four'", "--word", "four");
    REFUSED("usage: prog [run] IN OUT (see prog --help)", "a", "b", "c", "d");
}

/* Every line of the help fits a terminal, and names each option. */
static void test_texts(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    cli_help(&program, NULL, &b);
    Str rest = buf_view(&b), text;
    while (str_split(&rest, '\n', &text)) assert_true(text.n <= 80);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char form[32];
        snprintf(form, sizeof form, "--%s", options[i].name);
        assert_non_null(strstr(buf_cstr(&b), form));
    }
    assert_non_null(strstr(buf_cstr(&b), "options of 'list':\n  -l, --long"));
    assert_non_null(strstr(buf_cstr(&b), "without an effect here:\n      --old DIR"));
    assert_non_null(strstr(buf_cstr(&b), "\n  kept   as it is\n"));
    buf_reset(&b);
    cli_help(&program, &list, &b);
    assert_non_null(strstr(buf_cstr(&b), "prog list [OPTION]... [DIR]"));
    assert_null(strstr(buf_cstr(&b), "IN OUT"));
    buf_reset(&b);
    cli_man(&program, &b);
    assert_non_null(strstr(buf_cstr(&b), ".TH PROG 1"));
    assert_non_null(strstr(buf_cstr(&b), ".B \\-s, \\-\\-small N\n\\-2 to 7.\n"));
    buf_reset(&b);
    cli_completion_zsh(&program, &b);
    assert_non_null(strstr(buf_cstr(&b), "'*--flag[sets \\[it\\]\\: it'\\''s a '\\''flag'\\'']'"));
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_commands),
                                       cmocka_unit_test(test_errors), cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
