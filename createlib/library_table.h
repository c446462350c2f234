/* The last level of a library's hierarchy: tables of sizes and decision trees. Private to createlib/. */
#ifndef CREATELIB_LIBRARY_TABLE_H
#define CREATELIB_LIBRARY_TABLE_H

#include "createlib/library_tree.h"

/* Emits a Problem node: tables of exact sizes first, then trees by their region, then the table for all other
 * sizes. */
Err library_emit_tables(Emit *e, const LibraryPart *part, size_t n);

/* library_model.c: sets *has to whether at least two solutions have numbers for the performance model; where
 * numbers do not fit, it warns and sets false. library_emit_model emits the key performanceModel of a
 * Matching node. */
Err library_has_model(const LibraryPart *part, size_t n, bool *has);
Err library_emit_model(Emit *e, const LibraryPart *part, size_t n);

#endif
