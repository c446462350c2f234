/* Layout: where the elements of a tile stand in local memory. A tile is lines of elements; padding behind
 * lines, or behind blocks of elements, or an exchange of the 16-byte pieces of a line keep lanes that access
 * different lines from meeting in a bank. Kernels print the expression, bank counting evaluates it.
 */
#ifndef INDEX_LAYOUT_H
#define INDEX_LAYOUT_H

#include "index/expr.h"

typedef struct {
    int bytes;      /* of an element */
    int line;       /* elements from line to line, padding of each line included */
    int block, pad; /* so many elements of padding behind each block of elements; block 0: none */
    /* xor_mask > 0, then without padding: the 16-byte piece c of line l stands at
     * c ^ (l / xor_lines & xor_mask). xor_mask + 1: a power of two */
    int xor_lines, xor_mask;
    /* The address is a sum of elements times their bytes; else a sum of bytes. The same value: compilers keep
     * registers by the one in some kernels, by the other in others. */
    bool in_elements;
} Layout;

/* Byte offset of element `at` of a line. */
const Expr *layout_at(ExprPool *p, const Layout *l, const Expr *line, const Expr *at);
/* Bytes of so many lines, with all padding. */
int64_t layout_bytes(const Layout *l, int lines);
/* Whether the n elements from `at` on stand side by side wherever the variables put `at`, as far as the
 * expressions say. */
bool layout_is_run(ExprPool *p, const Layout *l, const Expr *line, const Expr *at, int n);

#endif
