/* Library tree: logic files -> the hierarchy of a master solution library (hardware, operation, metric, fp16,
 * types, tables), written in one pass. Logic files with the same place in the hierarchy are merged there,
 * like in Tensile's writer. */
#ifndef CREATELIB_LIBRARY_TREE_H
#define CREATELIB_LIBRARY_TREE_H

#include "createlib/library_write.h"

/* One logic file with its solutions as the library has them. */
typedef struct {
    const Logic *logic;
    LibrarySolution *solution; /* n_solutions of the logic; index -1: left out */
    Str operation;             /* operation identifier */
    Str placeholder;           /* "TensileLibrary_Type_SS_..._gfx908": file of this part when lazy */
} LibraryPart;

/* "TensileLibrary_Type_SS_Contraction_l_Ailk_Bljk_Cijk_Dijk_CU120_gfx908" */
void library_placeholder(const Logic *l, Str operation, Buf *out);

typedef enum {
    TREE_FULL, /* everything in one file */
    TREE_LAZY, /* down to placeholders, no solutions */
    TREE_LEAF  /* the file of a placeholder: its parts with their solutions */
} TreeKind;

/* The keys of a file besides its tables and solutions. */
typedef struct {
    const char *version; /* NULL: nothing */
    bool print_debug;    /* key libraryPrintDebug: libtuner prints its launches; other readers skip it */
} LibraryHead;

/* Parts are sorted in place. ERR_INPUT when two parts cannot be merged. */
Err library_write_tree(const char *path, LibraryFormat f, TreeKind kind, LibraryPart *part, size_t n,
                       const LibraryHead *head);
/* The same into a buffer. */
Err library_emit_tree(Buf *out, LibraryFormat f, TreeKind kind, LibraryPart *part, size_t n,
                      const LibraryHead *head);

#endif
