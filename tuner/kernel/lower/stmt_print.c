/* Statements as text of C, HIP C++ and CUDA C++, in one form: a statement a line, every body in braces. */
#include "kernel/lower/stmt_text.h"
#include "kernel/text.h"

#include <string.h>

#define UNROLLED                                                                                             \
    {                                                                                                        \
        [UNROLL_FULL] = "@UNROLL ", [UNROLL_NONE] = "@NOUNROLL ", [UNROLL_2] = "_Pragma(\"unroll 2\") ",     \
        [UNROLL_4] = "_Pragma(\"unroll 4\") "                                                                \
    }

const StmtWords stmt_words_c = {
    .expr = &expr_c_style,
    .function = {"static inline ", "static ", "static __attribute__((noinline)) "},
    .align = {"__attribute__((aligned(", "))) "}};
#define WORDS_OF_GPUS                                                                                        \
    .expr = &expr_gpu_style, .function = {"@DEV ", "@DEV ", "@DEV "}, .unroll = UNROLLED,                    \
    .barrier = "@barrier", .wait = "@copy_wait", .fence = "@keep_order", .has_constexpr = true,              \
    .load = "@load_nt", .store = "@store_nt"
const StmtWords stmt_words_hip = {WORDS_OF_GPUS, .align = {"__attribute__((aligned(", "))) "}};
const StmtWords stmt_words_cuda = {WORDS_OF_GPUS,
                                   .align = {"__align__(", ") "},
                                   .hint_levels = true,
                                   .copy = "@cp",
                                   .copy_valid = "@cpz",
                                   .arrived = "@arrived",
                                   .store_words = "@sts",
                                   .commit = "@commit",
                                   .box = "load_box",
                                   .box_shared = "load_box_shared",
                                   .expect = "bar_expect",
                                   .phase = "bar_wait",
                                   .arrive = "bar_arrive",
                                   .store_await = "store_wait_read",
                                   .product = "wgmma",
                                   .product_fence = "wgmma_fence",
                                   .product_commit = "wgmma_commit",
                                   .product_await = "wgmma_wait"};

/* ---- values ---- */

static const struct {
    const char *word;
    int precedence;
} ops[] = {
    [VALUE_ADD] = {"+", AS_SUM},      [VALUE_SUB] = {"-", AS_SUM},
    [VALUE_MUL] = {"*", 13},          [VALUE_DIV] = {"/", 13},
    [VALUE_MOD] = {"%", 13},          [VALUE_SHL] = {"<<", 11},
    [VALUE_SHR] = {">>", 11},         [VALUE_AND] = {"&", 8},
    [VALUE_XOR] = {"^", 7},           [VALUE_OR] = {"|", 6},
    [VALUE_LT] = {"<", 10},           [VALUE_LE] = {"<=", 10},
    [VALUE_GT] = {">", 10},           [VALUE_GE] = {">=", 10},
    [VALUE_EQ] = {"==", 9},           [VALUE_NE] = {"!=", 9},
    [VALUE_BOTH] = {"&&", 5},         [VALUE_EITHER] = {"||", 4},
    [VALUE_NEG] = {"-", AS_UNARY},    [VALUE_NOT] = {"!", AS_UNARY},
    [VALUE_INVERT] = {"~", AS_UNARY}, [VALUE_ADDRESS] = {"&", AS_UNARY},
};

static void put_expr(const Text *t, const Expr *e, int least)
{
    expr_print(t->words->expr, e, least, t->out);
}

static void put_value(const Text *t, const Value *v, int least);

static void put_list(const Text *t, const Value *v, const char *open, const char *close)
{
    buf_puts(t->out, open);
    for (int i = 0; i < v->n; i++) {
        if (i) buf_puts(t->out, ", ");
        put_value(t, v->list[i], AS_ANY);
    }
    buf_puts(t->out, close);
}

/* The address of an access. */
static void put_address(const Text *t, const Access *a, bool is_const)
{
    bool moves = a->offset && !expr_is(a->offset, 0);
    if (!a->in_elements) PUT(t, is_const ? "(const " : "(", a->type, " *)");
    if (moves) buf_putc(t->out, '(');
    put_value(t, a->base, moves ? AS_SUM : AS_UNARY);
    if (!moves) return;
    buf_puts(t->out, " + ");
    put_expr(t, a->offset, EXPR_OPERAND);
    buf_putc(t->out, ')');
}

