/* Library writer: solutions and logic -> master solution library (msgpack or YAML), in the tree of nodes that
 * Tensile's host library and libtuner load.
 *
 * Does not read logic files and does not make kernels.
 */
#ifndef CREATELIB_LIBRARY_WRITE_H
#define CREATELIB_LIBRARY_WRITE_H

#include "fmt/write.h"
#include "logic/logic.h"

/* A solution with its name and index in the library. */
typedef struct {
    const Solution *s; /* derived */
    Str name;
    Str kernel; /* symbol of its kernel, where other solutions have the same one; s == NULL: the name */
    int32_t logic_index;
    int64_t index;                     /* global */
    const Node *ideals, *linear_model; /* maps of the logic file; NULL: empty */
    const Node *model;                 /* its PerformanceModel, a list of numbers; NULL: none */
    bool checks_k;                     /* see pred_from_solution */
} LibrarySolution;

typedef enum { LIBRARY_MSGPACK, LIBRARY_YAML } LibraryFormat;

/* ".dat" or ".yaml". */
const char *library_suffix(LibraryFormat f);

/* The library that the benchmark client runs: one Problem node with a row per solution, indices 0..n-1, no
 * hardware. The solutions must share one problem type; kernels[i] is the symbol of solutions[i]. */
Err library_write_benchmark(const char *path, LibraryFormat f, const Solution *const *solutions,
                            const Str *names, const Str *kernels, size_t n);

/* Parts, for the master library writer and tests. */
Err library_emit_solution(Emit *e, const LibrarySolution *s);
/* Contraction_l_Ailk_Bljk_Cijk_Dijk */
Err library_operation(const ProblemType *pt, Buf *out);

#endif
