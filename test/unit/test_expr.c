/* Index expressions: random ones are evaluated, printed and compiled, and bounded; the three must agree. */

#include "test/support.h"

#include "index/expr.h"

#include <stdlib.h>

enum { N_VARS = 7, N_ADDRESS_VARS = 4, N_RANDOM = 400, N_POINTS = 12 };
static const char *const names[N_VARS] = {"tid", "wg", "row", "small", "size", "wide", "delta"};
static const int64_t lows[N_VARS] = {0, 0, 0, 0, 1, 1, -9},
                     highs[N_VARS] = {255, 100000, 4080, 3, UINT32_MAX, INT64_C(1) << 40, 9},
                     factors[N_VARS] = {1, 1, 16, 1, 1, 1, 1};

static uint64_t state = 88172645463325252u;
static uint64_t next(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
static int64_t between(int64_t lo, int64_t hi) { return lo + (int64_t)(next() % (uint64_t)(hi - lo + 1)); }

/* A plain tree beside the simplified expression: its value is what the expression must have. */
typedef struct Tree Tree;
struct Tree {
    ExprKind kind;
    int64_t value;
    int var;
    Tree *x, *y, *z;
};

static Tree *random_tree(Arena *a, int depth)
{
    Tree *t = ARENA_NEW(a, Tree);
    int pick = depth == 0 ? (int)between(0, 3) : (int)between(0, 22);
    if (pick == 0) {
        t->kind = EXPR_CONST;
        t->value = between(0, 9) ? between(0, 130) : between(-3, 70000);
    } else if (pick <= 3) {
        t->kind = EXPR_VAR;
        t->var = (int)between(0, N_VARS - 1);
    } else {
        t->kind = (ExprKind)between(EXPR_ADD, EXPR_SELECT);
        t->x = random_tree(a, depth - 1);
        t->y = random_tree(a, depth - 1);
        if (t->kind == EXPR_SELECT) t->z = random_tree(a, depth - 1);
        if (t->kind == EXPR_DIV || t->kind == EXPR_MOD)
            t->y = ARENA_NEW(a, Tree), t->y->kind = EXPR_CONST, t->y->value = 1 << between(0, 6);
    }
    return t;
}

/* What addresses consist of: sums of products, divisions and remainders by constants, exchanged bits. */
static Tree *random_address(Arena *a, int depth)
{
    Tree *t = ARENA_NEW(a, Tree);
    int pick = depth == 0 ? (int)between(0, 3) : (int)between(0, 11);
    static const int64_t constants[] = {1, 2, 3, 4, 8, 12, 16, 20, 32, 64};
    if (pick == 0) {
        t->kind = EXPR_CONST;
        t->value = between(0, 200);
    } else if (pick <= 3) {
        t->kind = EXPR_VAR;
        t->var = (int)between(0, N_ADDRESS_VARS - 1);
    } else {
        static const ExprKind kinds[] = {EXPR_ADD, EXPR_ADD, EXPR_ADD, EXPR_MUL,
                                         EXPR_DIV, EXPR_MOD, EXPR_AND, EXPR_XOR};
        t->kind = kinds[pick - 4];
        t->x = random_address(a, depth - 1);
        if (t->kind == EXPR_ADD || t->kind == EXPR_XOR)
            t->y = random_address(a, depth - 1);
        else {
            t->y = ARENA_NEW(a, Tree), t->y->kind = EXPR_CONST;
            t->y->value = t->kind == EXPR_AND ? (1 << between(0, 5)) - 1 : constants[between(0, 9)];
        }
    }
    return t;
}

static bool tree_value(const Tree *t, const int64_t *v, int64_t *out)
{
    int64_t x, y;
    if (t->kind == EXPR_CONST) return *out = t->value, true;
    if (t->kind == EXPR_VAR) return *out = v[t->var], true;
    if (t->kind == EXPR_SELECT) return tree_value(t->z, v, &x) && tree_value(x ? t->x : t->y, v, out);
    if (!tree_value(t->x, v, &x) || !tree_value(t->y, v, &y)) return false;
    __int128 r;
    switch (t->kind) {
    case EXPR_ADD:
        r = (__int128)x + y;
        break;
    case EXPR_SUB:
        r = (__int128)x - y;
        break;
    case EXPR_MUL:
        r = (__int128)x * y;
        break;
    case EXPR_DIV:
        r = x / y;
        break;
    case EXPR_MOD:
        r = x % y;
        break;
    case EXPR_AND:
        r = x & y;
        break;
    case EXPR_XOR:
        r = x ^ y;
        break;
    case EXPR_MIN:
        r = x < y ? x : y;
        break;
    case EXPR_MAX:
        r = x > y ? x : y;
        break;
    case EXPR_LT:
        r = x < y;
        break;
    case EXPR_LE:
        r = x <= y;
        break;
    case EXPR_EQ:
        r = x == y;
        break;
    case EXPR_BOTH:
        r = x && y;
        break;
    default:
        r = x || y;
        break;
    }
    if (r > INT64_MAX || r < INT64_MIN) return false;
    *out = (int64_t)r;
    return true;
}

static const Expr *build(ExprPool *p, const Tree *t)
{
    if (t->kind == EXPR_CONST) return expr_const(p, t->value);
    if (t->kind == EXPR_VAR) {
        const Expr *v = expr_var(p, names[t->var], t->var, lows[t->var], highs[t->var]);
        return expr_multiple(p, v, factors[t->var]);
    }
    const Expr *x = build(p, t->x), *y = build(p, t->y);
    return t->kind == EXPR_SELECT ? expr_select(p, build(p, t->z), x, y) : expr_op(p, t->kind, x, y);
}

static void program_head(Buf *c)
{
    buf_puts(c, "#include <stdint.h>\n#include <stdio.h>\nstatic int bad;\n"
                "static void is(long long a, long long b, int n) { if (a != b) { bad = 1; printf(\"%d: %lld, "
                "not %lld\\n\", n, a, b); } }\n");
}

/* All points at once. */
static void lanes_agree(const Expr *e, int64_t v[N_POINTS][N_VARS], const int64_t *want, const bool *is)
{
    int64_t by_slot[N_VARS][N_POINTS], got[N_POINTS];
    const int64_t *values[N_VARS];
    for (int i = 0; i < N_VARS; i++) {
        values[i] = by_slot[i];
        for (int k = 0; k < N_POINTS; k++) by_slot[i][k] = v[k][i];
    }
    if (!expr_eval_lanes(e, N_POINTS, values, got)) return;
    for (int k = 0; k < N_POINTS; k++)
        if (is[k]) assert_int_equal(got[k], want[k]);
}

static void random_trees(Tree *(*random)(Arena *, int))
{
    Arena a;
    Buf c;
    arena_init(&a, 0);
    buf_init(&c);
    program_head(&c);
    buf_puts(&c, "int main(void)\n{\n");
    int printed = 0;
    for (int n = 0; n < N_RANDOM; n++) {
        ExprPool p;
        expr_pool_init(&p, &a);
        const Tree *t = random(&a, 4);
        const Expr *e = build(&p, t);
        assert_int_equal(expr_pool_check(&p), ERR_OK);
        bool fits = e->lo > INT64_MIN && e->hi < INT64_MAX;
        int64_t point[N_POINTS][N_VARS], value[N_POINTS];
        bool is[N_POINTS];
        for (int k = 0; k < N_POINTS; k++) {
            int64_t *v = point[k], want, got;
            for (int i = 0; i < N_VARS; i++) {
                int64_t edge = between(0, 3);
                v[i] = edge == 0 ? lows[i] : edge == 1 ? highs[i] : between(lows[i], highs[i]);
                v[i] -= v[i] % factors[i];
            }
            is[k] = tree_value(t, v, &want) && expr_eval(e, v, &got);
            if (!is[k]) continue; /* an intermediate value may have overflowed */
            value[k] = want;
            assert_int_equal(got, want);
            assert_true(want >= e->lo && want <= e->hi);
            assert_true(e->factor ? want % e->factor == 0 : want == 0);
            if (!fits || k > 3) continue;
            buf_puts(&c, "    {");
            for (int i = 0; i < N_VARS; i++) {
                Expr var = {.kind = EXPR_VAR, .lo = lows[i], .hi = highs[i]};
                buf_printf(&c, " const %s %s = %lldll; (void)%s;", expr_type(&expr_c_style, &var), names[i],
                           (long long)v[i], names[i]);
            }
            buf_puts(&c, " is((long long)(");
            expr_print(&expr_c_style, e, 0, &c);
            buf_printf(&c, "), %lldll, %d); }\n", (long long)want, n);
            printed++;
        }
        lanes_agree(e, point, value, is);
    }
    buf_puts(&c, "    return bad;\n}\n");
    assert_true(printed > N_RANDOM);
    char dir[] = "/tmp/test_expr_XXXXXX", command[200];
    assert_non_null(mkdtemp(dir));
    char path[64];
    snprintf(path, sizeof path, "%s/t.c", dir);
    FILE *f = fopen(path, "w");
    fwrite(c.s, 1, c.n, f);
    fclose(f);
    snprintf(command, sizeof command,
             "cc -std=c11 -w -fsanitize=undefined -fno-sanitize-recover=all -o %s/t %s && %s/t", dir, path,
             dir);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    buf_fini(&c);
    arena_fini(&a);
}

static void random_expressions(void **unused)
{
    (void)unused;
    random_trees(random_tree);
}

static void random_addresses(void **unused)
{
    (void)unused;
    random_trees(random_address);
}

static void text_is(const Expr *e, const char *want)
{
    Buf b;
    buf_init(&b);
    expr_print(&expr_gpu_style, e, 0, &b);
    assert_string_equal(buf_cstr(&b), want);
    buf_fini(&b);
}

static void simplifies(void **unused)
{
    (void)unused;
    Expr nodes[200];
    ExprPool p;
    expr_pool_fixed(&p, nodes, 200);
    const Expr *tid = expr_var(&p, "tid", 0, 0, 255), *m = expr_var(&p, "m", 1, 1, 1 << 20),
               *n = expr_var(&p, "n", 2, 1, UINT32_MAX);
    text_is(expr_mod_i(&p, tid, 256), "tid");
    text_is(expr_div_i(&p, tid, 256), "0");
    text_is(expr_div_i(&p, expr_add(&p, expr_mul_i(&p, m, 32), expr_mod_i(&p, tid, 8)), 8), "m * 4");
    text_is(expr_mod_i(&p, expr_add(&p, expr_mul_i(&p, m, 32), tid), 8), "tid % 8");
    text_is(expr_div_i(&p, expr_div_i(&p, tid, 4), 8), "tid / 32");
    text_is(expr_add_i(&p, expr_add_i(&p, tid, 5), -5), "tid");
    text_is(expr_op(&p, EXPR_MIN, tid, expr_const(&p, 300)), "tid");
    text_is(expr_op(&p, EXPR_LT, tid, expr_const(&p, 256)), "1");
    /* 32 bits where they are enough, 64 where not */
    text_is(expr_mul(&p, tid, n), "(unsigned long long)tid * n");
    text_is(expr_within(&p, expr_mul(&p, tid, n), 0, UINT32_MAX), "tid * n");
    text_is(expr_add_i(&p, tid, -9), "(int)tid - 9");
    text_is(expr_ceil_div(&p, m, expr_const(&p, 128)), "m / 128 + (0 < m % 128)");
    assert_int_equal(expr_pool_check(&p), ERR_OK);
}

/* Constants leave sums, products, divisions and exchanged bits: many addresses have one base. */
static void constants_stand_behind(void **unused)
{
    (void)unused;
    Expr nodes[400];
    ExprPool p;
    expr_pool_fixed(&p, nodes, 400);
    const Expr *tid = expr_var(&p, "tid", 0, 0, 255), *k = expr_var(&p, "k", 1, 0, 63),
               *row = expr_multiple(&p, expr_var(&p, "row", 2, 0, 128), 16);
    const Expr *tid5 = expr_add_i(&p, tid, 5), *k3 = expr_add_i(&p, k, 3);
    text_is(expr_add(&p, tid5, k3), "tid + k + 8");
    text_is(expr_mul_i(&p, tid5, 32), "tid * 32 + 160");
    text_is(expr_div_i(&p, expr_add_i(&p, expr_mul_i(&p, tid, 32), 20), 8), "tid * 4 + 2");
    text_is(expr_mod_i(&p, expr_add(&p, expr_mul_i(&p, tid, 64), k), 8), "k % 8");
    text_is(expr_and_i(&p, expr_add(&p, expr_mul_i(&p, tid, 64), k), 7), "k % 8");
    text_is(expr_div_i(&p, expr_mul_i(&p, tid, 4), 32), "tid / 8");
    text_is(expr_mod_i(&p, expr_mul_i(&p, tid, 4), 32), "tid % 8 * 4");
    text_is(expr_div_i(&p, expr_add(&p, expr_mul_i(&p, tid, 64), k), 128), "tid / 2");
    text_is(expr_mod_i(&p, expr_add(&p, expr_mul_i(&p, tid, 64), k), 128), "tid % 2 * 64 + k");
    text_is(expr_div_i(&p, expr_add_i(&p, row, 12), 16), "row / 16");
    text_is(expr_div_i(&p, expr_add_i(&p, row, 36), 32), "row / 32 + 1");
    text_is(expr_div_i(&p, expr_add_i(&p, row, 4), 32), "row / 32");
    text_is(expr_op(&p, EXPR_XOR, expr_add_i(&p, tid, 64), expr_mod_i(&p, k, 8)), "(tid ^ k % 8) + 64");
    text_is(expr_op(&p, EXPR_XOR, expr_add_i(&p, tid, 4), expr_mod_i(&p, k, 8)), "tid + 4 ^ k % 8");
    assert_int_equal(expr_pool_check(&p), ERR_OK);
}

static void named(void **unused)
{
    (void)unused;
    Expr nodes[40];
    ExprPool p;
    expr_pool_fixed(&p, nodes, 40);
    const Expr *x = expr_var(&p, "x", 0, 0, 1000);
    const Expr *row = expr_name(&p, "row", expr_div_i(&p, x, 7));
    const Expr *at = expr_name(&p, "at", expr_mul_i(&p, row, 3));
    const Expr *e = expr_add(&p, at, row);
    Buf b;
    buf_init(&b);
    ExprText t = {.style = &expr_gpu_style, .out = &b, .indent = 1};
    expr_declare(&t, e);
    expr_declare(&t, e); /* declares nothing twice */
    expr_print(t.style, e, 0, &b);
    assert_string_equal(buf_cstr(&b),
                        "    const unsigned row = x / 7;\n    const unsigned at = row * 3;\nat + row");
    buf_fini(&b);
    int64_t v = 50, value;
    assert_true(expr_eval(e, &v, &value));
    assert_int_equal(value, 28);
    const Expr *zero = expr_div(&p, x, expr_add_i(&p, x, 0));
    v = 0;
    assert_false(expr_eval(zero, &v, &value));
    expr_pool_fixed(&p, nodes, 1);
    expr_add_i(&p, expr_var(&p, "x", 0, 0, 9), 3);
    assert_int_equal(expr_pool_check(&p), ERR_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_expressions),
                                       cmocka_unit_test(random_addresses), cmocka_unit_test(simplifies),
                                       cmocka_unit_test(constants_stand_behind), cmocka_unit_test(named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
