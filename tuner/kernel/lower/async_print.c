/* Asynchronous copies and products, what waits for them, and cursors of rings as text. */
#include "kernel/lower/stmt_text.h"

void text_guard(const Text *t, const Access *a)
{
    if (!a->guard) return;
    buf_puts(t->out, "if (");
    expr_print(t->words->expr, a->guard, AS_ANY, t->out);
    buf_puts(t->out, ") ");
}

/* base + offset. */
static void put_sum(const Text *t, const Access *a)
{
    const bool moves = a->offset && !expr_is(a->offset, 0);
    text_value(t, a->base, moves ? AS_SUM : AS_ANY);
    if (!moves) return;
    buf_puts(t->out, " + ");
    expr_print(t->words->expr, a->offset, AS_SUM + 1, t->out);
}

/* "@cp<16>(to, from)", "@cpz<16>(to, from, bytes)". */
static void put_copy(const Text *t, const Stmt *s)
{
    text_guard(t, s->access);
    buf_puts(t->out, s->x ? t->words->copy_valid : t->words->copy);
    put_number(t, "<", s->access->bytes, ">(");
    put_sum(t, &s->access[0]);
    buf_puts(t->out, ", ");
    put_sum(t, &s->access[1]);
    if (s->x) {
        buf_puts(t->out, ", ");
        text_value(t, s->x, AS_ANY);
    }
    buf_puts(t->out, ");\n");
}

/* The first byte of a stage counts as its number where cursors count bytes. */
static void put_cursor(const Text *t, const Stmt *s)
{
    const int step = s->ring->in_bytes ? s->ring->bytes : 1;
    const char *name = s->to->name;
    if (s->ring->has_phase) {
        PUT(t, name, ".next();\n");
        return;
    }
    if (s->kind == STMT_ADVANCE) {
        PUT(t, name, " = ", name);
        put_number(t, " == ", (s->ring->n_stages - 1) * step, " ? 0 : ");
        buf_puts(t->out, name);
        put_number(t, " + ", step, ";\n");
        return;
    }
    PUT(t, s->type ? s->type : "", s->type ? " " : "", name);
    put_number(t, " = ", s->number * step, ";\n");
}

void text_store_words(const Text *t, const Stmt *s)
{
    buf_puts(t->out, t->words->store_words);
    put_number(t, "<", s->access->bytes, ">(");
    put_sum(t, s->access);
    buf_puts(t->out, ", ");
    text_value(t, s->x, AS_ANY);
    buf_puts(t->out, ");\n");
}

static void put_operand(const Text *t, const Value *x)
{
    buf_puts(t->out, ", ");
    text_value(t, x, AS_ANY);
}

/* "load_box(to, map, full, c0, c1, c2)", with as many coordinates as there are. */
static void put_box(const Text *t, const Stmt *s)
{
    const Box *b = s->box;
    PUT(t, b->mask ? t->words->box_shared : t->words->box, "(");
    put_sum(t, s->access);
    buf_puts(t->out, ", ");
    text_value(t, b->map, AS_ANY);
    put_operand(t, s->x);
    for (int i = 0; i < BOX_NUMBERS && b->at[i]; i++) put_operand(t, b->at[i]);
    if (b->mask) put_operand(t, b->mask);
    buf_puts(t->out, ");\n");
}

/* A call of two operands, the second of which may be a number. */
static void put_barrier(const Text *t, const char *function, const Value *barrier, const Value *x, int64_t n)
{
    PUT(t, function, "(");
    text_value(t, barrier, AS_ANY);
    buf_puts(t->out, ", ");
    if (x)
        text_value(t, x, AS_ANY);
    else
        buf_i64(t->out, n);
    buf_puts(t->out, ");\n");
}

/* "wgmma(acc, x, y, add)". */
static void put_product(const Text *t, const Product *p)
{
    const Value *const operand[] = {p->acc, p->x, p->y, p->add};
    for (int i = 0; i < 4; i++) {
        PUT(t, i ? ", " : t->words->product, i ? "" : "(");
        text_value(t, operand[i], AS_ANY);
    }
    buf_puts(t->out, ");\n");
}

void text_async(const Text *t, const Stmt *s)
{
    switch (s->kind) {
    case STMT_COPY:
        put_copy(t, s);
        break;
    case STMT_COMMIT:
        PUT(t, t->words->commit, "();\n");
        break;
    case STMT_AWAIT:
        buf_puts(t->out, t->words->arrived);
        put_number(t, "<", s->number, ">();\n");
        break;
    case STMT_BOX:
        put_box(t, s);
        break;
    case STMT_EXPECT:
        put_barrier(t, t->words->expect, s->x, NULL, s->number);
        break;
    case STMT_STORE_AWAIT:
        buf_puts(t->out, t->words->store_await);
        put_number(t, "<", s->number, ">();\n");
        break;
    case STMT_PHASE:
        put_barrier(t, t->words->phase, s->to, s->x, 0);
        break;
    case STMT_ARRIVE:
        put_barrier(t, t->words->arrive, s->to, s->x, 0);
        break;
    case STMT_PRODUCT:
        put_product(t, s->product);
        break;
    case STMT_PRODUCT_FENCE:
        PUT(t, t->words->product_fence, "();\n");
        break;
    case STMT_PRODUCT_COMMIT:
        PUT(t, t->words->product_commit, "();\n");
        break;
    case STMT_PRODUCT_AWAIT:
        PUT(t, t->words->product_await);
        put_number(t, "<", s->number, ">();\n");
        break;
    default:
        put_cursor(t, s);
    }
}
