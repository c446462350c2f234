/* What the files that print statements share: stmt_print.c and async_print.c. */
#ifndef KERNEL_LOWER_STMT_TEXT_H
#define KERNEL_LOWER_STMT_TEXT_H

#include "kernel/lower/stmt.h"

typedef struct {
    const StmtWords *words;
    Buf *out;
    int indent;
} Text;

/* Precedences as in expr_print.c. */
enum { AS_ANY = 0, AS_SELECT = 3, AS_SUM = 12, AS_UNARY = 14, AS_POSTFIX = 15 };

/* Appends strings up to NULL: much faster than a format. */
static inline void put_strings(const Text *t, const char *const *string)
{
    for (; *string; string++) buf_puts(t->out, *string);
}
#define PUT(t, ...) put_strings(t, (const char *const[]){__VA_ARGS__, NULL})

/* "before", a number, "behind". */
static inline void put_number(const Text *t, const char *before, int64_t number, const char *behind)
{
    buf_puts(t->out, before);
    buf_i64(t->out, number);
    buf_puts(t->out, behind);
}

/* A value, in brackets where it binds less than `least`. */
void text_value(const Text *t, const Value *v, int least);

/* ---- async_print.c ---- */

/* "if (guard) ", where there is one. */
void text_guard(const Text *t, const Access *a);
/* STMT_COPY to STMT_PRODUCT_AWAIT; stores of words to the window of local memory. */
void text_async(const Text *t, const Stmt *s);
void text_store_words(const Text *t, const Stmt *s);

#endif
