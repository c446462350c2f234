/* Sections of a table of sizes: sizes whose operands begin lines at multiples of 16 bytes, and others; one
 * batch, and several. A key of Tensile's tables has neither, and a kernel that is good on sizes of one
 * section is bad on those of another, or cannot run there. Sections are of GEMMs alone (problem_is_gemm), and
 * follow from sizes and not from strides, as Tensile's readers evaluate the predicates of a section by sizes.
 */
#ifndef PROBLEM_SECTION_H
#define PROBLEM_SECTION_H

#include "problem/predicate.h"
#include "problem/problem.h"

/* SECTION_BATCHED: more than one batch; bit i: A, B, D (0, 1, 2) begin lines at multiples of 16 bytes. */
enum { SECTION_OPERANDS = 3, SECTION_BATCHED = 8, SECTIONS = 2 * SECTION_BATCHED };

/* The dimension along which an operand's lines lie, 0, 1, 2 for M, N, K, the elements of which it must be a
 * multiple, and the predicate that says so. */
typedef struct {
    int dim;
    int64_t multiple;
    PredId predicate;
} SectionLines;
SectionLines section_lines(const ProblemType *pt, int operand);

/* size: M, N, K. */
int section_of(const ProblemType *pt, const int64_t size[3], int64_t batch);

#endif