/* What stands at it. */
static void put_place(const Text *t, const Access *a, bool is_const)
{
    bool indexes = a->in_elements && a->offset;
    if (!indexes) {
        buf_putc(t->out, '*');
        put_address(t, a, is_const);
        return;
    }
    put_value(t, a->base, AS_POSTFIX);
    buf_putc(t->out, '[');
    put_expr(t, a->offset, AS_ANY);
    buf_putc(t->out, ']');
}

/* "@load_nt<2>(": whether an access has a hint that this language knows. */
static bool put_hint(const Text *t, const Access *a, const char *function)
{
    int hint = t->words->hint_levels ? a->hint & 3 : a->hint;
    if (!hint || !function) return false;
    buf_puts(t->out, function);
    if (t->words->hint_levels) put_number(t, "<", hint, ">");
    buf_putc(t->out, '(');
    return true;
}

static void put_load(const Text *t, const Access *a)
{
    if (a->guard) {
        put_expr(t, a->guard, AS_SELECT + 1);
        buf_puts(t->out, " ? ");
    }
    if (put_hint(t, a, t->words->load)) {
        put_address(t, a, true);
        buf_putc(t->out, ')');
    } else
        put_place(t, a, true);
    if (a->guard) PUT(t, " : (", a->type, ")0");
}

static int precedence_of(const Value *v)
{
    switch (v->kind) {
    case VALUE_OP:
        return ops[v->op].precedence;
    case VALUE_SELECT:
        return AS_SELECT;
    case VALUE_CAST:
    case VALUE_PLACE:
        return AS_UNARY;
    case VALUE_LOAD:
        return v->access->guard ? AS_SELECT : AS_UNARY;
    case VALUE_STAGE:
        return AS_SUM;
    default:
        return EXPR_OPERAND;
    }
}

static void put_op(const Text *t, const Value *v)
{
    /* compilers ask for brackets around operators inside of shifts and of operators of bits */
    const bool bits = v->op >= VALUE_SHL && v->op <= VALUE_OR;
    const int at = bits ? AS_UNARY : ops[v->op].precedence;
    if (!v->y) {
        buf_puts(t->out, ops[v->op].word);
        put_value(t, v->x, at);
        return;
    }
    put_value(t, v->x, at);
    PUT(t, " ", ops[v->op].word, " ");
    put_value(t, v->y, bits ? at : at + 1);
}

static void put_bare(const Text *t, const Value *v)
{
    switch (v->kind) {
    case VALUE_EXPR:
        put_expr(t, v->expr, AS_ANY);
        break;
    case VALUE_NAME:
        buf_puts(t->out, v->name);
        break;
    case VALUE_AT:
        put_value(t, v->x, AS_POSTFIX);
        buf_putc(t->out, '[');
        put_expr(t, v->expr, AS_ANY);
        buf_putc(t->out, ']');
        break;
    case VALUE_FIELD:
        put_value(t, v->x, AS_POSTFIX);
        PUT(t, ".", v->name);
        break;
    case VALUE_OP:
        put_op(t, v);
        break;
    case VALUE_SELECT:
        put_value(t, v->z, AS_SELECT + 1);
        buf_puts(t->out, " ? ");
        put_value(t, v->x, AS_SELECT);
        buf_puts(t->out, " : ");
        put_value(t, v->y, AS_SELECT);
        break;
    case VALUE_CAST:
        PUT(t, "(", v->name, ")");
        put_value(t, v->x, AS_UNARY);
        break;
    case VALUE_LOAD:
        put_load(t, v->access);
        break;
    case VALUE_PLACE:
        put_address(t, v->access, false);
        break;
    case VALUE_CALL:
        buf_puts(t->out, v->name);
        put_list(t, v, "(", ")");
        break;
    case VALUE_LIST:
        put_list(t, v, "{", "}");
        break;
    case VALUE_STAGE:
        put_value(t, v->x, AS_SUM);
        buf_puts(t->out, " + ");
        put_value(t, v->y, AS_UNARY);
        if (!v->ring->in_bytes) put_number(t, " * ", v->ring->bytes, "");
        break;
    }
}

