/* Statements: the text of a tree in each language, brackets, names that are declared once and where they are
 * seen, and what happens when memory runs out. */
#include "test/support.h"

#include "kernel/lower/stmt.h"
#include "kernel/text.h"

static void check_text(Stmts *s, const StmtWords *words, const char *text)
{
    Buf out;
    buf_init(&out);
    assert_int_equal(stmt_print(s, words, 0, &out), ERR_OK);
    assert_string_equal(buf_cstr(&out), text);
    buf_fini(&out);
    stmts_fini(s);
}

static const Expr *var(Stmts *s, const char *name, int64_t hi) { return expr_var(&s->pool, name, 0, 0, hi); }

/* A copy of 8 times 4 floats to local memory, as both languages have it. */
static void copy(Stmts *s)
{
    stmts_init(s, 0);
    stmt_function(s, (Function){.name = "@copy",
                                STMT_PARAMS({"const char *", "from"}, {"char *", "lds"}, {"unsigned", "tid"},
                                            {"unsigned", "ld"}, {"int", NULL})});
    stmt_array(s, "@V", "data", DIMS(2, 4));
    const Expr *i = stmt_unrolled(s, "i", 0, 8), *tid = var(s, "tid", 255), *ld = var(s, "ld", 4096);
    const Expr *row = expr_name(&s->pool, "row", expr_div_i(&s->pool, tid, 8));
    const Expr *at = expr_add(&s->pool, expr_mul(&s->pool, row, ld), expr_mul_i(&s->pool, i, 16));
    const Value *data = value_at(s, value_reg(s, "data"), expr_div_i(&s->pool, i, 4));
    data = value_at(s, data, expr_mod_i(&s->pool, i, 4));
    Access from = access_at(SPACE_GLOBAL, "@V", 16, value_reg(s, "from"), at);
    from.hint = 2;
    stmt_set(s, data, value_load(s, from));
    at = expr_mul_i(&s->pool, row, 16);
    stmt_store(s, access_at(SPACE_LOCAL, "@V", 16, value_reg(s, "lds"), at), data);
    stmt_end(s);
    stmt_wait(s, 1);
    stmt_barrier(s);
    stmt_end(s);
}

static void test_languages(void **unused)
{
    (void)unused;
    Stmts s;
    copy(&s);
    check_text(&s, &stmt_words_cuda,
               "@DEV void @copy(const char *from, char *lds, unsigned tid, unsigned ld,\n    int)\n{\n"
               "    @V data[2][4];\n"
               "    @UNROLL for (int i = 0; i < 8; i++) {\n"
               "        const unsigned row = tid / 8;\n"
               "        data[i / 4][i % 4] = @load_nt<2>((const @V *)(from + (row * ld + i * 16)));\n"
               "        *(@V *)(lds + (row * 16)) = data[i / 4][i % 4];\n"
               "    }\n    @copy_wait(1);\n    @barrier();\n}\n");
    copy(&s);
    check_text(
        &s, &stmt_words_c,
        "static inline void @copy(const char *from, char *lds, unsigned tid, unsigned ld,\n    int)\n{\n"
        "    @V data[2][4];\n"
        "    for (int i = 0; i < 8; i++) {\n"
        "        const uint32_t row = tid / 8;\n"
        "        data[i / 4][i % 4] = *(const @V *)(from + (row * ld + i * 16));\n"
        "        *(@V *)(lds + (row * 16)) = data[i / 4][i % 4];\n"
        "    }\n}\n");
}

/* A named expression is declared before its first use, again in a block that does not see it, and not in one
 * that does. */
