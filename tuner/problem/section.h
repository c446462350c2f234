/* Sections of a table of sizes. They distinguish sizes by whether the columns (or rows) of A, of B and of D
 * begin at multiples of 16 bytes, one matrix from a batch of several, and thin results from wide ones: tiles
 * are made for sides of up to 16, 32 and 64, and one element more takes a second tile. The keys of Tensile's
 * tables have no number for these, and a kernel that is fast on sizes of one section may be slow on those of
 * another, or cannot run there. Only GEMMs have sections (problem_is_gemm). They follow from sizes and not
 * from strides, because Tensile's readers evaluate the predicates of a section by sizes.
 */
#ifndef PROBLEM_SECTION_H
#define PROBLEM_SECTION_H

#include "problem/predicate.h"
#include "problem/problem.h"

/* A section is a number of bits, to which SECTION_THIN * (class of M * SECTION_SIDES + class of N) is added.
 * Bit i: lines of A, B, D (i = 0, 1, 2) begin at multiples of 16 bytes; SECTION_BATCHED: more than one
 * matrix. */
enum {
    SECTION_OPERANDS = 3,
    SECTION_BATCHED = 8,
    SECTION_THIN = 2 * SECTION_BATCHED,
    SECTION_SIDES = 4, /* classes of a side */
    SECTIONS = SECTION_THIN * SECTION_SIDES * SECTION_SIDES
};

/* The dimension along which an operand's lines lie, 0, 1, 2 for M, N, K, the elements of which it must be a
 * multiple, and the predicate that says so. */
typedef struct {
    int dim;
    int64_t multiple;
    PredId predicate;
} SectionLines;
SectionLines section_lines(const ProblemType *pt, int operand);

/* The largest M or N (dim 0 or 1) of sizes of a section; 0: there is no limit. */
int64_t section_most(int section, int dim);

/* The section of a size; size: M, N, K. */
int section_of(const ProblemType *pt, const int64_t size[3], int64_t batch);
/* The i-th section in the order in which they are asked: those with more conditions first. */
int section_at(int i);
/* Whether a size of section `of` meets all conditions of a section. The first such one in that order is its
 * own. */
bool section_holds(int section, int of);

#endif
