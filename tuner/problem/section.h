/* Sections of a table of sizes. They distinguish sizes by whether the columns (or rows) of A, of B and of D
 * begin at multiples of 16 bytes, and one matrix from a batch of several. The keys of Tensile's tables have
 * no number for either, and a kernel that is fast on sizes of one section may be slow on those of another, or
 * cannot run there. Only GEMMs have sections (problem_is_gemm). They follow from sizes and not from strides,
 * because Tensile's readers evaluate the predicates of a section by sizes.
 */
#ifndef PROBLEM_SECTION_H
#define PROBLEM_SECTION_H

#include "problem/predicate.h"
#include "problem/problem.h"

/* Bits of a section. SECTION_BATCHED: more than one matrix; bit i: lines of A, B, D (i = 0, 1, 2) begin at
 * multiples of 16 bytes. */
enum { SECTION_OPERANDS = 3, SECTION_BATCHED = 8, SECTIONS = 2 * SECTION_BATCHED };

/* The dimension along which an operand's lines lie, 0, 1, 2 for M, N, K, the elements of which it must be a
 * multiple, and the predicate that says so. */
typedef struct {
    int dim;
    int64_t multiple;
    PredId predicate;
} SectionLines;
SectionLines section_lines(const ProblemType *pt, int operand);

/* The section of a size; size: M, N, K. */
int section_of(const ProblemType *pt, const int64_t size[3], int64_t batch);

#endif