static void test_scopes(void **unused)
{
    (void)unused;
    Stmts s;
    stmts_init(&s, 0);
    const Expr *x = expr_name(&s.pool, "x", expr_mul_i(&s.pool, var(&s, "a", 9), 3));
    const Expr *y = expr_name(&s.pool, "y", expr_add_i(&s.pool, x, 1));
    stmt_if_expr(&s, var(&s, "a", 9));
    stmt_call(&s, "f", value_expr(&s, y), value_expr(&s, y));
    stmt_else(&s);
    stmt_call(&s, "f", value_expr(&s, y));
    stmt_end(&s);
    stmt_let(&s, "z", expr_add(&s.pool, x, y));
    stmt_block(&s);
    stmt_call(&s, "f", value_expr(&s, x), value_int(&s, 1));
    stmt_end(&s);
    check_text(&s, &stmt_words_hip,
               "if (a) {\n    const unsigned x = a * 3;\n    const unsigned y = x + 1;\n    f(y, y);\n"
               "} else {\n    const unsigned x = a * 3;\n    const unsigned y = x + 1;\n    f(y);\n}\n"
               "const unsigned x = a * 3;\nconst unsigned y = x + 1;\nconst unsigned z = x + y;\n"
               "{\n    f(x, 1);\n}\n");
}

static void test_values(void **unused)
{
    (void)unused;
    Stmts s;
    stmts_init(&s, 0);
    const Value *a = value_reg(&s, "a"), *b = value_reg(&s, "b"), *c = value_reg(&s, "c");
    const Value *sum = value_op(&s, VALUE_ADD, a, b);
    stmt_set(&s, c, value_op(&s, VALUE_MUL, sum, value_op(&s, VALUE_NEG, sum, NULL)));
    stmt_set(&s, c, value_op(&s, VALUE_SUB, a, value_op(&s, VALUE_SUB, b, c)));
    stmt_update(&s, VALUE_OR, c, value_select(&s, value_op(&s, VALUE_NOT, a, NULL), a, sum));
    stmt_define(&s, "@TC", "z", value_list(&s, a, value_field(&s, value_cast(&s, "T", b), "re")));
    stmt_define(&s, "const @TC *", "p", value_op(&s, VALUE_ADDRESS, value_at_i(&s, a, 2), NULL));
    Access in_a = access_element(SPACE_LOCAL, "@TC", 4, a, var(&s, "i", 7));
    in_a.guard = var(&s, "in", 1);
    stmt_set(&s, c, value_op(&s, VALUE_ADD, value_load(&s, in_a), value_int(&s, -1)));
    stmt_store(&s, in_a, c);
    stmt_store(&s, access_element(SPACE_LOCAL, "@TC", 4, a, NULL), c);
    stmt_set(&s, c, value_field(&s, value_load(&s, access_at(SPACE_GLOBAL, "@TC", 4, sum, NULL)), "im"));
    check_text(
        &s, &stmt_words_hip,
        "c = (a + b) * -(a + b);\nc = a - (b - c);\nc |= !a ? a : a + b;\n"
        "const @TC z = {a, ((T)b).re};\nconst @TC *p = &a[2];\n"
        "c = (in ? a[i] : (@TC)0) + -1;\nif (in) a[i] = c;\n*a = c;\nc = (*(const @TC *)(a + b)).im;\n");
}