/* In brackets where the value binds less than `least`. */
static void put_value(const Text *t, const Value *v, int least)
{
    if (v->kind == VALUE_EXPR) { /* knows by itself */
        put_expr(t, v->expr, least);
        return;
    }
    bool brackets = precedence_of(v) < least;
    if (brackets) buf_putc(t->out, '(');
    put_bare(t, v);
    if (brackets) buf_putc(t->out, ')');
}

void text_value(const Text *t, const Value *v, int least) { put_value(t, v, least); }

/* ---- statements ---- */

static void put_indent(const Text *t)
{
    for (int i = 0; i < t->indent; i++) buf_puts(t->out, "    ");
}

/* "const char *name": no blank behind a star. */
static void put_declared(const Text *t, const char *type, const char *name)
{
    size_t n = strlen(type);
    buf_puts(t->out, type);
    if (n && type[n - 1] != '*' && type[n - 1] != '&') buf_putc(t->out, ' ');
    buf_puts(t->out, name);
}

static void put_block(Text *t, const Stmt *body);
static void put_body(Text *t, const Stmt *body);

/* Statements that are one line and no other statement's part. */
static bool is_line(const Text *t, const Stmt *s)
{
    return s->kind == STMT_SET || s->kind == STMT_UPDATE || s->kind == STMT_DO ||
           ((s->kind == STMT_STORE || s->kind == STMT_COPY) && !s->access->guard) ||
           (s->kind == STMT_BARRIER && t->words->barrier);
}

/* Of a loop: one line needs no braces. */
static void put_loop_body(Text *t, const Stmt *body)
{
    if (!body || body->next || !is_line(t, body)) {
        put_body(t, body);
        buf_putc(t->out, '\n');
        return;
    }
    t->out->n--; /* the blank in front of a brace */
    buf_putc(t->out, '\n');
    t->indent++;
    put_block(t, body);
    t->indent--;
}

static void put_body(Text *t, const Stmt *body)
{
    buf_puts(t->out, "{\n");
    t->indent++;
    put_block(t, body);
    t->indent--;
    put_indent(t);
    buf_putc(t->out, '}');
}

enum { PARAMS_A_LINE = 4 };
static void put_function(Text *t, const Stmt *s)
{
    const Function *f = s->function;
    if (f->constant) PUT(t, "template <int ", f->constant, "> ");
    if (f->kind != FUNCTION_EXPORTED)
        buf_puts(t->out, t->words->function[f->kind]);
    else if (f->attribute)
        buf_puts(t->out, f->attribute);
    put_declared(t, f->result ? f->result : "void", f->name);
    buf_putc(t->out, '(');
    for (int i = 0; i < f->n_params; i++) {
        const StmtParam *p = &f->param[i];
        if (i) buf_puts(t->out, i % PARAMS_A_LINE ? ", " : ",\n    ");
        if (p->name)
            put_declared(t, p->type, p->name);
        else
            buf_puts(t->out, p->type);
    }
    if (!f->n_params && t->words->expr == &expr_c_style) buf_puts(t->out, "void");
    PUT(t, f->qualifier ? ") " : ")", f->qualifier ? f->qualifier : "", "\n");
    put_indent(t);
    put_body(t, s->body);
    buf_putc(t->out, '\n');
}

static void put_struct(Text *t, const Stmt *s)
{
    buf_puts(t->out, "struct ");
    if (s->number) put_number(t, t->words->align[0], s->number, t->words->align[1]);
    PUT(t, s->name, " ");
    put_body(t, s->body);
    buf_puts(t->out, ";\n");
}

/* A loop without a variable. */
static void put_while(Text *t, const Stmt *s)
{
    buf_puts(t->out, "while (");
    put_value(t, s->loop->condition, AS_ANY);
    buf_puts(t->out, ") ");
    put_loop_body(t, s->body);
}

