/* Sections of a table: sizes whose operands begin lines at multiples of 16 bytes, and others; one batch, and
 * several. A key has neither, and a kernel that is good on sizes of one section is bad on those of another,
 * so that a table with predicted rows is written once for each section, behind predicates that Tensile's
 * readers evaluate, and then whole. Private to createlib/. */
#ifndef CREATELIB_LIBRARY_SECTION_H
#define CREATELIB_LIBRARY_SECTION_H

#include "createlib/library_tree.h"

/* SECTION_BATCHED: more than one batch; the other bits: A, B and D begin lines at multiples of 16 bytes. */
enum { SECTION_OPERANDS = 3, SECTION_BATCHED = 8, SECTIONS = 2 * SECTION_BATCHED };

/* Whether the table of these files is written in sections: one of them has predicted rows of a GEMM. */
bool library_has_sections(const LibraryPart *file, size_t n);
/* The section of a row. */
int library_section_of(const ProblemType *pt, const LogicRow *row);
/* The i-th section in the order in which they are asked: those with more conditions first. */
int library_section_at(int i);
/* Emits the predicate of a section. batched: there are sections of several batches, too. */
Err library_emit_section(Emit *e, const ProblemType *pt, int section, bool batched);

#endif
