/* Layout: the byte offsets of a tile's elements in local memory. A tile consists of lines of elements.
 * Padding after each line or after blocks of elements, or an XOR swizzle of the 16-byte pieces of a line,
 * avoids bank conflicts between lanes that access different lines. Panels are the order in which loads write
 * local memory themselves (DirectToLds): a panel has `panel` elements of each of `panel_lines` lines. Kernels
 * print the expression, bank counting evaluates it.
 */
#ifndef INDEX_LAYOUT_H
#define INDEX_LAYOUT_H

#include "index/expr.h"

typedef struct {
    int bytes;      /* of an element */
    int line;       /* stride between lines in elements, padding included */
    int block, pad; /* `pad` elements of padding follow each `block` elements; block 0: none */
    /* Swizzle, only without padding: the 16-byte piece c of line l is stored at position
     * c ^ (l / xor_lines & xor_mask). xor_mask: 0 for none, else a power of two less one */
    int xor_lines, xor_mask;
    /* Panels, only without padding behind lines: of each group of `panel_lines` lines, first the first
     * `panel` elements of all its lines, line by line, then the next ones. panel: 0 for none, else it divides
     * `line` */
    int panel, panel_lines;
    /* True: the address is (sum of elements) * bytes; false: the sum of each term in bytes. The value is the
     * same, but the form decides in which kernels LLVM spills registers. */
    bool in_elements;
} Layout;

/* Byte offset of element `at` of a line. */
const Expr *layout_at(ExprPool *p, const Layout *l, const Expr *line, const Expr *at);
/* Bytes of `lines` lines, padding included. */
int64_t layout_bytes(const Layout *l, int lines);
/* Whether the expressions prove that n elements from `at` on are contiguous for all values of the
 * variables. */
bool layout_is_run(ExprPool *p, const Layout *l, const Expr *line, const Expr *at, int n);

#endif