static void put_loop(Text *t, const Stmt *s)
{
    const Loop *l = s->loop;
    const ExprStyle *style = t->words->expr;
    if (!l->var) {
        put_while(t, s);
        return;
    }
    buf_puts(t->out, t->words->unroll[l->unroll] ? t->words->unroll[l->unroll] : "");
    buf_puts(t->out, "for (");
    if (l->start) {
        const Expr *wider = l->limit && l->limit->hi > l->start->hi ? l->limit : l->start;
        put_declared(t,
                     l->type                    ? l->type
                     : l->unroll == UNROLL_FULL ? "int"
                                                : expr_type(style, wider),
                     l->var);
        buf_puts(t->out, " = ");
        put_expr(t, l->start, AS_ANY);
    }
    buf_puts(t->out, ";");
    if (l->condition || l->limit) buf_putc(t->out, ' ');
    if (l->condition)
        put_value(t, l->condition, AS_ANY);
    else if (l->limit) {
        PUT(t, l->var, " < ");
        put_expr(t, l->limit, AS_SUM);
    }
    buf_puts(t->out, "; ");
    if (l->step_by) {
        PUT(t, l->var, " += ");
        put_expr(t, l->step_by, AS_ANY);
    } else if (l->step == 1 || l->step == -1)
        PUT(t, l->var, l->step > 0 ? "++" : "--");
    else
        PUT(t, l->var, l->step > 0 ? " += " : " -= "), buf_i64(t->out, l->step > 0 ? l->step : -l->step);
    buf_puts(t->out, ") ");
    put_loop_body(t, s->body);
}

static void put_if(Text *t, const Stmt *s)
{
    buf_puts(t->out, s->is_seldom ? "if (@SELDOM(" : "if (");
    put_value(t, s->x, AS_ANY);
    buf_puts(t->out, s->is_seldom ? ")) " : ") ");
    put_body(t, s->body);
    if (s->has_else) {
        buf_puts(t->out, " else ");
        put_body(t, s->otherwise);
    }
    buf_putc(t->out, '\n');
}

static void put_operands(const Text *t, const AsmOperand *x, int n)
{
    for (int i = 0; i < n; i++) {
        PUT(t, i ? ", \"" : "\"", x[i].constraint, "\"(");
        put_value(t, x[i].x, AS_ANY);
        buf_putc(t->out, ')');
    }
}

static void put_asm(const Text *t, const Asm *a)
{
    PUT(t, a->is_volatile ? "asm volatile(\"" : "asm(\"", a->text, "\" : ");
    put_operands(t, a->operand, a->n_outputs);
    buf_puts(t->out, " : ");
    put_operands(t, a->operand + a->n_outputs, a->n_inputs);
    buf_puts(t->out, a->touches_memory ? " : \"memory\");\n" : ");\n");
}

/* Declarations and assignments: text in front of the value, which the caller ends with ";\n". */
static void put_assignment(const Text *t, const Stmt *s)
{
    switch (s->kind) {
    case STMT_LET:
        PUT(t, "const ", expr_type(t->words->expr, s->expr), " ", s->name, " = ");
        put_expr(t, s->expr, AS_ANY);
        return;
    case STMT_DEFINE:
        /* a pointer that is not changed is no pointer to what is not changed */
        if (!strchr(s->type, '*') && strncmp(s->type, "const ", 6)) buf_puts(t->out, "const ");
        put_declared(t, s->type, s->name);
        break;
    case STMT_VAR:
        put_declared(t, s->type, s->name);
        for (int i = 0; s->dims[i]; i++) put_number(t, "[", s->dims[i], "]");
        break;
    default:
        put_value(t, s->to, AS_UNARY);
    }
    if (!s->x) return;
    PUT(t, " ", s->kind == STMT_UPDATE ? ops[s->op].word : "", "= ");
    put_value(t, s->x, AS_ANY);
}

static void put_store(const Text *t, const Stmt *s)
{
    const Access *a = s->access;
    text_guard(t, a);
    if (a->in_window) {
        text_store_words(t, s);
        return;
    }
    bool hinted = put_hint(t, a, t->words->store);
    if (hinted)
        put_address(t, a, false);
    else
        put_place(t, a, false);
    buf_puts(t->out, hinted ? ", " : " = ");
    put_value(t, s->x, AS_ANY);
    buf_puts(t->out, hinted ? ");\n" : ";\n");
}

