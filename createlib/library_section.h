/* Sections of a table (problem/section.h) in libraries: a table with predicted rows is written once for each
 * section, guarded by predicates that Tensile's readers evaluate, and then whole. Private to createlib/. */
#ifndef CREATELIB_LIBRARY_SECTION_H
#define CREATELIB_LIBRARY_SECTION_H

#include "createlib/library_tree.h"
#include "problem/section.h"

/* Whether the table of these files is written in sections: one of them has predicted rows of a GEMM. */
bool library_has_sections(const LibraryPart *file, size_t n);
/* The section of a row. */
int library_section_of(const ProblemType *pt, const LogicRow *row);
/* Emits the predicate of a section. batched: there are sections of several batches, too. */
Err library_emit_section(Emit *e, const ProblemType *pt, int section, bool batched);

#endif
