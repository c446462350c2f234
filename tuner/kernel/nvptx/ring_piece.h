/* The pieces of an operand's tile that a thread copies: where they are in global and in shared memory, and
 * what of them lies inside the operand. See ring_copy.c. Expressions are over the variables of the copy
 * functions: x, the operand's struct; row and col, the place of the thread's first piece; stage, the address
 * of the stage. */
#ifndef KERNEL_NVPTX_RING_PIECE_H
#define KERNEL_NVPTX_RING_PIECE_H

#include "kernel/lower/build.h"
#include "kernel/nvptx/ring_copy.h"

/* ---- parts of statements ---- */

/* A field of x, 0 .. hi. */
const Expr *piece_field(const RingCopy *c, const char *name, int64_t hi);
/* e as a signed number, for comparisons with numbers below 0. */
const Value *piece_int(const RingCopy *c, const Expr *e);
/* x && y; one of them may be NULL. */
const Expr *piece_both(const RingCopy *c, const Expr *x, const Expr *y);
/* "@whole_a" of "whole". */
const char *piece_function(const RingCopy *c, const char *name);
/* Opens a function of the operand. Its first parameter is x, which it may change; `more` are the others. */
void piece_open(const RingCopy *c, const char *name, bool changes, const StmtParam *more, int n);
#define PIECE_PARAMS(...)                                                                                    \
    (const StmtParam[]){__VA_ARGS__}, (int)(sizeof((StmtParam[]){__VA_ARGS__}) / sizeof(StmtParam))
/* Opens a loop over all pieces of a thread. */
const Expr *piece_each(const RingCopy *c, Unroll unroll);

/* ---- places ---- */

/* Declares row and col. */
void piece_declare(const RingCopy *c);
/* The row of piece i in global memory, and its number in the row. */
const Expr *piece_row(const RingCopy *c, const Expr *i);
const Expr *piece_col(const RingCopy *c, const Expr *i);
/* The byte of a stage's tile that the thread's first piece begins with. */
const Expr *piece_first(const RingCopy *c);
/* Piece i in the stage at the address `stage`. */
Access piece_to_stage(const RingCopy *c, const Expr *i, int width);
/* The address of piece i in global memory; its distance in bytes from the row's first piece, where q is. */
const Value *piece_source(const RingCopy *c, const Expr *i);
const Expr *piece_in_row(const RingCopy *c, const Expr *i);
/* q moves on to the next row behind the last piece of a row: multiples of row_step would each need a
 * register. */
void piece_next_row(const RingCopy *c, const Expr *i);
Access piece_from(const Value *base, const Expr *offset, int width);
/* from, or where n is 0 the operand's first element, of which nothing is read. */
Access piece_or_safe(const RingCopy *c, const Value *n, const Value *from, int width);
/* NvShift: the 0 to 3 elements from the 16-byte boundary at or before a row to its first element, from which
 * on it is copied. Bits 0 and 1 of x.shifts are those of this thread's rows, which are a multiple of four
 * apart; bits 2 and 3 those of the row with the thread's number, whose last piece it copies. */
const Expr *piece_shift(const RingCopy *c);
const Expr *piece_extra_shift(const RingCopy *c);

/* ---- edges ---- */

/* x.left - n: elements behind element n of the free dimension; below 0 behind the operand. */
const Expr *piece_left(const RingCopy *c, const Expr *n);
/* Returns whether piece i of this thread is one of the tile's; NULL: always. */
const Expr *piece_in_tile(const RingCopy *c, const Expr *i);
/* Whether pieces past the operand's last row or column are left out: where tiles are moved back inside, and
 * where the parts of LocalSplitU follow one another in shared memory, they must not be written. */
bool piece_leaves_out(const RingCopy *c);
/* Prints @valid_X, which returns how many elements of piece i lie inside the operand, and @needed_X, which
 * returns how many must be written. */
void piece_put_valid(const RingCopy *c);
void piece_put_needed(const RingCopy *c);
/* Defines `want`, the elements of piece i that must be written. */
const Value *piece_want(const RingCopy *c, const Expr *i);
/* The guard of piece i, of which some elements may have to be left out; NULL: none. */
const Expr *piece_guard(const RingCopy *c, const Expr *i);

/* ---- ring_elements.c: prints @elements_X; the copies through registers ---- */

/* The selector of __byte_perm for a word of the lower halves of two registers. */
#define PIECE_OF_HALVES "0x5410"
void ring_elements_put(const RingCopy *c);
void ring_registers_put(const RingCopy *c);
void ring_store_words_put(const RingCopy *c);

#endif