static void put_constant(const Text *t, const Stmt *s)
{
    if (t->words->has_constexpr)
        PUT(t, "constexpr ", s->type, " ", s->name);
    else
        PUT(t, "enum { ", s->name);
    put_number(t, " = ", s->number, t->words->has_constexpr ? ";\n" : " };\n");
}

static void put_return(const Text *t, const Stmt *s)
{
    buf_puts(t->out, s->x ? "return " : "return");
    if (s->x) put_value(t, s->x, AS_ANY);
    buf_puts(t->out, ";\n");
}

/* What threads, loads or the compiler are kept in order by; NULL: not needed here. */
static const char *synchronisation(const Text *t, const Stmt *s)
{
    return s->kind == STMT_BARRIER ? t->words->barrier
           : s->kind == STMT_WAIT  ? t->words->wait
                                   : t->words->fence;
}

static bool is_printed(const Text *t, const Stmt *s)
{
    bool synchronises = s->kind == STMT_BARRIER || s->kind == STMT_WAIT || s->kind == STMT_FENCE;
    return !synchronises || synchronisation(t, s);
}

/* Statements of one line. */
static void put_line(const Text *t, const Stmt *s)
{
    switch (s->kind) {
    case STMT_TYPEDEF:
        PUT(t, "typedef ", s->type, " ", s->name);
        if (s->attribute) PUT(t, " ", s->attribute);
        buf_puts(t->out, ";\n");
        break;
    case STMT_CONSTANT:
        put_constant(t, s);
        break;
    case STMT_MACRO:
        PUT(t, "#define ", s->name, " ", s->type, "\n");
        break;
    case STMT_FILE:
        kernel_text_put(s->name, t->out);
        break;
    case STMT_STORE:
        put_store(t, s);
        break;
    case STMT_DO:
        put_value(t, s->x, AS_ANY);
        buf_puts(t->out, ";\n");
        break;
    case STMT_LEAVE:
        buf_puts(t->out, "break;\n");
        break;
    case STMT_NEXT:
        buf_puts(t->out, "continue;\n");
        break;
    case STMT_BARRIER:
    case STMT_FENCE:
        PUT(t, synchronisation(t, s), "();\n");
        break;
    case STMT_WAIT:
        buf_puts(t->out, synchronisation(t, s));
        put_number(t, "(", s->number, ");\n");
        break;
    case STMT_COMMENT:
        PUT(t, "/* ", s->name, " */\n");
        break;
    case STMT_GAP:
        buf_putc(t->out, '\n');
        break;
    default:
        if (s->kind >= STMT_COPY && s->kind <= STMT_PRODUCT_AWAIT) {
            text_async(t, s);
            break;
        }
        put_assignment(t, s);
        buf_puts(t->out, ";\n");
    }
}

static void put_stmt(Text *t, const Stmt *s)
{
    switch (s->kind) {
    case STMT_FUNCTION:
        put_function(t, s);
        break;
    case STMT_STRUCT:
        put_struct(t, s);
        break;
    case STMT_LOOP:
        put_loop(t, s);
        break;
    case STMT_IF:
        put_if(t, s);
        break;
    case STMT_BLOCK:
        put_body(t, s->body);
        buf_putc(t->out, '\n');
        break;
    case STMT_RETURN:
        put_return(t, s);
        break;
    case STMT_ASM:
        put_asm(t, s->assembly);
        break;
    default:
        put_line(t, s);
    }
}

static void put_block(Text *t, const Stmt *body)
{
    for (const Stmt *s = body; s; s = s->next) {
        if (!is_printed(t, s)) continue;
        if (s->kind != STMT_GAP && s->kind != STMT_FILE) put_indent(t);
        put_stmt(t, s);
    }
}

Err stmt_print(const Stmts *s, const StmtWords *words, int indent, Buf *out)
{
    TRY(stmts_check(s));
    Text t = {words, out, indent};
    put_block(&t, s->first);
    return buf_check(out);
}