static void test_types_and_loops(void **unused)
{
    (void)unused;
    Stmts s;
    stmts_init(&s, 0);
    stmt_struct(&s, "@Run", 16);
    stmt_array(&s, "@T", "x", DIMS(4));
    stmt_end(&s);
    stmt_typedef(&s, "int", "@W", NULL);
    stmt_constant(&s, "int", "@N", 3);
    stmt_function(&s, (Function){.kind = FUNCTION_EXPORTED,
                                 .attribute = "extern \"C\" ",
                                 .constant = "b",
                                 .result = "@W",
                                 .name = "f"});
    stmt_loop(&s, (Loop){.var = "k", .condition = value_expr(&s, var(&s, "k", 99)), .step = -8});
    stmt_if(&s, value_reg(&s, "done"));
    stmt_leave(&s);
    stmt_end(&s);
    stmt_next(&s);
    stmt_end(&s);
    const AsmOperand x[] = {{"+f", value_reg(&s, "c")}, {"r", value_reg(&s, "x")}, {"l", value_reg(&s, "y")}};
    stmt_asm(&s, (Asm){"mma %0, %1, %2;", x, 1, 2, true, true});
    stmt_loop(&s, (Loop){.var = "j",
                         .start = var(&s, "from", 9),
                         .limit = var(&s, "n", 1LL << 40),
                         .step_by = var(&s, "by", 9),
                         .unroll = UNROLL_NONE});
    stmt_end(&s);
    stmt_fence(&s);
    stmt_return(&s, value_literal(&s, "0x1p-7f"));
    stmt_end(&s);
    check_text(&s, &stmt_words_cuda,
               "struct __align__(16) @Run {\n    @T x[4];\n};\ntypedef int @W;\nconstexpr int @N = 3;\n"
               "template <int b> extern \"C\" @W f()\n{\n"
               "    for (; k; k -= 8) {\n        if (done) {\n            break;\n        }\n"
               "        continue;\n    }\n"
               "    asm volatile(\"mma %0, %1, %2;\" : \"+f\"(c) : \"r\"(x), \"l\"(y) : \"memory\");\n"
               "    @NOUNROLL for (unsigned long long j = from; j < n; j += by) {\n    }\n"
               "    @keep_order();\n    return 0x1p-7f;\n}\n");
}

/* Kernels are made by the thousand: a loop over one line has no braces; one over a store with a guard, which
 * is an if, and one over several lines have. */
static void test_short_loops(void **unused)
{
    (void)unused;
    Stmts s;
    stmts_init(&s, 0);
    const Value *v = value_reg(&s, "v");
    const Expr *i = stmt_unrolled(&s, "i", 0, 4);
    stmt_set(&s, value_at(&s, v, i), value_int(&s, 0));
    stmt_end(&s);
    i = stmt_unrolled(&s, "i", 0, 4);
    Access to = access_element(SPACE_GLOBAL, "float", 4, value_reg(&s, "p"), i);
    to.guard = expr_op(&s.pool, EXPR_LT, i, var(&s, "n", 9));
    stmt_store(&s, to, value_int(&s, 1));
    stmt_end(&s);
    check_text(&s, &stmt_words_cuda,
               "@UNROLL for (int i = 0; i < 4; i++)\n    v[i] = 0;\n"
               "@UNROLL for (int i = 0; i < 4; i++) {\n    if (i < n) p[i] = 1;\n}\n");
}

/* Of comments, embedded texts have headings alone. */
static void test_embedded(void **unused)
{
    (void)unused;
    for (const KernelText *t = kernel_texts; t->name; t++)
        for (const char *at = t->text; (at = strstr(at, "/*")); at++)
            if (strncmp(at, "/* ----", 7)) fail_msg("%s: %.60s", t->name, at);
}

static void test_no_memory(void **unused)
{
    (void)unused;
    for (size_t limit = 16;; limit += 16) {
        Stmts s;
        Buf out;
        buf_init(&out);
        stmts_init(&s, limit);
        stmt_function(&s, (Function){.name = stmts_name(&s, "@f%d", 1), STMT_PARAMS({"int", "n"})});
        const Expr *i = stmt_unrolled(&s, "i", 0, 4);
        stmt_let(&s, "x", expr_mul_i(&s.pool, i, 3));
        stmt_call(&s, "g", value_at(&s, value_named(&s, "a_%d", 2), i));
        stmt_end(&s);
        stmt_end(&s);
        Err e = stmt_print(&s, &stmt_words_c, 0, &out);
        if (!e)
            assert_string_equal(buf_cstr(&out),
                                "static inline void @f1(int n)\n{\n    for (int i = 0; i < 4; i++) {\n"
                                "        const uint32_t x = i * 3;\n        g(a_2[i]);\n    }\n}\n");
        stmts_fini(&s);
        buf_fini(&out);
        if (!e) break;
        assert_int_equal(e, ERR_FAILED);
        assert_string_equal(err_message(), "out of memory for the statements of a kernel");
        assert_true(limit < 16384);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),   cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_values),      cmocka_unit_test(test_types_and_loops),
        cmocka_unit_test(test_short_loops), cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
