/* Solutions of real logic files, derived again and named: what Tensile gives for the same files. */
#include "logic/derive.h"
#include "space/naming.h"
#include "test/support.h"

typedef struct {
    Arena arena;
    Logic logic;
    Deriver deriver;
    Solution *state;
    bool *valid;
    Namer namer;
} File;

static void file_open(File *f, Str name)
{
    LogicKeys keys;
    Buf why;
    arena_init(&f->arena, 0);
    buf_init(&why);
    Str path = arena_printf(&f->arena, "tensile/logic/%.*s", STR_ARG(name));
    assert_ok(logic_read(&f->arena, test_data_path(&f->arena, path.s), NULL, &f->logic));
    const Target *target = target_find(f->logic.arch);
    if (!target) target = target_find(STR("gfx900")); /* "fallback" holds Source kernels alone */
    assert_ok(deriver_init(&f->deriver, f->logic.pt, target, NULL));
    f->state = ARENA_ARRAY(&f->arena, f->logic.n_solutions, Solution);
    f->valid = ARENA_ARRAY(&f->arena, f->logic.n_solutions, bool);
    logic_keys_init(&keys);
    if (namer_init(&f->namer, f->logic.pt)) abort();
    for (size_t i = 0; i < f->logic.n_solutions; i++) {
        f->valid[i] = logic_solution_derive(&keys, &f->logic.solution[i], &f->deriver, &f->state[i], &why);
        if (f->valid[i]) namer_note(&f->namer, &f->state[i]);
    }
    buf_fini(&why);
}

static void test_names(void **state)
{
    (void)state;
    Arena a;
    Buf b;
    File *f = NULL;
    size_t i = 0, n = 0;
    arena_init(&a, 0);
    buf_init(&b);
    Str rest = test_data(&a, "solutions/logic-names.txt"), line;
    while (str_split(&rest, '\n', &line)) {
        if (!line.n || line.s[0] == '#') continue;
        if (line.s[0] == '=') {
            if (f) arena_fini(&f->arena);
            free(f);
            f = malloc(sizeof *f);
            assert_non_null(f);
            file_open(f, str_sub(line, 2, line.n));
            i = 0;
            continue;
        }
        assert_non_null(f);
        assert_true(i < f->logic.n_solutions);
        buf_reset(&b);
        if (f->valid[i])
            solution_name(&f->namer, &f->state[i], NAME_KERNEL, &b);
        else
            buf_putc(&b, '-');
        if (!str_eq(buf_view(&b), line))
            fail_msg("%s: solution %zu is '%s', not '%.*s'", f->logic.path, i, buf_cstr(&b), STR_ARG(line));
        i++, n++;
    }
    assert_int_equal(n, 387);
    if (f) arena_fini(&f->arena);
    free(f);
    buf_fini(&b);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
